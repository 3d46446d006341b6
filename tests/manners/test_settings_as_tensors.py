"""Numbers of functions (alpha, beta, dx …) given as tensors that require grad: a gradient, or an error, never a loss.

torch refuses such tensors; here they are differentiated by where a formula with them is known.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgrad as sg

RNG = np.random.default_rng(11)
A, B, C = (sg.tensor(RNG.normal(size=(3, 3))) for _ in range(3))
I = sg.tensor([0, 2, 1])  # noqa: E741  (indices)
F = sg.nn.functional

FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "add": lambda s: sg.add(A, B, alpha=s),
    "sub": lambda s: A.sub(B, alpha=s),
    "rsub": lambda s: sg.rsub(A, B, alpha=s),
    "index_add": lambda s: sg.index_add(A, 0, I, B, alpha=s),
    "addcmul": lambda s: sg.addcmul(A, B, C, value=s),
    "addcdiv": lambda s: sg.addcdiv(A, B, C, value=s),
    "addmm": lambda s: sg.addmm(A, B, C, beta=s, alpha=s),
    "trapezoid": lambda s: sg.trapezoid(A, dx=s),
    "cumulative_trapezoid": lambda s: sg.cumulative_trapezoid(A, dx=s),
    "elu": lambda s: F.elu(A, s),
    "celu": lambda s: F.celu(A, s),
    "leaky_relu": lambda s: F.leaky_relu(A, s),
    "softplus": lambda s: F.softplus(A, s),
    "softshrink": lambda s: F.softshrink(A, s),
    "hardtanh": lambda s: F.hardtanh(A, -0.5, s),
    "threshold": lambda s: F.threshold(A, 0.1, s),
    "huber_loss": lambda s: F.huber_loss(A, B, delta=s),
    "smooth_l1_loss": lambda s: F.smooth_l1_loss(A, B, beta=s),
    "label_smoothing": lambda s: F.cross_entropy(A, I, label_smoothing=s / 2),
    "triplet_margin_loss": lambda s: F.triplet_margin_loss(A, B, C, margin=s),
}


@pytest.mark.parametrize("at", [1.0, 0.7])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_gradients(name: str, at: float) -> None:
    f = FUNCTIONS[name]
    weights = sg.tensor(np.cos(np.arange(f(at).numel())).reshape(tuple(f(at).shape)))

    def total(s: Any) -> Any:
        return (f(s) * weights).sum()

    s = sg.tensor(at, dtype=sg.float64, requires_grad=True)
    total(s).backward()
    h = 1e-6
    slope = float(total(at + h) - total(at - h)) / (2 * h)
    assert s.grad is not None
    assert abs(float(s.grad) - slope) < 1e-6 * max(1.0, abs(slope))
    np.testing.assert_allclose(sg.func.jvp(total, (at,), (1.0,))[1], s.grad, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(sg.compile(sg.func.grad(total), at)(at), s.grad, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(
    ("name", "f"),
    [
        ("dist", lambda p: sg.dist(A, B, p)),
        ("norm", lambda p: sg.cdist(A, B, p)),
        ("norm", lambda p: F.pairwise_distance(A, B, p)),
        ("norm", lambda p: F.pdist(A, p)),
        ("norm", lambda p: sg.masked.norm(A, p)),
        ("full", lambda p: sg.full((2,), p)),
        ("full_like", lambda p: sg.full_like(A, p)),
        ("full", lambda p: A.new_full((2,), p)),
    ],
    ids=["dist", "cdist", "pairwise", "pdist", "masked", "full", "full_like", "new_full"],
)
def test_those_without_a_derivative_are_refused(name: str, f: Callable[[Any], Any]) -> None:
    with pytest.raises(TypeError, match=rf"{name}\(\): argument '\w+' .*must be Number, not Tensor: it requires grad"):
        f(sg.tensor(2.0, requires_grad=True))
    assert f(sg.tensor(2.0)).numel()


def test_programs_fill_with_the_value_that_they_are_given() -> None:
    program = sg.compile(lambda a: sg.full((2,), a) * a, 3.0)
    assert program(5.0).tolist() == [25.0, 25.0]


def test_a_setting_for_each_entry() -> None:
    alpha = sg.tensor(RNG.uniform(0.5, 1.5, (3, 3)), requires_grad=True)
    F.elu(A, alpha).sum().backward()
    assert alpha.grad is not None
    np.testing.assert_allclose(alpha.grad, np.where(A.numpy() > 0, 0, np.expm1(A.numpy())), rtol=1e-12)
    program = sg.compile(lambda a, s: F.elu(a, s), A.numpy(), alpha.detach().numpy())
    np.testing.assert_allclose(program(A.numpy(), alpha.detach().numpy()), F.elu(A, alpha).detach(), rtol=1e-12)

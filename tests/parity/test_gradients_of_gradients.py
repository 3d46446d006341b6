"""What torch shows of gradients of order one to three: versions in plain passes, names too in recorded ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symgrad as sg
from tests.functions import sum_and_product

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.peer


def _functions(t: Any) -> Any:
    class Cube(t.autograd.Function):  # type: ignore[misc, name-defined]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * x * x

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            (x,) = ctx.saved_tensors
            return g * 3 * x * x

    return Cube, sum_and_product(t)


def _hooked(y: Any) -> Any:
    y.register_hook(lambda g: g * 2)
    return y


def _changed(y: Any, change: Any) -> Any:
    change(y)
    return y


def _set_row(y: Any, value: Any) -> None:
    y[0] = value


KINDS: dict[str, list[Any]] = {
    "elementwise": [
        lambda t, x, y, z: x.sin() * x.cos() + x.tan(),
        lambda t, x, y, z: x.exp() + x.expm1() + x.exp2(),
        lambda t, x, y, z: x.log() * x.log1p() + x.log2(),
        lambda t, x, y, z: x.sqrt() + x.rsqrt() + x.reciprocal(),
        lambda t, x, y, z: x.sinh() + x.cosh() * x.atan() + x.asinh() + x.asin(),
        lambda t, x, y, z: x.tanh() * x.tanh() + x.sigmoid(),
        lambda t, x, y, z: x.erf() + x.erfinv() + x.lgamma() + x.digamma(),
        lambda t, x, y, z: x.abs() * x.abs() + x.relu() + x.sinc(),
        lambda t, x, y, z: x.square() + x**3 + x**1 + x**-1 + 2**x,
        lambda t, x, y, z: 1 / (x + 1) + (2 - x) * (x / 3) + t.special.ndtr(x),
    ],
    "of two": [
        lambda t, x, y, z: x * y - x / y,
        lambda t, x, y, z: x**y,
        lambda t, x, y, z: t.atan2(x, y) + t.hypot(x, y) + t.logaddexp(x, y),
        lambda t, x, y, z: t.maximum(x, y) * t.fmin(x, y),
        lambda t, x, y, z: t.lerp(x, y, 0.3) * t.addcmul(x, x, y, value=0.5),
        lambda t, x, y, z: t.addcdiv(x, x, y) + t.xlogy(x, y) + t.copysign(x, y),
        lambda t, x, y, z: t.where(x > y, x, y) * x.masked_fill(x > 0.5, 1.0) + x.remainder(y),
        lambda t, x, y, z: x * z + (x + z) / (z + 1) + t.maximum(x, z[0]),
        lambda t, x, y, z: t.add(x, y, alpha=3) * x.float() + t.dist(x, z),
    ],
    "activations and losses": [
        lambda t, x, y, z: t.nn.functional.softplus(x) * t.nn.functional.silu(x),
        lambda t, x, y, z: t.nn.functional.gelu(x) + t.nn.functional.elu(x),
        lambda t, x, y, z: t.nn.functional.mse_loss(x, y) + t.nn.functional.mse_loss(x, z),
        lambda t, x, y, z: x.softmax(0) * x.log_softmax(1),
    ],
    "reductions": [
        lambda t, x, y, z: x.sum(0) * x.mean(0) + x.sum(),
        lambda t, x, y, z: x.std(0) * x.var(0, keepdim=True) + x.std() + x.var(),
        lambda t, x, y, z: x.prod(0) * x.logsumexp(0) + x.logsumexp((0, 1)),
        lambda t, x, y, z: x.norm() * x.norm(dim=0) + x.norm(p=1) + x.norm(p=3),
        lambda t, x, y, z: x.amax(0) * x.max(dim=0)[0] + x.max() + x.median(dim=0)[0],
        lambda t, x, y, z: x.cumsum(0) * x.cumprod(1) + x.logcumsumexp(0) + x.sort(dim=0)[0],
        lambda t, x, y, z: t.nn.functional.normalize(x, dim=0) + x.nansum(0),
        lambda t, x, y, z: z[0].sin().sum() * z[0].sum() * x,
    ],
    "matrices": [
        lambda t, x, y, z: x @ y.T + x @ x.t(),
        lambda t, x, y, z: (x @ z) * (x.T @ x @ z).sum() + z.dot(z),
        lambda t, x, y, z: t.einsum("ij,kj->ik", x, y) * t.einsum("ij->i", x),
        lambda t, x, y, z: t.linalg.inv(x @ x.T + t.eye(2, dtype=x.dtype)),
        lambda t, x, y, z: t.linalg.solve(x @ x.T + t.eye(2, dtype=x.dtype), y),
        lambda t, x, y, z: t.linalg.det(x @ x.T) + t.linalg.cholesky(x @ x.T + t.eye(2, dtype=x.dtype)).sum(),
        lambda t, x, y, z: (x[None] @ y.mT) * t.outer(z, z)[:2, :2] + t.nn.functional.linear(x, y),
    ],
    "indices and shapes": [
        lambda t, x, y, z: x[0] * x[:, 1:].sum() + x[0, 1:].sum() + x[[0, 0]],
        lambda t, x, y, z: x.gather(0, t.zeros(2, 3, dtype=t.int64)) * x.diagonal().sum() + t.trace(x),
        lambda t, x, y, z: t.cat([x, y]) * t.stack([x, x]).sum() + x.expand(2, 2, 3).sum(),
        lambda t, x, y, z: x.repeat(2, 1) * t.repeat_interleave(x, 2, dim=0) + x.flip(0).repeat(2, 1),
        lambda t, x, y, z: x.tril() * x.roll(1, 0) + t.nn.functional.pad(x, (1, 1)).sum() + t.diff(x, dim=0),
        lambda t, x, y, z: t.diag_embed(x) * t.diag(z) + x.index_add(0, t.tensor([0]), y[:1])[:, None],
    ],
    "the user's own code": [
        lambda t, x, y, z: _functions(t)[0].apply(x) * x,
        lambda t, x, y, z: _functions(t)[1].apply(x, y)[0] * _functions(t)[1].apply(y, x)[1],
        lambda t, x, y, z: _hooked(x.sin()) * _hooked(x * 2),
        lambda t, x, y, z: _hooked(x).sin() * x * t.nn.functional.mse_loss(z.detach(), x),
    ],
    "changes in place": [
        lambda t, x, y, z: _changed(x * 1, lambda q: q[0].mul_(2)) * x,
        lambda t, x, y, z: _changed(x * y, lambda q: q.diagonal().add_(1)) * x,
        lambda t, x, y, z: _changed(x * 1, lambda q: _set_row(q, z)) * x,
        lambda t, x, y, z: _changed(x * 1, lambda q: q[:, 0].sin_()) + x.exp(),
        lambda t, x, y, z: _changed(x * 1, lambda q: q.mul_(y)) * _changed(x * 1, lambda q: q.copy_(y)),
    ],
    "complex": [
        lambda t, x, y, z: t.complex(x, y).abs() * t.complex(x, y).real,
        lambda t, x, y, z: (t.complex(x, y).exp() * t.complex(y, x).sin().conj()).imag,
        lambda t, x, y, z: (t.complex(x, y) / t.complex(y, x)).abs() + t.complex(x, x).tanh().abs(),
    ],
}
CASES = [(kind, k) for kind, row in KINDS.items() for k in range(len(row))]


def _told(t: Any, make: Any, uses: int) -> list[Any]:
    """What ``t`` shows of the gradients of one, two and three orders of what ``make`` makes."""
    numbers = np.random.default_rng(3)
    leaves = [t.tensor(numbers.random(s) * 0.5 + 0.3, requires_grad=True) for s in ((2, 3), (2, 3), (3,))]
    out = make(t, *leaves)
    current = (out * out if uses == 2 else out).sin().sum()
    told = []
    for _ in range(3):
        plain = t.autograd.grad(current, leaves, retain_graph=True, allow_unused=True)
        told.append([None if g is None else g._version for g in plain])
        recorded = t.autograd.grad(current, leaves, create_graph=True, allow_unused=True)
        told.append([None if g is None else (g._version, type(g.grad_fn).__name__) for g in recorded])
        kept = [g for g in recorded if g is not None and g.requires_grad]
        if not kept:
            break
        current = sum(((g * g).sin().sum() for g in kept[1:]), (kept[0] * kept[0]).sin().sum())
    return told


@pytest.mark.filterwarnings("ignore:Using a target size")
@pytest.mark.parametrize("uses", [1, 2])
@pytest.mark.parametrize(("kind", "k"), CASES)
def test_orders(kind: str, k: int, uses: int) -> None:
    make = KINDS[kind][k]
    assert _told(sg, make, uses) == _told(torch, make, uses)


def test_many_passes_through_passes() -> None:
    """What is shown of the last of many gradients that each go through the one before needs no recursion."""

    def last(t: Any, steps: int) -> Any:
        w = t.tensor([0.5, -0.25], dtype=t.float64, requires_grad=True)
        moved = w
        for _ in range(steps):
            (g,) = t.autograd.grad((moved * moved).sum(), moved, create_graph=True)
            moved = moved - 0.001 * g
        (g,) = t.autograd.grad(moved.sum(), w, create_graph=True)
        return type(g.grad_fn).__name__, t.autograd.grad(moved.sum(), w)[0]._version

    assert last(sg, 20) == last(torch, 20)
    assert last(sg, 300) is not None


@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::RuntimeWarning")
@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0)])
@pytest.mark.parametrize(
    "f",
    [
        lambda t, x: x.mean(),
        lambda t, x: x.mean(-1),
        lambda t, x: x.var(),
        lambda t, x: t.nn.functional.mse_loss(x, x.detach() * 2),
        lambda t, x: t.nn.functional.huber_loss(x, x.detach() * 2),
        lambda t, x: t.nn.functional.binary_cross_entropy_with_logits(x, x.detach()),
    ],
    ids=["mean", "mean of rows", "var", "mse_loss", "huber_loss", "cross entropy"],
)
def test_means_of_nothing_move_by_nothing(f, shape):
    """Derivatives of their gradients, which have no entries, by the cotangent are 0: they were nan."""
    found = []
    for t in (torch, sg):
        x = t.zeros(shape, dtype=t.float64)
        _, moved = t.autograd.functional.jvp(lambda x, t=t: f(t, x), x, x)
        found.append(moved.tolist())
    assert found[0] == found[1]

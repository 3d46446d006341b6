"""Values rounded to steps of integers with gradients through them, against torch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symgrad as sg

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.peer

X = np.random.default_rng(5).normal(0, 1.5, (4, 6))
EDGES = np.array([-5.0, -0.06, -0.05, 0.0, 0.04, 0.05, 0.15, 0.25, 0.9, np.inf, -np.inf])
WIDTHS, POINTS = np.array([0.1, 0.25, 0.03, 0.5], np.float32), np.array([0, 3, 1, 2], np.int32)


def per_tensor(t: Any, x: Any) -> Any:
    return t.fake_quantize_per_tensor_affine(x, 0.1, 2, -8, 7)


def by_tensors(t: Any, x: Any) -> Any:
    return t.fake_quantize_per_tensor_affine(x, t.tensor([0.3]), t.tensor([1], dtype=t.int32), 0, 15)


def per_channel(t: Any, x: Any) -> Any:
    return t.fake_quantize_per_channel_affine(x, t.tensor(WIDTHS), t.tensor(POINTS), 0, -8, 7)


def of_columns(t: Any, x: Any) -> Any:
    return t.fake_quantize_per_channel_affine(x.T, t.tensor(WIDTHS), t.tensor(POINTS, dtype=t.float32), 1, 0, 15)


CALLS = [per_tensor, by_tensors, per_channel, of_columns]


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
@pytest.mark.parametrize("call", CALLS)
def test_values_and_gradients(call: Any, dtype: str) -> None:
    """The first gradient passes where nothing is cut off, and so does its own; the nodes have torch's names."""
    found = []
    for t in (sg, torch):
        x = t.tensor(X).to(getattr(t, dtype)).requires_grad_()
        y = call(t, x)
        (g,) = t.autograd.grad((y * y).sum(), x, create_graph=True)
        (h,) = t.autograd.grad(g.sum(), x)
        assert str(y.dtype).endswith(dtype)
        found.append((y.grad_fn.name(), *(np.asarray(z.detach().to(t.float64).numpy()) for z in (y, g, h))))
    ours, theirs = found
    assert ours[0] == theirs[0]
    for a, b in zip(ours[1:], theirs[1:], strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6 if dtype != "bfloat16" else 1e-2)


def test_edges() -> None:
    """Halves go to even; what is infinite is cut off."""
    found = []
    for t in (sg, torch):
        x = t.tensor(EDGES, dtype=t.float32, requires_grad=True)
        y = t.fake_quantize_per_tensor_affine(x, 0.1, 0, -8, 7)
        y.sum().backward()
        found.append((y.tolist(), x.grad.tolist()))
    assert found[0] == found[1]


WRONG = {
    "point": lambda t, x: t.fake_quantize_per_tensor_affine(x, 0.1, 30, 0, 15),
    "range": lambda t, x: t.fake_quantize_per_tensor_affine(x, 0.1, 0, 5, 2),
    "whole": lambda t, x: t.fake_quantize_per_tensor_affine(x.long(), 0.1, 0, 0, 15),
    "several": lambda t, x: t.fake_quantize_per_tensor_affine(x, t.ones(2), t.zeros(2), 0, 15),
    "learned": lambda t, x: t.fake_quantize_per_tensor_affine(x, t.ones(1, requires_grad=True), t.zeros(1), 0, 15),
    "count": lambda t, x: t.fake_quantize_per_tensor_affine(x, 0.1, 0, 0),
    "axis": lambda t, x: t.fake_quantize_per_channel_affine(x, t.tensor(WIDTHS), t.tensor(POINTS), 5, -8, 7),
    "long": lambda t, x: t.fake_quantize_per_channel_affine(x, t.tensor(WIDTHS), t.zeros(4).long(), 0, -8, 7),
    "double": lambda t, x: t.fake_quantize_per_channel_affine(x, t.ones(4).double(), t.tensor(POINTS), 0, -8, 7),
    "matrix": lambda t, x: t.fake_quantize_per_channel_affine(x, t.ones(2, 2), t.tensor(POINTS), 0, -8, 7),
    "length": lambda t, x: t.fake_quantize_per_channel_affine(x, t.tensor(WIDTHS), t.tensor(POINTS), 1, -8, 7),
    "two lengths": lambda t, x: t.fake_quantize_per_channel_affine(x, t.ones(4), t.zeros(3), 0, -8, 7),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_refused(name: str) -> None:
    for t in (sg, torch):
        with pytest.raises((RuntimeError, TypeError, IndexError)) as caught:
            WRONG[name](t, t.ones(4, 6, requires_grad=True) * 1)
        if t is sg:
            words = " ".join(str(caught.value).split())
        else:
            first = " ".join(str(caught.value).split(chr(10))[0].split())[:40]
            assert words.startswith(first.rstrip(".")), (words, first)


def test_formula_and_program() -> None:
    x = sg.tensor(X[0], name="x", requires_grad=True)
    y = sg.fake_quantize_per_tensor_affine(x, 0.5, 0, -2, 2)
    y.sum().backward()
    assert str(x.grad.expr) == "where((round(2*x) >= -2) & (round(2*x) <= 2), 1, 0)"
    program = sg.compile(x.grad, ["x"])
    np.testing.assert_array_equal(program(X[0]), x.grad.numpy())
    mapped = sg.func.vmap(lambda row: sg.fake_quantize_per_tensor_affine(row, 0.5, 0, -2, 2))(sg.tensor(X))
    assert sg.equal(mapped, sg.fake_quantize_per_tensor_affine(sg.tensor(X), 0.5, 0, -2, 2))


def quantised(x: Any, width: Any, point: Any) -> Any:
    return sg.fake_quantize_per_tensor_affine(x, width, point, -8, 7)


def quantised_rows(x: Any, width: Any, point: Any) -> Any:
    return sg.fake_quantize_per_channel_affine(x, width, point, 0, -8, 7)


@pytest.mark.parametrize(
    ("function", "width", "other"),
    [(quantised, np.float32(0.1), np.float32(0.4)), (quantised_rows, WIDTHS, WIDTHS[::-1].copy())],
)
@pytest.mark.parametrize("kind", ["int32", "float32"])
def test_programs_follow_the_width_of_a_step(function: Any, width: Any, other: Any, kind: str) -> None:
    """Neither formulas nor programs have that of the run."""
    point = sg.tensor(np.ones(np.shape(width), kind))
    x, scale = sg.tensor(X, name="x", requires_grad=True), sg.tensor(width, name="scale")
    y = function(x, scale, point)
    loss = (y * y).sum()
    (g,) = sg.autograd.grad(loss, x, create_graph=True)
    of_both = sg.compile([y, g], ["x", "scale"])
    for values, steps in ((X, width), (2 * X, other)):
        at = sg.tensor(values, requires_grad=True)
        wanted = function(at, sg.tensor(steps), point)
        (slope,) = sg.autograd.grad((wanted * wanted).sum(), at)
        found = of_both(values, steps)
        np.testing.assert_allclose(found[0], wanted.detach().numpy())
        np.testing.assert_allclose(found[1], slope.numpy())


@pytest.mark.parametrize("function", [quantised, quantised_rows])
def test_what_observes_values_may_change_the_steps_before_the_gradient(function: Any) -> None:
    """A module that is used twice has other steps by then; that was refused."""
    found = []
    for t in (sg, torch):
        shape = () if function is quantised else (4,)
        x, width, point = t.tensor(X, requires_grad=True), t.full(shape, 0.1), t.ones(shape, dtype=t.int32)
        kind = "per_tensor" if function is quantised else "per_channel"
        args = (x, width, point, *(() if function is quantised else (0,)), -8, 7)
        y = getattr(t, f"fake_quantize_{kind}_affine")(*args)
        width.mul_(3)
        point.add_(2)
        y.sum().backward()
        found.append(x.grad.tolist())
    assert found[0] == found[1]

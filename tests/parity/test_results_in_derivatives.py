"""Gradients by results that derivatives are made of, to third order; their formulas leave those results out."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import symgrad as sg

torch = pytest.importorskip("torch")

CALLS = ["x.prod()", "x.prod(0)", "x.prod(1, keepdim=True)", "x.cumprod(0)", "x.cumprod(-1)"]


def orders(t, values, call):
    x = t.tensor(values, requires_grad=True)
    out = eval(call, {"x": x})
    total = (out.sin() * out).sum() if out.dtype != t.complex128 else (out.sin() * out).abs().sum()
    row = []
    for _ in range(3):
        found = t.autograd.grad(total, [x, out], create_graph=True, allow_unused=True, materialize_grads=True)
        row += [g.detach().numpy() for g in found]
        total = sum((g * g.conj()).real.sum() if g.is_complex() else (g * g).sum() for g in found)
    return row


@pytest.mark.parametrize("kind", ["plain", "zeros", "complex"])
@pytest.mark.parametrize("call", CALLS)
def test_three_orders(call, kind):
    values = np.array([[0.5, -1.2, 2.0], [0.7, 1.5, -0.4]])
    values = {"plain": values, "zeros": values * [[1, 0, 1], [0, 1, 1]], "complex": values + 0.3j}[kind]
    for got, want in zip(orders(sg, values, call), orders(torch, values, call), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("call", CALLS)
def test_formulas_hold_at_zeros(call):
    """A program read off two recorded passes at one point is right where a factor is zero."""

    def second(x):
        (g,) = sg.autograd.grad((eval(call, {"x": x}) ** 2).sum(), x, create_graph=True)
        return sg.autograd.grad((g * g).sum(), x, create_graph=True)[0]

    point, zeros = np.array([[0.5, -1.2, 2.0], [0.7, 1.5, -0.4]]), np.array([[0.5, 0.0, 2.0], [0.0, 1.5, 0.0]])
    program = sg.compile(second, point)
    for at in (point, zeros):
        run = second(sg.tensor(at, name="x", requires_grad=True))
        np.testing.assert_allclose(program(at), run.numpy(force=True), atol=1e-12)
    made = second(sg.tensor(point, name="x", requires_grad=True))
    assert r"\frac" not in made.latex()
    assert pickle.loads(pickle.dumps(made)).tolist() == made.tolist()

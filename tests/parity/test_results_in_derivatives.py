"""Gradients by results that derivatives are made of: torch's functions of them, though they are what they are."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad as sg

torch = pytest.importorskip("torch")

MATRIX = np.array([[3.0, 0.5, -1.0], [0.2, 2.0, 0.3], [1.0, -0.4, 4.0]])


@pytest.mark.parametrize(
    "call", ["linalg.cholesky(x @ x.mH)", "sgn(x + 0.3j * x.mT)", "linalg.inv(x)", "linalg.solve(x, x.mT)"]
)
def test_matrices_and_signs(call):
    """As functions of the result, which may not be what it is: a triangle, of length one."""

    def second(t):
        x = t.tensor(MATRIX, requires_grad=True)
        out = eval(f"t.{call}", {"t": t, "x": x})
        seed = t.tensor(np.arange(1.0, out.numel() + 1).reshape(tuple(out.shape)))
        (g,) = t.autograd.grad(out, x, seed.to(out.dtype), create_graph=True)
        return [c.detach().numpy() for c in t.autograd.grad((g * g).sum(), [x, out])]

    for got, want in zip(second(sg), second(torch), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-9)

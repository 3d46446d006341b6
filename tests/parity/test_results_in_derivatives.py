"""Gradients that go through the result of a product, determinant or softmax, to third order, as torch's."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import symgrad as sg

torch = pytest.importorskip("torch")

PRODUCTS = ["x.prod()", "x.prod(0)", "x.prod(1, keepdim=True)", "x.cumprod(0)", "x.cumprod(-1)"]
VALUES = np.array([[0.5, -1.2, 2.0], [0.7, 1.5, -0.4]])
FACTORS = {
    "plain": VALUES,
    "one zero": VALUES * [[1, 0, 1], [1, 1, 1]],
    "zeros": VALUES * [[1, 0, 1], [0, 1, 1]],
    "two zeros": VALUES * [[0, 0, 1], [0, 1, 0]],
    "complex": VALUES + 0.3j * VALUES[::-1],
    "complex zeros": (VALUES + 0.3j) * [[1, 0, 1], [1, 1, 0]],
}
MATRIX = np.array([[1.0, 2.0, -0.5], [0.3, -1.0, 0.7], [2.0, 0.4, 1.5]])
MATRICES = {
    "plain": MATRIX,
    "batch": np.stack([MATRIX, MATRIX.T @ MATRIX]),
    "complex": MATRIX + 0.5j * MATRIX.T,
    "one": np.array([[2.5]]),
}


def real_sum(x):
    return x.abs().square().sum() if x.is_complex() else (x * x).sum()


def orders(t, values, call, count=3):
    """Gradients by the leaf and by the result, again and again."""
    x = t.tensor(values, requires_grad=True)
    out = eval(call, {"x": x, "t": t})
    total = real_sum(out.sin() * out)
    row = []
    for _ in range(count):
        found = t.autograd.grad(total, [x, out], create_graph=True, allow_unused=True, materialize_grads=True)
        row += [g.detach().numpy() for g in found]
        total = sum(map(real_sum, found))
    return row


def agree(values, call, count=3):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ours = orders(sg, values, call, count)
    for got, want in zip(ours, orders(torch, values, call, count), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("kind", FACTORS)
@pytest.mark.parametrize("call", PRODUCTS)
def test_products(call, kind):
    agree(FACTORS[kind], call)


@pytest.mark.parametrize("kind", MATRICES)
def test_determinant(kind):
    agree(MATRICES[kind], "t.linalg.det(x)")


@pytest.mark.parametrize("name", ["softmax", "log_softmax", "softmin", "logcumsumexp", "cumprod", "prod", "logsumexp"])
def test_one_entry_without_an_axis(name):
    """The result of a 0-d tensor is itself what its slope reads, though it is made as that of a vector of one entry."""
    space = "t.nn.functional" if name == "softmin" else "t"
    agree(np.array(0.3), f"{space}.{name}(x, 0)")

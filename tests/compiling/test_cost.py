"""What a program costs: operations and bytes as polynomials of its sizes, counted from its ops."""

import math
import pickle

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import ArgumentError, CompileError, NameProblem
from symgrad.op.record import TABLE

X, y, w = np.ones((4, 3)), np.ones(4), np.ones(3)
S = np.eye(5) * 2


def cost(f, *args):
    return sg.compile(f, *args).cost


def test_a_product_and_entries():
    found = cost(lambda X, w: sg.tanh(X @ w) * 2, X, w)
    assert str(found) == "2·m·n + 2·n flops, 8·m·n + 8·m + 40·n bytes"
    assert found(n=1000, m=10) == (22_000, 120_080)
    assert found(n=1000, m=10).flops == 22_000


def test_the_program_shows_what_it_costs():
    program = sg.compile(lambda X, w: X @ w, X, w)
    assert program.program.cost.flops == "2·m·n"
    assert program.cost.bytes == "8·m·n + 8·m + 8·n"


@pytest.mark.parametrize(
    ("f", "args", "flops"),
    [
        (lambda x: x.sum(), (w,), "n"),
        (lambda x: x.mean(), (w,), "n + 1"),
        (lambda x, y: x[:, None] * y, (y, w), "m·n"),
        (lambda X: X.T @ X, (X,), "2·m²·n"),
        (lambda X: sg.einsum("ij,jk,k->i", X, X.T @ X, X[0]), (X,), "2·m²·n + 2·m² + 2·m·n"),
        (lambda X: X.T, (X,), "0"),
        (lambda X: X[1:] + X[:-1], (X,), "m·n - m"),
        (lambda X: sg.cat([X, X]) * 2, (X,), "4·m·n"),
        (lambda S: sg.linalg.cholesky(S), (S,), "1/3·n³"),
        (lambda S: sg.linalg.inv(S), (S,), "2·n³"),
        (lambda S: sg.linalg.solve(S, S), (S,), "8/3·n³"),
        (lambda S: sg.linalg.solve(S, S[0]), (S,), "2/3·n³ + 2·n²"),
        (lambda S: sg.logdet(S), (S,), "2/3·n³"),
        (lambda X: sg.softmax(X, 1), (X,), "4·m·n"),
        (lambda x: sg.fft.fft(x * 1j), (w,), "5·n·log2(n) + n"),
    ],
)
def test_operations(f, args, flops):
    assert cost(f, *args).flops == flops


def test_a_gradient_costs_what_its_products_cost():
    """One product forward, one back, and no more per row or column."""

    def loss(w, X, y):
        return ((X @ w - y) ** 2).sum()

    found = cost(sg.func.grad(loss), w, X, y)
    assert found.flops == "4·m·n + 2·n"


def test_bytes_are_those_of_the_dtypes():
    assert cost(lambda x: x + 1, w).bytes == "16·n"
    assert cost(lambda x: x + 1, w.astype(np.float32)).bytes == "8·n"
    assert cost(lambda x: x > 1, w).bytes == "9·n"


def test_what_iterates_is_named():
    found = cost(lambda S: sg.linalg.eigvalsh(S) * 2, S)
    assert found.uncounted == ("eigvalsh",)
    assert str(found) == "n flops and eigvalsh(), 8·n² + 24·n bytes"
    assert found(n=4).flops == 4


def test_sizes_are_asked_for():
    found = cost(lambda X, w: X @ w, X, w)
    with pytest.raises(ArgumentError, match="needs m"):
        found(n=3)
    with pytest.raises(NameProblem, match="no size called k"):
        found(n=3, m=2, k=1)
    program = pickle.loads(pickle.dumps(sg.compile(lambda X, w: X @ w, X, w).program))  # noqa: S301  (just made)
    with pytest.raises(CompileError, match="unpickled"):
        program.cost  # noqa: B018


def test_deep_programs_are_counted():
    def deep(x):
        for _ in range(600):
            x = sg.sin(x) * x
        return x

    assert cost(deep, w).flops == "1200·n"


def test_every_entry_counts_products_of_sizes():
    for op in TABLE.values():
        if callable(op.work):
            shapes = [("n", "n")] * max(len(op.vjps), 1)
            params = {"dims": (0,)} if op.name == "fourier" else {}
            for factor, sizes in op.work(*shapes, **params):
                assert factor
                assert isinstance(sizes, tuple)
                assert math.isfinite(factor)

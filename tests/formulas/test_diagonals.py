"""Sums without their diagonal: i ≠ j, masks of the identity."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad as sg
from symgrad.formula.reading.text import from_latex
from symgrad.formula.term import evaluate

PAIRS = r"2 \left(x \odot \left(A \mathbf{1} + A^{\top} \mathbf{1}\right) - \left(A + A^{\top}\right) x\right)"
FORM = r"\left(A + A^{\top} - 2 A \odot I\right) x"


def eye(x, dtype=sg.bool):
    return sg.eye(len(x), dtype=dtype)


def squares(x):
    return (x[:, None] - x[None]) ** 2


CASES = {
    "differences": (lambda x, A: sg.where(eye(x), 0, A * squares(x)).sum(), PAIRS),
    "products": (lambda x, A: (A * sg.outer(x, x)).masked_fill(eye(x), 0.0).sum(), FORM),
    "the others": (lambda x, A: sg.where(~eye(x), A * sg.outer(x, x), 0.0).sum(), FORM),
    "numbers": (lambda x, A: sg.where(eye(x, sg.float64) == 1, 0.0, A * sg.outer(x, x)).sum(), FORM),
    "a factor": (lambda x, A: (A * sg.outer(x, x) * (1 - eye(x, sg.float64))).sum(), FORM),
    "the diagonal": (lambda x, A: sg.where(eye(x), A * sg.outer(x, x), 0.0).sum(), (
        r"2 x \odot \operatorname{diag}\left(A\right)"
    )),
}  # fmt: skip
SUMS = {
    r"\sum_{i\ne j} A_{ij} x_i x_j": r"\left(A + A^{\top}\right) x - 2 x \odot \operatorname{diag}\left(A\right)",
    r"\sum_{i\ne j} (x_i-x_j)^2": r"4 \left(n x - \mathbf{1}^{\top} x\right)",
    r"\sum_{i\ne j} A_{ij}(x_i-x_j)^2": PAIRS,
}


@pytest.mark.parametrize("name", CASES)
def test_entries_off_the_diagonal_are_a_matrix_less_its_diagonal(name):
    f, text = CASES[name]
    rng = np.random.default_rng(3)
    for n in (4, 3, 6):
        x, A = rng.normal(size=n), rng.normal(size=(n, n))
        found = sg.formula(f, x, A, wrt="x")
        assert found.latex() == text
        read = from_latex(text, found.symbols, shape=found.term.shape)
        want = sg.func.grad(f)(sg.tensor(x), sg.tensor(A)).numpy()
        np.testing.assert_allclose(evaluate(read, {"x": x, "A": A}), want, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("text", SUMS)
def test_sums_over_different_indices_print_without_cases(text):
    assert sg.latex(text, wrt="x") == SUMS[text]
    assert sg.judge(SUMS[text], of=text, wrt="x")


def test_what_is_infinite_on_the_diagonal_stays_apart():
    def poles(x):
        return sg.where(eye(x), 0, 1 / (x[:, None] - x[None])).sum()

    found = sg.formula(poles, (4,), wrt="x")
    assert "cases" in found.latex()
    assert np.isfinite(found.evaluate(x=np.array([1.0, 3.0, 4.0]))).all()


def test_identities_of_any_shape_are_masks():
    def f(X):
        return sg.where(sg.eye(*X.shape, dtype=sg.bool), 0, X**2).sum()

    X = np.random.default_rng(5).normal(size=(3, 5))
    found = sg.formula(f, X, wrt="X")
    want = 2 * X * (1 - np.eye(3, 5))
    np.testing.assert_allclose(found.evaluate(X=X), want)
    np.testing.assert_allclose(evaluate(found.canonical, {**found.constants, "X": X}), want)


def _distances(X):
    return ((X[:, None] - X[None]) ** 2).sum(-1)


OF_DIFFERENCES = {
    "a kernel with noise": (
        lambda c, X, s: c @ sg.diagonal(s**2 * sg.exp(-_distances(X) / 2) + 0.1 * sg.eye(len(X), dtype=sg.float64)),
        r"\left(\mathbf{1}^{\top} c\right) \left(s^{2} + 0.1\right)",
    ),
    "weights without those of pairs of one": (
        lambda c, X, s: c @ (1 / (1 + _distances(X)) * (1 - sg.eye(len(X), dtype=sg.float64))) @ c * s,
        r"s c^{\top} \left(\frac{1}{1 + \left[\sum_{k} \left(X_{i k} - X_{j k}\right)^{2}\right]_{i j}} - I\right) c",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", OF_DIFFERENCES)
def test_differences_are_zero_on_diagonals(name):
    f, text = OF_DIFFERENCES[name]
    rng = np.random.default_rng(4)
    for n, m in ((5, 3), (4, 6), (7, 2)):
        given = {"c": rng.normal(size=n), "X": rng.normal(size=(n, m)), "s": np.asarray(1.3)}
        found = sg.formula(f, *given.values())
        assert found.latex() == text
        want = f(*map(sg.tensor, given.values())).numpy()
        np.testing.assert_allclose(found.evaluate(**given), want, rtol=1e-9)
        read = from_latex(text, found.symbols, shape=())
        np.testing.assert_allclose(evaluate(read, given), want, rtol=1e-9)


def test_a_logarithm_of_distances_stays_infinite_on_the_diagonal():
    found = sg.formula(lambda c, X: c @ sg.diagonal(sg.log(_distances(X))), (4,), (4, 2))
    assert r"\log\left(0" not in found.latex()
    assert found.evaluate(c=np.ones(3), X=np.eye(3)) == -np.inf

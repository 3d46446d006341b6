"""Formulas that are written by their entries, and constants of a run that follow its sizes."""

from __future__ import annotations

import math

import numpy as np
import pytest

import symgrad as sg
from symgrad.formula.reading.text import from_latex
from symgrad.formula.term import evaluate

RNG = np.random.default_rng(11)
SIZES = ({"n": 5, "m": 3, "k": 2, "p": 4}, {"n": 4, "m": 2, "k": 3, "p": 6}, {"n": 7, "m": 4, "k": 6, "p": 3})


def relevance(ell, X):
    Z = X / ell
    return sg.exp(-((Z[:, None] - Z[None]) ** 2).sum(-1) / 2)


def canonical_polyadic(A, B, C, T):
    return ((T - sg.einsum("ir,jr,kr->ijk", A, B, C)) ** 2).sum()


def learned_distance(A, X):
    Z = X @ A.T
    return sg.exp(-((Z[:, None] - Z[None]) ** 2).sum(-1))


def rings(X, mu, c):
    return (c * sg.cos(X[:, None] - mu[None])).sum(-1)


def likelihood(K, y, s):
    C = K + s**2 * sg.eye(len(y), dtype=sg.float64)
    return 0.5 * y @ sg.linalg.solve(C, y) + 0.5 * sg.logdet(C) + len(y) / 2 * math.log(2 * math.pi)


def scaling(K, a, b):
    u = sg.ones_like(a)
    v = b / (K.T @ u)
    u = a / (K @ v)
    return u @ K @ v**2


def evidence(x, k):
    return k * math.log(len(x)) - 2 * x.sum()


CASES = {
    "lengths of a kernel": (relevance, ("+m", "nm"), (
        r"e^{-\frac{1}{2} \left[\sum_{k} \frac{\left(X_{i k} - X_{j k}\right)^{2}}{\ell_{k}^{2}}\right]_{i j}}"
    )),
    "a tensor of low rank": (canonical_polyadic, ("nk", "mk", "pk", "nmp"), (
        r"\sum_{i j k} \left(T_{i j k} - \sum_{l} A_{i l} B_{j l} C_{k l}\right)^{2}"
    )),
    "a learned distance": (learned_distance, ("km", "nm"), (
        r"e^{-\left[\sum_{k} \left(\sum_{l} \left(X_{i l} - X_{j l}\right) A_{k l}\right)^{2}\right]_{i j}}"
    )),
    "an array of three axes": (rings, ("nk", "mk", "nmk"), (
        r"\left[\sum_{k} c_{i j k} \cos\left(X_{i k} - \mu_{j k}\right)\right]_{i j}"
    )),
    "a constant that follows a size": (likelihood, ("S", "n", "+"), (
        r"\frac{y^{\top} \left(K + s^{2} I\right)^{-1} y + \log \det\left(K + s^{2} I\right) + "
        r"n \log\left(2 \pi\right)}{2}"
    )),
    "ones that a variable is called": (scaling, ("+nm", "+n", "+m"), (
        r"\left(\frac{a}{K \frac{b}{K^{\top} \mathbf{1}}}\right)^{\top} K "
        r"\frac{b^{\odot 2}}{\left(K^{\top} \mathbf{1}\right)^{\odot 2}}"
    )),
    "the logarithm of a size": (evidence, ("n", "+"), r"k \log\left(n\right) - 2 \mathbf{1}^{\top} x"),
}  # fmt: skip


def values(kinds, sizes):
    rng = np.random.default_rng(5)
    found = []
    for kind in kinds:
        if kind == "S":
            A = rng.normal(size=(sizes["n"], sizes["n"]))
            found.append(A @ A.T + np.eye(sizes["n"]))
            continue
        shape = [sizes[s] for s in kind.lstrip("+")]
        found.append(np.asarray(rng.uniform(0.5, 1.5, shape) if kind.startswith("+") else rng.normal(size=shape)))
    return found


@pytest.mark.parametrize("name", CASES)
def test_formulas_by_their_entries(name):
    f, kinds, text = CASES[name]
    found = sg.formula(f, *values(kinds, SIZES[0]))
    assert found.latex() == text
    assert not found.constants
    read = from_latex(text, found.symbols, shape=found.term.shape)
    for sizes in SIZES:
        args = values(kinds, sizes)
        given = dict(zip(f.__code__.co_varnames, args, strict=False))
        want = f(*map(sg.tensor, args)).numpy()
        np.testing.assert_allclose(found.evaluate(**given), want, rtol=1e-9, atol=1e-11)
        np.testing.assert_allclose(evaluate(read, given), want, rtol=1e-9, atol=1e-11)


def test_a_constant_that_outlives_the_run_keeps_its_name():
    weights = sg.ones(3, dtype=sg.float64)
    found = sg.formula(lambda x: (weights * x).sum(), (3,))
    assert found.latex() == r"\mathrm{weights}^{\top} x"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (math.log(2 * math.pi) / 2, r"\frac{x \log\left(2 \pi\right)}{2}"),
        (-3 * math.log(2), r"-3 x \log\left(2\right)"),
        (1 / math.log(10), r"\frac{x}{\log\left(10\right)}"),
        (0.7, "0.7 x"),
        (0.6931471805, "0.6931471805 x"),
    ],
)
def test_logarithms_that_papers_have(value, text):
    found = sg.formula(lambda x: x * value, 1.5)
    assert found.latex() == text
    assert float(found.evaluate(x=np.float64(1.5))) == pytest.approx(1.5 * value, rel=1e-15)


@pytest.mark.parametrize(
    "weight",
    [lambda u, v: sg.clamp(u, -1, 1) ** 2, lambda u, v: u**v, lambda u, v: sg.exp(-u / v), lambda u, v: sg.sqrt(u) * v],
    ids=["a condition", "an exponent", "an exponential", "a root"],
)
def test_weights_beside_a_sum_read_back(weight):
    """Iverson brackets and exponents with indices were not told apart from what is around them."""
    found = sg.formula(lambda u, v, T: sg.einsum("i,ijk->ik", weight(u, v), T), (3,), (3,), (3, 2, 4))
    rng = np.random.default_rng(1)
    given = {"u": rng.uniform(0.5, 2, 3), "v": rng.uniform(0.5, 2, 3), "T": rng.normal(size=(3, 2, 4))}
    read = from_latex(found.latex(), found.symbols, shape=found.term.shape)
    np.testing.assert_allclose(evaluate(read, given), found.evaluate(**given), rtol=1e-9)


UNITS = {
    "of length 1": (lambda E, c: c * (sg.outer(E, E) - 0.5 * (E @ E) * sg.eye(3))[0, 0], "E=3 c=", "E",
                    r"c \left(2 E_{[0]} \mathbf{e}_{3,0} - E\right)"),
    "an entry": (lambda X, v: (sg.diag(v) @ X)[1, 2], "X=n,n v=n", "X",
                 r"v_{[1]} \mathbf{e}_{n,1} \mathbf{e}_{n,2}^{\top}"),
    "off the diagonal": (lambda E, c: (sg.outer(E, E) + c * sg.eye(3))[0, 1], "E=3 c=", None, r"E_{[0]} E_{[1]}"),
    "on the diagonal": (lambda E, c: (sg.outer(E, E) + c * sg.eye(3))[1, 1], "E=3 c=", None, r"E_{[1]}^{2} + c"),
}  # fmt: skip


@pytest.mark.parametrize("name", UNITS)
def test_unit_vectors_are_one_at_one_place(name):
    """‖e₀‖² stood for 1, v ⊙ e₁ for v₁e₁, and (EEᵀ + cI)₀₁ for E₀E₁."""
    f, shapes, wrt, text = UNITS[name]
    given = {"E": RNG.normal(size=3), "c": 0.7, "X": RNG.normal(size=(3, 3)), "v": RNG.normal(size=3)}
    values = {n: given[n] for n in f.__code__.co_varnames}
    found = sg.formula(f, shapes=shapes, wrt=wrt)
    assert found.latex() == text
    leaves = [sg.tensor(v, dtype=sg.float64, requires_grad=True) for v in values.values()]
    out = f(*leaves)
    want = out if wrt is None else sg.autograd.grad(out, [leaves[[*values].index(wrt)]])[0]
    read = from_latex(text, found.symbols, shape=found.term.shape)
    np.testing.assert_allclose(evaluate(read, values), want.numpy(force=True), rtol=1e-12)

"""softmax and logsumexp as programs write them, the largest entry taken off: formulas do not have it."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad as sg
from symgrad.formula.canonical.simplify import canonical
from symgrad.formula.term import evaluate

rng = np.random.default_rng(0)
W, X, Y = rng.normal(size=(3, 4)), rng.normal(size=(5, 3)), np.array([0, 1, 3, 2, 0])
T = np.eye(4)[Y]


def probabilities(Z):
    E = np.exp(Z - Z.max(axis=1, keepdims=True))
    return E / E.sum(axis=1, keepdims=True)


def picked(W, X, y):
    return -np.log(probabilities(X @ W)[np.arange(len(y)), y]).mean()


def in_place(W, X, y):
    P = X @ W
    P -= P.max(1, keepdims=True)
    P = np.exp(P)
    P /= P.sum(1, keepdims=True)
    return -np.log(P[np.arange(len(y)), y]).mean()


def of_logarithms(W, X, T):
    Z = X @ W
    Z = Z - Z.max(axis=1, keepdims=True)
    return -(T * (Z - np.log(np.exp(Z).sum(axis=1, keepdims=True)))).mean()


def of_tensors(W, X, T):
    Z = X @ W
    return -(T * sg.log_softmax(Z - Z.amax(1, keepdim=True), 1)).sum()


def energies(W, X):
    Z = X @ W
    m = np.max(Z, axis=1, keepdims=True)
    return (m + np.log(np.sum(np.exp(Z - m), axis=1, keepdims=True))).sum()


def attention(Q, K, V):
    return probabilities(Q @ K.T / np.sqrt(Q.shape[1])) @ V


LOSSES = {
    "picked": (
        lambda W, X, y: -np.log(probabilities(X @ W)[np.arange(len(y)), y]).mean(),
        (W, X, Y),
        "(1/n) Xᵀ (softmax(X W) − onehotₚ(y))",
    ),
    "in place": (in_place, (W, X, Y), "(1/n) Xᵀ (softmax(X W) − onehotₚ(y))"),
    "of logarithms": (of_logarithms, (W, X, T), "(1/(n p)) Xᵀ (diag(T 𝟏) softmax(X W) − T)"),
    "of tensors": (of_tensors, (W, X, T), "Xᵀ (diag(T 𝟏) softmax(X W) − T)"),
    "energies": (energies, (W, X), "Xᵀ softmax(X W)"),
}


@pytest.mark.parametrize("name", LOSSES)
def test_gradients_have_no_shift(name):
    f, args, text = LOSSES[name]
    found = sg.formula(f, *args, wrt="W")
    assert found.unicode() == text
    exact = sg.func.grad(f)(*args)
    assert np.allclose(sg.compile(sg.func.grad(f))(*args), exact, rtol=1e-12)
    h = 1e-6
    E = rng.normal(size=W.shape)
    slope = (
        (float(f(W + h * E, *args[1:])) - float(f(W - h * E, *args[1:]))) / (2 * h) if name != "of tensors" else None
    )
    assert slope is None or np.isclose(np.sum(E * np.asarray(exact)), slope, atol=1e-8)


def test_values_have_no_shift():
    assert sg.latex(attention, (4, 3), (5, 3), (5, 2)) == (
        r"\operatorname{softmax}\left(\frac{Q K^{\top}}{\sqrt{m}}\right) V"
    )
    assert sg.latex(energies, (3, 4), (5, 3)) == r"\mathbf{1}^{\top} \operatorname{logsumexp}\left(X W\right)"
    assert sg.latex(lambda z: z.max() + np.log(np.exp(z - z.max()).sum()), (5,)) == (
        r"\operatorname{logsumexp}\left(z\right)"
    )


def test_what_varies_along_the_axis_is_no_shift():
    assert sg.latex(lambda z, b: sg.softmax(z + b, 1), (4, 3), (3,)) == (
        r"\operatorname{softmax}\left(z + \mathbf{1} b^{\top}\right)"
    )
    assert sg.latex(lambda z, b: sg.softmax(z + b[:, None], 1), (4, 3), (4,)) == r"\operatorname{softmax}\left(z\right)"


def test_derivatives_by_what_varies_along_the_axis():
    """A bias was taken for a shift because its shape is not that of the sum."""
    z, b, t = rng.normal(size=(4, 3)), rng.normal(size=3), rng.normal(size=(4, 3))
    for f in (sg.softmax, sg.log_softmax):
        loss = lambda z, b, t, f=f: (t * f(z + b, -1)).sum()  # noqa: E731
        for k in (0, 1):
            exact = np.asarray(sg.func.grad(loss, argnums=k)(z, b, t))
            assert np.abs(exact).max() > 1e-3
            assert np.allclose(sg.compile(sg.func.grad(loss, argnums=k))(z, b, t), exact, rtol=1e-12)


OF_DIAGONALS = {
    "softmax": (lambda K, v: sg.softmax(K - 2 * sg.eye(len(K)), 1), "softmax(K − 2 I)"),
    "of columns": (lambda K, v: sg.softmax(K - sg.diag(v), 0), "softmax₀(K − diag(v))"),
    "logarithms": (lambda K, v: sg.log_softmax(K - sg.diag(v), 1), "log softmax(K − diag(v))"),
    "of rows": (lambda K, v: sg.logsumexp(K + v[:, None] - 1e9 * sg.eye(len(K)), 1), "logsumexp(K − 10⁹ I) + v"),
    "a quotient": (
        lambda K, v: sg.exp(K - sg.eye(len(K))) / sg.exp(K - sg.eye(len(K))).sum(1, keepdim=True), "softmax(K − I)"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", OF_DIAGONALS)
def test_a_diagonal_is_no_shift(name):
    """It varies along each of its two axes: attention without the diagonal was printed as attention."""
    f, text = OF_DIAGONALS[name]
    K, v = rng.normal(size=(4, 4)), rng.normal(size=4)
    found = sg.formula(f, K, v)
    assert found.unicode() == text
    assert np.allclose(
        evaluate(canonical(found.term), {"K": K, "v": v}, {"n": 4}), np.asarray(f(*map(sg.tensor, (K, v))))
    )


def test_a_share_of_one_entry_is_all():
    """softmax along an axis of size 1 was printed as softmax of a vector, along its entries."""
    v = rng.normal(size=4)
    for f, text in ((sg.softmax, "𝟏"), (sg.log_softmax, "0")):
        found = sg.formula(lambda v, f=f: f(v[:, None], 1)[:, 0], v)
        assert found.unicode() == text
        assert np.array_equal(
            np.broadcast_to(evaluate(found.term, {"v": v}), 4), np.asarray(f(sg.tensor(v)[:, None], 1))[:, 0]
        )


ALIKE = {
    "softmax": (lambda w: sg.softmax(0 * w + 3, 0) * w, "w/n"),
    "log_softmax": (lambda w: sg.log_softmax(0 * w, 0) * w, "−log(n) w"),
    "logsumexp": (lambda w: sg.logsumexp(0 * w, 0) * w, "log(n) w"),
}


@pytest.mark.parametrize("how", ALIKE)
def test_entries_that_are_one_have_equal_shares(how):
    f, text = ALIKE[how]
    assert sg.formula(f, (3,)).unicode() == text


@pytest.mark.parametrize("f", [sg.softmax, sg.log_softmax, sg.logsumexp])
def test_rows_of_one_value_each_have_equal_shares(f):
    made = sg.formula(lambda a, w: f(a[:, None].expand(-1, w.shape[0]), 1), (2,), (3,))
    assert f.__name__ not in made.unicode()
    a, w = rng.normal(size=4), rng.normal(size=5)
    want = f(sg.tensor(a)[:, None].expand(-1, 5), 1).numpy()
    np.testing.assert_allclose(evaluate(canonical(made.term), {"a": a, "w": w}, {"n": 4, "m": 5}), want, rtol=1e-14)

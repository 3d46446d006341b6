"""Triangles in formulas: Cholesky factors meet their matrices, and halves of symmetric matrices their other halves."""

from __future__ import annotations

import re

import numpy as np
import pytest

import symgrad as sg
from symgrad.formula.canonical.simplify import canonical
from symgrad.formula.printing.latex import latex
from symgrad.formula.term import evaluate, symbol
from symgrad.op import lookup
from symgrad.ops.linalg.matrices import diag_embed, diagonal
from tests.formulas.roundtrip import readings, sizes_of

tril, triu, inv, cholesky, eye = (lookup(name) for name in ("tril", "triu", "inv", "cholesky", "eye"))
A, B, S = (symbol(name, ("n", "n")) for name in "ABS")
u, v = symbol("u", ("n",)), symbol("v", ("n",))
L, U = tril(A, k=0), triu(B, k=0)
C = cholesky(S)
ROWS, SYMMETRIC = L @ L.T, u[:, None] * u + A * A.T


@pytest.mark.parametrize("n", [1, 3, 4])
@pytest.mark.parametrize(
    "term",
    [
        tril(U @ tril(B @ A, k=0), k=0),
        tril(U @ tril(B @ A, k=0) @ U, k=0),
        tril(L @ tril(B @ A, k=0), k=0),
        tril((U @ tril(B @ A, k=0)) * (U @ tril(A @ B, k=0)), k=0),
        triu((U @ tril(B @ A, k=0)) * (L @ triu(A @ B, k=0)) * (U @ triu(A, k=0) @ U), k=0),
        tril(L.T @ tril(u[:, None] * v, k=0), k=0),
        triu(L @ triu(A + B, k=0), k=0),
        triu(U @ triu(A @ B, k=0) @ U, k=0),
        triu(L @ tril(A @ B, k=0), k=0),
        tril(U @ tril(A @ B, k=-1), k=0),
        tril(U @ tril(A @ B, k=0), k=-1),
        tril(U @ tril(A @ B, k=1), k=0),
        diagonal(L.T @ tril(A @ B, k=0)),
        diagonal(L @ tril(A @ B, k=0) + U),
        L * tril(A @ B, k=0),
        L * triu(A @ B, k=0),
        L.T * tril(A @ B, k=0),
        inv(L) * tril(A @ B, k=0) @ U,
        tril(U @ tril(A @ B, k=0) + A, k=0),
        tril(U @ (tril(A @ B, k=0) + A) + L - U, k=0),
        tril(SYMMETRIC, k=0) + tril(SYMMETRIC, k=0).T,
        tril(ROWS, k=0) + tril(ROWS, k=0).T - 2 * tril(ROWS, k=0),
        B.T @ (tril(SYMMETRIC, k=0) + tril(SYMMETRIC, k=0).T) @ B,
        B.T @ tril(A, k=0) @ B + B.T @ tril(A, k=0).T @ B,
        triu(u[:, None] * v, k=0) + tril(v[:, None] * u, k=0).T,
        triu(u[:, None] * v, k=1) + tril(v[:, None] * u, k=-1).T,
        triu(u[:, None] * v, k=1) - tril(v[:, None] * u, k=0).T,
        C.T @ inv(S) @ u,
        inv(S) @ C,
        C @ inv(S) @ C.T,
        C.T @ inv(S) @ C,
        u * (C * C) @ v,
        (inv(C) * inv(C)).T @ v,
        ((inv(C) * inv(C)) @ v) * u,
        eye(n="n", dtype="float64") + A - (diag_embed(1 + u) + A),
        A + diag_embed(u * (1 + v)) - diag_embed(u * v),
    ],
)
def test_canonical_forms_have_the_value(term, n):
    rng = np.random.default_rng(n)
    values = {name: rng.normal(size=(n, n)) + 3 * np.eye(n) for name in "AB"}
    values |= {name: rng.normal(size=n) for name in "uv"}
    root = rng.normal(size=(n, n))
    values["S"] = root @ root.T + np.eye(n)
    want = evaluate(term, values, {"n": n})
    np.testing.assert_allclose(
        np.broadcast_to(evaluate(canonical(term), values, {"n": n}), want.shape), want, atol=1e-9
    )


ONES = lookup("full")(shape=("n", "n"), value=1, dtype="float64")
UPPER = lookup("ne")(triu(ONES, k=1), 0)
where = lookup("where")
x = u[:, None] - u


@pytest.mark.parametrize(
    ("term", "text"),
    [
        (where(UPPER, A * u, 0), r"\operatorname{triu}_{1}\left(A\right) \operatorname{diag}\left(u\right)"),
        (where(UPPER, 0, A), r"\operatorname{tril}\left(A\right)"),
        (where(UPPER, 0, 1 / x), None),
        (
            where(UPPER, 1 / x, 0),
            r"\operatorname{triu}_{1}\left(\frac{1}{u \mathbf{1}_{n}^{\top} - \mathbf{1}_{n} u^{\top}}\right)",
        ),
        (where(UPPER, A, B), None),
        (A * triu(ONES, k=1), r"\operatorname{triu}_{1}\left(A\right)"),
        (A.T * triu(ONES, k=1), r"\operatorname{tril}_{-1}\left(A\right)^{\top}"),
        (L * tril(where(UPPER, 1 / x, 1), k=0), None),
        (L * tril(1 / (x + eye(n="n", dtype="float64") + triu(1 / x, k=1)), k=0), None),
        (tril(ONES, k=-1) + triu(ONES, k=1), r"\mathbf{1}_{n} \mathbf{1}_{n}^{\top} - I_{n}"),
        (A @ (tril(ONES, k=-1) + triu(ONES, k=1)), None),
        (tril(1 / x, k=-1) ** 2 + (tril(1 / x, k=-1) ** 2).T, None),
    ],
)
def test_halves_that_a_condition_picks(term, text):
    values = {"A": np.arange(9.0).reshape(3, 3), "B": np.ones((3, 3)), "u": np.array([0.5, 2.0, -1.0])}
    with np.errstate(divide="ignore", invalid="ignore"):
        want, found = (evaluate(t, values, {"n": 3}) for t in (term, canonical(term)))
    np.testing.assert_allclose(np.broadcast_to(found, want.shape), want, atol=1e-12)
    assert text is None or latex(term) == text


def by_solves(K, y):
    return y @ sg.linalg.solve(K, y) / 2 + sg.logdet(K) / 2


def by_cholesky(K, y):
    L = sg.linalg.cholesky(K)
    return y @ sg.cholesky_solve(y[:, None], L)[:, 0] / 2 + sg.log(sg.diagonal(L)).sum()


def by_triangles(K, y):
    L = sg.linalg.cholesky(K)
    a = sg.linalg.solve_triangular(L, y[:, None], upper=False)
    return (a**2).sum() / 2 + sg.log(sg.diagonal(L)).sum()


def by_upper(K, y):
    R = sg.linalg.cholesky(K, upper=True)
    return y @ sg.cholesky_solve(y[:, None], R, upper=True)[:, 0] / 2 + sg.log(sg.diagonal(R)).sum()


def linear(X, s):
    return X @ X.T + s * sg.eye(len(X), dtype=sg.float64)


def squared_exponential(X, s):
    return sg.exp(-(sg.cdist(X, X) ** 2) / 2) + s * sg.eye(len(X), dtype=sg.float64)


def op_names(text):
    return set(re.findall(r"operatorname{(\w+)}", text))


@pytest.mark.parametrize("kernel", [linear, squared_exponential])
@pytest.mark.parametrize("likelihood", [by_cholesky, by_triangles, by_upper])
def test_marginal_likelihoods_by_cholesky_read_as_by_inverses(kernel, likelihood):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(4, 2)), rng.normal(size=4)

    def loss(X, y, s):
        return likelihood(kernel(X, s), y)

    for wrt in ("X", "y", "s"):
        found = sg.formula(loss, X, y, 0.7, wrt=wrt)
        want = sg.formula(lambda X, y, s: by_solves(kernel(X, s), y), X, y, 0.7, wrt=wrt)
        if (likelihood, kernel, wrt) != (by_upper, squared_exponential, "s"):  # its Kᵀ and K are two names there
            assert len(found.latex()) <= len(want.latex())
            assert not {"tril", "triu", "cholesky"} & op_names(found.latex())
        for n, d in ((5, 3), (3, 3), (1, 2)):
            values = {"X": rng.normal(size=(n, d)), "y": rng.normal(size=n), "s": np.array(1.3)}
            at = [sg.tensor(value) for value in values.values()]
            number = np.asarray(sg.func.grad(loss, argnums="Xys".index(wrt))(*at))
            np.testing.assert_allclose(found.evaluate(**values), number, rtol=1e-8, atol=1e-10)
            for text, term in readings(found.term, found.symbols).items():
                value = evaluate(term, values, sizes_of(found.term, number))
                np.testing.assert_allclose(value, number, rtol=1e-6, atol=1e-8, err_msg=text)


@pytest.mark.parametrize("likelihood", [by_cholesky, by_triangles, by_upper])
def test_the_gradient_by_a_covariance_that_has_a_cholesky_factor(likelihood):
    root, y = np.random.default_rng(1).normal(size=(4, 4)), np.arange(1.0, 5)
    K = root @ root.T + np.eye(4)
    found = sg.formula(likelihood, K, y, wrt="K", assume={"K": "symmetric"})
    assert found.latex() == r"\frac{1}{2} \left(K^{-1} - K^{-1} y y^{\top} K^{-1}\right)"
    number = sg.func.grad(likelihood)(sg.tensor(K), sg.tensor(y))
    np.testing.assert_allclose(found.evaluate(K=K, y=y), np.asarray(number), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    ("f", "text"),
    [
        (lambda x: sg.cumsum(x, 0), "tril(11ᵀ)"),
        (lambda x: sg.cumsum(x, 0) ** 2, "2 diag(cumsum(x)) tril(11ᵀ)"),
        (lambda x: sg.flip(sg.cumsum(sg.flip(x**2, [0]), 0), [0]), "2 triu(11ᵀ) diag(x)"),
    ],
    ids=["sums", "squares", "from the last"],
)
def test_jacobians_of_running_sums_are_triangles_of_ones(f, text):
    """They were flip(cumsum(flip(I)))."""
    x = sg.tensor([1.0, 2.0, -3.0, 0.5], dtype=sg.float64, requires_grad=True, name="x")
    found = sg.autograd.jacobian(f(x), x)
    ones = r"\mathbf{1}_{n} \mathbf{1}_{n}^{\top}"
    for name in ("tril", "triu", "diag", "cumsum"):
        text = re.sub(rf"\b{name}\(", rf"\\operatorname{{{name}}}(", text)
    assert re.sub(r"\\(left|right)", "", found.latex()) == text.replace("11ᵀ", ones)
    for n in (1, 2, 6):
        at = np.arange(1.0, n + 1)
        want = np.asarray(sg.func.jacrev(f)(sg.tensor(at)))
        np.testing.assert_allclose(evaluate(found.term, {"x": at}, {"n": n}), want)
        for again in readings(found.term, [x.term]).values():
            np.testing.assert_allclose(evaluate(again, {"x": at}, {"n": n}), want)

"""Derivatives of textbooks: printed in their form, and proved at three sizes."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad as sg
from symgrad.formula.reading.text import from_latex
from symgrad.formula.term import evaluate
from tests.formulas.test_courses import SIZES, values


def ridge(lam, X, y):
    w = sg.linalg.solve(X.T @ X + lam * identity(X.shape[1]), X.T @ y)
    return ((y - X @ w) ** 2).sum() + lam * w @ w


def evidence(alpha, beta, X, t):
    """Logarithm of the marginal likelihood of a linear model (Bishop, 3.86)."""
    n, m = X.shape
    A = alpha * identity(m) + beta * X.T @ X
    w = beta * sg.linalg.solve(A, X.T @ t)
    error = beta * ((t - X @ w) ** 2).sum() + alpha * w @ w
    return (m * sg.log(alpha) + n * sg.log(beta) - error - sg.logdet(A)) / 2


def update(P, H, R):
    """The covariance of a Kalman filter, in Joseph's form."""
    K = P @ H.T @ sg.linalg.inv(H @ P @ H.T + R)
    kept = identity(len(P)) - K @ H
    return sg.trace(kept @ P @ kept.T + K @ R @ K.T)


def identity(n):
    return sg.eye(n, dtype=sg.float64)


RESOLVENTS = {
    "precision of weights": (
        evidence, "alpha", ("+", "+", "nm", "n"), {},
        (r"\frac{1}{2} \left(\frac{m}{\alpha} - "
        r"\operatorname{tr}\left(\left(\alpha I + \beta X^{\top} X\right)^{-1}\right) - "
        r"\beta^{2} t^{\top} X \left(\alpha I + \beta X^{\top} X\right)^{-2} X^{\top} t\right)"),
    ),
    "strength of ridge regression": (
        ridge, "lam", ("+", "nm", "n"), {},
        r"y^{\top} X \left(X^{\top} X + \lambda I\right)^{-2} X^{\top} y",
    ),
    "targets of ridge regression": (
        ridge, "y", ("+", "nm", "n"), {},
        r"2 \left(y - X \left(X^{\top} X + \lambda I\right)^{-1} X^{\top} y\right)",
    ),
    "degrees of freedom": (
        lambda lam, X: sg.trace(X @ sg.linalg.inv(X.T @ X + lam * identity(X.shape[1])) @ X.T), "X", ("+", "nm"), {},
        r"2 \lambda X \left(X^{\top} X + \lambda I\right)^{-2}",
    ),
    "a kernel and its residual": (
        lambda s, K, y: ((y - K @ sg.linalg.solve(K + s * identity(len(y)), y)) ** 2).sum(),
        "K", ("+", "S", "n"), {"K": "symmetric"},
        r"-2 s^{2} \left(K + s I\right)^{-2} y y^{\top} \left(K + s I\right)^{-1}",
    ),
    "Cayley's transform": (
        lambda A, x, y: y @ sg.linalg.solve(identity(len(A)) + A, (identity(len(A)) - A) @ x), "A", ("S", "n", "n"), {},
        r"-2 \left(I + A\right)^{-\top} y x^{\top} \left(I + A\right)^{-\top}",
    ),
    "Joseph's form": (
        update, "P", ("S", "mn", "T"), {"P": "symmetric", "R": "symmetric"},
        ("\\begin{aligned}\n"
        r"t_{1} &= I - H^{\top} \left(H P H^{\top} + R\right)^{-1} H P \\" "\n"
        r"& t_{1} t_{1}^{\top}" "\n"
        r"\end{aligned}"),
    ),
    "both parts of a sum": (
        lambda A, B, C: sg.trace(C @ sg.linalg.inv(A + B) @ A) + sg.trace(C @ sg.linalg.inv(A + B) @ B),
        "C", ("S", "nn", "nn"), {},
        "I",
    ),
}  # fmt: skip
CASES = RESOLVENTS


@pytest.mark.parametrize("name", CASES)
def test_derivatives_of_textbooks(name):
    f, wrt, kinds, assume, text = CASES[name]
    names = f.__code__.co_varnames[: f.__code__.co_argcount]
    found = sg.formula(f, *values(kinds, SIZES[0]), wrt=wrt, assume=assume)
    assert found.latex() == text
    read = from_latex(text, found.symbols, shape=found.term.shape)
    for sizes in SIZES:
        args = values(kinds, sizes)
        given = dict(zip(names, args, strict=True))
        want = sg.func.grad(f, argnums=names.index(wrt))(*map(sg.tensor, args)).numpy()
        shape = dict(zip(found.term.shape, want.shape, strict=True))
        np.testing.assert_allclose(evaluate(found.term, given, shape), want, rtol=1e-9, atol=1e-11)
        np.testing.assert_allclose(evaluate(read, given, shape), want, rtol=1e-9, atol=1e-11)

"""Derivatives of textbooks: printed in their form, and proved at three sizes."""

from __future__ import annotations

import inspect

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


def centred(X):
    return X - X.mean(1, keepdim=True)


def layer_norm(X, g, c):
    Z = centred(X)
    return ((Z / sg.sqrt((Z**2).mean(1, keepdim=True) + 1e-5) * g) @ c).sum()


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
MEANS = {
    "columns of what is centred": (
        lambda X, C, g: (C * g * centred(X)).sum(), "C", ("nm", "nm", "m"), {},
        r"\left(X - \frac{1}{m} X \mathbf{1} \mathbf{1}^{\top}\right) \operatorname{diag}\left(g\right)",
    ),
    "layer norm": (
        layer_norm, "X", ("nm", "m", "m"), {},
        ("\\begin{aligned}\n"
        r"t_{1} &= X - \frac{1}{m} X \mathbf{1} \mathbf{1}^{\top} \\" "\n"
        r"t_{2} &= \frac{1}{m} t_{1}^{\odot 2} \mathbf{1} + 10^{-5} \\" "\n"
        r"t_{3} &= c \odot g \\" "\n"
        r"& \frac{1}{\sqrt{t_{2}}} \left(t_{3} - \frac{c^{\top} g}{m}\right)^{\top} - \frac{1}{m} "
        r"\operatorname{diag}\left(\frac{t_{1} t_{3}}{t_{2}^{\odot \frac{3}{2}}}\right) t_{1}" "\n"
        r"\end{aligned}"),
    ),
    "a similarity with a small number": (
        lambda x, y: (2 * x.mean() * y.mean() + 0.01) / (x.mean() ** 2 + y.mean() ** 2 + 0.01), "x", ("n", "n"), {},
        (r"\frac{2 \left(\mathbf{1}^{\top} y - \frac{\left(\mathbf{1}^{\top} x\right) \left(2 \left(\mathbf{1}^{\top} "
        r"x\right) \mathbf{1}^{\top} y + 0.01 n^{2}\right)}{\left(\mathbf{1}^{\top} x\right)^{2} + \left("
        r"\mathbf{1}^{\top} y\right)^{2} + 0.01 n^{2}}\right)}{\left(\mathbf{1}^{\top} x\right)^{2} + \left("
        r"\mathbf{1}^{\top} y\right)^{2} + 0.01 n^{2}} \mathbf{1}"),
    ),
}  # fmt: skip
ONES = {
    "a Hessian beside ones": (
        sg.func.hessian(lambda x, A: x @ A @ x - 3 * x.sum() ** 2), None, ("n", "nn"), {},
        r"A + A^{\top} - 6 \mathbf{1} \mathbf{1}^{\top}",
    ),
    "the derivative of a standardised vector": (
        sg.func.jacobian(lambda x: (x - x.mean()) / sg.sqrt(((x - x.mean()) ** 2).mean())), None, ("n",), {},
        ("\\begin{aligned}\n"
        r"t_{1} &= x - \frac{\mathbf{1}^{\top} x}{n} \\" "\n"
        r"t_{2} &= \lVert t_{1} \rVert \\" "\n"
        r"& \frac{1}{t_{2}} \left(\sqrt{n} \left(I - \frac{t_{1} t_{1}^{\top}}{t_{2}^{2}}\right) - "
        r"\frac{1}{\sqrt{n}} \mathbf{1} \mathbf{1}^{\top}\right)" "\n"
        r"\end{aligned}"),
    ),
}  # fmt: skip
RANGES = {
    "a valley": (
        lambda x: (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum(), "x", ("n",), {},
        ("\\begin{aligned}\n"
        r"t_{1} &= x_{[1:]} - x_{[:-1]}^{\odot 2} \\" "\n"
        r"& 200 \begin{bmatrix} 0 \\ t_{1} \end{bmatrix} - 2 \begin{bmatrix} 200 x_{[:-1]} \odot t_{1} + 1 - x_{[:-1]} "
        r"\\ 0 \end{bmatrix}" "\n"
        r"\end{aligned}"),
    ),
}  # fmt: skip
NORMS = {
    "stress of a deviator": (
        lambda s: sg.sqrt(3 / 2 * ((s - sg.trace(s) / len(s) * identity(len(s))) ** 2).sum()), "s", ("kk",), {},
        (r"\frac{\sqrt{3}}{\sqrt{2} \left\lVert s - \frac{\operatorname{tr}\left(s\right)}{n} I \right\rVert_{F}} "
        r"\left(s - \frac{\operatorname{tr}\left(s\right)}{n} I\right)"),
    ),
    "a scaled length": (lambda x: sg.sqrt(x @ x / 6), None, ("n",), {}, r"\frac{\lVert x \rVert}{\sqrt{6}}"),
}  # fmt: skip
JACOBIANS = {
    "replicators": (
        sg.func.jacobian(lambda x, A: x * (A @ x - x @ A @ x)), None, ("n", "nn"), {},
        (r"\operatorname{diag}\left(x\right) A - x x^{\top} \left(A + A^{\top}\right) + "
        r"\operatorname{diag}\left(A x - x^{\top} A x\right)"),
    ),
    "information of a partial likelihood": (
        lambda b, X, R, d: sg.func.hessian(lambda b: -(d * (X @ b - sg.log(R @ sg.exp(X @ b)))).sum())(b),
        None, ("m", "nm", "+nn", "+n"), {},
        (r"X^{\top} \left(\operatorname{diag}\left(e^{X b} \odot R^{\top} \frac{d}{R e^{X b}}\right) - "
        r"\operatorname{diag}\left(e^{X b}\right) R^{\top} \operatorname{diag}\left(\frac{d}{\left(R e^{X b}\right)^{"
        r"\odot 2}}\right) R \operatorname{diag}\left(e^{X b}\right)\right) X"),
    ),
    "entries of vectors": (
        sg.func.hessian(lambda X, a, b: (a @ X @ b) ** 2), None, ("nm", "n", "m"), {},
        r"2 \left[a_{i} b_{j} a_{k} b_{l}\right]_{i j k l}",
    ),
    "a risk": (
        sg.func.hessian(lambda w, S: sg.sqrt(w @ S @ w)), None, ("n", "S"), {},
        (r"\frac{1}{4 \sqrt{w^{\top} S w}} \left(2 \left(S + S^{\top}\right) - \frac{1}{w^{\top} S w} "
        r"\left(S + S^{\top}\right) w w^{\top} \left(S + S^{\top}\right)\right)"),
    ),
    "a distance and an angle": (
        lambda x, b: sg.func.jacobian(lambda x: sg.stack([sg.sqrt((x - b) @ (x - b)), sg.atan2(x @ b, x @ x)]))(x),
        None, ("n", "n"), {},
        (r"\begin{bmatrix} \frac{1}{\lVert x - b \rVert} \left(x - b\right)^{\top} \\ "
        r"\frac{1}{\left(x^{\top} x\right)^{2} + \left(x^{\top} b\right)^{2}} \left(\left(x^{\top} x\right) b - "
        r"2 \left(x^{\top} b\right) x\right)^{\top} \end{bmatrix}"),
    ),
}  # fmt: skip
CASES = RESOLVENTS | MEANS | ONES | RANGES | NORMS | JACOBIANS


@pytest.mark.parametrize("name", CASES)
def test_derivatives_of_textbooks(name):
    f, wrt, kinds, assume, text = CASES[name]
    names = list(inspect.signature(f).parameters)
    found = sg.formula(f, *values(kinds, SIZES[0]), wrt=wrt, assume=assume)
    assert found.latex() == text
    read = from_latex(text, found.symbols, shape=found.term.shape)
    for sizes in SIZES:
        args = values(kinds, sizes)
        given = dict(zip(names, args, strict=True))
        wanted = f if wrt is None else sg.func.grad(f, argnums=names.index(wrt))
        want = wanted(*map(sg.tensor, args)).numpy()
        shape = dict(zip(found.term.shape, want.shape, strict=True))
        np.testing.assert_allclose(evaluate(found.term, given, shape), want, rtol=1e-9, atol=1e-11)
        np.testing.assert_allclose(evaluate(read, given, shape), want, rtol=1e-9, atol=1e-11)

"""Derivatives of control, statistics, economics, learning and mechanics as their authors print them."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad as sg
import symgrad.nn.functional as F
from symgrad.formula.reading.text import from_latex
from symgrad.formula.reading.unicode import from_unicode
from symgrad.formula.term import evaluate

RNG = np.random.default_rng(11)


def kalman(K, P, H, R):
    left = sg.eye(len(P)) - K @ H
    return sg.trace(left @ P @ left.T + K @ R @ K.T)


def mean_of_process(x, X, a, h):
    return sg.exp(-((X - x) ** 2).sum(1) / (2 * h**2)) @ a


def welsch(w, X, y, k):
    return (k**2 / 2 * (1 - sg.exp(-(((y - X @ w) / k) ** 2)))).sum()


def cauchy(w, X, y, g):
    return sg.log(1 + ((y - X @ w) / g) ** 2).sum()


def linear_attention(Q, K, V, G):
    q, k = F.elu(Q) + 1, F.elu(K) + 1
    return (G * ((q @ (k.T @ V)) / (q @ k.sum(0))[:, None])).sum()


def spatial_lag(r, b, W, X, y, s):
    e = y - r * (W @ y) - X @ b
    return sg.logdet(sg.eye(len(y)) - r * W) - e @ e / (2 * s)


def sharpe(w, m, S, r):
    return (w @ m - r) / sg.sqrt(w @ S @ w)


def cox(b, X, d, R):
    return (d * (X @ b - sg.log(R @ sg.exp(X @ b)))).sum()


def regulator(K, A, B, Q, R, x):
    u = -K @ x
    z = A @ x + B @ u
    return z @ Q @ z + u @ R @ u


def pruning(t, Q, a, b, p):
    return sg.log(p @ ((sg.linalg.matrix_exp(t * Q) @ a) * b))


def mooney_rivlin(F, a, b):
    C = F.T @ F
    first = sg.trace(C)
    return a * (first - 3) + b * ((first**2 - sg.trace(C @ C)) / 2 - 3)


def trilateration(x, B, r):
    return ((sg.sqrt(((x - B) ** 2).sum(1)) - r) ** 2).sum() / 2


def likeness(W, X, Y):
    Z = X @ W
    return -((Z * Y).sum(1) / sg.sqrt((Z**2).sum(1))).mean()


def normal(*shape):
    return RNG.normal(size=shape)


def positive(*shape):
    return RNG.uniform(0.5, 2, size=shape)


def definite(n):
    a = normal(n, n)
    return a @ a.T + np.eye(n)


DERIVATIVES = {
    "gain": (
        kalman, "K", (normal(5, 3), definite(5), normal(3, 5), definite(3)),
        r"K \left(R + R^{\top}\right) - \left(I - K H\right) \left(P + P^{\top}\right) H^{\top}",
    ),
    "curvature of a prediction": (
        mean_of_process, ("x", "x"), (normal(3), normal(5, 3), normal(5), 1.2),
        ("\\begin{aligned}\n" r"t_{1} &= X - \mathbf{1} x^{\top} \\" "\n"
         r"t_{2} &= e^{-\frac{1}{2 h^{2}} t_{1}^{\odot 2} \mathbf{1}} \\" "\n"
         r"& \frac{1}{h^{4}} \left(t_{1}^{\top} \operatorname{diag}\left(a \odot t_{2}\right) t_{1} - "
         r"h^{2} \left(a^{\top} t_{2}\right) I\right)" "\n\\end{aligned}"),
    ),
    "redescending loss": (
        welsch, ("w", "w"), (normal(3), normal(5, 3), normal(5), 1.5),
        (r"X^{\top} \operatorname{diag}\left(e^{-\frac{1}{k^{2}} \left(y - X w\right)^{\odot 2}} \odot "
         r"\left(1 - \frac{2}{k^{2}} \left(y - X w\right)^{\odot 2}\right)\right) X"),
    ),
    "heavy tails": (
        cauchy, ("w", "w"), (normal(3), normal(5, 3), normal(5), 1.5),
        (r"2 X^{\top} \operatorname{diag}\left(\frac{g^{2} - \left(y - X w\right)^{\odot 2}}{\left(g^{2} + "
         r"\left(y - X w\right)^{\odot 2}\right)^{\odot 2}}\right) X"),
    ),
    "attention without softmax": (
        linear_attention, "K", (normal(5, 2), normal(4, 2), normal(4, 3), normal(5, 3)),
        ("\\begin{aligned}\n"
         r"t_{1} &= \begin{cases} K + 1 & \text{for}\: K \ge 0 \\ e^{K} & \text{otherwise} \end{cases} \\" "\n"
         r"t_{2} &= \begin{cases} Q + 1 & \text{for}\: Q \ge 0 \\ e^{Q} & \text{otherwise} \end{cases} \\" "\n"
         r"t_{3} &= t_{2} t_{1}^{\top} \mathbf{1} \\" "\n"
         r"t_{4} &= \left(V G^{\top} - \mathbf{1} \left(\frac{\left(G V^{\top} t_{1} \odot t_{2}\right) \mathbf{1}}"
         r"{t_{3}}\right)^{\top}\right) \operatorname{diag}\left(\frac{1}{t_{3}}\right) t_{2} \\" "\n"
         r"& \begin{cases} t_{4} & \text{for}\: K \ge 0 \\ t_{4} \odot e^{K} & \text{otherwise} \end{cases}"
         "\n\\end{aligned}"),
    ),
    "autoregression in space": (
        spatial_lag, "r", (0.3, normal(3), normal(5, 5) / 9, normal(5, 3), normal(5), 1.5),
        (r"\frac{\left(y - r W y - X b\right)^{\top} W y}{s} - "
         r"\operatorname{tr}\left(W \left(I - r W\right)^{-1}\right)"),
    ),
    "return by risk": (
        sharpe, "w", (normal(5), normal(5), definite(5), 0.1),
        (r"\frac{1}{\sqrt{w^{\top} S w}} \left(m - \frac{w^{\top} m - r}{2 w^{\top} S w} "
         r"\left(S + S^{\top}\right) w\right)"),
    ),
    "information of a partial likelihood": (
        cox, ("b", "b"), (normal(3), normal(5, 3), normal(5), positive(5, 5)),
        (r"X^{\top} \left(\operatorname{diag}\left(e^{X b}\right) R^{\top} \operatorname{diag}\left(\frac{d}"
         r"{\left(R e^{X b}\right)^{\odot 2}}\right) R \operatorname{diag}\left(e^{X b}\right) - "
         r"\operatorname{diag}\left(e^{X b} \odot R^{\top} \frac{d}{R e^{X b}}\right)\right) X"),
    ),
    "gain of a regulator": (
        regulator, "K", (normal(2, 3), normal(3, 3), normal(3, 2), definite(3), definite(2), normal(3)),
        (r"\left(\left(R + R^{\top}\right) K - B^{\top} \left(Q + Q^{\top}\right) \left(A - B K\right)\right) "
         r"x x^{\top}"),
    ),
    "length of a branch": (
        pruning, "t", (0.4, normal(3, 3), positive(3), positive(3), positive(3)),
        (r"\frac{\left(p \odot b\right)^{\top} Q \operatorname{expm}\left(t Q\right) a}"
         r"{\left(p \odot b\right)^{\top} \operatorname{expm}\left(t Q\right) a}"),
    ),
    # lengths of rows are the same in derivatives of their roots: √u - √u + r stood in the first
    "curvature of distances": (
        trilateration, ("x", "x"), (normal(2), normal(5, 2), positive(5)),
        ("\\begin{aligned}\n"
         r"t_{1} &= \mathbf{1} x^{\top} - B \\" "\n"
         r"t_{2} &= \sqrt{t_{1}^{\odot 2} \mathbf{1}} \\" "\n"
         r"& t_{1}^{\top} \operatorname{diag}\left(\frac{r}{\left(t_{1}^{\odot 2} \mathbf{1}\right)"
         r"^{\odot \frac{3}{2}}}\right) t_{1} + \left(\mathbf{1}^{\top} \frac{t_{2} - r}{t_{2}}\right) I"
         "\n\\end{aligned}"),
    ),
    "likeness of rows": (
        likeness, "W", (normal(4, 3), normal(5, 4), normal(5, 3)),
        (r"\frac{1}{n} X^{\top} \operatorname{diag}\left(\frac{1}{\sqrt{\left(X W\right)^{\odot 2} \mathbf{1}}}\right) "
         r"\left(\operatorname{diag}\left(\frac{\left(Y \odot X W\right) \mathbf{1}}"
         r"{\left(X W\right)^{\odot 2} \mathbf{1}}\right) X W - Y\right)"),
    ),
    "substrate that inhibits its enzyme": (
        lambda V, K, S, Z: V * S / (K + S + S**2 / Z), "V", (1.3, 0.7, 2.0, 1.5), r"\frac{S}{K + S + \frac{S^{2}}{Z}}",
    ),
    "stress of rubber": (
        mooney_rivlin, "F", (normal(3, 3), 1.0, 0.5),
        r"2 F \left(\left(a + b \lVert F \rVert_{F}^{2}\right) I - b F^{\top} F\right)",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", DERIVATIVES)
def test_derivatives_of_sciences(name):
    f, wrt, values, text = DERIVATIVES[name]
    found = sg.formula(f, *values, wrt=wrt)
    assert found.latex() == text
    names = f.__code__.co_varnames[: len(values)]
    derivative = sg.func.hessian if isinstance(wrt, tuple) else sg.func.grad
    want = derivative(f, argnums=names.index(wrt[0]))(*(sg.tensor(np.asarray(v)) for v in values)).numpy()
    given = dict(zip(names, map(np.asarray, values), strict=True))
    for read, written in ((from_latex, text), (from_unicode, found.unicode())):
        back = read(written, found.symbols, shape=found.term.shape)
        np.testing.assert_allclose(evaluate(back, given), want, rtol=1e-8, atol=1e-10)


def test_the_direction_of_an_exponential_reads_back_as_text():
    A, x = normal(3, 3), normal(3)
    found = sg.formula(lambda A, x: x @ sg.linalg.matrix_exp(A) @ x, A, x, wrt="A")
    assert found.unicode() == "Lₑₓₚ(Aᵀ, x xᵀ)"
    read = from_unicode(found.unicode(), found.symbols)
    np.testing.assert_allclose(evaluate(read, {"A": A, "x": x}), found.evaluate(A=A, x=x), rtol=1e-9)

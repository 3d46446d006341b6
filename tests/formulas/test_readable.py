"""Gradients of statistics, learning, physics and control in the notation of papers, and that they read back."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad as sg
import symgrad.nn.functional as F
from symgrad.formula.canonical.simplify import canonical
from symgrad.formula.reading.text import from_latex
from symgrad.formula.reading.unicode import from_unicode
from symgrad.formula.term import evaluate

RNG = np.random.default_rng(7)


def drawn(*shape):
    return RNG.normal(size=shape)


def definite(n):
    a = drawn(n, n)
    return a @ a.T + n * np.eye(n)


def plackett_luce(s):
    return (s - sg.flip(sg.logcumsumexp(sg.flip(s, (0,)), 0), (0,))).sum()


def ordinal(theta, eta, Y):
    below = sg.sigmoid(theta[None, :] - eta[:, None])
    one = sg.ones((len(eta), 1), dtype=sg.float64)
    return (Y * sg.log(sg.cat([below, one], 1) - sg.cat([0 * one, below], 1))).sum()


def zero_inflated(lam, y, pi):
    zero, more = sg.log(pi + (1 - pi) * sg.exp(-lam)), sg.log(1 - pi) + y * sg.log(lam) - lam - sg.lgamma(y + 1)
    return sg.where(y == 0, zero, more).sum()


def graph_attention(a, H, b, M, G):
    s = F.leaky_relu((H @ a)[:, None] + (H @ b)[None, :], 0.2)
    return (G * (sg.softmax(sg.where(M, s, -np.inf), 1) @ H)).sum()


def contrastive(Z, tau):
    return sg.logsumexp((Z @ Z.T / tau).masked_fill(sg.eye(5).bool(), -np.inf), 1).sum()


def matrix_t(M, X, S, W):
    E = X - M
    return sg.logdet(sg.eye(4) + sg.linalg.inv(S) @ E @ sg.linalg.inv(W) @ E.T)


def springs(q, k):
    return -0.5 * k * ((sg.diff(q) - 1) ** 2).sum()


def lennard_jones(X, s):
    D = ((X[:, None] - X[None]) ** 2).sum(-1) + sg.eye(4)
    return 2 * ((1 - sg.eye(4)) * ((s / D) ** 6 - (s / D) ** 3)).sum()


def riccati(P, A, B, Q, R):
    E = A.T @ P @ A - P - A.T @ P @ B @ sg.linalg.solve(R + B.T @ P @ B, B.T @ P @ A) + Q
    return 0.5 * (E**2).sum()


def autocorrelation(x, c):
    return sum(c[k] * (x[k:] * x[: 6 - k]).sum() for k in range(2))


def rotation(w, K, x):
    zero = 0 * w[0]
    W = sg.stack([sg.stack([zero, -w[2], w[1]]), sg.stack([w[2], zero, -w[0]]), sg.stack([-w[1], w[0], zero])])
    return x @ K @ sg.sin(W) @ x


def convolution(A, X, Y):
    d = A.sum(1)
    return ((A / sg.sqrt(d[:, None] * d[None, :]) @ X - Y) ** 2).sum() / 2


def cubic_norms(X):
    return np.linalg.norm(X, 3, axis=1).sum()


def probit(b, X, y):
    p = 0.5 * (1 + sg.erf(X @ b / np.sqrt(2)))
    return -np.sum(y * np.log(p) + (1 - y) * np.log(1 - p))


def correlation(x, y):
    x, y = x - x.mean(), y - y.mean()
    return np.sum(x * y) / np.sqrt(np.sum(x**2) * np.sum(y**2))


def smooth_l1(x, y):
    return F.smooth_l1_loss(x, y)


def batch_norm(X):
    return (F.batch_norm(X, None, None, training=True) ** 2).sum()


def interactions(X):
    return np.sum((X @ X.T) ** 2 * (1 - np.eye(len(X))))


def mutual_information(P):
    return sg.sum(P * sg.log(P / (sg.sum(P, 1, True) * sg.sum(P, 0, True))))


def entropy_of_rows(P):
    Q = P / P.sum(1, keepdims=True)
    return -(Q * np.log(Q)).sum()


def triangle_area(x, y, z):
    return sg.linalg.norm(sg.linalg.cross(y - x, z - x)) / 2


def one_sided(x, A, B, P):
    return sg.sum(P / sg.outer(A @ x, B @ P[0]))


def geodesic(t, A, B):
    return sg.logdet((1 - t) * A + t * B)


MASK = (RNG.random((5, 5)) > 0.4) | np.eye(5, dtype=bool)
CASES = {
    "orders are flipped ones": (plackett_luce, (drawn(5),)),
    "columns of ones and zeros are blocks": (
        ordinal, (np.array([-1.0, 0.5, 1.4]), drawn(5), np.eye(4)[[0, 1, 2, 3, 1]]),
    ),
    "what is 1 or 0 has Iverson's brackets": (zero_inflated, (1.3, np.array([0.0, 2, 1, 0, 3]), 0.2)),
    "one list of cases": (graph_attention, (drawn(3), drawn(5, 3), drawn(3), MASK, drawn(5, 3))),
    "truth values of an identity": (contrastive, (drawn(5, 3), 0.5)),
    "an inverse beside a sum": (matrix_t, (drawn(4, 3), drawn(4, 3), definite(4), definite(3))),
    "ranges of one axis": (springs, (drawn(4), 2.0)),
    "common factors under a sum": (lennard_jones, (drawn(4, 3), 0.7)),
    "a sum that another term has in brackets": (
        riccati, (definite(3), drawn(3, 3), drawn(3, 2), definite(3), definite(2)),
    ),
    "ranges that are whole axes": (autocorrelation, (drawn(6), drawn(2))),
    "entries of rows": (rotation, (drawn(3), drawn(3, 3), drawn(3))),
    "a matrix times a reciprocal": (convolution, (RNG.uniform(0.5, 1.5, (4, 4)), drawn(4, 2), drawn(4, 2))),
    "norms of any order along an axis": (cubic_norms, (drawn(4, 3),)),
    "both tails": (probit, (drawn(3), drawn(6, 3), np.eye(6)[0])),
    "a root of two squared norms": (correlation, (drawn(5), drawn(5))),
    "a mean of cases": (smooth_l1, (drawn(5), drawn(5))),
    "small decimals": (batch_norm, (drawn(4, 3),)),
    "a root of squares beside its slope": (lambda x, c: (c * x / sg.sqrt((x**2).sum())).sum(), (drawn(5), drawn(5))),
    "running products": (lambda x, c: c @ sg.cumprod(x, 0), (np.array([2.0, 0, 3, -1.5]), drawn(4))),
    "all but the diagonal": (interactions, (drawn(4, 3),)),
    "sums over themselves": (mutual_information, (RNG.uniform(0.5, 1.5, (3, 4)),)),
    "a constant beside a sum over itself": (entropy_of_rows, (RNG.uniform(0.5, 1.5, (3, 4)),)),
    "cross products with a side in common": (triangle_area, (drawn(3), drawn(3), drawn(3))),
    "traces with a matrix in common": (geodesic, (0.3, definite(3), definite(3))),
    "a side of an outer product over itself": (
        one_sided, (RNG.uniform(1, 2, 3), definite(3), definite(4), RNG.uniform(1, 2, (3, 4))),
    ),
}  # fmt: skip
PRINTED = {
    "orders are flipped ones": (
        r"1 - \operatorname{flip}\left(\operatorname{triu}\left(e^{\operatorname{flip}\left(s\right) "
        r"\mathbf{1}_{n}^{\top} - \mathbf{1}_{n} "
        r"\operatorname{logcumsumexp}\left(\operatorname{flip}\left(s\right)\right)^{\top}}\right) "
        r"\mathbf{1}_{n}\right)"
    ),
    "columns of ones and zeros are blocks": (
        r"\begin{aligned}" "\n"
        r"t_{1} &= \sigma\left(\mathbf{1}_{m} \theta^{\top} - \eta \mathbf{1}_{n}^{\top}\right) \\" "\n"
        r"t_{2} &= \frac{Y}{\begin{bmatrix} t_{1} & \mathbf{1}_{m} \end{bmatrix} - \begin{bmatrix} 0 & "
        r"t_{1} \end{bmatrix}} \\" "\n"
        r"& \left(t_{1} \odot \left(\left(t_{2}\right)_{[:, :n]} - \left(t_{2}\right)_{[:, 1:]}\right) "
        r"\odot \left(1 - t_{1}\right)\right)^{\top} \mathbf{1}" "\n"
        r"\end{aligned}"
    ),
    "what is 1 or 0 has Iverson's brackets": (
        r"\frac{\mathbf{1}^{\top} \begin{cases} 0 & \text{for}\: y = 0 \\ y & \text{otherwise} "
        r"\end{cases}}{\lambda} - \frac{\left(1 - \pi\right) \mathbf{1}^{\top} \left[y = 0\right]}{\pi "
        r"e^{\lambda} + 1 - \pi} - \mathbf{1}^{\top} \left[y \ne 0\right]"
    ),
    "one list of cases": (
        r"\begin{aligned}" "\n"
        r"t_{1} &= H a \mathbf{1}_{n}^{\top} + \mathbf{1}_{n} b^{\top} H^{\top} \\" "\n"
        r"t_{2} &= \operatorname{softmax}\left(\begin{cases} -\infty & \text{for}\: \neg M \\ t_{1} & "
        r"\text{for}\: t_{1} > 0 \\ 0.2 t_{1} & \text{otherwise} \end{cases}\right) \\" "\n"
        r"t_{3} &= G H^{\top} \odot t_{2} \\" "\n"
        r"t_{4} &= t_{3} - \operatorname{diag}\left(t_{3} \mathbf{1}\right) t_{2} \\" "\n"
        r"& H^{\top} \left(\begin{cases} t_{4} & \text{for}\: t_{1} > 0 \\ 0.2 t_{4} & \text{otherwise} "
        r"\end{cases}\right) \mathbf{1}" "\n"
        r"\end{aligned}"
    ),
    "truth values of an identity": (
        r"\begin{aligned}" "\n"
        r"t_{1} &= \operatorname{softmax}\left(\begin{cases} -\infty & \text{for}\: I_{5} \\ \frac{Z "
        r"Z^{\top}}{\tau} & \text{otherwise} \end{cases}\right) \\" "\n"
        r"& \frac{1}{\tau} \left(t_{1} + t_{1}^{\top}\right) Z" "\n"
        r"\end{aligned}"
    ),
    "an inverse beside a sum": (
        r"\begin{aligned}" "\n"
        r"t_{1} &= X - M \\" "\n"
        r"t_{2} &= W^{-1} \\" "\n"
        r"t_{3} &= \left(S + t_{1} t_{2} t_{1}^{\top}\right)^{-1} \\" "\n"
        r"t_{4} &= M - X \\" "\n"
        r"& t_{3}^{\top} t_{4} t_{2}^{\top} + t_{3} t_{4} t_{2}" "\n"
        r"\end{aligned}"
    ),
    "ranges of one axis": (
        r"k \left(\begin{bmatrix} q_{[1:]} - q_{[:-1]} - 1 \\ 0 \end{bmatrix} - \begin{bmatrix} 0 \\ "
        r"q_{[1:]} - q_{[:-1]} - 1 \end{bmatrix}\right)"
    ),
    "common factors under a sum": (
        r"\begin{aligned}" "\n"
        r"t_{1} &= \left[\sum_{k} \left(X_{i k} - X_{j k}\right)^{2}\right]_{i j} + I \\" "\n"
        r"t_{2} &= \frac{\frac{2 s^{3}}{t_{1}^{\odot 3}} - 1}{t_{1}^{\odot 4}} \\" "\n"
        r"& 24 s^{3} \left(t_{2} X - \operatorname{diag}\left(t_{2} \mathbf{1}\right) X\right)" "\n"
        r"\end{aligned}"
    ),
    "a sum that another term has in brackets": (
        r"\begin{aligned}" "\n"
        r"t_{1} &= \left(R + B^{\top} P B\right)^{-1} \\" "\n"
        r"t_{2} &= A^{\top} \left(P - P B t_{1} B^{\top} P\right) A - P + Q \\" "\n"
        r"& \left(A - B t_{1}^{\top} B^{\top} P^{\top} A\right) t_{2} "
        r"\left(A - B t_{1} B^{\top} P A\right)^{\top} - t_{2}" "\n"
        r"\end{aligned}"
    ),
    "ranges that are whole axes": (
        r"2 c_{[0]} x + c_{[1]} \left(\begin{bmatrix} 0 \\ x_{[:5]} \end{bmatrix} + \begin{bmatrix} "
        r"x_{[1:]} \\ 0 \end{bmatrix}\right)"
    ),
    "entries of rows": (
        r"\begin{aligned}" "\n"
        r"t_{1} &= \operatorname{diag}\left(K^{\top} x\right) \cos\left(\begin{bmatrix} 0 & -w_{[2]} & "
        r"w_{[1]} \\ w_{[2]} & 0 & -w_{[0]} \\ -w_{[1]} & w_{[0]} & 0 \end{bmatrix}\right) "
        r"\operatorname{diag}\left(x\right) \\" "\n"
        r"& \begin{bmatrix} \left(t_{1}\right)_{[2, 1]} - \left(t_{1}\right)_{[1, 2]} \\ "
        r"\left(t_{1}\right)_{[0, 2]} - \left(t_{1}\right)_{[2, 0]} \\ \left(t_{1}\right)_{[1, 0]} - "
        r"\left(t_{1}\right)_{[0, 1]} \end{bmatrix}" "\n"
        r"\end{aligned}"
    ),
    "a matrix times a reciprocal": (
        r"\begin{aligned}" "\n"
        r"t_{1} &= A \mathbf{1} \left(A \mathbf{1}\right)^{\top} \\" "\n"
        r"t_{2} &= \left(\frac{A}{\sqrt{t_{1}}} X - Y\right) X^{\top} \\" "\n"
        r"t_{3} &= A \odot t_{2} \\" "\n"
        r"t_{4} &= \operatorname{diag}\left(A \mathbf{1}\right) \\" "\n"
        r"& \frac{t_{2}}{\sqrt{t_{1}}} - \frac{1}{2} \frac{t_{3} t_{4} + t_{3}^{\top} "
        r"t_{4}}{t_{1}^{\odot \frac{3}{2}}} \mathbf{1} \mathbf{1}^{\top}" "\n"
        r"\end{aligned}"
    ),
    "norms of any order along an axis": (
        r"\operatorname{diag}\left(\frac{1}{\left(\left|X\right|^{\odot 3} "
        r"\mathbf{1}\right)^{\odot \frac{2}{3}}}\right) \left(X \odot \left|X\right|\right)"
    ),
    "both tails": (
        r"\frac{1}{\sqrt{2 \pi}} X^{\top} \left(e^{-\frac{1}{2} \left(X b\right)^{\odot 2}} \odot "
        r"\left(\frac{1 - y}{\Phi\left(-X b\right)} - \frac{y}{\Phi\left(X b\right)}\right)\right)"
    ),
    "a root of two squared norms": (
        r"\begin{aligned}" "\n"
        r"t_{1} &= y - \frac{\mathbf{1}^{\top} y}{n} \\" "\n"
        r"t_{2} &= x - \frac{\mathbf{1}^{\top} x}{n} \\" "\n"
        r"t_{3} &= \lVert t_{2} \rVert \\" "\n"
        r"& \frac{1}{t_{3} \lVert t_{1} \rVert} \left(t_{1} - \frac{t_{2}^{\top} t_{1}}{t_{3}^{2}}"
        r" t_{2}\right)" "\n"
        r"\end{aligned}"
    ),
    "a mean of cases": (
        r"\frac{1}{n} \operatorname{clip}\left(x - y, -1, 1\right)"
    ),
    "small decimals": (
        r"\begin{aligned}" "\n"
        r"t_{1} &= X - \frac{1}{n} \mathbf{1} \mathbf{1}^{\top} X \\" "\n"
        r"& 2 \cdot 10^{-5} n^{2} t_{1} \operatorname{diag}\left(\frac{1}{\left(\left(t_{1}^{\odot 2}\right)^{\top} "
        r"\mathbf{1} + 10^{-5} n\right)^{\odot 2}}\right)" "\n"
        r"\end{aligned}"
    ),
    "a root of squares beside its slope": (
        r"\frac{1}{\lVert x \rVert} \left(c - \frac{c^{\top} x}{\lVert x \rVert^{2}} x\right)"
    ),
    "running products": r"\operatorname{triu}\left(\left[\prod_{k \le j, k \ne i} x_{k}\right]_{i j}\right) c",
    "all but the diagonal": (
        r"4 \left(X X^{\top} X - \operatorname{diag}\left(X^{\odot 2} \mathbf{1}\right) X\right)"
    ),
    "sums over themselves": r"\log\left(\frac{P}{P \mathbf{1} \mathbf{1}^{\top} P}\right) - 1",
    "a constant beside a sum over itself": (
        r"\operatorname{diag}\left(\frac{1}{P \mathbf{1}}\right) \left(\frac{\left(P \odot "
        r"\log\left(\operatorname{diag}\left(\frac{1}{P \mathbf{1}}\right) P\right)\right) \mathbf{1}}{P "
        r"\mathbf{1}} \mathbf{1}^{\top} - \log\left(\operatorname{diag}\left(\frac{1}{P "
        r"\mathbf{1}}\right) P\right)\right)"
    ),
    "cross products with a side in common": (
        r"\begin{aligned}" "\n"
        r"t_{1} &= \left(y - x\right) \times \left(z - x\right) \\" "\n"
        r"& \frac{1}{2 \lVert t_{1} \rVert} \left(y - z\right) \times t_{1}" "\n"
        r"\end{aligned}"
    ),
    "traces with a matrix in common": (
        r"\operatorname{tr}\left(\left(\left(1 - t\right) A + t B\right)^{-1} \left(B - A\right)\right)"
    ),
    "a side of an outer product over itself": (
        r"-A^{\top} \frac{P \frac{1}{B P_{[0]}}}{\left(A x\right)^{\odot 2}}"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_gradients_read_as_in_papers(name):
    f, args = CASES[name]
    names = f.__code__.co_varnames[: len(args)]
    found = sg.formula(f, *args, wrt=names[0])
    assert found.latex() == PRINTED[name]
    read = from_latex(found.latex(), found.symbols, shape=found.term.shape)
    want = sg.func.grad(f)(*args).numpy()
    np.testing.assert_allclose(evaluate(read, dict(zip(names, args, strict=True))), want, rtol=1e-9, atol=1e-12)
    assert canonical(found.canonical) is found.canonical


@pytest.mark.parametrize(
    ("f", "shapes", "wrt", "text"),
    [
        (lambda x: sg.prod(x), [(4,)], None, r"\prod_{i} x_{i}"),
        (lambda x: sg.prod(x), [(4,)], "x", r"\left[\prod_{j \ne i} x_{j}\right]_{i}"),
        (
            lambda x: sg.prod(x[:, None] * sg.eye(4), 0),
            [(4,)],
            None,
            r"\operatorname{prod}_{0}\left(\operatorname{diag}\left(x\right)\right)",
        ),
        (lambda X: sg.prod(X, 1).sum(), [(4, 3)], "X", r"\left[\prod_{k \ne j} X_{i k}\right]_{i j}"),
        (
            lambda A, x: sg.prod(A @ x),
            [(4, 3), (3,)],
            "x",
            r"A^{\top} \left[\prod_{j \ne i} \left[A x\right]_{j}\right]_{i}",
        ),
        (
            lambda x: sg.prod(1 - sg.exp(-x)) ** 2,
            [(4,)],
            "x",
            (
                r"2 \left(\prod_{i} \left(1 - e^{-x_{i}}\right)\right) "
                r"\left[\prod_{j \ne i} \left(1 - e^{-x_{j}}\right)\right]_{i} \odot e^{-x}"
            ),
        ),
    ],
    ids=["a product", "its gradient", "of a diagonal", "of rows", "of a product", "squared"],
)
def test_products_of_entries_are_written_with_indices(f, shapes, wrt, text):
    found = sg.formula(f, *shapes, wrt=wrt)
    assert found.latex() == text
    values = {s.name: np.random.default_rng(2).uniform(0.5, 2, n) for s, n in zip(found.symbols, shapes, strict=True)}
    want = found.evaluate(**values)
    for read, printed in ((from_latex, text), (from_unicode, found.unicode())):
        made = evaluate(read(printed, found.symbols, shape=found.term.shape), values)
        np.testing.assert_allclose(made, want, rtol=1e-12)


@pytest.mark.parametrize(
    ("f", "shapes", "wrt", "text"),
    [
        (
            lambda A, C, y: sg.linalg.slogdet(C - sg.einsum("k,kij->ij", y, A))[1],
            [(4, 3, 3), (3, 3), (4,)],
            "y",
            "−[∑ᵣₛ [(C − [∑ₖ yₖ Aₖᵢⱼ]ᵢⱼ)⁻¹]ᵣₛ Aₗₛᵣ]ₗ",
        ),
        (
            lambda A, B: sg.einsum("ij,ijk->ik", sg.linalg.inv(sg.einsum("kij,kj->ij", A, B)), A),
            [(3, 3, 3), (3, 3)],
            None,
            "[∑ₛ [[∑ₖ Aₖᵢⱼ Bₖⱼ]ᵢⱼ⁻¹]ₗₛ Aₗₛᵣ]ₗᵣ",
        ),
    ],
    ids=["a gradient", "a product"],
)
def test_brackets_inside_of_others_have_letters_of_their_own(f, shapes, wrt, text):
    found = sg.formula(f, *shapes, wrt=wrt)
    assert found.unicode() == text
    drawn = (np.random.default_rng(k).normal(size=n) for k, n in enumerate(shapes))
    values = dict(zip(f.__code__.co_varnames, drawn, strict=True))
    for read, printed in ((from_latex, found.latex()), (from_unicode, text)):
        made = evaluate(read(printed, found.symbols, shape=found.term.shape), values)
        np.testing.assert_allclose(made, found.evaluate(**values), rtol=1e-10)


def call(S, K, r, s, T):
    """The price of a call by Black and Scholes."""
    d1 = (sg.log(S / K) + (r + s**2 / 2) * T) / (s * sg.sqrt(T))
    return S * sg.special.ndtr(d1) - K * sg.exp(-r * T) * sg.special.ndtr(d1 - s * sg.sqrt(T))


def test_a_sum_under_an_exponent_has_the_numbers_that_it_has_elsewhere():
    """d₂ was log(S/K) + rT - s²T/2 as an argument and 2 log(S/K) + 2rT - s²T where it was squared."""
    values = {"S": 1.0, "K": 1.1, "r": 0.1, "s": 0.3, "T": 0.8}
    slope = sg.formula(call, *values.values(), wrt="T")
    assert slope.latex() == (
        "\\begin{aligned}\nt_{1} &= \\log\\left(\\frac{S}{K}\\right) + T \\left(r - \\frac{s^{2}}{2}\\right) \\\\\n"
        "& K e^{-r T} \\left(\\frac{s e^{-\\frac{t_{1}^{2}}{2 s^{2} T}}}{2 \\sqrt{T} \\sqrt{2 \\pi}} + "
        "r \\Phi\\left(\\frac{t_{1}}{s \\sqrt{T}}\\right)\\right)\n\\end{aligned}"
    )
    for wrt in values:
        found = sg.formula(call, *values.values(), wrt=wrt)
        want = sg.func.grad(call, argnums=list(values).index(wrt))(*(sg.tensor(v).double() for v in values.values()))
        read = from_latex(found.latex(), found.symbols)
        np.testing.assert_allclose(evaluate(read, values), want.item(), rtol=1e-6)
    for f, text in (
        (lambda x, y, a: (x + y - a / 2) ** 2, r"\left(x + y - \frac{a}{2}\right)^{2}"),
        (lambda x, y, a: (2 * x - a) ** 2 / 8, r"\frac{\left(2 x - a\right)^{2}}{8}"),
        (lambda x, y, a: y / (2 * x - a) ** 2, r"\frac{y}{\left(2 x - a\right)^{2}}"),
    ):
        assert sg.latex(f, 1.0, 2.0, 3.0) == text


SHORT = {
    "halves of an angle": (lambda x: 1 / (1 + 3 * sg.sin(x / 2) ** 2),
                           r"-\frac{3 \sin\left(x\right)}{2 \left(1 + 3 \sin^{2}\left(\frac{x}{2}\right)\right)^{2}}"),
    "a quarter": (lambda x: sg.sin(x / 4) ** 2, r"\frac{1}{4} \sin\left(\frac{x}{2}\right)"),
    "hyperbolic": (lambda x: sg.cosh(x / 2) ** 2, r"\frac{\sinh\left(x\right)}{2}"),
    "a hinge": (lambda x: sg.relu(1 - x**2), r"-2 x \left[x^{2} < 1\right]"),
    "a negative": (lambda x: sg.relu(-x) * 3, r"-3 \left[x < 0\right]"),
}  # fmt: skip


@pytest.mark.parametrize("name", SHORT)
def test_short_forms_of_angles_and_conditions(name):
    """Gradients said sin(x/2) cos(x/2) for sin(x)/2, 1 - x² > 0 for x² < 1, and -x > 0 for x < 0."""
    f, text = SHORT[name]
    found = sg.formula(f, 0.7, wrt="x")
    assert found.latex() == text
    for x in (0.7, -1.3):
        want = sg.func.grad(f)(sg.tensor(x).double()).item()
        assert float(evaluate(from_latex(text, found.symbols), {"x": x})) == pytest.approx(want)


def test_slopes_of_stable_cross_entropies_are_sigmoids():
    """They were Heaviside(z) - σ(-|z|) sign(z) - y, which is σ(z) - y at 0, too."""

    def entropy(z, y, w):
        return (w * (sg.maximum(z, 0 * z) - z * y + sg.log1p(sg.exp(-abs(z))))).mean()

    found = sg.formula(entropy, (4,), (4,), (4,), wrt="z")
    assert found.latex() == r"\frac{1}{n} w \odot \left(\sigma\left(z\right) - y\right)"
    z, y, w = np.array([0.3, 0.0, -40.0, 5.0]), np.array([1.0, 0.0, 0.0, 1.0]), drawn(4)
    want = sg.func.grad(entropy)(*map(sg.tensor, (z, y, w))).numpy()
    np.testing.assert_allclose(found.evaluate(z=z, y=y, w=w), want, rtol=1e-12, atol=1e-18)
    text = sg.latex(lambda z, m: (sg.maximum(z, m) + sg.log(1 + sg.exp(-abs(z - m)))).sum(), (4,), (4,), wrt="z")
    assert text == r"\sigma\left(z - m\right)"

"""Gradients as papers write them: mixtures, Gaussian processes, directions."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad as sg
import symgrad.nn.functional as F
from symgrad.formula.reading.text import from_latex
from symgrad.formula.term import evaluate, symbols

RNG = np.random.default_rng(3)
X, M, P = RNG.normal(size=(5, 3)), RNG.normal(size=(4, 3)), RNG.dirichlet(np.ones(4))


def distances(x, y):
    return ((x[:, None] - y[None]) ** 2).sum(-1)


def mixture(mu, X, pi):
    return sg.logsumexp(sg.log(pi) - distances(X, mu) / 2, 1).sum()


def kernel(h, X, a):
    return a @ sg.exp(-distances(X, X) / (2 * h**2)) @ a


def directions(Z, G):
    return (F.normalize(Z, dim=1) * G).sum()


PAIRS = r"\left[\sum_{k} \left(X_{i k} - X_{j k}\right)^{2}\right]_{i j}"
LENGTHS = r"\max\left(\sqrt{Z^{\odot 2} \mathbf{1}}, 10^{-12}\right)"


def neighbours(Y, P):
    weights = (1 / (1 + distances(Y, Y))) * (1 - sg.eye(len(Y)))
    return -(P * sg.log(weights / weights.sum() + 1e-3)).sum()


CASES = {
    "mixture": (mixture, (M, X, P), (
        r"\begin{aligned}" "\n"
        r"t_{1} &= \operatorname{softmax}\left(\mathbf{1} \log\left(\pi\right)^{\top} - \frac{1}{2} "
        r"\left[\sum_{k} \left(X_{i k} - \mu_{j k}\right)^{2}\right]_{i j}\right) \\" "\n"
        r"& t_{1}^{\top} X - \operatorname{diag}\left(t_{1}^{\top} \mathbf{1}\right) \mu" "\n"
        r"\end{aligned}"
    )),
    "kernel": (kernel, (1.5, X, RNG.normal(size=5)), (
        "\\begin{aligned}\n" rf"t_{{1}} &= {PAIRS} \\" "\n"
        r"& \frac{a^{\top} \left(e^{-\frac{t_{1}}{2 h^{2}}} \odot t_{1}\right) a}{h^{3}}" "\n" r"\end{aligned}"
    )),
    "directions": (directions, (X, RNG.normal(size=(5, 3))), (
        rf"\operatorname{{diag}}\left(\frac{{1}}{{{LENGTHS}}}\right) \left(G - \operatorname{{diag}}\left("
        r"\frac{\left[\sqrt{Z^{\odot 2} \mathbf{1}} \ge 10^{-12}\right] \odot \left(G \odot Z\right) \mathbf{1}}"
        rf"{{{LENGTHS} \odot \sqrt{{Z^{{\odot 2}} \mathbf{{1}}}}}}\right) Z\right)"
    )),
    "neighbours": (neighbours, (X, 2 + np.cos(np.arange(25.0)).reshape(5, 5)), (
        r"\begin{aligned}" "\n"
        r"t_{1} &= 1 + \left[\sum_{k} \left(Y_{i k} - Y_{j k}\right)^{2}\right]_{i j} \\" "\n"
        r"t_{2} &= \frac{1}{t_{1}} - I \\" "\n"
        r"t_{3} &= t_{2} + 0.001 \left(\mathbf{1}^{\top} t_{2} \mathbf{1}\right) \mathbf{1} \mathbf{1}^{\top} \\" "\n"
        r"t_{4} &= \frac{\frac{2 \mathbf{1}^{\top} \frac{P \odot t_{2}}{t_{3}} \mathbf{1}}{\mathbf{1}^{\top} t_{2} "
        r"\mathbf{1}} - \frac{P + P^{\top}}{t_{3}}}{t_{1}^{\odot 2}} \\" "\n"
        r"& 2 \left(t_{4} Y - \operatorname{diag}\left(t_{4} \mathbf{1}\right) Y\right)" "\n"
        r"\end{aligned}"
    )),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_gradients_of_papers(name):
    f, args, text = CASES[name]
    names = f.__code__.co_varnames[: len(args)]
    found = sg.formula(f, *args, wrt=names[0])
    assert found.latex() == text
    given = dict(zip(names, map(np.asarray, args), strict=True))
    read = from_latex(text, symbols(found.term), shape=found.term.shape)
    np.testing.assert_allclose(evaluate(read, given), sg.func.grad(f)(*args).numpy(), rtol=1e-10)


def test_an_array_of_three_axes_that_is_summed_beside_others():
    found = sg.latex(lambda x, T, u: sg.einsum("i,abc,i->i", x, T, u), (2,), (5, 3, 4), (2,))
    assert found == r"\operatorname{sum}\left(T\right) x \odot u"


S, W, V = (RNG.normal(size=(3, 3)) for _ in range(3))
w, m, v = (RNG.normal(size=3) for _ in range(3))
PRINTED = {
    "the residual of an eigenvalue": (
        lambda psi, H, E: ((H @ psi - E * psi) ** 2).sum(), ("psi",), (w, S, 0.3),
        r"2 \left(H - E I\right)^{\top} \left(H \psi - E \psi\right)",
    ),
    "differences weighed by a matrix": (
        lambda f, W: (W * (f[:, None] - f[None]) ** 2).sum() / 2, ("f",), (w, W),
        r"f \odot \left(W \mathbf{1} + W^{\top} \mathbf{1}\right) - \left(W + W^{\top}\right) f",
    ),
    "a normalised cut": (
        lambda x, W: (x @ (sg.diag(W.sum(1)) - W) @ x) / (x @ sg.diag(W.sum(1)) @ x), ("x",), (w, W),
        (r"\frac{1}{\mathbf{1}^{\top} W^{\top} x^{\odot 2}} \left(\left(2 \operatorname{diag}\left(W \mathbf{1}\right)"
        r" - W - W^{\top}\right) x - \frac{2 x^{\top} \left(\operatorname{diag}\left(W \mathbf{1}\right) - W\right) x}"
        r"{\mathbf{1}^{\top} W^{\top} x^{\odot 2}} x \odot W \mathbf{1}\right)"),
    ),
    "the inverse around an outer product": (
        lambda R, y, x: (y - x) @ sg.linalg.inv(R + sg.eye(3)) @ (y - x) + sg.logdet(R + sg.eye(3)),
        ("R",), (S @ S.T, v, m),
        (r"\left(R + I\right)^{-\top} - \left(R + I\right)^{-\top} \left(y - x\right) \left(y - x\right)^{\top} "
        r"\left(R + I\right)^{-\top}"),
    ),
    "quadratic forms of rows": (
        lambda v, X, S: sg.log(1 + sg.einsum("ni,ij,nj->n", X, S, X) / v).sum(), ("v",), (2.5, X, S @ S.T),
        (r"-\frac{1}{v} \left(\frac{1}{v + \left(X \odot X S\right) \mathbf{1}}\right)^{\top} "
        r"\left(X \odot X S\right) \mathbf{1}"),
    ),
    "the Hessian of log cosh": (
        lambda w, X, v: sg.log(sg.cosh(X @ w - v)).sum(), ("w", "w"), (w, X, RNG.normal(size=5)),
        r"X^{\top} \operatorname{diag}\left(1 - \tanh^{2}\left(X w - v\right)\right) X",
    ),
    "risk parity": (
        lambda w, S: ((w * (S @ w) - (w @ S @ w) / len(w)) ** 2).sum(), ("w",), (w, S + S.T),
        (r"2 \left(S^{\top} \operatorname{diag}\left(w^{\odot 2}\right) S - \frac{w^{\top} S w}{n} S^{\top} + "
        r"\operatorname{diag}\left(w \odot S w - \frac{w^{\top} S w}{n}\right) S\right) w"),
    ),
    "the curvature of an alignment": (
        lambda t, p, q: ((sg.stack([sg.stack([sg.cos(t), -sg.sin(t)]), sg.stack([sg.sin(t), sg.cos(t)])]) @ p - q) ** 2
        ).sum(), ("t", "t"), (0.3, w[:2], m[:2]),
        (r"2 \left(\sin\left(t\right) \left(p_{[0]} q_{[1]} - p_{[1]} q_{[0]}\right) + \cos\left(t\right) "
        r"\left(p_{[1]} q_{[1]} + p_{[0]} q_{[0]}\right)\right)"),
    ),
    "a mixture of widths": (
        lambda p, x, mu, s: sg.exp(-((x - mu) ** 2) / (2 * s**2)) @ p, ("p",), (v, w, 0.2, P[:3]),
        r"e^{-\frac{\left(x - \mu\right)^{\odot 2}}{2 s^{\odot 2}}}",
    ),
    "a number in front of a fraction": (
        lambda p, q: (p * sg.log(2 * p / (p + q)) + q * sg.log(2 * q / (p + q))).sum(), ("p",), (P, P[::-1]),
        r"\log\left(\frac{2 p}{p + q}\right)",
    ),
    "rows of differences": (
        lambda y, X, s: (sg.exp(-((X - y) ** 2).sum(1)) * ((X - y) @ s)).sum(), ("y",), (w, X, v),
        (r"\begin{aligned}" "\n" r"t_{1} &= X - \mathbf{1} y^{\top} \\" "\n"
        r"t_{2} &= e^{-t_{1}^{\odot 2} \mathbf{1}} \\" "\n"
        r"& 2 t_{1}^{\top} \left(t_{2} \odot t_{1} s\right) - \left(\mathbf{1}^{\top} t_{2}\right) s" "\n"
        r"\end{aligned}"),
    ),
    "the Hessian of a ratio": (
        lambda w, B, S: (w @ B @ w) / (w @ S @ w), ("w", "w"), (w, V @ V.T, W @ W.T),
        (r"\begin{aligned}" "\n"
        r"t_{1} &= B + B^{\top} \\" "\n"
        r"t_{2} &= w^{\top} B w \\" "\n"
        r"t_{3} &= w^{\top} S w \\" "\n"
        r"t_{4} &= S + S^{\top} \\" "\n"
        r"t_{5} &= t_{4} w \\" "\n"
        r"& \frac{1}{t_{3}} \left(t_{1} - \frac{1}{t_{3}} \left(\left(t_{1} - \frac{2 t_{2}}{t_{3}} t_{4}\right) w "
        r"t_{5}^{\top} + t_{2} t_{4} + t_{5} w^{\top} t_{1}\right)\right)" "\n" r"\end{aligned}"),
    ),
    "the Hessian of a Sharpe ratio": (
        lambda w, m, S: (m @ w) / sg.sqrt(w @ S @ w), ("w", "w"), (w, m, S @ S.T),
        ("\\begin{aligned}\nt_{1} &= w^{\\top} S w \\\\\nt_{2} &= S + S^{\\top} \\\\\nt_{3} &= t_{2} w \\\\\n"
        r"& \frac{1}{t_{1}^{\frac{3}{2}}} \left(\left(m^{\top} w\right) \left(\frac{3}{4 t_{1}} t_{3} t_{3}^{\top} - "
        r"\frac{1}{2} t_{2}\right) - \frac{1}{2} \left(m t_{3}^{\top} + t_{3} m^{\top}\right)\right)"
        "\n\\end{aligned}"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PRINTED)
def test_forms_that_papers_print(name):
    f, wrt, args, text = PRINTED[name]
    names = f.__code__.co_varnames[: len(args)]
    found = sg.formula(f, *args, wrt=wrt)
    assert found.latex() == text
    of = sg.func.hessian(f) if len(wrt) > 1 else sg.func.grad(f)
    given = dict(zip(names, map(np.asarray, args), strict=True))
    read = from_latex(found.latex(), symbols(found.term), shape=found.term.shape)
    np.testing.assert_allclose(evaluate(read, given), of(*args).numpy(), rtol=1e-9, atol=1e-12)


def black_scholes(S, K, r, sigma, T):
    d = (sg.log(S / K) + (r + sigma**2 / 2) * T) / (sigma * sg.sqrt(T))
    normal = sg.special.ndtr
    return S * normal(d) - K * sg.exp(-r * T) * normal(d - sigma * sg.sqrt(T))


FIRST = r"\frac{\log\left(\frac{S}{K}\right) + T \left(r + \frac{\sigma^{2}}{2}\right)}{\sigma \sqrt{T}}"
SECOND = r"\frac{\log\left(\frac{S}{K}\right) + T \left(r - \frac{\sigma^{2}}{2}\right)}{\sigma \sqrt{T}}"
EXPONENT = (
    r"-\frac{\left(\log\left(\frac{S}{K}\right) + T \left(r + \frac{\sigma^{2}}{2}\right)\right)^{2}}{2 \sigma^{2} T}"
)


@pytest.mark.parametrize(
    ("wrt", "text"),
    [
        ("S", rf"\Phi\left({FIRST}\right)"),
        ("r", rf"K T \Phi\left({SECOND}\right) e^{{-T r}}"),
        (("S", "S"), rf"\frac{{e^{{{EXPONENT}}}}}{{S \sigma \sqrt{{T}} \sqrt{{2 \pi}}}}"),
    ],
    ids=["delta", "rho", "gamma"],
)
def test_greeks(wrt, text):
    """S φ(d₁) is K e^(-rT) φ(d₂), so that delta is Φ(d₁)."""
    assert sg.latex(black_scholes, 1.1, 0.9, 0.03, 0.2, 0.7, wrt=wrt) == text


def test_vega_and_theta_have_one_density():
    given = dict(zip(("S", "K", "r", "sigma", "T"), (1.1, 0.9, 0.03, 0.2, 0.7), strict=True))
    for k, name in ((3, "sigma"), (4, "T")):
        found = sg.formula(black_scholes, *given.values(), wrt=name)
        assert found.latex().count(r"^{2}}{2 \sigma^{2} T}") == 1
        want = sg.func.grad(black_scholes, argnums=k)(*(sg.tensor(x, dtype=sg.float64) for x in given.values()))
        read = from_latex(found.latex(), symbols(found.term), shape=())
        np.testing.assert_allclose(evaluate(read, given), want.numpy(), rtol=1e-9)


@pytest.mark.parametrize(
    ("power", "text"),
    [
        (-12, r"12 \operatorname{diag}\left(\frac{1}{\left(U\right)^{\odot 7}}\right) \left(Y - X\right)"),
        (-1, r"\operatorname{diag}\left(\frac{1}{\left(U\right)^{\odot \frac{3}{2}}}\right) \left(Y - X\right)"),
        (3, r"3 \operatorname{diag}\left(\sqrt{U}\right) \left(X - Y\right)"),
    ],
)
def test_powers_of_distances_are_powers_of_sums_of_squares(power, text):
    f, args = (lambda X, Y: (sg.norm(X - Y, dim=1) ** power).sum()), (X, X[::-1] + 1)
    found = sg.formula(f, *args, wrt="X")
    assert found.latex() == text.replace("U", r"\left(X - Y\right)^{\odot 2} \mathbf{1}")
    read = from_latex(found.latex(), symbols(found.term), shape=found.term.shape)
    want = sg.func.grad(f)(*map(sg.tensor, args)).numpy()
    np.testing.assert_allclose(evaluate(read, {"X": args[0], "Y": args[1]}), want, rtol=1e-9)


def rms_norm(x, g, c):
    return c @ (g * x / sg.sqrt((x**2).mean()))


def softmax_rows(S, G):
    return (G * sg.softmax(S, 1)).sum()


def masked_rows(S, G, M):
    return (G * sg.softmax(sg.where(M > 0, S, -np.inf), 1)).sum() / sg.sqrt(2.0)


def autoregression(s, y, a):
    e = y[1:] - a * y[:-1]
    return e @ e / (2 * s) + len(e) * sg.log(s) / 2


def chain(E, T):
    a = sg.logsumexp(E[0][:, None] + T, 0) + E[1]
    return sg.logsumexp(sg.logsumexp(a[:, None] + T, 0), 0)


TERSE = {
    "a sum of three factors": (rms_norm, ("x", "x", "x"), (
        r"\frac{\sqrt{n}}{\lVert x \rVert} \left(c \odot g - \frac{\left(c \odot g\right)^{\top} x}"
        r"{\lVert x \rVert^{2}} x\right)"
    )),
    "softmax of rows": (softmax_rows, ("X", "X"), (
        r"G \odot \operatorname{softmax}\left(S\right) - \operatorname{diag}\left(\left(G \odot "
        r"\operatorname{softmax}\left(S\right)\right) \mathbf{1}\right) \operatorname{softmax}\left(S\right)"
    )),
    "a masked softmax": (masked_rows, ("X", "X", "+"), (
        r"\frac{1}{\sqrt{2}} \left(t_{2} - \operatorname{diag}\left(t_{2} \mathbf{1}\right) t_{1}\right)"
    )),
    "a size less one": (autoregression, ("", "x", ""), (
        r"\frac{s \left(n - 1\right) - \lVert y_{[1:]} - a y_{[:-1]} \rVert^{2}}{2 s^{2}}"
    )),
    "columns that are added": (chain, ("X", "Q"), (
        r"t_{2} &= \left(\operatorname{logsumexp}_{0}\left(t_{1}\right) + E_{[1]}\right) "
        r"\mathbf{1}^{\top} + T"
    )),
    "the largest entry": (lambda x, a: a * x.amax(), ("x", ""), (
        r"\frac{a}{\mathbf{1}^{\top} \left[x = \max\left(x\right)\right]} \left[x = \max\left(x\right)\right]"
    )),
}  # fmt: skip


@pytest.mark.parametrize("name", TERSE)
def test_forms_without_clutter(name):
    f, kinds, part = TERSE[name]
    names = f.__code__.co_varnames[: len(kinds)]
    rng = np.random.default_rng(2)
    for n, m in ((5, 3), (4, 6), (7, 2)):
        shapes = {"x": (n,), "X": (n, m), "Q": (m, m), "": (), "+": (n, m)}
        args = [
            np.asarray(rng.uniform(0.5, 2, shapes[k]) if k in ("", "+") else rng.normal(size=shapes[k])) for k in kinds
        ]
        found = sg.formula(f, *args, wrt=0)
        text = found.latex()
        assert part in text
        want = sg.func.grad(f)(*map(sg.tensor, args)).numpy()
        read = from_latex(text, found.symbols, shape=found.term.shape)
        given = dict(zip(names, args, strict=True))
        np.testing.assert_allclose(evaluate(read, {**found.constants, **given}), want, rtol=1e-9, atol=1e-12)


def test_what_is_as_short_as_a_name_gets_none():
    """t/2 stays, at any number of places, and softmax(z) has a name where it stands three times."""

    def midpoint(x, W, t):
        return ((x + t * sg.tanh(W @ (x + t / 2 * sg.tanh(W @ x)))) ** 2).sum() / 2

    text = sg.latex(midpoint, (3,), (3, 3), 0.1, wrt="t")
    assert r"\frac{t}{2} W u_{1}" in text
    assert r"u_{1} &= \tanh\left(W x\right)" in text
    expected = sg.latex(lambda z, c: c @ sg.softmax(z, 0), (4,), (4,), wrt=("z", "z"))
    assert r"t_{1} &= \operatorname{softmax}\left(z\right)" in expected
    assert expected.count("softmax") == 1


def test_a_range_of_one_column_is_that_column():
    """Reprojection: the last coordinate divides the others, and its gradient is one column beside theirs."""

    def reprojection(X, u):
        return ((X[:, :2] / X[:, 2:] - u) ** 2).sum()

    rng = np.random.default_rng(8)
    found = sg.formula(reprojection, rng.normal(size=(4, 3)), rng.normal(size=(4, 2)), wrt="X")
    text = found.latex()
    assert text.count(r"\begin{bmatrix}") == text.count("&= X_{[:, 2]}") == 1
    assert "reshape" not in text
    assert r"\mathbf{e}" not in text
    read = from_latex(text, found.symbols, shape=found.term.shape)
    for n in (3, 4, 6):
        given = {"X": rng.normal(size=(n, 3)), "u": rng.normal(size=(n, 2))}
        want = sg.func.grad(reprojection)(*given.values()).numpy()
        np.testing.assert_allclose(found.evaluate(**given), want, rtol=1e-9)
        np.testing.assert_allclose(evaluate(read, given), want, rtol=1e-9)


SCALARS = {
    "log cosh": (lambda w, X: -sg.log(sg.cosh(X @ w)).sum(), "w", ("m", "nm"), r"-X^{\top} \tanh\left(X w\right)"),
    "exponentials": (
        lambda x, y: (y * sg.exp(-2 * x) * sg.exp(x)).sum(), "y", ("n", "n"), r"e^{-x}",
    ),
    "a logarithm of a quotient": (
        lambda x, a: (x * sg.log(a / sg.exp(x))).sum(), "x", ("n", ""), r"\log\left(a\right) - 2 x",
    ),
    "a scalar over an array": (lambda a, x: sg.sin(a / x).sum(), "a", ("", "n"), (
        r"\mathbf{1}^{\top} \frac{\cos\left(\frac{a}{x}\right)}{x}"
    )),
    "a gas constant": (
        lambda E, T: (E / (8.314 * T)), "E", ("", ""), r"\frac{1}{8.314 T}",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SCALARS)
def test_scalars_as_papers_print_them(name):
    f, wrt, shapes, text = SCALARS[name]
    rng = np.random.default_rng(9)
    names = f.__code__.co_varnames[: len(shapes)]
    for k, sizes in enumerate(({"n": 4, "m": 3, "k": 5, "a": 2}, {"n": 3, "m": 5, "k": 6, "a": 2})):
        args = [np.asarray(rng.uniform(0.5, 2, size=[sizes[x] for x in shape])) for shape in shapes]
        if not k:
            found = sg.formula(f, *args, wrt=wrt)
            assert found.latex() == text
            read = from_latex(text, found.symbols, shape=found.term.shape)
        given = dict(zip(names, args, strict=True))
        want = sg.func.grad(f, argnums=names.index(wrt))(*args).numpy()
        np.testing.assert_allclose(found.evaluate(**given), want, rtol=1e-9)
        np.testing.assert_allclose(evaluate(read, given), want, rtol=1e-9)


def test_a_stacked_matrix_prints_entry_by_entry():
    text = sg.latex(lambda a: sg.stack([sg.stack([sg.cos(a), -sg.sin(a)]), sg.stack([sg.sin(a), sg.cos(a)])]), 0.3)
    assert text == (
        r"\begin{bmatrix} \cos\left(a\right) & -\sin\left(a\right) \\ "
        r"\sin\left(a\right) & \cos\left(a\right) \end{bmatrix}"
    )
    assert from_latex(text, [symbols(sg.formula(lambda a: a * 2, 0.3).term)[0]]).shape == (2, 2)


def cell(W, x, c):
    """Half of an LSTM cell: three gates of one product."""
    i, f, g = (W @ x).chunk(3)
    return (sg.sigmoid(f) * c + sg.sigmoid(i) * sg.tanh(g)).sum()


def gates(X, W):
    i, g = (X @ W).chunk(2, 1)
    return (sg.sigmoid(i) * g).sum()


def pinball(q, y, tau):
    return sg.maximum(tau * (y - q), (tau - 1) * (y - q)).sum()


JOINED = {
    "gates": (cell, ((6, 4), (4,), (2,)), (
        r"\begin{bmatrix} t_{1} \odot t_{2} \odot \left(1 - t_{2}\right) \\ "
        r"c \odot t_{3} \odot \left(1 - t_{3}\right) \\ "
        r"t_{2} \odot \left(1 - t_{1}^{\odot 2}\right) \end{bmatrix} x^{\top}"
    )),
    "gates of rows": (gates, ((5, 3), (3, 4)), (
        r"\begin{bmatrix} \left(X W\right)_{[:, 2:]} \odot t_{1} \odot \left(1 - t_{1}\right) & t_{1} "
        r"\end{bmatrix} W^{\top}"
    )),
    "a quantile": (pinball, ((4,), (4,), ()), r"1 - \tau - \operatorname{Heaviside}\left(y - q\right)"),
}  # fmt: skip


@pytest.mark.parametrize("name", JOINED)
def test_parts_that_are_side_by_side_are_joined(name):
    f, shapes, part = JOINED[name]
    rng = np.random.default_rng(6)
    args = [rng.normal(size=shape) if shape else np.asarray(0.3) for shape in shapes]
    found = sg.formula(f, *args, wrt=0)
    text = found.latex()
    assert part in text
    want = sg.func.grad(f)(*map(sg.tensor, args)).numpy()
    given = dict(zip(f.__code__.co_varnames, args, strict=False))
    read = from_latex(text, found.symbols, shape=found.term.shape)
    np.testing.assert_allclose(evaluate(read, given), want, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found.evaluate(**given), want, rtol=1e-9, atol=1e-12)


def counts(a, x):
    return sg.lgamma(a.sum()) - sg.lgamma(a.sum() + 2) + (sg.lgamma(x + a) - sg.lgamma(a)).sum()


SPREAD = {
    "diagonals, and scalars everywhere": (counts, ("a", "a"), ("+n", "+n"), (
        r"\left(\psi^{(1)}\left(\mathbf{1}^{\top} a\right) - \psi^{(1)}\left(\mathbf{1}^{\top} a + 2\right)\right) "
        r"\mathbf{1} \mathbf{1}^{\top} + "
        r"\operatorname{diag}\left(\psi^{(1)}\left(x + a\right) - \psi^{(1)}\left(a\right)\right)"
    )),
    "diagonals of a mean field": (
        lambda m, J, T: m @ J @ m / 2 + T * ((1 + m) * sg.log(1 + m) + (1 - m) * sg.log(1 - m)).sum() / 2,
        ("m", "m"), ("un", "nn", "+"),
        r"\frac{1}{2} \left(J + J^{\top}\right) + T \operatorname{diag}\left(\frac{1}{1 - m^{\odot 2}}\right)",
    ),
    "sums over observations": (
        lambda r, y: (sg.lgamma(y + r) - sg.lgamma(r) + sg.log(r / (r + y))).sum(), "r", ("+", "+n"),
        (r"\mathbf{1}^{\top} \left(\psi\left(y + r\right) - \frac{1}{r + y}\right) - n \psi\left(r\right) "
         r"+ \frac{n}{r}"),
    ),
    "two cases under a sum": (
        lambda s, y, x: sg.where(y > 0, -(x**2) / s, sg.log(1 + x / s)).sum(), "s", ("+", "n", "+n"),
        (r"\mathbf{1}^{\top} \begin{cases} \frac{x^{\odot 2}}{s^{2}} & \text{for}\: y > 0 \\ "
         r"-\frac{1}{s} \frac{x}{s + x} & \text{otherwise} \end{cases}"),
    ),
    "a probit": (
        lambda b, X: sg.special.log_ndtr(X @ b).sum(), "b", ("m", "nm"),
        r"\frac{1}{\sqrt{2 \pi}} X^{\top} \frac{e^{-\frac{1}{2} \left(X b\right)^{\odot 2}}}{\Phi\left(X b\right)}",
    ),
    "the probability of the other side": (
        lambda b, X, s: sg.special.log_ndtr(-X @ b / s).sum(), "b", ("m", "nm", "+"),
        (r"-\frac{1}{s \sqrt{2 \pi}} X^{\top} \frac{e^{-\frac{1}{2} \left(\frac{X b}{s}\right)^{\odot 2}}}"
         r"{\Phi\left(-\frac{X b}{s}\right)}"),
    ),
    "the length of a step": (
        lambda k, B, g: 1 / sg.norm(sg.linalg.solve(B + k * sg.eye(len(g)), -g)), "k", ("+", "nn", "n"),
        (r"\frac{g^{\top} \left(B + k I\right)^{-\top} \left(B + k I\right)^{-2} g}"
         r"{\lVert \left(B + k I\right)^{-1} g \rVert^{3}}"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SPREAD)
def test_terms_that_are_spread_alike_are_one(name):
    f, wrt, kinds, text = SPREAD[name]
    rng = np.random.default_rng(4)
    names = f.__code__.co_varnames
    found = None
    for sizes in ({"n": 4, "m": 3}, {"n": 3, "m": 5}, {"n": 6, "m": 2}):
        args = [
            np.asarray(rng.uniform(0.2, 0.8, shape) if kind[:1] in ("+", "u") else rng.normal(size=shape))
            for kind in kinds
            for shape in [tuple(sizes[n] for n in kind.strip("+u"))]
        ]
        found = found or sg.formula(f, *args, wrt=wrt)
        want = sg.func.hessian(f) if isinstance(wrt, tuple) else sg.func.grad(f)
        read = from_latex(found.latex(), found.symbols, shape=found.term.shape)
        given = dict(zip(names, args, strict=False))
        np.testing.assert_allclose(evaluate(read, given), want(*map(sg.tensor, args)).numpy(), rtol=1e-8, atol=1e-12)
    assert found.latex() == text


def test_products_that_read_the_same_backwards_need_no_transpose():
    def filtered(A, P, Q, m, y):
        S = A @ P @ A.T + Q
        return (y - A @ m) @ sg.linalg.solve(S, y - A @ m) + sg.logdet(S)

    args = (W, S @ S.T, np.eye(3), m, v)
    found = sg.formula(filtered, *args, assume={"P": "symmetric", "Q": "symmetric"}, wrt="A")
    assert found.latex() == (
        r"-2 \left(A P A^{\top} + Q\right)^{-1} \left(\left(y - A m\right) m^{\top} + \left(\left(y - A m\right) "
        r"\left(y - A m\right)^{\top} \left(A P A^{\top} + Q\right)^{-1} A - A\right) P\right)"
    )
    given = dict(zip("APQmy", args, strict=True))
    read = from_latex(found.latex(), found.symbols, shape=(3, 3))
    np.testing.assert_allclose(evaluate(read, given), sg.func.grad(filtered)(*args).numpy(), rtol=1e-9)


BLOCKS = {
    "differences along both axes": (
        lambda X: ((X[1:, :-1] - X[:-1, :-1]) ** 3).sum(), ("X",), (RNG.normal(size=(4, 5)),),
        ("\\begin{aligned}\n"
         r"t_{1} &= \left(X_{[1:, :-1]} - X_{[:-1, :-1]}\right)^{\odot 2} \\" "\n"
         r"& 3 \left(\begin{bmatrix} 0 & 0 \\ t_{1} & 0 \end{bmatrix} - "
         r"\begin{bmatrix} t_{1} & 0 \\ 0 & 0 \end{bmatrix}\right)" "\n" r"\end{aligned}"),
    ),
    "a gate times a value": (
        lambda W, V, x, c, U: c @ (U @ (F.silu(W @ x) * (V @ x))), ("W", "V", "x", "c", "U"),
        tuple(RNG.normal(size=s) for s in ((4, 3), (4, 3), (3,), (2,), (2, 4))),
        (r"\left(\sigma\left(W x\right) \odot U^{\top} c \odot V x \odot \left(W x \odot \left(1 - "
         r"\sigma\left(W x\right)\right) + 1\right)\right) x^{\top}"),
    ),
    "a distance to a diagonal": (
        lambda v, A: ((A - sg.diag(v)) ** 2).sum(), ("v", "A"), (RNG.normal(size=4), RNG.normal(size=(4, 4))),
        r"2 \left(v - \operatorname{diag}\left(A\right)\right)",
    ),
    "a sum of what was stacked": (
        lambda x, y: sg.log(sg.stack([sg.exp(x), 2 * sg.exp(y)]).sum(0)).sum(), ("x", "y"),
        (RNG.normal(size=3), RNG.normal(size=3)),
        r"\frac{e^{x}}{e^{x} + 2 e^{y}}",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BLOCKS)
def test_blocks_and_gates_as_papers_print_them(name):
    f, names, args, text = BLOCKS[name]
    found = sg.formula(f, *args, wrt=names[0])
    given = dict(zip(names, args, strict=True))
    read = from_latex(found.latex(), symbols(found.term), shape=found.term.shape)
    np.testing.assert_allclose(evaluate(read, given), sg.func.grad(f)(*args).numpy(), rtol=1e-9, atol=1e-12)
    assert found.latex() == text


def test_sums_over_who_is_still_there_are_turned_around_once():
    """Cox's partial likelihood: the hazard of everybody who is at risk, in the order of time."""

    def cox(b, X, d):
        risk = X @ b
        return -np.sum(d * (risk - np.log(np.cumsum(np.exp(risk)[::-1])[::-1])))

    rng = np.random.default_rng(5)
    given = {"b": rng.normal(size=2), "X": rng.normal(size=(5, 2)), "d": np.array([1.0, 0.0, 1.0, 1.0, 0.0])}
    value, slope = sg.formula(cox, *given.values()), sg.formula(cox, *given.values(), wrt="b")
    assert value.unicode() == "dᵀ (log(flip(cumsum(flip(e^(X b))))) − X b)"
    assert slope.unicode() == "Xᵀ (cumsum(d/flip(cumsum(flip(e^(X b))))) ⊙ e^(X b) − d)"
    np.testing.assert_allclose(value.evaluate(**given), cox(*given.values()))
    np.testing.assert_allclose(slope.evaluate(**given), sg.func.grad(cox)(*given.values()).numpy())


def normal(s, x, n):
    return -n * sg.log(s) / 2 - (x @ x) / (2 * s)


STEIN = r"B^{\top} - M^{-\top}"


def test_information_has_one_fraction_bar():
    """A fraction in a sum above a bar goes below it: (ns - 2‖x‖²)/2s³, where (ns/2 - ‖x‖²)/s³ had three storeys."""
    found = sg.formula(normal, 0.5, (3,), 7.0, wrt=("s", "s"))
    assert found.latex() == r"\frac{n s - 2 x^{\top} x}{2 s^{3}}"
    assert sg.latex("-3*log(s)/2 - a/(2*s)", wrt=("s", "s"), shapes="s= a=") == r"\frac{3 s - 2 a}{2 s^{3}}"


@pytest.mark.parametrize(
    ("text", "wrt", "assume", "want"),
    [
        ("trace(B@M)-log(det(B@M))", "M", {}, STEIN),
        ("trace(inv(B)@M)-log(det(inv(B)@M))", "M", {}, r"B^{-\top} - M^{-\top}"),
        ("trace(M@inv(B))-log(det(M@inv(B)))", "M", {"M": "symmetric", "B": "symmetric"}, r"B^{-1} - M^{-1}"),
    ],
)
def test_inverses_that_cancel_in_brackets(text, wrt, assume, want):
    """Stein's loss, the divergence of two covariances: (I - M⁻¹B)B⁻¹ is B⁻¹ - M⁻¹."""
    assert sg.latex(text, wrt=wrt, shapes="B=n,n M=n,n", assume=assume) == want


def test_the_gradient_by_a_bias_has_the_residual_of_that_by_the_weights():
    """It was 2((1ᵀXw - 1ᵀy)/n + b), while one number beside one array goes out of the sum: 1ᵀx - nμ."""

    def loss(X, w, b, y):
        return ((X @ w + b - y) ** 2).mean()

    shapes = ((5, 3), (3,), (), (5,))
    assert sg.latex(loss, *shapes, wrt="b") == r"\frac{2 \mathbf{1}^{\top} \left(X w + b - y\right)}{n}"
    assert sg.latex(loss, *shapes, wrt="w") == r"\frac{2}{n} X^{\top} \left(X w + b - y\right)"
    assert sg.latex("sum((x-mu)**2)/2", wrt="mu", shapes="x=n mu=") == r"n \mu - \mathbf{1}^{\top} x"


def test_distances_are_the_same_in_both_directions():
    """The gradient of stress, (D - ‖xᵢ - xⱼ‖)²: the transpose stood beside each matrix."""

    def stress(X, D):
        return ((D - sg.cdist(X, X)) ** 2).sum()

    found = sg.latex(stress, (5, 2), (5, 5), wrt="X", assume={"D": "symmetric"}).splitlines()
    assert found[-2] == r"& 4 \left(t_{2} X - \operatorname{diag}\left(t_{2} \mathbf{1}\right) X\right)"

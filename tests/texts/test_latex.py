"""LaTeX of formulas: textbook forms, names, options, where-lists, and the reader that gives back the number."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import ArgumentError, FormulaError, FormulaTooDeep, NameProblem
from symgrad.formula.printing.formats import spelled
from symgrad.formula.printing.latex import latex
from symgrad.formula.printing.names import name_latex, texts
from symgrad.formula.reading.text import from_latex
from symgrad.formula.reading.unicode import from_unicode
from symgrad.formula.term import as_term, evaluate, size_letter, symbol, symbols
from symgrad.op import lookup
from symgrad.ops.rules.constants import PI

X, w, y = symbol("X", ("n", "m")), symbol("w", ("m",)), symbol("y", ("n",))
A, B = symbol("A", ("n", "n")), symbol("B", ("n", "n"))
v, u = symbol("v", ("n",)), symbol("u", ("n",))
a, b = symbol("a"), symbol("b")


def op(name, *args, **params):
    return sg.op.lookup(name)(*args, **params)


def total(x):
    return op("sum", x, dim=tuple(range(x.ndim)), keepdim=False)


RAW = [
    (X @ w - y, r"X w - y"),
    (X.T @ (X @ w - y), r"X^{\top} \left(X w - y\right)"),
    (A @ B @ A, r"A B A"),
    (A @ (B + A) @ v, r"A \left(B + A\right) v"),
    ((A @ B).T, r"\left(A B\right)^{\top}"),
    (A.T.T, r"A"),
    (op("inv", A.T), r"\left(A^{\top}\right)^{-1}"),
    (op("inv", A).T, r"A^{-\top}"),
    (v @ u, r"v^{\top} u"),
    ((v @ u) * A, r"\left(v^{\top} u\right) A"),
    (op("outer", v, u), r"v u^{\top}"),
    (op("outer", v, u).T, r"u v^{\top}"),
    (v * u, r"v \odot u"),
    (v * (u + 1), r"v \odot \left(u + 1\right)"),
    (2 * v / 3, r"\frac{2}{3} v"),
    (a * v / b, r"\frac{a}{b} v"),
    (-(a - b), r"b - a"),
    (a - (b - a), r"a - b + a"),
    (-a - b, r"-a - b"),
    (a * -b, r"-a b"),
    (-(-(-a)), r"-a"),
    (a / (b * 2), r"\frac{a}{2 b}"),
    (a ** (b - 1), r"a^{b - 1}"),
    ((a + b) ** 2, r"\left(a + b\right)^{2}"),
    (a**-2, r"\frac{1}{a^{2}}"),
    (v**2, r"v^{\odot 2}"),
    (1 / v, r"\frac{1}{v}"),
    (op("tanh", a) ** 2, r"\tanh^{2}\left(a\right)"),
    (op("exp", -a), r"e^{-a}"),
    (op("sigmoid", v), r"\sigma\left(v\right)"),
    (total(v), r"\mathbf{1}^{\top} v"),
    (total(X), r"\mathbf{1}^{\top} X \mathbf{1}"),
    (X + w, r"X + \mathbf{1} w^{\top}"),
    (X * w, r"X \operatorname{diag}\left(w\right)"),
    (op("trace", A @ B), r"\operatorname{tr}\left(A B\right)"),
    (op("logdet", A), r"\log \det\left(A\right)"),
    (op("norm", v, p=2, dim=(0,), keepdim=False), r"\lVert v \rVert"),
    (op("norm", A, p=2, dim=(0, 1), keepdim=False), r"\lVert A \rVert_{F}"),
    (op("where", v > 0, v, 0), r"\begin{cases} v & \text{for}\: v > 0 \\ 0 & \text{otherwise} \end{cases}"),
    (v * (v > 0), r"v \odot \left[v > 0\right]"),
    (op("solve", A, v), r"A^{-1} v"),
    (v[1:3], r"v_{[1:3]}"),
    (op("cumsum", v, dim=0), r"\operatorname{cumsum}\left(v\right)"),
    (op("argmax", v, dim=0, keepdim=False), r"\operatorname{argmax}\left(v\right)"),
    (op("argcummax", v, dim=0), r"\operatorname{argcummax}\left(v\right)"),
]


@pytest.mark.parametrize(("term", "text"), RAW, ids=[t for _, t in RAW])
def test_as_run(term, text):
    assert latex(term, canonical=False) == text


@pytest.mark.parametrize("term", [t for t, _ in RAW], ids=[t for _, t in RAW])
def test_as_run_reads_back(term, rng):
    values = {
        "X": rng.normal(size=(5, 3)), "w": rng.normal(size=3), "y": rng.normal(size=5), "A": rng.normal(size=(5, 5)),
        "B": rng.normal(size=(5, 5)), "v": rng.normal(size=5), "u": rng.normal(size=5), "a": 1.7, "b": 0.6,
    }  # fmt: skip
    values["A"] = values["A"] @ values["A"].T + np.eye(5)
    for canonical in (True, False):
        text = latex(term, canonical=canonical)
        again = from_latex(text, [X, w, y, A, B, v, u, a, b], shape=term.shape)
        known = {s.name: values[s.name] for s in (X, w, y, A, B, v, u, a, b)}
        np.testing.assert_allclose(evaluate(again, known), evaluate(term, known), rtol=1e-12)


def test_numbers_beside_square_matrices_are_no_multiples_of_the_identity(rng):
    """The Jacobian of Ax - 3(1ᵀx) printed as A - 3, which papers write for A - 3I."""
    every = r"\mathbf{1} \mathbf{1}^{\top}"
    texts = [
        (A - 3, f"A - 3 {every}"),
        (2 * (B - a), rf"2 \left(B - a {every}\right)"),
        ((A + B - 1) @ v, rf"\left(A + B - {every}\right) v"),
        (op("det", A + 1), rf"\det\left(A + {every}\right)"),
        ((1 - A) * B, r"\left(1 - A\right) \odot B"),
        (1 - op("tanh", A), r"1 - \tanh\left(A\right)"),
        (X - 1, "X - 1"),
    ]
    values = {"X": rng.normal(size=(5, 3)), "v": rng.normal(size=5), "a": 1.7}
    values |= {"A": rng.normal(size=(5, 5)), "B": rng.normal(size=(5, 5))}
    for term, text in texts:
        assert latex(term, canonical=False) == text
        again = from_latex(latex(term), [X, A, B, v, a], shape=term.shape)
        np.testing.assert_allclose(evaluate(again, values), evaluate(term, values), rtol=1e-12)
    x, C = sg.tensor([1.0, 2.0, 3.0], requires_grad=True, name="x"), sg.tensor(np.ones((3, 3)), name="A")
    assert sg.autograd.jacobian(C @ x.double() - 3 * x.sum(), x).latex() == f"A - 3 {every}"


def test_index_notation(rng):
    P, Q = symbol("P", ("p", "n", "m")), symbol("Q", ("p", "m", "q"))
    term = op("matmul", P, Q)
    text = latex(op("einsum", P, Q, inputs=((0, 1, 2), (0, 2, 3)), output=(0, 1, 3), shape=("p", "n", "q")))
    assert text == r"\left[\sum_{l} P_{i j l} Q_{i l k}\right]_{i j k}"
    values = {"P": rng.normal(size=(2, 3, 4)), "Q": rng.normal(size=(2, 4, 5))}
    np.testing.assert_allclose(evaluate(from_latex(text, [P, Q]), values), evaluate(term, values))


NAMES = {
    "x": "x", "W2": "W_{2}", "w_1": "w_{1}", "beta": r"\beta", "beta_1": r"\beta_{1}", "lambda_": r"\lambda",
    "lam": r"\lambda", "x_hat": r"\hat{x}", "x_hat_2": r"\hat{x}_{2}", "loss": r"\mathrm{loss}",
    "w_new": r"w_{\mathrm{new}}", "Sigma": r"\Sigma",
    "θ": r"\theta", "x_i_j": "x_{i,j}", "Wz": "W_{z}", "Sxy": "S_{xy}",
    "Wz_1": "W_{z,1}", "Pos": r"\mathrm{Pos}", "Tr": r"\mathrm{Tr}",
    "Pi": r"\Pi", "_0": r"\mathrm{\_0}", "_12_x": r"\mathrm{\_12\_x}", "_": r"\mathrm{\_}",
}  # fmt: skip


@pytest.mark.parametrize(("name", "text"), NAMES.items())
def test_names(name, text):
    assert name_latex(name) == text


def test_no_two_names_look_alike():
    found = texts(["beta1", "beta_1", "lam", "lambda_"])
    assert len(set(found.values())) == 4


def test_symbols_keep_their_meaning_beside_functions():
    e, sigma, identity = symbol("e"), symbol("sigma"), symbol("I", ("n", "n"))
    assert latex(op("exp", e), canonical=False) == r"\exp\left(e\right)"
    assert latex(op("sigmoid", sigma), canonical=False) == r"\operatorname{sigmoid}\left(\sigma\right)"
    assert latex(identity @ v + v, canonical=False) == "I v + v"


def test_constants_make_room_for_symbols_that_are_called_like_them():
    """Weights of a mixture are called π, beside the one of the normal density."""
    pi, t, I = symbol("pi"), symbol("t"), symbol("I", ("n", "n"))  # noqa: E741
    both = op("mul", pi, op("sqrt", op("mul", as_term(PI), t)))
    assert latex(both) == r"\pi \sqrt{3.141592653589793 t}"
    values = {"pi": 0.25, "t": 2.0}
    assert evaluate(from_latex(latex(both), [pi, t]), values) == pytest.approx(0.25 * (2 * np.pi) ** 0.5)
    shifted = I + op("eye", n="n", dtype="float64")
    assert latex(shifted) == r"I + \operatorname{diag}\left(\mathbf{1}_{n}\right)"
    values = {"I": np.ones((3, 3))}
    np.testing.assert_array_equal(evaluate(from_latex(latex(shifted), [I]), values), 1 + np.eye(3))


def test_signs_of_norms_are_as_high_as_fractions_in_them():
    mean = op("div", total(v), size_letter("n"))
    for made, text in (
        (
            op("norm", v - mean, p=2, dim=(0,), keepdim=False),
            r"\left\lVert v - \frac{\mathbf{1}^{\top} v}{n} \right\rVert",
        ),
        (
            op("norm", v - mean, p=3, dim=(0,), keepdim=False),
            r"\left\lVert v - \frac{\mathbf{1}^{\top} v}{n} \right\rVert_{3}",
        ),
        (op("norm", A, p=2, dim=(0, 1), keepdim=False), r"\lVert A \rVert_{F}"),
    ):
        assert latex(made) == text
        values = {"v": np.array([1.0, 3.0, -2.0]), "A": np.ones((2, 2))}
        want = evaluate(made, values)
        assert evaluate(from_latex(text, [v, A]), values) == pytest.approx(want)
        assert evaluate(from_unicode(spelled(text, "unicode"), [v, A]), values) == pytest.approx(want)


def test_bold():
    assert latex(X @ w * a, canonical=False, bold=True) == r"a \mathbf{X} \mathbf{w}"
    assert latex(symbol("beta_1", ("n",)) * 2, canonical=False, bold=True) == r"2 \boldsymbol{\beta}_{1}"
    assert from_latex(r"\mathbf{X} \mathbf{w}", [X, w]) is X @ w


def test_functions():
    f = lambda X, w, y: ((X @ w - y) ** 2).sum()  # noqa: E731
    shapes = (5, 3), (3,), (5,)
    assert sg.latex(f, *shapes) == r"\lVert X w - y \rVert^{2}"
    assert sg.latex(f, *shapes, wrt="w") == r"2 X^{\top} \left(X w - y\right)"
    assert sg.latex(f, *shapes, wrt=0) == r"2 \left(X w - y\right) w^{\top}"
    assert sg.latex(f, *(np.ones(s) for s in shapes), wrt="w") == sg.latex(f, *shapes, wrt="w")

    def loss(x):
        return (x * x).sum()

    assert sg.latex(loss, (4,), wrt="x", header=True) == r"\frac{\partial \mathrm{loss}}{\partial x} = 2 x"
    with pytest.raises(NameProblem, match="wrt='z'"):
        sg.latex(loss, (4,), wrt="z")
    with pytest.raises(ArgumentError, match="scalar"):
        sg.latex(lambda x: x * 2, (4,), wrt="x")
    with pytest.raises(ArgumentError, match="takes no further arguments"):
        sg.latex(sg.tensor(1.0), 3)


def test_tensors():
    x = sg.tensor([1.0, 2.0], requires_grad=True, name="x")
    z = (x * x).sum()
    z.backward()
    assert z.latex() == r"x^{\top} x"
    assert sg.latex(z) == z.latex()
    assert x.grad.latex() == "2 x"
    assert x.grad._repr_latex_() == r"$\displaystyle 2 x$"
    assert x._repr_latex_() is None  # a notebook shows the numbers of what has no formula but its name
    assert sg.tensor([1.0, 2.0])._repr_latex_() is None
    shown = sg.formula(x.grad)
    assert (str(shown), shown.shape, shown.names) == ("2*x", ("n",), ["x"])
    np.testing.assert_array_equal(shown.evaluate(x=np.ones(5)), 2 * np.ones(5))


def deep(depth):
    x = end = sg.tensor(0.7, requires_grad=True, dtype=np.float64, name="x")
    for _ in range(depth):
        end = end.sin() * end
    return x, end


@pytest.mark.parametrize("lines", [5, 20, 24, 60])
@pytest.mark.parametrize("options", [{"where": True}, {}, {"environment": "align"}], ids=["where", "alone", "align"])
def test_lines_of_long_sums_are_counted_as_printed(lines, options):
    xs = [symbol(f"x{k}", ("n",)) for k in range(150)]
    total = sum((lookup("tanh")(a * b) for a, b in zip(xs[1:], xs[2:], strict=False)), lookup("tanh")(xs[0]))
    text = latex(total, lines=lines, **options)
    printed = len(text.splitlines()) - 2
    assert printed <= lines
    assert ("more lines" in text) == (lines < 59)


def test_where_list_of_lines():
    _, end = deep(4_000)
    text = end.latex(lines=10, loops=False)
    rows = text.splitlines()
    assert (rows[0], rows[-1], len(rows)) == (r"\begin{aligned}", r"\end{aligned}", 12)
    assert r"\text{(3991 more lines)}" in text
    assert rows[2] == r"t_{2} &= \sin\left(t_{1}\right) t_{1} \\"
    with pytest.raises(FormulaError, match="lines were left out"):
        from_latex(text, {"x": ()})


def test_whole_where_list_reads_back():
    x, end = deep(12)
    end.backward()
    for t in (end, x.grad):
        text = t.latex(where=True, lines=1_000)
        assert evaluate(from_latex(text, {"x": ()}), {"x": 0.7}) == pytest.approx(t.item(), rel=1e-13)


def test_where_can_be_refused():
    x = sg.tensor([0.3, 0.4], requires_grad=True, name="x")
    t = (x.sin() + 1) * (x.sin() + 1).exp()
    assert "aligned" not in t.latex(where=False)
    assert "aligned" in t.latex(where=True, canonical=False)


def test_not_a_formula():
    with pytest.raises(FormulaError, match="ndarray"):
        latex(np.ones(3))  # type: ignore[arg-type]


def test_a_slope_that_is_a_condition_is_a_number():
    assert sg.latex(lambda x: sg.relu(x).sum(), (5,), wrt="x") == r"\left[x > 0\right]"
    assert sg.latex(lambda x: x > 0, (5,)) == "x > 0"


@pytest.mark.parametrize(
    ("made", "text"),
    [
        (lambda x, A, T: sg.special.i1(sg.sum(x)), r"\mathrm{I}_{1}\left(\mathbf{1}^{\top} x\right)"),
        (lambda x, A, T: sg.matrix_exp(A), r"\operatorname{expm}\left(A\right)"),
        (lambda x, A, T: sg.tril(A), r"\operatorname{tril}\left(A\right)"),
        (lambda x, A, T: sg.triu(A, 1), r"\operatorname{triu}_{1}\left(A\right)"),
        (lambda x, A, T: sg.linalg.inv(T), "T^{-1}"),
        (lambda x, A, T: T + x, r"T + \left[x_{k}\right]_{i j k}"),
        (lambda x, A, T: sg.exp(sg.lgamma(x)), r"\Gamma\left(x\right)"),
        (lambda x, A, T: sg.digamma(x) ** 2, r"\psi\left(x\right)^{\odot 2}"),
        (lambda x, A, T: (x >= -1) & (x <= 0), r"-1 \le x \le 0"),
        (lambda x, A, T: (x < 1) & (x > 0), "0 < x < 1"),
        (lambda x, A, T: ~(x > 1) & ~(x < 0), r"0 \le x \le 1"),
        (lambda x, A, T: sg.reshape(A, -1), r"\operatorname{vec}\left(A^{\top}\right)"),
        (lambda x, A, T: sg.reshape(A.T, -1), r"\operatorname{vec}\left(A\right)"),
        (lambda x, A, T: sg.norm(A, 3), r"\lVert \operatorname{vec}\left(A\right) \rVert_{3}"),
        (lambda x, A, T: sg.norm(A, 1, dim=0), r"\left|A\right|^{\top} \mathbf{1}"),
        (lambda x, A, T: sg.sin(x) - x > 0, r"\sin\left(x\right) > x"),
        (lambda x, A, T: sg.logical_not(x >= 0), "x < 0"),
        (
            lambda x, A, T: sg.where(x > 0, x, 0 * x) @ sg.sin(x),
            (
                r"\left(\begin{cases} x & \text{for}\: x > 0 \\ 0 & \text{otherwise} \end{cases}\right)^{\top}"
                r" \sin\left(x\right)"
            ),
        ),
    ],
)
def test_names_of_the_textbooks(made, text):
    x, A, T = symbol("x", ("n",)), symbol("A", ("n", "n")), symbol("T", ("b", "n", "n"))
    assert latex(made(x, A, T)) == text
    values = {"x": np.array([0.3, -0.2]), "A": np.eye(2) + 0.3, "T": np.eye(2) + np.arange(12.0).reshape(3, 2, 2) / 9}
    back = from_latex(text, [x, A, T], shape=made(x, A, T).shape)
    np.testing.assert_allclose(evaluate(back, values), evaluate(made(x, A, T), values))


def test_axes_of_size_one_have_their_place_beside_three_axes():
    x, T = symbol("x", ("n",)), symbol("T", ("n", "n", "n"))
    term = T * lookup("unsqueeze")(x, dim=1)
    values = {"x": np.array([0.3, -0.2, 1.0]), "T": np.arange(27.0).reshape(3, 3, 3)}
    text = latex(term, canonical=False)
    assert text == r"T \odot \operatorname{reshape}_{n \times 1}\left(x\right)"
    back = from_latex(text, [x, T], shape=term.shape)
    np.testing.assert_array_equal(evaluate(back, values), evaluate(term, values))


@pytest.mark.parametrize(
    ("make", "wrt", "text"),
    [
        (lambda x, v, X: x[0] ** 2, "x", r"2 x_{[0]} \mathbf{e}_{n,0}"),
        (lambda x, v, X: v @ X[:, 1], "X", r"v \mathbf{e}_{2,1}^{\top}"),
        (lambda x, v, X: x @ X[-1], "X", r"\mathbf{e}_{n,n - 1} x^{\top}"),
        (
            lambda x, v, X: X[1, 0] ** 3,
            "X",
            r"3 X_{[1, 0]}^{2} \mathbf{e}_{n,1} \mathbf{e}_{m,0}^{\top}",
        ),
        (lambda x, v, X: X[:, 1].sum(), "X", r"\mathbf{1} \mathbf{e}_{2,1}^{\top}"),
    ],
    ids=range(5),
)
def test_entries_stand_with_unit_vectors(make, wrt, text):
    values = {"x": np.array([0.3, -2.0]), "v": np.arange(3.0), "X": np.arange(6.0).reshape(3, 2)}
    leaves = {k: sg.tensor(v, requires_grad=True, name=k) for k, v in values.items()}
    (g,) = sg.autograd.grad(make(**leaves), [leaves[wrt]], create_graph=True)
    assert g.latex() == text
    known = [t for t in symbols(g.term) if t.params["name"] in values]
    read = from_latex(text, known, shape=g.term.shape)
    used = {t.params["name"]: values[t.params["name"]] for t in known}
    plain = from_unicode(spelled(text, "unicode"), known, shape=g.term.shape)
    sizes = {} if any("n" in t.shape for t in known) else {"n": 3}
    for found in (read, plain):
        assert np.allclose(evaluate(found, used, sizes), evaluate(g.term, used, sizes))


def test_texts_and_functions_without_examples():
    assert sg.latex("sum((X@w-y)**2)", wrt="w") == r"2 X^{\top} \left(X w - y\right)"
    assert sg.latex("X@w", shapes="X=n,m w=m") == "X w"
    assert sg.latex(lambda X, w: ((X @ w) ** 2).sum() / len(X), wrt="w", header=True).startswith(r"\frac{\partial f}")
    c = sg.tensor(2.0, requires_grad=True, name="c")
    assert sg.latex(lambda: c * c) == "c^{2}"


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("norm(x, np.inf)", r"\lVert x \rVert_{\infty}"),
        ("norm(x, inf)", r"\lVert x \rVert_{\infty}"),
        ("norm(X, 1)", r"\max\left(\left|X\right|^{\top} \mathbf{1}\right)"),
        ("norm(X, p=1, dim=(1,))", r"\left|X\right| \mathbf{1}"),
        ("norm(X, axis=1)", r"\sqrt{X^{\odot 2} \mathbf{1}}"),
        ("cat(X, Y, dim=0)", r"\begin{bmatrix} X \\ Y \end{bmatrix}"),
        ("concatenate([X, Y], 1)", r"\begin{bmatrix} X & Y \end{bmatrix}"),
        ("x*np.inf", r"\infty x"),
        ("vec(X)", r"\operatorname{vec}\left(X\right)"),
    ],
)
def test_texts_of_numpy_and_of_symgrad(text, printed):
    assert sg.latex(text, shapes="X=n,m Y=n,m x=n") == printed


def test_losses_print_as_norms():
    def loss(X, w, y):
        return sg.nn.functional.mse_loss(X @ w, y)

    example = (5, 3), (3,), (5,)
    assert sg.latex(loss, *example) == r"\frac{\lVert X w - y \rVert^{2}}{n}"
    assert sg.latex(loss, *example, wrt="w") == r"\frac{2}{n} X^{\top} \left(X w - y\right)"


def test_entries_of_arrays_of_one_entry():
    x = sg.tensor([[2.0]], requires_grad=True, name="x")
    assert str(sg.explicit(x)) == "[[x[0, 0]]]"
    assert str(sg.element(x, "i", "j")) == "x[i, j]"


def test_bold_heads():
    shown = sg.formula("norm(A@x-b)**2*a", wrt="A", shapes="A=n,m x=m b=n a=")
    assert shown.latex(header=True, bold=True).startswith(r"\frac{\partial f}{\partial \mathbf{A}} = ")
    shown = sg.formula("norm(x-b)**2*a", wrt="x", shapes="x=m b=m a=")
    assert shown.latex(header="nabla", bold=True) == r"\nabla_{\mathbf{x}} f = 2 a \left(\mathbf{x} - \mathbf{b}\right)"
    assert sg.latex("a*norm(x)**2", wrt="a", header=True, bold=True).startswith(r"\frac{\partial f}{\partial a}")


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda x, X: x.median(), r"\operatorname{median}\left(x\right)"),
        (lambda x, X: X.nanmedian(), r"\operatorname{nanmedian}\left(X\right)"),
        (lambda x, X: sg.asinh(x), r"\operatorname{arcsinh}\left(x\right)"),
        (lambda x, X: sg.erfinv(x), r"\operatorname{erf}^{-1}\left(x\right)"),
        (lambda x, X: sg.exp2(x), "2^{x}"),
        (lambda x, X: sg.log2(x), r"\log_{2}\left(x\right)"),
        (lambda x, X: sg.special.entr(x), r"-x \odot \log\left(x\right)"),
        (lambda x, X: x % 3, r"x \bmod 3"),
        (lambda x, X: sg.roll(x, 2), r"\operatorname{roll}\left(x, 2\right)"),
        (lambda x, X: sg.nn.functional.pad(x, (1, 2)), r"\begin{bmatrix} 0 \\ x \\ 0 \\ 0 \end{bmatrix}"),
        (
            lambda x, X: sg.nn.functional.pad(x, (2, 0), value=1.5),
            r"\begin{bmatrix} 1.5 \\ 1.5 \\ x \end{bmatrix}",
        ),
        (lambda x, X: X.amax(1), r"\left[\max_{j} X_{i j}\right]_{i}"),
        (lambda x, X: x.unfold(0, 2, 1), r"\operatorname{windows}\left(x, 2\right)"),
    ],
)
def test_functions_have_the_names_of_textbooks(make, text):
    """They were those of ops, with their parameters: middle(x), amax₁(X), roll(x; shifts = 2), asinh(x)."""
    leaves = [sg.tensor(v, requires_grad=True, name=k) for k, v in (("x", [0.5, 0.25, 0.1]), ("X", np.eye(3)))]
    found = make(*leaves)
    assert found.latex() == text
    known = symbols(found.term)
    for read in (from_latex(text, known), from_unicode(spelled(text, "unicode"), known)):
        assert np.allclose(evaluate(read, {"x": leaves[0].numpy(force=True), "X": np.eye(3)}), found.numpy(force=True))


def test_sums_and_ones_of_many_axes_are_written_with_indices():
    T = sg.tensor(np.arange(8.0).reshape(2, 2, 2), requires_grad=True, name="T")
    total = T.sum((0, 2))
    assert total.latex() == r"\left[\sum_{i k} T_{i j k}\right]_{j}"
    total.sum().backward()
    assert T.grad.latex() == r"\mathbf{1}_{n \times n \times n}"
    assert from_latex(T.grad.latex(), {"T": ("n", "n", "n")}).shape == ("n", "n", "n")


def test_the_gradient_of_a_median_of_a_matrix_is_a_matrix():
    """It was reshaped from the comparison of its entries in a row."""
    X = sg.tensor(np.arange(6.0).reshape(2, 3), requires_grad=True, name="X")
    X.median().backward()
    assert X.grad.latex().endswith(r"\left[X = \operatorname{median}\left(X\right)\right]")


def test_a_formula_that_would_outgrow_its_page_is_not_written_out():
    def squared(x):
        for _ in range(40):
            x = sg.sin(x) * x + x
        return x.sum()

    with pytest.raises(FormulaTooDeep, match="leave where=False away"):
        sg.latex(squared, np.ones(3), wrt="x", where=False)
    assert "aligned" in sg.latex(squared, np.ones(3), wrt="x", where=True)


@pytest.mark.parametrize("names", [None, {"z": "W @ x"}])
def test_parts_are_bold_where_they_are_defined_as_where_they_stand(names):
    def gated(W, x, a):
        return (a * sg.tanh(W @ x) * sg.sigmoid(W @ x) / sg.linalg.vector_norm(W @ x)).sum()

    text = sg.latex(gated, (3, 2), (2,), 0.5, wrt="x", where=True, names=names, bold=True)
    definitions = [line.split(" &= ")[0] for line in text.split("\n") if " &= " in line]
    assert definitions
    for name in definitions:
        assert text.count(name) > 1
    assert any(r"\mathbf" in name for name in definitions)


@pytest.mark.parametrize("name", ["inv", "matrix_exp", "cholesky", "eigvalsh", "logm", "slogdet_sign", "lu"])
def test_numbers_beside_matrices_are_not_multiples_of_the_identity(name):
    """The eigenvalues of X + 3 are read as those of X, plus 3."""
    X = symbol("X", ("n", "n"))
    assert r"X + 3 \mathbf{1} \mathbf{1}^{\top}" in latex(lookup(name)(X + 3))

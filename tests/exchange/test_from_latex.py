"""Functions of formulas in LaTeX: printed here and read back, typed by people, and what is refused."""

from __future__ import annotations

import json
import pathlib

import numpy as np
import pytest
import sympy as sp

import symgrad as sg
from symgrad.errors import ArgumentError, FormulaError, ShapeError, SymgradError
from symgrad.formula.printing.latex import latex
from symgrad.formula.sampling import letters_of, sample
from symgrad.formula.term import SYMBOL, evaluate, symbol, symbols
from tests.texts.test_latex import RAW

IDENTITIES = pathlib.Path(__file__).parent.parent / "formulas"


def same_values(term, other):
    """Whether two formulas have the same values at random points of two sizes."""
    known = [s for s in symbols(term, other) if s.op is SYMBOL]
    for shift in range(2):
        sizes = dict.fromkeys(letters_of(*known), 3 + shift)
        values = sample(known, sizes, "unit", np.random.default_rng(shift))
        try:
            want = np.asarray(evaluate(term, values, sizes))
        except (SymgradError, ArithmeticError, np.linalg.LinAlgError):
            continue
        got = np.asarray(evaluate(other, values, sizes))
        if want.size != got.size or not np.allclose(got.ravel(), want.ravel(), rtol=1e-7, atol=1e-9, equal_nan=True):
            return False
    return True


def test_what_is_printed_reads_back():
    for term, _ in RAW:
        known = {str(s.name): s for s in symbols(term) if s.op is SYMBOL}
        text = latex(term, canonical=False)
        assert same_values(term, sg.from_latex(text, known, notation="printed").term), text


@pytest.mark.parametrize("file", ["matrix", "statistics"])
def test_the_identities_read_back_as_they_print_again(file):
    lines = (IDENTITIES / f"{file}_identities.jsonl").read_text(encoding="utf-8").splitlines()
    read = 0
    for entry in map(json.loads, lines):
        shapes = {v["name"]: tuple(v["shape"]) for v in entry["vars"]}
        if not entry.get("latex") or any(
            not isinstance(n, int) and not n.isidentifier() for s in shapes.values() for n in s
        ):
            continue
        try:
            f = sg.from_latex(entry["latex"], shapes, notation="printed")
        except (FormulaError, ShapeError):  # letters for sizes that only the text has
            continue
        again = sg.from_latex(latex(f.term, lines=100_000), shapes, notation="printed")
        assert same_values(f.term, again.term), entry["id"]
        read += 1
    assert read > 200


TYPED = [
    (r"2A^T(Ax-b)", "A=n,m x=m b=n", lambda A, x, b: 2 * A.T @ (A @ x - b)),
    (r"$\|Ax-b\|_2^2$", "A=n,m x=m b=n", lambda A, x, b: np.sum((A @ x - b) ** 2)),
    (r"f(x) = x^2 + \alpha x", "x=n alpha=", lambda x, alpha: x**2 + alpha * x),
    (r"f = r^T r, \quad r = Ax - b", "A=n,m x=m b=n", lambda A, x, b: np.sum((A @ x - b) ** 2)),
    (r"\sum_i w_i \sin(x_i)", "w=n x=n", lambda w, x: np.sum(w * np.sin(x))),
    (r"e^{-x^2/2}/\sqrt{2\pi}", "x=n", lambda x: np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi)),
    (r"\log\det X", "X=n,n", lambda X: np.log(np.linalg.det(X))),
    (r"|X|", "X=n,n", np.linalg.det),
    (r"\frac{1}{n}\sum_{i=1}^n (y_i - w^T x_i)^2", "y=n w=m x=n,m", lambda y, w, x: np.mean((y - x @ w) ** 2)),
]


@pytest.mark.parametrize(("text", "shapes", "want"), TYPED, ids=[t for t, *_ in TYPED])
def test_what_people_type(text, shapes, want, rng):
    f = sg.from_latex(text, shapes)
    sizes = {"n": 4, "m": 3}
    args = [np.asarray(rng.uniform(0.5, 1.5, [sizes[n] for n in s.shape])) for s in f.symbols]
    args = [a + 3 * np.eye(len(a)) if name == "X" else a for name, a in zip(f.names, args, strict=True)]
    np.testing.assert_allclose(f(*args), want(*args), rtol=1e-12)
    tensors = [sg.tensor(a, requires_grad=True, name=n) for n, a in zip(f.names, args, strict=True)]
    assert sg.autograd.gradcheck(f, tensors)
    assert str(f) == f"f({', '.join(f.names)}) = {text}"


@pytest.mark.parametrize(("text", "shapes", "want"), TYPED, ids=[t for t, *_ in TYPED])
def test_shapes_that_nobody_states_are_found(text, shapes, want):
    stated, found = sg.from_latex(text, shapes), sg.from_latex(text)
    assert {s.name: s.ndim for s in stated.symbols} == {s.name: s.ndim for s in found.symbols}


def test_words_in_a_font_of_text_are_names():
    f = sg.from_latex(r"\text{loss}^2 + \|y_{\text{true}} - x\|^2 + \mathrm{loss}", "loss= y_true=n x=n")
    assert f.names == ["loss", "y_true", "x"]
    assert f(2.0, np.ones(3), np.zeros(3)) == 9


def test_arguments_have_the_order_of_their_statement():
    assert sg.from_latex("a b - c", c=(), a=()).names == ["c", "a", "b"]
    assert sg.from_latex("a - c", {"c": (), "z": ("n",)}).names == ["c", "z", "a"]
    f = sg.from_latex("A x", A=np.zeros((3, 2)), x=sg.zeros(2))
    with pytest.raises(ShapeError, match=r"A has shape \(2, 2\) where the expression has \(3, 2\)"):
        f(np.eye(2), np.ones(2))
    assert sg.from_latex("2 x", x=symbol("x", (), np.dtype(complex))).term.dtype == complex
    assert sg.from_latex(r"\pi r^2", pi=()).names == ["pi", "r"]
    assert sg.from_latex(r"\pi r^2").names == ["r"]


def test_names_that_python_has_for_itself_are_arguments():
    f = sg.from_latex(r"\lambda x", {"lambda": (), "x": ("n",)})
    np.testing.assert_array_equal(f(lambda_=2.0, x=np.ones(2)), [2, 2])
    g = sg.from_sympy(sp.Symbol("lambda") ** 2)
    assert g(3.0) == 9


def test_definitions_of_a_text_are_no_arguments_of_other_questions_either():
    text = r"r^T r, \quad r = Ax - b"
    assert sg.latex(text, wrt="x", shapes="A=n,m x=m b=n") == r"2 A^{\top} \left(A x - b\right)"
    assert sg.judge("2*A.T@(A@x-b)", of=text, wrt="x")


def test_functions_of_texts_go_everywhere(rng):
    f = sg.from_latex(r"w^\top \tanh(Xw)", "w=n X=n,n")
    w, X = rng.normal(size=3), rng.normal(size=(3, 3))
    assert (
        sg.latex(f, (3,), (3, 3), wrt="X")
        == r"\left(w \odot \left(1 - \tanh^{2}\left(X w\right)\right)\right) w^{\top}"
    )
    slope = sg.func.grad(f)(sg.tensor(w), sg.tensor(X))
    t = np.tanh(X @ w)
    np.testing.assert_allclose(slope.numpy(), t + X.T @ (w * (1 - t**2)))
    np.testing.assert_allclose(sg.compile(f)(w, X), w @ t)


@pytest.mark.parametrize("wrt", [None, "x", "D"])
def test_sizes_that_formulas_have_are_sizes(wrt, rng):
    """Sums such as n-1, which were refused though a formula's own symbols have them; others are told from them."""

    def f(x, D, k):
        return ((x[1:] - x[:-1]) ** 2 * D).sum() * k[2:].sum()

    formula = sg.formula(f, (7,), (6,), (5,), wrt=wrt)
    shapes = {str(s.name): s.shape for s in formula.symbols}
    assert ("n-1",) in shapes.values()
    read = sg.from_latex(formula.latex(), shapes)
    given = {"x": rng.normal(size=7), "D": rng.normal(size=6), "k": rng.normal(size=5)}
    plain = f if wrt is None else sg.func.grad(f, "xD".index(wrt))
    expected = np.asarray(plain(*map(sg.tensor, given.values())))
    np.testing.assert_allclose(read(**{name: given[name] for name in read.names}), expected)
    with pytest.raises(ShapeError, match="D has shape .5,. where the expression has .'n-1',. with"):
        sg.from_latex(r"D^{\top} x_{[1:]}", {"D": ("n-1",), "x": ("n",)})(np.ones(5), np.ones(7))
    with pytest.raises(ArgumentError, match="not 'n--1'"):
        sg.from_latex("x", {"x": ("n--1",)})


@pytest.mark.parametrize(
    ("text", "shapes", "error", "words"),
    [
        (r"\frac{x}{", None, FormulaError, "position 9: the text ends too early"),
        (r"\foo x", None, FormulaError, "position 0: '.*foo' is no symbol"),
        (r"A x", "A=n,m x=n", SymgradError, "m"),
        (r"\left|X\right|", "X=n,n", FormulaError, "two meanings.*notation='printed'"),
        ("", None, FormulaError, "is an empty text"),
        ("x", {"x": 3}, ArgumentError, "the shape of x is a tuple"),
        ("x", {"x": (1.5,)}, ArgumentError, "a size is a number or a letter, not 1.5"),
        (sg.tensor(1.0), None, ArgumentError, "takes a text, not Tensor"),
        ("(" * 2900 + "x" + ")" * 2900, None, FormulaError, "nests too deeply"),
        ("x" * 10**6, None, FormulaError, "characters"),
    ],
)
def test_errors_tell_the_place(text, shapes, error, words):
    with pytest.raises(error, match=words):
        sg.from_latex(text, shapes)


def test_the_notation_is_stated_where_there_are_two():
    X = np.array([[1.0, -2.0], [3.0, 4.0]])
    text = r"\left|X\right|"
    np.testing.assert_array_equal(sg.from_latex(text, "X=n,n", notation="printed")(X), abs(X))
    np.testing.assert_allclose(sg.from_latex(text, "X=n,n", notation="typed")(X), 10)
    with pytest.raises(ArgumentError, match="notation= is"):
        sg.from_latex(text, "X=n,n", notation="spoken")

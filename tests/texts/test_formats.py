"""Unicode, Typst, MathML and Markdown: the boxes of one layout, spelled by tables; Unicode reads back."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import ArgumentError, FormulaError, FormulaTooDeep
from symgrad.formula.printing.formats import FORMATS, spelled
from symgrad.formula.printing.latex import latex
from symgrad.formula.printing.layout import layout
from symgrad.formula.reading.tex import from_latex
from symgrad.formula.reading.unicode import from_unicode
from symgrad.formula.term import evaluate, symbol
from tests.texts.test_latex import RAW, deep

SPELLINGS = [
    (r"X^{\top} \left(X w_{1} - y\right)", "Xᵀ (X w₁ − y)", "X^(⊤) (X w_(1) − y)"),
    (r"\frac{1}{2} x", "½ x", "frac(1, 2) x"),
    (r"\frac{k r}{a} x", "((k r)/a) x", "frac(k r, a) x"),
    (r"\frac{\partial f}{\partial x} = 2 x", "∂f/∂x = 2 x", "frac(∂f, ∂x) = 2 x"),
    (r"-e^{-x^{2}} \cos\left(x\right)", "−e^(−x²) cos(x)", "−e^(−x^(2)) cos (x)"),
    (r"x^{\odot 2} \odot \hat{y}", "x^⊙2 ⊙ ŷ", "x^(⊙ 2) ⊙ hat(y)"),
    (r"\left[\sum_{l} P_{i l} Q_{l j b}\right]_{i j b}", "[∑ₗ Pᵢₗ Q_(l j b)]_(i j b)",
     "lr([ ∑_(l) P_(i l) Q_(l j b) ])_(i j b)"),
    (r"\tanh^{2}\left(\beta_{1}\right)", "tanh²(β₁)", "tanh^(2) (β_(1))"),
    (r"\mathrm{xd} \, \left(M + m\right) + \Phi\left(x\right)", "xd (M + m) + Φ(x)", 'op("xd") (M + m) + Φ (x)'),
    (r"\left[w\right]_{\times}", "[w]_×", "lr([ w ])_(×)"),
    (r"\lVert A \rVert_{F} + \left|x\right|", "‖A‖_F + |x|", "norm(A)_(F) + abs(x)"),
    (r"\mathbf{X} \boldsymbol{\beta}", "𝐗 𝛃", "bold(X) bold(β)"),
    (r"\mathrm{loss} w_{\mathrm{new}}", "loss w_new", 'op("loss") w_(op("new"))'),
    (r"\begin{cases} v & \text{for}\: v > 0 \\ 0 & \text{otherwise} \end{cases}", "{v for v > 0; 0 otherwise}",
     'cases(v & " for " v > 0, 0 & " otherwise ")'),
    (r"\operatorname{f}_{0,1}\left(x, y; \mathrm{k}=2\right)", "f_(0, 1)(x, y; k = 2)",
     r"upright(f)_(0\, 1) (x\, y\; upright(k) = 2)"),
    (r"x_{[1:3]} + 1.5 \cdot 10^{-7}", "x[1:3] + 1.5 · 10⁻⁷", "x_([1:3]) + 1.5 · 10^(−7)"),
    (r"\sqrt{x} + \sqrt[3]{y} + \overline{z}", "√(x) + ∛(y) + conj(z)", "sqrt(x) + root(3, y) + overline(z)"),
]  # fmt: skip


@pytest.mark.parametrize(("tex", "unicode", "typst"), SPELLINGS, ids=[row[1] for row in SPELLINGS])
def test_spellings(tex, unicode, typst):
    assert spelled(tex, "unicode") == unicode
    assert spelled(tex, "typst") == typst
    root = ET.fromstring(spelled(tex, "mathml"))
    assert root.tag == "{http://www.w3.org/1998/Math/MathML}math"
    arity = {"mfrac": 2, "msub": 2, "msup": 2, "msubsup": 3, "mroot": 2, "mover": 2}
    for node in root.iter():
        wanted = arity.get(node.tag.rpartition("}")[2])
        assert wanted is None or len(node) == wanted
    assert spelled(tex, "markdown") == f"$$\n{tex}\n$$"
    assert spelled(tex, "latex") == tex


def test_typst_compiles():
    typst = pytest.importorskip("typst")
    rows = "\n".join(f"$ {spelled(row[0], 'typst')} $" for row in SPELLINGS)
    assert typst.compile(rows.encode(), format="svg")


@pytest.mark.parametrize("term", [t for t, _ in RAW], ids=[t for _, t in RAW])
def test_unicode_reads_back(term, rng):
    values = {
        "X": rng.normal(size=(5, 3)), "w": rng.normal(size=3), "y": rng.normal(size=5), "A": rng.normal(size=(5, 5)),
        "B": rng.normal(size=(5, 5)), "v": rng.normal(size=5), "u": rng.normal(size=5), "a": 1.7, "b": 0.6,
    }  # fmt: skip
    values["A"] = values["A"] @ values["A"].T + np.eye(5)
    symbols = {n: tuple("nmp"[(5, 3).index(s)] for s in np.shape(v)) for n, v in values.items()}
    for canonical in (True, False):
        text = spelled(latex(term, canonical=canonical), "unicode")
        again = from_unicode(text, symbols, shape=term.shape)
        np.testing.assert_allclose(evaluate(again, values), evaluate(term, values), rtol=1e-12)


def test_powers_of_ten_read_back():
    x = symbol("x", ())
    for number, shown in ((1e-5, "10^{-5}"), (2.5e-7, r"2.5 \cdot 10^{-7}"), (1e-20, "10^{-20}")):
        text = latex(x + number)
        assert text.endswith(f"+ {shown}")
        for again in (from_latex(text, {"x": ()}), from_unicode(spelled(text, "unicode"), {"x": ()})):
            assert evaluate(again, {"x": 0.0}) == number


@pytest.mark.parametrize("name", ["beta_1", "W2", "x_hat", "w_new", "loss", "lambda_", "θ", "x_i_j", "größe", "beta1"])
def test_names(name):
    s = symbol(name, ("n",))
    text = spelled(latex(2 * s + 1), "unicode")
    assert evaluate(from_unicode(text, [s], shape=("n",)), {name: np.ones(2)}).tolist() == [3.0, 3.0]


def test_formula_of_a_function():
    def loss(A, x, b):
        return ((A @ x - b) ** 2).sum()

    found = sg.formula(loss, (5, 3), (3,), (5,), wrt="x")
    assert found.unicode() == "2 Aᵀ (A x − b)"
    assert found.unicode(header=True) == "∂loss/∂x = 2 Aᵀ (A x − b)"
    assert found.latex(header=True) == sg.latex(loss, (5, 3), (3,), (5,), wrt="x", header=True)
    assert found.typst(bold=True) == "2 bold(A)^(⊤) (bold(A) bold(x) − bold(b))"
    assert found.markdown() == "$$\n2 A^{\\top} \\left(A x - b\\right)\n$$"
    assert ET.fromstring(found.mathml()).get("display") == "block"
    assert str(found) == "2*(A.T @ (A @ x - b))" or "A.T" in str(found)
    assert sg.formula(symbol("x", ("n",)) * 2).unicode() == "2 x"


def test_where_lists():
    x, end = deep(12)
    end.backward()
    for t in (end, x.grad):
        text = sg.formula(t).unicode(where=True, lines=1_000)
        assert text.lstrip().startswith("t₁ = ")
        assert evaluate(from_unicode(text, {"x": ()}), {"x": 0.7}) == pytest.approx(t.item(), rel=1e-13)
        assert sg.formula(t).typst(where=True).count(" \\\n") >= 5
        ET.fromstring(sg.formula(t).mathml(where=True))
    assert "⋮ (3 more lines)" in sg.formula(end).unicode(where=True, lines=10)


def test_environments():
    t = symbol("x", ("n",)) * 2
    assert latex(t, environment="align", name="f") == "\\begin{align}\nf &= 2 x\n\\end{align}"
    assert latex(t, environment="equation*") == "\\begin{equation*}\n2 x\n\\end{equation*}"
    _, end = deep(5)
    text = end.latex(where=True, environment="equation", name="y")
    assert text.startswith("\\begin{equation}\n\\begin{aligned}\nt_{1} &= ")
    assert end.latex(where=True, environment="align*").count("&=") >= 3
    with pytest.raises(FormulaError, match="environment="):
        latex(t, environment="tabular")


def test_captions():
    x = sg.tensor([1.0, 2.0], requires_grad=True, name="x")
    y = (x * x).sum()
    assert y.latex(caption=True) == (
        "\\begin{aligned}\n& x^{\\top} x \\\\\n& \\text{(vectors are columns)}\n\\end{aligned}"
    )
    y.backward()
    assert sg.formula(x.grad).unicode(caption=True).splitlines() == [
        "2 x", "(axes: those of the result, then those of the variable; vectors are columns)",
    ]  # fmt: skip
    assert "those of the variable" in x.grad.latex(caption=True)


def test_errors():
    with pytest.raises(ArgumentError, match="there are latex, markdown, unicode"):
        spelled("x", "word")
    with pytest.raises(FormulaError, match="no part of a printed formula"):
        layout(r"\oint x")
    with pytest.raises(FormulaTooDeep, match="nests more"):
        layout(r"\left(" * 300 + "x" + r"\right)" * 300)
    with pytest.raises(FormulaError, match="unexpected|no symbol"):
        from_unicode("x + )", {"x": ()})
    assert set(FORMATS) == {"unicode", "typst", "mathml"}


def test_slices_with_negative_ends_and_long_powers_of_ten():
    assert sg.formula(lambda u: u[1:, :-1].sum(), (4, 4)).unicode() == "𝟏ᵀ u[1:, :−1] 𝟏"
    assert sg.formula(lambda x: 1e9 * x + 1e7 * x**2 + 1.1e7 * x**3, 1.0).unicode() == "10⁹ x + 10⁷ x² + 11000000 x³"

"""Cross products in formulas: how they and their derivatives are written, read back and judged."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import FormulaError
from symgrad.formula.reading.people.tex import read_latex
from symgrad.formula.reading.text import from_latex
from symgrad.formula.reading.unicode import from_unicode
from symgrad.formula.term import evaluate
from symgrad.linalg import cross
from tests.formulas.roundtrip import problems_of_a_tensor

RNG = np.random.default_rng(3)
VALUES = {name: RNG.normal(size=3) for name in "abc"} | {"A": RNG.normal(size=(3, 3))}

FORMS = {
    "triple": (lambda a, b, c, A: cross(a, b) @ c, r"c^{\top} \left(a \times b\right)", r"b \times c"),
    "nested": (lambda a, b, c, A: cross(a, cross(b, c)), r"a \times \left(b \times c\right)", None),
    "scaled": (
        lambda a, b, c, A: cross(2 * a, b / 3) + c,
        r"\frac{2}{3} a \times b + c",
        r"\frac{2}{3} b \times \mathbf{1}",
    ),
    "scaled sum": (
        lambda a, b, c, A: cross(a, (b @ c) * (3 * a - 3 * b)),
        r"3 \left(b^{\top} c\right) a \times \left(a - b\right)",
        None,
    ),
    "squared": (
        lambda a, b, c, A: (cross(a, b) ** 2).sum(),
        r"\lVert a \times b \rVert^{2}",
        r"2 b \times \left(a \times b\right)",
    ),
    "entrywise": (lambda a, b, c, A: c * cross(a, b), r"c \odot \left(a \times b\right)", r"b \times c"),
    "of products": (lambda a, b, c, A: cross(c * a, A @ b), r"\left(c \odot a\right) \times A b", None),
    "in a product": (lambda a, b, c, A: A @ cross(a, b), r"A \left(a \times b\right)", r"b \times A^{\top} \mathbf{1}"),
    "divided": (
        lambda a, b, c, A: cross(a + b, b) / c,
        r"\frac{\left(a + b\right) \times b}{c}",
        r"b \times \frac{1}{c}",
    ),
    "of rows": (
        lambda a, b, c, A: cross(A, A.mT * a) @ b,
        r"\operatorname{cross}_{1}\left(A, A^{\top} \operatorname{diag}\left(a\right)\right) b",
        None,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FORMS)
def test_forms(name):
    f, text, gradient = FORMS[name]
    leaves = {k: sg.tensor(v, requires_grad=True, name=k) for k, v in VALUES.items()}
    made = f(**leaves)
    assert made.latex() == text
    assert problems_of_a_tensor(made, VALUES) == []
    found = sg.autograd.grad(made.sum(), leaves["a"], create_graph=True)[0]
    assert gradient in (None, found.latex())
    assert problems_of_a_tensor(found, VALUES) == []


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        (r"b \times c", "EQUAL"), ("cross(b, c)", "EQUAL"), ("np.cross(b, c)", "EQUAL"), ("b × c", "EQUAL"),
        (r"2 \times b \times c / 2", "EQUAL"), (r"-c \times b", "EQUAL"), (r"(b + a) \times c - a \times c", "EQUAL"),
        (r"c \times b", "DIFFERENT"), (r"b \times 2", "DIFFERENT"),
    ],
)  # fmt: skip
def test_judged(text, verdict):
    found = sg.judge(text, *(VALUES[k] for k in "abc"), of=lambda a, b, c: cross(a, b) @ c, wrt="a")
    assert found.verdict == verdict


MATRICES = {
    "of one vector": (lambda a, b, A: cross(b, 2 * a), r"2 \left[b\right]_{\times}"),
    "on the other side": (lambda a, b, A: cross(A @ a, b), r"-\left[b\right]_{\times} A"),
    "of both": (
        lambda a, b, A: cross(a, cross(a, b)),
        r"-\left[a\right]_{\times} \left[b\right]_{\times} - \left[a \times b\right]_{\times}",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MATRICES)
def test_jacobians_are_matrices_of_cross_products(name):
    f, text = MATRICES[name]
    values = [VALUES[k] for k in "abA"]
    found = sg.formula(sg.func.jacobian(f), *values)
    assert found.latex() == text
    want = sg.func.jacobian(f)(*map(sg.tensor, values)).numpy()
    given = dict(zip("abA", values, strict=True))
    for read in (from_latex(text, found.symbols), from_unicode(found.unicode(), found.symbols)):
        np.testing.assert_allclose(evaluate(read, given), want, rtol=1e-12)
    for typed in (text, found.unicode()):
        assert sg.judge(typed, *values, of=sg.func.jacobian(f)).verdict == "EQUAL"


@pytest.mark.parametrize("read", [from_latex, read_latex])
@pytest.mark.parametrize("shapes", [{"a": (4,), "b": (4,)}, {"a": ("n",), "b": ("m",)}, {"a": (3,), "b": (3, 3)}])
def test_what_has_no_cross_product(read, shapes):
    with pytest.raises(FormulaError, match="cross product"):
        read(r"a \times b", shapes)


def test_a_triple_product_needs_no_brackets():
    found = sg.judge(r"a \cdot b \times c", *(VALUES[k] for k in "abc"), of=lambda a, b, c: a @ cross(b, c))
    assert found.verdict == "EQUAL"


def test_other_sizes_are_refused():
    found = sg.formula(lambda a, b: cross(a, b), VALUES["a"], VALUES["b"])
    np.testing.assert_array_equal(found.evaluate(a=VALUES["a"], b=VALUES["b"]), np.cross(VALUES["a"], VALUES["b"]))
    with pytest.raises(FormulaError):
        found.evaluate(a=np.ones(4), b=np.ones(4))
    with pytest.raises(ValueError, match="needs 3"):
        sg.kernels.cross(np.ones(4), np.ones(4), 0)

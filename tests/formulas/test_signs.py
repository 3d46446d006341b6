"""Assumed signs: what formulas become where arrays are positive, not zero, of whole numbers."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import ArgumentError
from symgrad.formula.reading.text import from_latex
from symgrad.formula.sampling import sample
from symgrad.formula.signs import ASSUMED, with_signs
from symgrad.formula.term import evaluate
from symgrad.sources.asked import assuming, source

SHORT = [
    ("sum(abs(x))", "positive", "𝟏ᵀ x", "𝟏"),
    ("sum(abs(x))", "negative", "−𝟏ᵀ x", "−𝟏"),
    ("sum(abs(x))", "real", "𝟏ᵀ |x|", "sign(x)"),
    ("sum(relu(x))", "nonnegative", "𝟏ᵀ x", "𝟏"),
    ("sum(relu(x))", "nonpositive", "0", "0"),
    ("sum(maximum(x, 0))", "positive", "𝟏ᵀ x", "𝟏"),
    ("sum(minimum(x, 0))", "positive", "0", "0"),
    ("sum(sqrt(x**2))", "positive", "𝟏ᵀ x", "𝟏"),
    ("sum(sign(x)*x**2)", "positive", "xᵀ x", "2 x"),
    ("sum(sign(x)*x**2)", "nonnegative", "xᵀ |x|", "2 |x|"),
    ("sum(where(x > 0, x**2, -x))", "positive", "xᵀ x", "2 x"),
    ("sum(where(x < 0, x**2, -x))", "nonnegative", "−𝟏ᵀ x", "−𝟏"),
    ("sum(abs(x)**3)", "positive", "𝟏ᵀ x^⊙3", "3 x^⊙2"),
    ("sum(relu(x*exp(x)))", "positive", "xᵀ e^x", "e^x ⊙ (x + 1)"),
    ("norm(x)*abs(sum(x))", "positive", "‖x‖ 𝟏ᵀ x", "((𝟏ᵀ x)/‖x‖) x + ‖x‖"),
    ("sum(clip(x, 0, 10))", "positive", "𝟏ᵀ clip(x, 0, 10)", "[x ≤ 10]"),
]


@pytest.mark.parametrize(("text", "assumed", "value", "slope"), SHORT, ids=[f"{s} {a}" for s, a, *_ in SHORT])
def test_formulas_are_short_where_a_sign_is_known(text, assumed, value, slope):
    assert sg.formula(text, assume={"x": assumed}).unicode() == value
    assert sg.formula(text, wrt="x", assume={"x": assumed}).unicode() == slope


TEXTS = [
    *dict.fromkeys(text for text, *_ in SHORT),
    "sum(floor(x) + round(x)*x)",
    "sum(abs(A@x))",
    "sum(abs(x*y)) + sum(abs(x/y))",
    "sum(maximum(x + exp(y), 0))",
    "sum(where(x*x*y > 0, y, x))",
    "sum(abs(sinh(x)*tanh(y)))",
    "sum(abs(log(1 + x**2))) + sum(sign(x - y))",
    "sum(relu(x**3)) + sum(abs(x**-2)) + abs(trace(A))",
    "sum(sqrt(x**2 * y**2)) + sum(sqrt(y*y))",
]


@pytest.mark.parametrize("text", TEXTS)
def test_values_stay(text):
    """Whatever is assumed of all arrays: the formula has the same value where that holds, and is read back so."""
    about = source(text, (), None, scalar=True)
    rng = np.random.default_rng(0)
    sizes = {x: 3 + k for k, x in enumerate(sorted({n for s in about.symbols for n in s.shape}))}
    for assumed in ASSUMED:
        term, symbols = assuming(about.term, about.symbols, {str(s.name): assumed for s in about.symbols})
        values = sample(symbols, sizes, "spread", rng)
        want = evaluate(about.term, values, sizes)
        np.testing.assert_allclose(evaluate(term, values, sizes), want, rtol=1e-12)
        shown = sg.formula(text, assume={str(s.name): assumed for s in about.symbols}).latex(where=False)
        np.testing.assert_allclose(evaluate(from_latex(shown, symbols), values, sizes), want, rtol=1e-12)
        derivative = source(text, (), None, scalar=True).assuming({str(s.name): assumed for s in about.symbols})
        if 0 not in ASSUMED[assumed] and "floor" not in text:
            slope = evaluate(about.derivative("x"), values, sizes)
            np.testing.assert_allclose(evaluate(derivative.derivative("x"), values, sizes), slope, rtol=1e-9)


def test_nothing_changes_without_an_assumption():
    about = source("sum(abs(exp(x)))", (), None, scalar=True)
    assert with_signs(about.term) is about.term


def test_tensors_and_the_judge_know_signs():
    x = sg.tensor([1.0, 2.0], name="x", requires_grad=True)
    y = (x * x).sqrt().sum()
    assert sg.formula(y, assume={"x": "positive"}).unicode() == "𝟏ᵀ x"
    assert sg.judge("1 + 0*x", of="sum(abs(x))", wrt="x", assume={"x": "positive"}).verdict == "EQUAL"
    assert sg.judge("1 + 0*x", of="sum(abs(x))", wrt="x", assume={"x": "nonzero"}).verdict == "DIFFERENT"
    with pytest.raises(ArgumentError, match="positive, negative, nonnegative"):
        sg.latex("sum(abs(x))", assume={"x": "large"})
    z = sg.tensor([1.0 + 1j], name="z")
    with pytest.raises(ArgumentError, match="said of real ones"):
        sg.formula(z.abs(), assume={"z": "positive"})


def test_the_square_of_a_root_has_no_cases():
    """It is x where it is anything: outside there is no number, as before."""
    x = sg.tensor([0.0, 2.0, 3.0], name="x", requires_grad=True)
    (sg.sqrt(x) ** 2).sum().backward()
    assert (x.grad.latex(), x.grad.tolist()) == (r"\mathbf{1}", [1.0, 1.0, 1.0])
    slope = sg.compile(sg.func.grad(lambda x: (sg.sqrt(x) ** 3).sum()), np.ones(3, np.float32))
    with np.errstate(invalid="ignore"):
        found = slope(np.array([0, 4, -1], np.float32))
    np.testing.assert_array_equal(found, np.array([0, 3, np.nan], np.float32))
    assert found.dtype == np.float32


UNDECIDED = [
    ("abs(logsumexp(x))", "negative", [-0.1, -0.2, -0.3]),
    ("sign(logsumexp(x))", "nonnegative", [0.0, 0.0, 0.5]),
    ("where(mean(x)**2 > 0, 1, 2)", "nonzero", [1.0, -2.0, 1.0]),
    ("sum(where(cumsum(x) == 0, x, 1))", "nonzero", [1.0, -1.0, 2.0]),
    ("where(x @ x > 0, 1, 2)", "positive", [1.0, 2.0, 3.0]),
]


@pytest.mark.parametrize(("text", "assumed", "at"), UNDECIDED, ids=[text for text, *_ in UNDECIDED])
def test_sums_may_cancel_and_logarithms_of_sums_change_their_sign(text, assumed, at):
    about = source(text, (), None, scalar=True)
    term, _ = assuming(about.term, about.symbols, {"x": assumed})
    values = {"x": np.array(at)}
    assert evaluate(term, values, {"n": 3}) == evaluate(about.term, values, {"n": 3})


@pytest.mark.parametrize("dtype", ["int64", "bool", "uint8"])
def test_what_is_left_of_fractions_may_be_zero(dtype):
    x = sg.tensor([0.5, 2.0], name="x", requires_grad=True)
    y = sg.where(x.to(getattr(sg, dtype)) > 0, x, -x).sum()
    found = sg.formula(y, assume={"x": "positive"})
    assert evaluate(found.term, {"x": np.array([0.5, 2.0])}, {"n": 2}) == y.item()

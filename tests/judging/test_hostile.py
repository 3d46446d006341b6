"""Texts that nobody writes: long, deep, or with very many names.  They are refused or answered soon."""

from __future__ import annotations

import pytest

import symgrad as sg
from symgrad.errors import FormulaError, FormulaTooDeep, ShapeError

DEEP = {
    "brackets": "(" * 2_900 + "x" + ")" * 2_900,
    "signs": "-" * 5_900 + "x",
    "functions": "sin(" * 1_100 + "x" + ")" * 1_100,
    "fractions": r"\frac{1}{" * 550 + "x" + "}" * 550,
    "sums": r"\sum_{i=1}^n " * 440 + "x_i",
}


@pytest.mark.parametrize("text", DEEP.values(), ids=list(DEEP))
def test_deep_texts_are_refused(text):
    with pytest.raises(FormulaTooDeep):
        sg.judge(text, of="x**2", wrt="x", shapes="x=")
    with pytest.raises(FormulaTooDeep):
        sg.latex(text, shapes="x=")


def test_long_texts_are_refused():
    for call in (lambda t: sg.latex(t, wrt="x"), lambda t: sg.judge(t, of="x**2", wrt="x")):
        with pytest.raises(FormulaError, match="formulas of up to 6,000 are read"):
            call("x" + "+x" * 4_000)


def test_many_names_end_in_an_error_that_names_few():
    with pytest.raises(ShapeError, match=r"a0, B0, a1, B1, a2, … \(80 names\)"):
        sg.latex("+".join(f"det(a{k}@B{k})" for k in range(40)), wrt="a0")


def test_a_formula_of_twenty_numbers_finds_its_shapes_at_once():
    names = [f"{c}_{k}" for c in "pqrs" for k in range(5)]
    assert sg.latex("*".join(names) + "*x**2", wrt="x", shapes="x=").startswith("2 ")


def test_long_sums_and_powers_have_a_verdict():
    assert sg.judge("2*x" + "+0*x" * 100, of="x**2", wrt="x")
    assert sg.judge("x**" * 120 + "x", of="x**2", wrt="x").verdict == "DIFFERENT"


@pytest.mark.parametrize("text", ["X.T*(X*w-", "X.T*(X*w-y", "X.T@(X@w-y", "2*X.T*(X*w-y)*"])
def test_texts_that_stop_too_early_are_not_judged(text):
    with pytest.raises(FormulaError, match="ends too early|is missing"):
        sg.judge(text, of="sum((X@w-y)**2)", wrt="w")

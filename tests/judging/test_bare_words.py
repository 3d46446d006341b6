"""Texts of mathematics with functions that have no brackets, with Euler's number, and with words that are no names."""

import numpy as np
import pytest

import symgrad as sg


@pytest.mark.parametrize(
    ("of", "wrt", "answer"),
    [
        ("sin x", "x", "cos x"),
        ("sin^2 x", "x", "2 sin x cos x"),
        ("ln x", "x", "1/x"),
        ("x ln x", "x", "ln x + 1"),
        ("x log x", "x", "1 + log(x)"),
        ("log det X", "X", "X^{-T}"),
        ("det X", "X", "det(X) X^{-T}"),
        ("tr X", "X", "I"),
        ("e^x", "x", "e^x"),
        ("e^(-x^2)", "x", "-2 x e^(-x^2)"),
        ("x e^-x", "x", "(1 - x) exp(-x)"),
        ("norm(x)^2 e^(-a'x)", "x", "e^(-a'x) (2x - norm(x)^2 a)"),
    ],
)
def test_functions_without_brackets(of, wrt, answer):
    assert sg.judge(answer, of=of, wrt=wrt)
    assert not sg.judge(f"3 ({answer})", of=of, wrt=wrt)


@pytest.mark.parametrize(
    ("of", "wrt", "formula"),
    [
        ("e^2*x", "x", "e^{2}"),  # a number is squared, Euler's is not
        ("e@e", "e", "2 e"),
        ("gamma x", "x", r"\gamma"),
        ("step*g + g**2", "g", r"\mathrm{step} + 2 g"),
    ],
)
def test_letters_and_words_that_are_symbols(of, wrt, formula):
    assert sg.latex(of, wrt=wrt) == formula


@pytest.mark.parametrize("text", ["a if x > 0 else b", "sum(x for x in y)", "import os"])
def test_words_of_python_are_no_symbols(text):
    with pytest.raises(sg.errors.FormulaError, match=r"is a word of Python; a case distinction is written where"):
        sg.latex(text, wrt="x")


def test_sizes_of_minus_one_are_those_that_are_left():
    assert sg.formula("reshape(X, -1)", wrt="X", shapes="X=n,m").term.shape == ("n*m", "n", "m")
    assert sg.latex("sum(reshape(X, (1, -1))**2)", wrt="X", shapes="X=n,m") == "2 X"
    with pytest.raises(sg.errors.SymgradError, match="-1 stands for no product"):
        sg.formula("reshape(X, (3, -1))", wrt="X", shapes="X=n,m")


def test_sort_gives_values():
    assert sg.judge("sort(y)", of="sort(x)@sort(y)", wrt="x", shapes="x=n y=n").theirs is not None
    found = sg.formula("sort(x)@y", wrt="x")
    assert np.array_equal(found.evaluate(x=[3.0, 1.0, 2.0], y=[1.0, 2.0, 4.0]), [4.0, 1.0, 2.0])


def test_orders_of_a_matrix_norm_are_numpys():
    X = np.array([[3.0, 1.0], [0.5, 2.0], [1.0, -4.0]])
    for order in (1, 2):
        found = sg.formula(f"np.linalg.norm(X, {order})", wrt="X", shapes="X=3,2").evaluate(X=X)
        step = 1e-6 * np.arange(6.0).reshape(3, 2)
        slope = (np.linalg.norm(X + step, order) - np.linalg.norm(X - step, order)) / 2e-6
        assert np.isclose(np.sum(found * step) * 1e6, slope, rtol=1e-6)
    with pytest.raises(sg.errors.FormulaError, match="needs sizes that are numbers"):
        sg.latex("np.linalg.norm(X, 2)", wrt="X", shapes="X=n,m")
    assert sg.latex("np.linalg.norm(X, 'fro')", wrt="X") == r"\frac{X}{\lVert X \rVert_{F}}"


def test_a_text_without_symbols_has_no_argument():
    with pytest.raises(sg.errors.NameProblem, match=r"wrt='x' is no array argument; there are none\."):
        sg.latex("log(2)", wrt="x")

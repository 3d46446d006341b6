"""Fractions in lowest terms: textbook results of the canonical form, and their values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.formula.canonical.chains import price
from symgrad.formula.canonical.scalars.polynomials import TooLong, monomial, multiplied, primitive, quotient, raised
from symgrad.formula.canonical.simplify import canonical
from symgrad.formula.reading.text import from_latex
from symgrad.formula.term import evaluate, symbol
from tests.formulas.terms import text

a, b, x, y = (symbol(name, ()) for name in "abxy")
u, v = (symbol(name, ("n",)) for name in "uv")

TEXTBOOK: list[tuple[Any, str]] = [
    (x / (a * (1 + x * x / a)), "(x / (a + (x ** 2)))"),
    (y / x - (1 - y) / (1 - x), "((y - x) / (x * (1 - x)))"),
    (1 / (1 - x) + 1 / (1 + x), "(2 / (1 - (x ** 2)))"),
    (1 / (x * x * (1 / a - 1 / x) ** 2), "((a ** 2) / ((x - a) ** 2))"),
    (((x - y) ** 2 / y + x - y) / (x * y * y), "((x - y) / (y ** 3))"),
    ((1 + x / sg.sqrt(x * x + 1)) / (x + sg.sqrt(x * x + 1)), "(1 / sqrt(((x ** 2) + 1)))"),
    (sg.exp(-x) / (1 - sg.exp(-x)), "(1 / (exp(x) - 1))"),
    (sg.sin(x) * x ** (sg.sin(x) - 1) + x ** sg.sin(x) * sg.log(x), "((x ** sin(x)) * ((sin(x) / x) + log(x)))"),
    (a * x ** (a - 1) / b - x**a / b, "(((a - x) * (x ** (a - 1))) / b)"),
    ((1 - sg.sigmoid(x)) * (sg.sigmoid(x) * (1 - y) / (1 - sg.sigmoid(x)) - y), "(sigmoid(x) - y)"),
    (1 - sg.sigmoid(-x), "sigmoid(x)"),
    (u * (v / u - a), "(v - (a * u))"),
    (sg.cos(x) ** 2 - sg.sin(x) ** 2, "cos((2 * x))"),
    (2 * sg.sin(x) * sg.cos(x), "sin((2 * x))"),
    (3 * sg.cos(x) ** 2 + 3 * sg.sin(x) ** 2, "3"),
    (sg.cosh(x) / (1 + sg.sinh(x) ** 2), "(1 / cosh(x))"),
    (sg.exp(x) / (sg.exp(x) + sg.exp(y)), "sigmoid((x - y))"),
    (sg.exp(x) * (sg.sigmoid(x) - 1) ** 2, "(sigmoid(x) * (1 - sigmoid(x)))"),
    ((sg.exp(x) - sg.exp(-x)) / (sg.exp(x) + sg.exp(-x)), "tanh(x)"),
    (sg.sign(x) / sg.abs(x), "(1 / x)"),
    (sg.where(x > y, u, 0) + sg.where(x > y, 0, a * u), "where(gt(x, y), u, (a * u))"),
    (v * sg.where(u > a, 1, 0) + a * v * sg.where(u > a, 0, 1), "(v * where(gt(u, a), 1, a))"),
    (sg.sum(u / (1 + u * u / a)) / a, "sum((u / (a + (u ** 2))))"),
]


@pytest.mark.parametrize(("term", "expected"), TEXTBOOK, ids=[expected for _, expected in TEXTBOOK])
def test_fractions_come_out_as_in_textbooks(term: Any, expected: str) -> None:
    found = canonical(term)
    assert text(found) == expected
    assert price(found) <= price(term)
    for seed in range(3):
        rng = np.random.default_rng(seed)
        values = {s: rng.uniform(0.1, 0.8) for s in "abxy"} | {s: rng.uniform(0.1, 0.8, 4) for s in "uv"}
        got, want = (evaluate(t, values, {"n": 4}) for t in (found, term))
        np.testing.assert_allclose(got, want, rtol=1e-10)


def test_what_would_not_be_shorter_stays() -> None:
    for kept in (1 / x + 1 / y, (x - y) ** 2 / a, u / (1 + v) - v / (1 + u)):
        assert canonical(canonical(kept)) is canonical(kept)
        assert price(canonical(kept)) <= price(kept)


def test_no_even_root_is_cancelled_into() -> None:
    # √(x²y) is not x√y for negative x.
    found = canonical(sg.sqrt(x * x * y + x * x) / x)
    got = evaluate(found, {"x": -2.0, "y": 3.0}, {})
    np.testing.assert_allclose(got, -2.0)


def test_division_of_polynomials() -> None:
    one = {(): 1}
    p = {monomial([(0, 1)]): 1, (): -1}
    assert quotient(raised(p, 3), p) == raised(p, 2)
    assert quotient({monomial([(0, 2)]): 1, (): 1}, p) is None
    assert primitive({monomial([(0, -1)]): 4, (): -6})[2] == {(): 2, monomial([(0, 1)]): -3}
    wide = {monomial([(k, 1)]): 1 for k in range(20)}
    with pytest.raises(TooLong):
        multiplied(wide, wide)
    assert raised(p, 0) == one


GROWING = {"odds": lambda t: t / (1 + t), "continued": lambda t: 1 / (x + 1 / t), "summed": lambda t: t + 1 / (t + y)}


@pytest.mark.parametrize("grow", GROWING.values(), ids=GROWING)
def test_work_is_bounded(grow: Callable[[Any], Any]) -> None:
    t: Any = x
    for _ in range(12):
        t = grow(t)
    found = canonical(t)
    got, want = (evaluate(s, {"x": 0.7, "y": 0.3}, {}) for s in (found, t))
    np.testing.assert_allclose(got, want, rtol=1e-8)


def test_roots_and_multiples_of_pi_are_read_from_floats() -> None:
    pi = 3.141592653589793
    for term, expected in (
        (x / 2**0.5, "(x / sqrt(2))"),
        ((x / 2**0.5) ** 2, "((x ** 2) / 2)"),
        (x * 0.5773502691896258, "(x / sqrt(3))"),
        (x / (2 * pi) ** 0.5, "(x / sqrt((2 * pi)))"),
        (x * (2 / pi**0.5), "((2 * x) / sqrt(pi))"),
        (x * 2 * pi, "((2 * pi) * x)"),
        (2**0.5 * (1 + x / 2**0.5), "(sqrt(2) + x)"),
        (x * 1.4142135, "(1.4142135 * x)"),
        (x * sg.erf(x) + sg.exp(-x * x) / pi**0.5 - x * sg.erf(x), "(exp(-(x ** 2)) / sqrt(pi))"),
    ):
        found = canonical(term)
        value = evaluate(term, {"x": 0.3}, {})
        np.testing.assert_allclose(evaluate(found, {"x": 0.3}, {}), value, rtol=1e-14)
        assert text(found) == expected


@pytest.mark.parametrize(
    ("f", "text"),
    [
        (lambda x, y, z, a: 2 * x + 4 * a * y - 2 * z, "2 (x + 2 a y − z)"),
        (lambda x, y, z, a: 2 * x + 4 * y - 6 * z / a, "2 x + 4 y − (6 z)/a"),
    ],
)
def test_numbers_of_sums_stand_in_front_where_that_leaves_fewer(f, text):
    assert sg.formula(f, (3,), (3,), (3,), 0.5).unicode() == text


def nth(f, n):
    for _ in range(n):
        f = sg.func.grad(f)
    return f


HIGH = {
    "root": (
        lambda x: sg.sqrt(1 + x**2), 6,
        r"\frac{45 \left(1 - 12 x^{2} + 8 x^{4}\right)}{\left(1 + x^{2}\right)^{\frac{11}{2}}}",
    ),
    "Lorentz": (
        lambda x: 1 / (1 + x**2), 6,
        r"\frac{720 \left(21 x^{2} - 1 - 7 x^{4} \left(5 - x^{2}\right)\right)}{\left(1 + x^{2}\right)^{7}}",
    ),
    "deep": (
        lambda x: 1 / (1 + x**2), 8,
        (r"\frac{40320 \left(1 - 36 x^{2} + 3 x^{4} \left(42 - 28 x^{2} + 3 x^{4}\right)\right)}"
        r"{\left(1 + x^{2}\right)^{9}}"),
    ),
    "silu": (lambda x: x * sg.sigmoid(x), 6, None),
    "sine": (lambda x: sg.exp(sg.sin(x)), 8, None),
    "logarithm": (lambda x: sg.sqrt(x) * sg.log(x) ** 2, 6, None),
    "weighted": (lambda x: 0.7 / (x**2 + 0.3), 5, None),
}  # fmt: skip


@pytest.mark.parametrize("name", HIGH)
def test_derivatives_of_high_orders_have_no_like_terms(name):
    """They were where-lists of a hundred lines from the sixth order on: the steps of a canonical form were used up."""
    f, n, text = HIGH[name]
    found = sg.formula(nth(f, n), 0.7)
    if text is not None:
        assert found.latex() == text
    assert len(found.latex()) < 500
    read = from_latex(found.latex(), found.symbols)
    for x in (0.3, 0.7, 1.9):
        want = nth(f, n)(sg.tensor(x, dtype=sg.float64)).item()
        np.testing.assert_allclose(evaluate(read, {"x": np.float64(x)}), want, rtol=1e-8)


@pytest.mark.parametrize(
    ("f", "text"),
    [
        (lambda x: sg.log(sg.tan(x)), r"\frac{2}{\sin\left(2 x\right)}"),
        (lambda x: 3 * sg.log(sg.tan(x / 2)), r"\frac{3}{\sin\left(x\right)}"),
        (lambda x: 1 / sg.tan(x), r"-\frac{1}{\sin^{2}\left(x\right)}"),
        (lambda x: sg.tan(x) ** 2, r"2 \tan\left(x\right) \left(1 + \tan^{2}\left(x\right)\right)"),
    ],
)
def test_slopes_of_logarithms_of_tangents_are_cosecants(f, text):
    """(1 + tan²x)/tan x."""
    found = sg.formula(f, 0.4, wrt="x")
    assert found.latex() == text
    want = sg.func.grad(f)(sg.tensor(0.9, dtype=sg.float64)).item()
    read = from_latex(found.latex(), found.symbols)
    np.testing.assert_allclose(evaluate(read, {"x": np.float64(0.9)}), want, rtol=1e-12)

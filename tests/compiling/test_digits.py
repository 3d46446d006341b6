"""Programs of values and derivatives have their digits, also beside floats such as 0.7: compared at fifty digits."""

from __future__ import annotations

import re
from typing import Any

import mpmath
import numpy as np
import pytest

import symgrad as sg


def exact(formula: Any, order: int, x: float) -> Any:
    """A derivative by differences of so many digits that they have all of it."""
    with mpmath.workdps(800):
        v = mpmath.mpf(x)
        h = abs(v) * mpmath.mpf(10) ** -60
        if order == 0:
            return formula(mpmath, v)
        below, above = formula(mpmath, v - h), formula(mpmath, v + h)
        return (above - below) / (2 * h) if order == 1 else (above + below - 2 * formula(mpmath, v)) / h**2


def off(formula: Any, order: int, x: float) -> float:
    """The relative error of a compiled derivative."""

    def function(v: Any) -> Any:
        return formula(sg, v)

    for _ in range(order):
        function = sg.func.grad(function)
    with np.errstate(all="ignore"):
        found = float(sg.compile(function, np.float64(0.4))(np.float64(x)))
    wanted = exact(formula, order, x)
    return float(abs(mpmath.mpf(found) - wanted) / abs(wanted))


BESIDE_FLOATS = {
    "x^3/(e^(x/0.7) - 1)": lambda t, x: x**3 / (t.exp(x / 0.7) - 1),
    "sin 0.3x/sin x": lambda t, x: t.sin(0.3 * x) / t.sin(x),
    "x (1.3 - 0.9 e^-x)/(1 - e^-x)": lambda t, x: x * (1.3 - 0.9 * t.exp(-x)) / (1 - t.exp(-x)),
    "0.7 cosh(x/0.7) - 0.7": lambda t, x: 0.7 * t.cosh(x / 0.7) - 0.7,
    "(e^(500 x) - 1)/x": lambda t, x: (t.exp(500 * x) - 1) / x,
    "(1 - e^(-x/200))/x": lambda t, x: (1 - t.exp(-x / 200)) / x,
    "(x - 0.7)/log(x/0.7)": lambda t, x: (x - 0.7) / t.log(x / 0.7),
}


@pytest.mark.parametrize("x", [-1e-3, 1e-9, 1e-60, 0.4, 0.7000001])
@pytest.mark.parametrize("order", range(3))
@pytest.mark.parametrize("name", BESIDE_FLOATS)
def test_series_know_the_floats_of_a_formula(name, order, x):
    if x > 0 or "log" not in name:
        assert off(BESIDE_FLOATS[name], order, x) < 1e-12


@pytest.mark.parametrize("x", [0.73, -1e-17, 360.0])
@pytest.mark.parametrize("order", range(3))
def test_excepted_points_leave_numbers_their_digits(order, x):
    def function(v: Any) -> Any:
        return sg.atan2(v, 1.3)

    def formula(t: Any, v: Any) -> Any:
        return t.atan(v / mpmath.mpf(1.3))

    for _ in range(order):
        function = sg.func.grad(function)
    wanted = exact(formula, order, x)
    assert abs(mpmath.mpf(float(sg.compile(function, np.float64(0.4))(np.float64(x)))) - wanted) < 1e-14 * abs(wanted)


WITHIN = {
    "(1 - (1 + x)^-10)/x": (lambda t, x: (1 - (1 + x) ** -10) / x, (1e-60, -1e-9, 1e-3, 0.2, 30.0)),
    "x/(1 - (1 + x)^-30)": (lambda t, x: x / (1 - (1 + x) ** -30), (1e-60, -1e-9, 1e-3, 0.2, 30.0)),
    "x/(1 - (1 + x)^-200)": (lambda t, x: x / (1 - (1 + x) ** -200), (-1e-9, 1e-3, -0.5, 0.2)),
    "(1 + x/12)^12 - 1": (lambda t, x: (1 + x / 12) ** 12 - 1, (1e-60, -1e-9, 1e-3, 0.2, 30.0)),
    "x^300/(1 + x)^300": (lambda t, x: x**300 / (1 + x) ** 300, (-3.0, 0.7, 20.0, 1e3, 1e40)),
    "x^20/(1 + x)": (lambda t, x: x**20 / (1 + x), (-3.0, -1e-9, 0.7, 20.0, 1e12)),
    "x^20 e^-x/(1 + x)^12": (lambda t, x: x**20 * t.exp(-x) / (1 + x) ** 12, (-3.0, -1e-9, 0.7, 20.0, 300.0)),
    "x^15/(e^x - 1)": (lambda t, x: x**15 / (t.exp(x) - 1), (-3.0, -1e-9, 1e-5, 0.03, 20.0, 300.0)),
    "x^30/((1 + x)^10 (e^x - 1)^2)": (
        lambda t, x: x**30 / (1 + x) ** 10 / (t.exp(x) - 1) ** 2,
        (-3.0, 1e-9, 1e-5, 0.03, 20.0, 300.0),
    ),
    "x^16/(1 + x^16)": (lambda t, x: x**16 / (1 + x**16), (-3.0, 1e-9, 0.7, 20.0, 1e12)),
    "sin(x)^100/x^100": (lambda t, x: t.sin(x) ** 100 / x**100, (1e-9, 0.3, 2.0)),
    "1/(x^5 (e^(1/x) - 1))": (lambda t, x: 1 / (x**5 * (t.exp(1 / x) - 1)), (1.5e-3, 0.01, 3.0, 1e6)),
    "1/(x^5 (e^(1.44/x) - 1))": (lambda t, x: 1 / (x**5 * (t.exp(1.44 / x) - 1)), (2.1e-3, 0.01, 3.0, 1e6)),
    "x^2 log(1 - e^-x)": (lambda t, x: x**2 * t.log(1 - t.exp(-x)), (1e-100, 1e-17, 1e-3, 2.0, 41.0, 360.0)),
}


SATURATING = {
    "x/(2.5 + x)": ("2.5/(2.5 + x)**2", ["t1 = 5 + 2 * x", "return 10 * (1 / t1 / t1)"]),
    "x**2/(1 + x**2)": ("2*x/(1 + x**2)**2", ["t1 = 1 + x * x", "return 2 * (x / t1 / t1)"]),
    "x**4/(2.5**4 + x**4)": (
        "4*2.5**4*x**3/(2.5**4 + x**4)**2",
        ["t1 = 625 + 16 * (x * x * x * x)", "t1 = 40000 * (x / t1 * x / t1 * x)", "return t1"],
    ),
}


@pytest.mark.parametrize("text", SATURATING)
def test_slopes_that_stay_in_range_as_they_are_have_no_case_for_large_numbers(text):
    """They had the powers of x taken out of the sums beyond 1e9, by two choices and twice as many divisions."""
    slope, lines = SATURATING[text]
    program = sg.compile(sg.func.grad(lambda x: eval(text, {"x": x}).sum()), np.ones(3))  # noqa: S307
    assert [line.strip() for line in program.source.partition('float64."""')[2].splitlines() if line] == lines
    points = [-1e160, -3.0, 0.0, 1e-100, 0.3, 2.0, 1e9, 1e12, 1e60, 1e77, 1e103, 1e155, 1.5e308]
    wanted = [float(eval(slope, {"x": mpmath.mpf(x)})) for x in points]  # noqa: S307
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(program(np.array(points)), wanted, rtol=1e-14, atol=1e-297)


HOLES = {
    "x/(e^x - 1)": lambda t, x: x / (t.exp(x) - 1),
    "x^3/(e^x - 1)": lambda t, x: x**3 / (t.exp(x) - 1),
    "x/(1 - e^-x)": lambda t, x: x / (1 - t.exp(-x)),
    "(1 - cos x)/x^2": lambda t, x: (1 - t.cos(x)) / x**2,
}


@pytest.mark.parametrize("name", HOLES)
def test_series_are_for_the_point_alone_where_a_spelling_keeps_its_digits_beside_it(name):
    """x/expm1(x) is 0/0 at 0 and nowhere else: its program had a polynomial of 14 terms."""
    formula = HOLES[name]
    program = sg.compile(lambda x: formula(sg, x), np.ones(3))
    assert len(program.source.splitlines()) <= 10
    assert re.findall(r"\de-1\d", program.source) == []
    points = [-800.0, -30.0, -1.4, -1e-3, -1e-8, -1e-200, 1e-300, 1e-7, 9e-7, 2e-6, 1e-3, 0.5, 2.0, 30.0, 700.0]
    with mpmath.workdps(700):
        wanted = [float(formula(mpmath, mpmath.mpf(x))) for x in points]
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(program(np.array(points)), wanted, rtol=4e-15)
        assert np.all(np.isfinite(program(np.array([0.0, 1e100, -1e100]))))


def test_steps_of_a_method_are_not_multiplied_out_for_digits_at_1e160():
    """Four steps of Newton's method were a quotient of polynomials of degree 54, in 78 lines and 15 times the time."""

    def root(x):
        y = sg.ones_like(x)
        for _ in range(4):
            y = y - (y**3 + y - x) / (3 * y**2 + 1)
        return y

    program = sg.compile(root, np.ones(3))
    assert len(program.source.splitlines()) < 15
    x = np.array([-1e6, -2.0, 1e-12, 0.3, 5.0, 1e9])
    np.testing.assert_allclose(program(x), root(sg.tensor(x)).numpy(), rtol=1e-14)


def test_states_of_a_loop_are_not_computed_again_for_digits_far_out():
    """One of ten steps of logistic growth recomputed all before it as polynomials, in 46 of 138 lines."""

    def loss(p, y):
        total = 0
        for _ in range(10):
            y = y + 0.1 * (p[0] * y * (1 - y / p[1]))
            total = total + ((y - 0.5) ** 2).sum()
        return total

    program = sg.compile(sg.func.grad(loss), np.array([1.2, 2.0]), np.ones(4))
    assert "np.where" not in program.source
    assert len(program.source.splitlines()) < 100


def test_powers_out_of_range_of_single_precision_are_no_infinite_slopes():
    """At 30 the slope was infinite where what was written has 0."""
    x = np.array([0.1, 2.5, 10.0, 30.0, 39.0], np.float32)
    slope = sg.compile(sg.func.grad(lambda x: (x**24 / (2.5**24 + x**24)).sum()), x)(x)
    assert np.all(np.isfinite(slope))


@pytest.mark.parametrize("order", range(3))
@pytest.mark.parametrize("name", WITHIN)
def test_powers_beyond_what_is_multiplied_out_and_exponentials_of_reciprocals(name, order):
    formula, points = WITHIN[name]
    assert max(off(formula, order, x) for x in points) < 1e-12


NESTED = {
    "log(1 - e^(-e^-x))": (lambda t, x: t.log(1 - t.exp(-t.exp(-x))), (-3.0, 1.0, 40.0, 690.0)),
    "log(log(1 + e^x))": (lambda t, x: t.log(t.log(1 + t.exp(x))), (-690.0, -36.0, -1.0, 5.0)),
    "log(1 - e^(-e^-x)) + 3 x": (lambda t, x: t.log(1 - t.exp(-t.exp(-x))) + 3 * x, (-3.0, 1.0, 40.0, 690.0)),
}


@pytest.mark.parametrize("order", range(3))
@pytest.mark.parametrize("name", NESTED)
def test_exponentials_inside_of_others_and_of_logarithms(name, order):
    formula, points = NESTED[name]
    assert max(off(formula, order, x) for x in points) < 1e-12


@pytest.mark.parametrize(("name", "x"), [("log(1 - e^(-e^-x))", 1000.0), ("log(log(1 + e^x))", -1000.0)])
def test_exponentials_that_are_zero_are_no_zero_by_zero(name, x):
    """The slopes were infinite, and second derivatives nan."""

    def function(v):
        return NESTED[name][0](sg, v)

    for wanted in (-1000.0, -np.sign(x), 0.0):
        with np.errstate(all="ignore"):
            assert sg.compile(function, np.float64(0.4))(np.float64(x)) == wanted
        function = sg.func.grad(function)


def test_high_powers_are_no_longer_than_low_ones():
    """They were products of as many factors and divisors: x^300/(1 + x)^300 took ten times as long."""
    found = [sg.compile(sg.func.grad(lambda x, n=n: x**n / (1 + x) ** n), np.float64(0.4)) for n in (20, 300)]
    few, many = (len(program.source.splitlines()) for program in found)
    assert few == many


@pytest.mark.parametrize("order", range(2))
def test_divisors_whose_squares_are_no_numbers(order):
    """The slope was 0 for 2e-197: what is 1e200 was divided by twice before the power that is as large."""
    assert off(lambda t, x: x / (1 - (1 + x) ** -200), order, -0.9) < 1e-12


@pytest.mark.parametrize("order", range(3))
@pytest.mark.parametrize("n", [13, 16])
def test_high_powers_in_single_precision(n, order):
    """The second derivative was infinite from 20 on, as twice as high powers are no numbers there."""
    f = lambda x: x**n / (1 + x**n)  # noqa: E731
    for _ in range(order):
        f = sg.func.grad(f)
    x = np.array([0.3, 0.9, 2.0, 20.0, 30.0, 100.0])
    single, double = ([float(sg.compile(f, t(0.4))(t(v))) for v in x] for t in (np.float32, np.float64))
    np.testing.assert_allclose(single, double, rtol=1e-3, atol=1e-6)


POWERS = {
    "Weibull": lambda t, x: 1 - t.exp(-((x / 2.5) ** 1.7)),
    "Weibull, hazard": lambda t, x: x**1.7 / (1 - t.exp(-(x**1.7))),
    "logistic of a power": lambda t, x: t.exp(x**1.25) / (1 + t.exp(x**1.25)),
    "Hill": lambda t, x: x**2.7 / (1.5**2.7 + x**2.7),
}


@pytest.mark.parametrize("x", [1e-12, 1e-4, 0.8, 40.0, 5e3])
@pytest.mark.parametrize("order", range(2))
@pytest.mark.parametrize("name", POWERS)
def test_powers_with_any_exponent_are_variables_of_what_is_around_them(name, order, x):
    """1 - e^-u keeps its digits whatever u is: beside a power of 1.7 it was 0 at 1e-12."""
    if order == 0 or (x < 1e3 if name != "Hill" else x > 1e-9):
        assert off(POWERS[name], order, x) < 1e-12 or abs(exact(POWERS[name], order, x)) < 1e-300

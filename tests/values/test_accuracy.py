"""Naive formulas and their derivatives, evaluated and compiled: at most 4 units in the last place over all float64."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import symgrad as sg
from symgrad.formula.accurate import accurate
from symgrad.proving.naive import BEYOND, LIMIT, NAMES, Case, compiled, eager, evaluated
from tests.values import naive


@pytest.mark.parametrize("name", [n for n in NAMES[::3] if n not in BEYOND])
def test_naive_formulas_keep_their_digits(name):
    _check(Case(name, many=False))


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_naive_formulas_keep_their_digits_at_many_points(name):
    case = Case(name)
    with np.errstate(all="ignore"):
        errors = [error for way in (evaluated, compiled) for error, _ in case.worst(*way(case))]
    assert (max(errors) <= LIMIT) == (name not in BEYOND), errors


LISTED = {
    # what users type first
    "1 - cos(x)^2": "the square of a sine",
    "log(1-e^x)": "1 - e^w is -(e^w - 1)",
    "1 - erf x": "the other tail",
    "acos(1-x)": "the inverse cosine by 1 - u and 1 + u",
    "1/x - 1/y": "a quotient by the larger number first",
    "log(e^x+e^y) - y": "an exponent that is added to a logarithm of several",
    # statistics, physics and geometry
    "(x - sin(x)) / x^3": "the series holds farther out where three terms cancel",
    "log(x) / (x - 1)": "a series about 1, in (x - 1)/(x + 1)",
    "log(sinh(x) / x)": "the exponential is added to the logarithm before it overflows",
    "log(1 + e^x) - x": "the logarithm of the product",
    "log(1 + e^x) - log(1 + e^-x)": "logarithms whose quotient is e^x",
    "log(1 + e^-x^2)": "what the rounding of a square lost",
    "x - tanh(x)": "an activation that meets its own argument, compiled",
    "tanh(x) / x": "the same in a quotient",
    "(1 - e^-x^2) / x^2": "a square times 0 where it overflows",
    "cosh(x) / sinh(x) - 1 / x": "the same",
    "(x^2 + y^2) / 2 - ((x + y) / 2)^2": "three terms that are a square",
    "atan(y) - atan(x)": "the angle between any two",
    "x / (x^2 + y^2)": "a scale that meets a factor before that overflows",
    # statistics, optics, relativity and networks
    "1 - p^3": "a difference of cubes has the factor p - 1",
    "tan(x) - sin(x)": "the same in its derivative, of the cosine",
    "1 - cos(x) - sin(x)^2/2": "a square of 1 - cos x",
    "log(sqrt(x))^2": "half of the logarithm",
    "x log x - (x - 1)": "a series about the zero of the logarithm",
    "log(e^x - 1) - log x": "a series of two logarithms at once",
    "tanh(x/2) - x/2": "an activation that meets a multiple of its argument, compiled",
    "x sigmoid(x) - x": "the same with the argument for a factor",
    # finance, chemistry, astronomy and learning
    "log(1 - e^-x^2)": "the logarithm of x where its square is 0",
    "log(1 + 1/x^2)": "the logarithm of x where 1/x^2 overflows",
    "sqrt(1 + e^x)": "e^(x/2) is taken out of the root",
    "sqrt(1 + e^x) - 1": "the conjugate, where it does not overflow",
    "e^x sqrt(1 + e^-2x)": "an exponential that meets one of the root",
    "e^x / sqrt(1 + e^2x)": "the same in a quotient",
    "1 - erf(x)^2": "both tails",
    "4 / (e^x + e^-x)^2": "a square of exponentials",
    "x / tanh(x) - 1": "a series about 0",
}
"""Some of the formulas in the list beside this file, and what keeps their digits."""
assert {*LISTED} <= {*naive.NAMES}
ONLY_AT_MANY_POINTS = {
    "1 - erf x",
    "log(x) / (x - 1)",
    "log(sinh(x) / x)",
    "log(1 + e^x) - log(1 + e^-x)",
    "log(1 + e^-x^2)",
    "tanh(x) / x",
    "(1 - e^-x^2) / x^2",
    "(x^2 + y^2) / 2 - ((x + y) / 2)^2",
    "atan(y) - atan(x)",
    "tan(x) - sin(x)",
    "log(sqrt(x))^2",
    "log(e^x - 1) - log x",
    "x sigmoid(x) - x",
    "4 / (e^x + e^-x)^2",
    "x / tanh(x) - 1",
}


@pytest.mark.parametrize("name", [name for name in LISTED if name not in ONLY_AT_MANY_POINTS])
def test_listed_formulas_keep_their_digits(name):
    _check(Case(name, many=False))


@pytest.mark.slow
@pytest.mark.parametrize("name", LISTED)
def test_listed_formulas_keep_their_digits_at_many_points(name):
    _check(Case(name))


@pytest.mark.parametrize(
    ("f", "at", "want", "slope"),
    [
        (lambda x: sg.cos(x + 1) - sg.cos(x), 1e18, None, None),
        (lambda x: sg.sqrt(1 - sg.cos(x)), 1e-200, 7.0710678118654752e-201, 0.70710678118654752),
        (lambda x: sg.acosh(1 + x), 1e-18, 1.4142135623730950e-9, None),
        (lambda x: sg.tan(x) - x, 1e-5, 3.3333333334666667e-16, 1.0000000000666667e-10),
        (lambda x: sg.log2(1 + x), 1e-20, 1.4426950408889634e-20, 1.4426950408889634),
    ],
)
def test_waves_and_their_inverses(f, at, want, slope):
    import mpmath

    x = np.array([at])
    value = sg.compile(f, x)(x)
    if want is None:
        with mpmath.workdps(60):
            want = float(mpmath.cos(mpmath.mpf(at) + 1) - mpmath.cos(mpmath.mpf(at)))
    np.testing.assert_allclose(value, [want], rtol=2e-15)
    if slope is not None:
        np.testing.assert_allclose(sg.compile(sg.func.grad(lambda x: f(x).sum()), x)(x), [slope], rtol=1e-15)


def test_losses_of_sure_predictions_keep_their_digits():
    """The multiple of the logit that stands beside log(1 + e^x) cancels where the label is 0 or 1."""
    x, y = np.array([41.0, -41.0, 400.0, 0.3]), np.array([1.0, 0.0, 1.0, 0.25])
    f = lambda x, y: y * x - sg.log(1 + sg.exp(x))  # noqa: E731
    want = [-1.5628821893349888e-18, -1.5628821893349888e-18, -np.exp(-400.0), 0.25 * 0.3 - np.log1p(np.exp(0.3))]
    np.testing.assert_allclose(sg.compile(f, x, y)(x, y), want, rtol=2e-15)
    slope = sg.compile(sg.func.grad(lambda x, y: f(x, y).sum()), x, y)(x, y)
    np.testing.assert_allclose(
        slope,
        [1.5628821893349888e-18, -1.5628821893349888e-18, np.exp(-400.0), 0.25 - 1 / (1 + np.exp(-0.3))],
        rtol=2e-15,
    )


def test_shares_of_sums_have_slopes_where_one_is_small():
    x, y = np.array([0.3]), np.array([-3e-17])
    by_x, _ = sg.compile(sg.func.grad(lambda x, y: (x / (x + y)).sum(), argnums=(0, 1)), x, y)(x, y)
    np.testing.assert_allclose(by_x, -3e-17 / 0.3**2, rtol=1e-15)


def _check(case):
    with np.errstate(all="ignore"):
        for way in (evaluated, compiled):
            for error, place in case.worst(*way(case)):
                assert error <= LIMIT, (way.__name__, error, place)


NAN = ["log1p(e^x)", "e^x / (1 + e^x)", "log cosh x", "(e^x - e^-x) / (e^x + e^-x)", "-log(1 - sigmoid(x))"]


@pytest.mark.parametrize("name", NAN)
def test_gradients_that_were_nan_are_right_to_the_last_digits(name):
    case = Case(name, many=False)
    with np.errstate(all="ignore"):
        lost = ~np.isfinite(eager(case)[0])
    far = [k for k in np.flatnonzero(lost) if np.isfinite(float(case.exact[k].slopes[0]))]
    assert far
    x = sg.tensor(case.columns[0][far], requires_grad=True)
    with np.errstate(all="ignore"):
        (g,) = sg.autograd.grad(case.call(x).sum(), x)
    np.testing.assert_array_max_ulp(g.numpy(), np.array([float(case.exact[k].slopes[0]) for k in far]), 4)


def test_the_switches_give_what_was_written_to_the_bit():
    points = np.array([-800.0, -3.0, 1e-9, 0.3, 40.0])
    f = lambda x: sg.exp(x) / (1 + sg.exp(x))  # noqa: E731
    x = sg.tensor(points, requires_grad=True, name="x")
    y = f(x)
    np.testing.assert_array_equal(sg.formula(y).evaluate(False, x=points), y.detach().numpy())
    plain = sg.compile(f, points, stable=False)
    np.testing.assert_array_equal(plain(points), y.detach().numpy())
    assert "t1 / (1 + t1)" in plain.source
    assert "t1 / (1 + t1)" not in sg.compile(f, points).source


def test_formulas_are_printed_as_before():
    found = sg.formula(lambda x: sg.sqrt(x**2 + 1) - x, (), wrt="x")
    assert str(found) == "x/sqrt(x**2 + 1) - 1"
    assert float(found.evaluate(x=1e9)) == pytest.approx(-5e-19, rel=1e-15)


@pytest.mark.parametrize(
    "f",
    [
        lambda x, y: sg.tanh(x * y + 1),
        lambda x, y: sg.sigmoid(x * y - 1) * sg.nn.functional.softplus(y),
        lambda x, y: sg.exp(-x) * sg.sin(y),
        lambda x, y: (x * x + y * y) * x,
    ],
    ids=["a layer", "a gate", "a wave", "a polynomial"],
)
def test_programs_that_lose_nothing_are_left_alone(f):
    args = np.array([0.3, 1.2]), np.array([2.0, -1.0])
    for function in (f, sg.func.grad(lambda x, y: f(x, y).sum())):
        one, two = (sg.compile(function, *args, name="program", stable=s).source for s in (True, False))
        assert one == two


def test_what_has_no_value_gets_none():
    found = sg.formula(lambda x: sg.log(x + 1) - sg.log(x), ())
    assert np.isnan(found.evaluate(x=-3.0))
    assert float(found.evaluate(x=1e20)) == 1e-20


@pytest.mark.parametrize(
    "f",
    [
        lambda x: sg.sqrt(x) / sg.sqrt(x),
        lambda x: x**1.5 / x**0.5,
        lambda x: sg.log(x) / sg.log(x) ** 3,
        lambda x: sg.arcsin(x) / sg.arcsin(x),
    ],
    ids=["roots", "powers", "logarithms", "angles"],
)
def test_programs_have_no_value_where_the_function_has_no_real_one(f):
    x = np.array([-2.0, 0.5, 2.0])
    for function in (f, lambda x: sg.func.grad(lambda x: f(x).sum())(x)):
        with np.errstate(all="ignore"):
            np.testing.assert_allclose(sg.compile(function)(x), function(sg.tensor(x)).detach(), rtol=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_arrays_of_any_shape_and_dtype(dtype):
    a, b = np.full((3, 1), 1000, dtype), np.linspace(-800, 900, 4).astype(dtype)
    with np.errstate(all="ignore"):
        got = sg.compile(lambda a, b: sg.log(sg.exp(a * b / 100) + sg.exp(b)), a, b)(a, b)
    assert got.shape == (3, 4)
    assert got.dtype == dtype
    np.testing.assert_allclose(got, np.logaddexp(a * b / 100, b), rtol=1e-6)


def test_a_saved_program_keeps_its_digits(tmp_path):
    x = np.array([1.0, 2.0])
    f = sg.compile(sg.func.grad(lambda x: ((1 - sg.cos(x)) / x**2).sum()), x)
    path = tmp_path / "slope.py"
    f.save(path)
    done = subprocess.run([sys.executable, "-I", str(path), "--selftest"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    np.testing.assert_allclose(f(np.array([1e-9])), [-1e-9 / 12], rtol=1e-15)


def test_long_formulas_take_linear_time():
    from symgrad.formula.term import count, lookup, symbol

    matrix, term = symbol("A", ("n", "n")), symbol("x", ("n",))
    for _ in range(5_000):
        term = lookup("log")(1 + lookup("exp")(matrix @ term))
    (found,) = accurate([term])
    assert count(found) > 25_000


def test_functions_of_functions_are_read_in_steps():
    def f(x):
        for _ in range(48):
            x = x * sg.sin(x)
        return x

    x = np.float64(0.7)
    t = sg.tensor(x, requires_grad=True)
    assert sg.compile(f, x)(x) == f(t).item()
    np.testing.assert_allclose(sg.compile(sg.func.grad(f), x)(x), sg.func.grad(f)(t).item(), rtol=1e-14)


def test_what_is_factored_stays_so():
    x, y = np.array([1 + 1e-9]), np.array([1 + 2e-9])
    g = sg.compile(sg.func.grad(lambda x, y: ((1 - x) ** 2 + 100 * (y - x**2) ** 2).sum()), x, y)
    exact = sg.formula("(1 - x)**2 + 100*(y - x**2)**2", shapes="x=;y=", wrt="x").evalf(20, x=x[0], y=y[0])
    np.testing.assert_allclose(g(x, y), float(exact), rtol=1e-6)


CLOSE = {
    "a kernel": lambda a, b, x, y: sg.exp(2 * a) * sg.exp(-0.5 * (x - y) ** 2 / sg.exp(2 * b)) + sg.exp(2 * a - 1),
    "a mixture": lambda a, b, x, y: sg.log(sg.exp(-a * (x - y) ** 2) + sg.exp(-b * (x - y - 1) ** 2)),
    "a size": lambda a, b, x, y: sg.exp(a) * sg.sqrt((x - y) ** 2 + b),
    "a density": lambda a, b, x, y: sg.exp(-((x - y) ** 2) / (2 * a)) / sg.exp(b),
}


@pytest.mark.parametrize("name", CLOSE)
def test_distances_between_large_numbers_are_not_multiplied_out(name):
    f = CLOSE[name]
    args = [np.float64(v) for v in (0.1, 0.2, 1.7e9 + 0.75, 1.7e9)]
    for transform in (f, sg.func.grad(f, argnums=2)):
        kept, written = (sg.compile(transform, *args, stable=stable)(*args) for stable in (True, False))
        np.testing.assert_allclose(kept, written, rtol=1e-14)


def test_lengths_of_several_differences_are_not_multiplied_out():
    def length(x, y, z):
        return sg.sqrt((x - y) ** 2 + (x - z) ** 2 + 1e-3)

    args = [np.float64(1e6 + v) for v in (0.3, -0.4, 0.9)]
    exact = sg.formula("sqrt((x - y)**2 + (x - z)**2 + 1/1000)", shapes="x=;y=;z=", wrt="x")
    g = sg.compile(sg.func.grad(length))(*args)
    np.testing.assert_allclose(g, float(exact.evalf(20, x=args[0], y=args[1], z=args[2])), rtol=1e-14)


def test_tails_of_exponentials_have_programs():
    """The slope e^(-u²) has the squares of exponentials in its exponent, and a root may have them under it."""
    x = np.array([0.1, 0.2, 0.7])
    for f in (
        lambda x: sg.erf(sg.expm1(x)).sum(),
        lambda x: sg.erf(sg.exp(x) - sg.sqrt(1 + x * x)).sum(),
        lambda x: sg.sqrt(sg.expm1(x + x)).sum(),
    ):
        slope = sg.func.grad(f)
        np.testing.assert_allclose(sg.compile(slope, x)(x), slope(x), rtol=1e-13)
    nothing = sg.compile(lambda x: sg.sqrt(x - x) * sg.sin(sg.sqrt(x)) / -x, x)
    np.testing.assert_array_equal(nothing(x), np.zeros(3))


def test_exponentials_of_exponentials_are_compiled_in_time():
    args = [np.float64(v) for v in (0.1, 0.2, 0.3)]

    def kernel(a, b, x):
        return sg.exp(a) * sg.exp(-(x**2) / sg.exp(2 * b)) + sg.exp(a + sg.exp(b))

    for argnum in range(3):
        f = sg.func.grad(kernel, argnums=argnum)
        np.testing.assert_allclose(sg.compile(f, *args)(*args), sg.compile(f, *args, stable=False)(*args), rtol=1e-14)


@pytest.mark.parametrize("which", ["of 1 + x^2", "of cosh"])
def test_logarithms_over_what_they_are_the_square_of(which):
    """Near 0 the logarithm is 0 before its quotient by x is; it is x, or half of it."""
    part = 1.0 if which == "of 1 + x^2" else 0.5
    x = sg.tensor([1e-224, -1e-170, 1e-9], dtype=sg.float64)
    f = lambda x: sg.log(1 + x**2 if part == 1 else sg.cosh(x)) / x  # noqa: E731
    np.testing.assert_allclose(sg.compile(f, x)(x.numpy()), part * x.numpy(), rtol=1e-15)


def test_roots_of_forms_of_second_order_do_not_overflow():
    def f(x, y):
        return sg.sqrt(x**2 + x * y + y**2)

    x, y = np.array([1e200, 3e-200, 3.0]), np.array([-1e200, 0.0, 5.0])
    with np.errstate(all="ignore"):
        found = sg.compile(f, x, y)(x, y)
    np.testing.assert_allclose(found, [1e200, 3e-200, 7.0], rtol=1e-15)


def test_a_root_beside_a_number_compiles():
    """An exponential was taken for the argument of a function."""
    x = np.array([-3.0, 1e-9, 2.0, 1000.0])
    with np.errstate(all="ignore"):
        found = sg.compile(sg.func.grad(lambda x: (sg.sqrt(1 + sg.exp(x)) - 1).sum()), x)(x)
    np.testing.assert_allclose(found[:3], np.exp(x[:3]) / (2 * np.sqrt(1 + np.exp(x[:3]))), rtol=1e-14)
    np.testing.assert_allclose(found[3], np.exp(500.0) / 2, rtol=1e-12)


def test_what_is_divided_by_zero_everywhere_is_nan_and_does_not_cancel():
    """1/√(1 - (x/x)²) is 1/0 for all x: its multiples were taken for equal, and their difference was 0."""
    x = np.array([-1.0, 3.0])
    for f in (lambda x: sg.asin(x / x).sum(), lambda x: sg.log(x - x).sum()):
        with np.errstate(all="ignore"):
            found, known = sg.compile(sg.func.grad(f), x)(x), sg.func.grad(f)(sg.tensor(x)).numpy()
        np.testing.assert_array_equal(found, known)
        assert np.isnan(found).all()

"""Like terms of derivatives are collected: programs of high orders are short, and as accurate as what is run."""

import random

import mpmath
import numpy as np
import pytest

import symgrad as sg
from symgrad.formula.accurate.collecting import Horner
from symgrad.formula.accurate.series import NearPoint, _Expansion
from symgrad.formula.accurate.writing import Writer

FUNCTIONS = {
    "tanh": (sg.tanh, mpmath.tanh),
    "sigmoid": (sg.sigmoid, lambda x: 1 / (1 + mpmath.exp(-x))),
    "witch": (lambda x: 1 / (1 + x * x), lambda x: 1 / (1 + x * x)),
    "bump": (lambda x: x * sg.exp(-x * x), lambda x: x * mpmath.exp(-x * x)),
    "sines": (
        lambda x: sg.sin(x) * sg.sin(2 * x) * sg.sin(3 * x),
        lambda x: mpmath.sin(x) * mpmath.sin(2 * x) * mpmath.sin(3 * x),
    ),
    "tower": (lambda x: sg.exp(x * sg.log(x)), lambda x: mpmath.exp(x * mpmath.log(x))),
}
LINES = {"tanh": 8, "sigmoid": 12, "witch": 24, "bump": 32, "sines": 16, "tower": 24}
"""How many lines the program of the eighth derivative has at the most; it had 90 to 2,500."""
HARD = (0.0, 1e-8, 0.3, -0.3, 1.0, -1.0, 1.7, -1.7, 3.0, -3.0)


def derived(f, order):
    for _ in range(order):
        f = sg.func.grad(lambda x, f=f: f(x).sum())
    return f


def eager(f, order, points):
    x = sg.tensor(points, requires_grad=True)
    y = f(x)
    for _ in range(order):
        (y,) = sg.autograd.grad(y.sum(), x, create_graph=True)
    return y.detach().numpy()


def compiled(f, order, points):
    """The program at ordinary points, called with others."""
    return sg.compile(derived(f, order), np.linspace(0.5, 2, points.size))(points)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_programs_of_high_orders_are_short(name):
    f = FUNCTIONS[name][0]
    programs = sg.compile(derived(f, 8), np.linspace(0.5, 2, 5)).programs
    assert len(next(iter(programs)).splitlines()) <= LINES[name]


@pytest.mark.parametrize("order", [3, 6, 8])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_they_have_their_digits(name, order):
    f, exact = FUNCTIONS[name]
    points = np.array([x for x in HARD if x > 0 or name != "tower"])
    got = compiled(f, order, points)
    with mpmath.workdps(80):
        wide = [mpmath.taylor(exact, mpmath.mpf(float(x)), order)[order] * mpmath.factorial(order) for x in points]
    np.testing.assert_allclose(got, np.array(wide, float), rtol=2e-12, atol=1e-12)


@pytest.mark.parametrize("order", [2, 4, 6])
@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_they_are_numbers_wherever_eager_results_are(name, order):
    f = FUNCTIONS[name][0]
    points = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 30.0, -30.0, 300.0, -300.0, 1e8, -1e8, 1e30, -1e30, 1e-30])
    wanted, got = eager(f, order, points), compiled(f, order, points)
    assert not np.any(np.isnan(got) & ~np.isnan(wanted)), (got, wanted)
    finite = np.isfinite(wanted)
    np.testing.assert_allclose(got[finite], wanted[finite], rtol=1e-9, atol=1e-12)


def test_a_power_of_a_sum_is_not_multiplied_out():
    points = 1 + np.array([1e-3, -1e-4, 1e-5])

    def f(x):
        return (x - 1) ** 9 * sg.exp(x) + (x - 1) * (x - 1) * (x - 1) * (x - 1) * (x - 1) * (x - 1) * (x - 1)

    np.testing.assert_allclose(compiled(f, 3, points), eager(f, 3, points), rtol=1e-9)


def test_values_are_computed_in_the_order_that_they_were_written_in():
    def f(x):
        return (x * x * x + x * x * 3 + x * 3 + x * x * x * x - 7 * x * x - 4 * x * x * x + 2 * x - x * 5 + x * x).sum()

    points = np.linspace(0.3, 2, 7)
    value, _ = sg.compile(sg.func.value_and_grad(f))(points)
    assert value == f(sg.tensor(points)).item()


def test_several_variables_have_like_terms():
    def f(x, y):
        return (sg.tanh(x * y) * sg.exp(x)).sum()

    def mixed(x, y):
        for k in (0, 1, 0, 1):
            g = sg.func.grad(lambda x, y, f=mixed.f: f(x, y).sum(), argnums=k)
            mixed.f = g
        return mixed.f(x, y)

    mixed.f = f
    x, y = np.array([0.2, -0.7, 1.1]), np.array([0.5, 0.4, -0.9])
    program = sg.compile(mixed, x, y)
    assert len(next(iter(program.programs)).splitlines()) < 40
    mixed.f = f
    np.testing.assert_allclose(program(x, y), mixed(sg.tensor(x), sg.tensor(y)).numpy(), rtol=1e-11)


STEPS = (
    "sg.tanh({a})", "sg.sin({a})", "sg.exp(-{a} * {a})", "{a} * {b}", "{a} + {b}", "1 / (1 + {a} * {a})",
    "sg.sigmoid({a})", "{a} / (2 + {b} * {b})", "sg.sqrt(1 + {a} * {a})", "{a} * {a} - {b}", "sg.log(1 + {a} * {a})",
)  # fmt: skip


def composed(seed):
    """Source of a function of one variable, entry by entry."""
    pick, names = random.Random(seed), ["x"]
    lines = ["def f(x):"]
    for k in range(pick.randint(2, 4)):
        lines.append(f"    t{k} = {pick.choice(STEPS).format(a=pick.choice(names), b=pick.choice(names))}")
        names.append(f"t{k}")
    return "\n".join([*lines, f"    return {names[-1]} * sg.cos(x)"])


@pytest.mark.parametrize("seed", [*range(12), *(pytest.param(k, marks=pytest.mark.slow) for k in range(12, 200))])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_derivatives_of_random_functions_are_those_that_are_run(seed):
    scope = {"sg": sg}
    exec(composed(seed), scope)  # noqa: S102  (made of the lines above)
    points = np.array([0.0, 1e-8, 0.3, -0.6, 1.1, -1.9, 2.7, 30.0, -300.0, 1e8, -1e30, np.inf])
    ordinary = np.abs(points) < 3
    for order in (2, 3, 4):
        wanted, got = eager(scope["f"], order, points), compiled(scope["f"], order, points)
        assert not np.any(np.isnan(got) & ~np.isnan(wanted)), (composed(seed), order, got, wanted)
        size = max(1.0, np.abs(wanted[ordinary]).max())
        np.testing.assert_allclose(got[ordinary], wanted[ordinary], 1e-8, 1e-11 * size, err_msg=composed(seed))


def test_sums_that_stand_in_many_others_are_written_once(monkeypatch):
    """The seventh derivative of silu took five seconds of set-up, and the eighth took fifty."""
    written = []
    write = Horner._generator
    monkeypatch.setattr(Horner, "_generator", lambda self, g: written.append((self, g)) or write(self, g))
    points = np.array([-2.0, 0.3, 0.7, 5.0])
    got = sg.compile(derived(lambda x: x * sg.sigmoid(x), 7), points)(points)
    assert len(written) == len(set(written))
    with mpmath.workdps(60):
        silu = [mpmath.taylor(lambda x: x / (1 + mpmath.exp(-x)), float(x), 7)[7] * mpmath.factorial(7) for x in points]
    np.testing.assert_allclose(got, [float(v) for v in silu], rtol=1e-10)


def test_sums_that_stand_in_many_others_have_one_series(monkeypatch):
    """Four steps of a saturating decay took ten seconds: every sum of sums was looked at once per way to it."""
    looked = []
    look = _Expansion._look
    monkeypatch.setattr(_Expansion, "_look", lambda self, a: looked.append(a) or look(self, a))

    def decayed(x):
        for _ in range(4):
            x = x - 0.1 * x / (0.4 + x)
        return x.sum()

    sg.compile(sg.func.grad(decayed), np.ones(3))
    assert len(looked) < 1000


def test_values_of_a_series_are_no_fractions_of_thousands_of_digits(monkeypatch):
    """Two steps took two seconds, in the values of one polynomial."""
    digits = []
    is_value = NearPoint._is_value

    def noted(self, row, found, x):
        digits.extend(map(int.bit_length, row))
        return is_value(self, row, found, x)

    monkeypatch.setattr(NearPoint, "_is_value", noted)

    def grown(x):
        for _ in range(2):
            x = x - 0.1 * x / (0.5 + x)
        return sg.exp(x) - 1

    program = sg.compile(grown, np.ones(3))
    assert 0 < max(digits) < 1000
    x = np.array([-0.3, 0.3, 2.0])
    np.testing.assert_allclose(program(x), grown(sg.tensor(x)).numpy(), rtol=1e-14)


def test_a_formula_in_which_no_sum_is_scaled_is_written_once(monkeypatch):
    """It was written again without scales, which it has not."""
    writers = []
    start = Writer.__init__
    monkeypatch.setattr(Writer, "__init__", lambda self, *args: writers.append(self) or start(self, *args))
    sg.compile(lambda x: x / (sg.exp(x) - 1), np.ones(3))
    assert len(writers) == 1


def test_long_loops_have_programs():
    """A hundred steps were a RecursionError: each has the sums of the steps before it inside of its own."""

    def prey(a, b, c, d, x, y):
        for _ in range(100):
            x, y = x + 0.01 * (a * x - b * x * y), y + 0.01 * (c * x * y - d * y)
        return x * x + y

    slopes, point = sg.func.grad(prey, argnums=(0, 1, 2, 3, 4, 5)), [0.9, 0.5, 0.3, 0.2, 1.2, 1.5]
    exact = slopes(*(sg.tensor(v, dtype=sg.float64) for v in point))
    np.testing.assert_allclose(sg.compile(slopes, 1.0, 0.5, 0.3, 0.2, 1.0, 2.0)(*point), exact, rtol=1e-12)


def test_what_is_too_long_is_not_written_in_longer_spellings(monkeypatch):
    """Twenty steps of growth took fifteen seconds: each spelling was tried, and the last one looks for series."""
    monkeypatch.setattr(Writer, "__call__", lambda self, a: pytest.fail("Horner's rule was too long already"))

    def grown(x):
        for _ in range(20):
            x = 3.3 * x * (1 - x)
        return x

    got = sg.compile(sg.func.grad(grown), 0.2)(0.3)
    np.testing.assert_allclose(got, float(sg.func.grad(grown)(sg.tensor(0.3, dtype=sg.float64))), rtol=1e-12)

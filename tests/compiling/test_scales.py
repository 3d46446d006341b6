"""Programs at scales whose squares and powers leave the range of numbers: what is homogeneous scales as it should."""

import numpy as np
import pytest

import symgrad as sg
from tests.compiling.c.built import built_and_called, needs_cc

X, C = np.array([1.0, -2.0, 0.5, 3.0]), np.array([0.3, 0.7, -0.4, 0.2])


def centred(x):
    return x - sg.mean(x)


HOMOGENEOUS = {
    "std": (sg.std, 1),
    "population std": (lambda x: sg.sqrt((centred(x) ** 2).mean()), 1),
    "root of var": (lambda x: sg.sqrt(sg.var(x)), 1),
    "root mean square": (lambda x: sg.sqrt((x**2).mean()), 1),
    "rms norm": (lambda x: (C * x / sg.sqrt((x**2).mean())).sum(), 0),
    "z-score": (lambda x: (C * centred(x) / sg.std(x)).sum(), 0),
    "8-norm": (lambda x: (x**8).sum() ** (1 / 8), 1),
    "cubic mean": (lambda x: (sg.abs(x) ** 3).mean() ** (1 / 3), 1),
    "correlation": (
        lambda x: (C * centred(x)).sum() / sg.sqrt((centred(x) ** 2).sum() * (C**2).sum()),
        0,
    ),
    "angle": (lambda x: sg.atan2(x, x[::-1]) @ C, 0),
}
"""Functions with f(s·x) = sᵏ f(x), and k, so that the slope at s·x is sᵏ⁻¹ times that at x."""
SCALES = {np.float32: (1e-24, 1e-12, 1e12, 1e24), np.float64: (1e-160, 1e-80, 1e80, 1e152)}
SQUARED = {"z-score", "correlation"}
"""Functions that square numbers themselves, which the program does, too."""


@pytest.mark.parametrize("dtype", SCALES)
@pytest.mark.parametrize("name", HOMOGENEOUS)
def test_slopes_of_homogeneous_functions(name, dtype):
    """Compiled, the slope of a standard deviation was 0 at 1e-24 in float32, that of an 8-norm nan at 1e-7."""
    f, degree = HOMOGENEOUS[name]
    program = sg.compile(sg.func.grad(f), X.astype(dtype))
    at_one = program(X.astype(dtype))
    for scale in SCALES[dtype][1:3] if name in SQUARED else SCALES[dtype]:
        found = program((scale * X).astype(dtype))
        assert found.dtype == dtype
        np.testing.assert_allclose(
            found * dtype(scale) ** (1 - degree), at_one, rtol=3e-5 if dtype is np.float32 else 1e-11
        )


@needs_cc
def test_standard_deviations_in_c(tmp_path):
    """Their squares were summed in single precision: 0 at 1e-24."""
    row = X.astype(np.float32)
    for found, expected in built_and_called(tmp_path, (sg.func.grad(sg.std), (row,), (row * 1e-24,), (row * 1e24,))):
        np.testing.assert_allclose(found, expected, rtol=1e-5)
        assert abs(expected).min() > 0.01


CURVED = {
    "log1p": (lambda x: sg.log(1 + x**2), lambda x: (1 - x**2) * 2 / (1 + x**2) ** 2, (1e6, 1e12, 1e15)),
    "arm": (lambda x: sg.sqrt(1 + x**2), lambda x: (1 + x**2) ** -1.5, (1e6, 1e10, 1e15)),
    "lobe": (lambda x: x / (1 + x**2), lambda x: 2 * x * (x**2 - 3) / (1 + x**2) ** 3, (1e6, 1e9, 1e12)),
}


@pytest.mark.parametrize("name", CURVED)
def test_products_with_hessians_stay_in_single_precision(name):
    """What a slope is multiplied with came last: v/(1 + x²)^(3/2) had two digits at 1e15 in float32, or none."""
    f, curvature, places = CURVED[name]
    program = sg.compile(
        lambda x, v: sg.func.jvp(sg.func.grad(lambda x: f(x).sum()), (x,), (v,))[1], np.ones(3, "f4"), np.ones(3, "f4")
    )
    for place in places:
        x = (place * np.array([1, -1.5, 2])).astype("f4")
        found = program(x, x)
        np.testing.assert_allclose(found, curvature(x.astype(float)) * x, rtol=1e-5)


@np.errstate(all="ignore")
def test_logarithms_of_tails():
    """log Φ was -inf from -39 on, and its slope nan; the complement and log erfc likewise."""
    x = np.array([-40.0, -1e3, 2.0])
    for f, sign, factor in (
        (lambda x: sg.log(sg.special.ndtr(x)), 1, 1),
        (lambda x: sg.log(1 - sg.special.ndtr(x)), -1, 1),
        (lambda x: sg.log(sg.erfc(x)), -1, np.sqrt(2)),
    ):
        expected = sg.special.log_ndtr(x) + (0 if factor == 1 else np.log(2))
        at = sign * x / factor
        np.testing.assert_allclose(sg.compile(f, at)(at), expected, rtol=1e-13)
        slope = sg.func.grad(lambda x: sg.special.log_ndtr(x).sum())(x) * sign * factor
        gradient = sg.func.grad(lambda x, f=f: f(x).sum())
        np.testing.assert_allclose(gradient(at), slope, rtol=1e-12)
        np.testing.assert_allclose(sg.compile(gradient, at)(at), slope, rtol=1e-12)


@np.errstate(all="ignore")
def test_weighted_exponentials_over_their_sum():
    """c eᵘ / Σ eᵘ is (c eᵘ) / Σ eᵘ to Python, in which softmax was not seen: nan at 1000."""
    u = np.array([1000.0, 999.0, 997.5, 1001.0])

    def f(u, c):
        return (c * sg.exp(u) / sg.exp(u).sum()).sum()

    expected = sg.func.grad(lambda u, c: (c * sg.softmax(u, 0)).sum())(u, C)
    np.testing.assert_allclose(sg.compile(f, u, C)(u, C), (C * sg.softmax(u, 0)).sum(), rtol=1e-13)
    np.testing.assert_allclose(sg.compile(sg.func.grad(f), u, C)(u, C), expected, rtol=1e-12)
    np.testing.assert_allclose(sg.func.grad(f)(u, C), expected, rtol=1e-12)


TWO = {
    "angle": lambda x, y: sg.atan2(y, x),
    "share of a square": lambda x, y: y / (x * x + y * y) * y,
    "share of a cube": lambda x, y: x**3 / (x**3 + y**3),
    "log of a sum of squares": lambda x, y: sg.log1p((x / y) ** 2 / 3),
    "Cauchy": lambda x, y: -sg.log1p((x / y) ** 2) - sg.log(y * y) / 2,
}
"""Functions of two arrays, entry by entry, with f(s·x, s·y) = f(x, y) but for constants."""


FAR = [(np.float64, s) for s in (1e-100, 1e-60, 1e60, 1e100)] + [(np.float32, s) for s in (1e-6, 1e6)]


@pytest.mark.parametrize(("dtype", "scale"), FAR)
@pytest.mark.parametrize("name", TWO)
def test_products_with_hessians_of_homogeneous_functions(name, dtype, scale):
    """Polynomials that keep digits were inf or 0 at 1e100; of an angle the program had 4e-101 for 1.6e-101 there.

    In single precision they were at 1e6.
    """
    f = TWO[name]
    if dtype is np.float32 and "cube" in name:
        return  # its squares leave the range of numbers

    def product(x, y, u, v):
        def along(x, y):
            g, h = sg.func.grad(lambda x, y: f(x, y).sum(), (0, 1))(x, y)
            return (g * u).sum() + (h * v).sum()

        return sg.func.grad(along, (0, 1))(x, y)

    args = np.array([1.0, 2.0, -3.0]), np.array([2.0, -0.5, 1.0]), np.array([0.5, 1.0, 3.0]), np.array([-2.0, 0.5, 1.0])
    far = [(scale * a).astype(dtype) for a in args]
    rtol, atol = (1e-10, 1e-14) if dtype is np.float64 else (1e-4, 1e-5)
    with np.errstate(all="ignore"):
        at_one = product(*map(sg.tensor, args))
        for found, expected in zip(sg.compile(product)(*far), at_one, strict=True):
            assert found.dtype == dtype
            np.testing.assert_allclose(found * scale, expected.numpy(), rtol=rtol, atol=atol)


@pytest.mark.parametrize("width", [1.0, 1e3, 1e6])
def test_pseudo_huber_losses(width):
    """√(1 + (x/d)²) - 1 had lost all digits at 1e-7 of the width; √(1 + x²/d²) is √(d² + x²)/|d|, which has them."""

    def loss(x, d):
        return (d * d * (sg.sqrt(1 + (x / d) ** 2) - 1)).sum()

    x, d = np.array([0.3, -0.4]), width * np.array([1.0, 2.0])
    root = np.sqrt(1 + (x / d) ** 2)
    value, (by_x, by_d) = sg.compile(sg.func.value_and_grad(loss, (0, 1)))(x, d)
    np.testing.assert_allclose(value, (x * x / (root + 1)).sum(), rtol=1e-14)
    np.testing.assert_allclose(by_x, x / root, rtol=1e-14)
    np.testing.assert_allclose(by_d, (x / d) ** 3 * x / root / (1 + root) ** 2, rtol=1e-13)


def test_slopes_of_quotients_in_single_precision():
    """-(x/y)/y was multiplied last: inf at 1e-15, where the slope is 3e14."""

    def share(x, y):
        return (y / (x * x + y * y) * y).sum()

    x, y = np.array([1.0, 2.0, -3.0], np.float32), np.array([2.0, -0.5, 1.0], np.float32)
    slopes = sg.func.grad(share, (0, 1))
    program = sg.compile(slopes)
    for scale in map(np.float32, (1e-15, 1e-8, 1e8)):
        for found, expected in zip(
            program(scale * x, scale * y), slopes(x.astype(float), y.astype(float)), strict=True
        ):
            assert found.dtype == np.float32
            np.testing.assert_allclose(found * scale, expected, rtol=1e-5)


@pytest.mark.parametrize("power", [3, 7.5, 9, 9.5, 24])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_no_other_number_where_the_formula_is_none(power):
    """x⁹/(1 + x⁹) is nan at 1e60; written by cubes, of which a divisor is infinite, it was 0 for 1, silently."""
    program = sg.compile(lambda x: x**power / (2.5**power + x**power), np.ones(2))
    x = 10.0 ** np.arange(-300, 301, 5)
    found = program(x)
    exact = 1 / (1 + (2.5 / x) ** power)
    close = np.isclose(found, exact, rtol=1e-12, atol=1e-300)
    assert np.all(close | np.isnan(found))
    assert np.all(close[np.abs(np.log10(x)) < 280 / (2 * power)])


@pytest.mark.parametrize("power", [4, 12, 24, 50])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_slopes_of_steep_quotients_are_no_more_than_the_exact_ones(power):
    """That of x⁵⁰/(2.5⁵⁰ + x⁵⁰) was inf at 1e6: powers that stand beside each other were scaled beyond 1e9 alone."""
    program = sg.compile(sg.func.grad(lambda x: (x**power / (2.5**power + x**power)).sum()), np.ones(2))
    x = 10.0 ** np.arange(0, 12, 0.25)
    r = x / 2.5
    exact = power / 2.5 * r ** (power / 2 - 1) / (1 + r**power) / (r ** (-power / 2) + r ** (power / 2))
    np.testing.assert_allclose(program(x), exact, rtol=1e-11, atol=1e-300)

"""Kernels of special functions against 30-digit values, and the stable ones where the naive form breaks."""

from __future__ import annotations

import math
from typing import Any

import mpmath
import numpy as np
import pytest

import symgrad as sg
from symgrad import kernels
from symgrad.op import TABLE

POINTS = {
    "erf": (-3.0, -0.5, 1e-8, 0.7, 2.5),
    "erfc": (-3.0, -0.5, 0.7, 2.5, 10.0),
    "lgamma": (0.1, 0.5, 2.5, 17.0, 300.0),
    "digamma": (0.1, 0.5, 1.0, 2.5, 7.9, 8.0, 11.9, 40.0, 1e6, -0.5, -3.3),
    "sinc": (1e-5, 0.3, 1.7, -2.2),
    "dsinc": (1e-5, 0.1, 0.3, 1.7, -2.2),
    "softplus": (-800.0, -40.0, -1.0, 0.0, 3.0, 800.0),
    "logsigmoid": (-800.0, -1.0, 0.0, 3.0, 40.0),
    "sigmoid": (-700.0, -30.0, 0.0, 2.0, 40.0),
    "log1p": (1e-12, 0.5, 100.0),
    "expm1": (1e-12, -0.5, 5.0),
    "cbrt": (1e-9, 2.0, 1e9),
}


def exact(name: str, x: float) -> Any:
    """The value to 30 digits."""
    z = mpmath.mpf(x)
    with mpmath.workdps(400 if name in ("softplus", "logsigmoid", "sigmoid") else 30):
        forms = {
            "erf": lambda: mpmath.erf(z),
            "erfc": lambda: mpmath.erfc(z),
            "lgamma": lambda: mpmath.loggamma(z),
            "digamma": lambda: mpmath.digamma(z),
            "sinc": lambda: mpmath.sincpi(z),
            "dsinc": lambda: (mpmath.pi * z * mpmath.cospi(z) - mpmath.sinpi(z)) / (mpmath.pi * z * z),
            "softplus": lambda: mpmath.log1p(mpmath.exp(z)),
            "logsigmoid": lambda: -mpmath.log1p(mpmath.exp(-z)),
            "sigmoid": lambda: 1 / (1 + mpmath.exp(-z)),
            "log1p": lambda: mpmath.log1p(z),
            "expm1": lambda: mpmath.expm1(z),
            "cbrt": lambda: mpmath.cbrt(z),
        }
        return forms[name]()


@pytest.mark.parametrize(("name", "x"), [(name, x) for name, points in POINTS.items() for x in points])
def test_against_thirty_digits(name: str, x: float) -> None:
    got = TABLE[name].kernel(np.float64(x))
    want = float(exact(name, x))
    assert got == pytest.approx(want, rel=2e-14, abs=1e-300)


@pytest.mark.parametrize("n", [1, 2, 3, 5])
@pytest.mark.parametrize("x", [0.05, 0.3, 1.0, 2.5, 11.0, 80.0])
def test_polygamma(n: int, x: float) -> None:
    assert kernels.polygamma(np.float64(x), n) == pytest.approx(float(mpmath.psi(n, x)), rel=2e-14)


@pytest.mark.parametrize("n", [2, 5, 9])
def test_polygamma_below_zero(n: int) -> None:
    x = np.array([-0.3, -1.6, -4.25])
    want = [float(mpmath.psi(n, z)) for z in x]
    np.testing.assert_allclose(kernels.polygamma(x, n), want, rtol=1e-12)


@pytest.mark.parametrize("n", [0, 1, 2, 3, 7, 12])
def test_bessel_i_keeps_its_digits(n: int) -> None:
    x = np.array([1e-5, 0.02, 0.7, -3.0, 8.5, 23.9, 24.1, 60.0, -150.0, 311.0, 700.0, 1e6])
    with mpmath.workdps(40):
        want = [float(mpmath.besseli(n, z) * mpmath.exp(-abs(mpmath.mpf(z)))) for z in x]
    np.testing.assert_allclose(kernels.bessel_ie(x, n), want, rtol=5e-14)
    edges = kernels.bessel_ie(np.array([0.0, np.inf, -np.inf, np.nan]), n)
    np.testing.assert_array_equal(edges, [float(n == 0), 0.0, 0.0, np.nan])


def test_gamma_family_at_its_poles() -> None:
    assert kernels.lgamma(np.float64(0.0)) == math.inf
    assert kernels.digamma(np.float64(0.0)) == -math.inf
    assert math.isnan(kernels.digamma(np.float64(-2.0)))


@pytest.mark.parametrize("about", [0.25, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 5.0, 9.5, 10.0, 20.0, 1e4])
def test_log_gamma_to_the_last_digits(about: float) -> None:
    """Also where it is zero, at 1 and 2, and where one formula follows another."""
    x = about * (1 + np.concatenate([[0.0], *([h, -h] for h in 10.0 ** -np.arange(1, 15.0))]))
    with mpmath.workdps(40):
        want = np.array([float(mpmath.loggamma(mpmath.mpf(z))) for z in x])
    np.testing.assert_allclose(kernels.lgamma(x), want, rtol=1e-15, atol=0)


def test_reductions_do_not_overflow() -> None:
    x = np.array([1000.0, 1000.0])
    assert kernels.logsumexp(x, (0,), False) == pytest.approx(1000 + math.log(2), rel=1e-15)
    np.testing.assert_allclose(kernels.softmax(x, 0), [0.5, 0.5])
    np.testing.assert_allclose(kernels.log_softmax(x, 0), [-math.log(2)] * 2, rtol=1e-15)
    assert kernels.logsumexp(np.array([-math.inf, -math.inf]), (0,), False) == -math.inf
    assert kernels.logsumexp(np.array([math.inf, 0.0]), (0,), False) == math.inf


def test_logaddexp_of_complex_numbers_ends_as_that_of_real_ones():
    """The definition, log(e^x + e^y), decides at infinities; e^(low - top) alone is nan there, or loses a nan."""
    inf, nan = np.inf, np.nan
    x = sg.tensor(np.array([inf, -inf, -inf, complex(1, nan), inf, 1]) + 0j, requires_grad=True)
    y = sg.tensor(np.array([inf, -inf, 2, complex(inf, 1), 3, 1]) + 0j, requires_grad=True)
    out = sg.logaddexp(x, y)
    np.testing.assert_allclose(out.detach().numpy(), [inf, -inf, 2, complex(nan, nan), inf, 1 + np.log(2)])
    c = sg.ones_like(out).requires_grad_()
    with np.errstate(invalid="ignore"):  # at two infinities of one sign there is no derivative
        first = sg.autograd.grad(out, (x, y), c, create_graph=True)
        second = sg.autograd.grad(first[0], (x, y, c), sg.ones_like(c))
    np.testing.assert_allclose([g.detach().numpy()[[2, 4, 5]] for g in first], [[0, 1, 0.5], [1, 0, 0.5]])
    np.testing.assert_allclose([g.numpy()[[2, 4, 5]] for g in second], [[0, 0, 0.25], [0, 0, -0.25], [0, 1, 0.5]])


def test_equal_moduli_in_a_running_sum_keep_the_newer_angle():
    """log e^x has many values; the newer of two entries of one real part is the one that is continued, as in torch."""
    x = sg.tensor(np.array([-501j, 0j]), requires_grad=True)
    c = sg.tensor(np.array([1.0 + 0j, 1.0]), requires_grad=True)
    out = sg.logcumsumexp(x, 0)
    np.testing.assert_allclose(np.exp(out[1].item()), np.exp(-501j) + 1)
    assert abs(out[1].item().imag) < math.pi
    (first,) = sg.autograd.grad(out, x, c, create_graph=True)
    share = np.exp(-501j) / (np.exp(-501j) + 1)
    np.testing.assert_allclose(first.detach().numpy(), np.conj([1 + share, 1 - share]))
    (second,) = sg.autograd.grad(first, x, sg.tensor(np.array([1.0 + 0j, 0.0])))
    slope = share * (1 - share)
    np.testing.assert_allclose(second.numpy(), np.conj([slope, -slope]))


def _second(name: str, points: list[float]) -> Any:
    x = sg.tensor(points, dtype=sg.float64, requires_grad=True)
    (g,) = sg.autograd.grad(getattr(sg.special, name)(x).sum(), x, create_graph=True)
    return sg.autograd.grad(g.sum(), x)[0].numpy()


def test_second_derivatives_keep_their_digits_where_the_first_ones_nearly_cancel() -> None:
    far = [0.7, 3.0, 6.9, 7.1, 11.0, 24.0]
    with mpmath.workdps(600):
        points = [mpmath.mpf(x) for x in far]
        values = [mpmath.exp(x * x) * mpmath.erfc(x) for x in points]
        erfcx = [2 * v + 2 * x * (2 * x * v - 2 / mpmath.sqrt(mpmath.pi)) for x, v in zip(points, values, strict=True)]
        values = [mpmath.sqrt(mpmath.pi) / 2 * mpmath.exp(-x * x) * mpmath.erfi(x) for x in points]
        dawsn = [-2 * v - 2 * x * (1 - 2 * x * v) for x, v in zip(points, values, strict=True)]
    np.testing.assert_allclose(_second("erfcx", far), [float(v) for v in erfcx], rtol=2e-15)
    np.testing.assert_allclose(_second("dawsn", far), [float(v) for v in dawsn], rtol=4e-15)
    np.testing.assert_allclose(
        _second("erfcx", [1e6, 1e9]), np.array([1e-18, 1e-27]) * 2 / math.sqrt(math.pi), rtol=1e-11
    )
    np.testing.assert_allclose(_second("dawsn", [-1e6, 1e9]), [-1e-18, 1e-27], rtol=1e-11)


@pytest.mark.parametrize(("name", "b"), [("ellipk", 0.5), ("ellipe", -0.5)])
def test_second_derivatives_of_elliptic_integrals_near_zero(name: str, b: float) -> None:
    points = [0.0, 1e-300, 1e-12, -1e-8, 1e-4, 0.3, -0.4, 0.6, 0.999, -3.0]
    with mpmath.workdps(30):
        half, three = mpmath.mpf(1) / 2, mpmath.mpf(5) / 2
        factor = mpmath.pi / 2 * mpmath.rf(half, 2) * mpmath.rf(mpmath.mpf(b), 2) / 2
        exact = [float(factor * mpmath.hyp2f1(three, b + 2, 3, mpmath.mpf(m))) for m in points]
    np.testing.assert_allclose(_second(name, points), exact, rtol=3e-15)


@pytest.mark.parametrize(("a", "away"), [(0.3, 0.7), (5.0, 1.0), (50.0, -2.0), (1e4, 1.0), (1e10, 1.0), (1e15, 2.0)])
def test_densities_of_the_gamma_distribution_keep_their_digits(a: float, away: float) -> None:
    point = a + away * math.sqrt(a) if a > 1 else away
    first, second = (sg.tensor(v, dtype=sg.float64, requires_grad=True) for v in (a, point))
    (density,) = sg.autograd.grad(sg.special.gammainc(first, second), second, create_graph=True)
    slopes = sg.autograd.grad(density, (first, second))
    with mpmath.workdps(60):
        p, x = mpmath.mpf(a), mpmath.mpf(point)
        exact = mpmath.exp((p - 1) * mpmath.log(x) - x - mpmath.loggamma(p))
        wanted = [exact, exact * (mpmath.log(x) - mpmath.digamma(p)), exact * ((p - 1) / x - 1)]
    got = [density.item(), *(s.item() for s in slopes)]
    np.testing.assert_allclose(got, [float(w) for w in wanted], rtol=2e-15)


def test_densities_of_the_gamma_distribution_at_their_ends() -> None:
    a, x = np.array([0.5, 1.0, 2.0, 2.0, 20.0]), np.array([0.0, 0.0, 0.0, np.inf, 0.0])
    np.testing.assert_array_equal(kernels.gamma_density(a, x), [np.inf, 1, 0, 0, 0])
    assert kernels.gamma_density(np.float32(2.0), np.float32(1.0)).dtype == np.float32


def test_scaled_tails_beyond_25() -> None:
    points = [24.9, 25.01, 27.5, 35.8]
    with mpmath.workdps(900):
        exact = [float(mpmath.exp(mpmath.mpf(x) ** 2) * mpmath.erfc(mpmath.mpf(x))) for x in points]
    np.testing.assert_allclose(kernels.erfcx(np.array(points)), exact, rtol=4e-16)


def test_an_infinite_cotangent_passes_no_maximum_of_sinc() -> None:
    """acos has an infinite slope where sinc is 1; torch has 0 there, and so have programs."""
    x = np.array([0.0, 0.5])
    slope = sg.func.grad(lambda x: sg.acos(sg.sinc(x)).sum())
    want = [0.0, 1.6510323220553653]
    np.testing.assert_allclose(np.asarray(slope(x)), want, rtol=1e-12)
    np.testing.assert_allclose(sg.compile(slope, x)(x), want, rtol=1e-12)


@pytest.mark.parametrize("n", [0, 1, 2, 10])
def test_bessel_functions_of_small_numbers_keep_their_digits(n: int) -> None:
    points = [1e-29, 1e-20, 1e-10, -3e-5, 0.3, 1.9, 2.1, 3.5, 6.6]
    exact = [float(mpmath.besselj(n, mpmath.mpf(x))) for x in points]
    np.testing.assert_allclose(kernels.bessel_j(np.array(points), n), exact, rtol=2e-15)


@pytest.mark.parametrize("name", ["sinc", "dsinc"])
def test_sinc_far_out_keeps_its_digits(name: str) -> None:
    points = [0.55, 1.7, 1e3 + 0.25, 1e7 + 0.375, -1e12 - 0.125, 1e300]
    got = getattr(kernels, name)(np.array(points))
    with mpmath.workdps(40):
        zs = [mpmath.mpf(x) for x in points]
        forms = {"sinc": lambda z: mpmath.sincpi(z), "dsinc": lambda z: (mpmath.cospi(z) - mpmath.sincpi(z)) / z}
        # 1e300 is a whole number: what the rounding of πx leaves there is below 1e-300.
        np.testing.assert_allclose(got, [float(forms[name](z)) for z in zs], rtol=2e-15, atol=1e-300)


def test_sinc_of_whole_numbers_is_that_of_numpy_and_torch() -> None:
    """Not 0 but the sine of the rounded πx, which signs and masks see; beside them digits stay."""
    x = np.array([-5.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0, 100.0, 1e15])
    eager = sg.sinc(sg.tensor(x)).numpy()
    np.testing.assert_array_equal(eager, np.sinc(x))
    np.testing.assert_array_equal(sg.compile(sg.sinc, x)(x), eager)
    beside = 2 + 2.0**-30
    assert kernels.sinc(np.float64(beside)) == pytest.approx(float(mpmath.sincpi(beside)), rel=2e-15)


@pytest.mark.parametrize("n", [10, 30, 100, 400])
def test_bessel_functions_below_their_order_keep_their_digits(n: int) -> None:
    points = np.array([2.1 * math.sqrt(n + 1), n / 2, -0.7 * n, n - 1e-9, n, 1.01 * n])
    with mpmath.workdps(30):
        exact = [float(mpmath.besselj(n, mpmath.mpf(x))) for x in points]
    # What the rounding of x alone may do there is n units.
    np.testing.assert_allclose(kernels.bessel_j(points, n), exact, rtol=4 * n * 2**-53)


@pytest.mark.parametrize("n", [1, 2, 3, 6, 20])
def test_derivatives_of_the_elliptic_integral_b_keep_their_digits(n: int) -> None:
    points = np.array([-1e8, -1e3, -3.0, -1.2, -0.51, -0.3, 1e-9, 0.51, 0.8, 0.999, 1 - 1e-9])
    half = mpmath.mpf(1) / 2
    with mpmath.workdps(60):
        factor = mpmath.pi / 4 * mpmath.rf(half, n) ** 2 / mpmath.rf(2, n)
        exact = [float(factor * mpmath.hyp2f1(n + half, n + half, n + 2, mpmath.mpf(x))) for x in points]
    np.testing.assert_allclose(kernels.ellipb_slope(points, n), exact, rtol=(8 + n / 2) * 2**-52)
    np.testing.assert_array_equal(
        kernels.ellipb_slope(np.array([1, 2, -np.inf, np.nan]), n), [np.inf, np.nan, 0, np.nan]
    )


@pytest.mark.parametrize(("name", "tail"), [("erfcinv", mpmath.erfc), ("ndtri", mpmath.ncdf)])
@pytest.mark.parametrize("n", [1, 2])
def test_derivatives_of_quantiles_keep_their_digits_in_the_tails(name: str, tail: Any, n: int) -> None:
    points = [1e-300, 3e-150, 1e-20, 1e-3, 0.3, 0.8, 0.999, 1 - 2**-50]
    with mpmath.workdps(40):
        exact = []
        for x in points:
            # Newton's step for log tail(y) = log x from the float64 value on has twice its digits.
            y = mpmath.mpf(float(getattr(kernels, name)(x)))
            for _ in range(3):
                slope = mpmath.diff(lambda v: mpmath.log(tail(v)), y)
                y -= (mpmath.log(tail(y)) - mpmath.log(mpmath.mpf(x))) / slope
            first = 1 / (-2 / mpmath.sqrt(mpmath.pi) * mpmath.exp(-y * y) if name == "erfcinv" else mpmath.npdf(y))
            exact.append(float(first if n == 1 else (2 if name == "erfcinv" else 1) * y * first**2))
    x = sg.tensor(points, dtype=sg.float64, requires_grad=True)
    (g,) = sg.autograd.grad(getattr(sg.special, name)(x).sum(), x, create_graph=True)
    got = g.detach() if n == 1 else sg.autograd.grad(g.sum(), x)[0]
    np.testing.assert_allclose(got.numpy(), exact, rtol=3e-15)


def test_the_argument_of_the_normal_quantile_may_be_changed_as_in_torch() -> None:
    x = sg.tensor([0.3], dtype=sg.float64, requires_grad=True)
    z = x * 1
    y = sg.special.ndtri(z)
    z.mul_(2)
    y.sum().backward()
    exact = float(mpmath.sqrt(2 * mpmath.pi) * mpmath.exp(mpmath.erfinv(1 - 2 * mpmath.mpf(0.3)) ** 2))
    np.testing.assert_allclose(x.grad.numpy(), exact, rtol=1e-15)
    y = sg.special.ndtri(x * 1)
    y.mul_(2)
    with pytest.raises(sg.errors.AutogradError, match="modified by an inplace operation"):
        y.sum().backward()


@pytest.mark.parametrize("n", [0, 1, 5])
def test_derivatives_of_scaled_bessel_functions_keep_their_digits_far_out(n: int) -> None:
    points = [20.0, 30.0, 80.0, -1e3, 1e5]
    x = sg.tensor(points, dtype=sg.float64, requires_grad=True)
    (g,) = sg.autograd.grad(sg.special.ive(n, x).sum(), x, create_graph=True)
    (h,) = sg.autograd.grad(g.sum(), x)
    with mpmath.workdps(60):
        rows = []
        for p in points:
            s = mpmath.exp(-abs(mpmath.mpf(p))) * mpmath.sign(p) ** n
            i = [mpmath.besseli(abs(n + j), abs(mpmath.mpf(p))) for j in range(-2, 3)]
            rows.append(
                [
                    s * mpmath.sign(p) * ((i[1] + i[3]) / 2 - i[2]),
                    s * (i[0] + 6 * i[2] + i[4] - 4 * i[1] - 4 * i[3]) / 4,
                ]
            )
        exact = np.array([[float(v) for v in row] for row in rows])
    np.testing.assert_allclose(np.transpose([g.detach().numpy(), h.numpy()]), exact, rtol=2e-15)


def test_slopes_of_scaled_bessel_functions_at_their_kink_are_those_of_torch() -> None:
    got = [kernels.bessel_ie_slope(0.0, n, k) for n, k in ((0, 1), (1, 1), (0, 2), (1, 2), (2, 2), (3, 2))]
    assert got == [0, 0.5, 0.5, 0, 0.25, 0]


@pytest.mark.parametrize("n", [0, 1, 25, 100, 160])
def test_scaled_bessel_functions_of_high_order_keep_their_digits(n: int) -> None:
    points = [0.5, 23.0, 25.0, 77.0, 444.0, 641.0, 3000.0, 3e4, 1e6]
    with mpmath.workdps(30):
        exact = [float(mpmath.exp(-mpmath.mpf(x)) * mpmath.besseli(n, mpmath.mpf(x))) for x in points]
    np.testing.assert_allclose(kernels.bessel_ie(np.array(points), n), exact, rtol=1e-14)


@pytest.mark.parametrize("n", [0, 1, 5])
@pytest.mark.parametrize("k", [1, 2])
def test_derivatives_of_scaled_bessel_functions_of_the_second_kind_far_out(n: int, k: int) -> None:
    points = [0.2, 2.0, 20.0, 300.0, 1e5]
    exact = []
    with mpmath.workdps(60):
        for x in map(mpmath.mpf, points):
            terms = [(-1) ** j * math.comb(2 * k, j) * mpmath.besselk(abs(n + j - k), x) for j in range(2 * k + 1)]
            exact.append(float(mpmath.exp(x) * sum(terms) / (-2) ** k))
    np.testing.assert_allclose(kernels.bessel_ke_slope(np.array(points), n, k), exact, rtol=2e-15)


@pytest.mark.parametrize("x", [5e-324, -5e-324, 1e-310, -5e-309, 5.7e-309])
def test_gamma_of_the_smallest_numbers(x: float) -> None:
    t = sg.tensor(x, dtype=sg.float64, requires_grad=True)
    value = sg.special.rgamma(t)
    value.backward()
    assert (value.item(), t.grad.item()) == (x, 1.0)
    assert sg.special.gamma(np.float64(x)) == (1 / x if abs(1 / x) < math.inf else math.copysign(math.inf, x))


@pytest.mark.parametrize("x", [-12.0, -8.9, -6.1, -2.0, -1e-9, 0.5, 7.0])
def test_gelu_by_tanh_keeps_its_digits_far_to_the_left(x: float) -> None:
    t = sg.tensor(x, dtype=sg.float64, requires_grad=True)
    value = sg.nn.functional.gelu(t, approximate="tanh")
    value.backward()

    def exact(z: Any) -> Any:
        return z / 2 * (1 + mpmath.tanh(mpmath.sqrt(2 / mpmath.pi) * (z + mpmath.mpf(0.044715) * z**3)))

    with mpmath.workdps(150):
        want = float(exact(mpmath.mpf(x))), float(mpmath.diff(exact, mpmath.mpf(x)))
    assert (value.item(), t.grad.item()) == pytest.approx(want, rel=1e-13, abs=0)


@pytest.mark.parametrize("x", [-600.0, -30.0, -1e-9, 3e-17, 0.7, 40.0])
@pytest.mark.parametrize("share", [0.0, 1e-20, 0.3, 1.0])
def test_cross_entropy_of_a_logit_keeps_the_digits_of_both_derivatives(x: float, share: float) -> None:
    logit, target = (sg.tensor(v, dtype=sg.float64, requires_grad=True) for v in (x, share))
    loss = sg.nn.functional.binary_cross_entropy_with_logits(logit, target)
    loss.backward()
    with mpmath.workdps(400):
        z, t = mpmath.mpf(x), mpmath.mpf(share)
        want = float(mpmath.log1p(mpmath.exp(z)) - t * z), float(1 / (1 + mpmath.exp(-z)) - t)
    assert (loss.item(), logit.grad.item()) == pytest.approx(want, rel=1e-14, abs=1e-300)
    assert target.grad.item() == -x


def test_bessel_functions_of_high_order_overflow_to_their_infinity() -> None:
    """Y of order 200 at 1/2 is below every float: it was nan, the difference of two infinities."""
    z = np.array([1e-3, 0.5, 1.5, 7.0, 150.0])
    for call in (sg.special.yv, sg.special.spherical_yn):
        for n in (100, 200, 300):
            assert not np.isnan(call(n, z)).any()
            assert (call(n, z[:3]) == -np.inf).all() or n == 100
    assert (sg.special.yv(-201, z[:3]) == np.inf).all()
    assert (sg.special.spherical_yn(200, -z[:3]) == np.inf).all()
    with mpmath.workdps(30):
        np.testing.assert_allclose(sg.special.yv(200, z[4]), float(mpmath.bessely(200, 150)), rtol=1e-12)


def test_beta_functions_at_poles_are_infinite_or_their_limits() -> None:
    """binom(50, 80) was nan, and B(-5, 3) was 0: at a pole of both Γ(a) and Γ(a + b) it is the limit in a."""
    a, b = np.array([-29.0, -2.0, -2.0, 0.0, -1.5]), np.array([81.0, 171.0, 0.5, 52.0, 2.0])
    assert np.array_equal(np.isinf(sg.special.beta(a, b)), [True, True, True, True, False])
    a, b = np.array([-5.0, -3.0, -2.0, -29.0]), np.array([3.0, 3.0, 2.0, 10.0])
    with mpmath.workdps(60):
        wanted = [float(mpmath.beta(mpmath.mpf(x) + mpmath.mpf(10) ** -30, y)) for x, y in zip(a, b, strict=True)]
    np.testing.assert_allclose(sg.special.beta(a, b), wanted, rtol=1e-12)
    np.testing.assert_allclose(sg.special.beta(b, a), wanted, rtol=1e-12)
    np.testing.assert_allclose(sg.special.betaln(a, b), np.log(np.abs(wanted)), rtol=1e-12, atol=1e-12)
    n, k = np.array([50.0, 200.0, 3.0, -2.0]), np.array([80.0, 300.0, 170.0, 3.0])
    np.testing.assert_allclose(sg.special.binom(n, k), [0, 0, 0, -4], rtol=1e-12)

"""Values, slopes and second derivatives of special functions by one number, against mpmath, where digits cancel."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest

import symgrad as sg
from symgrad import kernels


def lambert(branch):
    def exact(x):
        w = mpmath.re(mpmath.lambertw(x, branch))
        return [w, mpmath.exp(-w) / (1 + w), -mpmath.exp(-2 * w) * (w + 2) / (1 + w) ** 3]

    return exact


def wave(x):
    s, c = mpmath.sin(x), mpmath.cos(x)
    return [s / x, c / x - s / x**2, -s / x - 2 * c / x**2 + 2 * s / x**3]


def log_normal(x):
    mass = mpmath.erfc(-x / mpmath.sqrt(2)) / 2
    mills = mpmath.exp(-x * x / 2) / mpmath.sqrt(2 * mpmath.pi) / mass
    slope = -mills * (x + mills)
    return [mpmath.log(mass), mills, slope, -slope * (x + mills) - mills * (1 + slope)]


def error_inverse(x):
    y = mpmath.erfinv(x)
    slope = mpmath.sqrt(mpmath.pi) / 2 * mpmath.exp(y * y)
    return [y, slope, 2 * y * slope**2]


BRANCH = -math.exp(-1) * (1 - 2.0 ** -np.arange(3, 50, 3))
EXACT = {
    "lambertw": (sg.special.lambertw, lambert(0), [*BRANCH, -1e-300, 1e-20, 0.3, 2.0, 1e5, 1e200], 16),
    "lambertw, lower": (lambda x: sg.special.lambertw(x, -1), lambert(-1), [*BRANCH, -0.05, -1e-9, -1e-120], 16),
    "sine integral": (lambda x: sg.special.sici(x)[0], lambda x: [mpmath.si(x), *wave(x)[:2]], [0.1, 3.0, 1e12], 4),
    "spherical j0": (sg.special.spherical_bessel_j0, wave, [0.01, 0.7, 3.0, 41.0, 1e5, 1e12], 4),
    "log_ndtr": (sg.special.log_ndtr, log_normal, [-1e5, -200.0, -30.0, -7.3, -3.0, -1.5, 0.5, 9.5], 16),
    "erfinv": (sg.special.erfinv, error_inverse, [-0.6, 0.1, *(1 - 2.0 ** -np.arange(3, 53, 7))], 8),
    "digamma": (sg.special.digamma, lambda x: [mpmath.psi(k, x) for k in range(3)], [1.3, 1.46163214496836, 2.0], 8),
}  # fmt: skip


@pytest.mark.parametrize("name", EXACT)
def test_values_and_two_derivatives(name):
    call, exact, points, limit = EXACT[name]
    x = sg.tensor(np.array(points), requires_grad=True)
    rows = [call(x)]
    with mpmath.workdps(80):
        want = [exact(mpmath.mpf(float(p))) for p in points]
        for _ in want[0][1:]:
            rows.append(sg.autograd.grad(rows[-1].sum(), x, create_graph=True)[0])
        for k, row in enumerate(rows):
            for p, got, exactly in zip(points, row.detach().numpy(), want, strict=True):
                away = abs(mpmath.mpf(float(got)) - exactly[k]) / np.spacing(abs(float(exactly[k])))
                assert away <= (limit if k < 3 else 200), (k, p, float(away))


def test_tail_of_the_normal_distribution():
    x = np.array([-37.5, -25.1189, -12.3, -5.0])
    with mpmath.workdps(30):
        want = [float(mpmath.erfc(-mpmath.mpf(float(v)) / mpmath.sqrt(2)) / 2) for v in x]
    np.testing.assert_allclose(kernels.ndtr(x), want, rtol=2e-15)


@pytest.mark.parametrize(("a", "b"), [(1e15, 2.7), (2.7, 1e15), (0.3, 1e-9), (1e-8, 1e-12), (55.3, 9.9), (1e9, 1e9)])
def test_slopes_of_beta_where_digamma_cancels(a, b):
    p, q = (sg.tensor(v, dtype=sg.float64, requires_grad=True) for v in (a, b))
    with mpmath.workdps(60):
        whole = mpmath.mpf(a) + mpmath.mpf(b)
        want = [mpmath.psi(0, v) - mpmath.psi(0, whole) for v in (a, b)]
        second = mpmath.psi(1, a) - mpmath.psi(1, whole)
        slopes = sg.autograd.grad(sg.special.betaln(p, q), (p, q), create_graph=True)
        np.testing.assert_allclose([s.item() for s in slopes], [float(w) for w in want], rtol=2e-15)
        (twice,) = sg.autograd.grad(slopes[0], p)
        np.testing.assert_allclose(twice.item(), float(second), rtol=2e-15)
        value = sg.special.beta(p, q)
        if value > 1e-290:
            by = sg.autograd.grad(value, (p, q))
            exact = [float(mpmath.beta(a, b) * w) for w in want]
            np.testing.assert_allclose([s.item() for s in by], exact, rtol=1e-14)


def test_upper_incomplete_gamma_of_small_parameters():
    a, x = np.meshgrid([1e-12, 1e-5, 0.03, 0.4, 0.8], [1e-9, 0.01, 0.3, 0.9, 1.0])
    with mpmath.workdps(40):
        want = [float(mpmath.gammainc(p, q, mpmath.inf, regularized=True)) for p, q in zip(a.flat, x.flat, strict=True)]
    np.testing.assert_allclose(kernels.gammaincc(a, x).ravel(), want, rtol=3e-15)
    np.testing.assert_allclose(kernels.gammainc(55.3, 0.001), 2.966549249464748e-240, rtol=3e-15)


def test_orders_whose_factorials_are_no_floats():
    with mpmath.workdps(40):
        want = [float(mpmath.besseli(n, 20) * mpmath.exp(-20)) for n in (171, 250)]
    np.testing.assert_allclose([sg.special.ive(n, np.float64(20)) for n in (171, 250)], want, rtol=5e-15)
    x = sg.tensor(20.0, dtype=sg.float64, requires_grad=True)
    sg.special.ive(200, x).backward()
    np.testing.assert_allclose(x.grad.item(), _ive_slope(200, 20), rtol=1e-14)


def _ive_slope(n, x):
    with mpmath.workdps(40):
        half = (mpmath.besseli(n - 1, x) + mpmath.besseli(n + 1, x)) / 2
        return float((half - mpmath.besseli(n, x)) * mpmath.exp(-x))


def test_branches_of_lambertw():
    points = np.array([-1, -0.4, 0, 1, np.inf, np.nan])
    np.testing.assert_allclose(sg.special.lambertw(points), [np.nan, np.nan, 0, 0.5671432904097838, np.inf, np.nan])
    np.testing.assert_array_equal(sg.special.lambertw(points, -1), [np.nan, np.nan, -np.inf, np.nan, np.nan, np.nan])
    with pytest.raises(ValueError, match=r"branches k = 0 and k = -1, got 1"):
        sg.special.lambertw(1.0, 1)


def test_ends():
    assert kernels.ellipe(np.float64(-1e300)) == 1e150
    s = sg.tensor([1e50, 400.0], dtype=sg.float64, requires_grad=True)
    sg.special.zeta(s, 1.0).sum().backward()
    np.testing.assert_array_equal(s.grad.numpy()[0], 0)
    np.testing.assert_allclose(s.grad.numpy()[1], -math.log(2) * 2.0**-400, rtol=1e-15)


@pytest.mark.parametrize(("order", "limit"), [(1, 8), (2, 8), (3, 8)])
def test_derivatives_of_i0e_near_zero(order, limit):
    """A series of one sign; it goes over into an integral at 6."""
    points = np.array([1e-8, 0.03, 0.7, 1.9, 4.2, 5.99, 6.01, 17.0, 40.0])
    found = kernels.bessel_ie_slope(points, 0, order)
    with mpmath.workdps(40):
        for x, got in zip(points, found, strict=True):
            turns = range(2 * order + 1)
            terms = [(-1) ** j * math.comb(2 * order, j) * mpmath.besseli(abs(j - order), x) for j in turns]
            want = mpmath.exp(-mpmath.mpf(float(x))) * sum(terms) / (2**order)
            assert abs(mpmath.mpf(float(got)) - want) <= limit * np.spacing(abs(float(want))), (x, got, float(want))

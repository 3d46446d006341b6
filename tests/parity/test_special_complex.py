"""Faddeeva's function, Jacobi's elliptic functions and 1/Γ against mpmath: values and derivatives."""

from __future__ import annotations

import functools

import mpmath
import numpy as np
import pytest

import symgrad as sg
from symgrad import kernels

RADII = [1e-300, 1e-8, 0.1, 0.5, 1.0, 1.9, 2.1, 3.0, 4.5, 6.0, 7.0, 12.0, 25.0, 1e4]
PLANE = np.array([r * np.exp(1j * angle) for r in RADII for angle in np.linspace(-3, 3, 14)])
PLANE = PLANE[PLANE.imag**2 - PLANE.real**2 < 700]


@functools.cache
def faddeeva(z, n, digits=120):
    """The derivative of order n, by those of lower order; a small part beside a large one takes more digits."""
    with mpmath.workdps(digits):
        if n == 0:
            return mpmath.exp(-z * z) * mpmath.erfc(-1j * z)
        if n == 1:
            return 2j / mpmath.sqrt(mpmath.pi) - 2 * z * faddeeva(z, 0)
        return -2 * (z * faddeeva(z, n - 1) + (n - 1) * faddeeva(z, n - 2))


@pytest.mark.parametrize(("n", "rtol"), [(0, 2e-15), (1, 1e-14), (2, 5e-14), (3, 2e-13)])
def test_faddeeva_in_the_whole_plane(n, rtol):
    points = PLANE[np.abs(PLANE) < 1e3] if n else PLANE
    want = np.array([complex(faddeeva(mpmath.mpc(complex(z)), n)) for z in points])
    assert np.max(np.abs(kernels.wofz_slope(points, n) - want) / np.abs(want)) < rtol


def test_real_and_imaginary_part_have_their_own_digits():
    z = np.array([8.0, 26.0 + 1e-300j, 5.0 + 1e-9j, 1e9 + 1e-3j])
    want = [complex(faddeeva(mpmath.mpc(complex(v)), 0, 400)) for v in z]
    np.testing.assert_allclose(kernels.wofz(z).real, np.real(want), rtol=1e-14)
    np.testing.assert_allclose(kernels.wofz(z).imag, np.imag(want), rtol=1e-14)
    x = np.array([0.0, 1.0, 30.0])
    np.testing.assert_allclose(
        sg.special.wofz(x).imag, 2 / np.sqrt(np.pi) * sg.special.dawsn(x), rtol=2e-15, atol=1e-16
    )


def test_ends_of_the_plane():
    z = np.array([complex(np.inf, 1), complex(1, np.inf), complex(np.nan, 0), complex(0, -30), 1e200 + 1e200j])
    found = kernels.wofz(z)
    assert found[0] == found[1] == 0
    assert np.isnan(found[2])
    assert found[3].real == np.inf
    np.testing.assert_allclose(found[4] * 1e201, 2.8209479177387815 + 2.8209479177387815j, rtol=1e-14)


def test_voigt_profile_has_slopes_by_all():
    x = sg.tensor([0.0, 1.5, -3.0], dtype=sg.float64, requires_grad=True)
    sigma = sg.tensor([0.5, 1.0, 2.0], dtype=sg.float64, requires_grad=True)
    gamma = sg.tensor([0.25, 1.0, 0.125], dtype=sg.float64, requires_grad=True)
    assert sg.autograd.gradcheck(sg.special.voigt_profile, (x, sigma, gamma))
    assert sg.autograd.gradgradcheck(sg.special.voigt_profile, (x, sigma, gamma))
    # Without the normal part it is Cauchy's density, and no derivative of the other branch leaks in.
    sg.special.voigt_profile(x, 0 * sigma, gamma).sum().backward()
    p, q = x.detach().numpy(), gamma.detach().numpy()
    np.testing.assert_allclose(gamma.grad, (p**2 - q**2) / (np.pi * (p**2 + q**2) ** 2), rtol=1e-14)
    assert sg.special.voigt_profile(sg.tensor([1.0]), 1.0, 0.5).dtype == sg.float32
    assert sg.special.voigt_profile(sg.tensor([np.inf, -np.inf]), 1.0, 0.5).tolist() == [0, 0]


def test_gradients_of_complex_numbers():
    z = sg.tensor([0.5 + 1j, 0.9 - 0.2j, 3 + 0.1j], dtype=sg.complex128, requires_grad=True)
    assert sg.autograd.gradcheck(sg.special.wofz, (z,))
    assert sg.autograd.gradgradcheck(sg.special.wofz, (z,))


def jacobi(u, m):
    u, m = mpmath.mpf(u), mpmath.mpf(m)
    return [mpmath.ellipfun(kind, u, m=m) for kind in ("sn", "cn", "dn")]


def test_jacobi_functions_have_digits_where_they_are_small():
    u, m = np.meshgrid([1e-8, 0.1, 0.7, 1.5, 3.0, 8.0, 20.0, -4.0], [0, 1e-12, 0.1, 0.5, 0.9, 0.999999, 1 - 1e-12, 1])
    with mpmath.workdps(40):
        want = np.array([[float(part) for part in jacobi(*at)] for at in zip(u.flat, m.flat, strict=True)]).T
    for found, exact in zip(sg.special.ellipj(u, m)[:3], want, strict=True):
        np.testing.assert_allclose(found.ravel(), exact, rtol=3e-14)
    sn, cn, _, phase = sg.special.ellipj(u, m)
    np.testing.assert_allclose(sn, np.sin(phase), atol=1e-14)
    np.testing.assert_allclose(cn, np.cos(phase), atol=1e-14)
    near = m < 1
    np.testing.assert_allclose(sg.special.ellipkinc(phase[near], m[near]), u[near], rtol=2e-9)
    assert np.isnan(sg.special.ellipj(0.5, np.array([-0.1, 1.1]))).all()


def test_slopes_of_jacobi_functions():
    u = sg.tensor([0.3, 1.0, -2.5, 7.0], dtype=sg.float64, requires_grad=True)
    m = sg.tensor([0.125, 0.4, 0.9, 0.7], dtype=sg.float64, requires_grad=True)
    assert sg.autograd.gradcheck(sg.special.ellipj, (u, m))
    assert sg.autograd.gradgradcheck(sg.special.ellipj, (u, m))
    for kind, found in zip(("sn", "cn", "dn"), sg.special.ellipj(u, m), strict=False):
        slopes = sg.autograd.grad(found.sum(), (u, m), retain_graph=True)
        with mpmath.workdps(30):
            for slope, orders in zip(slopes, ((1, 0), (0, 1)), strict=True):
                want = [
                    float(mpmath.diff(lambda p, q: mpmath.ellipfun(kind, p, m=q), at, orders))  # noqa: B023
                    for at in zip(u.tolist(), m.tolist(), strict=True)
                ]
                np.testing.assert_allclose(slope, want, rtol=1e-13)


@pytest.mark.parametrize("n", range(4))
def test_reciprocal_gamma_and_its_slopes(n):
    points = [
        0,
        -1,
        -5,
        -5 + 1e-9,
        -5.5,
        -20.3,
        -100.7,
        -160.25,
        -165.5,
        1e-8,
        0.3,
        0.49999,
        0.5,
        1.5,
        3.5,
        50,
        169,
        171,
    ]
    x = sg.tensor(points, dtype=sg.float64, requires_grad=True)
    y = sg.special.rgamma(x)
    for _ in range(n):
        (y,) = sg.autograd.grad(y.sum(), x, create_graph=True)
    with mpmath.workdps(60):
        want = [float(mpmath.diff(mpmath.rgamma, mpmath.mpf(float(v)), n)) for v in points]
    np.testing.assert_allclose(y.detach(), want, rtol=3e-13, atol=1e-300)

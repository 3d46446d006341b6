"""Elementary functions of complex numbers against mpmath, where NumPy's or the real formula's digits are lost."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

import symgrad as sg

RNG = np.random.default_rng(4)
TURNS = np.exp(2j * np.pi * RNG.random(24))
TINY = 10 ** RNG.uniform(-20, -2, 24) * TURNS
HUGE = 10 ** RNG.uniform(100, 250, 24) * TURNS
BESIDE = np.concatenate([at + TINY[6 * k : 6 * k + 6] * 1e-1 for k, at in enumerate((1, -1, 1j, -1j))])
CIRCLE = TURNS - 1  # where |1 + z| is 1

SLOPES = {
    "asin": lambda z: 1 / (mpmath.sqrt(1 - z) * mpmath.sqrt(1 + z)),
    "acos": lambda z: -1 / (mpmath.sqrt(1 - z) * mpmath.sqrt(1 + z)),
    "atan": lambda z: 1 / (1 + z * z),
    "asinh": lambda z: 1 / (mpmath.sqrt(1 + 1j * z) * mpmath.sqrt(1 - 1j * z)),
    "acosh": lambda z: 1 / (mpmath.sqrt(z - 1) * mpmath.sqrt(z + 1)),
    "atanh": lambda z: 1 / (1 - z * z),
}


def exact(function, points):
    with mpmath.workdps(700):
        return np.array([complex(function(mpmath.mpc(complex(z)))) for z in points])


@pytest.mark.parametrize("points", [TINY, CIRCLE, TURNS, 30 * TURNS, HUGE], ids=["tiny", "circle", "1", "30", "huge"])
def test_log1p_has_the_digits_of_both_parts(points):
    want = exact(lambda z: mpmath.log(1 + z), points)
    for dtype, most in ((np.complex128, 4e-16), (np.complex64, 1.3e-7)):
        if dtype is np.complex64 and points is not TINY:
            continue
        given = points.astype(dtype)
        truth = want if dtype is np.complex128 else exact(lambda z: mpmath.log(1 + z), given)
        for found in (sg.log1p(sg.tensor(given)).numpy(), sg.compile(sg.log1p)(given)):
            assert found.dtype == dtype
            np.testing.assert_allclose(found.real, truth.real, rtol=most, atol=1e-45 if dtype is np.complex64 else 0)
            np.testing.assert_allclose(found.imag, truth.imag, rtol=most, atol=1e-45 if dtype is np.complex64 else 0)


@pytest.mark.parametrize("name", SLOPES)
@pytest.mark.parametrize("points", [TINY, BESIDE, 30 * TURNS, HUGE], ids=["tiny", "beside", "30", "huge"])
def test_slopes_next_to_branch_points_and_far_out(name, points):
    points = points[np.abs(points) < 1e150] if "tan" in name else points  # one over a square
    want = exact(SLOPES[name], points)
    z = sg.tensor(points, requires_grad=True)
    out = getattr(sg, name)(z)
    out.backward(sg.ones_like(out))
    forward = sg.func.jvp(getattr(sg, name), (sg.tensor(points),), (sg.ones_like(out).detach(),))[1].numpy()
    for found in (z.grad.numpy().conj(), forward):
        np.testing.assert_array_less(np.abs(found - want), 8e-16 * np.abs(want) + 1e-300)


def test_gates_far_to_the_left_are_no_nan():
    """e^-z overflows there, and the quotient by it is 0, or nearly so."""
    points = np.array([-796 - 79.87j, -720 + 3j, -1e5 + 1e3j, -1e200 + 1j, -700 + 2j, -30 + 1j, 40 + 3j, 900 - 5j])
    want = exact(lambda z: mpmath.exp(z) / (1 + mpmath.exp(z)), points)
    for dtype, most in ((np.complex128, 1e-15), (np.complex64, 4e-7)):
        z = sg.tensor((points if most < 1e-9 else np.delete(points, 3)).astype(dtype), requires_grad=True)
        true = exact(lambda z: mpmath.exp(z) / (1 + mpmath.exp(z)), z.detach().numpy())
        tiny = 1e-44 if dtype is np.complex64 else 1e-307
        calls = [sg.sigmoid, lambda z: sg.nn.functional.silu(z) / z]
        calls.append(lambda z: sg.autograd.grad(sg.logaddexp(z, 0 * z), z, sg.ones_like(z))[0].conj())
        for call in calls:
            np.testing.assert_allclose(call(z).detach().numpy(), true, rtol=4 * most, atol=tiny)
        out = sg.sigmoid(z)
        (slope,) = sg.autograd.grad(out, z, sg.ones_like(out), create_graph=True)
        (bend,) = sg.autograd.grad(slope, z, sg.ones_like(slope))
        assert np.isfinite(slope.detach().numpy()).all()
        assert np.isfinite(bend.numpy()).all()
    np.testing.assert_allclose(sg.compile(sg.sigmoid)(points), want, rtol=1e-15, atol=1e-307)


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_curvatures_of_logaddexp_where_one_operand_is_far_below(dtype):
    """1 - σ was 0 there, or had few digits."""
    far = 15.58 if dtype is np.complex64 else 36.0
    x, y = (sg.tensor(np.array([z], dtype), requires_grad=True) for z in (far - 0.7j, 0.2 + 0.1j))
    (slope,) = sg.autograd.grad(sg.logaddexp(x, y), x, sg.ones_like(x), create_graph=True)
    (found,) = sg.autograd.grad(slope, x, sg.ones_like(x))
    below = np.exp(-(complex(x.item()) - complex(y.item())))
    np.testing.assert_allclose(
        found.conj().numpy(), below / (1 + below) ** 2, rtol=3e-6 if dtype is np.complex64 else 1e-13
    )

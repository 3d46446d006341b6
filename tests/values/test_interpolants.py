"""Interpolants of slow kernels: their digits around the octaves' ends, and in files."""

from __future__ import annotations

import subprocess
import sys

import mpmath
import numpy as np
import pytest

import symgrad as sg
from symgrad import kernels

ENDS = 2.0 ** np.arange(7)
POINTS = np.concatenate([ENDS, np.nextafter(ENDS, 0), 1.3 * ENDS, 1.9 * ENDS])


def slope_of_erfcx(x):
    return 2 * x * mpmath.exp(x * x) * mpmath.erfc(x) - 2 / mpmath.sqrt(mpmath.pi)


CASES = {
    "Y0": (lambda x: kernels.bessel_y(x, 0), lambda x: mpmath.bessely(0, x), 0.5),
    "Y1": (lambda x: kernels.bessel_y(x, 1), lambda x: mpmath.bessely(1, x), 0.5),
    "J0": (lambda x: kernels.bessel_j(x, 0), lambda x: mpmath.besselj(0, x), 0.5),
    "K0": (lambda x: kernels.bessel_ke(x, 0), lambda x: mpmath.exp(x) * mpmath.besselk(0, x), 0),
    "K1": (lambda x: kernels.bessel_ke(x, 1), lambda x: mpmath.exp(x) * mpmath.besselk(1, x), 0),
    "K0'": (
        lambda x: kernels.bessel_ke_slope(x, 0, 1),
        lambda x: mpmath.exp(x) * (mpmath.besselk(0, x) - mpmath.besselk(1, x)),
        0,
    ),
    "erfcx'": (lambda x: kernels.erfcx_slope(x - 1, 1), lambda x: slope_of_erfcx(x - 1), 0),
}


@pytest.mark.parametrize("name", CASES)
def test_digits_around_the_ends_of_octaves(name):
    call, exact, waves = CASES[name]
    with mpmath.workdps(50):
        for x, found in zip(POINTS, call(POINTS), strict=True):
            want = exact(mpmath.mpf(float(x)))
            size = max(abs(want), waves / mpmath.sqrt(x)) if waves else abs(want)  # next to zeros, of the waves
            assert abs(mpmath.mpf(float(found)) - want) < 2e-15 * size, x


def test_files_carry_them(tmp_path):
    x = np.linspace(0.3, 40, 7)
    program = sg.compile(lambda x: sg.special.erfcx(x) + sg.special.bessel_y0(x), x)
    program.save(tmp_path / "saved.py")
    command = [sys.executable, "-I", str(tmp_path / "saved.py"), "--selftest"]
    assert subprocess.run(command, check=False, capture_output=True).returncode == 0

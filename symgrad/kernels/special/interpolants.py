"""Chebyshev interpolants of slow kernels: of one number from 1 on, made when one is first asked for.

Functions that are singular at 0 only are analytic around every octave alike, and an asymptotic series in 1/x far out is
that in the last one.  L. N. Trefethen, "Approximation Theory and Approximation Practice" (2013), chapter 8.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np


def interpolants(kernel: Callable[..., Any], *params: float, known: dict[Any, Any] = {}) -> Any:  # noqa: B006
    """For each power, the highest first, the coefficients of every row of ``kernel`` in each octave.

    They are kept in ``known``.  The last octave reaches to infinity.
    """
    from numpy.polynomial.chebyshev import cheb2poly

    if (kernel, params) in known:
        return known[kernel, params]
    count = 96  # more than there are coefficients, so that rounding errors of the values even out
    angles = np.pi * (np.arange(count) + 0.5) / count
    nodes = np.cos(angles)
    waves = np.cos(np.arange(20)[:, None] * angles)
    found = []
    for octave in range(6):
        rows = kernel(2.0**octave * ((nodes + 3) / 2 if octave < 5 else 2 / (nodes + 1)), *params)
        sums = np.array([[math.fsum(wave * row) / count for wave in waves] for row in np.atleast_2d(rows)])
        sums[:, 1:] *= 2
        powers = [cheb2poly(coefs) for coefs in sums]  # without those at the end that are 0
        found.append([np.pad(row, (0, len(waves) - len(row)))[::-1] for row in powers])
    known[kernel, params] = np.array(found).transpose(2, 1, 0).copy()
    return known[kernel, params]


def interpolated(kernel: Callable[..., Any], x: Any, *params: float) -> Any:
    """What ``kernel`` gives for a vector of finite x >= 1: real rows, each of the length of ``x``."""
    first, *others, last = interpolants(kernel, *params)
    octaves = np.minimum(np.frexp(x)[1] - 1, 5)
    near = np.ldexp(x, -octaves)
    near = np.where(octaves < 5, 2 * near - 3, 2 / near - 1)
    out = first.take(octaves, 1)
    out *= near
    for coefs in others:
        out += coefs.take(octaves, 1)
        out *= near
    out += last.take(octaves, 1)
    return out

"""Chebyshev interpolants of slow kernels: of one number from 1 on, made when one is first asked for.

Functions that are singular at 0 only are analytic around every octave alike, and an asymptotic series in 1/x far out is
that in the last one.  L. N. Trefethen, "Approximation Theory and Approximation Practice" (2013), chapter 8.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np


def interpolants(kernel: Callable[..., Any], *params: float, known: dict[Any, Any] = {}) -> list[Any]:  # noqa: B006
    """For each octave the coefficients, the highest power first, of the polynomials of every row of ``kernel``.

    They are kept in ``known``.  The last octave reaches to infinity.
    """
    from numpy.polynomial.chebyshev import cheb2poly

    if (kernel, params) in known:
        return known[kernel, params]  # type: ignore[no-any-return]
    count = 96  # more than there are coefficients, so that rounding errors of the values even out
    angles = np.pi * (np.arange(count) + 0.5) / count
    nodes = np.cos(angles)
    waves = np.cos(np.arange(20)[:, None] * angles)
    found = []
    for octave in range(6):
        rows = kernel(2.0**octave * ((nodes + 3) / 2 if octave < 5 else 2 / (nodes + 1)), *params)
        sums = np.array([[math.fsum(wave * row) / count for wave in waves] for row in np.atleast_2d(rows)])
        sums[:, 1:] *= 2
        found.append(np.array([cheb2poly(coefs)[::-1] for coefs in sums]))
    known[kernel, params] = found
    return found


def interpolated(kernel: Callable[..., Any], x: Any, *params: float) -> Any:
    """What ``kernel`` gives for a vector of finite x >= 1: real rows, each of the length of ``x``."""
    table = interpolants(kernel, *params)
    octaves = np.minimum(np.frexp(x)[1] - 1, 5)
    out = np.empty((len(table[0]), len(x)))
    for octave in range(6):
        here = octaves == octave
        if not here.any():
            continue
        near = np.ldexp(x[here], -octave)
        near = 2 * near - 3 if octave < 5 else 2 / near - 1
        for row, coefs in zip(out, table[octave], strict=True):
            part = coefs[0] * near
            for c in coefs[1:-1]:
                part += c
                part *= near
            part += coefs[-1]
            row[here] = part
    return out

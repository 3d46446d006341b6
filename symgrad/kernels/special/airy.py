"""NumPy kernels of Airy's functions and their derivatives.

Between -1.5 and 1 (Bi: 10) the power series (DLMF 9.4.1 - 9.4.4); to the left Hankel's functions of the orders 1/3 and
2/3; to the right for Ai a trapezoidal sum on the path of steepest descent; and the asymptotic series beyond ±10.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from symgrad.kernels.entries.elementwise import in_doubles
from symgrad.kernels.special.bessel import hankel


def airy_series(x: Any, second: bool, slope: bool) -> Any:
    """Ai or Bi, or its derivative, by the power series of the two solutions that begin with 1 and with x."""
    cube = x * x * x
    even, odd = np.ones_like(x), np.ones_like(x) if slope else x
    if slope:
        even = x * x / 2
    first, last = even, odd
    for k in range(1, 60):
        if slope:
            even = even * cube / (3 * k * (3 * k + 2))
            odd = odd * cube / (3 * k * (3 * k - 2))
        else:
            even = even * cube / (3 * k * (3 * k - 1))
            odd = odd * cube / (3 * k * (3 * k + 1))
        before, first, last = (first, last), first + even, last + odd
        if k % 8 == 0 and np.array_equal(before, (first, last)):  # and what follows is smaller still
            break
    a, b = 0.3550280538878172, 0.2588194037928068
    return math.sqrt(3) * (a * first + b * last) if second else a * first - b * last


def depth_of(x: Any) -> tuple[Any, Any]:
    """2/3 x^(3/2), and what its rounding leaves; far out it is nothing beside that of ``x`` itself."""
    if (x > 1e20).any():
        near = np.where(x > 1e20, 1.0, x)
        return 2 * (x * np.sqrt(x)) / 3, np.where(near == x, depth_of(near)[1], 0.0)
    root = np.sqrt(x)
    power = x * root
    high, wide = np.float64(np.float32(root)), np.float64(np.float32(x))
    low = (x - high * high) / (root + high)
    rest = ((wide * high - power) + wide * low) + (x - wide) * root
    depth = 2 * power / 3
    top = np.float64(np.float32(depth))
    return depth, (2 * rest + ((2 * power - 3 * top) - 3 * (depth - top))) / 3


def airy_far(depth: Any, turn: Any, slope: bool) -> Any:
    """Σ u_k (turn/ζ)^k of the asymptotic series, or that of the v_k for derivatives (DLMF 9.7.2), for ζ > 21."""
    total = term = np.ones_like(depth * turn)
    ratio = turn / (72 * depth)
    for k in range(1, 34):
        term = term * ratio * ((6 * k - 5) * (6 * k - 1) / k)
        total = total + term * (-(6 * k + 1) / (6 * k - 1) if slope else 1)
    return total


def airy_left(x: Any, second: bool, slope: bool) -> Any:
    """The functions at -x, x > 1.4, of Hankel's (DLMF 9.6.17 - 9.6.20), from 10 on asymptotically (9.7.9 - 9.7.12)."""
    depth, rest = depth_of(x)
    near, far = x <= 10, x > 10
    wave = np.empty(x.shape, np.complex128)
    small = np.sqrt(x[near] / 3) if not slope else x[near] / math.sqrt(3)
    turn = np.exp((-1j if slope else 1j) * math.pi / 6)
    if near.any():
        wave[near] = turn * hankel(depth[near], 2 / 3 if slope else 1 / 3) * small
    if far.any():
        root = np.sqrt(np.sqrt(x[far]))
        series = airy_far(depth[far], -1j, slope) * np.exp(1j * depth[far]) * ((1 - 1j) / math.sqrt(2 * math.pi))
        wave[far] = -1j * root * series if slope else series / root
    wave = wave * np.exp(1j * rest)  # far out the rest is no small angle
    return -wave.imag if second else wave.real


def airy_right(x: Any, slope: bool) -> Any:
    """Ai or Ai' for x >= 1: the integral of exp(t³/3 - xt) along t = √x + is."""
    root = np.sqrt(x)
    depth, rest = depth_of(x)
    step = 0.11 / np.sqrt(root)
    total = root / 2 if slope else np.full_like(x, 0.5)
    for k in range(1, 58):
        s = k * step
        angle = s * s * s / 3
        part = math.exp(-0.0121 * k * k)  # of the square root times s²
        total = total + part * (root * np.cos(angle) + s * np.sin(angle) if slope else np.cos(angle))
    return (-1 if slope else 1) * np.exp(-depth) * (1 - rest) / math.pi * step * total


def airy_growing(x: Any, slope: bool) -> Any:
    """Bi or Bi' for x >= 10 by the asymptotic series (DLMF 9.7.7, 9.7.8)."""
    depth, rest = depth_of(x)
    total, root = airy_far(depth, 1, slope), np.sqrt(np.sqrt(x))
    return np.exp(depth) * (1 + rest) / math.sqrt(math.pi) * (total * root if slope else total / root)


def airy_vanishing(x: Any, slope: bool) -> Any:
    """Ai or Ai' for x >= 10 by the asymptotic series (DLMF 9.7.5, 9.7.6)."""
    depth, rest = depth_of(x)
    total, root = airy_far(depth, -1, slope) / 2, np.sqrt(np.sqrt(x))
    return np.exp(-depth) * (1 - rest) / math.sqrt(math.pi) * (-total * root if slope else total / root)


@in_doubles
def airy_of(x: Any, second: bool, slope: bool) -> Any:
    """Ai, Bi (``second``) or the derivative of one (``slope``)."""
    finite = np.atleast_1d(np.where(np.isfinite(x), x, 0.0))
    edge = 10.0 if second else 1.0
    left, right, beyond = finite < -1.5, (finite > edge) & (finite < 10), finite >= 10
    middle, out = ~left & (finite <= edge) & ~beyond, np.empty_like(finite)
    with np.errstate(all="ignore"):
        if middle.any():
            out[middle] = airy_series(finite[middle], second, slope)
        if left.any():
            out[left] = airy_left(-finite[left], second, slope)
        if right.any():
            out[right] = airy_right(finite[right], slope)
        if beyond.any():
            out[beyond] = (airy_growing if second else airy_vanishing)(finite[beyond], slope)
    out = out.reshape(x.shape)
    end = np.where((x == np.inf) & second, np.inf, np.where(np.isinf(x) & ((x > 0) | (not slope)), 0.0, np.nan))
    return np.where(np.isfinite(x), out, end)


def airy_ai(x: Any) -> Any:
    """Ai(x), the solution of y'' = xy that vanishes far to the right."""
    return airy_of(x, False, False)


def airy_ai_slope(x: Any) -> Any:
    """Ai'(x)."""
    return airy_of(x, False, True)


def airy_bi(x: Any) -> Any:
    """Bi(x), the solution of y'' = xy that grows to the right."""
    return airy_of(x, True, False)


def airy_bi_slope(x: Any) -> Any:
    """Bi'(x)."""
    return airy_of(x, True, True)

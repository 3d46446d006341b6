"""NumPy kernels of the gamma function, and its derivatives."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from symgrad.kernels.entries.elementwise import in_stretches
from symgrad.kernels.special.zeta import zeta


def gamma_function(x: Any) -> Any:
    """Γ(x) through ``math.gamma``: infinite at 0 and beyond 171.6, nan at the poles below 0."""
    x = np.asarray(x)
    y = x.astype(np.float64)
    pole = (y <= 0) & (y == np.floor(y))
    outside = pole | (y > 171.6) | ~np.isfinite(y)
    flat = np.where(outside, 1.0, y).ravel().tolist()
    out = np.fromiter(map(math.gamma, flat), np.float64, y.size).reshape(y.shape)
    end = np.where(y == 0, np.copysign(np.inf, y), np.where(y > 171.6, np.inf, np.nan))
    return np.where(outside, end, out).astype(x.dtype, copy=False)[()]


def lgamma(x: Any) -> Any:
    """log|Γ(x)| through ``math.lgamma``, of many entries from 3 on by Stirling's series; +inf at poles and far out."""
    x = np.asarray(x)
    if x.size > 32768:
        return in_stretches(lgamma, x)
    y = x.astype(np.float64)
    infinite = ((y <= 0) & (y == np.floor(y))) | (np.abs(y) > 2.5e305)
    known = np.where(infinite, 1.0, y)
    alone = ~(known >= 3) | (known.size <= 1024)
    out = known if alone.all() else stirling(np.maximum(known, 3.0))
    out[alone] = np.fromiter(map(math.lgamma, known[alone].tolist()), np.float64)
    # Whole numbers meet this function inside of derivatives: their logarithms are not whole.
    return np.where(infinite, np.inf, out).astype(np.result_type(x, np.float16))[()]


def stirling(x: Any) -> Any:
    """log Γ(x) for x >= 3: recurrence up to x >= 10, then the asymptotic series (DLMF 5.11.1)."""
    small = x < 10
    low = np.where(small, x, 1.0)
    product = np.array(low)
    for _ in range(6):
        low += 1
        product *= low
    y = np.where(small, low + 1, x)
    inverse = 1 / y
    square = inverse * inverse
    series = np.full_like(y, -691 / 360360)
    for coefficient in (1 / 1188, -1 / 1680, 1 / 1260, -1 / 360, 1 / 12):
        series *= square
        series += coefficient
    out = (y - 0.5) * np.log(y) - y + math.log(2 * math.pi) / 2 + series * inverse
    return np.where(small, out - np.log(product), out)


def stirling_rest(x: Any) -> Any:
    """log Γ(x) less Stirling's formula, for x >= 10 (DLMF 5.11.1)."""
    t = 1 / (x * x)
    series = 1 / 1188 - t * (691 / 360360 - t * (1 / 156 - t * 3617 / 122400))
    return (1 / 12 - t * (1 / 360 - t * (1 / 1260 - t * (1 / 1680 - t * series)))) / x


def cot_of_turns(x: Any) -> Any:
    """cot πx, by what x lacks to the nearest whole or half number: π is not exact, so that πx far out is no angle."""
    part = x - np.rint(x)
    near = np.abs(part) < 0.25
    rest = np.copysign(0.5 - np.abs(part), part)
    return np.where(near, 1 / np.tan(np.pi * np.where(near, part, 0.25)), np.tan(np.pi * np.where(near, 0.0, rest)))


def digamma(x: Any) -> Any:
    """ψ(x): recurrence up to x >= 12, then the asymptotic series (DLMF 5.11.2); reflection for x < 0."""
    x = np.asarray(x)
    if x.size > 32768:
        return in_stretches(digamma, x)
    work = x.astype(np.float64)
    negative = work < 0
    pole = (work <= 0) & (work == np.floor(work))
    y = np.where(negative, 1 - work, np.where(work == 0, 1.0, work))
    small = y < 12
    first = np.where(small, y, 1.0)
    steps = np.zeros_like(y)
    for k in range(11, -1, -1):
        steps -= 1 / (first + k)
    out = np.where(small, steps, 0.0)
    y = np.where(small, y + 12, y)
    t = 1 / (y * y)
    series = t * (1 / 12 - t * (1 / 120 - t * (1 / 252 - t * (1 / 240 - t * (1 / 132 - t * 691 / 32760)))))
    out = out + np.log(y) - 1 / (2 * y) - series
    if negative.any():
        turn = np.where(negative & ~pole, work, 0.5)
        out = np.where(negative, out - np.pi * cot_of_turns(turn), out)
    out = np.where(pole, np.where(work == 0, np.copysign(np.inf, -work), np.nan), out)
    return out.astype(x.dtype, copy=False)[()]


def polygamma(x: Any, n: int) -> Any:
    """ψ⁽ⁿ⁾(x) through the Hurwitz zeta function (DLMF 5.15.1); reflection (5.15.6) for x < 0."""
    if n == 0:
        return digamma(x)
    x = np.asarray(x)
    if x.size > 32768:
        return in_stretches(polygamma, x, n)
    work = x.astype(np.float64)
    negative = work < 0
    out = (-1) ** (n + 1) * math.factorial(n) * zeta(n + 1.0, np.where(negative, 1 - work, work))
    if negative.any():
        with np.errstate(invalid="ignore", divide="ignore"):
            cot = cot_of_turns(np.where(negative, work, 0.5))
        slope = [0.0, 1.0]  # d/dx c(cot πx) = -π (1 + cot²) c'(cot)
        for _ in range(n):
            steps = [-np.pi * k * slope[k] for k in range(1, len(slope))]
            slope = [a + b for a, b in zip([*steps, 0.0, 0.0], [0.0, 0.0, *steps], strict=True)]
        turned = np.zeros_like(cot)
        for coefficient in reversed(slope):
            turned = turned * cot + coefficient
        out = np.where(negative, (-1) ** n * out - np.pi * turned, out)
        if n > 1:
            out = np.where(negative & (work == np.floor(work)), (-1) ** (n + 1) * np.inf, out)
    return out.astype(x.dtype, copy=False)[()]

"""NumPy kernels of spherical Bessel functions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from symgrad.kernels.entries.elementwise import in_doubles
from symgrad.kernels.special.bessel import climbed


@in_doubles
def spherical_jn(x: Any, n: int) -> Any:
    """j_n(x) = √(π/2x) J_(n+1/2)(x): its series near 0, recurrence from above up to n, and from below beyond."""
    size = np.abs(np.nan_to_num(x, posinf=1e300, neginf=-1e300))
    low = np.minimum(size, math.sqrt(n + 1.5))
    term, series = np.ones_like(low), np.ones_like(low)
    for k in range(1, 20):
        term = -term * low * low / (2 * k * (2 * n + 2 * k + 1))
        series = series + term
    for k in range(1, n + 1):
        series = series * low / (2 * k + 1)
    middle = np.clip(size, math.sqrt(n + 1.5), n + 1.0)
    start = n + 24 + int(4 * math.sqrt(n))
    upper, lower, found = np.zeros_like(middle), np.full_like(middle, 1e-150), np.zeros_like(middle)
    for k in range(start, 0, -1):
        upper, lower = lower, (2 * k + 1) / middle * lower - upper
        if k - 1 == n:
            found = lower
    if n == 0:
        found = lower
    first, second = np.sin(middle) / middle, (np.sin(middle) / middle - np.cos(middle)) / middle
    scale = np.where(np.abs(lower) >= np.abs(upper), first / lower, second / upper)
    high = np.maximum(size, n + 1.0)
    before, after = np.cos(high) / high, np.sin(high) / high
    for k in range(n):
        before, after = after, (2 * k + 1) / high * after - before
    out = np.where(size <= low, series, np.where(size <= n + 1, found * scale, after))
    out = np.where(np.isinf(x), 0.0, out * np.where(x < 0, (-1) ** n, 1))
    return np.where(np.isnan(x), np.nan, out)


def spherical_yn(x: Any, n: int) -> Any:
    """y_n(x) = √(π/2x) Y_(n+1/2)(x) by its recurrence; -inf at 0."""
    x = np.asarray(x)
    size = np.abs(x.astype(np.float64))
    with np.errstate(all="ignore"):
        first = -np.cos(size) / size
        found = climbed(first, 1 / size * first - np.sin(size) / size, size, n, -1, 1)
        out = np.where(size == 0, -np.inf, np.where(np.isinf(size), 0.0, found * np.where(x < 0, (-1) ** (n + 1), 1)))
    return np.where(np.isnan(x), np.nan, out).astype(x.dtype, copy=False)[()]

"""NumPy kernels of Spence's function (the dilogarithm of 1 - z) and its derivative."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from symgrad.kernels.entries.elementwise import in_doubles


@in_doubles
def spence(x: Any) -> Any:
    """The integral of log(t)/(1 - t) from 1 to x: a series in log x near 1, reflection near 0, inversion far out."""
    with np.errstate(all="ignore"):
        large = np.maximum(x, 1 / x)
        small = np.minimum(x, 1 / x)
        u = np.where(large < 3.6, -np.log(x), 0.0)
        t = u * u
        series = np.zeros_like(u)
        bernoulli = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510, 43867 / 798,
                     -174611 / 330, 854513 / 138, -236364091 / 2730)  # fmt: skip
        power = u
        for k, number in enumerate(bernoulli):
            power = power * t / ((2 * k + 2) * (2 * k + 3))
            series = series + number * power
        middle = u - t / 4 + series
        # Li₂ of a small number.
        total, term = np.zeros_like(small), np.minimum(small, 0.28)
        power = term
        for k in range(1, 30):
            total = total + power / (k * k)
            power = power * term
        left = np.pi**2 / 6 - np.log(small) * np.log1p(-small) - total
        end = np.where(x > 1, -(np.log(large) ** 2) / 2 - left, left)
        out = np.where(large < 3.6, middle, end)
    out = np.where(x == 0, np.pi**2 / 6, np.where(x == np.inf, -np.inf, np.where(x < 0, np.nan, out)))
    return np.where(np.isnan(x), np.nan, out)


def spence_slope(x: Any, n: int = 0) -> Any:
    """The n-th derivative of log(x)/(1 - x): its series near 1, and from the derivatives below it elsewhere."""
    x = np.asarray(x)
    y = x.astype(np.float64)
    with np.errstate(all="ignore"):
        u = 1 - y
        near = np.abs(u) < 0.5
        small = np.where(near, u, 0.0)
        series = np.zeros_like(small)
        for k in range(60 + 8 * n, n - 1, -1):
            series = series * small - math.perm(k, n) / (k + 1)
        out = np.log(y) / u
        for k in range(1, n + 1):
            out = (k * out - math.factorial(k - 1) / (-y) ** k) / u
        sign = (-1) ** n
        ends = np.where(y == 0, -sign * np.inf, np.where(y == np.inf, 0.0, out))
        out = np.where(near, sign * series, ends)
    return out.astype(x.dtype, copy=False)[()]

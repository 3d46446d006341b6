"""NumPy kernels of the incomplete beta function and its derivatives by the parameters."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from symgrad.kernels.entries.elementwise import in_stretches_of
from symgrad.kernels.special.euler import beta_parts
from symgrad.kernels.special.gamma import digamma, polygamma, stirling_rest
from symgrad.kernels.special.gamma_integrals import log_over, log_rest, nodes_between
from symgrad.kernels.special.jets import jet_exp, jet_top


def beta_mass(a: Any, b: Any, x: Any, y: Any) -> Any:
    """x^a y^b/B(a, b) for y = 1 - x: of large a and b the distance from the mean, where the powers are small."""
    both = (a >= 10) & (b >= 10)
    p, q = np.where(both, a, 10.0), np.where(both, b, 10.0)
    away, whole = q * x - p * y, p + q
    exponent = -p * log_rest(away / p, x * (whole / p)) - q * log_rest(-away / q, y * (whole / q))
    rest = stirling_rest(p + q) - stirling_rest(p) - stirling_rest(q)
    large = np.sqrt(p * (q / (p + q)) / (2 * math.pi)) * np.exp(exponent + rest)
    powers = np.power(x, a) * np.where(x < 0.5, np.exp(b * np.log1p(-x)), np.power(y, b))
    small = powers / beta_parts(np.where(both, 1.0, a), np.where(both, 1.0, b))
    lost = ~both & ~(small > 0)
    small[lost] = np.exp(a[lost] * np.log(x[lost]) + b[lost] * np.log(y[lost]) - beta_parts(a[lost], b[lost], True))
    return np.where(both, large, small)


def beta_fraction(a: Any, b: Any, x: Any) -> Any:
    """The continued fraction of the incomplete beta function (DLMF 8.17.22), forwards as by Lentz."""
    c, d = np.ones_like(x), 1 - (a + b) * x / (a + 1)
    d = 1 / np.where(d == 0, 1e-300, d)
    out = d
    k, last = 0, 20_000
    while k < last:
        k += 1
        even = k * (b - k) * x / ((a + 2 * k - 1) * (a + 2 * k))
        odd = -(a + k) * (a + b + k) * x / ((a + 2 * k) * (a + 2 * k + 1))
        moved = np.ones_like(x)
        for factor in (even, odd):
            d, c = 1 + factor * d, 1 + factor / c
            d, c = 1 / np.where(d == 0, 1e-300, d), np.where(c == 0, 1e-300, c)
            moved = moved * c * d
        out = out * moved
        if last == 20_000 and not np.any(np.abs(moved - 1) > 1e-15):
            last = k + k // 8 + 1
    return out


def beta_logarithm(a: Any, b: Any, x: Any, y: Any) -> tuple[Any, Any]:
    """log x - ψ(a + 1) + ψ(a + b) and log y - ψ(b + 1) + ψ(a + b)."""
    whole, away = a + b, b * x - a * y
    large = whole >= 10  # by log(x (a + b)) instead, to its last digits
    total = np.where(large, -log_over(whole, np.zeros_like(whole), whole) - 1 / whole, digamma(whole))
    first = log_over(a, np.where(large, away, x - a), np.where(large, a + away, x))
    second = log_over(b, np.where(large, -away, y - b), np.where(large, b - away, y))
    return first + total, second + total


def beta_score(first: Any, second: Any, p: Any, q: Any, whole: Any, m: int, n: int) -> Any:
    """The derivative of orders m and n of e^k over itself: k has these slopes, p, q and a + b say its further ones."""
    logarithm = np.zeros((m + 1, n + 1, *np.shape(first)))
    for i, j in np.ndindex(m + 1, n + 1):
        if i + j == 1:
            logarithm[i, j] = first if i else second
        elif i + j:
            both = polygamma(whole, i + j - 1) / (math.factorial(i) * math.factorial(j))
            one = 0.0 if i and j else polygamma(p if i else q, i + j - 1) / math.factorial(i + j)
            logarithm[i, j] = both - one
    return jet_top(jet_exp(logarithm))


def beta_tail_slope(a: Any, b: Any, x: Any, y: Any, m: int, n: int) -> Any:
    """The derivative of I_x(a, b) of orders m by a and n by b for a >= 10: an integral over v = logit x - logit t."""
    end = (40 - (a + b) * np.log(y)) / a
    for _ in range(8):  # up to where the integrand is e^-40, by Newton's method: the exponent is convex
        share = x * np.expm1(-end)
        slope = a - (a + b) * (x + share) / (1 + share)
        end = end - np.maximum(a * end + (a + b) * np.log1p(share) - 40, 0) / np.where(slope > 0, slope, 1.0)
    v, weight = nodes_between(end)
    p, q = a[..., None], b[..., None]
    rest = np.log1p(x[..., None] * np.expm1(-v))
    first, second = ((part + 1 / of)[..., None] for part, of in zip(beta_logarithm(a, b, x, y), (a, b), strict=True))
    score = beta_score(first - v - rest, second - rest, p, q, p + q, m, n)
    return beta_mass(a, b, x, y) * np.sum(weight * np.exp(-p * v - (p + q) * rest) * score, -1)


def beta_head_slope(a: Any, b: Any, x: Any, y: Any, m: int, n: int) -> Any:
    """The same of I_x(a, b) - I_x(a + 10, b), by the recurrence (DLMF 8.17.20)."""
    p, q = a[..., None] + np.arange(1, 11), b[..., None]
    whole, power = p + q - 1, x[..., None]
    growth = np.cumprod(power * whole / p, -1) * p / (power * whole)
    mass = (beta_mass(a, b, x, y) / a)[..., None] * growth
    first, second = (part[..., None] for part in beta_logarithm(a, b, x, y))
    up, down = np.cumsum(1 / whole, -1) - 1 / whole, np.cumsum(1 / p, -1) - 1 / p
    score = beta_score(first + up - down, second + up + 1 / q, p, q, whole, m, n)
    return np.sum(mass * score, -1)


def incomplete_beta(a: Any, b: Any, x: Any, m: int, n: int) -> Any:
    """I_x(a, b), the m-th derivative of it by a and the n-th by b; nan outside of a, b > 0 and 0 <= x <= 1."""
    a, b, x = np.asarray(a), np.asarray(b), np.asarray(x)
    dtype = np.result_type(a, b, x)
    a, b, x = np.broadcast_arrays(*(part.astype(np.float64) for part in (a, b, x)))
    inside = (a > 0) & (b > 0) & (x > 0) & (x < 1) & np.isfinite(a) & np.isfinite(b)
    turned = x > (a + 1) / (a + b + 2)  # where the fraction of the other tail is the fast one
    edge = (a > 0) & (b > 0) & ((x == 0) | (x == 1))
    out = np.asarray(np.where(edge, 0.0 if m or n else x, np.nan))
    with np.errstate(all="ignore"):
        for side in (False, True):
            where = inside & (turned == side)
            if not where.any():
                continue
            p, q, low = a[where], b[where], x[where]
            first, last = (q, p) if side else (p, q)
            near, far = (1 - low, low) if side else (low, 1 - low)
            if m or n:
                orders, few = (n, m) if side else (m, n), first < 10
                found = beta_tail_slope(np.where(few, first + 10, first), last, near, far, *orders)
                found[few] += beta_head_slope(first[few], last[few], near[few], far[few], *orders)
                out[where] = -found if side else found
            else:
                found = beta_mass(first, last, near, far) / first * beta_fraction(first, last, near)
                out[where] = 1 - found if side else found
    return out.astype(dtype, copy=False)[()]


def betainc(a: Any, b: Any, x: Any) -> Any:
    """I_x(a, b), the regularised incomplete beta function; nan outside of a, b > 0 and 0 <= x <= 1."""
    return in_stretches_of(incomplete_beta, (a, b, x), 0, 0)


def betainc_slope(a: Any, b: Any, x: Any, m: int, n: int) -> Any:
    """The m-th derivative by a and n-th by b of I_x(a, b)."""
    return in_stretches_of(incomplete_beta, (a, b, x), m, n, size=1024)

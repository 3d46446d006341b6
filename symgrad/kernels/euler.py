"""NumPy kernels of the gamma and beta functions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from symgrad.kernels.gamma import digamma, lgamma


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


def stirling_rest(x: Any) -> Any:
    """log Γ(x) less Stirling's formula, for x >= 10 (DLMF 5.11.1)."""
    t = 1 / (x * x)
    series = 1 / 1188 - t * (691 / 360360 - t * (1 / 156 - t * 3617 / 122400))
    return (1 / 12 - t * (1 / 360 - t * (1 / 1260 - t * (1 / 1680 - t * series)))) / x


def log_beta_beyond(a: Any, b: Any) -> Any:
    """log B(a, b) for 0 < a <= b and b >= 10: what is large in log Γ(b) - log Γ(a + b) cancels on paper."""
    ratio = a / b
    rest = stirling_rest(b) - stirling_rest(a + b)
    large = np.maximum(a, 10)
    both = math.log(2 * math.pi) / 2 - np.log(b) / 2 + stirling_rest(large) + rest
    both = both + (large - 0.5) * np.log(large / b / (1 + large / b)) - b * np.log1p(large / b)
    one = lgamma(a) + rest - (a + b - 0.5) * np.log1p(ratio) - a * (np.log(b) - 1)
    return np.where(a >= 10, both, one)


def beta_parts(a: Any, b: Any) -> tuple[Any, Any]:
    """B(a, b) and log|B(a, b)|: of gamma functions where these are in range, else by Stirling's series."""
    low, high = np.minimum(a, b), np.maximum(a, b)
    near = (np.abs(a) < 160) & (np.abs(b) < 160) & (np.abs(a + b) < 160)
    large = (low > 0) & (high >= 10)
    with np.errstate(all="ignore"):
        first, last = np.where(near, low, 1.0), np.where(near, high, 1.0)
        total = first + last
        vanishing = (total <= 0) & (total == np.floor(total))
        known = np.where(vanishing, 1.0, total)
        part = total - first
        lost = (first - (total - part)) + (last - part)  # what the rounding of the sum takes away
        quotient = np.where(vanishing, 0.0, gamma_function(last) / gamma_function(known))
        value = quotient * gamma_function(first) * (1 - lost * digamma(known))
        beyond = log_beta_beyond(np.where(large, low, 1.0), np.where(large, high, 10.0))
        outside = lgamma(low) + lgamma(high) - lgamma(low + high)
        logarithm = np.where(large, beyond, np.where(near, np.log(np.abs(value)), outside))
        return np.where(near, value, np.where(low > 0, np.exp(logarithm), np.nan)), logarithm


def beta_of(a: Any, b: Any, logarithm: bool) -> Any:
    """B(a, b) or the logarithm of its size, in the dtype of the arguments."""
    a, b = np.asarray(a), np.asarray(b)
    dtype = np.result_type(a, b)
    a, b = np.broadcast_arrays(a.astype(np.float64), b.astype(np.float64))
    return beta_parts(a, b)[int(logarithm)].astype(dtype, copy=False)[()]


def beta_function(a: Any, b: Any) -> Any:
    """Euler's beta function Γ(a) Γ(b)/Γ(a + b)."""
    return beta_of(a, b, False)


def betaln(a: Any, b: Any) -> Any:
    """log|B(a, b)|."""
    return beta_of(a, b, True)


def beta_density(a: Any, b: Any, x: Any, y: Any) -> Any:
    """x^a y^b/B(a, b) for y = 1 - x: of large a and b the distance from the mean, where the powers are small."""
    both = (a >= 10) & (b >= 10)
    p, q = np.where(both, a, 10.0), np.where(both, b, 10.0)
    away = q * x - p * y
    exponent = p * np.log1p(np.maximum(away / p, -1)) + q * np.log1p(np.maximum(-away / q, -1))
    rest = stirling_rest(p + q) - stirling_rest(p) - stirling_rest(q)
    large = np.sqrt(p * (q / (p + q)) / (2 * math.pi)) * np.exp(exponent + rest)
    value, logarithm = beta_parts(a, b)
    direct = np.power(x, a) * np.where(x < 0.5, np.exp(b * np.log1p(-x)), np.power(y, b)) / value
    small = np.where(direct > 0, direct, np.exp(a * np.log(x) + b * np.log(y) - logarithm))
    return np.where(both, large, small)


def beta_fraction(a: Any, b: Any, x: Any) -> Any:
    """The continued fraction of the incomplete beta function (DLMF 8.17.22), forwards as by Lentz."""
    c, d = np.ones_like(x), 1 - (a + b) * x / (a + 1)
    d = 1 / np.where(d == 0, 1e-300, d)
    out = d
    for k in range(1, 20_000):
        even = k * (b - k) * x / ((a + 2 * k - 1) * (a + 2 * k))
        odd = -(a + k) * (a + b + k) * x / ((a + 2 * k) * (a + 2 * k + 1))
        moved = np.ones_like(x)
        for factor in (even, odd):
            d, c = 1 + factor * d, 1 + factor / c
            d, c = 1 / np.where(d == 0, 1e-300, d), np.where(c == 0, 1e-300, c)
            moved = moved * c * d
        out = out * moved
        if not np.any(np.abs(moved - 1) > 4e-16):
            break
    return out


def betainc(a: Any, b: Any, x: Any) -> Any:
    """I_x(a, b), the regularised incomplete beta function; nan outside of a, b > 0 and 0 <= x <= 1."""
    a, b, x = np.asarray(a), np.asarray(b), np.asarray(x)
    dtype = np.result_type(a, b, x)
    a, b, x = np.broadcast_arrays(*(part.astype(np.float64) for part in (a, b, x)))
    inside = (a > 0) & (b > 0) & (x > 0) & (x < 1) & np.isfinite(a) & np.isfinite(b)
    p, q, low = np.where(inside, a, 1.0), np.where(inside, b, 1.0), np.where(inside, x, 0.5)
    turned = low > (p + 1) / (p + q + 2)  # where the fraction of the other tail is the fast one
    high = 1 - low
    with np.errstate(all="ignore"):
        density = beta_density(p, q, low, high)
        first, last = np.where(turned, q, p), np.where(turned, p, q)
        tail = density / first * beta_fraction(first, last, np.where(turned, high, low))
    edge = np.where((a > 0) & (b > 0) & ((x == 0) | (x == 1)), x, np.nan)
    return np.where(inside, np.where(turned, 1 - tail, tail), edge).astype(dtype, copy=False)[()]

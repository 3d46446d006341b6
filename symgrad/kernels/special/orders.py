"""NumPy kernels of modified Bessel functions of real order, and K's derivatives by the order."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from symgrad.kernels.entries.elementwise import in_stretches_of, of_doubles
from symgrad.kernels.special.gamma import gamma_function, lgamma
from symgrad.kernels.special.twofold import two_product


def is_high(v: Any) -> Any:
    """Orders for which the integral is taken around its peak: the recurrence takes a step for every whole number."""
    return np.isfinite(v) & (np.abs(v) >= 200)


def kv_integral(v: Any, x: Any, n: int, k: int) -> Any:
    """The derivative of e^x K_v(x) of orders n by v >= 0 and k by x > 0: the trapezoidal rule on DLMF 10.32.9.

    All of the integrand t^n (1 - cosh t)^k e^(x (1 - cosh t)) cosh vt (for odd n: sinh) has one sign.  The nodes have
    few digits, so that they are evenly spaced, and v t its rounding error beside it.
    """
    mantissa, power = np.frexp(np.minimum(0.12, 0.42 / np.sqrt(x)) / np.sqrt(1 + 0.02 * v))
    step = np.ldexp(np.floor(mantissa * 256) / 256, power)
    reach = 60 + 12 * k + 4 * n
    last = np.arccosh(1 + reach / x)
    last = np.arccosh(1 + (reach + v * last) / x)
    count = int(np.max(np.ceil(last / step), initial=0))
    t = np.arange(count + 1) * step[..., None]
    less = 2 * np.sinh(t / 2) ** 2
    exponent, rest = two_product(v[..., None] + np.zeros_like(t), t)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        half = np.exp(np.minimum(exponent, 1400.0) / 2)
        decay = np.exp(-x[..., None] * less)
        rise = np.where(decay > 0, half * decay * half * (1 + rest), 0.0)
        both = -np.expm1(-2 * exponent) if n % 2 else 1 + np.exp(-2 * exponent)
        part = t**n * (-less) ** k * np.where(decay > 0, rise * both, 0.0)
        part[..., 0] /= 2
        return step / 2 * np.sum(part, -1)


def kv_around_peak(v: Any, x: Any, n: int, k: int, scaled: bool = True) -> Any:
    """The same for high orders, by the integrand's peak at s = 0: t = arsinh(v/x) + s, with h = √(v² + x²).

    The exponent v t + x (1 - cosh t) is m - h (cosh s - 1) - v (sinh s - s) there, m - h s²/2 and less near by.  What
    it comes to at most, m, is a factor of the whole, so that nothing overflows before the result does.  Not ``scaled``:
    of K_v(x) itself, by v alone.
    """
    with np.errstate(over="ignore"):
        h = np.minimum(np.hypot(v, x), 1e308)
        peak = np.arcsinh(v / x)
    reach = 2 * np.arcsinh(np.sqrt((30 + 6 * k + 2 * n) / h))
    low = np.maximum(-peak, -2 * reach)  # at the end that is t = 0 the integrand is even
    step = 0.42 / np.sqrt(h)
    s = low[..., None] + np.arange(int(np.max(np.ceil((reach - low) / step), initial=0)) + 1) * step[..., None]
    t = np.maximum(peak[..., None] + s, 0)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        most = v * (peak - v / (h + x)) if scaled else v * peak - h
        fall = 2 * h[..., None] * np.sinh(s / 2) ** 2 + v[..., None] * _sinh_less(s)
        both = 1 + (-1) ** n * np.exp(-2 * v[..., None] * t)
        part = t**n * (-2 * np.sinh(t / 2) ** 2) ** k * np.exp(-fall) * both
        part[..., 0] /= 2
        half = np.exp(most / 2)
        return half * (step / 2 * np.sum(part, -1)) * half


def _sinh_less(s: Any) -> Any:
    """sinh s - s."""
    square = s * s
    series = s * square / 6 * (1 + square / 20 * (1 + square / 42 * (1 + square / 72 * (1 + square / 110))))
    return np.where(np.abs(s) < 0.5, series, np.sinh(s) - s)


def kv_orders(v: Any, x: Any, n: int) -> Any:
    """The n-th derivative by v of e^x K_v(x): from v below 2 by the recurrence (DLMF 10.29.1), of terms of one sign."""
    floor = np.floor(v)
    low = v - floor
    before = [kv_integral(low, x, j, 0) for j in range(n + 1)]
    found = [kv_integral(low + 1, x, j, 0) for j in range(n + 1)]
    out = np.where(floor == 0, before[n], found[n])
    with np.errstate(over="ignore", invalid="ignore"):
        for i in range(1, int(np.max(floor, initial=0))):
            order = low + i
            rows = [2 * order / x * found[j] + (2 * j / x * found[j - 1] if j else 0) + before[j] for j in range(n + 1)]
            before, found = found, rows
            out = np.where(floor == i + 1, found[n], out)
            if not np.isfinite(found[0]).any():  # nor is any of a larger order
                return np.where(floor > i + 1, found[n], out)
    return out


def kve_parts(v: Any, x: Any, n: int, k: int) -> Any:
    """The derivative of e^x K_v(x) of orders n by v and k by x."""
    end = np.where((x == 0) | np.isinf(v), (-1.0) ** k * np.inf, 0.0)
    out = np.where(np.isnan(x) | np.isnan(v) | (x < 0), np.nan, end)
    inside = (x > 0) & np.isfinite(x) & np.isfinite(v)
    high = inside & is_high(v)
    low = inside & ~high
    far = low & (x > np.maximum(1.0, np.where(low, v, 0) ** 2 / 8)) & (k > 0)
    near = low & ~far
    if high.any():
        out[high] = kv_around_peak(np.abs(v[high]), x[high], n, k)
    if far.any():
        out[far] = kv_integral(np.abs(v[far]), x[far], n, k)
    if near.any():
        total = 0.0
        for j in range(2 * k + 1):
            order = np.abs(v[near]) + (j - k)
            part = kv_orders(np.abs(order), x[near], n) * np.where(order < 0, (-1.0) ** n, 1.0)
            total = total + (-1) ** j * math.comb(2 * k, j) * part
        out[near] = total / (-2) ** k
    out = np.where(x == np.inf, 0.0, out)
    return out * np.where(v < 0, (-1.0) ** n, 1.0)


def real_kve(v: Any, x: Any, n: int = 0, k: int = 0) -> Any:
    """The derivative of e^x K_v(x) of orders n by v and k by x; nan for x < 0."""
    return of_doubles(kve_parts, (v, x), n, k, size=512)


def real_kv(v: Any, x: Any, n: int = 0) -> Any:
    """The n-th derivative of K_v(x) by v."""
    dtype = np.result_type(v, x)
    v, x = np.broadcast_arrays(np.asarray(v, float), np.asarray(x, float))
    with np.errstate(all="ignore"):
        out = np.asarray(np.exp(-x) * real_kve(v, x, n))
    high = is_high(v) & (x > 0) & np.isfinite(x)
    if high.any():  # of which e^x K_v(x) may be infinite, and K_v(x) not
        sign = np.where(v[high] < 0, (-1.0) ** n, 1.0)
        out[high] = sign * in_stretches_of(kv_around_peak, (np.abs(v[high]), x[high]), n, 0, False, size=512)
    out = np.where(np.isposinf(x), 0.0, out)
    return out.astype(dtype, copy=False)[()]


def iv_parts(v: Any, x: Any) -> Any:
    """e^-x I_v(x) for v >= 0 and x >= 0: the power series (DLMF 10.25.2), or Hankel's (10.40.1) and quotients."""
    near = x <= 30
    out = np.empty_like(x)
    y, order = x[near], v[near]
    terms = int(1.5 * float(np.max(y, initial=0))) + 20
    total = term = np.ones_like(y)
    for j in range(1, terms):
        term = term * (y * y / 4) / (j * (order + j))
        total = total + term
    # (y/2)^v/Γ(v + 1), of which neither part leaves the range of floats
    base = np.minimum(order, 100.0)
    rest = order - base
    start = np.power(y / 2, base) / gamma_function(base + 1)
    more = np.where(rest > 0, np.exp(rest * np.log(y / 2) - lgamma(order + 1) + lgamma(base + 1)), 1.0)
    out[near] = np.where((y == 0) & (order > 0), 0.0, start * more * total * np.exp(-y))
    y, order = x[~near], v[~near]
    beyond = y > 30 + 2 * order * order
    low = np.where(beyond, order, order - np.floor(order))
    series = np.ones_like(y)
    for j in range(26, 0, -1):
        series = 1 + ((2 * j - 1) ** 2 - 4 * low * low) / (8 * j) / y * series
    value = series / math.sqrt(2 * math.pi) / np.sqrt(y)
    if not beyond.all():
        steps = np.where(beyond, 0, np.floor(order)).astype(np.int64)
        quotient, share = np.zeros_like(y), np.ones_like(y)
        for j in range(int(np.max(steps)) + 24 + int(9 * math.sqrt(float(np.max(y[~beyond])))), 0, -1):
            quotient = y / (2 * (low + j) + y * quotient)
            share = np.where(j <= steps, share * quotient, share)
        value = value * share
    out[~near] = value
    return out


def ive_of(v: Any, x: Any) -> Any:
    """e^-|x| I_v(x); nan for x < 0 where v is no whole number."""
    whole = v == np.floor(v)
    size, order = np.abs(x), np.where(whole, np.abs(v), v)
    known = np.isfinite(x) & np.isfinite(v) & (order >= 0) & ((x >= 0) | whole)
    out = np.where(np.isinf(x) & (order >= 0) & ((x > 0) | whole), 0.0, np.full(x.shape, np.nan))
    with np.errstate(all="ignore"):
        out[known] = iv_parts(order[known], size[known])
        below = np.isfinite(x) & np.isfinite(v) & (order < 0) & (x > 0)
        if below.any():  # I_-v = I_v + (2/π) sin(πv) K_v (DLMF 10.27.2)
            p, y = -order[below], x[below]
            turn = np.sin(math.pi * np.fmod(p, 2.0))
            out[below] = iv_parts(p, y) + 2 / math.pi * turn * np.exp(-2 * y) * kv_orders(p, y, 0)
    return out * np.where((x < 0) & (np.fmod(v, 2) != 0), -1.0, 1.0)


def ive_slopes(v: Any, x: Any, k: int) -> Any:
    """The k-th derivative of e^-x I_v(x) for x > 0: far out Hankel's series, below that half the sum of neighbours."""
    limit = 30.0 + 2 * v * v + 8 * k
    out = np.full(np.shape(x), np.nan)
    far, low = x > limit, (x > 0) & (x <= limit)
    y, order = x[far], v[far]
    series = np.ones_like(y)
    for j in range(26, 0, -1):
        series = 1 + ((2 * j - 1) ** 2 - 4 * order * order) / (8 * j) * (j - 0.5 + k) / (j - 0.5) / y * series
    out[far] = math.prod(0.5 - j for j in range(1, k + 1)) / math.sqrt(2 * math.pi) / np.sqrt(y) / y**k * series
    total: Any = 0.0
    for i in range(k + 1):
        for j in range(i + 1):
            part = real_ive(v[low] + 2 * j - i, x[low])
            total = total + math.comb(k, i) * (-1) ** (k - i) * math.comb(i, j) / 2**i * part
    out[low] = total
    return np.where(x == np.inf, 0.0, out)


def real_ive(v: Any, x: Any) -> Any:
    """e^-|x| I_v(x); nan for x < 0 where v is no whole number."""
    return of_doubles(ive_of, (v, x), size=2048)


def ive_number(x: Any, v: float, k: int) -> Any:
    """The k-th derivative of e^-|x| I_v(x) of an order v that is a number; for k > 0 and x > 0."""
    x = np.asarray(x)
    y = x.astype(np.float64)
    with np.errstate(all="ignore"):
        out = ive_slopes(np.full(y.shape, float(v)), y, k) if k else np.asarray(real_ive(float(v), y))
    return out.astype(x.dtype, copy=False)[()]


def iv_number(x: Any, v: float) -> Any:
    """I_v(x) of an order v that is a number."""
    x = np.asarray(x)
    y = x.astype(np.float64)
    with np.errstate(all="ignore"):
        scaled = np.asarray(real_ive(float(v), y))
        half = np.exp(np.abs(y) / 2)
        out = np.where(np.isposinf(y), np.inf, half * scaled * half)
    return out.astype(x.dtype, copy=False)[()]

"""NumPy kernels of the incomplete gamma functions and their derivatives by the parameter."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from symgrad.kernels.entries.elementwise import of_doubles
from symgrad.kernels.special.gamma import digamma, gamma_function, lgamma, lgamma_two_and, polygamma, stirling_rest
from symgrad.kernels.special.jets import jet_exp, jet_top
from symgrad.kernels.special.twofold import two_added, two_exp, two_log, two_sum, two_times


def log_rest(away: Any, ratio: Any) -> Any:
    """t - log(1 + t) for t = away, 1 + t = ratio: where t is small by s = t/(2 + t), of which the logarithm is odd."""
    near = np.abs(away) < 0.4
    s = np.where(near, away / (2 + away), 0.0)
    square, series = s * s, np.zeros_like(s)
    for k in range(27, 1, -2):
        series = series * square + 1 / k
    return np.where(near, away * s - 2 * s * square * series, away - np.log(ratio))


def log_ratio(x: Any, y: Any) -> Any:
    """log(x/y) of numbers above 0: next to 1 by their difference, which is exact."""
    away = x - y
    near = np.abs(away) < np.minimum(x, y) / 2
    with np.errstate(all="ignore"):
        return np.where(near, np.log1p(np.where(near, away, 0) / y), np.log(x / y)).astype(np.result_type(x, y))[()]


def divergence(x: Any, y: Any) -> Any:
    """x log(x/y) - x + y of numbers above 0: what is left of the sum where both are close."""
    with np.errstate(all="ignore"):
        away = (x - y) / y
        near = np.abs(away) < 0.4
        t = np.where(near, away, 0)
        close = y * (t * t - (1 + t) * log_rest(t, 1 + t))
        out = np.where(near, close, x * np.log(x / y) - x + y)
    return out.astype(np.result_type(x, y), copy=False)[()]


def gamma_mass(a: Any, x: Any) -> Any:
    """x^a e^(-x)/Γ(a + 1): of powers, and of large a the distance from the mean, where the powers are small.

    A large exponent is made of logarithms of twice the digits: its rounding would be the error of the result.
    """
    a, x = np.broadcast_arrays(a, x)
    large, out = a >= 10, np.empty(a.shape)
    if large.any():
        p, q = a[large], x[large]
        exponent = p * log_rest((q - p) / p, q / p)
        mass = np.exp(-exponent - stirling_rest(p)) / np.sqrt(2 * math.pi * p)
        long = (exponent > 1.5) & (exponent < 800) & (p < 1e7)
        if long.any():
            p, q = p[long], q[long]
            top = two_added(two_log(q), tuple(-part for part in two_log(p)))
            total = two_added(two_times(p, top), two_sum(p, -q))
            mass[long] = two_exp(total) * np.exp(-stirling_rest(p)) / np.sqrt(2 * math.pi * p)
        out[large] = mass
    few = ~large
    if few.any():
        root = np.exp(-x[few] / 2)
        out[few] = np.power(x[few], a[few]) * root / gamma_function(a[few] + 1) * root
    return out


def gamma_series(a: Any, x: Any) -> Any:
    """P(a, x) for x < a + 1 by its power series (DLMF 8.7.1)."""
    total, term = np.ones_like(x), np.ones_like(x)
    for k in range(1, 100_000):
        term *= x
        term /= a + k
        total += term
        if k % 8 == 0 and not (term > total * 1e-17).any():  # what is added after that adds nothing
            break
    return gamma_mass(a, x) * total


def gamma_fraction(a: Any, x: Any) -> Any:
    """Q(a, x) for x >= a + 1 by its continued fraction (DLMF 8.9.2), evaluated forwards as by Lentz."""
    b = x + 1 - a
    d, inverse = 1 / b, np.zeros_like(x)
    fraction = d.copy()
    k, last = 0, 100_000
    while k < last:
        k += 1
        b += 2
        factor = a - k
        factor *= k
        d *= factor
        d += b
        np.divide(1, d, out=d)
        inverse *= factor
        inverse += b
        moved = inverse * d
        np.divide(1, inverse, out=inverse)
        fraction *= moved
        if last == 100_000 and not (np.abs(moved - 1) > 1e-15).any():
            last = k + k // 8 + 1
    return gamma_mass(a, x) * a * fraction


def gamma_complement(a: Any, x: Any) -> Any:
    """Q(a, x) for a < 1 and x < a + 1, where P may be next to 1 (Gautschi, 1979): 1 - x^a/Γ(a + 1) is made as one."""
    high = a > 0.5
    logarithm = np.where(high, lgamma(1 + a), lgamma_two_and(np.where(high, 0.0, a)) - np.log1p(a))
    first = a * np.log(x) - logarithm
    total, term = np.zeros_like(x), -np.ones_like(x)
    for k in range(1, 26):
        term = -term * x / k
        total = total + term / (a + k)
    return a * np.exp(first) * total - np.expm1(first)


def gamma_part(a: Any, x: Any, upper: bool) -> Any:
    """P(a, x) below a + 1, or Q(a, x) above: by the integral where series and fraction take many terms, as √a."""
    out, many = np.empty_like(x), a >= 1000
    few = ~many
    if few.any():
        out[few] = (gamma_fraction if upper else gamma_series)(a[few], x[few])
    if many.any():
        out[many] = gamma_tail(a[many], x[many], 0, upper)
    return out


def incomplete(a: Any, x: Any, upper: bool) -> Any:
    """P(a, x) or Q(a, x) = 1 - P with the values at the borders of the domain; nan outside."""
    inside = (a > 0) & (x > 0) & np.isfinite(x) & np.isfinite(a)
    low, high = inside & (x < a + 1), inside & (x >= a + 1)
    with np.errstate(all="ignore"):
        out = np.where((a >= 0) & ((x == np.inf) | ((a == 0) & (x > 0))) & (a < np.inf), 1.0, np.nan)
        out = np.asarray(np.where(((x == 0) & (a > 0)) | ((a == np.inf) & (x >= 0) & (x < np.inf)), 0.0, out))
        out = np.asarray(1 - out if upper else out)
        lower, above = gamma_part(a[low], x[low], False), gamma_part(a[high], x[high], True)
        out[low], out[high] = (1 - lower, above) if upper else (lower, 1 - above)
        if upper:
            small = low & (a < 1)
            if small.any():
                out[small] = gamma_complement(a[small], x[small])
    return out


def gammainc(a: Any, x: Any) -> Any:
    """P(a, x), the regularised lower incomplete gamma function."""
    return of_doubles(incomplete, (a, x), False)


def gammaincc(a: Any, x: Any) -> Any:
    """Q(a, x), the regularised upper incomplete gamma function."""
    return of_doubles(incomplete, (a, x), True)


def log_over(a: Any, away: Any, x: Any) -> Any:
    """log x - ψ(a + 1) for x = a + away, by what is left of both where they are large and close."""
    large = a >= 10
    far = np.where(large, a, 10.0)
    t = 1 / (far * far)
    rest = t * (1 / 12 - t * (1 / 120 - t * (1 / 252 - t * (1 / 240 - t * (1 / 132 - t * 691 / 32760)))))
    part = away / far
    logarithm = np.where(np.abs(part) < 0.5, np.log1p(np.maximum(part, -0.5)), np.log(x / far))
    beyond = logarithm - 1 / (2 * far) + rest
    return np.where(large, beyond, np.log(x) - digamma(np.where(large, 1.0, a) + 1))


def gamma_density(a: Any, x: Any) -> Any:
    """x^(a-1) e^(-x)/Γ(a): of the mass, which keeps its digits for large a; at 0 its limit."""
    dtype = np.result_type(a, x)
    a, x = np.asarray(a), np.asarray(x)
    p, y = a.astype(np.float64), x.astype(np.float64)
    with np.errstate(all="ignore"):
        out = gamma_mass(p, y) / y * p
        at_zero = np.where(p > 1, 0.0, np.where(p == 1, 1.0, np.inf))
    return np.where(y == 0, at_zero, np.where(y == np.inf, 0.0, out)).astype(dtype, copy=False)[()]


def gamma_score(a: Any, x: Any) -> Any:
    """log x - ψ(a), the derivative of the logarithm of that density by a."""
    dtype = np.result_type(a, x)
    a, x = np.asarray(a), np.asarray(x)
    p, y = a.astype(np.float64), x.astype(np.float64)
    with np.errstate(all="ignore"):
        return (log_over(p, y - p, y) + 1 / p).astype(dtype, copy=False)[()]


def nodes_between(end: Any, finer: int = 1) -> tuple[Any, Any]:
    """Nodes and weights of the tanh-sinh rule from 0 to ``end``, where the integrand vanishes, on a new last axis."""
    step = 0.06 / finer
    w = np.arange(-57 * finer, 27 * finer) * step
    share = 1 / (1 + np.exp(-math.pi * np.sinh(w)))
    weight = step * math.pi * np.cosh(w) * share / (1 + np.exp(math.pi * np.sinh(w)))
    return end[..., None] * share, end[..., None] * weight


def score_jet(first: Any, a: Any, n: int) -> Any:
    """The n-th derivative of e^(k(a)) over itself, where k' is ``first`` and k'' = -ψ'(a)."""
    logarithm = np.zeros((n + 1, 1, *np.shape(first)))
    logarithm[1, 0] = first
    for k in range(2, n + 1):
        logarithm[k, 0] = -polygamma(a, k - 1) / math.factorial(k)
    return jet_top(jet_exp(logarithm))


def exp_rest(v: Any) -> Any:
    """e^v - 1 - v, of small v by its series."""
    near = np.abs(v) < 0.5
    u, series = np.where(near, v, 0.0), np.ones_like(v)
    for k in range(15, 2, -1):
        series = 1 + u * series / k
    return np.where(near, u * u / 2 * series, np.expm1(v) - v)


def gamma_tail(a: Any, x: Any, n: int, upper: bool) -> Any:
    """The n-th derivative by a of P(a, x), or of Q, for a >= 10: an integral over v = |log(t/x)| of the density's."""
    side = 1 if upper else -1
    with np.errstate(divide="ignore"):
        end = np.minimum(40 / np.maximum(x - a, 0), np.sqrt(80 / x)) if upper else (40 + x) / a
        if not upper:  # e^-v - 1 + v >= v²/3 for v <= 1: of large parameters Newton's method would begin too far out
            end = np.minimum(end, np.where(x > 120, np.sqrt(120 / x), np.inf))
    for _ in range(8):  # up to where the integrand is e^-40, by Newton's method: the exponent is convex
        exponent = x * exp_rest(side * end) + side * (x - a) * end
        slope = side * (x * np.exp(side * end) - a)
        end = end - np.maximum(exponent - 40, 0) / np.where(slope > 0, slope, 1.0)
    v, weight = nodes_between(end)
    p, q = a[..., None], x[..., None]
    density = weight * np.exp(-q * exp_rest(side * v) - side * (q - p) * v)
    if n:
        density *= score_jet((log_over(a, x - a, x) + 1 / a)[..., None] + side * v, p, n)
    return gamma_mass(a, x) * a * np.sum(density, -1)


def gamma_head_slope(a: Any, x: Any, n: int) -> Any:
    """The n-th derivative by a of P(a, x) - P(a + 10, x), by the recurrence (DLMF 8.8.5)."""
    p = a[..., None] + np.arange(1, 11)
    mass = gamma_mass(a, x)[..., None] * np.cumprod(x[..., None] / p, -1) * p / x[..., None]
    first = log_over(a, x - a, x)[..., None] + 1 / p - np.cumsum(1 / p, -1)
    return np.sum(mass * score_jet(first, p, n), -1)


def incomplete_slope(a: Any, x: Any, n: int) -> Any:
    """The n-th derivative of P(a, x) by a, n > 0; 0 where x is 0 or infinite, nan outside of the domain."""
    inside = (a > 0) & (x > 0) & np.isfinite(x) & np.isfinite(a)
    out = np.asarray(np.where((a > 0) & ((x == 0) | (x == np.inf)), 0.0, np.nan))
    low, high = inside & (x < a + 1), inside & (x >= a + 1)
    few = low & (a < 10)
    with np.errstate(all="ignore"):
        if low.any():
            out[low] = gamma_tail(np.where(few, a + 10, a)[low], x[low], n, False)
        if high.any():
            out[high] = -gamma_tail(a[high], x[high], n, True)
        if few.any():
            out[few] += gamma_head_slope(a[few], x[few], n)
    return out


def gammainc_slope(a: Any, x: Any, n: int) -> Any:
    """The n-th derivative by a of the regularised lower incomplete gamma function P(a, x)."""
    return of_doubles(incomplete_slope, (a, x), n, size=1024)

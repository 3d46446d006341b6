"""NumPy kernels of Euler's beta function."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from symgrad.kernels.entries.elementwise import half_turns, of_doubles
from symgrad.kernels.special.gamma import digamma, gamma_function, lgamma, stirling_rest
from symgrad.kernels.special.twofold import two_added, two_exp, two_log, two_sum, two_times


def log_beta_beyond(a: Any, b: Any) -> Any:
    """log B(a, b) for 0 < a <= b and b >= 10: what is large in log Γ(b) - log Γ(a + b) cancels on paper."""
    ratio = a / b
    rest = stirling_rest(b) - stirling_rest(a + b)
    large = np.maximum(a, 10)
    both = math.log(2 * math.pi) / 2 - np.log(b) / 2 + stirling_rest(large) + rest
    both = both + (large - 0.5) * np.log(large / b / (1 + large / b)) - b * np.log1p(large / b)
    one = lgamma(a) + rest - (a + b - 0.5) * np.log1p(ratio) - a * (np.log(b) - 1)
    return np.where(a >= 10, both, one)


def beta_bulk(a: Any, b: Any) -> Any:
    """a log(a/(a + b)) + b log(b/(a + b)) of a, b >= 10, in two floats."""
    whole, lost = two_sum(a, b)
    less = two_added(two_log(whole), (lost / whole, np.zeros_like(whole)))
    less = tuple(-part for part in less)
    return two_added(two_times(a, two_added(two_log(a), less)), two_times(b, two_added(two_log(b), less)))


def beta_beyond(a: Any, b: Any) -> Any:
    """B(a, b) for 0 < a <= b and b >= 10, whose logarithm would have fewer digits after its point."""
    out, rest = np.empty_like(a), stirling_rest(b) - stirling_rest(a + b)
    both, one = (a >= 10) & (b < 1e7), a < 10
    far = ~both & ~one
    if both.any():
        p, q = a[both], b[both]
        scale = np.sqrt(2 * math.pi * ((p + q) / p) / q) * np.exp(stirling_rest(p) + rest[both])
        out[both] = scale * two_exp(beta_bulk(p, q))
    if one.any():
        p, q = a[one], b[one]
        bend = p - (p + q - 0.5) * np.log1p(p / q)
        out[one] = gamma_function(p) * np.power(q, -p) * np.exp(rest[one] + bend)
    if far.any():
        out[far] = np.exp(log_beta_beyond(a[far], b[far]))
    return out


def beta_near(low: Any, high: Any) -> Any:
    """B(a, b) of gamma functions that are in range."""
    total = low + high
    vanishing = (total <= 0) & (total == np.floor(total))
    known = np.where(vanishing, 1.0, total)
    part = total - low
    lost = (low - (total - part)) + (high - part)  # what the rounding of the sum takes away
    value = gamma_function(high) / gamma_function(known) * gamma_function(low)
    slope = np.log(known) - 1 / (2 * known) - 1 / (12 * known * known)  # ψ to two digits, which is enough here
    few = ~(known > 0.5)
    if few.any():
        slope[few] = digamma(known[few])
    return np.where(vanishing, 0.0, value * (1 - lost * slope))


def beta_parts(a: Any, b: Any, logarithm: bool = False) -> Any:
    """B(a, b), or log|B(a, b)|: of gamma functions where these are in range, else by Stirling's series."""
    low, high = np.minimum(a, b), np.maximum(a, b)
    near = (np.abs(a) < 160) & (np.abs(b) < 160) & (np.abs(a + b) < 160)
    large = (low > 0) & (high >= 10) & (logarithm | ~near)
    out = np.empty_like(low)
    with np.errstate(all="ignore"):
        known, rest = near & ~large, ~(near | large)
        if known.any():
            value = beta_near(low[known], high[known])
            out[known] = np.log(np.abs(value)) if logarithm else value
        if large.any():
            out[large] = (log_beta_beyond if logarithm else beta_beyond)(low[large], high[large])
        if rest.any():
            p, q = low[rest], high[rest]
            outside = lgamma(p) + lgamma(q) - lgamma(p + q)
            out[rest] = outside if logarithm else np.exp(outside)
        below = rest & (low < 0) & np.isfinite(low) & np.isfinite(high)
        if below.any() and not logarithm:
            out[below] = _beta_reflected(low[below], high[below])
    whole = ((low <= 0) & (low == np.floor(low))) | ((high <= 0) & (high == np.floor(high)))
    pole = whole & np.isfinite(low) & np.isfinite(high)
    if pole.any():
        out[pole] = _beta_at_poles(low[pole], high[pole], logarithm)
    return out


def _beta_reflected(a: Any, b: Any) -> Any:
    """B(a, b) for a < 0 by Γ(x) Γ(1 - x) = π/sin πx, of beta functions of positive arguments."""
    (sin_a, cos_a), (sin_b, cos_b) = half_turns(a), half_turns(b)
    both, less = b < 0, a + b < 0
    known = np.where(both, 1 - a, np.where(less, b, 1 - a)), np.where(both, 1 - b, np.where(less, 1 - a - b, a + b))
    size = beta_parts(np.maximum(known[0], 0), np.maximum(known[1], 0))
    of_both = math.pi * (cos_a / sin_a + cos_b / sin_b) / ((1 - a - b) * size)
    of_one = np.where(less, (cos_b + cos_a / sin_a * sin_b) * size, math.pi / (sin_a * b * size))
    total, lost = two_sum(a, b)
    vanishing = less & (total == np.floor(total)) & (lost == 0)
    return np.where(vanishing, 0.0, np.where(both, of_both, of_one))


def _beta_at_poles(a: Any, b: Any, logarithm: bool) -> Any:
    """B(a, b) for a = 0, -1, …: infinite, but where b is whole and Γ(a + b) has a pole, too, (-1)^b B(1 - a - b, b)."""
    finite = (b > 0) & (b == np.floor(b)) & (a + b <= 0)
    b = np.where(finite, b, 1.0)
    size = beta_parts(np.where(finite, 1 - a - b, 1.0), b, logarithm)
    return np.where(finite, size if logarithm else size * (1 - 2 * (b % 2)), np.inf)


def beta_function(a: Any, b: Any) -> Any:
    """Euler's beta function Γ(a) Γ(b)/Γ(a + b)."""
    return of_doubles(beta_parts, (a, b), False)


def betaln(a: Any, b: Any) -> Any:
    """log|B(a, b)|."""
    return of_doubles(beta_parts, (a, b), True)


def rising(z: Any, m: Any) -> Any:
    """Γ(z + m)/Γ(z): of few factors their product, of gamma functions in range these, else by Stirling's series."""
    total, lost = two_sum(z, m)
    few = (m == np.floor(m)) & (m >= 0) & (m <= 16)
    large = ~few & (z >= 10) & (total >= 10) & (z < 1e14) & (m < 1e14)
    near = ~few & ~large & (np.abs(z) < 160) & (np.abs(total) < 170)
    beyond = ~few & (z >= 1e14) & (np.abs(m) < 1e4)
    out = np.empty_like(total)
    with np.errstate(all="ignore"):
        part = np.ones_like(z[few])
        for k in range(int(np.max(m[few], initial=0))):
            part *= np.where(m[few] > k, z[few] + k, 1.0)
        out[few] = part
        pole = (total[near] <= 0) & (total[near] == np.floor(total[near]))
        shift = np.where(pole, 0.0, lost[near] * digamma(np.where(pole, 1.0, total[near])))
        out[near] = gamma_function(total[near]) / gamma_function(z[near]) * (1 + shift)
        p, t = z[large], total[large]
        log_p, log_t = two_log(p), two_log(t)
        less = tuple(-v for v in two_added(two_times(p, log_p), two_sum(m[large], (log_t[0] - log_p[0]) / 2)))
        exponent = two_added(two_added(two_times(t, log_t), (lost[large] * (1 + log_t[0]), 0 * p)), less)
        out[large] = two_exp(exponent) * np.exp(stirling_rest(t) - stirling_rest(p))
        out[beyond] = np.power(z[beyond], m[beyond]) * np.exp(m[beyond] * (m[beyond] - 1) / (2 * z[beyond]))
        rest = ~(few | large | near | beyond)
        size = np.exp(lgamma(total[rest]) - lgamma(z[rest]))
        turns = sum(np.where(v < 0, np.floor(v), 0.0) for v in (total[rest], z[rest]))
        out[rest] = np.where(np.fmod(turns, 2) == 0, size, -size)
        above, below = ((v <= 0) & (v == np.floor(v)) & ~few for v in (total, z))  # poles of the gamma functions
        out[above ^ below] = np.where(above, np.inf, 0.0)[above ^ below]
        if (above & below).any():
            p, t = m[above & below], total[above & below]
            out[above & below] = (1 - 2 * np.fmod(np.abs(p), 2)) * rising(1 - t, p)
    return out


def poch(z: Any, m: Any) -> Any:
    """The rising factorial Γ(z + m)/Γ(z)."""
    return of_doubles(rising, (z, m))

"""NumPy kernels of Euler's beta function."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from symgrad.kernels.entries.elementwise import in_stretches_of
from symgrad.kernels.special.gamma import digamma, gamma_function, lgamma, stirling_rest


def log_beta_beyond(a: Any, b: Any) -> Any:
    """log B(a, b) for 0 < a <= b and b >= 10: what is large in log Γ(b) - log Γ(a + b) cancels on paper."""
    ratio = a / b
    rest = stirling_rest(b) - stirling_rest(a + b)
    large = np.maximum(a, 10)
    both = math.log(2 * math.pi) / 2 - np.log(b) / 2 + stirling_rest(large) + rest
    both = both + (large - 0.5) * np.log(large / b / (1 + large / b)) - b * np.log1p(large / b)
    one = lgamma(a) + rest - (a + b - 0.5) * np.log1p(ratio) - a * (np.log(b) - 1)
    return np.where(a >= 10, both, one)


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
    slope[few] = digamma(known[few])
    return np.where(vanishing, 0.0, value * (1 - lost * slope))


def beta_parts(a: Any, b: Any, logarithm: bool = False) -> Any:
    """B(a, b), or log|B(a, b)|: of gamma functions where these are in range, else by Stirling's series."""
    low, high = np.minimum(a, b), np.maximum(a, b)
    near = (np.abs(a) < 160) & (np.abs(b) < 160) & (np.abs(a + b) < 160)
    large = (low > 0) & (high >= 10) & (logarithm | ~near)
    out = np.empty_like(low)
    with np.errstate(all="ignore"):
        known = near & ~large
        value = beta_near(low[known], high[known])
        out[known] = np.log(np.abs(value)) if logarithm else value
        beyond = log_beta_beyond(low[large], high[large])
        out[large] = beyond if logarithm else np.exp(beyond)
        rest = ~(near | large)
        outside = lgamma(low[rest]) + lgamma(high[rest]) - lgamma(low[rest] + high[rest])
        out[rest] = outside if logarithm else np.where(low[rest] > 0, np.exp(outside), np.nan)
    return out


def beta_of(a: Any, b: Any, logarithm: bool) -> Any:
    """B(a, b) or the logarithm of its size, in the dtype of the arguments."""
    a, b = np.asarray(a), np.asarray(b)
    dtype = np.result_type(a, b)
    a, b = np.broadcast_arrays(a.astype(np.float64), b.astype(np.float64))
    return beta_parts(a, b, logarithm).astype(dtype, copy=False)[()]


def beta_function(a: Any, b: Any) -> Any:
    """Euler's beta function Γ(a) Γ(b)/Γ(a + b)."""
    return in_stretches_of(beta_of, (a, b), False)


def betaln(a: Any, b: Any) -> Any:
    """log|B(a, b)|."""
    return in_stretches_of(beta_of, (a, b), True)

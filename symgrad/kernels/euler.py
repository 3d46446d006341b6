"""NumPy kernels of Euler's beta function."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from symgrad.kernels.gamma import digamma, gamma_function, lgamma, stirling_rest


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

"""NumPy kernels of orthogonal polynomials, by their recurrences in the degree; 0 for negative degrees."""

from __future__ import annotations

from typing import Any

import numpy as np


def recurrence(x: Any, n: int, first: Any, step: Any) -> Any:
    """Degree n of p_0 = 1, p_1 = ``first``, p_(k+1) = ``step(k, p_k, p_(k-1))``."""
    if n < 0:
        return np.zeros_like(x)
    before, now = np.ones_like(x), first
    if n == 0:
        return before
    for k in range(1, n):
        before, now = now, step(k, now, before)
    return now


def chebyshev_t(x: Any, n: int) -> Any:
    """T_n(x): T_(k+1) = 2x T_k - T_(k-1)."""
    x = np.asarray(x)
    return recurrence(x, n, x, lambda k, p, q: 2 * x * p - q)[()]


def gegenbauer(x: Any, n: int, a: float) -> Any:
    """C_n^(a)(x) (DLMF 18.9.1): U_n for a = 1, Legendre's P_n for a = 1/2."""
    x = np.asarray(x)
    return recurrence(x, n, 2 * a * x, lambda k, p, q: (2 * (k + a) * x * p - (k + 2 * a - 1) * q) / (k + 1))[()]


def laguerre(x: Any, n: int, a: int) -> Any:
    """L_n^(a)(x) (DLMF 18.9.1)."""
    x = np.asarray(x)
    return recurrence(x, n, 1 + a - x, lambda k, p, q: ((2 * k + 1 + a - x) * p - (k + a) * q) / (k + 1))[()]


def hermite(x: Any, n: int) -> Any:
    """H_n(x): H_(k+1) = 2x H_k - 2k H_(k-1)."""
    x = np.asarray(x)
    return recurrence(x, n, 2 * x, lambda k, p, q: 2 * x * p - 2 * k * q)[()]


def hermite_prob(x: Any, n: int) -> Any:
    """He_n(x): He_(k+1) = x He_k - k He_(k-1)."""
    x = np.asarray(x)
    return recurrence(x, n, x, lambda k, p, q: x * p - k * q)[()]

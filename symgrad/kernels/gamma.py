"""NumPy kernels of the incomplete gamma functions and Hurwitz's zeta function."""

from __future__ import annotations

from typing import Any

import numpy as np

from symgrad.kernels.elementwise import lgamma, zeta


def gamma_parts(a: Any, x: Any) -> tuple[Any, Any]:
    """P(a, x) and Q(a, x) = 1 - P for a > 0, x > 0.

    The power series (DLMF 8.7.1) where x < a + 1, else the continued fraction (8.9.2), evaluated forwards as by Lentz.
    """
    low = x < a + 1
    with np.errstate(all="ignore"):
        scale = np.exp(a * np.log(x) - x - lgamma(a))
        total = term = 1 / a
        k = 0
        while k < 100_000 and np.any(low & (term > total * 1e-17)):
            k += 1
            term = term * x / (a + k)
            total = total + term
        b = x + 1 - a
        c, d = np.full_like(x, np.inf), 1 / b
        fraction = d
        moved = np.full_like(x, 2.0)
        k = 0
        while k < 100_000 and np.any(~low & (np.abs(moved - 1) > 4e-16)):
            k += 1
            factor = -k * (k - a)
            b = b + 2
            d = 1 / (factor * d + b)
            c = b + factor / c
            moved = c * d
            fraction = fraction * moved
        lower, upper = scale * total, scale * fraction
    return np.where(low, lower, 1 - upper), np.where(low, 1 - lower, upper)


def incomplete(a: Any, x: Any, upper: bool) -> Any:
    """One of the two with its values at the borders of the domain; nan outside."""
    a, x = np.asarray(a), np.asarray(x)
    dtype = np.result_type(a, x)
    a, x = np.broadcast_arrays(a.astype(np.float64), x.astype(np.float64))
    inside = (a > 0) & (x > 0) & np.isfinite(x) & np.isfinite(a)
    out = gamma_parts(np.where(inside, a, 1.0), np.where(inside, x, 1.0))[int(upper)]
    end = np.where((x == 0) & (a > 0), 0.0, np.where((a >= 0) & ((x == np.inf) | ((a == 0) & (x > 0))), 1.0, np.nan))
    return np.where(inside, out, 1 - end if upper else end).astype(dtype, copy=False)[()]


def gammainc(a: Any, x: Any) -> Any:
    """P(a, x), the regularised lower incomplete gamma function."""
    return incomplete(a, x, False)


def gammaincc(a: Any, x: Any) -> Any:
    """Q(a, x), the regularised upper incomplete gamma function."""
    return incomplete(a, x, True)


def hurwitz(s: Any, q: Any) -> Any:
    """ζ(s, q) for s > 1: below 0 the first terms are summed, where the powers are real; inf at the poles."""
    s, q = np.asarray(s), np.asarray(q)
    dtype = np.result_type(s, q)
    s, q = np.broadcast_arrays(s.astype(np.float64), q.astype(np.float64))
    pole = (q <= 0) & (q == np.floor(q))
    good = (s > 1) & ~pole & ((q > 0) | (s == np.floor(s))) & np.isfinite(q)
    power, start = np.where(good, s, 2.0), np.where(good, q, 1.0)
    head = np.zeros_like(start)
    with np.errstate(all="ignore"):
        while np.any(start <= 0):
            head = np.where(start <= 0, head + np.where(start == 0, 1.0, start) ** -power, head)
            start = np.where(start <= 0, start + 1, start)
        out = head + zeta(power, start)
    end = np.where((s == 1) | (pole & (s > 1)), np.inf, np.where((q == np.inf) & (s > 1), 0.0, np.nan))
    return np.where(good, out, end).astype(dtype, copy=False)[()]

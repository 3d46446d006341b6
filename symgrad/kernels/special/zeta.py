"""NumPy kernels of Hurwitz's zeta function and its derivatives by the power, by Euler and Maclaurin's sum."""

from __future__ import annotations

from typing import Any

import numpy as np

from symgrad.kernels.entries.elementwise import of_doubles
from symgrad.kernels.special.jets import jet_exp, jet_linear, jet_over, jet_times, jet_top


def inverse_power(a: Any, s: Any) -> Any:
    """a^(-s), by products where s is a small whole number."""
    if np.ndim(s) or s not in range(1, 17):
        return a**-s
    inverse = out = 1 / a
    for _ in range(int(s) - 1):
        out = out * inverse
    return out


def bernoulli_quotients() -> Any:
    """B_2k/(2k)! for k = 1 to 6."""
    return (1 / 12, -1 / 720, 1 / 30240, -1 / 1209600, 1 / 47900160, -691 / 1307674368000)


def zeta(s: Any, a: Any) -> Any:
    """Hurwitz zeta Σ (a+k)^-s for s > 1, a > 0, by Euler-Maclaurin (DLMF 25.11.5)."""
    a = np.asarray(a, np.float64)
    n = 12
    total = np.zeros_like(a)
    for k in range(n):
        total = total + inverse_power(a + k, s)
    b = a + n
    last = inverse_power(b, s)
    total = total + inverse_power(b, s - 1) / (s - 1) + last / 2
    factor = s * last / b
    for k, coefficient in enumerate(bernoulli_quotients()):
        total = total + coefficient * factor
        factor = factor * (s + 2 * k + 1) * (s + 2 * k + 2) / (b * b)
    return total


def hurwitz(s: Any, q: Any) -> Any:
    """ζ(s, q) for s > 1: below 0 the first terms are summed, where the powers are real; inf at the poles."""
    dtype = np.result_type(s, q)  # of numbers as given: beside arrays they are weak
    s, q = np.asarray(s), np.asarray(q)
    s, q = np.broadcast_arrays(s.astype(np.float64), q.astype(np.float64))
    pole = (q <= 0) & (q == np.floor(q))
    good = (s > 1) & ~pole & ((q > 0) | (s == np.floor(s))) & np.isfinite(q) & np.isfinite(s)
    power, start = np.where(good, s, 2.0), np.where(good, q, 1.0)
    head = np.zeros_like(start)
    with np.errstate(all="ignore"):
        while np.any(start <= 0):
            head = np.where(start <= 0, head + np.where(start == 0, 1.0, start) ** -power, head)
            start = np.where(start <= 0, start + 1, start)
        out = head + zeta(power, start)
        first = q**-s  # of which nothing else is left far out
    end = np.where((s == 1) | (pole & (s > 1)), np.inf, np.where((q == np.inf) & (s > 1), 0.0, np.nan))
    end = np.where((s == np.inf) & (q > 0) & np.isfinite(q), first, end)
    return np.where(good, out, end).astype(dtype, copy=False)[()]


def zeta_slope_of(s: Any, q: Any, n: int) -> Any:
    """The n-th derivative of ζ(s, q) by s, for q > 0."""
    good = (s > 1) & (q > 0) & np.isfinite(q) & np.isfinite(s)
    power, start = np.where(good, s, 2.0), np.where(good, q, 1.0)
    total = np.zeros_like(start)
    with np.errstate(all="ignore"):
        for k in range(12):
            total = total + (-np.log(start + k)) ** n * (start + k) ** -power
        b = start + 12
        power = np.minimum(power, 1000.0)  # from there on only the first terms count
        factor = jet_linear(power, 1.0, n) / b
        rest = jet_over(jet_linear(b, 0.0, n), jet_linear(power - 1, 1.0, n))
        rest[0, 0] += 0.5
        for k, coefficient in enumerate(bernoulli_quotients()):
            rest = rest + coefficient * factor
            further = jet_linear(power + 2 * k + 1, 1.0, n)
            factor = jet_times(jet_times(factor, further), jet_linear(power + 2 * k + 2, 1.0, n)) / (b * b)
        logarithm = np.zeros((n + 1, 1, *b.shape))
        logarithm[1, 0] = -np.log(b)
        decay = b**-power * jet_exp(logarithm)
        total = total + jet_top(jet_times(decay, rest))
    end = np.where((s > 1) & (q == np.inf), 0.0, np.where((s == 1) & (q > 0), (-1) ** n * np.inf, np.nan))
    return np.where(good, total, end)


def zeta_slope(s: Any, q: Any, n: int) -> Any:
    """The n-th derivative by s of Hurwitz's zeta function ζ(s, q), s > 1 and q > 0."""
    return of_doubles(zeta_slope_of, (s, q), n)

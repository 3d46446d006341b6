"""NumPy kernels of the gamma function, its derivatives and integrals, and of the zeta function."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from symgrad.kernels.elementwise import in_stretches


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


def lgamma(x: Any) -> Any:
    """log|Γ(x)| through ``math.lgamma``, of many entries from 3 on by Stirling's series; +inf at poles and far out."""
    x = np.asarray(x)
    if x.size > 32768:
        return in_stretches(lgamma, x)
    y = x.astype(np.float64)
    infinite = ((y <= 0) & (y == np.floor(y))) | (np.abs(y) > 2.5e305)
    known = np.where(infinite, 1.0, y)
    alone = ~(known >= 3) | (known.size <= 1024)
    out = known if alone.all() else stirling(np.maximum(known, 3.0))
    out[alone] = np.fromiter(map(math.lgamma, known[alone].tolist()), np.float64)
    # Whole numbers meet this function inside of derivatives: their logarithms are not whole.
    return np.where(infinite, np.inf, out).astype(np.result_type(x, np.float16))[()]


def stirling(x: Any) -> Any:
    """log Γ(x) for x >= 3: recurrence up to x >= 10, then the asymptotic series (DLMF 5.11.1)."""
    small = x < 10
    low = np.where(small, x, 1.0)
    product = np.array(low)
    for _ in range(6):
        low += 1
        product *= low
    y = np.where(small, low + 1, x)
    inverse = 1 / y
    square = inverse * inverse
    series = np.full_like(y, -691 / 360360)
    for coefficient in (1 / 1188, -1 / 1680, 1 / 1260, -1 / 360, 1 / 12):
        series *= square
        series += coefficient
    out = (y - 0.5) * np.log(y) - y + math.log(2 * math.pi) / 2 + series * inverse
    return np.where(small, out - np.log(product), out)


def inverse_power(a: Any, s: Any) -> Any:
    """a^(-s), by products where s is a small whole number."""
    if np.ndim(s) or s not in range(1, 17):
        return a**-s
    inverse = out = 1 / a
    for _ in range(int(s) - 1):
        out = out * inverse
    return out


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
    bernoulli = (1 / 12, -1 / 720, 1 / 30240, -1 / 1209600, 1 / 47900160, -691 / 1307674368000)
    for k, coefficient in enumerate(bernoulli):
        total = total + coefficient * factor
        factor = factor * (s + 2 * k + 1) * (s + 2 * k + 2) / (b * b)
    return total


def digamma(x: Any) -> Any:
    """ψ(x): recurrence up to x >= 12, then the asymptotic series (DLMF 5.11.2); reflection for x < 0."""
    x = np.asarray(x)
    if x.size > 32768:
        return in_stretches(digamma, x)
    work = x.astype(np.float64)
    negative = work < 0
    pole = (work <= 0) & (work == np.floor(work))
    y = np.where(negative, 1 - work, np.where(work == 0, 1.0, work))
    small = y < 12
    first = np.where(small, y, 1.0)
    steps = np.zeros_like(y)
    for k in range(11, -1, -1):
        steps -= 1 / (first + k)
    out = np.where(small, steps, 0.0)
    y = np.where(small, y + 12, y)
    t = 1 / (y * y)
    series = t * (1 / 12 - t * (1 / 120 - t * (1 / 252 - t * (1 / 240 - t * (1 / 132 - t * 691 / 32760)))))
    out = out + np.log(y) - 1 / (2 * y) - series
    if negative.any():
        turn = np.where(negative & ~pole, work, 0.5)
        out = np.where(negative, out - np.pi / np.tan(np.pi * turn), out)
    out = np.where(pole, np.where(work == 0, np.copysign(np.inf, -work), np.nan), out)
    return out.astype(x.dtype, copy=False)[()]


def polygamma(x: Any, n: int) -> Any:
    """ψ⁽ⁿ⁾(x) through the Hurwitz zeta function (DLMF 5.15.1); reflection (5.15.6) for x < 0."""
    if n == 0:
        return digamma(x)
    x = np.asarray(x)
    if x.size > 32768:
        return in_stretches(polygamma, x, n)
    work = x.astype(np.float64)
    negative = work < 0
    out = (-1) ** (n + 1) * math.factorial(n) * zeta(n + 1.0, np.where(negative, 1 - work, work))
    if negative.any():
        with np.errstate(invalid="ignore"):
            cot = 1 / np.tan(np.pi * np.where(negative, work, 0.5))
        slope = [0.0, 1.0]  # d/dx c(cot πx) = -π (1 + cot²) c'(cot)
        for _ in range(n):
            steps = [-np.pi * k * slope[k] for k in range(1, len(slope))]
            slope = [a + b for a, b in zip([*steps, 0.0, 0.0], [0.0, 0.0, *steps], strict=True)]
        turned = np.zeros_like(cot)
        for coefficient in reversed(slope):
            turned = turned * cot + coefficient
        out = np.where(negative, (-1) ** n * out - np.pi * turned, out)
        if n > 1:
            out = np.where(negative & (work == np.floor(work)), (-1) ** (n + 1) * np.inf, out)
    return out.astype(x.dtype, copy=False)[()]

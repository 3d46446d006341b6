"""NumPy kernels of Dawson's and Fresnel's integrals."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from symgrad.kernels.entries.elementwise import in_doubles, in_stretches


def dawson_parts(x: Any) -> tuple[Any, Any]:
    """F(x) and F'(x) = 1 - 2x F(x) for x >= 0.

    Below 7 by e^(-s) and the powers of s = x² alone, so that the rounding of s hardly counts; above asymptotically.
    """
    near, far = np.minimum(x, 7), np.maximum(x, 7)
    square = near * near
    total, less, power = np.ones_like(near), np.zeros_like(near), np.ones_like(near)
    for k in range(1, 170):
        power = power * square / k
        total, less = total + power / (2 * k + 1), less + power / (2 * k - 1)
    decay = np.exp(-square)
    t, tail = 1 / (2 * far * far), np.ones_like(far)
    for k in range(49, 1, -2):
        tail = 1 + k * t * tail
    value = np.where(x < 7, near * decay * total, (1 + t * tail) / (2 * far))
    return value, np.where(x < 7, decay * (1 - less), -t * tail)


@in_doubles
def dawsn(x: Any) -> Any:
    """Dawson's integral e^(-x²) times the integral of e^(t²) from 0 to x."""
    size = np.abs(x)
    with np.errstate(all="ignore"):
        out = np.copysign(dawson_parts(size)[0], x)
    return np.where(np.isnan(size), np.nan, out)


def dawson_series(n: int) -> list[float]:
    """c_k of the n-th derivative e^(-s) x^p Σ c_k s^k of Dawson's integral, s = x², p = 0 for odd n and else 1.

    All but the first few have one sign.  They are made as c_k k!, which are fractions of small numbers.
    """
    from fractions import Fraction

    parts = [Fraction(1, 2 * k + 1) for k in range(171 + n)]
    for order in range(n):
        if order % 2:
            parts = [2 * (parts[k + 1] - parts[k]) for k in range(len(parts) - 1)]
        else:
            parts = [(2 * k + 1) * parts[k] - 2 * k * parts[k - 1] for k in range(len(parts))]
    return [float(part) / math.factorial(k) for k, part in enumerate(parts[:171])]


@in_doubles
def dawsn_slope(x: Any, n: int = 1) -> Any:
    """The n-th derivative of Dawson's integral, n > 0, by series of its own: differences have no digits far out."""
    size = np.abs(x)
    with np.errstate(all="ignore"):
        near, far = np.minimum(size, 7), np.maximum(size, 7)
        square = near * near
        total = np.zeros_like(near)
        for c in reversed(dawson_series(n)):
            total = total * square + c
        low = np.exp(-square) * total * (near if n % 2 == 0 else 1)
        t = 1 / (2 * far * far)
        tail = np.zeros_like(far)
        for k in range(40, -1, -1):  # (2k - 1)!! (2k + 1)…(2k + n) t^k
            tail = math.prod(range(2 * k + 1, 2 * k + n + 1)) + (2 * k + 1) * t * tail
        high = (-1) ** n * tail / (2 * far) / far**n
        out = np.where(size < 7, low, high)
    out = np.where(x < 0, -out, out) if n % 2 == 0 else out
    return np.where(np.isnan(size), np.nan, out)


def fresnel_waves(x: Any) -> tuple[Any, Any]:
    """sin and cos of πx²/2 by x² to all its digits, less whole quarters: its rounding would be no small angle."""
    size = np.abs(x)
    known = np.where(size < 2.0**53, size, 0.0)  # beyond, numbers are even, and their squares whole periods
    high = np.float64(np.float32(known))
    low = known - high
    pieces = [np.fmod(high * high, 4), np.fmod(2 * high * low, 4), low * low]
    quarters = [np.rint(piece) for piece in pieces]
    part = sum(piece - quarter for piece, quarter in zip(pieces, quarters, strict=True))
    more = np.rint(part)
    part, turn = part - more, (sum(quarters) + more).astype(np.int64) % 4
    sine, cosine = np.sin(math.pi / 2 * part), np.cos(math.pi / 2 * part)
    turned = np.choose(turn, [sine, cosine, -sine, -cosine]), np.choose(turn, [cosine, -sine, -cosine, sine])
    return np.where(np.isfinite(x), turned[0], np.nan), np.where(np.isfinite(x), turned[1], np.nan)


def fresnel_slope(x: Any, cosine: bool) -> Any:
    """sin(πx²/2), or its cosine: the derivatives of S(x) and C(x)."""
    x = np.asarray(x)
    return fresnel_waves(x.astype(np.float64))[cosine].astype(x.dtype, copy=False)[()]


def fresnel_beyond(x: Any) -> tuple[Any, Any]:
    """S(x) and C(x) for x >= 1.5, by the auxiliary functions (DLMF 7.5.3, 7.5.4).

    These are integrals of e^(-πx²t²/2)/(1 + t⁴) (7.7.10, 7.7.11), of which trapezoidal sums give all digits.
    """
    step = np.minimum(0.115, 0.4 / x)
    count = int(np.max(np.ceil(4.9 / x / step), initial=0))
    f, g = np.full_like(x, 0.5), np.zeros_like(x)
    for k in range(1, count + 1):
        t = k * step
        weight = np.exp(-math.pi / 2 * (x * t) ** 2) / (1 + t**4)
        f, g = f + weight, g + t * t * weight
    f, g = (math.sqrt(2) / math.pi * step * part for part in (f, g))
    sine, cosine = fresnel_waves(x)
    return 0.5 - f * cosine - g * sine, 0.5 + f * sine - g * cosine


def fresnel_parts(x: Any) -> tuple[Any, Any]:
    """S(x) and C(x): the integrals of sin(πt²/2) and cos(πt²/2) from 0, by their power series below 1.5."""
    size = np.abs(x.astype(np.float64))
    near, far = np.minimum(np.nan_to_num(size), 1.5), np.clip(np.nan_to_num(size), 1.5, 1e15)
    angle = math.pi / 2 * near * near
    sine, cosine, power = np.zeros_like(near), np.zeros_like(near), near
    for k in range(0, 28, 2):
        cosine = cosine + power / (2 * k + 1)
        power = power * angle / (k + 1)
        sine = sine + power / (2 * k + 3)
        power = -power * angle / (k + 2)
    beyond = fresnel_beyond(far)
    parts = [np.where(size <= 1.5, low, high) for low, high in zip((sine, cosine), beyond, strict=True)]
    turned = [np.where(np.isnan(size), np.nan, np.copysign(part, x)).astype(x.dtype, copy=False) for part in parts]
    return turned[0][()], turned[1][()]


def fresnels(x: Any) -> Any:
    """S(x), the integral of sin(πt²/2) from 0 to x."""
    x = np.asarray(x)
    return in_stretches(fresnels, x) if x.size > 32768 else fresnel_parts(x)[0]


def fresnelc(x: Any) -> Any:
    """C(x), the integral of cos(πt²/2) from 0 to x."""
    x = np.asarray(x)
    return in_stretches(fresnelc, x) if x.size > 32768 else fresnel_parts(x)[1]

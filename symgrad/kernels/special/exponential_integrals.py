"""NumPy kernels of the exponential integrals: E_n, Ei, and the sine and cosine integrals."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from symgrad.kernels.entries.elementwise import in_doubles


def expn_fraction(z: Any, n: int) -> Any:
    """e^z E_n(z): the even part of its continued fraction (DLMF 8.19.17), from the last of its terms backwards."""
    count = 12 + int(np.max(160 / np.maximum(np.abs(z), 1), initial=0))
    value = z + n + 2 * count
    for k in range(count, 0, -1):
        value = z + n + 2 * k - 2 - k * (n + k - 1) / value
    return 1 / value


def expn_series(x: Any, n: int) -> Any:
    """E_n(x) for 0 < x <= 1 and n > 0 by its power series (DLMF 8.19.8); what is not small is summed last."""
    harmonic = math.fsum(1 / k for k in range(1, n)) - float(np.euler_gamma)
    total, power = np.zeros_like(x), np.ones_like(x)
    for k in range(24 + n):
        total = total + power * (harmonic - np.log(x) if k == n - 1 else 1 / (n - 1 - k))
        power = power * -x / (k + 1)
    return total


@in_doubles
def expn(x: Any, n: int) -> Any:
    """E_n(x), the integral of e^(-xt)/t^n over t > 1; nan below 0."""
    low, high = np.clip(np.nan_to_num(x), 1e-308, 1), np.maximum(np.nan_to_num(x), 1)
    with np.errstate(all="ignore"):
        if n == 0:
            out = np.exp(-x) / np.maximum(x, 0)
        else:
            out = np.where(x <= 1, expn_series(low, n), np.exp(-high) * expn_fraction(high, n))
        out = np.where(x == 0, 1 / (n - 1) if n > 1 else np.inf, np.where(x < 0, np.nan, out))
    return np.where(np.isnan(x), np.nan, out)


def expi_series(x: Any) -> Any:
    """Ei(x) for 0 < x <= 40, from the zero of the function on: there its digits are those of the difference."""
    zero, rest = 0.3725074107813666, 1.3140183414386028e-17
    moved = (x - zero) - rest
    total, power, known = np.zeros_like(x), np.ones_like(x), 1.0
    for k in range(1, 130):
        # (x^k - zero^k)/k!, which is moved times the sum of the products of powers.
        total = total + power / k
        known = known * zero / k
        power = power * x / (k + 1) + known / (k + 1)
        if k > 20 and np.all(power <= 1e-18 * total):
            break
    return np.where(np.abs(moved) < zero / 2, np.log1p(moved / zero), np.log(x / zero)) + moved * total


@in_doubles
def expi(x: Any) -> Any:
    """Ei(x), the principal value of the integral of e^t/t up to x; -inf at 0."""
    far = np.maximum(np.nan_to_num(x, posinf=1e300), 40)
    with np.errstate(all="ignore"):
        series, term = np.ones_like(far), np.ones_like(far)
        for k in range(1, 40):
            term = term * k / far
            series = series + term
        half = np.exp(far / 2)
        above = half / far * series * half
        out = np.where(x > 40, above, expi_series(np.clip(np.nan_to_num(x), 1e-308, 40)))
        below = -expn(np.maximum(-x, 1e-308), 1)
    out = np.where(x == np.inf, np.inf, np.where(x == 0, -np.inf, np.where(x < 0, below, out)))
    return np.where(np.isnan(x), np.nan, out)


@in_doubles
def sine_integral(x: Any) -> Any:
    """Si(x), the integral of sin(t)/t from 0: its power series up to 4, then E_1 on the imaginary axis."""
    size = np.abs(x)
    near = np.minimum(np.nan_to_num(size), 4)
    far = np.clip(np.nan_to_num(size, posinf=1e300), 4, 1e300)
    total, power = np.zeros_like(near), near
    for k in range(1, 40, 2):
        total = total + power / k
        power = power * -near * near / ((k + 1) * (k + 2))
    turned = expn_fraction(1j * far, 1)
    beyond = math.pi / 2 + (np.exp(-1j * far) * turned).imag
    out = np.where(size <= 4, total, beyond)
    return np.where(np.isnan(size), np.nan, np.copysign(out, x))


@in_doubles
def cosine_integral(x: Any) -> Any:
    """Ci(x), γ + log x + the integral of (cos(t) - 1)/t from 0; -inf at 0, nan below."""
    near = np.clip(np.nan_to_num(x), 1e-308, 2)
    far = np.clip(np.nan_to_num(x, posinf=1e300), 2, 1e300)
    zero, rest = 0.6165054856207163, -4.209920321433186e-17
    moved = (near - zero) - rest
    # The series less that at the function's zero: near^k - zero^k is moved times power.
    total, power, known, scale = np.zeros_like(near), near + zero, 1.0, -2.0
    for k in range(2, 44, 2):
        total = total + power / (k * scale)
        known = known * zero * zero
        power = power * near * near + (near + zero) * known
        scale = -scale * (k + 1) * (k + 2)
    with np.errstate(divide="ignore"):
        start = np.where(np.abs(moved) < zero / 2, np.log1p(moved / zero), np.log(near / zero))
    beyond = -(np.exp(-1j * far) * expn_fraction(1j * far, 1)).real
    out = np.where(x <= 2, start + moved * total, beyond)
    out = np.where(x == 0, -np.inf, np.where(x == np.inf, 0.0, np.where(x < 0, np.nan, out)))
    return np.where(np.isnan(x), np.nan, out)

"""NumPy kernels of Bessel functions.

Trapezoidal sums of integrals whose integrands are analytic, so that a few dozen nodes give full accuracy; power series
near 0.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from symgrad.kernels.entries.elementwise import in_doubles, in_stretches
from symgrad.kernels.special.interpolants import interpolated


def hankel(x: Any, n: float) -> Any:
    """H⁽¹⁾_n(x) for x >= 1."""
    real, imag = interpolated(hankel_share, x, n) if n <= 1 else hankel_share(x, n)
    turned = (-1j) ** (n % 4) if n == int(n) else np.exp(-0.5j * np.pi * n)
    return turned * np.exp(1j * x) / (1j * np.pi * np.sqrt(x)) * (real + 1j * imag)


def hankel_share(x: Any, n: float) -> Any:
    """πi√x i^n e^(-ix) H⁽¹⁾_n(x), both parts: DLMF 10.9.10 on the path of steepest descent, Im sinh t = tanh Re t."""
    total = np.empty(np.shape(x), np.complex128)
    near = x <= 11  # where all entries have the same nodes
    width = np.arccosh((48 / x + np.sqrt((48 / x) ** 2 + 4)) / 2)
    for where in (near, ~near):
        if not where.any():
            continue
        step: Any = 0.12 if where is near else 0.4 / np.sqrt(x[where])
        count = int(np.max(np.ceil(width[where] / step), initial=0))
        t = np.arange(-count, count + 1) * (step[:, None] if np.ndim(step) else step)
        with np.errstate(over="ignore"):
            decay = np.exp(-x[where][:, None] * (np.sinh(t) * np.tanh(t)) - n * t)
        turn = np.exp(-1j * n * np.arctan(np.sinh(t))) * (1 + 1j / np.cosh(t))
        total[where] = step * (np.sum(decay * turn, -1) if np.ndim(step) else decay @ turn)
    return np.sqrt(x) * np.stack((total.real, total.imag))


def falling_share(x: Any, low: Any, n: int) -> Any:
    """J_n(x) over J_low(x) for x < low + 1 <= n + 1: the product of the quotients of neighbours, each below 1.

    They come from the recurrence (DLMF 10.6.1) downwards, which forgets where it was started.
    """
    quotient, out = np.zeros_like(x), np.ones_like(x)
    for k in range(n + 30 + 8 * math.ceil(n ** (1 / 3)), int(np.min(low)), -1):
        quotient = x / (2 * k - x * quotient)
        if k <= n:
            out = np.where(k > low, out * quotient, out)
    return out


def bessel_j(x: Any, n: int) -> Any:
    """J_n(x): below 4 the trapezoidal rule on its integral (DLMF 10.9.2), above Hankel's function and the recurrence.

    Both are for orders up to x, and give values of the size of their terms.  Below n the function falls off: there the
    order next to x is computed, and where x is smaller still the power series (10.2.2) has all digits.
    """
    x = np.asarray(x)
    if x.size > 32768:
        return in_stretches(bessel_j, x, n)
    size = np.abs(x.astype(np.float64))
    small, far = size * size < 4 * (n + 1), (size > 4) & np.isfinite(size)
    middle = ~(small | far) & np.isfinite(size)
    out = np.where(np.isinf(size), 0.0, size)  # nan stays
    if middle.any():
        near = size[middle]
        order = np.minimum(np.floor(near), n)
        count = 2 * (int(np.max(near)) + n) + 48
        angle = np.pi * (np.arange(count) + 0.5) / count
        out[middle] = np.mean(np.cos(order[:, None] * angle - near[:, None] * np.sin(angle)), -1)
    if far.any():
        out[far] = bessel_j_beyond(size[far], np.minimum(np.floor(size[far]), n).astype(np.intp))
    falling = (middle | far) & (size < n)
    if falling.any():
        out[falling] *= falling_share(size[falling], np.floor(size[falling]), n)
    if small.any():
        quarter = size[small] / 2
        square, part, series = quarter * quarter, np.empty_like(quarter), np.ones_like(quarter)
        for k in range(24, 0, -1):  # the terms fall faster than 1/k!
            np.divide(square, k * (n + k), out=part)
            part *= series
            np.subtract(1, part, out=series)
        for k in range(1, n + 1):
            series = series * quarter / k
        out[small] = series
    return (np.where(x < 0, (-1) ** n, 1) * out).astype(x.dtype, copy=False)[()]


def bessel_j_beyond(x: Any, order: Any) -> Any:
    """J of orders up to x > 4: by the recurrence, which loses nothing up to there, from the orders 0 and 1."""
    last = int(np.max(order))
    direct = last * last + 30 < x  # where Hankel's function has the order itself
    out = np.empty_like(x)
    for n in np.unique(order[direct]):
        where = direct & (order == n)
        out[where] = hankel(x[where], int(n)).real
    rest = ~direct
    if rest.any():
        y, wanted = x[rest], order[rest]
        before, found = hankel(y, 0).real, hankel(y, 1).real
        part = np.where(wanted == 0, before, found)
        for k in range(1, last):
            with np.errstate(over="ignore", invalid="ignore"):  # of orders beyond x, which are not asked for
                before, found = found, 2 * k / y * found - before
            part = np.where(wanted == k + 1, found, part)
        out[rest] = part
    return out


def climbed(first: Any, second: Any, x: Any, n: int, sign: int, shift: int = 0) -> Any:
    """Order n from the orders 0 and 1 by f_(k+1) = (2k + shift)/x f_k + sign f_(k-1) (DLMF 10.6.1, 10.29.1, 10.51.1).

    The functions that have their digits so grow with the order: what has overflowed stays infinite.
    """
    if n == 0:
        return first
    with np.errstate(all="ignore"):
        for k in range(1, n):
            after = (2 * k + shift) / x * second + sign * first
            first, second = second, np.where(np.isinf(second), second, after)
    return second


def harmonic_series(x: Any, n: int, sign: int) -> Any:
    """Σ (ψ(k+1) + ψ(n+k+1)) (±x²/4)^k / (k! (n+k)!) for n = 0 and 1: the series beside the logarithm near 0."""
    out, power = np.zeros_like(x), np.ones_like(x)
    digamma = [-np.euler_gamma]
    for k in range(24):
        digamma.append(digamma[-1] + 1 / (k + 1))
        out = out + (digamma[k] + digamma[min(n + k, k + 1)]) * power
        power = power * sign * x * x / (4 * (k + 1) * (n + k + 1))
    return out


@in_doubles
def bessel_y(x: Any, n: int) -> Any:
    """Y_n(x): its series (DLMF 10.8.1) below 1, Hankel's function above; -inf at 0, nan below."""
    low = (x > 0) & (x < 1)
    high = (x >= 1) & np.isfinite(x)
    near, far = np.maximum(x[low], 1e-300), x[high]
    rows = []
    for k in (n,) if n < 2 else (0, 1):
        row = np.zeros_like(x)
        if near.size:
            regular = 2 / np.pi * np.log(near / 2) * bessel_j(near, k)
            row[low] = regular - 2 / (np.pi * near) * k - (near / 2) ** k / np.pi * harmonic_series(near, k, -1)
        row[high] = hankel(far, k).imag
        rows.append(row)
    out = climbed(rows[0], rows[-1], np.maximum(x, 1e-300), n, -1)
    out = np.where(x == 0, -np.inf, np.where(x == np.inf, 0.0, np.where(x < 0, np.nan, out)))
    return np.where(np.isnan(x), np.nan, out)


@in_doubles
def bessel_ke(x: Any, n: int) -> Any:
    """e^x K_n(x): its series (DLMF 10.31.1) below 1, interpolants of its integral above; inf at 0, nan below."""
    low = (x > 0) & (x < 1)
    high = (x >= 1) & np.isfinite(x)
    near, far = np.maximum(x[low], 1e-300), x[high]
    rows = []
    for k in (n,) if n < 2 else (0, 1):
        row = np.zeros_like(x)
        if near.size:
            regular = (-1) ** (k + 1) * np.log(near / 2) * modified_series(near, k)
            beside = (-1) ** k * (near / 2) ** k / 2 * harmonic_series(near, k, 1)
            row[low] = np.exp(near) * (regular + k / near + beside)
        row[high] = interpolated(ke_derivative, far, k, 0)[0] / np.sqrt(far)
        rows.append(row)
    out = climbed(rows[0], rows[-1], np.maximum(x, 1e-300), n, 1)
    out = np.where(x == 0, np.inf, np.where(x == np.inf, 0.0, np.where(x < 0, np.nan, out)))
    return np.where(np.isnan(x), np.nan, out)


def ke_derivative(x: Any, n: int, k: int) -> Any:
    """The k-th derivative of e^x K_n(x) times x^(k + 1/2) for x >= 1: by its integral (DLMF 10.32.9)."""
    step = np.minimum(0.2 if n + k < 3 else 0.12, (0.6 if n + k < 3 else 0.45) / np.sqrt(x))
    count = int(np.max(np.ceil(np.arccosh(1 + 100 / x) / step)))
    t = np.arange(-count, count + 1) * step[:, None]
    away = -2 * np.sinh(t / 2) ** 2
    with np.errstate(over="ignore", under="ignore"):
        return step * x ** (k + 0.5) / 2 * np.sum(away**k * np.exp(x[:, None] * away) * np.cosh(n * t), -1)


@in_doubles
def bessel_ke_slope(x: Any, n: int, k: int = 1) -> Any:
    """The k-th derivative of e^x K_n(x), k > 0; infinite at 0, nan below.

    That of its integral (DLMF 10.32.9), of (1 - cosh t)^k e^(x (1 - cosh t)) cosh nt, all of one sign; where x is not
    large against n², the order itself less half the sum of its neighbours, k times.
    """
    out = np.where(np.isnan(x) | (x < 0), np.nan, np.where(x == 0, (-1) ** k * np.inf, 0.0))
    low = (x > 0) & (x <= max(1.0, n * n / 8))
    if low.any():
        terms = [(-1) ** j * math.comb(2 * k, j) * bessel_ke(x[low], abs(n + j - k)) for j in range(2 * k + 1)]
        out[low] = sum(terms) / (-2) ** k
    high = (x > max(1.0, n * n / 8)) & np.isfinite(x)
    if high.any():
        far = x[high]
        scaled = interpolated(ke_derivative, far, n, k)[0] if n < 3 else ke_derivative(far, n, k)
        with np.errstate(under="ignore"):
            out[high] = scaled / far**k / np.sqrt(far)
    return out


def modified_series(x: Any, n: int) -> Any:
    """I_n(x) near 0 by its power series (DLMF 10.25.2)."""
    out, term = np.zeros_like(x), (x / 2) ** n / math.factorial(n)
    for k in range(24):
        out = out + term
        term = term * x * x / (4 * (k + 1) * (n + k + 1))
    return out


def bessel_k(x: Any, n: int) -> Any:
    """K_n(x); inf at 0, nan below."""
    x = np.asarray(x)
    y = x.astype(np.float64)
    with np.errstate(all="ignore"):
        out = np.where(y == np.inf, 0.0, np.exp(-y) * bessel_ke(y, n))
    return out.astype(x.dtype, copy=False)[()]


def horner(x: Any, ratios: Any) -> Any:
    """1 + r₁x (1 + r₂x (1 + …)) for x >= 0 and the ratios r of a series' coefficients."""
    top = np.max(x, initial=1.0)  # the coefficients of x/top neither overflow nor vanish
    coefficients = np.cumprod([1.0, *(ratio * top for ratio in ratios)])
    part, out = x / top, np.full_like(x, coefficients[-1])
    for coefficient in coefficients[-2::-1]:
        out *= part
        out += coefficient
    return out


def rising_share(x: Any, n: int) -> Any:
    """I_n(x) over I_0(x) for x > 24: the product of the quotients of neighbours (DLMF 10.33.1), from above."""
    quotient, out = np.zeros_like(x), np.ones_like(x)
    for k in range(n + 16 + int(9 * math.sqrt(np.max(x, initial=0))), 0, -1):
        quotient = x / (2 * k + x * quotient)
        if k <= n:
            out *= quotient
    return out


@in_doubles
def bessel_ie(x: Any, n: int) -> Any:
    """e^(-|x|) I_n(x): its power series (DLMF 10.25.2), all of one sign, and far out Hankel's series (10.40.1).

    Where x is large, though not against n², Hankel's series is that of order 0.
    """
    size = np.abs(x)
    out = np.array(size)  # nan stays
    near, far = size[size <= 24], size[size > 24]
    terms = int(1.5 * np.max(near, initial=0)) + 16
    series = horner(near * near / 4, [1 / (k * (n + k)) for k in range(1, terms)])
    value = series * np.exp(-near)
    for low in range(0, n, 100):  # (near/2)^n/n!, of which the parts are in the range of floats
        high = min(low + 100, n)
        value = value * ((near / 2) ** (high - low) / math.perm(high, high - low))
    out[size <= 24] = value
    outside = far > 24 + 2 * n * n
    value = np.zeros_like(far)
    for where, order in ((outside, n), (~outside, 0)):
        series = horner(1 / far[where], [((2 * k - 1) ** 2 - 4 * order**2) / (8 * k) for k in range(1, 21)])
        value[where] = series / math.sqrt(2 * math.pi) / np.sqrt(far[where])
    if not outside.all():
        value[~outside] *= rising_share(far[~outside], n)
    out[size > 24] = value
    return out * (np.sign(x) if n % 2 else 1)


def scaled_kummer(x: Any, k: int) -> Any:
    """The k-th derivative of e^-x I_0(x) for x >= 0: (-2)^k (1/2)_k/k! times e^-2x M(1/2, k + 1, 2x) (DLMF 10.39.5).

    All terms of the series have one sign.
    """
    top = 2 * float(np.max(x, initial=0))
    count = int(top + 8 * math.sqrt(top)) + 16
    series = horner(2 * x, [(j - 0.5) / (j * (k + j)) for j in range(1, count)])
    first = math.prod(-(2 * j - 1) / j for j in range(1, k + 1))
    return first * np.exp(-2 * x) * series


@in_doubles
def bessel_ie_slope(x: Any, n: int, k: int = 1) -> Any:
    """The k-th derivative of e^(-|x|) I_n(x), k > 0, with sign(0) = 0 at its kink.

    That of its integral (DLMF 10.32.3), of (cos θ - 1)^k e^(x (cos θ - 1)) cos nθ: nearly of one sign where x is large
    against n².  Below, half the sum of the neighbouring orders less the one between, k times; far out Hankel's series;
    of the orders 0 and 1 and small x a series, which is the fastest.
    """
    size = np.abs(x)
    limit = 24.0 + 2 * n * n + 8 * k
    out = np.array(size)  # nan stays
    first = (size <= 6) & (n < 2)
    if first.any():
        near = size[first]
        out[first] = scaled_kummer(near, k) if n == 0 else scaled_kummer(near, k) + scaled_kummer(near, k + 1)
    low = (size <= max(1.0, n * n / 8)) & ~first
    if low.any():
        terms = [(-1) ** j * math.comb(2 * k, j) * bessel_ie(size[low], abs(n + j - k)) for j in range(2 * k + 1)]
        out[low] = sum(terms) / 2**k
    middle = ~low & ~first & (size <= limit)
    if middle.any():
        near = size[middle]
        count = int(4.5 * math.sqrt(np.max(near))) + n // 2 + 12 + k
        angle = np.pi * (np.arange(count) + 0.5) / count
        away = -2 * np.sin(angle / 2) ** 2
        weight = away**k * np.cos(n * angle) / count
        pieces = np.array_split(near, 1 + near.size * count // 2**21)
        out[middle] = np.concatenate([np.exp(piece[:, None] * away) @ weight for piece in pieces])
    beyond = ~low & ~first & (size > limit)
    if beyond.any():
        far = size[beyond]
        ratios = [((2 * j - 1) ** 2 - 4 * n * n) / (8 * j) * (j - 0.5 + k) / (j - 0.5) for j in range(1, 21)]
        first = math.prod(0.5 - j for j in range(1, k + 1)) / math.sqrt(2 * math.pi) / np.sqrt(far)
        for _ in range(k):
            first = first / far
        out[beyond] = horner(1 / far, ratios) * first
    at_zero = math.comb(k, (k - n) // 2) / 2**k if k >= n and (k - n) % 2 == 0 else 0.0
    return np.where(size == 0, at_zero, out * np.where(x < 0, (-1) ** (n + k), 1))


def bessel_i(x: Any, n: int) -> Any:
    """I_n(x), through e^(-|x|) I_n(x)."""
    x = np.asarray(x)
    size = np.abs(x.astype(np.float64))
    with np.errstate(all="ignore"):
        value = np.where(np.isinf(size), np.inf, np.exp(size) * bessel_ie(size, n))
    return (value * (np.sign(x) if n % 2 else 1)).astype(x.dtype, copy=False)[()]

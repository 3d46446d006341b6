"""NumPy kernels of the normal distribution and the error function: inverses, scaled tails, logarithms."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from symgrad.kernels.entries.elementwise import erf_ratio, erfc, erfc_scaled, in_doubles
from symgrad.kernels.special.interpolants import interpolated
from symgrad.kernels.special.jets import jet_linear, jet_over, jet_top


def normal_quantile(p: Any, q: Any) -> Any:
    """The normal quantile of p by Wichura's AS 241 (1988); ``q`` is p - 1/2 to full accuracy."""
    a = (2509.0809287301226727, 33430.575583588128105, 67265.770927008700853, 45921.953931549871457,
         13731.693765509461125, 1971.5909503065514427, 133.14166789178437745, 3.387132872796366608)  # fmt: skip
    b = (5226.495278852545925, 28729.085735721942674, 39307.89580009271061, 21213.794301586595867,
         5394.1960214247511077, 687.1870074920579083, 42.313330701600911252, 1.0)  # fmt: skip
    c = (7.7454501427834140764e-4, 0.0227238449892691845833, 0.24178072517745061177, 1.27045825245236838258,
         3.64784832476320460504, 5.7694972214606914055, 4.6303378461565452959, 1.42343711074968357734)  # fmt: skip
    d = (1.05075007164441684324e-9, 5.475938084995344946e-4, 0.0151986665636164571966, 0.14810397642748007459,
         0.68976733498510000455, 1.6763848301838038494, 2.05319162663775882187, 1.0)  # fmt: skip
    e = (2.01033439929228813265e-7, 2.71155556874348757815e-5, 0.0012426609473880784386, 0.026532189526576123093,
         0.29656057182850489123, 1.7848265399172913358, 5.4637849111641143699, 6.6579046435011037772)  # fmt: skip
    f = (2.04426310338993978564e-15, 1.4215117583164458887e-7, 1.8463183175100546818e-5, 7.868691311456132591e-4,
         0.0148753612908506148525, 0.13692988092273580531, 0.59983220655588793769, 1.0)  # fmt: skip
    with np.errstate(all="ignore"):
        p, q = np.asarray(p), np.asarray(q)
        high, low = both_polynomials(0.180625 - q * q, a, b)
        out = np.asarray(q * high / low)
        tail = np.asarray(np.abs(q) > 0.425)
        if tail.any():
            r = np.sqrt(-np.log(np.minimum(p[tail], 1 - p[tail])))
            high, low = both_polynomials(r - 1.6, c, d)
            far = np.where(np.isinf(r), np.inf, high / low)
            beyond = (r > 5) & (r < np.inf)
            if beyond.any():
                high, low = both_polynomials(r[beyond] - 5, e, f)
                far[beyond] = high / low
            out[tail] = np.copysign(far, q[tail])
        return np.where((p < 0) | (p > 1) | np.isnan(p), np.nan, out)


def both_polynomials(x: Any, first: tuple[float, ...], second: tuple[float, ...]) -> Any:
    """Two polynomials of one degree by Horner's rule, the highest power first: together, as NumPy's calls take long."""
    rows = np.array((first, second)).T.reshape(-1, 2, *(1,) * np.ndim(x))
    out = rows[0] * x
    for row in rows[1:-1]:
        out += row
        out *= x
    out += rows[-1]
    return out


@in_doubles
def ndtri(x: Any) -> Any:
    """The normal quantile; -inf at 0, inf at 1, nan outside."""
    return normal_quantile(x, x - 0.5)


@in_doubles
def erfinv(x: Any) -> Any:
    """The inverse error function: the quantile at (x + 1)/2 over √2, with two Newton steps in the middle."""
    with np.errstate(all="ignore"):
        # 1 - |x| is exact near 1, so the smaller tail is known to full accuracy.
        tail = normal_quantile((1 - np.abs(x)) / 2, -np.abs(x) / 2)
    return np.copysign(tail, x) / math.sqrt(2)


@in_doubles
def erfcinv(x: Any) -> Any:
    """The inverse complementary error function: the quantile at x/2 over -√2."""
    return -normal_quantile(x / 2, (x - 1) / 2) / math.sqrt(2)


@in_doubles
def erfcx(x: Any) -> Any:
    """e^(x²) erfc(x): by polynomials below 25, by its continued fraction's leading terms above."""
    out = np.full_like(x, np.nan)
    size = np.abs(x)
    middle, near, far = (np.asarray(part) for part in (size <= 0.65, (size > 0.65) & (size <= 25), size > 25))
    with np.errstate(all="ignore"):
        if middle.any():
            t = x[middle]
            out[middle] = np.exp(t * t) * (1 - t * erf_ratio(np.abs(t)))
        if near.any():
            out[near] = erfc_scaled(size[near])
        if far.any():
            t = 1 / (2 * size[far] ** 2)
            series = np.ones_like(t)
            for k in range(15, 0, -2):
                series = 1 - k * t * series
            out[far] = series / (size[far] * math.sqrt(math.pi))
        left = np.asarray(x < -0.65)
        if left.any():
            t = np.maximum(x[left], -27)
            top = np.round(t * 16) / 16  # e^(x²) in two factors: the rounding of x² would cost digits
            growth = 2 * np.exp(top * top) * np.exp((t - top) * (t + top))
            out[left] = np.where(t < -26.7, np.inf, growth - out[left])
    return out


def half_line() -> tuple[list[float], list[float]]:
    """Nodes and weights for integrals over the positive numbers of what falls off as e^-t: t = e^(v - e^-v), v evenly.

    H. Takahasi and M. Mori, "Double exponential formulas for numerical integration" (1974).
    """
    v = np.arange(-35, 38) * 0.1
    nodes = np.exp(v - np.exp(-v))
    return nodes.tolist(), (0.1 * nodes * (1 + np.exp(-v))).tolist()


def erfcx_integral(x: Any, n: int) -> Any:
    """The integral of t^n e^(-t² - 2(x-1)t), times x^(n+1), for x >= 1."""
    total = np.zeros_like(x)
    for t, weight in zip(*half_line(), strict=True):
        total = total + weight * t**n * np.exp(-((t / x) ** 2) - 2 * ((x - 1) / x) * t)
    return total


@in_doubles
def erfcx_slope(x: Any, n: int = 1) -> Any:
    """The n-th derivative of e^(x²) erfc(x), n > 0: for x >= 0 the integral of (-2t)^n e^(-t² - 2xt), times 2/√π.

    Its terms have one sign, so that no digits are lost, as they are in 2x erfcx(x) - 2/√π.  To the left it is that of
    2 e^(x²), a polynomial with positive coefficients times e^(x²), less the same at -x.
    """
    with np.errstate(all="ignore"):
        away = 1 + np.minimum(np.abs(np.where(np.isnan(x), 0.0, x)), 1e300)
        total = interpolated(erfcx_integral, away.ravel(), n)[0].reshape(away.shape)
        right = 2 / math.sqrt(math.pi) * (-2 / away) ** n / away * total
        coefs = np.ones(1)  # of the polynomial, the highest power first: the next is its derivative and 2x times it
        for _ in range(n):
            coefs = np.polyadd(np.polyder(coefs), np.append(2 * coefs, 0))
        near = np.clip(x, -27, 0)
        top = np.round(near * 16) / 16
        growth = np.exp(top * top) * np.exp((near - top) * (near + top))
        left = 2 * np.polyval(coefs, near) * growth - (-1) ** n * right
        out = np.where(x < -26.7, (-1) ** n * np.inf, np.where(x < 0, left, right))
    return np.where(np.isnan(x), np.nan, np.where(x == np.inf, 0.0, out))


def half_gauss(x: Any) -> Any:
    """e^(-x²/2) in two factors: rounding x² would cost x²/2 units."""
    top = np.round(x * 16) / 16
    return np.exp(-top * top / 2) * np.exp((top - x) * (top + x) / 2)


def ndtr(x: Any) -> Any:
    """The standard normal distribution function; to the left of -3 by erfcx, of which e^(-x²/2) is known apart."""
    x = np.asarray(x)
    out = np.asarray(erfc(-x / math.sqrt(2)) / 2)
    left = np.asarray((x < -3) & (x > -40))
    if left.any():
        far = x[left].astype(np.float64)
        out[left] = half_gauss(far) * erfcx(-far / math.sqrt(2)) / 2
    return out[()]


def inverse_mills(x: Any) -> Any:
    """Density over distribution function of the normal distribution."""
    x = np.asarray(x)
    y = x.astype(np.float64)
    with np.errstate(all="ignore"):
        out = np.asarray(math.sqrt(2 / math.pi) / erfcx(-np.minimum(y, 1.0) / math.sqrt(2)))
        right = np.asarray(y > 1)
        if right.any():
            far = np.minimum(y[right], 40.0)
            out[right] = half_gauss(far) / (math.sqrt(2 * math.pi) * ndtr(far))
    return out.astype(x.dtype, copy=False)[()]


@in_doubles
def inverse_mills_slope(x: Any, n: int = 1) -> Any:
    """The n-th derivative of that ratio m, n > 0: to the left of -2 by Laplace's continued fraction for m(-t) - t.

    m' = -m (x + m), and its derivatives by Leibniz' rule, have no digits far to the left, where m is -x.
    """
    out = np.empty_like(x)
    left = np.asarray(x <= -2)
    with np.errstate(all="ignore"):
        near = x[~left]
        rows = [inverse_mills(near)]
        for k in range(n):
            beside = [near + rows[0], *(row + (j == 0) for j, row in enumerate(rows[1:]))]
            rows.append(-sum(math.comb(k, j) * rows[j] * beside[k - j] for j in range(k + 1)))
        out[~left] = np.where(near == np.inf, 0.0, rows[n])
        if left.any():
            out[left] = _mills_far(-x[left], n)
    return np.where(np.isnan(x), np.nan, out)


def _mills_far(far: Any, n: int) -> Any:
    """The n-th derivative at -``far``, which is at least 2."""
    base, one = jet_linear(far, 1.0, n), jet_linear(np.ones_like(far), 0.0, n)
    count = 160  # of levels: below them stands their limit, t + k/(t + k/(t + …))
    root = np.sqrt(far * far + 4 * count)
    bottom = jet_linear((far + root) / 2, 1.0, n)
    bottom[1] *= (1 + far / root) / 2
    for k in range(count, 1, -1):
        bottom = base + k * jet_over(one, bottom)
    left = (-1) ** n * jet_top(jet_over(one, bottom)) - (n == 1)
    return np.where(far == np.inf, -1.0 if n == 1 else 0.0, left)


def quantile_powers(n: int, twice: int) -> list[int]:
    """P, the highest power first, of the n-th derivative y'^n P(y) where y'' = ``twice`` y y'²; none is below 0.

    >>> quantile_powers(3, 1)
    [2, 0, 1]
    """
    out = [1]
    for k in range(1, n):
        top = len(out) - 1
        moved = [twice * k * c for c in out] + [0]
        for i, c in enumerate(out[:-1]):
            moved[i + 2] += (top - i) * c
        out = moved
    return out


@in_doubles
def ndtri_slope(x: Any, n: int = 1) -> Any:
    """The n-th derivative of the normal quantile y, n > 0: inf at 0 and 1 (for even n -inf at 0), nan outside.

    The density at y is taken as the smaller tail times Mills' inverse ratio: rounding y alters e^(-y²/2) by y² units.
    """
    with np.errstate(all="ignore"):
        y = ndtri(x)
        first = np.asarray(math.sqrt(2 * math.pi) * np.exp(y * y / 2))
        tail = np.asarray(np.abs(y) > 1.2)  # in between, the rounding of y hardly counts
        if tail.any():
            first[tail] = 1 / (np.minimum(x[tail], 1 - x[tail]) * inverse_mills(-np.abs(y[tail])))
        out = first**n * np.polyval(quantile_powers(n, 1), y)
    ends = np.where(x == 0, (-1.0) ** (n - 1) * np.inf, np.where(x == 1, np.inf, np.nan))
    return np.where((x > 0) & (x < 1), out, ends)


@in_doubles
def erfinv_slope(x: Any, n: int = 1) -> Any:
    """The n-th derivative of the inverse error function, n > 0: inf at 1 (at -1 -inf for even n), nan outside.

    With y the value, e^(y²) is taken as erfcx(|y|) over 1 - |x|: rounding y alters it by 2y² units.
    """
    with np.errstate(all="ignore"):
        y = erfinv(x)
        first = np.asarray(math.sqrt(math.pi) / 2 * np.exp(y * y))
        tail = np.asarray(np.abs(y) > 0.8)
        if tail.any():
            first[tail] = math.sqrt(math.pi) / 2 * erfcx(np.abs(y[tail])) / (1 - np.abs(x[tail]))
        out = first**n * np.polyval(quantile_powers(n, 2), y)
    ends = np.where(x == -1, (-1.0) ** (n - 1) * np.inf, np.where(x == 1, np.inf, np.nan))
    return np.where(np.abs(x) < 1, out, ends)


@in_doubles
def erfcinv_slope(x: Any, n: int = 1) -> Any:
    """The n-th derivative of the inverse of erfc, n > 0: -inf at 0 and 2 (for even n inf at 0), nan outside.

    With y the value, e^(y²) is taken as erfcx(|y|) over the smaller of x and 2 - x: rounding y alters it by 2y² units.
    """
    with np.errstate(all="ignore"):
        y = erfcinv(x)
        first = np.asarray(-math.sqrt(math.pi) / 2 * np.exp(y * y))
        tail = np.asarray(np.abs(y) > 0.8)
        if tail.any():
            first[tail] = -math.sqrt(math.pi) / 2 * erfcx(np.abs(y[tail])) / np.minimum(x[tail], 2 - x[tail])
        out = first**n * np.polyval(quantile_powers(n, 2), y)
    ends = np.where(x == 0, (-1.0) ** n * np.inf, np.where(x == 2, -np.inf, np.nan))
    return np.where((x > 0) & (x < 2), out, ends)


@in_doubles
def log_ndtr(x: Any) -> Any:
    """log of the normal distribution function, accurate in the left tail."""
    out, left = np.empty_like(x), np.asarray(x < -1)
    right = ~left
    with np.errstate(all="ignore"):
        if left.any():
            far = x[left]
            out[left] = np.log(erfcx(-far / math.sqrt(2)) / 2) - far**2 / 2
        if right.any():
            out[right] = np.log1p(-ndtr(-x[right]))
    return out

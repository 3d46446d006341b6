"""Numbers of two floats, the second of which is what the first one's rounding left: logarithms of twice the digits.

e^(a log x) is off by as many last places as its exponent is large, so that powers of large numbers, which a quotient
brings back to ordinary sizes, need such exponents; so do sums that cancel.
T. J. Dekker, "A floating-point technique" (1971).
"""

from __future__ import annotations

from typing import Any

import numpy as np


def two_sum(a: Any, b: Any) -> tuple[Any, Any]:
    """a + b and what its rounding leaves, for any sizes (Knuth)."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def halves_of_digits(a: Any) -> tuple[Any, Any]:
    """A float as a sum of two with half the digits; of those beyond 2^970 only the first."""
    scaled = 134217729.0 * a
    high = np.where(np.abs(a) < 1e292, scaled - (scaled - a), a)
    return high, a - high


def two_product(a: Any, b: Any) -> tuple[Any, Any]:
    """a b and what its rounding leaves (Dekker)."""
    product = a * b
    (high, low), (top, rest) = halves_of_digits(a), halves_of_digits(b)
    return product, ((high * top - product) + high * rest + low * top) + low * rest


def two_added(x: tuple[Any, Any], y: tuple[Any, Any]) -> tuple[Any, Any]:
    """The sum of two such numbers."""
    total, rest = two_sum(x[0], y[0])
    rest = rest + (x[1] + y[1])
    first = total + rest
    return first, rest - (first - total)


def two_times(a: Any, x: tuple[Any, Any]) -> tuple[Any, Any]:
    """A float times such a number."""
    product, rest = two_product(a, x[0])
    rest = rest + a * x[1]
    first = product + rest
    return first, rest - (first - product)


def logarithms_of_near() -> Any:
    """log(k/32) for k from 23 to 46, and log 2, as two rows of floats."""
    first = (
        -0.33024168687057687, -0.2876820724517809, -0.24686007793152578, -0.2076393647782445, -0.16989903679539747,
        -0.13353139262452263, -0.09844007281325252, -0.06453852113757118, -0.0317486983145803, 0.0,
        0.030771658666753687, 0.06062462181643484, 0.08961215868968714, 0.11778303565638346, 0.1451820098444979,
        0.17185025692665923, 0.19782574332991987, 0.22314355131420976, 0.24783616390458127, 0.27193371548364176,
        0.2954642128938359, 0.3184537311185346, 0.3409265869705932, 0.3629054936893685, 0.6931471805599453,
    )  # fmt: skip
    second = (
        1.0828321637483858e-17, -2.607160616442564e-17, -1.361743371748368e-17, -1.2053243216686129e-17,
        4.868008764439071e-19, 3.664457663660085e-18, 4.439009633675136e-18, 6.470486661692933e-18,
        -3.0382263084680858e-18, 0.0, 1.0431732029005968e-18, 2.6424025938726934e-18,
        -5.4268129336647135e-18, -1.1971685747593677e-18, 8.242418783022475e-18, -6.0224538210113705e-18,
        1.2821194372980142e-17, -9.091270597324799e-18, -1.2432209578702523e-17, 7.83319637697442e-19,
        -2.16461086040599e-17, 2.7114779367326236e-17, 1.7467136443544747e-17, -2.1492361455310972e-17,
        2.3190468138462996e-17,
    )  # fmt: skip
    return np.array([first, second])


def two_log(x: Any) -> tuple[Any, Any]:
    """log x for x > 0: by the nearest k/32 to its fraction, and atanh's series of what is left."""
    fraction, power = np.frexp(x)
    low = fraction < 0.71875  # 23/32
    fraction, power = np.where(low, 2 * fraction, fraction), power - low
    known = np.isfinite(fraction) & (fraction > 0)
    fraction = np.where(known, fraction, 1.0)
    near = np.clip(np.rint(32 * fraction), 23, 46)
    away = fraction - near / 32  # without a rounding error
    whole, rest = two_sum(fraction, near / 32)
    share = away / whole
    product, lost = two_product(share, whole)
    share_rest = ((away - product) - lost - share * rest) / whole
    square, series = share * share, np.zeros_like(share)
    for k in range(13, 1, -2):
        series = (series + 1 / k) * square
    table = logarithms_of_near()
    index = near.astype(np.intp) - 23
    out = two_times(power.astype(np.float64), (table[0, -1], table[1, -1]))
    out = two_added(out, (table[0, index], table[1, index]))
    out = two_added(out, (2 * share, 2 * share_rest + 2 * share * series))
    plain = np.where(known, 0.0, np.log(np.where(known, 1.0, x)))
    return np.where(known, out[0], plain), np.where(known, out[1], 0.0)


def two_exp(x: tuple[Any, Any]) -> Any:
    """e^x, rounded to one float."""
    high = np.clip(x[0], -1e4, 1e4)
    first = np.exp(high)
    return np.where(np.isfinite(first) & (first > 0), first + first * x[1], first)


def complex_log1p(z: Any) -> Any:
    """log(1 + z) of complex numbers: the real part is log1p(|1 + z|² - 1)/2, where the parts of the sum cancel."""
    z = np.asarray(z)
    wide = z.astype(np.complex128, copy=False)
    x, y = wide.real, wide.imag
    out = np.empty_like(wide)
    with np.errstate(all="ignore"):
        size = np.hypot(1 + x, y)
        near = (size > 0.5) & (size < 2)
        p, q = np.where(near, x, 0.0), np.where(near, y, 0.0)
        excess, rest = two_added(two_added((2 * p, np.zeros_like(p)), two_product(p, p)), two_product(q, q))
        out.real = np.where(near, np.log1p(excess) / 2 + rest / (2 * (1 + excess)), np.log(size))
        out.imag = np.arctan2(y, 1 + x)
    return out.astype(z.dtype, copy=False)[()]

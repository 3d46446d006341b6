"""NumPy kernels of the gamma function, and its derivatives."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from symgrad.kernels.entries.elementwise import in_doubles, in_stretches, of_doubles
from symgrad.kernels.special.zeta import bernoulli_quotients, inverse_power, zeta


def gamma_function(x: Any) -> Any:
    """Γ(x) through ``math.gamma``: infinite at 0, next to it and beyond 171.6, nan at the poles below 0."""
    x = np.asarray(x)
    y = x.astype(np.float64)
    pole = (y <= 0) & (y == np.floor(y))
    near = np.abs(y) < 5.6e-309  # of which the reciprocal is no number
    outside = pole | near | (y > 171.6) | ~np.isfinite(y)
    flat = np.where(outside, 1.0, y).ravel().tolist()
    out = np.fromiter(map(math.gamma, flat), np.float64, y.size).reshape(y.shape)
    end = np.where(near, np.copysign(np.inf, y), np.where(y > 171.6, np.inf, np.nan))
    return np.where(outside, end, out).astype(x.dtype, copy=False)[()]


def rgamma(x: Any) -> Any:
    """1/Γ(x), 0 at the poles; beyond the range of Γ from a number within and the factors in between."""
    x = np.asarray(x)
    y = x.astype(np.float64)
    moved = np.where(y > 170, -16.0, np.where(y < -165, 16.0, 0.0))
    pole = (y <= 0) & (y == np.floor(y))
    with np.errstate(all="ignore"):
        out = np.where(pole, 0.0, 1 / gamma_function(np.where(pole, 1.0, np.clip(y, -1e3, 1e3) + moved)))
        for k in range(16):
            out = np.where(moved < 0, out / (y + moved + k), np.where(moved > 0, out * (y + k), out))
    out = np.where(np.abs(y) < 1e-300, y, np.where(y == np.inf, 0.0, np.where(y == -np.inf, np.nan, out)))
    return out.astype(x.dtype, copy=False)[()]


def lgamma(x: Any) -> Any:
    """log|Γ(x)|: a series around 2, to which recurrence leads, and Stirling's from 10 on; +inf at poles and far out.

    Below -1/2 by reflection (DLMF 5.5.3).
    """
    x = np.asarray(x)
    if x.size > 32768:
        return in_stretches(lgamma, x)
    y = x.astype(np.float64)
    infinite = ((y <= 0) & (y == np.floor(y))) | (np.abs(y) > 2.5e305)
    known = np.where(infinite, 2.0, y)
    turned = known < -0.5
    y = np.where(turned, 1 - known, known)
    far = y >= 10
    out = lgamma_near_two(np.where(far, 2.0, y))
    if far.any():
        out = np.where(far, stirling(np.where(far, y, 10.0)), out)
    if turned.any():
        turn = np.where(turned, known - np.rint(known), 0.5)
        out = np.where(turned, math.log(math.pi) - np.log(np.abs(np.sin(np.pi * turn))) - out, out)
    # Whole numbers meet this function inside of derivatives: their logarithms are not whole.
    return np.where(infinite, np.inf, out).astype(np.result_type(x, np.float16))[()]


def log_gammas(x: Any, p: int) -> Any:
    """The logarithm of the multivariate gamma function of dimension p."""
    return sum((lgamma(x - k / 2) for k in range(1, p)), lgamma(x)) + p * (p - 1) / 4 * math.log(math.pi)


def lgamma_near_two(x: Any) -> Any:
    """log|Γ(x)| for -1/2 <= x < 10: the series around 2, less or plus the logarithm of the factors in between."""
    whole = np.floor(x + 0.5)
    z = x - whole
    out = lgamma_two_and(z)
    below = whole < 2
    if below.any():
        out -= np.log1p(np.where(below, z, 0.0))
        out -= np.log(np.abs(np.where(whole < 1, x, 1.0)))
    factors = np.ones_like(z)
    for k in range(2, int(np.fmax.reduce(whole.ravel(), initial=2.0))):
        factors *= np.where(whole > k, z + k, 1.0)
    return out + np.log(factors)


def lgamma_two_and(z: Any) -> Any:
    """log Γ(2 + z) for |z| <= 1/2 by its series, which has all digits near z = 0."""
    # log Γ(2 + z) = (1 - γ) z + Σ (-1)ᵏ (ζ(k) - 1) zᵏ/k (DLMF 5.7.3), here from k = 26 down
    out = np.zeros_like(z)
    for coefficient in (
        5.731367241678862e-10, -1.1921401405860912e-09, 2.4836745438024785e-09, -5.183475041970047e-09,
        1.0838659214896955e-08, -2.2711094608943164e-08, 4.7698101693639804e-08, -1.0043224823968099e-07,
        2.1207184805554665e-07, -4.492469198764566e-07, 9.55141213040742e-07, -2.039215753801366e-06,
        4.374866789907488e-06, -9.439488275268397e-06, 2.050721277567069e-05, -4.492623673813314e-05,
        9.945751278180853e-05, -0.00022315475845357939, 0.0005096695247430425, -0.001192753911703261,
        0.0028905103307415234, -0.007385551028673986, 0.020580808427784546, -0.0673523010531981,
        0.3224670334241132, 0.42278433509846713,
    ):  # fmt: skip
        out *= z
        out += coefficient
    out *= z
    return out


def stirling(x: Any) -> Any:
    """log Γ(x) for x >= 10 by its asymptotic series (DLMF 5.11.1)."""
    inverse = 1 / x
    square = inverse * inverse
    series = np.full_like(x, -691 / 360360)
    for coefficient in (1 / 1188, -1 / 1680, 1 / 1260, -1 / 360, 1 / 12):
        series *= square
        series += coefficient
    return (x - 0.5) * np.log(x) - x + math.log(2 * math.pi) / 2 + series * inverse


def stirling_rest(x: Any) -> Any:
    """log Γ(x) less Stirling's formula, for x >= 10 (DLMF 5.11.1)."""
    t = 1 / (x * x)
    series = 1 / 1188 - t * (691 / 360360 - t * (1 / 156 - t * 3617 / 122400))
    return (1 / 12 - t * (1 / 360 - t * (1 / 1260 - t * (1 / 1680 - t * series)))) / x


def cot_of_turns(x: Any) -> Any:
    """cot πx, by what x lacks to the nearest whole or half number: π is not exact, so that πx far out is no angle.

    At whole numbers it is finite, as in torch: the angle is rounded.
    """
    part = x - np.rint(x)
    near = np.abs(part) < 0.25
    rest = np.copysign(0.5 - np.abs(part), part)
    angle = np.pi * np.where(part == 0, x, np.where(near, part, 0.25))
    return np.where(near, 1 / np.tan(angle), np.tan(np.pi * np.where(near, 0.0, rest)))


@in_doubles
def digamma(x: Any) -> Any:
    """ψ(x): recurrence up to x >= 12, then the asymptotic series (DLMF 5.11.2); reflection for x < 0."""
    negative = x < 0
    pole = (x <= 0) & (x == np.floor(x))
    y = np.where(negative, 1 - x, np.where(x == 0, 1.0, x))
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
    moved = (x - 1.4616321449683622) - 9.549995429965697e-17
    near = np.abs(moved) < 0.4
    if near.any():
        out = np.where(near, digamma_about_zero(np.where(near, moved, 0.0)), out)
    if negative.any():
        turn = np.where(negative & ~pole, x, 0.5)
        out = np.where(negative, out - np.pi * cot_of_turns(turn), out)
    return np.where(pole, np.where(x == 0, np.copysign(np.inf, -x), np.nan), out)


def digamma_about_zero(z: Any) -> Any:
    """ψ at its zero 1.46163… and z: the Taylor series, where the recurrence has the digits of its largest term."""
    out = np.zeros_like(z)
    for coefficient in (
        -7.762817668462094e-06, 1.134638458466385e-05, -1.6584242271854135e-05, 2.424006611860132e-05,
        -3.5430070947659604e-05, 5.178575795222081e-05, -7.569179582195066e-05, 0.0001106337276874741,
        -0.00016170622091974803, 0.00023635601564027053, -0.0003454680251063077, 0.000504953265834602,
        -0.0007380709389960052, 0.0010788252019162967, -0.0015769367714301972, 0.002305126326734928,
        -0.003369801655439328, 0.004926781395729853, -0.007204534386356869, 0.010538791616612175,
        -0.01542476590494896, 0.022597648232218104, -0.03316112647484736, 0.04880428816414311, -0.07219956125645471,
        0.10782405069126237, -0.16394270544240652, 0.258499760955651, -0.4427631689835921, 0.9676722454476212,
    ):  # fmt: skip
        out += coefficient
        out *= z
    return out


def polygamma_fall(a: Any, b: Any, n: int) -> Any:
    """ψ⁽ⁿ⁾(a) - ψ⁽ⁿ⁾(a + b): term by term of Euler and Maclaurin's sum (DLMF 25.11.5), where nothing cancels."""
    return of_doubles(polygamma_fall_of, (a, b), n)


def polygamma_fall_of(a: Any, b: Any, n: int) -> Any:
    """:func:`polygamma_fall` of not too many entries; where a or a + b is not above 0, the difference of both."""
    good = (a > 0) & (a + b > 0) & np.isfinite(a) & np.isfinite(b)
    low, step = np.where(good, a, 1.0), np.where(good, b, 1.0)
    with np.errstate(all="ignore"):

        def fall(x: Any, power: int) -> Any:
            return -inverse_power(x, power) * np.expm1(-power * np.log1p(step / x))

        base = low + 12
        total = np.log1p(step / base) if n == 0 else fall(base, n) / n
        total = total + fall(base, n + 1) / 2
        factor = 1.0
        for k, coefficient in enumerate(bernoulli_quotients()):
            factor *= n + 1 if k == 0 else (n + 2 * k) * (n + 2 * k + 1)
            total = total + coefficient * factor * fall(base, n + 2 * k + 2)
        for k in range(11, -1, -1):
            total = total + fall(low + k, n + 1)
        out = (-1) ** (n + 1) * math.factorial(n) * total
        if not good.all():
            out = np.where(good, out, polygamma(a, n) - polygamma(a + b, n))
    return out


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
        with np.errstate(invalid="ignore", divide="ignore"):
            cot = cot_of_turns(np.where(negative, work, 0.5))
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

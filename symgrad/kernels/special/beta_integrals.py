"""NumPy kernels of the incomplete beta function and its derivatives by the parameters."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from symgrad.kernels.entries.elementwise import of_doubles
from symgrad.kernels.special.euler import beta_bulk, beta_parts
from symgrad.kernels.special.gamma import digamma, polygamma, stirling_rest
from symgrad.kernels.special.gamma_integrals import exp_rest, log_over, log_rest, nodes_between
from symgrad.kernels.special.jets import jet_exp, jet_top
from symgrad.kernels.special.twofold import two_added, two_exp, two_log, two_sum, two_times


def beta_mass(a: Any, b: Any, x: Any, y: Any) -> Any:
    """x^a y^b/B(a, b) for y = 1 - x: of large a and b the distance from the mean, where the powers are small.

    The larger of x and y was rounded; powers of it take what it lost.
    """
    total, rest = two_sum(x, y)
    lost = (total - 1) + rest
    by_x, by_y = np.where(x > y, -lost / x, 0.0), np.where(x > y, 0.0, -lost / y)
    both, out = (a >= 10) & (b >= 10), np.empty_like(x)
    for part, mass in ((both, _large_mass), (~both, _small_mass)):
        if part.any():
            out[part] = mass(*(value[part] for value in (a, b, x, y, by_x, by_y)))
    return out


def _large_mass(a: Any, b: Any, x: Any, y: Any, by_x: Any, by_y: Any) -> Any:
    """By the distance from the mean, or where the exponent is long by powers in two floats."""
    whole, away = a + b, b * x - a * y
    exponent = -a * log_rest(away / a, x * (whole / a)) - b * log_rest(-away / b, y * (whole / b))
    scale = np.sqrt(a * (b / whole) / (2 * math.pi))
    scale = scale * np.exp(stirling_rest(whole) - stirling_rest(a) - stirling_rest(b))
    long = (exponent < -1.5) & (exponent > -800) & (whole < 1e7)
    out = scale * np.exp(np.where(long, 0.0, exponent))
    if long.any():
        c, d = a[long], b[long]
        of_x = two_added(two_log(x[long]), (by_x[long], np.zeros_like(c)))
        of_y = two_added(two_log(y[long]), (by_y[long], np.zeros_like(c)))
        powers_of = two_added(two_times(c, of_x), two_times(d, of_y))
        out[long] *= two_exp(two_added(powers_of, tuple(-part for part in beta_bulk(c, d))))
    return out


def _small_mass(a: Any, b: Any, x: Any, y: Any, by_x: Any, by_y: Any) -> Any:
    """By powers, or where these vanish by logarithms."""
    steep = (y > 0.5) & (b * x < 2)
    powers = np.power(x, a) * np.exp(a * by_x) * np.where(
        steep, np.exp(b * np.log1p(-x)), np.power(y, b) * np.exp(b * by_y)
    )  # fmt: skip
    out = powers / beta_parts(a, b)
    gone = ~(out > 0)
    if gone.any():
        by_logarithms = a[gone] * np.log(x[gone]) + b[gone] * np.log(y[gone]) - beta_parts(a[gone], b[gone], True)
        out[gone] = np.exp(by_logarithms)
    return out


def beta_fraction(a: Any, b: Any, x: Any) -> Any:
    """The continued fraction of the incomplete beta function (DLMF 8.17.22), forwards as by Lentz."""
    c, d = np.ones_like(x), 1 - (a + b) * x / (a + 1)
    d = 1 / np.where(d == 0, 1e-300, d)
    out = d
    k, last = 0, 20_000
    while k < last:
        k += 1
        even = k * (b - k) * x / ((a + 2 * k - 1) * (a + 2 * k))
        odd = -(a + k) * (a + b + k) * x / ((a + 2 * k) * (a + 2 * k + 1))
        moved = np.ones_like(x)
        for factor in (even, odd):
            d, c = 1 + factor * d, 1 + factor / c
            d, c = 1 / np.where(d == 0, 1e-300, d), np.where(c == 0, 1e-300, c)
            moved = moved * c * d
        out = out * moved
        if last == 20_000 and not np.any(np.abs(moved - 1) > 1e-15):
            last = k + k // 8 + 1
    return out


def beta_logarithm(a: Any, b: Any, x: Any, y: Any) -> tuple[Any, Any]:
    """log x - ψ(a + 1) + ψ(a + b) and log y - ψ(b + 1) + ψ(a + b)."""
    whole, away = a + b, b * x - a * y
    large = whole >= 10  # by log(x (a + b)) instead, to its last digits
    total = np.where(large, -log_over(whole, np.zeros_like(whole), whole) - 1 / whole, digamma(whole))
    first = log_over(a, np.where(large, away, x - a), np.where(large, a + away, x))
    second = log_over(b, np.where(large, -away, y - b), np.where(large, b - away, y))
    return first + total, second + total


def beta_score(first: Any, second: Any, p: Any, q: Any, whole: Any, m: int, n: int) -> Any:
    """The derivative of orders m and n of e^k over itself: k has these slopes, p, q and a + b say its further ones."""
    logarithm = np.zeros((m + 1, n + 1, *np.shape(first)))
    for i, j in np.ndindex(m + 1, n + 1):
        if i + j == 1:
            logarithm[i, j] = first if i else second
        elif i + j:
            both = polygamma(whole, i + j - 1) / (math.factorial(i) * math.factorial(j))
            one = 0.0 if i and j else polygamma(p if i else q, i + j - 1) / math.factorial(i + j)
            logarithm[i, j] = both - one
    return jet_top(jet_exp(logarithm))


def beta_exponent(v: Any, a: Any, b: Any, x: Any, y: Any) -> Any:
    """log of t^a (1 - t)^b over its value at x, for logit t = logit x - v: what is left of terms that nearly cancel."""
    moved = np.where(x < y, x * np.expm1(-v), y * np.expm1(v))
    bend = np.where(x < y, x * exp_rest(-v), y * exp_rest(v)) - log_rest(moved, 1 + moved)
    apart = b * v - (a + b) * np.log1p(np.where(x < y, 0.0, moved))  # beyond, the bend is a difference of large numbers
    return np.where((x >= y) & (moved > 0.5), apart, (b * x - a * y) * v - (a + b) * bend)


def beta_tail(a: Any, b: Any, x: Any, y: Any, m: int, n: int) -> Any:
    """The derivative of I_x(a, b) of orders m by a and n by b for a >= 10: an integral over v = logit x - logit t."""
    end, cap = (40 - (a + b) * np.log(y)) / a, np.sqrt(240 / ((a + b) * x * y))
    end = np.where(cap < 1, np.minimum(end, cap), end)  # the exponent is (a + b) xyv²/6 or more for v <= 1
    for _ in range(60):  # up to where the integrand is e^-40, by Newton's method: the exponent is convex
        excess = -beta_exponent(end, a, b, x, y) - 40
        if not np.any(excess > 0.5):
            break
        share = x * np.expm1(-end)
        slope = a - (a + b) * (x + share) / (1 + share)
        end = end - np.maximum(excess, 0) / np.where(slope > 0, slope, 1.0)
    v, weight = nodes_between(end, finer=2)  # the integrand has poles at log(x/y) ± iπ
    p, q, low, high = (part[..., None] for part in (a, b, x, y))
    density = weight * np.exp(beta_exponent(v, p, q, low, high))
    if m or n:
        rest = np.log1p(low * np.expm1(-v))
        slopes = zip(beta_logarithm(a, b, x, y), (a, b), strict=True)
        first, second = ((part + 1 / of)[..., None] for part, of in slopes)
        density *= beta_score(first - v - rest, second - rest, p, q, p + q, m, n)
    return beta_mass(a, b, x, y) * np.sum(density, -1)


def beta_part(a: Any, b: Any, x: Any, y: Any) -> Any:
    """I_x(a, b) for x below the mean: the fraction loses digits for x near 1, and takes terms like the root of a."""
    out, hard = np.empty_like(x), (x > 0.6) | (a >= 1000) | (x > (a + 1) / (a + b + 2))
    easy = ~hard
    out[easy] = beta_mass(a[easy], b[easy], x[easy], y[easy]) / a[easy] * beta_fraction(a[easy], b[easy], x[easy])
    out[hard] = beta_tail(a[hard], b[hard], x[hard], y[hard], 0, 0)
    return out


def beta_head_slope(a: Any, b: Any, x: Any, y: Any, m: int, n: int) -> Any:
    """The same of I_x(a, b) - I_x(a + 10, b), by the recurrence (DLMF 8.17.20)."""
    p, q = a[..., None] + np.arange(1, 11), b[..., None]
    whole, power = p + q - 1, x[..., None]
    growth = np.cumprod(power * whole / p, -1) * p / (power * whole)
    mass = (beta_mass(a, b, x, y) / a)[..., None] * growth
    first, second = (part[..., None] for part in beta_logarithm(a, b, x, y))
    up, down = np.cumsum(1 / whole, -1) - 1 / whole, np.cumsum(1 / p, -1) - 1 / p
    score = beta_score(first + up - down, second + up + 1 / q, p, q, whole, m, n)
    return np.sum(mass * score, -1)


def incomplete_beta(a: Any, b: Any, x: Any, m: int, n: int) -> Any:
    """I_x(a, b), the m-th derivative of it by a and the n-th by b; nan outside of a, b > 0 and 0 <= x <= 1."""
    inside = (a > 0) & (b > 0) & (x > 0) & (x < 1) & np.isfinite(a) & np.isfinite(b)
    turned = x > a / (a + b)  # where the other tail is made, and this one is 1 less that
    edge = (a > 0) & (b > 0) & ((x == 0) | (x == 1))
    out = np.asarray(np.where(edge, 0.0 if m or n else x, np.nan))
    with np.errstate(all="ignore"):
        for side in (False, True):
            where = inside & (turned == side)
            if not where.any():
                continue
            p, q, low = a[where], b[where], x[where]
            first, last = (q, p) if side else (p, q)
            near, far = (1 - low, low) if side else (low, 1 - low)
            if m or n:
                orders, few = (n, m) if side else (m, n), first < 10
                found = beta_tail(np.where(few, first + 10, first), last, near, far, *orders)
                found[few] += beta_head_slope(first[few], last[few], near[few], far[few], *orders)
                out[where] = -found if side else found
            else:
                found = beta_part(first, last, near, far)
                out[where] = 1 - found if side else found
    return out


def betainc(a: Any, b: Any, x: Any) -> Any:
    """I_x(a, b), the regularised incomplete beta function; nan outside of a, b > 0 and 0 <= x <= 1."""
    return of_doubles(incomplete_beta, (a, b, x), 0, 0, size=2048)


def betainc_slope(a: Any, b: Any, x: Any, m: int, n: int) -> Any:
    """The m-th derivative by a and n-th by b of I_x(a, b)."""
    return of_doubles(incomplete_beta, (a, b, x), m, n, size=1024)


def student(df: Any, t: Any) -> Any:
    """Student's distribution function: of both y = t²/(df + t²) and 1 - y, of which neither is made of the other."""
    out = np.where((df > 0) & np.isinf(t), np.where(t > 0, 1.0, 0.0), np.nan)
    inside = (df > 0) & np.isfinite(df) & np.isfinite(t)
    with np.errstate(all="ignore"):
        square = t * t / df
        x, y = 1 / (1 + square), np.where(square > 1, 1 / (1 + 1 / square), square / (1 + square))
        near = inside & (y * (df + 1) < 1)
        middle = near & (t != 0)
        out[near] = 0.5
        half = np.full(np.count_nonzero(middle), 0.5)
        out[middle] += np.sign(t[middle]) / 2 * beta_part(half, df[middle] / 2, y[middle], x[middle])
        far = inside & ~near
        tail = beta_part(df[far] / 2, np.full(np.count_nonzero(far), 0.5), x[far], y[far]) / 2
        tail = np.where(x[far] > 0, tail, 0.0)
        out[far] = np.where(t[far] < 0, tail, 1 - tail)
    return out


def stdtr(df: Any, t: Any) -> Any:
    """The distribution function of Student's t; nan for df <= 0."""
    return of_doubles(student, (df, t), size=2048)


def fisher(p: Any, q: Any, x: Any, upper: bool) -> Any:
    """I_z(p/2, q/2) or 1 less it, of z = px/(q + px) and 1 - z, of which neither is made of the other."""
    valid = (p > 0) & (q > 0) & np.isfinite(p) & np.isfinite(q)
    out = np.where(valid & (x == np.inf), 1.0, np.where(valid & (x == 0), 0.0, np.nan))
    out = np.asarray(1 - out if upper else out)
    with np.errstate(all="ignore"):
        share = p * x / q
        z, rest = np.where(share > 1, 1 / (1 + 1 / share), share / (1 + share)), 1 / (1 + share)
        inside = valid & (x > 0) & (x < np.inf)
        for beyond in (False, True):
            where = inside & ((x > 1) == beyond)  # the mean of z is that at x = 1
            if where.any():
                a, b, near, far = (part[where] for part in (p / 2, q / 2, z, rest))
                found = beta_part(b, a, far, near) if beyond else beta_part(a, b, near, far)
                found = np.where((far if beyond else near) > 0, found, 0.0)
                out[where] = found if beyond == upper else 1 - found
    return out


def fdtr(p: Any, q: Any, x: Any) -> Any:
    """The distribution function of F with p and q degrees of freedom; nan for p, q <= 0 and x < 0."""
    return of_doubles(fisher, (p, q, x), False, size=2048)


def fdtrc(p: Any, q: Any, x: Any) -> Any:
    """The complement of :func:`fdtr`."""
    return of_doubles(fisher, (p, q, x), True, size=2048)

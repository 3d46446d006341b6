"""NumPy kernels of powers and exponentials less what they are near: Box and Cox's transformation, exprel, powm1."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from symgrad.kernels.entries.elementwise import in_doubles, of_doubles
from symgrad.kernels.special.error_integrals import dawsn
from symgrad.kernels.special.normal import half_gauss, ndtr


def cosm1(x: Any) -> Any:
    """cos(x) - 1 as -2 sin²(x/2)."""
    half = np.sin(x / 2)
    return -2 * half * half


@in_doubles
def exprel(x: Any, n: int = 0) -> Any:
    """The n-th derivative of (e^x - 1)/x: the integral of t^n e^(xt) for t from 0 to 1.

    Near 0 by series whose terms have one sign, farther out by recurrence from (e^x - 1)/x.
    """
    with np.errstate(all="ignore"):
        power = np.exp(x)
        out = np.where(x == 0, 1.0, np.expm1(x) / x)
        out = np.where(x == np.inf, np.inf, out)
        near = 2 * n + 4
        for k in range(1, n + 1):
            out = (power - k * out) / x
        if n:
            size = np.minimum(np.abs(x), near)
            right, left = np.full_like(x, 1 / (n + 1)), np.full_like(x, 1 / (n + 1))
            rising, falling = np.ones_like(x), np.full_like(x, 1 / (n + 1))
            for k in range(1, 3 * near + 24):
                rising = rising * size / k
                falling = falling * size / (n + 1 + k)
                right, left = right + rising / (n + 1 + k), left + falling
            out = np.where(np.abs(x) < near, np.where(x < 0, power * left, right), out)
            out = np.where(np.isinf(x), np.where(x > 0, np.inf, 0.0), out)
    return out


def _alike(x: Any, y: Any) -> tuple[Any, Any]:
    """Two operands as arrays of one dtype of floats; Python numbers, of which NumPy's log makes float64, are weak."""
    dtype = np.result_type(x, y, np.float16)
    return np.asarray(x, dtype), np.asarray(y, dtype)


def powm1(x: Any, y: Any) -> Any:
    """x^y - 1, by the logarithm where the power is next to 1."""
    x, y = _alike(x, y)
    with np.errstate(all="ignore"):
        power = np.power(x, y)
        u = y * np.log(np.abs(x))
        near = (np.abs(power - 1) < 0.5) & np.isfinite(u)
    return np.where(near, np.expm1(np.where(near, u, 0)), power - 1)[()]


def boxcox(x: Any, lmbda: Any) -> Any:
    """(x^λ - 1)/λ, and log(x) where λ is 0."""
    x, lmbda = _alike(x, lmbda)
    with np.errstate(all="ignore"):
        size = np.log(x)
        u = lmbda * size
        near = np.abs(u) < 0.5
        ratio = np.where(u == 0, 1, np.expm1(np.where(near, u, 1)) / np.where(u == 0, 1, u))
        out = np.where(near, size * ratio, (np.power(x, lmbda) - 1) / lmbda)
    return np.where(lmbda == 0, size, np.where((x >= 0) & (lmbda == lmbda), out, np.nan))[()]


def boxcox1p(x: Any, lmbda: Any) -> Any:
    """((1 + x)^λ - 1)/λ, and log(1 + x) where λ is 0."""
    x, lmbda = _alike(x, lmbda)
    with np.errstate(all="ignore"):
        size = np.log1p(x)
        u = lmbda * size
        near = np.abs(u) < 0.5
        ratio = np.where(u == 0, 1, np.expm1(np.where(near, u, 1)) / np.where(u == 0, 1, u))
        whole = 1 + x
        lost = np.where(np.abs(x) < 1, x - (whole - 1), 1 - (whole - x)) / whole  # what the sum's rounding left
        more = np.where(lost == 0, 0, lmbda * np.log1p(lost))
        power = np.where(np.abs(more) < 1, np.power(whole, lmbda) * np.exp(more), np.exp(u))
        far = (power - 1) / lmbda
        out = np.where(near, size * ratio, np.where(x == -1, np.where(lmbda > 0, -1 / lmbda, -np.inf), far))
        out = np.where(x == np.inf, np.where(lmbda < 0, -1 / lmbda, np.inf), out)
    return np.where(lmbda == 0, size, np.where((x >= -1) & (lmbda == lmbda), out, np.nan))[()]


def log1p_share(x: Any, lmbda: Any) -> Any:
    """log(1 + λx)/λ, and x where λ is 0."""
    x, lmbda = _alike(x, lmbda)
    with np.errstate(all="ignore"):
        u = lmbda * x
        small = np.abs(u) < 1
        share = np.log1p(np.where(small, u, 0)) / np.where(small & (u != 0), u, 1)
        out = np.where(small & (u != 0), x * share, np.log1p(u) / lmbda)
        wide = np.isinf(u) & np.isfinite(x) & np.isfinite(lmbda) & (u > 0)
        out = np.where(wide, (np.log(np.abs(x)) + np.log(np.abs(lmbda))) / lmbda, out)
    return np.where((u == 0) | (lmbda == 0), x, out)[()]


def pseudo_huber(delta: Any, r: Any) -> Any:
    """δ² (√(1 + (r/δ)²) - 1) as r²/(1 + √(1 + (r/δ)²)); inf for δ < 0, as in SciPy."""
    with np.errstate(all="ignore"):
        share = r / (delta + np.hypot(delta, r))
        out = np.where(np.isinf(r) & (delta == delta), np.inf, delta * r * share)
        none = ((delta == 0) | (r == 0)) & (delta == delta) & (r == r)
    return np.where(delta < 0, np.inf, np.where(none, 0, out))[()]


def root_share(x: Any) -> Any:
    """x/√(1 + x²)."""
    size = np.abs(x)
    return np.where(size > 1e9, np.sign(x), x / np.hypot(1, np.minimum(size, 1e9)))[()]


def erfi(x: Any) -> Any:
    """erf(ix)/i: 2/√π e^(x²) times Dawson's integral, the exponential in two factors that no rounded square enters."""
    x = np.asarray(x)
    y = x.astype(np.float64)
    with np.errstate(all="ignore"):
        near = np.clip(y, -27, 27)
        top = np.round(near * 16) / 16
        rest = np.exp((near - top) * (near + top)) * (2 / math.sqrt(math.pi))
        out = np.exp(top * top) * dawsn(near) * rest
        out = np.where(np.abs(y) < 26.7, out, np.copysign(np.inf, y))
    return np.where(np.isnan(y), np.nan, out).astype(x.dtype, copy=False)[()]


def gauss_legendre() -> list[tuple[float, float]]:
    """Nodes above 0 and weights of Gauss's rule of 24 points on [-1, 1]; NumPy's weights are 50 units off."""
    nodes = (
        0.06405689286260563, 0.1911188674736163, 0.3150426796961634, 0.4337935076260451, 0.5454214713888396,
        0.6480936519369755, 0.7401241915785544, 0.820001985973903, 0.8864155270044011, 0.9382745520027328,
        0.9747285559713095, 0.9951872199970213,
    )  # fmt: skip
    weights = (
        0.12793819534675216, 0.1258374563468283, 0.12167047292780339, 0.1155056680537256, 0.10744427011596563,
        0.09761865210411388, 0.08619016153195327, 0.0733464814110803, 0.05929858491543678, 0.04427743881741981,
        0.028531388628933663, 0.0123412297999872,
    )  # fmt: skip
    return list(zip(nodes, weights, strict=True))


def owens_t(h: Any, a: Any) -> Any:
    """Owen's T: e^(-h²/2)/2π times the integral of e^(-h²t²/2)/(1 + t²) for t from 0 to a.

    Slopes a beyond 1 are brought within by its reflection (D. B. Owen, "Tables for computing bivariate normal
    probabilities", 1956); what is left has one sign and is smooth, and Gauss's rule has all its digits.
    """
    return of_doubles(owens_t_in_stretch, (h, a))


def owens_t_in_stretch(h: Any, a: Any) -> Any:
    """:func:`owens_t` of arrays that are not large."""
    h, steep = np.abs(h), np.abs(a)
    with np.errstate(all="ignore"):
        turned = steep > 1
        product = np.where(h == 0, 0.0, np.where(steep == 0, 0.0, h * steep))
        height, slope = np.where(turned, product, h), np.where(turned, 1 / steep, steep)
        end = np.minimum(slope, 9 / height)
        total = np.zeros_like(height)
        for node, weight in gauss_legendre():
            for t in (end * ((1 - node) / 2), end * ((1 + node) / 2)):
                total = total + weight * np.exp((height * t) ** 2 / -2) / (1 + t * t)
        near = np.minimum(height, 40.0)
        out = half_gauss(near) * np.where(height < 39.0, end * total, 0.0) / (4 * math.pi)
        first, second = ndtr(-h), ndtr(-product)
        out = np.where(turned, (first * (1 - second) + second * (1 - first)) / 2 - out, out)
        out = np.copysign(out, a)
    return np.where(np.isnan(h) | np.isnan(a), np.nan, out)

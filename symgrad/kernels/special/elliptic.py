"""NumPy kernels of the complete elliptic integrals, as functions of the parameter m = k²."""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def complete_elliptic(m: Any, a: float, b: Any) -> Any:
    """The integral of (a cos² + b sin²)/√(1 - m sin²) over the quarter period, by Bulirsch's algorithm (1969).

    All its terms are positive for a, b >= 0, so that no digits are lost; ``b`` is a number or as ``m``.
    """
    k = np.sqrt(1 - m)
    arithmetic, power, geometric = np.ones_like(k), np.ones_like(k), k
    above, below = np.full_like(k, a), b * np.ones_like(k)
    for _ in range(12):
        first, last = above, arithmetic
        above = above + below / power
        twist = geometric / power
        below = 2 * (below + first * twist)
        power = power + twist
        arithmetic = arithmetic + k
        if np.all(np.abs(last - k) <= 1e-8 * last):
            break
        k = 2 * np.sqrt(geometric)
        geometric = k * arithmetic
    return np.pi / 2 * (below + above * arithmetic) / (arithmetic * (arithmetic + power))


def quarter_elliptic(m: Any, a: float, b: Any, end: float) -> Any:
    """:func:`complete_elliptic` with its value at m = 1 and at -inf, nan above; ``b`` may be "complement": 1 - m."""
    m = np.asarray(m)
    y = m.astype(np.float64)
    inside = (y < 1) & np.isfinite(y)
    known = np.where(inside, y, 0.0)
    growing = isinstance(b, str)
    out = complete_elliptic(known, a, 1 - known if growing else b)
    left = np.where(y == -np.inf, np.inf if growing else 0.0, np.nan)
    out = np.where(inside, out, np.where(y == 1, end, left))
    return out.astype(m.dtype, copy=False)[()]


def ellipk(m: Any) -> Any:
    """K(m), the complete elliptic integral of the first kind; inf at 1."""
    return quarter_elliptic(m, 1.0, 1.0, np.inf)


def ellipe(m: Any) -> Any:
    """E(m), that of the second kind; 1 at 1.  Far below 0 it is √(1 - m) E(m/(m - 1)) (DLMF 19.7.2)."""
    m = np.asarray(m)
    far = np.asarray(m < -1e34)
    if not far.any():
        return quarter_elliptic(m, 1.0, "complement", 1.0)
    near = quarter_elliptic(np.where(far, 0.0, m), 1.0, "complement", 1.0)
    return np.where(far, np.sqrt(np.where(far, -m, 1.0)), near).astype(m.dtype, copy=False)[()]


def ellipb(m: Any) -> Any:
    """B(m) = (E - (1 - m)K)/m, the integral of cos²/√(1 - m sin²)."""
    return quarter_elliptic(m, 1.0, 0.0, 1.0)


def ellipd(m: Any) -> Any:
    """D(m) = (K - E)/m, the integral of sin²/√(1 - m sin²)."""
    return quarter_elliptic(m, 0.0, 1.0, np.inf)


def ellipb_slope(m: Any, n: int = 1) -> Any:
    """The n-th derivative of B, n > 0; inf at 1, nan above.

    With t = tan² θ it is (1/2)_n/2 times the integral of (t/w)^n (t/((1 + t)³ w))^(1/2)/t for w = 1 + (1 - m) t, taken
    evenly in log t: no term is below 0, and they fall off exponentially on both sides.
    """
    m = np.asarray(m)
    y = m.astype(np.float64)
    inside = (y < 1) & np.isfinite(y)
    rest = np.where(inside, 1 - y, 1.0)
    rest = np.minimum(rest, 1e250)  # beyond, the value is below all floats
    step, middle = 0.8 / math.sqrt(n + 3), -np.log(rest)
    first = np.min(middle, initial=0) - 84 / (2 * n + 1)
    last = np.max(middle, initial=0) + 28
    total = np.zeros_like(rest)
    for u in np.arange(math.floor(first / step), math.ceil(last / step) + 1) * step:
        t = math.exp(u)
        wide = 1 + rest * t
        total += (t / wide) ** n * math.sqrt(t / (1 + t)) / ((1 + t) * np.sqrt(wide))
    out = math.prod(k - 0.5 for k in range(1, n + 1)) * step / 2 * total
    out = np.where(inside, out, np.where(y == 1, np.inf, np.where(y == -np.inf, 0.0, np.nan)))
    return out.astype(m.dtype, copy=False)[()]


def carlson(x: Any, y: Any, z: Any) -> tuple[Any, Any]:
    """Carlson's symmetric integrals R_F(x, y, z) and R_D(x, y, z) by duplication (DLMF 19.36.1, 19.36.2)."""
    mean, weighted = (x + y + z) / 3, (x + y + 3 * z) / 5
    away, aside = [mean - x, mean - y], [weighted - x, weighted - y]
    total, scale = np.zeros_like(x + y + z), 1.0
    for _ in range(11):
        roots = [np.sqrt(part) for part in (x, y, z)]
        moved = roots[0] * roots[1] + roots[1] * roots[2] + roots[2] * roots[0]
        total = total + scale / (roots[2] * (z + moved))
        scale = scale / 4
        x, y, z, mean, weighted = ((part + moved) / 4 for part in (x, y, z, mean, weighted))
    p, q = (part * scale / mean for part in away)
    two, three = p * q - (p + q) ** 2, -p * q * (p + q)
    first = (1 - two / 10 + three / 14 + two * two / 24) / np.sqrt(mean)
    p, q = (part * scale / weighted for part in aside)
    r = -(p + q) / 3
    two, three = p * q - 6 * r * r, (3 * p * q - 8 * r * r) * r
    second = scale * (1 - 3 * two / 14 + three / 6 + 9 * two * two / 88) / (weighted * np.sqrt(weighted)) + 3 * total
    return first, second


def incomplete_elliptic(phi: Any, m: Any, kind: int) -> Any:
    """F, E, D or G (``kind`` 0 to 3) at an angle: the part of the last half turn, and the whole ones before.

    D and G are the integrals of sin²/Δ and sin²/Δ³ for Δ² = 1 - m sin²; nan where Δ is not real.
    """
    dtype = np.result_type(phi, m)
    phi, m = np.asarray(phi), np.asarray(m)
    angle, y = np.broadcast_arrays(phi.astype(np.float64), m.astype(np.float64))
    with np.errstate(all="ignore"):
        turns = np.round(angle / np.pi)
        rest = angle - turns * np.pi
        sine, square = np.sin(rest), np.cos(rest) ** 2
        delta = 1 - y * sine * sine
        first, second = carlson(square, delta, np.ones_like(delta))
        if kind == 3:
            second = carlson(square, np.ones_like(delta), delta)[1]
        part = sine * first - (y * sine**3 / 3 * second if kind else 0) if kind < 2 else sine**3 / 3 * second
        whole = (ellipk, ellipe, ellipd, lambda v: ellipb(v) / (1 - v))[kind](y)
        out = np.where(turns == 0, part, part + 2 * turns * whole)
    return np.where(delta < 0, np.nan, out).astype(dtype, copy=False)[()]


def ellipkinc(phi: Any, m: Any) -> Any:
    """F(phi, m), the incomplete elliptic integral of the first kind."""
    return incomplete_elliptic(phi, m, 0)


def ellipeinc(phi: Any, m: Any) -> Any:
    """E(phi, m), that of the second kind."""
    return incomplete_elliptic(phi, m, 1)


def ellipdinc(phi: Any, m: Any) -> Any:
    """D(phi, m) = (F - E)/m, the integral of sin²/√(1 - m sin²)."""
    return incomplete_elliptic(phi, m, 2)


def ellipginc(phi: Any, m: Any) -> Any:
    """G(phi, m), the integral of sin²/(1 - m sin²)^(3/2)."""
    return incomplete_elliptic(phi, m, 3)

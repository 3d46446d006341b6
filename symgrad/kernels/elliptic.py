"""NumPy kernels of the complete elliptic integrals, as functions of the parameter m = k²."""

from __future__ import annotations

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


def elliptic(m: Any, a: float, b: Any, end: float) -> Any:
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
    return elliptic(m, 1.0, 1.0, np.inf)


def ellipe(m: Any) -> Any:
    """E(m), that of the second kind; 1 at 1."""
    return elliptic(m, 1.0, "complement", 1.0)


def ellipb(m: Any) -> Any:
    """B(m) = (E - (1 - m)K)/m, the integral of cos²/√(1 - m sin²)."""
    return elliptic(m, 1.0, 0.0, 1.0)


def ellipd(m: Any) -> Any:
    """D(m) = (K - E)/m, the integral of sin²/√(1 - m sin²)."""
    return elliptic(m, 0.0, 1.0, np.inf)

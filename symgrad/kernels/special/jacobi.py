"""NumPy kernels of Jacobi's elliptic functions of a parameter m = k² from 0 to 1; nan beyond."""

from __future__ import annotations

from typing import Any

import numpy as np

from symgrad.kernels.entries.elementwise import in_stretches_of
from symgrad.kernels.special.elliptic import carlson, ellipb, ellipd, ellipk


def jacobi_parts(u: Any, m: Any) -> tuple[Any, Any, Any]:
    """sn, cn and dn by Landen's transformation (R. Bulirsch 1965): products and quotients of terms above 0.

    So cn and dn keep their digits where m is next to 1 and both are small.
    """
    level, rest = np.ones_like(u), 1 - m
    steps = []
    for _ in range(9):  # quadratic: 1 - m may be the smallest float
        root = np.sqrt(rest)
        steps.append((level, root))
        mean = (level + root) / 2
        rest, level = root * level, mean
    sine, cosine = np.sin(u * level), np.cos(u * level)
    ratio, dn = cosine / sine, np.ones_like(u)
    c = level * ratio
    for high, low in reversed(steps):
        ratio, c = ratio * c, c * dn
        dn = (low + ratio) / (high + ratio)
        ratio = c / high
    size = 1 / np.hypot(c, 1)
    sn = np.copysign(size, sine)
    cn = c * sn
    origin, limit = abs(sine) < 1e-100, m == 1  # where cot² is too large a number
    sn = np.where(limit, np.tanh(u), np.where(origin, u, sn))
    cn = np.where(limit, 1 / np.cosh(u), np.where(origin, 1.0, cn))
    return sn, cn, np.where(limit, 1 / np.cosh(u), np.where(origin, 1.0, dn))


def jacobi(u: Any, m: Any, kind: int) -> Any:
    """sn, cn, dn, the amplitude, and the integrals of sn² and of (sn/dn)² from 0 to u: ``kind`` 0 to 5."""
    if np.broadcast(u, m).size > 32768:
        return in_stretches_of(jacobi, (u, m), kind)
    dtype = np.result_type(u, m)
    u, m = np.broadcast_arrays(np.asarray(u).astype(np.float64), np.asarray(m).astype(np.float64))
    with np.errstate(all="ignore"):
        inside = (m >= 0) & (m <= 1)
        m = np.where(inside, m, 0.5)
        quarter = ellipk(m)
        turns = np.where(m == 1, 0.0, np.round(u / (2 * quarter)))
        rest = u - np.where(turns == 0, 0.0, 2 * turns * quarter)
        sn, cn, dn = jacobi_parts(u if kind < 3 else rest, m)
        if kind < 3:
            out = (sn, cn, dn)[kind]
        elif kind == 3:
            out = np.arctan2(sn, cn) + turns * np.pi
        else:
            ends = (cn * cn, dn * dn, np.ones_like(dn)) if kind == 4 else (cn * cn, np.ones_like(dn), dn * dn)
            whole = ellipd(m) if kind == 4 else ellipb(m) / (1 - m)
            out = sn**3 / 3 * carlson(*ends)[1] + np.where(turns == 0, 0.0, 2 * turns * whole)
    return np.where(inside, out, np.nan).astype(dtype, copy=False)[()]


def ellip_sn(u: Any, m: Any) -> Any:
    """sn(u, m)."""
    return jacobi(u, m, 0)


def ellip_cn(u: Any, m: Any) -> Any:
    """cn(u, m)."""
    return jacobi(u, m, 1)


def ellip_dn(u: Any, m: Any) -> Any:
    """dn(u, m)."""
    return jacobi(u, m, 2)


def ellip_am(u: Any, m: Any) -> Any:
    """am(u, m), the angle whose sine and cosine are sn and cn."""
    return jacobi(u, m, 3)


def ellip_sn_integral(u: Any, m: Any) -> Any:
    """The integral of sn² from 0 to u."""
    return jacobi(u, m, 4)


def ellip_sd_integral(u: Any, m: Any) -> Any:
    """The integral of (sn/dn)² from 0 to u."""
    return jacobi(u, m, 5)

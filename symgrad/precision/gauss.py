"""Kernels of float32 made of the normal distribution function: computed in float64 and rounded once.

torch's values depend on the machine: one plus an error function by formula 7.1.26 of Abramowitz and Stegun, of which
nothing is left below -5, or better polynomials where the processor has longer vectors.  Nearest to all is the true one.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from symgrad.kernels.entries.elementwise import in_stretches, in_stretches_of

_SCALED_TAIL = (
    0.0797867627048, 0.0798364939038, 0.075987728245, 0.0747795069633, 0.0385124450781, 0.126599085025,
    -0.147935813579, 0.343442806751, -0.363710481168, 0.305250541569, -0.135499781253, 0.0229507058084,
)  # fmt: skip
"""Φ(-u) e^(u²/2)/t as a polynomial in t = 1/(1 + u/5), by interpolation for u to 15: right to one part in 10¹⁰."""


def _below(y: Any) -> tuple[Any, Any]:
    """Φ(y), and e^(-y²/2), of float64 numbers that float32 holds."""
    size = np.abs(y)
    t = 1 / (1 + 0.2 * size)
    tail = t * _SCALED_TAIL[-1]
    for c in _SCALED_TAIL[-2::-1]:
        tail += c
        tail *= t
    with np.errstate(over="ignore", under="ignore"):
        bell = np.exp(size * size / -2)
    tail = tail * bell
    return np.where(y > 0, 1 - tail, tail), bell


def ndtr(x: Any) -> Any:
    """The standard normal distribution function."""
    x = np.asarray(x)
    return in_stretches(ndtr, x) if x.size > 32768 else _below(x.astype(np.float64))[0].astype(np.float32)[()]


def gelu(x: Any) -> Any:
    """x times the normal distribution function; nan at -inf, as in torch."""
    x = np.asarray(x)
    if x.size > 32768:
        return in_stretches(gelu, x)
    y = x.astype(np.float64)
    return (y * _below(y)[0]).astype(np.float32)[()]


def gelu_slope(g: Any, x: Any) -> Any:
    """g times the slope of gelu."""
    return in_stretches_of(_gelu_slope, (g, x))


def _gelu_slope(g: Any, x: Any) -> Any:
    y = np.asarray(x).astype(np.float64)
    below, bell = _below(y)
    return (g * (below + y * bell * (1 / math.sqrt(2 * math.pi)))).astype(np.float32)[()]

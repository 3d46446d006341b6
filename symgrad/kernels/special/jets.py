"""Taylor polynomials in two variables, for derivatives by parameters of what series and continued fractions compute.

A polynomial is an array whose first two axes are the powers of the variables; products are cut off at its size.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def jet_times(u: Any, v: Any) -> Any:
    """The product."""
    rows, columns = u.shape[:2]
    out = u[0, 0] * v
    for i in range(rows):
        for j in range(columns):
            if i or j:
                out[i:, j:] += u[i, j] * v[: rows - i, : columns - j]
    return out


def jet_over(u: Any, v: Any) -> Any:
    """The quotient."""
    rows, columns = u.shape[:2]
    out = np.array(u)
    for i in range(rows):
        for j in range(columns):
            quotient = out[i, j] / v[0, 0]
            out[i:, j:] -= quotient * v[: rows - i, : columns - j]
            out[i, j] = quotient
    return out


def jet_exp(u: Any) -> Any:
    """The exponential of a polynomial without a constant."""
    out = np.zeros_like(u)
    out[0, 0] = 1.0
    for i, j in np.ndindex(u.shape[:2]):
        for k, p in np.ndindex(i + 1, j + 1):
            if i or j:  # i e_ij = Σ k u_kp e_(i-k)(j-p), or the same of the second variable
                out[i, j] += (k / i if i else p / j) * u[k, p] * out[i - k, j - p]
    return out


def jet_linear(constant: Any, slope: float, m: int) -> Any:
    """constant + slope ε, up to ε^m."""
    out = np.zeros((m + 1, 1, *np.shape(constant)))
    out[0, 0] = constant
    if m:
        out[1, 0] = slope
    return out


def jet_top(u: Any) -> Any:
    """The derivative that belongs to the last coefficient."""
    m, n = u.shape[:2]
    return math.factorial(m - 1) * math.factorial(n - 1) * u[-1, -1]

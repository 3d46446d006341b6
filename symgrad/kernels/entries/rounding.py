"""Kernels that take the steps of torch's, where the order of steps shows in the last digit."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from symgrad.kernels.entries.elementwise import ratio


def addcmul(c: Any, x: Any, y: Any, value: Any) -> Any:
    """c + value x y."""
    return _product_plus(x if value.__class__ is int and value == 1 else x * value, y, c)


def log_softmax_slope(g: Any, out: Any, dim: int) -> Any:
    """g pulled back through a log_softmax along one axis."""
    return addcmul(g, np.exp(out), np.sum(g, dim, keepdims=True), -1)


def plus_multiple(x: Any, y: Any, number: Any) -> Any:
    """x + number · y."""
    return x + y * number


def addcdiv(c: Any, x: Any, y: Any, value: Any) -> Any:
    """c + value x / y."""
    return c + (x if value.__class__ is int and value == 1 else x * value) / y


def lerp(x: Any, y: Any, weight: Any) -> Any:
    """x + weight (y - x), or the same from y where that is nearer."""
    near = np.abs(weight) < 0.5
    if not np.ndim(near):
        return _product_plus(y - x, weight, x) if near else _product_plus(y - x, weight - 1, y)
    return _product_plus(y - x, np.where(near, weight, weight - 1), np.where(near, x, y))


def _product_plus(a: Any, b: Any, c: Any) -> Any:
    """a b + c; a few doubles with more digits on the way, where that takes hardly longer."""
    if getattr(c, "dtype", None) != np.float64 or c.size > 64 or getattr(a, "size", 1) > 64:
        product = a * b
        if getattr(product, "size", 1) < 4096 or np.shape(product) != np.shape(c) or product.dtype is not c.dtype:
            return product + c
        product += c  # memory that is new takes longer than the arithmetic
        return product
    return (np.longdouble(a) * b + c).astype(np.float64)


def by_divisor(g: Any, x: Any, y: Any) -> Any:
    """-(g x)/y², from the rounded 1/y; in double precision without 1/y², which leaves the range of numbers first."""
    inverse = 1 / y
    if getattr(inverse, "dtype", None) == np.float64:
        return -(g * x) * inverse * inverse
    return -(g * x) * (inverse * inverse)


def scaled_reciprocal(y: Any, number: Any) -> Any:
    """number / y."""
    return number / y


def gated(x: Any, gate: Any) -> Any:
    """x/(1 + e^-gate); an overflowing e^-gate is the right 0 and does not warn."""
    with np.errstate(over="ignore"):
        return x / (1 + np.exp(-gate))


def complex_gated(x: Any, gate: Any) -> Any:
    """The same of complex numbers: where e^-gate overflows, NumPy's quotient is nan, and x e^gate what it should be."""
    with np.errstate(over="ignore", invalid="ignore"):
        turned = np.exp(-gate)
        out = x / (1 + turned)
        lost = ~np.isfinite(turned) & np.isfinite(gate)
        return np.where(lost, x * np.exp(gate), out)[()] if lost.any() else out


def complex_sigmoid(x: Any) -> Any:
    """1/(1 + e^-x) of complex numbers."""
    return complex_gated(1, x)


def complex_gated_by_itself(x: Any) -> Any:
    """x/(1 + e^-x) of complex numbers."""
    return complex_gated(x, x)


def gated_by_itself(x: Any) -> Any:
    """x/(1 + e^-x)."""
    return gated(x, x)


def portion(x: Any, number: int, count: float) -> Any:
    """x · number/count, the factor found first; inf where nothing is counted."""
    return x * (number / float(count) if count else math.inf)


def std_slope(g: Any, std: Any, count: float) -> Any:
    """g/(std · count), divided first; 0 where std is 0."""
    return portion(ratio(g, std), 1, count)

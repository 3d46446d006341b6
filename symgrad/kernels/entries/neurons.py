"""NumPy kernels of activation functions and their slopes.  Every function stands alone."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from symgrad.kernels.entries.elementwise import either, erfc, masked, sigmoid, softplus


def gelu(x: Any) -> Any:
    """x times the normal distribution function, of which 1 + erf would leave nothing far to the left."""
    return x / 2 * erfc(x / -math.sqrt(2))


def gelu_slope(g: Any, x: Any) -> Any:
    """g times the slope of gelu."""
    density = np.exp(x * x / -2) / math.sqrt(2 * math.pi)
    return g * (erfc(x / -math.sqrt(2)) / 2 + x * density)


def sech(x: Any) -> Any:
    """1/cosh x, and 0 where the cosine is too large for a number."""
    with np.errstate(over="ignore"):
        return 1 / np.cosh(x)


def gelu_by_tanh(x: Any) -> Any:
    """x times (1 + tanh(√(2/π) (x + 0.044715 x³)))/2; 1 + tanh would leave nothing far to the left."""
    return x * sigmoid(math.sqrt(8 / math.pi) * (x + 0.044715 * x**3))


def gelu_by_tanh_slope(g: Any, x: Any) -> Any:
    """g times the slope of gelu_by_tanh."""
    root = math.sqrt(8 / math.pi)
    s = sigmoid(root * (x + 0.044715 * x**3))
    return g * (s + x * s * (1 - s) * (root * (1 + 3 * 0.044715 * x * x)))


def mish(x: Any) -> Any:
    """x tanh(log(1 + e^x))."""
    return x * np.tanh(softplus(x))


def hardswish(x: Any) -> Any:
    """x times x + 3, which is limited to [0, 6], over 6; 0 also at -inf."""
    out = np.clip(x + 3, 0, 6)
    out *= np.maximum(x, -3)
    out /= 6
    return out


def hardswish_slope(g: Any, x: Any) -> Any:
    """0 up to -3, g from 3 on, g (x/3 + 1/2) between."""
    half = np.result_type(x).type(0.5)
    low, high = np.less_equal(x, -3), np.greater_equal(x, 3)
    return masked(g, ~low) * (masked(x / 3 + half, ~(low | high)) + high)


def elu(x: Any, alpha: Any, scale: Any, divisor: Any) -> Any:
    """scale x above 0, scale alpha (e^(x/divisor) - 1) below."""
    return np.where(x < 0, np.expm1(np.minimum(x, 0) / divisor) * (scale * alpha), x * scale)[()]


def elu_slope(g: Any, x: Any, alpha: Any, scale: Any, divisor: Any) -> Any:
    """g times the slope of elu, at 0 that from below."""
    low = g * (scale * alpha / divisor) * np.exp(np.minimum(x, 0) / divisor)
    return np.where(x > 0, g * scale, low)[()]


def softshrink(x: Any, by: Any) -> Any:
    """x moved towards 0 by a number, 0 within it."""
    return x - np.clip(x, -by, by)


def hardshrink(x: Any, by: Any) -> Any:
    """x, and 0 within a number of 0."""
    return masked(x, np.logical_not(np.abs(x) <= by))


def glu(x: Any, gate: Any) -> Any:
    """x times the logistic function of the gate."""
    return x * sigmoid(gate)


def rounded_size(x: Any, limit: Any, divisor: Any) -> Any:
    """limit/divisor (|x| - limit/2) from the limit on, x²/(2 divisor) within it."""
    size = np.abs(x)
    line = size - limit / 2
    return either(size >= limit, line if limit == divisor else limit / divisor * line, x * x / (2 * divisor))


def limited(x: Any, low: Any, high: Any) -> Any:
    """x limited to [low, high]; a zero has the sign of the bound that it is at."""
    out = np.clip(x, low, high)
    return out if low and high else out + 0


def hardsigmoid(x: Any) -> Any:
    """x + 3, limited to [0, 6], over 6."""
    return np.clip(x + 3, 0, 6) / 6


def leaky(x: Any, slope: Any) -> Any:
    """x above 0, slope x elsewhere; the slope is a number or an array."""
    line = x * slope
    return np.maximum(x, line) if np.ndim(slope) == 0 and 0 < slope <= 1 else either(x > 0, x, line)


def leaky_slope(g: Any, x: Any, slope: Any) -> Any:
    """g above 0, slope g elsewhere."""
    if np.ndim(slope) or not 0 <= slope <= 1:
        return either(x > 0, g, g * slope)
    return g * np.maximum(np.greater(x, 0).astype(np.result_type(g)), slope)

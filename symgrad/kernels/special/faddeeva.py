"""NumPy kernel of Faddeeva's function w(z) = e^(-z²) erfc(-iz) and of its derivatives, for complex numbers.

M. Al Azah, S. N. Chandler-Wilde, "Computation of the complex error function using modified trapezoidal rules" (2021).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from symgrad.kernels.entries.elementwise import in_stretches
from symgrad.kernels.special.twofold import two_product


def faddeeva_gauss(x: Any, y: Any) -> Any:
    """e^(-z²): the squares to all their digits, as their rounding would be an angle and a factor."""
    square, angle = two_product(y - x, y + x), two_product(x, y)
    less = ((y - (y - x)) - x) * (y + x) + ((y - (y + x)) + x) * (y - x)
    size = np.exp(square[0]) * (1 + (square[1] + less))
    turned = np.exp(-2j * angle[0]) * (1 - 2j * angle[1])
    out = np.zeros_like(turned)
    out.real, out.imag = (np.where((size == 0) | (part == 0), 0.0, size * part) for part in (turned.real, turned.imag))
    return out


def faddeeva_hermite(x: Any, y: Any, n: int) -> list[Any]:
    """The Taylor coefficients of e^(-z²) up to the n-th: (k + 1) c_(k+1) = -2z c_k - 2c_(k-1)."""
    z, out = x + 1j * y, [faddeeva_gauss(x, y)]
    for k in range(n):
        out.append(-2 * (z * out[k] + (out[k - 1] if k else 0)) / (k + 1))
    return out


def faddeeva_jets(x: Any, y: Any, between: Any, step: float, n: int) -> list[Any]:
    """Taylor coefficients of 2/(1 ± e^(-2πiz/h)): what the rule leaves out, but for the factor e^(-z²)."""
    turns = x / step
    wave = np.exp(2j * math.pi * (turns - np.rint(turns)) - 2 * math.pi / step * y)
    out = [wave / (wave + np.where(between, 1.0, -1.0))]
    for k in range(n):  # f' = (2πi/h) f (1 - f)
        square = sum(out[i] * out[k - i] for i in range(k + 1))
        out.append(2j * math.pi / step * (out[k] - square) / (k + 1))
    return [2 * part for part in out]


def faddeeva_upper(x: Any, y: Any, n: int) -> Any:
    """The n-th derivative of w for y >= 0, by that trapezoidal rule of two whose nodes are further away."""
    step = math.sqrt(math.pi / 12)  # 12 nodes a side give w all its digits; two more serve derivatives
    phase = np.abs(x) / step % 1
    between = (y >= np.maximum(np.abs(x), math.pi / step)) | (np.abs(phase - 0.5) > 0.25)
    real, imag = np.zeros_like(x), np.zeros_like(x)
    for k in range(-14, 14):
        node = (k + 0.5 * between) * step
        weight, away = np.exp(-node * node), x - node
        if n:
            part = 1j * weight / (away + 1j * y) ** (n + 1)
            real, imag = real + part.real, imag + part.imag
        else:  # apart: the real parts are all positive
            share = weight / (away * away + y * y)
            real, imag = real + y * share, imag + away * share
    scale = step / math.pi * (-1) ** n * math.factorial(n)
    out = np.zeros(x.shape, np.complex128)
    out.real, out.imag = scale * real, scale * imag
    near = (y < math.pi / step) & (x * x - y * y < 745)  # what is left out elsewhere is nothing beside the sum
    if near.any():
        first, second = np.where(near, x, 0.0), np.where(near, y, 0.0)
        gauss, jets = faddeeva_hermite(first, second, n), faddeeva_jets(first, second, between, step, n)
        rest = math.factorial(n) * sum(gauss[k] * jets[n - k] for k in range(n + 1))
        out += np.where(near, rest, 0)
    return out


def faddeeva_parts(x: Any, y: Any, n: int) -> Any:
    """The n-th derivative of w: near 0 from w itself, far out i/√π z, and below the real line by reflection."""
    turned = y < 0
    first, second = np.where(turned, -x, x), np.abs(y)
    size = np.hypot(first, second)
    far = size > 1e7
    first, second = np.where(far, 1.0, first), np.where(far, 1.0, second)
    out = faddeeva_upper(first, second, n)
    if n and (size < 2).any():
        z = first + 1j * second
        found = [faddeeva_upper(first, second, 0)]
        found.append(2j / math.sqrt(math.pi) - 2 * z * found[0])
        for k in range(1, n):
            found.append(-2 * z * found[k] - 2 * k * found[k - 1])
        out = np.where(size < 2, found[n], out)
    if far.any():
        z = np.where(far, np.where(turned, -x, x), 1.0) + 1j * np.where(far, np.abs(y), 0.0)
        tail = 1j / math.sqrt(math.pi) * (-1) ** n * math.factorial(n) * (1 / z) ** (n + 1)
        out = np.where(far, np.where(np.isinf(size), 0, tail), out)
    if turned.any():
        above = 2 * math.factorial(n) * faddeeva_hermite(np.where(turned, x, 0.0), np.where(turned, y, 0.0), n)[n]
        out = np.where(turned, above - (-1) ** n * out, out)
    return np.where(np.isnan(x) | np.isnan(y), complex(np.nan, np.nan), out)


def wofz_slope(z: Any, n: int = 1) -> Any:
    """The n-th derivative of w(z), whose parts have no digits far out in terms of w."""
    z = np.asarray(z)
    if z.size > 16384:
        return in_stretches(wofz_slope, z, n)
    wide = z.astype(np.complex128, copy=False)
    with np.errstate(all="ignore"):
        out = faddeeva_parts(wide.real, wide.imag, n)
    return out.astype(np.result_type(z, np.complex64), copy=False)[()]


def wofz(z: Any) -> Any:
    """w(z) = e^(-z²) erfc(-iz), the real and the imaginary part each with its digits above the real line."""
    return wofz_slope(z, 0)

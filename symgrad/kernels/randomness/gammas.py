"""Random numbers of the gamma and of Dirichlet's distribution, as torch's CPU generator gives them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from symgrad.kernels.randomness.counts import one_by_one

_THIRD, _SQUEEZE = float(np.float32(1) / np.float32(3)), float(np.float32(0.0331))
"""Constants of single precision there."""


def gamma_number(shape: Any, draw: Callable[[], float], normal: Callable[[], float]) -> float:
    """One number of the gamma distribution with a rate of 1 (Marsaglia and Tsang 2000).

    ``shape`` is a NumPy number: what torch computes with it before it takes doubles is rounded to its dtype.  One
    that is below 0 or nan has no such distribution: what comes is what this arithmetic makes of it, as there.
    """
    scale, one = 1.0, shape.dtype.type(1)
    if shape < 1:
        if shape == 0:
            return 0.0
        scale = float(np.float64(1 - draw()) ** float(one / shape))
        shape = shape + one
    d = float(shape - shape.dtype.type(_THIRD))
    c = 1 / math.sqrt(9 * d) if d > 0 else math.nan
    while True:
        x = normal()
        y = 1 + c * x
        if y <= 0:
            continue
        v, u = y * y * y, 1 - draw()
        squared = x * x
        if u < 1 - _SQUEEZE * squared * squared or math.log(u) < squared / 2 + d * (1 - v + math.log(v)):
            return scale * d * v


def gamma_numbers(shapes: Any, source: Any) -> Any:
    """One number for each of an array of shapes, in their dtype, with the numbers of a source of uniform ones."""
    with one_by_one(source) as draw, np.errstate(all="ignore"):
        made = [gamma_number(shape, draw, _normal_of(source, draw)) for shape in np.asarray(shapes).ravel()]
        return np.fmax(made, np.finfo(shapes.dtype).tiny).reshape(shapes.shape).astype(shapes.dtype)


def dirichlet_numbers(shapes: Any, source: Any) -> Any:
    """Numbers that add up to 1 along the last axis, of Dirichlet's distribution with these parameters."""
    parts = gamma_numbers(shapes.astype(np.float64), source)
    kind = shapes.dtype.type
    shares = (parts / parts.sum(-1, keepdims=True)).astype(shapes.dtype)
    return np.clip(shares, np.finfo(kind).tiny, np.nextafter(kind(1), kind(0)))


def _normal_of(source: Any, draw: Callable[[], float]) -> Callable[[], float]:
    """What draws a standard normal double at each call; generators of others give them by themselves."""
    if hasattr(source, "next_normal"):
        return lambda: float(source.next_normal(draw))
    return lambda: float(source.normal_in_turn((1,))[0])

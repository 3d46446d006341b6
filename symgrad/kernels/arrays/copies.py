"""NumPy kernels of copies: how they lie in memory.  Every function stands alone on NumPy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def kept_order(x: Any) -> Any:
    """NumPy's word for how a copy lies in memory: as ``x`` does, or row by row where entries of ``x`` share memory."""
    strides = getattr(x, "strides", ())
    repeated = 0 in strides and any(step == 0 and size > 1 for step, size in zip(strides, x.shape, strict=True))
    return "C" if repeated else "K"


def copied(x: Any, dtype: Any = None) -> Any:
    """A copy that lies in memory as ``x`` does, along axes of one too, or row by row where entries share memory."""
    x = np.asarray(x)
    real = x.dtype.kind == "c" and dtype is not None and np.dtype(dtype).kind not in "bc"
    out = np.array(x.real if real else x, dtype, order=kept_order(x))
    if 1 in x.shape:
        steps = tuple(step // x.itemsize * out.itemsize for step in x.strides)
        alike = (size == 1 or own == step for size, own, step in zip(x.shape, out.strides, steps, strict=True))
        if steps != out.strides and all(alike):
            out = np.lib.stride_tricks.as_strided(out, strides=steps)
    return out[()]


def in_rows(x: Any) -> Any:
    """All axes but the last as one: the rows of a matrix."""
    return x.reshape(math.prod(x.shape[:-1]), x.shape[-1])


def diagonal(x: Any, offset: int, dim1: int, dim2: int) -> Any:
    """``np.diagonal``, which may be written to where the array may be: NumPy protects it."""
    out = np.diagonal(x, offset, dim1, dim2)
    if x.flags.writeable:
        out.flags.writeable = True
    return out


def spread(x: Any, shape: tuple[int, ...]) -> Any:
    """``np.broadcast_to`` at a fifth of its price for what lies row by row, as single numbers do."""
    new = len(shape) - getattr(x, "ndim", len(shape) + 1)
    if new < 0 or x.dtype.kind not in "fc" or not x.flags.c_contiguous:
        return np.broadcast_to(x, shape)
    steps = [0] * new
    for have, wanted, step in zip(x.shape, shape[new:], x.strides, strict=True):
        if have not in (1, wanted):
            return np.broadcast_to(x, shape)  # which refuses
        steps.append(step if have == wanted != 1 else 0)
    made: Any = np.ndarray(shape, x.dtype, np.asarray(x), 0, tuple(steps))
    made.flags.writeable = False
    return made

"""NumPy kernels of order and of running results.  Every function stands alone, for export."""

from __future__ import annotations

from typing import Any

import numpy as np


def argsort(x: Any, dim: int, descending: bool) -> Any:
    """The stable order along an axis, nan counting as largest."""
    if not descending:
        return np.argsort(x, dim, kind="stable")
    turned = np.argsort(np.flip(x, dim), dim, kind="stable")
    return x.shape[dim] - 1 - np.flip(turned, dim)


def argcummax(x: Any, dim: int) -> Any:
    """Places of the running maximum, the last of equal ones; a nan stays the maximum."""
    places = np.arange(x.shape[dim]).reshape(-1, *(1,) * (x.ndim - dim - 1))
    top = np.maximum.accumulate(x, dim)
    return np.maximum.accumulate(np.where((x == top) | np.isnan(x), places, 0), dim)


def argcummin(x: Any, dim: int) -> Any:
    """Places of the running minimum, the last of equal ones; a nan stays the minimum."""
    places = np.arange(x.shape[dim]).reshape(-1, *(1,) * (x.ndim - dim - 1))
    bottom = np.minimum.accumulate(x, dim)
    return np.maximum.accumulate(np.where((x == bottom) | np.isnan(x), places, 0), dim)


def middle(x: Any, skip_nan: bool) -> Any:
    """The lower median of a vector; nan when an entry is, or the median of the others."""
    row = np.sort(x)
    count = len(row) - int(np.isnan(row).sum())
    return row[-1] if count < len(row) and not (skip_nan and count) else row[(count - 1) // 2]


def searchsorted(rows: Any, values: Any, right: bool, dtype: str) -> Any:
    """Where values would be put into sorted rows; one row serves all values."""
    side: Any = "right" if right else "left"
    if rows.ndim == 1:
        return np.searchsorted(rows, values, side=side).astype(dtype)
    out = np.empty(values.shape, dtype)
    for place in np.ndindex(rows.shape[:-1]):
        out[place] = np.searchsorted(rows[place], values[place], side=side)
    return out


def argmode(x: Any, dim: int) -> Any:
    """Place (kept as an axis of size 1) of the last of the commonest entries along an axis, the smallest on ties."""
    x = np.moveaxis(x, dim, -1)
    equal = x[..., :, None] == x[..., None, :]
    count = equal.sum(-1)
    best = count == count.max(-1, keepdims=True)
    smallest = np.min(np.where(best, x, np.inf), -1, keepdims=True)
    hit = best & (x == smallest)
    place = x.shape[-1] - 1 - np.argmax(hit[..., ::-1], -1)
    return np.expand_dims(place, dim)


def logcumsumexp(x: Any, dim: int) -> Any:
    """log of the running sum of e^x, without overflow."""
    if x.dtype.kind != "c":
        return np.logaddexp.accumulate(x, dim)
    rows = np.moveaxis(x, dim, 0)
    out = np.array(rows)
    for k in range(1, len(rows)):
        larger = rows[k].real > out[k - 1].real
        top, low = np.where(larger, rows[k], out[k - 1]), np.where(larger, out[k - 1], rows[k])
        out[k] = top + np.log1p(np.exp(low - top))
    return np.moveaxis(out, 0, dim)

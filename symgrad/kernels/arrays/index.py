"""NumPy kernels of writing into arrays.  Every function stands alone, so that an exported file can carry its source."""

from __future__ import annotations

from typing import Any

import numpy as np


def _at(combine: Any, out: Any, index: Any, src: Any) -> None:
    """``combine.at`` in the same order: along one axis NumPy goes many times faster than along several."""
    rows = index[0] if isinstance(index, tuple) and len(index) == 1 else index
    if not out.flags.c_contiguous or np.size(src) < 64:
        combine.at(out, index, src)
    elif out.ndim > 1 and isinstance(rows, np.ndarray) and rows.dtype.kind in "iu":
        table = out.reshape(len(out), -1)
        width = table.shape[1]
        values = np.broadcast_to(src, (*rows.shape, *out.shape[1:])).reshape(-1, width)
        rows = np.arange(len(out))[rows].ravel()  # wrapped, and checked
        if width > 256:
            for k, row in zip(rows.tolist(), values, strict=True):
                combine(table[k], row, out=table[k])
        else:
            combine.at(table.reshape(-1), (rows[:, None] * width + np.arange(width)).ravel(), values.ravel())
    elif isinstance(rows, np.ndarray) and rows.dtype.kind in "iu":
        values = src if np.shape(src) == rows.shape else np.broadcast_to(src, rows.shape)
        combine.at(out, rows.ravel(), values.ravel())
    elif np.size(src) > out.size // 8:
        places = np.arange(out.size).reshape(out.shape)[index]
        combine.at(out.reshape(-1), places.ravel(), np.broadcast_to(src, places.shape).ravel())
    else:
        combine.at(out, index, src)


def _along(combine: Any, out: Any, src: Any, index: Any, dim: int) -> None:
    """``src`` combined in along the axis ``dim`` at the places ``index``, one entry after the other."""
    across = [k for k in range(index.ndim) if k != dim]
    whole = all(index.shape[k] == out.shape[k] and index.strides[k] == 0 for k in across)
    if whole and across and index.size:  # by slices
        row = index[tuple(slice(None) if k == dim else 0 for k in range(index.ndim))]
        table = np.ascontiguousarray(np.moveaxis(out, dim, 0))
        _at(combine, table, row, np.moveaxis(np.broadcast_to(src, index.shape), dim, 0))
        if not np.shares_memory(table, out):
            out[...] = np.moveaxis(table, 0, dim)
    else:
        last = index.ndim - 1
        places = [index if k == dim else np.arange(n).reshape(n, *[1] * (last - k)) for k, n in enumerate(index.shape)]
        if index.shape[dim] == 1 and dim == last and index.size > 512 and out.size == index.size * out.shape[dim]:
            known = np.where(index < 0, index + out.shape[dim], index)  # one entry of every line
            if out.flags.c_contiguous and known.min() >= 0 and known.max() < out.shape[dim]:
                out, src = out.reshape(-1), np.broadcast_to(src, index.shape).reshape(-1)
                places = [known.reshape(-1) + np.arange(0, out.size, out.size // index.size)]
        if index.shape[dim] == 1:  # no place is named twice
            out[tuple(places)] = combine(out[tuple(places)], src)
        else:
            _at(combine, out, tuple(places), src)


def gather(x: Any, index: Any, dim: int) -> Any:
    """Entries along the axis ``dim`` at the places ``index``: long lines one by one, NumPy's grids take much longer."""
    if index.ndim == 1:
        return x[index]
    if dim != index.ndim - 1 or index.shape[dim] < 4096 or index.shape[:-1] != x.shape[:-1]:
        last = x.ndim - 1
        places = [index if k == dim else np.arange(n).reshape(-1, *(1,) * (last - k)) for k, n in enumerate(x.shape)]
        return x[tuple(places)]
    out = np.empty(index.shape, x.dtype)
    for k in np.ndindex(index.shape[:-1]):
        out[k] = x[k][index[k]]
    return out


def scatter_set(x: Any, src: Any, index: Any, dim: int) -> Any:
    """A copy of ``x`` with ``src`` written along the axis ``dim`` at the places ``index``."""
    out = np.array(x)
    if index.size:
        grids = list(np.ogrid[tuple(slice(n) for n in index.shape)])
        grids[dim] = index
        out[tuple(grids)] = src
    return out


def scatter_plus(x: Any, src: Any, index: Any, dim: int) -> Any:
    """A copy of ``x`` with ``src`` added along the axis ``dim`` at the places ``index``, one entry after the other."""
    out = np.array(x)
    _along(np.add, out, src, index, dim)
    return out


def scatter_combine(x: Any, src: Any, index: Any, dim: int, reduce: str, include_self: bool) -> Any:
    """A copy of ``x`` with ``src`` combined in along the axis ``dim`` at the places ``index``: amax, amin or prod."""
    out = np.array(x)
    grids = list(np.ogrid[tuple(slice(n) for n in index.shape)])
    grids[dim] = index
    combine = {"amax": np.maximum, "amin": np.minimum, "prod": np.multiply}[reduce]
    if not include_self:
        ends: tuple[Any, Any]
        if x.dtype.kind in "ui":
            ends = (np.iinfo(x.dtype).min, np.iinfo(x.dtype).max)
        else:
            ends = (False, True) if x.dtype.kind == "b" else (-np.inf, np.inf)
        out[tuple(grids)] = {"amax": ends[0], "amin": ends[1], "prod": 1}[reduce]
    _along(combine, out, src, index, dim)
    return out


def scatter_others(x: Any, src: Any, index: Any, dim: int, include_self: bool) -> Any:
    """For every source the product of all else that falls on its place: ``x`` there and the other sources."""
    grids = list(np.ogrid[tuple(slice(n) for n in index.shape)])
    grids[dim] = index
    places = tuple(grids)
    zero = src == 0
    known = np.where(zero, 1, src)
    product = np.array(x)
    if not include_self:
        product[places] = 1
    _along(np.multiply, product, known, index, dim)
    others = product[places] / known
    if zero.any():
        zeros = np.zeros(x.shape, np.int64)
        _along(np.add, zeros, zero, index, dim)
        others = np.where(zeros[places] > zero, 0, others)
    return others.astype(src.dtype, copy=False)


def scatter_others_twice(g: Any, x: Any, src: Any, index: Any, dim: int, include_self: bool) -> Any:
    """The pullback of ``scatter_others`` to the sources: for each the sum of g_j over the product of all but both."""
    grids = list(np.ogrid[tuple(slice(n) for n in index.shape)])
    grids[dim] = index
    places = tuple(grids)
    g, src = np.broadcast_arrays(g, np.conj(src))
    zero = src == 0
    known = np.where(zero, 1, src)
    product, sums = np.conj(x), np.zeros((2, *x.shape), np.result_type(g, src))
    if not include_self:
        product[places] = 1
    _along(np.multiply, product, known, index, dim)
    parts = g / known
    _along(np.add, sums[0], np.where(zero, 0, parts), index, dim)
    all_but = (sums[0][places] - np.where(zero, 0, parts)) / known
    if zero.any():  # a product of one of which nothing is left out is zero
        zeros = np.zeros(x.shape, np.int64)
        _along(np.add, sums[1], np.where(zero, g, 0), index, dim)
        _along(np.add, zeros, zero, index, dim)
        others = zeros[places] - zero
        besides = (sums[1][places] - np.where(zero, g, 0)) / known
        all_but = np.where(others == 0, all_but, np.where(others == 1, besides, 0))
    return (product[places] * all_but).astype(src.dtype, copy=False)


def chosen(x: Any, labels: Any) -> Any:
    """The entry of every row that its label names."""
    places = np.asarray(labels)
    rows = x.reshape(-1, x.shape[-1])
    return rows[np.arange(len(rows)), places.ravel()].reshape(places.shape)[()]


def windows(x: Any, dim: int, size: int, step: int, dilation: int) -> Any:
    """Windows of ``size`` entries, ``dilation`` apart, every ``step``-th along an axis, inside a new last axis."""
    span = (size - 1) * dilation + 1
    if span > x.shape[dim]:
        raise ValueError("window shape cannot be larger than input array shape")
    count, stride = (x.shape[dim] - span) // step + 1, x.strides[dim]
    shape = (*x.shape[:dim], count, *x.shape[dim + 1 :], size)
    strides = (*x.strides[:dim], stride * step, *x.strides[dim + 1 :], stride * dilation)
    if x.flags.c_contiguous:
        return np.ndarray(shape, x.dtype, x, 0, strides)  # several times as fast as as_strided
    return np.lib.stride_tricks.as_strided(x, shape, strides)


def windows_sum(g: Any, dim: int, step: int, dilation: int, size: int) -> Any:
    """Windows (inside the last axis) added back at their places in an axis of ``size`` entries."""
    count = g.shape[dim]
    shape = (*g.shape[:dim], size, *g.shape[dim + 1 : -1])
    if dilation == 1 and step == g.shape[-1] and count * step == size:  # side by side: every entry gets one
        apart = np.empty((*shape[:dim], count, step, *shape[dim + 1 :]), g.dtype)
        apart[...] = np.moveaxis(g, -1, dim + 1)
        return apart.reshape(shape)
    order = sorted(range(len(shape)), key=lambda k: -abs(g.strides[k]))  # neighbours there are neighbours here
    out = np.zeros([shape[k] for k in order], g.dtype).transpose(np.argsort(order))
    for k in range(g.shape[-1]):
        start = k * dilation
        out[(slice(None),) * dim + (slice(start, start + (count - 1) * step + 1, step),)] += g[..., k]
    return out


def _as_integers(x: Any, y: Any) -> tuple[Any, Any]:
    """Both as arrays: a number takes the dtype of the other, modulo what that can hold."""
    if not hasattr(x, "dtype"):
        x = np.asarray(x).astype(getattr(y, "dtype", np.int64))
    return x, y if hasattr(y, "dtype") else np.asarray(y).astype(x.dtype)


def left_shift(x: Any, y: Any) -> Any:
    """The bits of integers ``y`` places up; 0 where that is more places than there are, or a negative number."""
    x, y = _as_integers(x, y)
    bits = np.result_type(x, y).itemsize * 8
    return np.where((y < 0) | (y >= bits), 0, np.left_shift(x, np.clip(y, 0, bits - 1)))[()]


def right_shift(x: Any, y: Any) -> Any:
    """The bits of integers ``y`` places down; the sign alone where that is more places than there are."""
    x, y = _as_integers(x, y)
    bits = np.result_type(x, y).itemsize * 8
    moved = np.right_shift(x, np.where((y < 0) | (y >= bits), bits - 1, y))
    return np.where((y < 0) | (y >= bits), 0, moved)[()] if x.dtype.kind == "u" else moved


def argmax_of_pool(x: Any, dim: int, keepdim: bool) -> Any:
    """Place of the largest entry along an axis, the first of equal ones, and the last nan where there are any."""
    missing = np.isnan(x)
    if missing.any():
        last = x.shape[dim] - 1 - np.argmax(np.flip(missing, dim), dim, keepdims=True)
        place = np.where(missing.any(dim, keepdims=True), last, np.argmax(x, dim, keepdims=True))
    elif 1 < x.shape[dim] < 16 and x.size > 4096:  # NumPy goes line by line: in short ones all at once is faster
        rows = np.ascontiguousarray(np.moveaxis(x, dim, 0))
        best = rows.max(0)
        before = rows[0] != best
        place = before.astype(np.int8)
        for row in rows[1:-1]:
            before &= row != best
            place += before
        place = np.expand_dims(place.astype(np.intp), dim)
    else:
        place = np.argmax(x, dim, keepdims=True)
    return place if keepdim else place.squeeze(dim)


def _delta(x: Any, where: tuple[int, ...]) -> Any:
    """Spread ``x`` over an output with repeated axes: ``out[i, i, j] = x[i, j]`` for ``where=(0, 0, 1)``."""
    out = np.zeros(tuple(x.shape[k] for k in where), x.dtype)
    grids = np.ogrid[tuple(slice(n) for n in x.shape)]
    out[tuple(grids[k] for k in where)] = x
    return out


def embed(x: Any, dim: int, start: int, size: int) -> Any:
    """Zeros with ``x`` in the range of the axis ``dim`` that begins at ``start``."""
    out = np.zeros((*x.shape[:dim], size, *x.shape[dim + 1 :]), x.dtype)
    out[(slice(None),) * dim + (slice(start, start + x.shape[dim]),)] = x
    return out


def padded(x: Any, widths: Any, value: Any) -> Any:
    """``x`` inside of a border of ``value``: pairs of widths by axis; ``np.pad`` takes four times as long."""
    axes = list(zip(x.shape, widths, strict=True))
    out = np.full([before + n + after for n, (before, after) in axes], value, x.dtype)
    out[tuple([slice(before, before + n) for n, (before, _) in axes])] = x
    return out


def index_put(x: Any, value: Any, index: Any) -> Any:
    """A copy of ``x`` with ``x[index] = value``."""
    out = np.array(x)
    out[index] = value
    return out


def scatter(g: Any, index: Any, dim: int, shape: tuple[int, ...]) -> Any:
    """Zeros of ``shape`` with ``g`` added along the axis ``dim`` at the places ``index``; repeated places add up."""
    out = np.zeros(shape, g.dtype)
    _along(np.add, out, g, index, dim)
    return out


def put(g: Any, index: Any, shape: tuple[int, ...]) -> Any:
    """Zeros of ``shape`` with ``g`` added at ``index`` (the transpose of ``x[index]``); repeated indices add up."""
    out = np.zeros(shape, getattr(g, "dtype", float))
    parts = index if isinstance(index, tuple) else (index,)
    if all(isinstance(p, (int, np.integer, slice)) or p is None or p is Ellipsis for p in parts):
        room = np.shape(out[index])
        if np.shape(g) not in ((), room):  # a program at sizes that it does not hold for
            raise ValueError(f"what is put back has shape {np.shape(g)}, and its place {room}")
        out[index] = g
    elif np.size(g):  # of no entries the places may be anywhere
        _at(np.add, out, index, g)
    return out


def one_hot(index: Any, classes: int, dtype: str) -> Any:
    """A new last axis of length ``classes`` with a 1 at the index, which counts from the end where it is negative."""
    places = np.asarray(index)
    flat = places.ravel()
    out = np.zeros((flat.size, classes), dtype)
    out[np.arange(flat.size), flat] = 1  # raises IndexError for what is no class
    return out.reshape(*places.shape, classes)

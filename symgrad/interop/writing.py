"""NumPy's functions that write into an array: ``np.fill_diagonal``, ``np.copyto``, ``np.put`` and their kin."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from symgrad.errors import ArgumentError
from symgrad.interop.functions import bare, dtype_of, front_of, tensor, unsupported
from symgrad.ops.shapes.shaping import axis_of


def _entries(value: Any, count: int) -> Any:
    """``count`` entries of a value, which begins again where it is shorter; one number stays one."""
    if not np.ndim(value):
        return value
    value = tensor(value).ravel()
    return value[np.resize(np.arange(len(value)), count)]


def write(a: Any, key: Any, value: Any) -> None:
    """``a[key] = value`` for tensors: of values for one place the last one counts, also for the gradient."""
    if not _twice(key):
        a[key] = value
        return
    shape = tuple(a.shape)
    places = np.arange(int(np.prod(shape))).reshape(shape)[bare(key)]
    order = np.arange(places.size)
    last = np.zeros(int(np.prod(shape)), int)
    last[places.ravel()] = order
    counts = np.flatnonzero(last[places.ravel()] == order)
    if np.ndim(value):
        value = tensor(value).expand(places.shape).reshape(-1)[counts]
    a[np.unravel_index(places.ravel()[counts], shape)] = value


def _twice(key: Any) -> bool:
    """Whether rows of places may name one of them twice; a program holds for places that do or do not, as here."""
    parts = key if isinstance(key, tuple) else (key,)
    rows = [part for part in parts if np.ndim(part) and not isinstance(part, slice) and dtype_of(part).kind in "iu"]
    if not rows:
        return False
    numbers = np.broadcast_arrays(*(np.asarray(bare(row)) for row in rows))
    flat = np.stack([row.ravel() for row in numbers])
    return bool((flat < 0).any()) or len(np.unique(flat, axis=1).T) < flat.shape[1]


def _fill_diagonal(a: Any, val: Any, wrap: bool = False) -> None:
    if a.ndim < 2:
        raise ArgumentError("array must be at least 2-d")
    if wrap and a.shape[0] > a.shape[1] + 1:
        raise unsupported("np.fill_diagonal(…, wrap=True) of a tall matrix", " in this form")
    if a.ndim > 2 and len(set(a.shape)) > 1:
        raise ArgumentError("All dimensions of input must be of equal length")
    places = np.arange(min(a.shape))
    a[(places,) * a.ndim] = _entries(val, len(places))


def _copyto(dst: Any, src: Any, casting: str = "same_kind", where: Any = True) -> None:
    if casting != "same_kind":
        raise unsupported("np.copyto(…, casting=…)", " in this form")
    dst[...] = src if where is True else front_of("where")(tensor(where), tensor(src), dst)


def _put(a: Any, ind: Any, v: Any, mode: str = "raise") -> None:
    places, size = np.asarray(bare(ind)).ravel(), int(np.prod(a.shape))
    if mode in ("wrap", "clip"):
        places = places % size if mode == "wrap" else np.clip(places, 0, size - 1)
    elif mode != "raise":
        raise ArgumentError(f"np.put: mode is raise, wrap or clip, not {mode!r}.")
    if len(places):
        places = np.arange(size)[places]
        write(a, np.unravel_index(places, tuple(a.shape)), _entries(v, len(places)))


def _put_along_axis(arr: Any, indices: Any, values: Any, axis: Any) -> None:
    if axis is None:
        _put(arr, indices, values)
        return
    k, indices = axis_of(axis, arr.ndim), np.asarray(bare(indices))
    grid = list(np.ogrid[tuple(slice(0, n) for n in arr.shape)])
    grid[k] = indices
    write(arr, tuple(grid), values)


def _place(arr: Any, mask: Any, vals: Any) -> None:
    mask = np.asarray(bare(mask), bool).reshape(tuple(arr.shape))
    arr[mask] = _entries(np.atleast_1d(vals), int(mask.sum()))


def _putmask(a: Any, mask: Any, values: Any) -> None:
    values = _entries(values, int(np.prod(a.shape)))
    if np.ndim(values):
        values = values.reshape(tuple(a.shape))
    a[...] = front_of("where")(tensor(mask), tensor(values), a)


def added_at(name: str, ufunc: Any, a: Any, indices: Any, values: Any) -> Any:
    """What is in ``a`` after ``np.add.at`` or ``np.subtract.at``: places that occur twice count twice."""
    places = indices if isinstance(indices, tuple) else (indices,)
    if ufunc not in (np.add, np.subtract) or any(dtype_of(place).kind not in "iub" for place in places):
        raise unsupported(name)
    values = tensor(values).to(dtype_of(a))
    places = tuple(tensor(place) for place in places)
    return front_of("index_put")(a, places, values if ufunc is np.add else -values, accumulate=True)


WRITERS: dict[Any, Callable[..., None]] = {
    np.fill_diagonal: _fill_diagonal,
    np.copyto: _copyto,
    np.put: _put,
    np.put_along_axis: _put_along_axis,
    np.place: _place,
    np.putmask: _putmask,
}

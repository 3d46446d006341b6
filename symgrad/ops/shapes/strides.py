"""Entries by their places in memory: ``as_strided`` and what overwrites them.

Where the entries of a tensor fill their memory, in whatever order of the axes, the result is a view of it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from symgrad.errors import ArgumentError, ShapeError
from symgrad.op import fixed, front, shape_of
from symgrad.ops.calls.naming import inplace
from symgrad.ops.elementwise.select import where_op
from symgrad.ops.indexing.getitem import Index, getitem, getitem_op, index_put_op, static_index
from symgrad.ops.shapes.shaping import permute, reshape

inplace("as_strided")


def _places(sizes: Sequence[int], strides: Sequence[int], offset: int) -> Any:
    """offset + Σ i_k · stride_k for every place of an array."""
    places = np.full(tuple(sizes), offset, np.int64)
    for axis, step in enumerate(strides):
        places += (np.arange(sizes[axis]) * step).reshape(-1, *(1,) * (len(sizes) - axis - 1))
    return places


def _layout(x: Any) -> tuple[tuple[int, ...], int]:
    """How many entries apart neighbours lie in memory, and at which the tensor begins; formulas are row by row."""
    if hasattr(x, "storage_offset"):
        return tuple(x.stride()), x.storage_offset()
    if isinstance(x, np.ndarray) and x.size:
        return tuple(step // x.itemsize for step in x.strides), 0
    shape = shape_of(x)
    return tuple(math.prod(shape[k + 1 :]) for k in range(len(shape))), 0


def _in_order(shape: Sequence[int], strides: Sequence[int]) -> tuple[int, ...] | None:
    """The axes as they lie in memory, longest steps first; None where the entries do not fill a stretch of it."""
    order = tuple(sorted(range(len(shape)), key=lambda k: (-strides[k], -shape[k], k)))
    reach = 1
    for axis in reversed(order):
        if shape[axis] > 1 and strides[axis] != reach:
            return None
        reach *= shape[axis]
    return order


def _checked(x: Any, size: Sequence[int], stride: Sequence[int], offset: int) -> None:
    """Raise torch's errors for strides below 0, and for places outside of the memory."""
    if len(size) != len(stride):
        raise ShapeError(f"mismatch in length of strides and shape: as_strided of size {size} and stride {stride}")
    if min(size, default=0) < 0:
        raise ShapeError(f"Storage size calculation overflowed with sizes={list(size)} and strides={list(stride)}")
    if min(stride, default=0) < 0:
        raise ArgumentError(
            f"as_strided: Negative strides are not supported at the moment, got strides: {list(stride)}"
        )
    if offset < 0:
        raise ArgumentError(f"Tensor: invalid storage offset {offset}")
    last = offset + sum((n - 1) * step for n, step in zip(size, stride, strict=True))
    memory, width = np.asarray(x.untyped_storage()) if hasattr(x, "untyped_storage") else x, x.dtype.itemsize
    room = memory.nbytes // width if isinstance(memory, np.ndarray) else math.prod(shape_of(memory))
    if 0 not in size and last >= room:
        raise ShapeError(
            f"setStorage: sizes {list(size)}, strides {list(stride)}, storage offset {offset}, and itemsize {width} "
            f"requiring a storage size of {(last + 1) * width} are out of bounds for storage of size "
            f"{room * width}"
        )


def _found(x: Any, strides: Sequence[int], start: int, wanted: Any) -> tuple[Any, Any]:
    """For places in memory the numbers of the entries of ``x`` that lie there, and whether there are any."""
    known, first = np.unique(_places(shape_of(x), strides, start), return_index=True)
    if not known.size:
        return np.zeros(wanted.shape, np.int64), np.zeros(wanted.shape, bool)
    near = np.minimum(np.searchsorted(known, wanted), known.size - 1)
    return first[near], known[near] == wanted


@front("as_strided")
def as_strided(input: Any, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None) -> Any:
    """The entries at the places ``storage_offset`` + Σ i_k · ``stride``_k of the memory that ``input`` lies in.

    The offset is that of ``input`` itself unless given.  Entries of the memory that are not the input's have no
    gradient.  Raises torch's errors for negative strides and for places outside of the memory.
    """
    size, stride = (tuple(int(fixed(n)) for n in row) for row in (size, stride))
    if any(isinstance(n, str) for n in shape_of(input)):
        return getitem(reshape(input, -1), _places(size, stride, storage_offset or 0))
    strides, start = _layout(input)
    offset = start if storage_offset is None else int(fixed(storage_offset))
    _checked(input, size, stride, offset)
    order = _in_order(shape_of(input), strides)
    wanted = _places(size, stride, offset)
    if order is not None and (not wanted.size or start <= wanted.min() <= wanted.max() < start + _count(input)):
        index = Index(wanted - start, (size, stride, offset - start))
        return getitem_op(reshape(_turned(input, order), -1), index=index)
    places, inside = _found(input, strides, start, wanted)
    found = getitem(reshape(input, -1), places)
    if inside.all():
        return found
    return where_op(inside, found, np.asarray(input.storage()).view(found.dtype)[wanted])


@front("as_strided_scatter")
def as_strided_scatter(
    input: Any, src: Any, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None
) -> Any:
    """``input`` with the entries that ``as_strided`` would give replaced by ``src``."""
    size, stride = (tuple(int(fixed(n)) for n in row) for row in (size, stride))
    strides, start = _layout(input)
    offset = start if storage_offset is None else int(fixed(storage_offset))
    _checked(input, size, stride, offset)
    wanted = _places(size, stride, offset)
    places, inside = _found(input, strides, start, wanted)
    if not inside.all():
        places, src = places[inside], getitem(src, inside)
    return reshape(index_put_op(reshape(input, -1), src, index=static_index(places)), shape_of(input))


def _count(x: Any) -> int:
    return math.prod(shape_of(x))


def _turned(x: Any, order: tuple[int, ...]) -> Any:
    return x if order == tuple(range(len(order))) else permute(x, order)

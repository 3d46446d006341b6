"""Segments: ranges of an axis that are summed, averaged, multiplied, or of which the largest entry is taken."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from symgrad.errors import ArgumentError, ShapeError
from symgrad.op import front, shape_of
from symgrad.ops.calls.still import values_of
from symgrad.ops.elementwise.select import ge, where
from symgrad.ops.indexing.getitem import put_op, static_index
from symgrad.ops.indexing.scatter import index_reduce
from symgrad.ops.shapes.shaping import reshape

_EMPTY = {"sum": 0.0, "mean": 0.0, "prod": 1.0, "max": -math.inf, "min": math.inf}
"""What a segment without entries has, but for a mean, which is nan."""


@front("segment_reduce", method=False)
def segment_reduce(
    data: Any,
    reduce: str,
    *,
    lengths: Any = None,
    indices: Any = None,
    offsets: Any = None,
    axis: int = 0,
    unsafe: bool = False,
    initial: Any = None,
) -> Any:
    """The "sum", "mean", "prod", "max" or "min" of ranges of an axis that follow each other, from ``initial`` on.

    ``lengths`` of shape (…, k) says how long the k ranges are, or ``offsets`` of shape (…, k + 1) where they begin and
    end; the leading axes are those of ``data``, and ``axis`` is the last of theirs.  The result has k entries there.
    Raises ``ShapeError`` for ranges that do not cover the axis, unless ``unsafe``.

    >>> import symgrad as sg
    >>> sg.segment_reduce(sg.tensor([1.0, 2.0, 4.0]), "sum", lengths=sg.tensor([2, 1]))
    tensor([3., 4.])
    """
    if reduce not in _EMPTY:
        raise ArgumentError(f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}")
    if indices is not None:
        raise ArgumentError("segment_reduce(): indices based reduction is not supported yet.")
    if lengths is None and offsets is None:
        raise ArgumentError("segment_reduce(): Either lengths or offsets must be defined.")
    counts = values_of(lengths) if lengths is not None else np.diff(values_of(offsets), axis=-1)
    if axis != counts.ndim - 1:
        raise ArgumentError(f"segment_reduce(): Expected axis to be the last dimension of lengths but got {axis}.")
    shape = tuple(shape_of(data))
    if not unsafe and ((counts.sum(-1) != shape[axis]).any() or (counts < 0).any()):
        raise ShapeError(
            "segment_reduce(): Expected all rows of lengths along axis to sum to data.size(lengths.dim()-1) when "
            f"!unsafe. (The axis has size {shape[axis]}, the lengths sum up to {counts.sum(-1).tolist()}.)"
        )
    lead, rest = shape[:axis], shape[axis + 1 :]
    rows = counts.reshape(-1, counts.shape[-1])
    inside = np.arange(shape[axis]) < rows.sum(1, keepdims=True)
    flat = reshape(data, len(rows) * shape[axis], *rest)
    places = np.repeat(np.arange(rows.size), rows.ravel())
    if not inside.all():
        flat = flat[np.flatnonzero(inside)]
    made = _combined(flat, places, rows.size, reduce, initial)
    if reduce == "mean":
        made = _averaged(made, rows.reshape(-1, *(1,) * len(rest)), initial)
    return reshape(made, *lead, counts.shape[-1], *rest)


def _combined(flat: Any, places: Any, count: int, reduce: str, initial: Any) -> Any:
    """The entries of ``flat`` at each of the places together."""
    if reduce in ("sum", "mean"):
        index, at = static_index(places).parted()
        total = put_op(flat, *at, index=index, shape=(count, *shape_of(flat)[1:]))
        return total if initial is None else total + initial
    first = _EMPTY[reduce] if initial is None or reduce in ("max", "min") else initial
    start = np.full((count, *shape_of(flat)[1:]), first, flat.dtype)
    start = flat.new_tensor(start) if hasattr(flat, "new_tensor") else start
    if reduce == "prod":
        return index_reduce(start, 0, places, flat, "prod")
    found = index_reduce(start, 0, places, flat, f"a{reduce}", include_self=False)
    if initial is None:
        return found
    return where(ge(found, initial) if reduce == "max" else ge(initial, found), found, initial)


def _averaged(total: Any, counts: Any, initial: Any) -> Any:
    """Sums over how many there are; where there are none, what they began with."""
    divided = total / np.maximum(counts, 1).astype(total.dtype)
    return where(counts > 0, divided, math.nan if initial is None else initial)

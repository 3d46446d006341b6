"""Places and counts: searchsorted, bucketize, count_nonzero, unique.  None of them has a derivative.

The entries that ``unique`` gives are picked from the input, so gradients go to the first of equal ones.
"""

from __future__ import annotations

import math
from typing import Any, Literal, overload

import numpy as np

from symgrad import kernels
from symgrad.errors import ArgumentError, ShapeError
from symgrad.op import Op, front, primitive, sampling, shape_of
from symgrad.ops.calls.still import decided_by, recorded, values_of
from symgrad.ops.elementwise.select import ne
from symgrad.ops.indexing.gathering import gather
from symgrad.ops.indexing.getitem import index_select
from symgrad.ops.indexing.sorting import argsort_op
from symgrad.ops.reductions.sums import cast_op, sum_op
from symgrad.ops.shapes.shaping import axis_of, reshape


def _into_sorted(*letters: Any, right: bool = False) -> sampling.Sample:
    """Values and the sorted rows they are to be put into."""

    def sample(make: Any) -> sampling.Case:
        rows = np.sort(make("real", *letters), -1)
        return (rows, make("real", *letters[:-1], "m")), {"right": right, "dtype": "int64"}

    return sample


searchsorted_op: Op = primitive(
    "searchsorted",
    kernels.searchsorted,
    (None, None),
    infer=lambda _, values, **__: values,
    result=lambda *_, right, dtype: np.dtype(dtype),
    refuses={"c": "searchsorted_out_cpu"},
    ascends=True,
    digits="kernel",
    example=("vector", [1.5], {"right": False, "dtype": "int64"}),
    samples=[_into_sorted("p"), _into_sorted("n", "p", right=True)],
    doc="Where values would be put into sorted rows to keep them sorted; no derivative.",
)


@front("searchsorted", op=searchsorted_op, method=False)
def searchsorted(
    sorted_sequence: Any,
    input: Any,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    sorter: Any = None,
) -> Any:
    """Places at which ``input`` could be put into the sorted last axis of ``sorted_sequence``.

    The place is the first possible one, or the last with ``right=True`` (``side="right"``).  ``sorter`` are the places
    that sort a sequence which is not.  All axes but the last agree, unless the sequence has one axis only.
    """
    if side not in (None, "left", "right"):
        raise ArgumentError(f"torch.searchsorted(): side can only be 'left' or 'right' but got {side}")
    if side == "left" and right:
        raise ArgumentError("torch.searchsorted(): side and right can't be set to opposites, got side of left while "
                            "right was True")  # fmt: skip
    if sorter is not None:
        sorted_sequence = gather(sorted_sequence, -1, sorter)
    rows, values = shape_of(sorted_sequence), shape_of(input)
    if len(rows) != 1 and (len(rows) != len(values) or rows[:-1] != values[:-1]):
        raise ShapeError(
            "torch.searchsorted(): boundaries tensor should be 1 dimension or the first N-1 dimensions of boundaries "
            f"tensor and input value tensor must match, but we got boundaries tensor {list(rows)} and input value "
            f"tensor {list(values)}"
        )
    return searchsorted_op(
        sorted_sequence, input, right=right or side == "right", dtype="int32" if out_int32 else "int64"
    )


@front("bucketize", op=searchsorted_op, method=False)
def bucketize(input: Any, boundaries: Any, *, out_int32: bool = False, right: bool = False) -> Any:
    """Numbers of the intervals between ``boundaries``, which have one axis, that the entries of ``input`` lie in."""
    if len(shape_of(boundaries)) != 1:
        raise ShapeError(
            f"torch.bucketize(): boundaries tensor must be 1 dimension, but got dim({len(shape_of(boundaries))})"
        )
    return searchsorted(boundaries, input, out_int32=out_int32, right=right)


@front("count_nonzero")
def count_nonzero(input: Any, dim: Any = None) -> Any:
    """How many entries along ``dim`` (of all, by default) are not zero."""
    whole = dim is None or (isinstance(dim, (tuple, list)) and not dim)
    axes = tuple(range(len(shape_of(input)))) if whole else dim
    return sum_op(cast_op(ne(input, 0), dtype="int64"), dim=_axes(axes, len(shape_of(input))), keepdim=False)


def _axes(dim: Any, ndim: int) -> tuple[int, ...]:
    axes = tuple(axis_of(k, ndim) for k in (dim if isinstance(dim, (tuple, list)) else (dim,)))
    return axes if ndim else ()


# ------------------------------------------------------------------------------------------ equal entries


@overload
def unique(
    input: Any,
    sorted: bool = True,
    return_inverse: Literal[False] = False,
    return_counts: Literal[False] = False,
    dim: int | None = None,
) -> Any: ...
@overload
def unique(
    input: Any, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> tuple[Any, ...]: ...
@front("unique")
def unique(
    input: Any, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Any:
    """The different entries (with ``dim``: slices), in order; on demand the number of each, and how many it has."""
    in_order = dim is None and not return_inverse and recorded(input)
    values = values_of(input) if in_order else decided_by(input)
    axis = None if dim is None else axis_of(dim, values.ndim)
    _, first, inverse, counts = np.unique(values, True, True, True, axis, equal_nan=False)
    if in_order:  # programs of a graph follow the order of the entries, and hold for as many equal ones
        flat = reshape(input, -1)
        input = gather(flat, 0, argsort_op(flat, dim=0, descending=False))
        _begins(input)
        first = np.cumsum(counts) - counts
    inverse = inverse.reshape(values.shape if axis is None else -1)
    return _answer(input, axis, first, return_inverse and inverse, return_counts and counts)


def _begins(row: Any) -> None:
    """Say that what is picked from a row hangs on where an entry differs from the one before it."""
    decided_by(ne(row[1:], row[:-1]))


@overload
def unique_consecutive(
    input: Any,
    return_inverse: Literal[False] = False,
    return_counts: Literal[False] = False,
    dim: int | None = None,
) -> Any: ...
@overload
def unique_consecutive(
    input: Any, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> tuple[Any, ...]: ...
@front("unique_consecutive")
def unique_consecutive(
    input: Any, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Any:
    """The entries (with ``dim``: slices) that differ from the one before them."""
    values = decided_by(input) if dim is not None else values_of(input)
    if dim is None and recorded(input):
        _begins(reshape(input, -1))
    axis = None if dim is None else axis_of(dim, values.ndim)
    rows = values.reshape(-1, 1) if axis is None else np.moveaxis(values, axis, 0)
    rows = rows.reshape(len(rows), math.prod(rows.shape[1:]))
    begins = np.ones(len(rows), bool)
    begins[1:] = (rows[1:] != rows[:-1]).any(1)
    (first,) = np.nonzero(begins)
    inverse = (np.cumsum(begins) - 1).reshape(values.shape if axis is None else -1)
    counts = np.diff(first, append=len(rows))
    return _answer(input, axis, first, return_inverse and inverse, return_counts and counts)


def _answer(input: Any, axis: int | None, first: Any, *others: Any) -> Any:
    """The picked entries and what else was asked for; what was not is False."""
    picked = index_select(reshape(input, -1) if axis is None else input, axis or 0, first)
    wrap = input.new_tensor if hasattr(input, "new_tensor") else np.asarray
    rest = [wrap(row, dtype=np.dtype(np.int64)) for row in others if row is not False]
    return (picked, *rest) if rest else picked

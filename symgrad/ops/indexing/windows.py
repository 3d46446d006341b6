"""Sliding windows along an axis, and what was in windows added back at its places."""

from __future__ import annotations

from typing import Any

import numpy as np

from symgrad import kernels
from symgrad.errors import ShapeError
from symgrad.op import Op, front, primitive, shape_of
from symgrad.ops.elementwise.select import where_op
from symgrad.ops.indexing.getitem import getitem
from symgrad.ops.shapes.shaping import axis_of, movedim, reshape
from symgrad.ops.shapes.sizes import product_size, total_size


def _window_count(size: Any, window: Any, step: int, dilation: int) -> Any:
    if isinstance(size, int) and isinstance(window, int):
        return (size - (window - 1) * dilation - 1) // step + 1
    text = total_size([size, product_size(dilation, window), dilation], (1, -1, 1))
    return text if step == 1 else f"len(range({text})[::{step}])"


def _with_windows(whole: Any, part: Any, *, dim: int, size: Any, step: int, dilation: int) -> Any:
    """A whole with the entries that windows cover replaced; the windows do not overlap."""
    back = {"dim": dim, "step": step, "dilation": dilation, "size": shape_of(whole)[dim]}
    covered = windows_sum_op(np.ones(part.shape, part.dtype), **back)
    return where_op(covered > 0, windows_sum_op(part, **back), whole)


windows_op: Op = primitive(
    "windows",
    kernels.windows,
    (
        lambda g, out, like, *, dim, size, step, dilation: windows_sum_op(
            g, dim=dim, step=step, dilation=dilation, size=shape_of(like)[dim]
        ),
    ),
    linear=True,
    infer=lambda shape, dim, size, step, dilation: (
        *shape[:dim],
        _window_count(shape[dim], size, step, dilation),
        *shape[dim + 1 :],
        size,
    ),
    size_params=("size",),
    view=True,
    put_back=_with_windows,
    node="Unfold",
    code=lambda x, dim, size, step, dilation: f"windows({x}, {dim}, {size}, {step}, {dilation})",
    digits="kernel",
    example=([1.0, 2.0, 3.0], {"dim": 0, "size": 2, "step": 1, "dilation": 1}),
    along=True,
    doc="Sliding windows along an axis; a new last axis runs inside them.",
)
windows_sum_op: Op = primitive(
    "windows_sum",
    kernels.windows_sum,
    (
        lambda g, out, like, *, dim, step, dilation, size: windows_op(
            g, dim=dim, size=shape_of(like)[-1], step=step, dilation=dilation
        ),
    ),
    linear=True,
    infer=lambda shape, dim, step, dilation, size: (*shape[:dim], size, *shape[dim + 1 : -1]),
    size_params=("size",),
    node="UnfoldBackward",
    code=lambda g, dim, step, dilation, size: f"windows_sum({g}, {dim}, {step}, {dilation}, {size})",
    digits="kernel",
    example=("matrix", {"dim": 0, "step": 1, "dilation": 1, "size": 3}),
    along=True,
    doc="Windows added back at their places: the transpose of windows.",
)


def windowed(x: Any, dim: int, size: int, step: int = 1, dilation: int = 1) -> Any:
    """Sliding windows along ``dim`` with a new last axis inside them."""
    have = shape_of(x)[dim]
    if (size - 1) * dilation + 1 > have:
        raise ShapeError(
            f"maximum size for tensor at dimension {dim} is {have} but size is {(size - 1) * dilation + 1}"
        )
    return windows_op(x, dim=dim, size=size, step=step, dilation=dilation)


@front("unfold", op=windows_op)
def unfold(input: Any, dimension: int, size: int, step: int) -> Any:
    """Windows of ``size`` entries along an axis, every ``step``-th, with a new last axis inside them."""
    if not shape_of(input):
        flat = reshape(input, 1)
        return getitem(flat, slice(0, size)) if size <= 1 else windowed(flat, 0, size, step)
    axis = axis_of(dimension, len(shape_of(input)))
    if size < 0:
        raise ShapeError(f"size is {size} but must be >= 0")
    if step < 1:
        raise ShapeError(f"step is {step} but must be > 0")
    if not size:
        kept = (shape_of(input)[axis] // step) + 1
        return movedim(getitem(input, (*(slice(None),) * axis, np.zeros((kept, 0), np.int64))), axis + 1, -1)
    return windowed(input, axis, size, step)

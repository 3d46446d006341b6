"""Entries picked along an axis by an array of places, their transpose, and one-hot encoding."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from symgrad import kernels
from symgrad.errors import ShapeError
from symgrad.op import Op, front, primitive, shape_of
from symgrad.ops.calls import fits
from symgrad.ops.indexing.getitem import getitem
from symgrad.ops.indexing.places import check_integers, check_places
from symgrad.ops.shapes.joining import narrow_op
from symgrad.ops.shapes.shaping import axis_of, reshape, shape_text

gather_op: Op = primitive(
    "gather",
    kernels.gather,
    (
        lambda g, out, like, index, *, dim: scatter_op(g, index, dim=dim, shape=shape_of(like)),
        None,
    ),
    linear=True,
    stacks=True,
    infer=lambda _, index, dim: index,
    result=lambda x, index, dim: x,
    code=lambda x, index, dim: f"np.take_along_axis({x}, {index}, {dim})",
    digits="kernel",
    example=("vector", [1, 1], {"dim": 0}),
    doc="Entries along an axis, picked by an index array.",
)


scatter_op: Op = primitive(
    "scatter_into",
    kernels.scatter,
    (lambda g, out, like, index, *, dim, shape: picked(g, index, dim), None),
    linear=True,
    infer=lambda g, index, dim, shape: tuple(shape),
    result=lambda g, index, dim, shape: g,
    size_params=("shape",),
    node="ScatterAdd",
    stacks=True,
    code=lambda g, index, dim, shape: f"scatter({g}, {index}, {dim}, {shape_text(shape)})",
    digits="kernel",
    example=("vector", [1, 1], {"dim": 0, "shape": (3,)}),
    doc="Zeros with values added along an axis by an index array: the transpose of gather.",
)


def picked(x: Any, index: Any, dim: int) -> Any:
    """Entries of ``x`` along ``dim`` at ``index``, whose other axes may be shorter: they are read from the start."""
    for axis, (have, wanted) in enumerate(zip(shape_of(x), shape_of(index), strict=True)):
        if axis != dim and have != wanted:
            x = narrow_op(x, dim=axis, start=0, length=wanted)
    return gather_op(x, index, dim=dim)


def take_along(x: Any, index: Any, dim: int) -> Any:
    """Entries of ``x`` along ``dim`` picked by ``index`` (NumPy's ``take_along_axis``)."""
    return gather_op(x, index, dim=axis_of(dim, len(shape_of(x))))


@front("gather", op=gather_op)
def gather(input: Any, dim: int, index: Any, *, sparse_grad: bool = False) -> Any:
    """Entries of ``input`` along ``dim`` picked by ``index``, which may be smaller in the other axes (as torch).

    ``index`` holds integers and has as many axes as ``input``; the result has its shape.  Gradients are dense, also
    where ``sparse_grad`` asks for others.
    """
    check_integers("gather", index)
    shape, sizes = shape_of(input), shape_of(index)
    if not shape or not sizes:
        axis_of(dim, max(len(shape), len(sizes)))
        if max(len(shape), len(sizes)) > 1 and math.prod(sizes):
            raise ShapeError("Index tensor must have the same number of dimensions as input tensor")
        return reshape(gather_op(reshape(input, -1), reshape(index, -1), dim=0), sizes)
    if len(sizes) != len(shape):
        if not math.prod(sizes):  # torch takes nothing from anywhere
            return getitem(reshape(input, -1), np.zeros(sizes, np.int64))
        raise ShapeError("Index tensor must have the same number of dimensions as input tensor")
    axis = axis_of(dim, len(shape))
    fits.gathered(shape, sizes, axis)
    check_places(index, input, axis)
    if [*sizes[:axis], *sizes[axis + 1 :]] != [*shape[:axis], *shape[axis + 1 :]]:
        input = getitem(input, tuple(slice(None) if k == axis else slice(0, n) for k, n in enumerate(sizes)))
    return gather_op(input, index, dim=axis)


one_hot_op: Op = primitive(
    "one_hot",
    kernels.one_hot,
    (None,),
    infer=lambda shape, classes, dtype: (*shape, classes),
    result=lambda _, classes, dtype: np.dtype(dtype),
    size_params=("classes",),
    domain="index",
    digits="kernel",
    example=([1, 0], {"classes": 3, "dtype": "int64"}),
    doc="A new last axis with a 1 at the index; no derivative.",
)

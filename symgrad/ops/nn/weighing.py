"""Sums of entries along an axis with constant weights, most of which are 0: what resampling and cells are made of."""

from __future__ import annotations

from typing import Any

import numpy as np

from symgrad import kernels
from symgrad.op import Op, primitive, sampling, shape_of
from symgrad.ops.indexing.getitem import index_select
from symgrad.ops.linalg.contraction import contract
from symgrad.ops.linalg.matrices import mH
from symgrad.ops.shapes.shaping import reshape


def _product(x: Any, weights: Any, dim: int) -> Any:
    """The product with a matrix (results, entries) along an axis."""
    labels, (*sizes,) = tuple(range(len(shape_of(x)))), shape_of(x)
    sizes[dim] = shape_of(weights)[0]
    return contract((x, weights), (labels, (99, dim)), tuple(99 if k == dim else k for k in labels), tuple(sizes))


weighed_op: Op = primitive(
    "weighed",
    kernels.weighed,
    (lambda g, out, likex, weights, *, dim: weighed_op(g, mH(weights), dim=dim), None),
    linear=True,
    infer=lambda x, weights, *, dim: (*x[:dim], weights[0], *x[dim + 1 :]),
    node="Mm",
    define=_product,
    expanded=True,
    example=("matrix", "matrix", {"dim": 1}),
    samples=[
        sampling.many(("real", "n", "m"), ("real", "p", "m"), dim=1),
        sampling.many(("real", "n", "m", "q"), ("real", "p", "n"), dim=0),
    ],
    doc="A constant matrix times the entries along an axis; what is not finite stays out where its weight is 0.",
)

_DENSE = 1 << 15
"""Entries of a matrix of weights up to which a product with it is as fast as a gather of what has weight."""


def weighed(x: Any, places: Any, weights: Any, axis: int) -> Any:
    """Sums of entries along an axis: entry i of the result has the ``weights[i]`` of what stands at ``places[i]``."""
    shape, (count, width) = tuple(shape_of(x)), places.shape
    if count * shape[axis] <= _DENSE:
        matrix = np.zeros((count, shape[axis]))
        np.add.at(matrix, (np.arange(count)[:, None], places), weights)
        return weighed_op(x, matrix.astype(x.dtype), dim=axis)
    places, weights = _shared(places, weights)
    near = reshape(index_select(x, axis, places.ravel()), *shape[:axis], count, width, *shape[axis + 1 :])
    labels = range(len(shape))
    out = tuple(99 if k == axis else k for k in labels)
    taken = (*out[:axis], 99, 98, *out[axis + 1 :])
    sizes = (*shape[:axis], count, *shape[axis + 1 :])
    return contract((near, weights.astype(x.dtype)), (taken, (99, 98)), out, sizes)


def _shared(places: Any, weights: Any) -> tuple[Any, Any]:
    """The same sums without weights of 0: what has the largest one in a row is named in their places, by shares."""
    best = np.argmax(np.abs(weights), 1)[:, None]
    parts = (weights == 0) | (np.arange(weights.shape[1]) == best)
    share = np.take_along_axis(weights, best, 1) / parts.sum(1, keepdims=True)
    return np.where(parts, np.take_along_axis(places, best, 1), places), np.where(parts, share, weights)

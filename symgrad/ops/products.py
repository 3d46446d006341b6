"""Products over axes, and the products of all other entries that are their derivatives; the identity matrix."""

from __future__ import annotations

from typing import Any

import numpy as np

from symgrad import kernels
from symgrad.dtypes import as_dtype
from symgrad.op import Op, front, primitive, shape_of
from symgrad.ops.arithmetic import clone
from symgrad.ops.complex import conj
from symgrad.ops.contraction import contract
from symgrad.ops.reductions import along, axes_of, cast, int_to_long, keep, reduce_code, reduced_shape, sum_op
from symgrad.ops.refusals import kind_of
from symgrad.ops.select import ne, where
from symgrad.ops.shaping import ones_like, reshape, unsqueeze_op

prod_others_op: Op = primitive(
    "prod_others",
    kernels.prod_others,
    (lambda g, out, x, *, dim: _prod_others_vjp(g, x, dim),),
    infer=lambda shape, dim: shape,
    domain="real",
    doc="Product of all other entries along an axis.",
)


def _prod_others_vjp(g: Any, x: Any, dim: int) -> Any:
    # out_i is the product of the row y_i with y_ij = 1 at j = i and x_j elsewhere.
    eye = identity_mask(x, dim)
    rows = where(eye, 1, unsqueeze_op(x, dim=dim))
    slopes = conj(prod_others_op(rows, dim=dim + 1)) * unsqueeze_op(g, dim=dim + 1)
    return sum_op(where(eye, 0, slopes), dim=(dim,), keepdim=False)


def identity_mask(x: Any, dim: int) -> Any:
    """Where i = j on the axes (dim, dim + 1) of ``x`` with the axis ``dim`` doubled; for every carrier, of any size."""
    labels, shape = tuple(range(len(shape_of(x)))), tuple(shape_of(x))
    doubled = (*labels[: dim + 1], *labels[dim:])
    return ne(contract((ones_like(x),), (labels,), doubled, (*shape[: dim + 1], *shape[dim:])), 0)


eye_op: Op = primitive(
    "eye",
    lambda *, n, dtype: np.eye(n, dtype=dtype),
    (),
    infer=lambda n, dtype: (n, n),
    result=lambda n, dtype: as_dtype(dtype),
    size_params=("n",),
    code=lambda n, dtype: f'np.eye({n}, dtype="{dtype}")',
    domain="real",
    doc="The identity matrix.",
)
prod_op: Op = primitive(
    "prod",
    lambda x, dim, keepdim: np.prod(x, dim, np.int64 if x.dtype.kind in "bui" else None, keepdims=keepdim),
    (lambda g, out, x, *, dim, keepdim: keep(g, (dim,), keepdim) * conj(prod_others_op(x, dim=dim)),),
    infer=lambda shape, dim, keepdim: reduced_shape(shape, dim=(dim,), keepdim=keepdim),
    result=int_to_long,
    domain="real",
    saves=(-1,),
    node=lambda shape, dim, keepdim: f"ProdBackward{int(keepdim or len(shape) > 1)}",
    code=reduce_code("np.prod"),
    doc="Product over an axis; right at zeros.",
)


@front("prod", op=prod_op)
def prod(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """Product over one axis, or over all entries."""
    if dtype is not None:
        input = cast(input, dtype)
    ndim = len(shape_of(input))
    if not ndim and kind_of(input) in "fc":
        axes_of(dim, 0)
        return clone(input)  # whose derivative does not depend on it
    if dim is None:
        flat = input if ndim == 1 else reshape(input, -1)
        return prod_op(flat, dim=0, keepdim=False)
    return along(prod_op, input, dim, keepdim=keepdim)

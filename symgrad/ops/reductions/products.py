"""Products over axes, and the products of all other entries that are their derivatives; the identity matrix."""

from __future__ import annotations

from typing import Any

import numpy as np

from symgrad import kernels
from symgrad.dtypes import as_dtype
from symgrad.op import Op, front, primitive, sampling, shape_of
from symgrad.ops.elementwise.arithmetic import clone
from symgrad.ops.elementwise.complex import conj
from symgrad.ops.elementwise.select import divided_where, ne, where
from symgrad.ops.linalg.contraction import contract
from symgrad.ops.reductions.sums import (
    along,
    axes_of,
    cast,
    int_to_long,
    keep,
    kept_whole,
    reduce_code,
    reduced_shape,
    sum_op,
)
from symgrad.ops.rules.refusals import kind_of
from symgrad.ops.shapes.shaping import ones_like, reshape, unsqueeze_op
from symgrad.precision import digits, halves

prod_others_op: Op = primitive(
    "prod_others",
    kernels.prod_others,
    (lambda g, out, x, *, dim: _prod_others_vjp(g, x, dim),),
    mixes="dim",
    digits=digits.prod_others,
    example=("vector", {"dim": 0}),
    samples=sampling.along(),
    doc="Product of all other entries along an axis.",
)


def _prod_others_vjp(g: Any, x: Any, dim: int) -> Any:
    # out_i is the product of the row y_i with y_ij = 1 at j = i and x_j elsewhere.
    eye = identity_mask(x, dim)
    rows = where(eye, 1, unsqueeze_op(x, dim=dim))
    slopes = conj(prod_others_op(rows, dim=dim + 1)) * unsqueeze_op(g, dim=dim + 1)
    return sum_op(where(eye, 0, slopes), dim=(dim,), keepdim=False)


QUOTIENTS = (
    "prod_divided", "prod_divided_twice", "cumprod_divided", "cumprod_moved", "cumprod_divided_twice", "det_divided",
    "det_divided_twice",
)  # fmt: skip
"""Ops whose last two operands are a product and its factors; formulas show what they are where it is that of them."""


def made_of(out: Any, op: str, x: Any, params: dict[str, Any]) -> bool:
    """Whether a formula ``out`` is ``op`` of ``x``, and no value of its own; or the same for each row of a Jacobian."""
    name = getattr(getattr(out, "op", None), "name", None)
    if name == "einsum" and "dim" in params and len(out.args) == 1 and out.params == getattr(x, "params", None):
        (row,), output = out.params["inputs"], out.params["output"]
        label = output[params["dim"]]
        if len(set(output)) == len(output) and label in row:
            return made_of(out.args[0], op, x.args[0], {**params, "dim": row.index(label)})
    return name == op and _original(out.args[0]) is _original(x) and out.params == params


def _original(x: Any) -> Any:
    """What a copy was made of: gradients that run once more, recorded, take copies of their operands."""
    while getattr(getattr(x, "op", None), "name", None) == "clone":
        x = x.args[0]
    return x


divisible_op: Op = primitive(
    "divisible",
    kernels.divisible,
    (None, None),
    infer=lambda out, x: (),
    result=lambda out, x: np.dtype(bool),
    digits=lambda mp, out, x: np.bool_(np.all(np.not_equal(x, 0))),
    samples=[sampling.many(("nonzero", "m"), ("nonzero", "n", "m"))],
    doc="Whether products may be divided by their factors: none is zero, none over- or underflowed; no derivative.",
)
prod_divided_op: Op = primitive(
    "prod_divided",
    kernels.prod_divided,
    (
        lambda g, slopes, out, x, *, dim, keepdim: _by_product(g, out, x, dim, keepdim),
        lambda g, slopes, out, x, *, dim, keepdim: prod_divided_twice_op(g, out, x, dim=dim, keepdim=keepdim),
    ),
    infer=lambda out, x, dim, keepdim: x,
    define=lambda out, x, *, dim, keepdim: _divided(out, x, dim, keepdim),
    expanded=True,
    mixes="dim",
    domain="nonzero",
    example=(6.0, "vector", {"dim": 0, "keepdim": False}),
    samples=[
        sampling.many(("nonzero", "m"), ("nonzero", "n", "m"), dim=0, keepdim=False),
        sampling.many(("nonzero", "n", 1), ("nonzero", "n", "m"), dim=1, keepdim=True),
    ],
    doc="A product over each of its factors, which is the product of the others; by these alone where one is zero.",
)


def _by_product(g: Any, out: Any, x: Any, dim: int, keepdim: bool) -> Any:
    return sum_op(divided_where(g, conj(x), divisible_op(out, x)), dim=(dim,), keepdim=keepdim)


def _divided(out: Any, x: Any, dim: int, keepdim: bool) -> Any:
    others = prod_others_op(x, dim=dim)
    if made_of(out, "prod", x, {"dim": dim, "keepdim": keepdim}):
        return others
    return where(divisible_op(out, x), keep(out, (dim,), keepdim) / x, others)


prod_divided_twice_op: Op = primitive(
    "prod_divided_twice",
    kernels.prod_divided_twice,
    (
        lambda h, twice, likeg, out, x, *, dim, keepdim: conj(
            prod_divided_twice_op(conj(h), out, x, dim=dim, keepdim=keepdim)
        ),
        lambda h, twice, g, out, x, *, dim, keepdim: (
            -_by_product(divided_where(conj(h) * g, conj(x), divisible_op(out, x)), out, x, dim, keepdim)
        ),
        lambda h, twice, g, out, x, *, dim, keepdim: _twice_by_factors(h, twice, g, out, x, dim),
    ),
    infer=lambda g, out, x, dim, keepdim: x,
    define=lambda g, out, x, *, dim, keepdim: _divided_twice(g, out, x, dim, keepdim),
    expanded=True,
    mixes="dim",
    stacks="shared",  # as divisible_op does
    domain="nonzero",
    example=("vector", 6.0, "vector", {"dim": 0, "keepdim": False}),
    samples=[
        sampling.small(
            sampling.many(("nonzero", "n", "m"), ("nonzero", "m"), ("nonzero", "n", "m"), dim=0, keepdim=False)
        ),
        sampling.small(
            sampling.many(("nonzero", "n", "m"), ("nonzero", "n", 1), ("nonzero", "n", "m"), dim=1, keepdim=True)
        ),
    ],
    doc="The pullback of a product over each of its factors to these, where the product is a value of its own.",
)


def _twice_by_factors(h: Any, twice: Any, g: Any, out: Any, x: Any, dim: int) -> Any:
    divisible = divisible_op(out, x)
    return where(divisible, -2 * conj(divided_where(h, x, divisible)) * twice, _others_twice(h, g, x, dim))


def _others_twice(h: Any, g: Any, x: Any, dim: int) -> Any:
    # The pullback of the pullback of the products of all others, in which every row is one of its own.
    eye = identity_mask(x, dim)
    rows = where(eye, 1, unsqueeze_op(x, dim=dim))
    cotangents = where(eye, 0, conj(unsqueeze_op(h, dim=dim)) * unsqueeze_op(g, dim=dim + 1))
    return sum_op(where(eye, 0, _prod_others_vjp(cotangents, rows, dim + 1)), dim=(dim,), keepdim=False)


def _divided_twice(g: Any, out: Any, x: Any, dim: int, keepdim: bool) -> Any:
    undivided = _prod_others_vjp(g, x, dim)
    if made_of(out, "prod", x, {"dim": dim, "keepdim": keepdim}):
        # Both ways to the factors make up the derivative of the products of others: without that by the product.
        by_product = keep(_by_product(g, out, x, dim, keepdim), (dim,), keepdim)
        return undivided - by_product * conj(prod_others_op(x, dim=dim))
    return where(divisible_op(out, x), -g * conj(keep(out, (dim,), keepdim) / (x * x)), undivided)


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
    code=lambda n, dtype: f"np.eye({n})" if dtype == "float64" else f'np.eye({n}, dtype="{dtype}")',
    digits=lambda mp, n, dtype: np.eye(n, dtype=int),
    example=({"n": 2, "dtype": "float64"},),
    samples=[lambda make: ((), {"n": make.size("n"), "dtype": make.dtype.name})],
    doc="The identity matrix.",
)
arange_op: Op = primitive(
    "arange",
    lambda *, n, dtype: np.arange(n, dtype=dtype),
    (),
    infer=lambda n, dtype: (n,),
    result=lambda n, dtype: as_dtype(dtype),
    size_params=("n",),
    code=lambda n, dtype: f'np.arange({n}, dtype="{dtype}")',
    domain="index",
    digits=lambda mp, n, dtype: np.arange(n),
    example=({"n": 3, "dtype": "int64"},),
    samples=[lambda make: ((), {"n": make.size("n"), "dtype": "int64"})],
    doc="The whole numbers from 0 on: the places along an axis.",
)
prod_op: Op = primitive(
    "prod",
    lambda x, dim, keepdim: np.multiply.reduce(x, dim, np.int64 if x.dtype.kind in "bui" else None, keepdims=keepdim),
    (
        lambda g, out, x, *, dim, keepdim: (
            keep(g, (dim,), keepdim) * conj(prod_divided_op(out, x, dim=dim, keepdim=keepdim))
        ),
    ),
    half=halves.prod,
    infer=lambda shape, dim, keepdim: reduced_shape(shape, dim=(dim,), keepdim=keepdim),
    result=int_to_long,
    mixes="dim",
    node=lambda shape, dim, keepdim: f"ProdBackward{int(keepdim or len(shape) > 1)}",
    code=reduce_code("np.prod"),
    digits="kernel",
    overflows=True,
    example=("vector", {"dim": 0, "keepdim": False}),
    samples=[sampling.one("real", "n", "m", dim=0, keepdim=False), sampling.one("real", "n", "m", dim=1, keepdim=True)],
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
        return kept_whole(prod_op(flat, dim=0, keepdim=False), dtype)
    return kept_whole(along(prod_op, input, dim, keepdim=keepdim), dtype)

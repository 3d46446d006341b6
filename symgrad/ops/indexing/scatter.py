"""Writing by index: scatter, index_add, index_put, masked_fill and their relatives.

``scatter`` and ``scatter_combine`` have rules; the rest are plain functions of them and of the ops in ``indexing``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from symgrad import kernels
from symgrad.dtypes import as_python_number, torch_name
from symgrad.errors import ArgumentError, DtypeError, OutOfBounds, ShapeError
from symgrad.notices import notice_once
from symgrad.op import Op, broadcast_shapes, front, primitive, refusal, shape_of
from symgrad.ops.calls.naming import inplace
from symgrad.ops.calls.still import decided_by
from symgrad.ops.elementwise.arithmetic import div_rounded, static_number
from symgrad.ops.elementwise.complex import conj
from symgrad.ops.elementwise.select import eq, ne, where, where_op
from symgrad.ops.indexing.gathering import gather_op, picked, scatter_op
from symgrad.ops.indexing.getitem import getitem, index_put_op, indexed_shape, put_op, static_index
from symgrad.ops.indexing.places import (
    check_integers,
    check_mask,
    check_number,
    check_places,
    check_same_dtype,
    check_scatter,
    fitted,
)
from symgrad.ops.reductions.products import identity_mask
from symgrad.ops.reductions.sums import cast, cast_op, sum_op
from symgrad.ops.rules.refusals import kind_of
from symgrad.ops.shapes.shaping import (
    axis_of,
    expand_op,
    in_rows,
    movedim,
    ones_like,
    reshape,
    spread,
    unsqueeze_op,
    zeros_like,
)

inplace(
    "scatter", "scatter_add", "scatter_reduce", "index_add", "index_copy", "index_fill", "index_reduce", "index_put",
    "masked_fill", "masked_scatter", "put", "tril", "triu",
)  # fmt: skip


scatter_set_op: Op = primitive(
    "scatter",
    kernels.scatter_set,
    (
        lambda g, out, likex, likes, index, *, dim: scatter_set_op(g, 0, index, dim=dim),
        lambda g, out, likex, likes, index, *, dim: picked(g, index, dim),
        None,
    ),
    jvp=(
        lambda t, out, likex, likes, index, *, dim: scatter_set_op(t, 0, index, dim=dim),
        lambda t, out, likex, likes, index, *, dim: scatter_set_op(zeros_like(likex), t, index, dim=dim),
        None,
    ),
    stacks=True,
    result=lambda x, src, index, dim: x,
    code=lambda x, src, index, dim: f"scatter_set({x}, {src}, {index}, {dim})",
    digits="kernel",
    example=("vector", [9.0], [1], {"dim": 0}),
    doc="A copy with values written along an axis by an index array.",
)


scatter_plus_op: Op = primitive(
    "scatter_plus",
    kernels.scatter_plus,
    (
        lambda g, out, likex, likes, index, *, dim: g,
        lambda g, out, likex, likes, index, *, dim: picked(g, index, dim),
        None,
    ),
    jvp=(
        lambda t, out, likex, likes, index, *, dim: t,
        lambda t, out, likex, likes, index, *, dim: scatter_op(t, index, dim=dim, shape=shape_of(likex)),
        None,
    ),
    result=lambda x, src, index, dim: x,
    define=lambda x, src, index, *, dim: x + scatter_op(src, index, dim=dim, shape=shape_of(x)),
    spelled=True,
    example=("vector", [9.0], [1], {"dim": 0}),
    stacks=True,
    doc="A copy with values added along an axis by an index array, one after the other, as torch rounds.",
)


def _share(g: Any, out: Any, x: Any, src: Any, index: Any, dim: int, include_self: bool) -> tuple[Any, Any, Any]:
    """Where the extreme was reached, by itself and by sources, and the cotangent of one of those that share it."""
    mine = eq(x, out)
    if not include_self:
        mine = scatter_set_op(mine, np.bool_(False), index, dim=dim)
    theirs = eq(src, picked(out, index, dim))
    ties = scatter_op(cast_op(theirs, dtype=g.dtype.name), index, dim=dim, shape=shape_of(x)) + mine
    # Entries nobody wrote to keep their own value, which is a tie of one.
    return mine, theirs, g / where(eq(ties, 0), 1, ties)


def _others_self(g: Any, out: Any, likex: Any, src: Any, index: Any, *, dim: int, include_self: bool) -> Any:
    if not include_self:
        return zeros_like(likex)
    rest = scatter_others_op(ones_like(likex), src, index, dim=dim, include_self=True)
    return scatter_op(g * conj(rest), index, dim=dim, shape=shape_of(likex))


def _each_left_out(h: Any, g: Any, x: Any, src: Any, index: Any, dim: int) -> tuple[Any, Any, Any, Any, Any]:
    # Product i of all else has 1 for source i, and a row of its own: its cotangents, self, sources and places.
    eye = identity_mask(src, dim)
    count = shape_of(src)[dim]
    rows = where(eye, 1, unsqueeze_op(src, dim=dim))
    wide = expand_op(unsqueeze_op(x, dim=dim), shape=(*shape_of(x)[:dim], count, *shape_of(x)[dim:]))
    places = expand_op(unsqueeze_op(index, dim=dim), shape=shape_of(rows))
    apart = eye | ne(places, unsqueeze_op(index, dim=dim + 1))
    cotangents = where(apart, 0, unsqueeze_op(conj(h), dim=dim + 1) * unsqueeze_op(g, dim=dim))
    return cotangents, wide, rows, places, eye


def _twice_self(h: Any, out: Any, g: Any, x: Any, src: Any, index: Any, *, dim: int, include_self: bool) -> Any:
    given, wide, rows, places, _ = _each_left_out(h, g, x, src, index, dim)
    by_row = _others_self(given, None, wide, rows, places, dim=dim + 1, include_self=include_self)
    return sum_op(by_row, dim=(dim,), keepdim=False)


def _twice_source(h: Any, out: Any, g: Any, x: Any, src: Any, index: Any, *, dim: int, include_self: bool) -> Any:
    given, wide, rows, places, eye = _each_left_out(h, g, x, src, index, dim)
    by_row = scatter_others_twice_op(given, wide, rows, places, dim=dim + 1, include_self=include_self)
    return sum_op(where(eye, 0, by_row), dim=(dim,), keepdim=False)


scatter_others_twice_op: Op = primitive(
    "scatter_others_twice",
    kernels.scatter_others_twice,
    (
        lambda h, out, likeg, x, src, index, **params: conj(scatter_others_twice_op(conj(h), x, src, index, **params)),
        _twice_self,
        _twice_source,
        None,
    ),
    infer=lambda g, x, src, index, **_: src,
    result=lambda g, x, src, index, **_: src,
    mixes="dim",
    digits="kernel",
    example=([1.0, 3.0], "vector", [9.0, 2.0], [1, 1], {"dim": 0, "include_self": True}),
    doc="The pullback of the products of all else to the sources, without a row for each; right at zeros.",
)
scatter_others_op: Op = primitive(
    "scatter_others",
    kernels.scatter_others,
    (
        _others_self,
        lambda g, out, x, src, index, **params: scatter_others_twice_op(g, x, src, index, **params),
        None,
    ),
    infer=lambda x, src, index, **_: src,
    result=lambda x, src, index, **_: src,
    mixes="dim",
    digits="kernel",
    example=("vector", [9.0, 2.0], [1, 1], {"dim": 0, "include_self": True}),
    doc="For every source of a scattered product the product of all else at its place; right at zeros.",
)


def _combine_self(g: Any, out: Any, x: Any, src: Any, index: Any, *, dim: int, reduce: str, include_self: bool) -> Any:
    if reduce != "prod":
        mine, _, share = _share(g, out, x, src, index, dim, include_self)
        return where(mine, share, 0)
    ones = where(eq(x, 0), 1, x)
    rest = conj(scatter_combine_op(ones, src, index, dim=dim, reduce=reduce, include_self=include_self) / ones)
    return g * rest if include_self else scatter_set_op(g * rest, 0, index, dim=dim)


def _combine_source(
    g: Any, out: Any, x: Any, src: Any, index: Any, *, dim: int, reduce: str, include_self: bool
) -> Any:
    if reduce != "prod":
        _, theirs, share = _share(g, out, x, src, index, dim, include_self)
        return where(theirs, picked(share, index, dim), 0)
    return picked(g, index, dim) * conj(scatter_others_op(x, src, index, dim=dim, include_self=include_self))


scatter_combine_op: Op = primitive(
    "scatter_combine",
    kernels.scatter_combine,
    (_combine_self, _combine_source, None),
    infer=lambda x, src, index, **_: x,
    result=lambda x, src, index, **_: x,
    node="ScatterReduce",
    mixes="dim",
    kinks=("ties",),
    digits="kernel",
    example=("vector", [9.0], [1], {"dim": 0, "reduce": "amax", "include_self": True}),
    doc="A copy with values combined in along an axis by an index array: amax, amin or prod; ties share the gradient.",
)


def _like_source(x: Any, src: Any) -> Any:
    """A source in the dtype of what it is written to; numbers too, where that is no floating one."""
    src = as_python_number(src) if isinstance(src, np.generic) else src
    if isinstance(src, (int, float, complex)) and x.dtype is not None and x.dtype.kind in "bui":
        src = fitted(src, x.dtype)
        return bool(src) if x.dtype.kind == "b" else int(np.asarray(int(src)).astype(x.dtype))
    return src if not hasattr(src, "dtype") or src.dtype == x.dtype else cast(src, x.dtype)


def _indexed(input: Any, dim: int, index: Any, src: Any) -> tuple[Any, int, Any, Any]:
    """Arguments of a scatter as torch reads them: 0-d as 1-d, and the source cut to the size of the index."""
    check_integers("scatter", index)
    check_same_dtype("scatter", input, src)
    axis = axis_of(dim, len(shape_of(input)))
    check_scatter(input, axis, index, src)
    if not shape_of(input):
        input = reshape(input, 1)
    check_places(index, input, axis)
    if not shape_of(index):
        index = reshape(index, 1)
    if hasattr(src, "dtype") or isinstance(src, (list, tuple)):
        src = _like_source(input, src)
        sizes = shape_of(index)
        if shape_of(src) and shape_of(src) != sizes:
            src = getitem(src, tuple(slice(0, n) for n in sizes))
        elif not shape_of(src):
            src = spread(src, sizes)
    return input, axis, index, src


def _like(input: Any, out: Any) -> Any:
    return out if shape_of(input) else reshape(out, ())


@front("scatter", op=scatter_set_op)
def scatter(input: Any, dim: int, index: Any, src: Any = None, *, value: Any = None, reduce: str | None = None) -> Any:
    """``input`` with ``src`` (or one ``value``) written along ``dim`` at ``index``; ``reduce`` "add" or "multiply"."""
    given = value if src is None else src
    if reduce is not None:
        name = {"add": "sum", "multiply": "prod"}.get(reduce)
        if name is None:
            raise ArgumentError("reduce argument must be either add or multiply.")
        if src is not None:
            notice_once(
                "The reduce argument of torch.scatter with Tensor src is deprecated and will be removed in a future "
                "PyTorch release. Use torch.scatter_reduce instead for more reduction options."
            )
        if not hasattr(given, "shape"):
            given = np.full(shape_of(index), given, input.dtype)
        elif src is None:
            given = given * np.ones(shape_of(index), input.dtype)
        return scatter_reduce(input, dim, index, given, name)
    x, axis, places, written = _indexed(input, dim, index, given)
    return _like(input, scatter_set_op(x, written, places, dim=axis))


@front("scatter_add")
def scatter_add(input: Any, dim: int, index: Any, src: Any) -> Any:
    """``input`` with ``src`` added along ``dim`` at ``index``; repeated places add up."""
    x, axis, places, added = _indexed(input, dim, index, src)
    return _like(input, scatter_plus_op(x, added, places, dim=axis))


@front("scatter_reduce")
def scatter_reduce(input: Any, dim: int, index: Any, src: Any, reduce: str, *, include_self: bool = True) -> Any:
    """``input`` combined with ``src`` along ``dim`` at ``index``: "sum", "mean", "prod", "amax" or "amin".

    Without ``include_self`` the entries written to do not count themselves.
    """
    x, axis, places, added = _indexed(input, dim, index, src)
    if reduce in ("amax", "amin") and kind_of(x) == "c":
        raise refusal("scatter_reduce", f"scatter_gather_tensor_cpu_reduce_{reduce}", x.dtype)
    if reduce in ("amax", "amin", "prod"):
        out = scatter_combine_op(x, added, places, dim=axis, reduce=reduce, include_self=include_self)
        return _like(input, out)
    if reduce not in ("sum", "mean"):
        raise ArgumentError(f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}")
    kept = x if include_self else scatter_set_op(x, 0, places, dim=axis)
    total = scatter_plus_op(kept, added, places, dim=axis)
    if reduce == "mean":
        count = scatter_op(ones_like(added), places, dim=axis, shape=shape_of(x)) + (
            1 if include_self else scatter_set_op(ones_like(x), 0, places, dim=axis)
        )
        total = div_rounded(total, count, rounding_mode="floor") if kind_of(x) in "ui" else total / count
    return _like(input, total)


def _along(index: Any, src_shape: tuple[Any, ...], dim: int) -> Any:
    """A vector of places along ``dim`` as an index array of the source's shape."""
    flat = reshape(index, *(1,) * dim, -1, *(1,) * (len(src_shape) - dim - 1))
    return spread(flat, src_shape)


def _vector_form(input: Any, dim: int, index: Any, source: Any) -> tuple[Any, int, Any, Any]:
    x = input if shape_of(input) else reshape(input, 1)
    axis = axis_of(dim, len(shape_of(x)))
    places = index if shape_of(index) else reshape(index, 1)
    check_places(places, x, axis)
    if len(shape_of(source)) < len(shape_of(x)):
        source = reshape(source, *(1,) * (len(shape_of(x)) - len(shape_of(source))), *shape_of(source))
    return x, axis, _along(places, shape_of(source), axis), _like_source(x, source)


def _check_slices(name: str, input: Any, dim: int, index: Any, source: Any, error: type[Exception]) -> None:
    """Raise torch's errors for slices that are not as many as the places, or not of the shape of those they go to."""
    kind = getattr(getattr(index, "dtype", None), "kind", "i")
    if kind not in "iu":
        raise DtypeError(f"{name}(): Expected a long tensor for index, but got {torch_name(index.dtype)}")
    if len(shape_of(index)) > 1:
        raise OutOfBounds(f"{name}(): Index should have dimension 1 or 0 (got {len(shape_of(index))})")
    to, of, count = shape_of(input), shape_of(source), int(np.prod(shape_of(index)))
    if not all(isinstance(size, int) for size in (*to, *of)):
        return
    axis = axis_of(dim, max(len(to), 1))
    slices = of[axis] if of else 1
    if slices != count:
        raise error(
            f"{name}(): Number of indices ({count}) should be equal to source.size(dim): ({slices}), for dim: {axis}"
        )
    if to[:axis] + to[axis + 1 :] != of[:axis] + of[axis + 1 :] or (len(to) > 1 and len(to) != len(of)):
        raise ShapeError(
            f"{name}(): source tensor shape must match self tensor shape, excluding the specified dimension. Got "
            f"self.shape = {list(to)} source.shape = {list(of)}"
        )


@front("index_add")
def index_add(input: Any, dim: int, index: Any, source: Any, *, alpha: Any = 1) -> Any:
    """``input`` with ``alpha`` times the slices of ``source`` added to its slices ``index`` of the axis ``dim``."""
    _check_slices("index_add_", input, dim, index, source, ShapeError)
    check_same_dtype("index_add_", input, source)
    if static_number(alpha) != 1:
        source = source * (np.asarray(alpha).astype(source.dtype) if kind_of(source) in "bui" else alpha)
    x, axis, places, added = _vector_form(input, dim, index, source)
    return _like(input, scatter_plus_op(x, added, places, dim=axis))


@front("index_copy")
def index_copy(input: Any, dim: int, index: Any, source: Any) -> Any:
    """``input`` with its slices ``index`` of the axis ``dim`` replaced by those of ``source``."""
    _check_slices("index_copy_", input, dim, index, source, OutOfBounds)
    check_same_dtype("index_copy_", input, source)
    x, axis, places, written = _vector_form(input, dim, index, source)
    return _like(input, scatter_set_op(x, written, places, dim=axis))


@front("index_fill")
def index_fill(input: Any, dim: int, index: Any, value: Any) -> Any:
    """``input`` with its slices ``index`` of the axis ``dim`` filled with one value."""
    if (isinstance(value, complex) or kind_of(value) == "c") and kind_of(input) != "c":
        raise DtypeError("index_fill_(): Converting complex Scalar to non-complex type is not supported")
    check_number("index_fill_", value, input.dtype)
    if len(shape_of(index)) > 1:
        raise ShapeError("Index has to be a vector/scalar")
    x = input if shape_of(input) else reshape(input, 1)
    axis = axis_of(dim, len(shape_of(x)))
    places = reshape(index if hasattr(index, "dtype") else np.asarray(index), -1)
    sizes = [math.prod(shape_of(places)) if k == axis else n for k, n in enumerate(shape_of(x))]
    if 0 in sizes:
        return input
    if shape_of(x)[axis] == 0:
        raise ShapeError(
            f"setStorage: sizes {sizes} are out of bounds for storage of size 0: there is nothing to fill."
        )
    # A place that stands there twice is filled once, so the value's gradient counts it once.
    part, operands = static_index(places).parted()
    filled = put_op(eq(places, places), *operands, index=part, shape=shape_of(x)[axis : axis + 1])
    rows = reshape(filled, *(1,) * axis, -1, *(1,) * (len(shape_of(x)) - axis - 1))
    return _like(input, where_op(rows, _like_source(x, value), x))


@front("index_reduce")
def index_reduce(input: Any, dim: int, index: Any, source: Any, reduce: str, *, include_self: bool = True) -> Any:
    """``input`` combined ("prod", "mean", "amax", "amin") with the slices of ``source`` at ``index`` of an axis."""
    if reduce not in ("prod", "mean", "amax", "amin"):
        raise ArgumentError(f"index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got {reduce}.")
    check_same_dtype("index_reduce_", input, source)
    x, axis, places, added = _vector_form(input, dim, index, source)
    return _like(input, scatter_reduce(x, axis, places, added, reduce, include_self=include_self))


# ------------------------------------------------------------------------------------------ static indices


@front("index_put")
def index_put(input: Any, indices: Sequence[Any], values: Any, accumulate: bool = False) -> Any:
    """``input`` with ``values`` written at ``indices`` (a tuple, one per axis), or added to what is there."""
    index, places = static_index(tuple(slice(None) if i is None else i for i in indices)).parted()
    dtypes = [getattr(x, "dtype", None) for x in (input, values)]
    if all(d is not None for d in dtypes) and dtypes[0] != dtypes[1] and not isinstance(values, np.generic):
        ours, its = map(torch_name, dtypes)  # type: ignore[arg-type]
        raise DtypeError(
            f"Index put requires the source and destination dtypes match, got {ours} for the destination and {its} for "
            "the source."
        )
    value = _like_source(input, values)
    if not accumulate:
        return index_put_op(input, value, *places, index=index)
    shape = indexed_shape(shape_of(input), *map(shape_of, places), index=index)
    return input + put_op(spread(value, shape), *places, index=index, shape=shape_of(input))


@front("masked_fill")
def masked_fill(input: Any, mask: Any, value: Any) -> Any:
    """``value`` where ``mask`` holds, ``input`` elsewhere."""
    check_mask("masked_fill", mask)
    check_number("masked_fill_", value, input.dtype)
    return in_rows(where_op(mask, _like_source(input, value), input))


@front("masked_scatter")
def masked_scatter(input: Any, mask: Any, source: Any) -> Any:
    """``input`` with the entries where ``mask`` holds replaced by those of ``source``, in order."""
    check_mask("masked_scatter_", mask)
    shape = broadcast_shapes(tuple(shape_of(input)), tuple(shape_of(mask)))
    here = np.broadcast_to(decided_by(mask), shape)
    if input.dtype != source.dtype:
        raise DtypeError(
            "masked_scatter: expected self and source to have same dtypes but got "
            f"{torch_name(input.dtype)} and {torch_name(source.dtype)}"
        )
    count = int(here.sum())
    flat = reshape(source, -1)
    if shape_of(flat)[0] < count:
        raise ShapeError(f"masked_scatter: the mask holds at {count} places, but the source has {shape_of(flat)[0]}.")
    return in_rows(index_put_op(spread(input, shape), getitem(flat, slice(0, count)), index=static_index(here)))


@front("put", method=True)
def put(input: Any, index: Any, source: Any, accumulate: bool = False) -> Any:
    """``input`` with ``source`` written at flat places ``index``, or added to what is there."""
    check_integers("put_", index)
    check_same_dtype("put_", input, source)
    flat = reshape(input, -1)
    places, values = reshape(index if hasattr(index, "dtype") else np.asarray(index), -1), reshape(source, -1)
    if math.prod(shape_of(places)) != math.prod(shape_of(source)):
        raise OutOfBounds(
            "put_(): Expected source and index to have the same number of elements, but got source.numel() = "
            f"{math.prod(shape_of(source))}, index.numel() = {math.prod(shape_of(places))}"
        )
    return reshape(index_put(flat, (places,), values, accumulate), shape_of(input))


@front("take")
def take(input: Any, index: Any) -> Any:
    """Entries at flat places, in the shape of ``index``."""
    check_integers("take", index)
    return getitem(reshape(input, -1), index if hasattr(index, "dtype") else np.asarray(index))


@front("take_along_dim")
def take_along_dim(input: Any, indices: Any, dim: int | None = None) -> Any:
    """Entries along ``dim`` picked by ``indices``, which broadcasts against the other axes."""
    if getattr(indices, "dtype", np.dtype(int)).kind not in "iu":
        raise DtypeError(f"torch.take_along_dim(): dtype of indices should be Long but got {torch_name(indices.dtype)}")
    if dim is None:
        return gather_op(reshape(input, -1), reshape(indices, -1), dim=0)
    old, places = tuple(shape_of(input)), tuple(shape_of(indices))
    if len(old) != len(places):
        raise ShapeError(
            "torch.take_along_dim(): input and indices should have the same number of dimensions, but got "
            f"{len(old)} dimensions for input, and {len(places)} dimensions for indices"
        )
    axis = axis_of(dim, len(old))
    common = broadcast_shapes((*old[:axis], *old[axis + 1 :]), (*places[:axis], *places[axis + 1 :]))
    wide = spread(input, (*common[:axis], old[axis], *common[axis:]))
    return gather_op(wide, spread(indices, (*common[:axis], places[axis], *common[axis:])), dim=axis)


def _within(axis: int, part: Any) -> tuple[Any, ...]:
    return (*(slice(None),) * axis, part)


def _fills(src: Any, size: list[Any]) -> None:
    """Raise torch's error where ``src`` is not of the shape of what it replaces: nothing is repeated for it."""
    have = list(shape_of(src))
    if hasattr(src, "dtype") and have != size and all(isinstance(n, int) for n in (*have, *size)):
        raise ShapeError(
            f"expected src to have a size equal to the slice of self. src size = {have}, slice size = {size}"
        )


@front("select_scatter")
def select_scatter(input: Any, src: Any, dim: int, index: int) -> Any:
    """``input`` with the entry ``index`` of the axis ``dim`` replaced by ``src``."""
    shape = shape_of(input)
    axis = axis_of(dim, len(shape))
    _fills(src, [*shape[:axis], *shape[axis + 1 :]])
    return index_put_op(input, src, index=static_index(_within(axis, index)))


@front("slice_scatter")
def slice_scatter(
    input: Any, src: Any, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1
) -> Any:
    """``input`` with a range of the axis ``dim`` replaced by ``src``."""
    shape = shape_of(input)
    axis = axis_of(dim, len(shape))
    if isinstance(shape[axis], int):
        size = [*shape[:axis], len(range(shape[axis])[slice(start, end, step)]), *shape[axis + 1 :]]
        _fills(src, size)
    return index_put_op(input, src, index=static_index(_within(axis, slice(start, end, step))))


@front("diagonal_scatter")
def diagonal_scatter(input: Any, src: Any, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
    """``input`` with a diagonal of two axes replaced by ``src``."""
    shape = shape_of(input)
    a, b = axis_of(dim1, len(shape)), axis_of(dim2, len(shape))
    if a == b:
        raise ShapeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    rows = np.arange(max(0, min(shape[a] + min(offset, 0), shape[b] - max(offset, 0))))
    index: list[Any] = [slice(None)] * len(shape)
    index[a], index[b] = rows + max(-offset, 0), rows + max(offset, 0)
    # Places of two axes stand where these do if they are neighbours, else in front; in src they come last.
    at = min(a, b) if abs(a - b) == 1 else 0
    _fills(src, [*(shape[k] for k in range(len(shape)) if k not in (a, b)), len(rows)])
    return index_put_op(input, movedim(src, -1, at), index=static_index(tuple(index)))


@front("fill")
def fill(input: Any, value: Any) -> Any:
    """One value in the shape and dtype of ``input``; the gradient of ``input`` is zero."""
    if axes := len(shape_of(value)):
        raise ShapeError(f"fill_ only supports 0-dimension value tensor but got tensor with {axes} dimensions.")
    return where_op(np.zeros(shape_of(input), bool), input, _like_source(input, value))

"""Order: sort, topk, median, quantiles, running extremes.

The order itself is an integer array without derivative; values are gathered by it, so gradients go to the entries
that were picked, as in torch.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from symgrad import kernels
from symgrad.dtypes import is_floating, torch_name
from symgrad.errors import ArgumentError, AutogradError, DtypeError, ShapeError
from symgrad.op import Op, fixed_length, front, is_complex, known_as, primitive, refusal, refusing, sampling, shape_of
from symgrad.ops.calls.results import Named, named
from symgrad.ops.calls.still import decided_by, recorded, values_of
from symgrad.ops.elementwise.arithmetic import clone
from symgrad.ops.elementwise.complex import real
from symgrad.ops.elementwise.select import isnan, where
from symgrad.ops.elementwise.smooth import ceil, floor, round_
from symgrad.ops.indexing.gathering import gather_op
from symgrad.ops.reductions.extremes import amax, amin, check_entries, shared_by_ties
from symgrad.ops.reductions.sums import sum_op
from symgrad.ops.shapes.shaping import axis_of, movedim, reshape, squeeze, unsqueeze
from symgrad.ops.torch_nodes.rewrites import rewritten
from symgrad.precision import digits

_LONG = np.dtype(np.int64)


def _order(
    name: str,
    kernel: Any,
    doc: str,
    samples: list[Any],
    refuses: Any = "c",
    infer: Any = lambda shape, **_: shape,
    size_params: tuple[str, ...] | None = None,
    **example: Any,
) -> Any:
    return primitive(
        name,
        kernel,
        (None,),
        infer=infer,
        size_params=size_params,
        result=lambda *_, **__: _LONG,
        refuses=refuses,
        digits="order",
        example=("vector", {"dim": 0, **example}),
        samples=samples,
        stacks=True,
        doc=doc,
    )


argsort_op = _order(
    "argsort",
    kernels.argsort,
    "The places that sort an axis; nan counts as largest.",
    refuses={"c": "Sort does not support complex dtypes on CPU"},
    descending=False,
    samples=sampling.along(descending=False),
)
argkth_op = _order(
    "argkth",
    kernels.argkth,
    "The place of the k-th smallest entry of an axis, which stays with size 1; nan counts as largest.",
    infer=lambda shape, dim, k: (*shape[:dim], 1, *shape[dim + 1 :]),
    size_params=("k",),
    k=2,
    samples=sampling.along(k=2),
)
argmode_op = _order(
    "argmode",
    kernels.argmode,
    "The place of the commonest entry of an axis, which stays with size 1: the last of those, of the smallest on ties.",
    infer=lambda shape, dim: (*shape[:dim], 1, *shape[dim + 1 :]),
    samples=sampling.along(),
)
argtop_op = _order(
    "argtop",
    kernels.argtop,
    "The places of the k largest or smallest entries of an axis, in order; nan counts as largest.",
    infer=lambda shape, dim, k, largest: (*shape[:dim], k, *shape[dim + 1 :]),
    size_params=("k",),
    k=2,
    largest=True,
    samples=sampling.along(k=2, largest=True),
)
argcummax_op = _order(
    "argcummax",
    kernels.argcummax,
    "Places of the running maximum; the last of equal ones.",
    refuses={"c": "cummax_cpu"},
    samples=sampling.along(),
)
argcummin_op = _order(
    "argcummin",
    kernels.argcummin,
    "Places of the running minimum; the last of equal ones.",
    refuses={"c": "cummin_cpu"},
    samples=sampling.along(),
)


def _at(name: str, input: Any, indices: Any, dim: int, keepdim: bool) -> Named:
    """The pair (values, indices) of one picked entry per row."""
    values = gather_op(input, indices, dim=dim)
    if isinstance(indices, np.ndarray) and hasattr(input, "new_tensor"):
        indices = input.new_tensor(indices, dtype=indices.dtype)
    parts = (values, indices) if keepdim else (squeeze(values, dim), squeeze(indices, dim))
    return named(name)(parts)


@front("argsort", op=argsort_op)
def argsort(input: Any, dim: int = -1, descending: bool = False, stable: bool = False) -> Any:
    """The places that sort an axis."""
    x = input if shape_of(input) else reshape(input, 1)
    out = argsort_op(x, dim=axis_of(dim, len(shape_of(x))), descending=descending)
    return out if shape_of(input) else reshape(out, ())


@front("sort")
def sort(input: Any, dim: int = -1, descending: bool = False, stable: bool | None = False) -> Named:
    """Sorted values along ``dim`` and the places they came from.

    ``dim`` is one of its axes (``IndexError`` otherwise); the places are int64, and nan counts as largest.
    """
    if not shape_of(input):
        return named("sort")((clone(input), argsort(input)))
    indices = argsort(input, dim, descending)
    return named("sort")((gather_op(input, indices, dim=axis_of(dim, len(shape_of(input)))), indices))


@front("msort")
def msort(input: Any) -> Any:
    """Sorted along the first axis."""
    return sort(input, 0)[0]


@front("topk")
@refusing({"b": "topk does not support bool dtypes on CPU", "c": "topk does not support complex dtypes on CPU"})
def topk(input: Any, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Named:
    """The ``k`` largest (or smallest) entries along ``dim``, in order, and their places.

    The result has ``k`` entries along ``dim``; more than there are is an error.
    """
    if not shape_of(input):
        return named("topk")(sort(input))
    axis = axis_of(dim, len(shape_of(input)))
    if not 0 <= k <= shape_of(input)[axis]:
        raise ShapeError(
            f"selected index k out of range: topk() of k = {k} for an axis of size {shape_of(input)[axis]}"
        )
    indices = argtop_op(input, dim=axis, k=k, largest=largest)
    return named("topk")((gather_op(input, indices, dim=axis), indices))


def _alone(name: str, input: Any) -> Named:
    """A number, which is itself in order: torch copies it, whatever its dtype."""
    if input.dtype.kind != "c":
        return named(name)(sort(input))
    _refuse_history(name, input)
    return named(name)((clone(input), argsort(real(input))))


def _refuse_history(name: str, input: Any) -> None:
    """Raise where somebody differentiates by complex entries, of which torch takes those that need no order."""
    if getattr(input, "requires_grad", False):
        raise AutogradError(f"{name} does not support automatic differentiation for outputs with complex dtype.")


@front("kthvalue")
def kthvalue(input: Any, k: int, dim: int = -1, keepdim: bool = False) -> Named:
    """The ``k``-th smallest entry along ``dim`` (from 1) and its place."""
    sizes = shape_of(input) or (1,)
    axis = axis_of(dim, len(sizes))
    check_entries("kthvalue", input, dim)
    if not 1 <= k <= sizes[axis]:
        raise ShapeError(f"kthvalue(): selected number k out of range for dimension {axis}: k = {k}")
    if not shape_of(input):
        return _alone("kthvalue", input)
    if input.dtype.kind in "bc":
        raise refusal("kthvalue", "", input.dtype)
    return _at("kthvalue", input, argkth_op(input, dim=axis, k=k), axis, keepdim)


_shared = shared_by_ties("median")
middle_op: Op = primitive(
    "middle",
    kernels.middle,
    (lambda g, out, x, *, skip_nan: _shared(g, out, x, dim=(0,), keepdim=False),),
    infer=lambda shape, skip_nan: (),
    refuses={"c": "median_cpu"},
    kinks=("ties",),
    node=lambda shape, skip_nan: "NanmedianBackward0" if skip_nan else "MedianBackward0",
    digits=digits.middle,
    example=("vector", {"skip_nan": False}),
    samples=[sampling.one("real", "n", skip_nan=False), sampling.one("real", "n", skip_nan=True)],
    doc="The lower median of a vector; ties share the gradient equally.",
)


def _middle(name: str, input: Any, dim: int | None, keepdim: bool) -> Any:
    skip_nan = name == "nanmedian"
    if dim is None and 0 in shape_of(input) and is_floating(input.dtype):
        return sum_op(input, dim=tuple(range(len(shape_of(input)))), keepdim=False) + np.nan
    if dim is None:
        return middle_op(reshape(input, -1), skip_nan=skip_nan)
    check_entries("median", input, dim)
    if not shape_of(input):
        return named(name)(sort(input))
    axis = axis_of(dim, len(shape_of(input)))
    order = argsort_op(input, dim=axis, descending=False)
    missing, length = isnan(input), fixed_length(input, axis)
    count = length - _told(missing, skip_nan).sum(axis, keepdims=True)
    last = np.full_like(count, length - 1)
    rank = (np.maximum(count, 1) - 1) // 2
    if not skip_nan:
        # Without skipping, a nan is the median; the first of them in the row, which the stable order keeps.
        rank = np.where(count <= last, count, rank)
    return _at(name, input, gather_op(order, rank, dim=axis), axis, keepdim)


def _told(missing: Any, skip_nan: bool) -> Any:
    """Where entries are nan; that of a recorded graph holds for these alone if some are, or none counts."""
    found = values_of(missing)
    return decided_by(missing) if skip_nan or found.any() else found


@front("median")
@refusing("bc")
def median(input: Any, dim: int | None = None, keepdim: bool = False) -> Any:
    """The (lower) median of all entries, or along ``dim`` with its place; nan when an entry is."""
    return _middle("median", input, dim, keepdim)


@front("nanmedian")
@refusing({"bc": "median_cpu"})
def nanmedian(input: Any, dim: int | None = None, keepdim: bool = False) -> Any:
    """The (lower) median of the entries that are numbers."""
    return _middle("nanmedian", input, dim, keepdim)


@front("mode")
def mode(input: Any, dim: int = -1, keepdim: bool = False) -> Named:
    """The commonest entry along ``dim`` (the smallest of equally common ones) and a place where it stands."""
    axis = axis_of(dim, max(len(shape_of(input)), 1))
    check_entries("mode", input, dim)
    if not shape_of(input):
        return _alone("mode", input)
    if input.dtype.kind == "c":
        if 0 not in shape_of(input):
            raise refusal("mode", "", input.dtype)
        _refuse_history("mode", input)
        return _at("mode", input, kernels.argmode(values_of(input), axis), axis, keepdim)  # of no entries
    return _at("mode", input, argmode_op(input, dim=axis), axis, keepdim)


# ------------------------------------------------------------------------------------------ quantiles


def _check_levels(input: Any, q: Any) -> None:
    """Raise unless there are floating entries, and levels that lie in [0, 1]."""
    if len(shape_of(q)) > 1:
        raise ShapeError(f"quantile() q must be a scalar or 1D tensor, got shape {tuple(shape_of(q))}")
    if getattr(input, "dtype", np.dtype(float)).kind in "biu":
        raise DtypeError(f"quantile() input tensor must be either float or double dtype, not {torch_name(input.dtype)}")
    if hasattr(q, "_value") and hasattr(input, "_value") and q.dtype != input.dtype:
        raise DtypeError(
            "quantile() q tensor must be same dtype as the input tensor, got "
            f"{torch_name(q.dtype)} for input of {torch_name(input.dtype)}"
        )
    if 0 in shape_of(input):
        raise ShapeError("quantile() input tensor must be non-empty")
    if isinstance(q, (int, float)) and not 0 <= q <= 1:
        raise ArgumentError(f"quantile() q must be in the range [0, 1] but got {q:g}")
    if hasattr(q, "_value") and not ((q._value >= 0) & (q._value <= 1)).all():
        raise ArgumentError("quantile() q values must be in the range [0, 1]")


def _quantile(input: Any, q: Any, dim: int | None, keepdim: bool, interpolation: str, skip_nan: bool) -> Any:
    if interpolation not in ("linear", "lower", "higher", "midpoint", "nearest"):
        raise ArgumentError(
            "quantile() interpolation must be one of linear, lower, higher, midpoint or nearest, but got "
            f"{interpolation}"
        )
    _check_levels(input, q)
    ndim = len(shape_of(input))
    axis = axis_of(dim, ndim) if dim is not None else 0
    x = reshape(input, -1) if dim is None or not ndim else movedim(input, axis, -1)
    scalar = not shape_of(q)
    levels = q if hasattr(q, "dtype") else np.asarray(q, x.dtype)
    levels = reshape(levels, *(1,) * (len(shape_of(x)) - 1), -1)
    found = _levels(x, levels, interpolation, skip_nan)
    out = movedim(found, -1, 0)
    if keepdim and ndim:
        out = reshape(out, -1, *(1,) * ndim) if dim is None else unsqueeze(out, axis + 1)
    elif dim is None or not ndim:
        out = reshape(out, -1)
    times = (1 if scalar else 3) + (interpolation in ("linear", "midpoint"))  # it arranges and weighs in place
    return rewritten(squeeze(out, 0) if scalar else out, times)


def _levels(x: Any, levels: Any, interpolation: str, skip_nan: bool) -> Any:
    """Quantiles along the last axis; ``levels`` runs along it."""
    ordered = sort(x, -1)[0]
    missing = isnan(x)
    last = len(shape_of(x)) - 1
    n = fixed_length(x, last)
    count = n - sum_op(missing, dim=(last,), keepdim=True)
    top = where(count > 1, count - 1, 0) if skip_nan else n - 1
    ranks = levels * top
    if interpolation == "lower":
        ranks = floor(ranks)
    elif interpolation == "higher":
        ranks = ceil(ranks)
    elif interpolation == "nearest":
        ranks = round_(ranks)
    if not skip_nan:
        ranks = where(count < n, n - 1, ranks)
    look = decided_by if skip_nan or recorded(levels) or values_of(missing).any() else values_of
    below, above = (look(cut(ranks)).astype(np.int64) for cut in (floor, ceil))
    shape = (*shape_of(x)[:-1], np.broadcast_shapes(below.shape, (1,) * len(below.shape))[-1])
    low, high = (gather_op(ordered, np.broadcast_to(k, shape), dim=last) for k in (below, above))
    if interpolation in ("lower", "higher", "nearest"):
        return low
    weight = 1 / 2 if interpolation == "midpoint" else ranks - below
    return low + weight * (high - low)


@front("quantile")
def quantile(
    input: Any, q: Any, dim: int | None = None, keepdim: bool = False, *, interpolation: str = "linear"
) -> Any:
    """The ``q``-quantiles (levels in [0, 1]) of all entries or along ``dim``; nan when an entry is."""
    return _quantile(input, q, dim, keepdim, interpolation, False)


@front("nanquantile")
def nanquantile(
    input: Any, q: Any, dim: int | None = None, keepdim: bool = False, *, interpolation: str = "linear"
) -> Any:
    """The ``q``-quantiles of the entries that are numbers."""
    return _quantile(input, q, dim, keepdim, interpolation, True)


# ------------------------------------------------------------------------------------------ running extremes


def _running(name: str, op: Any) -> Any:
    def call(input: Any, dim: int) -> Named:
        axis = axis_of(dim, len(shape_of(input)))
        if not shape_of(input):
            if is_complex(input) and getattr(input, "requires_grad", False):
                raise DtypeError(f"{name} does not support automatic differentiation for outputs with complex dtype.")
            return named(name)((clone(input), np.int64(0) * isnan(input)))
        indices = op(input, dim=axis)
        return named(name)((gather_op(input, indices, dim=axis), indices))

    return front(name, op=op)(known_as(call, name, f"The running {name[3:]}imum along ``dim`` and its places."))


cummax, cummin = _running("cummax", argcummax_op), _running("cummin", argcummin_op)


@front("aminmax")
def aminmax(input: Any, *, dim: int | None = None, keepdim: bool = False) -> Named:
    """The pair (min, max) of all entries or along ``dim``; ties share the gradient equally."""
    if dim is None and 0 in shape_of(input):
        raise ShapeError("aminmax(): cannot compute aminmax over an empty dimension as the operation has no identity.")
    if dim is None and keepdim:
        dim = tuple(range(len(shape_of(input))))  # type: ignore[assignment]
    axes = () if dim is None else dim
    if dim is not None and 0 in shape_of(input):
        check_entries("aminmax", input, dim, ":")
    return named("aminmax")((amin(input, axes, keepdim), amax(input, axes, keepdim)))

"""Reductions over the entries where a mask holds (torch.masked): the others are filled with what does not count."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from symgrad.dtypes import real_part
from symgrad.errors import ArgumentError
from symgrad.op import known_as, shape_of
from symgrad.ops.calls.naming import within
from symgrad.ops.calls.still import plain_number, still
from symgrad.ops.elementwise.arithmetic import clone
from symgrad.ops.elementwise.complex import conj
from symgrad.ops.elementwise.select import clamp_min, where
from symgrad.ops.elementwise.smooth import logaddexp as logaddexp_op, sqrt
from symgrad.ops.indexing.sorting import nanmedian
from symgrad.ops.reductions.extremes import (
    amax as amax_all,
    amin as amin_all,
    argmax as argmax_all,
    argmin as argmin_all,
)
from symgrad.ops.reductions.products import prod_op
from symgrad.ops.reductions.scans import cumprod as cumprod_all, cumsum as cumsum_all
from symgrad.ops.reductions.softmax import (
    log_softmax as log_softmax_all,
    logsumexp as logsumexp_all,
    softmax as softmax_all,
)
from symgrad.ops.reductions.sums import axes_of, cast, norm_op, sum_ as sum_all
from symgrad.ops.reductions.wide import in_dtype_of
from symgrad.ops.rules.refusals import kind_of
from symgrad.ops.shapes.shaping import spread


def _masked(call: Callable[..., Any]) -> Any:
    """Publish in ``masked`` under the function's own name."""
    return within("masked")(call)


def _filled(input: Any, mask: Any, value: Any, dtype: Any = None) -> Any:
    x = input if dtype is None else cast(input, dtype)
    if kind_of(x) in "ui" and value in (math.inf, -math.inf):
        value = int(np.iinfo(x.dtype).max if value > 0 else np.iinfo(x.dtype).min)
    return x if mask is None else where(spread(mask, shape_of(x)), x, value)


@within("masked", "_input_mask")
def input_mask(input: Any, *_: Any, mask: Any = None, **__: Any) -> Any:
    """The truth values of ``mask`` in the shape of ``input``: which entries count (torch's helper of this name)."""
    if mask is None:
        raise ArgumentError("_input_mask requires explicit mask: pass mask=, a tensor that broadcasts to the input")
    return spread(mask, shape_of(input)) != 0


def _counted(input: Any, mask: Any, axes: tuple[int, ...], keepdim: bool) -> Any:
    """How many entries count: an array of integers."""
    if mask is None:
        return np.ones(shape_of(input), bool).sum(axes, keepdims=keepdim)
    return sum_all(still(spread(mask, shape_of(input))), axes, keepdim)


@_masked
def sum_(input: Any, dim: Any = None, *, keepdim: bool = False, dtype: Any = None, mask: Any = None) -> Any:
    """Sum over axes; 0 where the mask leaves nothing."""
    return sum_all(_filled(input, mask, 0, dtype), dim, keepdim)


@_masked
def prod(input: Any, dim: Any = None, *, keepdim: bool = False, dtype: Any = None, mask: Any = None) -> Any:
    """Product over axes; 1 where the mask leaves nothing."""
    x = _filled(input, mask, 1, dtype)
    axes = axes_of(dim, len(shape_of(x)))
    if not axes and dtype is None and kind_of(x) in "bui":
        return cast(x, np.int64)  # as products are
    for axis in reversed(axes):
        x = prod_op(x, dim=axis, keepdim=keepdim)
    return clone(x) if x is input and dim is not None else x


@_masked
def mean(input: Any, dim: Any = None, *, keepdim: bool = False, dtype: Any = None, mask: Any = None) -> Any:
    """Mean over axes; nan where the mask leaves nothing."""
    count = _counted(input, mask, axes_of(dim, len(shape_of(input))), keepdim)
    return sum_(input, dim, keepdim=keepdim, dtype=dtype, mask=mask) / count


def _extreme(name: str, reduce: Callable[..., Any], empty: float) -> Any:
    def call(input: Any, dim: Any = None, *, keepdim: bool = False, dtype: Any = None, mask: Any = None) -> Any:
        return reduce(_filled(input, mask, empty, dtype), () if dim is None else dim, keepdim)

    return _masked(known_as(call, name, f"{name} over axes of the entries where the mask holds."))


amax, amin = _extreme("amax", amax_all, -math.inf), _extreme("amin", amin_all, math.inf)


def _place(name: str, find: Callable[..., Any], empty: float) -> Any:
    def call(input: Any, dim: int | None = None, *, keepdim: bool = False, dtype: Any = None, mask: Any = None) -> Any:
        return cast(find(_filled(input, mask, empty), dim, keepdim), input.dtype if dtype is None else dtype)

    call.__name__ = name
    call.__doc__ = f"{name} among the entries where the mask holds, in ``dtype``: that of the input, as torch has it."
    return _masked(call)


argmax, argmin = _place("argmax", argmax_all, -math.inf), _place("argmin", argmin_all, math.inf)


@_masked
def logsumexp(input: Any, dim: Any = None, *, keepdim: bool = False, dtype: Any = None, mask: Any = None) -> Any:
    """log Σ e^input over axes."""
    return logsumexp_all(_filled(input, mask, -math.inf, dtype), axes_of(dim, len(shape_of(input))), keepdim)


@_masked
def logaddexp(input: Any, other: Any, *, dtype: Any = None, input_mask: Any = None, other_mask: Any = None) -> Any:
    """log(e^input + e^other), where an entry that its mask hides counts as -inf."""
    x, y = _filled(input, input_mask, -math.inf, dtype), _filled(other, other_mask, -math.inf, dtype)
    return in_dtype_of(logaddexp_op(x, y), x)


@_masked
def norm(
    input: Any, ord: float = 2.0, dim: Any = None, *, keepdim: bool = False, dtype: Any = None, mask: Any = None
) -> Any:
    """The norm of order ``ord`` over axes."""
    ord = plain_number("norm", "ord", ord)
    x = _filled(input, mask, math.inf if ord == -math.inf else 0, dtype)
    return norm_op(x, p=ord, dim=axes_of(dim, len(shape_of(x))), keepdim=keepdim)


def _correction(unbiased: bool | None, correction: float | None) -> float:
    return correction if correction is not None else float(unbiased is None or unbiased)


def _variance(input: Any, dim: Any, correction: float, keepdim: bool, dtype: Any, mask: Any) -> Any:
    x = input if dtype is None else cast(input, dtype)
    axes = axes_of(dim, len(shape_of(x)))
    centre = sum_(x, axes, keepdim=True, mask=mask) / _counted(x, mask, axes, True)
    apart = _filled(x - centre, mask, 0)
    real = real_part(apart.dtype)
    count = clamp_min(cast(_counted(x, mask, axes, keepdim), "float64") - correction, 0)
    return sum_all(apart * conj(apart), axes, keepdim) / cast(count, real)


@_masked
def var(
    input: Any,
    dim: Any = None,
    unbiased: bool | None = None,
    *,
    correction: float | None = None,
    keepdim: bool = False,
    dtype: Any = None,
    mask: Any = None,
) -> Any:
    """Variance over axes."""
    return _variance(input, dim, _correction(unbiased, correction), keepdim, dtype, mask)


@_masked
def std(
    input: Any,
    dim: Any = None,
    unbiased: bool | None = None,
    *,
    correction: float | None = None,
    keepdim: bool = False,
    dtype: Any = None,
    mask: Any = None,
) -> Any:
    """Standard deviation over axes."""
    return sqrt(_variance(input, dim, _correction(unbiased, correction), keepdim, dtype, mask))


def _along(name: str, call_all: Callable[..., Any], value: float, negate: bool = False) -> Any:
    def call(input: Any, dim: int, *, dtype: Any = None, mask: Any = None) -> Any:
        x = _filled(-input if negate else input, mask, value, dtype)
        made = call_all(x, dim)
        return cast(made, x.dtype) if kind_of(x) in "ui" else made

    return _masked(known_as(call, name, f"{name} along an axis over the entries where the mask holds."))


softmax = _along("softmax", softmax_all, -math.inf)
log_softmax = _along("log_softmax", log_softmax_all, -math.inf)
softmin = _along("softmin", softmax_all, -math.inf, True)
cumsum = _along("cumsum", cumsum_all, 0)
cumprod = _along("cumprod", cumprod_all, 1)


@_masked
def median(input: Any, dim: int = -1, *, keepdim: bool = False, dtype: Any = None, mask: Any = None) -> Any:
    """The (lower) median along an axis."""
    return nanmedian(_filled(input, mask, math.nan, dtype), dim, keepdim)[0]


@_masked
def normalize(input: Any, ord: float, dim: int, *, eps: float = 1e-12, dtype: Any = None, mask: Any = None) -> Any:
    """Divided by the norm of order ``ord`` along an axis, taken as at least ``eps``."""
    size = norm(input, ord, dim, keepdim=True, dtype=dtype, mask=mask)
    return _filled(input, mask, 0, dtype) / clamp_min(size, eps)

"""Softmax and its kin: sums of exponentials that do not overflow."""

from __future__ import annotations

import math
from typing import Any

from symgrad import kernels
from symgrad.errors import AutogradError
from symgrad.op import Op, elementwise, front, primitive, sampling, shape_of
from symgrad.ops.elementwise.arithmetic import clone
from symgrad.ops.elementwise.complex import conj
from symgrad.ops.elementwise.select import eq, isfinite, where
from symgrad.ops.elementwise.smooth import exp
from symgrad.ops.linalg import sharing
from symgrad.ops.reductions.extremes import amax_op
from symgrad.ops.reductions.sums import along, axes_of, cast, keep, reduced_shape, sum_op
from symgrad.ops.rules import work
from symgrad.ops.rules.refusals import kind_of
from symgrad.ops.shapes.shaping import axis_of
from symgrad.precision import digits, halves, single

shifted_exp: Op = elementwise(
    "shifted_exp",
    kernels.shifted_exp,
    lambda out, x, y: out,
    lambda out, x, y: -out,
    single=single.shifted_exp,
    half=halves.shifted_exp,
    public=(),
    define=lambda x, y: exp(x - y),
    quiet="invalid",
    chooses=True,
    doc="e^(x - y), and 0 where both are -inf: the softmax as logsumexp's derivative.",
)
logsumexp_op: Op = primitive(
    "logsumexp",
    kernels.logsumexp,
    (lambda g, out, x, *, dim, keepdim: keep(g, dim, keepdim) * conj(shifted_exp(x, keep(out, dim, keepdim))),),
    jvp=(
        lambda t, out, x, *, dim, keepdim: sum_op(
            t * shifted_exp(x, keep(out, dim, keepdim)), dim=dim, keepdim=keepdim
        ),
    ),
    infer=reduced_shape,
    dtypes="float",
    mixes="dim",
    single=single.logsumexp,
    half=halves.logsumexp,
    digits=digits.logsumexp,
    overflows=True,
    example=("vector", {"dim": (0,), "keepdim": False}),
    work=work.per_entry(4),
    samples=sampling.reductions(),
    rises=True,
    doc="log Σ e^x over axes, without overflow.",
)


@front("logsumexp", op=logsumexp_op)
def logsumexp(input: Any, dim: Any, keepdim: bool = False) -> Any:
    """log Σ e^input over the axes ``dim``, without overflow.

    >>> import symgrad as sg
    >>> import numpy as np
    >>> sg.logsumexp(np.array([1000.0, 1000.0]), 0)
    np.float64(1000.6931471805599)
    """
    return logsumexp_op(input, dim=axes_of(dim, len(shape_of(input))), keepdim=keepdim)


def _along(x: Any, dim: int) -> Any:
    return sum_op(x, dim=(dim,), keepdim=True)


def exponentials(x: Any, dim: tuple[int, ...]) -> tuple[Any, Any, Any]:
    """e^(x - top), their sum along axes that stay, and top, the largest entry; 0 and not nan where all are -inf."""
    top = amax_op(x, dim=dim, keepdim=True)
    shifted = exp(x - where(eq(top, -math.inf), 0, top))
    return shifted, sum_op(shifted, dim=dim, keepdim=True), top


def _shares(x: Any, *, dim: int) -> Any:
    shifted, total, top = exponentials(x, (dim,))
    return shifted / where(isfinite(top), total, 1)


softmax_op: Op = primitive(
    "softmax",
    kernels.softmax,
    (lambda g, out, like, *, dim: softmax_slope(g, out, dim=dim),),
    jvp=(lambda t, out, like, *, dim: softmax_slope(t, out, dim=dim),),
    refuses="buic",
    mixes="dim",
    single=single.softmax,
    half=halves.softmax,
    fused=("SoftmaxBackwardData", -1),
    digits=digits.softmax,
    example=("vector", {"dim": 0}),
    work=work.per_entry(4),
    samples=sampling.along(),
    bounds=(0, 1),
    doc="e^x / Σ e^x along an axis.",
)
softmax_slope: Op = primitive(
    "softmax_slope",
    kernels.softmax_slope,
    (
        lambda h, slope, like, out, *, dim: softmax_slope(h, out, dim=dim),
        lambda h, slope, g, out, *, dim: g * h - _along(out * g, dim) * h - g * _along(out * h, dim),
    ),
    infer=lambda g, out, dim: out,
    define=lambda g, out, *, dim: out * (g - _along(g * out, dim)),
    single=single.softmax_slope,
    together=True,
    spelled=True,
    mixes="dim",
    refuses="c",
    example=("vector", [0.25, 0.75], {"dim": 0}),
    samples=[
        sampling.many(("real", "n", "m"), ("real", "n", "m"), dim=0),
        sampling.many(("real", "n", "m"), ("real", "n", "m"), dim=1),
        sampling.many(("real", "n"), ("real", "n"), dim=0),
    ],
    doc="A cotangent times the slope of softmax, which is symmetric, from the softmax.",
)
shares_op: Op = primitive(
    "shares",
    kernels.shares,
    (lambda g, out, x, *, dim: softmax_slope(g, out, dim=dim),),
    define=_shares,
    refuses="buic",
    mixes="dim",
    example=("vector", {"dim": 0}),
    work=work.per_entry(4),
    samples=sampling.along(),
    bounds=(0, 1),
    doc="e^x / Σ e^x along an axis as the slope of logsumexp has it: 0 where all are -inf, and beside an inf.",
)
log_softmax_op: Op = primitive(
    "log_softmax",
    kernels.log_softmax,
    (lambda g, out, like, *, dim: log_softmax_slope(g, out, dim=dim),),
    jvp=(lambda t, out, like, *, dim: t - _along(t * exp(out), dim),),
    define=lambda x, *, dim: x - logsumexp_op(x, dim=(dim,), keepdim=True),
    refuses="buic",
    mixes="dim",
    single=single.log_softmax,
    half=halves.log_softmax,
    fused=("LogSoftmaxBackwardData", -1),
    example=("vector", {"dim": 0}),
    work=work.per_entry(5),
    samples=sampling.along(),
    bounds=(-math.inf, 0),
    doc="x - log Σ e^x along an axis.",
)
log_softmax_slope: Op = primitive(
    "log_softmax_slope",
    kernels.log_softmax_slope,
    (
        lambda h, slope, like, out, *, dim: h - _along(h * exp(out), dim),
        lambda h, slope, g, out, *, dim: -_along(g, dim) * exp(out) * h,
    ),
    infer=lambda g, out, dim: out,
    define=lambda g, out, *, dim: g - exp(out) * _along(g, dim),
    single=single.log_softmax_slope,
    together=True,
    spelled=True,
    mixes="dim",
    refuses="c",
    example=("vector", [-1.5, -0.25], {"dim": 0}),
    samples=[
        sampling.many(("real", "n", "m"), ("real", "n", "m"), dim=0),
        sampling.many(("real", "n", "m"), ("real", "n", "m"), dim=1),
        sampling.many(("real", "n"), ("real", "n"), dim=0),
    ],
    doc="A cotangent pulled back through log_softmax, from its result.",
)
# One entry without an axis.  As a vector of one the result would be another tensor than the one that the slope reads,
# and a second derivative by it would miss that.
softmax_of_one: Op = elementwise(
    "softmax_of_one",
    kernels.softmax_of_one,
    lambda out, x: out - out * out,
    node="Softmax",
    fused=("SoftmaxBackwardData", -1),
    define=lambda x: exp(x - x),
    spelled=True,
    public=(),
    dtypes="float",
    quiet="invalid",
    doc="Softmax of a number: 1, and nan where the number is not finite.",
)
log_softmax_of_one: Op = elementwise(
    "log_softmax_of_one",
    kernels.log_softmax_of_one,
    lambda out, x: 1 - exp(out),
    node="LogSoftmax",
    fused=("LogSoftmaxBackwardData", -1),
    define=lambda x: x - x,
    spelled=True,
    public=(),
    dtypes="float",
    quiet="invalid",
    doc="The logarithm of the softmax of a number: 0, and nan where the number is not finite.",
)


def _softmax_of(of_rows: Op, of_one: Op, input: Any, dim: int) -> Any:
    axis, refused = axis_of(dim, len(shape_of(input))), kind_of(input) in "buic"
    if refused and 0 in shape_of(input):
        empty = clone(input)
        if kind_of(input) == "c" and getattr(empty, "requires_grad", False):
            raise AutogradError(
                f"_{of_rows.name} does not support automatic differentiation for outputs with complex dtype."
            )
        return empty
    return of_one(input) if not shape_of(input) and not refused else along(of_rows, input, axis)


@front("softmax", op=softmax_op)
def softmax(input: Any, dim: int, dtype: Any = None) -> Any:
    """e^input / Σ e^input along the axis ``dim``."""
    if dtype is not None:
        input = cast(input, dtype)
    return _softmax_of(softmax_op, softmax_of_one, input, dim)


@front("log_softmax", op=log_softmax_op)
def log_softmax(input: Any, dim: int, dtype: Any = None) -> Any:
    """input - log Σ e^input along the axis ``dim``, without overflow."""
    if dtype is not None:
        input = cast(input, dtype)
    return _softmax_of(log_softmax_op, log_softmax_of_one, input, dim)


def _axis(params: dict[str, Any]) -> dict[str, Any]:
    """The one axis of a softmax, or of a sum that keeps it; of other sums what they have."""
    dim = params["dim"]
    kept = params.get("keepdim", True) and (isinstance(dim, int) or len(dim) == 1)
    return {"dim": dim if isinstance(dim, int) else dim[0]} if kept else params


for _whole, _kernels in (
    (sharing.Whole("exponentials", kernels.logsumexp_and_shares, 2, _axis), (kernels.logsumexp, kernels.shares)),
    (sharing.Whole("logarithms", kernels.log_softmax_and_softmax, 2, _axis), (kernels.log_softmax, kernels.softmax)),
):
    for _k, _kernel in enumerate(_kernels):
        sharing.in_programs(_whole, _k, _kernel)

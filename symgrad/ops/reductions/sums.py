"""Reductions over axes: sums, means, variances and norms."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from symgrad import kernels
from symgrad.dtypes import as_dtype, is_narrow, name_of, real_part, torch_name
from symgrad.errors import ArgumentError, AutogradError, DtypeError
from symgrad.notices import notice, notice_once
from symgrad.op import Op, Spec, front, inexact, is_complex, known_as, multilinear, primitive, sampling, shape_of
from symgrad.ops.calls.still import plain_number
from symgrad.ops.elementwise.arithmetic import ratio
from symgrad.ops.elementwise.complex import conj, real
from symgrad.ops.elementwise.fused import portion, std_slope
from symgrad.ops.elementwise.select import abs_, divided_where, eq, guard, ne, sign, where
from symgrad.ops.rules import work
from symgrad.ops.rules.kinks import at_kink, shares_of
from symgrad.ops.rules.refusals import kind_of
from symgrad.ops.shapes.shaping import axis_of, expand_op, owned, reshape_op, unsqueeze_op
from symgrad.precision import adding, digits, single


class Everything(tuple[int, ...]):
    """All axes, because none were named; torch tells this from a list of all axes by another node."""

    __slots__ = ()


@functools.cache
def _everything(ndim: int) -> Everything:
    return Everything(range(ndim))


def axes_of(dim: Any, ndim: int) -> tuple[int, ...]:
    """Sorted axes; None and () mean all of them."""
    if dim is None:
        return _everything(ndim)
    if isinstance(dim, (tuple, list)) and not dim:
        return tuple(range(ndim))
    dims = dim if isinstance(dim, (tuple, list)) else (dim,)
    axes = tuple(sorted(axis_of(d, ndim) for d in dims))
    if len(set(axes)) < len(axes):
        raise ArgumentError(
            f"dim {min(a for a in axes if axes.count(a) > 1)} appears multiple times in the list of dims"
        )
    return axes if ndim else ()


def reduced_shape(shape: tuple[Any, ...], *, dim: tuple[int, ...], keepdim: bool, **_: Any) -> tuple[Any, ...]:
    """The shape without the axes ``dim``, or with size 1 there."""
    if keepdim:
        return tuple(1 if k in dim else s for k, s in enumerate(shape))
    return tuple(s for k, s in enumerate(shape) if k not in dim)


def spread(g: Any, like: Any, dim: tuple[int, ...], keepdim: bool) -> Any:
    """A reduced value back at the shape of its input."""
    if g.__class__ is np.ndarray or g.__class__ is np.float64:  # by one step, where no carrier has to follow
        shape = shape_of(like)
        alone = keepdim or not g.ndim
        return kernels.spread(g if alone else g.reshape(reduced_shape(shape, dim=dim, keepdim=True)), shape)
    if not keepdim:
        for k in dim:
            g = unsqueeze_op(g, dim=k)
    shape = shape_of(like)
    return g if shape_of(g) == shape else expand_op(g, shape=shape)


def keep(x: Any, dim: tuple[int, ...], keepdim: bool) -> Any:
    """A reduced value with its axes kept at size 1, so that it broadcasts against the input."""
    if not keepdim:
        for k in dim:
            x = unsqueeze_op(x, dim=k)
    return x


def size(x: Any, dim: tuple[int, ...]) -> Any:
    """Number of entries along ``dim``, as a size (a letter in formulas) and not as a number."""
    sizes = getattr(x, "sizes", None)
    if sizes is not None:
        return sizes(dim)
    shape = shape_of(x)
    return math.prod(shape[k] for k in dim)


def along(op: Op, input: Any, dim: int, **params: Any) -> Any:
    """``op`` along one axis; a 0-d input has one entry along its axis."""
    axis = axis_of(dim, len(shape_of(input)))
    if shape_of(input):
        return op(input, dim=axis, **params)
    return reshape_op(op(reshape_op(input, shape=(1,)), dim=0, **params), shape=())


def _sum_spec(shape: Any, *, dim: tuple[int, ...], keepdim: bool) -> Spec:
    labels = tuple(range(len(shape)))
    return (labels,), tuple(100 + k if k in dim else k for k in labels if keepdim or k not in dim)


def overload(name: str) -> Any:
    """torch numbers its overloads: 0 reduces everything, 1 takes axes."""

    def node(shape: tuple[Any, ...], *, dim: tuple[int, ...], keepdim: bool, **_: Any) -> str:
        return f"{name}Backward{int(keepdim or dim.__class__ is not Everything)}"

    return node


def reduce_code(name: str) -> Any:
    """The program text of a reduction that NumPy has under ``name``."""

    def code(x: str, dim: int | tuple[int, ...], keepdim: bool) -> str:
        axes = dim[0] if isinstance(dim, tuple) and len(dim) == 1 else dim
        return f"{name}({x}, {axes}{', keepdims=True' if keepdim else ''})"

    return code


def int_to_long(dtype: Any, **_: Any) -> Any:
    """The dtype of sums and products: int64 for all integers and bool, as torch."""
    return np.dtype(np.int64) if dtype.kind in "bui" else dtype


def _sum_kernel(x: Any, dim: tuple[int, ...], keepdim: bool) -> Any:
    x = x if hasattr(x, "size") else np.asarray(x)  # a number of a formula, where a part of it is constant
    if x.size >= 8192 and x.dtype.kind == "f":
        return kernels.sum_inside(x, dim, keepdim)
    # What np.sum() calls after it has asked for overrides.
    dtype = np.int64 if x.dtype.kind in "bui" else None
    return np.add.reduce(x, dim, dtype, None, keepdims=keepdim)  # type: ignore[call-overload]


sum_op: Op = multilinear(
    "sum",
    _sum_kernel,
    _sum_spec,
    single=adding.total,
    infer=reduced_shape,
    result=int_to_long,
    node=overload("Sum"),
    code=reduce_code("np.sum"),
    method="sum",
    numbers="within",
    example=("vector", {"dim": (0,), "keepdim": False}),
    samples=sampling.reductions(),
    doc="Sum over axes.",
)


@front("sum", op=sum_op)
def sum_(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """Sum over the axes ``dim`` (all by default); ``keepdim`` leaves them at size 1."""
    if dtype is not None:
        input = cast(input, dtype)
    return kept_whole(sum_op(input, dim=axes_of(dim, len(shape_of(input))), keepdim=keepdim), dtype)


def kept_whole(total: Any, dtype: Any) -> Any:
    """A sum or product of integers, which are widened, in the dtype of integers or truths that was asked for."""
    narrow = dtype is not None and as_dtype(dtype).kind in "bui" and as_dtype(dtype) != np.int64
    return cast(total, dtype) if narrow else total


def cast(x: Any, dtype: Any) -> Any:
    """``x`` in another dtype; complex ones lose their imaginary part in real dtypes, of which torch warns once."""
    wanted = as_dtype(dtype)
    if wanted.kind not in "bc" and kind_of(x) == "c":
        notice_once("Casting complex values to real discards the imaginary part")
    return cast_op(x, dtype=name_of(wanted))


def cast_wide(x: Any) -> Any:
    """In float32 where squares of float16 overflow and bfloat16 has too few digits for a sum."""
    return cast(x, "float32") if is_narrow(getattr(x, "dtype", None)) else x


cast_op: Op = primitive(
    "cast",
    kernels.copied,
    (lambda g, out, like, *, dtype: g,),
    single=single.cast,
    linear=True,
    entrywise=True,
    result=lambda _, dtype: as_dtype(dtype),
    node="ToCopy",
    code=lambda x, dtype: f'np.asarray({x}).astype("{dtype}")',
    boxed=True,
    copy=True,
    digits=digits.cast,
    example=(0.5, {"dtype": "float32"}),
    samples=[sampling.one("real", *sizes, dtype=lambda make: make.dtype.name) for sizes in (("n", "m"), ())],
    doc="The same values in another dtype; the engine casts the cotangent back.",
)


def _shares(like: Any, dim: tuple[int, ...]) -> Any:
    """Among how many entries a mean shares its gradient: a quotient by none would be passed on by the second pass."""
    n = size(like, dim)
    return 1 if isinstance(n, int) and not n else n


mean_op: Op = primitive(
    "mean",
    kernels.mean_over,
    (lambda g, out, like, *, dim, keepdim: owned(spread(g / _shares(like, dim), like, dim, keepdim)),),
    linear=True,
    infer=reduced_shape,
    node=overload("Mean"),
    code=reduce_code("np.mean"),
    define=lambda x, *, dim, keepdim: sum_op(x, dim=dim, keepdim=keepdim) / size(x, dim),
    expanded=True,
    single=adding.mean,
    example=("vector", {"dim": (0,), "keepdim": False}),
    samples=sampling.reductions(),
    rises=True,
    doc="Arithmetic mean over axes.",
)


def check_mean(name: str, which: str, dtype: np.dtype[Any]) -> None:
    """Raise torch's error where a mean would have a dtype of whole numbers."""
    if dtype.kind in "bui":
        raise DtypeError(
            f"{name}(): could not infer output dtype. {which} dtype must be either a floating point or complex dtype. "
            f"Got: {torch_name(dtype)}"
        )


@front("mean", op=mean_op)
def mean(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """Mean over the axes ``dim`` (all by default).  Integer input needs ``dtype=``, as torch."""
    if dtype is not None:
        input = cast(input, dtype)
    check_mean("mean", "Input" if dtype is None else "Optional", getattr(input, "dtype", np.dtype(float)))
    return mean_op(input, dim=axes_of(dim, len(shape_of(input))), keepdim=keepdim)


def _deviation(x: Any, dim: tuple[int, ...]) -> Any:
    return x - mean_op(x, dim=dim, keepdim=True)


def _var_define(x: Any, *, dim: tuple[int, ...], correction: Any, keepdim: bool) -> Any:
    return sum_op(_deviation(x, dim) ** 2, dim=dim, keepdim=keepdim) / (size(x, dim) - correction)


var_op: Op = primitive(
    "var",
    kernels.var,
    (
        lambda g, out, x, *, dim, correction, keepdim: (
            keep(portion(g, 2, size(x, dim) - correction), dim, keepdim) * _deviation(x, dim)
        ),
    ),
    infer=reduced_shape,
    result=real_part,
    define=_var_define,
    expanded=True,
    refuses={"bui": "std and var only support floating point and complex dtypes"},
    mixes="dim",
    single=adding.var,
    digits=digits.var,
    overflows=True,
    example=("vector", {"dim": (0,), "keepdim": False, "correction": 1}),
    samples=[*sampling.reductions(correction=1), sampling.one("real", "n", dim=(0,), correction=0, keepdim=False)],
    bounds=(0, math.inf),
    doc="Variance over axes: squared deviations over (n - correction).",
)


def _beside_zero(g: Any, out: Any) -> Any:
    """A cotangent without its entries where ``out`` is 0: what they were in a derivative there does not matter."""
    return guard(g, ne(out, 0))


def _std_vjp(g: Any, out: Any, x: Any, dim: tuple[int, ...], correction: float, keepdim: bool) -> Any:
    slope = std_slope(_beside_zero(g, out), out, size(x, dim) - correction)
    return keep(at_kink("std", 0, slope, out, 0), dim, keepdim) * _deviation(x, dim)


std_op: Op = primitive(
    "std",
    kernels.std,
    (lambda g, out, x, *, dim, correction, keepdim: _std_vjp(g, out, x, dim, correction, keepdim),),
    infer=reduced_shape,
    result=real_part,
    kinks=("all equal",),
    refuses={"bui": "std and var only support floating point and complex dtypes"},
    mixes="dim",
    single=adding.std,
    digits=digits.std,
    overflows=True,
    example=("vector", {"dim": (0,), "keepdim": False, "correction": 1}),
    work=work.per_entry(4),
    samples=[*sampling.reductions(correction=1), sampling.one("real", "n", dim=(0,), correction=0, keepdim=False)],
    bounds=(0, math.inf),
    doc="Standard deviation over axes; derivative 0 where all entries are equal.",
)


def tell_of_freedom(name: str, x: Any, dim: tuple[int, ...], correction: Any) -> None:
    """torch's warning where a variance divides by nothing."""
    sizes = [shape_of(x)[k] for k in dim] if shape_of(x) else []
    if (
        isinstance(correction, (int, float))
        and all(isinstance(n, int) for n in sizes)
        and math.prod(sizes) <= correction
    ):
        notice(
            f"{name}(): degrees of freedom is <= 0. Correction should be strictly less than the reduction factor "
            "(input numel divided by output numel)."
        )


def _spread_front(op: Op, name: str) -> Any:
    def call(
        input: Any, dim: Any = None, unbiased: bool | None = None, keepdim: bool = False, *, correction: Any = None
    ) -> Any:
        if isinstance(dim, bool):
            dim, unbiased = None, dim
        if correction is None:
            correction = 1 if unbiased is None or unbiased else 0
        axes = axes_of(dim, len(shape_of(input)))
        tell_of_freedom(name, input, axes, correction)
        return op(input, dim=axes, correction=correction, keepdim=keepdim)

    return front(name, op=op)(known_as(call, name, f"{op.doc}  ``correction`` is 1 by default (Bessel's), as torch."))


var = _spread_front(var_op, "var")
std = _spread_front(std_op, "std")

# ------------------------------------------------------------------------------------------ norms


def _norm_code(x: str, p: Any, dim: tuple[int, ...], keepdim: bool) -> str:
    order = f"{'-' if p < 0 else ''}np.inf" if p in (math.inf, -math.inf) else repr(p)
    return f"norm({x}, {order}, {dim}, {keepdim})"


def _norm_vjp(g: Any, out: Any, x: Any, *, p: Any, dim: tuple[int, ...], keepdim: bool) -> Any:
    return _norm_slope(keep(g, dim, keepdim), keep(out, dim, keepdim), x, p, dim)


def _norm_jvp(t: Any, out: Any, x: Any, *, p: Any, dim: tuple[int, ...], keepdim: bool) -> Any:
    t = conj(t)
    part = _norm_slope(t, keep(out, dim, keepdim), x, p, dim)
    return sum_op(real(part) if is_complex(part) else part, dim=dim, keepdim=keepdim)


def _norm_slope(g: Any, out: Any, x: Any, p: Any, dim: tuple[int, ...]) -> Any:
    """g times the slope of the norm, entry by entry; ``out`` has kept its axes."""
    if p == 2:
        return g * at_kink("norm", 0, ratio(x, out), out, 0)
    if p == 1:
        return g * at_kink("abs", 0, sign(x), x, 0)
    if p == 0:
        return 0 * x
    if p in (math.inf, -math.inf):
        hit = eq(abs_(x), out)
        # Smaller entries have the slope 0: no kink of theirs is to be refused.
        slope = at_kink("abs", 0, sign(x), x, 0 if shares_of("abs") is None else where(hit, 0, math.nan))
        return where(hit, g * slope / sum_op(hit, dim=dim, keepdim=True), 0)
    g, out, x = map(cast_wide, (g, out, x))  # powers multiply what rounding does to a ratio
    size = abs_(x)
    if p < 1:
        # The slope at 0 is infinite; the min-norm choice is 0, as torch.  In half precision few quotients are numbers.
        return where(eq(x, 0), 0, sign(x) * size ** (p - 1)) * g * out ** (1 - p)
    if p < 2:
        # The slope has an infinite derivative at entries 0, which stays with them: powers first, then the ratio.
        return at_kink("norm", 0, sign(x) * size ** (p - 1) * ratio(g, out ** (p - 1)), out, 0, g)
    # Flat at the zero vector, as torch, and not without a slope of its own.
    slope = sign(x) * divided_where(size, out, ne(out, 0)) ** (p - 1)
    return g * at_kink("norm", 0, slope, out, 0)


norm_op: Op = primitive(
    "norm",
    kernels.norm,
    (_norm_vjp,),
    jvp=(_norm_jvp,),
    infer=lambda shape, p, dim, keepdim: reduced_shape(shape, dim=dim, keepdim=keepdim),
    result=real_part,
    node="LinalgVectorNorm",
    parity="even",
    code=_norm_code,
    kinks=("zero vector",),
    refuses=inexact("linalg.vector_norm"),
    mixes="dim",
    single=adding.norm,
    digits=digits.norm,
    overflows=True,
    example=("vector", {"dim": (0,), "keepdim": False, "p": 2}),
    work=work.per_entry(2),
    samples=[
        *sampling.reductions(p=2),
        *(sampling.one("off-zero", "n", "m", p=p, dim=(0,), keepdim=True) for p in (1, 3, math.inf, -math.inf, 2.5)),
        sampling.one("off-zero", "n", p=0, dim=(0,), keepdim=False),
    ],
    bounds=(0, math.inf),
    doc="Vector p-norm over axes; derivative 0 at the zero vector.",
)


@front("norm", op=norm_op)
def norm(input: Any, p: Any = 2, dim: Any = None, keepdim: bool = False) -> Any:
    """The p-norm of all entries, or over the axes ``dim``; "fro" is the 2-norm of the entries.

    >>> norm(np.array([3.0, 4.0]))
    np.float64(5.0)
    """
    order = 2 if p is None or p == "fro" else plain_number("norm", "p", p)
    if not isinstance(order, (int, float)):
        raise ArgumentError(f"norm(): p is a number, inf or 'fro', not {p!r}.")
    dims, shape = axes_of(dim, len(shape_of(input))), shape_of(input)
    if (order < 0 or order == math.inf) and any(shape[k] == 0 for k in dims):
        raise AutogradError(
            f"linalg.vector_norm cannot compute the {order} norm on an empty tensor because the operation does not "
            f"have an identity: shape {tuple(shape)}, dim={dim}"
        )
    return norm_op(input, p=order, dim=dims, keepdim=keepdim)

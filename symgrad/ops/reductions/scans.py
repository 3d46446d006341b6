"""Running results along an axis: sums, products, log-sums, integrals and differences."""

from __future__ import annotations

from typing import Any

import numpy as np

from symgrad import kernels
from symgrad.errors import ArgumentError, DtypeError, ShapeError
from symgrad.op import Op, fixed, fixed_length, front, primitive, sampling, shape_of
from symgrad.ops.calls.naming import inplace
from symgrad.ops.elementwise.arithmetic import clone, static_number
from symgrad.ops.elementwise.complex import conj
from symgrad.ops.elementwise.select import divided_where, where
from symgrad.ops.indexing.getitem import getitem
from symgrad.ops.linalg.triangles import triu_op
from symgrad.ops.reductions.products import divisible_op, identity_mask, made_of
from symgrad.ops.reductions.softmax import shifted_exp
from symgrad.ops.reductions.sums import along, axes_of, cast, int_to_long, sum_op
from symgrad.ops.rules.refusals import kind_of
from symgrad.ops.shapes.joining import cat
from symgrad.ops.shapes.shaping import axis_of, flip, in_rows, movedim, unsqueeze_op
from symgrad.precision import digits, halves
from symgrad.precision.single import rounded

inplace("cumsum", "cumprod")


def _cumsum_kernel(x: Any, dim: int) -> Any:
    return np.cumsum(x, dim, np.int64 if x.dtype.kind in "bui" else None)


cumsum_op: Op = primitive(
    "cumsum",
    _cumsum_kernel,
    (lambda g, out, like, *, dim: flip(cumsum_op(flip(g, dim), dim=dim), dim),),
    linear=True,
    result=int_to_long,
    code=lambda x, dim: f"np.cumsum({x}, {dim})",
    single=rounded(_cumsum_kernel),
    digits="kernel",
    example=("vector", {"dim": 0}),
    along=True,
    samples=sampling.along(),
    rises=True,
    doc="Cumulative sum along an axis.",
)


@front("cumsum", op=cumsum_op)
def cumsum(input: Any, dim: int, *, dtype: Any = None) -> Any:
    """Cumulative sum along the axis ``dim``."""
    if dtype is not None:
        input = cast(input, dtype)
    return _in(dtype, along(cumsum_op, input, dim))


def _in(dtype: Any, total: Any) -> Any:
    """A running result in the dtype asked for, where its op widens whole numbers."""
    return cast(total, dtype) if dtype is not None and kind_of(total) in "bui" else total


def _rows(x: Any, dim: int) -> tuple[Any, Any]:
    """Row i holds x with a 1 at i, where the mask is; its running products are the slopes of the outputs from i on."""
    same = identity_mask(x, dim)
    return where(same, 1, unsqueeze_op(x, dim=dim)), same


def _from_own(x: Any, dim: int) -> Any:
    """The entries of every row i from i on, and 0 before; rows run along ``dim``, entries along the next axis."""
    last = len(shape_of(x)) - 2
    if dim == last:
        return triu_op(x, k=0)
    return movedim(triu_op(movedim(x, (dim, dim + 1), (-2, -1)), k=0), (-2, -1), (dim, dim + 1))


def _of_cumprod(out: Any, x: Any, dim: int) -> bool:
    return made_of(out, "cumprod", x, {"dim": dim})


def _by_products(h: Any, g: Any, out: Any, x: Any, dim: int) -> Any:
    """The part of the derivative of a pullback that goes by the running products."""
    return g * conj(cumsum_op(divided_where(h, x, divisible_op(out, x)), dim=dim))


def _pulled(g: Any, x: Any, dim: int) -> Any:
    slopes = _from_own(conj(cumprod_op(_rows(x, dim)[0], dim=dim + 1)), dim)
    return sum_op(unsqueeze_op(g, dim=dim) * slopes, dim=(dim + 1,), keepdim=False)


def _moved(t: Any, x: Any, dim: int) -> Any:
    slopes = _from_own(cumprod_op(_rows(x, dim)[0], dim=dim + 1), dim)
    return sum_op(unsqueeze_op(t, dim=dim + 1) * slopes, dim=(dim,), keepdim=False)


def _cotangents(h: Any, g: Any, dim: int) -> Any:
    return _from_own(conj(unsqueeze_op(h, dim=dim + 1)) * unsqueeze_op(g, dim=dim), dim)


def _pulled_twice(h: Any, g: Any, x: Any, dim: int) -> Any:
    rows, same = _rows(x, dim)
    return sum_op(where(same, 0, _pulled(_cotangents(h, g, dim), rows, dim + 1)), dim=(dim,), keepdim=False)


def _moved_twice(k: Any, h: Any, x: Any, dim: int) -> Any:
    rows, same = _rows(x, dim)
    along = _from_own(_moved(where(same, 0, unsqueeze_op(k, dim=dim)), rows, dim + 1), dim)
    return sum_op(unsqueeze_op(h, dim=dim + 1) * along, dim=(dim,), keepdim=False)


def _pulled_thrice(k: Any, h: Any, g: Any, x: Any, dim: int) -> Any:
    rows, same = _rows(x, dim)
    back = _pulled_twice(where(same, 0, unsqueeze_op(k, dim=dim)), _cotangents(h, g, dim), rows, dim + 1)
    return sum_op(where(same, 0, back), dim=(dim,), keepdim=False)


cumprod_divided_op: Op = primitive(
    "cumprod_divided",
    kernels.cumprod_divided,
    (
        lambda h, pulled, likeg, out, x, *, dim: cumprod_moved_op(h, out, x, dim=dim),
        lambda h, pulled, g, out, x, *, dim: _by_products(h, g, out, x, dim),
        lambda h, pulled, g, out, x, *, dim: cumprod_divided_twice_op(h, g, out, x, dim=dim),
    ),
    infer=lambda g, out, x, dim: x,
    define=lambda g, out, x, *, dim: _divided(g, out, x, dim),
    expanded=True,
    half=halves.cumprod_divided,
    mixes="dim",
    domain="nonzero",
    example=("vector", "vector", "vector", {"dim": 0}),
    samples=[sampling.small(sampling.many(*[("nonzero", "n", "m")] * 3, dim=dim)) for dim in (0, 1)],
    doc="The pullback of a running product: the sum of g_j · out_j from i on, over x_i; by products where one is zero.",
)


def _divided(g: Any, out: Any, x: Any, dim: int) -> Any:
    if _of_cumprod(out, x, dim):
        return _pulled(g, x, dim)
    sums = flip(cumsum_op(flip(g * conj(out), dim), dim=dim), dim)
    return where(divisible_op(out, x), sums / conj(x), _pulled(g, x, dim))


cumprod_moved_op: Op = primitive(
    "cumprod_moved",
    kernels.cumprod_moved,
    (
        lambda g, moved, liket, out, x, *, dim: cumprod_divided_op(g, out, x, dim=dim),
        lambda g, moved, t, out, x, *, dim: _by_products(t, g, out, x, dim),
        lambda g, moved, t, out, x, *, dim: cumprod_divided_twice_op(t, g, out, x, dim=dim),
    ),
    infer=lambda t, out, x, dim: x,
    define=lambda t, out, x, *, dim: (
        _moved(t, x, dim)
        if _of_cumprod(out, x, dim)
        else where(divisible_op(out, x), out * cumsum_op(t / x, dim=dim), _moved(t, x, dim))
    ),
    expanded=True,
    mixes="dim",
    domain="nonzero",
    example=("vector", "vector", "vector", {"dim": 0}),
    samples=[sampling.small(sampling.many(*[("nonzero", "n", "m")] * 3, dim=dim)) for dim in (0, 1)],
    doc="The tangent of a running product, by way of the product where no factor is zero.",
)
cumprod_divided_twice_op: Op = primitive(
    "cumprod_divided_twice",
    kernels.cumprod_divided_twice,
    (
        lambda k, twice, likeh, g, out, x, *, dim: cumprod_divided_twice_op(k, g, out, x, dim=dim),
        lambda k, twice, h, likeg, out, x, *, dim: _twice_by_cotangents(k, h, out, x, dim),
        lambda k, twice, h, g, out, x, *, dim: (
            -_by_products(divided_where(h * k, x, divisible_op(out, x)), g, out, x, dim)
        ),
        lambda k, twice, h, g, out, x, *, dim: _twice_by_factors(k, twice, h, g, out, x, dim),
    ),
    infer=lambda h, g, out, x, dim: x,
    define=lambda h, g, out, x, *, dim: _divided_twice(h, g, out, x, dim),
    expanded=True,
    mixes="dim",
    stacks="shared",  # as divisible_op does
    domain="nonzero",
    example=("vector", "vector", "vector", "vector", {"dim": 0}),
    samples=[sampling.small(sampling.many(*[("nonzero", "n", "m")] * 4, dim=dim)) for dim in (0, 1)],
    doc="The pullback of a running product's pullback to the factors, where the product is a value of its own.",
)


def _twice_by_cotangents(k: Any, h: Any, out: Any, x: Any, dim: int) -> Any:
    divisible = divisible_op(out, x)
    moved = cumprod_moved_op(divided_where(h * k, x, divisible), out, x, dim=dim)
    return where(divisible, -moved, _moved_twice(k, h, x, dim))


def _twice_by_factors(k: Any, twice: Any, h: Any, g: Any, out: Any, x: Any, dim: int) -> Any:
    divisible = divisible_op(out, x)
    divided = -2 * conj(divided_where(k, x, divisible)) * twice
    return where(divisible, divided, _pulled_thrice(k, h, g, x, dim))


def _divided_twice(h: Any, g: Any, out: Any, x: Any, dim: int) -> Any:
    undivided = _pulled_twice(h, g, x, dim)
    if _of_cumprod(out, x, dim):
        return undivided - _pulled(_by_products(h, g, out, x, dim), x, dim)
    return where(divisible_op(out, x), -conj(h / x) * cumprod_divided_op(g, out, x, dim=dim), undivided)


def _cumprod_kernel(x: Any, dim: int) -> Any:
    return np.cumprod(x, dim, np.int64 if x.dtype.kind in "bui" else None)


cumprod_op: Op = primitive(
    "cumprod",
    _cumprod_kernel,
    # A single entry is its product, as in torch.
    (lambda g, out, x, *, dim: g if set(shape_of(x)) == {1} else cumprod_divided_op(g, out, x, dim=dim),),
    result=int_to_long,
    code=lambda x, dim: f"np.cumprod({x}, {dim})",
    single=rounded(_cumprod_kernel),
    digits="kernel",
    example=("vector", {"dim": 0}),
    along=True,
    samples=sampling.along(),
    stacks=True,
    doc="Running product along an axis; right at zeros.",
)


def _log_weighted(t: Any, out: Any, x: Any, dim: int, moves: bool) -> Any:
    """The sum of t_j conj(e^(x_i - out_j)) over j >= i or, where it ``moves``, of t_i e^(x_i - out_j) over i <= j."""
    t, out, x = (movedim(a, dim, -1) for a in (t, out, x))
    last = len(shape_of(x))
    weights = triu_op(shifted_exp(unsqueeze_op(x, dim=last), unsqueeze_op(out, dim=last - 1)), k=0)
    terms = unsqueeze_op(t, dim=last) * weights if moves else unsqueeze_op(t, dim=last - 1) * conj(weights)
    return movedim(sum_op(terms, dim=(last - 1 if moves else last,), keepdim=False), -1, dim)


_log_samples = [sampling.small(sampling.many(*[("real", "n", "m")] * 3, dim=dim)) for dim in (0, 1)]

logcumsumexp_slope_op: Op = primitive(
    "logcumsumexp_slope",
    kernels.logcumsumexp_slope,
    (
        lambda h, pulled, g, out, x, *, dim: logcumsumexp_moved_op(h, out, x, dim=dim),
        lambda h, pulled, g, out, x, *, dim: -g * conj(logcumsumexp_moved_op(h, out, x, dim=dim)),
        lambda h, pulled, g, out, x, *, dim: conj(h) * pulled,
    ),
    infer=lambda g, out, x, dim: x,
    define=lambda g, out, x, *, dim: _log_weighted(g, out, x, dim, False),
    expanded=True,
    mixes="dim",
    single=rounded(kernels.logcumsumexp_slope),
    example=("vector", "vector", "vector", {"dim": 0}),
    samples=_log_samples,
    doc="The pullback of a log of running sums of e^x: the sum of g_j e^(x_i - out_j) from i on.",
)
logcumsumexp_moved_op: Op = primitive(
    "logcumsumexp_moved",
    kernels.logcumsumexp_moved,
    (
        lambda k, moved, t, out, x, *, dim: logcumsumexp_slope_op(k, out, x, dim=dim),
        lambda k, moved, t, out, x, *, dim: -k * conj(moved),
        lambda k, moved, t, out, x, *, dim: conj(t) * logcumsumexp_slope_op(k, out, x, dim=dim),
    ),
    infer=lambda t, out, x, dim: x,
    define=lambda t, out, x, *, dim: _log_weighted(t, out, x, dim, True),
    expanded=True,
    mixes="dim",
    single=rounded(kernels.logcumsumexp_moved),
    example=("vector", "vector", "vector", {"dim": 0}),
    samples=_log_samples,
    doc="The tangent of a log of running sums of e^x: the sum of t_i e^(x_i - out_j) up to j.",
)
logcumsumexp_op: Op = primitive(
    "logcumsumexp",
    kernels.logcumsumexp,
    (lambda g, out, x, *, dim: logcumsumexp_slope_op(g, out, x, dim=dim),),
    refuses="bui",
    mixes="dim",
    single=rounded(kernels.logcumsumexp),
    digits=digits.logcumsumexp,
    example=("vector", {"dim": 0}),
    samples=sampling.along(),
    doc="log of the running sum of e^x along an axis, without overflow.",
)


@front("cumprod", op=cumprod_op)
def cumprod(input: Any, dim: int, *, dtype: Any = None) -> Any:
    """Running product along the axis ``dim``."""
    if dtype is not None:
        input = cast(input, dtype)
    sizes = shape_of(input)
    if kind_of(input) in "fc" and (not sizes or 0 in sizes or sizes[axis_of(dim, len(sizes))] == 1):
        axis_of(dim, max(len(sizes), 1))
        return clone(input)  # whose derivative does not depend on it
    return _in(dtype, along(cumprod_op, input, dim))


@front("logcumsumexp", op=logcumsumexp_op)
def logcumsumexp(input: Any, dim: int) -> Any:
    """log of the running sum of e^input along the axis ``dim``."""
    sizes = shape_of(input)
    if (not sizes or 0 in sizes) and kind_of(input) in "fc":
        axis_of(dim, max(len(sizes), 1))
        return clone(input)
    return along(logcumsumexp_op, input, dim)


# ------------------------------------------------------------------------------------------ differences and integrals


@front("diff")
def diff(input: Any, n: int = 1, dim: int = -1, prepend: Any = None, append: Any = None) -> Any:
    """Differences of neighbours along ``dim``, ``n`` times over."""
    if not shape_of(input):
        raise ShapeError("diff expects input to be at least one-dimensional")
    if n < 0:
        raise ArgumentError(f"order must be non-negative but got {n}")
    n = fixed(n)
    axis = axis_of(dim, len(shape_of(input)))
    if not n:
        return clone(input)
    parts = [x for x in (prepend, input, append) if x is not None]
    if len({len(shape_of(x)) for x in parts}) > 1:
        raise ShapeError(f"diff expects prepend or append to be the same dimension as input: {[*map(shape_of, parts)]}")
    out = cat(parts, axis) if len(parts) > 1 else input
    length = shape_of(out)[axis]
    for _ in range(n if n <= length else min(n, fixed_length(out, axis))):
        later, sooner = _neighbours(out, axis)
        out = later != sooner if out.dtype.kind == "b" else later - sooner
    return out


def _neighbours(x: Any, axis: int) -> tuple[Any, Any]:
    """All but the first and all but the last along an axis: slices, which hold no size."""
    before = (slice(None),) * axis
    return getitem(x, (*before, slice(1, None))), getitem(x, (*before, slice(None, -1)))


def _pairs(y: Any, axis: int) -> Any:
    """Sums of neighbours along an axis."""
    if not shape_of(y)[axis]:
        return y
    later, sooner = _neighbours(y, axis)
    return sooner + later


def _steps(y: Any, x: Any, dim: int) -> Any:
    """The distances of the points ``x`` at which ``y`` is given."""
    axis = axis_of(dim, len(shape_of(y)))
    size = shape_of(y)[axis]
    if len(shape_of(x)) != 1:
        return diff(x, 1, dim)
    if shape_of(x)[0] != size:
        raise ArgumentError(f"trapezoid: There must be one `x` value for each sample point, got {shape_of(x)[0]}.")
    steps = diff(x)
    for _ in range(len(shape_of(y)) - 1 - axis):
        steps = unsqueeze_op(steps, dim=len(shape_of(steps)))
    return steps


def _apart(name: str, y: Any, x: Any, dx: Any) -> None:
    """Refuse points and a distance together, and what is no real distance or no number to sum."""
    if any(getattr(v, "dtype", None) == np.bool_ for v in (y, x)):
        raise DtypeError(f"{name}: received a bool input for `x` or `y`, but bool is not supported")
    if isinstance(dx, complex):
        raise DtypeError(f"{name}: Currently, we only support dx as a real number.")
    if x is not None and static_number(dx) != 1:
        raise ArgumentError(f"{name}() takes the points `x` or their distance `dx`, not both")


@front("trapezoid", "trapz")
def trapezoid(y: Any, x: Any = None, *, dx: Any = 1, dim: int = -1) -> Any:
    """The integral along ``dim`` by the trapezoidal rule, at points ``x`` or ``dx`` apart."""
    _apart("trapezoid", y, x, dx)
    axis = axis_of(dim, len(shape_of(y)))
    if not shape_of(y)[axis]:
        return sum_op(y, dim=(axis,), keepdim=False)
    if x is not None:
        areas = _pairs(y, axis) * _steps(y, x, dim)
        return sum_op(areas, dim=(axis_of(dim, len(shape_of(areas))),), keepdim=False) / 2
    before = (slice(None),) * axis
    ends = getitem(y, (*before, 0)) + getitem(y, (*before, -1))
    total = sum_op(y, dim=(axis,), keepdim=False) - ends / 2
    return total if static_number(dx) == 1 else total * dx


@front("cumulative_trapezoid")
def cumulative_trapezoid(y: Any, x: Any = None, *, dx: Any = 1, dim: int = -1) -> Any:
    """The running integral along ``dim`` by the trapezoidal rule."""
    _apart("cumulative_trapezoid", y, x, dx)
    axis = axis_of(dim, len(shape_of(y)))
    if x is not None and shape_of(y)[axis]:
        return cumsum(_pairs(y, axis) * _steps(y, x, dim), dim) / 2
    return cumsum(_pairs(y, axis) * (dx / 2) if static_number(dx) != 1 else _pairs(y, axis) / 2, dim)


def _slope(x: Any, step: Any, axis: int, edge_order: int) -> Any:
    """Second-order differences along an axis; ``step`` is a distance or the points themselves."""
    x = movedim(x, axis, -1)
    size = shape_of(x)[-1]
    if size < edge_order + 1:
        raise ShapeError(
            f"torch.gradient expected each dimension size to be at least edge_order+1, got {size} with {edge_order=}"
        )
    steps = diff(step) if shape_of(step) else step

    def h(a: int, b: int | None) -> Any:
        return steps[..., a:b] if shape_of(step) else steps

    def at(a: int, b: int | None) -> Any:
        return getitem(x, (Ellipsis, slice(a, b)))

    parts = []
    if size > 2:
        left, right = h(0, -1), h(1, None)
        parts.append(
            (at(2, None) - at(0, -2)) / (left + right)
            if not shape_of(step)
            else -at(0, -2) * (right / (left * (left + right)))
            + at(1, -1) * ((right - left) / (left * right))
            + at(2, None) * (left / (right * (left + right)))
        )
    if edge_order == 1:
        first = (at(1, 2) - at(0, 1)) / h(0, 1)
        last = (at(-1, None) - at(-2, -1)) / h(-1, None)
    else:
        a, b = h(0, 1), h(1, 2)
        first = (
            -at(0, 1) * ((2 * a + b) / (a * (a + b))) + at(1, 2) * ((a + b) / (a * b)) - at(2, 3) * (a / (b * (a + b)))
        )
        a, b = h(-1, None), h(-2, -1)
        last = (
            at(-1, None) * ((2 * a + b) / (a * (a + b)))
            - at(-2, -1) * ((a + b) / (a * b))
            + at(-3, -2) * (a / (b * (a + b)))
        )
    return in_rows(movedim(cat([first, *parts, last], -1), -1, axis))


@front("gradient", method=False)
def gradient(input: Any, *, spacing: Any = 1, dim: Any = None, edge_order: int = 1) -> tuple[Any, ...]:
    """Slopes along every axis (or those in ``dim``) by central differences; one-sided at the edges.

    ``spacing`` is one distance, one per axis, or the points along every axis.
    """
    if edge_order not in (1, 2):
        raise ArgumentError(f"torch.gradient only supports edge_order=1 and edge_order=2, got {edge_order}.")
    axes = list(axes_of(dim, len(shape_of(input))))  # in order, and each once
    if isinstance(dim, (tuple, list)) and dim:
        axes = [axis_of(d, len(shape_of(input))) for d in dim]
    spacing = 1 if spacing is None else spacing
    steps = list(spacing) if isinstance(spacing, (tuple, list)) else [spacing] * len(axes)
    if len(steps) != len(axes):
        raise ArgumentError(
            "torch.gradient expected spacing to be unspecified, a scalar or it's spacing and dim arguments to have the "
            f"same length, but got a spacing argument of length {len(steps)} and a dim argument of length {len(axes)}."
        )
    if any(len(shape_of(step)) > 1 for step in steps):
        raise ShapeError("torch.gradient expected each element of spacing to have one dimension, or none")
    return tuple([_slope(input, step, axis, edge_order) for step, axis in zip(steps, axes, strict=True)])

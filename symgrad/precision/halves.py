"""Kernels of half precision (float16, bfloat16) that agree with torch's to the last digit, where rounding shows.

An op of half precision computes in float32 and rounds once (:meth:`symgrad.op.Op.in_float32`).  Here stand those that
torch computes otherwise: rounded after every step, or with other steps.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from symgrad import kernels
from symgrad.dtypes import is_bfloat16, rounded_to, widened
from symgrad.precision import adding, single

_LANES = 32
"""Entries of two vector registers, which torch computes at a time."""


def _rounding(x: Any) -> Callable[[Any], Any]:
    """What rounds a value to the precision of ``x`` and gives it in float32."""
    dtype = x.dtype
    return lambda value: widened(rounded_to(value, dtype))


def in_vectors(vectors: Callable[..., Any], rest: Callable[..., Any]) -> Callable[..., Any]:
    """A kernel of neighbouring entries in vectors, and another one of what is left of them; numbers are for both."""

    def run(*xs: Any) -> Any:
        arrays = [x for x in xs if hasattr(x, "dtype")]
        shape = arrays[0].shape
        alike = all(isinstance(x, np.ndarray) and x.flags.c_contiguous and x.shape == shape for x in arrays)
        whole = arrays[0].size // _LANES * _LANES if alike else 0
        if not whole:
            return rest(*xs)
        flat = [x.reshape(-1) if hasattr(x, "dtype") else x for x in xs]
        parts = [[x[part] if hasattr(x, "dtype") else x for x in flat] for part in (slice(whole), slice(whole, None))]
        return np.concatenate([vectors(*parts[0]), rest(*parts[1])]).reshape(shape)

    run.by_place = True  # type: ignore[attr-defined]
    return run


def once(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """A kernel of float32, rounded once."""
    return lambda *xs: rounded_to(kernel(*map(widened, xs)), xs[-1].dtype)


def sigmoid_slope(g: Any, y: Any) -> Any:
    """g (1 - y) y, rounded after every step in float16."""
    if y.dtype == np.float16 == g.dtype:
        r, wide = _rounding(y), widened(y)
        return rounded_to(r(widened(g) * r(1 - wide)) * wide, y.dtype)
    return rounded_to(widened(g) * (1 - widened(y)) * widened(y), y.dtype)


def _rsqrt(x: Any) -> Any:
    r = _rounding(x)
    with np.errstate(divide="ignore", invalid="ignore"):
        return rounded_to(1 / r(np.sqrt(widened(x))), x.dtype)


rsqrt = in_vectors(once(lambda x: 1 / np.sqrt(x)), _rsqrt)
"""1/√x; the root is rounded where torch takes entry by entry."""


def power(x: Any, y: Any) -> Any:
    """Powers of bfloat16 that torch makes of products, rounded after every one; of float16 it makes none."""
    if y.__class__ not in (int, float) or y not in (3, -2, -0.5) or not is_bfloat16(x.dtype):
        return NotImplemented
    if y == -0.5:
        return rsqrt(x)
    r, wide = _rounding(x), widened(x)
    with np.errstate(over="ignore", divide="ignore"):
        square = r(wide * wide)
        return rounded_to(square * wide if y == 3 else 1 / square, x.dtype)


def sech(x: Any) -> Any:
    """1/cosh x, the cosine rounded."""
    with np.errstate(over="ignore"):
        return rounded_to(1 / _rounding(x)(np.cosh(widened(x))), x.dtype)


def _divided(x: Any, y: Any) -> Any:
    """x, and a number rounded, in float32."""
    return widened(x if hasattr(x, "dtype") else np.asarray(x).astype(y.dtype)[()])


def div(x: Any, y: Any) -> Any:
    """x / y; a number x is rounded first."""
    return rounded_to(_divided(x, y) / widened(y), x.dtype if hasattr(x, "dtype") else y.dtype)


def _whole_quotient(steps: Callable[..., Any], at_once: Callable[..., Any]) -> Callable[..., Any]:
    """A whole quotient in rounded steps, by a number (also one of a tensor) at once."""

    def run(x: Any, y: Any) -> Any:
        with np.errstate(all="ignore"):
            if getattr(y, "shape", ()):
                return steps(x, y)
            return rounded_to(at_once(widened(x), widened(y)), getattr(x, "dtype", None) or y.dtype)

    return run


def _div_trunc(x: Any, y: Any) -> Any:
    return rounded_to(np.trunc(widened(div(x, y))), y.dtype)


def _div_floor(x: Any, y: Any) -> Any:
    """The quotient without its rest: rest, difference and quotient rounded one by one."""
    r, dtype, x, y = _rounding(y), y.dtype, _divided(x, y), widened(y)
    rest = np.fmod(x, y)
    quotient = r(r(x - rest) / y)
    quotient = np.where((rest != 0) & ((y < 0) != (rest < 0)), quotient - 1, quotient)
    down = np.floor(quotient)
    down = np.where(quotient - down > 0.5, down + 1, down)
    simple = x / y
    down = np.where(quotient == 0, np.copysign(0, simple), down)
    return rounded_to(np.where(y == 0, simple, down), dtype)


div_trunc = _whole_quotient(_div_trunc, kernels.div_trunc)
div_floor = _whole_quotient(_div_floor, np.floor_divide)


def _plus_multiple(x: Any, y: Any, number: Any) -> Any:
    r = _rounding(x)
    return rounded_to(widened(x) + r(widened(y) * widened(x.dtype.type(number))), x.dtype)


plus_multiple = in_vectors(
    lambda x, y, number: rounded_to(widened(x) + widened(y) * widened(x.dtype.type(number)), x.dtype), _plus_multiple
)
"""x + number · y with the number rounded, and the product where torch takes entry by entry."""


def scaled_reciprocal(y: Any, number: Any) -> Any:
    """number · (1/y), the reciprocal rounded."""
    return rounded_to(_rounding(y)(1 / widened(y)) * np.float32(number), y.dtype)


def by_divisor(g: Any, x: Any, y: Any) -> Any:
    """-(g x)/y² from the rounded 1/y, rounded after every step."""
    r = _rounding(y)
    inverse = r(1 / widened(y))
    x = x if hasattr(x, "dtype") else np.float32(x)
    return rounded_to(-r(widened(g) * widened(x)) * r(inverse * inverse), y.dtype)


erf = once(single.erf_by_fraction)
"""The error function by torch's approximation."""


_ROOT = np.float32(math.sqrt(0.5))


def _gelu(x: Any) -> Any:
    return x * np.float32(0.5) * (1 + single.rounded(kernels.erf)(x * _ROOT))


def _gelu_slope(g: Any, x: Any) -> Any:
    density = np.float32(1 / math.sqrt(2 * math.pi)) * single._exp(np.float32(-0.5) * x * x)
    below = np.float32(0.5) * (1 + single.rounded(kernels.erf)(x * _ROOT))
    return g * (below + x * density)


def _gelu_of_vectors(x: Any) -> Any:
    """x (1 + erf(x/√2))/2, the sum rounded once."""
    middle = x * np.float32(0.5)
    return single.product_plus(single.erf_by_fraction(x * _ROOT), middle, middle)


def _gelu_slope_of_vectors(g: Any, x: Any) -> Any:
    t = x * _ROOT
    density = t * np.float32(1 / math.sqrt(math.pi)) * single._exp(-(t * t))
    return g * single.product_plus(single.erf_by_fraction(t), np.float32(0.5), density + np.float32(0.5))


gelu = in_vectors(once(_gelu_of_vectors), once(_gelu))
gelu_slope = in_vectors(once(_gelu_slope_of_vectors), once(_gelu_slope))


def ndtr(x: Any) -> Any:
    """(1 + erf(x/√2))/2, rounded after every step."""
    r = _rounding(x)
    return rounded_to(
        r(1 + r(single.erf_by_fraction(r(widened(x) * np.float32(math.sqrt(0.5)))))) * np.float32(0.5), x.dtype
    )


def _times_log(name: str) -> Callable[[Any, Any], Any]:
    logarithm = {"xlogy": np.log, "xlog1py": np.log1p}[name]

    def run(x: Any, y: Any) -> Any:
        dtype = (x if hasattr(x, "dtype") else y).dtype
        x, y = (np.asarray(part, getattr(part, "dtype", dtype)) for part in (x, y))
        zero = np.equal(x, 0) & ~np.isnan(y)
        r = _rounding(y)
        with np.errstate(divide="ignore"):
            value = widened(x) * r(single.rounded(logarithm)(np.where(zero, np.float32(1), widened(y))))
        return rounded_to(np.where(zero, np.float32(0), value), y.dtype)[()]

    return run


xlogy, xlog1py = _times_log("xlogy"), _times_log("xlog1py")


def _times_log_or_zero(product: Callable[[Any, Any], Any], pole: int) -> Callable[[Any, Any, Any], Any]:
    def run(g: Any, x: Any, y: Any) -> Any:
        dtype = next(part.dtype for part in (g, y, x) if hasattr(part, "dtype"))
        g, y = (np.asarray(part, getattr(part, "dtype", dtype)) for part in (g, y))
        past = np.equal(x, 0) & np.less_equal(y, pole)
        return np.where(past, g.dtype.type(0), product(g, np.where(past, g.dtype.type(1), y)))[()]

    return run


xlogy_slope, xlog1py_slope = _times_log_or_zero(xlogy, 0), _times_log_or_zero(xlog1py, -1)


def dsinc(x: Any) -> Any:
    """The derivative of sinc, rounded after every step; 0 where πx² is."""
    r, wide = _rounding(x), widened(x)
    pi = np.float32(math.pi)
    t, below = r(wide * pi), r(r(wide * wide) * pi)
    zero = below == 0
    with np.errstate(invalid="ignore", over="ignore"):
        top = r(r(t * r(single._cos(t))) - r(single._sin(t)))
        return rounded_to(np.where(zero, np.float32(0), top / np.where(zero, np.float32(1), below)), x.dtype)[()]


def entr(x: Any) -> Any:
    """-x log x with the logarithm rounded, 0 at 0, -inf below."""
    x = np.asarray(x)
    wide = widened(x)
    inside = np.where(wide > 0, wide, np.float32(1))
    value = -inside * _rounding(x)(single._log(inside))
    return rounded_to(np.where(wide < 0, -np.inf, np.where(wide > 0, value, wide)), x.dtype)[()]


def log_odds(x: Any) -> Any:
    """log(x/(1 - x)), rounded after every step."""
    r = _rounding(x)
    with np.errstate(divide="ignore", invalid="ignore"):
        return rounded_to(single._log(r(widened(x) / r(1 - widened(x)))), x.dtype)


def logsigmoid_slope(g: Any, x: Any) -> Any:
    """g times the slope of logsigmoid, from the rounded e^-|x|."""
    wide = widened(x)
    return rounded_to(single.slope_from_tail(widened(g), wide, _rounding(x)(single._exp(-np.abs(wide)))), x.dtype)


def hardshrink(x: Any, by: Any) -> Any:
    """x, and 0 within a number of 0, which is rounded first."""
    return kernels.masked(x, np.logical_not(np.abs(widened(x)) <= widened(x.dtype.type(by))))


def gated(x: Any, gate: Any) -> Any:
    """x/(1 + e^-gate), rounded after every step."""
    r = _rounding(x)
    with np.errstate(over="ignore"):
        return rounded_to(widened(x) / r(1 + r(single._exp(-widened(gate)))), x.dtype)


def squared_error(x: Any, y: Any) -> Any:
    """(x - y)², the difference rounded."""
    d = _rounding(x)(widened(x) - widened(y))
    return rounded_to(d * d, x.dtype)


# ------------------------------------------------------------------------------------------ along axes


def shifted_exp(x: Any, y: Any) -> Any:
    """e^(x - y), the difference rounded, and 0 where both are -inf."""
    dtype = x.dtype
    y = np.where(y == -np.inf, np.float32(0), widened(y))
    return rounded_to(single._exp(widened(rounded_to(widened(x) - y, dtype))), dtype)[()]


def logsumexp(x: Any, dim: tuple[int, ...], keepdim: bool) -> Any:
    """log Σ e^x, shifted by the maximum, rounded after every step."""
    r, wide = _rounding(x), widened(x)
    top = kernels.largest(wide, dim)
    top = np.where(np.isfinite(top), top, np.float32(0))
    with np.errstate(divide="ignore"):
        out = rounded_to(r(single._log(r(adding.total(r(single._exp(r(wide - top))), dim, True)))) + top, x.dtype)
    return out if keepdim else np.squeeze(out, dim)[()]


def softmax(x: Any, dim: int) -> Any:
    """e^x / Σ e^x along one axis; e^x is rounded in between but along the last one."""
    wide = widened(x)
    if not x.size or dim % x.ndim == x.ndim - 1:
        return rounded_to(single.softmax(wide, dim), x.dtype)
    e = single._exp(wide - kernels.largest(wide, dim))
    return rounded_to(_rounding(x)(e) / single._kept(e, dim), x.dtype)


def log_softmax(x: Any, dim: int) -> Any:
    """x - log Σ e^x along one axis; along the last one the sum and its logarithm are rounded."""
    wide = widened(x)
    if not x.size or dim % x.ndim != x.ndim - 1:
        return rounded_to(single.log_softmax(wide, dim), x.dtype)
    r, y = _rounding(x), wide - kernels.largest(wide, dim)
    return rounded_to(y - r(single._log(r(single._kept(single._exp(y), dim)))), x.dtype)


def prod(x: Any, dim: int, keepdim: bool = False) -> Any:
    """The product along an axis, in turn and rounded after every step; a long one in float32."""
    wide = widened(np.asarray(x))
    if not wide.ndim or not 1 < wide.shape[dim] < 2 * _LANES:
        return rounded_to(wide.prod(dim, keepdims=keepdim), x.dtype)
    r, rows = _rounding(x), np.moveaxis(wide, dim, 0)
    out = rounded_to(functools.reduce(lambda a, b: r(a * b), rows), x.dtype)
    return np.expand_dims(out, dim) if keepdim else out[()]


def cumprod_divided(g: Any, out: Any, x: Any, dim: int) -> Any:
    """The sums of g_j · out_j for j >= i, over x_i: products, sums and quotients rounded; where one fails, once."""
    g, out, x = np.broadcast_arrays(g, out, x)
    if not kernels.divisible(widened(out), widened(x)):
        return rounded_to(kernels.cumprod_divided(widened(g), widened(out), widened(x), dim), x.dtype)
    r = _rounding(x)
    terms = np.flip(r(widened(g) * widened(out)), dim)
    return rounded_to(r(np.flip(np.cumsum(terms, dim, np.float32), dim)) / widened(x), x.dtype)

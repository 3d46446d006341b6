"""Kernels of single precision (float32, complex64) that agree with torch's to the last digit.

A rounding error of float32 is one part in ten million, which a comparison in float64 sees.  Smooth functions are
computed in float64 and rounded once, see :func:`rounded`; sums stand in :mod:`symgrad.precision.adding`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from symgrad import kernels
from symgrad.dtypes import rounded_to
from symgrad.precision.adding import VECTOR, in_turn, total

_LARGEST = float(np.finfo(np.float32).max)


def _widened(x: Any) -> Any:
    """An operand in double precision; a plain number is what single precision has of it."""
    if isinstance(x, (np.ndarray, np.generic)):
        return x.astype(np.complex128 if x.dtype.kind == "c" else np.float64)
    return math.copysign(math.inf, x) if abs(x) > _LARGEST else np.float64(np.float32(x))


def rounded(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """A smooth function of float32 entries: computed in float64 and rounded once."""

    def run(*xs: Any, **params: Any) -> Any:
        out = kernel(*map(_widened, xs), **params)
        return out.astype(np.complex64 if out.dtype.kind == "c" else np.float32)

    return run


def real(single: Callable[..., Any], kernel: Callable[..., Any]) -> Callable[..., Any]:
    """A kernel of float32 beside the one that complex64 keeps."""

    def run(*xs: Any, **params: Any) -> Any:
        first = xs[1] if xs[0].__class__ in (int, float) else xs[0]
        return (single if first.dtype.kind == "f" else kernel)(*xs, **params)

    return run


def smooth(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """A smooth function of float32 entries, in float64 and rounded once; complex64 as it is."""
    return real(rounded(kernel), kernel)


def libms(kernel: Callable[..., Any]) -> Callable[..., Any] | None:
    """The kernel of a function whose float32 torch takes from the C library, as NumPy does on most machines.

    Where NumPy has vectors of its own (AVX-512), their last digits are others than the C library's, and up to four
    units off: there the function is computed in float64 and rounded once.
    """
    return smooth(kernel) if NUMPYS_VECTORS else None


_CONFIG: Any = np.show_config("dicts")
_EXTENSIONS = _CONFIG.get("SIMD Extensions", {})  # empty entries are left out of it
NUMPYS_VECTORS = any({"AVX512_SKX", "X86_V4"} & {*_EXTENSIONS.get(kind, ())} for kind in ("baseline", "found"))
"""Whether NumPy computes hyperbolic and inverse functions by AVX-512 instructions on this machine."""


def logsumexp(x: Any, dim: tuple[int, ...], keepdim: bool) -> Any:
    """log Σ e^x, shifted by the maximum, every step rounded."""
    if x.dtype.kind == "c":
        return kernels.logsumexp(x, dim, keepdim)
    top = kernels.largest(x, dim)
    top = np.where(np.isfinite(top), top, np.float32(0))
    with np.errstate(divide="ignore"):
        out = _log(total(_exp(x - top), dim, True)) + top
    return out if keepdim else np.squeeze(out, dim)[()]


def shifted_exp(x: Any, y: Any) -> Any:
    """e^(x - y), the difference rounded, and 0 where both are -inf."""
    if np.iscomplexobj(x) or np.iscomplexobj(y):
        return kernels.shifted_exp(x, y)
    return _exp(np.asarray(x - np.where(y == -np.inf, np.float32(0), y)))[()]


def softmax(x: Any, dim: int) -> Any:
    """e^x / Σ e^x along one axis; times the reciprocal along the last, as torch."""
    if not x.size:
        return np.copy(x)
    e = _exp(x - kernels.largest(x, dim))
    if dim % x.ndim == x.ndim - 1:
        return e * (1 / _kept(e, dim))
    return e / _kept(e, dim)


def softmax_slope(g: Any, out: Any, dim: int) -> Any:
    """g times the slope of a softmax, the sum in torch's order."""
    return out * (g - total(g * out, (dim,), True))


def log_softmax_slope(g: Any, out: Any, dim: int) -> Any:
    """g pulled back through a log_softmax, the product and the difference rounded once."""
    return product_plus(_exp(out), -total(g, (dim,), True), g)


def log_softmax(x: Any, dim: int) -> Any:
    """x - log Σ e^x along one axis, shifted by the maximum, every step rounded."""
    if not x.size:
        return np.copy(x)
    y = x - kernels.largest(x, dim)
    return y - _log(_kept(_exp(y), dim))


def label_cross_entropy(x: Any, labels: Any) -> Any:
    """-log softmax of the entry that its label names, of every row, every step rounded."""
    return -kernels.chosen(log_softmax(x, -1), labels)


def _kept(e: Any, dim: int) -> Any:
    """The sums along an axis, in turn; along the last one vector by vector, whose halves add up in the end."""
    lanes = VECTOR // e.itemsize
    if dim % e.ndim != e.ndim - 1 or e.shape[-1] < lanes:
        return in_turn(e[None].swapaxes(0, dim % e.ndim + 1))
    count = e.shape[-1]
    vectors = np.zeros((-(-count // lanes) * lanes, *e.shape[:-1]), e.dtype)
    vectors[:count] = e.transpose(-1, *range(e.ndim - 1))
    parts = in_turn(vectors.reshape(-1, lanes, *e.shape[:-1]))
    while len(parts) > 1:
        parts = parts[: len(parts) // 2] + parts[len(parts) // 2 :]
    return parts[0][..., None]


_exp, _log, _log1p, _sin, _cos = map(rounded, (np.exp, np.log, np.log1p, np.sin, np.cos))
_tanh, _expm1 = map(rounded, (np.tanh, np.expm1))


def sigmoid(x: Any) -> Any:
    """1/(1 + e^-x), every step rounded."""
    with np.errstate(over="ignore"):
        return 1 / (1 + _exp(-x))


def gated(x: Any, gate: Any) -> Any:
    """x/(1 + e^-gate), every step rounded."""
    with np.errstate(over="ignore"):
        return x / (1 + _exp(-gate))


def glu(x: Any, gate: Any) -> Any:
    """x times the logistic function of the gate, every step rounded."""
    return x * sigmoid(gate)


def softplus_slope(g: Any, x: Any) -> Any:
    """g e^x/(e^x + 1), every step rounded, and g where e^x would be too large."""
    e = _exp(np.minimum(x, np.float32(20)))
    return np.where(x > 20, g, g * e / (e + 1))[()]


def softplus(x: Any) -> Any:
    """log(1 + e^x), and x where e^x would be too large."""
    with np.errstate(over="ignore"):
        return np.where(x > 20, x, np.log1p(_exp(np.minimum(x, np.float32(20)))))[()]


def logsigmoid(x: Any) -> Any:
    """log of the sigmoid, every step rounded."""
    return np.minimum(x, np.float32(0)) - _log1p(_exp(-np.abs(x)))


def logsigmoid_slope(g: Any, x: Any) -> Any:
    """g times the slope of logsigmoid, from e^-|x|."""
    return slope_from_tail(g, x, _exp(-np.abs(x)))


def slope_from_tail(g: Any, x: Any, tail: Any) -> Any:
    """g/(1 + e^x) from ``tail``, which is e^-|x|, every step rounded."""
    return g * (
        np.where(x < 0, np.float32(1), np.float32(0))
        - np.where(x < 0, np.float32(1), np.float32(-1)) * (tail / (1 + tail))
    )


def erf_by_fraction(x: Any) -> Any:
    """The error function by formula 7.1.26 of Abramowitz and Stegun."""
    t = 1 / product_plus(np.abs(x), np.float32(0.3275911), np.float32(1))
    r = np.float32(1.061405429)
    for coefficient in (-1.453152027, 1.421413741, -0.284496736, 0.254829592):
        r = product_plus(t, r, np.float32(coefficient))
    return np.copysign(product_plus(-_exp(-(x * x)) * t, r, np.float32(1)), x)


_HALF = np.float32(0.5)


def gelu_by_tanh(x: Any) -> Any:
    """gelu with tanh in place of the error function."""
    return _HALF * x * (1 + _tanh(_bow(x)))


def _bow(x: Any) -> Any:
    return np.float32(math.sqrt(2 / math.pi)) * product_plus(x * x * x, np.float32(0.044715), x)


def gelu_by_tanh_slope(g: Any, x: Any) -> Any:
    """g times the slope of gelu_by_tanh."""
    t = _tanh(_bow(x))
    steep = product_plus(x * x, np.float32(3) * np.float32(0.044715), np.float32(1))
    inner = _HALF * x * product_plus(-t, t, np.float32(1)) * (np.float32(math.sqrt(2 / math.pi)) * steep)
    return g * (_HALF * (1 + t) + inner)


def mish(x: Any) -> Any:
    """x tanh(log(1 + e^x)), every step rounded."""
    with np.errstate(over="ignore"):
        return x * _tanh(_log1p(_exp(x)))


def elu(x: Any, alpha: Any, scale: Any, divisor: Any) -> Any:
    """scale x above 0, scale alpha (e^(x/divisor) - 1) below; the factors first."""
    low = _expm1(np.minimum(x, np.float32(0)) * np.float32(1 / divisor)) * np.float32(scale * alpha)
    return np.where(x < 0, low, x * np.float32(scale))[()]


def elu_slope(g: Any, x: Any, alpha: Any, scale: Any, divisor: Any) -> Any:
    """g times the slope of elu, at 0 that from below."""
    inner = np.float32(1 / divisor)
    low = g * inner * np.float32(scale * alpha) * _exp(np.minimum(x, np.float32(0)) * inner)
    return np.where(x > 0, g * np.float32(scale), low)[()]


def sinc(x: Any) -> Any:
    """sin(πx)/(πx) with πx rounded, 1 at 0."""
    t = np.float32(math.pi) * x
    zero = t == 0
    return np.where(zero, np.float32(1), _sin(t) / np.where(zero, np.float32(1), t))[()]


def cast(x: Any, dtype: Any) -> Any:
    """A copy in another dtype, sooner where that is float16."""
    plain = x.dtype == np.float32 and str(dtype) == "float16" and x.flags.c_contiguous and 1 not in x.shape
    return rounded_to(x, np.dtype(dtype)) if plain else kernels.copied(x, dtype)


def product_plus(a: Any, b: Any, c: Any) -> Any:
    """a b + c of float32, rounded once; a number is rounded first."""
    if a.dtype.kind == "c" or c.dtype.kind == "c":
        return a * b + c
    wide = a.astype(np.float64)
    if isinstance(b, np.ndarray):
        wide = wide * b
    else:
        wide *= np.float32(b)
    if wide.shape == c.shape:
        wide += c
    else:
        wide = wide + c
    return wide.astype(np.float32)


def addcmul(c: Any, x: Any, y: Any, value: Any) -> Any:
    """c + value x y."""
    return product_plus(x if value.__class__ is int and value == 1 else x * np.float32(value), y, c)


def lerp(x: Any, y: Any, weight: Any) -> Any:
    """x + weight (y - x), or the same from y where that is nearer."""
    weight = weight if hasattr(weight, "dtype") or isinstance(weight, complex) else np.float32(weight)
    near = abs(weight) < 0.5
    if not near.ndim:
        return product_plus(y - x, weight, x) if near else product_plus(y - x, weight - 1, y)
    return product_plus(y - x, np.where(near, weight, weight - 1), np.where(near, x, y))


def scaled_reciprocal(y: Any, number: Any) -> Any:
    """number · (1/y)."""
    return 1 / y * (number if y.dtype.kind == "c" or hasattr(number, "dtype") else np.float32(number))


def xlogy(x: Any, y: Any) -> Any:
    """x log y with the logarithm rounded, and 0 where x is 0."""
    zero = np.equal(x, 0) & ~np.isnan(y)
    return np.where(zero, np.float32(0), x * _log(np.where(zero, np.float32(1), y)))[()]


def xlogy_slope(g: Any, x: Any, y: Any) -> Any:
    """g log y in the same way, and 0 where x is 0 and y not positive."""
    past = np.equal(x, 0) & np.less_equal(y, 0)
    return np.where(past, np.float32(0), xlogy(g, np.where(past, np.float32(1), y)))[()]


def digamma(x: Any) -> Any:
    """ψ(x) for x > 0 by recurrence up to 10 and the asymptotic series, in float32 throughout."""
    if not (x > 0).all():
        return kernels.digamma(x)
    out, y = np.zeros_like(x), x
    for _ in range(10):
        small = y < 10
        out = np.where(small, out - 1 / y, out)
        y = np.where(small, y + 1, y)
    t = 1 / (y * y)
    series = np.zeros_like(t)
    for coefficient in (1 / 12, -691 / 32760, 1 / 132, -1 / 240, 1 / 252, -1 / 120, 1 / 12):
        series = series * t + np.float32(coefficient)
    far = out + _log(y) - np.float32(0.5) / y - t * series
    return np.where(y == 10, out + np.float32(2.251752589066721), far)[()]


def polygamma(x: Any, n: int) -> Any:
    """ψ′(x) for x >= 1/2 by recurrence over 6 and the asymptotic series, in float32 throughout; others as they are."""
    if n != 1 or x.dtype.kind == "c" or not (x >= 0.5).all():
        return kernels.polygamma(x, n)
    out, y, one = np.zeros_like(x), x, np.float32(1)
    for _ in range(6):
        out = out + one / (y * y)
        y = y + one
    t = one / (y * y)
    sixth, thirtieth, last = (one / np.float32(k) for k in (6, 30, 42))
    return out + kernels.fused(t, sixth - t * (thirtieth - t * last), one + one / (2 * y)) / y


def one_less_square(x: Any) -> Any:
    """1 - x² without rounding x², as a fused multiply-add."""
    wide = x.astype(np.complex128 if x.dtype.kind == "c" else np.float64)
    return (1 - wide * wide).astype(x.dtype)


def tanh_slope(g: Any, y: Any) -> Any:
    """g (1 - y²) without rounding y²."""
    return g * one_less_square(y)


def dsinc(x: Any) -> Any:
    """The derivative of sinc, every step rounded; near 0, where the steps lose three digits or all, by its series."""
    t, below = np.float32(math.pi) * x, x * x * np.float32(math.pi)
    zero = np.abs(t) < np.float32(0.0625)
    return np.where(zero, kernels.dsinc(x), (t * _cos(t) - _sin(t)) / np.where(zero, np.float32(1), below))[()]


@np.errstate(all="ignore")
def det(x: Any) -> Any:
    """The product of the pivots that elimination of the transpose finds, every step rounded, as in torch; few rows."""
    n = x.shape[-1]
    if n > 16 or x.ndim != 2:
        return np.linalg.det(x)
    rows, out = x.T.copy(), np.float32(1)
    for k in range(n):
        best = k + int(np.abs(rows[k:, k]).argmax())
        if best != k:
            rows[[k, best]], out = rows[[best, k]], -out
        pivot, below = rows[k, k], n - 1 - k
        if below and pivot != 0:
            # The reciprocal is taken once for several rows; in small matrices the last one is divided.
            column = rows[k + 1 :, k] / pivot if below == 1 and n <= 4 else rows[k + 1 :, k] * (np.float32(1) / pivot)
            rows[k + 1 :, k + 1 :] -= column[:, None] * rows[k, k + 1 :]
    for k in range(n):
        out = out * rows[k, k]
    return out

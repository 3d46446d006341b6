"""What is not entrywise, on arrays of mpmath's numbers: sums, softmax, transforms, and what only asks for an order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from symgrad import kernels
from symgrad.precision.digits.numbers import by_entry, div, log, power, trunc

__all__ = [
    "cast", "complex_of", "fourier", "logcumsumexp", "logsumexp", "middle", "norm", "parts_of_complex",
    "prod_others", "ranks", "softmax", "std", "total", "var",
]  # fmt: skip

_exp = by_entry(lambda mp, x: mp.exp(x))
_log = by_entry(log)
_abs = by_entry(lambda mp, x: abs(x))
_sqrt = by_entry(lambda mp, x: mp.sqrt(x))
_div = by_entry(div)
_power = by_entry(power)
_not_zero = by_entry(lambda mp, x: x != 0)


def ranks(x: Any) -> Any:
    """Small numbers in the order of the entries."""
    x = np.asarray(x)
    place = {v: k for k, v in enumerate(sorted({v for v in x.flat if v == v}))}
    return np.array([place.get(v, np.nan) for v in x.flat], float).reshape(x.shape)


def middle(mp: Any, x: Any, skip_nan: bool) -> Any:
    """The lower median."""
    x = np.asarray(x)
    place = kernels.middle(ranks(x), skip_nan=skip_nan)
    return x[np.argmax(ranks(x) == place)] if place == place else mp.nan


def total(mp: Any, x: Any, dim: Any, keepdim: bool) -> Any:
    """The sum over axes."""
    return np.sum(np.asarray(x), axis=dim, keepdims=keepdim)


def logsumexp(mp: Any, x: Any, dim: Any, keepdim: bool) -> Any:
    """log Σ e^x over axes."""
    return _log(mp, total(mp, _exp(mp, x), dim, keepdim))


def logcumsumexp(mp: Any, x: Any, dim: int) -> Any:
    """The running one along an axis."""
    return _log(mp, np.cumsum(_exp(mp, x), dim))


def softmax(mp: Any, x: Any, dim: int) -> Any:
    """e^x / Σ e^x along an axis."""
    made = _exp(mp, x)
    return made / total(mp, made, dim, True)


def var(mp: Any, x: Any, dim: Any, correction: Any, keepdim: bool) -> Any:
    """The variance over axes."""
    x = np.asarray(x)
    count = int(np.prod([x.shape[k] for k in dim], dtype=int))
    off = _abs(mp, x - total(mp, x, dim, True) / count)
    return _div(mp, total(mp, off * off, dim, keepdim), mp.mpf(max(count - correction, 0)))


def std(mp: Any, x: Any, dim: Any, correction: Any, keepdim: bool) -> Any:
    """Its root."""
    return _sqrt(mp, var(mp, x, dim, correction, keepdim))


def norm(mp: Any, x: Any, p: Any, dim: Any, keepdim: bool) -> Any:
    """The p-norm over axes."""
    size = _abs(mp, x)
    if np.isinf(p):
        return (np.max if p > 0 else np.min)(size, axis=dim, keepdims=keepdim)
    if p == 0:
        return total(mp, _not_zero(mp, size), dim, keepdim)
    return _power(mp, total(mp, _power(mp, size, mp.mpf(p)), dim, keepdim), 1 / mp.mpf(p))


def prod_others(mp: Any, x: Any, dim: int) -> Any:
    """The product of all other entries along an axis."""
    x = np.moveaxis(np.asarray(x), dim, 0)
    one = np.full_like(x[:1], mp.mpf(1))
    before = np.multiply.accumulate(np.concatenate([one, x[:-1]]), axis=0)
    after = np.multiply.accumulate(np.concatenate([one, x[:0:-1]]), axis=0)[::-1]
    return np.moveaxis(before * after, 0, dim)


def fourier(mp: Any, x: Any, dims: Sequence[int], inverse: bool, norm: str) -> Any:
    """The discrete Fourier transform along axes."""
    x = np.asarray(x)
    scaled = {"ortho": 0.5, "forward": 0 if inverse else 1, "backward": 1 if inverse else 0}[norm or "backward"]
    for dim in dims:
        n = x.shape[dim]
        roots = np.array([mp.expjpi(mp.mpf(2 * k if inverse else -2 * k) / n) for k in range(n)], dtype=object)
        matrix = roots[np.outer(np.arange(n), np.arange(n)) % n]
        x = np.moveaxis(np.tensordot(matrix, x, (1, dim)), 0, dim) / mp.power(n, scaled)
    return x


def cast(mp: Any, x: Any, dtype: Any) -> Any:
    """Truth values or integers; floats and complex numbers are exact as they are."""
    kind = np.dtype(dtype).kind
    if kind == "b":
        return _not_zero(mp, x)
    if kind in "iu":
        return np.asarray(by_entry(trunc)(mp, x)).astype(np.int64)
    return x


def complex_of(mp: Any, x: Any, y: Any) -> Any:
    """x + iy, part by part."""
    return np.frompyfunc(mp.mpc, 2, 1)(np.asarray(x, object), np.asarray(y, object))


def parts_of_complex(mp: Any, x: Any) -> Any:
    """Real and imaginary parts along a new last axis."""
    return np.stack([np.frompyfunc(part, 1, 1)(np.asarray(x)) for part in (mp.re, mp.im)], axis=-1)

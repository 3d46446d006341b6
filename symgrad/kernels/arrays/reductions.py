"""Reductions over axes: sums of exponentials without overflow, variances, norms, truth values."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from symgrad.kernels.arrays.index import chosen


def largest(x: Any, dim: Any) -> Any:
    """The maximum along axes that stay; -inf where there are no entries.  Integers have no such value."""
    if not x.size:
        return np.full(np.sum(x, dim, keepdims=True).shape, -np.inf if x.dtype.kind == "f" else 0, x.dtype)
    if x.size > 2048 and x.shape[-1] < 24 and dim in (-1, x.ndim - 1, (x.ndim - 1,)):
        # Of many short rows NumPy compares columns several times faster.
        return np.maximum.reduce(np.ascontiguousarray(np.moveaxis(x, -1, 0)), 0)[..., None]
    return np.maximum.reduce(x, dim, keepdims=True)


def logsumexp(x: Any, dim: tuple[int, ...], keepdim: bool) -> Any:
    """log Σ e^x, shifted by the maximum; -inf for all -inf, +inf when an entry is.

    Where the maximum is small and outweighs the others, they are added up without it (P. Blanchard, D. J. Higham and
    N. J. Higham, "Accurately computing the log-sum-exp and softmax functions", 2021): log Σ e^(0, -41) is e^-41.
    """
    top = largest(x.real, dim)
    top = np.where(np.isfinite(top), top, 0)
    with np.errstate(divide="ignore"):
        total = np.sum(np.exp(x - top), dim, keepdims=True)
        out = np.log(total) + top
    if x.dtype.kind == "f" and np.any(small := (abs(out) < 1) & (total < 1.5)):
        out = np.where(small, np.log1p(_others(x, top, dim)) + top, out)
    return out if keepdim else np.squeeze(out, dim)[()]


def _others(x: Any, top: Any, dim: tuple[int, ...]) -> Any:
    """Σ e^(x - top) without one entry that is the largest."""
    terms, axes = np.exp(x - top), [d % x.ndim for d in dim]
    rows = np.moveaxis(terms, axes, range(-len(axes), 0))
    flat = rows.reshape(*rows.shape[: rows.ndim - len(axes)], -1)
    np.put_along_axis(flat, np.argmax(flat, -1)[..., None], 0, -1)
    return np.expand_dims(np.sum(flat, -1), tuple(axes))


def softmax(x: Any, dim: int) -> Any:
    """e^x / Σ e^x along one axis, shifted by the maximum."""
    if not x.size:
        return np.copy(x)
    out = np.exp(x - largest(x, dim))
    out /= np.add.reduce(out, dim, keepdims=True)
    return out


def shares(x: Any, dim: int) -> Any:
    """e^x / Σ e^x along one axis as the slope of logsumexp has it: 0 where all are -inf, and beside an inf."""
    top = largest(x, dim)
    out = np.exp(x - np.where(top == -np.inf, 0, top))
    out /= np.where(np.isfinite(top), np.add.reduce(out, dim, keepdims=True), 1)
    return out


def logsumexp_and_shares(x: Any, dim: int) -> tuple[Any, Any]:
    """log Σ e^x along one axis, which stays, and e^x / Σ e^x: both of the same exponentials."""
    if not x.size:
        return logsumexp(x, (dim,), True), shares(x, dim)
    top = largest(x, dim)
    out = np.exp(x - np.where(top == -np.inf, 0, top))
    total = np.where(np.isfinite(top), np.add.reduce(out, dim, keepdims=True), 1)
    out /= total
    logs = np.log(total) + top
    # Rows that outweigh their maximum by little are for those who know them.
    small = np.any((abs(logs) < 1) & (total < 1.5))
    return logsumexp(x, (dim,), True) if small else logs, out


def log_softmax_and_softmax(x: Any, dim: int) -> tuple[Any, Any]:
    """x - log Σ e^x along one axis and e^x / Σ e^x: both of the same exponentials."""
    if not x.size:
        return np.copy(x), np.copy(x)
    out = x - largest(x, dim)
    shares = np.exp(out)
    total = np.add.reduce(shares, dim, keepdims=True)
    out -= np.log(total)
    shares /= total
    return out, shares


def softmax_slope(g: Any, out: Any, dim: int) -> Any:
    """g times the slope of a softmax along one axis."""
    return out * (g - np.sum(g * out, dim, keepdims=True))


def log_softmax(x: Any, dim: int) -> Any:
    """x - log Σ e^x along one axis, shifted by the maximum."""
    if not x.size:
        return np.copy(x)
    out = x - largest(x, dim)
    return out - np.log(np.add.reduce(np.exp(out), dim, keepdims=True))


def softmax_of_one(x: Any) -> Any:
    """e^x / e^x: 1, or nan where x is not finite."""
    return np.exp(x - x)


def log_softmax_of_one(x: Any) -> Any:
    """x - log e^x: 0, or nan where x is not finite."""
    return x - x


def label_cross_entropy(x: Any, labels: Any) -> Any:
    """-log softmax of the entry that its label names, of every row."""
    y = x - largest(x, -1) if x.size else x
    return -(chosen(y, labels) - np.log(np.add.reduce(np.exp(y), -1)))


def mean_over(x: Any, dim: tuple[int, ...], keepdim: bool) -> Any:
    """The arithmetic mean: what NumPy's comes to, which takes three times as long for few entries."""
    return np.add.reduce(x, dim, keepdims=keepdim) / math.prod([x.shape[k] for k in dim])  # type: ignore[call-overload]


def var(x: Any, dim: tuple[int, ...], correction: float, keepdim: bool) -> Any:
    """Sum of squared deviations over (n - correction)."""
    return var_about(x - mean_over(x, dim, True), dim, correction, keepdim)


def var_about(d: Any, dim: tuple[int, ...], correction: float, keepdim: bool) -> Any:
    """The variance from deviations off the mean."""
    count = math.prod(d.shape[k] for k in dim)
    d = centred(d, dim)
    if d.dtype.kind == "c":
        d = (d * np.conj(d)).real
    else:
        d *= d
    total = np.add.reduce(d, dim, keepdims=keepdim)  # type: ignore[call-overload]
    if count > correction:
        return np.true_divide(total, count - correction)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.true_divide(total, 0)


def centred(d: Any, dim: tuple[int, ...]) -> Any:
    """Deviations once more: a mean is rounded, so that equal entries lie off it, all as far; their variance is 0."""
    return d - np.add.reduce(d, dim, keepdims=True) / max(math.prod(d.shape[k] for k in dim), 1)


def std(x: Any, dim: tuple[int, ...], correction: float, keepdim: bool) -> Any:
    """The root of the variance; of smaller or larger deviations where squares have left the range of x."""
    total = var(x, dim, correction, keepdim)
    least = 2.2250738585072014e-308 if total.dtype.itemsize == 8 else 1.1754943508222875e-38
    ends = (total, total) if total.ndim == 0 else (total.min(initial=1), total.max(initial=1))
    left = math.prod(x.shape[k] for k in dim) - correction
    if (least <= ends[0] and ends[1] < np.inf) or left <= 0:
        return np.sqrt(total)
    return norm(centred(x - mean_over(x, dim, True), dim), 2, dim, keepdim) / math.sqrt(left)


def standardised(x: Any, dim: tuple[int, ...], eps: float) -> Any:
    """Deviations off the mean over the root of the variance and ``eps``."""
    d = x - mean_over(x, dim, True)
    d *= 1 / np.sqrt(var_about(d, dim, 0, True) + eps)
    return d


def standardised_slope(g: Any, out: Any, x: Any, dim: tuple[int, ...], eps: float) -> Any:
    """g times the slope of that: what it has along ones and along ``out`` is taken off."""
    scale = 1 / np.sqrt(var(x, dim, 0, True) + eps)
    c = g - mean_over(g, dim, True)
    c -= out * mean_over(g * out, dim, True)
    c *= scale
    return c


def sum_inside(x: Any, dim: tuple[int, ...], keepdim: bool) -> Any:
    """The sum over axes; NumPy's in the same order, whose loops over a few neighbours cost more than adding them."""
    if x.size < 8192 or x.dtype.char not in "fd":
        return np.add.reduce(x, dim, keepdims=keepdim)  # type: ignore[call-overload]
    inside, steps = tuple(range(x.ndim - len(dim), x.ndim)), [abs(step) for step in x.strides]
    few = len(dim) in (1, 2) and tuple(dim) == inside and all(1 < x.shape[k] < 8 for k in inside)
    if few and len(dim) == 2:  # NumPy takes two axes for one but where another lies between them, as in windows
        between = (n > 1 and steps[-1] <= k < steps[-2] for n, k in zip(x.shape, steps[:-2], strict=False))
        few = steps[-1] == min(steps) and any(between)
    if not few:
        return np.add.reduce(x, dim, keepdims=keepdim)  # type: ignore[call-overload]
    for _ in dim:
        first, second, *others = np.moveaxis(x, -1, 0)
        x = first + second
        for other in others:
            x += other
    return np.expand_dims(x, inside) if keepdim else x


def sum_of_squares(x: Any, dim: tuple[int, ...], keepdim: bool) -> Any:
    """The sum of the squares of real entries; those of large arrays are taken part by part, which stay in the cache."""
    if x.size <= 65536 or 0 in dim or not x.flags.c_contiguous:
        return sum_inside(x * x, dim, keepdim)
    step = max(1, 32768 * len(x) // x.size)
    parts = (x[k : k + step] for k in range(0, len(x), step))
    return np.concatenate([sum_inside(part * part, dim, keepdim) for part in parts])


def norm(x: Any, p: float, dim: tuple[int, ...], keepdim: bool) -> Any:
    """The vector p-norm over the axes ``dim``."""
    if p == 2 and x.ndim == 1 and x.size <= 1024 and x.dtype.char == "d" and dim and not keepdim:
        total = np.vdot(x, x)  # of few numbers, calls cost more than arithmetic
        if 2.2250738585072014e-308 <= total < np.inf:
            return np.sqrt(total)
    if p == 1:
        return sum_inside(np.abs(x), dim, keepdim)
    if p == math.inf:
        return np.max(np.abs(x), dim, keepdims=keepdim)
    if p == -math.inf:
        return np.min(np.abs(x), dim, keepdims=keepdim)
    if p == 0:
        return np.sum(x != 0, dim, keepdims=keepdim).astype(np.abs(x).dtype)
    # Sums that leave the range of numbers are found once more; powers below 0 are of zeros, whose norm is 0.
    with np.errstate(over="ignore", divide="ignore"):
        if p == 2 and x.dtype.kind == "f":
            return rooted(sum_of_squares(x, dim, keepdim), x, p, dim)
        size = np.abs(x)
        return rooted(np.sum(size * size if p == 2 else np.power(size, p), dim, keepdims=keepdim), size, p, dim)


def rooted(total: Any, x: Any, p: float, dim: tuple[int, ...]) -> Any:
    """The p-th root of ``total``, which is Σ|x|ᵖ; of smaller or larger entries where that has left the range of x."""
    root = np.sqrt(total) if p == 2 else np.power(total, 1 / p)
    least = 2.2250738585072014e-308 if total.dtype.itemsize == 8 else 1.1754943508222875e-38
    known = (total >= least) & (total < np.inf)
    if p <= 0 or (known if total.ndim == 0 else np.all(known)) or not x.size:
        return root
    kept = [k for k in range(x.ndim) if k not in dim]
    lost = np.logical_not(known).reshape([x.shape[k] for k in kept])
    rows = np.abs(np.transpose(x, (*kept, *dim)).reshape(*lost.shape, -1)[lost])
    top = np.max(rows, -1, keepdims=True)
    unit = np.where((top > 0) & (top < np.inf), top, np.ones_like(top))
    part = np.power(np.sum(np.power(rows / unit, p), -1), 1 / p) * unit[..., 0]
    out = np.array(root).reshape(lost.shape)
    out[lost] = part
    return out.reshape(np.shape(root))[()]


def any_true(x: Any, dim: Any, keepdim: bool) -> Any:
    """Whether some entry along axes is not zero; uint8, the truth values of old, stays uint8."""
    found = np.any(x, dim, keepdims=keepdim)
    return found.astype(x.dtype) if x.dtype == np.uint8 else found


def all_true(x: Any, dim: Any, keepdim: bool) -> Any:
    """Whether no entry along axes is zero; uint8, the truth values of old, stays uint8."""
    found = np.all(x, dim, keepdims=keepdim)
    return found.astype(x.dtype) if x.dtype == np.uint8 else found

"""Sums, variances, norms and small products of single precision, in the order of torch's additions.

Which error a sum has depends on that order: several partial sums side by side, in the order in which the entries lie
in memory (torch's ``aten/src/ATen/native/cpu/SumKernel.cpp``).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from symgrad import kernels
from symgrad.kernels.arrays import products

VECTOR = 32
"""Bytes of a vector register: entries that torch adds at the same time."""
PARTS = 4
"""Partial sums of a row, which are independent so that they overlap."""
_BLOCK = 16
"""Entries that are added in turn, at least."""


def in_turn(a: Any) -> Any:
    """The sum along the first axis, one entry after the other."""
    count = len(a)
    if count == 1:
        return a[0]
    if a.size < 8 * count:
        return np.add.accumulate(a)[-1].copy()  # not the last row of a larger array
    # NumPy adds along the shortest stride by pairs, and in turn along any other.
    if a.flags.c_contiguous:
        return np.add.reduce(a)
    hop, *steps = a.strides
    for step, size in zip(steps, a.shape[1:], strict=True):
        if 0 < step < hop and size > 1:
            return np.add.reduce(a)
    return np.add.reduce(np.ascontiguousarray(a))


def _cascade(a: Any) -> Any:
    """The sum along the first axis: blocks in turn, then the sums of blocks in turn, on four levels."""
    count = len(a)
    if count < _BLOCK:
        return in_turn(a)
    step, tops = max(_BLOCK, 1 << math.ceil(math.log2(count)) // 4), []
    for _ in range(3):
        blocks, rest = divmod(len(a), step)
        tops.append(in_turn(a[len(a) - rest :]) if rest else None)
        if not blocks:
            a = a[:0]
            break
        full = a[: blocks * step].reshape(blocks, step, *a.shape[1:])
        a = in_turn(full.swapaxes(0, 1))
    if len(a):
        tops.append(in_turn(a))
    found = [part for part in tops if part is not None]
    return functools.reduce(np.add, found)


def _row(a: Any) -> Any:
    """The sum along the first axis by independent partial sums."""
    whole = len(a) // PARTS * PARTS
    if not whole:
        return in_turn(a)
    parts = _cascade(a[:whole].reshape(whole // PARTS, PARTS, *a.shape[1:]))
    return in_turn(parts if whole == len(a) else np.concatenate([parts[:1], a[whole:], parts[1:]]))


def _vectors(a: Any, lanes: int) -> Any:
    """The sum along the first axis, whose entries are neighbours in memory: vector by vector."""
    whole = len(a) // lanes * lanes
    sums = _row(a[:whole].reshape(whole // lanes, lanes, *a.shape[1:]))
    return in_turn(sums if whole == len(a) else np.concatenate([a[whole:], sums]))


def _columns(a: Any, group: int) -> Any:
    """The sums along the first axis of a matrix: whole groups of neighbouring columns are added without parts."""
    upto = a.shape[1] // group * group
    if not upto:
        return _row(a)
    sums = _cascade(a[:, :upto])
    return sums if upto == a.shape[1] else np.concatenate([sums, _row(a[:, upto:])])


def _order(axes: list[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    """Axes ``(size, stride, stride in the result)`` in the order of torch's loops, the innermost first, merged."""

    def later(a: tuple[int, int, int], b: tuple[int, int, int]) -> int:
        if (a[2] == 0) != (b[2] == 0):
            return 1 if b[2] == 0 else -1
        for place in (2, 1):
            if a[place] and b[place]:
                if a[place] != b[place]:
                    return 1 if a[place] > b[place] else -1
                if a[0] > b[0]:
                    return 1
        return 0

    row = axes[::-1]
    for i in range(1, len(row)):
        at = i
        for other in range(i - 1, -1, -1):
            found = later(row[other], row[at])
            if found > 0:
                row[other], row[at] = row[at], row[other]
                at = other
            elif found < 0:
                break
    merged = row[:1]
    for size, stride, out in row[1:]:
        first = merged[-1]
        if first[0] * first[1] == stride and first[0] * first[2] == out:
            merged[-1] = (first[0] * size, first[1], first[2])
        else:
            merged.append((size, stride, out))
    return merged


class _Way(NamedTuple):
    """How torch goes through an array to sum it: its axes, the innermost first, with their sizes and strides.

    reduced   how many of them are summed; they come first
    along     the sum along the first
    shape     of the result
    """

    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    reduced: int
    along: Callable[[Any], Any]
    shape: tuple[int, ...]

    def view(self, x: Any) -> Any:
        """``x`` seen along these axes."""
        if x.flags.c_contiguous:
            return np.ndarray(self.sizes, x.dtype, x, 0, self.strides)  # ten times as fast as as_strided
        return np.lib.stride_tricks.as_strided(x, self.sizes, self.strides)


@functools.lru_cache(maxsize=4096)
def _way(shape: tuple[int, ...], strides: tuple[int, ...], dim: tuple[int, ...], keepdim: bool, itemsize: int) -> _Way:
    """The way through an array of that shape to its sum over ``dim``."""
    axes, out = [], 1
    for k in reversed(range(len(shape))):
        if shape[k] > 1:
            axes.append((shape[k], strides[k], 0 if k in dim else out))
            out *= 1 if k in dim else shape[k]
    loops = _order(axes[::-1]) or [(1, itemsize, 0)]
    if len(loops) == 1:
        loops.append((1, 0, 1))
    (inner, step, _), (outer, hop, _) = loops[:2]
    # Longer axes than two are independent or come one after the other.
    lanes = VECTOR // itemsize
    along: Callable[[Any], Any]
    if step == itemsize and inner >= lanes:
        along = functools.partial(_vectors, lanes=lanes)
    elif hop == itemsize and outer >= lanes:
        along = functools.partial(_columns, group=PARTS * lanes)
    else:
        along = _row if step < hop else functools.partial(_columns, group=PARTS)
    return _Way(
        tuple(n for n, _, _ in loops),
        tuple(s for _, s, _ in loops),
        sum(not at for _, _, at in loops),
        along,
        tuple(1 if k in dim else n for k, n in enumerate(shape) if keepdim or k not in dim),
    )


def total(x: Any, dim: tuple[int, ...], keepdim: bool = False) -> Any:
    """The sum over axes in torch's order."""
    if math.prod([x.shape[k] for k in dim]) < PARTS or not x.size:
        return x.sum(dim, keepdims=keepdim)
    way = _way(x.shape, x.strides, dim, keepdim, x.itemsize)
    sums = way.along(way.view(x))
    if way.reduced > 1:
        sums = in_turn(_in_rows(sums, way.reduced - 1))
    return sums.transpose().reshape(way.shape)[()]


def _in_rows(x: Any, count: int) -> Any:
    """The first axes as one, the last of them the outermost."""
    if count == 1:
        return x
    return x.transpose(*range(count)[::-1], *range(count, x.ndim)).reshape(-1, *x.shape[count:])


def mean(x: Any, dim: tuple[int, ...], keepdim: bool) -> Any:
    """The sum in torch's order over the number of entries."""
    return total(x, dim, keepdim) / np.float32(math.prod([x.shape[k] for k in dim]))


def var(x: Any, dim: tuple[int, ...], correction: float, keepdim: bool) -> Any:
    """Sum of squared deviations over (n - correction), in double precision and rounded once."""
    return _variance(x, dim, correction, keepdim).astype(np.float32)


def std(x: Any, dim: tuple[int, ...], correction: float, keepdim: bool) -> Any:
    """The root of the variance, rounded once."""
    return np.sqrt(_variance(x, dim, correction, keepdim)).astype(np.float32)


def _variance(x: Any, dim: tuple[int, ...], correction: float, keepdim: bool) -> Any:
    """The variance in double precision, in which the mean of equal entries is exact: all is done in one array."""
    count = math.prod([x.shape[k] for k in dim])
    if x.dtype.kind == "c" or count <= max(correction, 0):
        return kernels.var(x.astype(np.result_type(x, np.float64)), dim, correction, keepdim)
    d = x.astype(np.float64)
    d -= np.add.reduce(d, dim, keepdims=True) / count
    d *= d
    return d.sum(dim, keepdims=keepdim) / (count - correction)


def summed(x: Any, axes: Any = None) -> Any:
    """:func:`total` with the arguments of ``np.sum``."""
    return total(x, tuple(range(x.ndim)) if axes is None else axes if isinstance(axes, tuple) else (axes,))


def einsum_in_turn(spec: str, *xs: Any, **options: Any) -> Any:
    """``np.einsum``; a few products are added in turn, each rounded, as torch does."""
    inputs, output = spec.split("->")
    added = "".join(dict.fromkeys(letter for letter in inputs if letter not in output + ","))
    if len(xs) != 2 or not added or max(x.size for x in xs) >= _FEW:
        return np.einsum(spec, *xs, **options)
    products = np.einsum(f"{inputs}->{added}{output}", *xs)
    if not 0 < products.size < _FEW:
        return np.einsum(spec, *xs, **options)
    return np.add.accumulate(products.reshape(-1, *products.shape[len(added) :]))[-1]


_FEW = 400
"""Multiplications up to which torch multiplies batches of matrices without its library."""
_SMALL = 512
"""Multiplications up to which the entries of a matrix product are added in turn."""


def matmul(a: Any, b: Any) -> Any:
    """The matrix product; small ones add the products in turn, each rounded, as torch's library does."""
    inner = a.shape[-1]
    if inner < 2 or a.size * (b.shape[-1] if b.ndim > 1 else 1) > _SMALL:
        return products.matmul(a, b)
    if a.ndim == 1 and b.ndim == 1:
        return _dot(a * b) if inner <= PARTS else np.matmul(a, b)
    left, right = a[None] if a.ndim == 1 else a, b[:, None] if b.ndim == 1 else b
    if left.shape[-1] != right.shape[-2]:
        return np.matmul(a, b)
    out = np.add.accumulate(left[..., :, :, None] * right[..., None, :, :], -2)[..., -1, :] + 0
    out = out[..., 0, :] if a.ndim == 1 else out
    out = out[..., 0] if b.ndim == 1 else out
    return out if out.base is None and out.flags.c_contiguous else np.array(out, order="C")


def _dot(products: Any) -> Any:
    if len(products) < PARTS:
        return np.add.accumulate(products)[-1]
    return (products[0] + products[2]) + (products[1] + products[3])


def norm(x: Any, p: float, dim: tuple[int, ...], keepdim: bool) -> Any:
    """The vector p-norm of float32 entries; NumPy's where the sum does not show."""
    if p in (0, math.inf, -math.inf) or x.dtype.kind == "c" or not x.size:
        return kernels.norm(x, p, dim, keepdim)
    way = _way(x.shape, x.strides, dim, keepdim, x.itemsize)
    rows = _in_rows(way.view(x), way.reduced) if way.reduced else way.view(x)[None]
    with np.errstate(over="ignore", divide="ignore"):  # powers below 0 of zeros, whose norm is 0
        if p == 2 and way.reduced == 1 and way.strides[0] == x.itemsize:
            total = _squares(rows)
        elif p == 2:
            total = in_turn(rows * rows)
        elif p == 1:
            total = in_turn(np.abs(rows))
        else:
            total = in_turn(np.power(np.abs(rows), np.float32(p)))
        total = total.transpose().reshape(way.shape)[()]
        return total if p == 1 else kernels.rooted(total, x, p, dim)


def _squares(a: Any) -> Any:
    """Σ a² along neighbours in memory: whole vectors, then four by four, then one by one without rounding a²."""
    lanes = VECTOR // a.itemsize
    whole = len(a) // lanes * lanes
    out = np.zeros_like(a[0])
    if whole:
        block = a[:whole].reshape(whole // lanes, lanes, *a.shape[1:])
        out = in_turn(in_turn(block * block))
    fours = whole + (len(a) - whole) // PARTS * PARTS
    for entry in a[whole:fours]:
        out = out + entry * entry
    for entry in a[fours:].astype(np.float64):
        out = (out + entry * entry).astype(np.float32)
    return out

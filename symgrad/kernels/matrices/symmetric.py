"""A symmetric or Hermitian matrix as L D Lᵀ, with rows and columns in the order that Bunch and Kaufman choose.

J. R. Bunch, L. Kaufman: Some stable methods for calculating inertia and solving symmetric linear systems (1977), in the
form of LAPACK's ``sytf2`` and ``hetf2`` for the lower triangle: the same pivots, the same places.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

_ALPHA = (1 + math.sqrt(17)) / 8
"""Above this share of the largest entry beside it a number on the diagonal is taken for a pivot."""


def ldl(x: Any, hermitian: bool) -> tuple[Any, Any, Any]:
    """L below D in one array, LAPACK's pivots, and the number of the first pivot that is 0 (0: there is none)."""
    packed = np.tril(x)
    shape = x.shape[:-1]
    pivots, info = np.zeros(shape, np.int32), np.zeros(shape[:-1], np.int32)
    hermitian = hermitian and x.dtype.kind == "c"
    with np.errstate(all="ignore"):
        for place in np.ndindex(*shape[:-1]):
            info[place] = _factor(packed[place], pivots[place], hermitian)
    return packed, pivots, info[()]


def _factor(a: Any, pivots: Any, hermitian: bool) -> int:
    k, first = 0, 0
    while k < len(a):
        if hermitian:
            a[k, k] = a[k, k].real
        pivot, width = _chosen(a, k)
        if pivot is None:
            first, pivot = first or k + 1, k
        else:
            _exchange(a, k, k + width - 1, pivot, hermitian)
            (_eliminate if width == 1 else _eliminate_two)(a, k, hermitian)
        pivots[k : k + width] = pivot + 1 if width == 1 else -(pivot + 1)
        k += width
    return first


def _size(x: Any) -> Any:
    return np.abs(x.real) + np.abs(x.imag) if x.dtype.kind == "c" else np.abs(x)


def _chosen(a: Any, k: int) -> tuple[int | None, int]:
    """The row that is exchanged for a pivot of one row or two; None where the column is 0."""
    here = _size(a[k, k])
    column = _size(a[k + 1 :, k])
    most = column.max(initial=0)
    if max(here, most) == 0 or np.isnan(here):
        return None, 1
    if here >= _ALPHA * most:
        return k, 1
    row = k + 1 + int(column.argmax())
    beside = max(_size(a[row, k:row]).max(initial=0), _size(a[row + 1 :, row]).max(initial=0))
    if here >= _ALPHA * most * (most / beside):
        return k, 1
    return (row, 1) if _size(a[row, row]) >= _ALPHA * beside else (row, 2)


def _exchange(a: Any, k: int, one: int, other: int, hermitian: bool) -> None:
    """Exchange two rows and columns of the lower triangle, from column ``k`` on."""
    if one == other:
        return
    below, between = slice(other + 1, None), slice(one + 1, other)
    a[below, [one, other]] = a[below, [other, one]]
    turned = np.conj if hermitian else np.array
    a[between, one], a[other, between] = turned(a[other, between]), turned(a[between, one])
    if hermitian:
        a[other, one] = np.conj(a[other, one])
        a[[one, other], [one, other]] = a[[other, one], [other, one]].real
    else:
        a[[one, other], [one, other]] = a[[other, one], [other, one]]
    if one > k:
        a[[one, other], k] = a[[other, one], k]


def _subtract(a: Any, start: int, change: Any, hermitian: bool) -> None:
    rest = a[start:, start:]
    rest -= np.tril(change)
    if hermitian:
        np.einsum("ii->i", rest).imag[...] = 0


def _eliminate(a: Any, k: int, hermitian: bool) -> None:
    column = a[k + 1 :, k]
    share = column / a[k, k]
    _subtract(a, k + 1, np.multiply.outer(share, np.conj(column) if hermitian else column), hermitian)
    column[...] = share


def _eliminate_two(a: Any, k: int, hermitian: bool) -> None:
    one, two = a[k + 2 :, k].copy(), a[k + 2 :, k + 1].copy()
    if not len(one):
        return
    beside = a[k + 1, k]
    scale = np.abs(beside) if hermitian else beside
    turn, back = (beside / scale, np.conj(beside) / scale) if hermitian else (1, 1)
    lower, upper = a[k + 1, k + 1] / scale, a[k, k] / scale
    factor = 1 / (lower * upper - 1) / scale
    first, second = factor * (lower * one - turn * two), factor * (upper * two - back * one)
    turned = np.conj if hermitian else np.asarray
    change = np.multiply.outer(one, turned(first)) + np.multiply.outer(two, turned(second))
    _subtract(a, k + 2, change, hermitian)
    a[k + 2 :, k], a[k + 2 :, k + 1] = first, second

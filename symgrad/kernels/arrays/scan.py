"""NumPy kernels of order and of running results.  Every function stands alone, for export."""

from __future__ import annotations

from typing import Any

import numpy as np


def argsort(x: Any, dim: int, descending: bool) -> Any:
    """The stable order along an axis, nan counting as largest."""
    if not descending:
        return np.argsort(x, dim, kind="stable")
    turned = np.argsort(np.flip(x, dim), dim, kind="stable")
    return x.shape[dim] - 1 - np.flip(turned, dim)


def argcummax(x: Any, dim: int) -> Any:
    """Places of the running maximum, the last of equal ones; a nan stays the maximum."""
    places = np.arange(x.shape[dim]).reshape(-1, *(1,) * (x.ndim - dim - 1))
    top = np.maximum.accumulate(x, dim)
    return np.maximum.accumulate(np.where((x == top) | np.isnan(x), places, 0), dim)


def argcummin(x: Any, dim: int) -> Any:
    """Places of the running minimum, the last of equal ones; a nan stays the minimum."""
    places = np.arange(x.shape[dim]).reshape(-1, *(1,) * (x.ndim - dim - 1))
    bottom = np.minimum.accumulate(x, dim)
    return np.maximum.accumulate(np.where((x == bottom) | np.isnan(x), places, 0), dim)


def middle(x: Any, skip_nan: bool) -> Any:
    """The lower median of a vector; nan when an entry is, or the median of the others."""
    row = np.sort(x)
    count = len(row) - int(np.isnan(row).sum())
    return row[-1] if count < len(row) and not (skip_nan and count) else row[(count - 1) // 2]


def searchsorted(rows: Any, values: Any, right: bool, dtype: str) -> Any:
    """Where values would be put into sorted rows; one row serves all values."""
    side: Any = "right" if right else "left"
    if rows.ndim == 1:
        return np.searchsorted(rows, values, side=side).astype(dtype)
    out = np.empty(values.shape, dtype)
    for place in np.ndindex(rows.shape[:-1]):
        out[place] = np.searchsorted(rows[place], values[place], side=side)
    return out


def argmode(x: Any, dim: int) -> Any:
    """Place (kept as an axis of size 1) of the last of the commonest entries along an axis, the smallest on ties."""
    x = np.moveaxis(x, dim, -1)
    equal = x[..., :, None] == x[..., None, :]
    count = equal.sum(-1)
    best = count == count.max(-1, keepdims=True)
    smallest = np.min(np.where(best, x, np.inf), -1, keepdims=True)
    hit = best & (x == smallest)
    place = x.shape[-1] - 1 - np.argmax(hit[..., ::-1], -1)
    return np.expand_dims(place, dim)


def argmode_beside_nan(row: Any) -> int:
    """The same in a vector with nan, which torch sorts by insertion before it looks for the longest run of equals."""
    row = row.tolist()
    order: list[int] = []
    for k, value in enumerate(row):
        at = len(order)
        if order and value < row[order[0]]:
            at = 0
        while at and value < row[order[at - 1]]:
            at -= 1
        order.insert(at, k)
    best = length = longest = 0
    for at, k in enumerate(order):
        length += 1
        if at + 1 == len(order) or row[k] != row[order[at + 1]]:
            if length > longest:
                best, longest = k, length
            length = 0
    return best


def logcumsumexp(x: Any, dim: int) -> Any:
    """log of the running sum of e^x, without overflow."""
    if x.dtype.kind != "c":
        return np.logaddexp.accumulate(x, dim)
    rows = np.moveaxis(x, dim, 0)
    out = np.array(rows)
    for k in range(1, len(rows)):
        larger = rows[k].real >= out[k - 1].real  # of equal ones the newer keeps its angle, as in torch
        top, low = np.where(larger, rows[k], out[k - 1]), np.where(larger, out[k - 1], rows[k])
        out[k] = top + np.log1p(np.exp(low - top))
    return np.moveaxis(out, 0, dim)


def argkth(x: Any, dim: int, k: int) -> Any:
    """Place (kept as an axis of size 1) of the k-th smallest entry; among equal ones torch's choice."""
    rows = np.moveaxis(x, dim, -1)
    places = np.argsort(rows, -1, kind="stable")[..., k - 1 : k]
    chosen = np.take_along_axis(rows, places, -1)
    tied = np.sum((rows == chosen) | (np.isnan(rows) & np.isnan(chosen)), -1) > 1
    for row in zip(*np.nonzero(tied), strict=True) if tied.ndim else [()] * int(tied):
        places[row] = _selected(rows[row].tolist(), k - 1)
    return np.moveaxis(places, -1, dim)


def _selected(values: list[Any], k: int) -> int:
    """Where the entry stood that Hoare's selection, with the median of three as pivot, brings to position k."""
    row = [(value != value, value, i) for i, value in enumerate(values)]

    def above(a: int, b: int) -> bool:
        return bool(row[a][0] > row[b][0] or row[a][1] > row[b][1])

    def swap(a: int, b: int) -> None:
        row[a], row[b] = row[b], row[a]

    low, high = 0, len(row) - 1
    while high > low + 1:
        swap(low + (high - low) // 2, low + 1)
        for a, b in ((low + 1, high), (low, high), (low + 1, low)):
            if above(a, b):
                swap(a, b)
        i, j = low + 1, high
        while True:
            i += 1
            while above(low, i):
                i += 1
            j -= 1
            while above(j, low):
                j -= 1
            if j < i:
                break
            swap(i, j)
        swap(low, j)
        low, high = i if j <= k else low, j - 1 if j >= k else high
    if high == low + 1 and above(low, high):
        swap(low, high)
    return row[k][2]


def argtop(x: Any, dim: int, k: int, largest: bool) -> Any:
    """Places of the k largest (smallest) entries in order, nan counting as largest; among equal ones torch's choice."""
    rows = np.moveaxis(x, dim, -1)
    places = np.array(np.moveaxis(argsort(x, dim, largest), dim, -1)[..., : k + 1])
    chosen = np.take_along_axis(rows, places, -1)
    tied = np.any((chosen[..., 1:] == chosen[..., :-1]) | np.isnan(chosen[..., 1:] + chosen[..., :-1]), -1)
    places = places[..., :k]
    if 0 < k <= 16:
        for row in zip(*np.nonzero(tied), strict=True) if tied.ndim else [()] * int(tied):
            places[row] = _best(rows[row].tolist(), k, largest)
    return np.moveaxis(places, -1, dim)


def _best(values: list[Any], k: int, largest: bool) -> list[int]:
    """Where the k best entries stood, found by introspective selection and sorted by insertion."""
    row = [(value != value, value, i) for i, value in enumerate(values)]

    def before(a: Any, b: Any) -> bool:
        a, b = (a, b) if largest else (b, a)
        return bool(a[0] > b[0] or a[1] > b[1])

    def insert(low: int, high: int) -> None:
        for i in range(low + 1, high):
            entry, at = row[i], i
            while at > low and before(entry, row[at - 1]):
                row[at], at = row[at - 1], at - 1
            row[at] = entry

    low, high = 0, len(row)
    while high - low > 3:
        a, b, c = low + 1, low + (high - low) // 2, high - 1
        if before(row[a], row[b]):
            middle = b if before(row[b], row[c]) else c if before(row[a], row[c]) else a
        else:
            middle = a if before(row[a], row[c]) else c if before(row[b], row[c]) else b
        row[low], row[middle] = row[middle], row[low]
        i, j = low + 1, high
        while True:
            while before(row[i], row[low]):
                i += 1
            j -= 1
            while before(row[low], row[j]):
                j -= 1
            if i >= j:
                break
            row[i], row[j] = row[j], row[i]
            i += 1
        low, high = (i, high) if i < k else (low, i)
    insert(low, high)
    insert(0, k - 1)
    return [place for _, _, place in row[:k]]

"""NumPy kernels of order and of running results.  Every function stands alone, for export."""

from __future__ import annotations

from typing import Any

import numpy as np

from symgrad.kernels.arrays.index import gather


def argsort(x: Any, dim: int, descending: bool) -> Any:
    """The stable order along an axis, nan counting as largest."""
    if not descending:
        return x.argsort(dim, kind="stable")
    back = (..., slice(None, None, -1), *(slice(None),) * ((-dim - 1) % x.ndim))
    return x.shape[dim] - 1 - x[back].argsort(dim, kind="stable")[back]


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
    order = np.argsort(x, -1, kind="stable")
    row = np.take_along_axis(x, order, -1)
    new = np.ones(row.shape, bool)
    new[..., 1:] = row[..., 1:] != row[..., :-1]
    places = np.arange(row.shape[-1])
    length = places - np.maximum.accumulate(np.where(new, places, 0), -1)  # of its run, up to each entry
    last = np.argmax(length, -1)[..., None]  # of the first of the longest runs, in which places ascend
    place = np.take_along_axis(order, last, -1)
    for k in np.argwhere(np.isnan(x).any(-1)):
        place[tuple(k)] = argmode_beside_nan(x[tuple(k)])
    return np.moveaxis(place, -1, dim)


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
    out = np.where(np.isnan(rows), complex(np.nan, np.nan), rows).astype(x.dtype)
    for k in range(1, len(rows)):
        larger = rows[k].real >= out[k - 1].real  # of equal ones the newer keeps its angle, as in torch
        top, low = np.where(larger, rows[k], out[k - 1]), np.where(larger, out[k - 1], rows[k])
        beyond = np.isinf(top.real) & (low.real == top.real)
        with np.errstate(invalid="ignore"):
            rest = np.where(beyond, np.where(top.real > 0, complex(0, np.nan), 0), np.log1p(np.exp(low - top)))
        out[k] = np.where(np.isnan(out[k - 1]), out[k - 1], top) + rest
    return np.moveaxis(out, 0, dim)


def logcumsumexp_slope(g: Any, out: Any, x: Any, dim: int) -> Any:
    """Sums of g_j times the conjugate of e^(x_i - out_j) over j >= i, in linear time where ``out`` is finite."""
    g, out, x = (np.moveaxis(np.asarray(a), dim, -1) for a in (g, np.conj(out), np.conj(x)))
    out = _begun(out)
    if np.isfinite(out).all():
        made = np.exp(x - out) * _running(g[..., ::-1], -out[..., ::-1])[..., ::-1]
    else:
        later = np.triu(np.ones((out.shape[-1],) * 2, bool))
        weights = np.where(out == -np.inf, 0, out)[..., None, :]  # where both are -inf, e^(x - out) is 0
        made = np.sum(g[..., None, :] * np.exp(x[..., :, None] - np.where(later, weights, np.inf)), -1)
    return np.moveaxis(made, -1, dim)


def logcumsumexp_moved(t: Any, out: Any, x: Any, dim: int) -> Any:
    """Sums of t_i e^(x_i - out_j) over i <= j, in linear time where ``out`` is finite."""
    t, out, x = (np.moveaxis(np.asarray(a), dim, -1) for a in (t, out, x))
    out = _begun(out)
    if np.isfinite(out).all():
        made = _running(t * np.exp(x - out), out)
    else:
        later = np.triu(np.ones((out.shape[-1],) * 2, bool))
        weights = np.where(out == -np.inf, 0, out)[..., None, :]
        made = np.sum(t[..., :, None] * np.exp(x[..., :, None] - np.where(later, weights, np.inf)), -2)
    return np.moveaxis(made, -1, dim)


def _begun(out: Any) -> Any:
    """Finite numbers where only zeros were added up yet: e^(x - out) is 0 there, whatever stands for log 0."""
    none = out == -np.inf
    if out.dtype.kind == "c" or not none.any():
        return out
    low = np.min(out, initial=np.inf, where=np.isfinite(out))
    return np.where(none, low if low < np.inf else 0, out).astype(out.dtype)


def _running(u: Any, s: Any) -> Any:
    """Sums of u_i e^(s_i - s_j) over i <= j along the last axis."""
    real = s.real
    if s.size and real.max() - real.min() <= 16:  # so that the shift costs no digits
        middle = (real.max() + real.min()) / 2
        return np.cumsum(u * np.exp(s - middle), -1) * np.exp(middle - s)
    made = np.array(np.broadcast_arrays(u, s)[0], np.result_type(u, s))
    steps = np.exp(s[..., :-1] - s[..., 1:])
    for k in range(1, made.shape[-1]):
        made[..., k] += steps[..., k - 1] * made[..., k - 1]
    return made


def argkth(x: Any, dim: int, k: int) -> Any:
    """Place (kept as an axis of size 1) of the k-th smallest entry; among equal ones torch's choice."""
    rows = np.moveaxis(x, dim, -1)
    chosen = np.partition(rows, k - 1, -1)[..., k - 1 : k]
    equal = (rows == chosen) | (np.isnan(rows) & np.isnan(chosen))
    places = np.argmax(equal, -1, keepdims=True)
    tied = np.sum(equal, -1) > 1
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
    rows = x.swapaxes(dim, -1) if dim != x.ndim - 1 else x
    if k > rows.shape[-1]:
        raise ValueError(f"there are no {k} of {rows.shape[-1]} entries")
    places = _first(rows, k + 1, largest)
    if 0 < k <= 16:
        chosen = gather(rows, places, rows.ndim - 1)
        apart = (np.greater if largest else np.less)(chosen[..., :-1], chosen[..., 1:]).all(-1)  # no equals, no nan
        if not apart.all():
            for row in zip(*np.nonzero(~apart), strict=True) if apart.ndim else [()]:
                places[row][:k] = _best(rows[row].tolist(), k, largest)
    places = places[..., :k]
    return places.swapaxes(dim, -1) if dim != x.ndim - 1 else places


def _first(rows: Any, count: int, descending: bool) -> Any:
    """The first ``count`` places of every row in its stable order; few of many are parted from the rest beforehand."""
    size = rows.shape[-1]
    if count * 4 < size:
        part = np.argpartition(rows, size - count if descending else count - 1, -1)
        part = np.sort(part[..., size - count :] if descending else part[..., :count], -1)
        picked = np.take_along_axis(rows, part, -1)
        last = np.min(picked, -1, keepdims=True) if descending else np.max(picked, -1, keepdims=True)
        reached = rows >= last if descending else rows <= last
        if np.all(np.sum(reached, -1) == count):  # else equals or a nan are at the border
            return np.take_along_axis(part, argsort(picked, rows.ndim - 1, descending), -1)
    return np.array(argsort(rows, rows.ndim - 1, descending)[..., :count])


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

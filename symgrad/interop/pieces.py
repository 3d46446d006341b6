"""NumPy's functions by pieces and places: ``np.interp``, ``np.piecewise``, ``np.block``, ``np.insert``, ``np.pad``."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from symgrad.errors import ArgumentError
from symgrad.interop.functions import bare, front_of, glanced, tensor, unsupported
from symgrad.op import as_size, fixed
from symgrad.ops.calls.naming import SPACES
from symgrad.ops.shapes.shaping import axis_of
from symgrad.tape.modes import no_grad


def _interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None) -> Any:
    """By the points on both sides, differentiable by all three; at a point by the piece to its right."""
    x, xp, fp = tensor(x), tensor(xp), tensor(fp)
    if xp.ndim != 1 or xp.shape != fp.shape or not len(xp):
        raise ValueError(f"np.interp: xp and fp are rows of one length, not of shapes {xp.shape} and {fp.shape}.")
    if period is not None:
        x, xp, fp = _around(x, xp, fp, abs(period))
        left = right = None
    first, last = xp[0], xp[-1]
    left = fp[0] if left is None else left
    right = fp[-1] if right is None else right
    if len(xp) == 1:
        return front_of("where")(x < first, left, front_of("where")(x > last, right, fp[0]))
    k = front_of("clamp")(front_of("searchsorted")(xp, x, right=True) - 1, 0, len(xp) - 2)
    slope = (fp[k + 1] - fp[k]) / (xp[k + 1] - xp[k])
    inside = slope * (x - xp[k]) + fp[k]
    # The last point itself, where the piece to its left could round.
    inside = front_of("where")(x == last, fp[-1] + slope * (x - last), inside)
    return front_of("where")(x < first, left, front_of("where")(x > last, right, inside))


def _around(x: Any, xp: Any, fp: Any, period: Any) -> tuple[Any, Any, Any]:
    """The points of one period in order, with a neighbour from the next on each side."""
    cat = front_of("cat")
    x, xp = x % period, xp % period
    order = front_of("argsort")(xp)
    xp, fp = xp[order], fp[order]
    return x, cat([xp[-1:] - period, xp, xp[:1] + period]), cat([fp[-1:], fp, fp[:1]])


def _piecewise(x: Any, condlist: Any, funclist: Any, *args: Any, **options: Any) -> Any:
    x = tensor(x)
    conditions = [tensor(c) for c in condlist] if isinstance(condlist, (list, tuple)) else [tensor(condlist)]
    if conditions and conditions[0].ndim == x.ndim + 1:
        conditions = list(conditions[0])
    if len(funclist) not in (len(conditions), len(conditions) + 1):
        raise ValueError(
            f"np.piecewise: {len(conditions)} conditions take {len(conditions)} or {len(conditions) + 1} functions, "
            f"not {len(funclist)}."
        )
    pieces = list(zip(conditions, funclist, strict=False))
    out: Any = 0
    if len(funclist) > len(conditions):
        rest = front_of("logical_not")(functools.reduce(front_of("logical_or"), conditions))
        pieces.insert(0, (rest, funclist[-1]))
    with np.errstate(all="ignore"):  # where a condition fails its function is not asked
        for condition, function in pieces:
            if callable(function):
                out = _with_piece(out, condition, x, functools.partial(_called_first, function, args, options))
            else:
                out = front_of("where")(condition, function, out)
    return out.to(x.dtype)


def _called_first(function: Callable[..., Any], args: Any, options: Any, first: Any) -> Any:
    return function(first, *args, **options)


def _with_piece(out: Any, condition: Any, x: Any, function: Callable[[Any], Any]) -> Any:
    """``out`` with a function of those entries where a condition holds; of all of them where that is the same."""
    if _by_entries(condition, x, function):
        return front_of("where")(condition, function(x), out)
    places = np.nonzero(np.asarray(bare(condition), bool))
    found = tensor(function(x[places])).expand(len(places[0])).to(x.dtype)
    base = tensor(out).to(x.dtype).expand(tuple(x.shape))
    return front_of("index_put")(base, tuple(map(tensor, places)), found)


def _by_entries(condition: Any, x: Any, function: Callable[[Any], Any]) -> bool:
    """Whether a function gives the same for some entries as for all of them; so it is taken for several examples."""
    there, values = glanced(condition), glanced(x)
    if not all(isinstance(part, (np.ndarray, np.generic)) for part in (there, values)):
        return True
    there = np.asarray(there, bool)
    if not there.any():
        return True
    with no_grad():
        whole, parts = (glanced(function(tensor(part))) for part in (values, values[there]))
    return np.shape(whole) == values.shape and np.allclose(np.asarray(whole)[there], parts, 1e-6, 1e-9, True)


def _block(arrays: Any) -> Any:
    def depth(part: Any) -> int:
        return 1 + depth(part[0]) if isinstance(part, list) else 0

    def leaves(part: Any) -> list[Any]:
        return [leaf for item in part for leaf in leaves(item)] if isinstance(part, list) else [part]

    deep = depth(arrays)
    ndim = max(deep, *(np.ndim(leaf) for leaf in leaves(arrays)))

    def joined(part: Any, level: int) -> Any:
        if not isinstance(part, list):
            part = tensor(part)
            return part[(None,) * (ndim - part.ndim)]
        return front_of("cat")([joined(item, level - 1) for item in part], -level)

    return joined(arrays, deep)


def _insert(arr: Any, obj: Any, values: Any, axis: Any = None) -> Any:
    arr, values = tensor(arr), tensor(values)
    arr, k = (arr.ravel(), 0) if axis is None else (arr, axis_of(axis, arr.ndim))
    values = values[(None,) * (arr.ndim - values.ndim)]
    obj, one = fixed(obj), isinstance(obj, (int, np.integer))
    if one:
        values = values.movedim(0, k)
    n = fixed(arr.shape[k])
    count = values.shape[k] if one else len(np.arange(n)[obj] if isinstance(obj, slice) else obj)
    values = values.expand(*arr.shape[:k], count, *arr.shape[k + 1 :]).to(arr.dtype)
    order = np.insert(np.arange(n), obj, np.arange(n, n + count))
    return front_of("cat")([arr, values], k)[(slice(None),) * k + (order,)]


def _pad(array: Any, pad_width: Any, mode: Any = "constant", **options: Any) -> Any:
    array = tensor(array)
    given = np.broadcast_to(np.asarray(pad_width, object), (array.ndim, 2))
    widths = np.array([[int(fixed(w)) for w in pair] for pair in given]) if mode != "constant" else given
    if mode in ("edge", "reflect", "symmetric", "wrap") and options.get("reflect_type", "even") == "even":
        for k, width in enumerate(widths):
            if any(width):
                array = array[(slice(None),) * k + (np.pad(np.arange(fixed(array.shape[k])), width, mode),)]
        return array
    if mode == "constant" and not set(options) - {"constant_values"}:
        value = options.get("constant_values", 0)
        if not np.ndim(value):
            pairs = [as_size(w) for pair in widths[::-1] for w in pair]
            return SPACES["nn.functional"]["pad"](array, pairs, value=value)
        return _edged(array, widths, lambda _, k, end: _pairs(value, array.ndim)[k][end])
    if mode in _STATISTICS and not options:
        call = _STATISTICS[mode]
        return _edged(array, widths, lambda x, k, end: call(x, k))
    if mode == "linear_ramp" and not set(options) - {"end_values"}:
        ends = _pairs(options.get("end_values", 0), array.ndim)
        return _edged(array, widths, lambda x, k, end: _ramp(x, k, end, int(widths[k][end]), ends[k][end]))
    raise unsupported(f"np.pad(…, mode={mode!r}{''.join(f', {k}=' for k in options)})", " in this form")


_STATISTICS: dict[str, Callable[[Any, int], Any]] = {
    "mean": lambda x, k: x.mean(k, True),
    "maximum": lambda x, k: x.amax(k, True),
    "minimum": lambda x, k: x.amin(k, True),
    "median": lambda x, k: front_of("quantile")(x, 0.5, k, True),
}


def _pairs(value: Any, ndim: int) -> Any:
    """A value for both ends of each axis."""
    value = tensor(value)
    return value.expand(ndim, 2)


def _edged(array: Any, widths: Any, filling: Callable[[Any, int, int], Any]) -> Any:
    """The array with pads on both ends of each axis, one axis after the other, as NumPy lays them."""
    for k, pair in enumerate(widths):
        ends = []
        for end, width in enumerate(map(int, pair)):
            shape = [width if d == k else n for d, n in enumerate(array.shape)]
            ends.append(tensor(filling(array, k, end)).to(array.dtype).expand(*shape))
        array = front_of("cat")([ends[0], array, ends[1]], k)
    return array


def _ramp(x: Any, k: int, end: int, width: int, last: Any) -> Any:
    """From the outermost entry to ``last`` at the edge of the pad."""
    edge = x.narrow(k, 0 if end == 0 else x.shape[k] - 1, 1)
    weights = np.arange(width) if end == 0 else np.arange(width)[::-1]
    way = tensor((weights / max(width, 1)).reshape([-1 if d == k else 1 for d in range(x.ndim)])).to(x.dtype)
    return last + way * (edge - last)


def convolve(a: Any, v: Any, mode: str = "full") -> Any:
    """``np.convolve``: by windows of the longer row."""
    a, v = (x if x.ndim else x.reshape(1) for x in (tensor(a), tensor(v)))
    if len(v) > len(a):
        a, v = v, a
    if mode not in ("full", "same", "valid"):
        raise ArgumentError(f"np.convolve: mode is full, same or valid, not {mode!r}.")
    rows, taps = a.shape[0], v.shape[0]
    wide = 0 if mode == "valid" else taps - 1
    out = SPACES["nn.functional"]["pad"](a, [wide, wide]).unfold(0, taps, 1) @ front_of("flip")(v, (0,))
    return out if mode != "same" else out[(taps - 1) // 2 : (taps - 1) // 2 + rows]


def _correlate(a: Any, v: Any, mode: str = "valid") -> Any:
    a, v = tensor(a), tensor(v)
    flip = front_of("flip")
    if len(v) > len(a):  # where lengths are even, "same" takes its middle from the longer one
        return flip(_correlate(v, a.conj(), mode), (0,)) if mode == "same" else convolve(a, flip(v.conj(), (0,)), mode)
    return convolve(a, flip(v.conj(), (0,)), mode)


def _unwrap(p: Any, discont: Any = None, axis: int = -1, *, period: Any = 2 * np.pi) -> Any:
    """Whole periods are added, and they do not change when ``p`` moves a little."""
    p = tensor(p)
    k, where, half = axis_of(axis, p.ndim), front_of("where"), period / 2
    step = front_of("diff")(p.detach(), 1, k)
    turned = front_of("remainder")(step + half, period) - half
    turned = where((turned == -half) & (step > 0), half, turned)
    jumps = where(step.abs() < (half if discont is None else max(discont, half)), 0.0, turned - step)
    rest = p.narrow(k, 1, p.shape[k] - 1) + front_of("cumsum")(jumps, k)
    return front_of("cat")([p.narrow(k, 0, 1), rest], k)


def _resized(a: Any, new_shape: Any) -> Any:
    """The entries over and over until the new shape is full."""
    a = tensor(a)
    return a.ravel()[np.resize(np.arange(a.numel()), new_shape)]


def trimmed(filt: Any, trim: str = "fb", axis: Any = None) -> Any:
    """``np.trim_zeros``: without the zeros at the front or the back; which these are, the values decide."""
    filt = tensor(filt)
    if filt.ndim != 1 or axis not in (None, 0, -1):
        raise unsupported("np.trim_zeros of several axes", " in this form")
    places = np.flatnonzero(bare(filt != 0))
    if not len(places):
        return filt[:0]
    trim = trim.lower()
    first = int(places[0]) if "f" in trim else 0
    return filt[first : int(places[-1]) + 1 if "b" in trim else len(filt)]


def _choose(a: Any, choices: Any, mode: str = "raise") -> Any:
    choices = [tensor(c) for c in choices]
    which, n = tensor(np.asarray(a) if isinstance(a, (list, tuple)) else a), len(choices)
    seen = np.asarray(glanced(which))
    if mode == "raise" and ((seen < 0) | (seen >= n)).any():
        raise ArgumentError(f"np.choose: there are {n} choices, and a has entries from {seen.min()} to {seen.max()}.")
    which = which % n if mode == "wrap" else front_of("clamp")(which, 0, n - 1)
    found = choices[-1].expand(*np.broadcast_shapes(which.shape, *(c.shape for c in choices)))
    for k, choice in enumerate(choices[:-1]):
        found = front_of("where")(which == k, choice, found)
    return found


def _along_axis(func1d: Callable[..., Any], axis: int, arr: Any, *args: Any, **kwargs: Any) -> Any:
    """Row by row, as in NumPy: a function of whole arrays is faster."""
    rows = front_of("movedim")(tensor(arr), axis, -1)
    found = [tensor(func1d(rows[place], *args, **kwargs)) for place in np.ndindex(*rows.shape[:-1])]
    if not found:
        raise ArgumentError("Cannot apply_along_axis when any iteration dimensions are 0")
    out = front_of("stack")(found, 0).reshape(tuple(rows.shape[:-1]) + tuple(found[0].shape))
    k = axis_of(axis, rows.ndim)
    return front_of("movedim")(out, tuple(range(rows.ndim - 1, out.ndim)), tuple(range(k, k + found[0].ndim)))


def _over_axes(func: Callable[..., Any], a: Any, axes: Any) -> Any:
    out = tensor(a)
    for axis in axes if isinstance(axes, (tuple, list)) else (axes,):
        k = axis_of(axis, np.ndim(a))
        found = func(out, k)
        out = found if found.ndim == out.ndim else found.unsqueeze(k)
    return out


PIECES: dict[Any, Callable[..., Any]] = {
    np.interp: _interp,
    np.piecewise: _piecewise,
    np.block: _block,
    np.insert: _insert,
    np.pad: _pad,
    np.convolve: convolve,
    np.correlate: _correlate,
    np.unwrap: _unwrap,
    np.resize: _resized,
    np.trim_zeros: trimmed,
    np.choose: _choose,
    np.apply_along_axis: _along_axis,
    np.apply_over_axes: _over_axes,
}

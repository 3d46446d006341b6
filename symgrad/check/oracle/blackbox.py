"""Gradients of functions that can only be called: complex step, else Richardson's differences with an error estimate.

The complex step Im f(x + ih)/h has no cancellation and is exact to the last digits, but holds for analytic functions
only; it is believed where the differences, within their own error, agree (Squire and Trapp, SIAM Review 40(1), 1998;
the extrapolation is Ridders', Advances in Engineering Software 4(2), 1982).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from symgrad.dtypes import is_real_floating

_STEP = 1e-30
_SHRINK = 1.6
_ROWS = 10
_CLOSE = 1e-5


def central_difference(
    f: Callable[[float], Any], width: float = 1e-2, eps: float = float(np.finfo(float).eps)
) -> tuple[float, float]:
    """The derivative of ``f`` at 0 and an estimate of its error.

    ``eps`` is the rounding unit that ``f`` computes in; 1 is the size of what the argument is added to.

    >>> import math
    >>> slope, error = central_difference(math.exp)
    >>> abs(slope - 1) <= max(error, 1e-11)
    True
    """
    best, best_error = np.nan, np.inf
    table: list[float] = []
    step = width
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(_ROWS):
            right, left = float(f(step)), float(f(-step))
            row = [(right - left) / (2 * step)]
            rounding = eps * (abs(right) + abs(left) + abs(row[0])) / step  # of the values, and of the argument
            factor = _SHRINK**2
            for above in table:
                row.append((row[-1] * factor - above) / (factor - 1))
                error = max(abs(row[-1] - row[-2]), abs(row[-1] - above)) + rounding
                factor *= _SHRINK**2
                if error < best_error:
                    best, best_error = row[-1], error
            if len(table) and abs(row[-1] - table[-1]) > 4 * best_error:
                break
            table = row
            step /= _SHRINK
    return best, best_error


def derivative_of_black_box(
    run: Callable[[Sequence[Any]], Any], args: Sequence[Any], positions: Sequence[int], eps: float, tangents: Any = ()
) -> tuple[str, list[Any], list[Any]]:
    """``(method, derivatives, error estimates)`` for the arguments at ``positions``, of shape ``(*value, *argument)``.

    With ``tangents``, one per position, the derivatives along them, of the shape of the value.  ``eps`` is the
    rounding unit of what ``run`` gives.
    """
    derivatives, errors = [], []
    exact = True
    shape = np.shape(run(args))
    for i, k in enumerate(positions):
        x = args[k]
        below = () if tangents else x.shape
        g = np.zeros(shape + below, x.dtype)
        e = np.zeros(shape + below)
        for index in np.ndindex(below):
            for part in (1, 1j) if x.dtype.kind == "c" and not tangents else (1,):
                direction = tangents[i] if tangents else unit(x, index) * part
                slope, error, by_step = _slopes(run, args, k, direction, eps)
                g[(..., *index)] += slope.reshape(shape) * part
                e[(..., *index)] = np.maximum(e[(..., *index)], error.reshape(shape))
                exact = exact and by_step
        derivatives.append(g)
        errors.append(e)
    return ("complex-step differentiation" if exact else "central differences with extrapolation"), derivatives, errors


def unit(array: Any, index: tuple[int, ...]) -> Any:
    """Zeros like an array, with 1 at an index."""
    unit = np.zeros(array.shape, array.dtype)
    unit[index] = 1
    return unit


def _slopes(
    run: Callable[[Sequence[Any]], Any], args: Sequence[Any], k: int, direction: Any, eps: float
) -> tuple[Any, Any, bool]:
    """The slopes of all entries of the value along a direction, flat, their errors, and whether they are exact."""
    size, values = _size(args[k], direction), _along(run, args, k, direction)
    count = values(0.0).size
    slopes, errors = np.zeros(count), np.zeros(count)
    for i in range(count):
        slopes[i], errors[i] = _slope(lambda t, i=i: values(t * size)[i], size, eps)  # type: ignore[misc]
    stepped = None
    if is_real_floating(args[k].dtype) and np.asarray(direction).dtype.kind != "c":
        stepped = _complex_step(values)
    if stepped is None:
        return slopes, errors, False
    agree = np.abs(stepped - slopes) <= 4 * errors + 1e-9 * np.abs(slopes)
    return np.where(agree, stepped, slopes), np.where(agree, eps * np.abs(stepped), errors), bool(agree.all())


def _slope(scaled: Callable[[float], Any], size: float, eps: float) -> tuple[float, float]:
    fine = eps <= np.finfo(float).eps
    slope, error = central_difference(scaled, 1e-2 if fine else 1e-1, eps)
    if fine and not _holds_close_by(scaled, slope, error):
        slope, error = central_difference(scaled, _CLOSE)
    return slope / size, error / size


def _size(array: Any, direction: Any) -> float:
    """How far along a direction an argument moves by its own size."""
    moved = np.asarray(direction) != 0
    ratio = np.abs(array[moved]) / np.abs(np.asarray(direction)[moved])
    return float(ratio[ratio > 0].min()) if np.any(ratio > 0) else 1.0


def _along(run: Callable[[Sequence[Any]], Any], args: Sequence[Any], k: int, direction: Any) -> Callable[[Any], Any]:
    """The entries of ``f``, flat, as a function of how far an argument is moved; every value is computed once."""
    known: dict[Any, Any] = {}

    def along(t: Any) -> Any:
        if t not in known:
            moved = args[k] + t * direction
            known[t] = np.ravel(run([moved if i == k else a for i, a in enumerate(args)]))
        return known[t]

    return along


def _holds_close_by(f: Callable[[float], Any], slope: float, error: float) -> bool:
    """Whether a slope found over a wide interval is that at the point: a pole or a bend close by is passed over."""
    with np.errstate(all="ignore"):
        right, left = float(f(_CLOSE)), float(f(-_CLOSE))
        rounding = 64 * float(np.finfo(float).eps) * (abs(right) + abs(left)) / _CLOSE
        away = abs((right - left) / (2 * _CLOSE) - slope)
    return not away > 4 * error + rounding + 1e-3 * abs(slope)


def one_sided_slopes(
    run: Callable[[Sequence[Any]], Any], args: Sequence[Any], k: int, direction: Any, entry: int, eps: float
) -> tuple[float, float] | None:
    """The smaller and the larger slope of an entry of the value on the two sides of a kink; None where it has none.

    The slopes of a smooth function come together as the steps get smaller, those at a kink do not.
    """
    size, values = _size(args[k], direction), _along(run, args, k, direction)
    here = float(values(0.0)[entry])
    sides = []
    for step in (_CLOSE * size * 100, _CLOSE * size) if eps <= np.finfo(float).eps else (0.1 * size, 0.02 * size):
        left, right = float(values(-step)[entry]), float(values(step)[entry])
        sides.append(((here - left) / step, (right - here) / step))
    gaps = [abs(right - left) for left, right in sides]
    noise = 1e3 * eps * abs(here) / step
    if not gaps[1] > max(0.5 * gaps[0], noise):
        return None
    (left_far, right_far), (left, right) = sides
    room = abs(left - left_far) + abs(right - right_far) + noise / 1e3
    return min(left, right) - room, max(left, right) + room


def _complex_step(along: Callable[[complex], Any]) -> Any:
    """The complex-step derivatives, None where ``f`` does not run on complex numbers or gives a real one."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("error")
        try:
            out = along(1j * _STEP)
        except Exception:  # noqa: BLE001  (any refusal of complex numbers means the same)
            return None
    return np.where(np.isfinite(out), out.imag / _STEP, np.nan) if out.dtype.kind == "c" else None

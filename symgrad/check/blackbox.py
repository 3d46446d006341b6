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


def gradient_of_black_box(
    run: Callable[[Sequence[Any]], Any], args: Sequence[Any], positions: Sequence[int], eps: float
) -> tuple[str, list[Any], list[Any]]:
    """``(method, gradients, error estimates)`` for the arguments at ``positions``, entry by entry.

    ``eps`` is the rounding unit of what ``run`` gives.
    """
    gradients, errors = [], []
    exact = True
    for k in positions:
        g = np.zeros(args[k].shape, args[k].dtype)
        e = np.zeros(args[k].shape)
        for index in np.ndindex(args[k].shape):
            parts = (1, 1j) if args[k].dtype.kind == "c" else (1,)
            for part in parts:
                slope, error, by_step = _entry(run, args, k, index, part, eps)
                g[index] += slope * part
                e[index] = max(e[index], error)
                exact = exact and by_step
        gradients.append(g)
        errors.append(e)
    return ("complex-step differentiation" if exact else "central differences with extrapolation"), gradients, errors


def _entry(
    run: Callable[[Sequence[Any]], Any], args: Sequence[Any], k: int, index: tuple[int, ...], part: complex, eps: float
) -> tuple[float, float, bool]:
    size, along = abs(args[k][index]) or 1.0, _along(run, args, k, index, part)
    fine = eps <= np.finfo(float).eps

    def scaled(t: float) -> Any:
        return along(t * size)

    slope, error = central_difference(scaled, 1e-2 if fine else 1e-1, eps)
    if fine and not _holds_close_by(scaled, slope, error):
        slope, error = central_difference(scaled, _CLOSE)
    slope, error = slope / size, error / size
    if part == 1 and is_real_floating(args[k].dtype):
        stepped = _complex_step(along)
        if stepped is not None and abs(stepped - slope) <= 4 * error + 1e-9 * abs(slope):
            return stepped, eps * abs(stepped), True
    return slope, error, False


def _along(
    run: Callable[[Sequence[Any]], Any], args: Sequence[Any], k: int, index: tuple[int, ...], part: complex = 1
) -> Callable[[Any], Any]:
    """``f`` as a function of what is added to one entry."""

    def along(t: Any) -> Any:
        moved = args[k].astype(np.result_type(args[k].dtype, type(t)))
        moved[index] += t * part
        return run([moved if i == k else a for i, a in enumerate(args)])

    return along


def _holds_close_by(f: Callable[[float], Any], slope: float, error: float) -> bool:
    """Whether a slope found over a wide interval is that at the point: a pole or a bend close by is passed over."""
    with np.errstate(all="ignore"):
        right, left = float(f(_CLOSE)), float(f(-_CLOSE))
        rounding = 64 * float(np.finfo(float).eps) * (abs(right) + abs(left)) / _CLOSE
        away = abs((right - left) / (2 * _CLOSE) - slope)
    return not away > 4 * error + rounding + 1e-3 * abs(slope)


def one_sided_slopes(
    run: Callable[[Sequence[Any]], Any], args: Sequence[Any], k: int, index: tuple[int, ...], eps: float
) -> tuple[float, float] | None:
    """The smaller and the larger slope on the two sides of a kink; None where ``f`` has none.

    The slopes of a smooth function come together as the steps get smaller, those at a kink do not.
    """
    size, along = abs(args[k][index]) or 1.0, _along(run, args, k, index)
    here = float(along(0.0))
    sides = []
    for step in (_CLOSE * size * 100, _CLOSE * size) if eps <= np.finfo(float).eps else (0.1 * size, 0.02 * size):
        sides.append(((here - float(along(-step))) / step, (float(along(step)) - here) / step))
    gaps = [abs(right - left) for left, right in sides]
    noise = 1e3 * eps * abs(here) / step
    if not gaps[1] > max(0.5 * gaps[0], noise):
        return None
    (left_far, right_far), (left, right) = sides
    room = abs(left - left_far) + abs(right - right_far) + noise / 1e3
    return min(left, right) - room, max(left, right) + room


def _complex_step(along: Callable[[complex], Any]) -> float | None:
    """The complex-step derivative, None where ``f`` does not run on complex numbers or gives a real one."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("error")
        try:
            out = np.asarray(along(1j * _STEP))
        except Exception:  # noqa: BLE001  (any refusal of complex numbers means the same)
            return None
    if out.dtype.kind != "c" or not np.isfinite(out):
        return None
    return float(out.imag) / _STEP

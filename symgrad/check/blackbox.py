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


def central_difference(f: Callable[[float], Any], width: float = 1e-2) -> tuple[float, float]:
    """The derivative of ``f`` at 0 and an estimate of its error.

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
            rounding = float(np.finfo(float).eps) * (abs(right) + abs(left)) / step
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
    run: Callable[[Sequence[Any]], Any], args: Sequence[Any], positions: Sequence[int]
) -> tuple[str, list[Any], list[Any]]:
    """``(method, gradients, error estimates)`` for the arguments at ``positions``, entry by entry."""
    gradients, errors = [], []
    exact = True
    for k in positions:
        g = np.zeros(args[k].shape, args[k].dtype)
        e = np.zeros(args[k].shape)
        for index in np.ndindex(args[k].shape):
            parts = (1, 1j) if args[k].dtype.kind == "c" else (1,)
            for part in parts:
                slope, error, by_step = _entry(run, args, k, index, part)
                g[index] += slope * part
                e[index] = max(e[index], error)
                exact = exact and by_step
        gradients.append(g)
        errors.append(e)
    return ("complex-step differentiation" if exact else "central differences with extrapolation"), gradients, errors


def _entry(
    run: Callable[[Sequence[Any]], Any], args: Sequence[Any], k: int, index: tuple[int, ...], part: complex
) -> tuple[float, float, bool]:
    size = abs(args[k][index]) or 1.0

    def along(t: Any) -> Any:
        moved = args[k].astype(np.result_type(args[k].dtype, type(t)))
        moved[index] += t * part
        return run([moved if i == k else a for i, a in enumerate(args)])

    slope, error = central_difference(lambda t: along(float(t) * size), 1e-2)
    slope, error = slope / size, error / size
    if part == 1 and is_real_floating(args[k].dtype):
        stepped = _complex_step(along)
        if stepped is not None and abs(stepped - slope) <= 4 * error + 1e-9 * abs(slope):
            return stepped, float(np.finfo(float).eps) * abs(stepped), True
    return slope, error, False


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

"""Gradients of functions that can only be called: complex step, else Richardson's differences with an error estimate.

The complex step Im f(x + ih)/h has no cancellation and is exact to the last digits, but holds for analytic functions
only; it is believed where the differences, within their own error, agree (Squire and Trapp, SIAM Review 40(1), 1998;
the extrapolation is Ridders', Advances in Engineering Software 4(2), 1982).
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from symgrad.dtypes import is_real_floating
from symgrad.errors import ArgumentError

_STEP = 1e-30
_SHRINK = 1.6
_ROWS = 10
_CLOSE = 1e-5
_ROUGH = 1e-3


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
    run: Callable[[Sequence[Any]], Any],
    args: Sequence[Any],
    positions: Sequence[int],
    eps: float,
    tangents: Any = (),
    method: str | None = None,
) -> tuple[bool, list[Any], list[Any]]:
    """``(by complex step, derivatives, error estimates)`` for the arguments at ``positions``.

    They have the shape ``(*value, *argument)``; with ``tangents``, one per position, they are the derivatives along
    these, of the shape of the value.  ``eps`` is the rounding unit of what ``run`` gives.  ``method`` "fd" asks for
    differences, "complex-step" for the complex step, which is refused where it does not hold.
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
                slope, error, by_step = slope_along(run, args, k, direction, eps, method != "fd")
                if method == "complex-step" and not by_step:
                    raise ArgumentError(
                        "method='complex-step': f does not take complex numbers, or is no analytic function of them "
                        "(abs, conj, maximum and their kin are not); use method='fd'."
                    )
                g[(..., *index)] += slope.reshape(shape) * part
                e[(..., *index)] = np.maximum(e[(..., *index)], error.reshape(shape))
                exact = exact and by_step
        derivatives.append(g)
        errors.append(e)
    return exact, derivatives, errors


def unit(array: Any, index: tuple[int, ...]) -> Any:
    """Zeros like an array, with 1 at an index."""
    unit = np.zeros(array.shape, array.dtype)
    unit[index] = 1
    return unit


def slope_along(
    run: Callable[[Sequence[Any]], Any], args: Sequence[Any], k: int, direction: Any, eps: float, step: bool
) -> tuple[Any, Any, bool]:
    """The slopes of all entries of the value along a direction, flat, their errors, and whether they are exact."""
    size, values = _size(args[k], direction), _along(run, args, k, direction)
    count = values(0.0).size
    slopes, errors = np.zeros(count), np.zeros(count)
    for i in range(count):
        slopes[i], errors[i] = _slope(lambda t, i=i: values(t * size)[i], size, eps)  # type: ignore[misc]
    stepped = None
    if step and is_real_floating(args[k].dtype) and np.asarray(direction).dtype.kind != "c":
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
    elif fine and error > _ROUGH * abs(slope):
        close, close_error = central_difference(scaled, _CLOSE)
        if close and close_error < error:  # 0 is the slope of a function that moves in steps
            slope, error = close, close_error
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


# ---------------------------------------------------------------------------------------------- noise

_POINTS = 12
_NOISE_STEPS = (1e-6, 1e-4)


def noise_of(run: Callable[[Sequence[Any]], Any], args: Sequence[Any], positions: Sequence[int], eps: float) -> float:
    """The relative rounding unit that values of ``run`` really have: ``eps``, or more if it computes coarser inside.

    Differences of higher order of equidistant values leave nothing of a smooth function but its noise (Moré and Wild,
    "Estimating computational noise", SIAM J. Sci. Comput. 33(3), 2011).  The points lie on one side, so that a kink at
    the point does not show, and the median passes over one close by.
    """
    rng = np.random.default_rng(4)
    moves = {
        k: np.where(args[k] == 0, 1.0, np.abs(args[k])) * rng.choice([-1.0, 1.0], np.shape(args[k])) for k in positions
    }
    found = []
    for h in _NOISE_STEPS:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            values = np.array(
                [
                    np.ravel(run([a + moves[k] * (h * i) if k in moves else a for k, a in enumerate(args)]))
                    for i in range(1, _POINTS + 1)
                ]
            )
        size = np.max(np.abs(values), initial=0.0)
        if not size or not np.isfinite(size):
            continue
        levels = []
        for order in range(3, 8):
            scale = math.factorial(order) / math.sqrt(math.factorial(2 * order))
            levels.append(scale * np.median(np.abs(np.diff(values, order, axis=0))) / size)
        found.append(2 * min(levels))
    return float(min(found)) if found and min(found) > _NOTABLE * eps else eps  # a pole close by shows at one only


_NOTABLE = 1e3
"""Noise below so many rounding units is that of the operations in any function."""

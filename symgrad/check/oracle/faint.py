"""Entries that are so much smaller than the largest one that its rounding hides a mistake in them.

What rounding leaves there is another number at every point.  A mistake has the same ratio to the exact entry at all of
them, a factor or a sign, and then it counts.  So does an entry far below that rounding, which can only have been made
of small numbers, where it is another one at all points, and both are known to be right to their last digits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from symgrad.check.asking.subject import Subject
from symgrad.check.oracle.answer import Exact
from symgrad.check.oracle.digits import DOUBLE, in_extended_precision
from symgrad.check.oracle.manydigits import gradients_in_digits
from symgrad.check.oracle.tolerance import ULPS_OF_DOUBLE

POINTS, WIDTH = 3, 0.05
"""Other points at which ratios are looked at, and how far away these are, relative to the arguments."""

SAME, OFF = 1e-6, 1e-3
"""How far ratios are apart that are the same, and how far one of a mistake is off 1."""

FAR_BELOW = 1e-3
"""How much less than its rounding what is made of large numbers never is."""

Again = Callable[[Sequence[Any]], "list[Any] | None"]


def look_at_faint(subject: Subject, exact: Exact, given: Sequence[Any], again: Again) -> bool:
    """Narrow the tolerance of small entries that are shown to be wrong; whether there are any."""
    if exact.measured or exact.output is None:
        return False
    suspects = [_suspects(*pair) for pair in zip(given, exact.gradients, subject.eps, strict=True)]
    if not any(np.any(wrong) for wrong in suspects):
        return False
    small = [s & _is_far_below(*each) for s, *each in zip(suspects, given, exact.gradients, subject.eps, strict=True)]
    rng = np.random.default_rng(9)
    first = [_ratio(g, e) for g, e in zip(given, exact.gradients, strict=True)]
    for _ in range(POINTS):
        args = _moved(subject, rng)
        there = Subject(subject.f, args, subject.positions, subject.names, subject.derivative, subject.given)
        there.as_arrays = subject.as_arrays
        made = again(args)
        if made is None:
            return False
        try:
            gradients = there.derivative.exact(*there.trace(there.args))
        except Exception:  # noqa: BLE001  (whatever f does with other arguments)
            return False
        for wrong, low, ratio, g, e, eps in zip(suspects, small, first, made, gradients, subject.eps, strict=True):
            if g.shape != e.shape or e.shape != wrong.shape:
                return False
            with np.errstate(invalid="ignore"):
                there_too = _ratio(g, e)
                wrong &= np.abs(there_too - ratio) <= SAME * np.abs(ratio)
                low &= _is_far_below(g, e, eps) & (np.abs(there_too - 1) > OFF)
    if any(map(np.any, small)):
        known = _known_to_be_right(subject, exact, given, again)
        suspects = [wrong | (low & sure) for wrong, low, sure in zip(suspects, small, known, strict=True)]
    for i, wrong in enumerate(suspects):
        exact.tolerance[i] = np.where(wrong, OFF * np.abs(exact.gradients[i]) / 2, exact.tolerance[i])
    return any(bool(np.any(wrong)) for wrong in suspects)


def _moved(subject: Subject, rng: np.random.Generator) -> list[Any]:
    """Other arguments close by: none keeps its value, not a 0 and no matrix or direction that is special."""
    floats = [k for k in subject.data if k < subject.given and subject.args[k].dtype.kind in "fc"]
    steps = {k: WIDTH * rng.random(subject.args[k].shape) for k in floats}
    moved = {k: np.where(subject.args[k] == 0, step, subject.args[k] * step) for k, step in steps.items()}
    return subject.in_own_kind(subject.moved({k: m.astype(subject.args[k].dtype) for k, m in moved.items()}))


def _suspects(given: Any, gradient: Any, eps: float) -> Any:
    """The entries that are right only since others are large."""
    if given.shape != gradient.shape or gradient.dtype.kind != "f" or not np.isfinite(gradient).all():
        return np.zeros(gradient.shape, dtype=bool)
    largest = np.max(np.abs(gradient), initial=0.0)
    faint = (np.abs(gradient) < ULPS_OF_DOUBLE * eps * largest) & (np.abs(gradient) > np.finfo(float).tiny)
    with np.errstate(invalid="ignore"):
        return faint & (given != 0) & (np.abs(_ratio(given, gradient) - 1) > OFF)


def _is_far_below(given: Any, gradient: Any, eps: float) -> Any:
    """The entries that are far below the rounding of the largest one, in double precision."""
    floor = FAR_BELOW * eps * np.max(np.abs(gradient), initial=0.0) if eps <= DOUBLE else 0.0
    return (np.abs(given) < floor) & (np.abs(gradient) < floor)


def _known_to_be_right(subject: Subject, exact: Exact, given: Sequence[Any], again: Again) -> list[Any]:
    """Where the given entries are what their formula has in more digits, and the exact ones, too."""
    wide = None if subject.is_foreign else in_extended_precision(subject, again)
    try:
        many = gradients_in_digits(subject, exact)
    except Exception:  # noqa: BLE001  (operations and kinds of derivatives without a value in digits)
        wide = None
    if wide is None or len(wide) != len(given):
        return [np.zeros(g.shape, dtype=bool) for g in exact.gradients]
    pairs = zip(given, wide, exact.gradients, many, strict=True)
    return [(np.abs(_ratio(g, w) - 1) < OFF) & (np.abs(_ratio(e, m) - 1) < OFF) for g, w, e, m in pairs]


def _ratio(a: Any, b: Any) -> Any:
    with np.errstate(all="ignore"):
        return a / b if np.shape(a) == np.shape(b) else np.full(np.shape(b), np.nan)

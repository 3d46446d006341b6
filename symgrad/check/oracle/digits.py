"""Right formulas that lose digits: what they are off goes away where there are more digits, and a mistake does not.

``1 - np.tanh(x)**2`` at 15 is the difference of nearly equal numbers, and off by far more than its last digits.
The gradient's own function is asked once more, in double precision where it was in less, and in the widest numbers that
NumPy has where it was in that, with the exact one in fifty digits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from symgrad.check.asking.calling import double_precision
from symgrad.check.asking.subject import Subject
from symgrad.check.graph.surgery import nodes_below
from symgrad.check.oracle.answer import Exact
from symgrad.check.oracle.manydigits import gradients_in_digits

DOUBLE = float(np.finfo(np.float64).eps)
WIDE = {"f": np.longdouble, "c": np.clongdouble}

SMALLER = 256
"""How many times smaller an error has to be with 2048 times smaller units, where it is one of rounding."""

EACH = 16
"""The same for an entry by itself, whose rounding may have been small by chance."""

LARGEST, MOST_NODES = 300, 200
"""Entries of values, and operations, up to which the exact gradient is evaluated in many digits."""

ROUGHLY = 0.1
"""How far off a gradient is at most, relative to the largest entry, where rounding is no mistake: a digit is left."""

Again = Callable[[Sequence[Any]], "list[Any] | None"]


def look_at_digits(subject: Subject, exact: Exact, given: Sequence[Any], again: Again) -> dict[int, str]:
    """Widen the tolerance of what only rounding keeps from being right; gives what to say of it, by its number.

    Exact gradients that lose digits themselves are replaced by those that do not.
    """
    if exact.measured or exact.output is None or not all(map(is_near, given, exact.gradients)):
        return {}
    eps = max(subject.eps, default=DOUBLE)
    if eps > DOUBLE:
        with double_precision():
            made = again(subject.in_own_kind(subject.args))
    elif subject.is_foreign:
        return {}
    else:
        _sharpen(subject, exact)
        made = in_extended_precision(subject, again)
    if made is None or len(made) != len(given):
        return {}
    said = {}
    for i, (g, e, tolerance) in enumerate(zip(given, exact.gradients, exact.tolerance, strict=True)):
        off = np.abs(g - e)
        if np.all(off <= tolerance) or made[i].shape != e.shape:
            continue
        left = np.abs(made[i] - e) - tolerance
        if np.all(left <= off / EACH) and np.max(left) <= np.max(off) / SMALLER:
            said[i] = _said(off, e, eps)
            exact.tolerance[i] = np.maximum(tolerance, 2 * off)
    return said


def in_extended_precision(subject: Subject, again: Again) -> list[Any] | None:
    """The given gradients in the widest numbers that NumPy has; None where these are double ones, or it fails."""
    if np.finfo(np.longdouble).eps >= DOUBLE / SMALLER:
        return None
    wide = [a.astype(WIDE[a.dtype.kind]) if k in subject.data and a.dtype.kind in WIDE else a
            for k, a in enumerate(subject.args)]  # fmt: skip
    return again(subject.in_own_kind(wide))


def is_near(given: Any, exact: Any) -> bool:
    """Whether what a gradient is off may be rounding."""
    if given.shape != exact.shape or not np.isfinite(exact).all():
        return False
    with np.errstate(all="ignore"):
        return bool(np.all(np.abs(given - exact) <= ROUGHLY * np.max(np.abs(exact), initial=0)))


def _sharpen(subject: Subject, exact: Exact) -> None:
    """Evaluate the exact gradient in many digits, where the difference may be its own rounding."""
    assert exact.output is not None
    nodes = nodes_below(exact.output._node)
    size = max(int(np.prod(node.shape)) for node in nodes)
    if size > LARGEST or len(nodes) > MOST_NODES or max(g.size for g in exact.gradients) > LARGEST:
        return
    try:
        exact.gradients = gradients_in_digits(subject, exact)
    except Exception:  # noqa: BLE001  (operations and kinds of derivatives without a value in digits)
        return


def _said(off: Any, exact: Any, eps: float) -> str:
    """How many digits are left where the fewest are."""
    size = np.where(exact == 0, np.max(np.abs(exact)) or 1.0, np.abs(exact))
    digits = max(int(-np.log10(max(np.max(off / size), eps))), 0)
    left = f"{digits} of {-np.log10(eps):.0f} {'is' if digits == 1 else 'are'} left"
    where = "double precision" if eps > DOUBLE else "extended precision"
    return (
        f"the formula is right, and loses digits here: {left}. In {where} it agrees; a difference of nearly equal "
        "numbers is lost no more where it is written in another way"
    )

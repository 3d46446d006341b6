"""Inputs for which conditions hold: how far each is from holding is a formula, whose derivative leads there.

The squared violations are brought to zero by Polyak's step (B. T. Polyak, Introduction to Optimization, 1987, §5.3):
the least value is known, since it is zero where all conditions hold.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from symgrad.errors import SymgradError
from symgrad.formula.derive import gradient
from symgrad.formula.term import Term, as_term, images
from symgrad.op import lookup

_STEPS = 60
_SLACK = (1e-3, 0.5)
"""By how much more than needed an inequality is to hold."""

Wanted = tuple[Term, bool]


def margin(condition: Term, wanted: bool) -> Term | None:
    """A term that is positive in all entries where a condition is as wanted; None where none is known.

    >>> from symgrad.formula.term import symbol
    >>> x = symbol("x")
    >>> margin(lookup("gt")(x, 3), True).op.name
    'sub'
    """
    op, args = condition.op.name, condition.args
    if op in ("gt", "ge", "lt", "le"):
        a, b = args if (op in ("gt", "ge")) == wanted else args[::-1]
        return as_term(lookup("sub")(a, b))
    if op in ("eq", "ne"):
        apart = lookup("abs")(lookup("sub")(*args))
        return as_term(apart if (op == "ne") == wanted else lookup("neg")(apart))
    if op == "logical_not":
        return margin(args[0], not wanted)
    if op in ("logical_and", "logical_or"):
        both = [margin(a, wanted) for a in args]
        if both[0] is None or both[1] is None:
            return None
        return as_term(lookup("minimum" if (op == "logical_and") == wanted else "maximum")(*both))
    if op in ("all", "any"):
        inner = margin(args[0], wanted)
        if inner is None or (op == "all") == wanted or not inner.shape:
            return inner
        return as_term(lookup("amax")(inner, dim=tuple(range(inner.ndim)), keepdim=False))
    if op == "cast" or (op == "reshape" and condition.dtype is not None and condition.dtype.kind == "b"):
        return margin(args[0], wanted)
    if condition.dtype is not None and condition.dtype.kind in "fiu":
        apart = lookup("abs")(condition)
        return as_term(apart if wanted else lookup("neg")(apart))
    return None


def violation(wanted: Sequence[Wanted], slack: float) -> Term | None:
    """The sum of the squares by which conditions are missed; None where one of them has no margin."""
    total: Any = None
    for condition, value in wanted:
        found = margin(condition, value)
        if found is None:
            return None
        exact = found.op.name == "neg" and found.args[0].op.name == "abs"  # an equation: only 0 will do
        missing = lookup("relu")(lookup("sub")(0 if exact else slack, found))
        square = lookup("mul")(missing, missing)
        if square.shape:
            square = lookup("sum")(square, dim=tuple(range(square.ndim)), keepdim=False)
        total = square if total is None else total + square
    return None if total is None else as_term(total)


def steered(
    wanted: Sequence[Wanted], starts: Sequence[dict[str, Any]], symbols: Sequence[Term], letters: dict[str, int]
) -> Iterator[dict[str, Any]]:
    """Inputs, by symbol, for which the conditions should be as wanted: from one start after the other."""
    for slack in _SLACK:
        try:
            missed = violation(wanted, slack)
            if missed is None:
                return
            slopes = gradient(missed, list(symbols))
        except SymgradError:
            return
        for start in starts:
            reached = _descended(missed, slopes, start, symbols, letters)
            if reached is not None:
                yield reached


def _descended(
    missed: Term, slopes: Sequence[Term], start: dict[str, Any], symbols: Sequence[Term], letters: dict[str, int]
) -> dict[str, Any] | None:
    at = dict(start)
    for _ in range(_STEPS):
        with np.errstate(all="ignore"):
            values = images([missed, *slopes], at, letters)
        value = float(values[missed])
        if value == 0 or not np.isfinite(value):
            return at if value == 0 else None
        steps = [np.asarray(values[slope], float) for slope in slopes]
        with np.errstate(all="ignore"):
            norm = sum(float(np.sum(step * step)) for step in steps)
            if not norm or not np.isfinite(norm):
                return None
            for symbol, step in zip(symbols, steps, strict=True):
                name = str(symbol.name)
                # Twice Polyak's step is Newton's for the square of a linear function.
                at[name] = np.asarray(at[name] - 2 * value / norm * step, symbol.dtype)[()]
    return at  # an equation need not hold to the last bit here to hold in the program

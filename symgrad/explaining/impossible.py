"""Proofs that no real numbers satisfy some conditions, so that a way through a function does not exist.

Two proofs are tried.  Intervals: what the conditions say of a value goes through its formula to the values that it is
made of and back, until one has no room left (F. Benhamou and others, "Revising hull and box consistency", ICLP 1999).
Linear: a sum of the conditions with positive factors says 0 > 0 (Fourier and Motzkin), where what is not linear counts
as a number of its own, within its interval.  Both hold for real inputs and exact values; a comparison that does not
hold is taken for its opposite only where no value can be nan.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

from symgrad.errors import SymgradError
from symgrad.explaining.intervals import Boxes, Empty
from symgrad.explaining.steering import Wanted
from symgrad.formula.canonical.simplify import canonical
from symgrad.formula.term import Term, as_term, count, postorder
from symgrad.op import lookup

_CASES = 32
"""Ways in which disjunctions may be true; of more nothing is said."""
_LARGE = 400
"""Nodes of conditions up to which their canonical forms are asked for."""
_ROWS = 400
"""Inequalities of one elimination."""

_DEFINED = ("real", "off-zero", "off-integer")
"""Domains of ops that have a value for all real numbers, if no derivative."""

Comparison = tuple[Term, Term, bool]
"""a > b (True), or a >= b, in all entries."""
Linear = dict[Term | None, Fraction]
"""Coefficients of a sum of terms; that of None stands alone."""
Row = tuple[Linear, bool]
"""A sum that is > 0 (True), or >= 0."""


def impossible(path: Sequence[Wanted], values: dict[str, Any], moving: Sequence[Term], letters: Any) -> bool:
    """Whether no real values of the symbols ``moving`` satisfy all conditions; the others have theirs of ``values``.

    False where that is not proved.

    >>> import numpy as np
    >>> from symgrad.formula.term import symbol
    >>> x = symbol("x")
    >>> gt = lookup("gt")
    >>> impossible([(gt(x, 0), True), (gt(-1, x), True)], {"x": np.float64(1)}, [x], {})
    True
    >>> impossible([(gt(x * x, 2), True), (gt(1, x), True)], {"x": np.float64(1)}, [x], {})
    False
    """
    try:
        return all(_contradiction(case, values, moving, letters) for case in _cases(path))
    except (SymgradError, ArithmeticError, ValueError, TypeError, IndexError, KeyError, AttributeError):
        return False  # a kernel that takes no infinite numbers, a formula without a canonical form


# ---------------------------------------------------------------------------------------------- conditions


def _cases(path: Sequence[Wanted]) -> list[list[Comparison]]:
    """The comparisons of which, in one case at least, all hold where the conditions are as wanted."""
    return _all(_alternatives(condition, wanted, False) for condition, wanted in path)


def _all(rows: Iterable[list[list[Comparison]]]) -> list[list[Comparison]]:
    found: list[list[Comparison]] = [[]]
    for row in rows:
        made = [a + b for a, b in itertools.product(found, row)]
        found = made if len(made) <= _CASES else found
    return found


def _alternatives(condition: Term, wanted: bool, each: bool) -> list[list[Comparison]]:
    """``each``: the condition has an entry for each of an array, and all are as wanted."""
    op, args = condition.op.name, condition.args
    if op in ("gt", "ge", "lt", "le"):
        a, b = args if (op in ("gt", "ge")) == wanted else args[::-1]
        known = wanted or _total((a, b))
        return [[(a, b, (op in ("gt", "lt")) == wanted)] if known else []]
    if op in ("eq", "ne"):
        same = (op == "eq") == wanted and (op == "eq" or _total(args))
        a, b = args
        return [[(a, b, False), (b, a, False)] if same else []]
    if op == "logical_not":
        return _alternatives(args[0], not wanted, each)
    if op in ("logical_and", "logical_or"):
        parts = [_alternatives(a, wanted, each) for a in args]
        if (op == "logical_and") == wanted:
            return _all(parts)
        return [[]] if each else parts[0] + parts[1]
    if op in ("all", "any"):
        alone = (op == "all") == wanted or not args[0].shape
        return _alternatives(args[0], wanted, each or bool(args[0].shape)) if alone else [[]]
    if op == "cast" or (op == "reshape" and condition.dtype is not None and condition.dtype.kind == "b"):
        return _alternatives(args[0], wanted, each)
    if not wanted and condition.dtype is not None and condition.dtype.kind in "fiu":  # a number that is 0
        zero = as_term(0)
        return [[(condition, zero, False), (zero, condition, False)]]
    return [[]]


def _total(roots: Sequence[Term]) -> bool:
    """Whether formulas have a value for all real numbers, so that no comparison of them fails because of a nan."""
    return all(_everywhere(t) for t in postorder(roots) if t.args)


def _everywhere(t: Term) -> bool:
    domains = t.op.domain if isinstance(t.op.domain, tuple) else (t.op.domain,)
    if t.op is lookup("pow"):
        return t.args[1].number is not None and t.args[1].number >= 0 and t.args[1].number == int(t.args[1].number)
    return t.op.regular is None and all(d in _DEFINED for d in domains)


# ---------------------------------------------------------------------------------------------- proofs


def _contradiction(case: list[Comparison], values: dict[str, Any], moving: Sequence[Term], letters: Any) -> bool:
    """Whether comparisons cannot hold together."""
    real = [c for c in case if all(a.dtype is None or a.dtype.kind in "fiu" for a in c[:2])]
    short = [(a, b, strict) for a, b, strict in real if count(a, b) < _LARGE]
    rows: list[tuple[Term, bool]] = [(canonical(as_term(a - b)), strict) for a, b, strict in short]  # type: ignore[operator]
    zero = as_term(0)
    told = [*real, *((rest, zero, strict) for rest, strict in rows)]
    told += [(zero, canonical(as_term(b - a)), strict) for a, b, strict in short]  # type: ignore[operator]
    try:
        boxes = Boxes(told, values, moving, letters)
        boxes.narrow()
    except Empty:
        return True
    sums = [(linear(rest), strict) for rest, strict in rows]
    return _sum_to_nothing(sums + _bounds(sums, boxes))


def linear(root: Term) -> Linear:
    """A formula as a sum of terms with rational coefficients; of one shape, whose entries are taken each with each."""
    found: dict[Term, Linear] = {}
    for t in postorder([root]):
        if t.number is not None:
            found[t] = {None: Fraction(t.number)}
            continue
        parts: list[Linear] = [found[a] if a.shape in ((), t.shape) else {a: Fraction(1)} for a in t.args]
        partials = t.op.partials or ()
        if len(t.args) and len(partials) == len(t.args) and all(p in (1, -1) for p in partials):
            found[t] = _combined(zip(parts, partials, strict=True))
        elif t.op is lookup("mul") and any(set(p) <= {None} for p in parts):
            k = next(j for j, p in enumerate(parts) if set(p) <= {None})
            found[t] = _combined([(parts[1 - k], parts[k].get(None, Fraction(0)))])
        elif t.op is lookup("div") and set(parts[1]) == {None} and parts[1][None]:
            found[t] = _combined([(parts[0], 1 / parts[1][None])])
        else:
            found[t] = {t: Fraction(1)}
    return found[root]


def _combined(parts: Iterable[tuple[Linear, Any]]) -> Linear:
    total: Linear = {}
    for row, factor in parts:
        for term, k in row.items():
            total[term] = total.get(term, Fraction(0)) + k * factor
    return {term: k for term, k in total.items() if k}


def _bounds(rows: Sequence[Row], boxes: Boxes) -> list[Row]:
    """What is known of the terms of some rows, as further rows."""
    found: list[Row] = []
    for term in dict.fromkeys(t for row, _ in rows for t in row if t is not None):
        low, high = boxes.hull(term)
        if low > -math.inf:
            found.append(({term: Fraction(1), None: -Fraction(low)}, False))
        if high < math.inf:
            found.append(({term: Fraction(-1), None: Fraction(high)}, False))
    return found


def _sum_to_nothing(rows: list[Row]) -> bool:
    """Whether positive multiples of rows, each > 0 (True) or >= 0, add up to a number that is not: by elimination."""
    while True:
        if any(
            not set(row) - {None} and (row.get(None, 0) < 0 or (strict and not row.get(None, 0)))
            for row, strict in rows
        ):
            return True
        terms = Counter(t for row, _ in rows for t in row if t is not None)
        if not terms or len(rows) > _ROWS:
            return False
        gone = min(terms, key=lambda t: terms[t])
        above, below = ([r for r in rows if r[0].get(gone, 0) * sign > 0] for sign in (1, -1))
        rows = [r for r in rows if gone not in r[0]]
        for (a, x), (b, y) in itertools.product(above, below):
            rows.append((_combined([(a, -b[gone]), (b, a[gone])]), x or y))

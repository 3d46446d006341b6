"""Branches that a point does not enter: the check goes on at points that enter them.

``where``, ``abs``, ``maximum`` and their kin have a derivative that jumps.  If it is the same in every entry, the point
is on one side, and a mistake on the other side does not show.  Multiples of the arguments are tried then, and points
on both sides of the nearest boundaries (:mod:`symgrad.check.branches.boundaries`), where also a margin or a threshold
that is a little off shows.  What is wrong there counts, unless the derivative is wrong close by as well, on the same
side: it then holds for some arguments only (unit vectors, say), and other ones say nothing.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from symgrad.check.asking.arrays import as_array
from symgrad.check.asking.calling import like
from symgrad.check.asking.derivatives import Derivative
from symgrad.check.asking.nested import Given
from symgrad.check.asking.outside import is_round
from symgrad.check.asking.subject import Subject
from symgrad.check.branches.boundaries import steps_across
from symgrad.check.graph.lines import line_text, lines_noted
from symgrad.check.graph.surgery import CarefulSweep
from symgrad.check.oracle.answer import Exact
from symgrad.check.report import Report
from symgrad.tape.graph import Node

SCALES = (-1.0, 0.1, 10.0, 0.01, 100.0, 0.001, 1000.0, -0.1, -10.0, -100.0, -1000.0)
"""Multiples of the arguments that are tried, in this order."""

ALONE = (-1.0, -10.0, -0.1)
"""Multiples of one argument that are tried, where the others stay."""

CLOSE_BY = 1.125
"""A multiple that stays on the same side: what is wrong there, too, says nothing of branches."""

_GUARD = 1e-3
"""Bounds below this one, but not 0, keep a value away from 0."""

_THOUSANDTH, _HUNDREDTH = 1e-3, 1e-2
"""Differences, relative to the largest entry, that are not taken for mistakes of a branch: all that are smaller than
the first, and those smaller than the second that nothing explains."""

_SHOWN = 12
"""Entries of an argument up to which a note shows it."""

Compare = Callable[[Given], tuple[Report, Exact]]
Sides = dict[tuple[Any, str, int], set[float]]


class _SideSweep(CarefulSweep):
    """A sweep that keeps the local derivatives of the operations with branches, by line, operation and argument.

    Entries that no cotangent reaches, since another branch was taken behind them, do not count, but where a mask of
    constants chooses: other arguments are no other side of it.  A square of what is 0 on one side lets its cotangent
    through: it is 0 there by its value, and not by a branch.
    """

    def __init__(self, exact: Exact):
        output = exact.output
        super().__init__(output._node, np.ones(output._value.shape))
        self.lines = exact.lines
        self.sides: Sides = {}

    def _contribution(self, node: Any, rules: Any, i: int, g: Any, saved: Any, params: Any, *rest: Any) -> Any:
        if 0 not in node.shape and _has_branches(node) and not _is_guard(node, i, saved):
            rule = functools.partial(rules, i) if callable(rules) else rules[i]
            ones = np.ones(node.shape, node.dtype)[()]
            local = None if rule is None else rule(ones, *self.arguments(node, saved), **(params or {}))
            if local is not None and np.shape(local) in ((), node.shape):
                chosen = node.op.condition
                counts = np.asarray(g) != 0 if chosen is None or isinstance(node.args[chosen], Node) else ...
                reached = np.broadcast_to(np.real(np.asarray(local)), node.shape)[counts]
                found = np.unique(np.round(reached, 6))[:3].tolist()
                self.sides.setdefault((self.lines.get(node), node.op.name, i), set()).update(found)
        elif not _has_branches(node):
            saved = _without_zeros(node, saved)
        return super()._contribution(node, rules, i, g, saved, params, *rest)


def _without_zeros(node: Any, saved: Any) -> Any:
    """What an operation has saved, with very small numbers where what it was computed from is 0."""
    return tuple(
        np.where(value == 0, _VERY_SMALL, value)
        if j and isinstance(node.args[j - 1], Node) and getattr(value, "dtype", None) == np.float64
        else value
        for j, value in enumerate(saved)
    )


_VERY_SMALL = 1e-150


def _has_branches(node: Any) -> bool:
    op = node.op
    edge = op.regular is not None and op.regular[0] == 0  # there is nothing on the other side of it
    varies = op.partials is None or any(map(callable, op.partials))  # those of sign are 0 on both sides
    pieces = op.name == "by_pieces" and node.args[0] is not node.args[1]
    around = any(np.issubdtype(getattr(arg, "dtype", bool), np.complexfloating) for arg in node.args)
    return (
        op.structural is not None or pieces or bool(op.kinks and varies and not around and not edge)
    )  # |z| has no sides


def _is_guard(node: Any, i: int, saved: Any) -> bool:
    """Whether an operation keeps values away from 0, or another end of where they belong, and is no branch."""
    if node.op.name == "clamp":
        return True
    others = [v for j, v in enumerate(saved) if j and j != i + 1 and v is not None]
    if not node.op.among or node.op.condition is not None or node.mask >> (1 - i) & 1 or not others:
        return False
    bound = np.abs(np.asarray(others[0]))
    return bool(np.all((bound > 0) & (bound < _GUARD)))


def sides_of(exact: Exact) -> Sides:
    """The local derivatives that the operations with branches have at the point."""
    output = exact.output
    if output is None or output._node is None or not output._requires_grad:
        return {}
    sweep = _SideSweep(exact)
    with np.errstate(all="ignore"):
        sweep.run()
    return sweep.sides


def looked_at_branches(given: Given, exact: Exact, report: Report, compare: Compare, derivative: Derivative) -> Report:
    """The report, or that at another point where a branch that was not entered shows a mistake."""
    seen = sides_of(exact)
    holds_close_by: bool | None = None
    for scale, moved in _scales(given):
        missing = _one_sided(seen)
        if not missing:
            break
        there = _at(given, scale, moved)
        fresh = _sides_at(there, derivative, exact.as_arrays)
        entered = [key for key in missing if fresh.get(key, set()) - seen[key]]
        if not entered:
            continue
        for key, values in fresh.items():
            seen.setdefault(key, set()).update(values)
        other = compared_there(there, compare)
        if other is None or other.ok or not is_mistake(other):
            continue
        if holds_close_by is None:
            beside = compared_there(_at(given, CLOSE_BY, given.positions), compare)
            holds_close_by = beside is not None and beside.ok
        if holds_close_by:
            other.notes.append(
                f"at the point given all entries are right, but f takes one side of {_text(entered[0])} there only; "
                f"this is the comparison at {_multiples(given, scale, moved)}"
            )
            return other
    other = _beside_boundaries(given, exact, compare, derivative, seen)
    return _noted(report, seen) if other is None else other


def _beside_boundaries(
    given: Given, exact: Exact, compare: Compare, derivative: Derivative, seen: Sides
) -> Report | None:
    """The report at a point beside a boundary where a mistake shows; what such points enter goes into ``seen``."""
    if given.again is None or exact.output is None:
        return None
    subject = _subject(given, derivative, exact.as_arrays)
    for step in steps_across(exact, subject):
        there = _moved(given, step.moves)
        right = fits(there, derivative, exact.as_arrays)
        if right:
            for key in _one_sided(seen):
                seen[key].update(_sides_at(there, derivative, exact.as_arrays).get(key, set()))
        if right is not False:
            continue
        other = compared_there(there, compare)
        if other is None or other.ok or not is_mistake(other) or not holds_around(given, compare):
            continue
        place = _text((step.boundary.line, step.boundary.node.op.name, 0))
        moved = "; ".join(f"{given.names[k]} = {_shown(there.args[k])}" for k in step.moves)
        other.notes.append(
            f"at the point given all entries are right, but not beside the boundary of {place}; "
            f"this is the comparison at {moved}"
        )
        return other
    return None


def _shown(value: Any) -> str:
    array = as_array(value)
    return np.array2string(array, precision=6, separator=", ") if array.size <= _SHOWN else "values close by"


def _moved(given: Given, moves: dict[int, Any]) -> Given:
    args = list(given.args)
    for k, move in moves.items():
        array = as_array(args[k])
        args[k] = like(args[k], (array + move).astype(array.dtype))
    return replace(given, args=args)


def fits(given: Given, derivative: Derivative, as_arrays: bool) -> bool | None:
    """Whether the gradients at these arguments are right but for a thousandth; None where there are none.

    That is one pass, where a comparison is a dozen.
    """
    assert given.again is not None
    try:
        with np.errstate(all="ignore"):
            found = given.again(given.args)
            subject = _subject(given, derivative, as_arrays)
            exact = derivative.exact(*subject.trace(subject.args))
    except Exception:  # noqa: BLE001  (whatever the functions do with arguments that nobody gave)
        return None
    if not all(np.isfinite(e).all() for e in exact):
        return None
    return all(
        g.shape == e.shape and bool(np.all(np.abs(g - e) <= _THOUSANDTH * np.max(np.abs(e), initial=0.0)))
        for g, e in zip(found, exact, strict=True)
    )


def holds_around(given: Given, compare: Compare, fixed: Sequence[int] = ()) -> bool:
    """Whether the derivative is right at points around the given one: it is not that of some arguments only.

    They are so close by that hardly one is beyond a boundary where mistakes show.  The ``fixed`` arguments stay.
    """
    rng = np.random.default_rng(3)
    for _ in range(2):
        moves = {}
        for k in given.positions:
            array = as_array(given.args[k])
            stays = is_round(array) if k in fixed else False
            moves[k] = np.where(stays, 0, array) * _THOUSANDTH * rng.uniform(-1, 1, array.shape)
        report = compared_there(_moved(given, moves), compare)
        if report is None or not report.ok:
            return False
    return True


def _scales(given: Given) -> Iterator[tuple[float, Sequence[int]]]:
    """Multiples that may be tried, and of which arguments; where all entries are positive, they may have to be.

    First of all arguments, and then of one: a product of two keeps its sign when both are turned.
    """
    if given.again is None:
        return
    negative = any(np.any(np.real(as_array(given.args[k])) < 0) for k in given.positions)
    yield from ((scale, given.positions) for scale in SCALES if scale > 0 or negative)
    for k in given.positions if len(given.positions) > 1 else ():
        yield from ((scale, [k]) for scale in ALONE if _multiple(given.args[k], scale) == scale)


def _at(given: Given, scale: float, moved: Sequence[int]) -> Given:
    """What is under check at a multiple of some arguments; the gradients are still those at the point."""
    args = [_scaled(a, _multiple(a, scale)) if k in moved else a for k, a in enumerate(given.args)]
    return replace(given, args=args)


def _multiple(value: Any, scale: float) -> float:
    """The multiple of one argument: what has no negative entry, such as the width of a band, keeps its sign."""
    return scale if np.any(np.real(as_array(value)) < 0) else abs(scale)


def _multiples(given: Given, scale: float, moved: Sequence[int]) -> str:
    """The multiples in words: ``-1 times r``, ``-10 times r and 10 times d``."""
    names: dict[float, list[str]] = {}
    for k in moved:
        names.setdefault(_multiple(given.args[k], scale), []).append(given.names[k])
    return " and ".join(f"{factor:g} times {', '.join(row)}" for factor, row in names.items() if factor != 1)


def _subject(given: Given, derivative: Derivative, as_arrays: bool) -> Subject:
    """``f`` at other arguments, followed as at the point."""
    subject = Subject(given.f, given.args, given.positions, given.names, derivative, given.own)
    subject.as_arrays = as_arrays
    return subject


def _sides_at(given: Given, derivative: Derivative, as_arrays: bool) -> Sides:
    try:
        subject = _subject(given, derivative, as_arrays)
        with lines_noted() as lines:
            output, _ = subject.trace(subject.args)
        return sides_of(Exact("", None, [], [], output=output, lines=lines))
    except Exception:  # noqa: BLE001  (whatever f does with arguments that nobody gave)
        return {}


def compared_there(given: Given, compare: Compare) -> Report | None:
    """The comparison where the functions take these arguments, and the exact derivative is finite."""
    assert given.again is not None
    try:
        with np.errstate(all="ignore"):
            report = compare(replace(given, gradients=given.again(given.args)))[0]
    except Exception:  # noqa: BLE001  (as above)
        return None
    return report if all(np.isfinite(a.exact).all() for a in report.arguments) else None


def _scaled(value: Any, scale: float) -> Any:
    array = as_array(value)
    return like(value, (array * scale).astype(array.dtype))


def is_mistake(report: Report, least: float = _THOUSANDTH) -> bool:
    """Whether a mistake of the formula shows, and not the rounding or overflow of a right one."""
    wrong = [a for a in report.arguments if not a.ok]
    if any(a.given.shape != a.exact.shape or not np.isfinite(a.given).all() for a in wrong):
        return False
    if any(search.about_numbers() for search in report.pending):
        return False
    errors = [np.max(np.abs(a.given - a.exact)) / (np.max(np.abs(a.exact)) or 1) for a in wrong]
    if least < min(errors) <= _HUNDREDTH:  # as far off as finite differences may be, which are asked for by name
        report.explain()
    return min(errors) > least and not any(a.diagnosis and a.diagnosis.kind == "precision" for a in wrong)


def _one_sided(sides: Sides) -> list[Any]:
    return [key for key, values in sides.items() if len(values) < 2]


def _noted(report: Report, sides: Sides) -> Report:
    places = list(dict.fromkeys(_text(key) for key in _one_sided(sides)))
    if places:
        more = f" and {len(places) - 1} more" if len(places) > 1 else ""
        report.notes.append(f"f takes one side of {places[0]}{more} only; the derivative on the other was not checked")
    return report


def _text(key: tuple[Any, str, int]) -> str:
    line = line_text(key[0])
    name = "a branch" if key[1] == "by_pieces" else key[1]
    return f"{name} ({line})" if line else name

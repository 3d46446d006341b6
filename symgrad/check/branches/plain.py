"""Numbers that somebody chose, 1, 2 or a half: a factor or a term that was left out may not show there.

Layers are checked as they begin, with gains of one and shifts of zero, losses with a scale of one half, and powers with
an exponent of 2, of which the factor is 2 as well.  Where the derivative belongs to such an argument, it has to be
right at other values, too, and what is wrong there counts.  Where an argument is a constant, or a number that the
functions read from outside, it may be one by design (a mask, a label, a flag), and a note tells what was seen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from symgrad.check.asking.arrays import as_array
from symgrad.check.asking.calling import like
from symgrad.check.asking.derivatives import Derivative
from symgrad.check.asking.nested import Given
from symgrad.check.asking.outside import Constant, is_round, numbers_read
from symgrad.check.asking.subject import Subject
from symgrad.check.branches.sides import Compare, compared_there, fits, holds_around, is_mistake
from symgrad.check.diagnosis.retry import repeated_gradients
from symgrad.check.oracle.answer import Exact
from symgrad.check.oracle.points import Design, design_of, each_design
from symgrad.check.report import Report

_NONE: Design = {}

MOST = 4
"""Constants that are looked at, and as many numbers from outside."""

_SCALES = (0.1, 10.0)
"""Multiples of constants that are tried: what they are compared with may lie between."""


def looked_at_plain(given: Given, exact: Exact, report: Report, compare: Compare, derivative: Derivative) -> Report:
    """The report on a derivative that is right, or that at other values of what is round where it is wrong there."""
    if given.again is None or exact.output is None:
        return report
    rng = np.random.default_rng(6)
    plain = [k for k in range(given.own) if _may_hide(given, k)]
    mine = [k for k in plain if k in given.positions]
    elsewhere = _all_elsewhere(given, mine, rng, derivative)
    if elsewhere and not any(fits(there, derivative, exact.as_arrays) is not False for there in elsewhere):
        other = compared_there(elsewhere[0], compare)
        if other is not None and not other.ok and is_mistake(other) and _is_hidden(given, mine, compare):
            said = " and ".join(_said(given, k) for k in mine)
            other.notes.append(
                f"at the point given all entries are right, but there {said}, which hides mistakes; "
                "this is the comparison at other values close by"
            )
            return other

    def is_wrong(there: Given) -> bool:
        if fits(there, derivative, exact.as_arrays) is not False:
            return False
        other = compared_there(there, compare)
        return other is not None and not other.ok and is_mistake(other, _HUNDREDTH)

    numbers = numbers_read(given.f, given.again)[:MOST]
    notes = [_hidden_by(k, given, is_wrong, rng) for k in [k for k in plain if k not in given.positions][:MOST]]
    notes += [_read(number, given, is_wrong, rng) for number in numbers]
    report.notes.extend(filter(None, notes))
    return report


def _is_hidden(given: Given, mine: list[int], compare: Compare) -> bool:
    """Whether what is wrong elsewhere is a mistake that the point hides, and no derivative of the point alone."""
    return not _is_known_before(given, mine) and holds_around(given, compare, mine)


def _is_known_before(given: Given, mine: list[int]) -> bool:
    """Whether no argument changes what the function of a derivative gives: that was computed before, at this point.

    Where all is 0 or 1 it may as well be a factor of it that was left out.
    """
    if all(np.isin(as_array(given.args[k]), (0, 1)).all() for k in mine):
        return False
    moved = given
    for k in [k for k in range(given.own) if as_array(given.args[k]).dtype.kind in "fc"]:
        moved = _with(moved, k, 0.75 * as_array(given.args[k]))
    made = repeated_gradients(given, moved.args)
    return made is not None and all(map(np.array_equal, made, given.gradients))


_HUNDREDTH = 1e-2
"""Differences up to this one, relative to the largest entry, are told of no constant."""

_SMALL = 3

IsWrong = Callable[[Given], bool]


def _hidden_by(k: int, given: Given, is_wrong: IsWrong, rng: np.random.Generator) -> str | None:
    """What to say of a constant with which the derivative is right, but not with other numbers in its place."""
    name, value = given.names[k], as_array(given.args[k])
    if value.ndim and value.dtype.kind in "iu":  # g[index] += v counts an index that repeats once
        wrong = is_wrong(_with(given, k, np.repeat(value[:1], len(value), 0)))
        said = f"the derivative is wrong where entries of {name} repeat: with the first one everywhere"
        return said if wrong else None
    if value.ndim:
        designs = (rng.integers(0, 2, value.shape), rng.choice([-1, 1], value.shape))
        if not is_wrong(_elsewhere(given, [k], rng)) or not all(is_wrong(_with(given, k, d)) for d in designs):
            return None  # a mask, or labels
        return _holds_where(name, value.flat[0], f"with other numbers for {name}")
    for other in _others(value, rng):
        if is_wrong(_with(given, k, other)):
            return _holds_where(name, value, f"with {name} = {other:.3g}")
    return None


def _read(number: Constant, given: Given, is_wrong: IsWrong, rng: np.random.Generator) -> str | None:
    """The same of a number that the functions read from outside."""
    for other in _others(number.value, rng):
        with number.being(other):
            wrong = is_wrong(given)
        if wrong:
            return _holds_where(number.name, number.value, f"with {number.name} = {other:.3g}")
    return None


def _others(value: Any, rng: np.random.Generator) -> Iterator[Any]:
    """Other numbers in the place of a constant, which is a whole number, or is not.

    None is 0 for 1, or 1 for 2: a loop that goes on by such a step, or divides by such a base, would never end.
    """
    if as_array(value).dtype.kind in "iu":
        beside = int(value) + 1, int(value) - 1
        yield from (other for other in beside if abs(other) > 1 or abs(other) > abs(value))
        return
    yield float(value + (0.05 + 0.2 * rng.random()) * (1 if value == 0 else value))
    yield from (float(value * scale) for scale in _SCALES if value != 0)


def _holds_where(name: str, value: Any, at: str) -> str:
    return f"this holds where {name} is {value:g}: {at} the derivative is wrong"


def _may_hide(given: Given, k: int) -> bool:
    """Whether other values of an argument may show more.

    Where the derivative belongs to it, that is so where entries are round; else where it is one number, but for those
    that may be a size (small ones are more often an order), and of indices that may repeat.
    """
    value = given.args[k]
    if isinstance(value, (bool, np.bool_)) or not (isinstance(value, (int, float)) or hasattr(value, "dtype")):
        return False
    array = as_array(value)
    if k in given.positions:
        return array.dtype.kind == "f" and bool(is_round(array).any())
    if array.ndim and array.dtype.kind in "iu":
        return len(array) > 1
    if array.ndim:
        return array.dtype.kind == "f" and array.size > 0 and bool(np.all(array == array.flat[0]))
    sizes = {n for a in given.args if hasattr(a, "shape") for n in a.shape if n > _SMALL}
    return array.dtype.kind == "f" or (array.dtype.kind in "iu" and int(array) not in sizes)


def _said(given: Given, k: int) -> str:
    array = as_array(given.args[k])
    if np.all(array == array.flat[0]):
        return f"{given.names[k]} is {array.flat[0]:g}"
    rounds = np.unique(array[is_round(array)])
    return f"{given.names[k]} has entries of {' or '.join(f'{v:g}' for v in rounds[:2])}"


def _all_elsewhere(given: Given, mine: list[int], rng: np.random.Generator, derivative: Derivative) -> list[Given]:
    """The same at other values of some arguments, of each design that these may have: (1, 0, 0) has a sum of one, too.

    A design that leaves them no other values, as the identity has none that is symmetric and orthogonal, is left out.
    """
    design = design_of(Subject(given.f, given.args, given.positions, given.names, derivative, given.own))
    each = {k: ways for k in mine if (ways := each_design(as_array(given.args[k])))}
    most = max(map(len, each.values()), default=0)
    alone = [{k: ways[min(i, len(ways) - 1)] for k, ways in each.items()} for i in range(most)]
    found = [_elsewhere(given, mine, rng, d) for d in (design, *({**design, **one} for one in alone))]
    return [at for at in found if any(not _near(at.args[k], given.args[k]) for k in mine)]


def _near(a: Any, b: Any) -> bool:
    return np.allclose(as_array(a), as_array(b), atol=1e-3, equal_nan=True)


def _elsewhere(given: Given, places: list[int], rng: np.random.Generator, design: Design = _NONE) -> Given:
    """The same with other values where some arguments are round: close by, and of the same design."""
    for k in places:
        array = as_array(given.args[k])
        step = (0.05 + 0.2 * rng.random(array.shape)) * np.where(array == 0, 1, array)
        moved = array + np.where(is_round(array) | (k not in given.positions), step, 0)
        given = _with(given, k, design[k](moved) if k in design else moved)
    return given


def _with(given: Given, k: int, value: Any) -> Given:
    args = list(given.args)
    whole = isinstance(args[k], int)
    args[k] = value if whole else like(args[k], np.asarray(value).astype(as_array(args[k]).dtype))
    return replace(given, args=args)

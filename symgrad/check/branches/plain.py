"""Arguments that are 0 or 1, or defaults: a factor or a term that was left out may not show there.

Layers are checked as they begin, with gains of one and shifts of zero, and losses with a scale of one.  Where the
derivative belongs to such an argument, it has to be right at other values, too, and what is wrong there counts.  Where
an argument is a constant, it may be one by design (a mask, a label, a flag), and a note tells what was seen.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from symgrad.check.asking.arrays import as_array
from symgrad.check.asking.calling import like
from symgrad.check.asking.derivatives import Derivative
from symgrad.check.asking.nested import Given
from symgrad.check.asking.subject import Subject
from symgrad.check.branches.sides import Compare, compared_there, fits, holds_around, is_mistake
from symgrad.check.oracle.answer import Exact
from symgrad.check.oracle.points import Design, design_of, each_design
from symgrad.check.report import Report

_NONE: Design = {}

MOST = 4
"""Constants that are looked at."""


def looked_at_plain(given: Given, exact: Exact, report: Report, compare: Compare, derivative: Derivative) -> Report:
    """The report on a derivative that is right, or that at other values of what is 0 or 1 where it is wrong there."""
    plain = [k for k in range(given.own) if _may_hide(given, k)]
    if given.again is None or exact.output is None or not plain:
        return report
    rng = np.random.default_rng(6)
    mine = [k for k in plain if k in given.positions]
    elsewhere = _all_elsewhere(given, mine, rng, derivative)
    if elsewhere and not any(fits(there, derivative, exact.as_arrays) is not False for there in elsewhere):
        other = compared_there(elsewhere[0], compare)
        if other is not None and not other.ok and is_mistake(other) and holds_around(given, compare, mine):
            said = " and ".join(_said(given, k) for k in mine)
            other.notes.append(
                f"at the point given all entries are right, but there {said}, which hides mistakes; "
                "this is the comparison at other values close by"
            )
            return other
    for k in [k for k in plain if k not in given.positions][:MOST]:
        hidden = _hidden_by(k, given, exact, derivative, rng)
        if hidden:
            report.notes.append(hidden)
    return report


def _hidden_by(k: int, given: Given, exact: Exact, derivative: Derivative, rng: np.random.Generator) -> str | None:
    """What to say of a constant with which the derivative is right, but not with other numbers in its place."""
    there = _elsewhere(given, [k], rng)
    if fits(there, derivative, exact.as_arrays) is not False:
        return None
    name, moved = given.names[k], as_array(there.args[k])
    if moved.ndim:
        designs = (rng.integers(0, 2, moved.shape), rng.choice([-1, 1], moved.shape))
        if any(fits(_with(given, k, design), derivative, exact.as_arrays) for design in designs):
            return None  # a mask, or labels
    at = f"with other numbers for {name}" if moved.ndim else f"with {name} = {moved:.3g}"
    return f"this holds where {name} is {_value(given, k):g}: {at} the derivative is wrong"


def _may_hide(given: Given, k: int) -> bool:
    """Whether other values of an argument may show more: where it is 0 or 1, or a default, which nobody chose."""
    default = k in given.shared and isinstance(given.args[k], float)
    return default or _plain_entries(given.args[k], k in given.positions)


def _plain_entries(value: Any, some: bool) -> bool:
    """Whether an argument is 0 or 1 everywhere, or ``some`` of its entries are."""
    if isinstance(value, (bool, int)):
        return False
    array = as_array(value) if isinstance(value, float) or hasattr(value, "dtype") else np.empty(0)
    if not array.size or array.dtype.kind != "f":
        return False
    return bool(np.isin(array, (0, 1)).any() if some else array.flat[0] in (0, 1) and np.all(array == array.flat[0]))


def _said(given: Given, k: int) -> str:
    everywhere = _plain_entries(given.args[k], False)
    return f"{given.names[k]} is {_value(given, k):g}" if everywhere else f"{given.names[k]} has entries of 0 or 1"


def _value(given: Given, k: int) -> float:
    return float(as_array(given.args[k]).flat[0])


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
    """The same with other values where some arguments are 0 or 1: close by, and of the same design."""
    for k in places:
        array = as_array(given.args[k])
        step = (0.05 + 0.2 * rng.random(array.shape)) * np.where(array == 0, 1, array)
        moved = array + np.where(np.isin(array, (0, 1)) | (k in given.shared), step, 0)
        given = _with(given, k, design[k](moved) if k in design else moved)
    return given


def _with(given: Given, k: int, value: Any) -> Given:
    args = list(given.args)
    args[k] = like(args[k], np.asarray(value).astype(as_array(args[k]).dtype))
    return replace(given, args=args)

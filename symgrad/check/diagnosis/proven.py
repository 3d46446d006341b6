"""Names of factors that hold at other points, too: 2 may be a 2, 1/t of a t of 0.5, or n/m of eight rows by four."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np

from symgrad.check.asking.derivatives import largest
from symgrad.check.asking.subject import Subject
from symgrad.check.diagnosis.case import Case
from symgrad.check.diagnosis.constants import constant_name, every_name
from symgrad.check.graph import surgery
from symgrad.check.graph.lines import lines_noted, place_of
from symgrad.check.oracle.answer import Exact
from symgrad.check.oracle.points import at_other_sizes, at_other_values, design_of
from symgrad.check.report import number_text

MOST_POINTS = 7
"""Points at which a factor is looked at: with other values, and with other sizes."""

SMALLEST = 1e-6
"""How far a factor is off 1 where it is one, and no rounding."""

LARGEST = 10_000
"""Entries of all arguments up to which the functions are run again."""

LONGEST = 1.0
"""Seconds for the derivatives at other points."""

ROOM = 1e-9
"""How far derivatives at other points may be off, relative to the largest entry: the mistake is known already."""

Measure = Callable[[Case], "float | complex | None"]
"""The factor that a part of the derivative has at a point; None where there is no such part, and nan where no factor of
it explains what is wrong there."""


def of_whole(case: Case) -> float | complex | None:
    """The factor that the whole derivative has."""
    k = case.multiple_of(case.g)
    return math.nan if k is None else 1 + k


def of_edges(case: Case, edges: Sequence[tuple[Any, int]], factor: Callable[[Case, Any], Any]) -> Measure:
    """The factor that what goes along some edges of the graph has, by ``factor`` of a case and of these edges.

    At other points they are the edges in the same places of a graph of the same operations.
    """
    before = _nodes(case.by_rows())
    places = [(before.index(node), i) for node, i in edges]
    kinds = {(_kind(case, node), i) for node, i in edges}

    def measure(there: Case) -> float | complex | None:
        rows = there.by_rows()
        nodes = _nodes(rows)
        if len(nodes) == len(before) and all(a.op is b.op for a, b in zip(before, nodes, strict=True)):
            now = [(nodes[at], i) for at, i in places]
        elif len(edges) > 1:  # the rounds of a loop, which runs more often or less
            now = [(node, i) for node in nodes for kind, i in kinds if _kind(there, node) == kind]
        else:
            return None
        found: float | complex | None = factor(rows, now) if now else None
        return math.nan if found is None else found

    return measure


def _nodes(rows: Case) -> list[Any]:
    return [] if rows.surgeon is None or not rows.surgeon.sweeps else rows.surgeon.nodes


def _kind(case: Case, node: Any) -> tuple[Any, ...]:
    """What operations have in common that the rounds of a line do."""
    return case.exact.lines.get(node), node.op.name, place_of(node)


def of_edge(case: Case, node: Any, i: int) -> Measure:
    """The same of one edge, whose part of the gradient is what is lost when it is cut."""

    def factor(rows: Case, edges: Any) -> float | complex | None:
        ((node, i),) = edges
        without = rows.altered(node, i, surgery.cut)
        k = None if without is None else rows.multiple_of(rows.g - without)
        return None if k is None else 1 + k

    return of_edges(case, [(node, i)], factor)


def proven_name(value: Any, case: Case, measure: Measure = of_whole) -> str | None:
    """The name of a factor that a derivative, or a part of it, has too many: one that is right at other points.

    A number where no name is; None for one that has no name at all.
    """
    named = constant_name(value, case)
    if isinstance(value, complex):
        return named
    every = every_name(value, case)
    if (named is None and not every) or not _is_known_elsewhere(case):
        return named
    asked = list(_names_elsewhere(case, measure))
    elsewhere = [names for names in asked if names is not None]  # a branch may explain what is wrong at the others
    right = [text for name, text in every.items() if all(name in there for there in elsewhere)] if elsewhere else []
    if not asked or not every or right:
        return right[0] if right else named
    refuted = named is not None and (named.partition(" (=")[0] in every or "(=" in named or " or " in named)
    return number_text(value) if refuted else named


def is_proven(value: float, case: Case, measure: Measure = of_whole) -> bool:
    """Whether a factor is the same number at other points, as far as that is known: -1 is, and 1/t of t = -1 is not."""
    if not _is_known_elsewhere(case):
        return True
    found = [k for k in map(measure, _points(case)) if k is not None]
    return all(abs(k - value) <= SMALLEST for k in found if k == k) and (not found or any(k == k for k in found))


def _is_known_elsewhere(case: Case) -> bool:
    many = sum(np.size(case.subject.args[k]) for k in case.subject.data) > LARGEST
    return not (case.again is None or many or case.exact.measured)


def _names_elsewhere(case: Case, measure: Measure) -> Iterator[dict[str, str] | None]:
    """What the factor may be called at other points; None where no factor explains what is wrong."""
    for there in _points(case):
        k = measure(there)
        if isinstance(k, float) and not abs(k - 1) <= SMALLEST:
            yield None if math.isnan(k) else every_name(k, there)


def _points(case: Case) -> Iterator[Case]:
    """The derivative at other points; what is computed there is kept for other questions."""
    known = case.exact.elsewhere
    if known is None:
        known = case.exact.elsewhere = list(_elsewhere(case))
    for subject, given, exact in known:
        i = case.number
        c, g = given[i], exact.gradients[i]
        if g.shape == c.shape and np.isfinite(g).all() and np.isfinite(c).all():
            exact.deadline = case.exact.deadline
            argument = replace(case.argument, given=c, exact=g, tolerance=exact.tolerance[i])
            yield Case(argument, i, subject, exact)


def _elsewhere(case: Case) -> Iterator[tuple[Subject, list[Any], Exact]]:
    """The function with its derivative, the given and the exact one, at other arguments where these exist."""
    subject, start = case.subject, time.monotonic()
    design, rng = design_of(subject), np.random.default_rng(7)
    values = [at_other_values(subject, 0.4, 1.6, rng, design) for _ in range(2)]
    for count, args in enumerate(chain(values, at_other_sizes(subject, design))):
        if count == MOST_POINTS or time.monotonic() > min(start + LONGEST, case.exact.deadline):
            return
        found = _at(case, args)
        if found is not None:
            yield found


def _at(case: Case, args: list[Any]) -> tuple[Subject, list[Any], Exact] | None:
    of = case.subject
    subject = Subject(of.f, args, of.positions, of.names, of.derivative, of.given)
    subject.as_arrays = of.as_arrays
    assert case.again is not None
    constants: dict[Any, Any] = {}
    try:
        with np.errstate(all="ignore"):
            given = case.again(args)
            with lines_noted(constants) as lines:
                output, leaves = subject.trace(subject.args)
            gradients = subject.derivative.exact(output, leaves)
            value = subject.derivative.value(output)
    except Exception:  # noqa: BLE001  (whatever functions do with arguments that nobody gave)
        return None
    tolerance = [np.full(g.shape, ROOM * largest(g)) for g in gradients]
    found = Exact("", value, gradients, tolerance, output=output, leaves=leaves, lines=lines, constants=constants)
    found.symmetric = case.exact.symmetric
    return subject, given, found

"""Names of factors that hold at other points, too: 2 may be a 2, 1/t of a t of 0.5, or n/m of eight rows by four."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain, islice
from typing import Any

import numpy as np

from symgrad.check.asking.subject import Subject
from symgrad.check.diagnosis.case import Case
from symgrad.check.diagnosis.constants import constant_name, every_name
from symgrad.check.oracle.exact import exact_gradient
from symgrad.check.oracle.points import at_other_sizes, at_other_values, design_of
from symgrad.check.report import number_text

MOST_POINTS = 7
"""Points at which a factor is looked at: with other values, and with other sizes."""

SMALLEST = 1e-6
"""How far a factor is off 1 where it is one, and no rounding."""

LARGEST = 10_000
"""Entries of all arguments up to which the functions are run again."""


def proven_name(value: Any, case: Case) -> str | None:
    """The name of a factor that the whole derivative has too many: one that is right at other points, if any is."""
    named = constant_name(value, case)
    many = sum(np.size(case.subject.args[k]) for k in case.subject.data) > LARGEST
    if named is None or isinstance(value, complex) or case.again is None or many or case.exact.measured:
        return named
    every, elsewhere = every_name(value, case), list(islice(_factors_elsewhere(case), MOST_POINTS))
    right = [text for name, text in every.items() if all(name in there for there in elsewhere)]
    if not elsewhere or not every or right:
        return right[0] if elsewhere and right else named
    refuted = named.partition(" (=")[0] in every or ".shape" in named or ".size" in named
    return number_text(value) if refuted else named


def _factors_elsewhere(case: Case) -> Iterator[dict[str, str]]:
    """What the factor may be called at other points, where the derivative has one."""
    subject, design = case.subject, design_of(case.subject)
    values = at_other_values(subject, 0.4, 1.6, np.random.default_rng(7), design)
    for args in chain([values], at_other_sizes(subject, design)):
        there = _case_at(case, args)
        k = None if there is None else there.multiple_of(there.g)
        if there is not None and isinstance(k, float) and abs(k) > SMALLEST:
            yield every_name(1 + k, there)


def _case_at(case: Case, args: list[Any]) -> Case | None:
    """The derivative at other arguments beside the exact one; None where there is none, or no other one."""
    subject = case.subject
    there = Subject(subject.f, args, subject.positions, subject.names, subject.derivative, subject.given)
    assert case.again is not None
    try:
        with np.errstate(all="ignore"):
            given = case.again(args)
            exact = exact_gradient(there, given)
    except Exception:  # noqa: BLE001  (whatever functions do with arguments that nobody gave)
        return None
    g, c = exact.gradients[case.number], given[case.number]
    if g.shape != c.shape or not np.isfinite(g).all() or not np.isfinite(c).all():
        return None
    argument = replace(case.argument, given=c, exact=g, tolerance=exact.tolerance[case.number])
    return Case(argument, case.number, there, exact)

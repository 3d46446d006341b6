"""One mistake in the formula as it is written: people derive on paper, and not operation by operation."""

from __future__ import annotations

import functools
import operator
from typing import Any

from symgrad.check.diagnosis.case import Case
from symgrad.check.formulas.search import Search
from symgrad.check.formulas.sentences import sentence
from symgrad.check.formulas.summands import expanded_summands
from symgrad.check.oracle.formulas import gradient_tensor
from symgrad.check.report import Diagnosis
from symgrad.errors import SymgradError
from symgrad.formula.canonical.simplify import canonical
from symgrad.formula.sampling import value
from symgrad.formula.term import Term, count
from symgrad.tape.formulas.digits import known
from symgrad.tape.formulas.reading import read

LARGEST = 150
"""Nodes of a formula up to which its changes are tried."""

MOST_CHANGES = 600
"""Changes that are tried, while there is time."""


def changed_formula(case: Case) -> Diagnosis | None:
    """One change of the exact gradient makes it the given one: of its shortest form, or of that multiplied out."""
    if case.off is None or case.is_late or case.subject.derivative.kind != "gradient":
        return None
    forms, values, sizes = _forms(case)

    def explains(made: Term) -> bool:
        return not case.is_late and case.meets(value(made, values, sizes))

    search = Search(budget=MOST_CHANGES)
    for form in forms:
        change = search.found(form, explains) if case.meets(value(form, values, sizes), case.g) else None
        if change is not None:
            return sentence(change, of_theirs=False)
    return None


def _forms(case: Case) -> tuple[list[Term], dict[str, Any], dict[str, int]]:
    """Forms of the exact gradient, the values of its symbols and the sizes of its letters; none of a black box."""
    gradient = gradient_tensor(case.exact, case.number)
    if gradient is None:
        return [], {}, {}
    try:
        reading, term = read(gradient)
        if count(term) > LARGEST:
            return [], {}, {}
        shortest = canonical(term)
        forms = [shortest, functools.reduce(operator.add, expanded_summands(shortest))]
        return list(dict.fromkeys(forms)), *known(gradient, reading, "check")
    except SymgradError:  # a constant that is gone, or an operation without a formula
        return [], {}, {}

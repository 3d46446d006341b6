"""Gradients that are right for another function, or at the values of one: the forward pass was computed otherwise."""

from __future__ import annotations

from typing import Any

import numpy as np

from symgrad.check.diagnosis.case import Case
from symgrad.check.graph.replay import RULE, VALUES, WHOLE
from symgrad.check.graph.surgery import Local, describe_node
from symgrad.check.report import Diagnosis
from symgrad.tape.graph import Node


def other_function(case: Case) -> Diagnosis | None:
    """The exact gradient of a function that differs in one operation, or its negative."""
    found = _of_others(case, WHOLE, (1, -1))
    if found is None:
        return None
    other, sign, place = found
    return Diagnosis(
        "other function",
        f"This is {'minus ' if sign < 0 else ''}the {case.what} of f {other.said}, in {place}.",
        f"{other.hint}: the gradient computes the forward pass otherwise",
        case.line(other.node),
    )


def other_values(case: Case) -> Diagnosis | None:
    """The right derivatives, at values of a function that differs in one operation; or its derivative there alone."""
    for what in (VALUES, CACHED):
        found = _of_others(case, what)
        if found is not None:
            other, _, place = found
            said = f"The derivatives are taken at the values of f {other.said}, in {place}."
            hint = f"{other.hint}: the gradient computes the forward pass otherwise"
            return Diagnosis("other function", said, hint, case.line(other.node))
    found = _of_others(case, RULE)
    if found is None:
        return None
    other, _, place = found
    said = f"The derivative of one operation is taken {other.said}, in {place}; all other values are right."
    return Diagnosis("local derivative", said, other.hint, case.line(other.node))


def _of_others(case: Case, what: str, signs: tuple[int, ...] = (1,)) -> tuple[Any, int, str] | None:
    """The other function that explains the gradient, the sign, and the operation that it differs in."""
    if case.replay is None or case.exact.output is None:
        return None
    rows = case.by_rows()
    left = MOST_VISITS
    for other in case.replay.others():
        left -= len(case.replay.nodes) * (1 if rows.seeds is None else len(rows.seeds))
        if left < 0 or case.is_late:
            return None
        found = (_at_values_of if what == CACHED else _gradient_of_other)(rows, other, what)
        for sign in signs:
            if found is not None and rows.meets(sign * found):
                return other, sign, describe_node(case.exact.output, other.node)
    return None


MOST_VISITS = 30_000
"""Operations that may be run again for other functions."""


def _gradient_of_other(case: Case, other: Any, what: str) -> Any:
    assert case.replay is not None
    if case.seeds is None:
        found = case.replay.gradients(other, case.exact.leaves, None, what)
        return None if found is None else found[case.number]
    made = [case.replay.gradients(other, case.exact.leaves, seed, what) for seed in case.seeds]
    rows = [row[case.number] for row in made if row is not None]
    if len(rows) < len(made):
        return None
    return np.array([case.subject.derivative.row(row, case.number) for row in rows])


CACHED = "cached"
"""As VALUES, with rules that read the results of operations reading the other function's: what a cache has kept."""


def _at_values_of(case: Case, other: Any, what: str) -> Any:  # noqa: ARG001
    """The gradient by the right rules, at the results and operands of another function; None where that is VALUES."""
    assert case.replay is not None
    assert case.surgeon is not None
    if not case.surgeon.sweeps or not any(
        local.saved[0] is not None for (node, _), local in case.surgeon.sweeps[0].items() if node in other.nodes
    ):
        return None
    values = case.replay.values_of(other)

    def at_values(local: Local) -> Any:
        edges = (local.node, *local.node.args)
        return local.apply(*(
            values[edge] if isinstance(edge, Node) and edge in values and kept is not None else kept
            for edge, kept in zip(edges, local.saved, strict=True)
        ))  # fmt: skip

    changed = frozenset(edge for edge in case.surgeon.sweeps[0] if not values.keys().isdisjoint(_nodes_of(edge[0])))
    return case.changed_everywhere(changed, at_values) if values else None


def _nodes_of(node: Any) -> list[Any]:
    return [edge for edge in (node, *node.args) if isinstance(edge, Node)]

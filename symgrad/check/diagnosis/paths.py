"""Mistakes on one edge of the graph: a path missing or doubled, an inner derivative left out, a matrix not turned."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from symgrad.check.diagnosis.case import Case
from symgrad.check.diagnosis.constants import constant_name
from symgrad.check.diagnosis.proven import is_proven, of_edge, proven_name
from symgrad.check.graph import surgery
from symgrad.check.report import Diagnosis, number_text

# ---------------------------------------------------------------------------------------------- paths of the graph


def path(case: Case) -> Diagnosis | None:
    """A path of the graph missing, doubled, or with the wrong sign or factor."""
    output = case.exact.output
    for node, i, k in _scaled(case):
        # The outermost edge that fits tells most: below it the same part runs through every edge of a chain.
        name = _proven(1 + k, case, node, i) if abs(k + 1) > 1e-4 else "0"
        if name is not None:
            what = surgery.describe(output, node, i)
            line = case.line(node.args[i]) or case.line(node)
            _note_missing(case, name, node, i)
            return case.keep(_with_factor(node, i, 1 + k), _part_sentence(what, name, line))
    return None


def _note_missing(case: Case, factor: str, node: Any, i: int) -> None:
    """Keep what goes along a path that is missing: a line that was forgotten adds it."""
    if factor == "0" and case.surgeon is not None:
        case.exact.missing += [sweep[node, i].c for sweep in case.surgeon.sweeps]


def _proven(factor: float, case: Case, node: Any, i: int) -> str | None:
    """The name of the factor of a part; None where it has none, or one that is not right at other points."""
    name = proven_name(factor, case, of_edge(case, node, i))
    return None if name == number_text(factor) and constant_name(factor, case) != name else name


def _with_factor(node: Any, i: int, k: float) -> Callable[[Case], Any]:
    """The gradient with a factor on one edge."""
    return partial(Case.altered, node=node, i=i, change=lambda local: (local.c * k).astype(local.c.dtype))


def simple_path(case: Case) -> Diagnosis | None:
    """A path missing, doubled or with the wrong sign; asked before the entries that this shows in.

    A single number may be met by many paths, so that entries have to show more than one thing.
    """
    for node, i, k in _scaled(case) if np.count_nonzero(case.by_rows().g) > 1 else ():
        name = {-1: "0", -2: "-1", 1: "2"}.get(round(k))
        once = sum(arg is node.args[i] for arg in node.args) == 1  # of x * x one x is half of what comes from it
        if name is None or not once or abs(k - round(k)) > 1e-6:
            continue
        if name == "0" or is_proven(round(1 + k), case, of_edge(case, node, i)):
            what = surgery.describe(case.exact.output, node, i)
            line = case.line(node.args[i]) or case.line(node)
            _note_missing(case, name, node, i)
            return case.keep(_with_factor(node, i, round(1 + k)), _part_sentence(what, name, line))
    return None


def path_with_factor(case: Case) -> Diagnosis | None:
    """The same with a factor that has no name."""
    for node, i, k in _scaled(case) if case.by_rows().g.size > 1 else ():
        return _part_sentence(surgery.describe(case.exact.output, node, i), number_text(1 + k), case.line(node.args[i]))
    return None


def _scaled(case: Case) -> Iterator[tuple[Any, int, float]]:
    """The edges whose part of the gradient explains the difference when it is multiplied by ``1 + k``."""
    rows = case.by_rows()
    for node, i in rows.edges():
        without = rows.altered(node, i, surgery.cut)
        k = None if without is None else rows.multiple_of(rows.g - without)
        if k is not None and not isinstance(k, complex):
            yield node, i, k


def _part_sentence(what: str, factor: str, line: str) -> Diagnosis:
    through = f"The part of the gradient that comes from {what}"
    if factor == "0":
        return Diagnosis("term", f"{through} is missing.", "a term of the sum, or a path of the chain rule", line)
    if factor == "-1":
        return Diagnosis("term", f"{through} has the wrong sign.", "its sign", line)
    if factor == "2":
        return Diagnosis("term", f"{through} is counted twice.", "a term added in two places", line)
    return Diagnosis("term", f"{through} is {factor} times what it should be.", "its factor", line)


def inner_derivative(case: Case) -> Diagnosis | None:
    """The derivative of a function of one argument left out."""
    output, rows = case.exact.output, case.by_rows()
    for node, i in rows.edges():
        for change, said in (
            ((surgery.skip, "left out"), (_skip_negated, "taken for -1")) if surgery.is_unary(node) else ()
        ):
            if rows.meets(rows.altered(node, i, change)):
                said = f"The derivative of {node.op.name} is {said}, in {surgery.describe_node(output, node)}."
                found = Diagnosis("inner derivative", said, "the chain rule", case.line(node))
                return case.keep(partial(Case.altered, node=node, i=i, change=change), found)
    return None


def _skip_negated(local: surgery.Local) -> Any:
    return -surgery.skip(local)


def turned(case: Case) -> Diagnosis | None:
    """A square matrix on the way that is taken for its transpose."""
    output, rows = case.exact.output, case.by_rows()
    for node, i in rows.edges():
        line = case.line(node)
        if surgery.is_square(node, i) and rows.meets(rows.altered(node, i, surgery.turn)):
            part = surgery.describe(output, node, i)
            return Diagnosis(
                "transpose", f"The gradient of {part} is taken for its transpose on the way.", "A for Aᵀ", line
            )
        others = [j for j in range(len(node.args)) if j != i and surgery.is_square(node, j)]
        if others and node.op.kind != "elementwise" and rows.meets(rows.altered(node, i, surgery.turn_others)):
            part = surgery.describe(output, node, others[0])
            return Diagnosis(
                "transpose", f"{part} is taken for its transpose, or the transpose for it.", "A for Aᵀ", line
            )
    return _turned_for_all(case, rows)


def _turned_for_all(case: Case, rows: Case) -> Diagnosis | None:
    """The matrix of a solution or an inverse taken for its transpose on the way to all that it was computed from."""
    edges = list(rows.edges())
    for node in dict.fromkeys(node for node, _ in edges if node.op.kind == "primitive"):
        squares = [j for j in range(len(node.args)) if surgery.is_square(node, j)]
        own = frozenset(edge for edge in edges if edge[0] is node)
        if squares and rows.meets(rows.changed_everywhere(own, surgery.turn_all)):
            part = surgery.describe(case.exact.output, node, squares[0])
            return Diagnosis(
                "transpose",
                f"{part} is taken for its transpose, or the transpose for it.",
                "A for Aᵀ",
                case.line(node),
            )
    return None

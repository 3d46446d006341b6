"""Values that a loop mixes up in every round: one stands for another of the same round, or is a factor too many.

:mod:`symgrad.check.diagnosis.loops` compares a round with the one before and after it; here it is what the lines of one
round compute.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from symgrad.check.diagnosis.case import Case
from symgrad.check.diagnosis.loops import groups_of, nearest_first
from symgrad.check.graph import surgery
from symgrad.check.graph.surgery import Change, Local
from symgrad.check.report import Diagnosis

BUDGET = 40_000
"""Visits of nodes."""

MOST_ROUNDS = 60
"""Rounds of loops that are looked at."""

MOST_SERIES = 60
"""Values of a round that may be mixed up."""


class Series(NamedTuple):
    """A value in every round, and what stands for it in the last one."""

    arrays: tuple[Any, ...]
    edge: Any


def rounds_mixed_up(case: Case) -> Diagnosis | None:
    """The first value that, in the place of another or as a factor in every round, explains the gradient."""
    rows = case.by_rows()
    if rows.surgeon is None or not rows.surgeon.sweeps or case.replay is None or np.iscomplexobj(rows.g):
        return None
    groups = [group for group in groups_of(case, rows) if 1 < len(group) <= MOST_ROUNDS]
    known = {count: _series(case, groups, count) for count in set(map(len, groups))}
    end = rows.surgeon.until(BUDGET)
    for propose in (_operands, _factors):
        proposed = (found for group in groups for found in propose(case, rows, group, known[len(group)]))
        for edges, change, told in nearest_first(rows, proposed, end):
            if rows.surgeon.is_over(end):
                return None
            if rows.meets(rows.changed_everywhere(edges, change)):
                return case.keep(partial(Case.changed_everywhere, edges=edges, change=change), told())
    return None


def _series(case: Case, groups: list[list[Any]], count: int) -> list[Series]:
    """What every line that runs so often computes and reads."""
    assert case.replay is not None
    found: dict[Any, Series] = {}
    for group in groups:
        if len(group) != count:
            continue
        for j in range(-1, len(group[0].args)):
            edges = [node if j < 0 else node.args[j] for node in group]
            arrays = tuple(map(case.replay.value, edges))
            if any(a is None or a.dtype.kind != "f" or a.shape != arrays[0].shape for a in arrays):
                continue
            if all(np.array_equal(a, arrays[0]) for a in arrays) and not arrays[0].ndim:
                continue  # a number
            key = tuple(a.tobytes() for a in arrays)
            if len(found) < MOST_SERIES:
                found.setdefault(key, Series(arrays, edges[-1]))
    return list(found.values())


class Proposal(NamedTuple):
    """A change of one argument in every round, and the words for it."""

    edges: frozenset[tuple[Any, int]]
    change: Change
    told: Callable[[], Diagnosis]


def _proposed(group: list[Any], i: int, change: Change, told: Callable[[], Diagnosis]) -> Proposal:
    return Proposal(frozenset((node, i) for node in group), change, told)


def _tracked(rows: Case, group: list[Any]) -> list[int]:
    assert rows.surgeon is not None
    sweep = rows.surgeon.sweeps[0]
    return [i for i in range(len(group[-1].args)) if all((node, i) in sweep for node in group)]


def _operands(case: Case, rows: Case, group: list[Any], known: list[Series]) -> Iterator[Proposal]:
    """The local derivative reads another value of the round."""
    node = group[-1]
    assert rows.surgeon is not None
    for i in _tracked(rows, group):
        saved = [rows.surgeon.sweeps[0][n, i].saved for n in group]
        for j in range(len(saved[0])):
            own = [values[j] for values in saved]
            if any(v is None or np.asarray(v).dtype.kind != "f" for v in own):
                continue
            if j == i + 1 and node.op.kind == "multilinear":
                continue
            for series in known:
                if all(a.shape == np.shape(v) for a, v in zip(series.arrays, own, strict=True)) and any(
                    not np.array_equal(a, v) for a, v in zip(series.arrays, own, strict=True)
                ):
                    change = partial(_reading, j=j, values=dict(zip(group, series.arrays, strict=True)))
                    yield _proposed(group, i, change, partial(_operand_told, case, node, j, series))


def _reading(local: Local, j: int, values: dict[Any, Any]) -> Any:
    return local.apply(*local.saved[:j], values[local.node], *local.saved[j + 1 :])


def _operand_told(case: Case, node: Any, j: int, series: Series) -> Diagnosis:
    output = case.exact.output
    right, wrong = (surgery.text_of(output, edge) for edge in (node if not j else node.args[j - 1], series.edge))
    return Diagnosis(
        "operand",
        f"In the derivative of {node.op.name}, in {surgery.describe_node(output, node)}, {wrong} stands for {right}, "
        "each time the line runs.",
        "a value of another line, or of another moment of the round",
        case.line(node),
    )


def _factors(case: Case, rows: Case, group: list[Any], known: list[Series]) -> Iterator[Proposal]:
    """A value of the round is multiplied in once too often, or not at all."""
    node = group[-1]
    for i in _tracked(rows, group):
        shapes = [getattr(n.args[i], "raw_shape", ()) for n in group]
        if node.args[i].dtype.kind != "f":
            continue
        for series in known:
            if not all(_stretches(a.shape, shape) for a, shape in zip(series.arrays, shapes, strict=True)):
                continue
            values = dict(zip(group, series.arrays, strict=True))
            for power, word in ((1, "too many"), (-1, "missing")):
                if power > 0 or all(np.all(a) for a in series.arrays):
                    change = partial(_scaled, values=values, power=power)
                    yield _proposed(group, i, change, partial(_factor_told, case, node, i, series, word))


def _stretches(shape: tuple[int, ...], target: tuple[int, ...]) -> bool:
    fits = all(n in (1, m) for n, m in zip(shape[::-1], target[::-1], strict=False))
    return len(shape) <= len(target) and fits


def _scaled(local: Local, values: dict[Any, Any], power: int) -> Any:
    w = values[local.node]
    return local.c * w if power > 0 else local.c / w


def _factor_told(case: Case, node: Any, i: int, series: Series, word: str) -> Diagnosis:
    output = case.exact.output
    factor, part = (surgery.text_of(output, edge) for edge in (series.edge, node.args[i]))
    return Diagnosis(
        "local factor",
        f"A factor {factor} is {word} in the part of the gradient that comes through {part}, an argument of "
        f"{node.op.name}, each time the line runs.",
        "the local derivative, or a factor that is multiplied in elsewhere already",
        case.line(node),
    )

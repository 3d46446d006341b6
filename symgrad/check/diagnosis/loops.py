"""Mistakes in a line that runs several times, as in a recurrence: the same one in every round.

What one line has recorded in every round is a group.  A mistake in its derivative changes the sweep at all of its
nodes, and what comes out is no sum of single changes, so that every hypothesis is one sweep of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from symgrad.check.diagnosis.case import Case
from symgrad.check.diagnosis.proven import of_edges, proven_name
from symgrad.check.diagnosis.variants import prefixed
from symgrad.check.graph import surgery
from symgrad.check.graph.lines import path_of, place_of
from symgrad.check.graph.surgery import Change, Local
from symgrad.check.report import Diagnosis, number_text
from symgrad.tape.graph import Node
from symgrad.tape.record import Recorded

BUDGET = 60_000
"""Visits of nodes."""


class Round(NamedTuple):
    """A change at every node of a group, and the words for it."""

    nodes: tuple[Any, ...]
    edges: frozenset[tuple[Any, int]]
    change: Change
    kind: str
    said: Callable[[], str]
    hint: str


def every_round(case: Case) -> Diagnosis | None:
    """The first change in every round of a line that explains the gradient."""
    return _explained(case, lambda group: len(group) > 1)


def constant_value(case: Case) -> Diagnosis | None:
    """A value that several operations read, and that is taken for a constant by all."""
    return _explained(case, lambda group: len(group) == 1)


def _explained(case: Case, wanted: Callable[[list[Any]], bool]) -> Diagnosis | None:
    rows = case.by_rows()
    if rows.surgeon is None or not rows.surgeon.sweeps:
        return None
    groups = groups_of(case, rows)
    end = rows.surgeon.until(BUDGET)
    proposed = (found for group in filter(wanted, groups) for found in _proposals(case, group, groups))
    for found in nearest_first(rows, proposed, end):
        if rows.surgeon.is_over(end):
            return None
        if rows.meets(rows.changed_everywhere(found.edges, found.change)):
            often = "" if len(found.nodes) == 1 else ", each time the line runs"
            told = Diagnosis(found.kind, f"{found.said()}{often}.", found.hint, case.line(found.nodes[-1]))
            return case.keep(partial(Case.changed_everywhere, edges=found.edges, change=found.change), told)
    return None


def nearest_first(rows: Case, proposed: Iterable[Any], end: float) -> Iterator[Any]:
    """Changes of several edges, those first that leave least of the difference when each is made by itself.

    They add up to about what they bring together, and no sweep is needed; where one is, they come as they are.
    """
    assert rows.surgeon is not None
    known: list[tuple[float, Any]] = []
    proposals = iter(proposed)
    for found in proposals:
        made = None if rows.surgeon.is_over(end) else rows.roughly(found.edges, found.change)
        if made is None:
            yield found
            break
        left = float(np.linalg.norm(rows.c - made) / np.linalg.norm(rows.off))
        if left < FARTHEST:
            known.append((max(float(f"{left:.1g}"), EXPLAINED), found))
    for _, found in sorted(known, key=lambda pair: pair[0]):  # of those that leave as much the first one tells most
        yield found
    yield from proposals


FARTHEST, EXPLAINED = 10.0, 1e-3
"""What changes may leave of the difference when they are added up, and what is as good as nothing."""


def rounds_scaled(case: Case) -> Diagnosis | None:
    """A part of the gradient that has the same wrong factor in every round of its line: a number with a name."""
    return _scaled(case, False)


def rounds_scaled_by_any(case: Case) -> Diagnosis | None:
    """The same with any number, asked when nothing else explains the gradient."""
    return _scaled(case, True)


def _scaled(case: Case, any_number: bool) -> Diagnosis | None:
    rows = case.by_rows()
    if rows.surgeon is None or not rows.surgeon.sweeps or np.iscomplexobj(rows.g) or rows.g.size < FEWEST:
        return None
    end = rows.surgeon.until(BUDGET)
    for group in groups_of(case, rows):
        node = group[-1]
        for i in range(len(node.args)) if len(group) > 1 else ():
            if rows.surgeon.is_over(end):
                return None
            edges = frozenset((n, i) for n in group if node.mask >> i & 1)
            k = _factor_of(rows, edges) if edges else None
            if k is None:
                continue
            name = _name_of(k, case, edges) or (number_text(k, 6) if any_number else None)
            if name is not None:
                part = surgery.describe(case.exact.output, node, i)
                said = f"The part of the gradient that comes from {part} is {name} times what it should be"
                told = Diagnosis("term", f"{said}, each time the line runs.", "its factor", case.line(node))
                return case.keep(partial(Case.changed_everywhere, edges=edges, change=partial(_times, k=k)), told)
    return None


def _name_of(k: float, case: Case, edges: Iterable[tuple[Any, int]]) -> str | None:
    """What the factor is called that some edges have, here and at other points."""
    return proven_name(k, case, of_edges(case, list(edges), lambda rows, there: _factor_of(rows, frozenset(there))))


FEWEST = 3
"""Entries that a factor has to explain: one or two are explained by too many."""

MOST_STEPS = 8
"""Factors that are tried on the way to the one that fits."""


def _factor_of(rows: Case, edges: frozenset[tuple[Any, int]]) -> float | None:
    """The factor on all of these edges that gives the gradient under check, by the secant method; mostly None."""

    def at(k: float) -> Any:
        return rows.changed_everywhere(edges, partial(_times, k=k))

    before, k_before, k = rows.g, 1.0, 1.0 + 2.0**-10
    left, found = np.linalg.norm(rows.off), False
    for step in range(MOST_STEPS):
        now = at(k)
        slope, rest = (now - before).ravel() / (k - k_before), (rows.c - now).ravel()
        size, remains = slope @ slope, np.linalg.norm(rest)
        if not size or not np.isfinite(size):
            return k if found else None
        move = float(slope @ rest / size)
        if found:  # one more step for the digits
            return k + move
        found = bool(step) and rows.meets(now)
        remains = remains if step else np.linalg.norm(rest - move * slope)
        if not found and (remains > PROGRESS * left or abs(k + move) > MOST_FACTOR):
            return None
        before, k_before, k, left = now, k, k + move, remains if step else left
        if k == k_before:
            return k if found else None
    return None


PROGRESS = 0.7
"""The part of the difference that may be left after a step; most edges explain none of it."""

MOST_FACTOR = 100.0


def _times(local: Local, k: float) -> Any:
    return local.c * k


def some_rounds(case: Case) -> Diagnosis | None:
    """Rounds of a loop that bring nothing: the first, the last, or some between."""
    rows = case.by_rows()
    if rows.surgeon is None or not rows.surgeon.sweeps or np.iscomplexobj(rows.g):
        return None
    end = rows.surgeon.until(BUDGET)
    for group in sorted(groups_of(case, rows), key=len):  # a round may do the same several times
        if not 1 < len(group) <= MOST_ROUNDS or rows.surgeon.is_over(end):
            continue
        for missing in _missing(rows, group):
            edges = _tracked(rows, missing)
            if edges and rows.meets(rows.changed_everywhere(edges, surgery.cut)):
                of = surgery.describe_node(case.exact.output, missing[0])
                numbers = ", ".join(str(group.index(node) + 1) for node in missing)
                return Diagnosis(
                    "rounds",
                    f"What comes through {of} is missing in {len(missing)} of the {len(group)} rounds of its line: "
                    f"number {numbers}.",
                    "a loop that starts late or ends early, an index off by one, a truncated recurrence",
                    case.line(missing[0]),
                )
    return None


MOST_ROUNDS = 40
"""Rounds of which some may be missing."""


def _missing(rows: Case, group: list[Any]) -> Iterator[list[Any]]:
    """Rounds that may be missing: those whose parts add up to the difference, the first ones, the last ones."""
    parts = []
    for node in group:
        moved = rows.changed_everywhere(_tracked(rows, [node]), surgery.cut)
        parts.append((rows.g - moved).ravel())
    matrix = np.array(parts).T
    if np.isfinite(matrix).all():
        k, _, rank, _ = np.linalg.lstsq(matrix, -rows.off.ravel(), rcond=None)
        chosen = [node for node, size in zip(group, k, strict=True) if abs(size - 1) < 1e-4]
        if rank == len(group) and chosen:
            yield chosen
    for n in range(1, len(group)):
        yield group[:n]
        yield group[-n:]


def _tracked(rows: Case, nodes: list[Any]) -> frozenset[tuple[Any, int]]:
    assert rows.surgeon is not None
    sweep = rows.surgeon.sweeps[0]
    return frozenset((node, i) for node in nodes for i in range(len(node.args)) if (node, i) in sweep)


def groups_of(case: Case, rows: Case) -> list[list[Any]]:
    """The nodes of each line that do the same, oldest first.

    Two operations of one kind in a line are told apart by shapes (functions of one argument without them, too), by the
    leaves they read, where these are the same in every round, by the kinds of what they read, by their place in the
    line, and by the calls that led there.
    """
    found: dict[Any, list[Any]] = {}
    assert rows.surgeon is not None
    for node in reversed(rows.surgeon.nodes):
        line = case.exact.lines.get(node)
        if line is None:
            continue
        if surgery.is_unary(node):
            found.setdefault((line, node.op.name), []).append(node)
        key = (line, node.op.name, tuple(getattr(a, "raw_shape", np.shape(a)) for a in node.args))
        found.setdefault(key, []).append(node)
        read = tuple(id(a) for a in node.args if isinstance(a, Recorded))
        found.setdefault((*key, read), []).append(node)
        found.setdefault((*key, tuple(_kind(node, a) for a in node.args)), []).append(node)
        found.setdefault((*key, place_of(node)), []).append(node)
        found.setdefault((*key, path_of(node)), []).append(node)
    distinct = {tuple(map(id, group)): group for group in found.values()}
    return list(distinct.values())


def _kind(node: Any, arg: Any) -> Any:
    """What an operand is: the result of an operation, a leaf, a number; and where the same one comes before."""
    first = next(k for k, other in enumerate(node.args) if other is arg)
    if isinstance(arg, Node):
        return first, arg.op.name
    return (first, arg) if isinstance(arg, (int, float)) else (first, type(arg).__name__)


def _proposals(case: Case, group: list[Any], groups: list[list[Any]]) -> Iterator[Round]:
    node, output = group[-1], case.exact.output
    tracked = [i for i in range(len(node.args)) if node.mask >> i & 1]

    def made(places: list[int], change: Change, kind: str, said: Callable[[], str], hint: str) -> Round:
        edges = frozenset((n, i) for n in group for i in places)
        return Round(tuple(group), edges, change, kind, said, hint)

    def value() -> str:
        return surgery.describe_node(output, node)

    if tracked:
        said = partial(prefixed, "The part of the gradient that comes through {} is missing", value)
        yield made(tracked, surgery.cut, "term", said, "a value taken for a constant")
    if len(group) == 1:
        return
    for i in tracked:
        part = partial(surgery.describe, output, node, i)
        from_ = "The part of the gradient that comes from {} "
        yield made([i], surgery.cut, "term", partial(prefixed, from_ + "is missing", part), "a term of the recurrence")
        yield made([i], _negated, "term", partial(prefixed, from_ + "has the wrong sign", part), "its sign")
        if surgery.is_unary(node):
            said = partial(prefixed, f"The derivative of {node.op.name} is left out, in {{}}", value)
            yield made([i], surgery.skip, "inner derivative", said, "the chain rule")
            varies = case.replay is not None and callable((node.op.partials or [0])[0])
            for change, how, hint in _SLOPES if varies else ():
                said = partial(prefixed, f"The derivative of {node.op.name} {how}, in {{}}", value)
                yield made([i], partial(change, replay=case.replay), "local derivative", said, hint)
        elif node.op.kind != "elementwise" and getattr(node.args[i], "raw_shape", None) == node.shape:
            said = partial(_of_argument, "The derivative of {} by {} is left out", value, part)
            yield made(
                [i], surgery.skip, "inner derivative", said, "the chain rule, or a cotangent handed on as it came"
            )
        others = [a for j, a in enumerate(node.args) if j != i and case.replay and case.replay.constant(a) is not None]
        if node.op.name in ("mul", "div") and others:
            said = partial(prefixed, "The factor {} is left out", partial(_constant, case, others[0]))
            yield made([i], surgery.skip, "local factor", said, "a step size, a weight or a mask")
        if surgery.has_square(node, i):
            others = [a for j, a in enumerate(node.args) if j != i and surgery.is_square(node, j)]
            whose = partial(surgery.text_of, output, others[0])
            said = partial(prefixed, "{} is taken for its transpose, or the transpose for it", whose)
            yield made([i], surgery.turn_others, "transpose", said, "A for Aᵀ")
        yield from _of_other_rounds(case, group, groups, i, made)


def _of_argument(form: str, value: Callable[[], str], part: Callable[[], str]) -> str:
    return form.format(value(), part())


def _constant(case: Case, arg: Any) -> str:
    value = case.replay.constant(arg)  # type: ignore[union-attr]
    is_number = not np.ndim(value) and not isinstance(arg, (Node, Recorded))
    return f"{value:.6g}" if is_number else surgery.text_of(case.exact.output, arg)


def _negated(local: Local) -> Any:
    return -local.c


def _at_argument(local: Local, replay: Any) -> Any:
    x = replay.value(local.node.args[0])
    return None if x is None else local.apply(x, x)


def _by_value(local: Local, replay: Any) -> Any:
    out = replay.value(local.node)
    return None if out is None else local.fitted(local.g * out)


def _at_result(local: Local, replay: Any) -> Any:
    out = replay.value(local.node)
    return None if out is None else local.apply(out, out)


def _twice(local: Local, replay: Any) -> Any:  # noqa: ARG001
    before = local.fitted(local.g)
    return np.where(before != 0, local.c * local.c / np.where(before != 0, before, 1), 0).astype(local.c.dtype)


_SLOPES: tuple[tuple[Callable[..., Any], str, str], ...] = (
    (_at_argument, "takes the argument for the result", "the value before and after"),
    (_at_result, "takes the result for the argument", "the value before and after"),
    (_by_value, "is taken to be its value", "the function itself for its derivative"),
    (_twice, "is multiplied in twice", "a cotangent that has passed it already"),
)


def _of_other_rounds(
    case: Case, group: list[Any], groups: list[list[Any]], i: int, made: Callable[..., Round]
) -> Iterator[Round]:
    """The local derivative at a value of the round before or after; two places of one line are no rounds."""
    node = group[-1]
    if case.replay is None or node.op.kind not in ("elementwise", "multilinear", "primitive"):
        return
    if len({place_of(n) for n in group}) > 1:
        return
    for j in range(len(node.args) + 1):
        if j == i + 1 and node.op.kind == "multilinear":
            continue
        for step, said in ((1, "after"), (-1, "before")):
            values = {n: _neighbour(case, group, groups, k, j, step) for k, n in enumerate(group)}
            if all(v is None for v in values.values()):  # the first round has none before it, the last none after it
                continue
            text = partial(surgery.text_of, case.exact.output, node if j == 0 else node.args[j - 1])
            yield made(
                [i],
                partial(_with, j=j, values=values),
                "operand",
                partial(prefixed, f"In the derivative of {node.op.name}, {{}} is taken from the round {said}", text),
                "an index of the step that is off by one, or a value that was overwritten",
            )


def _with(local: Local, j: int, values: dict[Any, Any]) -> Any:
    value = values[local.node]
    if value is None or local.saved[j] is None or np.shape(value) != np.shape(local.saved[j]):
        return None
    return local.apply(*local.saved[:j], value, *local.saved[j + 1 :])


def _neighbour(case: Case, group: list[Any], groups: list[list[Any]], k: int, j: int, step: int) -> Any:
    """Operand ``j`` (0: the result) of the node of a group in the round before or after round ``k``."""
    edge = group[k] if j == 0 else group[k].args[j - 1]
    if 0 <= k + step < len(group):
        other = group[k + step] if j == 0 else group[k + step].args[j - 1]
    else:
        other = _beyond(edge, groups, step)
    return None if other is None or other is edge else case.replay.value(other)  # type: ignore[union-attr]


def _beyond(edge: Any, groups: list[list[Any]], step: int) -> Any:
    """What stands for a value one round beyond the first or the last: what the recurrence began or ended with."""
    if not isinstance(edge, Node):
        return None
    if step > 0:
        own = next((g for g in groups if edge in g), [])
        place = own.index(edge) + 1 if own else 0
        return own[place] if own and place < len(own) else None
    for group in (group for group in groups if len(group) > 1):
        at = next((k for k, arg in enumerate(group[1].args) if arg is edge), None)
        if at is not None:
            return group[0].args[at]
    return None

"""Mistakes in what moves entries or sums them up, which several edges of the graph share.

Windows that overwrite each other, a sum along the wrong axis, a weight that one of two paths goes without.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from functools import partial
from itertools import combinations, product
from typing import Any

import numpy as np

from symgrad.check.diagnosis.case import Case
from symgrad.check.graph import surgery
from symgrad.check.graph.lines import place_of
from symgrad.check.report import Diagnosis
from symgrad.tape.graph import Node
from symgrad.tape.record import Recorded

Edges = dict[Any, Any]
"""What happens on each edge of a sweep."""

Proposal = tuple[Any, Callable[[Edges], Any], Callable[[], Diagnosis]]
"""A value, what it receives besides, and the words for that."""

MOST_TIMES = 100
"""Reads of one value that may overwrite each other."""


def entries_shared(case: Case) -> Diagnosis | None:
    """The first of these mistakes that explains the gradient."""
    rows = case.by_rows()
    if rows.surgeon is None or not rows.surgeon.sweeps:
        return None
    return _first_of(case, rows, (_sums, _stretches, _reductions, _weights, _exchanges))


def windows_overwritten(case: Case) -> Diagnosis | None:
    """Parts that overlap are read, and their gradients written over each other; asked before single entries are."""
    rows = case.by_rows()
    return None if rows.surgeon is None or not rows.surgeon.sweeps else _first_of(case, rows, (_windows,))


def rounds_overwritten(case: Case) -> Diagnosis | None:
    """The same where one expression in a loop reads the parts; elsewhere it may as well be a part that is missing."""
    rows = case.by_rows()
    looped = partial(_windows, looped=True)
    return None if rows.surgeon is None or not rows.surgeon.sweeps else _first_of(case, rows, (looped,))


def _first_of(case: Case, rows: Case, proposers: Sequence[Callable[..., Iterator[Proposal]]]) -> Diagnosis | None:
    assert rows.surgeon is not None
    for propose in proposers:
        for value, more, told in propose(case, rows):
            if rows.meets(rows.added_to(value, more)):
                return told()
    return None


# ---------------------------------------------------------------------------------------------- windows


def places_read(case: Case, node: Any) -> Any:
    """Which entry of its first argument each entry of a node is; None for operations that compute.

    Other arguments may be indices only.
    """
    if not node.args or node.op.kind == "elementwise" or case.replay is None:
        return None
    arg, others = node.args[0], [case.replay.constant(other) for other in node.args[1:]]
    if any(other is None or other.dtype.kind not in "iub" for other in others):
        return None
    shape = getattr(arg, "raw_shape", ())
    entries = np.arange(int(np.prod(shape))).reshape(shape)
    try:
        places = np.asarray(node.op.kernel(entries, *others, **(node.params or {})))
    except Exception:  # noqa: BLE001  (an operation that computes)
        return None
    value, result = case.replay.value(arg), case.replay.value(node)
    if value is None or places.shape != node.shape or places.dtype.kind not in "iu" or not places.size:
        return None
    if places.min() < 0 or places.max() >= value.size or not np.array_equal(value.ravel()[places], result):
        return None
    return places


def _windows(case: Case, rows: Case, looped: bool = False) -> Iterator[Proposal]:
    """Parts of one value are read in several places, and their gradients are written over each other."""
    reads: dict[int, list[tuple[Any, Any]]] = {}
    for node, i in rows.edges():
        if isinstance(node.args[i], (Node, Recorded)) and len(reads.get(id(node.args[i]), ())) < MOST_TIMES:
            places = places_read(case, node)
            if places is not None:
                reads.setdefault(id(node.args[i]), []).append((node, places))
    for whole, found in ((all_, part) for all_ in reads.values() for part in (all_, *_by_expression(all_))):
        every = np.concatenate([places.ravel() for _, places in found])
        if len(found) < 2 or every.size == np.unique(every).size or (looped and not _overlap_in_loop(found)):
            continue
        arg = found[0][0].args[0]

        def told(arg: Any = arg, node: Any = found[0][0]) -> Diagnosis:
            return Diagnosis(
                "overwritten",
                f"Parts of {surgery.text_of(case.exact.output, arg)} that overlap are read in several places; an entry "
                "gets the gradient of one of them only.",
                "g[part] = v, which overwrites, for g[part] += v (np.add.at where an index repeats)",
                case.line(node),
            )

        oldest_first = found[::-1]
        for order, apart in ((oldest_first, False), (found, False), (found, True)):
            yield arg, _Written(order, apart), told
        if len(found) < len(whole):  # the others add to what is there, and lose it as well
            assigned = frozenset(node for node, _ in found)
            for order in (whole[::-1], whole):
                yield arg, _Written(order, False, assigned), told


def _by_expression(reads: list[tuple[Any, Any]]) -> list[list[tuple[Any, Any]]]:
    """What each expression of the function reads in all rounds, where there are several expressions."""
    rounds: dict[Any, list[Any]] = {}
    for node, places in reads:
        rounds.setdefault(place_of(node), []).append((node, places))
    return list(rounds.values()) if len(rounds) > 1 else []


def _overlap_in_loop(reads: list[tuple[Any, Any]]) -> bool:
    """Whether parts overlap that the same expression reads in several rounds."""
    rounds: dict[Any, list[Any]] = {}
    for node, places in reads:
        rounds.setdefault(place_of(node), []).append(np.unique(places))
    return any(len(set().union(*parts)) < sum(map(len, parts)) for place, parts in rounds.items() if place is not None)


class _Written:
    """The difference when gradients are written to their places: all to one array, or those of each read ``apart``.

    Reads that are not ``assigned`` add to what is there.
    """

    def __init__(self, reads: list[tuple[Any, Any]], apart: bool, assigned: AbstractSet[Any] | None = None):
        self.reads, self.apart, self.assigned = reads, apart, assigned

    def __call__(self, edges: Edges) -> Any:
        made = np.zeros_like(edges[self.reads[0][0], 0].c)
        added = made.copy()
        for node, places in self.reads:
            local = edges[node, 0]
            if self.assigned is None or node in self.assigned:
                made.reshape(-1)[places.ravel()] = local.g.ravel()
            else:
                made += local.c
            added = added - local.c
            if self.apart:
                added, made = added + made, np.zeros_like(made)
        return added + made


# ---------------------------------------------------------------------------------------------- sums


def _sums(case: Case, rows: Case) -> Iterator[Proposal]:
    """The gradient of a sum, a mean or a norm that is stretched again is summed along another axis, or not at all.

    With such a B = b(sum of q), the gradient that q receives is B'(q) times the sum of what comes to each entry of the
    stretched B.  People sum that itself, or times B, as in ``(dA * A).sum(...)`` of a softmax.
    """
    assert rows.surgeon is not None
    for node, i in rows.edges():
        shape, arg = node.shape, node.args[i]
        if not isinstance(arg, Node) or len(shape) < 1 or arg.raw_shape == shape or not _reaches(arg.raw_shape, shape):
            continue
        value = None if case.replay is None else case.replay.value(arg)
        end = _summed(arg, shape)
        if value is None or end is None or value.dtype.kind == "c":
            continue
        axes = _stretched(value.shape, shape)
        slope = rows.surgeon.swept(arg, np.ones(arg.raw_shape, arg.dtype), end)
        full = np.broadcast_to(value, shape)
        others = [k for k in range(len(shape)) if k not in axes and shape[k] > 1 and len(axes) == 1]
        for along in (*others, None) if axes else ():
            scales = {1.0} if along is None else {1.0, shape[axes[0]] / shape[along]}  # a mean divides by its own count
            for weight, scale in product((full, np.ones(shape)), sorted(scales)):
                more = partial(
                    _resummed, node=node, i=i, weight=weight, slope=slope, scale=scale, axes=axes, along=along
                )
                yield end, more, partial(_sum_told, case, node, arg, axes, along)


def _reaches(value: tuple[int, ...], shape: tuple[int, ...]) -> bool:
    """Whether a value of one shape can be stretched to another, as that of a slice cannot."""
    return len(value) <= len(shape) and all(n in (1, m) for n, m in zip(value[::-1], shape[::-1], strict=False))


def _stretched(value: tuple[int, ...], shape: tuple[int, ...]) -> tuple[int, ...]:
    """The axes along which a value of one shape is stretched to another."""
    lead = len(shape) - len(value)
    return tuple(k for k, n in enumerate(shape) if n > 1 and (k < lead or value[k - lead] == 1))


def _summed(arg: Any, shape: tuple[int, ...]) -> Any:
    """The value of a shape that a smaller one is computed from, in steps that read one value each."""
    while isinstance(arg, Node):
        read = {id(a): a for i, a in enumerate(arg.args) if arg.mask >> i & 1}
        if len(read) != 1:
            return None
        (arg,) = read.values()
        if arg.raw_shape == shape:
            return arg
    return None


def _resummed(edges: Edges, node: Any, i: int, weight: Any, slope: Any, scale: float, axes: Any, along: Any) -> Any:
    """The difference that another sum of what comes to a stretched value makes; ``along`` None: no sum."""
    local = edges[node, i]
    each = np.asarray(local.rule(local.g, *local.saved))
    if each.shape != node.shape:
        return None
    other = each * weight if along is None else (each * weight).sum(along, keepdims=True)
    return slope * (scale * other / weight - each.sum(axes, keepdims=True))


def _sum_told(case: Case, node: Any, arg: Any, axes: tuple[int, ...], along: int | None) -> Diagnosis:
    part, right = surgery.text_of(case.exact.output, arg), " and ".join(map(str, axes))
    if along is None:
        said = f"The derivative of {part} is taken entry by entry, without the sum along axis {right}."
        hint = "the diagonal of a Jacobian that is not diagonal: each entry depends on all others of its row, too"
    else:
        said = f"In the derivative of {part} the sum runs along axis {along}, not along axis {right}."
        hint = "the axis of a sum or a mean in the gradient"
    return Diagnosis("axis", said, hint, case.line(arg) or case.line(node))


def _reductions(case: Case, rows: Case) -> Iterator[Proposal]:
    """The derivative of a function of a sum is taken at the sum along another axis, as in a softmax."""
    for node, i in rows.edges():
        arg = node.args[i]
        if node.op.kind != "elementwise" or not isinstance(arg, Node) or case.replay is None:
            continue
        values = [case.replay.value(edge) for edge in node.args]
        for axis, other, along in other_axes(case.replay, arg):
            stretched = [_stretched_along(v, arg.raw_shape, axis) for v in values if v is not None]
            if len(stretched) < len(values):
                continue
            stretched[i] = np.expand_dims(other, along)
            more = partial(_at_other_sum, node=node, i=i, values=stretched, axis=axis)
            yield arg.args[0], more, partial(_axis_told, case, arg, along, axis)


def other_axes(replay: Any, node: Any) -> Iterator[tuple[int, Any, int]]:
    """``(axis, value, other axis)`` of a linear operation along one axis of its operand: its values along others."""
    params = node.params or {}
    if len(node.args) != 1 or not isinstance(params.get("dim"), tuple) or len(params["dim"]) != 1:
        return
    value = replay.value(node.args[0])
    if value is None or value.ndim < 2 or node.op.kind == "elementwise" or value.ndim != len(node.shape) + 1:
        return
    axis = params["dim"][0] % value.ndim
    for along in range(value.ndim if value.shape[axis] > 1 else 0):  # one entry is as good as the sum of it
        if along != axis:
            yield axis, np.asarray(node.op.kernel(value, **{**params, "dim": (along,)})), along


def _stretched_along(value: Any, shape: tuple[int, ...], axis: int) -> Any:
    return np.expand_dims(value, axis) if np.shape(value) == shape else value


def _at_other_sum(edges: Edges, node: Any, i: int, values: list[Any], axis: int) -> Any:
    """The difference to what the operand of a sum receives when the derivative is taken at another sum."""
    local, below = edges.get((node, i)), edges.get((node.args[i], 0))
    if local is None or below is None or np.shape(local.g) != np.shape(local.c):
        return None
    try:
        out = node.op.kernel(*values, **(node.params or {}))
    except ValueError:  # of operands that are stretched to each other in another way
        return None
    other = np.asarray(local.rule(np.expand_dims(local.g, axis), out, *values))
    slope = below.of(np.ones_like(below.g))
    return slope * (np.broadcast_to(other, slope.shape) - np.expand_dims(local.c, axis))


def _axis_told(case: Case, arg: Any, along: int, axis: int) -> Diagnosis:
    part = surgery.text_of(case.exact.output, arg)
    return Diagnosis(
        "axis",
        f"Where the derivative reads {part}, it has that along axis {along}, not along axis {axis}.",
        "the axis of a sum or a softmax in the gradient",
        case.line(arg),
    )


def _stretches(case: Case, rows: Case) -> Iterator[Proposal]:
    """What was stretched along one axis is summed along another of the same length."""
    for node, i in rows.edges():
        arg, shape = node.args[i], node.shape
        axes = _stretched(getattr(arg, "raw_shape", shape), shape)
        stretched = len(axes) == 1 and _reaches(arg.raw_shape, shape)
        for along in range(len(shape)) if stretched else ():
            if along not in axes and shape[along] == shape[axes[0]]:
                more = partial(_summed_along, node=node, i=i, along=along)
                yield arg, more, partial(_stretch_told, case, node, i, axes[0], along)


def _summed_along(edges: Edges, node: Any, i: int, along: int) -> Any:
    local = edges[node, i]
    each = np.asarray(local.rule(local.g, *local.saved))
    if each.shape != node.shape or local.c.ndim not in (each.ndim, each.ndim - 1):
        return None
    return each.sum(along, dtype=local.c.dtype).reshape(local.c.shape) - local.c


def _stretch_told(case: Case, node: Any, i: int, axis: int, along: int) -> Diagnosis:
    part = surgery.text_of(case.exact.output, node.args[i])
    return Diagnosis(
        "axis",
        f"The gradient of {part}, which is stretched along axis {axis} of {list(node.shape)}, is summed along axis "
        f"{along}.",
        f"sum(axis={axis}): broadcasting is undone by a sum along the axis that it stretched",
        case.line(node),
    )


# ---------------------------------------------------------------------------------------------- exchanges


def _exchanges(case: Case, rows: Case) -> Iterator[Proposal]:
    """The gradients of two parts of one value stand in each other's place, as those of two gates."""
    reads: dict[int, list[Any]] = {}
    for node, i in rows.edges():
        if isinstance(node.args[i], (Node, Recorded)) and i == 0 and len(reads.get(id(node.args[0]), ())) < MOST_PARTS:
            places = places_read(case, node)
            if places is not None and places.size == np.unique(places).size < np.prod(node.args[0].raw_shape):
                reads.setdefault(id(node.args[0]), []).append((node, places))
    for found in reads.values():
        for one, two in combinations(found, 2):
            if one[1].shape == two[1].shape and not np.intersect1d(one[1], two[1]).size:
                yield one[0].args[0], partial(_exchanged, one=one, two=two), partial(_exchange_told, case, one, two)


MOST_PARTS = 20
"""Parts of one value whose gradients may be exchanged."""


def _exchanged(edges: Edges, one: tuple[Any, Any], two: tuple[Any, Any]) -> Any:
    a, b = edges[one[0], 0], edges[two[0], 0]
    made = -a.c - b.c
    made.reshape(-1)[one[1].ravel()] += b.g.ravel()
    made.reshape(-1)[two[1].ravel()] += a.g.ravel()
    return made


def _exchange_told(case: Case, one: tuple[Any, Any], two: tuple[Any, Any]) -> Diagnosis:
    first, second = sorted((one, two), key=lambda read: int(read[1].min()))
    texts = [surgery.text_of(case.exact.output, node) for node, _ in (first, second)]
    return Diagnosis(
        "order",
        f"The gradients of {texts[0]} and of {texts[1]} stand in each other's place.",
        "the order in which parts are put together",
        case.line(first[0]),
    )


# ---------------------------------------------------------------------------------------------- weights


def _weights(case: Case, rows: Case) -> Iterator[Proposal]:
    """A factor is left out on one of the paths that meet where it is multiplied in."""
    for node, j in rows.edges():
        meeting = node.args[j]
        if node.op.name not in ("mul", "div") or not isinstance(meeting, Node):
            continue
        tracked = [i for i in range(len(meeting.args)) if meeting.mask >> i & 1]
        factor = next((a for k, a in enumerate(node.args) if k != j), None)
        for i in tracked if len(tracked) > 1 else ():
            more = partial(_without_factor, outer=(node, j), inner=(meeting, i))
            yield meeting.args[i], more, partial(_weight_told, case, node, factor, meeting, i)


def _without_factor(edges: Edges, outer: Any, inner: Any) -> Any:
    if inner not in edges:
        return None
    local = edges[outer]
    return edges[inner].of(local.fitted(local.g) - local.c)


def _weight_told(case: Case, node: Any, factor: Any, meeting: Any, i: int) -> Diagnosis:
    words = "The division by" if node.op.name == "div" else "The factor"
    return Diagnosis(
        "local factor",
        f"{words} {surgery.text_of(case.exact.output, factor)} is left out in the part of the gradient that comes from "
        f"{surgery.describe(case.exact.output, meeting, i)}.",
        "a weight, a mask or a count on one of two paths only",
        case.line(meeting),
    )

"""Mistakes in what stretches entries or sums them up, which several edges of the graph share.

A sum along the wrong axis, a weight that one of two paths goes without, parts in each other's place.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import combinations, product
from typing import Any

import numpy as np

from symgrad.check.diagnosis.case import Case
from symgrad.check.diagnosis.windows import Edges, Proposal, first_of, places_read
from symgrad.check.graph import surgery
from symgrad.check.graph.lines import place_of
from symgrad.check.report import Diagnosis
from symgrad.op.factories import stretches
from symgrad.tape.graph import Node
from symgrad.tape.record import Recorded


def entries_shared(case: Case) -> Diagnosis | None:
    """The first of these mistakes that explains the gradient."""
    rows = case.by_rows()
    if rows.surgeon is None or not rows.surgeon.sweeps:
        return None
    return first_of(case, rows, (_sums, _stretches, _reductions, _weights, _exchanges))


def _key(node: Any, *which: Any) -> Any:
    """What is the same for one mistake in all rounds of a loop."""
    place = place_of(node)
    return None if place is None else (place, node.op.name, node.shape, *which)


# ---------------------------------------------------------------------------------------------- sums


def _sums(case: Case, rows: Case) -> Iterator[Proposal]:
    """The gradient of a sum, a mean or a norm that is stretched again is summed along another axis, or not at all.

    With such a B = b(sum of q), the gradient that q receives is B'(q) times the sum of what comes to each entry of the
    stretched B.  People sum that itself, or times B, as in ``(dA * A).sum(...)`` of a softmax.
    """
    assert rows.surgeon is not None
    for node, i in rows.edges():
        shape, arg = node.shape, node.args[i]
        if not isinstance(arg, Node) or len(shape) < 1 or arg.raw_shape == shape or not stretches(arg.raw_shape, shape):
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
                yield Proposal(
                    end,
                    more,
                    partial(_sum_told, case, node, arg, axes, along),
                    _key(node, weight is full, scale, axes, along),
                )


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
            yield Proposal(arg.args[0], more, partial(_axis_told, case, arg, along, axis), _key(node, i, along))


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
        stretched = len(axes) == 1 and stretches(arg.raw_shape, shape)
        for along in range(len(shape)) if stretched else ():
            if along not in axes and shape[along] == shape[axes[0]]:
                more = partial(_summed_along, node=node, i=i, along=along)
                yield Proposal(arg, more, partial(_stretch_told, case, node, i, axes[0], along), _key(node, i, along))


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
                more = partial(_exchanged, one=one, two=two)
                yield Proposal(one[0].args[0], more, partial(_exchange_told, case, one, two))


MOST_PARTS = 20
"""Parts of one value whose gradients may be exchanged."""


def _exchanged(edges: Edges, one: tuple[Any, Any], two: tuple[Any, Any]) -> Any:
    a, b = edges[one[0], 0], edges[two[0], 0]
    made = np.ascontiguousarray(-a.c - b.c)
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


def _in_all_rounds(case: Case, node: Any, j: int) -> str:
    """Operand ``j`` of a node; of numbers that are others in other rounds of a loop the first ones."""
    assert case.surgeon is not None
    same = [n for n in reversed(case.surgeon.nodes) if n is node or (_key(node) and _key(n) == _key(node))]
    numbers = list(dict.fromkeys(n.args[j] for n in same if isinstance(n.args[j], (int, float))))
    if len(numbers) < 2:
        return surgery.text_of(case.exact.output, node.args[j])
    return ", ".join(f"{number:.6g}" for number in numbers[:3]) + (", …" if len(numbers) > 3 else "")


def _weights(case: Case, rows: Case) -> Iterator[Proposal]:
    """A factor is left out on one of the paths that meet where it is multiplied in."""
    for node, j in rows.edges():
        meeting = node.args[j]
        if node.op.name not in ("mul", "div") or not isinstance(meeting, Node):
            continue
        tracked = [i for i in range(len(meeting.args)) if meeting.mask >> i & 1]
        for i in tracked if len(tracked) > 1 else ():
            more = partial(_without_factor, outer=(node, j), inner=(meeting, i))
            told = partial(_weight_told, case, node, 1 - j, meeting, i)
            yield Proposal(meeting.args[i], more, told, _key(node, j, i))


def _without_factor(edges: Edges, outer: Any, inner: Any) -> Any:
    if inner not in edges:
        return None
    local = edges[outer]
    return edges[inner].of(local.fitted(local.g) - local.c)


def _weight_told(case: Case, node: Any, other: int, meeting: Any, i: int) -> Diagnosis:
    words = "The division by" if node.op.name == "div" else "The factor"
    return Diagnosis(
        "local factor",
        f"{words} {_in_all_rounds(case, node, other)} is left out in the part of the gradient that comes from "
        f"{surgery.describe(case.exact.output, meeting, i)}.",
        "a weight, a mask or a count on one of two paths only",
        case.line(meeting),
    )

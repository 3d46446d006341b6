"""Why a gradient is huge or tiny: the factors along the path that carries most of it, and which of them make it so."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from symgrad.autograd.sweeps.autopsy import first
from symgrad.explaining.answer import Cause, at_text, number_text
from symgrad.explaining.reaching import argument_value, exact_pull, given_text, reached
from symgrad.explaining.replay import Edge
from symgrad.explaining.scene import Scene, largest, scalar
from symgrad.tape.graph import Node

_SHARE = 0.5
"""The part of the whole, in orders of magnitude, that one factor has if it is the cause alone."""
_LARGEST_MATRIX = 500
"""Rows of a matrix up to which its condition number is computed."""
_GROUPS = 3
_REST = 1e-10
"""A sum that is smaller than this part of its largest term is what rounding left."""


class Factor(NamedTuple):
    """What one operation multiplies the gradient by, on the path."""

    edge: Edge
    at: tuple[int, ...]
    """The entry of the operation's result that the path goes through."""
    size: float


def factors(scene: Scene, index: tuple[int, ...], place: Any = None) -> list[Factor]:
    """The path from an entry of ``place`` (the target) up to the output along which most of its gradient came."""
    done, found = scene.done, []
    place = done.target if place is None else place
    while edges := done.into.get(place):
        edge = max(edges, key=lambda e: _size(np.asarray(e.c)[index]))
        node, got = edge.node, _size(np.asarray(edge.c)[index])
        index = _next(scene, edge, index)
        came = _size(edge.g[index])
        if not got or not came or not math.isfinite(got) or not math.isfinite(came):
            break
        found.append(Factor(edge, index, got / came))
        place = node
    return found


def _size(value: Any) -> float:
    return float(np.abs(value))


def _next(scene: Scene, edge: Edge, index: tuple[int, ...]) -> tuple[int, ...]:
    """The entry of the result, among those that an argument's entry meets, with the largest gradient."""
    shape = np.shape(edge.c)
    if edge.node.op.entrywise and shape == edge.g.shape:
        return index
    one = np.zeros(shape, bool)
    one[index] = True
    meets = reached(scene.replay, edge, one)
    return largest(np.where(meets, np.abs(edge.g), 0)) if meets.any() else largest(edge.g)


def gain_causes(scene: Scene, index: tuple[int, ...], huge: bool, place: Any = None) -> list[Cause]:
    """The factors that make the gradient huge, or tiny: of the target, or of another ``place``."""
    edges = scene.done.into.get(scene.done.target if place is None else place, [])
    parts = [np.asarray(edge.c)[index] for edge in edges]
    if not huge and (cancelled := _cancelled(scene, edges, parts, index)):
        return cancelled
    path = factors(scene, index, place)
    sign = 1 if huge else -1
    logs = [sign * math.log10(f.size) for f in path]
    whole = sum(x for x in logs if x > 0)
    if not whole:
        seed = _size(np.max(np.abs(scene.done.roots[0][1])))
        text = f"No operation makes it so: the pass began with a gradient of {number_text(seed)}."
        return [Cause("given", text, advice="Scale the output, or the gradient that backward is given.")]
    most = max(range(len(path)), key=lambda k: logs[k])
    if logs[most] >= _SHARE * whole:
        return [_single(scene, path[most], huge)]
    return [_chain(scene, path, logs, huge)]


def _cancelled(scene: Scene, edges: list[Edge], parts: list[Any], index: tuple[int, ...]) -> list[Cause]:
    """A sum of parts that cancel, or of one that is zero but for rounding."""
    most, total = max(map(_size, parts), default=0.0), _size(sum(parts))
    names = " and ".join(dict.fromkeys(f"{edge.node.op.name}()" for edge in edges))
    advice = "In exact arithmetic it is zero, or next to it: what is left is rounding."
    if len(parts) > 1 and total < _REST * most:
        values = " and ".join(number_text(scalar(p)) for p in parts[:3])
        text = f"Its parts cancel{at_text(index)}: {values} came through {names}."
    elif len(parts) == 1 and not edges[0].node.op.entrywise and exact_pull(scene, edges[0], index) == 0:
        text = f"{scene.call(edges[0].node)} gives 0{at_text(index)} in exact arithmetic."
    else:
        return []
    node = edges[0].node
    return [Cause("cancels", text, scene.node_name(node), node.op.name, index, line=scene.line(node), advice=advice)]


def _single(scene: Scene, factor: Factor, huge: bool) -> Cause:
    """One operation that does it."""
    edge, index = factor.edge, factor.at
    node, i, g, c = edge.node, edge.i, edge.g, edge.c
    call, name, size = scene.call(node), scene.text(node.args[i]), number_text(factor.size)
    given = given_text(scene, node, index)
    where = at_text(index) + (f", where {given}" if given else "")
    fields: dict[str, Any] = {
        "node": scene.node_name(node), "op": node.op.name, "index": index, "factor": factor.size,
        "value": argument_value(scene, node, i, index), "line": scene.line(node),
    }  # fmt: skip
    condition = condition_number(scene, node)
    if huge and condition is not None:
        text = f"{call} multiplies the gradient by {size}: the condition number of {name} is {number_text(condition)}."
        advice = f"Add a multiple of the identity to {name}, scale its rows and columns, or use lstsq or pinv."
        return Cause("ill-conditioned", text, advice=advice, **fields)
    added = np.size(g) > np.size(c) and node.op.kind != "multilinear"
    text = f"{call} multiplies the gradient by {size}{where}."
    if added:
        text = f"{name} is used {np.size(g) // max(np.size(c), 1)} times by {call}, and the gradients add up: × {size}."
    if node.op.kind == "multilinear" and len(node.args) > 1:
        others = " and ".join(scene.text(a) for k, a in enumerate(node.args) if k != i)
        advice = f"Look at {others}: its entries are that {'large' if huge else 'small'}; scale it."
        return Cause("large factor" if huge else "small factor", text, advice=advice, **fields)
    if huge:
        advice = f"Keep {name} away from there (clamp it, add an epsilon inside), or write it in logarithms."
    else:
        advice = f"Scale {name}, or take the logarithm of the result: its derivative does not vanish there."
    return Cause("large factor" if huge else "small factor", text, advice=advice, **fields)


def condition_number(scene: Scene, node: Node) -> float | None:
    """That of the first argument of a function of a square matrix; None for other operations."""
    op = node.op
    value: Any = np.asarray(scene.replay.value(node.args[0]) if node.args else 0.0)
    square = value.ndim == 2 and value.shape[0] == value.shape[1] and 1 < value.shape[0] <= _LARGEST_MATRIX
    if not square or op.kind != "primitive" or op.linear or node.op.entrywise or value.dtype.kind not in "fc":
        return None
    if not np.isfinite(value).all():
        return None
    found = float(np.linalg.cond(value.astype(complex if value.dtype.kind == "c" else float)))
    return found if found > 1e3 else None


def _chain(scene: Scene, path: list[Factor], logs: list[float], huge: bool) -> Cause:
    """Many operations that do it together."""
    groups: dict[tuple[str, str], list[int]] = {}
    for k, factor in enumerate(path):
        node = factor.edge.node
        groups.setdefault((node.op.name, scene.line(node)), []).append(k)
    ranked = sorted(groups.items(), key=lambda item: -sum(logs[k] for k in item[1]))
    sign = 1 if huge else -1
    parts = []
    for (op, _), places in ranked[:_GROUPS]:
        together = sum(logs[k] for k in places)
        if together <= 0:
            continue
        times = f"{len(places)} × {op}()" if len(places) > 1 else f"{op}()"
        each = number_text(10.0 ** (sign * together / len(places)))
        parts.append(f"{times}, each × {each}" if len(places) > 1 else f"{times}, × {each}")
    best = max(ranked[0][1], key=lambda k: logs[k])
    factor = path[best]
    node = factor.edge.node
    kind = "exploding chain" if huge else "vanishing chain"
    total = sum(logs[k] for k in range(len(path)) if logs[k] > 0)
    text = (
        f"A chain of {len(path)} operations multiplies it to 1e{'+' if huge else '-'}{total:.0f}: {'; '.join(parts)}. "
        f"The {'largest' if huge else 'smallest'} factor is {number_text(factor.size)}, in {scene.call(node)}"
        f"{at_text(factor.at)}."
    )
    advice = (
        "Scale the factors to about 1 (initial weights, normalisation), clip the gradient, or work with logarithms."
        if huge
        else "Scale the factors to about 1 (initial weights, normalisation), add skip connections, or take logarithms."
    )
    return Cause(
        kind,
        text,
        scene.node_name(node),
        node.op.name,
        factor.at,
        argument_value(scene, node, factor.edge.i, factor.at),
        factor.size,
        scene.line(node),
        advice,
    )


def largest_entry(gradient: Any) -> tuple[int, ...]:
    """The entry of the largest finite magnitude."""
    array = np.asarray(gradient)
    return largest(np.where(np.isfinite(array), np.abs(array), -1.0)) if array.ndim else first(np.True_)

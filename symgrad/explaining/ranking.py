"""Which operations a rounding error comes from, and which leaves a value hangs on: one reverse sweep tells both.

A relative error of ``eps`` in a value v moves the result by ``eps · |v · v̄|``, v̄ being its adjoint (S. Linnainmaa,
Taylor expansion of the accumulated rounding error, BIT 16, 1976).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from symgrad.dtypes import is_floating
from symgrad.explaining.replay import Edge, Pass, Replay, rounds
from symgrad.explaining.scene import Scene, largest, leaf_name
from symgrad.tape.graph import Node
from symgrad.tape.record import Recorded

_MOST = 5


class Contribution(NamedTuple):
    """What one operation, or one leaf, has to do with a value.

    ``text``   the operation as a formula, or the leaf's name
    ``op``     the name of the operation; None for a leaf
    ``share``  of an operation, its part of the rounding error; of a leaf, the condition number by it: the sum of
               |x · ∂y/∂x| over its entries, divided by |y|
    ``at``     the entry that has most of it
    """

    text: str
    op: str | None
    share: float
    at: tuple[int, ...]


def contributions(root: Any) -> tuple[list[Contribution], list[Contribution]]:
    """The operations by their part of the rounding error of a number, and the leaves by its condition; most first."""
    replay = Replay([root])
    value = np.asarray(replay.value(replay.place(root)))
    done = Pass(replay, [(root, np.ones(value.shape, value.dtype)[()])], None)
    done.run()
    scene = Scene(done, {}, "")
    parts: list[tuple[float, Any, Any]] = []
    leaves = []
    added: dict[Node, float] = {}
    for edge in done.edges:
        if not edge.node.op.entrywise:
            added[edge.node] = added.get(edge.node, 0.0) + _terms(done, edge)
    size = float(np.max(np.abs(value), initial=0.0))
    for place in [*replay.nodes, *(p for p in done.into if isinstance(p, Recorded))]:
        moved = _moved(done, place)
        if moved is None or (isinstance(place, Node) and not rounds(place)):
            continue
        if isinstance(place, Node):
            parts.append((float(np.sum(moved)) + added.get(place, 0.0), place, largest(moved)))
        else:
            share = float(np.sum(moved)) / size if size else float("inf")
            leaves.append(Contribution(leaf_name(place) or scene.text(place), None, share, largest(moved)))
    whole = sum(part for part, *_ in parts)
    parts.sort(key=lambda part: -part[0])
    ops = [
        Contribution(scene.call(node), node.op.name, part / whole if whole else 0.0, at)
        for part, node, at in parts[:_MOST]
    ]
    return ops, sorted(leaves, key=lambda leaf: -leaf.share)


def _moved(done: Pass, place: Any) -> Any:
    """|v · v̄| per entry of a value; None for what has no adjoint."""
    value = done.replay.value(place)
    if getattr(value, "dtype", None) is None or not is_floating(value.dtype):
        return None
    seeds = [seed for root, seed in done.roots if root is place]
    edges = done.into.get(place, [])
    if not edges and not seeds:
        return None
    with np.errstate(all="ignore"):
        adjoint: Any = sum((np.asarray(edge.c) for edge in edges), np.asarray(seeds[0] if seeds else 0))
        found = np.abs(np.asarray(value) * adjoint)
    return np.nan_to_num(np.broadcast_to(found, np.shape(value)))


def _terms(done: Pass, edge: Edge) -> float:
    """The same for what an operation adds up: its terms are rounded, too."""
    value = done.replay.value(edge.node.args[edge.i])
    if getattr(value, "dtype", None) is None or not is_floating(value.dtype):
        return 0.0
    return float(np.sqrt(np.sum(np.abs(np.asarray(value) * edge.c) ** 2)))

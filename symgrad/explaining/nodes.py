"""What is known of every node of a graph: formula, value, gradient, and the time of both passes."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

from symgrad.errors import SymgradError
from symgrad.explaining.replay import Pass, Replay
from symgrad.formula.printing.formats import spelled
from symgrad.tape.folding import unfolded
from symgrad.tape.formulas.reading import Reading
from symgrad.tape.graph import Node
from symgrad.tape.operands import promoted
from symgrad.tape.record import computed

RUNS = 3
"""Times that an operation is run; the shortest counts."""

LARGEST = 24
"""Operations of formulas that are written out; larger ones are told by their parts."""


class Facts(NamedTuple):
    """Of one node: None where that is not known, for a constant that is gone or a result that needs no gradient."""

    formula: str | None
    value: Any
    gradient: Any
    forward: float | None
    backward: float | None


class _Timed(Pass):
    """A pass that keeps how long the rules of each node took."""

    def __init__(self, replay: Replay, roots: Sequence[tuple[Any, Any]]):
        super().__init__(replay, roots, None)
        self.seconds: dict[Node, float] = {}

    def _contribution(self, node: Node, *rest: Any) -> Any:
        before = time.perf_counter()
        found = super()._contribution(node, *rest)
        self.seconds[node] = self.seconds.get(node, 0.0) + time.perf_counter() - before
        return found


def facts_of(root: Any) -> Callable[[Any], Facts]:
    """What tells the facts of an edge of the graph of a tensor; gradients are those of the sum of its entries."""
    replay = Replay([root.edge()])
    done = _backward(replay, root)
    reading, sizes = Reading([root.edge()]), _sizes(replay)

    def tell(edge: Any) -> Facts:
        place = replay.place(edge)
        value = None
        with suppress(SymgradError):
            value = replay.value(place)
        gradient = None if done is None else _gradient(done, place, root.edge() is edge, value)
        forward = _seconds(replay, place) if isinstance(place, Node) else None
        backward = done.seconds.get(place) if done is not None and isinstance(place, Node) else None
        formula = _formula(reading, edge) if sizes.get(place, 0) <= LARGEST else None
        return Facts(formula, value, gradient, forward, backward)

    return tell


def _backward(replay: Replay, root: Any) -> _Timed | None:
    if not root._requires_grad or not isinstance(root.edge(), Node):
        return None
    shortest: dict[Node, float] = {}
    done = None
    with suppress(SymgradError), np.errstate(all="ignore"):
        for _ in range(RUNS):
            done = _Timed(replay, [(root.edge(), np.ones(root.raw_shape, root.dtype)[()])])
            done.run()
            for node, seconds in done.seconds.items():
                shortest[node] = done.seconds[node] = min(seconds, shortest.get(node, seconds))
    return done


def _gradient(done: _Timed, place: Any, is_root: bool, value: Any) -> Any:
    """What has come to a value along all edges that lead there."""
    if is_root:
        return np.ones(np.shape(value), getattr(value, "dtype", None))
    parts = [edge.c for edge in done.into.get(place, ())]
    return sum(parts[1:], parts[0]) if parts else None


def _seconds(replay: Replay, node: Node) -> float | None:
    if node.op.kind == "function":
        return None
    values = promoted(node.op, [replay.value(a) for a in node.args])
    shortest = float("inf")
    with np.errstate(all="ignore"):
        for _ in range(RUNS):
            before = time.perf_counter()
            computed(node.op, values, node.params or {})
            shortest = min(shortest, time.perf_counter() - before)
    return shortest


def _sizes(replay: Replay) -> dict[Any, int]:
    """How many operations the formula of each node has when it is written out."""
    found: dict[Any, int] = {}
    for node in replay.nodes:
        found[node] = 1 + sum(found.get(a, 0) for a in node.args)
    return found


def _formula(reading: Reading, edge: Any) -> str | None:
    """The formula in MathML."""
    from symgrad.formula.printing.latex import latex

    if not isinstance(edge, Node):
        return None
    try:
        return spelled(latex(reading[unfolded(edge) if _is_folded(edge) else edge]), "mathml")
    except (SymgradError, RecursionError, KeyError, ValueError):
        return None


def _is_folded(edge: Any) -> bool:
    return isinstance(edge, Node) and edge.op.kind == "folded"

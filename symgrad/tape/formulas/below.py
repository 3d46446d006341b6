"""What a value stands on: the recorded nodes, and the leaves and constants at which they begin."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from symgrad.tape.folding import unfolded
from symgrad.tape.graph import Node, Source
from symgrad.tape.record import Recorded

NO_ENDS: Mapping[int, Any] = {}


def nodes_below(
    roots: Sequence[Any],
    args_of: Callable[[Node], tuple[Any, ...]] = operator.attrgetter("args"),
    ends: Mapping[int, Any] = NO_ENDS,
) -> tuple[list[Node], list[Any]]:
    """All nodes below the roots, oldest first, and the leaves and constants in order of first use.

    ``ends`` has, by their identity, nodes below which nothing is looked at, and the tensors that are leaves instead.
    """
    seen: set[int] = set()
    nodes: list[Node] = []
    leaves: list[Any] = []
    stack = list(reversed(roots))
    while stack:
        item = stack.pop()
        item = ends.get(id(item), item)
        if id(item) in seen:
            continue
        if isinstance(item, Node):
            seen.add(id(item))
            nodes.append(item)
            # A folded function is shown by its parts; what it was given stands below them.
            stack += (unfolded(item),) if item.op.kind == "folded" else args_of(item)
        elif isinstance(item, (Recorded, Source)):
            seen.add(id(item))
            leaves.append(item)
    nodes.sort(key=lambda node: node.sequence_nr)
    ordered: dict[int, Any] = {}
    for node in nodes:
        for arg in () if node.op.kind == "folded" else args_of(node):
            if isinstance(arg, (Recorded, Source)):
                ordered.setdefault(id(arg), arg)
    for leaf in leaves:
        ordered.setdefault(id(leaf), leaf)
    return nodes, list(ordered.values())

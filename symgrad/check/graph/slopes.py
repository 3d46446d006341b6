"""How every value of a graph moves with one of its leaves: all of these Jacobians from one run in forward mode.

A change of a cotangent brings a leaf its product with the Jacobian of the value.  Thousands of changes that a diagnosis
tries are then as many small products, in place of as many sweeps.
"""

from __future__ import annotations

import math
from collections.abc import Set as AbstractSet
from typing import Any

import numpy as np

from symgrad.check.graph.replay import Replay, operand
from symgrad.tape.forward import dual
from symgrad.tape.forward.bundle import Bundle, bundled
from symgrad.tape.forward.dual import Dual
from symgrad.tape.graph import Node
from symgrad.tape.record import Recorded
from symgrad.tensor.moving import settle

MOST_ENTRIES = 4_000_000
"""Entries of all Jacobians together up to which they are made."""


def slopes(replay: Replay, leaf: Any, still: AbstractSet[tuple[Node, int]] = frozenset()) -> dict[Node, Any] | None:
    """The Jacobian of every value by a leaf, flat; what comes along the edges ``still`` counts as a constant.

    Values that do not move have none.  None as a whole where that is too much, where numbers are complex, or where an
    operation has no forward mode.
    """
    width = leaf._value.size
    real = leaf.dtype.kind == "f" and all(node.dtype.kind == "f" for node in replay.nodes)
    if not real or not width or width * sum(math.prod(node.shape) for node in replay.nodes) > MOST_ENTRIES:
        return None
    tag, units = dual.new_tag(), np.eye(width, dtype=leaf.dtype).reshape(width, *leaf._value.shape)
    bundle = Bundle(dual.new_tag(), units)
    try:
        with np.errstate(all="ignore"):
            return _run(replay, leaf, Dual(leaf._value, bundle, tag), bundle, still)
    except Exception:  # noqa: BLE001  (an operation without forward mode)
        return None
    finally:
        settle(tag)


def _run(
    replay: Replay, leaf: Any, moving: Dual, units: Bundle, still: AbstractSet[tuple[Node, int]]
) -> dict[Node, Any]:
    found: dict[Node, Any] = {}
    made: dict[Any, Any] = {node: v for node, v in replay.values.items() if node not in replay.tracked}
    for node in replay.nodes:
        args = []
        for i, arg in enumerate(node.args):
            value = (moving if arg is leaf else arg._value) if isinstance(arg, Recorded) else None
            value = operand(arg, made, replay.constants) if value is None else value
            args.append(dual.parts(value, moving.tag)[0] if (node, i) in still else value)
        made[node] = node.op(*args, **(node.params or {}))
        _, tangent = dual.parts(made[node], moving.tag)
        if tangent is not None:
            rows = np.asarray(bundled(tangent, units.tag, units.width))
            found[node] = rows.reshape(units.width, -1).T
    return found

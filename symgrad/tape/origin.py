"""Where a plain gradient came from, so that ``w.grad.expr`` works without ``create_graph`` and at no numeric cost.

A gradient tensor keeps the backward passes that were added into it.  The derivation on formula nodes runs only when
a formula is asked for, once per pass for all its leaves.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from symgrad.errors import FormulaError

LIMIT = 64
"""Accumulated passes a gradient remembers; beyond that its formula is a symbol of its own, so that memory is bounded."""


class Origin:
    """One backward pass: its outputs and cotangents, as the graph knows them."""

    __slots__ = ("__weakref__", "cache", "roots", "seeds")

    def __init__(self, outputs: Sequence[Any], gradients: Sequence[Any]):
        self.roots = tuple(out.edge() for out in outputs)
        self.seeds = tuple(None if g is None else g.edge() for g in gradients)
        self.cache: dict[Any, Any] = {}


def attach(tensor: Any, origin: Origin, target: Any) -> Any:
    """Note that ``origin``'s gradient for ``target`` was added to ``tensor``; returns the tensor."""
    extra = tensor.more()
    edge = target if target._node is None else target._node
    if extra.origin is None:
        extra.origin = [(origin, edge)]
    elif len(extra.origin) < LIMIT:
        extra.origin.append((origin, edge))
    else:
        extra.origin = FormulaError
    return tensor

"""Sizes of parts, ``x[1:].shape[0]``: how they follow from that of which the part is, where a graph has it.

The part itself need not be in the graph: ``ones(len(x[1:])) * x.sum()`` has n - 1 entries.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

from symgrad.op import shape_of
from symgrad.tape.formulas.sizes import Size
from symgrad.tape.graph import Node
from symgrad.tape.record import Recorded

LONGEST = 8
"""Ops between a part and that of which it is that are remembered."""


class Part(int):
    """The length of an axis of what a recipe cuts out of something, to which it has a reference."""

    recipe: tuple[str, dict[str, Any]]
    axis: int

    def __reduce__(self) -> tuple[Any, ...]:
        return (int, (int(self),))  # a reference leads nowhere elsewhere


def sizes_of(tensor: Any) -> tuple[Any, ...]:
    """The lengths of a tensor; those of a part of another one know how they follow from its."""
    part = sizes_of_part(tensor) if hasattr(tensor, "_value") else None
    return part or shape_of(tensor)


def sizes_of_part(tensor: Any) -> tuple[Size, ...] | None:
    """The lengths of a part of another tensor that is, or may be, in a graph; None for all others."""
    recipe = _cut(tensor)
    if recipe is None:
        return None
    made = []
    for axis, n in enumerate(tensor._value.shape):
        part = Part(n)
        part.recipe, part.axis = recipe, axis
        made.append(Size(n, (part,)))
    return tuple(made)


def _cut(tensor: Any) -> tuple[str, dict[str, Any]] | None:
    """How a tensor is cut out of another one; None where it is no part of one that somebody differentiates by."""
    if not tensor._value.shape:
        return None
    place = tensor._node
    if place.__class__ is Node:
        steps: list[Any] = []
        for _ in range(LONGEST):
            if place.op.view is not None and len(place.args) == 1:
                steps.append((place.op, place.params or {}))
                place = place.args[0]
            elif place.op.entrywise and (like := _of_same_shape(place)) is not None:
                place = like
            else:
                break
            if place.__class__ is not Node:
                break
        root: Callable[[], Any] = weakref.ref(place)
    else:
        view = None if tensor._extra is None else tensor._extra.view
        if view is None or (known := _base(view.base)) is None:
            return None
        root, steps = known, view.chain()[::-1]
    if not steps:
        return None
    made: tuple[str, dict[str, Any]] = ("root", {"of": root})
    for op, params in reversed(steps):
        made = ("made", {"op": op, "args": (made,), "params": params})
    return made


def _of_same_shape(node: Node) -> Any:
    """An argument of an entrywise op that is as large as its result, and no constant; None where there is none."""
    shape = node.shape
    for arg in node.args:
        if arg.__class__ is Node:
            if arg.shape == shape:
                return arg
        elif isinstance(arg, Recorded) and arg._value.shape == shape:
            return arg
    return None


def _base(base: Any) -> Callable[[], Any] | None:
    """A reference to where the base of a view without history stands in graphs; None for data."""
    if base._requires_grad:
        return weakref.ref(base)
    detached = None if base._extra is None else base._extra.detached
    other = None if detached is None else detached()
    if other is None or other._value.shape != base._value.shape:
        return detached
    return weakref.ref(other if other._node.__class__ is not Node else other._node)

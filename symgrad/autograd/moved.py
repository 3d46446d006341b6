"""Gradients of what moves: reverse mode inside of a forward derivative made by hand.

The gradient of ⟨s, y⟩ moves along the gradient of what that number moves along: ⟨s, dy⟩ + ⟨ds, y⟩.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from symgrad.errors import AutogradError
from symgrad.tape.dual import Dual, faced
from symgrad.tape.record import Recorded


def moved_gradients(
    grad: Callable[..., tuple[Any, ...]],
    outputs: Sequence[Any],
    targets: Sequence[Any],
    seeds: Sequence[Any],
    keep: bool,
    options: dict[str, Any],
) -> tuple[Any, ...]:
    """What ``grad(outputs, targets, seeds, **options)`` gives where outputs or seeds move; its results do, too."""
    outputs, seeds = [faced(y) for y in outputs], [faced(s) for s in seeds]
    tags = {x.tag for x in (*outputs, *seeds) if isinstance(x, Dual)}
    if len(tags) > 1 or any(isinstance(_still(x), Dual) for x in (*outputs, *seeds, *targets)):
        raise AutogradError(
            "grad() follows one forward derivative at a time, and its outputs belong to several: use symgrad.func.grad "
            "and symgrad.func.jvp, which nest"
        )
    parts = []
    for y, s in zip(outputs, seeds, strict=True):
        if isinstance(y, Dual):
            parts.append((y.tangent, _still(s)))
        if isinstance(s, Dual):
            parts.append((_still(y), s.tangent))
    parts = [(y, s) for y, s in parts if isinstance(y, Recorded) and y._requires_grad]
    places = [_still(faced(t)) for t in targets]
    found = grad([*map(_still, outputs)], places, [*map(_still, seeds)], retain_graph=keep or bool(parts), **options)
    if not parts:
        return found
    further = {**options, "allow_unused": True, "materialize_grads": False}
    moving = grad([y for y, _ in parts], places, [s for _, s in parts], retain_graph=keep, **further)
    return tuple(
        g if g is None or move is None else Dual(g, move, min(tags)) for g, move in zip(found, moving, strict=True)
    )


def _still(value: Any) -> Any:
    """A value without its tangent."""
    return value.primal if isinstance(value, Dual) else value

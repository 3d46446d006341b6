"""Gradients of what moves: reverse mode inside of a forward derivative made by hand.

The gradient of ⟨s, y⟩ moves along the gradient of what that number moves along: ⟨s, dy⟩ + ⟨ds, y⟩.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from symgrad.errors import AutogradError
from symgrad.tape.bundle import Bundle, row_of
from symgrad.tape.dual import Dual, faced


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
    parts = [(y, s) for y, s in parts if getattr(y, "requires_grad", False)]
    places = [_still(faced(t)) for t in targets]
    found = grad([*map(_still, outputs)], places, [*map(_still, seeds)], retain_graph=keep or bool(parts), **options)
    if not parts:
        return found
    further = {**options, "allow_unused": True, "materialize_grads": False}

    def along(parts: Sequence[tuple[Any, Any]], last: bool) -> tuple[Any, ...]:
        parts = [(y, s) for y, s in parts if y.requires_grad]
        if not parts:
            return (None,) * len(places)
        return grad([y for y, _ in parts], places, [s for _, s in parts], retain_graph=keep or not last, **further)

    moving = _each(parts, along)
    return tuple(
        g if g is None or move is None else Dual(g, move, min(tags)) for g, move in zip(found, moving, strict=True)
    )


def _each(parts: list[tuple[Any, Any]], along: Callable[..., tuple[Any, ...]]) -> Sequence[Any]:
    """``along(parts, last)``, of bundles among them for every row."""
    bundle = next((x for pair in parts for x in pair if isinstance(x, Bundle)), None)
    if bundle is None:
        return along(parts, True)
    tag, width = bundle.tag, bundle.width
    split = [[(row_of(y, tag, k), row_of(s, tag, k)) for y, s in parts] for k in range(width)]
    columns = zip(*(along(row, k == width - 1) for k, row in enumerate(split)), strict=True)
    return [_filled(bundle, column) for column in columns]


def _filled(bundle: Bundle, column: Sequence[Any]) -> Any:
    """A column of gradients as a bundle, with zeros where there is none; None where there is none at all."""
    like = next((g for g in column if g is not None), None)
    return None if like is None else bundle.like([like * 0 if g is None else g for g in column])


def _still(value: Any) -> Any:
    """A value without its tangent."""
    return value.primal if isinstance(value, Dual) else value

"""Gradients of what moves: reverse mode inside of a forward derivative made by hand.

The gradient of ⟨s, y⟩ moves along the gradient of what that number moves along: ⟨s, dy⟩ + ⟨ds, y⟩.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from symgrad.op import shape_of
from symgrad.tape.forward import dual
from symgrad.tape.forward.bundle import Bundle, row_of
from symgrad.tape.forward.dual import Dual, faced
from symgrad.tape.record import plain
from symgrad.tensor import Tensor


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
    tag = max(x.tag for x in (*outputs, *seeds, *map(faced, targets)) if isinstance(x, Dual))
    pairs = [(dual.parts(y, tag), dual.parts(s, tag)) for y, s in zip(outputs, seeds, strict=True)]
    parts = [(dy, s) for (_, dy), (s, _) in pairs if dy is not None]
    parts += [(y, ds) for (y, _), (_, ds) in pairs if ds is not None]
    parts = [(y, s) for y, s in parts if getattr(y, "requires_grad", False)]
    places = [dual.parts(t, tag)[0] for t in targets]
    roots, given = [y for (y, _), _ in pairs], [s for _, (s, _) in pairs]
    found = grad(roots, places, given, retain_graph=keep or bool(parts), **options)
    if not parts:
        return found
    further = {**options, "allow_unused": True, "materialize_grads": False}

    def along(parts: Sequence[tuple[Any, Any]], last: bool) -> tuple[Any, ...]:
        parts = [(y, s) for y, s in parts if y.requires_grad]
        if not parts:
            return (None,) * len(places)
        seeds = [plain(Tensor, s) if isinstance(s, (np.ndarray, np.generic)) else s for _, s in parts]
        return grad([y for y, _ in parts], places, seeds, retain_graph=keep or not last, **further)

    moving = _each(parts, along)
    return tuple(_joined(g, move, tag) for g, move in zip(found, moving, strict=True))


def _joined(g: Any, move: Any, tag: int) -> Any:
    """A gradient that moves; one that is there only because it does is zero."""
    if move is None:
        return g
    return Dual(plain(Tensor, np.zeros(shape_of(move), move.dtype)[()]) if g is None else g, move, tag)


def _each(parts: list[tuple[Any, Any]], along: Callable[..., tuple[Any, ...]]) -> Sequence[Any]:
    """``along(parts, last)``, of bundles among them for every row."""
    bundle = next((x for pair in parts for x in pair if isinstance(x, Bundle)), None)
    if bundle is None:
        return along(parts, True)
    tag, width = bundle.tag, bundle.width
    split = [[(row_of(y, tag, k), row_of(s, tag, k)) for y, s in parts] for k in range(width)]
    columns = zip(*(along(row, k == width - 1) for k, row in enumerate(split)), strict=True)
    return [bundle.filled(column) for column in columns]

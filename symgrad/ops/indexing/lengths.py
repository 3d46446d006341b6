"""How long an axis must be that is known by its letter alone, for its slices to be as long as is said."""

from __future__ import annotations

from typing import Any

from symgrad.ops.indexing.getitem import Index, axes_used


def least_sizes(shape: tuple[Any, ...], index: Index) -> list[tuple[str, int]]:
    """Axes that are letters, and how long they must be for their slices to be as long as :func:`indexed_shape` says."""
    parts = [p for p in index.parts if p is not None]
    used = sum(map(axes_used, parts))
    whole = [slice(None)] * (len(shape) - used)
    full = [q for p in parts for q in (whole if p is Ellipsis else [p])]
    found, axis = [], 0
    for p in full:
        if isinstance(p, slice) and isinstance(shape[axis], str):
            found.append((shape[axis], least_size(p)))
        axis += axes_used(p)
    return [(size, least) for size, least in found if least > 0]


def least_size(part: slice) -> int:
    """How long an axis must be for a slice of it to be as long as is said where only its letter is known.

    >>> least_size(slice(2, 6)), least_size(slice(-3, None)), least_size(slice(1, -2)), least_size(slice(None, None, 2))
    (6, 3, 3, 0)
    """
    start, stop, step = part.start or 0, part.stop, part.step or 1
    if stop is not None and (start < 0) == (stop < 0):
        places = range(start, stop, step)
        return max((-p if p < 0 else p + 1 for p in (places[0], places[-1])), default=0) if places else 0
    if stop is not None:
        return start - stop if step == 1 and start >= 0 else 0
    return abs(start) if step > 0 else 0

"""What stands one after the other along an axis: blocks that were joined or put among zeros, and ranges of them.

Sizes may have letters.  What is cut out of such a row is known where each block is inside the range, outside of it, or
reaches over its ends by a number of places; sizes are never negative.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from symgrad.formula.canonical.entries.slices import index_of_axes
from symgrad.formula.term import Term, is_zero
from symgrad.op import lookup
from symgrad.ops.indexing.getitem import Index
from symgrad.ops.shapes.sizes import letters_of, total_size


class Block(NamedTuple):
    """So many places of an axis, and what stands there, None for zeros."""

    size: Any
    value: Term | None


def row_of(base: Term, axis: int) -> list[Block] | None:
    """The blocks that an array was put together from along an axis; None for arrays that were not."""
    name, params = base.op.name, base.params
    if name in ("cat", "stack") and params["dim"] == axis:
        parts = base.args if name == "cat" else tuple(lookup("unsqueeze")(a, dim=axis) for a in base.args)
        return [Block(a.shape[axis], None if is_zero(a) else a) for a in parts]
    if name == "embed" and params["dim"] == axis:
        return _among_zeros(params["start"], base.args[0], base.shape[axis], axis)
    if name == "pad" and params["value"] == 0 and max(params["widths"][axis]) > 0 <= min(params["widths"][axis]):
        widths = tuple((0, 0) if k == axis else pair for k, pair in enumerate(params["widths"]))
        value = lookup("pad")(base.args[0], widths=widths, value=0) if any(map(any, widths)) else base.args[0]
        return _among_zeros(params["widths"][axis][0], value, base.shape[axis], axis)
    if name == "put" and len(base.args) == 1:
        return _row_of_put(base, axis)
    return None


def _row_of_put(base: Term, axis: int) -> list[Block] | None:
    parts, value = index_of_axes(base.params["index"], base.ndim), base.args[0]
    if parts is None or not all(isinstance(p, (int, slice)) for p in parts) or parts[axis] == slice(None):
        return None
    before = ends_of(parts[axis], base.shape[axis])
    kept = [k for k, p in enumerate(parts) if isinstance(p, slice)]
    if before is None or value.ndim != len(kept):
        return None
    if isinstance(parts[axis], int):
        value = lookup("unsqueeze")(value, dim=sum(k < axis for k in kept))
    rest = tuple(slice(None) if k == axis else p for k, p in enumerate(parts))
    if any(p != slice(None) for p in rest):
        size = value.shape[sum(k < axis for k in kept)]
        shape = tuple(size if k == axis else n for k, n in enumerate(base.shape))
        value = lookup("put")(value, index=Index(rest), shape=shape)
    return _among_zeros(before[0], value, base.shape[axis], axis)


def _among_zeros(before: Any, value: Term, size: Any, axis: int) -> list[Block]:
    after = total_size((size, before, value.shape[axis]), (1, -1, -1))
    return [Block(before, None), Block(value.shape[axis], value), Block(after, None)]


def ends_of(part: Any, size: Any) -> tuple[Any, Any] | None:
    """The place where a part of an index starts, and the one where it stops.

    None where it takes steps, or where it depends on a size with letters whether it has any place.
    """
    if isinstance(part, slice):
        if part.step not in (None, 1):
            return None
        if isinstance(size, int):
            start, stop, _ = part.indices(size)
            return start, max(start, stop)
        start, stop = part.start or 0, size if part.stop is None else part.stop
        if isinstance(stop, int) and (start < 0 <= stop or ((start < 0) == (stop < 0) and stop < start)):
            return None
    else:
        start, stop = part, part + 1 or size
    return tuple(total_size((size, k)) if isinstance(k, int) and k < 0 else k for k in (start, stop))  # type: ignore[return-value]


def slice_of(start: Any, stop: Any, size: Any) -> slice | None:
    """The slice from one place of an axis to another, each counted from an end; None where they are at neither."""
    ends = [k if isinstance(k, int) else total_size((k, size), (1, -1)) for k in (start, stop)]
    if not all(isinstance(k, int) for k in ends):
        return None
    return slice(ends[0] or None, None if stop == size else ends[1])


def range_of(row: Sequence[Block], axis: int, start: Any, length: Any) -> list[Block] | None:
    """The blocks inside a range; None where it is not known which they are."""
    stop = total_size((start, length))
    known = [start, length, total_size((*(b.size for b in row), stop), (*[1] * len(row), -1)), *(b.size for b in row)]
    found: list[Block] = []
    first: Any = 0
    for size, value in row:
        last = total_size((first, size))
        if not (reaches(stop, first, known) or reaches(last, start, known)):
            cut = [0 if reaches(*ends, known) else total_size(ends, (1, -1)) for ends in ((start, first), (last, stop))]
            left = total_size((size, *cut), (1, -1, -1))
            counted = isinstance(cut[0], int) and (isinstance(cut[1], int) or isinstance(left, int))
            if not counted or not reaches(0, left, known):
                return None
            found.append(Block(left, None if value is None else _shortened(value, axis, cut[0], cut[1], left)))
        first = last
    return found


def reaches(a: Any, b: Any, known: Sequence[Any]) -> bool:
    """Whether a ≤ b, where some sizes are known not to be negative; a letter stands for at least two places."""
    if isinstance(a, int) and isinstance(b, int):
        return a <= b
    gap = total_size((b, a), (1, -1))
    if isinstance(gap, int):
        return gap >= 0
    least = [(size, 0) for size in known if isinstance(size, str)] + [(letter, 2) for letter in letters_of(gap)]
    more = ((total_size((gap, size), (1, -1)), n) for size, n in least)
    return any(isinstance(rest, int) and rest + n >= 0 for rest, n in more)


def _shortened(value: Term, axis: int, before: int, after: Any, left: Any) -> Term:
    """An array without so many places at both ends of an axis."""
    if before == after == 0:
        return value
    part = slice(before or None, before + left if isinstance(after, str) else -after or None)
    return lookup("getitem")(value, index=along(axis, part))  # type: ignore[no-any-return]


def along(axis: int, part: Any) -> Index:
    """The index that takes a part of one axis."""
    return Index((*[slice(None)] * axis, part))


def part_of_part(base: Term, axis: int, part: Any) -> Term | None:
    """A range or place of an axis of what is a part of an array already, as one part of that; None for others.

    None, too, where the size of the one part is not known to be that of the other.
    """
    inner = index_of_axes(base.params["index"], base.args[0].ndim) if len(base.args) == 1 else None
    if inner is None or not all(isinstance(p, (int, slice)) for p in inner):
        return None
    at = [k for k, p in enumerate(inner) if isinstance(p, slice)][axis]
    found = within(inner[at], part)
    if found is None:
        return None
    made: Term = lookup("getitem")(base.args[0], index=Index((*inner[:at], found, *inner[at + 1 :])))
    return made if made.shape == lookup("getitem")(base, index=along(axis, part)).shape else None


def within(outer: slice, part: Any) -> Any:
    """What a part of a range is in the array itself; None where one of them takes steps or ends in between."""
    if outer.step not in (None, 1) or (isinstance(part, slice) and part.step not in (None, 1)):
        return None
    start, stop = outer.start or 0, 0 if outer.stop is None else outer.stop

    def at(k: int) -> int | None:
        from_start = k >= 0
        place = start + k if from_start else stop + k
        fits = (place < 0) == (start < 0) if from_start else place >= 0 or stop <= 0
        return place if fits else None

    if isinstance(part, int):
        return at(part)
    ends = [outer.start if part.start is None else at(part.start), outer.stop if part.stop is None else at(part.stop)]
    lost = any(old is not None and new is None for old, new in zip((part.start, part.stop), ends, strict=True))
    return None if lost else slice(*ends)

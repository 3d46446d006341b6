"""Rearranging without arithmetic: roll, rot90, tile, meshgrid, stacking and splitting by name.

All but ``roll`` are plain functions of the ops in ``shaping`` and ``indexing``.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from numbers import Integral
from typing import Any, overload

import numpy as np

from symgrad.dtypes import get_default_dtype
from symgrad.errors import ArgumentError, DtypeError, ShapeError
from symgrad.notices import notice_once
from symgrad.op import (
    Op,
    broadcast_shapes,
    fixed,
    fixed_length,
    front,
    known_as,
    length_of,
    lookup,
    of_this_length,
    primitive,
    refusal,
    sampling,
    shape_of,
)  # fmt: skip
from symgrad.ops.calls.naming import inplace
from symgrad.ops.calls.still import decided_by
from symgrad.ops.indexing.getitem import getitem, index_select
from symgrad.ops.linalg.matrices import diag_embed
from symgrad.ops.reductions.sums import sum_op
from symgrad.ops.shapes.joining import cat, chunk, embed_op, narrow, narrow_op, split, stack
from symgrad.ops.shapes.shaping import (
    axis_of,
    expand,
    expand_op,
    flip,
    repeat,
    reshape,
    size_args,
    spread,
    transpose,
    unsqueeze,
)

inplace("squeeze", "unsqueeze", "t", "transpose", "swapaxes", "swapdims")

# ------------------------------------------------------------------------------------------ turning


@front("swapaxes", op=lookup("permute"))
def _swapaxes(input: Any, axis0: int, axis1: int) -> Any:
    """Two axes exchanged, as :func:`transpose` does."""
    return transpose(input, axis0, axis1)


roll_op: Op = primitive(
    "roll",
    lambda x, shifts, dims: np.roll(x, shifts, dims),
    (lambda g, out, like, *, shifts, dims: roll_op(g, shifts=tuple(-s for s in shifts), dims=dims),),
    linear=True,
    code=lambda x, shifts, dims: f"np.roll({x}, {shifts}, {dims})",
    digits="kernel",
    example=("vector", {"shifts": (1,), "dims": (0,)}),
    samples=[
        sampling.one("real", "n", "m", shifts=(1, -2), dims=(0, 1)),
        sampling.one("real", "n", shifts=(2,), dims=(0,)),
    ],
    doc="Entries moved along axes; what leaves at one end enters at the other.",
)


@front("roll", op=roll_op)
def roll(input: Any, shifts: Any, dims: Any = None) -> Any:
    """Entries moved by ``shifts`` along ``dims`` (in the flattened tensor without ``dims``), around the ends."""
    moves, wanted = _numbers(shifts), () if dims is None else _numbers(dims)
    if not moves:
        raise ArgumentError("`shifts` required")
    if not wanted:
        if len(moves) != 1:
            raise ArgumentError(f"shifts and dimensions must align. shifts: {len(moves)}, dims:0")
        return reshape(_moved(reshape(input, -1), moves, (0,)), shape_of(input))
    ndim = len(shape_of(input))
    if len(wanted) != len(moves):
        raise ArgumentError(f"shifts and dimensions must align. shifts: {len(moves)}, dims:{len(wanted)}")
    if not ndim:
        raise IndexError(f"Dimension specified as {wanted[0]} but tensor has no dimensions")
    return _moved(input, moves, tuple(axis_of(d, ndim) for d in wanted))


def _numbers(given: Any) -> tuple[Any, ...]:
    """One number, of Python or NumPy, or several."""
    if isinstance(given, Integral):
        return (given if isinstance(given, int) else int(given),)
    return tuple(given)


def _moved(x: Any, shifts: tuple[Any, ...], dims: tuple[int, ...]) -> Any:
    """Entries moved along axes; by numbers made of sizes, of which formulas have letters, as two parts of the axis."""
    rest = []
    for shift, axis in zip(shifts, dims, strict=True):
        cut = _turning_point(x, axis, shift)
        if cut is None:
            rest.append((shift, axis))
        else:
            parts = ((cut, length_of(x, axis) - cut), (0, cut))
            x = cat([narrow_op(x, dim=axis, start=start, length=length) for start, length in parts], axis)
    return roll_op(x, shifts=tuple(s for s, _ in rest), dims=tuple(a for _, a in rest)) if rest else x


def _turning_point(x: Any, axis: int, shift: Any) -> Any:
    """The entry that comes first where an axis is moved by ``n // 2``; None for plain numbers, and without history."""
    size = length_of(x, axis)
    if not (hasattr(shift, "is_behind") and getattr(x, "requires_grad", False) and -size <= shift <= size):
        return None
    back = shift.is_behind()
    cut = shift * -1 if back else size - shift
    left = size - cut if back else cut
    return None if not hasattr(left, "is_behind") or left.is_behind() else cut


@front("rot90")
def rot90(input: Any, k: int = 1, dims: Sequence[int] = (0, 1)) -> Any:
    """The plane of two axes turned by ``k`` right angles, from the first towards the second."""
    ndim = len(shape_of(input))
    if len(dims) != 2:
        raise ArgumentError(f"expected total rotation dims == 2, but got dims = {len(dims)}")
    if ndim < 2:
        raise ShapeError(f"expected total dims >= 2, but got total dims = {ndim}")
    a, b = (axis_of(d, ndim) for d in dims)
    if a == b:
        raise ArgumentError(f"expected rotation dims to be different, but got dim0 = {dims[0]} and dim1 = {dims[1]}")
    turned = fixed(k) % 4
    if turned == 2:
        return flip(input, a, b)
    if turned == 1:
        return flip(transpose(input, a, b), a)
    return flip(transpose(input, a, b), b) if turned else flip(input)


@front("fliplr")
def fliplr(input: Any) -> Any:
    """The second axis in reverse order."""
    if len(shape_of(input)) < 2:
        raise ShapeError(f"Input must be >= 2-d, got shape {tuple(shape_of(input))}.")
    return flip(input, 1)


@front("flipud")
def flipud(input: Any) -> Any:
    """The first axis in reverse order."""
    if not shape_of(input):
        raise ShapeError("Input must be >= 1-d, got a tensor without axes.")
    return flip(input, 0)


@front("tile")
def tile(input: Any, *dims: Any) -> Any:
    """NumPy's tile: like ``repeat``, with missing counts taken as 1."""
    counts = size_args(dims)
    return repeat(input, *(1,) * (len(shape_of(input)) - len(counts)), *counts)


def _places_repeated(repeats: Any) -> Any:
    """The places 0, 1, …, each as often as a vector of counts says."""
    counts = decided_by(repeats)
    if counts.ndim != 1:
        raise ArgumentError("repeat_interleave only accept 1D vector as repeat")
    if counts.dtype.kind not in "iu":
        raise refusal("repeat_interleave", "", counts.dtype)
    if counts.size and counts.min() < 0:
        raise ArgumentError(f"repeats can not be negative, got {counts.min()}")
    found = np.repeat(np.arange(len(counts), dtype=counts.dtype), counts)
    return repeats.new_tensor(found) if hasattr(repeats, "new_tensor") else found


@front("repeat_interleave")
def repeat_interleave(
    input: Any, repeats: Any = None, dim: int | None = None, *, output_size: int | None = None
) -> Any:
    """Every entry of the axis ``dim`` ``repeats`` times in a row; ``repeats`` may differ from entry to entry.

    Of one vector of ``repeats`` alone: the places 0, 1, …, each as often as it says.
    """
    if repeats is None:
        return _places_repeated(input)
    if dim is None:
        input, dim = reshape(input, -1), 0
    axis = axis_of(dim, len(shape_of(input)))
    if not shape_of(input):
        input = reshape(input, 1)
    sizes = shape_of(input)
    if isinstance(repeats, int) and repeats >= 0 and output_size in (None, sizes[axis] * repeats):
        rows = (*sizes[: axis + 1], repeats, *sizes[axis + 1 :])
        merged = (*sizes[:axis], sizes[axis] * repeats, *sizes[axis + 1 :])
        return reshape(lookup("clone")(expand_op(unsqueeze(input, axis + 1), shape=rows)), *merged)
    counts = decided_by(repeats)
    if counts.ndim > 1:
        raise ArgumentError(f"repeats must be 0-dim or 1-dim tensor, not one of the shape {counts.shape}")
    if counts.dtype.kind not in "iu":
        raise refusal("repeat_interleave", "", counts.dtype)
    if counts.size and counts.min() < 0:
        raise ArgumentError(f"Repeats must be non-negative, got {counts.min()}")
    if counts.ndim == 1 and len(counts) not in (1, sizes[axis]):
        raise ShapeError(
            f"repeats must have the same size as input along dim, but got repeats.size(0) = {len(counts)} and "
            f"input.size({axis}) = {sizes[axis]}"
        )
    if counts.ndim == 1 and len(counts) == 1:
        counts = counts[0]
    index = np.repeat(np.arange(shape_of(input)[axis]), counts)
    if output_size is not None and output_size != len(index):
        raise ShapeError(f"repeat_interleave: output_size is {output_size}, but the repeats give {len(index)} entries.")
    return index_select(input, axis, index)


# ------------------------------------------------------------------------------------------ joining


def _atleast(x: Any, rank: int) -> Any:
    ndim = len(shape_of(x))
    if ndim >= rank:
        return x
    if rank == 1:
        return reshape(x, 1)
    if not ndim:
        return reshape(x, *(1,) * rank)
    if ndim == 1:
        x = unsqueeze(x, 0)
    return unsqueeze(x, 2) if rank == 3 else x


def _atleast_front(rank: int) -> Any:
    @overload
    def call(tensor: Any, /) -> Any: ...
    @overload
    def call(*tensors: Any) -> tuple[Any, ...]: ...
    def call(*tensors: Any) -> Any:
        if len(tensors) == 1 and not isinstance(tensors[0], (tuple, list)):
            return _atleast(tensors[0], rank)
        many = tensors[0] if len(tensors) == 1 else tensors
        return tuple(_atleast(x, rank) for x in many)

    call.__name__ = f"atleast_{rank}d"
    call.__doc__ = f"Tensors with fewer than {rank} axes get axes of size 1 (one tensor, or a tuple of them)."
    return front(call.__name__, method=False)(call)


atleast_1d, atleast_2d, atleast_3d = map(_atleast_front, (1, 2, 3))


def _some(name: str, tensors: Sequence[Any]) -> Sequence[Any]:
    if not tensors:
        raise ArgumentError(f"{name} expects a non-empty TensorList")
    return tensors


@front("hstack", method=False)
def hstack(tensors: Sequence[Any]) -> Any:
    """Joined along the second axis (vectors along their only one)."""
    xs = [_atleast(x, 1) for x in _some("hstack", tensors)]
    return cat(xs, 0 if len(shape_of(xs[0])) == 1 else 1)


@front("vstack", "row_stack", method=False)
def vstack(tensors: Sequence[Any]) -> Any:
    """Joined along the first axis; vectors are rows."""
    return cat([_atleast(x, 2) for x in _some("vstack", tensors)], 0)


@front("dstack", method=False)
def dstack(tensors: Sequence[Any]) -> Any:
    """Joined along the third axis."""
    return cat([_atleast(x, 3) for x in _some("dstack", tensors)], 2)


@front("column_stack", method=False)
def column_stack(tensors: Sequence[Any]) -> Any:
    """Vectors as the columns of a matrix; matrices side by side."""
    return cat([reshape(x, -1, 1) if len(shape_of(x)) <= 1 else x for x in tensors], 1)


@front("block_diag", method=False)
def block_diag(*tensors: Any) -> Any:
    """Matrices along the diagonal of a larger one, zeros elsewhere."""
    if not tensors:
        return np.zeros((1, 0), get_default_dtype())
    for k, x in enumerate(tensors):
        if len(shape_of(x)) > 2:
            raise ShapeError(
                f"torch.block_diag: Input tensors must have 2 or fewer dimensions. Input {k} has {len(shape_of(x))} "
                "dimensions"
            )
    blocks = [_atleast(x, 2) for x in tensors]
    sizes = [(length_of(b, 0), length_of(b, 1)) for b in blocks]
    rows, columns = map(sum, zip(*sizes, strict=True))
    total, top, left = None, 0, 0
    for block, (height, width) in zip(blocks, sizes, strict=True):
        placed = embed_op(embed_op(block, dim=0, start=top, size=rows), dim=1, start=left, size=columns)
        total = placed if total is None else total + placed
        top, left = top + height, left + width
    return total


@front("meshgrid", method=False)
def meshgrid(*tensors: Any, indexing: str | None = None) -> tuple[Any, ...]:
    """Coordinate arrays of the grid spanned by vectors; "xy" exchanges the first two axes, "ij" (the default) none."""
    if indexing is None:
        notice_once("torch.meshgrid: in an upcoming release, it will be required to pass the indexing argument.")
        indexing = "ij"
    given = tensors[0] if tensors and isinstance(tensors[0], (tuple, list)) else tensors
    if not given:
        raise ArgumentError("meshgrid expects a non-empty TensorList")
    if len({x.dtype for x in given if hasattr(x, "dtype")}) > 1:
        raise DtypeError("meshgrid expects all tensors to have the same dtype")
    for x in given:
        if len(shape_of(x)) > 1:
            raise ShapeError(
                f"torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: shape {tuple(shape_of(x))}"
            )
    xs = [reshape(x, -1) for x in given]
    if indexing not in ("ij", "xy"):
        raise ArgumentError(f"meshgrid: indexing must be one of 'xy' or 'ij', not {indexing!r}.")
    swapped = indexing == "xy" and len(xs) > 1
    if swapped:
        xs[0], xs[1] = xs[1], xs[0]
    shape = tuple(shape_of(x)[0] for x in xs)
    grids = [expand(reshape(x, *(1,) * k, -1, *(1,) * (len(xs) - 1 - k)), shape) for k, x in enumerate(xs)]
    if swapped:
        grids[0], grids[1] = grids[1], grids[0]
    return tuple(grids)


def _vector(x: Any) -> None:
    if len(shape_of(x)) != 1:
        raise ShapeError(f"Expect a 1D vector, but got shape {list(shape_of(x))}")


@front("cartesian_prod", method=False)
def cartesian_prod(*tensors: Any) -> Any:
    """All tuples with one entry from every vector, as rows."""
    for x in tensors:
        _vector(x)
    if len(tensors) == 1:
        return tensors[0]
    return stack([reshape(x, -1) for x in meshgrid(*tensors, indexing="ij")], 1)


@front("combinations")
def combinations(input: Any, r: int = 2, with_replacement: bool = False) -> Any:
    """All choices of ``r`` entries of a vector, as rows."""
    _vector(input)
    if r < 0:
        raise ArgumentError(f"Expect a non-negative number, but got {r}")
    n, r = fixed_length(input, 0), fixed(r)
    if not r:
        return getitem(input, np.zeros(0, np.int64))
    return getitem(input, _choices(n, r, 0 if with_replacement else 1))


def _choices(n: int, r: int, least: int) -> Any:
    """All rows of ``r`` of the first ``n`` whole numbers, in order, each at least ``least`` above the one before."""
    rows = np.arange(n)[:, None]
    for _ in range(r - 1):
        first = rows[:, -1] + least
        count = n - first
        ends = np.cumsum(count)
        added = np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - count - first, count)
        rows = np.column_stack([np.repeat(rows, count, 0), added])
    return rows


@front("broadcast_tensors", method=False)
def broadcast_tensors(*tensors: Any) -> tuple[Any, ...]:
    """All tensors at their common shape."""
    xs = tensors[0] if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)) else tensors
    shape = broadcast_shapes(*(tuple(shape_of(x)) for x in xs))
    return tuple(spread(x, shape) for x in xs)


# ------------------------------------------------------------------------------------------ splitting


@front("split_with_sizes", "unsafe_split_with_sizes")
def split_with_sizes(input: Any, split_sizes: Sequence[int], dim: int = 0) -> tuple[Any, ...]:
    """Ranges of an axis of the sizes listed."""
    return split(input, split_sizes if hasattr(split_sizes, "tolist") else list(split_sizes), dim)


_FEW = 4
"""Parts of nearly equal size of which each is made of the size of the whole."""

_CUTS = ("indices", "sections", "tensor_indices_or_sections")
"""torch's names for where ``tensor_split`` cuts."""


@front("tensor_split")
def tensor_split(input: Any, indices_or_sections: Any = None, dim: int = 0, **named: Any) -> tuple[Any, ...]:
    """Ranges of an axis: that many of nearly equal size, or cut at the indices given."""
    if set(named) - set(_CUTS):
        raise TypeError(f"tensor_split() got an unexpected keyword argument {min(set(named) - set(_CUTS))!r}")
    cuts = next((named[word] for word in _CUTS if word in named), indices_or_sections)
    if not len(shape_of(input)):
        raise ShapeError("tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims")
    axis = axis_of(dim, len(shape_of(input)))
    total = shape_of(input)[axis]
    if not isinstance(cuts, (int, tuple, list)):
        cuts = decided_by(cuts).tolist()
    length = length_of(input, axis)
    if not isinstance(cuts, int):
        ends = [0, *(_from_start(end, length) for end in cuts), length]
        return tuple(_part_between(input, axis, a, b) for a, b in itertools.pairwise(ends))
    if cuts < 1:
        raise ArgumentError(f"number of sections must be larger than 0, got {cuts}")
    if hasattr(length, "fixed") and not hasattr(cuts, "fixed") and cuts <= _FEW:
        sizes = [(length + (cuts - 1 - k)) // cuts for k in range(cuts)]
    else:
        small, larger = divmod(total, fixed(cuts))
        sizes = of_this_length(input, axis, [small + (k < larger) for k in range(cuts)])
    starts = itertools.accumulate(sizes[:-1], initial=0)
    return tuple(narrow_op(input, dim=axis, start=a, length=n) for a, n in zip(starts, sizes, strict=True))


def _from_start(end: Any, length: Any) -> Any:
    """A place on an axis of this length, which below 0 is counted from its end."""
    behind = end.is_behind() if hasattr(end, "is_behind") else end < 0
    return length + end if behind else end


def _part_between(x: Any, axis: int, start: Any, stop: Any) -> Any:
    """The range between two places, of which those beyond an axis are its ends; there is none where they are turned."""
    total = shape_of(x)[axis]
    if 0 <= start <= stop <= total:
        return narrow(x, axis, start, stop - start)
    part = range(total)[max(start, 0) : max(stop, 0)]
    (count,) = of_this_length(x, axis, [len(part)])
    return narrow(x, axis, part.start if part else 0, count)


def _axis_split(name: str, axis: int, least: int) -> Any:
    def call(input: Any, indices_or_sections: Any) -> tuple[Any, ...]:
        ndim = len(shape_of(input))
        if ndim < least:
            raise ShapeError(
                f"torch.{name} requires a tensor with at least {least} dimension, but got a tensor with {ndim} "
                "dimensions!"
            )
        along = 0 if axis == 1 and ndim == 1 else axis
        size = shape_of(input)[along]
        if isinstance(indices_or_sections, int) and (not indices_or_sections or size % indices_or_sections):
            raise ArgumentError(
                f"torch.{name} attempted to split along dimension {along}, but the size of the dimension {size} is not "
                f"divisible by the split_size {indices_or_sections}!"
            )
        return tensor_split(input, indices_or_sections, along)

    known_as(call, name, f"``tensor_split`` along axis {axis}{' (0 for vectors)' if axis == 1 else ''}.")
    return front(name, words={"indices": "indices_or_sections", "sections": "indices_or_sections"})(call)


vsplit, hsplit, dsplit = _axis_split("vsplit", 0, 2), _axis_split("hsplit", 1, 1), _axis_split("dsplit", 2, 3)
front("unsafe_split", words={"tensor": "input", "split_size": "split_size_or_sections"})(split)
front("unsafe_chunk")(chunk)


@front("unflatten")
def unflatten(input: Any, dim: int, sizes: Sequence[int]) -> Any:
    """One axis split into several; one of the sizes may be -1."""
    shape = shape_of(input)
    axis = axis_of(dim, len(shape))
    new = list(sizes)
    if -1 in new:
        rest = math.prod(s for s in new if s != -1)
        new[new.index(-1)] = shape[axis] // rest if rest else 0
    if math.prod(new) != shape[axis]:
        raise ShapeError(
            f"unflatten: Provided sizes {list(sizes)} don't multiply up to the size of dim {dim} ({shape[axis]}) in "
            "the input tensor"
        )
    return reshape(input, *shape[:axis], *new, *shape[axis + 1 :])


# ------------------------------------------------------------------------------------------ shapes and diagonals


@front("sum_to_size", function=False)
def sum_to_size(input: Any, *size: Any) -> Any:
    """Summed over the axes along which ``size`` would broadcast to the input's shape."""
    want, have = size_args(size), shape_of(input)
    lead = len(have) - len(want)
    if lead < 0 or any(a not in (1, b) for a, b in zip(want, have[lead:], strict=True)):
        raise ShapeError(f"size {{{list(want)}}} is not expandable to size {{{list(have)}}}.")
    axes = (*range(lead), *(lead + k for k, (a, b) in enumerate(zip(want, have[lead:], strict=True)) if a == 1 != b))
    if not axes and want:
        return input
    summed = sum_op(input, dim=axes, keepdim=bool(want))
    return reshape(summed, *want) if lead and want else summed


@front("diagflat")
def diagflat(input: Any, offset: int = 0) -> Any:
    """All entries on the ``offset``-th diagonal of a square matrix."""
    return diag_embed(reshape(input, -1), offset)

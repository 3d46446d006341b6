"""getitem and its transpose, and what takes and writes parts by an index."""

from __future__ import annotations

import contextlib
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from symgrad import kernels
from symgrad.errors import ShapeError
from symgrad.notices import notice
from symgrad.op import Op, broadcast_shapes, carrier_of, front, primitive, shape_of
from symgrad.ops.calls.still import decided_by
from symgrad.ops.elementwise.arithmetic import closed
from symgrad.ops.indexing.places import INTO, check_integers, check_mask, check_places
from symgrad.ops.shapes.shaping import axis_of, reshape, shape_text, spread, zeros_like
from symgrad.ops.shapes.sizes import total_size


class Hole:
    """Stands in an index for an array of places that is an operand of the op."""

    __slots__ = ()

    def __reduce__(self) -> str:
        return "HOLE"

    def __repr__(self) -> str:
        return "HOLE"


HOLE = Hole()


class Index:
    """A basic or fancy index as hashable static data: slices, ints, None, Ellipsis, and integer or boolean arrays.

    Arrays of places that are no constants (tensors, symbols) are operands: :meth:`parted` leaves holes for them, which
    the other methods fill in their order.  ``steps`` says of an array of places that it is ``(sizes, strides, offset)``
    of memory, which the result then shows.

    The arrays at the positions ``data`` are no part of the program but given to it, so that formulas call them by a
    name; of a mask ``origin`` says what it came from.
    """

    __slots__ = ("_key", "data", "fancy", "holes", "origin", "parts", "shown", "steps", "value")

    def __init__(self, value: Any, steps: Any = None, data: tuple[int, ...] = ()):
        self.value = value
        self.steps = steps
        self.parts: tuple[Any, ...] = value if value.__class__ is tuple else (value,)
        """What stands between the commas."""
        self._key: Any = None
        self.data = data
        self.origin: Any = None
        self.shown: dict[str, Any] | None = None
        """The constants that stand for the arrays in formulas, once one was read."""
        self.holes = 0
        self.fancy = False
        """Whether arrays pick entries, so that the result is no view."""
        for part in self.parts:
            if part is HOLE:
                self.holes += 1
                self.fancy = True
            elif part.__class__ is np.ndarray:
                self.fancy = True

    @property
    def key(self) -> Any:
        """What indices are told apart by; the entries of arrays are looked at when somebody asks."""
        if self._key is None:
            self._key = _freeze(self.value)
        return self._key

    def parted(self) -> tuple[Index, tuple[Any, ...]]:
        """The index with holes, and the operands that were there; masks, whose count is no shape, hold all as data."""
        places = tuple([part for part in self.parts if _flows(part)])
        if not places:
            return self, ()
        if any(part.__class__ is np.ndarray and part.dtype.kind == "b" for part in self.parts):
            return self._with([np.asarray(part) if _flows(part) else part for part in self.parts]), ()
        return self._with([HOLE if _flows(part) else part for part in self.parts]), places

    def filled(self, places: Sequence[Any]) -> Any:
        """What NumPy takes between brackets, with arrays in the holes."""
        if not self.holes:
            return self.value
        row = iter(places)
        parts = tuple(next(row) if part is HOLE else part for part in self.parts)
        return parts if isinstance(self.value, tuple) else parts[0]

    def text(self, places: Sequence[str] = ()) -> str:
        """Source text of the index, as it stands between brackets."""
        row = iter(places)
        return ", ".join(next(row, "HOLE") if part is HOLE else _part_text(part) for part in self.parts) or "()"

    def _with(self, parts: Sequence[Any]) -> Index:
        return Index(parts[0] if len(parts) == 1 else tuple(parts), data=self.data)

    def __hash__(self) -> int:
        return hash(self.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Index) and self.key == other.key

    def __reduce__(self) -> tuple[Any, ...]:
        return (Index, (self.value, self.steps, self.data))

    def __repr__(self) -> str:
        return self.text()


def _flows(part: Any) -> bool:
    """Whether a part of an index is a tensor, a symbol or the like: an operand, and no constant."""
    kind = part.__class__
    return kind is not slice and kind is not np.ndarray and part is not HOLE and carrier_of(kind) is not None


def beside_index(texts: Sequence[str], params: dict[str, Any]) -> tuple[list[str], list[str]]:
    """The texts of an op's operands: of those that stand for themselves, and of those inside its index."""
    index = params.get("index")
    own = len(texts) - (index.holes if isinstance(index, Index) else 0)
    return list(texts[:own]), list(texts[own:])


def _freeze(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(_freeze, value))
    if isinstance(value, slice):
        return ("slice", value.start, value.stop, value.step)
    if isinstance(value, np.ndarray):
        return ("array", value.dtype.str, value.shape, value.tobytes())
    if isinstance(value, list):
        return ("list", tuple(map(_freeze, value)))
    return ("item", type(value).__name__, value)


def _part_text(part: Any) -> str:
    if isinstance(part, slice):
        ends = [("" if v is None else str(v)) for v in (part.start, part.stop)]
        return ":".join(ends) + (f":{part.step}" if part.step is not None else "")
    if part is Ellipsis:
        return "..."
    if isinstance(part, np.ndarray):
        return f"np.array({part.tolist()}, dtype={part.dtype.name!r})"
    return str(part)


class _Picks(tuple[Any, ...]):
    """The shape of an array of places, which stands for it where only shapes are known."""


def indexed_shape(shape: tuple[Any, ...], *places: tuple[Any, ...], index: Index) -> tuple[Any, ...]:
    """Shape of ``x[index]``; axes taken whole keep their size letter."""
    row = iter(places)
    parts = [_Picks(next(row)) if part is HOLE else part for part in index.parts]
    full: list[Any] = []
    whole = [slice(None)] * (len(shape) - sum(map(axes_used, parts)))
    for p in parts:
        full.extend(whole if p is Ellipsis else [p])
    if not any(p is Ellipsis for p in parts):
        full.extend(whole)
    if all(p is None or isinstance(p, (int, slice)) for p in full):
        return tuple(s for s in _kept_sizes(shape, full) if s != "taken")
    return _advanced_shape(shape, full)


def axes_used(part: Any) -> int:
    """How many axes of an array a part of an index takes."""
    if part is None or part is Ellipsis:
        return 0
    return part.ndim if isinstance(part, np.ndarray) and part.dtype.kind == "b" else 1


def _kept_sizes(shape: tuple[Any, ...], full: list[Any]) -> list[Any]:
    """The size that each part of a complete index leaves; "taken" where it leaves none of its own."""
    out: list[Any] = []
    axis = 0
    for p in full:
        if p is None:
            out.append(1)
            continue
        out.append(_cut(shape[axis], p) if isinstance(p, slice) else "taken")
        axis += axes_used(p)
    return out


def _advanced_shape(shape: tuple[Any, ...], full: list[Any]) -> tuple[Any, ...]:
    """NumPy's rule: the arrays' common shape stands where they stand, or in front where they stand apart."""
    kept = _kept_sizes(shape, full)
    arrays = [k for k, p in enumerate(full) if p is not None and not isinstance(p, slice)]
    picked = _common_shape([_picked_shape(full[k]) for k in arrays])
    together = arrays[-1] - arrays[0] == len(arrays) - 1
    front = arrays[0] if together else 0
    before, after = ([kept[k] for k in part if k not in arrays] for part in (range(front), range(front, len(full))))
    return (*before, *picked, *after)


def axes_in_front(index: Index, *places: tuple[Any, ...]) -> int:
    """How many axes stand in front of the result because the arrays of an index stand apart."""
    row = iter(places)
    parts = [_Picks(next(row)) if part is HOLE else part for part in index.parts]
    arrays = [k for k, p in enumerate(parts) if p is not None and p is not Ellipsis and not isinstance(p, slice)]
    if not index.fancy or arrays[-1] - arrays[0] == len(arrays) - 1:
        return 0
    return len(_common_shape([_picked_shape(parts[k]) for k in arrays]))


def _picked_shape(part: Any) -> tuple[Any, ...]:
    if isinstance(part, _Picks):
        return tuple(part)
    mask = isinstance(part, np.ndarray) and part.dtype.kind == "b"
    return (int(np.count_nonzero(part)),) if mask else np.shape(part)


def _common_shape(shapes: list[tuple[Any, ...]]) -> tuple[Any, ...]:
    """The shapes of arrays of places broadcast; a letter beside a number stands for that number."""
    rank = max(map(len, shapes))
    columns = zip(*((1,) * (rank - len(shape)) + shape for shape in shapes), strict=True)
    numbers = [next((size for size in column if isinstance(size, int) and size != 1), None) for column in columns]
    known = [
        tuple(
            n if n is not None and isinstance(size, str) else size
            for size, n in zip(shape, numbers[-len(shape) :], strict=True)
        )
        if shape
        else shape
        for shape in shapes
    ]
    return broadcast_shapes(*known)


def _cut(size: Any, part: slice) -> Any:
    """Length of a slice of an axis: a number where the ends say so, else an expression in its letter."""
    if part.start in (None, 0) and part.stop is None and part.step in (None, 1, -1):
        return size
    if isinstance(size, int):
        return len(range(*part.indices(size)))
    start, stop, step = part.start or 0, part.stop, part.step or 1
    if stop is not None and (start < 0) == (stop < 0):
        return len(range(start, stop, step))
    if step == 1 and stop is None:
        return total_size([size, start], (1, -1)) if start >= 0 else -start
    if step == 1 and start >= 0 and stop is not None:
        return total_size([size, start, stop], (1, -1, 1))
    if start >= 0 and stop is None and step > 0:
        return f"len(range({total_size([size, start], (1, -1))})[::{step}])"
    return f"len(range({size})[{_part_text(part)}])"


def _indexed_view(x: Any, *places: Any, index: Index) -> Any:
    """``x[index]``, where a basic index gives a view even of one entry."""
    parts = index.parts
    if index.steps is not None and x.flags.c_contiguous:
        sizes, strides, offset = index.steps
        offset = offset if 0 not in sizes else min(max(offset, 0), x.size)
        return np.ndarray(sizes, x.dtype, x, offset * x.itemsize, tuple(step * x.itemsize for step in strides))
    if index.fancy:
        found = np.asarray(_taken(x, index.filled(places)))
        # NumPy may leave any stride to an axis of one entry, even of a result of its own.
        return found if found.flags.c_contiguous and 1 not in found.shape else found.copy(order="C")
    found = x[index.value] if Ellipsis in parts else x[(*parts, ...)]
    if None not in parts:
        return found
    cut = any(not (p is None or p is Ellipsis or p == _ALL) for p in parts[parts.index(None) :])
    return _with_steps_of_new_axes(found, x, parts) if cut and found.size else found


_ALL = slice(None)


def _with_steps_of_new_axes(found: Any, x: Any, parts: Sequence[Any]) -> Any:
    """A view that new axes step through by as much as the axis behind them is long, before that is cut, as in torch."""
    steps, axis, place = list(found.strides), 0, 0
    skipped = x.ndim - sum(p is not None and p is not Ellipsis for p in parts)
    for p in parts:
        if p is None:
            steps[place] = x.shape[axis] * x.strides[axis] if axis < x.ndim else x.itemsize
        axis += skipped if p is Ellipsis else p is not None
        place += skipped if p is Ellipsis else not isinstance(p, int)
    return np.lib.stride_tricks.as_strided(found, strides=steps)


def _taken(x: Any, parts: Any) -> Any:
    """``x[parts]``; where that is empty nobody looks whether its places are inside, as in torch."""
    try:
        return x[parts]
    except IndexError:
        row = parts if isinstance(parts, tuple) else (parts,)
        first = tuple(np.zeros_like(p) if isinstance(p, np.ndarray) and p.dtype.kind == "i" else p for p in row)
        with contextlib.suppress(IndexError):
            found = x[first]
            if not found.size:
                return found
        raise


getitem_op: Op = primitive(
    "getitem",
    lambda x, *places, index: _taken(x, index.filled(places)),
    (lambda g, out, like, *places, index: put_op(g, *places, index=index, shape=shape_of(like)),),
    linear=True,
    infer=indexed_shape,
    result=lambda x, *places, index: x,
    node=lambda shape, *places, index: _index_node(shape, index),
    code=lambda x, *places, index: f"{closed(x)}[{index.text(places)}]",
    view=_indexed_view,
    put_back=lambda whole, part, index: index_put_op(whole, part, index=index),
    keeps=lambda index: index.fancy and index.steps is None,  # sizes and strides are no tensors
    digits="kernel",
    numbers="within",
    example=("vector", {"index": Index(slice(1, None))}),
    doc="x[index]: basic, fancy and boolean indexing; arrays of places that are no constants are operands.",
)


def _place_text(part: tuple[Any, ...], index: Index, shape: tuple[Any, ...]) -> str | None:
    """A basic index as text, where the part has no axes in front of those that the index leaves."""
    if index.fancy or len(part) > len(indexed_shape(tuple(shape), index=index)):
        return None
    return index.text()


def _put_shape(part: tuple[Any, ...], *places: tuple[Any, ...], index: Index, shape: Any) -> tuple[Any, ...]:
    """The shape of the whole.  Raises ``ShapeError`` where a part of one row goes to n - 1, which are one by chance."""
    if any(isinstance(n, str) for n in (*part, *shape)):
        room = indexed_shape(tuple(shape), *places, index=index)
        if len(room) == len(part) and any(n == 1 != m or m == 1 != n for n, m in zip(part, room, strict=True)):
            raise ShapeError(f"a part of shape {part} is no part of shape {room} at other sizes")
    return tuple(shape)


put_op: Op = primitive(
    "put",
    lambda g, *places, index, shape: kernels.put(g, index.filled(places), shape),
    (lambda g, out, like, *places, index, shape: getitem_op(g, *places, index=index),),
    linear=True,
    infer=_put_shape,
    result=lambda g, *places, index, shape: g,
    size_params=("shape",),
    node=lambda *_, index, shape: _put_node(shape, index),
    place=lambda g, *places, index, shape: _place_text(g, index, shape),
    code=lambda g, *places, index, shape: f"put({g}, np.s_[{index.text(places)}], {shape_text(shape)})",
    digits="kernel",
    example=([1.0], {"index": Index(slice(1, None)), "shape": (2,)}),
    doc="Zeros with values added at an index: the transpose of getitem.",
)


def index_steps(shape: tuple[Any, ...], index: Index) -> list[str]:
    """The views that torch takes one after the other for an index, by name; whole slices are none but alone."""
    parts = index.parts
    rank = sum(map(axes_used, parts))
    if isinstance(index.value, slice):
        return ["Slice"]
    steps, axis, arrays = [], 0, False
    for p in parts:
        if p is Ellipsis:
            axis += len(shape) - rank
            continue
        if isinstance(p, slice):
            steps += [] if is_whole(p, shape[axis]) else ["Slice"]
        elif p is None or isinstance(p, int):
            steps.append("Unsqueeze" if p is None else "Select")
        else:
            arrays = True
            if not np.ndim(p) and getattr(getattr(p, "dtype", None), "kind", "") == "b":
                steps.append("Unsqueeze")  # the axis that a mask without axes takes
        axis += axes_used(p)
    return steps + ["Index"] * arrays


def is_whole(part: slice, size: Any) -> bool:
    """Whether torch takes a slice for the whole axis: as it is written, for it does not count from the end first."""
    until = part.stop is None or (isinstance(size, int) and part.stop >= size)
    return not part.start and part.step in (None, 1) and until


def _put_node(shape: tuple[Any, ...], index: Index) -> str:
    first = (index_steps(shape, index) or ["Alias"])[0]
    return {"Unsqueeze": "SqueezeBackward1", "Index": "IndexPutImpl", "Alias": "Alias"}.get(
        first, f"{first}BackwardBackward0"
    )


def _index_node(shape: tuple[Any, ...], index: Index) -> str:
    steps = index_steps(shape, index)
    return steps[-1] if steps else "Alias"


def byte_mask(bytes_of: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The mask that bytes in an index are, which is torch's oldest kind of mask."""
    notice("indexing with dtype torch.uint8 is now deprecated, please use a dtype torch.bool instead.")
    return np.not_equal(bytes_of, 0)  # type: ignore[no-any-return]


def static_index(index: Any) -> Index:
    """Plain data for an index, and the integer tensors and symbols in it, which :meth:`Index.parted` takes out."""

    def plain(part: Any) -> Any:
        if _flows(part) and part.dtype is not None and part.dtype.kind in "iu":
            bytes_of = part.dtype == np.uint8 and hasattr(part, "__array__")
            return byte_mask(decided_by(part)) if bytes_of else part
        if isinstance(part, (bool, np.bool_)):
            return np.asarray(part)
        if isinstance(part, (int, np.integer)):
            return int(part)
        if isinstance(part, slice):
            ends = (None if v is None else operator.index(v) for v in (part.start, part.stop, part.step))
            return slice(*ends)
        if part is None or part is Ellipsis:
            return part
        # Rules read the places later, when the array may hold others.
        found = np.array(part)
        if found.dtype.kind not in "bui":
            if (found.size and isinstance(part, (np.ndarray, list))) or hasattr(part, "requires_grad"):
                raise IndexError(f"tensors used as indices must be long, int, byte or bool tensors, not {found.dtype}")
            if found.size:
                raise IndexError(
                    "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices "
                    f"(got {type(part).__name__})"
                )
            found = found.astype(np.int64)
        return found

    given = index if isinstance(index, tuple) else (index,)
    made = Index(tuple(map(plain, index)) if isinstance(index, tuple) else plain(index))
    if made.fancy:
        made.data = tuple([k for k, part in enumerate(given) if hasattr(part, "__array__") and len(shape_of(part))])
    return made


def getitem(x: Any, index: Any) -> Any:
    """``x[index]`` with NumPy's rules for basic, fancy and boolean indices."""
    return _at(x, index, ())


def _at(x: Any, index: Any, before: tuple[slice, ...]) -> Any:
    """``x[index]`` behind axes that are taken whole; one tensor of places, the commonest, is read at once."""
    if _flows(index) and hasattr(index, "__array__") and getattr(index.dtype, "kind", "") == "i" and shape_of(index):
        return getitem_op(x, index, index=Index((*before, HOLE) if before else HOLE, data=(len(before),)))
    parted, places = static_index((*before, index) if before else index).parted()
    return getitem_op(x, *places, index=parted)


@front("index_select", op=getitem_op)
def index_select(input: Any, dim: int, index: Any) -> Any:
    """Entries ``index`` of the axis ``dim``."""
    check_integers("index_select", index)
    shape, picks = shape_of(input), shape_of(index)
    if len(picks) > 1:
        raise IndexError(f"index_select(): Index is supposed to be a vector, got shape {tuple(picks)}")
    if not shape:
        if picks not in ((), (1,)):
            raise ShapeError(f"index_select(): Index to scalar can have only 1 value, got {picks[0]} value(s)")
        return reshape(getitem(reshape(input, 1), index), ())
    axis = axis_of(dim, len(shape))
    if not shape[axis] and picks != (0,) and len(shape) > 1:
        raise ShapeError("index_select(): self indexing axis dim should be positive")
    check_places(index, input, axis, "index out of range in self: index_select(): ")
    return _at(input, index if picks else reshape(index, 1), (slice(None),) * axis)


@front("masked_select", op=getitem_op)
def masked_select(input: Any, mask: Any) -> Any:
    """The entries where ``mask`` holds, in one axis."""
    check_mask("masked_select", mask)
    shape = broadcast_shapes(tuple(shape_of(mask)), tuple(shape_of(input)))
    if hasattr(mask, "raw_shape"):
        return spread(input, shape)[spread(mask, shape)]
    return getitem(spread(input, shape), np.broadcast_to(np.asarray(mask), shape))


def _written_shape(
    shape: tuple[Any, ...], value: tuple[Any, ...], *places: tuple[Any, ...], index: Index
) -> tuple[Any, ...]:
    """The shape of the array; refused where a value fits its place at some sizes only."""
    broadcast_shapes(indexed_shape(shape, *places, index=index), value)
    return shape


def _put(x: Any, value: Any, *places: Any, index: Index) -> Any:
    if x is INTO.array:
        x[index.filled(places)] = value
        return x
    return kernels.index_put(x, value, index.filled(places))


index_put_op: Op = primitive(
    "index_put",
    _put,
    (
        lambda g, out, likex, likev, *places, index: (
            zeros_like(g) if index.value is Ellipsis else index_put_op(g, 0, *places, index=index)
        ),
        lambda g, out, likex, likev, *places, index: getitem_op(g, *places, index=index),
    ),
    jvp=(
        lambda t, out, likex, likev, *places, index: index_put_op(t, 0, *places, index=index),
        lambda t, out, likex, likev, *places, index: index_put_op(zeros_like(likex), t, *places, index=index),
    ),
    infer=_written_shape,
    stacks=True,
    result=lambda x, *_, index: x,
    node="CopySlices",
    code=lambda x, value, *places, index: f"index_put({x}, {value}, np.s_[{index.text(places)}])",
    layout="kept",
    digits="kernel",
    numbers="within",
    keeps=lambda index: index.fancy,
    example=("vector", [9.0], {"index": Index(slice(1, None))}),
    doc="A copy of x with x[index] = value.",
)

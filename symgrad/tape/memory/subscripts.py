"""What a user writes between the brackets of a tensor, read as torch reads it."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from symgrad.dtypes import float32, float64, torch_name
from symgrad.errors import AutogradError
from symgrad.ops.indexing.getitem import Index, axes_used, byte_mask, getitem, getitem_op, static_index
from symgrad.ops.indexing.places import fitted
from symgrad.ops.shapes.joining import narrow_op
from symgrad.tape.formulas.sizes import Size, as_number, is_written, note_failure
from symgrad.tape.memory.inplace import overwrite
from symgrad.tape.record import Recorded
from symgrad.tape.watching.watch import WATCH, note_read

_SEQUENCE = (
    "Using a non-tuple sequence for multidimensional indexing is deprecated and will be changed; use "
    "x[tuple(seq)] instead of x[seq]: it will be interpreted as tensor index, x[torch.tensor(seq)], which will result "
    "either in an error or a different result."
)
_LONGEST = 32
"""A list of as many parts is an array of places, whatever stands in it."""
_LARGE = 1e38
"""Numbers below this are numbers of single precision."""
_SHORT = 8
"""Places in a list up to which formulas write them out."""


def part_of(x: Any, index: Any) -> Any:
    """``x[index]``."""
    try:
        if _is_static(index) and x._value.ndim:
            return getitem_op(x, index=Index(index))
        cuts = _cuts(x.raw_shape, index)
        if cuts is not None:
            return _cut(x, cuts)
        index = plain_index(x, index)
        first, rest = parted(index)
        return getitem(x, index) if first is None else getitem(getitem(x, first), rest)
    except IndexError:
        note_failure((x,))
        raise


def read_index(x: Any, index: Any) -> tuple[Any, Any, tuple[Any, ...]]:
    """What stands left of ``x[index] =``: None, the index with holes, and the operands that were there.

    Or the part that is taken first, and the index of what to write in it: behind the integers that torch takes first
    stand arrays that place axes (:func:`parted`), and slices between sizes are parts of their own.
    """
    if _is_static(index) and x._value.ndim:
        return None, Index(index), ()
    cuts = _cuts(x.raw_shape, index)
    if cuts is not None:
        return _cut(x, cuts), Ellipsis, ()
    first, rest = parted(plain_index(x, index))
    return (None, *static_index(rest).parted()) if first is None else (getitem(x, first), rest, ())


def set_number(x: Any, index: Any, value: Any) -> bool:
    """``x[index] = value`` of one number, if nothing has to follow; whether it is done."""
    if WATCH.count or not _is_static(index) or not x._value.ndim:
        return False
    alike = x._value.dtype is float64 or (x._value.dtype is float32 and abs(value) < _LARGE)
    try:
        return alike and overwrite(x, value, index)
    except AutogradError:
        return False  # the long way says it in its own words


def _is_static(index: Any) -> bool:
    """Whether an index is made of Python's whole numbers, and slices between such: as it stands it is plain data."""
    for part in index if index.__class__ is tuple else (index,):
        if part.__class__ is slice:
            for end in (part.start, part.stop, part.step):
                if end is not None and end.__class__ is not int:
                    return False
            if part.step == 0:
                return False
        elif part.__class__ is not int:
            return False
    return True


def plain_index(x: Any, index: Any) -> Any:
    """An index of ``x`` without tensors but those of places, which are operands; what another one holds is looked at.

    A list in which there is more than numbers stands for a tuple, as in torch.
    """
    if isinstance(index, list) and len(index) < _LONGEST and any(map(_is_part, index)):
        warnings.warn(_SEQUENCE, stacklevel=3)
        index = tuple(index)
    if isinstance(index, tuple):
        found: Any = tuple(map(_plain, index))
        dots, masks = 0, False
        for p in found:
            dots += p is Ellipsis
            masks = masks or (isinstance(p, np.ndarray) and p.dtype.kind == "b" and p.ndim > 0)
        if dots > 1:
            found = _with_one_ellipsis(len(x.raw_shape), found)
        if masks:
            _check_masks(x.raw_shape, found)
        return _without_sizes(x.raw_shape, found) if any(map(_has_sizes, found)) else found
    found = _plain(index)
    if not x._value.ndim:
        _check_whole(found)
    elif isinstance(found, np.ndarray) and found.dtype.kind == "b":
        _check_masks(x.raw_shape, (found,))
    elif _has_sizes(found):
        return _without_sizes(x.raw_shape, (found,))[0]
    return found


def _has_sizes(part: Any) -> bool:
    """Whether sizes say where a part of an index begins, or ends, or by which steps it goes."""
    if part.__class__ is slice:
        return Size in (part.start.__class__, part.stop.__class__, part.step.__class__)
    return part.__class__ is Size


def _without_sizes(shape: tuple[int, ...], parts: tuple[Any, ...]) -> tuple[Any, ...]:
    """Parts of an index with numbers for sizes: ``n - 1`` of an axis of n is -1, which holds at other sizes, too."""
    found, axis = [], 0
    for k, part in enumerate(parts):
        if part is Ellipsis:
            axis = len(shape) - sum(map(axes_used, parts[k + 1 :]))
        size = shape[axis] if 0 <= axis < len(shape) else -1
        if not _has_sizes(part):
            found.append(part)
        elif part.__class__ is slice:
            stop = None if part.stop.__class__ is Size and _behind(part.stop, size) == 0 else _place(part.stop, size)
            found.append(slice(_place(part.start, size), stop, as_number(part.step)))
        else:
            found.append(_place(part, size))
        axis += axes_used(part)
    return tuple(found)


def _cuts(shape: tuple[int, ...], index: Any) -> list[Any] | None:
    """An index in steps, left to right as torch takes it: slices between sizes, ``x[:h]``, as an axis and its ends.

    A place that a size tells, ``x[h]``, is the only one of a slice.  The others are indices of what these leave.  None
    where there is no such slice, and where others do not leave the axes as they stand.
    """
    parts = index if index.__class__ is tuple else (index,)
    if not any(map(_has_sizes, parts)):
        return None
    steps: list[Any] = []
    rest: list[Any] = []
    axis = place = 0
    for k, part in enumerate(parts):
        if part is Ellipsis:
            skipped = len(shape) - axis - sum(map(axes_used, parts[k + 1 :]))
            axis, place = axis + skipped, place + skipped
        elif part.__class__ is slice and axis < len(shape):
            n = Size(shape[axis])
            start = 0 if part.start is None else _from_start(part.start, n)
            stop = n if part.stop is None else _from_start(part.stop, n)
            if part.step is None and _has_sizes(part) and _is_between(start, stop, n):
                steps += [tuple(rest), (place, start, stop)]
                rest, part = [slice(None)] * place, slice(None)
            axis, place = axis + 1, place + 1
        elif part.__class__ is Size and axis < len(shape):
            n = Size(shape[axis])
            start = _from_start(part, n)
            if _is_between(start, n, n) and start < n:
                steps += [tuple(rest), (place, start, start + 1)]
                rest, part = [slice(None)] * place, 0
            else:
                part = _place(part, n)
            axis += 1
        elif part is None or (part.__class__ is int and axis < len(shape)):
            axis, place = axis + (part is not None), place + (part is None)
        else:
            return None
        rest.append(part)
    return [*steps, tuple(rest)] if steps else None


def _cut(x: Any, steps: list[Any]) -> Any:
    """The part of ``x`` that the steps of an index leave, indices and slices between sizes in turn."""
    for k, step in enumerate(steps):
        if k % 2:
            axis, start, stop = step
            x = narrow_op(x, dim=axis, start=start, length=stop - start)
        elif not all(part is Ellipsis or part == slice(None) for part in step):
            x = part_of(x, step)
    return x


def _from_start(end: Any, n: Size) -> Any:
    """An end of a slice as a place from the start of its axis, where it is made of sizes and below 0: ``-(n // 2)``."""
    if end.__class__ is not Size or not is_written(end) or _behind(end, n) is not None:
        return end
    start = n + end if end.is_behind() else end
    if start.__class__ is not Size:  # of too many steps
        return end
    start.is_behind()  # beyond the start of an axis a slice ends there
    return start


def _is_between(start: Any, stop: Any, n: Size) -> bool:
    """Whether a slice lies inside of an axis, between numbers of which one is no place counted from the end."""
    ends = [end for end in (start, stop) if end.__class__ is Size]
    if any(end.__class__ not in (int, Size) for end in (start, stop)) or not 0 <= start <= stop <= n:
        return False
    return any(_behind(end, n) is None and is_written(end) for end in ends)


def _place(end: Any, size: int) -> Any:
    """A place on an axis, counted from the end of it where a size says so."""
    if end.__class__ is not Size:
        return end
    behind = _behind(end, size)
    return -behind if behind else as_number(end)


def _behind(end: Size, size: int) -> int | None:
    """How far a place stands from the end of an axis of this size, if it is made so."""
    if end.factors != (size,) or end < 0:
        return None
    if not end.steps:
        return 0
    (name, k), *more = end.steps
    return k if name == "sub" and k.__class__ is int and not more else None


def _plain(part: Any) -> Any:
    if isinstance(part, Recorded):
        return _tensor_part(part)
    if isinstance(part, slice):
        return _plain_slice(part)
    if isinstance(part, list):
        if 0 < len(part) <= _SHORT and all(i.__class__ is int for i in part):
            return part  # it stands in the program, and in formulas as it is; others are data
        return np.asarray([_looked_at(i) if isinstance(i, Recorded) else _plain(i) for i in part])
    if isinstance(part, (str, bytes)):
        raise TypeError(f"new(): invalid data type '{type(part).__name__}'")
    if isinstance(part, np.ndarray) and part.dtype == np.uint8 and part.ndim:
        return byte_mask(part)
    if isinstance(part, float):
        raise IndexError(
            "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices "
            f"(got {type(part).__name__})"
        )
    return part


def _is_part(item: Any) -> bool:
    """Whether an entry of a list is no number, so that the list lists parts of an index."""
    if item is None or item is Ellipsis or isinstance(item, (slice, Recorded, list, tuple, range, str)):
        return True
    return isinstance(item, np.ndarray) and bool(item.ndim)


def _tensor_part(part: Recorded) -> Any:
    """A tensor in an index: the operand itself where it holds places, else a number or a mask."""
    value = part._value
    kind = value.dtype.kind
    if kind == "b":
        return _looked_at(part)
    if value.dtype == np.uint8:
        return byte_mask(_looked_at(part)) if value.ndim else np.asarray(bool(_looked_at(part)))
    if kind in "iu" and (not value.ndim or value.dtype.itemsize >= np.int32().itemsize):
        return part if value.ndim else _looked_at(part)
    raise IndexError(
        f"tensors used as indices must be long, int, byte or bool tensors, not {value.dtype.name}; cast it with .long()"
    )


def _looked_at(part: Recorded) -> Any:
    """The values of a tensor in an index: a number, or an array."""
    if WATCH.count or part._node is not None or part._requires_grad:
        note_read(part, "an index")
    value = part._value
    return int(value) if value.ndim == 0 and value.dtype.kind in "ui" else value


def _plain_slice(part: slice) -> slice:
    ends = part.start, part.stop, part.step
    for end in ends:
        if end is not None and not hasattr(end, "__index__"):
            raise TypeError("slice indices must be integers or None or have an __index__ method")
    return part if part.step is None or part.step != 0 else _no_step()


def _no_step() -> slice:
    raise ValueError("slice step cannot be zero")


def _check_whole(part: Any) -> None:
    """Raise where a part would cut a tensor that has no axes."""
    if isinstance(part, slice):
        raise IndexError("slice() cannot be applied to a 0-dim tensor.")
    if _is_number(part):
        raise IndexError(
            "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to convert a "
            "0-dim tensor to a number"
        )


def _with_one_ellipsis(ndim: int, parts: tuple[Any, ...]) -> tuple[Any, ...]:
    """An index without its second ellipsis and later ones, each of which stands for as many axes as the first."""
    first = next(k for k, p in enumerate(parts) if p is Ellipsis)
    skipped = ndim - sum(map(_axes, parts))
    for k, p in enumerate(parts):
        if k > first and p is Ellipsis and skipped > 0 and any(q is not Ellipsis for q in parts[k:]):
            raise IndexError(f"too many indices for tensor of dimension {ndim}: every ellipsis stands for {skipped}")
    return tuple(p for k, p in enumerate(parts) if k == first or p is not Ellipsis)


def _check_masks(shape: tuple[int, ...], parts: tuple[Any, ...]) -> None:
    """Raise where a mask has not the sizes of the axes that it picks from."""
    used = [_axes(p) for p in parts]
    if sum(used) > len(shape):
        return  # too many, which is another error
    axis = 0
    for k, (p, count) in enumerate(zip(parts, used, strict=True)):
        if isinstance(p, np.ndarray) and p.dtype.kind == "b" and p.shape != shape[axis : axis + count]:
            raise IndexError(
                f"The shape of the mask {list(p.shape)} at index {_wrong(p.shape, shape[axis:])} does not match the "
                f"shape of the indexed tensor {list(shape)} at index "
                f"{axis + _wrong(p.shape, shape[axis:])}: part {k} of the index is no mask of these axes"
            )
        axis += len(shape) - sum(used) if p is Ellipsis else count


def _wrong(mask: tuple[int, ...], shape: tuple[int, ...]) -> int:
    return next((k for k, (a, b) in enumerate(zip(mask, shape, strict=False)) if a != b), 0)


def _axes(part: Any) -> int:
    if part is None or part is Ellipsis or isinstance(part, bool):
        return 0
    return part.ndim if isinstance(part, np.ndarray) and part.dtype.kind == "b" else 1


def writable(value: Any, dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """What stands right of ``x[index] =`` as an array: numbers of the dtype of ``x``, or arrays and lists of them."""
    if isinstance(value, (int, float, complex)):
        if dtype == np.float16 and not isinstance(value, complex):
            with np.errstate(over="ignore"):
                return np.asarray(value, dtype)
        value = fitted(value, dtype)
        if dtype.kind == "f":
            return np.asarray(value, dtype)  # an array of another dtype would be cast, which formulas show
    found = np.asarray(value)
    if found.dtype.kind in "OSUmM":
        raise TypeError(f"can't assign a {type(value).__name__} to a torch.{torch_name(dtype)}Tensor")
    return found


def parted(index: Any) -> tuple[Any, Any]:
    """An index of integers and arrays in two: torch takes the integers first, and then only arrays place axes.

    ``(None, index)`` where there is nothing to part.
    """
    parts = index if isinstance(index, tuple) else (index,)
    if not any(map(_is_array, parts)) or not any(map(_is_number, parts)):
        return None, index
    first: list[Any] = []
    for p in parts:
        first += [slice(None)] * _axes(p) if _is_array(p) else [p]
    rest = (slice(None) if p is None or isinstance(p, slice) else p for p in parts if not _is_number(p))
    return tuple(first), tuple(rest)


def _is_array(part: Any) -> bool:
    return isinstance(part, (np.ndarray, Recorded, list))


def _is_number(part: Any) -> bool:
    return isinstance(part, (int, np.integer)) and not isinstance(part, bool)

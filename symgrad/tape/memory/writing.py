"""What ``x[index] = value`` and its like write, and torch's name for it."""

from __future__ import annotations

from typing import Any

import numpy as np

from symgrad.dtypes import torch_name
from symgrad.errors import AutogradError, DtypeError
from symgrad.op import fixed_length, lookup, shape_of
from symgrad.ops.indexing.getitem import index_steps, is_whole, static_index
from symgrad.ops.indexing.places import fitted
from symgrad.tape.forward.dual import Dual
from symgrad.tape.graph import Labelled
from symgrad.tape.memory.inplace import LEAF
from symgrad.tape.record import Recorded
from symgrad.tape.watching.watch import WATCH

WHOLE = static_index(Ellipsis)
"""The index of the whole tensor."""
_PARTS = ("CopySlices", "IndexPutBackward0")
"""Nodes of writing that may leave some entries as they were."""


def put(x: Any, value: Any, index: Any, node: str, places: tuple[Any, ...] = (), source: Any = None) -> Any:
    """A copy of ``x`` with ``x[index] = value``, whose node has torch's name for what was written.

    ``source``: the tensor that ``value`` was expanded and cast from, which in torch is part of the same node, or an
    array of numbers that were drawn, of which torch's node knows nothing.
    """
    partly = node in _PARTS
    if not partly and _has_ends(index):
        for axis in range(len(x.raw_shape)):
            fixed_length(x, axis)
    made = lookup("index_put")(x, value, *(places if partly else ()), index=index if partly else WHOLE)
    if made.__class__ is not Dual and made._node is not None:
        inputs: tuple[Any, ...] | None = None
        first = made._node.args[0] if made._node.mask & 1 else None
        if isinstance(source, np.ndarray):
            inputs = (first,)
        elif isinstance(source, Recorded) and source is not value and made._node.mask & 2:
            inputs = (first, source._node or source)
        Labelled.on(made._node, node, inputs)
        if node == "CopySlices":
            Labelled.cast(made._node, "put")
    return made


def _has_ends(index: Any) -> bool:
    """Whether slices of an index end at numbers, which at other sizes are not those of the axes: ``y[:3]``."""
    return any(part.__class__ is slice and part != slice(None) for part in index.parts)


def fills(x: Any, index: Any, value: Any) -> bool:
    """Whether ``x[index] = value`` writes one value where a mask holds."""
    mask = index._value if isinstance(index, Recorded) else None
    if mask is None or mask.dtype.kind != "b" or not mask.ndim or np.ndim(value):
        return False
    return bool(mask.shape == x.raw_shape[: mask.ndim])


def writes_by_cases(x: Any, index: Any, value: Any) -> bool:
    """Whether ``x[index] = value`` writes one value, or the same rows, wherever a mask of the first axes holds."""
    if WATCH.count or index.dtype.kind != "b" or not index.ndim or index._lost:
        return False
    return bool(len(shape_of(value)) <= len(x.raw_shape) - index.ndim)


def filled(x: Any, mask: Any, value: Any) -> Any:
    """``x`` with one value where a mask holds, which is an operand here: a program that is traced takes other masks."""
    wide = lookup("reshape")(mask, shape=mask.raw_shape + (1,) * (len(x.raw_shape) - mask._value.ndim))
    kept = lookup("cast")(value, dtype=x.dtype.name) if isinstance(value, Recorded) else x.dtype.type(value).item()
    return lookup("where")(wide, kept, x)


def written(x: Any, index: Any, value: Any) -> str:
    """torch's node for ``x[index] = value``: of the memory where views lead to it, else of the change itself."""
    steps = index_steps(x.raw_shape, index)
    if steps and not (isinstance(index.value, slice) and is_whole(index.value, x.raw_shape[0])):
        return "IndexPutBackward0" if steps == ["Index"] else "CopySlices"
    return "CopyBackwards" if value.ndim or not x.raw_shape else "FillBackward3"


def fitted_to(x: Any, index: Any, value: Any) -> Any:
    """The value to write: without first axes of size one where it has not the part's shape, and expanded to that.

    torch does both before it writes, which the node of a tracked value shows; arrays of places take it unexpanded.
    """
    shape, tracked = shape_of(value), getattr(value, "_requires_grad", False)  # a value of forward mode has a tangent
    if not shape or (shape[0] != 1 and not tracked):
        return value
    arrays = index_steps(x.raw_shape, index)[-1:] == ["Index"]
    if arrays and shape[0] != 1:
        return value
    wanted = () if arrays else x._array()[index.value].shape
    if shape == wanted:
        return value
    first = next((k for k, size in enumerate(shape) if size != 1), len(shape))
    rest, tracked = shape[first:], tracked and not arrays
    fits = len(rest) <= len(wanted) and all(n in (1, m) for n, m in zip(rest[::-1], wanted[::-1], strict=False))
    if first or (tracked and fits):
        value = lookup("reshape")(value, shape=rest)
    return lookup("expand")(value, shape=wanted) if tracked and fits and rest != wanted else value


def narrowed(x: Any, index: Any, places: tuple[Any, ...], value: Any) -> Any:
    """What to put of a value of another dtype into a tensor; raises torch's error for arrays of places.

    A number fills a mask, a complex one as the real one that it is.  All else is a copy, of real parts.
    """
    if index_steps(x.raw_shape, index)[-1:] != ["Index"]:
        return value
    masks = any(str(getattr(p, "dtype", "")) == "bool" for p in (*index.parts, *places))
    if masks and not value.ndim:
        if value.dtype.kind == "c" != x.dtype.kind:
            fitted(value._value[()], x.dtype)
            return value.real
        return value
    ours, its = map(torch_name, (x.dtype, value.dtype))
    raise DtypeError(
        f"Index put requires the source and destination dtypes match, got {ours} for the destination and {its} for the "
        "source."
    )


def in_dtype_of(x: Any, value: Any) -> Any:
    """A value in the dtype of the tensor that it is written into: itself, for most."""
    own, given = getattr(x, "_value", None), getattr(value, "_value", None)
    return value if own is not None and given is not None and own.dtype is given.dtype else value.to(x.dtype)


def refused(x: Any, index: Any, name: str, error: AutogradError) -> AutogradError:
    """The error to raise for a change that was refused: an index that does not fit is the first thing to tell.

    torch takes a part before it writes into it, so that the part of a leaf is what it refuses to change.
    """
    x._array()[index]
    words = str(error)
    return AutogradError(f"a view of {words}") if name == "CopySlices" and words.startswith(LEAF) else error

"""Putting a part back into the whole it was cut out of: in the table's ops, so that changed tensors have formulas."""

from __future__ import annotations

from typing import Any

import numpy as np

from symgrad.op import Op, lookup, shape_of
from symgrad.tape.graph import Labelled, Slices
from symgrad.tape.memory.overlap import blank, overlaps

Chain = list[tuple[Op, dict[str, Any]]]
"""The ops that cut a view out of its base, first to last."""


def put_back(root: Any, part: Any, chain: Chain) -> Any:
    """``root`` with the part that ``chain`` cuts out of it replaced: a new tensor, recorded in the table's ops."""
    twin = blank(root)
    twin._value, twin._node, twin._requires_grad, twin._extra = root._array(), root._node, root._requires_grad, None
    if root._node is None:
        twin._extra = root._extra and _as_constant(root)
    levels, changed = [twin], part._node
    for op, params in chain[:-1]:
        levels.append(op(levels[-1], **params))
        if overlaps(levels[-1]._value):  # one entry changed here is several, so no step alone can be undone
            levels.pop()
            part = put_entries(levels.pop(), part, chain[len(levels) :])
            break
    for whole, (op, params) in zip(reversed(levels), reversed(chain[: len(levels)]), strict=True):
        part = put_into(whole, part, op, params)
    base = root._node or (root if root._requires_grad else None)
    Labelled.on(part._node, "CopySlices" if changed is None else Slices.of(base, changed))
    Labelled.cast(part._node, "put")
    return part


def _as_constant(root: Any) -> Any:
    """The record of a constant that is about to get a history: it keeps its place in formulas."""
    from symgrad.tape.record import Extra

    extra = Extra()
    extra.name, extra.site, extra.source, extra.structure = (
        root._extra.name, root._extra.site, root.source(), root._extra.structure
    )  # fmt: skip
    return extra


def put_entries(whole: Any, part: Any, chain: Chain) -> Any:
    """``whole`` with the entries that ``chain`` cuts out of it replaced by ``part``, by their places in memory."""
    from symgrad.ops.indexing.getitem import Index

    shape = shape_of(whole)
    memory = seen = np.empty(shape, whole.dtype)
    everywhere = [step for step in chain if not step[0].view]  # what is done to each entry where it is: conjugates
    for op, params in everywhere:
        whole = op(whole, **params)
    for op, params in chain:
        seen = op.view(seen, **params) if op.view else seen
    steps = [np.arange(n) * step for n, step in zip(seen.shape, seen.strides, strict=True)]
    start = np.full(seen.shape, seen.ctypes.data - memory.ctypes.data)
    places = sum(np.ix_(*steps), start) // seen.itemsize
    flat = lookup("index_put")(_read(whole, seen.dtype, (-1,)), part, index=Index(places))
    found = _read(flat, memory.dtype, shape)
    for op, params in reversed(everywhere):
        found = put_into(whole, found, op, params)
    return found


def _read(numbers: Any, dtype: Any, shape: tuple[int, ...]) -> Any:
    """Numbers in a shape, complex ones as pairs and pairs as complex ones where the dtype is of that kind."""
    reshape = lookup("reshape")
    if numbers.dtype.kind != dtype.kind and dtype.kind == "c":
        numbers = lookup("view_as_complex")(reshape(numbers, shape=(-1, 2)))
    elif numbers.dtype.kind != dtype.kind:
        numbers = lookup("view_as_real")(numbers)
    return reshape(numbers, shape=shape)


def put_into(whole: Any, part: Any, op: Op, params: dict[str, Any]) -> Any:
    """``whole`` with what ``op`` cuts out of it replaced by ``part``."""
    if op.put_back is not None:
        return op.put_back(whole, part, **params)
    return lookup("reshape")(part, shape=shape_of(whole))

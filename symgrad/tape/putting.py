"""Putting a part back into the whole it was cut out of: in the table's ops, so that changed tensors have formulas."""

from __future__ import annotations

from typing import Any

import numpy as np

from symgrad.op import Op, lookup, shape_of
from symgrad.tape.graph import Labelled, Slices
from symgrad.tape.overlap import blank, overlaps

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
    from symgrad.ops.indexing import Index

    reshape, shape = lookup("reshape"), shape_of(whole)
    places = np.arange(int(np.prod(shape))).reshape(shape)
    for op, params in chain:
        places = op.view(places, **params)  # type: ignore[misc]
    flat = lookup("index_put")(reshape(whole, shape=(-1,)), part, index=Index(np.array(places)))
    return reshape(flat, shape=shape)


def put_into(whole: Any, part: Any, op: Op, params: dict[str, Any]) -> Any:
    """``whole`` with what ``op`` cuts out of it replaced by ``part``."""
    from symgrad.ops.indexing import Index

    name, put = op.name, lookup("index_put")
    if name == "getitem":
        return put(whole, part, index=params["index"])
    if name in ("select", "narrow"):
        start = int(params["index"] if name == "select" else params["start"])
        chosen: Any = start if name == "select" else slice(start, start + int(params["length"]))
        return put(whole, part, index=Index((slice(None),) * params["dim"] + (chosen,)))
    if name == "permute":
        return op(part, dims=tuple(int(k) for k in np.argsort(params["dims"])))
    if name == "diagonal":
        a, b = params["dim1"], params["dim2"]
        rest = tuple(k for k in range(whole.ndim) if k not in (a, b))
        ends = np.arange(shape_of(part)[-1])
        moved = lookup("permute")(whole, dims=(*rest, a, b))
        back = tuple(int(k) for k in np.argsort((*rest, a, b)))
        return lookup("permute")(put(moved, part, index=Index((Ellipsis, ends, ends))), dims=back)
    if name == "windows":
        steps = {k: v for k, v in params.items() if k != "size"} | {"size": shape_of(whole)[params["dim"]]}
        covered = lookup("windows_sum")(np.ones(part.shape, part.dtype), **steps)
        return lookup("where")(covered > 0, lookup("windows_sum")(part, **steps), whole)
    if name in ("view_as_real", "view_as_complex"):
        return lookup("view_as_complex" if name == "view_as_real" else "view_as_real")(part)
    if name == "conj":
        return op(part)
    if name == "real":
        return part + 1j * lookup("imag")(whole)
    if name == "imag":
        return lookup("real")(whole) + 1j * part
    if name == "expand":
        if 0 in shape_of(part) and 0 not in shape_of(whole):
            return whole  # repeated no times
        sizes = (1,) * (part.ndim - whole.ndim) + tuple(shape_of(whole))
        once = tuple(slice(0, 1) if s == 1 != n else slice(None) for s, n in zip(sizes, shape_of(part), strict=True))
        part = lookup("getitem")(part, index=Index(once))
    return lookup("reshape")(part, shape=shape_of(whole))

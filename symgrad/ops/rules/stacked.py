"""Ops on stacks of operands: one call for all of them.

The stack's axes come first.  Multilinear ops get the new axes as labels of their einsum, elementwise ops broadcast, and
linear primitives shift their axis parameters; so nothing is copied per entry of the stack.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from symgrad.op import Op, lookup, shape_of
from symgrad.ops.indexing.getitem import Index, axes_in_front, indexed_shape
from symgrad.ops.linalg.contraction import contract

_LEAD = 1_000_000
"""Labels of the new axes, far from those that ops use."""

Shapes = Sequence[tuple[Any, ...] | None]


def stacked(
    op: Op, args: Sequence[Any], own: Shapes, params: dict[str, Any], lead: tuple[Any, ...], shape: tuple[Any, ...]
) -> Any:
    """``op`` on operands of which some are stacks, or None where it has no stacked form.

    ``own`` has the shape of one entry for every stack and None for the operands that all entries share; ``lead`` are
    the sizes of the stack's axes, ``shape`` is that of one result.
    """
    k = len(lead)
    if op.entrywise:
        ranked = [a if one is None else _ranked(a, len(shape) - len(one), k) for a, one in zip(args, own, strict=True)]
        return op(*ranked, **params)
    if op.kind == "multilinear":
        entries = [shape_of(a) if one is None else one for a, one in zip(args, own, strict=True)]
        labels, output = op.einsum(*entries, **params)
        new = labels_of(lead, *labels, output)
        inputs = tuple(x if one is None else new + x for x, one in zip(labels, own, strict=True))
        return contract(args, inputs, new + tuple(x for x in output if x is not None), lead + shape)
    if op.stacks == "shared" and any(one is not None for one in own[-2:]):
        return None
    shifted = op.stacks or (op.linear and (len(args) == 1 or "index" in params))
    return _shifted(op, args, own, params, lead) if shifted else None


def labels_of(lead: Sequence[Any], *taken: Sequence[int | None]) -> tuple[int, ...]:
    """Labels for the stack's axes, which are not among those ``taken``: entries may be stacks themselves."""
    first = max((x + 1 for row in taken for x in row if x is not None), default=0)
    first = max(first, _LEAD)
    return tuple(range(first, first + len(lead)))


def spread(arg: Any, lead: tuple[Any, ...]) -> Any:
    """A stack of which every entry is ``arg``."""
    shape = tuple(shape_of(arg))
    own = tuple(range(len(shape)))
    return contract((arg,), (own,), labels_of(lead) + own, lead + shape)


def _ranked(arg: Any, missing: int, k: int) -> Any:
    """Axes of size 1 after the new ones, so that the rest broadcasts as before."""
    for _ in range(missing):
        arg = lookup("unsqueeze")(arg, dim=k)
    return arg


def _shifted(op: Op, args: Sequence[Any], own: Shapes, params: dict[str, Any], lead: tuple[Any, ...]) -> Any:
    """A primitive with its axis parameters moved behind the new axes."""
    params, k = dict(params), len(lead)
    if "shape" in params:
        params["shape"] = lead + tuple(params["shape"])
    if "widths" in params:
        params["widths"] = ((0, 0),) * k + tuple(params["widths"])
    for name in ("dim", "dims"):
        if name in params:
            value = params[name]
            params[name] = tuple(_behind(d, k) for d in value) if isinstance(value, tuple) else _behind(value, k)
    if op.name in ("getitem", "put", "index_put"):
        places = own[len(args) - params["index"].holes :]
        if any(one is not None for one in places):
            return None if op.name == "index_put" else _picked(op, args, own, params, lead)
        if op.name == "index_put":
            return _written(op, args, own, params, lead)
        return _indexed(op, args, params, lead)
    if op.stacks == "column" and len(shape_of(args[1]) if own[1] is None else own[1]) == 1:
        return _of_vectors(op, args, own, params, lead)
    number = op.name == "scatter"  # which may write one everywhere
    both = zip(args, own, strict=True)
    whole = [a if one is not None or (number and not shape_of(a)) else spread(a, lead) for a, one in both]
    return op(*whole, **params)


def _of_vectors(op: Op, args: Sequence[Any], own: Shapes, params: dict[str, Any], lead: tuple[Any, ...]) -> Any:
    """An op whose last operand may be a vector, of which a stack would be taken for a matrix: its entries are columns.

    Where all entries share the matrix, they are the columns of one.
    """
    matrix, vectors = args
    k = len(lead)
    if own[0] is None and k == 1:
        turned = op(matrix, lookup("permute")(vectors, dims=(1, 0)), **params)
        return lookup("permute")(turned, dims=(1, 0))
    matrix, vectors = (spread(a, lead) if one is None else a for a, one in zip(args, own, strict=True))
    return lookup("squeeze")(op(matrix, lookup("unsqueeze")(vectors, dim=k + 1), **params), dim=(k + 1,))


def _behind(dim: int, k: int) -> int:
    """An axis once ``k`` new ones stand in front; negative ones count from the end, where nothing changes."""
    return dim + k if dim >= 0 else dim


def _indexed(op: Op, args: Sequence[Any], params: dict[str, Any], lead: tuple[Any, ...]) -> Any:
    """An index behind the new axes; arrays of places that stand apart put their axes first, before the new ones."""
    index, k = params["index"], len(lead)
    params["index"] = Index((slice(None),) * k + index.parts)
    first = axes_in_front(index, *(shape_of(a) for a in args[len(args) - index.holes :]))
    behind = (*range(first, first + k), *range(first))
    if op.name == "getitem":
        return _turned(op(*args, **params), behind)
    return op(_turned(args[0], (*range(k, k + first), *range(k))), *args[1:], **params)


def _written(op: Op, args: Sequence[Any], own: Shapes, params: dict[str, Any], lead: tuple[Any, ...]) -> Any:
    """Values written by an index into every entry of a stack."""
    index, k, places = params["index"], len(lead), args[2:]
    into, value = (shape_of(a) if one is None else one for a, one in zip(args[:2], own[:2], strict=True))
    at = [shape_of(a) for a in places]
    first, rank = axes_in_front(index, *at), len(indexed_shape(into, *at, index=index))
    stack, part = spread(args[0], lead) if own[0] is None else args[0], args[1]
    if len(value) > rank:
        return None
    if own[1] is not None or (first and value):
        part = spread(part, lead) if own[1] is None else part
        part = _turned(_ranked(part, rank - len(value), k), (*range(k, k + first), *range(k)))
    params["index"] = Index((slice(None),) * k + index.parts)
    return op(stack, part, *places, **params)


def _picked(op: Op, args: Sequence[Any], own: Shapes, params: dict[str, Any], lead: tuple[Any, ...]) -> Any:
    """An index of which every entry has arrays of places of its own: the entries' numbers are one array more of it."""
    index, k, at = params["index"], len(lead), len(args) - params["index"].holes
    shapes = [shape_of(a) if one is None else one for a, one in zip(args, own, strict=True)]
    known = [np.shape(part) for part in index.parts if isinstance(part, np.ndarray)]
    rank = max(map(len, (*known, *shapes[at:])))
    places = [a if one is None else _ranked(a, rank - len(one), k) for a, one in zip(args[at:], own[at:], strict=True)]
    whole = len(shapes[0]) if op.name == "getitem" else len(params["shape"]) - k
    before = 0 if axes_in_front(index, *shapes[at:]) else _axes_before(index, whole)
    if op.name == "getitem" and own[0] is None:  # what all pick from has no axis for them
        made = op(args[0], *places, **params)
        return _turned(made, (*range(before, before + k), *range(before)))
    numbers = np.ogrid[tuple(slice(int(n)) for n in lead)]
    parts = [row.reshape(*row.shape, *(1,) * rank) for row in numbers]
    params["index"] = Index((*parts, *index.parts))
    block, pre = range(k, k + rank), range(k + rank, k + rank + before)
    if op.name == "getitem":
        return _turned(op(args[0], *places, **params), (*range(k), *pre, *block))
    filling = spread(args[0], lead) if own[0] is None else args[0]
    return op(
        _turned(filling, (*range(k), *range(k + before, k + before + rank), *range(k, k + before))), *places, **params
    )


def _axes_before(index: Index, ndim: int) -> int:
    """How many axes of the result stand before those of an index's arrays, which stand together."""
    count = 0
    for part in index.parts:
        if part is Ellipsis:
            count += ndim - sum(p is not None and p is not Ellipsis for p in index.parts)
        elif part is None or isinstance(part, slice):
            count += 1
        else:
            break
    return count


def _turned(arg: Any, first: tuple[int, ...]) -> Any:
    """The leading axes in another order."""
    order = (*first, *range(len(first), len(shape_of(arg))))
    return arg if order == tuple(range(len(order))) else lookup("permute")(arg, dims=order)

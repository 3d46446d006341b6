"""Arrays in indices, as formulas show them: constants ``c1``, ``c2`` …, so that ``x[mask]`` is as long at any size.

The tape keeps such an array with its index, as data.  A mask stands for the places where it holds, one array for each
of its axes, since how often it holds is no size of it; but where it says which entries a value overwrites, the result
is a choice by cases, with the comparison that the mask came from.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from symgrad.formula.term import Term, as_term
from symgrad.op import Length, lookup
from symgrad.ops.indexing.getitem import HOLE, Index
from symgrad.tape.formulas.constants import counted
from symgrad.tape.graph import Node, Source
from symgrad.tape.record import Recorded, plain


class Places(Source):
    """A constant that is an array of an index; equal ones are one, whoever wrote them."""

    __slots__ = ("key",)

    def __init__(self, array: Any):
        super().__init__(plain(Recorded, array), array.shape, array.dtype, None, None)
        self.kept = array
        self.key = (array.dtype.str, array.shape, array.tobytes())
        if array.dtype == np.int64 and array.ndim == 1 and np.array_equal(array, np.arange(array.size)):
            self.recipe = counted(0, Length(array.size), array.dtype)  # as in x[np.arange(n), labels]


def shows_arrays(node: Node) -> bool:
    """Whether formulas show constants for the arrays in the index of a node."""
    index = node.params.get("index") if node.params else None
    return index.__class__ is Index and bool(index.data)


def with_places(node: Node) -> tuple[Any, ...]:
    """The arguments of a node, and the constants that stand for the arrays of its index."""
    if not shows_arrays(node):
        return node.args
    index = node.params["index"]  # type: ignore[index]
    if _chooses(node):
        return (*node.args, _condition(index))
    return (*node.args, *(one for row in _rows(index).values() for one in row))


def placed(index: Index, args: Sequence[Any]) -> tuple[Index, list[Any]]:
    """An index with holes for its arrays, too, and all that stands in the holes; ``args`` are those of its node."""
    own = iter(args[len(args) - index.holes :])
    rows = _rows(index) if index.data else {}
    parts: list[Any] = []
    places: list[Any] = []
    for k, part in enumerate(index.parts):
        row = [next(own)] if part is HOLE else rows.get(k)
        parts += [part] if row is None else [HOLE] * len(row)
        places += row or ()
    return Index(parts[0] if len(parts) == 1 and not isinstance(index.value, tuple) else tuple(parts)), places


def read_at_places(node: Node, args: Sequence[Term], params: dict[str, Any], known: dict[int, Term]) -> Term:
    """The term of a node of which formulas show the arrays in the index; ``args`` are those of its arguments."""
    if _chooses(node):
        x, value = args
        mask = known[id(_condition(params["index"]))]
        wide = lookup("reshape")(mask, shape=(*mask.shape, *(1,) * (x.ndim - mask.ndim)))
        return as_term(lookup("where")(wide if x.ndim > mask.ndim else mask, value, x))
    index, places = placed(params["index"], node.args)
    holes = dict(zip(map(id, node.args), args, strict=True))
    at = [holes[id(one)] if id(one) in holes else known[id(one)] for one in places]
    own = args[: len(args) - params["index"].holes]
    return as_term(node.op(*own, *at, **(params | {"index": index})))


def _chooses(node: Node) -> bool:
    """Whether a node writes, where a mask of the first axes holds, one value or the same rows everywhere."""
    index = node.params["index"]  # type: ignore[index]
    mask = index.parts[0]
    if node.op.name != "index_put" or len(index.parts) != 1 or mask is HOLE or mask.dtype.kind != "b":
        return False
    return bool(len(getattr(node.args[1], "raw_shape", ())) <= len(node.shape) - mask.ndim)


def _condition(index: Index) -> Any:
    """What a mask came from: the node of a comparison, a constant that still is that mask, or else its entries."""
    origin, mask = index.origin, index.parts[0]
    if origin.__class__ is Node:
        return origin
    if origin.__class__ is Source:
        tensor = origin.ref()
        if np.array_equal(origin.kept if tensor is None else tensor._value, mask):
            return origin
    return _shown(index, "condition", lambda: Places(mask))


def _rows(index: Index) -> dict[int, list[Places]]:
    """The constants for each array of an index by its position: itself, or one for each axis of a mask."""
    return _shown(  # type: ignore[no-any-return]
        index,
        "places",
        lambda: {k: _of_array(index.parts[k]) for k in index.data if index.parts[k] is not HOLE},
    )


def _of_array(part: Any) -> list[Places]:
    return [*map(Places, part.nonzero() if part.dtype.kind == "b" else (part,))]


def _shown(index: Index, what: str, made: Any) -> Any:
    """A constant of an index, which is the same one in every formula."""
    if index.shown is None:
        index.shown = {}
    if what not in index.shown:
        index.shown[what] = made()
    return index.shown[what]

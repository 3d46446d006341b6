"""All rows of a Jacobian in one backward pass: the cotangents of every entry of a result flow as a bundle.

That needs a graph in which nothing but the table's rules runs.  Where somebody's code takes part (hooks, custom
functions), where a rule works in torch's dtypes (half precision, operands of several dtypes), or where a row came out
as nan and has a second answer (:mod:`symgrad.autograd.rescue`), the rows are pulled back one by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from symgrad.autograd.anomaly import ANOMALY
from symgrad.autograd.profiler import ACTIVE
from symgrad.autograd.rescue import has_nan
from symgrad.autograd.sweeps import root_of, run_sweep
from symgrad.tape import dual
from symgrad.tape.bundle import Bundle, bundled
from symgrad.tape.engine import Sweep, passed
from symgrad.tape.graph import FREED, Node
from symgrad.tape.narrow import needs_torchs_dtypes
from symgrad.tape.observers import PackedRow
from symgrad.tape.origin import Origin
from symgrad.tape.views import out_of_reach
from symgrad.tape.watch import watching

_KINDS = frozenset({"elementwise", "multilinear", "primitive"})
_ENTRIES = 1 << 22
"""So many entries of one cotangent are pulled back at once, as a rule."""


def pulled_rows(out: Any, variables: Sequence[Any], chunk_size: int | None = None) -> list[Any] | None:
    """The gradients of every entry of ``out`` by the variables, stacked as arrays: one array for each of them.

    None where they have to be pulled back one by one.  ``chunk_size`` is how many go at once.
    """
    value = out._value
    if not value.ndim or value.size < 2 or out._node is None or not out._requires_grad:
        return None
    if ANOMALY.enabled or ACTIVE or watching() is not None or value.dtype.kind == "c":
        return None
    wanted = [root_of(v) for v in variables if not out_of_reach(v)]
    largest = _largest(out._node, wanted)
    if largest is None:
        return None
    width = min(value.size, chunk_size or max(1, _ENTRIES // max(largest, value.size)))
    if width < 2:
        return None
    blocks: list[list[Any]] = [[] for _ in variables]
    for start in range(0, value.size, width):
        units = np.zeros((min(width, value.size - start), value.size), value.dtype)
        units[range(len(units)), range(start, start + len(units))] = 1
        found = _pulled(out, variables, wanted, Bundle(dual.new_tag(), units.reshape(-1, *value.shape)))
        if any(has_nan(block) for block in found):
            return None
        for block, row in zip(found, blocks, strict=True):
            row.append(block)
    return [np.array(row[0]) if len(row) == 1 else np.concatenate(row) for row in blocks]


def _largest(root: Node, wanted: Sequence[Any]) -> int | None:
    """The number of entries of the largest array on the way; None where the way is not open to bundles."""
    way = Sweep([(root, None)], wanted, False, True, passed, passed, passed, passed, passed)
    nodes = way.order()
    if any(leaf.has_hooks() for leaf in way.leaves) or not all(map(_open, nodes)):
        return None
    return max((int(np.prod(node.shape, dtype=int)) for node in nodes), default=0)


def _open(node: Node) -> bool:
    op, saved = node.op, node.saved
    return (
        op.kind in _KINDS
        and not op.underived
        and node.extra is None
        and saved.__class__ is not PackedRow
        and node.dtype.kind == "f"
        and (saved is FREED or not needs_torchs_dtypes(node, saved))
    )


def _pulled(out: Any, variables: Sequence[Any], wanted: Sequence[Any], seed: Bundle) -> list[Any]:
    """The gradients for the cotangents of a bundle."""
    sweep = run_sweep([out], [seed], wanted, True, False, Origin([out], [None]), lambda _, g: g)
    found = []
    for variable in variables:
        g, like = sweep.found.get(root_of(variable)), variable._value
        found.append(np.zeros((seed.width, *like.shape), like.dtype) if g is None else bundled(g, seed.tag, seed.width))
    return found

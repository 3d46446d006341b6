"""The pattern of a Jacobian from the recorded graph: index sets go from the variables to the results, op by op."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from symgrad.autograd.sparsity.pattern import LIMIT, Pattern, TooDense, stacked_rows
from symgrad.autograd.sparsity.relations import relation
from symgrad.errors import AutogradError
from symgrad.tape.backward.engine import QuietSweep
from symgrad.tape.backward.order import in_order, tracked
from symgrad.tape.folding import unfolded
from symgrad.tape.graph import Node
from symgrad.tape.memory.versions import any_changes, catch_up
from symgrad.tape.record import Recorded, root_of


def pattern_of(outs: Sequence[Any], variables: Sequence[Any]) -> Pattern:
    """The places of the Jacobian of all entries of ``outs`` by all entries of ``variables`` that may be nonzero.

    Both are taken one after the other, each in row-major order.  Raises ``AutogradError`` where the graph is too dense
    for a pattern to be of use.
    """
    counts = [int(np.prod(v._value.shape, dtype=int)) for v in variables]
    starts = np.concatenate([[0], np.cumsum(counts)]).tolist()
    known: dict[Any, Pattern] = {}
    for v, start, count in zip(variables, starts, counts, strict=False):
        known[root_of(v)] = Pattern.diagonal(count, start, starts[-1])
    live = [out for out in outs if isinstance(out, Recorded) and out._requires_grad]
    if live:
        _walk([root_of(out) for out in live], [root_of(v) for v in variables], known, starts[-1])
    moving = {id(out) for out in live}
    rows = [known.get(root_of(out)) if id(out) in moving else None for out in outs]
    sizes = [int(np.prod(out._value.shape, dtype=int)) for out in outs]
    parts = [Pattern.empty(n, starts[-1]) if p is None else p for p, n in zip(rows, sizes, strict=True)]
    return stacked_rows(parts, starts[-1])


def _walk(roots: Sequence[Any], wanted: Sequence[Any], known: dict[Any, Pattern], columns: int) -> None:
    """Fill ``known`` with the patterns of the nodes between ``wanted`` and ``roots``; of the roots it keeps them."""
    sweep = QuietSweep([(root, None) for root in roots], wanted)
    nodes = _nodes(sweep)
    users: dict[Any, int] = {}
    for node in nodes:
        for arg in tracked(node.args, sweep.masks.get(node, node.mask)):
            users[arg] = users.get(arg, 0) + 1
    kept = {*roots, *wanted}
    for node in reversed(nodes):
        mask = sweep.masks.get(node, node.mask)
        if node not in known:
            known[node] = _of_node(sweep, node, mask, known, columns)
        for arg in tracked(node.args, mask):
            users[arg] -= 1
            if not users[arg] and arg not in kept:
                known.pop(arg, None)


def _nodes(sweep: Any) -> list[Node]:
    nodes = in_order(sweep)
    if any_changes():
        for node in nodes:
            catch_up(node)
    return nodes


def check_hooks(outs: Sequence[Any], variables: Sequence[Any]) -> None:
    """Raise ``AutogradError`` where a hook of somebody's would run on the way."""
    live = [(root_of(out), None) for out in outs if isinstance(out, Recorded) and out._requires_grad]
    for node in _nodes(QuietSweep(live, [root_of(v) for v in variables])):
        _refuse_hooks(node)


def _refuse_hooks(node: Node) -> None:
    if node.extra is not None and (node.extra.hooks or node.extra.pre or node.extra.post):
        raise AutogradError(
            f"sparse derivatives: a hook is registered on the result of {node.op.name} (shape {tuple(node.shape)}), "
            "and it would see many rows of the Jacobian added up. Remove the hook, or take jacobian, which goes row by "
            "row."
        )


def _of_node(sweep: Any, node: Node, mask: int, known: dict[Any, Pattern], columns: int) -> Pattern:
    _refuse_hooks(node)
    if node.op.kind == "folded":  # its parts tell; what they compute with are placeholders
        inside, end = dict(known), unfolded(node)
        _walk([end], tracked(node.args, mask), inside, columns)
        whole: Pattern = inside[end]
        return whole
    found: Pattern | None = None
    try:
        for i, arg in enumerate(node.args):
            if mask >> i & 1 and arg in known:
                part = _carried(known[arg], relation(node, i, sweep.arguments))
                found = part if found is None else found.joined(part)
                if found.nnz > LIMIT:
                    raise TooDense
    except TooDense:
        raise AutogradError(
            f"sparse derivatives: at {node.op.name} (shape {tuple(node.shape)}) more than {LIMIT} pairs of an entry "
            f"and one of the {columns} variables depend on each other, so the matrix is as good as dense. Take "
            "products with it (jvp, vjp), or give its places as pattern= if you know better."
        ) from None
    return Pattern.empty(int(np.prod(node.shape, dtype=int)), columns) if found is None else found


def _carried(pattern: Pattern, groups: Any) -> Pattern:
    """The pattern of a result from that of the operand it depends on by these groups."""
    if groups is None:
        return pattern
    out, own, count = groups
    if len(own) != pattern.shape[0]:  # a function of several outputs has one row for all of them
        own = np.zeros(pattern.shape[0], np.int64)
    if not (len(own) == count and (own == np.arange(count)).all()):
        pattern = pattern.merged(own, count)
    return pattern if len(out) == count and (out == np.arange(count)).all() else pattern.taken(out)

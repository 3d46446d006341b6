"""Wrong gradients made on purpose: the sweep of the tape with one edge altered.

A mistake in a hand-written gradient is mostly local: a term forgotten, a path taken for a constant, an inner derivative
left out, a matrix not transposed.  Each is a reverse sweep in which one edge of the graph does something else, so the
tape can say which one reproduces the gradient under check.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from symgrad.errors import FormulaError
from symgrad.formula.term import describe as describe_term
from symgrad.ops.rules.fitting import fit
from symgrad.tape.backward.engine import Sweep
from symgrad.tape.formulas.reading import Reading
from symgrad.tape.graph import Node
from symgrad.tape.record import Recorded

_KEPT_AXIS = re.compile(r"unsqueeze\((.*), dim=\d+\)")
"""A mean or a norm with ``keepdims=True`` reads better without the axis that it keeps."""

LONGEST = 100
"""Characters of a formula in a sentence."""

BUDGET = 60_000
"""What a diagnosis may spend on altered sweeps: visits of nodes, where a thousand entries count as one more."""


class AlteredSweep(Sweep):
    """A sweep in which argument ``i`` of one node receives something else.

    ``change`` is "cut" for nothing, "skip" for the cotangent without the local derivative, "turn" for the transpose,
    "turn others" for what the transposes of the other arguments would have given it.
    """

    def __init__(self, output: Any, node: Node | None, i: int, change: str, seed: Any):
        root = output._node
        # Wanting the root takes the careful path through every node, the one that asks ``_contribution``.
        wanted = [root, *_leaves(root)]
        super().__init__(
            roots=[(root, np.asarray(seed, output.dtype).reshape(output._value.shape)[()])],
            wanted=wanted,
            create_graph=False,
            keep_graph=True,
            wrap=lambda node, saved: saved,
            finish_leaf=lambda leaf, g: g,
            run_hooks=lambda node, g: g,
            run_pre_hooks=lambda node, g: g,
            run_post_hooks=lambda node, results, g: results,
        )
        self._edge = (node, i)
        self._change = change

    def _contribution(self, node: Node, rules: Any, i: int, g: Any, *rest: Any) -> Any:
        if (node, i) != self._edge:
            return super()._contribution(node, rules, i, g, *rest)
        if self._change == "cut":
            return None
        if self._change == "turn":
            found = super()._contribution(node, rules, i, g, *rest)
            return np.swapaxes(found, -1, -2) if np.ndim(found) > 1 else found
        if self._change == "turn others":
            saved = [
                v if j == i + 1 or not _square(np.shape(v)) else np.swapaxes(v, -1, -2) for j, v in enumerate(rest[0])
            ]
            return super()._contribution(node, rules, i, g, tuple(saved), *rest[1:])
        arg = node.args[i]
        return fit(np.asarray(g), arg.raw_shape, arg.dtype)


def _leaves(root: Node) -> list[Any]:
    found: dict[int, Any] = {}
    for node in _nodes(root):
        for arg in node.args:
            if isinstance(arg, Recorded):
                found[id(arg)] = arg
    return list(found.values())


def _nodes(root: Node) -> list[Node]:
    seen = {root}
    stack, nodes = [root], []
    while stack:
        node = stack.pop()
        nodes.append(node)
        for i, arg in enumerate(node.args):
            if node.mask >> i & 1 and isinstance(arg, Node) and arg not in seen:
                seen.add(arg)
                stack.append(arg)
    nodes.sort(key=lambda node: node.sequence_nr, reverse=True)
    return nodes


def altered_gradient(output: Any, leaf: Any, node: Node, i: int, change: str = "cut", seed: Any = 1.0) -> Any:
    """The gradient of ``leaf`` for a cotangent when argument ``i`` of ``node`` receives something else."""
    sweep = AlteredSweep(output, node, i, change, seed)
    sweep.run()
    g = sweep.found.get(leaf)
    return np.zeros(leaf._value.shape, leaf.dtype) if g is None else np.asarray(g)


def edges(output: Any, sweeps: int = 1) -> Iterator[tuple[Node, int]]:
    """The edges that gradients flow along, from the output down, within the budget of so many sweeps each."""
    nodes = _nodes(output._node)
    cost = sweeps * sum(1 + math.prod(node.shape) // 1000 for node in nodes)
    spent = 0
    for node in nodes:
        for i in range(len(node.args)):
            if node.mask >> i & 1:
                spent += cost
                if spent > BUDGET:
                    return
                yield node, i


def is_square(node: Node, i: int) -> bool:
    """Whether argument ``i`` of a node is a square matrix, whose gradient may be taken for its transpose."""
    return _square(getattr(node.args[i], "raw_shape", np.shape(node.args[i])))


def _square(shape: tuple[int, ...]) -> bool:
    return len(shape) >= 2 and shape[-1] == shape[-2] > 1


def is_unary(node: Node) -> bool:
    """Whether the node applies a function of one argument, of its shape, whose derivative can be forgotten."""
    op = node.op
    if op.kind not in ("elementwise", "primitive") or len(node.args) != 1:
        return False
    return node.args[0].raw_shape == node.shape and not op.identity and op.name not in ("neg", "cast")


def describe_node(output: Any, node: Node) -> str:
    """A node of the graph of ``output`` as a formula."""
    return _text(output, node)


def describe(output: Any, node: Node, i: int) -> str:
    """Argument ``i`` of a node as a formula, named as in the whole graph."""
    text = _text(output, node.args[i])
    return text if node.op.name in ("add", "sub") else f"{text} as argument of {node.op.name}"


def _text(output: Any, edge: Any) -> str:
    """The formula of an edge, shortened where it is too long for a sentence."""
    from symgrad.formula.sympy.texts import text

    term = Reading([output._node])[edge]
    try:
        found = text(term)
    except FormulaError:
        return describe_term(term)
    kept = _KEPT_AXIS.fullmatch(found)
    found = kept[1] if kept and _is_balanced(kept[1]) else found
    return found if len(found) <= LONGEST else describe_term(term)


def _is_balanced(text: str) -> bool:
    """Whether no bracket closes that was not opened."""
    depth = 0
    for c in text:
        depth += (c == "(") - (c == ")")
        if depth < 0:
            return False
    return not depth

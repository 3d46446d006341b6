"""A backward pass once more, with everything that flows kept: the values, and what goes along every edge.

The graph is copied, its values are computed again from the leaves (backward has freed them), and the engine's own
sweep runs over the copy.  So what is explained is what the engine does, not another derivation of it.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any, NamedTuple

import numpy as np

from symgrad.dtypes import is_floating
from symgrad.errors import AutogradError, FormulaError, IllPosedDerivative, SymgradError
from symgrad.ops.rules.kinks import under
from symgrad.tape.backward.engine import QuietSweep
from symgrad.tape.folding import unfolded
from symgrad.tape.formulas.below import nodes_below
from symgrad.tape.graph import FREED, Masked, Node, Parts, Source, twin
from symgrad.tape.memory.versions import renewed
from symgrad.tape.observers import PackedRow, unpacked
from symgrad.tape.operands import promoted, scalarised
from symgrad.tape.record import Recorded, computed, value_of
from symgrad.tape.saved import select_saved

Change = Callable[..., Any]
"""Changes a value at random; of the operands of a sum its second argument says how many terms that has."""

MOST_BYTES = 8_000_000_000
"""Bytes of all values of a graph up to which it is run again; the pass keeps about two times as much beside them."""


def rounds(node: Node) -> bool:
    """Whether an operation computes, and does not only show, move or copy what it is given."""
    return node.op.view is None and not node.op.identity and not node.op.shares


def _arrived(node: Node, g: Any) -> Any:
    """A cotangent as an array of the shape of the result; of a custom function, of its first output that has one."""
    if g.__class__ is Parts:
        g = next(iter(g.parts.values()))
    g = np.asarray(value_of(g))
    return g if g.shape == node.shape or node.op.kind == "function" else np.broadcast_to(g, node.shape)


class Edge(NamedTuple):
    """Argument ``i`` of ``node`` received ``c`` when the node had received ``g``."""

    node: Node
    i: int
    g: Any
    c: Any


class Replay:
    """The values of a graph, computed again.

    ``twins`` are its nodes' copies, which have all saved values; ``values`` the results by copy; ``origin`` leads from
    a copy back to the node.  ``noise`` stands for rounding errors: it changes what operations give and, where these add
    up many entries, what they take; ``leaves`` gives leaves other values.  ``since``: leaves that were changed after
    that creation number are refused.
    """

    def __init__(self, roots: Sequence[Any], since: int = 0, noise: Change | None = None, leaves: Change | None = None):
        self.twins: dict[Node, Node] = {}
        self.origin: dict[Node, Node] = {}
        self.values: dict[Node, Any] = {}
        self.since = since
        self.noise = noise
        self.leaf = leaves
        self._given: dict[int, Any] = {}
        self.nodes: list[Node] = []
        nodes = nodes_below([root for root in roots if isinstance(root, Node)])[0]
        _require_room(nodes)
        with np.errstate(all="ignore"):
            for node in nodes:
                self._run(node)

    def place(self, edge: Any) -> Any:
        """Where an edge of the graph lies in the copy: a copied node, or the leaf itself."""
        return self.twins[edge] if isinstance(edge, Node) else edge

    def value(self, edge: Any) -> Any:
        """The value of an argument of a copied node."""
        if isinstance(edge, Node):
            return self.values[edge]
        if not isinstance(edge, (Recorded, Source)):
            return edge
        if id(edge) not in self._given:
            value = self._of_leaf(edge)
            self._given[id(edge)] = value if self.leaf is None or not is_floating(value.dtype) else self.leaf(value)
        return self._given[id(edge)]

    def _of_leaf(self, edge: Any) -> Any:
        alive = edge if isinstance(edge, Recorded) else edge.ref()
        name = getattr(edge, "name", None) or "an operand"
        if self.since and renewed(alive, self.since):
            raise AutogradError(
                f"{name} of shape {list(edge.raw_shape)} was changed after it was used, so the pass cannot be run "
                "again. Ask before the change (before the optimizer's step), or give the function: "
                "sg.explain(x, lambda: loss(x))."
            )
        value = edge.kept if alive is None else alive._value
        if value is None:
            raise FormulaError(
                f"{name} of shape {list(edge.shape)}, a constant of the program, is gone; keep a reference to it, or "
                "give the function: sg.explain(x, lambda: loss(x))."
            )
        return value

    def _run(self, node: Node) -> None:
        if node.op.kind == "folded":
            made = self.twins[unfolded(node)]
            self.twins[node] = made
            return
        made = twin(node)
        made.args = tuple(self.twins[a] if isinstance(a, Node) else a for a in node.args)
        saved = unpacked(node.saved) if node.saved.__class__ is PackedRow else node.saved
        params, noisy = node.params or {}, self.noise is not None and rounds(node)
        try:
            values = promoted(node.op, [self.value(a) for a in made.args])
            if noisy and not node.op.entrywise:
                terms = _terms(node, [np.shape(v) for v in values])
                values = [_noised(v, self.noise, terms) for v in values]
            out = scalarised(computed(node.op, values, params))
            if np.shape(out) != node.shape:
                raise ValueError("another shape")
        except (SymgradError, TypeError, ValueError, AttributeError, IndexError) as error:
            # A custom function runs when it is recorded and not again; what it has kept is enough for its rule.
            if saved is FREED:
                raise _cannot(node, error) from None
            out, values = saved[0] if _kept(node, saved) else None, None
        if noisy:
            out = _noised(out, self.noise)
        if values is not None and node.op.kind != "function":
            made.saved = select_saved(node.op, node.mask, out, values)
        else:
            made.saved = saved
        self.twins[node], self.origin[made], self.values[made] = made, node, out  # None where it is not known
        self.nodes.append(made)


def _require_room(nodes: Sequence[Node]) -> None:
    """Refuse a graph whose values, kept all at once, would fill the memory."""
    size = sum(math.prod(node.shape) * node.dtype.itemsize for node in nodes)
    if size > MOST_BYTES:
        raise AutogradError(
            f"the pass runs again with every value kept: {size / 1e9:.3g} GB for {len(nodes)} operations, and at most "
            f"{MOST_BYTES / 1e9:.3g} GB are taken. Ask with smaller arrays, or for fewer steps of a loop."
        )


def _noised(value: Any, noise: Any, terms: int = 1) -> Any:
    return noise(value, terms) if getattr(value, "dtype", None) is not None and is_floating(value.dtype) else value


def _terms(node: Node, shapes: Sequence[tuple[int, ...]], back: int | None = None) -> int:
    """How many numbers an operation adds up for an entry of its result; ``back``: its derivative by that argument."""
    op, params = node.op, node.params or {}
    if op.kind == "multilinear":
        labels, output = op.einsum(*shapes, **params)
        sizes = {k: n for row, shape in zip(labels, shapes, strict=True) for k, n in zip(row, shape, strict=True)}
        kept = output if back is None else labels[back]
        return math.prod(n for k, n in sizes.items() if k not in kept)
    if not shapes or not shapes[0]:
        return 1
    if op.linear and op.along and shapes[0] == node.shape:  # a running sum, whose derivative is one from the other end
        return int(shapes[0][params["dim"]])
    if op.mixes is None or back is not None:
        return 1
    return max(math.prod(shapes[0]) // max(math.prod(node.shape), 1), 1)


def _kept(node: Node, saved: Any) -> bool:
    return bool(saved) and hasattr(saved[0], "dtype") and np.shape(saved[0]) == node.shape


def _cannot(node: Node, error: Exception) -> SymgradError:
    if isinstance(error, SymgradError) and node.op.kind != "function":
        return error
    return AutogradError(
        f"the operation {node.op.name}() cannot be run again, so the pass through it cannot be explained: backward has "
        "freed what it kept. Ask before backward, sg.explain(x, loss), or call backward(retain_graph=True)."
    )


class Pass(QuietSweep):
    """The reverse sweep over a replayed graph: ``edges`` has all that went along the edges, newest node first.

    ``into`` has the edges by the place that they lead to.  ``wanted`` is the place that the pass goes to, None for all
    leaves.
    """

    def __init__(self, replay: Replay, roots: Sequence[tuple[Any, Any]], wanted: Any):
        self.replay = replay
        super().__init__(
            roots=[(replay.place(root), seed) for root, seed in roots],
            wanted=None if wanted is None else [replay.place(wanted)],
        )
        self.target = None if wanted is None else replay.place(wanted)
        self.wanted_nodes = {*self.wanted_nodes, *(r for r, _ in self.roots if isinstance(r, Node))}
        self.edges: list[Edge] = []
        self.into: dict[Any, list[Edge]] = {}

    @property
    def gradient(self) -> Any:
        """The gradient of the target, None where nothing reached it."""
        return self.found.get(self.target)

    def local(self, node: Node, i: int) -> Any:
        """What a gradient of ones becomes at argument ``i``; None where that is no array."""
        ones = np.ones(node.shape, node.dtype)[()]
        with np.errstate(all="ignore"):
            found = super()._contribution(node, self._rules(node, node.saved), i, ones, node.saved, node.params)
        return found if isinstance(found, (np.ndarray, np.generic)) else None

    def _contribution(self, node: Node, rules: Any, i: int, g: Any, saved: Any, params: Any, *rest: Any) -> Any:
        noise = self.replay.noise if rounds(node) else None
        taken = g
        if noise is not None and not node.op.entrywise:
            taken = _noised(g, noise, _terms(node, [np.shape(value_of(self.replay.value(a))) for a in node.args], i))
        found = super()._contribution(node, rules, i, taken, saved, params, *rest)
        value = found.value if isinstance(found, Masked) else value_of(found)
        if noise is not None and not isinstance(found, Masked):
            found = value = _noised(found, noise)
        if value.__class__ is Parts:
            value = _arrived(node, value)
        if isinstance(value, (np.ndarray, np.generic)):
            edge = Edge(node, i, _arrived(node, g), value)
            self.edges.append(edge)
            self.into.setdefault(node.args[i], []).append(edge)
        return found


def swept(
    roots: Sequence[tuple[Any, Any]],
    wanted: Any,
    since: int = 0,
    convention: Any = None,
    noise: Change | None = None,
    leaves: Change | None = None,
) -> Pass:
    """The pass from ``roots`` (edges with their cotangents) to ``wanted``, run again.

    What is ill-posed was warned of by the pass itself, or is the answer to what is asked about it.
    """
    replay = Replay([root for root, _ in roots] + [wanted], since, noise, leaves)
    done = Pass(replay, roots, wanted)
    with nullcontext() if convention is None else under(convention), warnings.catch_warnings():
        warnings.simplefilter("ignore", IllPosedDerivative)
        done.run()
    return done


class Asked(NamedTuple):
    """The passes that a gradient is the sum of, as the arguments of :func:`swept`."""

    roots: list[tuple[Any, Any]]
    wanted: Any
    since: int
    convention: Any


def passes_of(origin: Any) -> Asked:
    """The passes of a gradient, from what :func:`symgrad.tape.formulas.origin.origin_of` gives."""
    if not isinstance(origin, list):
        raise AutogradError(
            "this gradient has accumulated more backward passes than are remembered; zero it (x.grad = None), and run "
            "one pass."
        )
    roots = [
        (root, np.ones(root.raw_shape, root.dtype)[()] if seed is None else _seed(seed))
        for passed, _ in origin
        for root, seed in zip(passed.roots, passed.seeds, strict=True)
    ]
    return Asked(roots, origin[-1][1], min(passed.began for passed, _ in origin), origin[0][0].convention)


def _seed(edge: Any) -> Any:
    value = getattr(edge, "_value", None)
    if isinstance(edge, Source):
        alive = edge.ref()
        value = edge.kept if alive is None else alive._value
    if value is None:
        raise AutogradError("the gradient that the pass began with is gone; ask with the output: explain(x, loss).")
    return value

"""Wrong gradients made on purpose: what comes out when one edge of the graph hands down something else.

A mistake in a hand-written gradient is mostly local: a term forgotten, a path taken for a constant, an inner derivative
left out, a matrix not transposed.  One reverse sweep is recorded, with what goes along every edge.  The sweep is linear
from there on, so a change on an edge changes the gradients by what the difference brings when it is pulled back alone.
"""

from __future__ import annotations

import functools
import math
import re
import time
from collections.abc import Callable, Iterator, Sequence, Set as AbstractSet
from dataclasses import dataclass
from typing import Any

import numpy as np

from symgrad.check.graph.lines import is_alone, written
from symgrad.errors import FormulaError, SymgradError
from symgrad.formula.term import describe as describe_term
from symgrad.ops.rules.fitting import fit
from symgrad.tape.backward.engine import QuietSweep
from symgrad.tape.formulas.reading import Reading
from symgrad.tape.graph import Masked, Node
from symgrad.tape.record import Recorded

_KEPT_AXIS = re.compile(r"unsqueeze\((.*), dim=\d+\)")
"""A mean or a norm with ``keepdims=True`` reads better without the axis that it keeps."""

_LONG_NUMBER = re.compile(r"(?<![\w.])\d+\.\d{8,}(e[+-]?\d+)?")
"""A number that is there to be computed with, and too long to be read."""

SHORT = 40
"""Characters of a formula up to which it tells more than the expression that stands in the function."""

LONGEST = 100
"""Characters of a formula in a sentence."""

BUDGET = 60_000
"""What a hypothesis may spend on changes: visits of nodes, where a thousand entries count as one more."""

CHANGE = 8
"""What a change costs at least, in visits of nodes."""

MOST_OF_MATRIX = 20_000
"""Entries of the matrices that are kept in place of sweeps."""

LARGEST = 5_000_000
"""Entries of all values on edges up to which a sweep is recorded."""


Edges = AbstractSet[tuple[Node, int]]
NONE: Edges = frozenset()

Slopes = Callable[[Any, Edges], "dict[Node, Any] | None"]
"""The Jacobians of all values by a leaf, with some edges still."""


@dataclass
class Local:
    """What happens on one edge: argument ``i`` of a node receives ``c`` when the node has received ``g``.

    ``rule(g, *saved)`` is the rule, ``(out, *inputs)`` given, on arrays or on tensors; what it gives may have to be
    summed to the argument's shape.
    """

    node: Node
    i: int
    g: Any
    c: Any
    saved: tuple[Any, ...]
    rule: Callable[..., Any]

    def apply(self, *saved: Any) -> Any:
        """What the rule hands down with other values for the result and the operands."""
        return self.fitted(self.rule(self.g, *saved))

    def of(self, g: Any) -> Any:
        """What the rule hands down of another cotangent."""
        return self.fitted(self.rule(g, *self.saved))

    def fitted(self, value: Any) -> Any:
        """A value summed and stretched to the shape of the argument."""
        arg, value = self.node.args[self.i], np.asarray(value)
        same = value.shape == arg.raw_shape and value.dtype == arg.dtype
        return value if same else fit(value, arg.raw_shape, arg.dtype)


Change = Any  # Callable[[Local], Any] | Straight
"""What an edge hands down instead, in the shape of the argument; None where the change makes no sense there."""


@dataclass(frozen=True, eq=False)
class Straight:
    """What an edge hands down goes straight to a value of its shape: the derivative of what lies between is left out.

    Or that derivative, if it is one entry by entry, is multiplied in ``twice``, or another ``slope`` stands for it.
    """

    to: Any
    twice: bool = False
    slope: Any = None

    def instead(self, c: Any, part: Any) -> Any:
        """What comes to the value in place of its part of the gradient, where the edge hands down ``c``."""
        if self.slope is not None:
            return np.asarray(c * self.slope, part.dtype)
        if not self.twice:
            return c
        twice = np.where(c != 0, part * part / np.where(c != 0, c, 1), 0)
        return twice if part.dtype.kind == "c" else np.real(twice).astype(part.dtype)


class CarefulSweep(QuietSweep):
    """A sweep of arrays that takes the careful path through every node, the one that asks ``_contribution``."""

    def __init__(self, root: Node, seed: Any, wanted: Sequence[Any] = ()):
        super().__init__(
            roots=[(root, fit(np.reshape(seed, root.shape), root.shape, root.dtype)[()])],
            wanted=[root, *leaves_below(root), *wanted],  # wanting the root is what leads every node there
        )

    def local(self, found: Any, node: Node, rules: Any, i: int, g: Any, saved: Any, params: Any) -> Local | None:
        """What happens on an edge that hands down ``found``; None where that is nothing."""
        value = found.value if isinstance(found, Masked) else found
        if not isinstance(value, (np.ndarray, np.generic)):
            return None
        of_node = functools.partial(rules, i) if callable(rules) else rules[i]

        def rule(g: Any, *values: Any) -> Any:
            return of_node(g, *self.arguments(node, values), **(params or {}))

        return Local(node, i, np.asarray(g), np.asarray(value), tuple(saved), rule)


class _Recording(CarefulSweep):
    """A sweep that keeps what goes along every edge."""

    def __init__(self, root: Node, seed: Any):
        super().__init__(root, seed)
        self.edges: dict[tuple[Node, int], Local] = {}

    def _contribution(self, node: Node, rules: Any, i: int, g: Any, saved: Any, params: Any, *rest: Any) -> Any:
        found = super()._contribution(node, rules, i, g, saved, params, *rest)
        local = self.local(found, node, rules, i, g, saved, params)
        if local is not None:
            self.edges[node, i] = local
        return found


class _Stilled(CarefulSweep):
    """A sweep that hands nothing down on some edges."""

    def __init__(self, root: Node, seed: Any, wanted: Sequence[Any], still: Edges):
        super().__init__(root, seed, wanted)
        self.still = still

    def _contribution(self, node: Node, rules: Any, i: int, g: Any, saved: Any, params: Any, *rest: Any) -> Any:
        return None if (node, i) in self.still else super()._contribution(node, rules, i, g, saved, params, *rest)


class Surgeon:
    """The recorded sweeps of a graph, one for each cotangent of its output, and what changes on edges bring.

    ``slopes(leaf, still)`` gives the Jacobians of all values by a leaf, where they are known; ``spent`` counts the
    visits of nodes, and after the ``deadline``, a time of ``time.monotonic()``, nothing more is looked at.  Edges that
    are ``still`` hand nothing of a change down.
    """

    def __init__(self, output: Any, seeds: Any = None, slopes: Slopes = lambda leaf, still: None):
        self.output = output
        self.nodes = nodes_below(output._node)
        self.sweeps: list[dict[tuple[Node, int], Local]] = []
        self.spent = 0
        self.patience = 1.0
        self.deadline = math.inf
        self.slopes = slopes
        self._weights: dict[Any, int] = {}
        self._asked: dict[Any, int] = {}
        self._matrices: dict[Any, Any] = {}
        self._slopes: dict[Any, dict[Node, Any] | None] = {}
        self._parts: dict[Any, Any] = {}
        if sum(math.prod(node.shape) for node in self.nodes) > LARGEST:
            return
        self.seeds = [np.ones(output._value.shape)] if seeds is None else list(seeds)
        for seed in self.seeds:
            sweep = _Recording(output._node, seed)
            with np.errstate(all="ignore"):
                sweep.run()
            self.sweeps.append(sweep.edges)

    def edges(self, budget: int = BUDGET) -> Iterator[tuple[Node, int]]:
        """The edges that gradients flow along, from the output down, until so much more has been spent."""
        end = self.until(budget)
        for node in self.nodes:
            for i in range(len(node.args)):
                if self.is_over(end):
                    return
                if self.sweeps and all((node, i) in edges for edges in self.sweeps):
                    yield node, i

    def until(self, budget: int) -> float:
        """Where a hypothesis has to stop that may spend so much; less of it after arguments that nothing explains."""
        return self.spent + budget * self.patience

    def is_over(self, end: float) -> bool:
        """Whether so much has been spent, or the time is up."""
        return self.spent > end or time.monotonic() > self.deadline

    def moved(self, leaf: Any, node: Node, i: int, change: Any, still: Edges = NONE) -> list[Any] | None:
        """By how much the gradients of a leaf change, one per cotangent; None where the change makes no sense."""
        found = []
        self.spent += CHANGE
        for number, edges in enumerate(self.sweeps):
            local = edges[node, i]
            if isinstance(change, Straight):
                part = self._part(number, node, i, change.to)
                with np.errstate(all="ignore"):
                    other = change.instead(local.c, part)
                if not np.all(np.isfinite(other)):
                    return None
                found.append(self.pulled(change.to, other - part, leaf, still))
                continue
            with np.errstate(all="ignore"):
                other = _instead(local, change)
            if other is None or not np.all(np.isfinite(other)):
                return None
            found.append(self.pulled(node.args[i], other - local.c, leaf, still))
        return found

    def _part(self, number: int, node: Node, i: int, to: Any) -> Any:
        """What an edge brings to a value on the way, in one of the sweeps."""
        key = (number, node, i, id(to))
        if key not in self._parts:
            self._parts[key] = self.swept(node.args[i], self.sweeps[number][node, i].c, to)
        return self._parts[key]

    def changed(self, leaf: Any, edges: Edges, change: Change, still: Edges = NONE) -> list[Any]:
        """By how much the gradients of a leaf change, one per cotangent, with a change on several edges at once."""
        with np.errstate(all="ignore"):
            return [self._brought(sweep, leaf, edges - still, change, still) for sweep in self.sweeps]

    def added_up(self, leaf: Any, edges: Edges, change: Change, still: Edges) -> list[Any] | None:
        """About the same: what each change brings where the others are not made; None where no Jacobians are known."""
        if self._known(leaf, still) is None:
            return None
        totals = []
        for sweep in self.sweeps:
            total = np.zeros(leaf._value.shape, leaf.dtype)
            for node, i in edges - still:
                local = sweep.get((node, i))
                with np.errstate(all="ignore"):
                    other = None if local is None else _instead(local, change)
                if local is not None and other is not None:
                    total = total + self.pulled(node.args[i], other - local.c, leaf, still)
            totals.append(total)
        self.spent += CHANGE
        return totals

    def _brought(
        self, sweep: dict[tuple[Node, int], Local], leaf: Any, edges: Edges, change: Change, still: Edges
    ) -> Any:
        """What changes on several edges bring a leaf: each meets what those above it have changed."""
        waiting = {node for node, _ in edges}
        more: dict[Any, Any] = {}
        total = np.zeros(leaf._value.shape, leaf.dtype)
        known = self._known(leaf, still)
        for node in self.nodes:
            d = more.pop(node, None)
            if d is None and node not in waiting:
                continue
            self.spent += 1 + math.prod(node.shape) // 1000
            if known is not None and not waiting:
                total = total + self.pulled(node, d, leaf, still)
                continue
            waiting.discard(node)
            for i, arg in enumerate(node.args):
                local = sweep.get((node, i))
                if local is None or (node, i) in still:
                    continue
                moved = _moved(local, d, change if (node, i) in edges else None)
                if moved is None:
                    continue
                if arg is leaf:
                    total = total + moved
                elif isinstance(arg, Node):
                    more[arg] = more[arg] + moved if arg in more else moved
        return total

    def pulled(self, arg: Any, cotangent: Any, leaf: Any, still: Edges = NONE) -> Any:
        """The gradient of a leaf for a cotangent of a value on the way."""
        if arg is leaf:
            return np.asarray(cotangent)
        if not isinstance(arg, Node) or not np.any(cotangent):
            return np.zeros(leaf._value.shape, leaf.dtype)
        matrix = self.matrix(arg, leaf, still)
        if matrix is not None:
            flat = np.ravel(cotangent)
            if not np.isfinite(matrix).all():  # of a branch not taken, which zeros of the cotangent leave out
                flat, matrix = flat[flat != 0], matrix[flat != 0]
            return (flat @ matrix).reshape(leaf._value.shape)
        return self.swept(arg, cotangent, leaf, still)

    @functools.cached_property
    def idle(self) -> frozenset[tuple[Node, int]]:
        """Edges along which all that comes cancels, as to the largest entry that a softmax is shifted by.

        Gradients by hand leave such paths out, even where a mistake no longer lets them cancel.
        """
        if not self.sweeps:
            return frozenset()
        return frozenset.intersection(*(frozenset(_cancelling(edges)) for edges in self.sweeps))

    @functools.cached_property
    def sums(self) -> frozenset[tuple[Node, int]]:
        """Edges into sums, norms and their kin that are stretched again to the array that they are of."""
        return frozenset(
            (node, i)
            for node in self.nodes
            for i, arg in enumerate(node.args)
            if node.mask >> i & 1 and 1 < math.prod(node.shape) < math.prod(getattr(arg, "raw_shape", ()))
        )

    def matrix(self, arg: Node, leaf: Any, still: Edges = NONE, at_once: bool = False) -> Any:
        """What each entry of a value's cotangent brings to a leaf, one row per entry; None where that is too much.

        Where forward mode does not know it, it is made when it has been asked for as often as it has rows, or
        ``at_once``.
        """
        known = self._known(leaf, still)
        if known is not None:
            return known.get(arg) if arg in known else np.zeros((math.prod(arg.shape), leaf._value.size))
        key, rows = (arg, id(leaf), still), math.prod(arg.shape)
        if key not in self._matrices:
            self._asked[key] = self._asked.get(key, 0) + 1
            real = arg.dtype.kind == "f" == leaf.dtype.kind
            if not real or rows * leaf._value.size > MOST_OF_MATRIX or (self._asked[key] < rows and not at_once):
                return None
            units = np.eye(rows, dtype=arg.dtype).reshape(rows, *arg.shape)
            self._matrices[key] = np.array([self.swept(arg, unit, leaf, still).ravel() for unit in units])
        return self._matrices[key]

    def _known(self, leaf: Any, still: Edges) -> dict[Node, Any] | None:
        """The Jacobians of all values by a leaf, if they give the gradients that the sweeps have given."""
        key = (id(leaf), still)
        if key not in self._slopes:
            found = self.slopes(leaf, still)
            if found is not None and still <= self.idle:
                for seed, sweep in zip(self.seeds, self.sweeps, strict=True):
                    reached = sum(k.c for k in sweep.values() if k.node.args[k.i] is leaf)
                    made = np.ravel(seed) @ found.get(self.output._node, np.zeros((1, 1)))
                    if not np.allclose(made, np.ravel(reached), rtol=1e-9, atol=1e-12 * np.max(np.abs(reached))):
                        found = None
                        break
            self._slopes[key] = found
        return self._slopes[key]

    def swept(self, arg: Node, cotangent: Any, to: Any, still: Edges = NONE) -> Any:
        """What a cotangent of a value brings to a leaf, or to another value on the way."""
        self.spent += self._weight(arg)
        sweep = _Stilled(arg, cotangent, [to] if isinstance(to, Node) else [], still)
        sweep.run()
        g = sweep.found.get(to)
        return np.zeros(to.raw_shape, to.dtype) if g is None else np.asarray(g)

    def _weight(self, node: Node) -> int:
        if node not in self._weights:
            self._weights[node] = sum(1 + math.prod(below.shape) // 1000 for below in nodes_below(node))
        return self._weights[node]


def _moved(local: Local, d: Any, change: Change | None) -> Any:
    """By how much what an edge hands down changes with its cotangent, and by a change; None where it does not."""
    before = local.c
    if d is not None:
        more = local.of(d)
        if np.shape(d) == more.shape and np.isnan(more).any():
            more = np.where(d == 0, 0, more)  # a branch not taken, whose slope may be infinite
        local = Local(local.node, local.i, local.g + d, before + more, local.saved, local.rule)
    other = None if change is None else _instead(local, change)
    if other is not None:
        return np.asarray(other, before.dtype) - before
    return None if d is None else local.c - before


def _instead(local: Local, change: Change) -> Any:
    """What an edge hands down with a change; None where the change makes no sense, as for arrays that do not fit."""
    try:
        other = change(local)
    except (SymgradError, ValueError, IndexError, TypeError):
        return None
    return None if other is None or np.shape(other) != local.c.shape else other


def _cancelling(edges: dict[tuple[Node, int], Local]) -> Iterator[tuple[Node, int]]:
    """Edges that hand down a sum that is 0, but for rounding, and those that bring 0 to a value together."""
    meeting: dict[Any, list[Local]] = {}
    for edge, local in edges.items():
        if local.c.size < local.g.size and _is_rounding(local.c, np.sum(np.abs(local.g))):
            yield edge
        elif isinstance(edge[0].args[edge[1]], Node):
            meeting.setdefault(edge[0].args[edge[1]], []).append(local)
    for locals_ in meeting.values():
        if len(locals_) > 1 and _is_rounding(sum(k.c for k in locals_), sum(np.sum(np.abs(k.c)) for k in locals_)):
            yield from ((local.node, local.i) for local in locals_)


def _is_rounding(value: Any, size: float) -> bool:
    return size > 0 and float(np.max(np.abs(value), initial=0.0)) <= 1e-13 * size


# ---------------------------------------------------------------------------------------------- changes


def cut(local: Local) -> Any:
    """Nothing is handed down: the argument counts as a constant."""
    return np.zeros_like(local.c)


def skip(local: Local) -> Any:
    """The cotangent goes on as it came: the inner derivative is left out."""
    return local.fitted(local.g)


def turn(local: Local) -> Any:
    """The transpose of what should be handed down."""
    return np.swapaxes(local.c, -1, -2) if is_square(local.node, local.i) else None


def conjugated(local: Local) -> Any:
    """The complex conjugate of what should be handed down."""
    return np.conj(local.c)


def turn_all(local: Local) -> Any:
    """What the rule would have handed down with the transposes of all that it reads."""
    return local.apply(*(np.swapaxes(v, -1, -2) if square(np.shape(v)) else v for v in local.saved))


def transposed_rule(local: Local) -> Any:
    """What a linear operation itself makes of the cotangent, where its transpose has to; None for others."""
    node = local.node
    linear = node.op.linear or node.op.kind == "multilinear"
    if len(node.args) != 1 or not linear or np.shape(local.g) != np.shape(local.c):
        return None
    try:
        made = np.asarray(node.op.kernel(local.g, **(node.params or {})))
    except Exception:  # noqa: BLE001  (an operation that is no function of such an array)
        return None
    return made if made.shape == local.c.shape else None


def turn_others(local: Local) -> Any:
    """What the transposes of the other arguments would have handed down."""
    saved = [
        np.swapaxes(v, -1, -2) if j != local.i + 1 and square(np.shape(v)) else v for j, v in enumerate(local.saved)
    ]
    return local.apply(*saved)


# ---------------------------------------------------------------------------------------------- the graph


def leaves_below(root: Node) -> list[Any]:
    """The tensors that the graph of a node begins with."""
    found: dict[int, Any] = {}
    for node in nodes_below(root):
        for arg in node.args:
            if isinstance(arg, Recorded):
                found[id(arg)] = arg
    return list(found.values())


def nodes_below(root: Node, constant: bool = False) -> list[Node]:
    """The nodes that gradients flow through, youngest first; those of constants, too, where these are asked for."""
    seen = {root}
    stack, nodes = [root], []
    while stack:
        node = stack.pop()
        nodes.append(node)
        for i, arg in enumerate(node.args):
            if (constant or node.mask >> i & 1) and isinstance(arg, Node) and arg not in seen:
                seen.add(arg)
                stack.append(arg)
    nodes.sort(key=lambda node: node.sequence_nr, reverse=True)
    return nodes


def is_square(node: Node, i: int) -> bool:
    """Whether argument ``i`` of a node is a square matrix, whose gradient may be taken for its transpose."""
    return square(getattr(node.args[i], "raw_shape", np.shape(node.args[i])))


def has_square(node: Node, i: int) -> bool:
    """Whether another operand than ``i`` of a product or a solution is a square matrix."""
    return node.op.kind != "elementwise" and any(is_square(node, j) for j in range(len(node.args)) if j != i)


def square(shape: tuple[int, ...]) -> bool:
    """Whether the last two axes have the same length."""
    return len(shape) >= 2 and shape[-1] == shape[-2] > 1


def is_unary(node: Node) -> bool:
    """Whether the node applies a function of one argument, of its shape, whose derivative can be forgotten."""
    op = node.op
    if op.kind not in ("elementwise", "primitive") or len(node.args) != 1:
        return False
    return node.args[0].raw_shape == node.shape and not op.identity and op.name not in ("neg", "cast")


def describe_node(output: Any, node: Node) -> str:
    """A node of the graph of ``output`` as a formula."""
    return text_of(output, node)


def describe(output: Any, node: Node, i: int) -> str:
    """Argument ``i`` of a node as a formula, named as in the whole graph."""
    text = text_of(output, node.args[i])
    return text if node.op.name in ("add", "sub") else f"{text} as argument of {node.op.name}"


def text_of(output: Any, edge: Any) -> str:
    """The formula of an edge; where it is too long for a sentence, what the function says there, or the operation."""
    from symgrad.formula.sympy.texts import text

    while isinstance(edge, Node) and edge.op.identity and written(edge) is None and isinstance(edge.args[0], Node):
        edge = edge.args[0]  # a copy that nobody has written
    try:
        term = Reading([output._node])[edge]
        found = text(term)
    except FormulaError:
        return written(edge) or describe_term(term)
    except (
        SymgradError
    ):  # sizes that the formula has no common letter for, as of x[::2] beside an array of half its size
        return written(edge) or (edge.op.name if isinstance(edge, Node) else "an argument")
    kept = _KEPT_AXIS.fullmatch(found)
    found = _LONG_NUMBER.sub(lambda m: f"{float(m[0]):.6g}", kept[1] if kept and _is_balanced(kept[1]) else found)
    if len(found) > SHORT:
        said = written(edge)
        alone = len(found) > LONGEST or not isinstance(edge, Node) or is_alone(edge, nodes_below(output._node))
        found = said if said is not None and alone and len(said) < len(found) else found
    return found if len(found) <= LONGEST else describe_term(term)


def _is_balanced(text: str) -> bool:
    """Whether no bracket closes that was not opened."""
    depth = 0
    for c in text:
        depth += (c == "(") - (c == ")")
        if depth < 0:
            return False
    return not depth

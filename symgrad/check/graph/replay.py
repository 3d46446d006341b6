"""The recorded operations once more: their values, and the gradient of a function that differs in one operation.

People compute the forward pass again in their gradients, and do it otherwise: without an epsilon, with a mask or a
weight left out, with the other branch.  Their gradient is then the exact one of another function.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cached_property, partial
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from symgrad.check.asking.derivatives import pulled
from symgrad.check.graph.lines import place_of, written
from symgrad.check.graph.surgery import nodes_below
from symgrad.op import lookup
from symgrad.tape.graph import Node, Source
from symgrad.tape.record import Recorded, value_of

WHOLE, VALUES, RULE = "whole", "values", "rule"
"""What of another function is taken: all, its values with the right derivative, or its derivative at the right ones."""


MOST_CONSTANTS = 8
"""Constants that values are computed without, or with in another place."""


FEW_ROUNDS = 4
"""Rounds of a loop up to which one of them may be computed otherwise."""


class Unknown(Exception):
    """The value of a constant was not kept."""


class Other(NamedTuple):
    """A function that differs in one operation.

    ``run`` gives its value from those of the arguments; ``said`` is how it differs, ``hint`` what to look for.  Where
    the difference takes two operations, ``inner`` is the other one, and ``inner_run`` the same for it.  ``rounds`` are
    the same in the other rounds of a loop.
    """

    node: Node
    run: Callable[..., Any]
    said: str
    hint: str
    inner: Node | None = None
    inner_run: Callable[..., Any] | None = None
    rounds: tuple[Other, ...] = ()

    def instead(self) -> dict[Node, Callable[..., Any]]:
        """What stands for the operations that do not stay what they are."""
        runs = {}
        for other in (self, *self.rounds):
            runs[other.node] = other.run
            if other.inner is not None and other.inner_run is not None:
                runs[other.inner] = other.inner_run
        return runs

    @property
    def nodes(self) -> set[Node]:
        """The operations that differ, without the inner ones."""
        return {self.node, *(other.node for other in self.rounds)}


def operand(arg: Any, made: dict[Any, Any], constants: dict[Any, Any]) -> Any:
    """The value of an argument of a node, from the values ``made`` of other nodes; a leaf is itself."""
    if isinstance(arg, Node):
        if arg not in made:
            raise Unknown
        return made[arg]
    if not isinstance(arg, Source):
        return arg
    value = constants.get(arg, arg.kept)
    if value is None:
        raise Unknown
    return np.asarray(value)[()]


def again(
    node: Node,
    made: dict[Any, Any],
    constants: dict[Any, Any],
    run: Callable[..., Any] | None = None,
    of: Callable[[Any], Any] = lambda leaf: leaf,
) -> Any:
    """A node computed once more, or another operation in its place; ``of`` gives what stands for the leaves."""
    args = [of(a) if isinstance(a, Recorded) else operand(a, made, constants) for a in node.args]
    return node.op(*args, **(node.params or {})) if run is None else run(*args)


class Replay:
    """The graph of an output, with the values of its constants."""

    def __init__(self, output: Any, constants: dict[Any, Any]):
        self.output = output
        self.constants = constants
        self.nodes = nodes_below(output._node)[::-1]
        self.tracked = set(self.nodes)
        self.values: dict[Any, Any] = {}
        self._others: list[Other] | None = None
        self._constants: list[Other] | None = None
        self._gradients: dict[Any, list[Any] | None] = {}
        self._values_of: dict[Other, dict[Any, Any]] = {}
        try:
            with np.errstate(all="ignore"):
                for node in nodes_below(output._node, constant=True)[::-1]:
                    self.values[node] = again(node, self.values, self.constants, of=lambda leaf: leaf._value)
            self.works = np.array_equal(self.values[output._node], output._value, equal_nan=True)
        except Exception:  # noqa: BLE001  (a constant that was not kept, an operation that is no function of arrays)
            self.works = False

    def value(self, arg: Any) -> Any:
        """The value of an argument of a node, None where it is not known."""
        try:
            value = operand(arg, self.values, self.constants)
        except Unknown:
            return None
        return value if isinstance(value, np.ndarray) else np.asarray(value_of(value))

    def gradients(self, other: Other, leaves: list[Any], cotangent: Any = None, what: str = WHOLE) -> list[Any] | None:
        """The gradients of the other function, or of one that takes its values or its rule only.

        None where there are none, or of another shape.
        """
        key = (other, what, None if cotangent is None else cotangent.tobytes())
        if key not in self._gradients:
            try:
                with np.errstate(all="ignore"):
                    self._gradients[key] = self._gradients_of(other, leaves, cotangent, what)
            except Exception:  # noqa: BLE001  (the other function need not be one)
                self._gradients[key] = None
        return self._gradients[key]

    def _gradients_of(self, other: Other, leaves: list[Any], cotangent: Any, what: str) -> list[Any] | None:
        made: dict[Any, Any] = {node: v for node, v in self.values.items() if node not in self.tracked}
        runs, places = other.instead(), other.nodes
        for node in self.nodes:
            made[node] = again(node, made, self.constants, runs.get(node))
            if node in places and what != WHOLE:
                right = again(node, made, self.constants)
                ruled, valued = (right, made[node]) if what == VALUES else (made[node], right)
                made[node] = ruled + (valued._value - ruled._value)
        out = made[self.output._node]
        if not isinstance(out, Recorded) or out._value.shape != self.output._value.shape:
            return None
        return pulled(out, leaves, cotangent) if out._requires_grad and np.all(np.isfinite(out._value)) else None

    # ------------------------------------------------------------------------------------------ other functions

    def others(self) -> list[Other]:
        """Functions that differ in one operation, the likeliest mistakes first."""
        if self._others is None:
            self._others = [other for make in _MAKERS for other in self._made_by(make)]
        return self._others

    def without_constants(self) -> list[Other]:
        """Those that go without an epsilon, a weight or a mask, or have it elsewhere: the first few of each."""
        if self._constants is None:
            made = (islice(self._made_by(make), MOST_CONSTANTS) for make in (_without_constants, _constant_elsewhere))
            self._constants = [other for found in made for other in found]
        return self._constants

    def _made_by(self, make: Callable[[Replay, Node], Iterator[Other]]) -> Iterator[Other]:
        """Functions that differ in an operation in every round that it runs; in one round only if there are few."""
        for group in self._rounds:
            found = [list(make(self, node)) for node in group]
            alike = len({len(others) for others in found}) == 1
            if len(group) > 1 and alike:
                yield from (others[0]._replace(rounds=others[1:]) for others in zip(*found, strict=True))
            if len(group) <= FEW_ROUNDS or not alike:
                yield from (other for others in found for other in others)

    @cached_property
    def _rounds(self) -> list[list[Node]]:
        """The operations, youngest first; those of one expression of the function, which a loop runs, together."""
        groups: dict[Any, list[Node]] = {}
        for node in reversed(self.nodes):
            place = place_of(node)
            kinds = tuple(a.op.name if isinstance(a, Node) else type(a).__name__ for a in node.args)
            groups.setdefault(node if place is None else (place, node.op.name, node.shape, kinds), []).append(node)
        return list(groups.values())

    def values_of(self, other: Other) -> dict[Any, Any]:
        """The values of the other function, those of the operation that differs and of all that follow from it."""
        if other not in self._values_of:
            made: dict[Any, Any] = dict(self.values)
            runs = other.instead()
            changed = set(runs)
            try:
                with np.errstate(all="ignore"):
                    for node in self.nodes:
                        if node in changed or not changed.isdisjoint(a for a in node.args if isinstance(a, Node)):
                            made[node] = again(node, made, self.constants, runs.get(node), of=lambda leaf: leaf._value)
                            changed.add(node)
            except Exception:  # noqa: BLE001  (the other function need not be one)
                changed = set()
            self._values_of[other] = {node: made[node] for node in changed}
        return self._values_of[other]

    def constant(self, arg: Any) -> Any:
        """The value of an argument that no gradient flows to, None for others."""
        if arg in self.tracked if isinstance(arg, Node) else getattr(arg, "_requires_grad", False):
            return None
        value = self.value(arg)
        return value if value is not None and value.dtype.kind in "fciu" else None


def _constant_text(arg: Any, value: Any) -> str:
    """A constant by the name of an argument, as the function writes it, or as a number."""
    said = written(arg) if isinstance(arg, Node) else getattr(arg, "name", None)
    named = said is not None and len(said) <= LONGEST_CONSTANT and not re.fullmatch(r"c\d+", said)
    if np.ndim(value):
        return str(said) if named else f"an array of shape {np.shape(value)}"
    return f"{said} (= {value:.6g})" if named else f"{value:.6g}"


LONGEST_CONSTANT = 30
"""Characters of the expression of a constant that stands for it in a sentence."""


def _without_constants(replay: Replay, node: Node) -> Iterator[Other]:
    """Without an epsilon that is added, or a weight or mask that multiplies."""
    if len(node.args) != 2 or node.op.name not in ("add", "sub", "mul", "div"):
        return
    for j in (0, 1):
        value = replay.constant(node.args[j])
        if value is None or (node.op.name == "div" and not j):
            continue
        what = f"{_constant_text(node.args[j], value)} "
        if node.op.name in ("add", "sub"):
            sign = -1 if node.op.name == "sub" and not j else 1
            said = "is added" if node.op.name == "add" else "is subtracted" if j else "it is subtracted from"
            yield Other(
                node,
                lambda x, y, j=j, s=sign: _like((x, y)[1 - j] * s, node),
                f"without {what}that {said}",
                "a constant",
            )
        else:
            said = "divides" if node.op.name == "div" else "multiplies"
            yield Other(
                node, lambda x, y, j=j: _like((x, y)[1 - j], node), f"without {what}that {said}", "a weight or a mask"
            )


def _constant_elsewhere(replay: Replay, node: Node) -> Iterator[Other]:
    """With a constant added after a function in place of before it, or the other way round: an epsilon and a root."""
    if _is_function(node) and isinstance(node.args[0], Node):
        before, k = node.args[0], _added_constant(replay, node.args[0])
        if k is not None:
            value = replay.value(before.args[k])
            said = f"with {_constant_text(before.args[k], value)} added after {node.op.name} in place of before"
            yield Other(node, lambda x: node.op(x - value, **(node.params or {})) + value, said, "an epsilon's place")
    k = _added_constant(replay, node)
    inner = None if k is None else node.args[1 - k]
    if k is not None and isinstance(inner, Node) and _is_function(inner):
        value = replay.value(node.args[k])
        said = f"with {_constant_text(node.args[k], value)} added before {inner.op.name} in place of after"

        def run_inner(x: Any) -> Any:
            return inner.op(x + value, **(inner.params or {}))

        yield Other(node, lambda x, y: _like((x, y)[1 - k], node), said, "an epsilon's place", inner, run_inner)


def _is_function(node: Node) -> bool:
    return len(node.args) == 1 and node.op.kind == "elementwise" and node.op.name not in ("neg", "cast")


def _added_constant(replay: Replay, node: Node) -> int | None:
    """Which operand of a sum is a constant."""
    known = [j for j, arg in enumerate(node.args) if replay.constant(arg) is not None]
    return known[0] if node.op.name == "add" and len(node.args) == 2 and len(known) == 1 else None


def _like(value: Any, node: Node) -> Any:
    """Stretched to the shape of the node's result."""
    return value if np.shape(value) == node.shape else lookup("expand")(value, shape=node.shape)


def _turned_constants(replay: Replay, node: Node) -> Iterator[Other]:
    """With the other sign of a constant, its transpose, or its entries turned round."""
    for j, arg in enumerate(node.args):
        value = replay.constant(arg)
        if value is None or not value.ndim:
            continue
        text = _constant_text(arg, value)
        changes = [(-value, f"the other sign of {text}", "its sign")]
        if value.ndim == 2 and value.shape[0] == value.shape[1] and not np.array_equal(value, value.T):
            changes.append((value.T, f"the transpose of {text}", "A for Aᵀ"))
        changes += [
            (np.flip(value, axis), f"{text} turned round along axis {axis}", "its order")
            for axis in range(value.ndim)
            if value.shape[axis] > 1 and value.size < 1000
        ]
        for changed, said, hint in changes:

            def run(*args: Any, j: int = j, changed: Any = changed) -> Any:
                return node.op(*args[:j], changed, *args[j + 1 :], **(node.params or {}))

            yield Other(node, run, f"with {said}", hint)


def _other_choice(replay: Replay, node: Node) -> Iterator[Other]:
    """With one branch everywhere, or another way to choose."""
    params = node.params or {}
    for j in node.op.among or ():
        said = f"with one argument of {node.op.name} taken everywhere"
        yield Other(node, lambda *args, j=j: _like(args[j], node), said, "a condition, a mask or a hinge")
    if "correction" in params:
        correction = 1 - params["correction"]
        said = f"with {'n - 1' if correction else 'n'} in the variance"
        yield Other(node, lambda x: node.op(x, **{**params, "correction": correction}), said, "ddof")
    for axis, along in other_axes(node):
        said = f"with {node.op.name} along axis {along} in place of axis {axis}"
        yield Other(node, on_axis(node, along), said, "the axis of a sum or a softmax")
    yield from _other_runs(replay, node)
    yield from _other_numbers(node)
    place = _single_place(node)
    if place is not None:
        for k in range(min(node.args[0].raw_shape[0], 8)):
            if k != place:
                said = f"with entry {k} in place of entry {place}"
                yield Other(node, lambda x, k=k: x[k], said, "an index")
    for name in node.op.twins or ():
        yield Other(
            node,
            lambda *args, name=name: lookup(name)(*args, **params),
            f"with {name} in place of {node.op.name}",
            f"{name} for {node.op.name}",
        )


def _other_numbers(node: Node) -> Iterator[Other]:
    """With 1, or one more or less, for a number that the operation is given: a stride, an offset, a lag."""
    params = node.params or {}
    for name, n in params.items() if node.op.kind != "elementwise" else ():
        if type(n) is not int or name == "dim":
            continue
        for other in dict.fromkeys((1, n - 1, n + 1)):
            if other != n:
                said = f"with {name}={other} in place of {name}={n} in {node.op.name}"
                run = partial(_cropped, node, {**params, name: other})
                yield Other(node, run, said, f"the {name} of {node.op.name}")


def _cropped(node: Node, params: dict[str, Any], *args: Any) -> Any:
    """The beginning of a result of other parameters that is larger."""
    made = node.op(*args, **params)
    return made if np.shape(made) == node.shape else made[tuple(slice(n) for n in node.shape)]


def other_axes(node: Node) -> Iterator[tuple[int, int]]:
    """The axis of a reduction that keeps it, or of an operation on lines, and each other one."""
    dim, count = (node.params or {}).get("dim"), len(node.shape)
    axis = dim[0] if isinstance(dim, tuple) and len(dim) == 1 else dim if node.op.along else None
    if len(node.args) == 1 and type(axis) is int and len(node.args[0].raw_shape) == count:
        yield from ((axis % count, k) for k in range(count) if k != axis % count)


def on_axis(node: Node, axis: int) -> Callable[..., Any]:
    """The operation of a node along another axis."""
    params = node.params or {}
    return partial(node.op, **{**params, "dim": (axis,) if isinstance(params["dim"], tuple) else axis})


def _other_runs(replay: Replay, node: Node) -> Iterator[Other]:
    """From the other end, or the whole everywhere, for a running sum or its like, which begins with its operand."""
    axis, x = (node.params or {}).get("dim"), replay.value(node.args[0])
    if not node.op.along or type(axis) is not int or len(node.args) != 1 or x is None or node.shape[axis] < 2:
        return
    if not np.array_equal(x.take(0, axis), replay.values[node].take(0, axis)):
        return
    flip, name = lookup("flip"), node.op.name
    last = (*(slice(None) for _ in range(axis)), slice(-1, None))

    def backwards(x: Any) -> Any:
        return flip(node.op(flip(x, dims=(axis,)), dim=axis), dims=(axis,))

    def whole(x: Any) -> Any:
        return _like(node.op(x, dim=axis)[last], node)

    yield Other(node, backwards, f"with {name} from the other end", "the order in which it runs")
    yield Other(node, whole, f"with the last entry of {name} everywhere", f"a whole sum for {name}")


def _single_place(node: Node) -> int | None:
    """k of ``x[k]``; None for other operations and indices."""
    index: Any = getattr((node.params or {}).get("index"), "parts", ()) if node.op.name == "getitem" else ()
    return index[0] if len(index) == 1 and type(index[0]) is int else None


def _one_operand(replay: Replay, node: Node) -> Iterator[Other]:
    """With one of two operands only, where gradients flow to both or to the one left out."""
    if len(node.args) != 2 or node.op.name not in ("add", "sub", "mul", "div", "matmul"):
        return
    for j, which in ((0, "first"), (1, "second")):
        if replay.constant(node.args[1 - j]) is None and getattr(node.args[j], "raw_shape", None) == node.shape:
            said = f"with the {which} {'term' if node.op.name in ('add', 'sub') else 'factor'} only"
            yield Other(node, lambda x, y, j=j: (x, y)[j], said, "a term or a factor of the forward pass")


def _without_function(_: Replay, node: Node) -> Iterator[Other]:
    """Without a function of one argument."""
    if len(node.args) == 1 and node.op.kind == "elementwise" and node.op.name not in ("neg", "cast"):
        yield Other(node, lambda x: x, f"without {node.op.name}", f"{node.op.name} where the forward pass has it")


_MAKERS = (
    _without_constants,
    _constant_elsewhere,
    _turned_constants,
    _other_choice,
    _without_function,
    _one_operand,
)

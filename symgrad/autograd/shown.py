"""What torch would show of a gradient: the name of its node and its version number.

Both tell how torch's engine went about the pass: which rule answered last, and whether contributions were added into
memory that nobody else held.  The pass here is another program, so this is worked out from the graph, by running the
pass once more on stand-ins that know who holds them, when somebody asks; a pass that nobody asks about pays nothing.
"""

from __future__ import annotations

from typing import Any

from symgrad.autograd.graph import node_name, places
from symgrad.errors import AutogradError
from symgrad.ops.cotangents import Answer, answer
from symgrad.tape.graph import Labelled, Node
from symgrad.tape.inplace import CHANGES, view_of
from symgrad.tape.origin import Origin, origin_of
from symgrad.tape.versions import changes


class Flow:
    """A gradient on its way: the name of its node, who holds it, and whether it may be added into."""

    __slots__ = ("base", "dense", "held", "name", "nothing", "version")

    def __init__(self, name: str | None, version: int = 0, base: Flow | None = None, dense: bool = True):
        self.name = name
        self.version = version
        self.base = base
        self.dense = dense
        self.nothing = False  # zero, with no entries stored
        self.held = 1
        if base is not None:
            base.held += 1

    def drop(self) -> None:
        """One holder less; who holds nothing any more lets go of its base."""
        self.held -= 1
        if not self.held and self.base is not None:
            self.base.drop()

    @property
    def own(self) -> bool:
        """Whether nobody but the one holder would see a change."""
        return self.held == 1 and self.base is None and self.dense

    def counted(self) -> int:
        """The version number, which a view shares with its base."""
        return self.version if self.base is None else self.base.counted()


Shown = tuple[str | None, int]
_STAYS_NOTHING = ("MulBackward0", "MulBackward1", "DivBackward0")
"""Rules that make of a zero without entries another one, by their last node."""
_STORES = ("SqueezeBackward4", "MvBackward0", "MmBackward0")
"""Nodes whose rules compute with entries, whatever their last node is."""


def shown(origin: Origin, edge: Any) -> Shown:
    """``(name of the node, version)`` of the gradient that a pass computed for ``edge``."""
    found = origin.cache.get("shown")
    if found is None:
        found = origin.cache["shown"] = _Replay(origin).run()
    return found.get(edge, (None, 0))


def stored_nowhere(gradient: Any) -> bool:
    """Whether torch stores no entries of a gradient: the zero that the derivative of ``sgn`` gives."""
    origin = origin_of(gradient)
    if not isinstance(origin, list) or len(origin) != 1 or origin[0][0].pulled != "gradient" or gradient._value.any():
        return False
    came, edge = origin[0]
    shown(came, edge)
    return edge in came.cache["nothing"]


def refuse_nothing(gradient: Any) -> None:
    """Raise torch's error for a change of a gradient whose entries are stored nowhere."""
    if stored_nowhere(gradient):
        raise AutogradError(
            "ZeroTensors are immutable. Please use the materialized zero tensor obtained using .clone() if you want a "
            "mutable tensor."
        )


CHANGES.append(refuse_nothing)


class GradientLabel:
    """The label of a recorded pass's result: what torch's node would be called, found out when it is asked."""

    __slots__ = ("edge", "origin")

    def __init__(self, origin: Origin, edge: Any):
        self.origin = origin
        self.edge = edge

    def __call__(self, node: Node) -> str:
        """The name, which is the node's own where the gradient was passed on as it came."""
        return shown(self.origin, self.edge)[0] or node_name(node, labelled=False)

    def version(self) -> int:
        """The version number that the gradient came with."""
        return shown(self.origin, self.edge)[1]


def name_gradient(gradient: Any, origin: Origin, edge: Any) -> None:
    """Let the node of a recorded pass's result say what torch's would."""
    args = gradient._node.args
    if args.__class__ is not Labelled or args.label is None:
        Labelled.on(gradient._node, GradientLabel(origin, edge))
    gradient._node.args.origin = origin


def first_version(tensor: Any) -> int:
    """The version number that a tensor came with: torch's engine, and few of its functions, change their results."""
    extra, node = tensor._extra, tensor._node
    if extra is not None and isinstance(extra.origin, list) and extra.origin:
        origin, edge = extra.origin[0]
        if origin.pulled != "gradient":
            return 0
        return shown(origin, edge)[1] + len(extra.origin) - 1
    if node is None:
        return 0
    if node.args.__class__ is Labelled:
        return node.args.label.version() if isinstance(node.args.label, GradientLabel) else 0
    return int(node.op.name == "matmul" and node_name(node) == "SqueezeBackward4")


def version_of(tensor: Any) -> int:
    """The version number of a tensor: how often it was changed in place, through its views and detached twins too."""
    view = view_of(tensor)
    label = getattr(getattr(tensor._node, "args", None), "label", None)
    # A recorded gradient is itself what torch returned, though it may be a view here.
    root = tensor if view is None or isinstance(label, GradientLabel) else view.base
    counted = 0 if root._extra is None else root._extra.counted
    if root._extra is not None and root._extra.silent:
        return int(counted)
    return changes(root._value) + int(counted) + first_version(root)


def _multiplies(node: Node, found: Answer) -> bool:
    """Whether a rule only multiplies or divides what comes in, by anything."""
    inverse = node.op.name == "reciprocal" or (node.op.name == "div" and not hasattr(node.args[0], "raw_shape"))
    return found.node in _STAYS_NOTHING and not inverse and node_name(node) not in _STORES


class _Replay:
    """One pass on stand-ins."""

    def __init__(self, origin: Origin):
        self.origin = origin
        self.wanted = origin.wanted
        self.flows: dict[Any, Flow] = {}
        self.captured: dict[Any, Flow] = {}

    def run(self) -> dict[Any, Shown]:
        nodes = self._nodes()
        for root in self.origin.roots:
            seed = Flow(None)
            seed.held += 1  # the caller's
            self._add(root, seed)
        for node in nodes:
            flow = self.flows.pop(node, None)
            if flow is not None:
                self._step(node, flow)
        ends = {edge: flow for edge, flow in self.flows.items() if not isinstance(edge, Node)}
        self.origin.cache["nothing"] = frozenset(
            edge
            for edge, flow in {**self.captured, **ends}.items()
            if flow.nothing and (self.wanted is not None or flow.name != "ExpandBackward0")  # which a leaf copies
        )
        stolen = self.wanted is not None  # else a leaf takes what nobody else holds, and the rest is copied into it
        return {
            edge: (flow.name, flow.counted() if stolen or flow.own else 1)
            for edge, flow in {**self.captured, **ends}.items()
            if edge not in self.origin.replaced
        }

    def _nodes(self) -> list[Node]:
        """The nodes that the pass ran, newest first."""
        seen: set[Any] = set()
        stack = [root for root in self.origin.roots if isinstance(root, Node)]
        while stack:
            node = stack.pop()
            if node not in seen:
                seen.add(node)
                stack.extend(place for place in places(node) if isinstance(place, Node))
        nodes = sorted(seen, key=lambda node: node.sequence_nr)
        self.useful: set[Any] = set(self.wanted or ())
        if self.wanted is not None:
            for node in nodes:
                if any(id(place) in self.useful for place in places(node)):
                    self.useful.add(id(node))
        nodes.reverse()
        return nodes

    def _leads(self, place: Any) -> bool:
        return place is not None and (self.wanted is None or id(place) in self.useful)

    def _step(self, node: Node, flow: Flow) -> None:
        if node in self.origin.replaced:
            flow.drop()
            flow = Flow(None)
        if self.wanted is not None and id(node) in self.wanted:
            self.captured[node] = flow
            flow.held += 1
        name = node_name(node)
        out = [
            (place, self._passed(flow, answer(node, name, i, place), node))
            for i, place in enumerate(places(node))
            if self._leads(place)
        ]
        flow.drop()
        for place, passed in out:
            self._add(place, passed)

    def _passed(self, flow: Flow, found: Answer, node: Node) -> Flow:
        if found.kind == "same":
            flow.held += 1
            return flow
        if found.kind == "view":
            base = flow if flow.base is None else flow.base
            made = Flow(found.node, 0, base, dense=found.node != "ExpandBackward0")
            made.nothing = flow.nothing and node_name(node) not in _STORES
            return made
        if found.kind == "view of new":
            base = Flow(None, found.version)
            made = Flow(found.node, 0, base)
            base.held -= 1
            return made
        made = Flow(found.node, found.version, dense=found.kind != "nothing" and not flow.nothing)
        # A zero that is only called like that of sgn, by sign, has entries.
        made.nothing = node.op.name == "sgn" if found.kind == "nothing" else flow.nothing and _multiplies(node, found)
        return made

    def _add(self, place: Any, flow: Flow) -> None:
        before = self.flows.get(place)
        if before is None:
            self.flows[place] = flow
        elif before.own and not self.origin.recorded:
            before.version += 1
            before.name = "AddBackward0"
            flow.drop()
        else:
            made = self.flows[place] = Flow("AddBackward0")
            made.nothing = before.nothing and flow.nothing
            before.drop()
            flow.drop()

"""What torch would show of a gradient: the name of its node and its version number.

Both tell how torch's engine went about the pass: which rule answered last, and whether contributions were added into
memory that nobody else held.  The pass here is another program, so this is worked out from the graph, by running the
pass once more on stand-ins that know who holds them, when somebody asks; a pass that nobody asks about pays nothing.
A recorded pass leaves the nodes that torch's would have (:mod:`symgrad.autograd.graphs.torch_graph`) for passes
through it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from symgrad.autograd.graphs.torch_graph import NOTHING, Answering, Step, Value, edges_of, lower, name_of, rule
from symgrad.errors import AutogradError
from symgrad.tape.backward.siblings import Siblings, siblings_of
from symgrad.tape.backward.tether import at, held, tethered
from symgrad.tape.formulas.origin import Origin, origin_of
from symgrad.tape.graph import Labelled, Node, Source, twin
from symgrad.tape.layout import arranged
from symgrad.tape.memory.inplace import CHANGES
from symgrad.tape.memory.versions import changes
from symgrad.tape.memory.views import view_of
from symgrad.tape.naming import node_name
from symgrad.tape.record import Recorded, plain


class Flow:
    """A gradient on its way: the node it has in a recorded pass, who holds it, and whether it may be added into."""

    __slots__ = ("base", "dense", "dtype", "empty", "held", "node", "shape", "spread", "version")

    def __init__(self, value: Value, version: int = 0, base: Flow | None = None):
        self.node = value.node
        self.shape = value.shape
        self.dtype = value.dtype
        self.dense = value.dense
        self.spread = value.spread
        self.empty = value.empty
        self.version = version
        self.base = base
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
        return self.held == 1 and self.base is None and self.dense and not self.empty

    def counted(self) -> int:
        """The version number, which a view shares with its base."""
        return self.version if self.base is None else self.base.counted()


Shown = tuple[str | None, int]


def shown(origin: Origin, edge: Any) -> Shown:
    """``(name of the node, version)`` of the gradient that a pass computed for ``edge``."""
    replay, edge = replayed(origin), held(edge)
    found = replay.shown.get(edge)
    return (_named(replay.places.get(edge)), 0) if found is None else found


def _named(place: Any) -> str | None:
    return name_of(place) if place.__class__ in (Node, Step) else None


def replayed(origin: Origin) -> _Replay:
    """The pass run on stand-ins; passes whose results it goes through come first, however many there are."""
    stack = [origin]
    while stack:
        last = stack[-1]
        missing = [] if "replay" in last.cache else _not_yet(last)
        if missing:
            stack.extend(missing)
        else:
            stack.pop()
            if "replay" not in last.cache:
                last.cache["replay"] = _Replay(last)
                last.cache["replay"].run()
    return origin.cache["replay"]  # type: ignore[no-any-return]


def _not_yet(origin: Origin) -> list[Origin]:
    """The recorded passes whose results a pass goes through and that were not run on stand-ins."""
    found: dict[int, Origin] = {}
    stack = [edge for edge in (*origin.roots, *origin.seeds) if edge.__class__ is Node]
    seen = set(stack)
    while stack:
        node = stack.pop()
        label = _label(node)
        if label is not None and label.origin is not origin and "replay" not in label.origin.cache:
            found[id(label.origin)] = label.origin
        for _, place in edges_of(node):
            if place.__class__ is Node and place not in seen:
                seen.add(place)
                stack.append(place)
    return list(found.values())


def stored_nowhere(gradient: Any) -> bool:
    """Whether torch stores no entries of a gradient: the zero that the derivative of ``sgn`` gives, or their sum."""
    origin = origin_of(gradient)
    if not isinstance(origin, list) or gradient._value.any():
        return False
    return all(came.pulled == "gradient" and _empty(replayed(came), edge) for came, edge in origin)


def _empty(replay: _Replay, edge: Any) -> bool:
    return held(edge) in replay.empty  # the replay ties the leaves by which it knows them


def refuse_nothing(gradient: Any) -> None:
    """Raise torch's error for a change of a gradient whose entries are stored nowhere."""
    if stored_nowhere(gradient):
        raise AutogradError(
            "ZeroTensors are immutable. Please use the materialized zero tensor obtained using .clone() if you want a "
            "mutable tensor."
        )


CHANGES.append(refuse_nothing)


class GradientLabel:
    """The label of a recorded pass's result: what torch's node would be called, found out when it is asked.

    own   what the node was called before that, None for the name of its op
    twin  the node that it stands beside: what the user's code gave, which nobody else may hold
    """

    __slots__ = ("edge", "origin", "own", "twin")

    def __init__(self, origin: Origin, edge: Any, own: Any = None, twin: Any = None):
        self.origin = origin
        self.edge = edge
        self.own = own
        self.twin = twin

    def __call__(self, node: Node) -> str:
        """The name, which is the node's own where the gradient was passed on as it came."""
        return shown(self.origin, self.edge)[0] or node_name(node, resolved=True)

    def version(self) -> int:
        """The version number that the gradient came with."""
        return shown(self.origin, self.edge)[1]


def _label(node: Any) -> GradientLabel | None:
    label = node.args.label if node.args.__class__ is Labelled else None
    return label if isinstance(label, GradientLabel) else None


def name_gradient(gradient: Any, origin: Origin, edge: Any) -> Any:
    """Let the node of a recorded pass's result say what torch's would; gives the result.

    Where one gradient is the result for two places, or what the user's code gave further up, torch's have nodes of
    their own, and so has what this gives.
    """
    label, first = _label(gradient._node), gradient._node
    if label is None:
        given = [_taker(*key) for key, node in origin.given.items() if node is gradient._node]
        if given and given[0] is not edge:
            gradient = _twin(gradient, getattr(gradient._node.args, "label", None))
    elif label.origin is origin and at(label.edge) is not edge:
        gradient = _twin(gradient, label.own)
    else:
        return gradient
    node, before = gradient._node, gradient._node.args
    first = None if first is node else first
    if gradient._extra is not None:
        gradient._extra.counted = 0  # what the rules here did is not what torch's do
    if before.__class__ is Labelled:
        Labelled.on(node, GradientLabel(origin, edge, before.label, first), before.inputs, before.kept)
    else:
        Labelled.on(node, GradientLabel(origin, edge, None, first))
    node.args.origin = origin
    return gradient


def _taker(place: Any, what: Any) -> Any:
    """Where what the user's code gave goes: what a hook gave to its own place, what a function gave to an input."""
    return place if what == "hook" else edges_of(place)[what][1]


def _twin(gradient: Any, own: Any) -> Any:
    """Another tensor of the same value and history, with a node of its own."""
    node = twin(gradient._node)
    before = gradient._node.args
    if before.__class__ is Labelled and (before.inputs is not None or own is not None):
        Labelled.on(node, own, before.inputs, before.kept)
    if gradient._node.extra is not None:
        node.more().trace = gradient._node.extra.trace
    made = plain(type(gradient), gradient._value)
    made._node, made._requires_grad = node, gradient._requires_grad
    return made


def name_inside(origin: Origin, calls: Any) -> None:
    """After a recorded pass: note where functions and hooks of the user took gradients, and what they gave."""
    made = set()
    for place, taken, given in calls:
        for k, gradient in taken:
            node = getattr(gradient, "_node", None)
            if node is not None and node.sequence_nr > origin.began and _label(node) is None and node not in made:
                name_gradient(gradient, origin, (place, k))
        for k, gradient in given:
            if getattr(gradient, "_requires_grad", False):
                origin.given[place, k] = gradient.edge()
                made.add(gradient._node)
    origin.calls.clear()


def resolved(place: Any) -> Any:
    """The node of torch's graph that a place in the graph here is: itself, or a step of a recorded pass."""
    while place.__class__ is Node:
        label = _label(place)
        found = None if label is None else replayed(label.origin).places.get(held(label.edge))
        if found is None or found is place:
            return lower(place)
        place = found
    return place


def first_version(tensor: Any) -> int:
    """The version number that a tensor came with: torch's engine changes what it gives away."""
    extra, node = tensor._extra, tensor._node
    if extra is not None and extra.came is not None:
        return shown(*extra.came)[1]
    if extra is not None and isinstance(extra.origin, list) and extra.origin:
        origin, edge = extra.origin[0]
        if origin.pulled != "gradient" or extra.given:
            return 0
        return shown(origin, edge)[1]
    label = None if node is None else _label(node)
    return 0 if label is None else label.version()


def version_of(tensor: Any) -> int:
    """The version number of a tensor: how often it was changed in place, through its views and detached twins too."""
    view = view_of(tensor)
    label = getattr(tensor._node.args, "label", None) if tensor._node.__class__ is Node else None
    # A recorded gradient is itself what torch returned, though it may be a view here.
    returned = isinstance(label, GradientLabel) or (tensor._extra is not None and tensor._extra.came is not None)
    root = tensor if view is None or returned else view.base
    counted = 0 if root._extra is None else root._extra.counted
    return changes(root._value) + int(counted) + first_version(root)


class _Joint:
    """The parts that a tensor was cut into: how many the pass has still to come to, and what the others passed on."""

    __slots__ = ("awaited", "parts")

    def __init__(self) -> None:
        self.awaited = 0
        self.parts: dict[int, tuple[Any, Flow]] = {}


def _cut_apart(node: Any) -> Siblings | None:
    """The parts that a tensor was cut into, if a node is one of them."""
    whole = siblings_of(node) if node.__class__ is Node else None
    return whole if whole is not None and name_of(node) in _CUTS else None


_CUTS = ("UnbindBackward0", "SplitBackward0", "SplitWithSizesBackward0")
"""Functions whose gradient is put together of those of all parts, those without one being zeros."""


class _Replay:
    """One pass on stand-ins.

    shown   by edge, what torch shows of its gradient
    places  by edge, the node that its gradient has; those that functions and hooks of the user got, too
    empty   edges whose gradients are zeros that torch stores no entries of
    """

    def __init__(self, origin: Origin):
        self.origin: Any = origin  # until the pass has run: an origin keeps its replay, and must not keep itself alive
        self.shown: dict[Any, Shown] = {}
        self.places: dict[Any, Any] = {}
        self.empty: set[Any] = set()
        self.flows: dict[Any, Flow] = {}
        self.edges: dict[Any, Any] = {}
        self.asked: dict[Any, list[Any]] = {}
        self.useful: set[Any] = set()
        self.hooked: dict[Any, Any] = {}
        self.joint: dict[Any, _Joint] = {}
        self.base = origin.began
        self.count = 0

    def run(self) -> None:
        roots = [self._edge(root) for root in self.origin.roots]
        self.hooked = {self._edge(place): place for place in map(at, self.origin.replaced)}
        nodes = self._nodes(roots)
        for whole in map(_cut_apart, nodes):
            if whole is not None:
                self.joint.setdefault(whole, _Joint()).awaited += 1
        for root, edge in zip(roots, self.origin.seeds, strict=True):
            node = resolved(edge) if edge.__class__ is Node or getattr(edge, "_requires_grad", False) else None
            place = _owner(root)
            seed = Flow(Value(node, getattr(place, "raw_shape", ()), place.dtype))
            seed.held += 1  # the caller's
            self._add(root, seed)
        for node in nodes:
            self._step(node)
        for edge, flow in self.flows.items():
            if edge.__class__ not in (Node, Step, tuple):
                for place in self.asked.get(edge, (edge,)):
                    self._note(place, flow)
        self.flows.clear()
        self.edges.clear()
        self.asked.clear()
        self.useful.clear()
        self.hooked.clear()
        self.joint.clear()
        self.origin = None

    def _note(self, leaf: Any, flow: Flow) -> None:
        if isinstance(leaf, Recorded):
            tethered([leaf])  # a gradient keeps its origin, and that its replay
        place = held(leaf)
        stolen = self.origin.wanted is not None  # else a leaf takes what nobody else holds, and the rest is copied
        odd = getattr(leaf, "_extra", None) is not None and leaf._extra.strides is not None
        hooked = self.origin.hooks_at(leaf) and leaf.__class__ is not Node
        if flow.empty and not hooked and (stolen or (flow.dense and not odd)):  # a leaf copies what lies otherwise
            self.empty.add(place)
        if hooked:
            self.places[place, "hook"], self.places[place] = flow.node, self._given(leaf, "hook")
        else:
            self.places[place] = flow.node
            in_rows = flow.dense and flow.spread is None
            taken = stolen or (flow.held == 1 and in_rows and not flow.empty and not odd)
            self.shown[place] = _named(flow.node), flow.counted() if taken else 1

    def _number(self) -> tuple[int, int]:
        self.count += 1
        return self.base, self.count

    def _edge(self, place: Any) -> Any:
        """Where gradients for a place go in torch's graph: a node, a leaf, or an output of a function by number."""
        if place is None:
            return None
        known = self.edges.get(place)
        if known is None:
            known = resolved(place)
            if known.__class__ is Node and known.op.name == "output":
                known = known.args[0], known.params["index"]  # type: ignore[index]
            self.edges[place] = known
            place = place.whole() if place.__class__ is Step else place
            if self.origin.wanted is not None and id(place) in self.origin.wanted:
                asked = self.asked.setdefault(known, [])
                if not any(place is other for other in asked):
                    asked.append(place)
        return known

    def _nodes(self, roots: list[Any]) -> list[Any]:
        """The nodes that the pass ran, newest first."""
        seen: set[Any] = set()
        stack = [_owner(root) for root in roots]
        while stack:
            node = stack.pop()
            if node.__class__ in (Node, Step) and node not in seen:
                seen.add(node)
                stack.extend(_owner(self._edge(place)) for _, place in edges_of(node) if place is not None)
        nodes = sorted(seen, key=_age)
        if self.origin.wanted is not None:
            self.useful = set(self.asked)
            for node in nodes:
                if any(self._edge(place) in self.useful for _, place in edges_of(node)):
                    self.useful.add(node)
                    self.useful.update((node, k) for k in range(_outputs(node)))
        nodes.reverse()
        return nodes

    def _leads(self, place: Any) -> bool:
        return place is not None and (self.origin.wanted is None or self._edge(place) in self.useful)

    def _step(self, node: Any) -> None:
        count = _outputs(node)
        slots = [(node, k) for k in range(count)] if count else [node]
        taken = {slot: flow for slot in slots if (flow := self.flows.pop(slot, None)) is not None}
        if taken:
            self._pass_on(node, taken)
        elif (whole := _cut_apart(node)) is not None:
            self._join(whole, node, [])

    def _pass_on(self, node: Any, taken: dict[Any, Flow]) -> None:
        """Let a node answer for what was added up at it."""
        edges = edges_of(node)
        # What is taken from here is what came in, where the pass goes on, and else what the hooks made of it.
        late = self.origin.wanted is not None and any(self._leads(place) for _, place in edges)
        if node in self.hooked and not late:
            taken[node] = self._replaced(node, taken[node])
        for slot, flow in taken.items():
            for place in self.asked.get(slot, ()):
                self._note(place, flow)
                flow.held += 1
        if node in self.hooked and late:
            taken[node] = self._replaced(node, taken[node])
        if node.__class__ is Node and node.op.kind == "function":
            out = self._function(node, edges, taken)
        else:
            out = self._answers(node, edges, taken[node])
        for flow in taken.values():
            flow.drop()
        whole = _cut_apart(node)
        if whole is not None:
            self._join(whole, node, out)
            return
        for place, passed in out:
            self._add(self._edge(place), passed)

    def _join(self, whole: Siblings, node: Node, out: list[tuple[Any, Flow]]) -> None:
        """The gradient that torch puts together of those of all parts, once the last of them had its turn."""
        joint = self.joint[whole]
        joint.awaited -= 1
        joint.parts.update((whole.number(node), pair) for pair in out)
        if joint.awaited or not joint.parts:
            return
        place, flow = next(iter(joint.parts.values()))
        step = flow.node
        if step.__class__ is Step:
            given = [joint.parts.get(k) for k in range(len(whole.nodes))]
            places = tuple([pair and pair[1].node and pair[1].node.places[0] for pair in given])
            flow.node = Step(step.name, places, step.shape, step.dtype, self._number())
            flow.node.dim = step.dim
        self._add(self._edge(place), flow)

    def _replaced(self, node: Any, flow: Flow) -> Flow:
        """What a hook gave instead of a gradient."""
        place = self.hooked[node]
        self.places[place, "hook"] = flow.node
        flow.drop()
        return Flow(Value(self._given(place, "hook"), flow.shape, flow.dtype))

    def _given(self, node: Any, k: Any) -> Any:
        """The node that came out of the user's code, which ran before whatever the pass does next."""
        given = self.origin.given
        found = given.get((node, k)) or given.get((held(node), k))
        if found is None:
            return None
        found = resolved(found)
        if found.__class__ is Node:
            self.base = max(self.base, found.sequence_nr)
        return found

    def _function(self, node: Node, edges: Any, taken: dict[Any, Flow]) -> list[tuple[Any, Flow]]:
        """A function of the user: what its ``backward`` passed on as it came, and what it made."""
        for slot, flow in taken.items():
            self.places[slot if slot.__class__ is tuple else (node, 0)] = flow.node
        run = (node.params or {}).get("run")
        gave = () if run is None else run.gave
        first = next(iter(taken.values()))
        answering = Answering(node, NOTHING, edges, self.origin.recorded, self._number)
        out = []
        for i, (_, place) in enumerate(edges):
            if not self._leads(place):
                continue
            seen = gave[i] if i < len(gave) else (place.raw_shape, place.dtype, 0)
            if seen == "same":
                first.held += 1
                out.append((place, first))
            elif seen is not None:
                *look, version = seen
                flow = self._flow(answering.fitted(Value(self._given(node, i), *look), place))
                flow.version += version if flow.base is None else 0  # the user changed it before
                out.append((place, flow))
        return out

    def _answers(self, node: Any, edges: Any, flow: Flow) -> list[tuple[Any, Flow]]:
        given = Value(flow.node, flow.shape, flow.dtype, flow, empty=flow.empty)
        given.dense, given.spread = flow.dense, flow.spread
        known = [(arg, _tracked_since(arg) if place is None else resolved(place)) for arg, place in edges]
        answering = Answering(node, given, known, self.origin.recorded, self._number)
        answering.row, answering.called = rule(node, known), self._given
        wanted = [i for i, (_, place) in enumerate(edges) if self._leads(place)]
        made = {}
        for i in reversed(wanted) if answering.row.swapped else wanted:
            made[i] = answering.answer(i, edges[i][1])
        return [(edges[i][1], self._flow(answering.fitted(made[i], edges[i][1]))) for i in wanted]

    def _flow(self, value: Value) -> Flow:
        owner = value.owner
        if owner is None and value.view:
            base = Flow(value, value.count)
            made = Flow(value, 0, base)
            base.held -= 1
            return made
        if owner is None:
            return Flow(value, value.count)
        if not value.view:
            owner.held += 1
            return owner  # type: ignore[no-any-return]
        return Flow(value, 0, owner if owner.base is None else owner.base)

    def _add(self, place: Any, flow: Flow) -> None:
        before = self.flows.get(place)
        if before is None:
            self.flows[place] = flow
        elif before.own and not self.origin.recorded:
            before.version += 1
            flow.drop()
        else:
            node = None
            if self.origin.recorded and (before.node is not None or flow.node is not None):
                node = Step("AddBackward0", (before.node, flow.node), before.shape, before.dtype, self._number())
            made = Value(node, before.shape, before.dtype, empty=before.empty and flow.empty)
            made.spread = _layout_of_sum(before, flow)
            self.flows[place] = Flow(made)
            before.drop()
            flow.drop()


def _tracked_since(arg: Any) -> Any:
    """A constant that was told to require grad after it was read: rules that read it lead there; else None."""
    tensor = arg.ref() if arg.__class__ is Source else None
    return tensor if tensor is not None and tensor._node is None and tensor._requires_grad else None


def _layout_of_sum(a: Flow, b: Flow) -> Any:
    """An array that lies as the sum of two gradients does; None where that is row by row."""
    if (a.spread is None and b.spread is None) or a.shape != b.shape:
        return None
    shown = [np.empty(flow.shape, bool) if flow.spread is None else flow.spread for flow in (a, b)]
    made = arranged(np.empty(a.shape, bool), shown)
    return None if made.flags.c_contiguous else made


def _owner(edge: Any) -> Any:
    """The node or leaf of an edge, which may be an output by number."""
    return edge[0] if edge.__class__ is tuple else edge


def _outputs(node: Any) -> int:
    """How many outputs a function of the user has, if it has several."""
    several = node.__class__ is Node and node.op.kind == "function" and node.dtype is None
    return len((node.params or {})["run"].outputs) if several else 0


def _age(node: Any) -> tuple[int, int]:
    return node.sequence_nr if node.__class__ is Step else (node.sequence_nr, 0)

"""Results that one node of torch gives together (``unbind``, ``split``, ``var_mean``, ``svd`` …); here each has a node.

Users see one node of several outputs: one ``grad_fn``, with the gradients of all of them in its hooks, None for those
that a pass does not reach.  The sweep runs the nodes one by one, unless somebody looks on: then the first that is
reached has the hooks of all run.  Whoever uses one of them was made after all of them, so their gradients are complete.
"""

from __future__ import annotations

import math
import weakref
from collections.abc import Sequence
from typing import Any

from symgrad.tape.backward.zeros import look
from symgrad.tape.graph import Labelled, Masked, Node, NodeExtra, Parts


def _gone() -> None:
    """Stands for a reference to a node that is no more."""


class Siblings:
    """Nodes that are the outputs of one in torch, each while it lives; ``extra`` holds the hooks of the whole."""

    __slots__ = ("__weakref__", "extra", "handle", "looks", "nodes", "touched")

    dtype = None

    def __init__(self, nodes: Sequence[Node | None], looks: Sequence[tuple[Any, Any]] | None = None):
        """``looks`` are shapes and dtypes, where some of the nodes are no more (None)."""
        self.nodes = [_gone if node is None else weakref.ref(node) for node in nodes]
        self.looks = [(node.shape, node.dtype) for node in nodes if node is not None] if looks is None else list(looks)
        self.extra: NodeExtra | None = None
        self.handle: weakref.ref[Any] | None = None
        self.touched = any(node is not None and node.extra is not None for node in nodes)
        for node in nodes:
            if node is None:
                continue
            if node.args.__class__ is not Labelled:
                Labelled.on(node, None)
            node.args.siblings = self  # type: ignore[attr-defined]

    def more(self) -> NodeExtra:
        """The record of the hooks on the whole; from now on no member is run without looking for them."""
        self.wake()
        if self.extra is None:
            self.extra = NodeExtra()
        return self.extra

    def wake(self) -> None:
        """Let every member take the careful path of the sweep, since something waits for all of them."""
        for node in self.alive():
            node.more()

    def alive(self) -> list[Node]:
        """The members that still are."""
        return [node for ref in self.nodes if (node := ref()) is not None]

    def number(self, node: Node) -> int:
        """Which output a member is."""
        return next(k for k, ref in enumerate(self.nodes) if ref() is node)

    def watched(self) -> bool:
        """Whether hooks want to be called, or a tensor keeps its gradient.

        Every member asks when its turn comes, so of thousands nobody looks at all of them unless one has something.
        """
        return self.extra is not None or (
            self.touched
            and any(
                node.extra is not None and (node.extra.hooks or node.extra.retained is not None)
                for node in self.alive()
            )
        )


def siblings_of(node: Any) -> Siblings | None:
    """The whole that a node is one output of, if it is."""
    return node.args.siblings if node.args.__class__ is Labelled else None


def whole_of(node: Node) -> Node | Siblings:
    """What users see of a node: itself, or the node of several outputs that it is one of."""
    return siblings_of(node) or node


def output_number(node: Node) -> int:
    """Which output of its ``grad_fn`` the result of a node is."""
    if node.op.name == "output":
        return node.params["index"] if node.params else 0
    whole = siblings_of(node)
    return 0 if whole is None else whole.number(node)


def join(results: Any) -> Any:
    """Make one node of the results of a call, in the eyes of users; gives them back."""
    nodes = [out._node for out in results if getattr(out, "_requires_grad", False) and out._node.__class__ is Node]
    if len(nodes) > 1 and len(set(nodes)) == len(nodes):
        Siblings(nodes)
    return results


def run_member(sweep: Any, whole: Siblings, node: Node, g: Any) -> None:
    """A member's turn in a sweep: the first to be reached has the hooks of all of them run."""
    if whole not in sweep.told:
        sweep.told.add(whole)
        g = _hooked(sweep, whole, node, g)
        if whole.extra is not None and whole.extra.post:
            sweep.grads[node] = g
            _run_whole(sweep, whole)
            return
    bits = sweep.masks.get(node, node.mask)
    if g is not None and (bits or sweep.run_wanted):
        sweep.run_node(node, bits, *(g.value, g) if g.__class__ is Masked else (g, None))


def _hooked(sweep: Any, whole: Siblings, node: Node, g: Any) -> Any:
    """Run the hooks on all members, then those before the whole; gives what ``g`` became, puts the others back."""
    grads = sweep.grads
    grads[node] = g
    runs = False
    for member in by_first_hook(whole.alive()):
        g = grads.pop(member, None)
        came = g.value if g.__class__ is Masked else g
        before = look(came, came is not g)
        after = came if member.extra is None else sweep.run_hooks(member, came)
        bits = sweep.masks.get(member, member.mask)
        runs = runs or (g is not None and (bool(bits) or sweep.run_wanted))
        if member in sweep.wanted_nodes and g is not None:
            sweep.found[member] = came if bits and not sweep.run_wanted else after
        if after is not None:
            grads[member] = g if after is came and look(came, came is not g) == before else after
    if runs and whole.extra is not None and whole.extra.pre:
        before = _parts(sweep, whole)
        after = sweep.run_pre_hooks(whole, before)
        if after is not before:
            for k, ref in enumerate(whole.nodes):
                other = ref()
                if other is not None and grads.pop(other, None) is not None and after.parts.get(k) is not None:
                    grads[other] = after.parts[k]
    return grads.pop(node, None)


def _parts(sweep: Any, whole: Siblings) -> Parts:
    """The gradients of the members as they are now, by number."""
    found = {k: sweep.grads.get(ref()) for k, ref in enumerate(whole.nodes)}
    return Parts({k: g.value if g.__class__ is Masked else g for k, g in found.items() if g is not None})


def _run_whole(sweep: Any, whole: Siblings) -> None:
    """Run all members that have a gradient, and give on what the hooks after the whole made of the sum."""
    shown = _parts(sweep, whole)
    grads = {k: sweep.grads.pop(ref(), None) for k, ref in enumerate(whole.nodes)}
    places, totals = together(sweep, whole, grads)
    for place, c in zip(places, sweep.run_post_hooks(whole, totals, shown), strict=True):
        if place is not None and c is not None:
            sweep.give(place, c)


def together(sweep: Any, whole: Siblings, grads: dict[int, Any]) -> tuple[list[Any], list[Any]]:
    """Where the whole gives its gradients to, and what it makes of those of its outputs, by number."""
    first = whole.alive()[0]
    inputs = first.args.inputs  # type: ignore[attr-defined]
    if inputs is None:
        inputs = [arg if first.mask >> i & 1 else None for i, arg in enumerate(first.args)]
    pending = bool(sweep.nodes)  # a pass is under way, which may not want all of them
    places = [place if place is not None and (not pending or sweep.will_run(place)) else None for place in inputs]
    totals: list[Any] = [None] * len(places)
    for k, ref in enumerate(whole.nodes):
        member, g = ref(), grads.get(k)
        if member is None or g is None:
            continue
        for i, c in enumerate(sweep.whole(member, g, places)):
            if c is not None:
                totals[i] = c if totals[i] is None else totals[i] + c
    return places, totals


def hear_nothing(sweep: Any, node: Node) -> None:
    """Hooks of a node that no gradient reached are called all the same, with None; they cannot replace it."""
    whole = siblings_of(node)
    members = [node] if whole is None else whole.alive()
    if node.extra is None or whole in sweep.told or any(member in sweep.grads for member in members):
        return
    for member in by_first_hook(members):
        sweep.run_hooks(member, None)
    if whole is not None:
        sweep.told.add(whole)
    shown, g = (node, None) if whole is None else (whole, Parts({}))
    if shown.extra is None or not (sweep.run_wanted or sweep.masks.get(node, node.mask)):
        return
    sweep.run_pre_hooks(shown, g)
    if shown.extra.post:
        inputs = node.args.inputs if node.args.__class__ is Labelled else None
        sweep.run_post_hooks(shown, [None] * len(node.args if inputs is None else inputs), g)


def tell_missing(sweep: Any, node: Node, g: Any) -> None:
    """Hooks on those of a custom function's outputs that have no gradient are called all the same, with None."""
    reached = () if g is None else g.parts
    places = node.params["run"].places  # type: ignore[index]
    missing = [place for k, ref in places.items() if k not in reached and (place := ref()) not in (None, *sweep.told)]
    for place in by_first_hook(missing):
        sweep.run_hooks(place, None)


def around_hooks(sweep: Any, node: Node, g: Any) -> tuple[Any, Any]:
    """The gradient of a node before and after its hooks.

    The first of a custom function's outputs that a sweep reaches has those of all called, in the order in which they
    were registered.
    """
    if node.op.name != "output":
        return g, sweep.run_hooks(node, g)
    if node not in sweep.heard:
        places = node.args[0].params["run"].places if node.args[0].params else {}
        found = (ref() for ref in places.values())
        others = [place for place in found if place not in (None, node) and place not in sweep.heard]
        for place in by_first_hook([node, *others]):
            came = g if place is node else sweep.grads.get(place)
            came = came.value if came.__class__ is Masked else came
            after = sweep.run_hooks(place, came)
            sweep.heard[place] = came, after
            if came is None:
                sweep.told.add(place)
            elif place is not node and after is not came:
                sweep.grads[place] = after
    return sweep.heard[node]  # type: ignore[no-any-return]


def by_first_hook(nodes: Sequence[Node]) -> list[Node]:
    """Those of the nodes on which there are hooks, first come, first served; then those whose gradient is kept."""
    return sorted(
        (node for node in nodes if node.extra is not None),
        key=lambda node: min(node.extra.hooks, default=math.inf),  # type: ignore[union-attr]
    )

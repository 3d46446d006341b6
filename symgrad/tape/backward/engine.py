"""Backward: one sweep over the recorded graph, newest node first.

The same loop serves plain backward (arrays flow) and ``create_graph`` (tensors flow, and record themselves).
Broadcasting and dtype casts are undone in one place, ``symgrad.ops.rules.fitting``.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from operator import length_hint
from typing import Any

import numpy as np

from symgrad.dtypes import torch_name, widened
from symgrad.errors import AutogradError, DtypeError
from symgrad.op import is_complex
from symgrad.op.partials import same, times_first, times_second
from symgrad.ops.calls.still import still
from symgrad.ops.elementwise.select import beside
from symgrad.ops.rules.fitting import fit
from symgrad.ops.torch_nodes.answers import full_name
from symgrad.tape.backward.freed import nothing_saved
from symgrad.tape.backward.misfits import contribution, misfits, present
from symgrad.tape.backward.narrow import needs_torchs_dtypes
from symgrad.tape.backward.order import in_order, tracked
from symgrad.tape.backward.phases import Turns, note, settle
from symgrad.tape.backward.siblings import around_hooks, hear_nothing, run_member, siblings_of, tell_missing
from symgrad.tape.backward.straight import straight
from symgrad.tape.backward.zeros import look, structural
from symgrad.tape.folding import PULL
from symgrad.tape.graph import FREED, Labelled, Masked, Node, Parts, Shaped, landing
from symgrad.tape.memory.anew import Again, read_anew, told_late
from symgrad.tape.memory.arrays import find_changes
from symgrad.tape.memory.overlap import OVERLAP
from symgrad.tape.memory.versions import catch_up, changed_after_oldest, check_saved, fresh, reformed
from symgrad.tape.memory.views import out_of_reach
from symgrad.tape.modes import no_grad
from symgrad.tape.observers import PackedRow, running, unpacked

_BLOCK = 4096
_LARGE = 1 << 17  # bytes
_numbers = itertools.count()

# A pass frees what it made.  The C library hands large blocks back to the system and asks for them again in
# the next pass, page by page, which takes longer than the arithmetic of arrays of 10⁴ to 10⁶ entries.  What is large
# is, in glibc, larger than any block below 32 MiB that was freed before; this one is never written to.
np.empty((1 << 25) - (1 << 16), np.uint8)


class Sweep:
    """One backward pass: what it starts from, what it wants, and how; ``number`` tells it from all others.

    ``inside``: it runs what a composite function did between its inputs, which are wanted, and its result.
    """

    def __init__(
        self,
        roots: Sequence[tuple[Any, Any]],
        wanted: Sequence[Any] | None,
        create_graph: bool,
        keep_graph: bool,
        wrap: Callable[[Any, Any], Any],
        finish_leaf: Callable[[Any, Any], Any],
        run_hooks: Callable[[Node, Any], Any],
        run_pre_hooks: Callable[[Node, Any], Any],
        run_post_hooks: Callable[[Node, list[Any], Any], list[Any]],
        run_wanted: bool = False,
        inside: bool = False,
    ):
        self.number = next(_numbers)
        self.roots = roots
        self.wanted = wanted
        self.create_graph = create_graph
        self.keep_graph = keep_graph
        self.wrap = wrap
        self.finish_leaf = finish_leaf
        self.run_hooks = run_hooks
        self.run_pre_hooks = run_pre_hooks
        self.run_post_hooks = run_post_hooks
        self.run_wanted = run_wanted
        self.inside = inside
        self.wanted_nodes = {w for w in wanted or () if w.__class__ is Node}
        self.grads: dict[Any, Any] = {}
        self.found: dict[Any, Any] = {}
        self.leaves: dict[Any, int] = {}
        self.met = self.leaves  # those, too, of which nothing is wanted
        self.masks: dict[Node, int] = {}
        self.eager_leaves = False
        self.done = 0
        self.told: set[Any] = set()  # wholes of siblings, and outputs that no gradient reached, whose hooks have run
        self.heard: dict[Node, tuple[Any, Any]] = {}  # outputs' gradients before and after their hooks
        self.current: Any = None
        self.stood: tuple[Any, Any, Any] = (None, None, None)
        self.callbacks: list[Callable[[], Any]] = []
        self.turns: Turns = {}  # slopes along phases that are free
        self.calls: list[Any] = []  # of a recorded sweep: what functions of the user took and gave
        self.given: list[tuple[int, Any]] = []  # by the function under way
        self.nodes: list[Node] = []
        self.span = (0, 0)
        """The numbers of the oldest and of the newest node."""
        self.misfits: set[Node] = set()
        self._node_set: set[Node] | None = None

    # -------------------------------------------------------------------------------------- run

    def run(self) -> None:
        """Run the sweep: afterwards ``found`` holds the cotangents of the wanted nodes and of the leaves."""
        nodes = in_order(self)
        if nodes and self.create_graph:
            self.span = (math.floor(nodes[-1].sequence_nr), math.ceil(nodes[0].sequence_nr))
        stale: set[Node] = set()
        find_changes(nodes)
        if changed_after_oldest(nodes):
            for node in nodes:
                read_anew(node)
            for node in nodes:
                catch_up(node)
            stale = {node for node in nodes if not fresh(node)}
            if reformed():
                self.misfits = misfits(nodes)
                self.masks.update({node: self.masks.get(node, node.mask) for node in self.misfits})
        self.nodes = nodes
        if any(leaf.has_hooks() for leaf in self.leaves):
            self._count(nodes)
        with np.errstate(all="ignore"), running(self):
            for root, seed in self.roots:
                self.give(root, seed)
            if self.wanted is not None and len(self.roots) == 1:
                self._hooks_alone(*self.roots[0])
            try:
                self._loop(nodes, stale)
            except Exception:
                self._finish_complete(nodes)
                raise
            if self.turns and not self.inside:
                settle(self.turns)
            self._finish_leaves()
            if self.eager_leaves:  # some of them have hooks
                self._tell_leaves()
            self.current = None
            for callback in self.callbacks:  # which may add further ones
                callback()
        self.nodes = []

    def _hooks_alone(self, root: Any, seed: Any) -> None:
        """The hooks of a lone root that leads to nothing wanted, which torch calls all the same."""
        if root.__class__ is not Node:
            if root not in self.leaves:
                self.finish_leaf(root, seed)
        elif root.extra is not None and root not in self.nodes[:1]:
            around_hooks(self, root, seed) if root.extra.hooks else self.run_hooks(root, seed)

    def _count(self, nodes: list[Node]) -> None:
        """Find out how much reaches each leaf, so that its hooks can run as soon as its gradient is complete."""
        self.eager_leaves = True
        reached = [root for root, _ in self.roots]
        for node in nodes:
            reached += tracked(node.args, self.masks.get(node, node.mask))
        for edge in reached:
            if edge in self.leaves:
                self.leaves[edge] += 1

    def will_run(self, edge: Any) -> bool:
        """Whether the sweep computes the gradient of a node or leaf."""
        if edge.__class__ is not Node:
            return edge in self.leaves
        if self._node_set is None:
            self._node_set = set(self.nodes)
        whole = siblings_of(edge)
        return edge in self._node_set if whole is None else not self._node_set.isdisjoint(whole.alive())

    def _finish_leaves(self) -> None:
        for leaf in self.leaves:
            g = self.grads.pop(leaf, None)
            try:
                if g is not None:
                    self._finish(leaf, g)
            except Exception:  # when the last of its parts had come in, in torch
                self.done = max(
                    (k for k, node in enumerate(self.nodes) if any(a is leaf for a in node.args)), default=0
                )
                self._finish_complete(self.nodes)
                raise

    def _tell_leaves(self) -> None:
        """The hooks of leaves that no gradient reached are called all the same, with None."""
        for leaf in self.leaves:
            if leaf not in self.found and leaf.has_hooks() and not out_of_reach(leaf):
                self.finish_leaf(leaf, None)

    def _finish_complete(self, nodes: list[Node]) -> None:
        """After an error: the leaves whose gradient was complete by then have it, as in torch."""
        waiting: set[Any] = set()
        if self.done and nodes[self.done].op.underived and nodes[self.done] in nodes[self.done - 1].args:
            args = nodes[self.done - 1].args  # of which the later ones wait in the queue where torch raises
            waiting.update(arg for arg in args[args.index(nodes[self.done]) :] if arg.__class__ is not Node)
        for node in nodes[self.done :]:
            bits = self.masks.get(node, node.mask)
            waiting.update(arg for i, arg in enumerate(node.args) if bits >> i & 1 and arg.__class__ is not Node)
        self.leaves = {leaf: n for leaf, n in self.leaves.items() if leaf not in waiting}
        self._finish_leaves()

    def _finish(self, leaf: Any, g: Any) -> None:
        if out_of_reach(leaf):
            return
        self.current = leaf
        self.found[leaf] = self.finish_leaf(leaf, g.value if g.__class__ is Masked else g)

    def give(self, target: Any, g: Any) -> None:
        """Add to the gradient of a node or leaf."""
        before = self.grads.get(target)
        if before is None:
            self.grads[target] = g
        else:
            self.grads[target] = g + before if g.__class__ is Masked else before + g
        # A leaf that is itself a result need not be among those that are counted.
        if self.eager_leaves and target.__class__ is not Node and target in self.leaves:
            self.leaves[target] -= 1
            if not self.leaves[target]:
                self._finish(target, self.grads.pop(target))

    def _loop(self, nodes: list[Node], stale: set[Node]) -> None:
        """Run the nodes and free their saved values; a stale node that is reached ends the sweep.

        Freeing goes in blocks: one by one, malloc gives memory back and asks for it again all the time.  Only where the
        gradient is large, its node's values go at once, and the next gradients take their memory.
        """
        ends: set[int] = set()
        starts = list(range(0, len(nodes), _BLOCK))
        if stale:
            ends = {k + 1 for k, node in enumerate(nodes) if node in stale}
            starts = sorted({*starts, *ends, *(k - 1 for k in ends)} - {len(nodes)})
        for start, end in zip(starts, [*starts[1:], len(nodes)], strict=False):
            self.done = start
            block = nodes[start:end]
            if start + 1 in ends and nodes[start] in self.grads and self.masks.get(nodes[start], 1):
                g = self.grads[nodes[start]]
                if nodes[start].dtype is None:
                    tell_missing(self, nodes[start], g)
                if nodes[start].extra is not None:
                    self.run_hooks(nodes[start], g.value if g.__class__ is Masked else g)  # then it cannot take it
                self._refuse_stale(nodes[start])
            row = iter(block)
            try:
                self._run_block(row)
            except Exception:
                self.done = end - length_hint(row) - 1
                self._free(nodes[start : self.done])
                raise
            self._free(block)

    def _refuse_stale(self, node: Node) -> None:
        check_saved(node)

    def _free(self, ran: Sequence[Node]) -> None:
        if not self.keep_graph:
            for node in [node for node in ran if self.masks.get(node, 1)] if self.masks else ran:
                node.saved = FREED

    def _run_block(self, nodes: Iterable[Node]) -> None:
        """Run some nodes: all with care in a recorded sweep, and where leaves have hooks or results are wanted."""
        if not (self.create_graph or self.eager_leaves or self.wanted_nodes):
            self._run_quickly(nodes)
            return
        for node in nodes:
            g = self.grads.pop(node, None)
            if g is not None:
                self._careful(node, g)
                if g.__class__ is np.ndarray and g.nbytes > _LARGE:
                    self._free((node,))
            else:
                self._unreached(node)

    def _run_quickly(self, nodes: Iterable[Node]) -> None:  # noqa: C901
        """Run some nodes: those with rules to call as they are on the spot, the others with care."""
        grads, masks = self.grads, self.masks
        get, take = grads.get, grads.pop
        masked, freed, passes, array = Masked, FREED, same, np.ndarray
        by_first, by_second = times_first, times_second
        large, spent, shape, wide = _LARGE, None, None, False
        owned: set[Any] = set()
        for node in nodes:
            if spent is not None:
                self._free((spent,))
                spent = None
            g = take(node, None)
            if g is None:
                self._unreached(node)
                continue
            if node.shape is not shape:  # nodes hand theirs on: to ask each for its bytes would take longer
                shape = node.shape
                wide = g.__class__ is array and g.nbytes > large
            if wide:
                spent = node
            rules = node.rules
            if rules is None or g.__class__ is masked or (masks and node in masks):
                self._aside(node, g)
                continue
            saved = node.saved
            if saved is freed:
                self._careful(node, g)
                continue
            # Written out for each argument: a loop over them would cost as much as the arithmetic.
            if len(rules) == 1:
                (rule,) = rules
                (arg,) = node.args
                out, x = saved
                c = g if rule is passes else rule(g, out, x)
            else:
                rule, last = rules
                other, arg = node.args
                out, x, y = saved
                if rule is not None:
                    c = g * y if rule is by_second else g if rule is passes else rule(g, out, x, y)
                    before = get(other)
                    if before is None:
                        grads[other] = c
                    elif other in owned and c.__class__ is array:
                        before += c
                    else:
                        grads[other] = total = before + c
                        if total.__class__ is array:
                            owned.add(other)  # a sum made here: the next contribution may go into its memory
                    if last is None:
                        continue
                c = g * x if last is by_first else g if last is passes else last(g, out, x, y)
            before = get(arg)
            if before is None:
                grads[arg] = c
            elif arg in owned and c.__class__ is array:
                before += c
            else:
                grads[arg] = total = before + c
                if total.__class__ is array:
                    owned.add(arg)

    def _rules(self, node: Node, saved: Any) -> Any:
        return node.op.conj_vjps if node.dtype.kind == "c" or is_complex(*saved) else node.op.vjps

    def _contribution(
        self, node: Node, rules: Any, i: int, g: Any, saved: Any, params: Any, masked: Masked | None = None
    ) -> Any:
        inner = g if masked is None else masked.inner
        if callable(rules):
            rule = functools.partial(rules, i)
        elif (rule := rules[i]) is None:
            return None
        if self.misfits and node in self.misfits and node.op.kind != "function":
            return contribution(self, node, rule, i, g, saved, params)
        if not self.create_graph and node.op.kind != "function" and needs_torchs_dtypes(node, saved):
            c = self._in_narrow(node, rule, inner, saved, params or {})
        else:
            saved = self.arguments(node, saved)
            c = rule(inner, *saved, **params) if params else rule(inner, *saved)
        if c is None:
            return None
        arg = node.args[i]
        if self.create_graph and node.op.kind == "function":
            self.given.append((i, c))
        if self.create_graph and node.op.fused is not None and c is not inner:
            _fused(node, c, inner)
        if masked is None:
            return fit(c if hasattr(c, "dtype") else np.asarray(c), arg.raw_shape, landing(node, arg))
        # Before broadcasting is undone: a sum must not meet the derivative of a branch that was not taken.
        zeroed = g if c is inner else masked.zeroing(masked.keep, c)
        fitted = fit(zeroed, arg.raw_shape, landing(node, arg))
        return Masked(fitted, masked.keep, masked.zeroing, c if fitted is zeroed else None)

    def _in_narrow(self, node: Node, rule: Any, g: Any, saved: Any, params: dict[str, Any]) -> Any:
        """A rule in torch's dtypes; half precision rounds every step, but where torch has one kernel for them."""
        op = node.op
        if op.once:
            return rule(widened(g), *self.arguments(node, tuple(map(widened, saved))), **params)
        with no_grad():  # tensors, since their operations compute in float32 and round
            (incoming, *_) = self.wrap(node, (g, *(None for _ in node.args)))
            c = rule(incoming, *self.arguments(node, self.wrap(node, saved)), **params)
        return getattr(c, "_value", c)

    def arguments(self, node: Node, saved: Any) -> Any:
        """The saved values with stand-ins for the arguments that are read for their shape only."""
        _, shaped = node.op.needs(node.mask)
        if not shaped:
            return saved
        several = node.op.variadic
        if several and self.stood[0] is node and self.stood[1] is saved:
            return self.stood[2]  # of thousands of pieces, each asks for the shapes of all
        full = list(saved)
        positions = range(len(node.args)) if -2 in shaped else shaped
        for position in positions:
            if full[position + 1] is None:
                arg = node.args[position] if position >= 0 else node
                shape = getattr(arg, "raw_shape", ())
                dtype = getattr(arg, "dtype", np.dtype(float))
                full[position + 1] = Shaped(tuple(shape), dtype, self.create_graph, arg)
        if several:
            self.stood = node, saved, full
        return full

    # -------------------------------------------------------------------------------------- the careful path

    def _aside(self, node: Node, g: Any) -> None:
        """A node whose rules are not called on the spot."""
        if g.__class__ is Masked or node in self.masks or not straight(self, node, g):
            self._careful(node, g)

    def _careful(self, node: Node, g: Any) -> None:
        """A node with hooks, structural zeros, a wanted gradient, or a recorded sweep."""
        self.current = node
        if node.dtype is None:
            tell_missing(self, node, g)
        whole = siblings_of(node)
        if whole is not None and not self.inside and whole.watched():
            run_member(self, whole, node, g)
            return
        zeros: Masked | None = None
        if g.__class__ is Masked:
            g, zeros = g.value, g
        bits, came = self.masks.get(node, node.mask), g
        if node.extra is not None:
            before = look(g, zeros)
            came, hooked = around_hooks(self, node, g)
            if hooked is not g or look(g, zeros) != before:
                g, zeros = hooked, None
        if node in self.wanted_nodes:
            # grad() takes what came in where the sweep goes on from here, and else what the hooks made of it: so torch.
            ends = node.op.name == "output" and not self.masks.get(node.args[0], node.args[0].mask)
            self.found[node] = came if bits and not ends and not self.run_wanted else g
        if bits or self.run_wanted:
            self.run_node(node, bits, g, zeros)

    def _unreached(self, node: Node) -> None:
        """A custom function without any gradient runs all the same; hooks of other nodes are told, with None."""
        if node.op.kind != "function" and node.extra is None:
            return
        self.current = node
        if node.op.kind != "function":
            hear_nothing(self, node)
        elif node.params and "run" in node.params:
            if node.dtype is not None:
                self.run_hooks(node, None)
            tell_missing(self, node, None)
            node.more()  # so that what it gives is seen, as that of a node with hooks is
            self.run_node(node, self.masks.get(node, node.mask), None, None)

    def run_node(self, node: Node, bits: int, g: Any, zeros: Masked | None) -> None:
        """Run a node whose gradient is complete: the hooks before it, its rules, the hooks after it."""
        if node.extra is not None:
            before = look(g, zeros)
            hooked = self.run_pre_hooks(node, g)
            if hooked is not g or look(g, zeros) != before:
                g, zeros = hooked, None
                if g is None and node.op.kind != "function":
                    return
        whole, role = None, ""
        if isinstance(node.args, Labelled):
            whole, role = None if self.inside else node.args.inputs, node.args.role
        if role == "overlap" and bits:
            raise AutogradError(OVERLAP)
        if whole is not None and node.extra is not None and node.extra.post:
            self._run_whole(node, whole, g, zeros)
            return
        if self.create_graph and whole is not None and (row := told_late(node)) is not None:
            self._run_again(node, row, g)
            return
        results, inputs, inner = self.contributions(node, bits, g, zeros)
        if role == "change" and self.create_graph and getattr(g, "_requires_grad", False):
            # torch copies them into the gradient of the base, and the copy has the history of what it is copied into.
            # What a rule made of nothing, as cat's of an empty part, is an array.
            results = [c if c is None or getattr(c, "_requires_grad", False) else beside(c, g) for c in results]
        elif role == "empty" and self.create_graph:
            results = [still(c) for c in results]  # torch's zeros that nothing was put into
        masked = zeros is not None or node.op.structural is not None
        looks = () if node.extra is None or not node.extra.post else [look(c, masked) for c in results]
        hooked = results if node.extra is None else self.run_post_hooks(node, results, g)
        for i, (c, before) in enumerate(zip(hooked, results, strict=True)):
            if c is not None:
                if c is before and masked and (not looks or look(c, masked) == looks[i]):
                    c = structural(node, i, c, g, zeros, inputs, inner.get(i))
                self.give(node.args[i], c)

    def _run_whole(self, node: Node, inputs: Sequence[Any], g: Any, zeros: Masked | None) -> None:
        """A composite function whose hooks see what it gives to its inputs; nothing is left for its inner nodes."""
        places = [place if place is not None and self.will_run(place) else None for place in inputs]
        results = self.whole(node, g if zeros is None else zeros, places)
        for place, c in zip(places, self.run_post_hooks(node, results, g), strict=True):
            if place is not None and c is not None:
                self.give(place, c)

    def _run_again(self, node: Node, row: list[tuple[Any, Any, bool]], g: Any) -> None:
        """A composite function run once more, since an argument was told to require grad when its graph was there."""
        wanted = [k for k, (_, _, tracked) in enumerate(row) if tracked]
        results = PULL[0](Again(node.args), g, [made for _, made, _ in row], wanted)
        for k, c in results.items():
            if c is not None and self.will_run(row[k][0]):
                self.give(row[k][0], c)

    def whole(self, node: Node, g: Any, places: Sequence[Any]) -> list[Any]:
        """What a composite function that ends at ``node`` gives to its inputs at ``places``, None for those not asked.

        An input that stands there twice has its gradients in one.
        """
        wanted = [place for place in dict.fromkeys(places) if place is not None]
        part = Sweep(
            [(node, g)], wanted, self.create_graph, True, self.wrap, passed, passed, passed, passed, inside=True
        )
        part.turns = self.turns
        part.run()
        return [None if place is None else part.found.pop(place, None) for place in places]

    def contributions(self, node: Node, bits: int, g: Any, zeros: Masked | None) -> tuple[list[Any], Any, Any]:
        """What a node gives to those of its arguments that ``bits`` names; what its rules read; cotangents inside."""
        saved = nothing_saved(node) if bits and node.saved is FREED else node.saved
        if not bits or saved is None:
            return [None] * len(node.args), (), {}
        op = node.op
        if saved.__class__ is PackedRow and op.kind != "function":
            saved = unpacked(saved)
        if op.refuses_back is not None:
            _refuse_dtypes(node, bits, node in self.misfits)
        rules = op.vjps if callable(op.vjps) else self._rules(node, saved)
        inputs = self.wrap(node, saved) if self.create_graph else saved
        through = zeros if op.by_entries else None
        results: list[Any] = [None] * len(node.args)
        inner: dict[int, Any] = {}
        self.given = []
        # torch finds the gradient of the second operand first: a second pass adds up in the order of what came to be.
        pair = self.create_graph and len(results) == 2 and op.kind == "elementwise"
        for i in (1, 0) if pair else range(len(results)):
            if bits >> i & 1:
                c = self._contribution(node, rules, i, g, inputs, node.params, through)
                if c.__class__ is Masked:
                    inner[i], c = c.inner, c.value
                results[i] = c
        if op.phases and op.phases is not True and node.dtype.kind == "c":
            note(self.turns, node, g, inputs[0])
        if self.create_graph and op.kind == "function" and op.name != "output":
            taken = g.parts.items() if g.__class__ is Parts else ((0, g),)
            self.calls.append((node, taken, self.given))
        return results, inputs, inner


class QuietSweep(Sweep):
    """A pass of arrays over a graph that is kept, which only looks: no hook runs, and nothing comes into ``.grad``."""

    def __init__(self, roots: Sequence[tuple[Any, Any]], wanted: Sequence[Any] | None):
        super().__init__(
            roots=roots,
            wanted=wanted,
            create_graph=False,
            keep_graph=True,
            wrap=lambda node, saved: saved,
            finish_leaf=lambda leaf, g: g,
            run_hooks=lambda node, g: g,
            run_pre_hooks=lambda node, g: g,
            run_post_hooks=lambda node, results, g: results,
        )


def _refuse_dtypes(node: Node, bits: int, by_now: bool) -> None:
    """Raise torch's error where a derivative cannot be had for operands of these dtypes, or those they have by now."""
    places = [present(arg) for arg in node.args] if by_now else node.args
    op, dtypes = node.op, [getattr(arg, "dtype", None) for arg in places]
    for i in range(len(dtypes)):
        wanted = bits >> i & 1 and not out_of_reach(node.args[i])
        words = op.refuses_back(i, *dtypes, **(node.params or {})) if wanted else None  # type: ignore[misc]
        if words is not None:
            shown = ", ".join("a number" if dtype is None else torch_name(dtype) for dtype in dtypes)
            raise DtypeError(f"{words} ({op.name} of {shown}: cast them to one dtype before the operation)")


def passed(_: Any, g: Any, *__: Any) -> Any:
    """The hooks of a sweep that has none."""
    return g


def _fused(node: Node, c: Any, g: Any) -> None:
    """Say that a recorded answer is one node in torch, of the incoming gradient and what the rule reads besides."""
    made = getattr(c, "_node", None)
    if made is not None:
        word, reads = node.op.fused  # type: ignore[misc]
        incoming = (g if g._node is None else g._node) if getattr(g, "_requires_grad", False) else None
        read = () if reads is None else (node,) if reads < 0 else (node.args[reads],)
        Labelled.on(made, full_name(word), (incoming, *read))

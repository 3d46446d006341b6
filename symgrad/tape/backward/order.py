"""Which nodes a backward pass runs, and in which order."""

from __future__ import annotations

from operator import attrgetter
from typing import Any

from symgrad.tape.backward.tether import Tied
from symgrad.tape.graph import Labelled, Node
from symgrad.tape.memory.views import kept_out, out_of_reach

_age = attrgetter("sequence_nr")


def tracked(args: tuple[Any, ...], mask: int) -> tuple[Any, ...]:
    """The arguments that a mask names."""
    if len(args) == 2 and 0 < mask < 3:  # the commonest: one operand of two
        return args[mask - 1 : mask]
    return tuple([arg for i, arg in enumerate(args) if mask >> i & 1])


def in_order(sweep: Any) -> list[Node]:
    """The nodes that a sweep runs, newest first; leaves, and masks narrower than the nodes' own, are noted in it."""
    seen: set[Node] = set()
    nodes: list[Node] = []
    leaves = sweep.leaves
    for root, _ in sweep.roots:
        if root.__class__ is not Node:
            leaves[root] = 0
        elif root not in seen:
            seen.add(root)
            nodes.append(root)
    kind, tied, note, append = Node, Tied, seen.add, nodes.append
    ends = sweep.wanted_nodes if sweep.inside else None
    for node in nodes:  # which grows meanwhile
        if ends is not None and node in ends:
            continue
        args = node.args
        if node.mask + 1 != 1 << len(args):
            args = tracked(args, node.mask)
        for arg in args:
            if arg not in seen:
                note(arg)
                if type(arg) is kind or type(arg) is tied:  # quicker than __class__ where classes vary
                    append(arg)
                else:
                    leaves[arg] = 0
    for leaf in leaves:
        extra = getattr(leaf, "_extra", None)  # what stands for an argument of a folded function has none
        if extra is not None and extra.view is not None and extra.view.before is not None:
            _keep_out(sweep, nodes)
            break
    nodes.sort(key=_age, reverse=True)
    if sweep.wanted is not None:
        nodes = _only_useful(sweep, nodes)
    if [node for node in nodes if node.rules is None and node.op.underived]:
        nodes = _underived_first(sweep, nodes)
    return nodes


def _keep_out(sweep: Any, nodes: list[Node]) -> None:
    """Give the nodes of before a view became a leaf the stand-in that no gradient reaches."""
    for node in nodes:
        settle(node)
    ends = [root for root, _ in sweep.roots if root.__class__ is not Node]
    found = [arg for node in nodes for arg in tracked(node.args, node.mask) if arg.__class__ is not Node]
    sweep.leaves.clear()
    sweep.leaves.update(dict.fromkeys([*ends, *found], 0))


def settle(node: Node) -> None:
    """Let a node lead to what it led to when it was made, where a view became a leaf since."""
    row: Any = node.args
    found = [kept_out(node, arg) for arg in row]
    inputs = row.inputs if row.__class__ is Labelled else None
    places = inputs and tuple([kept_out(node, place) for place in inputs])
    if any(new is not old for new, old in zip((*found, *(places or ())), (*row, *(inputs or ())), strict=True)):
        made: Any = row.__class__(found)
        if row.__class__ is Labelled:
            vars(made).update(vars(row))
            made.inputs = places
        node.args = made


def _underived_first(sweep: Any, nodes: list[Node]) -> list[Node]:
    """In torch an operation without derivative runs as soon as all who use its result have run."""
    users: dict[Node, int] = dict.fromkeys((node for node in nodes if node.op.underived), 0)
    for k, node in enumerate(nodes):
        for arg in tracked(node.args, sweep.masks.get(node, node.mask)):
            if arg.__class__ is Node and arg in users:
                users[arg] = k
    turns = {node: (users[node] + 0.5 if node in users else k) for k, node in enumerate(nodes)}
    return sorted(nodes, key=turns.__getitem__)


def _only_useful(sweep: Any, nodes: list[Node]) -> list[Node]:
    """Drop nodes that lead to nothing wanted; where only some arguments do, note the narrower mask."""
    wanted = {id(place) for place in sweep.wanted or () if not out_of_reach(place)}
    # A gradient of one output of several is found where all of them come together, so what leads there runs.
    wanted |= {id(node.args[0]) for node in sweep.wanted_nodes if node.op.name == "output"}
    if not sweep.wanted_nodes and all(id(leaf) in wanted for leaf in sweep.leaves):
        return nodes
    useful = wanted
    kept = []
    for node in reversed(nodes):
        mask = 0
        last = sweep.inside and node in sweep.wanted_nodes
        for i, arg in enumerate(() if last else node.args):
            if node.mask >> i & 1 and id(arg) in useful:
                mask |= 1 << i
        if mask:
            useful.add(id(node))
        if mask != node.mask:
            sweep.masks[node] = mask
        if id(node) in useful:
            kept.append(node)
    sweep.leaves = {leaf: n for leaf, n in sweep.leaves.items() if id(leaf) in wanted}
    kept.reverse()
    return kept

"""Leaves that their own gradient's graph holds weakly, so that nothing but reference counts is needed to free them.

A recorded pass leaves gradients with a graph: leaf, ``.grad``, graph, leaf would be a cycle.  So a leaf that a recorded
pass went over gets a :class:`Tether`, and :func:`loosen` lets the nodes of graphs that a ``.grad`` keeps hold it
instead of the leaf.  Who asks such a node for its arguments finds the leaf as ever.  Where the leaf is gone, though
somebody still holds the graph, it is made once more, with its value, name and hooks but no gradient.
"""

from __future__ import annotations

import copy
import weakref
from collections.abc import Iterable
from typing import Any

from symgrad.tape.graph import Labelled, Node


class Tether:
    """A weak reference to a leaf, with what it takes to make the leaf once more."""

    __slots__ = ("__weakref__", "cls", "extra", "leaf", "value")

    def __init__(self, leaf: Any):
        self.leaf = weakref.ref(leaf)
        self.cls: Any = type(leaf)
        self.value = leaf._value
        self.extra = copy.copy(leaf.more())
        self.extra.grad = self.extra.origin = self.extra.accumulate = None

    def __call__(self) -> Any:
        """The leaf."""
        found = self.leaf()
        if found is None:
            found = self.cls.__new__(self.cls)
            found._value, found._node, found._requires_grad = self.value, None, True
            found._extra = copy.copy(self.extra)
            found._extra.tether = self
            self.leaf = weakref.ref(found)
        return found


def tethered(leaves: Iterable[Any]) -> None:
    """Let graphs that a gradient keeps hold these leaves weakly from now on."""
    for leaf in leaves:
        extra = leaf.more()
        if extra.tether is None:
            extra.tether = Tether(leaf)


def held(edge: Any) -> Any:
    """An edge as what belongs to a gradient keeps it: a leaf by its tether, if it has one; ``(edge, …)`` likewise."""
    if edge.__class__ is tuple:
        return (held(edge[0]), edge[1])
    extra = getattr(edge, "_extra", None)
    return edge if extra is None or extra.tether is None else extra.tether


def at(edge: Any) -> Any:
    """The edge that :func:`held` gave."""
    if edge.__class__ is tuple:
        return (at(edge[0]), edge[1])
    return edge() if edge.__class__ is Tether else edge


_row: Any = Node.__dict__["args"]
"""The place in a node where its arguments lie."""


class Tied(Node):
    """A node some of whose arguments are tethers; in every other way it is the :class:`Node` that it was."""

    __slots__ = ()

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        """That of all nodes: nobody needs to know the difference."""
        return Node

    @property
    def args(self) -> Any:
        """The arguments, with leaves where tethers are kept."""
        row = _row.__get__(self)
        found = tuple([arg() if arg.__class__ is Tether else arg for arg in row])
        if row.__class__ is not Labelled:
            return found
        made = Labelled(found)
        vars(made).update(vars(row))
        if row.inputs is not None:
            made.inputs = tuple([at(place) for place in row.inputs])
        return made

    @args.setter
    def args(self, row: Any) -> None:
        _row.__set__(self, row)


def loosen(gradients: Iterable[Any]) -> None:
    """Let the graphs that these gradients keep hold leaves with a tether by it."""
    walk = _Walk()
    for gradient in gradients:
        walk.gradient(gradient)
    walk.run()


class _Walk:
    """The nodes and passes below some gradients, each once."""

    def __init__(self) -> None:
        self.seen: set[Any] = set()
        self.stack: list[Any] = []

    def gradient(self, tensor: Any) -> None:
        extra = tensor._extra
        self.meet(tensor._node)
        if extra is not None and isinstance(extra.origin, list):
            extra.origin = [(self.meet(passed), held(edge)) for passed, edge in extra.origin]
        if extra is not None and extra.came is not None:
            extra.came = (self.meet(extra.came[0]), held(extra.came[1]))

    def meet(self, item: Any) -> Any:
        """Visit a node or pass once, later; gives it."""
        if item is not None and item not in self.seen:
            self.seen.add(item)
            self.stack.append(item)
        return item

    def run(self) -> None:
        while self.stack:
            item = self.stack.pop()
            if item.__class__ is Node:
                self._node(item)
            else:
                self._pass(item)

    def _pass(self, passed: Any) -> None:
        for edge in (*passed.roots, *passed.seeds):
            if edge.__class__ is Node:
                self.meet(edge)
        passed.replaced = {held(edge): hooks for edge, hooks in passed.replaced.items()}
        for place, k in [key for key in passed.given if held(key[0]) is not key[0]]:
            passed.given[held(place), k] = passed.given.pop((place, k))
        passed.cache.clear()  # what somebody asked about is found out again

    def _node(self, node: Any) -> None:
        row = _row.__get__(node)
        tied, seen, stack = False, self.seen, self.stack
        for arg in row:
            if arg.__class__ is Node:
                if arg not in seen:
                    seen.add(arg)
                    stack.append(arg)
            elif held(arg) is not arg:
                tied = True
        if row.__class__ is Labelled:
            tied = self._label(row) or tied
        if tied:
            _tie(node, row)
        run = node.params.get("run") if node.op.kind == "function" and node.params else None
        if run is not None:
            run.ctx._kinds = tuple([(kind, held(place)) for kind, place in run.ctx._kinds])

    def _label(self, row: Labelled) -> bool:
        """What the label of a node keeps; whether a leaf is among its inputs."""
        self.meet(row.origin)
        for place in row.inputs or ():
            if place.__class__ is Node:
                self.meet(place)
        if hasattr(row.label, "origin"):
            self.meet(row.label.origin)
            self.meet(row.label.twin)
            row.label.edge = held(row.label.edge)
        return any(held(place) is not place for place in row.inputs or ())


def _tie(node: Node, row: Any) -> None:
    made = row.__class__([held(arg) for arg in row])
    if row.__class__ is Labelled:
        vars(made).update(vars(row))
        if row.inputs is not None:
            made.inputs = tuple([held(place) for place in row.inputs])
    if type(node) is not Tied:  # it is where a leaf that earlier passes did not go over has a tether now
        object.__setattr__(node, "__class__", Tied)
    _row.__set__(node, made)

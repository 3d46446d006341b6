"""What a program looked at: the values on which it chose its way, kept small and without the arrays.

A formula holds for the way that the program took.  When a tensor's truth value, its number, or an index made of it is
asked for, the few operations that lead to it are noted: no values, no graph, weak references to the leaves.  So a loop
that looks at a loss keeps nothing alive, and nothing is paid per operation.  Of a larger value the leaves are noted;
what was found below one is known at the next look, so that a loop that looks at what it adds to does not begin anew.
"""

from __future__ import annotations

import contextlib
import functools
import weakref
from collections import deque
from collections.abc import Container
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np

from symgrad.notices import users_frame
from symgrad.ops.indexing.getitem import Index
from symgrad.tape.formulas.program_texts import position_of
from symgrad.tape.graph import FREED, Node, Source
from symgrad.tape.memory.aliases import Invalid
from symgrad.tape.memory.versions import changed_since
from symgrad.tape.numbering import looked, sequence
from symgrad.tape.threads import ThreadState, meanwhile

NODES = 48
"""Operations of one look that are noted."""

FRESH = 1024
"""Operations below larger values that are remembered at the least."""

KEPT = 256
"""Looks that a thread remembers."""


DECIDED = "a result"
"""How values are looked at on which a result without derivative hangs, such as the places that are not 0."""

FAILED = "a failure"
"""How values are looked at for which a call failed: a program that goes on from there does so at these."""

OF_PLACES = "places"
"""How it is asked whether all places in an index array lie in an axis, counted from 0."""

_COUNTED: dict[int, Any] = {}
"""What graphs have for index arrays of which it was asked: weak references by their identity."""


def note_places(edge: Any) -> None:
    """The places in an index array are counted from 0, so programs that take others may not count from the end."""
    if not counts_from_zero(edge):
        _COUNTED[id(edge)] = weakref.ref(edge, functools.partial(_forget, id(edge)))


def counts_from_zero(edge: Any) -> bool:
    """Whether the places in what a node gives, or in a constant, were counted from 0."""
    known = _COUNTED.get(id(edge))
    return known is not None and known() is edge


def _forget(key: int, gone: Any) -> None:
    if _COUNTED.get(key) is gone:
        del _COUNTED[key]


class Look:
    """One look: how it was made, what was seen, where in the program, and the operations that lead to the value."""

    __slots__ = ("at", "below", "how", "leaves", "many", "rows", "seen", "site")

    def __init__(self, tensor: Any, how: str):
        self.at = next(sequence)
        self.how = how
        value = tensor._value
        self.seen = None if value.size > NODES else value.copy() if isinstance(value, np.ndarray) else value
        frame = users_frame()
        self.site = None if frame is None else (frame.f_code, frame.f_lasti)
        self.rows: list[tuple[Any, ...]] | None = None
        root = None if tensor._node.__class__ is Invalid else tensor.edge()  # a view without history has its value
        if not isinstance(root, Node):  # nothing is below a leaf
            self.many, self.rows, self.leaves = False, [], [] if root is None else [_kept(root)]
            self.below: frozenset[Any] = frozenset()  # numbers of operations
            looked.append(self)
            return
        found, leaves = _few_below(root)
        self.many = leaves is None
        self.leaves = _LOCAL.below.leaves(root) if leaves is None else list(leaves.values())
        if not any(map(_opaque, found.values())):
            self._note(found)
        self.below = frozenset(node.sequence_nr for node in found.values())
        looked.append(self)

    def _note(self, found: dict[int, Node]) -> None:
        """Keep the operations below a value; of many, the last ones, and weakly the nodes that these stand on."""
        order = sorted(found.values(), key=attrgetter("sequence_nr"))
        place = {id(node): k for k, node in enumerate(order)}
        self.rows = []
        for node in order:
            args = tuple(_Place(place[id(a)]) if id(a) in place else _held(a) for a in node.args)
            self.rows.append((node.op, args, node.params, node.shape, node.dtype, node.sequence_nr, node.mask))

    def is_of(self, leaves: Container[int]) -> bool:
        """Whether the value is made of nothing but these leaves, which are given by their identities, or a call failed.

        What was computed instead need not have any of the arguments of that call.
        """
        return self.how == FAILED or all(
            id(leaf if isinstance(leaf, Source) else leaf()) in leaves for leaf in self.leaves
        )

    @property
    def where(self) -> str:
        """The user's line, as file:number."""
        if self.site is None:
            return "the program"
        return f"{Path(self.site[0].co_filename).name}:{position_of(*self.site)[0]}"

    def alive(self) -> list[Any]:
        """The leaves that still have the values of which the one that was looked at is made."""
        found = []
        since = min((row[5] for row in self.rows or ()), default=self.at)
        for leaf in self.leaves:
            tensor = leaf.ref() if isinstance(leaf, Source) else leaf()
            if tensor is not None and changed_since(tensor._value, since):
                return []
            if tensor is not None or isinstance(leaf, Source):
                found.append(leaf if isinstance(leaf, Source) else tensor)
        return found

    def edge(self, deep: bool = False) -> Any:
        """The value as a graph of its own, for reading its formula; None when a leaf is gone or it was too large.

        ``deep``: too large it is not while the nodes that its last operations stand on are in a graph that is alive.
        """
        if self.rows is None or (self.many and not deep):
            return None
        made: list[Any] = []
        for op, args, params, shape, dtype, number, mask in self.rows:
            node = Node()
            node.op, node.params, node.shape, node.dtype, node.mask = op, params, shape, dtype, mask
            node.args = tuple(
                made[a.k] if isinstance(a, _Place) else a() if isinstance(a, weakref.ref) else a for a in args
            )
            if any(a is None for a in node.args):
                return None
            node.saved, node.sequence_nr, node.rules, node.extra = FREED, number, None, None
            made.append(node)
        if made:
            return made[-1]
        leaf = self.leaves[0]
        return leaf if isinstance(leaf, Source) else leaf()


def _few_below(root: Any) -> tuple[dict[int, Node], dict[int, Any] | None]:
    """The operations below a value and the leaves, by identity; None for the leaves where the operations are many."""
    found: dict[int, Node] = {}
    leaves: dict[int, Any] = {}
    stack = deque([root])
    while stack:
        item = stack.popleft()
        if isinstance(item, Node):
            if id(item) not in found:
                if len(found) == NODES:
                    return found, None
                found[id(item)] = item
                stack.extend(item.args)
        elif hasattr(item, "raw_shape"):
            leaves[id(item)] = _kept(item)
    return found, leaves


def _held(arg: Any) -> Any:
    """An argument of a noted operation without its value: graphs below it and leaves are held weakly."""
    return weakref.ref(arg) if isinstance(arg, Node) else _kept(arg) if hasattr(arg, "raw_shape") else arg


def _kept(leaf: Any) -> Any:
    return leaf if isinstance(leaf, Source) else weakref.ref(leaf)


class _Below:
    """The leaves of values that were looked at.

    An operation that another look has met stands on the leaves of that look: some too many where the value had others
    besides, which were among its conditions already.  The operations are known by their numbers, so nothing is kept
    alive; all are forgotten when twice as many have come as there were, so nothing grows.
    """

    def __init__(self) -> None:
        self._known: dict[int, dict[int, Any]] = {}
        self._most = FRESH

    def leaves(self, root: Any) -> list[Any]:
        """The leaves below a value."""
        known, mine, others = self._known, dict[int, Any](), dict[int, dict[int, Any]]()
        forgotten = len(known) > self._most
        if forgotten:
            known.clear()
        stack = [root]
        while stack:
            node = stack.pop()
            found = known.get(node.sequence_nr)
            if found is None:
                known[node.sequence_nr] = mine
                for arg in node.args:
                    if isinstance(arg, Node):
                        stack.append(arg)
                    elif not isinstance(arg, (float, int)) and hasattr(arg, "raw_shape"):
                        leaf = _kept(arg)
                        mine[id(leaf)] = leaf
            elif found is not mine:
                others[id(found)] = found
        for found in others.values():
            mine.update(found)
        if forgotten:
            self._most = 2 * len(known) + FRESH
        return list(mine.values())


def _opaque(node: Node) -> bool:
    """Whether an operation cannot be noted without its own data: a custom function, or an index of many entries."""
    if node.op.define_symbolic is not None:
        return True
    index = node.params.get("index") if node.params else None
    if index is None:
        return False
    parts = (
        index.value if isinstance(index, Index) and isinstance(index.value, tuple) else (getattr(index, "value", 0),)
    )
    return any(getattr(part, "size", 0) > NODES for part in parts)


class _Place:
    """An argument that is another noted operation."""

    __slots__ = ("k",)

    def __init__(self, k: int):
        self.k = k


class _Local(ThreadState):
    def __init__(self) -> None:
        self.looks: deque[Look] = deque(maxlen=KEPT)
        self.below = _Below()
        self.count = 0
        self.most = float("inf")


_LOCAL = _Local()


class TooManyLooks(Exception):
    """A run looked at values more often than it may: its loop does not end."""


def note_look(tensor: Any, how: str) -> None:
    """A value that depends on leaves was looked at."""
    _LOCAL.count += 1
    if _LOCAL.count > _LOCAL.most:
        raise TooManyLooks
    _LOCAL.looks.append(Look(tensor, how))


def look_count() -> int:
    """How many looks there were in this thread."""
    return _LOCAL.count


def looks_limited(further: int) -> contextlib.AbstractContextManager[None]:
    """Looks after so many ``further`` ones raise :class:`TooManyLooks`."""
    return meanwhile(_LOCAL, most=min(_LOCAL.most, _LOCAL.count + further))


def looks() -> list[Look]:
    """The looks of this thread, oldest first."""
    return list(_LOCAL.looks)

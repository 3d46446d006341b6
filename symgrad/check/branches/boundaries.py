"""Points just on both sides of where ``f`` changes its formula, found by Newton steps.

A comparison, a ``maximum`` or a ``clamp`` changes sides where the difference of its arguments is zero.  Random points
lie far from there, and so a margin that was forgotten or an ``if`` that is never true does not show in them.  The tape
knows the difference and its gradient; the entry nearest to zero is moved a little beyond it, and a little before it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from symgrad.autograd import grad as tape_grad
from symgrad.check.asking.arrays import as_array
from symgrad.check.asking.subject import Subject
from symgrad.check.graph.lines import Line, place_of
from symgrad.check.graph.replay import Unknown, again, operand
from symgrad.check.oracle.answer import Exact
from symgrad.op import lookup
from symgrad.tape.graph import Node
from symgrad.tape.record import Recorded

MOST = 3
"""Boundaries that are looked at."""

MOST_NODES = 2_000
"""In larger graphs values are not computed once more."""

_BESIDE = 0.05
"""How far beyond the boundary a point lies, as a part of the way to it."""

_CLOSE, _SECANTS = 0.005, 6
"""How near to the boundary one has to come, as a part of the way, too, and the steps that this may take."""

_FARTHEST = 1e3
"""Longer steps, relative to the arguments, lead nowhere."""

_SMALL = 1e-3
"""Bounds below this one, but not 0, or as close to 1, keep values where they belong; they are no branches."""

_LARGE = 15.0
"""Bounds beyond this one keep ``exp`` from overflow."""


Moves = dict[int, Any]


class Boundary(NamedTuple):
    """Where a node changes sides: its first argument and argument ``j`` are equal."""

    node: Node
    j: int
    line: Line | None

    @property
    def of_leaf(self) -> bool:
        """Whether an argument of ``f`` itself is compared."""
        return any(isinstance(self.node.args[k], Recorded) for k in (0, self.j))

    @property
    def limits(self) -> bool:
        """Whether values are kept in an interval, mostly where they belong."""
        return len(self.node.args) == 3 or self.node.op.kinks in (("x = lo",), ("x = hi",))


class Near(NamedTuple):
    """The entry of the difference that is nearest to a boundary, but not on it; with one sign all differences have."""

    boundary: Boundary
    distance: float
    flat: int
    entry: Any
    one_sided: bool


class Step(NamedTuple):
    """A move of the arguments of ``f``, by position, that leads to one side of a boundary."""

    boundary: Boundary
    moves: dict[int, Any]


def steps_across(exact: Exact, subject: Subject) -> Iterator[Step]:
    """Moves to both sides of the boundaries of ``f``; none where it is a black box."""
    places: dict[Any, list[Boundary]] = {}
    for found in _boundaries(exact):
        places.setdefault((found.line, found.node.op.name, found.j, place_of(found.node)), []).append(found)
    if not places:
        return
    values = _values([b.node for group in places.values() for b in group], exact)
    count = 0
    for group in sorted(places.values(), key=lambda group: not _compares(group[0].node)):
        nearest = min(
            (near for b in group[:MOST_NODES] if (near := _nearest(b, values, exact))),
            key=lambda near: near.distance,
            default=None,
        )
        if nearest is None:
            continue
        boundary, entry = nearest.boundary, nearest.entry
        slopes = tape_grad([entry], exact.leaves, allow_unused=True, retain_graph=True)  # places share nodes
        arrays = [
            np.zeros(leaf._value.shape) if s is None else as_array(s)
            for s, leaf in zip(slopes, exact.leaves, strict=True)
        ]
        distance = float(entry._value)
        toward = functools.partial(_moves, subject, arrays, keep_signs=boundary.of_leaf)
        whole = _whole_way(functools.partial(_difference_at, nearest, exact, subject), toward, distance)
        beside = _beside(subject, toward(-distance * whole), boundary.of_leaf)
        for part in (-1.0, -beside, beside) if nearest.one_sided else (-beside, beside):
            moves = toward((part - 1) * distance * whole)
            if moves:
                yield Step(boundary, moves)
        count += 1
        if count == MOST:
            return


def _stays_positive(array: Any, keep_signs: bool) -> bool:
    """Whether an argument may have to be positive as it is: a number, or what is compared itself."""
    return (keep_signs or not array.ndim) and bool(np.all(array >= 0))


def _beside(subject: Subject, way: Moves, keep_signs: bool) -> float:
    """How far beyond the boundary a point lies: at most half of the way from there to 0 for what is to stay positive.

    From 100 to 1 the way is long, and a twentieth of it leads beyond 0.
    """
    room = 2 * _BESIDE
    for k, move in way.items():
        down = move < 0
        if np.any(down) and _stays_positive(subject.args[k], keep_signs):
            room = min(room, float(np.min(((subject.args[k] + move) / np.where(down, -move, 1))[down])))
    return room / 2


def _boundaries(exact: Exact) -> Iterator[Boundary]:
    """The boundaries of every operation that was recorded, those of comparisons among them."""
    for node, line in exact.lines.items():
        if _compares(node) or node.op.kinks == ("x = y",):
            yield Boundary(node, 1, line)
        elif node.op.kinks and "x = " in str(node.op.kinks[0]):
            for j in range(1, len(node.args)):
                yield Boundary(node, j, line)


def _compares(node: Node) -> bool:
    """Whether a node asks which of two is larger; a test of equality is no boundary."""
    return node.op.turned is not None and node.op.turned != node.op.name


def _values(wanted: list[Node], exact: Exact) -> dict[Any, Any]:
    """The arguments of some nodes as tensors with a history; those that cannot be computed again are left out."""
    below = _below(wanted)
    made: dict[Any, Any] = {}
    if len(below) > MOST_NODES:
        return made
    for node in below:
        try:
            made[node] = again(node, made, exact.constants)
        except Exception:  # noqa: BLE001  (a constant that was not kept, an operation that is no function of arrays)
            continue
    return made


def _below(wanted: list[Node]) -> list[Node]:
    """The nodes that the arguments of some nodes are computed with, in the order in which they ran."""
    below: set[Node] = set()
    stack = list(wanted)
    while stack:
        for arg in stack.pop().args:
            if isinstance(arg, Node) and arg not in below:
                below.add(arg)
                stack.append(arg)
    return sorted(below, key=lambda node: node.sequence_nr)


def _nearest(boundary: Boundary, values: dict[Any, Any], exact: Exact) -> Near | None:
    """The entry of the difference nearest to the boundary, but not on it."""
    try:
        a, b = (operand(boundary.node.args[k], values, exact.constants) for k in (0, boundary.j))
    except Unknown:
        return None
    if any(not isinstance(c, Recorded) and _keeps_away(c, boundary.limits) for c in (a, b)):
        return None
    difference: Any = lookup("sub")(a, b)
    if not getattr(difference, "_requires_grad", False) or difference._value.dtype.kind != "f":
        return None
    size = np.abs(difference._value)
    with np.errstate(all="ignore"):
        scale = max((float(np.max(np.abs(as_array(c)), initial=0.0)) for c in (a, b)), default=0.0)
        size = np.where((size > 1e-6 * scale) & np.isfinite(size), size, np.inf)
    if not size.size or not np.isfinite(size.min()):
        return None
    flat = int(np.argmin(size))
    one_sided = bool(np.all(difference._value >= 0) or np.all(difference._value <= 0))
    if one_sided and boundary.limits and not isinstance(b, Recorded) and np.isin(as_array(b), (0, 1)).all():
        return None  # probabilities
    entry = difference.reshape(-1)[flat] if difference.ndim else difference
    return Near(boundary, float(size.flat[flat]), flat, entry, one_sided)


def _whole_way(difference: Callable[[Moves], float], toward: Callable[[float], Moves], distance: float) -> float:
    """How many Newton steps lead to the boundary: one where the difference is linear, secants tell it elsewhere."""
    before, last, way, now = 0.0, distance, 1.0, difference(toward(-distance))
    for _ in range(_SECANTS):
        if not abs(now) > _CLOSE * abs(distance) or now == last:
            break
        before, last, way = way, now, way - now * (way - before) / (now - last)
        now = difference(toward(-distance * way))
    return way if way > 0 and abs(now) <= _CLOSE * abs(distance) else 1.0


def _difference_at(near: Near, exact: Exact, subject: Subject, moves: Moves) -> float:
    """The difference at the nearest entry where the arguments are moved; nan where it cannot be computed again."""
    pairs = zip(subject.positions, exact.leaves, strict=True)
    moved = {id(leaf): leaf._value + moves[k] if k in moves else leaf._value for k, leaf in pairs}
    made: dict[Any, Any] = {}
    of = functools.partial(_value_moved, moved)
    try:
        with np.errstate(all="ignore"):
            for node in _below([near.boundary.node]):
                made[node] = again(node, made, exact.constants, of=of)
            args = [near.boundary.node.args[k] for k in (0, near.boundary.j)]
            a, b = (of(arg) if isinstance(arg, Recorded) else operand(arg, made, exact.constants) for arg in args)
            return float(np.ravel(np.subtract(a, b))[near.flat])
    except Exception:  # noqa: BLE001  (as above, and what has no value at other arguments)
        return float("nan")


def _value_moved(moved: dict[int, Any], leaf: Recorded) -> Any:
    return moved.get(id(leaf), leaf._value)


def _keeps_away(bound: Any, limits: bool) -> bool:
    """Whether a bound keeps values where they belong (off 0, off 1, from overflow), and is no branch."""
    size = np.abs(as_array(bound))
    off_zero, off_one = (size > 0) & (size < _SMALL), (size != 1) & (np.abs(size - 1) < _SMALL)
    return bool(np.all(off_zero | off_one | np.isinf(size) | (limits & (size >= _LARGE))))


def _moves(subject: Subject, slopes: list[Any], change: float, keep_signs: bool) -> dict[int, Any]:
    """The shortest move that changes a value by ``change`` as far as its slopes tell.

    Entries that are zero stay (masks, padding), and what is positive all over may have to be.
    """
    free = []
    for k, slope in zip(subject.positions, slopes, strict=True):
        array = subject.args[k]
        free.append(np.where(array != 0, slope, 0) if array.dtype.kind == "f" else np.zeros(array.shape))
    total = sum(float(np.sum(s * s)) for s in free)
    if not total or not np.isfinite(total):
        return {}
    moves = {}
    for k, s in zip(subject.positions, free, strict=True):
        array, move = subject.args[k], s * (change / total)
        if not np.any(move):
            continue
        if np.max(np.abs(move)) > _FARTHEST * (1 + np.max(np.abs(array))):
            return {}
        if _stays_positive(array, keep_signs):
            move = np.where(array + move > 0, move, np.maximum(move, -0.95 * array))
        moves[k] = move
    return moves

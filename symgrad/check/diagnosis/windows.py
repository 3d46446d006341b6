"""Windows: parts of an array that a loop reads, whose gradients are overwritten or belong to other entries.

A convolution by loops reads ``x[t * stride : ... : dilation]``.  In the gradient such parts are written over each
other, or taken with another stride, dilation or offset.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence, Set as AbstractSet
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from symgrad.check.diagnosis.case import Case
from symgrad.check.graph import surgery
from symgrad.check.graph.lines import place_of
from symgrad.check.graph.surgery import Local
from symgrad.check.report import Diagnosis
from symgrad.tape.graph import Node
from symgrad.tape.record import Recorded

Edges = dict[Any, Any]
"""What happens on each edge of a sweep."""


class Proposal(NamedTuple):
    """A value, what it receives besides, and the words for that; ``key`` is the same in other rounds of a loop."""

    value: Any
    more: Callable[[Edges], Any]
    told: Callable[[], Diagnosis]
    key: Any = None


MOST_TIMES = 100
"""Reads of one value that may overwrite each other."""

MOST_WINDOWS = 2000
"""Windows of one value that may be taken at other places."""


def first_of(case: Case, rows: Case, proposers: Sequence[Callable[..., Iterator[Proposal]]]) -> Diagnosis | None:
    """The first proposal that explains the gradient, in one round or in all that make the same one."""
    assert rows.surgeon is not None
    for propose in proposers:
        together: dict[Any, list[Any]] = {}
        for value, more, told, key in propose(case, rows):
            found = rows.added_to(value, more)
            if rows.meets(found):
                return case.keep(partial(Case.added_to, value=value, more=more), told())
            if key is not None and found is not None:
                together.setdefault(key, []).append((found - rows.g, told))
        for parts in together.values():
            if len(parts) > 1 and rows.meets(rows.g + sum(part for part, _ in parts)):
                one: Diagnosis = parts[-1][1]()
                return replace(one, sentence=f"{one.sentence.removesuffix('.')}, each time the line runs.")
    return None


def windows_overwritten(case: Case) -> Diagnosis | None:
    """Parts that overlap are read, and their gradients written over each other; asked before single entries are."""
    rows = case.by_rows()
    return None if rows.surgeon is None or not rows.surgeon.sweeps else first_of(case, rows, (_overwritten,))


def parts_overwritten(case: Case) -> Diagnosis | None:
    """The same where several expressions read the very same part; asked after those for a part that is missing."""
    rows = case.by_rows()
    alike = partial(_overwritten, alike=True)
    return None if rows.surgeon is None or not rows.surgeon.sweeps else first_of(case, rows, (alike,))


def rounds_overwritten(case: Case) -> Diagnosis | None:
    """The same where one expression in a loop reads the parts; elsewhere it may as well be a part that is missing."""
    rows = case.by_rows()
    looped = partial(_overwritten, looped=True)
    return None if rows.surgeon is None or not rows.surgeon.sweeps else first_of(case, rows, (looped,))


def places_read(case: Case, node: Any) -> Any:
    """Which entry of its first argument each entry of a node is; None for operations that compute.

    Other arguments may be indices only.
    """
    if not node.args or node.op.kind == "elementwise" or case.replay is None:
        return None
    arg, others = node.args[0], [case.replay.constant(other) for other in node.args[1:]]
    if any(other is None or other.dtype.kind not in "iub" for other in others):
        return None
    shape = getattr(arg, "raw_shape", ())
    entries = np.arange(int(np.prod(shape))).reshape(shape)
    try:
        places = np.asarray(node.op.kernel(entries, *others, **(node.params or {})))
    except Exception:  # noqa: BLE001  (an operation that computes)
        return None
    value, result = case.replay.value(arg), case.replay.value(node)
    if value is None or places.shape != node.shape or places.dtype.kind not in "iu" or not places.size:
        return None
    if places.min() < 0 or places.max() >= value.size or not np.array_equal(value.ravel()[places], result):
        return None
    return places


Read = tuple[Any, Any]
"""A node that reads a part, and the places of its entries."""


def _reads(case: Case, rows: Case, most: int) -> Iterator[list[Read]]:
    """What reads parts of each value, youngest first."""
    reads: dict[int, list[Read]] = {}
    for node, i in rows.edges():
        if isinstance(node.args[i], (Node, Recorded)) and len(reads.get(id(node.args[i]), ())) < most:
            places = places_read(case, node)
            if places is not None:
                reads.setdefault(id(node.args[i]), []).append((node, places))
    yield from reads.values()


def _by_expression(reads: list[Read]) -> list[list[Read]]:
    """What each expression of the function reads in all rounds."""
    rounds: dict[Any, list[Read]] = {}
    for node, places in reads:
        rounds.setdefault(place_of(node), []).append((node, places))
    return list(rounds.values())


# ---------------------------------------------------------------------------------------------- overwritten


def _overwritten(case: Case, rows: Case, looped: bool = False, alike: bool = False) -> Iterator[Proposal]:
    """Parts of one value are read in several places, and their gradients are written over each other.

    They overlap in a loop only, where it is ``looped``; ``alike`` asks for parts that are the same or have no entry in
    common, each time by another expression.
    """
    readers = _readers(rows)
    for whole in _reads(case, rows, MOST_TIMES):
        apart = _by_expression(whole)
        for found in (whole, *(apart if len(apart) > 1 else ())):
            every = np.concatenate([places.ravel() for _, places in found])
            if len(found) < 2 or every.size == np.unique(every).size or (looped and not _overlap_in_loop(found)):
                continue
            if not looped and alike != _are_alike(found):
                continue
            told = partial(_overwritten_told, case, found[0][0])
            for order, separate in ((found[::-1], False), (found, False), (found, True)):
                yield Proposal(found[0][0].args[0], _Written([(r, None) for r in order], separate), told)
            rounds = _rounds_of(found)
            for picked in (False, True) if len(rounds) > 1 else ():
                yield Proposal(found[0][0].args[0], partial(_written_by_rounds, rounds=rounds, picked=picked), told)
            if len(found) < len(whole):  # the others add to what is there, and lose it as well
                assigned = frozenset(node for node, _ in found)
                for order in (whole[::-1], whole):
                    yield Proposal(found[0][0].args[0], _Written([(r, None) for r in order], False, assigned), told)
            used = [(read, edge) for read in found[::-1] for edge in readers.get(read[0], ())]
            if len(found) < len(used) <= 10 * MOST_TIMES:  # a loop inside writes what comes of each use
                yield Proposal(found[0][0].args[0], _Written(used, False), told)


def _readers(rows: Case) -> dict[Any, list[Any]]:
    """The edges that read each value, oldest first."""
    found: dict[Any, list[Any]] = {}
    for node, i in rows.edges():
        found.setdefault(node.args[i], []).append((node, i))
    return {value: edges[::-1] for value, edges in found.items() if isinstance(value, Node)}


def _overwritten_told(case: Case, node: Any) -> Diagnosis:
    return Diagnosis(
        "overwritten",
        f"Parts of {surgery.text_of(case.exact.output, node.args[0])} that overlap are read in several places; an "
        "entry gets the gradient of one of them only.",
        "g[part] = v, which overwrites, for g[part] += v (np.add.at where an index repeats)",
        case.line(node),
    )


def _overlap_in_loop(reads: list[Read]) -> bool:
    """Whether parts overlap that the same expression reads in several rounds."""
    rounds: dict[Any, list[Any]] = {}
    for node, places in reads:
        rounds.setdefault(place_of(node), []).append(np.unique(places))
    return any(len(set().union(*parts)) < sum(map(len, parts)) for place, parts in rounds.items() if place is not None)


def _are_alike(reads: list[Read]) -> bool:
    """Whether parts are the same or have no entry in common, and no expression reads one twice."""
    parts = [(place_of(node) or node, np.unique(places)) for node, places in reads]
    distinct = {part.tobytes(): part.size for _, part in parts}
    apart = sum(distinct.values()) == np.unique(np.concatenate([part for _, part in parts])).size
    return apart and len({(place, part.tobytes()) for place, part in parts}) == len(parts)


class _Written:
    """The difference when gradients are written to their places: all to one array, or those of each read ``apart``.

    What is written is what a read receives, or what it receives along one edge.  Reads that are not ``assigned`` add to
    what is there.
    """

    def __init__(self, writes: list[tuple[Read, Any]], apart: bool, assigned: AbstractSet[Any] | None = None):
        self.writes, self.apart, self.assigned = writes, apart, assigned

    def __call__(self, edges: Edges) -> Any:
        like = edges[self.writes[0][0][0], 0].c
        made = np.zeros(like.shape, like.dtype)  # row by row in memory, as places are counted
        added, counted = made.copy(), set()
        for (node, places), edge in self.writes:
            local = edges[node, 0]
            if self.assigned is None or node in self.assigned:
                value = local.g if edge is None else edges[edge].c if edge in edges else np.zeros_like(local.g)
                made.reshape(-1)[places.ravel()] = value.ravel()
            else:
                made += local.c
            if node not in counted:
                counted.add(node)
                added = added - local.c
            if self.apart:
                added, made = added + made, np.zeros_like(made)
        return added + made


def _rounds_of(reads: list[Read]) -> list[list[Read]]:
    """What every round of a loop reads, oldest first: a round begins where an expression runs once more."""
    rounds: list[list[Read]] = [[]]
    seen: set[Any] = set()
    for read in sorted(reads, key=lambda read: read[0].sequence_nr):
        place = place_of(read[0])
        if place in seen:
            rounds.append([])
            seen.clear()
        seen.add(place)
        rounds[-1].append(read)
    return rounds


def _written_by_rounds(edges: Edges, rounds: list[list[Read]], picked: bool) -> Any:
    """The difference when every round overwrites what was there by the sum of its own reads.

    Of entries that a maximum has ``picked`` the others are not written.
    """
    like = edges[rounds[0][0][0], 0].c
    made = np.zeros(like.shape, like.dtype)
    added = made.copy()
    for reads in rounds:
        part, hit = np.zeros_like(made), np.zeros(made.size, bool)
        for node, places in reads:
            part += edges[node, 0].c
            hit[places.ravel()] = True
        written = part != 0 if picked else hit.reshape(made.shape)
        made[written] = part[written]
        added -= part
    return added + made


# ---------------------------------------------------------------------------------------------- other places


def windows_elsewhere(case: Case) -> Diagnosis | None:
    """The windows of a loop are taken at other places: with another stride or step, off by one, or turned round."""
    rows = case.by_rows()
    if rows.surgeon is None or not rows.surgeon.sweeps or np.iscomplexobj(rows.g):
        return None
    for whole in _reads(case, rows, MOST_WINDOWS):
        for windows in _by_expression(whole):
            arg = windows[0][0].args[0]
            for said, hint, others in _other_places(windows, arg.raw_shape) if len(windows) > 1 else ():
                part = f"windows of {surgery.text_of(case.exact.output, arg)}"
                line = case.line(windows[0][0])
                more = partial(_moved_there, windows=windows, others=others)
                if rows.meets(rows.added_to(arg, more)):
                    return Diagnosis("windows", f"The gradients of the {part} are added {said}.", hint, line)
                if rows.meets(_read_there(case, rows, windows, others)):
                    return Diagnosis("windows", f"In the gradient the {part} are read {said}.", hint, line)
    return None


def _other_places(windows: list[Read], shape: tuple[int, ...]) -> Iterator[tuple[str, str, list[Any]]]:
    """``(how, what to look for, places)`` of windows that are taken otherwise, along one axis or all of them."""
    size = windows[0][1].shape
    if any(places.shape != size for _, places in windows):
        return
    at = np.array([np.unravel_index(places.ravel(), shape) for _, places in windows])
    at = np.moveaxis(at, 1, 0)  # axis of the whole, window, entry
    starts = at.min(2, keepdims=True)
    inside, beyond = at - starts, starts - starts.min(1, keepdims=True)
    steps, strides = (np.gcd.reduce(v.reshape(len(shape), -1), axis=1)[:, None, None] for v in (inside, beyond))
    moving = np.flatnonzero(strides)
    for axes in dict.fromkeys((tuple(moving), *((k,) for k in moving))):
        chosen = np.isin(np.arange(len(shape)), axes)[:, None, None]
        step, stride = (np.where(chosen & (v > 1), v, 1) for v in (steps, strides))
        packed = starts - beyond + beyond // stride
        turned = np.where(chosen, starts + inside.max(2, keepdims=True) - inside, at)
        for moved, said, hint in (
            (starts + inside // step, f"with step 1 in place of {_numbers(step)}", "the step of the slice, a dilation"),
            (packed + inside, f"with stride 1 in place of {_numbers(stride)}", "the start of the slice: t * stride"),
            (packed + inside // step, "with stride and step 1", "the start and the step of the slice"),
            (at + chosen, "one entry too far", "the start of the slice, off by one"),
            (at - chosen, "one entry too early", "the start of the slice, off by one"),
            (turned, "turned round", "a kernel flipped, or not"),
        ):
            changed = np.flatnonzero((moved != at).any((1, 2)))
            if changed.size and np.all((moved >= 0) & (moved < np.array(shape)[:, None, None])):
                axis = "axis" if changed.size == 1 else "axes"
                along = f" along {axis} {' and '.join(map(str, changed))}" if len(shape) > 1 else ""
                flat = np.ravel_multi_index(tuple(moved), shape)
                yield said + along, hint, [row.reshape(size) for row in flat]


def _numbers(values: Any) -> str:
    return " and ".join(str(n) for n in np.unique(values[values > 1]))


def _moved_there(edges: Edges, windows: list[Read], others: list[Any]) -> Any:
    """The difference when the gradients of windows are added at other places."""
    found = np.zeros_like(edges[windows[0][0], 0].c)
    for (node, _), places in zip(windows, others, strict=True):
        local = edges[node, 0]
        np.add.at(found.reshape(-1), places.ravel(), local.g.ravel())
        found -= local.c
    return found


def _read_there(case: Case, rows: Case, windows: list[Read], others: list[Any]) -> Any:
    """The gradient when what is done with windows reads them at other places."""
    assert rows.surgeon is not None
    value = None if case.replay is None else case.replay.value(windows[0][0].args[0])
    if value is None:
        return None
    read = {node: value.ravel()[places] for (node, _), places in zip(windows, others, strict=True)}
    edges = frozenset(
        (n, i)
        for n, i in rows.surgeon.sweeps[0]
        if any(a in read for j, a in enumerate(n.args) if j != i and isinstance(a, Node))
    )
    return rows.changed_everywhere(edges, partial(_reading, read=read)) if edges else None


def _reading(local: Local, read: dict[Any, Any]) -> Any:
    values = [
        read.get(a, v) if isinstance(a, Node) and v is not None else v
        for a, v in zip(local.node.args, local.saved[1:], strict=True)
    ]
    return local.apply(local.saved[0], *values)

r"""Entries, rows and columns that indices pick, for :mod:`symgrad.formula.reading.people.tex`.

A shifted index such as ``x_{i+1}`` is the array turned round by one entry; where the index would leave the array, the
reader leaves out that value of the index, in a sum or in the whole formula.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from symgrad.formula.reading.families import FIRST, SECOND, Family, rows, settled
from symgrad.formula.reading.indices import Indexed
from symgrad.formula.reading.people.indices import Place, subscript
from symgrad.formula.reading.people.tokens import TURNED
from symgrad.formula.reading.values import op, value_of
from symgrad.formula.term import Term, full
from symgrad.ops.indexing.getitem import static_index

Ends = tuple[int | None, int | None]


def picked(r: Any, term: Term, places: Sequence[Place]) -> Any:
    """What indices pick of an array: an entry, a row or column, or a matrix; ``r`` takes note of shifts."""
    if any(place.fixed for place in places):
        index = tuple(place.shift if place.fixed else slice(None) for place in places)
        term = op("getitem", term, index=static_index(index))
        places = [place for place in places if not place.fixed]
        if not places:
            return value_of(term)
    for axis, place in enumerate(places):
        if place.shift:
            low, high = r.shifts.get(place.letter, (0, 0))
            r.shifts[place.letter] = (max(low, -place.shift), max(high, place.shift))
            term = op("roll", term, shifts=(-place.shift,), dims=(axis,))
    letters = [place.letter for place in places]
    if all(letters):
        return (
            Indexed([(term, tuple(letters))])
            if len(letters) == term.ndim
            else rows(term, letters, bool(r.others.get("columns")))
        )
    if not any(letters):
        return value_of(term)
    own = iter((FIRST, SECOND))
    named = [x or next(own) for x in (*letters, *[""] * (term.ndim - len(letters)))]
    kind = {1: "r" if letters[0] else "v", 2: "m"}[sum(x in (FIRST, SECOND) for x in named)]
    return Family(kind, Indexed([(term, tuple(named))]))


def cropped(found: Any, ends: Mapping[str, Ends]) -> Any:
    """Entries, vectors or matrices for some of the values of their indices: from one end to the other."""
    letters, own = found.letters, found.own if isinstance(found, Family) else ()
    term = found.contracted(letters)
    index = tuple(slice(*ends.get(x, (None, None))) for x in letters) + (slice(None),) * len(own)
    made = Indexed([(op("getitem", term, index=static_index(index)), (*letters, *own))])
    return settled(Family(found.kind, made)) if isinstance(found, Family) else made


def related(size: Any, a: str, relation: str, b: str) -> Indexed:
    """Which pairs of indices have a relation, such as ``i < j``, as entries that are True or False."""
    ones = full((size, size), 1, "float64")
    if relation == "ne":
        return Indexed([(op("eq", op("eye", n=size, dtype="float64"), 0), (a, b))])
    k = 1 if relation in ("lt", "gt") else 0
    pair = (a, b) if relation in ("lt", "le") else (b, a)
    return Indexed([(op("ne", op("triu", ones, k=k), 0), pair)])


def basis(r: Any) -> Any:
    """The unit vectors ``e_i``, whose axis is as long as the one that the index runs over."""
    place, *others = subscript(r)
    if others:
        raise r.tokens.error(
            "a unit vector has one index, as in e_i, or its size and the place of its 1, as in e_{n,0}"
        )
    size = r.index_sizes.get(place.letter)
    if size is None and place.fixed and r.wanted is not None and len(r.wanted) in (1, 2):
        turned = [r.tokens.peek(k) for k in range(2)] == ["^", "{"] and r.tokens.peek(2) in TURNED
        size = r.wanted[-1 if turned else 0]  # e_1 e_2ᵀ is as tall and as wide as the whole
        return value_of(op("getitem", op("eye", n=size, dtype="float64"), index=static_index(place.shift)))
    if size is None:
        raise r.tokens.error("the size of this unit vector is not known; write it with an index of another array")
    eye = op("eye", n=size, dtype="float64")
    return Family("v", Indexed([(eye, (place.letter, FIRST))]))

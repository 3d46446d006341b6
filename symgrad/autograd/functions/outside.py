"""What a custom function reads that is no argument of it: numbers, texts and tensors of its module and its closure.

Its formulas are found when somebody asks for them, by running it again.  They are those of the recorded run only while
what it reads is what it was then.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from types import FunctionType
from typing import Any

import numpy as np

from symgrad.tape.memory.arrays import look_of
from symgrad.tape.record import Recorded
from symgrad.tape.watching.surroundings import Outer, values_and_ways

_PARTS = ("forward", "backward", "setup_context")

Marks = tuple[tuple[Any, ...], tuple[Any, ...]]
"""The paths of what is read, and what stands for each of it: equal marks for equal values."""


def outside(function: Any) -> Marks:
    """Marks of what a custom function reads from outside, as that is now."""
    return _surroundings_of(function).marks()


def is_changed(function: Any, then: Marks) -> bool:
    """Whether a custom function reads other values from outside than those with these marks."""
    found = _surroundings_of(function)
    now = found.marks()
    return now != then and not all(map(found.is_own, _differing(then, now)))


def running(function: Any, part: str) -> AbstractContextManager[None]:
    """Around runs of a part of a custom function: what the first of them changes is its own, such as counts of calls.

    That chooses nothing, and is looked at no more.
    """
    found = _surroundings_of(function)
    if part in found.learnt:
        return nullcontext()
    found.learnt.add(part)
    return found.learning()


def run_again(function: Any) -> AbstractContextManager[None]:
    """Around runs for formulas, each of which may change what others did not: a cache has no formula of a size yet."""
    return _surroundings_of(function).learning()


def _surroundings_of(function: Any) -> _Surroundings:
    known = vars(function).get("_symgrad_outside")
    if known is None:
        known = function._symgrad_outside = _Surroundings(function)
    return known  # type: ignore[no-any-return]


class _Surroundings:
    """The places from which a custom function reads.

    values  where numbers, texts, tensors and functions stand, ``paths`` how to come there
    ways    where the objects stand that have them: while these are the same, so are the places
    own     the paths of what the function writes itself; ``learnt`` the parts that ran once, which tells it
    """

    __slots__ = ("function", "learnt", "own", "paths", "values", "ways")

    def __init__(self, function: Any):
        self.function = weakref.ref(function)
        self.own: set[Any] = set()
        self.learnt: set[str] = set()
        self._find()

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(None), ())  # what writes classes down finds the places anew where they are read

    def _find(self) -> None:
        values: dict[Any, Outer] = {}
        ways: dict[Any, Outer] = {}
        for name in _PARTS:
            if isinstance(part := getattr(self.function(), name, None), FunctionType):
                for kept, found in zip((values, ways), values_and_ways(part), strict=True):
                    for place in found:  # most parts read the same
                        kept.setdefault(_which(place), place._replace(path=(name, *place.path)))
        self.ways = [way for way in ways.values() if not self.is_own(way.path)]
        self.values = [value for value in values.values() if not self.is_own(value.path)]
        self.values += [way for way in self.ways if callable(way.value)]
        self.paths = tuple([place.path for place in self.values])

    def marks(self) -> Marks:
        """What stands for the values that are there now."""
        if not all(way.same for way in self.ways):
            self._find()
        return self.paths, tuple(map(_mark, self.values))

    def is_own(self, path: tuple[Any, ...]) -> bool:
        """Whether the function writes to that place itself, to one on the way to it, or new entries beside it."""
        parts = [path[:k] for k in range(1, len(path) + 1)]
        return any(part in self.own or (*part, None) in self.own for part in parts) if self.own else False

    @contextmanager
    def learning(self) -> Iterator[None]:
        """Note what changes meanwhile."""
        before, ways = self.marks(), self.ways
        try:
            yield
        finally:
            known = len(self.own)
            self.own.update(way.path for way in ways if not way.same)
            now = self.marks()
            self.own.update(_differing(before, now) if now != before else ())
            if len(self.own) != known:
                self._find()


def _which(place: Outer) -> Any:
    """What places have in common that are one: the key, and what has an entry by it."""
    return id(getattr(place.where, "__self__", place.where)), place.key


def _differing(then: Marks, now: Marks) -> Iterable[Any]:
    """The paths of values that are not the same."""
    return {path for path, _ in set(zip(*then, strict=True)) ^ set(zip(*now, strict=True))}


def _mark(place: Outer) -> Any:
    """What stands for the value in a place: of functions their code, of arrays what they look like."""
    try:
        value = place.where(place.key)
    except (LookupError, ValueError, AttributeError):
        return None
    if callable(value):
        return type(value), getattr(value, "__code__", None), getattr(value, "__name__", None)
    array = value._value if isinstance(value, Recorded) else value
    if not isinstance(array, np.ndarray):
        return type(value), repr(array)
    return type(value), array.shape, array.dtype, hash(look_of(array))

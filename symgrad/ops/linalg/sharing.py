"""Decompositions of which several parts are asked for, one after another: computed once.

Every part is an op with a rule of its own, and the rules of the others ask for it again.  What is found is kept by what
the matrices hold, bit by bit, and not by the array: whoever overwrites that asks for another decomposition.  A part
that was given away belongs to who has it.  It is copied for the next one who asks, as long as it lives and was not
overwritten either, and nothing is left here but the values, which are few.  Parts that nobody asked for stay until the
next decomposition of the thread, or until the matrices are gone.
"""

from __future__ import annotations

import functools
import threading
import weakref
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

_MANY = 64
"""Decompositions that a thread knows of; the oldest is forgotten first."""


class Whole(NamedTuple):
    """A decomposition: what it is known by, the function that gives all of its parts, and how many these are.

    ``along``: by which parameters of a part the function is called, where it has any.  ``columns``: matrices among the
    parts lie column by column in memory, as LAPACK leaves them, and are given away so.
    """

    name: str
    decompose: Callable[..., tuple[Any, ...]]
    parts: int
    along: Callable[[dict[str, Any]], dict[str, Any]] = lambda params: {}
    columns: bool = False


class _Found:
    """The parts of one decomposition: those nobody asked for, those given away, and those that are small."""

    def __init__(self, key: tuple[Any, ...], parts: tuple[Any, ...], x: Any):
        self.key: Any = key
        self.matrices: Any = weakref.ref(x)
        self.copy: Any = lambda: None
        self.here: list[Any] = list(parts)
        self.given: list[Any] = [None] * len(parts)
        self.small = [part.__class__ is not np.ndarray or 2 * part.size <= x.size for part in parts]

    def give(self, k: int) -> Any:
        """Part ``k``, which the caller may overwrite; None where it is not known any more."""
        part = self.here[k]
        if part is not None:
            if self.small[k]:
                return part.copy() if part.__class__ is np.ndarray else part
            self.here[k], self.given[k] = None, (weakref.ref(part), hash(part.tobytes()))
            return part
        part = None if self.given[k] is None else self.given[k][0]()
        if part is None:
            return None
        again = part.copy(order="K")
        return again if hash(again.tobytes()) == self.given[k][1] else None

    def forget(self) -> None:
        """Let go of the large parts that nobody asked for."""
        self.here = [part if small else None for part, small in zip(self.here, self.small, strict=True)]


class _Known(threading.local):
    def __init__(self) -> None:
        self.found: dict[Any, tuple[_Found, Any]] = {}
        self.last: _Found | None = None
        self.together = False


_KNOWN = _Known()
_PARTS: dict[Any, list[tuple[Whole, int]]] = {}


def key_of(kind: str, x: Any) -> tuple[Any, ...]:
    """What a decomposition is known by: the matrices' shape, dtype and bits."""
    return kind, x.shape, x.dtype.char, hash(x.tobytes())


def remember(key: tuple[Any, ...], parts: tuple[Any, ...], x: Any) -> _Found:
    """Note the parts of a decomposition until the array ``x`` is gone."""
    known = _KNOWN.found
    if _KNOWN.last is not None:
        _KNOWN.last.forget()
    while len(known) >= _MANY:
        known.pop(next(iter(known)), None)
    found = _KNOWN.last = _Found(key, parts, x)
    _hold(known, found, x)
    return found


def _hold(known: dict[Any, tuple[_Found, Any]], found: _Found, x: Any) -> None:
    """Let a decomposition be known as long as the array ``x`` is there."""
    drop = functools.partial(_drop, known, found.key, found)  # bound now: at the end modules are emptied before arrays
    known[found.key] = found, weakref.ref(x, drop)


def copy_of(x: Any) -> Any:
    """A copy of matrices for backward: one for all the parts of a decomposition, which is known as long as it is."""
    last = _KNOWN.last
    if last is None or last.matrices() is not x:
        return x.copy()
    copy: Any = last.copy()
    if copy is None or not np.array_equal(copy, x):
        copy = x.copy()
        last.copy = weakref.ref(copy)
        if (entry := _KNOWN.found.get(last.key)) is not None and entry[0] is last:
            _hold(_KNOWN.found, last, copy)
    return copy


def _drop(known: dict[Any, tuple[_Found, Any]], key: Any, found: _Found, _: Any) -> None:
    found.here = [None] * len(found.here)
    if key in known and known[key][0] is found:
        known.pop(key, None)


def known(key: tuple[Any, ...], k: int) -> Any:
    """Part ``k`` of a decomposition that was computed before, or None."""
    entry = _KNOWN.found.get(key)
    return None if entry is None else entry[0].give(k)


def part(kernel: Any, whole: Whole, k: int, alone: bool = False) -> Any:
    """``kernel``, part ``k`` of a decomposition, as one that asks first whether others had it computed.

    ``alone`` where the kernel needs less time than the decomposition: it runs unless :func:`with_vectors` asks.  Its
    last bits are others, so it never looks at what happens to be known.
    """

    @functools.wraps(kernel)
    def run(x: Any, *args: Any, **params: Any) -> Any:
        if alone and not _KNOWN.together:
            return kernel(x, *args, **params)
        key = key_of(whole.name, x)
        found = known(key, k)
        if found is not None:
            return found
        parts = tuple(whole.decompose(x))
        return remember(key, tuple(map(_by_columns, parts)) if whole.columns else parts, x).give(k)

    in_programs(whole, k, run)
    return run


def _by_columns(part: Any) -> Any:
    return np.array(part.swapaxes(-1, -2), order="C").swapaxes(-1, -2) if np.ndim(part) > 1 else part


def in_programs(whole: Whole, k: int, kernel: Any) -> None:
    """Let programs compute the parts of ``whole`` together, of which ``kernel`` gives number ``k``."""
    _PARTS.setdefault(kernel, []).append((whole, k))


def with_vectors(values: Any, *args: Any, **params: Any) -> Any:
    """What the op ``values`` gives, as the decomposition has it that has the vectors, too: the same bits each time."""
    before, _KNOWN.together = _KNOWN.together, True
    try:
        return values(*args, **params)
    finally:
        _KNOWN.together = before


def parts_of(kernel: Any) -> Sequence[tuple[Whole, int]]:
    """The decompositions that a kernel gives a part of, and which one; programs compute it once for all of them."""
    return _PARTS.get(kernel, ())

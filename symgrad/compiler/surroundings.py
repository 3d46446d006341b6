"""What a function reads that is no argument of it: a program of it holds while that is the same."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from symgrad.op.operators import ARITHMETIC
from symgrad.tape.record import Recorded

MOST = 256
"""How many functions and containers are looked into, and how many entries of each; beyond that nothing is guarded."""

_VALUES = (Recorded, np.ndarray, np.generic, bool, int, float, complex, str)
_SPECIAL = frozenset(f"__{name}__" for name in ("call", "getitem", "len", "iter", *ARITHMETIC))
"""Methods that Python calls where their names are not mentioned."""


class Outer(NamedTuple):
    """A value from outside, and the place where it was found."""

    where: Callable[[Any], Any]
    key: Any
    value: Any

    @property
    def same(self) -> bool:
        """Whether the same object is in that place now."""
        try:
            return self.where(self.key) is self.value
        except (LookupError, ValueError):  # ValueError: a variable of a closure that has no value
            return False


def surroundings(function: Any) -> list[Outer]:
    """The tensors, arrays, numbers and texts that a function has from outside, with the place of each.

    They stand in its closure and module, in lists, dicts and objects that it has from there, and in those of helper
    functions and methods of the same module.  Of objects only the attributes count that one of these mentions: an
    object may keep a record of its calls in another.
    """
    inner = getattr(function, "__wrapped__", function)
    if not isinstance(inner, types.FunctionType):
        return []
    words: set[str] = {""}
    waiting: list[tuple[Any, str]] = [(inner, "")]  # with the name of the attribute that each was found under
    if function is not inner and isinstance(function, types.FunctionType):
        waiting.append((function, ""))  # a decorator's function has a closure, too
    seen = {id(thing) for thing, _ in waiting}
    found: list[tuple[Outer, str]] = []
    while (k := next((k for k, (_, name) in enumerate(waiting) if name in words), None)) is not None:
        thing, _ = waiting.pop(k)
        if isinstance(thing, types.FunctionType):
            words |= _words(thing.__code__)
        for where, key, name in _places(thing, inner):
            try:
                value = where(key)
            except (LookupError, ValueError):
                continue
            if isinstance(value, _VALUES):
                found.append((Outer(where, key, value), name))
            elif id(value) not in seen and len(seen) < MOST:
                seen.add(id(value))
                waiting.append((value, name))
    return [outer for outer, name in found if name in words]


def _places(thing: Any, inner: types.FunctionType) -> Iterator[tuple[Callable[[Any], Any], Any, str]]:
    """The places of what a function or container holds, and the name of an attribute; nothing of other modules."""
    if isinstance(thing, types.FunctionType):
        if thing.__globals__ is inner.__globals__:
            cells = thing.__closure__ or ()
            yield from ((lambda k: cells[k].cell_contents, k, "") for k in range(len(cells)))
            yield from ((thing.__globals__.__getitem__, name, "") for name in sorted(_words(thing.__code__)))
    elif isinstance(thing, (list, tuple, dict)):
        keys = list(thing if isinstance(thing, dict) else range(len(thing)))[:MOST]
        yield (lambda _: min(len(thing), MOST)), None, ""  # a small number, of which CPython has one object
        yield from ((thing.__getitem__, key, "") for key in keys)
    elif not isinstance(thing, types.ModuleType):
        kind = thing if isinstance(thing, type) else type(thing)
        if kind.__module__ != inner.__module__:
            return
        for each in {id(x): x for x in (thing, kind)}.values():
            own = getattr(each, "__dict__", {})
            yield from ((own.__getitem__, name, "" if name in _SPECIAL else name) for name in list(own)[:MOST])


def _words(code: types.CodeType) -> set[str]:
    """The names that a function looks up and the texts it holds, also in the functions inside of it."""
    found = {*code.co_names, *(text for text in code.co_consts if isinstance(text, str))}
    return found.union(*(_words(part) for part in code.co_consts if isinstance(part, types.CodeType)))

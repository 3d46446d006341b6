"""What a custom function reads that is no argument of it: numbers, texts and tensors of its module and its closure.

Its formulas are found when somebody asks for them, by running it again.  They are those of the recorded run only while
what it reads is what it was then.
"""

from __future__ import annotations

import dis
import weakref
from collections.abc import Callable, Iterator
from types import CodeType, FunctionType
from typing import Any

import numpy as np

from symgrad.tape.memory.arrays import LARGEST
from symgrad.tape.memory.versions import changes
from symgrad.tape.record import Recorded
from symgrad.tape.watching.surroundings import surroundings

_PARTS = ("forward", "backward", "setup_context")

Place = tuple[Callable[[Any], Any], Any]
"""Where something is found, and by which key."""


def outside(function: Any) -> tuple[Any, ...]:
    """Marks of what a custom function reads from outside, as that is now: equal ones stand for equal values."""
    places = vars(function).get("_symgrad_outside")
    if places is None:
        places = function._symgrad_outside = tuple(_places(function))
    return tuple([_mark(where, key) for where, key in places]) if places else ()


def _places(function: Any) -> Iterator[Place]:
    """The places from which a custom function reads, but for those that it writes to itself: it counts its calls."""
    parts = [part for name in _PARTS if isinstance(part := getattr(function, name, None), FunctionType)]
    written = {word for part in parts for word in _written(part.__code__)}
    for part in parts:
        for where, key, _ in surroundings(part):
            counted = key is None or (isinstance(key, int) and dis.opmap["STORE_SUBSCR"] in written)
            if not counted and key not in written:
                yield where, key


def _written(code: CodeType) -> Iterator[Any]:
    """The names to which a function gives something outside of it, and whether it does so to entries of containers."""
    for step in dis.get_instructions(code):
        if step.opname in ("STORE_GLOBAL", "STORE_ATTR"):
            yield step.argval
        elif step.opname == "STORE_DEREF" and step.argval in code.co_freevars:
            yield code.co_freevars.index(step.argval)
        elif step.opname == "STORE_SUBSCR":
            yield step.opcode
    for part in code.co_consts:
        if isinstance(part, CodeType):
            yield from _written(part)


def _mark(where: Callable[[Any], Any], key: Any) -> Any:
    try:
        value = where(key)
    except (LookupError, ValueError, AttributeError):
        return None
    if isinstance(value, Recorded):
        return weakref.ref(value), changes(value._value)
    if isinstance(value, np.ndarray):
        return weakref.ref(value), value.tobytes() if value.nbytes <= LARGEST else None
    return type(value).__name__, repr(value)

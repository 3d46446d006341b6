"""Which line of the function under check recorded an operation."""

from __future__ import annotations

import ast
import dis
import functools
import linecache
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from symgrad.notices import is_of_program, is_of_user
from symgrad.tape.formulas.variables import variable_of
from symgrad.tape.graph import Source
from symgrad.tape.observers import STANDING, observing

_CHECK = str(Path(__file__).parent.parent) + os.sep

LONGEST = 80
"""Characters of a line that are shown."""

Line = tuple[str, int]

_WRITTEN: WeakKeyDictionary[Any, tuple[Any, int]] = WeakKeyDictionary()
"""The code that recorded a node, and the instruction that ran."""

_CALLED: WeakKeyDictionary[Any, tuple[tuple[Any, int], ...]] = WeakKeyDictionary()
"""The same of the calls on the way there, the innermost first, where a function of the user's called another one."""

MOST_CALLS = 4
"""Calls that are kept."""


@contextmanager
def lines_noted(constants: dict[Any, Any] | None = None) -> Iterator[dict[Any, Line]]:
    """Inside, operations leave the line of the function under check that they are called from, by node.

    ``constants`` is given the values of their constants, which the graph itself lets go; those without a name get that
    of the variable that holds them.
    """
    found: dict[Any, Line] = {}
    last: tuple[Any, Any] = (None, None)

    def see(node: Any) -> None:
        nonlocal last
        if constants is not None:
            for arg in node.args:
                if isinstance(arg, Source) and arg not in constants:
                    constants[arg] = constant_value(arg)
                    if arg.name is None and arg.site is None and np.ndim(constants[arg]):
                        arg.variable = variable_of(sys._getframe(1), partial(_is_held, constants[arg]), _is_of_check)
        standing = [call for call in STANDING.calls if is_of_program(call[0].co_filename)]
        if standing:
            (code, at), *led = standing[:MOST_CALLS]
            found[node] = (code.co_filename, line_at(code, at))
            if last[0] == standing[0]:
                _WRITTEN.pop(last[1], None)
            _WRITTEN[node], _CALLED[node], last = (code, at), tuple(led), (standing[0], node)
            return
        frame: Any = sys._getframe(1)
        while frame is not None and not frame.f_code.co_filename.startswith(_CHECK):
            file = frame.f_code.co_filename
            if is_of_user(file) and not any(wrapper in file for wrapper in _WRAPPERS):
                found[node] = (file, frame.f_lineno)
                place = (frame, frame.f_lasti)
                if last[0] == place:  # a step of the same call: what is written there is what the last one gives
                    _WRITTEN.pop(last[1], None)
                _WRITTEN[node], last = (frame.f_code, frame.f_lasti), (place, node)
                calls = _calls(frame.f_back)
                if calls:
                    _CALLED[node] = calls
                return
            frame = frame.f_back

    try:
        with observing(see):
            yield found
    finally:
        last = (None, None)


_WRAPPERS = tuple(os.sep.join(("site-packages", name, "")) for name in ("autograd", "mygrad", "torch", "jax"))
"""Libraries whose functions only call what the user calls through them."""


def _is_of_check(frame: Any) -> bool:
    return bool(frame.f_code.co_filename.startswith(_CHECK))


def _is_held(array: Any, value: Any) -> bool:
    """Whether a variable has the very array, or one in another precision, or with an axis more."""
    if value is array:
        return True
    if not isinstance(value, np.ndarray) or value.size != array.size or array.size > LARGEST:
        return False
    lengths = [tuple(n for n in v.shape if n > 1) for v in (value, array)]
    return lengths[0] == lengths[1] and np.array_equal(value.ravel(), array.ravel())


LARGEST = 10_000
"""Entries up to which arrays are told by their values from those of variables."""


def line_at(code: Any, at: int) -> int:
    """The line of an instruction."""
    line = next(islice(code.co_positions(), at // 2, None), (None,))[0]
    return int(line or code.co_firstlineno)


def _calls(frame: Any) -> tuple[tuple[Any, int], ...]:
    """The user's calls that lead to a frame, up to the check."""
    calls: list[tuple[Any, int]] = []
    while frame is not None and len(calls) < MOST_CALLS and not frame.f_code.co_filename.startswith(_CHECK):
        if is_of_user(frame.f_code.co_filename):
            calls.append((frame.f_code, frame.f_lasti))
        frame = frame.f_back
    return tuple(calls)


def written(node: Any) -> str | None:
    """The expression of the function under check that gave a node, as it is written there, where it fits a line."""
    code, at = _WRITTEN.get(node, (None, 0))
    if code is None:
        return None
    line, end, start, stop = next(islice(code.co_positions(), at // 2, None), (None,) * 4)
    if line is None or line != end or start is None or stop is None:
        return None
    text = linecache.getline(code.co_filename, line).encode()[start:stop].decode(errors="replace").strip()
    try:
        ast.parse(text, mode="eval")
    except SyntaxError:
        return None
    return text or None


def place_of(node: Any) -> Any:
    """The code and instruction that recorded a node, which are the same in every round of a loop."""
    place = _WRITTEN.get(node)
    return None if place is None else _instruction(*place)


def path_of(node: Any) -> Any:
    """The same with the calls that led there, which tell one call of a function from another."""
    return place_of(node), tuple(_instruction(*call) for call in _CALLED.get(node, ()))


def _instruction(code: Any, at: int) -> tuple[Any, int]:
    """Where an instruction begins: after some rounds of a loop Python stands behind what it keeps with it."""
    bytes_ = _bytes_of(code)
    while at > 0 and bytes_[at] == _KEPT:
        at -= 2
    return code, at


@functools.lru_cache(maxsize=1000)
def _bytes_of(code: Any) -> bytes:
    return code.co_code  # type: ignore[no-any-return]


_KEPT = dis.opmap.get("CACHE", 0)


def is_alone(node: Any, nodes: Iterable[Any]) -> bool:
    """Whether no other of some nodes was recorded by the same expression, in another round or call."""
    place = place_of(node)
    return all(other is node or place_of(other) != place for other in nodes)


def constant_value(source: Source) -> Any:
    """The value of a constant while it is alive, None later."""
    tensor = source.ref()
    return source.kept if tensor is None else getattr(tensor, "_value", tensor)


def line_text(line: Line | None) -> str:
    """A line of a program: ``losses.py:12: r = X @ w - y``; empty where the text is not known."""
    if line is None:
        return ""
    text = linecache.getline(*line).strip()
    shown = text if len(text) <= LONGEST else f"{text[:LONGEST]} …"
    return f"{Path(line[0]).name}:{line[1]}: {shown}" if text else ""

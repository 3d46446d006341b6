"""Arrays from outside that Python may read entries of: what it makes of these is a number of the program.

Nobody is told what is computed of these alone.  So of those that a program reads anew at each call only those are
Python's no more that stand in the text of the function once, as an operand: ``X @ w``, but not ``x * A / A.sum()``.
"""

from __future__ import annotations

import ast
import contextlib
import dis
import linecache
from collections.abc import Iterator, Sequence
from types import CodeType
from typing import Any

import numpy as np

from symgrad.tape.formulas.program_texts import end_of, parsed
from symgrad.tape.record import Recorded
from symgrad.tape.watching.surroundings import functions, words_of

_READING = {"LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF", "LOAD_CLASSDEREF"}
"""The instructions that read a name from outside of a function."""


def entries_of(thing: Any) -> Any:
    """The array of a tensor or of a user."""
    return np.asarray(thing._value if isinstance(thing, Recorded) else thing)


def read_by_python(function: Any, values: Sequence[Any], known: Sequence[Any]) -> list[Any]:
    """The arrays and tensors among ``values`` of which Python may read entries, beside the ``known`` of a program."""
    found = {id(value): value for value in values if isinstance(value, (np.ndarray, Recorded))}
    return [
        thing
        for thing in found.values()
        if not (isinstance(thing, Recorded) and thing._requires_grad)
        and entries_of(thing).dtype.kind != "O"
        and not (
            any(np.may_share_memory(entries_of(thing), array) for array in known) and _is_one_operand(function, thing)
        )
    ]


def _is_one_operand(function: Any, array: Any) -> bool:
    """Whether the functions that run have an array in one place of their texts, which is beside an operator."""
    mentioned = [
        (name, *place)
        for f in functions(function)
        for name in _names_of(f, array)
        for place in _mentions(f.__code__, name)
    ]
    return len(mentioned) == 1 and _is_operand(*mentioned[0])


def _names_of(function: Any, array: Any) -> Iterator[str]:
    """The names by which a function has an array from outside."""
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        with contextlib.suppress(ValueError):  # a variable that has no value yet
            if cell.cell_contents is array:
                yield name
    yield from (name for name in words_of(function.__code__) if function.__globals__.get(name) is array)


def _mentions(code: CodeType, name: str) -> Iterator[tuple[CodeType, int]]:
    """The instructions of a function that read a name, also in functions inside of it."""
    for step in dis.get_instructions(code):
        if step.argval == name and step.opname in _READING:
            yield code, step.offset
    for part in code.co_consts:
        if isinstance(part, CodeType):
            yield from _mentions(part, name)


def _is_operand(name: str, code: CodeType, at: int) -> bool:
    """Whether the text of a file has a name as an operand where an instruction reads it."""
    text = parsed("".join(linecache.getlines(code.co_filename)))
    if text is None:
        return False
    here = (node for node in text.read.get(name, ()) if (node.end_lineno, node.end_col_offset) == end_of(code, at))
    return any(isinstance(text.above.get(node), ast.BinOp) for node in here)

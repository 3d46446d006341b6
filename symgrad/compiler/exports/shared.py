"""What files of C and of Octave have in common: arguments, results, their names, rows of numbers."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from symgrad.compiler.program import Compiled, optimised
from symgrad.compiler.targets.rewrites import paired, refuse_free_signs, written_out
from symgrad.compiler.trace import Input, Output, Trace
from symgrad.errors import CompileError
from symgrad.formula.term import Term

_SEEN = 4096
"""Values that a function looked at, beyond which they are not written into a file of another language."""
_WIDTH = 112
"""Columns of a line of stored numbers."""


def traced(program: Compiled, language: str) -> Trace:
    """The trace of a program; ``CompileError`` where it was unpickled, which leaves only its source."""
    if program.trace is None:
        raise CompileError(
            f"{program.name}() was unpickled, so it is not written in {language}. Compile the function again."
        )
    return program.trace


def known_arguments(program: Compiled) -> list[Any]:
    """The arguments of the program without those that nothing is known of, as no result depends on them."""
    return [a for a in program.arguments if a.shape != (...,)]


def inputs_of(program: Compiled) -> list[Input]:
    """The inputs of the trace for :func:`known_arguments`, with the names that these have."""
    trace = program.trace
    assert trace is not None
    known = {i.name: i for i in (*trace.constants, *trace.inputs)}
    return [Input(a.name, known[a.name].term, known[a.name].value) for a in known_arguments(program)]


def outputs_of(program: Compiled, has_form: Callable[[Term], bool], language: str) -> list[Output]:
    """The results in terms that the language has.  ``CompileError`` names the first op that it has not."""
    trace = program.trace
    assert trace is not None
    found = written_out(optimised(trace, program.stable)[1], program.name, has_form, language)
    refuse_free_signs(found, program.name, language)
    terms = paired(found, trace.sizes)
    return [Output(t, o.dtype, o.shape) for t, o in zip(terms, trace.outputs, strict=True)]


def check_seen(program: Compiled) -> None:
    """Raise ``CompileError`` where a function looked at very many values, which the file would have to hold."""
    count = sum(seen.size for seen in program.guards.seen) if program.guards else 0
    if count > _SEEN:
        raise CompileError(
            f"{program.name}() looked at {count} values, and holds where they are as they were; that is written as a "
            "Python file only. Save it as .py, or use where(condition, a, b) in the function."
        )


def result_names(outputs: Sequence[Any]) -> list[str]:
    """``out``, or ``out1``, ``out2`` … of several."""
    return ["out"] if len(outputs) == 1 else [f"out{k}" for k in range(1, len(outputs) + 1)]


def sizes_of_constants(program: Compiled) -> dict[str, int]:
    """The letters that are also sizes of constants, which have these values then."""
    found: dict[str, int] = {}
    for a in known_arguments(program):
        for letter, size in zip(a.shape, np.shape(a.default), strict=False) if a.default is not None else ():
            if isinstance(letter, str):
                found.setdefault(letter, size)
    return found


def number_texts(values: Any, spelled: Callable[[Any], str], as_doubles: bool) -> list[str]:
    """The entries of an array as texts, one after the other; finite doubles are the same in all languages.

    >>> number_texts([0.5, 1e300], str, True), number_texts([1, 2], hex, True)
    (['0.5', '1e+300'], ['0x1', '0x2'])
    """
    array = np.asarray(values)
    same = as_doubles and array.dtype == np.float64 and bool(np.isfinite(array).all())
    return list(map(repr if same else spelled, array.ravel().tolist()))


def in_lines(text: str, indent: str, end: str = "", first: str | None = None) -> str:
    """A row of numbers over several lines, each indented and with ``end`` behind it where another follows.

    >>> in_lines("1, 2, 3", "  ")
    '  1, 2, 3'
    """
    lines, line = [], indent if first is None else first
    for part in re.split(r"(?<=[,;]) ", text):
        if line.strip() and len(line) + len(part) + 1 > _WIDTH:
            lines.append(line + end)
            line = indent
        line += f" {part}" if line.strip() else part
    return "\n".join([*lines, line])

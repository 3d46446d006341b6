"""Which line of the function under check recorded an operation."""

from __future__ import annotations

import linecache
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from symgrad.tape.graph import Source
from symgrad.tape.observers import observe, unobserve

_CHECK = str(Path(__file__).parent.parent) + os.sep
_PACKAGE = str(Path(__file__).parents[2]) + os.sep
_NUMPY = f"{os.sep}numpy{os.sep}"

LONGEST = 80
"""Characters of a line that are shown."""

Line = tuple[str, int]


@contextmanager
def lines_noted(constants: dict[Any, Any] | None = None) -> Iterator[dict[Any, Line]]:
    """Inside, operations leave the line of the function under check that they are called from, by node.

    ``constants`` is given the values of their constants, which the graph itself lets go.
    """
    found: dict[Any, Line] = {}

    def see(node: Any) -> None:
        if constants is not None:
            constants.update({arg: constant_value(arg) for arg in node.args if isinstance(arg, Source)})
        frame: Any = sys._getframe(1)
        while frame is not None and not frame.f_code.co_filename.startswith(_CHECK):
            file = frame.f_code.co_filename
            if is_of_user(file):
                found[node] = (file, frame.f_lineno)
                return
            frame = frame.f_back

    observe(see)
    try:
        yield found
    finally:
        unobserve(see)


def is_of_user(file: str) -> bool:
    """Whether a file is none of this library's nor of NumPy's."""
    return not file.startswith(_PACKAGE) and _NUMPY not in file


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

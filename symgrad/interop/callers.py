"""Which function a running program is about to call: functions of C leave no frame, and look like their callers."""

from __future__ import annotations

import dis
import functools
import os
import sys
from types import CodeType
from typing import Any

from symgrad.notices import is_of_program

_OF_ARRAYS = tuple(f"{os.sep}{name}{os.sep}" for name in ("numpy", "scipy"))
_POLYNOMIALS = f"{os.sep}numpy{os.sep}polynomial{os.sep}"


def is_of_arrays(file: str) -> bool:
    """Whether a file is one of NumPy's or SciPy's."""
    return any(name in file for name in _OF_ARRAYS)


def is_of_polynomials(file: str) -> bool:
    """Whether a file is one of ``numpy.polynomial``, which is written in Python, for arrays."""
    return _POLYNOMIALS in file


def callee_of_program() -> str:
    """What the innermost program of the user is calling, as it is written there: ``sp.lfilter``."""
    frame, callee = sys._getframe(1), "a function"
    while frame is not None and not is_of_program(frame.f_code.co_filename):
        callee = f"{frame.f_globals.get('__name__', '')}.{frame.f_code.co_name}"
        frame = frame.f_back  # type: ignore[assignment]
    return ".".join(_names(frame.f_code, frame.f_lasti) or (callee,)) if frame is not None else callee


def place_of_program() -> tuple[str, int] | None:
    """The file and the line that the innermost program of the user is at."""
    frame: Any = sys._getframe(1)
    while frame is not None and not is_of_program(frame.f_code.co_filename):
        frame = frame.f_back
    return None if frame is None else (frame.f_code.co_filename, frame.f_lineno)


def writes_entry(frame: Any) -> bool:
    """Whether one of the user's programs is at an assignment to an entry, ``a[i] = x``."""
    return is_of_program(frame.f_code.co_filename) and dis.opname[frame.f_code.co_code[frame.f_lasti]] == "STORE_SUBSCR"


def calls(frame: Any, function: Any, name: str) -> bool:
    """Whether the call that ``frame`` is at names ``function``, as ``module.name(...)`` or by a variable that holds it.

    False where something else that is called there, written in C, has called the function in its turn.
    """
    found = next(iter(_names(frame.f_code, frame.f_lasti)[-1:]), None)
    if found is None or found == name:
        return found == name or name in frame.f_code.co_names
    return frame.f_locals.get(found, frame.f_globals.get(found)) is function


@functools.lru_cache(4096)
def _names(code: CodeType, at: int) -> tuple[str, ...]:
    """The names of what is called at a place of the code; none where it has none, or places are not known.

    A call begins where the expression begins that is called.
    """
    names, rows = [], [row for row in dis.get_instructions(code) if row.offset <= at]  # a cache may follow the call
    place = rows[-1].positions if rows else None
    if place is None or place.lineno is None:
        return ()
    for row in rows[:-1]:
        here = row.positions
        if isinstance(row.argval, str) and here and (here.lineno, here.col_offset) == (place.lineno, place.col_offset):
            names.append(row.argval)
    return tuple(names)

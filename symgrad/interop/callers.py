"""Which function a running program is about to call: functions of C leave no frame, and look like their callers."""

from __future__ import annotations

import dis
import functools
from types import CodeType
from typing import Any


def calls(frame: Any, function: Any, name: str) -> bool:
    """Whether the call that ``frame`` is at names ``function``, as ``module.name(...)`` or by a variable that holds it.

    False where something else that is called there, written in C, has called the function in its turn.
    """
    found = _called(frame.f_code, frame.f_lasti)
    if found is None or found == name:
        return found == name or name in frame.f_code.co_names
    return frame.f_locals.get(found, frame.f_globals.get(found)) is function


@functools.lru_cache(4096)
def _called(code: CodeType, at: int) -> str | None:
    """The last name of what is called at a place of the code; None where it has none, or places are not known.

    A call begins where the expression begins that is called.
    """
    name, rows = None, list(dis.get_instructions(code))
    place = next((row.positions for row in rows if row.offset == at), None)
    if place is None or place.lineno is None:
        return None
    for row in rows:
        if row.offset >= at:
            break
        here = row.positions
        if isinstance(row.argval, str) and here and (here.lineno, here.col_offset) == (place.lineno, place.col_offset):
            name = row.argval
    return name

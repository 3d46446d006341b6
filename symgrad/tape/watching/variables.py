"""Variables of the user's functions that hold a constant, for its name in formulas and programs."""

from __future__ import annotations

import keyword
from collections.abc import Callable
from typing import Any

from symgrad.notices import is_of_program


def variable_of(frame: Any, is_held: Callable[[Any], bool], is_end: Callable[[Any], bool]) -> str | None:
    """The variable that holds an array, in the outermost of the user's functions from a frame on that has one.

    ``is_end`` tells the frame that called them, and ``is_held`` whether a value is that array.
    """
    found = None
    while frame is not None and not is_end(frame):
        if is_of_program(frame.f_code.co_filename):
            known = dict(frame.f_locals)
            own = known.get("self")
            parts = vars(own) if hasattr(own, "__dict__") else {}
            outside = {name: frame.f_globals[name] for name in frame.f_code.co_names if name in frame.f_globals}
            held = (name for name, value in {**outside, **parts, **known}.items() if is_held(value))
            found = next((name for name in held if _may_be_symbol(name)), found)
        frame = frame.f_back
    return found


def _may_be_symbol(name: str) -> bool:
    return not name.startswith("_") and name.isidentifier() and not keyword.iskeyword(name) and name not in ("I", "np")

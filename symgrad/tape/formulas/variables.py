"""Constants that are called like the variables of the user's functions that hold them, in formulas and programs."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from symgrad.notices import is_of_program
from symgrad.op import lookup
from symgrad.tape.formulas.names import site_name
from symgrad.tape.watching.watch import WATCH


def called_like_variable(tensor: Any, source: Any, constant: Callable[[Any, Any], Any]) -> None:
    """Give an array without a name, which a function takes from outside while a tracer looks on, that of its variable.

    One that the function has transposed, as in ``X.T @ r``, is read as the transpose of that variable; ``constant``
    makes a tensor of a class and an array.
    """
    watch, array = next((w for w in WATCH.local.stack if w.names), None), tensor._value
    if watch is None or not source.shape or source.name is not None or source.site is not None:
        return
    is_above: Callable[[Any], bool] = lambda frame: frame is watch.frame  # noqa: E731
    frame, whole = sys._getframe(1), list[Any]()

    def is_transposed(value: Any) -> bool:
        if _is_transpose(value, array):
            whole.append(value)
        return bool(whole) and value is whole[-1]

    source.variable = variable_of(frame, lambda value: value is array, is_above)
    if source.variable is None and source.recipe is None and variable_of(frame, is_transposed, is_above):
        part = ("constant", {"source": constant(type(tensor), whole[-1]).source()})
        source.recipe = ("made", {"op": lookup("permute"), "args": (part,), "params": {"dims": (1, 0)}})


def _is_transpose(value: Any, array: Any) -> bool:
    """Whether a value is the array in memory that another one is the transpose of."""
    return (
        isinstance(value, np.ndarray)
        and value.ndim == 2
        and value.shape == array.shape[::-1]
        and value.strides == array.strides[::-1]
        and value.dtype == array.dtype
        and value.__array_interface__["data"] == array.__array_interface__["data"]
    )


def held_alone(source: Any) -> str | None:
    """The variable of the user's functions that holds a constant's array while a formula of a graph is read.

    None for constants that several variables hold, or none, and for those that an op made.
    """
    array = None if source.copied is None or source.recipe is not None or not source.shape else source.copied()
    if array is None:
        return None
    names = held(sys._getframe(1), lambda value: value is array, lambda _: False)
    return names[0] if len(names) == 1 else None


def variable_of(frame: Any, is_held: Callable[[Any], bool], is_end: Callable[[Any], bool]) -> str | None:
    """The first of the variables that :func:`held` finds."""
    return next(iter(held(frame, is_held, is_end)), None)


def held(frame: Any, is_held: Callable[[Any], bool], is_end: Callable[[Any], bool]) -> list[str]:
    """The variables that hold an array, in the outermost of the user's functions from a frame on that has any.

    ``is_end`` tells the frame that called them, and ``is_held`` whether a value is that array.
    """
    found: list[str] = []
    while frame is not None and not is_end(frame):
        if is_of_program(frame.f_code.co_filename):
            known = dict(frame.f_locals)
            own = known.get("self")
            parts = vars(own) if hasattr(own, "__dict__") else {}
            outside = {name: frame.f_globals[name] for name in frame.f_code.co_names if name in frame.f_globals}
            names = (name for name, value in {**outside, **parts, **known}.items() if is_held(value))
            found = [name for name in names if not name.startswith("_") and site_name(None, name)] or found
        frame = frame.f_back
    return found

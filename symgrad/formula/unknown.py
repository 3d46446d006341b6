"""Functions whose inside is not known: what stands beside their arrays among the arguments.

``Scale.apply(x, 2)`` and ``Scale.apply(x, 3)`` are different functions of x, and so are the two outputs of one.
"""

from __future__ import annotations

from typing import Any

from symgrad.formula.term import Term

_OF_RESULT = ("dtype", "shape")
_FIRST: tuple[Any, ...] = (0, (0,))
"""The first output or argument goes without saying."""


def constants(term: Term) -> list[Any]:
    """The arguments that are no arrays, then which output or argument is meant."""
    given, places = [], []
    for key, value in sorted(term.params.items()):
        if hasattr(value, "constants"):
            given += value.constants
        elif key not in _OF_RESULT and value not in _FIRST:
            places.append(value)
    return given + places


def constant_text(value: Any) -> str:
    """The same text in every run: functions and other things have no address in it.

    >>> constant_text(2.5), constant_text(len), constant_text([1, 2])
    ('2.5', 'len', 'list')
    """
    if value is None or isinstance(value, (bool, int, float, complex, str)):
        return str(value)
    if isinstance(value, tuple):
        return f"({', '.join(map(constant_text, value))})"
    return str(getattr(value, "__name__", type(value).__name__))

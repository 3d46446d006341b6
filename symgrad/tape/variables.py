"""Variables of functions that stand in others, as cells that may be given other contents from outside."""

from __future__ import annotations

from typing import Any


def variable_of(function: Any, name: str) -> Any:
    """The cell of a variable that an inner function reads of the one around it.

    >>> def outer(step):
    ...     return lambda x: x + step
    >>> call = outer(1)
    >>> variable_of(call, "step").cell_contents = 10
    >>> call(1)
    11
    """
    return function.__closure__[function.__code__.co_freevars.index(name)]

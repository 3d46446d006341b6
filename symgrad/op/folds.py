"""Functions of several ops that a carrier may take for one: the tape keeps their arguments alone."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

FOLDED: dict[str, Callable[..., Any]] = {}
"""The functions that may be folded, by the names of their ops."""

RECORDER: list[Callable[[str, tuple[Any, ...], dict[str, Any]], Any]] = []
"""What calls a folded function, by its name; filled in by the carrier that records."""


def folded(name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Mark a function that keeps more than its arguments when it is recorded op by op.

    It has one result and does nothing but compute, the same each time: it is run again when its gradient is asked for.
    """

    def mark(function: Callable[..., Any]) -> Callable[..., Any]:
        FOLDED[name] = function

        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            return RECORDER[0](name, args, kwargs)

        return call

    return mark

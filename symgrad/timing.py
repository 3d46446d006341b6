"""Measuring of coarse work (reading formulas, writing programs) by whoever wants to; the profiler does."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])

TIMERS: list[Callable[[str, str], Any]] = []
"""``(kind, name)`` to a context that measures what runs inside; empty while nobody measures."""


def timed(kind: str, name: str) -> Callable[[F], F]:
    """Let profiles measure a function; for coarse work (reading formulas, writing code), not for ops."""

    def decorate(function: F) -> F:
        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            if not TIMERS:
                return function(*args, **kwargs)
            with TIMERS[-1](kind, name):
                return function(*args, **kwargs)

        return wrapper  # type: ignore[return-value]

    return decorate

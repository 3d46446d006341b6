"""Files of tensors under the name of torch's module for them, and the types of its arguments."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import IO, Any, TypeAlias

from symgrad.tensor.storing import TRUSTED, load, save

__all__ = [
    "FILE_LIKE", "MAP_LOCATION", "add_safe_globals", "clear_safe_globals", "get_safe_globals", "load", "safe_globals",
    "save",
]  # fmt: skip

FILE_LIKE: TypeAlias = str | os.PathLike[str] | IO[bytes]
MAP_LOCATION: TypeAlias = Callable[[Any, str], Any] | str | dict[str, str] | None


def add_safe_globals(safe_globals: Sequence[Any]) -> None:
    """Classes and functions that ``load(weights_only=True)`` may make and call, or pairs of one and its path in files.

    >>> import symgrad as sg
    >>> from fractions import Fraction
    >>> sg.serialization.add_safe_globals([Fraction])
    >>> sg.serialization.get_safe_globals()
    [<class 'fractions.Fraction'>]
    >>> sg.serialization.clear_safe_globals()
    """
    for given in safe_globals:
        trusted, path = given if isinstance(given, tuple) else (given, f"{given.__module__}.{given.__qualname__}")
        TRUSTED[path] = trusted


def get_safe_globals() -> list[Any]:
    """What :func:`add_safe_globals` was told."""
    return list(TRUSTED.values())


def clear_safe_globals() -> None:
    """Trust nothing but tensors, numbers and containers again."""
    TRUSTED.clear()


@contextmanager
def safe_globals(safe_globals: Sequence[Any]) -> Iterator[None]:
    """:func:`add_safe_globals` meanwhile."""
    before = dict(TRUSTED)
    add_safe_globals(safe_globals)
    try:
        yield
    finally:
        TRUSTED.clear()
        TRUSTED.update(before)

"""Contexts of custom functions without their tensors, which the record of a pickled graph has."""

from __future__ import annotations

import copy
import operator
from collections.abc import Callable
from typing import Any

DEEP = 8
"""How many containers may lie in one another."""


class Held:
    """Stands in a pickled context for one of its tensors, which the graph has."""

    __slots__ = ("k",)

    def __init__(self, k: int):
        self.k = k


def replaced(value: Any, kind: type, change: Callable[[Any], Any], deep: int = DEEP) -> Any:
    """A value with ``change`` of what is of a kind in it; containers of such are copied, others are the same."""
    if isinstance(value, kind):
        return change(value)
    if not deep or not isinstance(value, (list, tuple, dict)):
        return value
    former = list(value.values()) if isinstance(value, dict) else value
    row = [replaced(entry, kind, change, deep - 1) for entry in former]
    if all(map(operator.is_, row, former)):
        return value
    if isinstance(value, dict):
        made = copy.copy(value)
        made.update(zip(value, row, strict=True))
        return made
    return type(value)(*row) if hasattr(value, "_fields") else type(value)(row)

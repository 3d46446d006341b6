"""What code calls of torch's compiler around functions that it is not to compile; here every function runs as it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from symgrad.compiler import disable, is_compiling

__all__ = ["allow_in_graph", "disable", "graph_break", "is_compiling", "mark_dynamic", "reset"]


def allow_in_graph(fn: Callable[..., Any]) -> Callable[..., Any]:
    """The function itself."""
    return fn


def graph_break(msg: str = "") -> None:
    """Does nothing."""


def mark_dynamic(t: Any, index: Any, *, hint_override: Any = None, min: Any = None, max: Any = None) -> None:
    """Does nothing: programs hold for all sizes."""


def reset() -> None:
    """Does nothing: there is nothing to forget."""

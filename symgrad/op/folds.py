"""Functions of several ops that a carrier may take for one: the tape keeps their arguments alone."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

FOLDED: dict[str, Callable[..., Any]] = {}
"""The functions that may be folded, by the names of their ops."""

RESULTS: set[str] = set()
"""Those whose result is kept, too."""

ONE_NODE: set[str] = set()
"""Those whose derivative torch computes in one node of the cotangent and all arguments."""

ADDED: dict[str, tuple[int, str]] = {}
"""The place and the name of the argument that those only add to their result, whose derivative does not read it."""

RECORDER: list[Callable[[str, tuple[Any, ...], dict[str, Any]], Any]] = []
"""What calls a folded function, by its name; filled in by the carrier that records."""


def folded(
    name: str, result: bool = False, one_node: bool = False, added: str = ""
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Mark a function that keeps more than its arguments when it is recorded op by op.

    It has one result and does nothing but compute, the same each time: it is run again when its gradient is asked for.
    ``result``: the derivative is made of the result that it had, as torch's is, which shows once the arguments change.
    ``one_node``: torch's derivative is one node, which leads to all arguments, whether they have a derivative or not.
    ``added``: the argument that is only added to the result; torch's derivative does not read it, and it may change.
    """
    if result:
        RESULTS.add(name)
    if one_node:
        ONE_NODE.add(name)

    def mark(function: Callable[..., Any]) -> Callable[..., Any]:
        FOLDED[name] = function
        if added:
            ADDED[name] = [*inspect.signature(function).parameters].index(added), added

        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            return RECORDER[0](name, args, kwargs)

        return call

    return mark

"""What functions that transforms made (``symgrad.func.grad(f)``) know of themselves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from symgrad.compiler.trace import Trace


class Transform(NamedTuple):
    """What a function that was made by a transform is: the transform, and of which function and arguments."""

    call: Callable[..., Any]
    traced: Callable[[Sequence[Any]], Trace]
    kind: str
    function: Callable[..., Any]
    argnums: Any
    has_aux: bool


def transform_of(function: Any) -> Transform | None:
    """What a function was made by; None for others, and for those that only wear the attributes of such a one."""
    found = getattr(function, "__symgrad_transform__", None)
    return found if found is not None and found.call is function else None

"""What stands for a tensor in programs that are written for another library, and may be given to functions of this."""

from __future__ import annotations

from typing import Any


class StandIn:
    """The base of such classes: ``tensor`` is what they stand for."""

    tensor: Any


def inner(value: Any) -> Any:
    """The tensor that something stands for, also inside of lists, tuples and dicts; other things as they are."""
    if isinstance(value, StandIn):
        return value.tensor
    if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
        return type(value)(map(inner, value))
    return {key: inner(part) for key, part in value.items()} if type(value) is dict else value


def among(value: Any) -> bool:
    """Whether any is there."""
    if isinstance(value, (list, tuple)):
        return any(map(among, value))
    return any(map(among, value.values())) if type(value) is dict else isinstance(value, StandIn)

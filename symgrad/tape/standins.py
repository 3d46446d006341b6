"""What stands for a tensor in programs that are written for another library, and may be given to functions of this."""

from __future__ import annotations

import dataclasses
from typing import Any

from symgrad.tape.containers import flatten, unflatten


class StandIn:
    """The base of such classes: ``tensor`` is what they stand for."""

    tensor: Any


def inner(value: Any) -> Any:
    """The tensor that something stands for, also inside of containers; other things as they are."""
    if isinstance(value, StandIn):
        return value.tensor
    kind = type(value)
    if kind is tuple or kind is list:
        return kind(map(inner, value))
    if kind is dict:
        return {key: inner(part) for key, part in value.items()}
    if isinstance(value, (tuple, list, dict)) or dataclasses.is_dataclass(value):
        leaves, structure = flatten(value)
        if any(isinstance(leaf, StandIn) for leaf in leaves):  # their classes may do more than hold values
            return unflatten(structure, map(inner, leaves))
    return value


def among(value: Any) -> bool:
    """Whether any is there."""
    return any(isinstance(leaf, StandIn) for leaf in flatten(value)[0])

"""DLPack's capsules, by which libraries hand each other arrays without a copy, where torch has them."""

from __future__ import annotations

from typing import Any

from symgrad.tensor.borrowed import from_dlpack

__all__ = ["from_dlpack", "to_dlpack"]


def to_dlpack(tensor: Any) -> Any:
    """The capsule of a tensor that requires no grad; whoever takes it shares its memory, and takes it once.

    >>> import symgrad as sg
    >>> type(to_dlpack(sg.ones(2))).__name__
    'PyCapsule'
    >>> from_dlpack(to_dlpack(sg.ones(2)))
    tensor([1., 1.])
    """
    return tensor.__dlpack__()

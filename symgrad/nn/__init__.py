"""Neural-network functions under torch's names; see :mod:`symgrad.nn.functional`.  There are no modules."""

from __future__ import annotations

from typing import Any

from symgrad.nn import functional, init, utils
from symgrad.nn.parameter import Parameter

__all__ = ["Parameter", "functional", "init", "utils"]


def __getattr__(name: str) -> Any:
    raise AttributeError(
        f"module 'symgrad.nn' has no attribute {name!r}: layers are functions here (nn.functional.linear(x, W, b)), "
        "and their weights are tensors that you keep, or nn.Parameter."
    )

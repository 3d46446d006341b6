"""Where functions with many kinks or poles have none, as conditions: the field ``smooth`` of entries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def of_power(asked: Sequence[int], x: Any, y: Any) -> Any:
    """By the exponent, where the base is positive; by the base, where it is not 0 or the slope there is a number."""
    from symgrad.ops.elementwise.select import ne

    return x > 0 if 1 in asked else ne(x, 0) | (y >= 1)


def off_poles(asked: Sequence[int], x: Any) -> Any:
    """Where the gamma function has no pole: they are 0 and the negative integers."""
    from symgrad.ops.elementwise.select import ne
    from symgrad.ops.elementwise.smooth import floor

    return (x > 0) | ne(x, floor(x))

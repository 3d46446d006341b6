"""What printed calls leave out, because readers take it for granted: usual parameters, and the one axis of a vector."""

from __future__ import annotations

from typing import Any

from symgrad.op import Op

DEFAULTS: dict[str, Any] = {
    "keepdim": False, "descending": False, "skip_nan": False, "step": 1, "dilation": 1, "correction": 1,
    "largest": True, "right": False,
}  # fmt: skip
"""Static parameters that are not written where they say what is usual."""
AXES = ("flip", "roll")
"""Ops whose axes are called dims."""
PLACED = {"roll": "shifts", "windows": "size", "windows_sum": "size", "argkth": "k", "argtop": "k"}
"""The parameters that are written as arguments, without their names."""
_NEW_AXES = ("stack", "unsqueeze")
"""Ops whose axis is one of the result, which has more of them than the argument."""


def has_one_axis(op: Op, ndim: int) -> bool:
    """Whether an op along an axis has no other: that of a vector, or of windows, which have one inside of each."""
    return op.name not in _NEW_AXES and ndim == (2 if op.name == "windows_sum" else 1)

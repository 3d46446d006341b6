"""What printed calls leave out, because readers take it for granted: usual parameters, and the one axis of a vector."""

from __future__ import annotations

from typing import Any

DEFAULTS: dict[str, Any] = {
    "keepdim": False, "descending": False, "skip_nan": False, "step": 1, "dilation": 1, "correction": 1,
    "largest": True, "right": False,
}  # fmt: skip
"""Static parameters that are not written where they say what is usual."""
AXES = ("flip", "roll")
"""Ops whose axes are called dims."""
PLACED = {"roll": "shifts", "windows": "size", "windows_sum": "size", "argkth": "k", "argtop": "k"}
"""The parameters that are written as arguments, without their names."""
ALONG_VECTORS = (*AXES, "cumsum", "cumprod", "logcumsumexp", "cummax", "cummin", "argsort", "sort", "gather",
                 "scatter_into", "windows", "windows_sum")  # fmt: skip
"""Ops along an axis, of which a vector has one."""


def own_axes(name: str) -> int:
    """How many axes the argument of such an op has for a vector: windows have an axis inside of each of them."""
    return 2 if name == "windows_sum" else 1

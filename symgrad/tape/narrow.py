"""Rules of half precision: torch's kernels of derivatives compute in float32."""

from __future__ import annotations

from typing import Any

from symgrad.dtypes import NARROW
from symgrad.ops.reductions import cast_op
from symgrad.tape.graph import Node


def rounding_once(node: Node, rule: Any) -> Any:
    """The rule of a node in half precision for which torch has one kernel: in float32, and rounded once."""

    def wide(x: Any) -> Any:
        return cast_op(x, dtype="float32") if hasattr(x, "_value") and x.dtype.char in NARROW else x

    return lambda *args, **params: cast_op(rule(*map(wide, args), **params), dtype=node.dtype.name)

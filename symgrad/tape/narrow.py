"""Rules where dtypes are torch's and not NumPy's: half precision, and operands of several dtypes."""

from __future__ import annotations

from typing import Any

from symgrad.dtypes import NARROW
from symgrad.ops.reductions import cast_op
from symgrad.tape.graph import Labelled, Node


def rounding_once(node: Node, rule: Any) -> Any:
    """The rule of a node in half precision for which torch has one kernel: in float32, and rounded once."""

    def wide(x: Any) -> Any:
        return cast_op(x, dtype="float32") if hasattr(x, "_value") and x.dtype.char in NARROW else x

    return lambda *args, **params: cast_op(rule(*map(wide, args), **params), dtype=node.dtype.name)


def needs_torchs_dtypes(node: Node, saved: Any) -> bool:
    """Whether a node is in half precision, or elementwise with operands saved in other floating dtypes than its own."""
    if node.dtype.char in NARROW:
        return True
    if node.args.__class__ is not Labelled or node.op.kind != "elementwise" or len(node.args) < 2:
        return False
    dtypes = [value.dtype for value in saved[1:] if hasattr(value, "dtype")]
    return any(dtype != node.dtype and dtype.kind in "fcV" for dtype in dtypes)

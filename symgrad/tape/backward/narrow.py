"""Rules where dtypes are torch's and not NumPy's: half precision, and operands of several dtypes."""

from __future__ import annotations

from typing import Any

from symgrad.dtypes import NARROW
from symgrad.tape.graph import Labelled, Node


def needs_torchs_dtypes(node: Node, saved: Any) -> bool:
    """Whether a node is in half precision, or elementwise with operands saved in other floating dtypes than its own."""
    if node.dtype.char in NARROW:
        return True
    if node.args.__class__ is not Labelled or node.op.kind != "elementwise" or len(node.args) < 2:
        return False
    dtypes = [value.dtype for value in saved[1:] if hasattr(value, "dtype")]
    return any(dtype != node.dtype and dtype.kind in "fcV" for dtype in dtypes)

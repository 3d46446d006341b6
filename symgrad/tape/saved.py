"""What a node keeps of its result and its operands: those that its rules read."""

from __future__ import annotations

from typing import Any

import numpy as np

from symgrad.op import FROM, Op
from symgrad.ops.linalg.sharing import copy_of, parts_of


def reads(op: Op, mask: int, count: int, numbered: bool) -> tuple[bool, ...]:
    """Which of ``(out, *inputs)`` the rules of the inputs in ``mask`` read; ``numbered``: a number is among these."""
    flags = [False] * (count + 1)
    for position in op.needs(mask, op.saves is not None and numbered)[0]:
        if position >= -1:
            flags[position + 1] = True
        elif position <= FROM:
            flags[FROM - position + 1 :] = [True] * (count - (FROM - position))
        else:
            flags[1:] = [-3 - position != i for i in range(count)]
    return tuple(flags)


def chosen(flags: tuple[bool, ...], out: Any, values: Any) -> tuple[Any, ...]:
    """``(out, *inputs)`` with None for what is not flagged."""
    if len(flags) == 2:
        return (out if flags[0] else None, values[0] if flags[1] else None)
    return tuple([value if flag else None for flag, value in zip(flags, (out, *values), strict=True)])


def select_saved(op: Op, mask: int, out: Any, values: Any, flags: tuple[bool, ...] | None = None) -> tuple[Any, ...]:
    """``(out, *inputs)`` with None for what no rule of the tracked inputs reads: ``flags``, where these are known."""
    if not mask:
        return ()
    if flags is None:
        numbered = any(not hasattr(v, "dtype") for v in values) if op.saves is not None else False
        flags = reads(op, mask, len(values), numbered)
    saved = chosen(flags, out, values)
    if not op.copies:
        return saved
    row = list(saved)
    for k in range(len(values)) if op.copies is True else op.copies(mask, *values):
        value = row[k + 1]
        if isinstance(value, np.ndarray):
            row[k + 1] = copy_of(value) if parts_of(op.kernel) else value.copy("K")
        elif isinstance(value, np.generic):  # a tensor that is changed knows the nodes that saved it by this object
            row[k + 1] = value.copy()
    return tuple(row)

"""Functions of one number in half precision by tables: after 65,536 values all are known.

float16 and bfloat16 have as many bit patterns, so a table of a function has 128 kB, and every entry of it is what the
kernel gives.  A function has one once it was asked for that many values, which is what the table costs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from symgrad.dtypes import is_narrow

if TYPE_CHECKING:
    from symgrad.op.record import Op

_PATTERNS = 2**16
FEW = 200
"""Smaller arrays are computed: finding the table takes as long."""
_PLAIN = (int, float, bool, str, type(None))

_asked: dict[Any, int] = {}
_tables: dict[Any, Any] = {}


def looked_up(op: Op, x: Any, params: dict[str, Any]) -> Any:
    """A function of the entries of an array in half precision; None where there is no table of it (yet).

    Kernels that compute neighbouring entries together, with other roundings than single ones, have none; nor have
    arrays that do not lie row by row in memory, as the result lies as they do.
    """
    if not x.flags.c_contiguous or not is_narrow(x.dtype):
        return None
    key = (op, x.dtype, *params.items()) if params else (op, x.dtype)
    try:
        table = _tables.get(key)
    except TypeError:  # parameters that have no hash
        return None
    if table is None:
        table = _met(key, op, x, params)
        if table is None:
            return None
    values, dtype = table
    return values.take(x.view(np.uint16)).view(dtype)


def _met(key: Any, op: Op, x: Any, params: dict[str, Any]) -> Any:
    """The table, if it pays by now."""
    _asked[key] = count = _asked.get(key, 0) + x.size
    if count < _PATTERNS or not _single(op, params):
        return None
    with np.errstate(all="ignore"):
        values = np.asarray(op.in_float32((np.arange(_PATTERNS, dtype=np.uint16).view(x.dtype),), params, False))
    # NumPy takes from arrays of its own dtypes sooner than from those of others.
    _tables[key] = table = (values.view(f"u{values.itemsize}"), values.dtype)
    return table


def _single(op: Op, params: dict[str, Any]) -> bool:
    alone = not getattr(op.half, "by_place", False)
    return alone and all(isinstance(value, _PLAIN) for value in params.values())

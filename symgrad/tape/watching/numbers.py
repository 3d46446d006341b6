"""Tensors that stand for Python's numbers: a tracer follows these, and beside tensors they have no dtype all the same.

``x * 0.1`` is float32 where x is.  A traced function gets a tensor of float64 in place of the number, as its program
takes the number as an argument; what is computed of such tensors alone is a number, too.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from symgrad.dtypes import get_default_dtype, promote, shared, weak_with
from symgrad.op import Op, lookup
from symgrad.tape.graph import Node
from symgrad.tape.watching.watch import WATCH


def as_numbers(op: Op, args: tuple[Any, ...], values: list[Any]) -> tuple[Any, ...]:
    """The operands, those that stand for numbers cast to the dtype that a number takes beside the others."""
    known = next((watch.numbers for watch in WATCH.local.stack if watch.numbers), None)
    if known is None or (op.kind == "primitive" and not op.together):
        return args
    arrays = [k for k, v in enumerate(values) if k != op.condition and isinstance(v, (np.ndarray, np.generic))]
    places = [k for k in arrays if _is_number(args[k], known)]
    others = [values[k] for k in arrays if k not in places]
    if not places or not others:
        return args
    wide = np.empty((0,) * max(x.ndim for x in others), shared(others))
    row = list(args)
    for k in places:
        dtype = weak_with(values[k].item(), wide.dtype)
        if op.dtypes == "float" and dtype.kind in "bui":
            dtype = get_default_dtype()
        if promote(values[k], wide) != dtype:
            row[k] = lookup("cast")(args[k], dtype=dtype.name)
            values[k] = row[k]._value
    return tuple(row)


def _is_number(arg: Any, known: dict[Any, bool]) -> bool:
    """Whether an operand is the tensor of a number, or computed of such and of numbers alone.

    ``known`` has the tensors that stand for numbers; what is found of nodes is noted there.
    """
    value = getattr(arg, "_value", None)
    if value is None or value.shape or value.dtype.char not in "dD":
        return False
    stack = [arg if arg._node is None else arg._node]
    while stack:
        node = stack[-1]
        unknown = [a for a in node.args if isinstance(a, Node) and a not in known] if isinstance(node, Node) else []
        stack += unknown
        if not unknown:
            stack.pop()
            if node not in known and isinstance(node, Node):
                known[node] = all(known.get(a, isinstance(a, (int, float, complex))) for a in node.args)
    return known.get(arg if arg._node is None else arg._node, False)

"""The way of most nodes through a plain pass: no hook, no label that matters, no structural zero, one real dtype.

It is what :meth:`symgrad.tape.backward.engine.Sweep.run_node` does for them, without asking what they do not have.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from symgrad.dtypes import float32, float64
from symgrad.op import Op
from symgrad.ops.rules.fitting import fit
from symgrad.tape.graph import FREED, Labelled, Node, landing

_ARRAYS = (np.ndarray, np.generic)
_plain: dict[Op, bool] = {}
"""Whether the rules of an op may be called as they are; found out once for each."""


def _is_plain(op: Op) -> bool:
    found = _plain[op] = op.kind != "function" and op.refuses_back is None and op.structural is None
    return found


def straight(sweep: Any, node: Node, g: Any) -> bool:
    """Give the arguments of a node what it makes of ``g``, if it may go this way; whether it does."""
    op, dtype, args, saved = node.op, node.dtype, node.args, node.saved
    if node.extra is not None or (dtype is not float64 and dtype is not float32):
        return False
    if saved.__class__ is not tuple or saved is FREED:
        return False
    others = "cV"
    if args.__class__ is Labelled:
        if args.siblings is not None or args.role == "overlap":
            return False
        if op.kind == "elementwise":  # whose operands may have been saved as they were given
            others = "fcV"
    if not (_plain[op] if op in _plain else _is_plain(op)):
        return False
    for value in saved:
        if isinstance(value, _ARRAYS) and value.dtype is not dtype and value.dtype.kind in others:
            return False
    rules, params, mask = op.vjps, node.params, node.mask
    read = sweep.arguments(node, saved)
    for i, arg in enumerate(args):
        if not mask >> i & 1:
            continue
        rule = functools.partial(rules, i) if callable(rules) else rules[i]
        c = None if rule is None else rule(g, *read, **params) if params else rule(g, *read)
        if c is None:
            continue
        wanted = arg.dtype if arg.__class__ is Node else arg._value.dtype if arg._extra is None else None
        if wanted is None or c.__class__ is not np.ndarray or c.dtype is not wanted or c.shape != arg.raw_shape:
            c = fit(c if hasattr(c, "dtype") else np.asarray(c), arg.raw_shape, wanted or landing(node, arg))
        sweep.give(arg, c)
    return True

"""The fast path of views: ops that show the memory of one tensor, of which no rule reads a value.

It does what :mod:`symgrad.tape.ordinary` does for a tensor of floats that is followed, or that nobody follows, and for
places and truth values, while operations are recorded as usual.  Whatever else comes goes that way.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from symgrad.dtypes import bool_, float32, float64, int64
from symgrad.op import Op
from symgrad.tape.graph import Node
from symgrad.tape.memory.views import View, pruned
from symgrad.tape.modes import MODE
from symgrad.tape.numbering import sequence
from symgrad.tape.observers import may_step_aside
from symgrad.tape.record import Extra
from symgrad.tape.saved import reads
from symgrad.tape.watching.watch import WATCH

_ndarray = np.ndarray
_FAILED = (ValueError, TypeError, IndexError, OverflowError)
_NEITHER = (None, None)


def cutting(  # noqa: C901
    cls: Any, op: Op, otherwise: Callable[..., Any]
) -> Callable[[tuple[Any, ...], dict[str, Any]], Any]:
    """How an op with a ``view`` is applied to tensors, beside a dict of parameters; some go ``otherwise``."""
    view, keeps = op.view, op.keeps
    if op.copies or op.copy or op.decomposed or not op.differentiable(0) or any(reads(op, 1, 1, False)):
        return otherwise
    new, expected = cls.__new__, cls
    whole = op.dtypes is None and not {"i", "b", "?"} & op.refuses.keys()

    def call(args: tuple[Any, ...], params: dict[str, Any]) -> Any:
        tensor = args[0]
        if tensor.__class__ is not expected or len(args) != 1 or WATCH.count or MODE.exceptional:
            return otherwise(args, params)
        value, source, extra, followed = tensor._value, tensor._node, tensor._extra, tensor._requires_grad
        if value.__class__ is not _ndarray:
            return otherwise(args, params)
        dtype = value.dtype
        if dtype is not float64 and dtype is not float32 and not (whole and (dtype is int64 or dtype is bool_)):
            return otherwise(args, params)
        if source is None:
            if extra is not None and (extra.inference or (not followed and (extra.sized or not extra.plain()))):
                return otherwise(args, params)
        elif source.__class__ is not Node or not followed:
            return otherwise(args, params)
        if keeps is not None and keeps(**params):
            return otherwise(args, params)
        try:
            out = view(value, **params)  # type: ignore[misc]
        except _FAILED:
            return otherwise(args, params)  # which has the words for what is wrong
        base = out.base
        # NumPy's stride tricks put an object of their own in between.
        shared = base is not None and (base is value or base is value.base or getattr(base, "base", None) is value)
        if out.__class__ is not _ndarray or not (shared or (base is None and out is not value and out.ndim)):
            return otherwise(args, params)
        made = new(cls)
        made._value = out
        made._requires_grad = followed
        if followed:
            node = made._node = Node()
            node.op = op
            node.params = params or None
            node.args = (tensor if source is None else source,)
            node.mask = 1
            node.saved = _NEITHER
            node.shape = out.shape
            node.dtype = out.dtype
            node.sequence_nr = next(sequence)
            node.extra = node.rules = None
        else:
            made._node = None
        if not shared:
            made._extra = None
            return made
        parent = None if extra is None else extra.view
        if parent is not None:
            root = parent.base
            extra = root._extra
        else:
            root = tensor
            if extra is None:
                extra = root._extra = Extra()
        made._extra = known = Extra()
        known.view = View(root, parent, op, params)
        if extra.views is None:
            extra.views = [weakref.ref(made)]
        else:
            pruned(extra.views).append(weakref.ref(made))
        return made

    may_step_aside(call)
    return call

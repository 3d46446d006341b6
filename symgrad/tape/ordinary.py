"""The common way of ops that have no fast path: reductions, views, functions with parameters.

It does what :func:`symgrad.tape.record.apply` does for tensors of one real dtype and numbers, without asking what these
do not have: casts, refusals, tracers, inference tensors.  Whatever else comes goes the careful way, and so does
everything while somebody observes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from symgrad.dtypes import NARROW, bool_, float32, float64, int64, is_floating
from symgrad.op import Op
from symgrad.tape import record
from symgrad.tape.graph import Node
from symgrad.tape.memory.views import note_view
from symgrad.tape.modes import MODE
from symgrad.tape.numbering import sequence
from symgrad.tape.observers import may_step_aside
from symgrad.tape.record import Recorded, finished, given
from symgrad.tape.saved import chosen, reads, select_saved
from symgrad.tape.watching.watch import WATCH

_FAILED = (ValueError, TypeError, IndexError, OverflowError, np.linalg.LinAlgError)


def _plan(op: Op, asked: int, count: int, numbered: bool) -> tuple[int, tuple[bool, ...]] | None:
    """The mask of the operands in ``asked`` that gradients flow to, and what their rules read; None for definitions."""
    wanted = [i for i in range(count) if asked >> i & 1]
    mask = sum(1 << i for i in wanted if op.differentiable(i))
    if any(op.apart(i) and not op.differentiable(i) for i in wanted):
        return None
    return mask, reads(op, mask, count, numbered) if mask else ()


def ordinary(cls: Any, op: Op) -> Callable[[tuple[Any, ...], dict[str, Any]], Any]:  # noqa: C901
    """How an op is applied to tensors and numbers, beside a dict of parameters."""

    def careful(args: tuple[Any, ...], params: dict[str, Any]) -> Any:
        return record.apply(cls, op, args, params)  # looked up each time: a profiler puts its own there

    if "f" in op.refuses or op.scalar is not None or op.decomposed:
        return careful
    new, view, copies, kernel, single = cls.__new__, op.view, op.copies, op.kernel, op.single or op.kernel
    # Where operands are not brought to one dtype, places and truth values may stand behind the first.
    alone, aside = op.kind == "primitive" and not op.together and "?" not in op.refuses, op.condition
    whole = op.kind != "elementwise" and op.dtypes is None and not {"i", "b", "?"} & op.refuses.keys()
    plans: dict[tuple[int, int, bool], Any] = {}
    expected: Any = Recorded

    def constant(args: tuple[Any, ...], values: list[Any], i: int, read: bool) -> Any:
        tensor = args[i]
        if not isinstance(tensor, Recorded):
            tensor = given(cls, tensor, read)
            values[i] = tensor._value
        return tensor.source()

    def call(args: tuple[Any, ...], params: dict[str, Any]) -> Any:  # noqa: C901
        inferred = MODE.inferred
        if WATCH.count or (inferred and MODE.local.inference):
            return careful(args, params)
        values, edges = [], []
        plan: Any = None
        asked, bit, dtype, keep, noticed, numbered = 0, 1, None, False, False, False
        for i, arg in enumerate(args):
            if isinstance(arg, expected):
                value, edge, own = arg._value, arg._node, arg._value.dtype
                if own is not dtype and i != aside:
                    if dtype is None and (
                        own is float64 or own is float32 or (whole and (own is int64 or own is bool_))
                    ):
                        dtype = own
                    elif dtype is None or not alone or own.char in NARROW:
                        return careful(args, params)
                if edge is not None:
                    if edge.__class__ is not Node:
                        return careful(args, params)
                    keep = True
                elif arg._extra is not None:
                    if inferred and arg._extra.inference:
                        return careful(args, params)
                    noticed = True
                if arg._requires_grad:
                    asked |= bit
                    keep = True
                    edge = arg if edge is None else edge
                values.append(value)
                edges.append(edge)
            elif arg.__class__ is float or arg.__class__ is int:
                numbered = True
                values.append(arg)
                edges.append(arg)
            elif arg.__class__ is np.ndarray and arg.dtype is dtype:
                values.append(arg)
                edges.append(None)
            else:
                return careful(args, params)
            bit <<= 1
        recording = keep and (not MODE.exceptional or MODE.local.enabled)
        if dtype is None or (noticed and not keep) or (numbered and dtype.kind != "f"):
            return careful(args, params)
        if recording:
            key = (asked, len(args), numbered)
            plan = plans[key] if key in plans else plans.setdefault(key, _plan(op, *key))
            if plan is None:
                return careful(args, params)
        try:
            if view is not None:
                values[0] = args[0]._array()
                out = view(*values, **params)
            else:
                out = single(*values, **params) if dtype is float32 else kernel(*values, **params)
        except _FAILED:
            out = None
        if out is None or (op.copy and not out.size):
            return careful(args, params)  # which has the words for what is wrong
        out, shared = finished(op, out, values, view is not None)
        made = new(cls)
        made._value = out
        made._extra = None
        if recording:
            mask, flags = plan
            made._node = node = Node()
            node.op = op
            node.params = params or None
            node.shape = out.shape
            node.dtype = dtype = out.dtype
            if dtype is not float64 and dtype is not float32 and not is_floating(dtype):
                mask = 0
            node.args = tuple(
                [constant(args, values, i, mask != 0) if edge is None else edge for i, edge in enumerate(edges)]
            )
            node.mask = mask
            node.saved = (
                ()
                if not mask
                else chosen(flags, out, values)
                if not copies
                else select_saved(op, mask, out, values, flags)
            )
            node.sequence_nr = next(sequence)
            node.extra = node.rules = None
            made._requires_grad = mask != 0
        else:
            made._node = None
            made._requires_grad = False
        if shared and view is not None:
            note_view(args[0], made, op, params)
        return made

    may_step_aside(call)
    return call

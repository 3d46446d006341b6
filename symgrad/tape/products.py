"""The fast path of products of two arrays: matrices and vectors of float64 or float32.

It does what :func:`symgrad.tape.record.apply` does for them; whatever else comes goes the general way.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from symgrad.dtypes import float32, float64
from symgrad.errors import AutogradError
from symgrad.op import Op
from symgrad.ops.linalg.contraction import by_columns, pulls
from symgrad.tape.explaining import explain
from symgrad.tape.graph import Node
from symgrad.tape.layout import laid_out
from symgrad.tape.modes import MODE
from symgrad.tape.numbering import sequence
from symgrad.tape.observers import may_step_aside
from symgrad.tape.ordinary import ordinary
from symgrad.tape.record import apply


def is_product(op: Op) -> bool:
    """Whether an op is linear in each of its two operands, by its einsum, and takes nothing else."""
    if op.einsum is None or op.kind != "multilinear" or op.copies is True:  # batches alone may be copied
        return False
    taken = inspect.signature(op.einsum).parameters.values()
    return [p.kind for p in taken] == [inspect.Parameter.POSITIONAL_OR_KEYWORD] * 2


def product(cls: Any, op: Op, otherwise: Callable[..., Any]) -> Callable[[Any, Any], Any]:
    """The fast path of a product of two tensors without batches, at least one of which requires grad."""
    new, array = cls.__new__, np.ndarray
    kernel, single, common = op.kernel, op.single or op.kernel, ordinary(cls, op)
    expected = cls

    def call(input: Any, other: Any) -> Any:
        if input.__class__ is not expected or other.__class__ is not expected:
            return otherwise(input, other)
        x, y = input._value, other._value
        mask = (1 if input._requires_grad else 0) | (2 if other._requires_grad else 0)
        if not mask or x.__class__ is not array or y.__class__ is not array or MODE.exceptional:
            return common((input, other), {})
        dtype = x.dtype
        if x.ndim > 2 or y.ndim > 2 or dtype is not y.dtype or (dtype is not float64 and dtype is not float32):
            return common((input, other), {})
        try:
            v = kernel(x, y) if dtype is float64 else single(x, y)
        except (ValueError, TypeError) as error:
            raise explain(op, (input, other), error) from error
        if v.ndim > 1:
            v = laid_out(op.layout, v)
        try:
            a, b = input._node, other._node
            if a.__class__ is not Node:
                a = input.edge(mask & 2 != 0)
            if b.__class__ is not Node:
                b = other.edge(mask & 1 != 0)
        except AutogradError:  # an inference tensor would be kept; the careful way sees whether anybody can ask for it
            return apply(cls, op, (input, other), {})
        node = Node()
        node.op = op
        node.args = (a, b)
        node.saved = (None, x if mask & 2 else None, y if mask & 1 else None)
        node.params = None
        node.mask = mask
        node.shape = v.shape
        node.dtype = dtype
        turned = (by_columns(x), by_columns(y))  # a gradient lies as its factor does
        plain = (turned[0] or x.flags.c_contiguous) and (turned[1] or y.flags.c_contiguous)
        node.rules = pulls(op, mask, x.shape, y.shape, dtype is float32, turned) if plain else None
        node.sequence_nr = next(sequence)
        node.extra = None
        out = new(cls)
        out._value = v
        out._node = node
        out._requires_grad = True
        out._extra = None
        return out

    may_step_aside(call)
    call.__name__ = call.__qualname__ = op.name
    call.__doc__ = op.told
    return call

"""Custom functions whose backward is not differentiated."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from symgrad.autograd.functions.symbolic import FunctionOp
from symgrad.dtypes import is_floating
from symgrad.errors import AutogradError
from symgrad.tape.backward.siblings import join
from symgrad.tape.graph import Labelled, Node, new_node
from symgrad.tape.modes import is_grad_enabled, own_no_grad
from symgrad.tape.record import Recorded, plain
from symgrad.tape.watching.watch import watching
from symgrad.tensor import Tensor

__all__ = ["once_differentiable"]


def _refuse(i: int, g: Any, *_: Any) -> Any:  # noqa: ARG001  (the rule's signature)
    raise AutogradError("trying to differentiate twice a function that was marked with @once_differentiable")


def _as_is(reading: Any, node: Node, args: tuple[Any, ...]) -> Any:  # noqa: ARG001  (the hook's signature)
    return args[0]


ONCE = FunctionOp("once_differentiable_error", _refuse, _as_is)


def once_differentiable(backward: Callable[..., Any]) -> Callable[..., Any]:
    """Decorator for a ``backward`` that may not be differentiated: a second derivative is an error, never wrong."""

    @functools.wraps(backward)
    def wrapped(ctx: Any, *grads: Any) -> Any:
        watch = watching()
        if watch is not None and watch.refuses:
            return backward(ctx, *grads)  # run for its formula, of which every derivative is known
        with own_no_grad():
            results = backward(ctx, *grads)
        if not is_grad_enabled() or not any(isinstance(g, Recorded) and g._requires_grad for g in grads):
            return results
        rows = results if isinstance(results, tuple) else (results,)
        marked = tuple(_marked(r) for r in rows)
        inputs = tuple(r._node.args[0] if _is_marked(r) else None for r in marked)
        for r in filter(_is_marked, marked):
            Labelled.on(r._node, "Error", inputs)
        join(marked)
        return marked if isinstance(results, tuple) else marked[0]

    return wrapped


def _is_marked(result: Any) -> bool:
    return isinstance(result, Recorded) and result._node is not None and result._node.op is ONCE


def _marked(result: Any) -> Any:
    if not isinstance(result, Recorded) or not is_floating(result._value.dtype):
        return result
    made = plain(Tensor, result._value)
    leaf = plain(Tensor, result._value)
    leaf._requires_grad = True
    made._node = new_node(ONCE, (leaf,), {}, 1, result._value.shape, result._value.dtype, (None, None))
    made._requires_grad = True
    return made

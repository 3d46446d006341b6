"""Hooks on tensors and nodes, in torch's order: tensor hooks, retained grads, node pre-hooks, the node, post-hooks."""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from symgrad.op import shape_of
from symgrad.errors import ArgumentError, AutogradError
from symgrad.tape.graph import Node
from symgrad.tape.record import Recorded, plain

_numbers = itertools.count()


class Handle:
    """What registering a hook returns; ``remove()`` takes the hook away (also at the end of a ``with`` block)."""

    __slots__ = ("id", "table")

    def __init__(self, table: dict[int, Any], hook: Callable[..., Any]):
        self.id = next(_numbers)
        self.table = table
        table[self.id] = hook

    def remove(self) -> None:
        """Take the hook away; a second call does nothing."""
        self.table.pop(self.id, None)

    def __enter__(self) -> Handle:
        return self

    def __exit__(self, *error: Any) -> None:
        self.remove()


def register_tensor_hook(tensor: Any, hook: Callable[[Any], Any]) -> Handle:
    """``tensor.register_hook``."""
    if not tensor._requires_grad:
        raise AutogradError("cannot register a hook on a tensor that doesn't require gradient")
    if not callable(hook):
        raise ArgumentError(f"register_hook() takes a function of the gradient, not {type(hook).__name__}.")
    table = tensor.more().hooks if tensor._node is None else tensor._node.more().hooks
    return Handle(table, hook)


def retain(tensor: Any) -> None:
    """``retain_grad`` of a non-leaf."""
    tensor.more().retains = True
    tensor._node.more().retained = weakref.ref(tensor)


def call_tensor_hook(hook: Callable[[Any], Any], g: Any, cls: type) -> tuple[Any, bool]:
    """Run one hook on an array or tensor; gives the gradient to go on with and whether it was replaced."""
    wrapped = g if isinstance(g, Recorded) else plain(cls, g)
    result = hook(wrapped)
    if result is None:
        return g, False
    if not isinstance(result, Recorded):
        raise ArgumentError(f"a hook returns a tensor or None, not {type(result).__name__}")
    if shape_of(result._value) != shape_of(wrapped._value):
        raise AutogradError(
            f"a hook changed the shape of a gradient from {shape_of(wrapped._value)} to {shape_of(result._value)}"
        )
    return (result if isinstance(g, Recorded) else result._value), True


def run_node_hooks(node: Node, g: Any, cls: type) -> Any:
    """Everything that happens to a gradient between its completion and the node's own rule."""
    extra = node.extra
    if extra is None:
        return g
    start = g
    for key, hook in list(extra.hooks.items()):
        g, changed = call_tensor_hook(hook, g, cls)
        if changed:
            extra.replaced.add(key)
    if extra.retained is not None:
        keeper = extra.retained()
        if keeper is not None:
            _accumulate_retained(keeper, g, cls)
    for hook in list(extra.pre.values()):
        wrapped = g if isinstance(g, Recorded) else plain(cls, g)
        result = hook((wrapped,))
        if result is not None:
            new = result[0] if isinstance(result, tuple) else result
            g = new if isinstance(g, Recorded) else new._value
    return start if g is start else g


def _accumulate_retained(tensor: Any, g: Any, cls: type) -> None:
    new = g if isinstance(g, Recorded) else plain(cls, np.array(g)[()])
    extra = tensor.more()
    extra.grad = new if extra.grad is None else extra.grad + new

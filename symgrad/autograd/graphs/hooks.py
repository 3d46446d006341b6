"""Hooks on tensors and nodes, in torch's order: tensor hooks, retained grads, node pre-hooks, the node, post-hooks."""

from __future__ import annotations

import itertools
import sys
import weakref
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Self

import numpy as np

from symgrad.dtypes import type_name
from symgrad.errors import ArgumentError, AutogradError
from symgrad.op import shape_of
from symgrad.ops.shapes.shaping import apart as copied_in_rows
from symgrad.tape.backward.siblings import Siblings, siblings_of
from symgrad.tape.formulas.origin import Origin
from symgrad.tape.graph import Node, Parts
from symgrad.tape.layout import written_out
from symgrad.tape.memory.arrays import look_of
from symgrad.tape.observers import RUNNING
from symgrad.tape.record import Recorded, plain

_numbers = itertools.count()

_NO_GRADIENT = "cannot register a hook on a tensor that doesn't require gradient"


class RemovableHandle:
    """What registering a hook returns; ``remove()`` takes the hook away (also at the end of a ``with`` block).

    Classes with hooks of their own make one of a dictionary and enter the hook there under the handle's ``id``;
    ``extra_dict``, a dictionary or several, loses the same entry on removal.

    >>> import symgrad as sg
    >>> hooks = {}
    >>> handle = sg.utils.hooks.RemovableHandle(hooks)
    >>> hooks[handle.id] = print
    >>> handle.remove()
    >>> hooks
    {}
    """

    __slots__ = ("id", "tables")

    def __init__(self, hooks_dict: Any, *, extra_dict: Any = None):
        others = extra_dict if isinstance(extra_dict, list) else [] if extra_dict is None else [extra_dict]
        self.id = next(_numbers)
        self.tables = (hooks_dict, *others)

    def remove(self) -> None:
        """Take the hook away; a second call does nothing."""
        for table in self.tables:
            table.pop(self.id, None)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.remove()


def attached(table: Any, hook: Any, prepend: bool = False, others: Iterable[dict[int, Any]] = ()) -> RemovableHandle:
    """The handle of a hook that is entered in a table, as the first one if ``prepend``; ``others`` have its number."""
    handle = RemovableHandle(table, extra_dict=list(others))
    table[handle.id] = hook
    if prepend:
        table.move_to_end(handle.id, last=False)
    return handle


class NodeHook:
    """A hook of an accumulation node, kept with the leaf's other hooks."""

    __slots__ = ("before", "hook")

    def __init__(self, hook: Callable[..., Any], before: bool):
        self.hook = hook
        self.before = before


def register_post_accumulate(tensor: Any, hook: Callable[[Any], Any]) -> RemovableHandle:
    """``tensor.register_post_accumulate_grad_hook``."""
    if not tensor._requires_grad:
        raise AutogradError(_NO_GRADIENT)
    if not tensor.is_leaf:
        raise AutogradError("post accumulate grad hooks cannot be registered on non-leaf tensors")
    return attached(tensor.more().post, hook)


def prepared(leaf: Any, g: Any, cls: type, origin: Origin) -> Any:
    """A leaf's gradient after the pre-hooks of its accumulation node."""
    g = written_out(g)
    holders = sys.getrefcount(g)
    for hook in list(leaf.more().post.values()):
        if isinstance(hook, NodeHook) and hook.before:
            shown = (as_tensor(g, cls, origin),)
            result = hook.hook(shown)
            if result is not None:
                origin.known = False
                (new,) = _rows(hook.hook, result, shown)
                same, g = g, new if isinstance(g, Recorded) or new is None else new._value
                holders = holders if g is same else _HELD_ONCE
                del new, same
            del shown, result
            if sys.getrefcount(g) > holders:  # the hook keeps it
                _note_seen(origin, g)
    return g


def _held_once() -> int:
    """What is counted of an object that one variable holds: versions of Python differ."""
    held = object()
    return sys.getrefcount(held)


_HELD_ONCE = _held_once()


def _note_seen(origin: Origin, *gradients: Any) -> None:
    """Hooks keep what they saw or gave, so a leaf that one of these arrays reaches must not add into it."""
    for g in gradients:
        origin.taken.update(map(id, g.parts.values()) if isinstance(g, Parts) else (id(g),))


def accumulated(leaf: Any, g: Any, cls: type, taken: Any = None) -> None:
    """What happens once a leaf has its gradient: post-accumulate hooks, then the hooks of the accumulation node.

    These see what became of ``taken``, the tensor that has the memory of ``g`` by now, if there is one.
    """
    hooks = list(leaf.more().post.values())
    for hook in hooks:
        if isinstance(hook, NodeHook):
            continue
        answer = hook(leaf)
        if answer is not None and answer is not leaf:  # what changes the leaf in place may return it
            _check_kind(hook, answer)
            raise AutogradError("Tensor post accumulate grad hooks should return None.")
    for hook in hooks:
        if isinstance(hook, NodeHook) and not hook.before:
            hook.hook((), (as_tensor(g if taken is None else taken._value, cls),))


def as_tensor(g: Any, cls: type, origin: Origin | None = None) -> Any:
    """A gradient as hooks see it: all of a pass see the tensor that one of them keeps, with what is written on it."""
    if g is None or isinstance(g, Recorded) or not hasattr(g, "dtype") or g.dtype is None:
        return g
    if origin is None or g.__class__ is not np.ndarray:
        return plain(cls, g)
    if origin.shown is None:
        origin.shown = weakref.WeakValueDictionary()
    found = origin.shown.get(id(g))
    if found is None or found._value is not g:
        found = origin.shown[id(g)] = plain(cls, g)
    return found


def _name(hook: Any) -> str:
    return getattr(hook, "__name__", type(hook).__name__)


def _asked(hook: Any, shown: tuple[Any, ...], *others: Any) -> Any:
    """What a node's hook gives for the gradients it is shown: these themselves where it changed one in place."""
    fresh = [t for t in shown if t is not None and t._node is None]
    before = [look_of(t._value) for t in fresh]
    answer = hook(shown, *others)
    return shown if answer is None and [look_of(t._value) for t in fresh] != before else answer


def _rows(hook: Any, answer: Any, shown: tuple[Any, ...]) -> tuple[Any, ...]:
    """What a node's hook gave instead of the gradients it was shown.  Raises torch's errors for what does not fit."""
    if not isinstance(answer, tuple):
        raise ArgumentError(f"expected tuple, but hook returned '{type(answer).__name__}'")
    if len(answer) != len(shown):
        raise AutogradError(
            f"hook '{_name(hook)}' has returned an incorrect number of values (got {len(answer)}, but expected "
            f"{len(shown)})"
        )
    for new, old in zip(answer, shown, strict=True):
        _check(hook, new, old)
    return answer


def _check_kind(hook: Any, new: Any) -> None:
    if not isinstance(new, Recorded):
        raise ArgumentError(
            f"expected Variable, but hook returned '{type(new).__name__}': hook '{_name(hook)}' gives a tensor or None"
        )


def _check(hook: Any, new: Any, old: Any) -> None:
    """Raise torch's errors for a gradient that a hook put in the place of another."""
    if new is None:
        return
    _check_kind(hook, new)
    if old is None:
        raise AutogradError(f"can't replace a None gradient with a non-None value (hook '{_name(hook)}')")
    if new._value.dtype != old._value.dtype:
        raise AutogradError(
            f"hook '{_name(hook)}' has changed the type of value (was {type_name(old._value.dtype)} got "
            f"{type_name(new._value.dtype)})"
        )
    if shape_of(new._value) != shape_of(old._value):
        raise AutogradError(
            f"hook '{_name(hook)}' has changed the size of value (from {list(shape_of(old._value))} to "
            f"{list(shape_of(new._value))})"
        )


def run_post_hooks(node: Node | Siblings, results: list[Any], g: Any, cls: type, origin: Origin) -> list[Any]:
    """The hooks that run after a node: they see and may replace the gradients of its inputs."""
    extra = node.extra
    if g is None and any(r is not None and np.any(getattr(r, "_value", r)) for r in results):
        origin.known = False  # a custom function that no gradient reached gave one all the same: formulas have none
    if extra is None or not extra.post:
        return results
    recorded = isinstance(_first(g) if isinstance(g, Parts) else g, Recorded)
    results = [written_out(r) for r in results]
    for hook in list(extra.post.values()):
        shown = tuple(as_tensor(r, cls, origin) for r in results)
        answer = _asked(hook, shown, _outgoing(node, g, cls, origin))
        if answer is None:
            continue
        origin.known = False
        results = [r if r is None or recorded else r._value for r in _rows(hook, answer, shown)]
    _note_seen(origin, *results)
    return results


def _first(g: Any) -> Any:
    """One of the gradients of several outputs."""
    return next(iter(g.parts.values()), None)


def _outgoing(node: Node | Siblings, g: Any, cls: type, origin: Origin) -> tuple[Any, ...]:
    """The gradients of a node's outputs, as its hooks see them."""
    if not _several(node):
        return (as_tensor(g, cls, origin),)
    parts = {} if g is None else g.parts
    return tuple(as_tensor(parts.get(k), cls, origin) for k in range(count_outputs(node)))


def count_outputs(node: Node | Siblings) -> int:
    """How many outputs a node has in the eyes of users."""
    if isinstance(node, Siblings):
        return len(node.nodes)
    return len((node.params or {})["run"].outputs) if _several(node) else 1


def _several(node: Node | Siblings) -> bool:
    """Whether a node is that of a function with several outputs."""
    return isinstance(node, Siblings) or (node.dtype is None and node.op.kind == "function")


def register_tensor_hook(tensor: Any, hook: Callable[[Any], Any]) -> RemovableHandle:
    """``tensor.register_hook``."""
    if not tensor.requires_grad:
        raise AutogradError(_NO_GRADIENT)
    if not callable(hook):
        raise ArgumentError(f"register_hook() takes a function of the gradient, not {type(hook).__name__}.")
    more = (tensor if tensor._node is None else _awake(tensor._node)).more()
    if more.hooks.__class__ is dict:
        more.hooks = OrderedDict(more.hooks)  # torch's, which stays when the last hook is gone
    return attached(more.hooks, hook)


def _awake(node: Node) -> Node:
    """A node something waits for: those that are outputs with it in torch are told of its gradient, too."""
    whole = siblings_of(node)
    if whole is not None:
        whole.wake()
    return node


def retain(tensor: Any) -> None:
    """``retain_grad`` of a non-leaf."""
    tensor.more().retains = True
    _awake(tensor._node).more().retained = weakref.ref(tensor)


def call_tensor_hook(hook: Callable[[Any], Any], g: Any, cls: type, origin: Origin) -> tuple[Any, bool]:
    """Run one hook on an array or tensor; gives the gradient to go on with and whether it was replaced."""
    g = written_out(g)
    holders = sys.getrefcount(g)
    wrapped: Any = as_tensor(g, cls, origin)
    before = None if wrapped is g else look_of(wrapped._value)
    result = hook(wrapped)
    if result is None or result is wrapped:
        if wrapped is g or look_of(wrapped._value) == before:
            del wrapped, result
            if sys.getrefcount(g) > holders:
                _note_seen(origin, g)
            return g, False
        result = wrapped  # which it changed in place
    _check(hook, result, wrapped)
    new = result if isinstance(g, Recorded) else result._value
    _note_seen(origin, new)
    return new, True


def replaced(origin: Origin, edge: Any, hook: Any, before: Any, after: Any) -> None:
    """Note that a hook put another gradient in place."""
    origin.replaced.setdefault(edge, []).append(hook)
    if origin.recorded:
        origin.calls.append((edge, (("hook", before),), (("hook", after),)))


def run_node_hooks(node: Node, g: Any, cls: type, origin: Origin) -> Any:
    """What happens to a gradient once it is complete: tensor hooks, then retaining; ``origin`` notes it."""
    extra = node.extra
    if extra is None:
        return g
    for hook in list(extra.hooks.values()):
        before = g
        g, changed = call_tensor_hook(hook, before, cls, origin)
        if changed:
            replaced(origin, node, hook, before, g)
    if extra.retained is not None and g is not None:
        keeper = extra.retained()
        if keeper is not None:
            _accumulate_retained(keeper, g, cls)
    return g


def run_pre_hooks(node: Node | Siblings, g: Any, cls: type, origin: Origin) -> Any:
    """The hooks that run right before a node: they see and may replace the gradients of its outputs."""
    extra = node.extra
    if extra is None or not extra.pre:
        return g
    g = Parts({k: written_out(c) for k, c in g.parts.items()}) if g.__class__ is Parts else written_out(g)
    for hook in list(extra.pre.values()):
        shown = _outgoing(node, g, cls, origin)
        result = _asked(hook, shown)
        if result is None:
            continue
        origin.known = False
        rows = _rows(hook, result, shown)
        if _several(node):
            g = Parts({k: r if r._requires_grad else r._value for k, r in enumerate(rows) if r is not None})
        else:
            g = rows[0] if isinstance(g, Recorded) or rows[0] is None else rows[0]._value
    _note_seen(origin, g)
    return g


def _accumulate_retained(tensor: Any, g: Any, cls: type) -> None:
    new = copied_in_rows(g) if isinstance(g, Recorded) else plain(cls, np.array(g, order="C")[()])
    extra = tensor.more()
    extra.grad = new if extra.grad is None else extra.grad + new


# ---------------------------------------------------------------------------------------------- several tensors at once


class Handles:
    """The handle of a hook on several tensors."""

    __slots__ = ("handles",)

    def __init__(self, handles: Sequence[RemovableHandle]):
        self.handles = tuple(handles)

    def remove(self) -> None:
        """Take the hook away from all of them."""
        for one in self.handles:
            one.remove()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.remove()


class _Gathering:
    """The gradients of several tensors in the sweeps under way, until the last of them has come."""

    def __init__(self, tensors: Sequence[Any], fn: Callable[..., Any], first: bool):
        self.edges = [t if t._node is None else t._node for t in tensors]
        self.fn = fn
        self.first = first
        self.passes: weakref.WeakKeyDictionary[Any, dict[int, Any]] = weakref.WeakKeyDictionary()

    def hook(self, k: int) -> Callable[[Any], None]:
        """The tensor hook of tensor ``k``."""

        def arrived(g: Any) -> None:
            sweep = RUNNING.sweeps[-1]
            found = self.passes.setdefault(sweep, {})
            found[k] = g
            if self.first:
                if len(found) == 1:
                    self.fn(g)
            elif len(found) == sum(map(sweep.will_run, self.edges)):
                self.fn([found.get(i) for i in range(len(self.edges))])

        return arrived


def register_multi_grad_hook(tensors: Sequence[Any], fn: Callable[..., Any], *, mode: str = "all") -> Handles:
    """Call ``fn`` once per backward pass with the gradients of several tensors.

    With ``mode="all"`` it gets the list of them, None for a tensor that the pass does not reach, when the last one is
    known; with ``mode="any"`` it gets the first gradient that is known, and tensors that do not require grad are passed
    over.  The hook cannot replace gradients.  Raises ``RuntimeError`` for such tensors with ``mode="all"``.

    >>> import symgrad as sg
    >>> a, b = (sg.tensor(v, requires_grad=True) for v in (2.0, 3.0))
    >>> handle = sg.autograd.graph.register_multi_grad_hook((a, b), lambda grads: print(grads))
    >>> (a * b).backward()
    [tensor(3.), tensor(2.)]
    """
    if mode not in ("all", "any"):
        raise ArgumentError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    if mode == "any":
        tensors = [t for t in tensors if t.requires_grad]
    elif not all(t.requires_grad for t in tensors):  # asked before the first of them has a hook
        raise AutogradError(_NO_GRADIENT)
    gathering = _Gathering(tensors, fn, mode == "any")
    return Handles([register_tensor_hook(t, gathering.hook(k)) for k, t in enumerate(tensors)])

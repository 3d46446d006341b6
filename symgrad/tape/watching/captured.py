"""Tensors that a transformed function finds outside of itself: ``func.grad`` and its kin refuse to have them changed.

A transform derives a function of its arguments, so a change of anything else would outlive it, and point into it.
``func.vmap`` runs examples one by one, so each of them would change what all have in common.
"""

from __future__ import annotations

import collections
import functools
import types
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import numpy as np

from symgrad.errors import AutogradError
from symgrad.op import shape_of
from symgrad.tape import containers
from symgrad.tape.forward.bundle import Bundle
from symgrad.tape.forward.dual import Dual
from symgrad.tape.memory.alone import GUARDS
from symgrad.tape.memory.inplace import called
from symgrad.tape.memory.versions import storage
from symgrad.tape.memory.views import view_of
from symgrad.tape.record import Recorded
from symgrad.tape.threads import ThreadState, meanwhile

SWITCHED = (
    "You are attempting to call Tensor.requires_grad_() (or perhaps using torch.autograd.functional.* APIs) inside of "
    "a function being transformed by a functorch transform. This is unsupported, please attempt to use the functorch "
    "transforms (e.g. grad, vjp, jacrev, jacfwd, hessian) or call requires_grad_() outside of a function being "
    "transformed instead. (The transforms are those of symgrad.func.)"
)
REPLACED = (
    "mutating directly with `.data` inside functorch transform is not allowed. (Give the function what it shall "
    "compute with as an argument, or make a new tensor.)"
)
SHARED = (
    "vmap: inplace arithmetic(self, *extra_args) is not possible because there exists a Tensor `other` in extra_args "
    "that has more elements than `self`. This happened due to `other` being vmapped over but `self` not being vmapped "
    "over in a vmap. Please try to use out-of-place operators instead of inplace arithmetic. (Every example would "
    "change a tensor that all of them share.)"
)
_MOST = 256
"""Things looked at for captured tensors; beyond that a program is too large to be looked through at every call."""


class _Captured(ThreadState):
    open: tuple[dict[int, Any], ...] = ()
    mapped: tuple[Shared, ...] = ()
    apart: bool = False


_CAPTURED = _Captured()


@contextmanager
def guarding(function: Callable[..., Any], args: Iterable[Any]) -> Iterator[None]:
    """Inside, tensors that ``function`` has from elsewhere than ``args`` may not be changed."""
    own = {id(leaf) for leaf in containers.flatten(tuple(args))[0]}
    outer = _CAPTURED.open
    _CAPTURED.open = (*outer, {id(x): x for t in captured(function) if id(t) not in own for x in (t, _memory(t))})
    GUARDS.append(_refuse)
    try:
        yield
    finally:
        GUARDS.remove(_refuse)
        _CAPTURED.open = outer


@contextmanager
def sharing(
    mapped: Iterable[Any], common: Callable[[], Iterable[Any]] = tuple, anew: Callable[[], None] | None = None
) -> Iterator[Shared]:
    """Inside, examples of the ``mapped`` arguments run; what they have in common may not be changed by all of them.

    ``anew`` is called before the first change of one of the tensors that they have in ``common``, and may raise.
    """
    shared, outer = Shared(mapped, common, anew), (_CAPTURED.mapped, _CAPTURED.apart)
    _CAPTURED.mapped, _CAPTURED.apart = (*outer[0], shared), False
    GUARDS.append(_refuse)
    try:
        yield shared
    finally:
        GUARDS.remove(_refuse)
        _CAPTURED.mapped, _CAPTURED.apart = outer


class Shared:
    """What the first example of a mapped call changed (while ``noting``), so that no later one changes it again."""

    def __init__(self, mapped: Iterable[Any], common: Callable[[], Iterable[Any]], anew: Callable[[], None] | None):
        self.mapped = {id(_room(argument)) for argument in mapped}
        self.common, self.anew = common, anew
        self.changed: dict[int, Any] = {}
        self.noting = True

    def meet(self, tensor: Any) -> None:
        """Note a change by the first example; raise torch's error where a later one makes it, too."""
        room = _room(tensor)
        if id(room) in self.mapped:
            return
        if self.noting:
            if self.anew is not None and any(_room(t) is room for t in self.common()):
                self.anew()
            self.changed[id(room)] = room
        elif id(room) in self.changed:
            raise AutogradError(f"{SHARED} (It has shape {tuple(shape_of(_owners(tensor)[-1]))}.)")


def _owners(tensor: Any) -> tuple[Any, ...]:
    """A tensor, and what it is a view of."""
    view = view_of(tensor) if isinstance(tensor, Recorded) else None
    return (tensor,) if view is None else (tensor, view.base)


def _room(tensor: Any) -> Any:
    """The memory that a change of a tensor is seen in, also where ``data`` and ``detach()`` show it."""
    if isinstance(getattr(tensor, "_value", None), np.generic):
        tensor._array()  # as which it is changed
    return _memory(tensor)


def _memory(tensor: Any) -> Any:
    """The array whose memory a tensor lies in, which ``data`` and ``detach()`` share; the tensor itself without one."""
    value = getattr(tensor, "_value", None)
    return storage(value) if isinstance(value, np.ndarray) else tensor


def transforming() -> int:
    """How many transformed functions run now inside of one another, in this thread; mapped ones do not count."""
    return len(_CAPTURED.open)


def inside() -> bool:
    """Whether a function that is transformed or mapped runs now, in this thread."""
    return bool(_CAPTURED.open) or (bool(_CAPTURED.mapped) and not _CAPTURED.apart)


def apart() -> AbstractContextManager[None]:
    """Inside, nothing counts as transformed: a custom function's ``forward`` does as it likes."""
    return meanwhile(_CAPTURED, open=(), apart=True)


def _refuse(tensor: Any, change: Any) -> None:
    """Raise torch's errors for the change of a captured tensor, or of a view of one; asked while there may be any."""
    for mapped in _CAPTURED.mapped:
        mapped.meet(tensor)
    if not _CAPTURED.open:
        return
    owners = (*_owners(tensor), _memory(tensor))
    if any(id(owner) in level for level in _CAPTURED.open for owner in owners):
        raise AutogradError(
            "During a grad (vjp, jvp, grad, etc) transform, the function provided attempted to call in-place operation "
            f"(aten::{called(change)}_) that would mutate a captured Tensor. This is not supported; please rewrite the "
            "function being transformed to explicitly accept the mutated Tensor(s) as inputs."
        )


def captured(function: Any) -> list[Any]:
    """The tensors that a function has from elsewhere: in its closure, its module, or the object it is a method of."""
    found: list[Any] = []
    seen: set[int] = set()
    stack = [function]
    while stack and len(seen) < _MOST:
        thing = stack.pop()
        if id(thing) in seen:
            continue
        seen.add(id(thing))
        if isinstance(thing, Recorded):
            found.append(thing)
        else:
            stack.extend(_within(thing))
    return found


def _within(thing: Any) -> Iterable[Any]:
    if isinstance(thing, types.FunctionType):
        outside = [thing.__globals__.get(name) for name in _names(thing.__code__)]
        found = [x for x in outside if _holds(x) or getattr(type(x), "__module__", None) == thing.__module__]
        return (*map(contents, thing.__closure__ or ()), *found)
    if isinstance(thing, types.MethodType):
        return (thing.__func__, *getattr(thing.__self__, "__dict__", {}).values())
    if isinstance(thing, functools.partial):
        return (thing.func, *thing.args, *thing.keywords.values())
    if isinstance(thing, dict):
        return thing.values()
    if isinstance(thing, (list, tuple, set, frozenset, collections.deque)):
        return thing
    if isinstance(thing, (type, types.ModuleType)):
        return ()
    if isinstance(thing, Dual):
        return (thing.primal, thing.tangent)
    if isinstance(thing, Bundle):
        return thing.parts()
    own = getattr(thing, "__dict__", None)
    return own.values() if isinstance(own, dict) else ()  # proxies answer for every name


@functools.lru_cache(maxsize=1024)
def _names(code: types.CodeType) -> tuple[str, ...]:
    """The names that a function looks up in its module, those of functions inside of it among them."""
    inner = [const for const in code.co_consts if isinstance(const, types.CodeType)]
    return (*code.co_names, *(name for part in inner for name in _names(part)))


def contents(cell: Any) -> Any:
    """What a cell of a closure holds; None while it has no value."""
    try:
        return cell.cell_contents
    except ValueError:
        return None


def _holds(thing: Any) -> bool:
    """Whether something of a module is looked into: tensors and what holds them, not the functions of libraries."""
    return isinstance(thing, (Recorded, dict, list, tuple))

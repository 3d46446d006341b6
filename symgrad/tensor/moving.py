"""Tensors that came to move: changed in place by a value that forward mode follows.

Such a tensor stands for a dual over its own memory until the derivative is done, and so do its base and its other
views: those were cut out of one memory, and their tangents are cut out of one tangent.  It stays the object that it is;
only its class changes, so that whatever is asked of it is asked of the dual.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from symgrad.errors import AutogradError
from symgrad.op import Op, register_carrier
from symgrad.tape.forward import dualwrites
from symgrad.tape.forward.carried import Carried
from symgrad.tape.forward.dual import FACES, Dual, faced
from symgrad.tape.forward.raised import lower
from symgrad.tape.memory.inplace import MOVED
from symgrad.tape.memory.views import base_of, note_twin, view_of
from symgrad.tape.record import plain
from symgrad.tensor.tensor import Tensor

_OPEN: dict[int, list[weakref.ref[Any]]] = {}
"""What stands for duals, by the derivative's tag."""


class MovingTensor(Tensor):
    """A tensor that stands for a dual."""

    __slots__ = ()

    def __getattribute__(self, name: str) -> Any:
        if name in ("__class__", "__dict__"):
            return object.__getattribute__(self, name)
        dual = faced(self)
        found = getattr(dual, name)
        if name == "_base":
            return _standing(dual, found)
        if name.endswith("_") and callable(found):
            return _itself(self, found)
        return found

    def __setitem__(self, index: Any, value: Any) -> None:
        faced(self)[index] = value


def _standing(dual: Dual, primal: Any) -> Any:
    """What stands for the base of a view that moves: a tensor, or where nobody holds that any more a dual."""
    for ref in _OPEN.get(dual.tag, ()):
        tensor = ref()
        if tensor is not None and faced(tensor).primal is primal:
            return tensor
    if primal is None:
        return None
    whole = Dual(primal, None, dual.tag)
    whole.place = dual.place.share(whole)
    return whole


def _itself(tensor: Any, change: Callable[..., Any]) -> Callable[..., Any]:
    """A change in place that gives the tensor."""

    def call(*args: Any, **options: Any) -> Any:
        change(*args, **options)
        return tensor

    return call


def _forwarded(name: str) -> Callable[..., Any]:
    if name.startswith("__i") and name not in ("__iter__", "__invert__"):
        return lambda self, other: _itself(self, getattr(faced(self), name))(other)
    return lambda self, *args: getattr(faced(self), name)(*args)


_OWN = ("__init__", "__hash__", "__getattr__", "__setitem__")
for _name, _method in (Carried.__dict__ | Dual.__dict__).items():
    if _name.startswith("__") and callable(_method) and hasattr(Tensor, _name) and _name not in _OWN:
        setattr(MovingTensor, _name, _forwarded(_name))


def _apply(op: Op, args: tuple[Any, ...], params: dict[str, Any]) -> Any:
    return op(*map(faced, args), **params)


register_carrier(MovingTensor, 4, _apply)
FACES.append(MovingTensor)


_SLOTS = ("_value", "_node", "_requires_grad", "_extra")


def moved(tensor: Any, value: Dual) -> Any:
    """``tensor`` with a dual's primal in its memory and a dual's tangent, and all that share its memory with it."""
    root = base_of(tensor)
    views = root._extra.views if root._extra is not None else None
    family = [root, *(t for ref in views or () if (t := ref()) is not None)]
    if any(t.__class__ is not Tensor for t in family):
        raise AutogradError(
            f"a {next(type(t).__name__ for t in family if t.__class__ is not Tensor)} cannot be changed in place by a "
            "value that moves along a tangent; make a new tensor instead: by cat, stack, where or index_put."
        )
    twins = {id(t): _twin(t) for t in family}
    _repoint(twins.values(), twins)
    for t in family:
        note_twin(twins[id(t)], instead_of=t)
    whole = Dual(twins[id(root)], plain(Tensor, np.zeros_like(root._value)[()]), value.tag)
    for t in family:
        dual, view = whole, view_of(t)
        if view is not None:
            dual = Dual(twins[id(t)], None, value.tag)
            dual.place, dual.chain = whole.place.share(whole, dual), tuple(view.chain())
        _stand(t, dual)
    dualwrites.overwrite(faced(tensor), value)
    return tensor


def _twin(tensor: Any) -> Any:
    """A tensor that is all that another one is."""
    return _become(plain(Tensor, tensor._value), tensor)


def _become(tensor: Any, other: Any) -> Any:
    for slot in _SLOTS:
        setattr(tensor, slot, getattr(other, slot))
    return tensor


def _repoint(tensors: Iterable[Any], instead: dict[int, Any]) -> None:
    """Let bases and views know each other by what stands ``instead`` of them now, by the id of what stood there."""
    for t in tensors:
        extra: Any = t._extra
        if extra is None:
            continue
        if extra.view is not None:
            extra.view.base = instead.get(id(extra.view.base), extra.view.base)
        alive: list[Any] = [view for ref in extra.views or () if (view := ref()) is not None]
        for view in alive:
            if view.__class__ is not MovingTensor:
                view._extra.view.base = t
        if extra.views:
            extra.views[:] = [weakref.ref(instead.get(id(view), view)) for view in alive]


def _stand(tensor: Any, dual: Dual) -> None:
    tensor.__dict__["dual"] = dual
    tensor.__class__ = MovingTensor
    _OPEN.setdefault(dual.tag, []).append(weakref.ref(tensor))


def settle(tag: int) -> None:
    """The derivative is done: what stood for its duals is tensors as before, with the values they have now."""
    lower(tag)
    alive = [t for ref in _OPEN.pop(tag, ()) if (t := ref()) is not None]
    primals = [t.__dict__.pop("dual").primal for t in alive]  # all are kept until the end: their ids count
    instead = {}
    for t, primal in zip(alive, primals, strict=True):
        if primal.__class__ is MovingTensor:  # of an outer derivative
            _stand(t, faced(primal))
        else:
            t.__class__ = Tensor
            instead[id(primal)] = _become(t, primal)
            note_twin(t, instead_of=primal)
    views = (view_of(t) for t in instead.values())
    bases = {id(view.base): view.base for view in views if view is not None}  # which nobody else may hold
    _repoint({**bases, **{id(t): t for t in instead.values()}}.values(), instead)


MOVED.append(moved)

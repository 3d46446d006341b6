"""Tensors of users' own classes: what functions and methods make of them is of their class, as in torch.

``class Length(Tensor)`` derives from :class:`Overridden`, which stands between the two.  Each of its methods asks
``__torch_function__`` of the classes of its operands, whose default calls the method of plain tensors and gives the
results the class.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FunctionType
from typing import Any

from symgrad.op.operators import ARITHMETIC, COMPARISONS
from symgrad.tape.overriding import (
    METHODS,
    WITHIN,
    disabled,
    dispatched,
    looking,
    not_overriding,
    overriding,
    use,
)
from symgrad.tape.record import Recorded
from symgrad.tensor import borrowed, creation, ranges
from symgrad.tensor.operators import BITS
from symgrad.tensor.shown import Shown
from symgrad.tensor.tensor import Tensor

_OWN = frozenset(
    ("__init__", "__init_subclass__", "__hash__", "__array_ufunc__", "__array_function__", "__array_namespace__",
     "__dlpack__", "__dlpack_device__", "__copy__", "__deepcopy__", "__iter__", "__pos__", "as_subclass", "raw_shape",
     "sizes")
)  # fmt: skip
"""What such a class inherits from plain tensors as it is."""
_CALLED = {
    "__add__": "add", "__radd__": "add", "__sub__": "sub", "__mul__": "mul", "__rmul__": "mul", "__truediv__": "div",
    "__matmul__": "matmul", "__mod__": "remainder", "__neg__": "neg", "__abs__": "abs", "__lt__": "lt", "__le__": "le",
    "__gt__": "gt", "__ge__": "ge", "__ne__": "ne", "__iadd__": "add_", "__isub__": "sub_", "__imul__": "mul_",
    "__itruediv__": "div_", "__ifloordiv__": "floor_divide_", "__imod__": "remainder_",
}  # fmt: skip
"""Operators that are called as another method in torch."""
_SETTING = ("fork_rng", "get_rng_state", "initial_seed", "manual_seed", "seed", "set_rng_state")
"""What of the namespace of random numbers makes no tensor."""
_OPERATORS = frozenset(f"__{name}__" for name in (*ARITHMETIC, *COMPARISONS, *BITS))
"""Methods that leave what they do not know to the other operand."""
_NAMED = {"__pow__": "pow", "__rtruediv__": "__rdiv__"}
"""Operators that have another name in torch."""


def _plain_values(function: Callable[..., Any]) -> Callable[..., Any]:
    """A method that runs as on a plain tensor, and asks nobody."""

    @functools.wraps(function)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        with disabled():
            return function(self, *args, **kwargs)

    return call


def _asking(function: Callable[..., Any], told: Any, operator: bool = False) -> Callable[..., Any]:
    """A method that asks the classes of its operands; ``told`` is the function that they are asked about."""

    @functools.wraps(function)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        given = (self, *args)
        if WITHIN.disabled or not ((found := overriding(given, kwargs)) or WITHIN.modes):
            return function(*given, **kwargs)
        try:
            return dispatched(told, found, given, kwargs)
        except TypeError:
            if operator:  # as in torch, which leaves it to the other operand, and to Python's words
                return NotImplemented
            raise

    return call


def _reflected(own: Callable[..., Any], told: Any, forward: Any) -> Callable[..., Any]:
    """``y - x`` where ``x`` is of such a class: of two tensors torch asks about ``y.sub(x)``."""

    @functools.wraps(own)
    def call(self: Any, other: Any) -> Any:
        given, function = ((other, self), forward) if isinstance(other, Tensor) else ((self, other), told)
        if WITHIN.disabled or not ((found := overriding(given, {})) or WITHIN.modes):
            return own(self, other)
        try:
            return dispatched(function, found, given, {})
        except TypeError:
            return NotImplemented

    return call


def _property(name: str, plain: property) -> property:
    if plain in METHODS:  # one property of several names
        plain = property(plain.fget, plain.fset, plain.fdel, plain.__doc__)

    def read(self: Any) -> Any:
        if WITHIN.disabled or not ((found := overriding((self,), {})) or WITHIN.modes):
            return plain.__get__(self)
        return dispatched(plain.__get__, found, (self,), {})

    def write(self: Any, value: Any) -> None:
        if WITHIN.disabled or not ((found := overriding((self,), {})) or WITHIN.modes):
            plain.__set__(self, value)
        else:
            dispatched(plain.__set__, found, (self, value), {})

    METHODS[plain] = name
    return property(read, write if plain.fset is not None else None, plain.fdel, plain.__doc__)


def _of_class(made: Any, cls: Any) -> Any:
    """A result with the class; also each of several, in what holds them."""
    if isinstance(made, Tensor) and not isinstance(made, cls):
        return made.as_subclass(cls)
    if isinstance(made, (tuple, list)):
        parts = [_of_class(part, cls) for part in made]
        whole = getattr(type(made), "_make", type(made))
        return whole(parts)
    return made


class Overridden(Tensor):
    """The class between ``Tensor`` and classes that users derive from it."""

    __slots__ = ()

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """What a function makes of such tensors: what it makes of plain ones, as tensors of the class.

        >>> import symgrad as sg
        >>> class Length(sg.Tensor):
        ...     pass
        >>> type(sg.ones(2).as_subclass(Length) * 2).__name__
        'Length'
        """
        if WITHIN.disabled or not all(issubclass(cls, kind) for kind in types):
            return NotImplemented
        with disabled():
            made = func(*args, **(kwargs or {}))
        return made if func == _GRAD.__get__ else _of_class(made, cls)

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if getattr(cls.__torch_function__, "__func__", cls.__torch_function__) is not not_overriding:
            use()


_GRAD: Any = inspect.getattr_static(Tensor, "grad")


def asked_about(name: str) -> Any:
    """The method that the classes of operands are asked about where ``name`` is called."""
    return getattr(Tensor, _CALLED.get(name, name))


def _asks(name: str, member: Any) -> bool:
    """Whether a method of plain tensors is to ask the classes of its other operands, which it does not by itself."""
    if not isinstance(member, FunctionType) or getattr(member, "asks", False) or name in vars(Recorded):
        return False
    changes = name.endswith("_") and name[0] != "_" and name != "requires_grad_"
    return changes or name in ("is_same_size", "is_set_to", "type_as", "where")


def _bind() -> None:
    """The methods of the class: those of tensors, which ask first; also plain tensors ask about their arguments."""
    for name in dir(Tensor):
        member = inspect.getattr_static(Tensor, name)
        if _asks(name, member):
            setattr(Tensor, name, looking(None, member))
    shown, inner = vars(Shown), vars(Recorded)
    for name in sorted(dir(Tensor), key=lambda name: getattr(getattr(Tensor, name), "__name__", "") != name):
        member = inspect.getattr_static(Tensor, name)
        if name in _OWN or name in inner or (name[0] == "_" and name[1] != "_" and name != "_version"):
            continue
        if name in shown and isinstance(member, FunctionType) and name != "__repr__":
            setattr(Overridden, name, _plain_values(member))
        elif isinstance(member, property) and name not in shown:
            setattr(Overridden, name, _property(name, member))
        elif isinstance(member, FunctionType):
            told, called = asked_about(name), _CALLED.get(name, name)
            if told not in METHODS:  # of several names, the one that it is called by itself
                METHODS[told], told.__name__ = called, _NAMED.get(called, called)
            forward = f"__{name[3:]}" if name.startswith("__r") and hasattr(Tensor, f"__{name[3:]}") else ""
            ahead = asked_about(forward) if forward else None
            own = _reflected(member, told, ahead) if forward else _asking(member, told, name in _OPERATORS)
            setattr(Overridden, name, own)


_bind()
Tensor.__torch_function__ = vars(Overridden)["__torch_function__"]  # type: ignore[attr-defined]  # some call it by name
_RESTORE: list[Callable[[], None]] = []
_watching = 0


def _replace(room: Any, name: str, made: Any) -> None:
    """Let a class or a module have another function, until all modes are left."""
    former = vars(room).get(name)
    _RESTORE.append(lambda: delattr(room, name) if former is None else setattr(room, name, former))
    setattr(room, name, made)


@contextmanager
def watched() -> Iterator[None]:
    """Inside, methods of plain tensors and functions that make tensors ask the modes, too."""
    global _watching
    use()
    _watching += 1
    if _watching == 1:
        for name, member in tuple(vars(Overridden).items()):
            if isinstance(member, (FunctionType, property)) and name not in vars(Shown):
                _replace(Tensor, name, member)
        symgrad = sys.modules["symgrad"]
        for room in (borrowed, creation, symgrad.random, ranges):
            for name in room.__all__:
                if isinstance(making := getattr(symgrad, name), FunctionType) and name not in _SETTING:
                    _replace(symgrad, name, looking(None, making))
    try:
        yield
    finally:
        _watching -= 1
        while not _watching and _RESTORE:
            _RESTORE.pop()()

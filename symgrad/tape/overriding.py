"""torch's ``__torch_function__`` protocol: classes that say themselves what functions do with their objects.

Nothing is paid before there is such a class.  Public functions call what they wrap by a variable of their own, as the
fast paths of :mod:`symgrad.tape.observers` do; when the first class of tensors that answers is made, that variable
gets a function which looks at the arguments first.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterable
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from symgrad.stand_in import loaded_torch
from symgrad.tape.observers import variable_of
from symgrad.tape.record import BETWEEN
from symgrad.tape.threads import ThreadState, meanwhile

if TYPE_CHECKING:
    from collections.abc import Iterator


class _Within(ThreadState):
    disabled = 0
    modes: tuple[Any, ...] = ()


WITHIN = _Within()
"""``disabled``: how many calls are under way that take objects of these classes for plain tensors; ``modes``: the modes
that see every call, the innermost last."""

METHODS: dict[Any, str] = {}
"""The methods and properties of tensors that ask first, and their names."""


class Unknown(TypeError):
    """No class of an operand knows what to do."""


_SWITCHES: list[Callable[[], None]] = []
_ANSWERS: WeakKeyDictionary[type, bool] = WeakKeyDictionary()
_in_use = False


def not_overriding(*_: Any, **__: Any) -> Any:
    """The ``__torch_function__`` of a class whose objects are tensors like others (``nn.Parameter``)."""
    return NotImplemented


def use() -> None:
    """Let public functions look at their arguments from now on."""
    global _in_use
    if not _in_use:
        _in_use = True
        for switch in _SWITCHES:
            switch()


def may_ask(call: Any) -> None:
    """Let ``call`` look at its arguments once there is a class that answers: in its variable ``function``.

    That is told of ``call``, or of what it has as ``told``: the public function around it.
    """
    function = variable_of(call, "function")
    own = function.cell_contents

    def look() -> None:
        function.cell_contents = looking(getattr(call, "told", call), own)

    when_used(look)


def when_used(switch: Callable[[], None]) -> None:
    """Call ``switch`` once there is a class that answers."""
    _SWITCHES.append(switch)
    if _in_use:
        switch()


@contextmanager
def disabled() -> Iterator[None]:
    """Inside, objects of such classes are tensors like others."""
    WITHIN.disabled += 1
    try:
        yield
    finally:
        WITHIN.disabled -= 1


def answers(kind: type) -> bool:
    """Whether a class says what functions do with its objects; torch's own tensors do not, to this library."""
    known = _ANSWERS.get(kind)
    if known is None:
        own = getattr(kind, "__torch_function__", None)
        theirs = getattr(loaded_torch(), "Tensor", None)
        # While a check follows torch's functions, tensors have it, too; classes in examples are none of the library's.
        module = kind.__module__
        ours = (
            module.startswith(("symgrad.", "torch")) and getattr(sys.modules.get(module), kind.__name__, None) is kind
        )
        foreign = theirs is not None and theirs.__module__ == "torch" and issubclass(kind, theirs)
        known = own is not None and not (ours or foreign)
        known = _ANSWERS[kind] = known and getattr(own, "__func__", own) is not not_overriding
    return known


def overriding(args: Iterable[Any], kwargs: dict[str, Any]) -> list[Any]:
    """The arguments whose classes answer, one of each class: derived classes before those they derive from."""
    found: list[Any] = []
    for given in (*args, *kwargs.values()):
        for value in given if given.__class__ is list or given.__class__ is tuple else (given,):
            kind = value.__class__
            if answers(kind) and not any(other.__class__ is kind for other in found):
                place = next((k for k, other in enumerate(found) if issubclass(kind, other.__class__)), len(found))
                found.insert(place, value)
    return found


def unasked(args: Iterable[Any], kwargs: dict[str, Any]) -> list[Any]:
    """:func:`overriding` in the handler of a call that failed, where nobody has looked for these before it was tried.

    Where somebody has, the error is that of their class: it is raised again as it is.
    """
    found = [] if WITHIN.disabled else overriding(args, kwargs)
    if found and _in_use:
        raise  # noqa: PLE0704  (the one that is handled)
    return found


def dispatched(function: Any, found: list[Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What the modes, or the first of the classes that knows, make of the call ``function(*args, **kwargs)``."""
    types = tuple(value.__class__ for value in found)
    if WITHIN.modes:
        mode = WITHIN.modes[-1]
        with meanwhile(WITHIN, modes=WITHIN.modes[:-1]):
            made = mode.__torch_function__(function, types, args, *([kwargs] if kwargs else []))
        if made is not NotImplemented:
            return made
    for value in found:
        made = value.__torch_function__(function, types, args, *([kwargs] if kwargs else []))
        if made is not NotImplemented:
            return made
    tried = "\n".join(f"  - tensor subclass {kind}" for kind in types)
    raise Unknown(
        f"Multiple dispatch failed for '{resolve_name(function) or function}'; all __torch_function__ handlers "
        f"returned NotImplemented:\n\n{tried}"
    )


def looking(public: Any, function: Callable[..., Any]) -> Callable[..., Any]:
    """``function`` for arguments of the library's own classes; others say what ``public`` is to do with them."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if WITHIN.disabled or not ((found := overriding(args, kwargs)) or WITHIN.modes):
            return function(*args, **kwargs)
        return dispatched(call if public is None else public, found, args, kwargs)

    BETWEEN.add(getattr(call, "__code__", None))
    return call


def resolve_name(function: Any) -> str | None:
    """What a function is called in the namespaces, as torch's ``resolve_name`` says it; None where it has no name.

    >>> import symgrad as sg
    >>> resolve_name(sg.linalg.norm)
    'torch.linalg.norm'
    """
    of_property = getattr(function, "__self__", None)
    if isinstance(of_property, property):
        return f"torch.Tensor.{METHODS[of_property]}.{function.__name__}" if of_property in METHODS else None
    if function in METHODS:
        return f"torch.Tensor.{METHODS[function]}"
    module = getattr(function, "__module__", None) or ""
    name = getattr(function, "__name__", "")
    if module.startswith(("symgrad.tensor", "symgrad.random")):
        module = "symgrad"  # where what makes tensors is found
    return f"{module.replace('symgrad', 'torch', 1)}.{name}" if module.startswith("symgrad") else None

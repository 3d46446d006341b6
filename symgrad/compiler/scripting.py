"""The names of ``torch.jit``, which code for torch uses as decorators and questions: what is scripted runs as it is.

They are attributes of :func:`symgrad.jit`, which is a function here.

>>> import symgrad as sg
>>> sg.jit.script(abs) is abs, sg.jit.is_scripting(), sg.jit.wait(sg.jit.fork(max, 1, 2))
(True, False, 2)
"""

from __future__ import annotations

import collections.abc
import contextlib
import typing
from collections.abc import Callable
from typing import Any

from symgrad.compiler.jit import jit

__all__ = ["jit"]


def _as_it_is(function: Any = None, *_: Any, **__: Any) -> Any:
    """What is scripted, traced, frozen, or kept from it: a function or a module, which runs as it is."""
    return function if callable(function) else lambda f: f


def _is_of(value: Any, kind: Any) -> bool:
    """Whether a value is of a type such as ``list[int]``, entries and all."""
    origin, inside = typing.get_origin(kind), typing.get_args(kind)
    if origin is None:
        return kind is Any or isinstance(value, type(None) if kind is None else kind)
    if origin in (list, collections.abc.Sequence):
        return isinstance(value, list) and all(_is_of(entry, inside[0]) for entry in value)
    if origin is dict:
        rows = value.items() if isinstance(value, dict) else [(None, None)]
        return isinstance(value, dict) and all(_is_of(k, inside[0]) and _is_of(v, inside[1]) for k, v in rows)
    if origin is tuple:
        return isinstance(value, tuple) and len(value) == len(inside) and all(map(_is_of, value, inside))
    return any(_is_of(value, one) for one in inside)


def _fork(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """A call, which is made at once."""
    from symgrad.futures import Future

    made: Future[Any] = Future()
    made.set_result(function(*args, **kwargs))
    return made


class TracerWarning(Warning):
    """What torch warns of where a trace may not hold for other arguments; code silences it."""


class _Scripted:
    """What classes of scripted modules are derived from: of ``nn.Module``, which is loaded then."""

    def __mro_entries__(self, _bases: Any) -> tuple[Any, ...]:
        from symgrad.nn.modules.module import Module

        return (Module,)

    def __instancecheck__(self, _instance: Any) -> bool:
        """No module is another one for being scripted."""
        return False


def _same(names: str, value: Any) -> dict[str, Any]:
    return dict.fromkeys(names.split(), value)


_ROOM = {
    **_same("script trace trace_module ignore unused export script_method script_if_tracing", _as_it_is),
    **_same("freeze optimize_for_inference interface", _as_it_is),
    **_same("is_scripting is_tracing", lambda: False),
    **_same("optimized_execution strict_fusion fuser", lambda *_: contextlib.nullcontext()),
    "annotate": lambda _kind, value: value,
    "Attribute": lambda value, _kind: value,
    "Final": typing.Final,
    "TracerWarning": TracerWarning,
    "ScriptModule": _Scripted(),
    "fork": _fork,
    "isinstance": _is_of,
    "wait": lambda future: future.wait(),
}
for _name, _value in _ROOM.items():
    setattr(jit, _name, _value)

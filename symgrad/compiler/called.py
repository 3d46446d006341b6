"""How functions are called: programs take their arguments by position, functions also take some by name alone."""

from __future__ import annotations

import contextlib
import functools
import inspect
import math
from collections.abc import Callable, Mapping
from typing import Any

from symgrad.compiler.program import given
from symgrad.compiler.trace import argument_names
from symgrad.compiler.transforms import transform_of
from symgrad.errors import ArgumentError

_ASKED = object()
"""The default of a parameter that has none, after others that do."""


def by_position(function: Callable[..., Any]) -> Callable[..., Any]:
    """``function``, also taking by position what it takes by name alone, after all others."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return function
    kinds = [p.kind for p in signature.parameters.values()]
    if inspect.Parameter.KEYWORD_ONLY not in kinds or inspect.Parameter.VAR_POSITIONAL in kinds:
        return function
    if transform_of(function) is not None:
        return function
    alone = [p for p in signature.parameters.values() if p.kind is p.KEYWORD_ONLY]
    first = [p for p in signature.parameters.values() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]

    @functools.wraps(function)
    def call(*args: Any, **named: Any) -> Any:
        given_too = zip(alone, args[len(first) :], strict=False)
        return function(*args[: len(first)], **{p.name: a for p, a in given_too}, **named)

    moved = [
        p.replace(kind=p.POSITIONAL_OR_KEYWORD, default=_ASKED if p.default is p.empty else p.default) for p in alone
    ]
    call.by_name = function  # type: ignore[attr-defined]
    call.__signature__ = signature.replace(parameters=[*first, *moved])  # type: ignore[attr-defined]
    return call


def most_of(function: Callable[..., Any]) -> float:
    """How many arguments a function takes by position."""
    try:
        parameters = inspect.signature(getattr(function, "by_name", function)).parameters.values()
    except (TypeError, ValueError):
        return math.inf
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return math.inf
    return sum(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in parameters)


def completed(name: str, function: Callable[..., Any], args: tuple[Any, ...], named: dict[str, Any]) -> tuple[Any, ...]:
    """The arguments of a call in their order, with the defaults of those that stand before others.

    Raises ``NameProblem`` and ``ArgumentError`` for names that there are not, given twice, or missing.
    """
    parameters: Mapping[str, inspect.Parameter] = {}
    with contextlib.suppress(TypeError, ValueError):
        parameters = inspect.signature(function).parameters
    own = sum(p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in parameters.values())
    names = argument_names(function, max(own, len(args) + len(named)))
    values = given(name, names, args, named)
    count = max((k + 1 for k, each in enumerate(names) if each in values), default=0)
    for each in names[:count]:
        p = parameters.get(each)
        if each not in values and p is not None and p.default is not p.empty and p.default is not _ASKED:
            values[each] = p.default
    missing = [each for each in names[:count] if each not in values]
    if missing:
        raise ArgumentError(f"{name}() misses {', '.join(missing)}; its arguments are {', '.join(names)}.")
    return tuple(values[each] for each in names[:count])

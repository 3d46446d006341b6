"""Where functions stand besides ``symgrad`` itself: torch's namespaces, and the in-place forms of methods."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

SPACES: dict[str, dict[str, Callable[..., Any]]] = {}
"""Functions by namespace (``fft``, ``linalg``, ``special``, ``nn.functional``, ``masked``) and name."""

WORDS: dict[str, dict[str, str]] = {}
"""Other names of parameters, by function as ``space.name``."""

CHANGES: dict[str, Callable[..., Any]] = {}
"""What the in-place forms of functions compute before it is put back, by namespace and name."""

INPLACE: list[str] = []
"""Methods that have an in-place form ``name_`` too."""


def within(space: str, *names: str, words: dict[str, str] | None = None) -> Callable[[Callable[..., Any]], Any]:
    """Publish a function in a namespace, under ``names`` or its own name.

    ``words`` are other names that torch has for parameters, with those here.

    >>> within("nn.functional")(within).__name__ in SPACES["nn.functional"]
    True
    >>> del SPACES["nn.functional"]["within"]
    """

    def publish(call: Callable[..., Any]) -> Any:
        for name in names or (getattr(call, "name", None) or call.__name__.rstrip("_"),):
            SPACES.setdefault(space, {})[name] = call
            if words:
                WORDS[f"{space}.{name}"] = words
        return call

    return publish


def inplace(*names: str) -> None:
    """Give methods of the table an in-place form."""
    INPLACE.extend(names)


def written(x: Any, call: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """``call(x, …)`` put back into ``x``: what ``inplace=True`` means.  Arrays and formulas cannot be written to."""
    write = getattr(x, "_inplace", None)
    return call(x, *args, **options) if write is None else write(call, *args, **options)


def with_inplace(call: Callable[..., Any]) -> inspect.Signature:
    """The signature of ``call`` with ``inplace`` behind its positional arguments, as in torch."""
    signature = inspect.signature(call)
    named = list(signature.parameters.values())
    places = [p for p in named if p.kind is p.POSITIONAL_OR_KEYWORD]
    switch = inspect.Parameter("inplace", inspect.Parameter.POSITIONAL_OR_KEYWORD, default=False, annotation="bool")
    return signature.replace(parameters=[*places, switch, *(p for p in named if p.kind is p.KEYWORD_ONLY)])


def by_name(call: Callable[..., Any]) -> Callable[..., Any]:
    """``call`` with an ``inplace`` that is given by position passed on by name; other functions as they are."""
    names = [p.name for p in inspect.signature(call).parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD]
    if names[-1:] != ["inplace"]:
        return call

    @functools.wraps(call)
    def function(*args: Any, **options: Any) -> Any:
        if len(args) == len(names):
            return call(*args[:-1], inplace=args[-1], **options)
        return call(*args, **options)

    return function

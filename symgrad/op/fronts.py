"""Public names: the functions that users call, as functions and as methods of tensors."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

if TYPE_CHECKING:
    from symgrad.op.record import Op

F = TypeVar("F", bound=Callable[..., Any])

FRONTS: dict[str, Front] = {}


class Front:
    """A public name: the function users call, whether it is a tensor method and a function, and names of arguments."""

    __slots__ = ("call", "function", "method", "name", "op", "words")

    def __init__(
        self,
        name: str,
        call: Callable[..., Any],
        op: Op | None,
        method: bool,
        function: bool,
        words: dict[str, str] | None,
    ):
        self.name = name
        self.words = words or {}
        self.call = call
        self.op = op
        self.method = method
        self.function = function


def front(
    *names: str, op: Op | None = None, method: bool = True, function: bool = True, words: dict[str, str] | None = None
) -> Callable[[F], F]:
    """Publish a function under ``names`` (its own name when none is given) as function and tensor method.

    ``words`` are other names that torch has for parameters, with those here.
    """

    def publish(call: F) -> F:
        public = with_numpy_names(call)
        for name in names or (call.__name__.rstrip("_"),):
            FRONTS[name] = Front(name, public, op, method, function, words)
        return call

    return publish


def with_numpy_names(call: Callable[..., Any]) -> Callable[..., Any]:
    """``call``, also taking ``axis=`` for ``dim=`` and ``keepdims=`` for ``keepdim=``, as torch's functions do.

    Parameters that are declared ``bool`` take nothing but truth values and whole numbers.
    """
    code = call.__code__
    taken = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    inner = inspect.unwrap(call)
    declared = getattr(inner, "__annotations__", {})
    flags = [name for name, kind in declared.items() if kind in ("bool", bool) and name != "return"]
    if "dim" not in taken and not flags:
        return call
    placed = inner.__code__.co_varnames[: inner.__code__.co_argcount]
    places = {name: k for k, name in enumerate(placed) if name in flags}
    before = min(places.values(), default=len(declared))

    @functools.wraps(call)
    def either(*args: Any, **kwargs: Any) -> Any:
        if kwargs:
            if "axis" in kwargs and "axis" not in taken:
                kwargs["dim"] = kwargs.pop("axis")
            if "keepdims" in kwargs:
                kwargs["keepdim"] = kwargs.pop("keepdims")
            for name in flags:
                if name in kwargs:
                    _check_flag(name, kwargs[name])
        if len(args) > before:
            for name, k in places.items():
                if k < len(args):
                    _check_flag(name, args[k])
        return call(*args, **kwargs)

    either.takes_axis = "dim" in taken and "axis" not in taken  # type: ignore[attr-defined]
    return either


def _check_flag(name: str, value: Any) -> None:
    if not isinstance(value, (int, np.bool)):
        raise TypeError(f"{name} must be True or False, not {value!r}")


def with_words(call: Callable[..., Any], words: dict[str, str]) -> Callable[..., Any]:
    """``call``, also taking its parameters by other names."""

    @functools.wraps(call)
    def either(*args: Any, **kwargs: Any) -> Any:
        if kwargs:
            kwargs = {words.get(name, name): value for name, value in kwargs.items()}
        return call(*args, **kwargs)

    return either


def of_operands(name: str, op: Op) -> Callable[..., Any]:
    """An op that takes no more than its operands: to its kernel one more would be an array to write into."""
    most = len(op.vjps)

    def call(*args: Any, **kwargs: Any) -> Any:
        if len(args) > most:
            raise TypeError(f"{name}_() takes {most - 1} arguments but {len(args) - 1} were given")
        return op(*args, **kwargs)

    call.__name__ = op.name
    return call


def known_as(call: Callable[..., Any], name: str, doc: str | None) -> Callable[..., Any]:
    """A function that was made of others, with a name and a docstring of its own."""
    call.__name__ = call.__qualname__ = name
    call.__doc__ = doc
    return call


@functools.cache
def names_in_order(call: Callable[..., Any]) -> tuple[str, ...]:
    """The names of the arguments that may be given by position; ``inplace`` is passed on by name all the same."""
    taken = inspect.signature(call).parameters.values() if not hasattr(call, "vjps") else ()
    return tuple(p.name for p in taken if p.kind is p.POSITIONAL_OR_KEYWORD and p.name != "inplace")


def by_place(order: tuple[str, ...], args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
    """The arguments by position, with those that follow and are among ``kwargs``, out of which they are taken."""
    while len(args) < len(order) and order[len(args)] in kwargs:
        args = (*args, kwargs.pop(order[len(args)]))
    return args


def publish(op: Op, *names: str, method: bool = True, function: bool = True) -> Op:
    """Publish the op itself, for ops whose call needs no reading of arguments."""
    for name in names or (op.name,):
        FRONTS[name] = Front(name, op, op, method, function, op.words)
    return op

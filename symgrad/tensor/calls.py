"""Public functions and methods around those of the table: ``out=``, torch's other words, errors that name the call."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from types import FunctionType
from typing import Any

from symgrad.errors import SymgradError
from symgrad.op.fronts import with_words
from symgrad.ops.elementwise.select import where_op
from symgrad.tape.memory.outputs import into
from symgrad.tape.misuse import FAILED, MISUSE, misused, reworded
from symgrad.tape.overriding import dispatched, may_ask, unasked
from symgrad.tape.record import BETWEEN
from symgrad.tape.signatures import otherwise
from symgrad.tape.standins import among, inner


def with_out(name: str, function: Callable[..., Any], words: dict[str, str] | None = None) -> Callable[..., Any]:
    """A function that also takes ``out=``, and arguments by torch's other ``words`` for them."""
    code = getattr(function, "__code__", None)
    if code is not None and "out" in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]:
        return function
    starred = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS

    @functools.wraps(function)
    def call(*args: Any, out: Any = None, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs) if out is None else into(out, name, function, args, kwargs)
        except FAILED as error:
            return _again(
                call, name, function, words or {}, (), args, kwargs, {} if out is None else {"out": out}, error
            )

    alone = code is not None and code.co_argcount == 1 and not code.co_kwonlyargcount
    if not alone or code.co_varnames[0] != "input" or code.co_flags & starred:  # type: ignore[union-attr]
        may_ask(call)
        return call

    @functools.wraps(function)
    def of_one(input: Any = _MISSING, *rest: Any, out: Any = None, x: Any = _MISSING, a: Any = _MISSING) -> Any:
        """The same at a third of the price, by the names that torch has for the argument."""
        if input is _MISSING or rest or x is not _MISSING or a is not _MISSING:
            named = {key: value for key, value in (("x", x), ("a", a)) if value is not _MISSING}
            return call(*(() if input is _MISSING else (input, *rest)), out=out, **named)
        try:
            return function(input) if out is None else into(out, name, function, (input,), {})
        except FAILED as error:
            if among((input, out)):
                return of_one(inner(input), out=inner(out))
            if found := unasked((input,), {}):
                return dispatched(of_one, found, (input,), {} if out is None else {"out": out})
            raise misused(name, function, (input,), {} if out is None else {"out": out}, error) from error.__cause__

    may_ask(of_one)
    return of_one


_MISSING: Any = object()


def _bound(function: Any, args: tuple[Any, ...]) -> bool:
    """Whether the first argument is an object whose class has the function as an attribute: torch's do not bind."""
    if not args or hasattr(args[0], "dtype") or type(args[0]).__module__ == "builtins":
        return False  # tensors have the function as a method
    root = inspect.unwrap(function)
    held = (value for cls in type(args[0]).__mro__ for value in vars(cls).values())
    return any(isinstance(value, FunctionType) and inspect.unwrap(value) is root for value in held)


def _of_others(call: Any, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The result of a call in a class that keeps the function, or with objects whose class answers for it, if any."""
    if _bound(function, args):
        return call(*args[1:], **kwargs)
    found = unasked(args, kwargs)
    return dispatched(call, found, args, kwargs) if found else _MISSING


def _again(
    call: Any, name: str, function: Any, words: dict[str, str] | None, of: tuple[Any, ...], args: tuple[Any, ...],
    kwargs: dict[str, Any], out: dict[str, Any], error: Exception,
) -> Any:  # fmt: skip
    """The result of a call that failed, as another one that torch takes for the same; raises what is wrong with it.

    ``words``: torch's other words for arguments, None where they were read before; ``of``: the tensor whose method it
    is; ``out``: ``out=``, of which the function does not know.
    """
    named = {**kwargs, **out}
    if among((args, named)):
        return call(*of, *inner(args), **inner(named))
    if (made := _of_others(call, function, (*of, *args), named)) is not _MISSING:
        return made
    if words is not None and (other := reworded(function, len(args), kwargs, words)) is not None:
        return call(*args, **out, **other)
    if (then := otherwise(name, function, args, kwargs)) is not None:
        return call(*of, *then[0], **out, **then[1])
    raise misused(name, function, (*of, *args), named, error) from error.__cause__


def unbound(function: Callable[..., Any], asks: bool = False) -> Callable[..., Any]:
    """A public function that makes tensors, which does not bind where it is an attribute of a class.

    ``asks``: it asks the class of the tensor that it is given, as functions of the table do.
    """
    own = function

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except FAILED as error:
            if _bound(function, args):
                return call(*args[1:], **kwargs)
            if not isinstance(error, MISUSE) or isinstance(error, SymgradError):
                raise
            raise misused(own.__name__, own, args, kwargs, error) from error.__cause__

    BETWEEN.add(getattr(call, "__code__", None))
    call.__module__ = "symgrad"
    if asks:
        may_ask(call)
    return call


def explained(name: str, function: Callable[..., Any], words: dict[str, str]) -> Callable[..., Any]:
    """A function whose errors name the call, and which takes arguments by torch's other ``words`` for them."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except FAILED as error:
            return _again(call, name, function, words, (), args, kwargs, {}, error)

    may_ask(call)
    return call


def method(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """A method whose errors are about its arguments, as those of the function are."""
    own = function

    @functools.wraps(function)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return function(self, *args, **kwargs)
        except FAILED as error:
            return _again(call, f"Tensor.{name}", own, None, (self,), args, kwargs, {}, error)

    call.__name__ = name  # by which classes with __torch_function__ know it; several names may have one function
    may_ask(call)
    call.asks = True  # type: ignore[attr-defined]
    return call


def of_two(name: str, function: Callable[..., Any], words: dict[str, str] | None = None) -> Callable[..., Any]:
    """A method of two operands that is an op as it stands, and asks the class of the other one.

    ``words``: torch's other words for its arguments.
    """

    @functools.wraps(function)
    def call(self: Any, other: Any) -> Any:
        try:
            return function(self, other)
        except FAILED:
            found = unasked((self, other), {})
            if not found:
                raise
            return dispatched(told, found, (self, other), {})

    call.__name__ = name
    told: Any = with_words(call, words) if words else call
    call.told = told  # type: ignore[attr-defined]
    may_ask(call)
    told.asks = True
    return told  # type: ignore[no-any-return]


def comparing(call: Callable[..., Any]) -> Callable[..., Any]:
    """A comparison that is put in place of what it compares: of floats it is recorded, with gradients of zeros."""

    def compared(input: Any, other: Any) -> Any:
        made = call(input, other)
        for operand in (other, input):
            if getattr(operand, "_requires_grad", False):
                made = where_op(False, operand, made)
        return made

    return compared

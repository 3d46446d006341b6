"""What a function reads that is no argument of it: a program of it holds while that is the same."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from symgrad.op.operators import ARITHMETIC
from symgrad.tape.record import Recorded

MOST = 256
"""How many functions and containers are looked into, and how many entries of each; beyond that nothing is guarded."""

_VALUES = (Recorded, np.ndarray, np.generic, bool, int, float, complex, str)
_SPECIAL = frozenset(f"__{name}__" for name in ("call", "getitem", "len", "iter", *ARITHMETIC))
"""Methods that Python calls where their names are not mentioned."""


class Outer(NamedTuple):
    """A value from outside, and the place where it was found; ``path`` are the keys that lead there."""

    where: Callable[[Any], Any]
    key: Any
    value: Any
    path: tuple[Any, ...]

    @property
    def same(self) -> bool:
        """Whether the same object is in that place now."""
        try:
            return self.where(self.key) is self.value
        except (LookupError, ValueError, AttributeError):  # ValueError: a variable of a closure that has no value
            return False


def values_and_ways(function: Any) -> tuple[list[Outer], list[Outer]]:
    """The tensors, arrays, numbers and texts that a function has from outside, with the place of each, and ways there.

    They stand in its closure and module, in lists, dicts and objects that it has from there, and in those of helper
    functions and methods of the same module; for a method also in its object, and for a ``partial`` in what it holds.
    Of objects only the attributes count that one of these mentions: an object may keep a record of its calls in
    another.  The ways are the containers, objects and functions that lead there.
    """
    values, _, ways = _reached(function)
    return values, ways


def generators(function: Any) -> list[Any]:
    """The sources of random numbers among what a function has from outside: generators of NumPy's and of Python's."""
    import random  # here, as NumPy's, which are loaded when they are first asked for

    kinds = (np.random.Generator, np.random.RandomState, random.Random)
    return [thing for thing in _reached(function)[1] if isinstance(thing, kinds)]


def functions(function: Any) -> list[types.FunctionType]:
    """The functions that run, or may run, when a function is called: those that it has from outside among them."""
    return [thing for thing in _reached(function)[1] if isinstance(thing, types.FunctionType)]


def mentions(function: Any, word: str) -> bool:
    """Whether a function, or one that it has from outside, looks up a name."""
    return any(word in words_of(thing.__code__) for thing in functions(function))


def _reached(function: Any) -> tuple[list[Outer], list[Any], list[Outer]]:
    """The values that a function has from outside, the containers and objects on the way to them, and their places."""
    inner, around = _unwrapped(function)
    if inner is None:
        return [], [], []
    modules = {inner.__module__, *(type(thing).__module__ for thing in around)}
    words: set[str] = {""}
    # With the name of the attribute that each was found under.
    waiting: list[tuple[Any, str, tuple[Any, ...]]] = [(thing, "", (k,)) for k, thing in enumerate([inner, *around])]
    seen = {id(thing) for thing, *_ in waiting}
    found: list[tuple[Outer, str]] = []
    ways: list[tuple[Outer, str]] = []
    things: list[Any] = []
    while (k := next((k for k, (_, name, _) in enumerate(waiting) if name in words), None)) is not None:
        thing, _, path = waiting.pop(k)
        things.append(thing)
        if isinstance(thing, types.FunctionType):
            words |= words_of(thing.__code__)
        for where, key, name in _places(thing, modules):
            try:
                value = where(key)
            except (LookupError, ValueError, AttributeError):
                continue
            outer = Outer(where, key, value, (*path, key))
            if isinstance(value, _VALUES):
                found.append((outer, name))
                continue
            ways.append((outer, name))
            if id(value) not in seen and len(seen) < MOST:
                seen.add(id(value))
                waiting.append((value, name, outer.path))
    return [outer for outer, name in found if name in words], things, [way for way, name in ways if name in words]


def _unwrapped(function: Any) -> tuple[types.FunctionType | None, list[Any]]:
    """The function that runs when ``function`` is called, and what stands around it: objects, decorators, arguments."""
    around: list[Any] = []
    for _ in range(MOST):
        wrapped = getattr(function, "__wrapped__", None)
        if isinstance(wrapped, Callable):  # type: ignore[arg-type]
            around += [function] if isinstance(function, types.FunctionType) else []  # it has a closure, too
            function = wrapped
        elif isinstance(function, types.FunctionType):
            return function, around
        elif isinstance(function, types.MethodType):
            around.append(function.__self__)
            function = function.__func__
        elif isinstance(function, functools.partial):
            around += [function.args, function.keywords]
            function = function.func
        elif isinstance(call := _class_attribute(type(function), "__call__"), types.FunctionType):
            around.append(function)
            function = call
        else:
            break
    return None, []


def _class_attribute(kind: type, name: str) -> Any:
    return next((vars(each)[name] for each in kind.__mro__ if name in vars(each)), None)


def _places(thing: Any, modules: set[str]) -> Iterator[tuple[Callable[[Any], Any], Any, str]]:
    """The places of what a function, container or object holds, and the name of an attribute.

    Of the code of other modules nothing.
    """
    if isinstance(thing, types.FunctionType):
        if thing.__globals__.get("__name__") in modules:
            cells = thing.__closure__ or ()
            yield from ((lambda k: cells[k].cell_contents, k, "") for k in range(len(cells)))
            yield from ((thing.__globals__.__getitem__, name, "") for name in sorted(words_of(thing.__code__)))
            yield from ((functools.partial(getattr, thing), name, "") for name in ("__defaults__", "__kwdefaults__"))
    elif isinstance(thing, (list, tuple, dict)):
        keys = list(thing if isinstance(thing, dict) else range(len(thing)))[:MOST]
        yield (lambda _: min(len(thing), MOST)), None, ""  # a small number, of which CPython has one object
        yield from ((thing.__getitem__, key, "") for key in keys)
    elif isinstance(thing, types.ModuleType):
        own = vars(thing)
        yield from ((own.__getitem__, name, name) for name in list(own) if isinstance(own[name], _VALUES))
    elif isinstance(thing, (property, functools.cached_property, classmethod, staticmethod)):
        yield from ((functools.partial(getattr, thing), name, "") for name in ("fget", "func", "__func__"))
    else:
        yield from _attributes(thing, modules)


def _attributes(thing: Any, modules: set[str]) -> Iterator[tuple[Callable[[Any], Any], Any, str]]:
    """The places of an object's attributes; of its class and what that is made of only in these modules."""
    kind = thing if isinstance(thing, type) else type(thing)
    if kind is not thing and hasattr(kind, "_shelves"):
        yield from _members(thing)
    kinds = [each for each in kind.__mro__ if each.__module__ in modules]
    for each in kinds if kind is thing else (thing, *kinds):
        own = getattr(each, "__dict__", {})
        for name in list(own)[:MOST]:
            # An object may get an attribute of its own in place of that of its class.
            where = functools.partial(getattr, thing) if isinstance(own[name], _VALUES) else own.__getitem__
            yield where, name, "" if name in _SPECIAL else name
    for slots in (vars(each).get("__slots__", ()) for each in kinds):
        names = (slots,) if isinstance(slots, str) else tuple(slots)
        yield from ((functools.partial(getattr, thing), name, name) for name in names)


def _length(shelf: Any, _: Any) -> int:
    return min(len(shelf), MOST)  # a small number, of which CPython has one object


def _members(module: Any) -> Iterator[tuple[Callable[[Any], Any], Any, str]]:
    """The places of what a module holds on its shelves and for its ``forward``, which code of other files reads."""
    own = vars(module)
    yield own.__getitem__, "training", ""
    yield functools.partial(_class_attribute, type(module)), "forward", ""
    yield own.get, "forward", ""
    for shelf in (own[name] for name in type(module)._shelves if name in own):
        yield functools.partial(_length, shelf), None, ""
        yield from ((shelf.__getitem__, name, "") for name in list(shelf)[:MOST])


def words_of(code: types.CodeType) -> set[str]:
    """The names that a function looks up and the texts it holds, also in the functions inside of it."""
    found = {*code.co_names, *(text for text in code.co_consts if isinstance(text, str))}
    return found.union(*(words_of(part) for part in code.co_consts if isinstance(part, types.CodeType)))

"""Numbers and arrays that functions read from outside: of their module, from around them, of objects, as defaults.

What is right for ``SCALE = 0.5`` alone, a factor 2 * SCALE that is left out, is told by other values of it; and how far
the rounding of a table moves a derivative, by other last digits.  A number counts as one wherever it has the same name
and the same value: both functions may hold a copy.
"""

from __future__ import annotations

import functools
import math
import operator
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from symgrad.notices import is_of_program

MOST_HOLDERS = 200
"""Functions, objects and dicts that are looked into."""

LARGEST, MOST_ENTRIES = 10, 3000
"""The largest of the numbers that are round, and the entries of an array that is looked at."""

_FOLLOWED = (FunctionType, MethodType, BuiltinFunctionType, functools.partial, type, np.ufunc, ModuleType)

Put = Callable[[Any], object]


@dataclass
class Constant:
    """A number or an array with its name, and what puts another one into the places where functions read it."""

    name: str
    value: Any
    puts: list[Put] = field(default_factory=list)

    def is_fixed(self) -> bool:
        """Whether a place takes no values, as an attribute of a class that is closed."""
        try:
            for put in self.puts:
                put(self.value)
        except Exception:  # noqa: BLE001  (whatever it says)
            return True
        return False

    @contextmanager
    def being(self, other: Any) -> Iterator[None]:
        """Inside, the functions read another one."""
        try:
            for put in self.puts:
                put(other)
            yield
        finally:
            for put in self.puts:
                put(self.value)


def is_round(value: Any) -> Any:
    """Whether numbers are whole ones or halves, as people choose them; entry by entry."""
    with np.errstate(invalid="ignore"):
        return (2 * value == np.round(2 * np.real(value))) & (np.abs(value) <= LARGEST)


def numbers_read(f: Any, grad: Any) -> list[Constant]:
    """The round numbers that the user's function ``f`` reads from outside, wherever it or ``grad`` does.

    None where one of the two is no text of Python: it may have kept the numbers that it was compiled with.
    """
    mine, theirs = _read_by(f, _is_chosen), _read_by(grad, _is_chosen)
    if mine is None or theirs is None:
        return []
    for key, number in mine.items():
        number.puts += theirs[key].puts if key in theirs else []
    return list(mine.values())


def arrays_read(f: Any) -> list[Constant]:
    """The arrays of floats in double precision that ``f`` reads from outside, where that is known."""
    return list((_read_by(f, _is_table) or {}).values())


def _read_by(function: Any, wanted: Callable[[Any], bool]) -> dict[tuple[str, Any], Constant] | None:
    """What is wanted of that which a function and those that it calls read, by name and value; None as above."""
    found: dict[tuple[str, Any], Constant] = {}
    stack, seen, read = [function], set[int](), set[str]()
    while stack:
        value = stack.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        if len(seen) > MOST_HOLDERS or (callable(value) and not _is_followed(value)):
            return None
        if isinstance(value, FunctionType) and is_of_program(value.__code__.co_filename):
            read |= _names_in(value.__code__)
        for name, inside, put in _parts(value, read):
            if wanted(inside):
                key = name, id(inside) if np.ndim(inside) else inside
                found.setdefault(key, Constant(name, inside)).puts.append(put)
            elif isinstance(inside, (dict, ModuleType)) or callable(inside) or _is_of_user(type(inside)):
                stack.append(inside)
    return {key: constant for key, constant in found.items() if constant.name in read and not constant.is_fixed()}


def _is_followed(value: Any) -> bool:
    """Whether it is known what a function reads: it is one of the user's, or it reads nothing of the user's."""
    return isinstance(value, _FOLLOWED) or type(value).__module__.startswith("numpy") or _is_of_user(type(value))


def _parts(value: Any, read: set[str]) -> Iterator[tuple[str, Any, Put]]:
    """What a function, an object or a dict holds, and a module of what is read: by name, and how to put it there."""
    if isinstance(value, functools.partial):
        yield "func", value.func, _nowhere
        yield from _entries(value.keywords)
    elif isinstance(value, MethodType):
        yield "__self__", value.__self__, _nowhere
        yield "__func__", value.__func__, _nowhere
    elif isinstance(value, FunctionType):
        yield from _of_function(value)
    elif isinstance(value, dict):
        yield from _entries(value)
    elif isinstance(value, ModuleType):
        if _is_of_user(value):
            yield from _entries({n: v for n, v in vars(value).items() if n in read}, vars(value))
    elif isinstance(value, type):
        if _is_of_user(value):
            yield from ((name, v, functools.partial(setattr, value, name)) for name, v in _own(value))
    elif _is_of_user(type(value)):
        yield from _entries(getattr(value, "__dict__", {}))
        yield from ((kind.__name__, kind, _nowhere) for kind in type(value).__mro__ if _is_of_user(kind))


def _of_function(function: FunctionType) -> Iterator[tuple[str, Any, Put]]:
    code, around = function.__code__, function.__closure__ or ()
    for name, cell in zip(code.co_freevars, around, strict=True):
        if _is_filled(cell):
            yield name, cell.cell_contents, functools.partial(setattr, cell, "cell_contents")
    if not is_of_program(code.co_filename):
        return  # the numbers of libraries are their own
    of_module = function.__globals__
    yield from _entries({n: of_module[n] for n in sorted(_names_in(code)) if n in of_module}, of_module)
    defaults = function.__defaults__ or ()
    names = code.co_varnames[: code.co_argcount][code.co_argcount - len(defaults) :]
    for i, name in enumerate(names):
        yield name, defaults[i], functools.partial(_put_default, function, i)
    yield from _entries(function.__kwdefaults__ or {})


def _put_default(function: FunctionType, i: int, value: Any) -> None:
    before = function.__defaults__ or ()
    function.__defaults__ = (*before[:i], value, *before[i + 1 :])


def _nowhere(value: Any) -> None:
    """What is no number has no other value put into its place."""


def _entries(read: Mapping[str, Any], holder: Any = None) -> Iterator[tuple[str, Any, Put]]:
    whole = read if holder is None else holder
    yield from ((k, v, functools.partial(operator.setitem, whole, k)) for k, v in read.items() if isinstance(k, str))


def _own(kind: type) -> Iterator[tuple[str, Any]]:
    """The attributes of a class, with the functions in its static and class methods."""
    for name, value in vars(kind).items():
        if not name.startswith("__") or name == "__call__":
            yield name, getattr(value, "__func__", value)


def _is_filled(cell: CellType) -> bool:
    try:
        cell.cell_contents  # noqa: B018  (that of a variable without a value raises)
    except ValueError:
        return False
    return True


def _names_in(code: CodeType) -> set[str]:
    """The names and texts in a code object and those inside of it: variables, attributes, keys of dicts."""
    names, stack = set[str](), [code]
    while stack:
        code = stack.pop()
        names.update(code.co_names, code.co_freevars, code.co_varnames)
        names.update(c for c in code.co_consts if isinstance(c, str))
        stack.extend(c for c in code.co_consts if isinstance(c, CodeType))
    return names


def _is_chosen(value: Any) -> bool:
    """Whether a value is a round number; a whole 0 is an axis, a place or a count."""
    if type(value) not in (int, float) and not isinstance(value, (np.floating, np.integer)):
        return False
    return math.isfinite(value) and bool(is_round(value)) and not (value == 0 and isinstance(value, int))


def _is_table(value: Any) -> bool:
    return type(value) is np.ndarray and value.dtype == np.float64 and value.ndim > 0 and value.size <= MOST_ENTRIES


def _is_of_user(owner: Any) -> bool:
    """Whether a class is defined in a program of the user's, or a module is one."""
    name = owner.__name__ if isinstance(owner, ModuleType) else getattr(owner, "__module__", None)
    file = getattr(sys.modules.get(str(name)), "__file__", None)
    if file is None:
        return name == "__main__"
    return is_of_program(file) and not file.startswith(_PYTHON)


_PYTHON = functools.__file__.removesuffix("functools.py")
"""Where Python's own modules are."""

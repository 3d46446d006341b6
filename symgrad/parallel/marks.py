"""What a function reads beside its arguments: worker processes have a copy of it, which has to be the same."""

from __future__ import annotations

import functools
import pickle
import types
import zlib
from typing import Any

import numpy as np

from symgrad.errors import ArgumentError
from symgrad.tape import containers
from symgrad.tape.record import Recorded
from symgrad.tape.watching.surroundings import values_and_ways

Marks = tuple[tuple[str, Any], ...]


def marks_of(function: Any) -> Marks:
    """The arrays, numbers, texts and functions that a function has from outside, each by its name and a mark of it.

    Objects that are called (models with weights) have one mark, of what pickle writes of them.
    """
    if isinstance(function, functools.partial):
        leaves = containers.flatten((list(function.args), dict(function.keywords)))[0]
        return (*marks_of(function.func), *((f"argument {k}", _mark(leaf)) for k, leaf in enumerate(leaves)))
    if isinstance(getattr(function, "__wrapped__", function), types.FunctionType):
        values, ways = values_and_ways(function)
        read = [*values, *(way for way in ways if callable(way.value))]
        return tuple((_name(outer.key, function), _mark(outer.value)) for outer in read)
    try:
        return (("its state", zlib.crc32(pickle.dumps(function))),)
    except Exception as error:
        raise ArgumentError(
            f"parallel: {function!r:.60} is no function, and pickle cannot write it ({error}): worker processes could "
            "not be told when its state changes. Give a function that has the state as an argument."
        ) from error


def _name(key: Any, function: Any) -> str:
    free = getattr(getattr(function, "__code__", None), "co_freevars", ())
    return free[key] if isinstance(key, int) and key < len(free) else str(key)


def _mark(value: Any) -> Any:
    if isinstance(value, Recorded):
        value = value._value
    if isinstance(value, np.ndarray) and not value.dtype.hasobject:
        return (
            value.shape,
            value.dtype.str,
            zlib.crc32(np.ascontiguousarray(value).reshape(-1).view(np.uint8).data),
        )
    if callable(value):
        code = getattr(value, "__code__", None)
        return type(value).__name__, getattr(value, "__qualname__", None), code and zlib.crc32(_text(code).encode())
    return type(value).__name__, repr(value)


def _text(constant: Any) -> str:
    """What code does, and its constants, in words that are the same in every process."""
    if isinstance(constant, types.CodeType):
        return f"{constant.co_code!r} {constant.co_names} {[*map(_text, constant.co_consts)]}"
    return str(sorted(map(_text, constant))) if isinstance(constant, frozenset) else repr(constant)


def differing(ours: Marks, theirs: Marks) -> list[str]:
    """The names of what is not the same."""
    mine, other = dict(ours), dict(theirs)
    return [name for name in {**mine, **other} if mine.get(name) != other.get(name)]

"""Calls by which programs for arrays lose what they are given: writing into ``np.zeros``, ``np.asarray``, ``math.exp``.

NumPy asks its arguments what to do, but ``np.zeros`` has none that could answer, ``np.asarray`` does not ask, and
``math.exp`` takes numbers.  While a check follows a function of arrays, these names of the modules ``numpy`` and
``math`` stand for functions that know arrays with a tensor inside (:mod:`symgrad.interop.ndarray`).  They do so for
programs of the user, in the thread of the check; everybody else gets what the modules always gave.
"""

from __future__ import annotations

import functools
import math
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from symgrad.check.asking.files import is_of_program
from symgrad.interop.ndarray import Array, inner
from symgrad.op import lookup
from symgrad.tape.record import plain
from symgrad.tensor import Tensor

_FILLED = ("zeros", "ones", "empty", "full")
_FILLED_LIKE = ("zeros_like", "ones_like", "empty_like", "full_like")
_READ = ("array", "asarray", "asanyarray", "ascontiguousarray", "asarray_chkfinite")
_OF_NUMBERS: dict[str, Callable[..., Any]] = {
    "acos": np.arccos, "acosh": np.arccosh, "asin": np.arcsin, "asinh": np.arcsinh, "atan": np.arctan,
    "atanh": np.arctanh, "atan2": np.arctan2, "ceil": np.ceil, "copysign": np.copysign, "cos": np.cos,
    "cosh": np.cosh, "degrees": np.degrees, "exp": np.exp, "exp2": np.exp2, "expm1": np.expm1, "fabs": np.abs,
    "floor": np.floor, "hypot": np.hypot, "isfinite": np.isfinite, "isinf": np.isinf, "isnan": np.isnan,
    "log10": np.log10, "log1p": np.log1p, "log2": np.log2, "pow": np.power, "radians": np.radians, "sin": np.sin,
    "sinh": np.sinh, "sqrt": np.sqrt, "tan": np.tan, "tanh": np.tanh, "trunc": np.trunc,
}  # fmt: skip
"""Functions of the module math by what NumPy calls them; those without a name there stand in ``_OTHERS``."""


class _Followed(threading.local):
    """The plain numbers of the runs that are followed in this thread, the innermost last."""

    def __init__(self) -> None:
        self.runs: list[list[Any]] = []


_FOLLOWED = _Followed()
_LOCK = threading.Lock()
_OWN: list[tuple[Any, str, Any]] = []
"""What the modules had before, while any thread follows a run."""

_COUNT = [0]


@contextmanager
def arrays_followed(numbers: list[Any]) -> Iterator[None]:
    """Inside, arrays that programs make to write into are followed; ``numbers`` are those of the run."""
    with _LOCK:
        if not _COUNT[0]:
            _install()
        _COUNT[0] += 1
    _FOLLOWED.runs.append(numbers)
    try:
        yield
    finally:
        _FOLLOWED.runs.pop()
        with _LOCK:
            _COUNT[0] -= 1
            while not _COUNT[0] and _OWN:
                setattr(*_OWN.pop())


def _install() -> None:
    for name in (*_FILLED, *_FILLED_LIKE):
        _put(np, name, _filled)
    for name in _READ:
        _put(np, name, _read)
    for name, function in {**_OF_NUMBERS, **_OTHERS}.items():
        _put(math, name, functools.partial(_of_numbers, function))


def _put(module: Any, name: str, make: Callable[[Any], Callable[..., Any]]) -> None:
    """Let a function of a module be another one for programs that are followed."""
    own = getattr(module, name, None)
    if own is None:  # of a later version of Python
        return
    instead = make(own)

    @functools.wraps(own)
    def call(*args: Any, **kwargs: Any) -> Any:
        asked = _FOLLOWED.runs and is_of_program(sys._getframe(1).f_code.co_filename)
        return instead(*args, **kwargs) if asked else own(*args, **kwargs)

    _OWN.append((module, name, own))
    setattr(module, name, call)


def _held(array: Any) -> Any:
    """An array of floating-point numbers with a tensor inside; others as they are."""
    return (
        Array(plain(Tensor, array[()]), _FOLLOWED.runs[-1])
        if getattr(array, "dtype", np.dtype(int)).kind in "fc"
        else array
    )


def _filled(own: Callable[..., Any]) -> Callable[..., Any]:
    """``np.zeros`` and its kin."""

    def filled(*args: Any, **kwargs: Any) -> Any:
        made = own(*args, **kwargs)
        return made if isinstance(made, Array) else _held(made)

    return filled


def _read(own: Callable[..., Any]) -> Callable[..., Any]:
    """``np.asarray`` and its kin, of an array with a tensor inside or of nested lists of such."""

    def read(a: Any, dtype: Any = None, **kwargs: Any) -> Any:
        if not _holds_array(a):
            return own(a, dtype, **kwargs) if dtype is not None else own(a, **kwargs)
        made = _stacked(a)
        if made.dtype.kind in "fc" and dtype is not None and np.dtype(dtype) != made.dtype:
            made = made.astype(dtype)
        return made.copy() if own.__name__ == "array" and kwargs.get("copy", True) else made

    return read


def _holds_array(value: Any) -> bool:
    return isinstance(value, Array) or (isinstance(value, (list, tuple)) and any(map(_holds_array, value)))


def _stacked(value: Any) -> Any:
    """Nested lists of numbers and arrays as one array."""
    if isinstance(value, Array):
        return value
    if not isinstance(value, (list, tuple)):
        return _held(np.asarray(value, None if np.ndim(value) else float))
    parts = [inner(_stacked(part)) for part in value]
    return Array(lookup("stack")(*parts, dim=0), _FOLLOWED.runs[-1])


def _of_numbers(function: Callable[..., Any], own: Callable[..., Any]) -> Callable[..., Any]:
    """A function of the module math, which takes numbers."""

    def of_numbers(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs) if any(map(_holds_array, args)) else own(*args, **kwargs)

    return of_numbers


def _log(x: Any, base: Any = None) -> Any:
    return np.log(x) if base is None else np.log(x) / np.log(base)


def _special(name: str) -> Callable[..., Any]:
    """A function of the op table that NumPy does not have."""
    return lambda x: Array(lookup(name)(x.tensor), x.numbers)


_OTHERS: dict[str, Callable[..., Any]] = {
    "log": _log,
    "erf": _special("erf"),
    "erfc": _special("erfc"),
    "lgamma": _special("lgamma"),
    "fsum": lambda values: sum(values),
    "prod": lambda values, *, start=1: functools.reduce(lambda a, b: a * b, values, start),
    "dist": lambda p, q: np.sqrt(sum((a - b) ** 2 for a, b in zip(p, q, strict=True))),
}

"""Names of NumPy, math and SciPy that know the arrays of a program which is followed, while it is."""

from __future__ import annotations

import functools
import math
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from symgrad.interop.callers import calls, is_of_polynomials
from symgrad.interop.iterated import Entries, entries, vectorized
from symgrad.interop.ndarray import MOVING, Array, Flat, Numbers
from symgrad.interop.scipy_calls import scipy_functions
from symgrad.notices import is_of_program
from symgrad.op import lookup
from symgrad.tape.record import plain
from symgrad.tape.standins import inner
from symgrad.tensor import Tensor

_FILLED = ("zeros", "ones", "empty", "full", "eye", "identity", "arange", "linspace")
_FILLED_LIKE = ("zeros_like", "ones_like", "empty_like", "full_like")
_READ = ("array", "asarray", "asanyarray", "ascontiguousarray", "asarray_chkfinite")
_OF_LISTS = ("sum", "prod", "mean", "max", "min", "amax", "amin", "std", "var", "cumsum", "cumprod", "diff", "sort")
_OF_NUMBERS: dict[str, Callable[..., Any]] = {
    "acos": np.arccos, "acosh": np.arccosh, "asin": np.arcsin, "asinh": np.arcsinh, "atan": np.arctan,
    "atanh": np.arctanh, "atan2": np.arctan2, "copysign": np.copysign, "cos": np.cos,
    "cosh": np.cosh, "degrees": np.degrees, "exp": np.exp, "exp2": np.exp2, "expm1": np.expm1, "fabs": np.abs,
    "isfinite": np.isfinite, "isinf": np.isinf, "isnan": np.isnan,
    "log10": np.log10, "log1p": np.log1p, "log2": np.log2, "pow": np.power, "radians": np.radians, "sin": np.sin,
    "sinh": np.sinh, "sqrt": np.sqrt, "tan": np.tan, "tanh": np.tanh,
}  # fmt: skip
"""Functions of the module math by what NumPy calls them; those without a name there stand in ``_OTHERS``."""


class _Followed(threading.local):
    """The plain numbers of the runs that are followed in this thread, the innermost last."""

    def __init__(self) -> None:
        self.runs: list[Numbers] = []


_FOLLOWED = _Followed()
_LOCK = threading.Lock()
_OWN: list[Callable[[], Any]] = []
"""How the modules get back what they had before, while any thread follows a run."""

_INSTEAD: dict[int, tuple[Any, Any]] = {}
"""What stands for a function of the modules meanwhile, and that function, by its id."""

_COUNT = [0]


@contextmanager
def arrays_followed(numbers: Numbers, spaces: Iterable[dict[str, Any]]) -> Iterator[None]:
    """Inside, arrays that programs make to write into are followed; ``numbers`` are those of the run.

    ``spaces`` are the names that the program knows, which may be those of the modules.
    """
    with _LOCK:
        if not _COUNT[0]:
            _install()
        _COUNT[0] += 1
        for names in spaces:
            _put_by_name(names)
    _FOLLOWED.runs.append(numbers)
    try:
        yield
    finally:
        _FOLLOWED.runs.pop()
        with _LOCK:
            _COUNT[0] -= 1
            while not _COUNT[0] and _OWN:
                _OWN.pop()()
            if not _COUNT[0]:
                _INSTEAD.clear()


def _put_by_name(names: dict[str, Any]) -> None:
    """Let functions that a program has imported by their names be those of the modules now."""
    for name, value in list(names.items()):
        if id(value) in _INSTEAD:
            names[name] = _INSTEAD[id(value)][0]
            _OWN.append(functools.partial(names.__setitem__, name, value))


def _install() -> None:
    for name in (*_FILLED, *_FILLED_LIKE):
        _put(np, name, _filled)
    for name in _READ:
        _put(np, name, _read)
    for name in _OF_LISTS:
        _put(np, name, _of_list)
    for name, function in {**_OF_NUMBERS, **_OTHERS}.items():
        _put(math, name, functools.partial(_of_numbers, function))
    _put(np, "ndenumerate", functools.partial(_of_entries, entries))
    _put(np, "nditer", functools.partial(_of_entries, Entries))
    _put(np, "fromiter", _from_iterator)
    _put(np.vectorize, "__call__", _vectorized)
    for module, name, function in scipy_functions():
        _put(module, name, functools.partial(_by_ops, function))


def _put(module: Any, name: str, make: Callable[[Any], Callable[..., Any]]) -> None:
    """Let a function of a module be another one for programs that are followed."""
    own = getattr(module, name, None)
    if own is None:  # of a later version of Python
        return
    instead = make(own)

    @functools.wraps(own)
    def call(*args: Any, **kwargs: Any) -> Any:
        return (instead if _FOLLOWED.runs and _asked(sys._getframe(1), call, name) else own)(*args, **kwargs)

    _OWN.append(functools.partial(setattr, module, name, own))
    _INSTEAD[id(own)] = call, own
    setattr(module, name, call)


def _asked(frame: Any, call: Any, name: str) -> bool:
    """Whether a program is at a call of a function, or ``numpy.polynomial``, which computes with arrays."""
    file = frame.f_code.co_filename
    if is_of_polynomials(file):
        return any(map(_holds_array, frame.f_locals.values()))
    return is_of_program(file) and (name == "__call__" or calls(frame, call, name))


def _held(array: Any) -> Any:
    """An array of floating-point numbers with a tensor inside; others as they are."""
    return (
        Array(plain(Tensor, array[()]), _FOLLOWED.runs[-1], True)
        if getattr(array, "dtype", np.dtype(int)).kind in "fc"
        else array
    )


def _filled(own: Callable[..., Any]) -> Callable[..., Any]:
    """``np.zeros`` and its kin."""

    def filled(*args: Any, **kwargs: Any) -> Any:
        value = kwargs.get("fill_value", args[1] if len(args) > 1 else None)
        if own.__name__ == "full" and _holds_array(value):
            shape, dtype = args[0] if args else kwargs["shape"], kwargs.get("dtype", args[2] if len(args) > 2 else None)
            made = np.broadcast_to(_stacked(value), shape).copy()
            return made if dtype is None else made.astype(dtype)
        made = own(*args, **kwargs)
        if isinstance(made, Array):
            return made
        if own.__name__.startswith("empty"):
            made.fill(0)  # what memory holds is no constant of a formula
        return _held(made)

    return filled


def _read(own: Callable[..., Any]) -> Callable[..., Any]:
    """``np.asarray`` and its kin, of an array with a tensor inside or of nested lists of such."""

    def read(a: Any, dtype: Any = None, **kwargs: Any) -> Any:
        if not _holds_array(a):
            made = own(a, dtype, **kwargs) if dtype is not None else own(a, **kwargs)
            return _held(made) if own.__name__ == "array" and kwargs.get("copy", True) else made  # to be written into
        made = _stacked(a)
        if made.dtype.kind in "fc" and dtype is not None and np.dtype(dtype) != made.dtype:
            made = made.astype(dtype)
        made = made[(None,) * (kwargs.get("ndmin", 0) - made.ndim)] if kwargs.get("ndmin", 0) > made.ndim else made
        return made.copy() if own.__name__ == "array" and kwargs.get("copy", True) else made

    return read


def _of_list(own: Callable[..., Any]) -> Callable[..., Any]:
    """A function of one array, which NumPy does not ask about the entries of a list."""

    def of_list(a: Any, *args: Any, **kwargs: Any) -> Any:
        return own(_stacked(a) if isinstance(a, (list, tuple)) and _holds_array(a) else a, *args, **kwargs)

    return of_list


def _of_entries(stand_in: Callable[..., Any], own: Any) -> Callable[..., Any]:
    """A class that goes through the entries of an array."""

    def of_entries(arr: Any, *args: Any, **kwargs: Any) -> Any:
        return (stand_in if _holds_array(arr) else own)(arr, *args, **kwargs)

    return of_entries


def _from_iterator(own: Callable[..., Any]) -> Callable[..., Any]:
    """``np.fromiter``, of entries that may be arrays."""

    def from_iterator(iter: Any, dtype: Any, count: int = -1, **kwargs: Any) -> Any:
        row = list(iter) if count < 0 else [part for part, _ in zip(iter, range(count), strict=False)]
        if not _holds_array(row):
            return own(row, dtype, count, **kwargs)
        return _stacked(row).astype(dtype)

    return from_iterator


def _vectorized(own: Callable[..., Any]) -> Callable[..., Any]:
    """The call of an ``np.vectorize``."""

    def call_entries(self: Any, *args: Any, **kwargs: Any) -> Any:
        if not _holds_array(args):
            return own(self, *args, **kwargs)
        return vectorized(self, args, kwargs, _stacked)

    return call_entries


def _by_ops(function: Callable[..., Any], own: Callable[..., Any]) -> Callable[..., Any]:
    """A function of SciPy, by the ops that do the same."""

    def by_ops(*args: Any, **kwargs: Any) -> Any:
        if not _holds_array(args) and not _holds_array(list(kwargs.values())):
            return own(*args, **kwargs)
        found = function(*inner(args), **inner(kwargs))
        return Array(found, _FOLLOWED.runs[-1]).whole(found)

    return by_ops


def _holds_array(value: Any) -> bool:
    """Whether what derivatives follow is there: such an array, or a tensor that a function of the library gave."""
    if isinstance(value, (list, tuple)):
        return any(map(_holds_array, value))
    return isinstance(value, (Array, Flat, *MOVING))


def _stacked(value: Any) -> Any:
    """Nested lists of numbers and arrays as one array."""
    if isinstance(value, Flat):
        return value.copy()
    if isinstance(value, Array):
        return value
    if isinstance(value, MOVING):
        return Array(value, _FOLLOWED.runs[-1])
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
    return lambda x: Array(lookup(name)(inner(x)), _FOLLOWED.runs[-1])


_OTHERS: dict[str, Callable[..., Any]] = {
    "ceil": lambda x: x.__ceil__(),
    "floor": lambda x: x.__floor__(),
    "trunc": lambda x: x.__trunc__(),
    "log": _log,
    "erf": _special("erf"),
    "erfc": _special("erfc"),
    "lgamma": _special("lgamma"),
    "fsum": lambda values: sum(values),
    "hypot": lambda *sides: functools.reduce(np.hypot, sides, 0.0),
    "prod": lambda values, *, start=1: functools.reduce(lambda a, b: a * b, values, start),
    "dist": lambda p, q: np.sqrt(sum((a - b) ** 2 for a, b in zip(p, q, strict=True))),
}

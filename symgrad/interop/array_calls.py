"""Programs that are written for NumPy's arrays, run on tensors.

They call methods that mean something else for a tensor (``x.max(axis=1)``), and they lose what they are given where
nobody is asked: NumPy asks its arguments what to do, but ``np.zeros`` has none that could answer, ``np.asarray`` does
not ask, and ``math.exp`` takes numbers.  So their arguments are tensors that answer as arrays do
(:mod:`symgrad.interop.ndarray`), and while they run these names of the modules ``numpy`` and ``math`` stand for
functions that know such arrays (:mod:`symgrad.interop.array_names`).  They do so for programs of the user, in the
thread that runs one; everybody else gets what the modules always gave.
"""

from __future__ import annotations

import copy
import dis
import functools
import sys
import weakref
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from symgrad.errors import KinkError, NotFollowed, ShapeError, UnsupportedFunction
from symgrad.interop.array_names import arrays_followed
from symgrad.interop.functions import numbers_lost
from symgrad.interop.ndarray import MOVING, Array, Numbers, bare
from symgrad.notices import is_of_program
from symgrad.tape.containers import flatten, tree_map
from symgrad.tape.forward.bundle import Bundle
from symgrad.tape.modes import own_no_grad
from symgrad.tape.record import plain
from symgrad.tape.standins import inner
from symgrad.tape.watching.nudges import NUDGE
from symgrad.tape.watching.scalars import note_number, numbers_counted, numbers_made, take_back, values_read
from symgrad.tape.watching.watch import forget_last_read
from symgrad.tensor import Tensor


def followed(
    function: Callable[..., Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any] | None = None,
    arrays: bool = True,
    derived: bool = True,
) -> Any:
    """What a program for arrays gives for tensors: tensors.  A number made of its last one is that tensor.

    Of other numbers made on the way, which derivatives do not follow, is warned as everywhere.  Where the tensors stand
    for ``arrays`` of the user, ``item()`` and ``tolist()`` are followed, and numbers on which the result depends are an
    error (``NotFollowed``) if it is to be ``derived``; those that are printed, kept or looked at are nobody's loss.
    """
    before, numbers = numbers_made(), Numbers(of_tensors=not arrays)
    out = _run(function, args, kwargs, numbers)
    if numbers:
        matters = _depends(function, args, kwargs, out) if arrays and derived and leads_back(out) else None
        if matters:
            raise numbers_lost(numbers.place)
        if matters is None:
            note_number()
        else:
            made = numbers_made() - before
            take_back(made, made)
    return out


def _run(function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any] | None, numbers: Numbers) -> Any:
    """One run, which leaves the numbers that it made."""

    def held(leaf: Any) -> Any:
        leaf = inner(leaf)  # of a program around this one, which has its own numbers
        return Array(leaf, numbers) if isinstance(leaf, MOVING) else leaf

    out, before = None, numbers_made()
    with arrays_followed(numbers, programs(function)), numbers_counted():
        try:
            out = inner(function(*tree_map(held, list(args)), **tree_map(held, dict(kwargs or {}))))
        finally:
            if numbers.lost is not None:
                raise numbers.lost from None
    if isinstance(out, float) and numbers and np.array_equal(numbers.last(), out):  # return float(loss)
        out = numbers.pop()
        forget_last_read(out)
        made = min(1, numbers_made() - before)
        take_back(made, made)  # a number is made of a value that was read
    return out


def _depends(
    function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any] | None, out: Any
) -> bool | None:
    """Whether what a function gives depends on the numbers that it makes: other ones are put in their places.

    None where that cannot be told: of functions that never give the same twice, and of several examples at once.
    """
    with suppress(Exception):  # what fails for other numbers
        for numbers, verdict in ((Numbers(nudge=NUDGE), False), (Numbers(), True)):
            again = _run(function, args, kwargs, numbers)
            pairs = [[bare(leaf) for leaf in flatten(found)[0] if isinstance(leaf, MOVING)] for found in (out, again)]
            if any(isinstance(value, Bundle) for value in pairs[0]):
                return None
            if len(pairs[0]) == len(pairs[1]) and all(map(_alike, *pairs)):
                return verdict
    return None


def _alike(a: Any, b: Any) -> bool:
    return np.array_equal(a, b, equal_nan=a.dtype.kind in "fc")


_FOR_ARRAYS: weakref.WeakSet[Any] = weakref.WeakSet()
"""Functions that had to be run as programs for arrays: solvers call them a thousand times, and each is run once."""

_FOR_BOTH: weakref.WeakSet[Any] = weakref.WeakSet()
"""Functions whose methods with two meanings gave the same for arrays in general position."""


def called(
    function: Callable[..., Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any] | None = None,
    stand_for_arrays: bool = True,
) -> Any:
    """What a function gives for tensors that stand for the user's arrays: it may be written for either.

    It is run as it is; where that fails, or makes plain numbers of tensors, of which no derivative knows, or gives what
    it does not give for arrays, it is run as a program for arrays.  Raises what the first run raised where the second
    gives no tensor.  If it is ``stand_for_arrays`` that is False, the user gave tensors, and their methods are meant.
    """
    failed, out, again = None, None, None
    names = _names_of(function) if stand_for_arrays else set()
    if _is_among(function, _FOR_ARRAYS) or not names.isdisjoint(_FIRST):
        with suppress(Exception):  # for these arguments it is run as it is
            again = followed(function, args, kwargs, stand_for_arrays)
        if leads_back(again):
            return again
    before = numbers_made(), values_read()
    try:
        with numbers_counted():
            try:
                out = function(*args, **(kwargs or {}))
            except Exception as error:  # noqa: BLE001  (whatever a program for arrays does with a tensor)
                failed = error
        made = numbers_made() - before[0]
        read = values_read() - before[1] - made
        right = failed is None and not made and not (read and stand_for_arrays) and leads_back(out)
        if right and (names.isdisjoint(_TWO_MEANINGS) or means_the_same(function, args, kwargs or {}, out)):
            return out
        if isinstance(failed, (ShapeError, KinkError)):  # which it is for arrays, too
            raise failed
        try:
            again = followed(function, args, kwargs, stand_for_arrays)
        except Exception as error:  # noqa: BLE001
            if isinstance(error, NotFollowed) or (failed is not None and _tells_more(error, failed)):
                failed = error
        if leads_back(again):
            _remember(function, _FOR_ARRAYS)
            take_back(made, read)
            return again
        if failed is not None:
            raise failed from None
    finally:
        failed = None  # its traceback has this frame, and with it the tensors
    if made:
        note_number()
    return out


def _is_among(function: Callable[..., Any], known: weakref.WeakSet[Any]) -> bool:
    try:
        return function in known
    except TypeError:  # what cannot be hashed is not remembered
        return False


def _remember(function: Callable[..., Any], known: weakref.WeakSet[Any]) -> None:
    with suppress(TypeError):
        known.add(function)


def arrays_first(function: Any) -> bool:
    """Whether a function changes what it has in place, or copies it by the module copy.

    Of arrays, entries are numbers that are not changed by ``+=``; copies of tensors by that module share their memory,
    or lose what they were computed from.
    """
    return not _names_of(function).isdisjoint(_FIRST)


def _tells_more(error: Exception, before: Exception) -> bool:
    """Whether the error of the second run is about a program for arrays that got further than on tensors."""
    of_array = isinstance(error, AttributeError) and hasattr(np.ndarray, error.name or "")
    return isinstance(error, (ShapeError, UnsupportedFunction)) or (of_array and isinstance(before, AttributeError))


def means_the_same(function: Callable[..., Any], args: Any, kwargs: Any, out: Any) -> bool:
    """Whether a function that calls methods which mean something else for arrays gives the same for these."""
    if not has_two_meanings(function):
        return True
    if any(isinstance(bare(leaf), MOVING) for leaf in flatten(out)[0]):  # of several examples at once
        return True
    try:
        with np.errstate(all="ignore"):
            same = _same_for_arrays(function, args, kwargs, out)
            if not same or _is_among(function, _FOR_BOTH):
                return same
            row, named = tree_map(_moved, list(args)), tree_map(_moved, dict(kwargs))
            with own_no_grad():
                same = _same_for_arrays(function, row, named, function(*row, **named))
            if same:
                _remember(function, _FOR_BOTH)
            return same
    except Exception:  # noqa: BLE001  (it is written for tensors)
        return True


def _same_for_arrays(function: Callable[..., Any], args: Any, kwargs: Any, out: Any) -> bool:
    """Whether a function gives for arrays what it gave for tensors of them."""
    ours = [bare(leaf) for leaf in flatten(out)[0]]
    theirs = flatten(function(*tree_map(_copied, list(args)), **tree_map(_copied, dict(kwargs))))[0]
    return len(ours) == len(theirs) and all(
        np.shape(b) == np.shape(a) and np.allclose(a, b, 1e-6, 1e-9, True) for a, b in zip(ours, theirs, strict=True)
    )


def _copied(leaf: Any) -> Any:
    """The array of an argument, which methods of arrays may change in place, ``x.sort(0)``."""
    value = bare(leaf)
    return value.copy() if isinstance(value, np.ndarray) else value


def _moved(leaf: Any) -> Any:
    """An argument near a given one, all of whose entries differ: two meanings may agree where they are equal."""
    value: Any = bare(leaf)
    if not isinstance(value, (np.ndarray, np.generic)) or value.dtype.kind not in "fc":
        return leaf
    steps: Any = 0.1 + np.arange(1, value.size + 1).reshape(value.shape) * 0.618 % 1 / 10
    return plain(Tensor, (value + (1 + np.abs(value)) * steps).astype(value.dtype))


def has_two_meanings(function: Callable[..., Any]) -> bool:
    """Whether a function calls methods which mean something else for arrays."""
    return not _TWO_MEANINGS.isdisjoint(_names_of(function))


_TWO_MEANINGS = {"std", "var", "repeat", "sort", "nonzero", "transpose", "max", "min"}
"""Methods that arrays and tensors both have, and that do something else for each."""


_IN_PLACE = "+="
"""What stands for assignments such as ``x += y`` among the names."""

_FIRST = {_IN_PLACE, "copy.copy"}
"""Names in functions that are run as programs for arrays before they are run on tensors."""


@functools.lru_cache(4096)
def _names_in(code: CodeType) -> frozenset[str]:
    """The names of methods and globals in a function, and in those that stand in it."""
    inside = (part for part in code.co_consts if isinstance(part, CodeType))
    changes = any(row.opname == "BINARY_OP" and row.argrepr.endswith("=") for row in dis.get_instructions(code))
    own = frozenset(code.co_names) | {_IN_PLACE} if changes else frozenset(code.co_names)
    return own.union(*map(_names_in, inside))


def _names_of(function: Any) -> set[str]:
    """The names in a function, in those of the user's that it calls, and in the methods of its object."""
    names: set[str] = set()
    seen: set[int] = set()
    waiting = [function]
    while waiting:
        thing = waiting.pop()
        if isinstance(thing, functools.partial):
            waiting.append(thing.func)
        elif isinstance(thing, MethodType):
            waiting += [thing.__func__, type(thing.__self__)]
        elif isinstance(thing, type):
            if id(thing) not in seen and is_of_program(
                getattr(sys.modules.get(thing.__module__), "__file__", None) or ""
            ):
                seen.add(id(thing))
                waiting += [part for part in vars(thing).values() if isinstance(part, FunctionType)]
        elif isinstance(thing, FunctionType):
            if id(thing.__code__) not in seen and is_of_program(thing.__code__.co_filename):
                seen.add(id(thing.__code__))
                names |= _names_in(thing.__code__)
                waiting += _known_to(thing, names)
        elif thing is function and callable(thing):
            waiting.append(type(thing))
    return names


def _known_to(function: FunctionType, names: set[str]) -> list[Any]:
    """The functions, methods and classes that a function knows; ``names`` gets those of the module copy."""
    found: list[Any] = []
    inner_names = _names_in(function.__code__)
    values = [function.__globals__.get(name) for name in inner_names]
    for cell in function.__closure__ or ():
        with suppress(ValueError):  # which is empty yet
            values.append(cell.cell_contents)
    for value in values:
        if isinstance(value, (FunctionType, MethodType, type)):
            found.append(value)
        if value in (copy.copy, copy.deepcopy) if callable(value) else value is copy:
            names.add("copy.copy")
    return found


def programs(function: Any) -> list[dict[str, Any]]:
    """The names of the module of a function, and of those of the user's modules whose functions it knows."""
    found: dict[int, dict[str, Any]] = {}
    waiting = [function]
    while waiting:
        names = _names_around(waiting.pop())
        if names is not None and id(names) not in found:
            found[id(names)] = names
            waiting += [value for value in names.values() if isinstance(value, (FunctionType, ModuleType, type))]
    return list(found.values())


def _names_around(thing: Any) -> dict[str, Any] | None:
    """The names of the user's module that a function, a method or a class is from, or that a module has."""
    while isinstance(thing, functools.partial):
        thing = thing.func
    if isinstance(thing, (FunctionType, MethodType)):
        names = thing.__globals__ if isinstance(thing, FunctionType) else thing.__func__.__globals__
    else:
        module = thing if isinstance(thing, ModuleType) else sys.modules.get(getattr(thing, "__module__", None) or "")
        names = vars(module) if module is not None else {}
    root = str(names.get("__name__", "")).partition(".")[0]
    own = root not in sys.stdlib_module_names or root == "__main__"
    return names if names and own and is_of_program(str(names.get("__file__", "<program>"))) else None


def leads_back(out: Any) -> bool:
    """Whether there is a tensor in what a function gave."""
    return any(isinstance(leaf, MOVING) for leaf in flatten(out)[0])

"""What is wrong with the arguments of a call that failed, in torch's words; nothing is looked at before."""

from __future__ import annotations

import inspect
import re
from typing import Any

import numpy as np

from symgrad.errors import ArgumentError, OutOfBounds, ShapeError, SymgradError
from symgrad.tape.explaining import described
from symgrad.tape.formulas.sizes import note_failure
from symgrad.tape.signatures import ARRAYS, NUMBERS, refusal, ways
from symgrad.tape.watching.watch import note_failed_values

MISUSE = (AttributeError, TypeError, KeyError, IndexError, ValueError, ZeroDivisionError, UnboundLocalError)
"""Python's errors that arguments of a wrong kind cause somewhere inside of a function."""
FAILED = (*MISUSE, SymgradError)
"""Errors of calls whose arguments are looked at."""


def misused(name: str, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], error: Exception) -> Exception:
    """The library's words for such an error: torch's for what is wrong, the call, and how the function is called.

    The library's own errors stay, unless it is plain that something else than a tensor stands for one.
    """
    if isinstance(error, (Warning, np.linalg.LinAlgError)):
        return error
    note_failure((*args, *kwargs.values()))
    note_failed_values((*args, *kwargs.values()), error)
    listed, method = ways(name) is not None, name.startswith("Tensor.")
    wrong = None
    if listed:
        wrong = refusal(name, args[1:] if method else args, kwargs, _taken(error))
    name = name.removeprefix("nn.functional_").removeprefix("Tensor.")
    if not listed and isinstance(error, MISUSE):
        wrong = _wrong(name, function, args, kwargs)
    if isinstance(error, SymgradError):
        return error if wrong is None else ArgumentError(f"{wrong}\n{error}")
    if wrong is None and isinstance(error, (IndexError, ValueError)) and not _BARE.search(str(error)):
        return error
    if wrong is None and isinstance(error, AttributeError) and "has no attribute" not in str(error):
        return error  # the library's words on an attribute that cannot be had
    given = ", ".join([*map(_short, args), *(f"{key}={_short(value)}" for key, value in kwargs.items())])
    parameters = [str(p.replace(annotation=p.empty)) for p in _parameters(function).values()]
    called = f" It is called as {name}({', '.join(parameters)})." if parameters else ""
    if args and inspect.isfunction(args[0]):
        called += " The derivative of a function f is func.grad(f)(x), its formula formula(f, x, wrt='x')."
    kind = OutOfBounds if wrong is None and isinstance(error, IndexError) else ArgumentError
    first = "" if wrong is None else f"{wrong}\n"
    return kind(f"{first}{name}({given}): {_INNER.sub('', str(error))}.{called}")


def _taken(error: Exception) -> tuple[type, ...]:
    """What may have stood for tensors in a call that failed so: a number has no shape that could be another."""
    if isinstance(error, ShapeError):
        return ARRAYS
    return (*ARRAYS, *NUMBERS) if isinstance(error, SymgradError) else ()


_INNER = re.compile(r"^[\w.<>]+\(\) ")
"""The name that Python's error gives the function by, which is that of a part of it."""
_BARE = re.compile(r"(tuple|list|string) index out of range|to unpack|zip\(\)|^$")


def _short(value: Any) -> str:
    text = described(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _parameters(function: Any) -> dict[str, inspect.Parameter]:
    try:
        return dict(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return {}


# ---------------------------------------------------------------------------------------------- torch's words

_NAMES = """
    input other A B x y x1 x2 input1 input2 index indices src source mask condition tensor tensor1 tensor2 mat mat1 mat2
    vec vec1 vec2 batch1 batch2 target weight values boundaries sorted_sequence grid theta tau LU pivots LU_data
    LU_pivots end query key value
"""
_TENSORS = frozenset(_NAMES.split())
"""What tensors among the arguments are called."""
_SIZES = frozenset(("dims", "shape", "size", "sizes", "shifts", "repeats", "normalized_shape", "kernel_size"))
_WORDS = {"int": "int", "bool": "bool", "float": "float"}


def _wrong(name: str, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str | None:
    """torch's sentence about the first argument that is missing, too many, unknown or of a wrong kind."""
    parameters = _parameters(function)
    if not parameters:
        return None
    kinds = {p.kind for p in parameters.values()}
    placed = [n for n, p in parameters.items() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    needed = [n for n in placed if parameters[n].default is inspect.Parameter.empty]
    if inspect.Parameter.VAR_POSITIONAL not in kinds and len(args) > len(placed):
        count = f"{len(placed)}" if len(needed) == len(placed) else f"from {len(needed)} to {len(placed)}"
        some = "argument" if count == "1" else "arguments"
        return f"{name}() takes {count} positional {some} but {len(args)} {'was' if len(args) == 1 else 'were'} given"
    given = dict(zip(placed, args, strict=False))
    for k, parameter in enumerate(placed, 1):
        if parameter in given or parameter in kwargs:
            where = f" (position {k})" if parameter in given else ""
            value = given[parameter] if parameter in given else kwargs[parameter]
            if (expected := _misplaced(parameters[parameter], value)) is not None:
                return f"{name}(): argument '{parameter}'{where} must be {expected}, not {type(value).__name__}"
        elif parameter in needed:
            return _missing(name, [n for n in needed if n not in given and n not in kwargs])
    for key, value in kwargs.items():
        if key in given or (key not in parameters and inspect.Parameter.VAR_KEYWORD not in kinds):
            return f"{name}() got an unexpected keyword argument '{key}'"
        if key in parameters and (expected := _misplaced(parameters[key], value)) is not None:
            return f"{name}(): argument '{key}' must be {expected}, not {type(value).__name__}"
    return None


def _missing(name: str, names: list[str]) -> str:
    """Python's sentence, which torch's functions have that are written in it."""
    *most, last = map(repr, names)
    listed = f"{', '.join(most)}{',' * (len(most) > 1)} and {last}" if most else last
    return f"{name}() missing {len(names)} required positional argument{'s' * (len(names) > 1)}: {listed}"


def _misplaced(parameter: inspect.Parameter, value: Any) -> str | None:
    """What an argument should have been, where it plainly is something else; None where it may be right."""
    if not isinstance(value, (str, bytes, type, dict, set, type(None))) or value is parameter.default:
        return None
    if parameter.name == "tensors":
        return "tuple of Tensors"
    declared = parameter.annotation if isinstance(parameter.annotation, str) else ""
    kind, *others = [part.strip() for part in declared.split("|") if part.strip() not in ("None", "")] or [""]
    if kind in _WORDS and not others:
        return None if value is None and "None" in declared else _WORDS[kind]
    if declared not in ("Any", "") or parameter.default not in (parameter.empty, None):
        return None
    if parameter.name in _SIZES:
        return "tuple of ints"
    if parameter.name == "dim" and parameter.default is parameter.empty:
        return "int"
    return "Tensor" if parameter.name in _TENSORS and not (value is None and parameter.default is None) else None


# ---------------------------------------------------------------------------------------------- other names

_FIRST = ("input", "A", "x", "a", "x1")
"""What torch calls a function's first argument, also for NumPy's sake."""

_NUMPY = {"axis": "dim", "keepdims": "keepdim", "x2": "other"}
"""NumPy's names of arguments, which torch takes for its own."""


def reworded(function: Any, count: int, kwargs: dict[str, Any], words: dict[str, str]) -> dict[str, Any] | None:
    """The arguments by name of a call that failed, by the names that they have here; ``count`` others stood before.

    None where torch's names are no others.
    """
    if not kwargs:
        return None
    names = list(inspect.signature(function).parameters)
    made = {}
    for name, value in kwargs.items():
        if name not in names:
            first = name in _FIRST and not count
            name = words.get(name) or (names[0] if first else _NUMPY.get(name, name))
        made[name] = value
    return made if made.keys() != kwargs.keys() and len(made) == len(kwargs) else None

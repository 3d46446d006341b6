"""The library's words for an error that NumPy raised inside a kernel."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from symgrad.dtypes import NARROW, result_type, weak_with
from symgrad.errors import ArgumentError, OutOfBounds, ShapeError, SymgradError, UnsupportedDtype
from symgrad.op import Op, refusal, shape_of
from symgrad.ops.calls import fits

MISUSE = (AttributeError, TypeError, KeyError, IndexError, ValueError, ZeroDivisionError, UnboundLocalError)
"""Python's errors that arguments of a wrong kind cause somewhere inside of a function."""


def misused(name: str, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], error: Exception) -> Exception:
    """The library's words for such an error: the call, and how the function is called; its own errors stay."""
    own = isinstance(error, (SymgradError, Warning, np.linalg.LinAlgError))
    if own or (isinstance(error, (IndexError, ValueError)) and not _BARE.search(str(error))):
        return error
    given = ", ".join([*map(_short, args), *(f"{key}={_short(value)}" for key, value in kwargs.items())])
    try:
        parameters = [p.replace(annotation=p.empty) for p in inspect.signature(function).parameters.values()]
        called = f" It is called as {name}({', '.join(map(str, parameters))})."
    except (TypeError, ValueError):
        called = ""
    kind = OutOfBounds if isinstance(error, IndexError) else ArgumentError
    return kind(f"{name}({given}): {_INNER.sub('', str(error))}.{called}")


_FIRST = ("input", "A", "x", "a", "x1")
"""What torch calls a function's first argument, also for NumPy's sake."""


def reworded(function: Any, kwargs: dict[str, Any], words: dict[str, str]) -> dict[str, Any] | None:
    """The arguments of a call that failed, by the names that they have here; None where torch's are no others."""
    if not kwargs:
        return None
    names = list(inspect.signature(function).parameters)
    made = {}
    for name, value in kwargs.items():
        if name not in names:
            name = words.get(name) or (names[0] if name in _FIRST else "other" if name == "x2" else name)
        made[name] = value
    return made if made.keys() != kwargs.keys() and len(made) == len(kwargs) else None


_INNER = re.compile(r"^[\w.<>]+\(\) ")
"""The name that Python's error gives the function by, which is that of a part of it."""
_BARE = re.compile(r"(tuple|list|string) index out of range|to unpack|zip\(\)|^$")


def _short(value: Any) -> str:
    text = _described(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def refused(op: Op, values: Sequence[Any]) -> SymgradError | None:
    """torch's error where the operands' common dtype is one that the op refuses."""
    table = op.refuses
    if "?" in table and any(getattr(v, "dtype", None) == np.bool_ or v is True or v is False for v in values):
        return refusal(op.name, table["?"], np.dtype(bool))
    found = [v.dtype for v in values if hasattr(v, "dtype")]
    if not found:
        return None
    dtype = found[0] if op.kind == "primitive" else functools.reduce(result_type, found)
    if op.kind == "elementwise":
        dtype = functools.reduce(lambda d, v: weak_with(v, d), (v for v in values if not hasattr(v, "dtype")), dtype)
    kind = "h" if "h" in table and dtype.char in NARROW else dtype.kind
    return refusal(op.name, table[kind], dtype) if kind in table else None


def explain(op: Op, args: tuple[Any, ...], error: Exception) -> Exception:
    """The library's words for an error that NumPy raised inside a kernel."""
    if isinstance(error, (ShapeError, ArgumentError)):
        return error
    shapes = [tuple(shape_of(a)) for a in args]
    named = ", ".join(_described(a) for a in args)
    if op.kind == "elementwise" and "broadcast" in str(error):
        for axis in range(1, 1 + min(len(shapes[0]), len(shapes[-1]))):
            a, b = shapes[0][-axis], shapes[-1][-axis]
            if a != b and 1 not in (a, b):
                dim = max(map(len, shapes)) - axis
                return ShapeError(
                    f"The size of tensor a ({a}) must match the size of tensor b ({b}) at non-singleton dimension "
                    f"{dim}: {op.name}({named}). Reshape, unsqueeze or transpose one of them so that the axes line up."
                )
    if wrong := refused(op, args):
        return wrong
    dtypes = [getattr(a, "dtype", None) for a in args]
    if isinstance(error, TypeError) and any(d is not None and d.kind == "c" for d in dtypes):
        return UnsupportedDtype(f'"{op.name}_cpu" not implemented for complex numbers: {op.name}({named})')
    if "zero-size array" in str(error) or "empty sequence" in str(error):
        return IndexError(f"{op.name}(): Expected reduction dim to have non-zero size: {op.name}({named})")
    if isinstance(error, IndexError) and "too many indices" in str(error):
        return OutOfBounds(f"too many indices for tensor of dimension {len(shapes[0])}: {op.name}({named})")
    if isinstance(error, IndexError) and "indexing arrays" in str(error):
        shown = ", ".join(str(_sizes(text)) for text in re.findall(r"\([\d, ]*\)", str(error)))
        words = f"shape mismatch: indexing tensors could not be broadcast together with shapes {shown}"
        return OutOfBounds(f"{words}: {op.name}({named})")
    if isinstance(error, IndexError):
        return OutOfBounds(f"{str(error).replace('axis', 'dimension')}: {op.name}({named})")
    if isinstance(error, np.linalg.LinAlgError):
        return _linalg_error(op, named, error)
    if op.name == "index_put" and (found := _MISFIT.search(str(error))):
        return ShapeError(f"{_misfit(*map(_sizes, found.groups()))}: {op.name}({named})")
    return (
        ShapeError(f"{op.name}({named}): {error}")
        if isinstance(error, ValueError)
        else ArgumentError(f"{op.name}({named}): {error}")
    )


_MISFIT = re.compile(r"(?:from shape|value array of shape) (\([\d, ]*\)) .*(into|result of) shape (\([\d, ]*\))")


def _sizes(text: str) -> Any:
    return [int(n) for n in re.findall(r"\d+", text)] if text[0] == "(" else text


def _misfit(given: list[int], how: str, wanted: list[int]) -> str:
    """torch's words for values that do not fit into a part: of a view, or of places that an array picks."""
    if how != "into":
        return f"shape mismatch: value tensor of shape {given} cannot be broadcast to indexing result of shape {wanted}"
    try:
        fits.expanded(tuple(given), wanted)
    except ShapeError as error:
        return str(error)
    return f"values of shape {given} do not fit into a part of shape {wanted}"


def _linalg_error(op: Op, named: str, error: Exception) -> Exception:
    class LinAlgError(np.linalg.LinAlgError, RuntimeError):
        """NumPy's and torch's error at once."""

    call = f"{op.name}({named}) has no result and no derivative."
    return LinAlgError(f"{op.fails or f'linalg.{op.name}: {error}'}. {call}")


def _described(arg: Any) -> str:
    if hasattr(arg, "_extra"):
        name = arg._extra.name if arg._extra is not None and arg._extra.name else "tensor"
        return f"{name} of shape {tuple(shape_of(arg._value))}"
    if isinstance(arg, np.ndarray):
        return f"array of shape {arg.shape}"
    return repr(arg)

"""The library's words for an error that NumPy raised inside a kernel."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from symgrad.dtypes import NARROW, result_type, weak_with
from symgrad.errors import ArgumentError, OutOfBounds, ShapeError, SymgradError, UnsupportedDtype
from symgrad.op import Op, refusal, shape_of
from symgrad.ops.calls import fits
from symgrad.tape.formulas.sizes import note_failure
from symgrad.tape.watching.watch import note_failed_values


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
        numbers = [v for i, v in enumerate(values) if not hasattr(v, "dtype") and i not in (op.settings or ())]
        dtype = functools.reduce(lambda d, v: weak_with(v, d), numbers, dtype)
    kind = "h" if "h" in table and dtype.char in NARROW else dtype.kind
    return refusal(op.name, table[kind], dtype) if kind in table else None


def explain(op: Op, args: tuple[Any, ...], error: Exception) -> Exception:
    """The library's words for an error that NumPy raised inside a kernel."""
    note_failure(args)
    note_failed_values(args, error)
    if isinstance(error, (ShapeError, ArgumentError)):
        return error
    shapes = [tuple(shape_of(a)) for a in args]
    named = ", ".join(described(a) for a in args)
    if op.entrywise and "broadcast" in str(error):
        words = fits.together(shapes)
        if words is not None:
            return ShapeError(
                f"{words}: {op.name}({named}). Reshape, unsqueeze or transpose one of them so that the axes line up."
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
        return _linalg_error(op, args, named, error)
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


def _linalg_error(op: Op, args: tuple[Any, ...], named: str, error: Exception) -> Exception:
    class LinAlgError(np.linalg.LinAlgError, RuntimeError):
        """NumPy's and torch's error at once."""

    call = f"{op.name}({named}) has no result and no derivative."
    if op.fails is None:
        return LinAlgError(f"linalg.{op.name}: {error}. {call}")
    return LinAlgError(f"{op.fails(*(np.asarray(getattr(arg, '_value', arg)) for arg in args))}. {call}")


def described(arg: Any) -> str:
    """An argument as messages show it: a tensor or array by its shape."""
    if hasattr(arg, "_extra"):
        name = arg._extra.name if arg._extra is not None and arg._extra.name else "tensor"
        return f"{name} of shape {tuple(shape_of(arg._value))}"
    if isinstance(arg, np.ndarray):
        return f"array of shape {arg.shape}"
    return repr(arg)

"""The operands of an op: what counts as one, and their common dtype by torch's rules."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from symgrad.dtypes import (
    NARROW,
    as_python_number,
    float32,
    float64,
    get_default_dtype,
    int64,
    is_number,
    shared,
    weak_with,
)
from symgrad.errors import ArgumentError, NotAnOperand
from symgrad.kernels import kept_order
from symgrad.op import Length, Op, scales
from symgrad.ops.calls.results import Named
from symgrad.ops.rules.constants import Constant, NamedFloat
from symgrad.tape.formulas.sizes import Measure, Size


def as_operand(op: Op, arg: Any, place: int) -> Any:
    """What an op computes with where an argument is no tensor; NumPy's scalars count as Python's numbers."""
    if isinstance(arg, (Constant, Fraction, NamedFloat, Measure)):
        return float(arg)
    if isinstance(arg, (Size, Length)):
        return int(arg)
    if isinstance(arg, (list, tuple)):
        if getattr(type(arg), "__rmul__", None) not in (list.__rmul__, tuple.__rmul__):
            raise NotAnOperand(f"{op.name}() takes tensors, arrays and numbers, not {type(arg).__name__}.")
        if isinstance(arg, Named):
            raise ArgumentError(
                f"{op.name}() takes tensors, arrays and numbers, not the result of {type(arg).__name__}(), which is a "
                f"tuple of {' and '.join(arg.names)}: take one of them, as in .{arg.names[0]}."
            )
        return np.asarray(arg)
    alone = (op.kind == "primitive" and not op.together) or place == op.condition
    return as_python_number(arg) if isinstance(arg, np.generic) and not alone and is_number(arg.dtype) else arg


def reject_strangers(op: Op, values: list[Any]) -> None:
    """Raise where something is among the operands that is neither an array nor a number."""
    for value in values:
        if not isinstance(value, (np.ndarray, np.generic, int, float, complex)):
            raise NotAnOperand(
                f"{op.name}() takes tensors, arrays and numbers, not {type(value).__name__} ({value!r:.60})."
            )


def promoted(op: Op, values: list[Any]) -> list[Any]:
    """Operands in their common dtype by torch's rules; Python numbers stay weak."""
    if op.kind == "primitive" and not op.together:
        if op.dtypes == "float" and values and getattr(values[0], "dtype", float64).kind in "bui":
            return [values[0].astype(get_default_dtype()), *values[1:]]
        return values
    aside = -1 if op.condition is None else op.condition
    arrays = [(i, v) for i, v in enumerate(values) if isinstance(v, (np.ndarray, np.generic)) and i != aside]
    if not arrays:
        return [np.asarray(v)[()] for v in values] if aside < 0 else values
    dtype = arrays[0][1].dtype
    uniform = True
    for _, v in arrays[1:]:
        if v.dtype != dtype:
            uniform, dtype = False, shared([v for _, v in arrays])
            break
    target = dtype
    for i, v in enumerate(values):
        if not isinstance(v, (np.ndarray, np.generic)) and i != aside:
            target = weak_with(v, target)
    if op.dtypes == "float" and target.kind in "bui":
        target = get_default_dtype()
    if op.dtypes == "number" and target.kind == "b":
        target = int64
    if uniform and target == dtype:
        return values
    if op.factor and target.char in NARROW and scales(*values):
        # torch reads a 0-d second factor as a number, which is not rounded first.
        return [values[0] if values[0].dtype == target else _cast(values[0], target), _cast(values[1], float32)]
    return [
        _cast(v, target) if i != aside and getattr(v, "dtype", target) != target else v for i, v in enumerate(values)
    ]


def _cast(value: Any, dtype: Any) -> Any:
    """A value in another dtype: laid out as it is, or row by row where its entries share memory."""
    return value.astype(dtype, order=kept_order(value))[()]


def scalarised(value: Any) -> Any:
    """0-d results are NumPy scalars, which are several times cheaper to compute with."""
    return value[()] if value.__class__ is np.ndarray and not value.ndim else value

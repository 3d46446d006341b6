"""dtypes and promotion: torch's rules on NumPy's dtypes.

Python numbers are weak: they never widen a floating dtype, and next to integers a Python float gives the default
dtype.  A 0-d tensor does not widen a tensor with dimensions of the same kind (torch's category rule).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from symgrad.errors import DtypeError

float16 = np.dtype(np.float16)
float32 = np.dtype(np.float32)
float64 = np.dtype(np.float64)
complex64 = np.dtype(np.complex64)
complex128 = np.dtype(np.complex128)
int8 = np.dtype(np.int8)
int16 = np.dtype(np.int16)
int32 = np.dtype(np.int32)
int64 = np.dtype(np.int64)
uint8 = np.dtype(np.uint8)
bool_ = np.dtype(np.bool_)

half, float_, double = float16, float32, float64
cfloat, cdouble = complex64, complex128
short, int_, long = int16, int32, int64

_default = float32

_KIND_ORDER = {"b": 0, "u": 1, "i": 1, "f": 2, "c": 3}


def get_default_dtype() -> np.dtype[Any]:
    """The dtype given to Python floats; ``float32`` unless changed, as in torch."""
    return _default


def set_default_dtype(dtype: Any) -> None:
    """Set the dtype given to Python floats (a floating dtype; anything else is a ``DtypeError``)."""
    global _default
    new = np.dtype(dtype)
    if new.kind != "f":
        raise DtypeError(f"set_default_dtype() needs a floating dtype, got {new}; use float32 or float64.")
    _default = new


def is_floating(dtype: np.dtype[Any]) -> bool:
    """True for real and complex floating dtypes, the ones that can require grad."""
    return dtype.kind in "fc"


def kind_order(dtype: np.dtype[Any]) -> int:
    """bool 0, integers 1, floats 2, complex 3."""
    return _KIND_ORDER[dtype.kind]


def for_python_number(value: complex | float | bool) -> np.dtype[Any]:
    """The dtype ``tensor(value)`` gets.

    >>> for_python_number(1), for_python_number(1.0), for_python_number(True)
    (dtype('int64'), dtype('float32'), dtype('bool'))
    """
    if isinstance(value, bool):
        return bool_
    if isinstance(value, int):
        return int64
    if isinstance(value, float):
        return _default
    return complex128 if _default == float64 else complex64


def weak_with(value: complex | float | bool, dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype of an operation between an array of ``dtype`` and a Python number."""
    number = for_python_number(value)
    if kind_order(number) <= kind_order(dtype):
        return dtype
    if number.kind == "c" and dtype.kind == "f":
        return complex128 if dtype == float64 else complex64
    return number


def promote(a: Any, b: Any) -> np.dtype[Any]:
    """The dtype of an operation between two arrays (or NumPy scalars), by torch's category rule."""
    da, db = a.dtype, b.dtype
    if da == db:
        return da  # type: ignore[no-any-return]
    if (a.ndim == 0) != (b.ndim == 0):
        small, large = (da, db) if a.ndim == 0 else (db, da)
        if kind_order(small) <= kind_order(large):
            return large  # type: ignore[no-any-return]
        if small.kind == "c" and large == float32:
            return complex64
        return small  # type: ignore[no-any-return]
    return result_type(da, db)


def result_type(da: np.dtype[Any], db: np.dtype[Any]) -> np.dtype[Any]:
    """Promotion of two dtypes: torch's table, where an integer never widens a float.

    >>> result_type(int64, float32)
    dtype('float32')
    """
    if da == db:
        return da
    oa, ob = kind_order(da), kind_order(db)
    if oa != ob and max(oa, ob) >= 2:
        low, high = (da, db) if oa < ob else (db, da)
        if low.kind in "bui":
            return high
    return np.promote_types(da, db)

"""What functions that pick or write along an axis demand: places counted from 0, and shapes and dtypes that match.

NumPy counts negative places from the end and casts what is written; torch refuses both here, and so do we.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from symgrad.dtypes import torch_name
from symgrad.errors import DtypeError, NumberTooLarge, OutOfBounds, ShapeError
from symgrad.op import shape_of
from symgrad.ops.calls.still import still, values_of
from symgrad.ops.elementwise.select import ge, logical_or, lt
from symgrad.ops.reductions.predicates import all_, any_
from symgrad.ops.reductions.sums import size


class _Into(threading.local):
    array: Any = None


INTO = _Into()
"""The array that a part is put into on the spot, in this thread: its old contents are nobody's any more."""


def array_of(x: Any) -> np.ndarray[Any, Any] | None:
    """The values of a tensor or array; None of what has none, such as a formula."""
    return np.asarray(still(x)) if hasattr(x, "__array__") or isinstance(x, (int, list, tuple)) else None


def everywhere(x: Any, right: Callable[[Any], Any]) -> bool:
    """Whether ``right`` holds for all entries of a tensor or array; a formula has none.

    That is one truth value, as for :func:`outside`.
    """
    if getattr(x, "_watched", False):
        return bool(values_of(all_(right(still(x)))))
    values = array_of(x)
    return values is None or bool(np.all(right(values)))


def holds_somewhere(asked: Any) -> bool:
    """Whether what is asked of places, entry by entry, holds of any; a tracer is told what it was that was asked."""
    found = any_(asked)
    return found._lies_outside() if hasattr(found, "_lies_outside") else bool(values_of(found))


def outside(index: Any, count: Any) -> bool:
    """Whether an index array names a place that is none of 0 … ``count`` - 1.

    That is one truth value: a program that is traced here takes every index array for which it is the same.
    """
    if getattr(index, "_watched", False):
        return holds_somewhere(logical_or(lt(index, 0), ge(index, count)))
    if not hasattr(index, "__array__") and not isinstance(index, (int, list, tuple)):
        return False  # a formula has no values
    if hasattr(index, "_counts_from_zero"):
        index._counts_from_zero()
    values = np.asarray(index)
    if values.dtype.kind == "i":
        values = values.view(f"u{values.itemsize}")  # in which negative numbers are the largest
    return bool(values.size) and int(np.maximum.reduce(values, None)) >= count


def place_outside(index: Any, x: Any, dim: int) -> int | None:
    """A place in an index array that the axis ``dim`` of ``x`` has not, counted from 0."""
    count = shape_of(x)[dim]
    if not isinstance(count, int) or not outside(
        index, size(x, (dim,)) if getattr(index, "_watched", False) else count
    ):
        return None
    values = values_of(index)
    return int(values.min()) if values.min() < 0 else int(values.max())


def check_places(index: Any, x: Any, dim: int, words: str = "") -> None:
    """Raise where an index array names a place outside of an axis of ``x``."""
    if getattr(index, "dtype", np.dtype(int)).kind not in "iu":
        return
    wrong = place_outside(index, x, dim)
    if wrong is not None:
        raise OutOfBounds(f"{words}index {wrong} is out of bounds for dimension {dim} with size {shape_of(x)[dim]}")


def check_integers(name: str, index: Any) -> None:
    """Raise where an index array that is not empty holds no integers."""
    dtype = getattr(index, "dtype", None)
    if dtype is not None and dtype.kind not in "iu" and shape_of(index) and 0 not in shape_of(index):
        raise DtypeError(
            f"{name}(): Expected dtype int32/int64 for index: a long tensor was expected, but got {torch_name(dtype)}"
        )


def check_same_dtype(name: str, input: Any, source: Any) -> None:
    """Raise where what is written has another dtype than what it is written to; numbers take any."""
    dtypes = [getattr(x, "dtype", None) for x in (input, source)]
    if isinstance(source, np.generic) or any(dtype is None for dtype in dtypes) or dtypes[0] == dtypes[1]:
        return
    ours, its = map(torch_name, dtypes)  # type: ignore[arg-type]
    if name == "scatter":
        raise DtypeError(f"scatter(): Expected self.dtype to be equal to src.dtype, but got {ours} and {its}")
    raise DtypeError(
        f"{name}(): self and source expected to have the same dtype, but got (self) {ours} and (source) {its}"
    )


def check_scatter(input: Any, dim: int, index: Any, src: Any) -> None:
    """Raise where index and source do not fit what they are scattered to: as many axes, and none longer."""
    here, places = list(shape_of(input)) or [1], list(shape_of(index)) or [1]
    if not all(isinstance(n, int) for n in (*here, *places)) or 0 in places:
        return
    if len(places) != len(here):
        raise ShapeError(
            f"Index tensor must have the same number of dimensions as self tensor, got {places} for {here}"
        )
    short = [k for k, n in enumerate(places) if k != dim and n > here[k]]
    if not hasattr(src, "dtype"):
        if short:
            raise ShapeError(f"Expected index {places} to be no larger than self {here} apart from dimension {dim}")
        return
    source = list(shape_of(src)) or [1]
    if len(source) != len(places):
        raise ShapeError(
            f"Index tensor must have the same number of dimensions as src tensor, got {places} for {source}"
        )
    if short or any(n > have for n, have in zip(places, source, strict=True)):
        raise ShapeError(
            f"Expected index {places} to be no larger than self {here} apart from dimension {dim} and to be no larger "
            f"size than src {source}"
        )


def check_mask(name: str, mask: Any) -> None:
    """Raise where a mask is not boolean."""
    dtype = getattr(mask, "dtype", None)
    if dtype is not None and dtype.kind != "b":
        raise DtypeError(f"{name} only supports boolean masks, but got mask with dtype {torch_name(dtype)}")


def check_number(name: str, value: Any, dtype: Any) -> None:
    """Raise where a value to fill with is no single number, or none of the dtype."""
    axes = len(shape_of(value))
    if axes:
        raise ShapeError(f"{name} only supports a 0-dimensional value tensor, but got tensor with {axes} dimension(s).")
    number = array_of(value) if not isinstance(value, (float, complex)) else np.asarray(value)
    if number is None or dtype is None:
        return
    fitted(number[()], dtype)


_C_NAMES = {"uint8": "uint8_t", "int8": "int8_t", "int16": "int16_t", "int32": "int", "int64": "int64_t"}
_C_NAMES |= {"float16": "c10::Half", "bfloat16": "c10::BFloat16", "float32": "float", "float64": "double"}


@functools.cache
def _largest(dtype: np.dtype[Any]) -> float:
    return float(np.finfo(dtype).max)


def fitted(number: Any, dtype: np.dtype[Any]) -> Any:
    """A number that a dtype has, real for one of real numbers; raises torch's errors for others.

    A negative one wraps where the dtype has no signs.
    """
    if isinstance(number, int) and not -(2**63) <= number < 2**64:
        raise NumberTooLarge(f"Overflow when unpacking long long: {number} has more than 64 bits")
    kind, lost, given = dtype.kind, False, number
    if kind in "bc":
        return number
    if isinstance(number, (complex, np.complexfloating)):
        number, lost = number.real, bool(number.imag)
    if kind in "iu":
        ends: Any = np.iinfo(dtype)
        whole = isinstance(number, (int, np.integer, np.bool_))
        lost = lost or not (-ends.max if whole and kind == "u" else ends.min) <= number <= ends.max
    elif kind == "f" and not lost:
        lost = _largest(dtype) < abs(number) < np.inf
    if lost:
        shown = _C_NAMES.get(dtype.name, dtype.name)
        raise DtypeError(f"value cannot be converted to type {shown} without overflow: it is {given}")
    return number

"""The namespace of the array API standard (2024.12) for tensors: ``xp = x.__array_namespace__()``.

Code that is written for the standard runs on tensors, and what it computes has gradients and formulas.  Names and
arguments are those of NumPy 2, which has the standard's: ``axis``, ``keepdims``, and ``max`` that gives values alone.

>>> import symgrad as sg
>>> x = sg.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True, name="x")
>>> xp = x.__array_namespace__()
>>> y = xp.sum(xp.max(xp.permute_dims(x, (1, 0)), axis=0) ** 2)
>>> y.backward()
>>> x.grad
tensor([[0., 4.],
        [0., 8.]])

Source: Consortium for Python Data API Standards, *Python array API standard* v2024.12.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import symgrad as sg
from symgrad.array_api import fft, linalg
from symgrad.array_api.creation import (
    arange,
    asarray,
    empty,
    empty_like,
    eye,
    from_dlpack,
    full,
    full_like,
    linspace,
    meshgrid,
    ones,
    ones_like,
    zeros,
    zeros_like,
)
from symgrad.array_api.info import Info
from symgrad.array_api.numpy_names import of_numpy
from symgrad.array_api.sets import unique_all, unique_counts, unique_inverse, unique_values
from symgrad.dtype_objects import (
    complex64,
    complex128,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
)
from symgrad.tensor.creation import tensor

__array_api_version__ = "2024.12"

_OF_NUMPY = (
    "abs", "acos", "acosh", "add", "all", "any", "argmax", "argmin", "asin", "asinh", "atan",
    "atan2", "atanh", "bitwise_and", "bitwise_invert", "bitwise_left_shift", "bitwise_or",
    "bitwise_right_shift", "bitwise_xor", "broadcast_arrays", "broadcast_to", "ceil", "clip", "concat", "conj",
    "copysign", "cos", "cosh", "count_nonzero", "diff", "divide", "equal", "exp", "expm1",
    "flip", "floor", "floor_divide", "greater", "greater_equal", "hypot", "imag", "isfinite", "isinf", "isnan",
    "less", "less_equal", "log", "log10", "log1p", "log2", "logaddexp", "logical_and", "logical_not",
    "logical_or", "logical_xor", "matmul", "matrix_transpose", "max", "maximum", "mean", "min", "minimum",
    "moveaxis", "multiply", "negative", "nextafter", "nonzero", "not_equal", "permute_dims", "positive", "pow",
    "prod", "real", "reciprocal", "remainder", "repeat", "reshape", "roll", "searchsorted",
    "signbit", "sin", "sinh", "sqrt", "square", "squeeze", "stack", "subtract", "sum", "take",
    "take_along_axis", "tan", "tanh", "tensordot", "tile", "tril", "triu", "trunc", "where",
)  # fmt: skip
globals().update(of_numpy(np, _OF_NUMPY))
vecdot = linalg.vecdot  # type: ignore[attr-defined]

e, inf, nan, pi, newaxis = math.e, math.inf, math.nan, math.pi, None
bool = sg.bool


def __array_namespace_info__() -> Info:  # noqa: N807  (the standard's name)
    """What the namespace can do: ``capabilities()``, ``devices()``, ``dtypes()`` and their defaults."""
    return Info()


def astype(x: Any, dtype: Any, /, *, copy: Any = True, device: Any = None) -> Any:
    """``x`` in another dtype; a new tensor where ``copy``."""
    return x.to(dtype, copy=copy, **({} if device is None else {"device": device}))


def can_cast(from_: Any, to: Any, /) -> Any:
    """Whether a dtype, or that of a tensor, becomes another one without loss of its kind."""
    return np.can_cast(_dtype(from_), to)


def argsort(x: Any, /, *, axis: int = -1, descending: Any = False, stable: Any = True) -> Any:
    """The places of the entries in order along an axis."""
    return sg.argsort(x, axis, descending, stable=stable)


def sort(x: Any, /, *, axis: int = -1, descending: Any = False, stable: Any = True) -> Any:
    """The entries in order along an axis."""
    return sg.sort(x, dim=axis, descending=descending, stable=stable)[0]


def expand_dims(x: Any, /, *, axis: Any = 0) -> Any:
    """``x`` with an axis of one entry at a place, or with several."""
    return np.expand_dims(x, axis)


def round(x: Any, /) -> Any:
    """The nearest whole numbers; of complex numbers, both parts are rounded."""
    return sg.complex(sg.round(x.real), sg.round(x.imag)) if x.is_complex() else sg.round(x)


def sign(x: Any, /) -> Any:
    """-1, 0 or 1; of complex numbers, x/|x|."""
    return sg.sgn(x) if x.is_complex() else sg.sign(x)


def finfo(type: Any, /) -> Any:
    """What there is to know of a dtype of floats, or of that of a tensor."""
    return sg.finfo(_dtype(type))


def iinfo(type: Any, /) -> Any:
    """What there is to know of a dtype of whole numbers, or of that of a tensor."""
    return sg.iinfo(_dtype(type))


def isdtype(dtype: Any, kind: Any) -> Any:
    """Whether a dtype is another one, of a kind such as "real floating", or one of several."""
    return np.isdtype(np.dtype(dtype), kind)


def result_type(*arrays_and_dtypes: Any) -> Any:
    """The dtype of what is computed of tensors, numbers and dtypes together, as torch promotes them."""
    parts = [x if isinstance(x, (sg.Tensor, int, float, complex)) else sg.empty(0, dtype=x) for x in arrays_and_dtypes]
    whole = parts[0]
    for part in parts[1:]:
        whole = sg.empty(0, dtype=sg.result_type(whole, part))
    return whole.dtype if isinstance(whole, sg.Tensor) else tensor(whole).dtype


def std(x: Any, /, *, axis: Any = None, correction: float = 0.0, keepdims: Any = False) -> Any:
    """The standard deviation; sums are divided by n - ``correction``."""
    return sg.std(x, axis, correction=correction, keepdim=keepdims)


def var(x: Any, /, *, axis: Any = None, correction: float = 0.0, keepdims: Any = False) -> Any:
    """The variance; sums are divided by n - ``correction``."""
    return sg.var(x, axis, correction=correction, keepdim=keepdims)


def unstack(x: Any, /, *, axis: int = 0) -> tuple[Any, ...]:
    """The parts along an axis."""
    return tuple(sg.unbind(x, axis))


def cumulative_sum(x: Any, /, *, axis: int | None = None, dtype: Any = None, include_initial: Any = False) -> Any:
    """Sums of the entries up to each; ``include_initial``: with 0 in front."""
    return _cumulative(sg.cumsum, sg.zeros, x, axis, dtype, include_initial)


def cumulative_prod(x: Any, /, *, axis: int | None = None, dtype: Any = None, include_initial: Any = False) -> Any:
    """Products of the entries up to each; ``include_initial``: with 1 in front."""
    return _cumulative(sg.cumprod, sg.ones, x, axis, dtype, include_initial)


def _cumulative(running: Any, start: Any, x: Any, axis: int | None, dtype: Any, include_initial: Any) -> Any:
    if axis is None and x.ndim != 1:
        raise ValueError(f"axis must be told for {x.ndim} axes")
    axis = 0 if axis is None else axis
    made = running(x, axis, dtype=dtype)
    if not include_initial:
        return made
    shape = list(x.shape)
    shape[axis] = 1
    return sg.cat([start(shape, dtype=made.dtype), made], axis)


def _dtype(thing: Any) -> Any:
    return thing.dtype if isinstance(thing, sg.Tensor) else thing


__all__ = [  # noqa: PLE0604
    *_OF_NUMPY, "__array_api_version__", "__array_namespace_info__", "arange", "argsort", "asarray", "astype", "bool",
    "can_cast", "complex64", "complex128", "cumulative_prod", "cumulative_sum", "e", "empty", "empty_like",
    "expand_dims", "eye", "fft", "finfo", "float32", "float64", "from_dlpack", "full", "full_like", "iinfo", "inf",
    "int8", "int16", "int32", "int64", "isdtype", "linalg", "linspace", "meshgrid", "nan", "newaxis", "ones",
    "ones_like", "pi", "result_type", "round", "sign", "sort", "std", "uint8", "uint16", "uint32", "uint64",
    "unique_all", "unique_counts", "unique_inverse", "unique_values", "unstack", "var", "vecdot", "zeros",
    "zeros_like",
]  # fmt: skip

"""What NumPy asks about tensors: their shapes and dtypes, and questions about values that have no derivative.

The answers are what NumPy gives, arrays and numbers.  A tracer hears of them: a program holds where they are the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from symgrad.interop.functions import bare, front_of, function_name, glanced, tensor
from symgrad.tape.watching.watch import WATCH, note_read
from symgrad.tensor.facts import asked_shape

KINDS = {
    np.shape, np.ndim, np.size, np.result_type, np.can_cast, np.iscomplexobj, np.isrealobj, np.may_share_memory,
    np.shares_memory, np.tril_indices_from, np.triu_indices_from, np.diag_indices_from, np.common_type, np.einsum_path,
}  # fmt: skip
"""Questions about shapes, dtypes and memory, whatever the values are."""

SIZES: dict[Any, Callable[..., Any]] = {
    np.shape: lambda a: asked_shape(np.shape(a)),
    np.size: lambda a, axis=None: asked_shape(np.shape(a)).numel() if axis is None else asked_shape(np.shape(a))[axis],
}
"""Questions whose answers know that they are sizes."""

VALUES = {
    np.allclose, np.array_equal, np.array_equiv, np.isclose, np.array_repr, np.array_str, np.array2string, np.argsort,
    np.nonzero, np.count_nonzero, np.searchsorted, np.argwhere, np.flatnonzero, np.all, np.any, np.iscomplex, np.isreal,
    np.isneginf, np.isposinf, np.argpartition, np.digitize, np.lexsort, np.nanargmax, np.nanargmin, np.min_scalar_type,
    np.linalg.matrix_rank, np.isin, np.unravel_index, np.ravel_multi_index,
}  # fmt: skip
"""Questions about values: they run on the arrays."""


def _by_axis(name: str) -> Callable[..., Any]:
    return lambda a, axis=None, keepdims=False: front_of(name)(tensor(a), axis, bool(keepdims))


def _close(a: Any, b: Any, rtol: float = 1e-5, atol: float = 1e-8) -> Any:
    same = front_of("broadcast_tensors")(tensor(a).double(), tensor(b).double())
    return front_of("all")(front_of("isclose")(*same, rtol, atol))


ANSWERS: dict[Any, Callable[..., Any]] = {
    np.any: _by_axis("any"),
    np.all: _by_axis("all"),
    np.count_nonzero: lambda a, axis=None: front_of("count_nonzero")(tensor(a), axis),
    np.argsort: lambda a, axis=-1: front_of("argsort")(tensor(a), axis, stable=True),
    np.searchsorted: lambda a, v, side="left": front_of("searchsorted")(tensor(a), tensor(v), side=side),
    np.allclose: _close,
}
"""Questions that ops answer: then it is the answer that was read, which is less than the values."""


def answered(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What NumPy says to a question."""
    if func in KINDS:
        return SIZES.get(func, func)(*glanced(args), **glanced(kwargs))
    if WATCH.count and func in ANSWERS:
        said = func(*glanced(args), **glanced(kwargs))
        try:
            read = ANSWERS[func](*args, **kwargs)
        except (TypeError, ValueError, RuntimeError):  # options that the op has not
            return func(*bare(args), **bare(kwargs))
        if np.array_equal(read._value, said):
            note_read(read, f"{function_name(func)}()")
            return said
    return func(*bare(args), **bare(kwargs))

"""The one place where broadcasting and dtype casts are undone, for every carrier."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from symgrad.dtypes import is_narrow
from symgrad.errors import AutogradError
from symgrad.op import shape_of
from symgrad.ops.elementwise.complex import real
from symgrad.ops.reductions.sums import cast_op, sum_op
from symgrad.ops.shapes.shaping import expand_op, squeeze_op


def fit(g: Any, shape: tuple[Any, ...], dtype: Any) -> Any:
    """``g`` summed to ``shape``, real part taken where the target is real, and cast to ``dtype``."""
    # Constants of a formula are weak: they have no dtype to cast.
    weak = g.dtype is None or dtype is None
    if not weak and g.dtype.kind == "c" and dtype.kind != "c":
        g = real(g)
    if shape_of(g) != shape:
        g = unbroadcast(g, shape)
    if not weak and g.dtype != dtype:
        g = cast_op(g, dtype=dtype.name)
    return g


def unbroadcast(g: Any, shape: tuple[Any, ...]) -> Any:
    """Sum over the axes along which ``shape`` was broadcast to the shape of ``g``."""
    got = shape_of(g)
    axes = _axes(tuple(got), tuple(shape))
    if axes is None:
        if _spreads(got, shape):
            return expand_op(g, shape=shape)
        if _one_size(got, shape):
            return g.relabelled(shape)
        raise AutogradError(
            f"invalid gradient - got {list(got)} but expected shape compatible with {list(shape)}: a result that has a "
            "history got another shape under no_grad(), or through .data. Reshape it with grad, or a detach() of it."
        )
    if g.__class__ is np.ndarray and not is_narrow(g.dtype):
        return sum_op.run(g, dim=axes, keepdim=True).reshape(shape)[()]
    if axes:
        # Arrays of half precision are added in float32, as tensors are: NumPy would round every partial sum.
        half = g.__class__ is np.ndarray and is_narrow(g.dtype)
        g = sum_op.in_float32((g,), {"dim": axes, "keepdim": True}) if half else sum_op(g, dim=axes, keepdim=True)
    lead = len(got) - len(shape)
    return squeeze_op(g, dim=tuple(range(lead))) if lead else g


@functools.lru_cache(maxsize=4096)
def _axes(got: tuple[int, ...], shape: tuple[int, ...]) -> tuple[int, ...] | None:
    """The axes along which ``shape`` was broadcast to ``got``; None where it was not."""
    lead = len(got) - len(shape)
    if lead < 0 or any(a not in (1, b) for a, b in zip(shape, got[lead:], strict=True)):
        return None
    return (*range(lead), *(k + lead for k, size in enumerate(shape) if size == 1 and got[k + lead] != 1))


def _spreads(got: tuple[Any, ...], shape: tuple[Any, ...]) -> bool:
    """A rule may answer with something smaller that broadcasts to the input (a constant slope)."""
    offset = len(shape) - len(got)
    return offset >= 0 and all(a in (1, b) for a, b in zip(got, shape[offset:], strict=True))


def _one_size(got: tuple[Any, ...], shape: tuple[Any, ...]) -> bool:
    """Whether two formulas' shapes differ only in how a size is written: ``n-1`` here, a letter of its own there."""
    return len(got) == len(shape) and all(
        a == b or (isinstance(a, str) and isinstance(b, str) and not (a.isalnum() and b.isalnum()))
        for a, b in zip(got, shape, strict=True)
    )

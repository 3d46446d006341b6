"""Sums of a number and a product that round once, as processors do: behind ``addcmul``, ``add(alpha=)`` and ``lerp``.

Formulas and programs never hold these ops; they hold what the ops mean.
"""

from __future__ import annotations

from typing import Any

from symgrad import kernels, single
from symgrad.dtypes import is_floating
from symgrad.op import Op, elementwise


def fits(*xs: Any) -> bool:
    """Whether operands are arrays of real floats, which is where a last digit can be saved."""
    return all(getattr(x, "dtype", None) is not None and x.dtype.kind != "c" and is_floating(x.dtype) for x in xs)


def times(x: Any, factor: Any) -> Any:
    """``x * factor``, and x itself for 1."""
    return x if factor.__class__ is int and factor == 1 else x * factor


addcmul: Op = elementwise(
    "addcmul",
    kernels.addcmul,
    1,
    lambda out, input, x, y, value: times(y, value),
    lambda out, input, x, y, value: times(x, value),
    None,
    public=(),
    single=single.addcmul,
    define=lambda input, x, y, value: input + times(x * y, value),
    spelled=True,
    domain="real",
    doc="input + value · x · y, the sum rounded once.",
)
lerp: Op = elementwise(
    "lerp",
    kernels.lerp,
    lambda out, input, end, weight: 1 - weight,
    lambda out, input, end, weight: weight,
    lambda out, input, end, weight: end - input,
    public=(),
    single=single.lerp,
    define=lambda input, end, weight: input + weight * (end - input),
    spelled=True,
    domain="real",
    doc="input + weight · (end - input), from the nearer of the two and rounded once.",
)

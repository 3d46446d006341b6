"""Inverses of trigonometric and hyperbolic functions, whose slopes of complex operands are products."""

from __future__ import annotations

from typing import Any

import numpy as np

from symgrad.op import Op, elementwise, is_complex
from symgrad.op.partials import DIVISORS, over
from symgrad.ops.elementwise.smooth import rsqrt, sqrt
from symgrad.precision.single import libms, smooth


def _inverse(name: str, kernel: Any, *partials: Any, **fields: Any) -> Op:
    public = (name, f"arc{name[1:]}")
    return elementwise(name, kernel, *partials, public=public, dtypes="float", sympy=name, c=f"{name}({{0}})", **fields)


asin: Op = _inverse(
    "asin",
    np.arcsin,
    lambda out, x: 1 / sqrt(1 - x**2),
    domain="unit",
    single=smooth(np.arcsin),
    parity="odd",
    regular=(0, "abs({}) < 1"),
    called=r"\arcsin",
    doc="Inverse sine.",
)
acos: Op = _inverse(
    "acos",
    np.arccos,
    lambda out, x: -1 / sqrt(1 - x**2),
    domain="unit",
    single=libms(np.arccos),
    regular=(0, "abs({}) < 1"),
    loses="digits",
    called=r"\arccos",
    doc="Inverse cosine.",
)
atan: Op = _inverse(
    "atan",
    np.arctan,
    over(lambda out, x: x * x + 1),
    single=libms(np.arctan),
    parity="odd",
    loses="digits",
    rises=True,
    called=r"\arctan",
    doc="Inverse tangent.",
)
asinh: Op = _inverse(
    "asinh",
    np.arcsinh,
    lambda out, x: 1 / sqrt(x**2 + 1),
    single=libms(np.arcsinh),
    parity="odd",
    called=r"\operatorname{arcsinh}",
    doc="Inverse hyperbolic sine.",
)
acosh: Op = _inverse(
    "acosh",
    np.arccosh,
    over(lambda out, x: sqrt((x - 1) * (x + 1))),
    domain="above-one",
    single=libms(np.arccosh),
    regular=(0, "{} > 1"),
    loses="digits",
    called=r"\operatorname{arccosh}",
    doc="Inverse hyperbolic cosine.",
)
atanh: Op = _inverse(
    "atanh",
    np.arctanh,
    over(lambda out, x: 1 - x**2),
    domain="unit",
    single=libms(np.arctanh),
    parity="odd",
    regular=(0, "abs({}) < 1"),
    called=r"\operatorname{arctanh}",
    doc="Inverse hyperbolic tangent.",
)


def _sloping(op: Op, slope: Any, real: Any = None) -> None:
    """Set the slope of complex operands, and the rule of real ones where torch's steps are others than the partial's.

    The square of a large number is infinite, and 1 - x² cancels next to 1.  Reciprocals of roots come before their
    product: that of two infinite roots is nan, and the slope out there is 0.
    """
    of_real = real or op.vjps[0]
    divides = slope in DIVISORS

    def backwards(g: Any, out: Any, x: Any) -> Any:
        from symgrad.ops.elementwise.complex import conj

        return g / conj(slope(x)) if divides else g * conj(slope(x))

    def forwards(g: Any, out: Any, x: Any) -> Any:
        if not is_complex(x):
            return of_real(g, out, x)
        return g / slope(x) if divides else g * slope(x)

    op.vjps, op.conj_vjps, op.jvps = (of_real,), (backwards,), (forwards,)


_sloping(asin, lambda x: rsqrt(1 - x) * rsqrt(1 + x), lambda g, out, x: g * rsqrt(1 - x * x))
_sloping(acos, lambda x: -(rsqrt(1 - x) * rsqrt(1 + x)), lambda g, out, x: g * -rsqrt(1 - x * x))
_sloping(asinh, lambda x: rsqrt(1 - 1j * x) * rsqrt(1 + 1j * x), lambda g, out, x: g * rsqrt(x**2 + 1))
_sloping(acosh, lambda x: rsqrt(x - 1) * rsqrt(x + 1), lambda g, out, x: g * rsqrt(x * x - 1))
# One division, which is infinite at the poles as torch's.
_sloping(atan, over(lambda x: (1 - 1j * x) * (1 + 1j * x)))
_sloping(atanh, over(lambda x: (1 - x) * (1 + x)))

"""Exact constants for rules: they print as symbols and take the dtype of what they meet.

``PI`` and ``exact(2)`` flow through ops as a carrier of their own, so ``2 / sqrt(PI)`` stays exact in a formula and is
one weak Python float next to an array.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from symgrad.op import Op, lookup, register_carrier


class Constant:
    """A real number known exactly: a name, an exact rational, or an op applied to such numbers."""

    __slots__ = ("args", "op", "params", "value")
    __array_ufunc__ = None

    def __init__(self, op: Op | str, args: tuple[Any, ...], value: float, params: dict[str, Any] | None = None):
        self.op = op
        self.args = args
        self.value = value
        self.params = params or {}

    def __float__(self) -> float:
        return float(self.value)

    def __repr__(self) -> str:
        if isinstance(self.op, str):
            return self.op
        return f"{self.op.name}({', '.join(map(repr, self.args))})"

    def __neg__(self) -> Constant:
        return _apply(lookup("neg"), (self,), {})  # type: ignore[no-any-return]

    def __add__(self, other: Any) -> Any:
        return _binary("add", self, other)

    def __radd__(self, other: Any) -> Any:
        return _binary("add", other, self)

    def __sub__(self, other: Any) -> Any:
        return _binary("sub", self, other)

    def __rsub__(self, other: Any) -> Any:
        return _binary("sub", other, self)

    def __mul__(self, other: Any) -> Any:
        return _binary("mul", self, other)

    def __rmul__(self, other: Any) -> Any:
        return _binary("mul", other, self)

    def __truediv__(self, other: Any) -> Any:
        return _binary("div", self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return _binary("div", other, self)

    def __pow__(self, other: Any) -> Any:
        return _binary("pow", self, other)


def _binary(name: str, x: Any, y: Any) -> Any:
    for operand in (x, y):
        if not isinstance(operand, (Constant, int, float, Fraction, np.ndarray, np.generic)):
            return NotImplemented
    return lookup(name)(x, y)


def _apply(op: Op, args: tuple[Any, ...], params: dict[str, Any]) -> Any:
    values = [float(a) if isinstance(a, (Constant, Fraction)) else a for a in args]
    if any(isinstance(a, (np.ndarray, np.generic)) for a in args):
        return op.kernel(*values, **params)
    return Constant(op, args, float(op.kernel(*values, **params)), params)


register_carrier(Constant, 0, _apply)

PI = Constant("pi", (), math.pi)


class NamedFloat(float):
    """A Python float that formulas show exactly: ``symgrad.pi`` is ``math.pi`` in numbers and π in formulas."""

    exact: Constant

    def __reduce__(self) -> tuple[Any, ...]:
        return (named_pi, ())


def named_pi() -> NamedFloat:
    """The number π under its name."""
    made = NamedFloat(math.pi)
    made.exact = PI
    return made


def exact(value: int | Fraction) -> Constant:
    """An exact rational, so that ``log(exact(2))`` stays ``log(2)`` in a formula."""
    return Constant(str(value), (value,), float(value))


_ONES = {np.dtype(char): np.ones((), char) for char in "fd"}


def one(like: Any) -> Any:
    """The number 1 next to an operand: NumPy takes longer to read a Python number than to compute with small arrays."""
    return _ONES.get(like.dtype, 1) if like.__class__ is np.ndarray else 1

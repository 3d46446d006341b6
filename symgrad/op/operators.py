"""Python's operators and their ops, for the classes whose values ops act on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from symgrad.op.record import lookup

ARITHMETIC = {
    "add": "add", "sub": "sub", "mul": "mul", "truediv": "div", "pow": "pow", "matmul": "matmul",
    "floordiv": "floor_divide", "mod": "remainder",
}  # fmt: skip
"""The arithmetic operators, which have a reflected form, and their ops."""

WRITTEN = frozenset({*ARITHMETIC.values(), "neg"})
"""Ops whose texts are operators, and no calls of functions."""

COMPARISONS = ("lt", "le", "gt", "ge", "eq", "ne")
"""The operators that compare, called as their ops are."""


class Operand:
    """The base of what ops act on in place of a tensor: the operators and views that take nothing beside it."""

    __slots__ = ()

    @property
    def T(self: Any) -> Any:  # noqa: N802  (NumPy's name)
        """The axes in reverse order."""
        return lookup("permute")(self, dims=tuple(reversed(range(self.ndim))))

    def __neg__(self) -> Any:
        return lookup("neg")(self)

    def __abs__(self) -> Any:
        return lookup("abs")(self)

    def __invert__(self) -> Any:
        return lookup("logical_not")(self)


def bind_operators(cls: type, by_identity: bool = False) -> None:
    """Give a class the operators, as ops; values that are equal ``by_identity`` keep their ``==``."""
    for name, op in ARITHMETIC.items():
        setattr(cls, f"__{name}__", _operator(op))
        setattr(cls, f"__r{name}__", _operator(op, reflected=True))
    for name in COMPARISONS[:4] if by_identity else COMPARISONS:
        setattr(cls, f"__{name}__", _operator(name))
    for name in ("and", "or", "xor"):
        setattr(cls, f"__{name}__", _operator(f"logical_{name}"))


def _operator(name: str, reflected: bool = False) -> Callable[[Any, Any], Any]:
    def call(self: Any, other: Any) -> Any:
        return lookup(name)(other, self) if reflected else lookup(name)(self, other)

    return call

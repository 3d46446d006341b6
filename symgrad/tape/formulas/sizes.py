"""Numbers that know they are sizes, or made of sizes, so that formulas show letters and not numbers."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, Self

import numpy as np

LONGEST = 8
"""Steps of arithmetic that a number remembers, with those of the numbers it met; after more of them it is plain."""

_STEPS: dict[str, Callable[[Any, Any], Any]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": operator.truediv,
    "pow": operator.pow,
}


def _method(name: str, turned: bool = False) -> Any:
    """The method of an operator, with the number on the right when ``turned``."""
    call = _STEPS[name]
    special = f"__{'r' if turned else ''}{call.__name__}__"

    def method(self: Any, other: Any) -> Any:
        kind = self._plain
        if other.__class__ is np.float64:  # np.log(2 * np.pi)
            other = float(other)
        other_kind = other.__class__
        if other_kind is int or other_kind is float:
            plain, count = other, 1
        elif other_kind is Size or other_kind is Measure:
            plain, count = other._plain(other), 1 + _count(other)
        else:
            return getattr(kind, special)(kind(self), other)  # a tensor is asked with the size as it is
        value = call(plain, kind(self)) if turned else call(kind(self), plain)
        if _count(self) + count > LONGEST:
            return value
        steps = (*self.steps, ("r" + name if turned else name, other))
        made = {int: Size, float: Measure}.get(value.__class__)
        return value if made is None else made(value, self.factors, steps)

    return method


def _count(made: Any) -> int:
    """How many steps of arithmetic a number remembers."""
    return sum(1 + (_count(other) if isinstance(other, _Made) else 0) for _, other in made.steps)


class _Made:
    """A number made of the product of the sizes ``factors`` by ``steps`` of arithmetic."""

    _plain: type
    factors: tuple[int, ...]
    steps: tuple[tuple[str, Any], ...]

    __add__, __radd__ = _method("add"), _method("add", True)
    __sub__, __rsub__ = _method("sub"), _method("sub", True)
    __mul__, __rmul__ = _method("mul"), _method("mul", True)
    __truediv__, __rtruediv__ = _method("div"), _method("div", True)
    __pow__ = _method("pow")

    def __neg__(self) -> Any:
        return self * -1

    def __reduce__(self) -> tuple[Any, ...]:
        # Whoever is sent a shape need not have this library; only the record of a graph keeps sizes as sizes.
        return (self._plain, (self._plain(self),))

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: Any) -> Self:
        return self


class Size(_Made, int):
    """An int that is a size, a product of sizes or made of one: n, nm, n - 1."""

    _plain = int

    def __new__(cls, value: int, factors: tuple[int, ...] | None = None, steps: tuple[Any, ...] = ()) -> Self:
        """A size, or a number made of the sizes ``factors``."""
        made = super().__new__(cls, value)
        made.factors = (int(value),) if factors is None else factors
        made.steps = steps
        return made

    def __mul__(self, other: Any) -> Any:
        if other.__class__ is Size and not self.steps:
            if other.steps:
                return other * self
            kept = tuple(f for f in self.factors + other.factors if f != 1)
            return Size(int(self) * int(other), kept)
        return super().__mul__(other)


class Measure(_Made, float):
    """A float made of sizes: n/2, the root of n."""

    _plain = float

    def __new__(cls, value: float, factors: tuple[int, ...], steps: tuple[Any, ...]) -> Self:
        """A number made of the sizes ``factors``."""
        made = super().__new__(cls, value)
        made.factors, made.steps = factors, steps
        return made

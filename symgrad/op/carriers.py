"""What flows through ops: carriers register themselves here, and no op knows one by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from symgrad.op.record import Op


class Carrier:
    """What flows through ops: a class of values and the function that applies an op to them."""

    __slots__ = ("apply", "rank")

    def __init__(self, rank: int, apply: Callable[[Op, tuple[Any, ...], dict[str, Any]], Any]):
        self.rank = rank
        self.apply = apply


CARRIERS: dict[type, Carrier | None] = {}
"""The carrier of every class that was met; None for arrays and numbers."""

_BASES: list[tuple[type, Carrier]] = []


def register_carrier(cls: type, rank: int, apply: Callable[[Op, tuple[Any, ...], dict[str, Any]], Any]) -> None:
    """Let ``cls`` flow through every op; among several carriers in one call the highest rank decides."""
    _BASES.append((cls, Carrier(rank, apply)))
    CARRIERS.clear()


def carrier_of(cls: type) -> Carrier | None:
    """The carrier of a class, or None for arrays and numbers."""
    try:
        return CARRIERS[cls]
    except KeyError:
        known = dict(_BASES)
        found = next((known[base] for base in cls.__mro__ if base in known), None)
        CARRIERS[cls] = found
        return found


def is_complex(*values: Any) -> bool:
    """Whether any value has a complex dtype; numbers, and constants of formulas (which are weak), are looked at."""
    for value in values:
        dtype = getattr(value, "dtype", None)
        if dtype is not None:
            if dtype.kind == "c":
                return True
        elif isinstance(getattr(value, "number", value), complex) or getattr(value, "weak_complex", False):
            return True
    return False


class Length(int):
    """A length of a tensor on its way through this library: an int that programs of graphs know from a user's number.

    A product of lengths is one, too; what else is computed of it is a plain int.
    """

    __slots__ = ()

    def __mul__(self, other: Any) -> Any:
        made = int.__mul__(self, other)
        return Length(made) if other.__class__ is Length or (other.__class__ is int and other == 1) else made

    __rmul__ = __mul__

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        """NumPy takes no number for a weak one whose class is another than int: 3 beside float32 is float32."""
        return getattr(ufunc, method)(*(int(x) if isinstance(x, Length) else x for x in inputs), **options)


class Rest(Length):
    """The size that -1 stands for in a shape: what the others, which may be a user's numbers, leave."""

    __slots__ = ()


_LENGTHS: dict[tuple[Any, ...], tuple[Any, ...]] = {}
"""Shapes as they were asked for, and with marks."""


def lengths(shape: tuple[Any, ...]) -> tuple[Any, ...]:
    """A shape with its plain ints as lengths."""
    if len(_LENGTHS) > 4096:
        _LENGTHS.clear()
    made = tuple(Length(n) if n.__class__ is int else n for n in shape)
    _LENGTHS[shape] = made
    return made


def as_size(size: Any) -> Any:
    """A size as an int: with its mark, if it is a length or one that a user took from a tensor, as it is or halved.

    What is made of sizes in a way that formulas do not write is a number, which a program holds for.
    """
    if size.__class__ is Length:
        return size
    return size.kept() if hasattr(size, "kept") else int(fixed(size))


def length_of(x: Any, axis: int) -> Any:
    """The length of an axis for arithmetic; that of a tensor remembers its steps, as the numbers of users do.

    The program of a recorded graph holds where the numbers are the same that were made of its sizes.
    """
    return (x.shape if hasattr(x, "raw_shape") else shape_of(x))[axis]


def of_this_length(x: Any, axis: int, numbers: Iterable[int]) -> list[int]:
    """Numbers for parameters of ops that are others where the axis has another length."""
    length = length_of(x, axis)
    return [length.standing_for(n) for n in numbers] if hasattr(length, "standing_for") else list(numbers)


def fixed(number: Any) -> Any:
    """What was made of sizes as a number, by which a function goes its way: its program holds where it is the same."""
    return number.fixed() if hasattr(number, "fixed") else number


def fixed_length(x: Any, axis: int) -> Any:
    """The length of an axis for a function that does something else at every length."""
    return fixed(length_of(x, axis))


def shape_of(x: Any) -> tuple[Any, ...]:
    """The shape of any carrier, array or number.

    Carriers may offer ``raw_shape`` where ``shape`` is made for users; NumPy's own function would look for an override.
    """
    shape = getattr(x, "raw_shape", None)
    if shape is not None:
        return (_LENGTHS.get(shape) or lengths(shape)) if shape else shape
    shape = getattr(x, "shape", None)
    if shape is not None:
        return shape  # type: ignore[no-any-return]
    if isinstance(x, (list, tuple)):
        return (len(x), *shape_of(x[0])) if x else (0,)
    if x is None:
        raise TypeError("None stands where a tensor is expected")
    return ()

"""Numbers, dtypes and names as NumPy source: what stands in the text of a program besides calls."""

from __future__ import annotations

import contextlib
from fractions import Fraction
from typing import Any

import numpy as np

from symgrad.formula.term import NUMBER, SIZE, Term
from symgrad.op.operators import WRITTEN
from symgrad.ops.elementwise.arithmetic import closed


class Endless(float):
    """A float that may be infinite or nan, which texts name by its source."""

    def __repr__(self) -> str:
        return number_text(float(self))

    __str__ = __repr__

    def __format__(self, spec: str) -> str:
        return format(repr(self), spec)


def typed_number(text: str, dtype: Any) -> str:
    """A plain number that has a dtype: float64 by how it is written."""
    return f"{text}.0" if dtype == np.float64 and text.isdigit() else f"np.{_dtype_name(dtype)}({text})"


def number_dtype(number: Term, user: Term) -> str:
    """The dtype of a plain number that must be a NumPy scalar: that of its user, but complex stays complex."""
    dtype = number.dtype or user.dtype or np.dtype(np.float64)
    if user.dtype is not None and user.dtype.kind == dtype.kind:  # what a function makes of a number is as weak
        dtype = user.dtype
    if isinstance(number.number, complex) and dtype.kind != "c":
        narrow = {np.dtype(np.float32), np.dtype(np.complex64)}
        others = {a.dtype for a in user.args if a is not number and a.dtype is not None}
        dtype = np.dtype(np.complex64 if others and others <= narrow else np.complex128)
    return _dtype_name(dtype)


def free(name: str, taken: set[str]) -> str:
    """The name, with underscores behind it where it is taken."""
    while name in taken:
        name += "_"
    return name


def plain_text(value: Any) -> str:
    """Source of an option; names of sizes in a tuple stand as they are."""
    if isinstance(value, tuple) and all(isinstance(v, str) for v in value):
        return f"({', '.join(value)}{',' if len(value) == 1 else ''})"
    return number_text(value) if isinstance(value, float) else repr(value)


def sample(term: Term) -> Any:
    """A Python number of the kind that a weak term has."""
    return type(_example(term))(1)


def _example(term: Term) -> Any:
    """A value that a weak term may have: operators make Python's numbers of these, and functions are made floats."""
    if term.op is NUMBER:
        return 1.0 if isinstance(term.number, (str, Fraction)) else term.number
    if term.op is SIZE:
        return 2
    if term.op.name in WRITTEN:
        with np.errstate(all="ignore"), contextlib.suppress(ArithmeticError, TypeError, ValueError):
            return np.asarray(term.op.kernel(*map(_example, term.args))).item()
    return 1.0


def number_text(value: Any) -> str:
    """Source of a constant that gives it back to the last bit.

    >>> number_text(0.1 + 0.2), number_text(Fraction(1, 3)), number_text(float("inf")), number_text(-0.0)
    ('0.30000000000000004', '1 / 3', 'np.inf', '-0.0')
    >>> number_text(1j), number_text(-1j), number_text(2 + 1j)
    ('1j', 'complex(-0.0, -1.0)', 'complex(2.0, 1.0)')
    """
    if isinstance(value, str):
        return f"np.{value}"
    if isinstance(value, Fraction):
        return f"{value.numerator} / {value.denominator}"
    if isinstance(value, complex):
        if repr(value.real) == "0.0" and 0 < value.imag < np.inf:
            return repr(value)
        return f"complex({number_text(value.real)}, {number_text(value.imag)})"
    if isinstance(value, float):
        if value != value:
            return "np.nan"
        if value in (np.inf, -np.inf):
            return "np.inf" if value > 0 else "-np.inf"
        return repr(float(value))
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 2**63:
        return repr(float(value))
    return repr(value)


def _dtype_name(dtype: Any) -> str:
    return str(np.dtype(dtype).name)


def as_dtype(text: str, dtype: Any, shape: tuple[Any, ...]) -> str:
    """A text cast to a dtype: an array by its method, a number by the scalar type."""
    name = _dtype_name(dtype)
    if name == "bfloat16":  # no attribute of NumPy; the text works wherever ml_dtypes has been loaded
        return f'{closed(text)}.astype("{name}")' if shape else f'np.dtype("{name}").type({text})'
    return f"{closed(text)}.astype(np.{name})" if shape else f"np.{name}({text})"

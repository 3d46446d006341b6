"""What ``x.dtype`` is: NumPy's dtype, with the attributes that torch's dtypes have.

Inside of the library dtypes are NumPy's.  These objects stand for them wherever a user sees one; NumPy's functions take
them, and they are equal to what they stand for.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from symgrad import dtypes
from symgrad.errors import DtypeError


class dtype:  # noqa: N801  (torch's name)
    """A dtype: equal to NumPy's and taken by its functions, with torch's attributes beside NumPy's.

    There is one object for each dtype: ``x.dtype is symgrad.float64`` may be asked.  The argument is whatever names a
    dtype; ``DtypeError`` is raised for anything else.

    >>> import numpy as np
    >>> import symgrad as sg
    >>> sg.float64.is_floating_point, sg.float64.is_complex, sg.float64.itemsize, sg.float64.kind
    (True, False, 8, 'f')
    >>> sg.float64 == np.float64, np.zeros(2, dtype=sg.float64).dtype
    (True, dtype('float64'))
    >>> sg.dtype("float64") is sg.ones(2, dtype=np.float64).dtype
    True
    """

    __slots__ = ("char", "dtype", "is_complex", "is_floating_point", "is_signed", "itemsize", "kind", "name", "type")

    dtype: np.dtype[Any]
    """NumPy's, by which its functions take this one."""

    def __new__(cls, of: Any) -> Any:  # noqa: D102  (there is one object for each dtype)
        return shown(dtypes.as_dtype(of))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.dtype, name)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"a dtype cannot be changed: {self}.{name} = {value!r:.60}")

    def __eq__(self, other: object) -> bool:
        if other.__class__ is dtype or other is None:  # NumPy takes None for float64
            return self is other
        if other.__class__.__module__ == "torch":  # its own dtypes, whose texts tell what they are
            return f"torch.{self.name}" == str(other)
        try:
            return bool(self.dtype == other)
        except TypeError:
            return False

    def __hash__(self) -> int:
        return hash(self.dtype)

    def __repr__(self) -> str:
        return repr(self.dtype)

    def __str__(self) -> str:
        return str(self.dtype)

    def __reduce__(self) -> Any:
        return dtype, (self.dtype,)

    def to_complex(self) -> Any:
        """The complex dtype with parts of this one; ``DtypeError``, as in torch, where there is none.

        >>> dtype("float64").to_complex()
        dtype('complex128')
        """
        if self.is_complex:
            return self
        if not self.is_floating_point or (self.kind == "f" and self.itemsize == 2):
            raise DtypeError(f"Unknown Complex ScalarType for {dtypes.torch_name(self.dtype)}")
        return shown(dtypes.complex128 if self.dtype == dtypes.float64 else dtypes.complex64)

    def to_real(self) -> Any:
        """The dtype of the parts of complex numbers.

        >>> dtype("complex64").to_real()
        dtype('float32')
        """
        return shown(dtypes.real_part(self.dtype))


class _Objects(dict[np.dtype[Any], dtype]):
    """The object that stands for each dtype of NumPy's, made when it is first asked for."""

    def __missing__(self, of: np.dtype[Any]) -> dtype:
        new = object.__new__(dtype)
        floating = dtypes.is_real_floating(of)
        facts = {
            "dtype": of,
            "kind": of.kind,
            "char": of.char,
            "name": of.name,
            "itemsize": of.itemsize,
            "type": of.type,
            "is_floating_point": floating,
            "is_complex": of.kind == "c",
            "is_signed": floating or of.kind in "ic",
        }
        for name, value in facts.items():
            object.__setattr__(new, name, value)
        return self.setdefault(of, new)


KINDS = (np.dtype, dtype)
"""The classes of dtypes that a user may give."""


shown = _Objects().__getitem__
"""The object that stands for a dtype of NumPy's."""

bool_ = shown(dtypes.bool_)
uint8, uint16, uint32, uint64 = (shown(of) for of in (dtypes.uint8, dtypes.uint16, dtypes.uint32, dtypes.uint64))
int8, int16, int32, int64 = (shown(of) for of in (dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64))
short, long = int16, int64
float16, float32, float64 = (shown(of) for of in (dtypes.float16, dtypes.float32, dtypes.float64))
half, double = float16, float64
complex64, complex128 = shown(dtypes.complex64), shown(dtypes.complex128)
cfloat, cdouble = complex64, complex128


def get_default_dtype() -> dtype:
    """The dtype given to Python floats; ``float32`` unless changed, as in torch.

    >>> import symgrad as sg
    >>> sg.get_default_dtype()
    dtype('float32')
    """
    return shown(dtypes.get_default_dtype())

"""What flows through ops in place of a tensor: its methods, from the table.

A class needs a shape (``raw_shape``), a ``dtype`` and ``to``; everything else is done by ops.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from symgrad.dtypes import complex64, complex128, float16, float32, float64, from_type_name, type_name
from symgrad.op import FRONTS, Op, known_as, lookup, shape_of
from symgrad.op.operators import Operand, bind_operators


class Carried(Operand):
    """The base of carriers that stand for arrays."""

    __slots__ = ()
    __array_ufunc__: Any = None

    to: Callable[..., Any]
    beneath: Any = None
    """What it moves from, where it is one value that moves."""

    @property
    def raw_shape(self) -> tuple[int, ...]:
        """The sizes as plain ints."""
        raise NotImplementedError

    @property
    def shape(self) -> Any:
        """The sizes."""
        return self.raw_shape

    @property
    def dtype(self) -> Any:
        """The NumPy dtype."""
        raise NotImplementedError

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.raw_shape)

    def dim(self) -> int:
        """Number of axes."""
        return self.ndim

    def numel(self) -> int:
        """Number of entries."""
        return int(np.prod(self.raw_shape, dtype=int))

    def size(self, dim: int | None = None) -> Any:
        """The shape, or the size of one axis."""
        return self.shape if dim is None else self.shape[dim]

    def sizes(self, dim: tuple[int, ...]) -> Any:
        """Number of entries along ``dim``."""
        return int(np.prod([self.raw_shape[k] for k in dim], dtype=int))

    def full_like(self, value: Any) -> Any:
        """A constant of this shape and dtype."""
        return np.full(self.raw_shape, value, self.dtype)[()]

    @property
    def mT(self) -> Any:  # noqa: N802  (torch's name)
        """The last two axes exchanged."""
        from symgrad.ops.shapes.shaping import mT

        return mT(self)

    @property
    def real(self) -> Any:
        """Real part."""
        return lookup("real")(self) if self.dtype.kind == "c" else self

    @property
    def imag(self) -> Any:
        """Imaginary part."""
        return lookup("imag")(self)

    def bfloat16(self) -> Any:
        """In half precision with a wide range."""
        return self.to("bfloat16")

    def is_same_size(self, other: Any) -> bool:
        """Whether another tensor has the same shape."""
        return self.raw_shape == tuple(shape_of(other))

    def type(self, dtype: Any = None) -> Any:
        """torch's name of the type, or the value as another type."""
        return type_name(self.dtype) if dtype is None else self.to(from_type_name(dtype))

    def to_dense(self, dtype: Any = None) -> Any:
        """The same, which is dense, or in another dtype."""
        return self if dtype is None else self.to(dtype)

    def type_as(self, other: Any) -> Any:
        """The dtype of another tensor."""
        return self.to(other.dtype)

    def contiguous(self, **_: Any) -> Any:
        """The same."""
        return self

    def where(self, condition: Any, other: Any) -> Any:
        """These entries where the condition holds, those of ``other`` elsewhere."""
        return lookup("where")(condition, self, other)

    def cpu(self) -> Any:
        """The same: there is no other device."""
        return self

    @property
    def mH(self) -> Any:  # noqa: N802  (torch's name)
        """The last two axes exchanged, and conjugated."""
        return self.mT.conj()

    H = mH

    def adjoint(self) -> Any:
        """The last two axes exchanged, and conjugated."""
        return self.mH if self.ndim > 1 else FRONTS["adjoint"].call(self)

    def __getitem__(self, index: Any) -> Any:
        from symgrad.ops.indexing.getitem import getitem

        return getitem(self, index)

    def __len__(self) -> int:
        return int(self.raw_shape[0])

    def __iter__(self) -> Iterator[Any]:
        return iter([self[k] for k in range(len(self))])

    def __pos__(self) -> Any:
        return self


_CASTS = {"half": float16, "float": float32, "double": float64, "cfloat": complex64, "cdouble": complex128}


def _caster(dtype: Any) -> Callable[[Any], Any]:
    return lambda self: self.to(dtype)


def _bind() -> None:
    for name, dtype in _CASTS.items():
        setattr(Carried, name, _caster(dtype))
    for name, entry in FRONTS.items():
        if entry.method and name not in Carried.__dict__:
            setattr(Carried, name, entry.call if not isinstance(entry.call, Op) else _method(entry.call))
    bind_operators(Carried)


def _method(op: Op) -> Callable[..., Any]:
    def call(*args: Any, **params: Any) -> Any:
        return op(*args, **params)

    return known_as(call, op.name, op.doc)


_bind()
Carried.__hash__ = object.__hash__  # type: ignore[method-assign]

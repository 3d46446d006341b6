"""Linear maps with the face of SciPy's ``LinearOperator``: what they do to vectors, and no matrix.

``scipy.sparse.linalg`` takes them as they are, by their ``shape``, ``dtype``, ``matvec`` and ``rmatvec``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from symgrad.errors import ArgumentError, ShapeError
from symgrad.tape.record import Recorded, plain
from symgrad.tensor import Tensor

Product = Callable[[Any], Any]
_NUMBERS = (int, float, complex, np.number)


class LinearOperator:
    """A matrix that is known by its products, of ``shape`` (rows, columns).

    ``matvec(v)`` and ``matmat(V)`` multiply by a vector of shape (columns,) or (columns, 1) and by a matrix of shape
    (columns, k); ``rmatvec`` and ``rmatmat`` by the conjugate transpose; ``A @ v`` does either, or composes two
    operators.  ``A.T``, ``A.H``, sums, differences and multiples are operators again; ``toarray()`` is the matrix.
    Arrays give arrays, and tensors give tensors without a history: one that requires grad is refused.  Raises
    ``ShapeError`` where shapes do not fit.

    >>> import numpy as np
    >>> A = LinearOperator((2, 2), float, lambda v: 2 * v, lambda v: 2 * v, name="A")
    >>> A, A @ np.ones(2), (3 * A.T + A).toarray()
    (<2x2 LinearOperator of float64: A>, array([2., 2.]), array([[8., 0.],
           [0., 8.]]))
    """

    __array_ufunc__ = None  # an array on the left leaves the product to the operator

    def __init__(
        self,
        shape: tuple[int, int],
        dtype: Any,
        matvec: Product,
        rmatvec: Product,
        *,
        matmat: Product | None = None,
        rmatmat: Product | None = None,
        name: str | Callable[[], str] = "",
    ):
        self.shape = shape
        self.dtype = np.dtype(dtype)
        self.ndim = 2
        self._vectors = matvec, rmatvec
        self._matrices = matmat, rmatmat
        self._name = name

    @property
    def name(self) -> str:
        """What it is called, or its formula."""
        return self._name if isinstance(self._name, str) else self._name()

    def __repr__(self) -> str:
        name = self.name
        return f"<{self.shape[0]}x{self.shape[1]} {type(self).__name__} of {self.dtype}{': ' if name else ''}{name}>"

    # ------------------------------------------------------------------------------------------ products

    def matvec(self, v: Any) -> Any:
        """The product with a vector."""
        return self._vector(v, 0)

    def rmatvec(self, v: Any) -> Any:
        """The product of the conjugate transpose with a vector."""
        return self._vector(v, 1)

    def matmat(self, V: Any) -> Any:
        """The product with a matrix."""
        return self._matrix(V, 0)

    def rmatmat(self, V: Any) -> Any:
        """The product of the conjugate transpose with a matrix."""
        return self._matrix(V, 1)

    def _vector(self, v: Any, side: int) -> Any:
        value = _array(v)
        count = self.shape[1 - side]
        if value.shape not in ((count,), (count, 1)):
            raise ShapeError(
                f"the product of {self!r} {'(conjugate transpose) ' * side}takes a vector of shape ({count},) or "
                f"({count}, 1); it got shape {value.shape}."
            )
        found = np.asarray(self._vectors[side](value.reshape(-1))).reshape((-1, *value.shape[1:]))
        return plain(Tensor, found) if isinstance(v, Recorded) else found

    def _matrix(self, V: Any, side: int) -> Any:
        value = _array(V)
        count = self.shape[1 - side]
        if value.ndim != 2 or len(value) != count:
            raise ShapeError(
                f"the product of {self!r} {'(conjugate transpose) ' * side}takes a matrix of {count} rows; it got "
                f"shape {value.shape}."
            )
        together = self._matrices[side]
        if together is not None and value.shape[1]:
            found = np.asarray(together(value))
        else:
            dtype = np.result_type(self.dtype, value.dtype)
            found = np.empty((self.shape[side], value.shape[1]), dtype)
            for k in range(value.shape[1]):
                found[:, k] = self._vectors[side](value[:, k])
        return plain(Tensor, found) if isinstance(V, Recorded) else found

    def __matmul__(self, other: Any) -> Any:
        if isinstance(other, LinearOperator):
            return self._composed(other)
        return self.matmat(other) if np.ndim(_array(other)) == 2 else self.matvec(other)

    def __rmatmul__(self, other: Any) -> Any:
        value = _array(other)
        found = (self.T @ value.T).T
        return plain(Tensor, found) if isinstance(other, Recorded) else found

    __call__ = __matmul__
    dot = __matmul__

    def toarray(self) -> Any:
        """The matrix."""
        return self.matmat(np.eye(self.shape[1], dtype=self.dtype))

    # ------------------------------------------------------------------------------------------ other operators

    @property
    def H(self) -> LinearOperator:  # noqa: N802  (SciPy's name)
        """The conjugate transpose."""
        mark = "ᴴ" if self.dtype.kind == "c" else "ᵀ"
        return LinearOperator(
            self.shape[::-1], self.dtype, *self._vectors[::-1], matmat=self._matrices[1], rmatmat=self._matrices[0],
            name=lambda: f"({self.name}){mark}",
        )  # fmt: skip

    @property
    def T(self) -> LinearOperator:  # noqa: N802  (SciPy's name)
        """The transpose."""
        if self.dtype.kind != "c":
            return self.H
        forward, back = self._vectors
        return LinearOperator(
            self.shape[::-1],
            self.dtype,
            lambda v: np.conj(back(np.conj(v))),
            lambda v: np.conj(forward(np.conj(v))),
            name=lambda: f"({self.name})ᵀ",
        )

    def adjoint(self) -> LinearOperator:
        """The conjugate transpose."""
        return self.H

    def transpose(self) -> LinearOperator:
        """The transpose."""
        return self.T

    def _composed(self, other: LinearOperator) -> LinearOperator:
        if self.shape[1] != other.shape[0]:
            raise ShapeError(
                f"{self!r} and {other!r} cannot be multiplied: {self.shape[1]} columns, {other.shape[0]} rows."
            )
        return LinearOperator(
            (self.shape[0], other.shape[1]),
            np.result_type(self.dtype, other.dtype),
            lambda v: self.matvec(other.matvec(v)),
            lambda v: other.rmatvec(self.rmatvec(v)),
            matmat=lambda V: self.matmat(other.matmat(V)),
            rmatmat=lambda V: other.rmatmat(self.rmatmat(V)),
            name=lambda: f"({self.name}) ({other.name})",
        )

    def __add__(self, other: Any) -> LinearOperator:
        if not isinstance(other, LinearOperator):
            return NotImplemented
        if self.shape != other.shape:
            raise ShapeError(f"{self!r} and {other!r} cannot be added: their shapes differ.")
        return LinearOperator(
            self.shape,
            np.result_type(self.dtype, other.dtype),
            lambda v: self.matvec(v) + other.matvec(v),
            lambda v: self.rmatvec(v) + other.rmatvec(v),
            matmat=lambda V: self.matmat(V) + other.matmat(V),
            rmatmat=lambda V: self.rmatmat(V) + other.rmatmat(V),
            name=lambda: f"{self.name} + {other.name}",
        )

    def __mul__(self, factor: Any) -> LinearOperator:
        if not isinstance(factor, _NUMBERS):
            return NotImplemented
        back = np.conj(factor)
        return LinearOperator(
            self.shape,
            np.result_type(
                self.dtype,
                np.asarray(factor).dtype if isinstance(factor, (complex, np.complexfloating)) else self.dtype,
            ),
            lambda v: factor * self.matvec(v),
            lambda v: back * self.rmatvec(v),
            matmat=lambda V: factor * self.matmat(V),
            rmatmat=lambda V: back * self.rmatmat(V),
            name=lambda: f"{factor} ({self.name})",
        )

    __rmul__ = __mul__

    def __neg__(self) -> LinearOperator:
        return self * -1

    def __sub__(self, other: Any) -> LinearOperator:
        return self + (-other) if isinstance(other, LinearOperator) else NotImplemented


def _array(v: Any) -> Any:
    if hasattr(v, "tangent") or (isinstance(v, Recorded) and v._requires_grad):
        raise ArgumentError(
            "an operator gives numbers, through which no derivative is taken: detach() the vector, or use func.jvp and "
            "func.vjp, which can be differentiated."
        )
    return v._value if isinstance(v, Recorded) else np.asarray(v)

"""The compressed result: a sparse matrix of derivatives, and how its entries are read from compressed passes."""

from __future__ import annotations

from typing import Any

import numpy as np

from symgrad.autograd.sparsity.colours import Plan, count_of
from symgrad.autograd.sparsity.pattern import Pattern
from symgrad.errors import ShapeError
from symgrad.sparse import SparseTensor
from symgrad.tape.record import plain
from symgrad.tape.watching.following import numbers_of
from symgrad.tensor import Tensor


class SparseMatrix:
    """A Jacobian or Hessian that stores the entries of its pattern only, row by row (CSR).

    Rows are the entries of the output, columns those of the argument, each in row-major order.  The entries are numbers
    without history, and ``J @ v`` raises ``ArgumentError`` for a v by which somebody differentiates.

    data      the entries
    indices   the column of every entry
    indptr    row ``r`` has the entries from ``indptr[r]`` to ``indptr[r + 1]``
    pattern   the places; other calls take it as ``pattern=``, with the colouring that was found
    passes    how many compressed passes over the graph it took, of ``mode`` "rows" (backward), "columns" (forward),
              "both", or "star" (Hessian-vector products)

    >>> import symgrad as sg, numpy as np
    >>> J = sg.func.sparse_jacobian(lambda x: x[1:] * x[:-1])(np.array([1.0, 2.0, 3.0]))
    >>> J.shape, J.nnz, J.indices, J @ np.ones(3)
    ((2, 3), 4, array([0, 1, 1, 2]), tensor([3., 5.], dtype=float64))
    """

    __slots__ = ("_axes", "data", "mode", "passes", "pattern")

    def __init__(
        self, data: Any, pattern: Pattern, axes: tuple[tuple[int, ...], tuple[int, ...]], mode: str, passes: int
    ):
        self.data = data
        self.pattern = pattern
        self.mode = mode
        self.passes = passes
        self._axes = axes

    @property
    def indices(self) -> Any:
        """The column of every entry."""
        return self.pattern.indices

    @property
    def indptr(self) -> Any:
        """Where every row begins, and the number of entries."""
        return self.pattern.indptr

    @property
    def shape(self) -> tuple[int, int]:
        """Entries of the output, entries of the argument."""
        return self.pattern.shape

    @property
    def dtype(self) -> Any:
        """Of the entries."""
        return self.data.dtype

    @property
    def nnz(self) -> int:
        """Number of entries stored; some may be zero at this point."""
        return len(self.data)

    def __repr__(self) -> str:
        rows, columns = self.shape
        return (
            f"<SparseMatrix {rows} x {columns} of {self.dtype.name} with {self.nnz} entries, from {self.passes} "
            f"pass{'es' if self.passes != 1 else ''} ({self.mode})>"
        )

    def __matmul__(self, other: Any) -> Tensor:
        """The product with a vector or a matrix, dense."""
        values = numbers_of(other, "the product with a SparseMatrix")
        if values.ndim not in (1, 2) or values.shape[0] != self.shape[1]:
            raise ShapeError(
                f"a sparse matrix of shape {self.shape} times an array of shape {values.shape}: sizes differ."
            )
        out = np.zeros((self.shape[0], *values.shape[1:]), np.result_type(self.data, values))
        weights = self.data if values.ndim == 1 else self.data[:, None]
        np.add.at(out, self.pattern.rows(), weights * values[self.indices])
        return _tensor(out)

    @property
    def T(self) -> SparseMatrix:  # noqa: N802  (NumPy's name)
        """The transpose."""
        order = np.lexsort((self.pattern.rows(), self.indices))
        axes = self._axes[::-1]
        return SparseMatrix(self.data[order], self.pattern.transposed(), axes, self.mode, self.passes)

    def todense(self) -> Tensor:
        """The Jacobian as ``jacobian`` gives it: axes (output…, argument…)."""
        out = np.zeros(self.shape, self.dtype)
        out[self.pattern.rows(), self.indices] = self.data
        return _tensor(out.reshape(self._axes[0] + self._axes[1])[()])

    def tosparse(self) -> SparseTensor:
        """The same entries as one of torch's sparse tensors of two axes."""
        places = np.stack([self.pattern.rows(), self.indices])
        return SparseTensor(places, plain(Tensor, self.data), self.shape, True)

    def toscipy(self) -> Any:
        """The same entries as ``scipy.sparse.csr_array``; raises ``ImportError`` without SciPy."""
        try:
            from scipy.sparse import csr_array
        except ImportError:
            raise ImportError("toscipy() makes a SciPy matrix, and SciPy is not installed: pip install scipy") from None
        return csr_array((self.data, self.indices, self.indptr), shape=self.shape)

    def diagonal(self) -> Tensor:
        """The entries on the diagonal, zero where there is none."""
        out = np.zeros(min(self.shape), self.dtype)
        rows = self.pattern.rows()
        on = rows == self.indices
        out[rows[on]] = self.data[on]
        return _tensor(out)

    def block(self, rows: slice, columns: slice, axes: Any, dtype: Any) -> SparseMatrix:
        """Some neighbouring rows and columns, as the derivative of one output by one argument."""
        first, last = self.indptr[rows.start], self.indptr[rows.stop]
        own = self.pattern.rows()[first:last] - rows.start
        kept = (self.indices[first:last] >= columns.start) & (self.indices[first:last] < columns.stop)
        shape = (rows.stop - rows.start, columns.stop - columns.start)
        whole = shape == self.shape
        pattern = self.pattern
        if not whole:
            pattern = Pattern.at(shape, own[kept], self.indices[first:last][kept] - columns.start)
        data = self.data[first:last][kept].astype(dtype, copy=False)
        return SparseMatrix(data, pattern, axes, self.mode, self.passes)


def _tensor(value: Any) -> Tensor:
    made: Tensor = plain(Tensor, value)
    return made


def seeds_of(colours: Any, dtype: Any) -> Any:
    """One row per colour, with ones at what has that colour."""
    seeds = np.zeros((count_of(colours), len(colours)), dtype)
    coloured = np.flatnonzero(colours >= 0)
    seeds[colours[coloured], coloured] = 1
    return seeds


def from_plan(pattern: Pattern, plan: Plan, pulled: Any, pushed: Any) -> Any:
    """The entries of a matrix from ``pulled[colour, column]`` of rows and ``pushed[colour, row]`` of columns."""
    found = [x.ravel() for x in (pulled, pushed) if len(x)]
    return np.concatenate(found)[plan_places(pattern, plan)] if found else np.zeros(0)


def plan_places(pattern: Pattern, plan: Plan) -> Any:
    """Where the entries of a matrix are in the passes of rows and those of columns, all written one after the other."""
    rows, columns = pattern.rows(), pattern.indices
    by_row, by_column = plan.rows[rows], plan.columns[columns]
    mine = by_row >= 0 if plan.first == "rows" else by_column < 0
    height, width = pattern.shape
    return np.where(mine, by_row * width + columns, count_of(plan.rows) * width + by_column * height + rows)


def from_star(pattern: Pattern, colours: Any, passes: Any) -> Any:
    """The entries of a symmetric matrix from its products with a star colouring: ``passes[colour, row]``."""
    return passes.ravel()[star_places(pattern, colours)]


def star_places(pattern: Pattern, colours: Any) -> Any:
    """Where the entries are in these products, written one after the other.

    An entry that is not alone in its row, among those of its column's colour, is in its column.
    """
    rows, columns = pattern.rows(), pattern.indices
    keys = rows * (int(colours.max(initial=0)) + 1) + colours[columns]
    _, at, counts = np.unique(keys, return_inverse=True, return_counts=True)
    alone = counts[at] == 1
    return colours[np.where(alone, columns, rows)] * len(colours) + np.where(alone, rows, columns)

"""Patterns: which entries of a matrix may be nonzero, row by row, as index arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from symgrad.errors import ArgumentError, ShapeError

INT = np.int64
LIMIT = 1 << 24
"""So many places a pattern may have; a matrix with more of them is better left as products."""


class Pattern:
    """The places of a matrix that may be nonzero, in row-major order, each once (CSR without values).

    Row ``r`` has the columns ``indices[indptr[r]:indptr[r + 1]]``.
    """

    __slots__ = ("colourings", "indices", "indptr", "shape")

    def __init__(self, shape: tuple[int, int], indptr: Any, indices: Any):
        self.shape = shape
        self.indptr = indptr
        self.indices = indices
        self.colourings: dict[str, Any] = {}

    @property
    def nnz(self) -> int:
        """Number of places."""
        return len(self.indices)

    def rows(self) -> Any:
        """The row of every place."""
        return np.repeat(np.arange(self.shape[0]), np.diff(self.indptr))

    def __repr__(self) -> str:
        return f"<pattern of a {self.shape[0]} x {self.shape[1]} matrix with {self.nnz} places>"

    # -------------------------------------------------------------------------------------- making them

    @classmethod
    def at(cls, shape: tuple[int, int], rows: Any, columns: Any) -> Pattern:
        """The pattern with these places, in any order and any number of times."""
        keys = np.sort(np.asarray(rows, INT) * shape[1] + columns, kind="stable")
        if len(keys):
            keys = keys[np.concatenate([[True], keys[1:] != keys[:-1]])]
        starts = np.arange(shape[0] + 1) * shape[1]
        indptr = np.searchsorted(keys, starts)
        return cls(shape, indptr, keys - np.repeat(starts[:-1], np.diff(indptr)))

    @classmethod
    def empty(cls, rows: int, columns: int) -> Pattern:
        """No places."""
        return cls((rows, columns), np.zeros(rows + 1, INT), np.zeros(0, INT))

    @classmethod
    def diagonal(cls, count: int, start: int, columns: int) -> Pattern:
        """Row ``r`` has the column ``start + r`` alone."""
        return cls((count, columns), np.arange(count + 1), np.arange(start, start + count))

    @classmethod
    def of(cls, given: Any, shape: tuple[int, int]) -> Pattern:
        """What a caller says the pattern is: see :func:`symgrad.func.sparse_jacobian`."""
        found = getattr(given, "pattern", given)
        if not isinstance(found, Pattern):
            found = _read(found, shape)
        if found.shape != shape:
            raise ShapeError(f"pattern= has the shape {found.shape}, but the matrix has {shape} (outputs x inputs).")
        return found

    # -------------------------------------------------------------------------------------- steps

    def taken(self, source: Any) -> Pattern:
        """The pattern with row ``source[r]`` in row ``r``; none there where that is -1."""
        counts = np.diff(self.indptr)
        begins = self.indptr[:-1]
        known = source >= 0
        if not known.all():
            source = np.where(known, source, 0)
            counts = np.where(known, counts[source], 0) if len(counts) else np.zeros(len(source), INT)
        else:
            counts = counts[source]
        indptr = _starts(counts)
        if int(indptr[-1]) > LIMIT:
            raise TooDense
        begins = begins[source] if len(begins) else np.zeros(len(source), INT)
        places = np.arange(indptr[-1]) + np.repeat(begins - indptr[:-1], counts)
        return Pattern((len(source), self.shape[1]), indptr, self.indices[places])

    def merged(self, target: Any, count: int) -> Pattern:
        """``count`` rows, of which row ``target[r]`` has all of row ``r``; one goes nowhere where that is -1."""
        counts = np.diff(self.indptr)
        rows, columns = np.repeat(target, counts), self.indices
        if len(target) and target.min() < 0:
            kept = rows >= 0
            rows, columns = rows[kept], columns[kept]
        return Pattern.at((count, self.shape[1]), rows, columns)

    def without(self, rows: Any) -> Pattern:
        """The pattern with some rows emptied."""
        source = np.arange(self.shape[0])
        source[rows] = -1
        return self.taken(source)

    def joined(self, other: Pattern) -> Pattern:
        """The places of both."""
        if other is self or not other.nnz or self.same(other):
            return self
        if not self.nnz:
            return other
        rows = np.concatenate([self.rows(), other.rows()])
        return Pattern.at(self.shape, rows, np.concatenate([self.indices, other.indices]))

    def same(self, other: Pattern) -> bool:
        """Whether both have the same places."""
        return np.array_equal(self.indptr, other.indptr) and np.array_equal(self.indices, other.indices)

    def transposed(self) -> Pattern:
        """Rows and columns exchanged."""
        return Pattern.at(self.shape[::-1], self.indices, self.rows())

    def symmetric(self) -> Pattern:
        """The places together with their mirror images."""
        return self.joined(self.transposed())


class TooDense(Exception):
    """A pattern would have more than ``LIMIT`` places; whoever knows the op says so."""


def stacked_rows(parts: Sequence[Pattern], columns: int) -> Pattern:
    """The rows of several patterns, one after the other."""
    count = sum(part.shape[0] for part in parts)
    counts = [np.diff(part.indptr) for part in parts]
    indptr = _starts(np.concatenate(counts)) if parts else np.zeros(1, INT)
    indices = np.concatenate([part.indices for part in parts]) if parts else np.zeros(0, INT)
    return Pattern((count, columns), indptr, indices)


def _starts(counts: Any) -> Any:
    return np.concatenate([np.zeros(1, INT), np.cumsum(counts, dtype=INT)])


def _read(given: Any, shape: tuple[int, int]) -> Pattern:
    """A pattern of a SciPy matrix, of ``(indices, indptr)``, or of a dense array whose nonzero entries are meant."""
    if hasattr(given, "tocoo"):
        entries = given.tocoo()
        return Pattern.at(tuple(map(int, entries.shape)), entries.row, entries.col)  # type: ignore[arg-type]
    if isinstance(given, (tuple, list)) and len(given) == 2 and all(np.ndim(part) == 1 for part in given):
        indices, indptr = (np.asarray(part) for part in given)
        whole = indices.dtype.kind in "ui" and indptr.dtype.kind in "ui"
        sound = whole and len(indptr) == shape[0] + 1 and indptr[0] == 0 and indptr[-1] == len(indices)
        if (
            not sound
            or (np.diff(indptr) < 0).any()
            or (len(indices) and not 0 <= indices.min() <= indices.max() < shape[1])
        ):
            raise ArgumentError(
                f"pattern=(indices, indptr) of a matrix of shape {shape}: indptr has {shape[0] + 1} growing whole "
                f"numbers from 0 to len(indices), and indices are whole numbers below {shape[1]}."
            )
        return Pattern.at(shape, np.repeat(np.arange(shape[0]), np.diff(indptr)), indices)
    dense = np.asarray(getattr(given, "_value", given))
    if dense.ndim != 2 or dense.dtype.kind not in "buif":
        raise ArgumentError(
            "pattern= takes an earlier result or its .pattern, a SciPy sparse matrix, (indices, indptr), or a dense "
            f"matrix of outputs x inputs whose nonzero entries are meant; not {type(given).__name__} of shape "
            f"{dense.shape}."
        )
    return Pattern.at(dense.shape, *np.nonzero(dense))

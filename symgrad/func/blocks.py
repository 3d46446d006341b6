"""Matrices of second derivatives as sums of products of small arrays, with their Kronecker deltas kept."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from symgrad.errors import ShapeError
from symgrad.formula.printing.latex import latex
from symgrad.formula.term import Term
from symgrad.op import Labels
from symgrad.ops.linalg.contraction import contract
from symgrad.tape.record import plain
from symgrad.tape.watching.following import numbers_of
from symgrad.tensor import Tensor

Part = tuple[list[Any], list[Labels], Labels]
"""Arrays, their labels, and those of the whole's axes; a label that stands twice there is a Kronecker delta."""


class StructuredMatrix:
    """A block of a Hessian, of shape (entries of one argument, entries of the other), that is never written out.

    Rows and columns are in row-major order.  ``H @ v`` is the product with a vector of that many entries or with an
    array of the argument's shape, ``solve(b)`` its inverse, ``todense()`` the array that :func:`hessian` gives.
    They give numbers without history, and raise ``ArgumentError`` for operands by which somebody differentiates.

    parts   the products whose sum it is: arrays, their index labels, and the labels of all axes, first those of the
            row's argument; a label that stands twice there is a Kronecker delta
    term    the formula of the whole

    >>> import symgrad as sg, numpy as np
    >>> H = sg.func.structured_hessian(lambda x: (x**4).sum())(np.array([[1.0, 2.0]]))
    >>> H
    <StructuredMatrix 2 x 2 of float64: diagonal, 2 numbers>
    >>> H @ np.ones(2), H.solve(np.ones((1, 2)))
    (tensor([12., 48.], dtype=float64), tensor([[0.0833, 0.0208]], dtype=float64))
    """

    __slots__ = ("_axes", "dtype", "parts", "term")

    def __init__(self, parts: Sequence[Part], axes: tuple[tuple[int, ...], tuple[int, ...]], dtype: Any, term: Term):
        self.parts = list(parts)
        self._axes = axes
        self.dtype = dtype
        self.term = term

    @property
    def shape(self) -> tuple[int, int]:
        """Entries of the row's argument, and of the column's."""
        return math.prod(self._axes[0]), math.prod(self._axes[1])

    @property
    def stored(self) -> int:
        """How many numbers it consists of."""
        return sum(np.size(x) for arrays, _, _ in self.parts for x in arrays)

    def __repr__(self) -> str:
        kinds = list(dict.fromkeys(self._kind(part) for part in self.parts)) or ["zero"]
        rows, columns = self.shape
        return f"<StructuredMatrix {rows} x {columns} of {self.dtype.name}: {' + '.join(kinds)}, {self.stored} numbers>"

    def _kind(self, part: Part) -> str:
        arrays, labels, out = part
        rank = len(self._axes[0])
        long = [n != 1 for n in (*self._axes[0], *self._axes[1])]  # an axis of size 1 has no delta
        rows = {x for x, more in zip(out[:rank], long[:rank], strict=True) if more}
        columns = {x for x, more in zip(out[rank:], long[rank:], strict=True) if more}
        tied = rows & columns
        if tied and tied == rows | columns:
            return "diagonal"
        if tied:
            return "block diagonal" if any(tied & set(own) for own in labels) else "Kronecker product"
        if len(arrays) > 1:
            crossing = all(rows & set(own) and columns & set(own) for own in labels)
            return "Kronecker product" if crossing else "product of factors"
        return "dense"

    def latex(self, **options: Any) -> str:
        """The formula in LaTeX, with the options of :func:`symgrad.latex`; ``vec="rows"`` shows Kronecker products."""
        return latex(self.term, **options)

    def todense(self) -> Tensor:
        """The Hessian as :func:`hessian` gives it: axes (argument…, argument…)."""
        shape = self._axes[0] + self._axes[1]
        total = np.zeros(shape, self.dtype)
        for arrays, labels, out in self.parts:
            total = total + contract(arrays, tuple(labels), out, shape)
        return _tensor(total)

    # -------------------------------------------------------------------------------------- products

    def __matmul__(self, other: Any) -> Tensor:
        """The product with one vector (or array of the argument's shape), or with the columns of a matrix."""
        rows, columns = self._axes
        values, tail = self._columns(other, columns, "times")
        total = np.zeros((*rows, *tail), np.result_type(self.dtype, values))
        for arrays, labels, out in self.parts:
            last = (1 + max(out, default=0),) * len(tail)
            inside, whole = out[len(rows) :] + last, out[: len(rows)] + last
            total = total + contract([*arrays, values], (*labels, inside), whole, total.shape)
        return _tensor(total.reshape(self._like(other, rows, tail)))

    def _columns(self, other: Any, axes: tuple[int, ...], what: str) -> tuple[Any, tuple[int, ...]]:
        """The values with the argument's axes, and the axis of columns behind them if there is one."""
        values = numbers_of(other, "the product with a StructuredMatrix")
        count = math.prod(axes)
        if values.shape in (axes, (count,)):
            return values.reshape(axes), ()
        if values.ndim == 2 and values.shape[0] == count:
            return values.reshape(*axes, values.shape[1]), values.shape[1:]
        raise ShapeError(
            f"a Hessian of shape {self.shape} {what} an array of shape {values.shape}: it takes one of shape "
            f"({count},), ({count}, k) or {axes}."
        )

    def _like(self, other: Any, axes: tuple[int, ...], tail: tuple[int, ...]) -> tuple[int, ...]:
        """The shape of a result: of the argument where the operand had that, else flat."""
        return axes if np.shape(other) in self._axes and not tail else (math.prod(axes), *tail)

    # -------------------------------------------------------------------------------------- solving

    def solve(self, b: Any) -> Tensor:
        """The ``x`` with ``H @ x = b``, by the small matrices where deltas or Kronecker products leave such.

        ``b`` is a vector, the columns of a matrix, or an array of the argument's shape.  Raises ``ShapeError`` for a
        block that is not square and ``numpy.linalg.LinAlgError`` for a singular one.
        """
        rows, columns = self._axes
        if rows != columns:
            raise ShapeError(
                f"solve() takes a square block with the same argument twice, not one of axes {self._axes}."
            )
        values, tail = self._columns(b, rows, "solved for")
        values = values.astype(np.result_type(self.dtype, values), copy=False).reshape(*rows, math.prod(tail))
        if not values.size:
            return _tensor(values.reshape(self._like(b, rows, tail)))
        found = self._by_factors(values)
        if found is None:
            found = self._by_blocks(values)
        return _tensor(found.reshape(self._like(b, rows, tail)))

    def _by_factors(self, values: Any) -> Any:
        """One Kronecker product without deltas: every factor takes rows' axes to columns' axes of its own."""
        if len(self.parts) != 1 or len(self.parts[0][0]) < 2:
            return None
        arrays, labels, out = self.parts[0]
        rank = len(out) // 2
        place = {x: k for k, x in enumerate(out)}
        if len(place) < len(out) or set().union(*labels) != set(out):
            return None
        pairs = []
        for array, own in zip(arrays, labels, strict=True):
            rows, columns = ([x for x in own if (place[x] < rank) == side] for side in (True, False))
            heights = [math.prod(array.shape[own.index(x)] for x in side) for side in (rows, columns)]
            if heights[0] != heights[1]:
                return None
            pairs.append((array, own, rows, columns))
        current = list(out[:rank])
        for array, own, rows, columns in pairs:
            matrix = array.transpose([own.index(x) for x in (*rows, *columns)])
            sizes = matrix.shape[len(rows) :]
            axes = [current.index(x) for x in rows]
            rest = [k for k in range(values.ndim) if k not in axes]
            moved = values.transpose([*axes, *rest])
            solved = _solved(matrix.reshape(math.prod(sizes), -1), moved.reshape(math.prod(sizes), -1))
            values = solved.reshape(*sizes, *moved.shape[len(axes) :])
            current = [*columns, *(current[k] for k in rest if k < rank)]
        order = [current.index(x) for x in out[rank:]]
        return values.transpose([*order, rank])

    def _by_blocks(self, values: Any) -> Any:
        """A matrix for every place along the axes that are deltas in all parts; one where nothing depends on these."""
        axes = self._axes[0]
        rank = len(axes)
        tied = [k for k in range(rank) if all(self._tied(out, k, rank) for _, _, out in self.parts)]
        depends = {k for k in tied for _, labels, out in self.parts if any(out[k] in own for own in labels)}
        free = [k for k in range(rank) if k not in tied]
        lead = [k for k in tied if k in depends]
        shape = [axes[k] for k in (*lead, *free, *free)]
        blocks = np.zeros(shape, self.dtype)
        for arrays, labels, out in self.parts:
            whole = (*(out[k] for k in lead), *(out[k] for k in free), *(out[rank + k] for k in free))
            blocks = blocks + contract(arrays, tuple(labels), whole, tuple(shape))
        size = math.prod(axes[k] for k in free)
        batch = tuple(axes[k] for k in lead)
        order = [*lead, *free, *(k for k in tied if k not in lead), rank]
        moved = values.transpose(order)
        found = _solved(blocks.reshape(*batch, size, size), moved.reshape(*batch, size, -1))
        return found.reshape(moved.shape).transpose(np.argsort(order))

    def _tied(self, out: Labels, k: int, rank: int) -> bool:
        return out[k] == out[rank + k] and out.count(out[k]) == 2


def _solved(matrices: Any, b: Any) -> Any:
    if matrices.shape[-1] == 1:
        if not matrices.all():
            raise np.linalg.LinAlgError("Singular matrix: an entry of a diagonal Hessian is 0")
        return b / matrices
    return np.linalg.solve(matrices, b)


def _tensor(value: Any) -> Tensor:
    made: Tensor = plain(Tensor, np.asarray(value)[()])
    return made

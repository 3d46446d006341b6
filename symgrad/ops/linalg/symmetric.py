"""The decomposition L D Lᵀ of symmetric and Hermitian matrices, and what is solved with it.

The factors have no derivative in torch, and none here; what is solved with them has one by both.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from symgrad.dtypes import is_narrow, torch_name
from symgrad.errors import ArgumentError, AutogradError, DtypeError, OutOfBounds, ShapeError
from symgrad.kernels.matrices.symmetric import ldl
from symgrad.op import broadcast_shapes, refusal, refusing, shape_of
from symgrad.op.refusals import inexact
from symgrad.ops.calls import fits
from symgrad.ops.calls.naming import within
from symgrad.ops.calls.results import Named, named
from symgrad.ops.calls.still import values_of, wrapped_like
from symgrad.ops.elementwise.arithmetic import clone
from symgrad.ops.elementwise.select import where
from symgrad.ops.indexing.gathering import gather_op
from symgrad.ops.linalg.inverse import solve
from symgrad.ops.linalg.matrices import diag_embed, diagonal, mH
from symgrad.ops.linalg.systems import solve_triangular
from symgrad.ops.linalg.triangular import rows_in_order
from symgrad.ops.shapes.shaping import mT, spread

_LDL = "ldl_factor_ex"


def _factored(A: Any, hermitian: bool) -> tuple[Any, ...]:
    fits.matrix(_LDL, A)
    shape = shape_of(A)
    if shape[-1] != shape[-2]:
        raise fits.no_square(_LDL, shape)
    if getattr(A, "requires_grad", False) and clone(A).requires_grad:  # which it is not under no_grad()
        raise AutogradError(
            "derivative for aten::linalg_ldl_factor_ex is not implemented: factor A.detach(), or use linalg.solve(A, B)"
        )
    value = values_of(A)
    if is_narrow(value.dtype):
        raise refusal(_LDL, "ldl_factor_kernel_cpu", value.dtype)
    return tuple(wrapped_like(A, part) for part in ldl(value, hermitian))


@within("linalg")
@refusing(inexact("linalg.ldl_factor_ex"))
def ldl_factor(A: Any, *, hermitian: bool = False) -> Named:
    """L and D in one array, and LAPACK's pivots: P L D Lᵀ Pᵀ = A, or with Lᴴ for ``hermitian``.

    The upper half of A is not read.  D is diagonal but for blocks of two rows, where both pivots are below 0.

    ``AutogradError`` for what requires grad,
    outside of ``no_grad``: torch has no derivative either.  ``ArgumentError`` where a pivot is 0.
    """
    *found, info = _factored(A, hermitian)
    if (first := values_of(info)).any():
        raise ArgumentError(f"torch.linalg.ldl_factor: D[{first.max()},{first.max()}] is zero: A is singular.")
    return named("linalg_ldl_factor")(tuple(found))


@within("linalg")
@refusing(inexact("linalg.ldl_factor_ex"))
def ldl_factor_ex(A: Any, *, hermitian: bool = False, check_errors: bool = False) -> Named:
    """``ldl_factor`` and the number of the first pivot that is 0, or 0 where none is; ``check_errors`` raises then."""
    found = _factored(A, hermitian)
    if check_errors and values_of(found[-1]).any():
        raise ArgumentError("torch.linalg.ldl_factor_ex: A is singular: a pivot is 0.")
    return named("linalg_ldl_factor_ex")(found)


def _places(pivots: Any) -> tuple[Any, Any, Any]:
    """Of LAPACK's pivots the order of rows, the row of each entry of L, and where the entries beside D lie."""
    n = pivots.shape[-1]
    order = np.tile(np.arange(n), (*pivots.shape[:-1], 1))
    rows = np.tile(np.arange(n)[:, None], (*pivots.shape[:-1], 1, n))
    blocks = np.zeros(rows.shape, bool)
    for place in np.ndindex(*pivots.shape[:-1]):
        k = 0
        while k < n:
            pivot = pivots[place][k]
            width = 1 if pivot > 0 else 2
            here, other = k + width - 1, abs(pivot) - 1
            order[place][[here, other]] = order[place][[other, here]]
            rows[place][[here, other], :k] = rows[place][[other, here], :k]
            if width == 2:
                blocks[place][k + 1, k] = True
            k += width
    return order, rows, blocks


def _checked(LD: Any, pivots: Any, B: Any) -> Any:
    """The pivots as an array.  Raises torch's errors where shapes or dtypes do not fit."""
    if len(shape_of(B)) < 2:
        raise OutOfBounds("Dimension out of range (expected to be in range of [-1, 0], but got -2)")
    shape, right, value = shape_of(LD), shape_of(B), values_of(pivots)
    fits.matrix("ldl_solve", LD)
    if shape[-1] != shape[-2]:
        raise fits.no_square("ldl_solve", shape)
    if shape[-1] != right[-2]:
        raise ShapeError(
            f"Incompatible matrix sizes for torch.linalg.ldl_solve: each A matrix is {shape[-1]} by {shape[-1]} but "
            f"each b matrix is {right[-2]} by {right[-1]}"
        )
    if value.shape != tuple(shape[:-1]):
        raise ShapeError(
            "torch.linalg.ldl_solve: Expected LD.shape[:-1] and pivots.shape to be the same, but got pivots with shape "
            f"{list(value.shape)} instead"
        )
    if LD.dtype != B.dtype:
        raise DtypeError(
            f"Expected b and A to have the same dtype, but found b of type {torch_name(B.dtype)} and A of type "
            f"{torch_name(LD.dtype)} instead."
        )
    if (value == 0).any() or (abs(value) > max(shape[-1], 1)).any():
        raise ArgumentError(f"torch.linalg.ldl_solve: {value.tolist()} are no pivots of ldl_factor.")
    return value


@within("linalg")
def ldl_solve(LD: Any, pivots: Any, B: Any, *, hermitian: bool = False) -> Any:
    """X with A X = B from the results of ``ldl_factor``.

    >>> import symgrad as sg
    >>> A, B = sg.tensor([[2.0, 1.0], [1.0, 3.0]]), sg.tensor([[3.0], [4.0]])
    >>> sg.linalg.ldl_solve(*sg.linalg.ldl_factor(A), B)
    tensor([[1.],
            [1.]])
    """
    value = _checked(LD, pivots, B)
    turned = mH if hermitian else mT
    batch = broadcast_shapes(tuple(shape_of(LD))[:-2], tuple(shape_of(B))[:-2])
    order, rows, blocks = (np.broadcast_to(x, (*batch, *x.shape[value.ndim - 1 :])) for x in _places(value))
    factors = spread(LD, (*batch, *shape_of(LD)[-2:]))
    right = spread(B, (*batch, *shape_of(B)[-2:]))
    beside = where(blocks, factors, 0)
    middle = diag_embed(diagonal(factors, 0, -2, -1)) + beside + turned(beside)
    lower = where(blocks, 0, gather_op(factors, rows, dim=len(batch)))
    half = solve_triangular(lower, rows_in_order(right, order), upper=False, unitriangular=True)
    found = solve_triangular(turned(lower), solve(middle, half), upper=True, unitriangular=True)
    return rows_in_order(found, np.argsort(order, -1))

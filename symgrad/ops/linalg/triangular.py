"""The LU decomposition and what is solved with it.

The pivots are integers without derivative; with the rows in their order, one op (LU without pivoting of a matrix with
at least as many rows as columns) carries the rule, and the rest of a wide matrix follows from a triangular system.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from symgrad import kernels
from symgrad.dtypes import torch_name
from symgrad.errors import ArgumentError, DtypeError
from symgrad.notices import notice_once
from symgrad.op import Op, broadcast_shapes, front, primitive, sampling, shape_of
from symgrad.ops.calls.naming import within
from symgrad.ops.calls.results import Named, named
from symgrad.ops.calls.still import glanced, values_of, wrapped_like
from symgrad.ops.indexing.gathering import gather_op
from symgrad.ops.linalg import sharing
from symgrad.ops.linalg.inverse import solve_triangular_op
from symgrad.ops.linalg.matrices import diag_embed, diagonal, mH
from symgrad.ops.linalg.systems import solve_triangular
from symgrad.ops.linalg.triangles import tril_op, triu_op
from symgrad.ops.rules import work
from symgrad.ops.shapes.joining import cat, concat_op, narrow_op, narrowed
from symgrad.ops.shapes.shaping import ones_like, spread, unsqueeze
from symgrad.ops.shapes.sizes import total_size
from symgrad.precision import digits


@functools.wraps(kernels.lu_order)
def _order_of(x: Any) -> Any:
    order, packed = kernels.eliminated(x, True)
    count = min(x.shape[-2:])
    ordered = np.take_along_axis(x, order[..., None], -2)[..., :count]
    sharing.remember(sharing.key_of("lu", ordered), (np.ascontiguousarray(packed[..., :count]),), x)
    return order


@functools.wraps(kernels.lu_plain)
def _factors_of(x: Any) -> Any:
    found = sharing.known(sharing.key_of("lu", x), 0)
    return kernels.lu_plain(x) if found is None else found


lu_order_op: Op = primitive(
    "lu_order",
    _order_of,
    (None,),
    code=lambda x: f"lu_order({x})",
    infer=lambda shape: shape[:-1],
    result=lambda dtype: np.dtype(np.int64),
    domain="distinct",
    digits=digits.by_matrix(digits.lu_order),
    work=work.elimination,
    doc="The order of rows that elimination with partial pivoting chooses; no derivative.",
)


def _lu_vjp(g: Any, out: Any, like: Any) -> Any:
    axis, (rows, columns) = len(shape_of(out)) - 2, shape_of(out)[-2:]
    square, moved, below = out, g, None
    if rows != columns:  # L2 = A2 U⁻¹ are the rows below the square part, which move U, too
        further = {"dim": axis, "start": columns, "length": total_size([rows, columns], [1, -1])}
        square, moved = (narrow_op(a, dim=axis, start=0, length=columns) for a in (out, g))
        below, rest = narrow_op(g, **further), narrow_op(out, **further)
    upper = triu_op(square, k=0)
    lower = tril_op(square, k=-1) + _identity(square)
    left = tril_op(mH(lower) @ tril_op(moved, k=-1), k=-1)
    right = triu_op(moved, k=0) @ mH(upper)
    right = triu_op(right if below is None else right - mH(rest) @ below, k=0)
    inside = solve_triangular_op(mH(lower), left + right, upper=True, unit=True)
    inside = inside if below is None else concat_op(inside, below, dim=axis)
    return mH(solve_triangular_op(upper, mH(inside), upper=True, unit=False))


def _identity(x: Any) -> Any:
    return diag_embed(diagonal(ones_like(x), 0, -2, -1))


lu_op: Op = primitive(
    "lu",
    _factors_of,
    (_lu_vjp,),
    code=lambda x: f"lu_plain({x})",
    node="LinalgLuFactorEx",
    domain="distinct",
    refuses={"buih": "lu_cpu"},
    digits=digits.by_matrix(digits.lu),
    work=work.elimination,
    samples=[
        *sampling.square("distinct"),
        sampling.one("tall", "p", "q"),
        sampling.one("tall", 2, "p", "q"),
    ],
    layout="columns",
    doc="L and U of matrices with at least as many rows as columns, without pivoting, in one array.",
)


def _in_order(A: Any, order: Any) -> Any:
    """The rows of matrices in another order."""
    rows = spread(unsqueeze(order, -1), shape_of(A))
    return gather_op(A, rows, dim=len(shape_of(A)) - 2)


def _factor(A: Any, pivot: bool) -> tuple[Any, Any]:
    """LU of matrices of any shape in one array, and the order of rows."""
    rows, columns = shape_of(A)[-2:]
    count = min(rows, columns)
    order = lu_order_op(A) if pivot else wrapped_like(A, np.broadcast_to(np.arange(rows), shape_of(A)[:-1]).copy())
    x = _in_order(A, order)
    packed = lu_op(narrowed(x, -1, 0, count))
    if columns > count:
        rest = solve_triangular(packed, narrowed(x, -1, count, columns - count), upper=False, unitriangular=True)
        packed = cat([packed, rest], -1)
    return packed, order


def _unpacked(packed: Any) -> tuple[Any, Any]:
    """L and U from the array that holds both."""
    rows, columns = shape_of(packed)[-2:]
    count = min(rows, columns)
    lower = tril_op(narrowed(packed, -1, 0, count), k=-1) + np.eye(rows, count, dtype=packed.dtype)
    return lower, triu_op(narrowed(packed, -2, 0, count), k=0)


def _permutation(order: Any, like: Any) -> Any:
    """The matrix P with A = P L U."""
    rows = np.eye(order.shape[-1], dtype=like.dtype)[order]
    return wrapped_like(like, np.ascontiguousarray(np.swapaxes(rows, -1, -2)))


@within("linalg")
def lu(A: Any, *, pivot: bool = True) -> Named:
    """P, L and U with A = P L U."""
    packed, order = _factor(A, pivot)
    place = _permutation(values_of(order), A) if pivot else wrapped_like(A, np.zeros(0, A.dtype))
    return named("linalg_lu")((place, *_unpacked(packed)))


def _pivots(A: Any, order: Any) -> Any:
    return wrapped_like(A, kernels.swaps_of(values_of(order), min(*shape_of(A)[-2:])))


@within("linalg")
def lu_factor(A: Any, *, pivot: bool = True) -> Named:
    """L and U in one array, and LAPACK's pivots.  Raises torch's error where a pivot is 0."""
    return _checked("lu_factor", _factored(A, pivot))


def _factored(A: Any, pivot: bool) -> Named:
    packed, order = _factor(A, pivot)
    return named("linalg_lu_factor")((packed, _pivots(A, order)))


def _checked(name: str, found: Named) -> Named:
    """The results, unless a pivot is 0; formulas have no values to look at."""
    packed = glanced(found[0])
    if isinstance(packed, np.ndarray):
        first = _first_zero(packed)
        for k, place in enumerate(first.ravel()):
            if place:
                which = f"(Batch element {k}): " if first.ndim else ""
                raise ArgumentError(
                    f"torch.linalg.{name}: {which}U[{place},{place}] is zero and using it on lu_solve would result in "
                    "a division by zero. If you still want to perform the factorization, consider calling "
                    "linalg.lu(A, pivot) or linalg.lu_factor_ex(A, pivot)"
                )
    return found


@within("linalg")
def lu_factor_ex(A: Any, *, pivot: bool = True, check_errors: bool = False) -> Named:
    """``lu_factor`` and the number of the first pivot that is 0, or 0 where none is; ``check_errors`` raises then."""
    found = _factored(A, pivot)
    if check_errors:
        _checked("lu_factor_ex", found)
    return named("linalg_lu_factor_ex")((*found, _first_zero(found[0])))


def _first_zero(packed: Any) -> Any:
    """The number (from 1) of the first pivot that is 0, and 0 where there is none."""
    zero = np.diagonal(values_of(packed), axis1=-2, axis2=-1) == 0
    place = np.argmax(zero, -1) if zero.shape[-1] else np.zeros(zero.shape[:-1])
    return wrapped_like(packed, np.where(zero.any(-1), place + 1, 0).astype(np.int32))


@front("lu")
def old_lu(A: Any, pivot: bool = True, get_infos: bool = False) -> tuple[Any, ...]:
    """L and U in one array, LAPACK's pivots, and if asked for the number of the first that is 0."""
    notice_once(
        "torch.lu is deprecated in favor of torch.linalg.lu_factor / torch.linalg.lu_factor_ex and will be removed in "
        "a future PyTorch release.\nLU, pivots = torch.lu(A, compute_pivots)\nshould be replaced with\n"
        "LU, pivots = torch.linalg.lu_factor(A, compute_pivots)\nand\n"
        "LU, pivots, info = torch.lu(A, compute_pivots, get_infos=True)\nshould be replaced with\n"
        "LU, pivots, info = torch.linalg.lu_factor_ex(A, compute_pivots)"
    )
    found = _factored(A, pivot)
    return (*found, _first_zero(found[0])) if get_infos else (*found,)


def _order(name: str, pivots: Any, packed: Any) -> Any:
    """The order of rows that pivots stand for; raises where they are none of ``lu_factor``."""
    swaps, (rows, columns) = values_of(pivots), shape_of(packed)[-2:]
    if swaps.dtype != np.int32:
        raise DtypeError(
            f"torch.{name}: pivots is expected to be of dtype torch.int32, got {torch_name(swaps.dtype)}: give "
            "those of lu_factor as they are"
        )
    if swaps.shape[-1:] != (min(rows, columns),) or (swaps < 1).any() or (swaps > rows).any():
        raise ArgumentError(
            f"torch.{name}: {min(rows, columns)} pivots between 1 and LU.size(-2) inclusive, {rows}, are expected for "
            f"each matrix, got {swaps.tolist()}. Did you properly pass the result of lu_factor?"
        )
    return kernels.order_of(swaps, rows)


@front("lu_unpack", method=False)
def lu_unpack(LU_data: Any, LU_pivots: Any, unpack_data: bool = True, unpack_pivots: bool = True) -> Named:
    """P, L and U from the results of ``lu_factor``."""
    nothing = wrapped_like(LU_data, np.zeros(0, LU_data.dtype))
    place = _permutation(_order("lu_unpack", LU_pivots, LU_data), LU_data) if unpack_pivots else nothing
    parts = _unpacked(LU_data) if unpack_data else (nothing, nothing)
    return named("lu_unpack")((place, *parts))


@within("linalg", "lu_solve")
def linalg_lu_solve(LU: Any, pivots: Any, B: Any, *, left: bool = True, adjoint: bool = False) -> Any:
    """X with A X = B (X A = B unless ``left``; Aᴴ if ``adjoint``) from the results of ``lu_factor``."""
    if not left:
        return mH(linalg_lu_solve(LU, pivots, mH(B), adjoint=not adjoint))
    order = _order("linalg.lu_solve", pivots, LU)
    batch = broadcast_shapes(tuple(shape_of(LU))[:-2], tuple(shape_of(B))[:-2])
    right = spread(B, (*batch, *shape_of(B)[-2:]))
    order = np.broadcast_to(order, (*batch, order.shape[-1]))
    if adjoint:
        half = solve_triangular(mH(LU), right, upper=False)
        found = solve_triangular(mH(LU), half, upper=True, unitriangular=True)
        return rows_in_order(found, np.argsort(order, -1))
    half = solve_triangular(LU, rows_in_order(right, order), upper=False, unitriangular=True)
    return solve_triangular(LU, half, upper=True)


def rows_in_order(x: Any, order: Any) -> Any:
    """The rows of matrices in another order."""
    return gather_op(x, np.broadcast_to(order[..., None], shape_of(x)), dim=len(shape_of(x)) - 2)


@front("lu_solve")
def old_lu_solve(b: Any, LU_data: Any, LU_pivots: Any) -> Any:
    """X with A X = b from the results of ``lu_factor``."""
    return linalg_lu_solve(LU_data, LU_pivots, b)

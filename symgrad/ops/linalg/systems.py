"""Systems of equations: by triangular and Cholesky factors, the pseudo-inverse, least squares; norms and conditions."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from symgrad import kernels
from symgrad.dtypes import finfo
from symgrad.errors import ArgumentError, ShapeError
from symgrad.notices import notice_once
from symgrad.op import Op, broadcast_shapes, front, inexact, primitive, refusing, sampling, shape_of
from symgrad.ops.calls import fits, singular
from symgrad.ops.calls.naming import within
from symgrad.ops.calls.results import Named, named
from symgrad.ops.calls.still import decided_by, recorded, still, values_of, wrapped_like
from symgrad.ops.elementwise.complex import conj, real
from symgrad.ops.elementwise.select import isnan, where
from symgrad.ops.linalg.decompositions import in_linalg, svdvals
from symgrad.ops.linalg.inverse import check_square, cholesky, inv, solve, solve_triangular_op
from symgrad.ops.linalg.matrices import mH
from symgrad.ops.linalg.triangles import tril_op
from symgrad.ops.reductions.extremes import amax, amin
from symgrad.ops.reductions.predicates import all_
from symgrad.ops.reductions.products import eye_op
from symgrad.ops.reductions.sums import cast, norm, norm_op, sum_
from symgrad.ops.shapes.joining import narrow
from symgrad.ops.shapes.shaping import apart, axis_of, movedim, mT, reshape, spread, squeeze, unsqueeze
from symgrad.precision import digits

# ------------------------------------------------------------------------------------------ systems of equations


@in_linalg
def solve_triangular(A: Any, B: Any, *, upper: bool, left: bool = True, unitriangular: bool = False) -> Any:
    """X with A X = B (X A = B unless ``left``) for a triangular A, of which only that triangle is read."""
    if not left:
        return mT(solve_triangular(mT(A), mT(B), upper=not upper, unitriangular=unitriangular))
    check_square(A, "solve_triangular")
    fits.matrix("solve_triangular", B)
    if shape_of(A)[-1] != shape_of(B)[-2]:
        raise fits.unfit_system("solve_triangular", shape_of(A), shape_of(B))
    return _system(functools.partial(solve_triangular_op, upper=upper, unit=unitriangular), A, B)


def _system(solver: Any, A: Any, B: Any) -> Any:
    """``solver`` with the batches of both broadcast."""
    a, b = tuple(shape_of(A)), tuple(shape_of(B))
    batch = broadcast_shapes(a[:-2], b[:-2])
    return solver(spread(A, (*batch, *a[-2:])), spread(B, (*batch, *b[-2:])))


@front("triangular_solve", words={"input": "b"})
def triangular_solve(b: Any, A: Any, upper: bool = True, transpose: bool = False, unitriangular: bool = False) -> Named:
    """The pair (X, A) with A X = b for a triangular A."""
    notice_once(
        "torch.triangular_solve is deprecated in favor of torch.linalg.solve_triangularand will be removed in a future "
        "PyTorch release.\ntorch.linalg.solve_triangular has its arguments reversed and does not return a copy of one "
        "of the inputs.\nX = torch.triangular_solve(B, A).solution\nshould be replaced with\n"
        "X = torch.linalg.solve_triangular(A, B)."
    )
    matrix = mT(A) if transpose else A
    found = solve_triangular(matrix, b, upper=upper != transpose, unitriangular=unitriangular)
    return named("triangular_solve")((found, apart(spread(A, *shape_of(found)[:-2], *shape_of(A)[-2:]))))


@within("linalg", "solve")
def linalg_solve(A: Any, B: Any, *, left: bool = True) -> Any:
    """X with A X = B (X A = B unless ``left``); B may be a batch of vectors."""
    check_square(A, "solve")
    a, b = tuple(shape_of(A)), tuple(shape_of(B))
    if len(b) == 1 or (len(a) - 1 == len(b) and a[:-1] == b):
        return squeeze(_system(solve, A, unsqueeze(B, -1)), -1)
    if not left:
        return mT(linalg_solve(mT(A), mT(B)))
    if b[-2] != a[-1]:
        raise fits.unfit_system("solve", a, b)
    return _system(solve, A, B)


def _tried(call: Any, A: Any, places: Any, check_errors: bool) -> tuple[Any, Any]:
    """``call(A)``, nan for a matrix without a result, and torch's integers: 0, or ``places`` of those."""
    try:
        out = call(A)
        if recorded(A):  # programs look at the result, too: at matrices without one they do not hold
            decided_by(all_(isnan(out)))
        return out, wrapped_like(A, np.zeros(shape_of(A)[:-2], np.int32))
    except np.linalg.LinAlgError:
        info = places(values_of(A))
        if check_errors or not info.any():
            raise
    without = (info != 0)[..., None, None]
    out = call(where(without, np.eye(shape_of(A)[-1], dtype=A.dtype), A))
    lost = sum_(A * np.where(without, math.nan, 0).astype(A.dtype), (-2, -1), True)
    if len(shape_of(out)) < len(shape_of(A)):  # vectors
        without, lost = without[..., 0], lost[..., 0]
    return where(without, lost, out), wrapped_like(A, info.astype(np.int32))


def _first(holds: Any, values: Any) -> Any:
    """For each matrix the smallest k for which ``holds`` of the block of its first k rows and columns; 0 for none."""
    found = np.zeros(values.shape[:-2], np.int64)
    for at in np.ndindex(found.shape):
        orders = range(1, values.shape[-1] + 1)
        found[at] = next((k for k in orders if holds(values[at][:k, :k])), 0)
    return found


def _no_factor(block: Any) -> bool:
    try:
        kernels.cholesky(block)
    except np.linalg.LinAlgError:
        return True
    return False


def _zero_pivots(values: Any) -> Any:
    """The number of the first pivot of each matrix that is 0, and 0 where there is none."""
    zero = np.diagonal(kernels.eliminated(values, True)[1], axis1=-2, axis2=-1) == 0
    return np.where(zero.any(-1), np.argmax(zero, -1) + 1, 0)


@in_linalg
def solve_ex(A: Any, B: Any, *, left: bool = True, check_errors: bool = False) -> Named:
    """The solution, and an integer: 0 where it exists, else the number of the first pivot that is 0, beside nan.

    ``check_errors`` raises a ``LinAlgError`` then, as :func:`solve` does.
    """
    found = _tried(lambda A: linalg_solve(A, B, left=left), A, _zero_pivots, check_errors)
    return named("linalg_solve_ex")(found)


@in_linalg
def inv_ex(A: Any, *, check_errors: bool = False) -> Named:
    """The inverse, and an integer: 0 where it exists, else the number of the first pivot that is 0, beside nan.

    ``check_errors`` raises a ``LinAlgError`` then, as :func:`inv` does.
    """
    return named("linalg_inv_ex")(_tried(inv, A, _zero_pivots, check_errors))


@within("linalg", "cholesky")
def linalg_cholesky(A: Any, *, upper: bool = False) -> Any:
    """Lower triangular L with A = L Lᴴ, or upper triangular with A = Uᴴ U; only that triangle of ``A`` is read."""
    return mH(cholesky(mH(A))) if upper else cholesky(A)


@front("cholesky")
def old_cholesky(input: Any, upper: bool = False) -> Any:
    """Lower triangular L with input = L Lᴴ, or upper triangular with input = Uᴴ U."""
    notice_once(
        "torch.cholesky is deprecated in favor of torch.linalg.cholesky and will be removed in a future PyTorch "
        "release.\nL = torch.cholesky(A)\nshould be replaced with\nL = torch.linalg.cholesky(A)\nand\n"
        "U = torch.cholesky(A, upper=True)\nshould be replaced with\nU = torch.linalg.cholesky(A).mH\n"
        "This transform will produce equivalent results for all valid (symmetric positive definite) inputs."
    )
    return linalg_cholesky(input, upper=upper)


@in_linalg
def cholesky_ex(A: Any, *, upper: bool = False, check_errors: bool = False) -> Named:
    """The Cholesky factor, and an integer: 0 where it exists, else the order of the first minor that is not positive.

    There the factor is nan, and ``check_errors`` raises a ``LinAlgError``, as :func:`cholesky` does.
    """
    places = functools.partial(_first, _no_factor)
    factor, info = _tried(cholesky, mH(A) if upper else A, places, check_errors)
    return named("linalg_cholesky_ex")((mH(factor) if upper else factor, info))


@front("cholesky_inverse")
def cholesky_inverse(L: Any, upper: bool = False) -> Any:
    """The inverse of L Lᴴ (Uᴴ U if ``upper``) from its Cholesky factor."""
    eye = spread(eye_op(n=shape_of(L)[-1], dtype=L.dtype.name), shape_of(L))
    half = solve_triangular(L, eye, upper=upper)
    return half @ mH(half) if upper else mH(half) @ half


@front("cholesky_solve", words={"input": "B", "input2": "L"})
def cholesky_solve(B: Any, L: Any, upper: bool = False) -> Any:
    """X with L Lᴴ X = B (Uᴴ U if ``upper``)."""
    (n, m), (rows, columns) = shape_of(L)[-2:], shape_of(B)[-2:]
    if n == m and rows != n:
        raise ShapeError(
            f"Incompatible matrix sizes for cholesky_solve: each A matrix is {n} by {m} but each b matrix is {rows} by "
            f"{columns}"
        )
    first = solve_triangular(mH(L) if upper else L, B, upper=False)
    return solve_triangular(L if upper else mH(L), first, upper=True)


# ------------------------------------------------------------------------------------------ pseudo-inverse


def _pinv_vjp(g: Any, p: Any, a: Any) -> Any:
    # Golub and Pereyra 1973, for constant rank.
    h = mH(g)
    k = h @ p
    kp = k @ mH(p)
    return -mH(p @ k) + kp - (a @ p) @ kp + (mH(p) @ p) @ (h - k @ a)


pinv_op: Op = primitive(
    "pinv",
    kernels.pinv,
    (lambda g, out, x, **_: _pinv_vjp(g, out, x),),
    infer=lambda shape, **_: (*shape[:-2], shape[-1], shape[-2]),
    node="LinalgPinv",
    fails=singular.svd,
    domain="matrix",
    refuses={**inexact("linalg.pinv"), "h": "linalg.pinv: Low precision dtypes not supported. Got {dtype}"},
    digits=digits.by_matrix(digits.pinv),
    example=("matrix", {"atol": 0.0, "rtol": 1e-15}),
    samples=[sampling.one("matrix", *sizes, atol=0.0, rtol=1e-12) for sizes in (("n", "n"), ("p", "q"), ("q", "n"))],
    doc="Moore-Penrose pseudo-inverse of matrices, at constant rank.",
)


@in_linalg
@refusing(inexact("linalg.pinv"))
def pinv(A: Any, rcond: Any = None, hermitian: bool = False, *, atol: Any = None, rtol: Any = None) -> Any:
    """The Moore-Penrose pseudo-inverse; singular values up to max(atol, rtol · the largest) count as zero."""
    relative = rcond if rtol is None else rtol
    absolute = 0.0 if atol is None else atol
    if relative is None:
        relative = 0.0 if atol is not None else max(shape_of(A)[-2:]) * float(finfo(A.dtype).eps)
    if hermitian:
        A = tril_op(A, k=0) + mH(tril_op(A, k=-1))
    return pinv_op(A, atol=float(absolute), rtol=float(relative))


@front("pinverse")
def pinverse(input: Any, rcond: float = 1e-15) -> Any:
    """The Moore-Penrose pseudo-inverse."""
    return pinv_op(input, atol=0.0, rtol=float(rcond))


@within("linalg", words={"b": "B"})
@refusing({"bui": "This function doesn't handle types other than float and double, got {dtype}"})
def lstsq(A: Any, B: Any, rcond: Any = None, *, driver: Any = None) -> Named:
    """The least-squares solution of A X = B, with residuals, rank and singular values (plain numbers)."""
    if len(shape_of(A)) < 2:
        raise ShapeError(f"torch.linalg.lstsq: input must have at least 2 dimensions, got {len(shape_of(A))}.")
    vector = len(shape_of(A)) - 1 == len(shape_of(B)) and shape_of(A)[:-1] == shape_of(B)
    right = unsqueeze(B, -1) if vector else B
    found = pinv(A, rcond) @ right
    rows, columns = shape_of(A)[-2:]
    # Only the ranks are looked at, and by drivers that ask: programs serve all matrices of these.
    values = svdvals(still(A))
    limit = values[..., :1] * (max(rows, columns) * float(np.finfo(values.dtype).eps))
    ranks: Any = (values > limit).sum(-1)
    residuals: Any = real(narrow(reshape(A, -1), 0, 0, 0))
    driver = "gelsy" if driver is None else driver
    if driver not in ("gels", "gelsy", "gelsd", "gelss"):
        raise ArgumentError("torch.linalg.lstsq: parameter `driver` should be one of (gels, gelsy, gelsd, gelss)")
    if driver != "gelsy":
        ranks = values_of(ranks)
    if driver == "gels" and np.any(ranks < min(rows, columns)):
        raise ArgumentError(
            "torch.linalg.lstsq: The least squares solution could not be computed because the input matrix does not "
            f"have full rank (ranks {ranks.tolist()} of {min(rows, columns)}). The other drivers give the shortest of "
            "all solutions."
        )
    if driver != "gelsy" and rows > columns and np.all(ranks == columns):
        gap = A @ found - right
        residuals = sum_(real(gap * conj(gap)), -2)
        residuals = residuals if not vector else squeeze(residuals, -1)
    solution = squeeze(found, -1) if vector else found
    result = named("linalg_lstsq")
    ranks = ranks if driver != "gels" else np.zeros(0, np.int64)
    shown = values if driver in ("gelsd", "gelss") else wrapped_like(A, np.zeros(0, values.dtype))
    return result((solution, wrapped_like(A, residuals), wrapped_like(A, ranks), shown))


# ------------------------------------------------------------------------------------------ norms and conditions


@in_linalg
def matrix_norm(A: Any, ord: Any = "fro", dim: Any = (-2, -1), keepdim: bool = False, *, dtype: Any = None) -> Any:
    """A norm of matrices: "fro", "nuc", 2, -2 (singular values), 1, -1, inf, -inf (sums of columns or rows)."""
    if not isinstance(dim, (tuple, list)) or len(dim) != 2 or len(shape_of(A)) < 2:
        raise ShapeError(f"linalg.matrix_norm: dim must be a 2-tuple of axes of a matrix, got {dim!r}.")
    if dtype is not None:
        A = cast(A, dtype)
    ndim = len(shape_of(A))
    rows, columns = (axis_of(d, ndim) for d in dim)
    if ord == "fro":
        return norm_op(A, p=2, dim=tuple(sorted((rows, columns))), keepdim=keepdim)
    if ord in ("nuc", 2, -2):
        values = svdvals(movedim(A, (rows, columns), (-2, -1)))
        found = sum_(values, -1) if ord == "nuc" else _extreme(values, -1, ord > 0, False)
        if keepdim:
            for axis in sorted((rows, columns)):
                found = unsqueeze(found, axis)
        return found
    if ord not in (1, -1, math.inf, -math.inf):
        raise ArgumentError(f"linalg.matrix_norm: Order {ord} not supported: 'fro', 'nuc', ±1, ±2 or ±inf.")
    summed, compared = (rows, columns) if abs(ord) == 1 else (columns, rows)
    sums = norm_op(A, p=1, dim=(summed,), keepdim=True)
    found = _extreme(sums, compared, ord > 0, True)
    return found if keepdim else squeeze(found, (rows, columns))


def _extreme(sizes: Any, dim: int, largest: bool, keepdim: bool) -> Any:
    """The largest of the sizes, 0 of none; or the smallest, which none has not."""
    if largest and not shape_of(sizes)[dim]:
        return sum_(sizes, dim, keepdim)
    return (amax if largest else amin)(sizes, dim, keepdim)


@front("norm", op=norm_op)
def old_norm(input: Any, p: Any = "fro", dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The p-norm of all entries, or over the axes ``dim``; "fro" is the 2-norm, "nuc" the sum of singular values."""
    x = input if dtype is None else cast(input, dtype)
    return matrix_norm(x, "nuc", (-2, -1) if dim is None else dim, keepdim) if p == "nuc" else norm(x, p, dim, keepdim)


@in_linalg
def cond(A: Any, p: Any = None) -> Any:
    """The condition number: ratio of singular values, or ‖A‖ ‖A⁻¹‖ in another matrix norm; 0 without entries."""
    if 0 in shape_of(A)[-2:]:
        return sum_(svdvals(A), -1)
    if p in (None, 2, -2):
        values = svdvals(A)
        largest, smallest = values[..., 0], values[..., -1]
        return smallest / largest if p == -2 else largest / smallest
    if p == "nuc":
        return sum_(svdvals(A), -1) * sum_(1 / svdvals(A), -1)
    inverse, info = inv_ex(A)
    found, singular = matrix_norm(A, p) * matrix_norm(inverse, p), values_of(info) != 0
    return where(singular, math.inf, found) if singular.any() else found


@in_linalg
def tensorinv(A: Any, ind: int = 2) -> Any:
    """The inverse of the linear map from the last axes to the first ``ind``."""
    shape = tuple(shape_of(A))
    n = math.prod(shape[:ind])
    return reshape(inv(reshape(A, n, -1)), *shape[ind:], *shape[:ind])


@within("linalg", words={"other": "B"})
def tensorsolve(A: Any, B: Any, dims: Any = None) -> Any:
    """X with tensordot(A, X) = B."""
    ndim = len(shape_of(A))
    if dims is not None:
        A = movedim(A, tuple(dims), tuple(range(ndim - len(dims), ndim)))
    wanted = tuple(shape_of(A))[len(shape_of(B)) :]
    n = math.prod(shape_of(B))
    return reshape(solve(reshape(A, n, -1), reshape(B, -1)), wanted)

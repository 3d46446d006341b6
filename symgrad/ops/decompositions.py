"""Decompositions and what is made of them: eigenvalues, SVD, QR, pseudo-inverse, least squares, triangular systems.

The parts of a decomposition are ops of their own, so each has one rule; the derivative of vectors needs distinct
values, and gaps below rounding give infinite entries, as they must.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from symgrad import kernels
from symgrad.dtypes import finfo
from symgrad.errors import ArgumentError, ShapeError
from symgrad.op import Op, front, primitive, shape_of
from symgrad.ops.complex import conj, real
from symgrad.ops.extremes import amax, amin
from symgrad.ops.gaps import over_gaps
from symgrad.ops.joining import cat, narrow
from symgrad.ops.linalg import (
    check_square,
    cholesky,
    diag_embed,
    diagonal,
    inv,
    mH,
    solve,
    solve_triangular_op,
    tril_op,
)
from symgrad.ops.naming import within
from symgrad.ops.products import eye_op
from symgrad.ops.reductions import cast, mean, norm, norm_op, sum_
from symgrad.ops.select import where
from symgrad.ops.shaping import axis_of, expand, flip, movedim, mT, reshape, squeeze, unsqueeze
from symgrad.ops.spectral import (
    eigh_vectors_op,
    eigvalsh_op,
    matrix_exp,
    matrix_power,
    svd_u_op,
    svd_vh_op,
    svdvals_op,
)
from symgrad.ops.still import values_of
from symgrad.precision import digits


def _linalg(call: Callable[..., Any]) -> Any:
    """Publish in ``linalg`` under the function's own name."""
    return within("linalg")(call)


class Named(tuple):  # type: ignore[type-arg]
    """A tuple whose entries have names too."""

    names: tuple[str, ...]

    def __getattr__(self, name: str) -> Any:
        if name in self.names:
            return self[self.names.index(name)]
        raise AttributeError(name)


def _named(*names: str) -> type[Named]:
    return type("Result", (Named,), {"names": names})


EIG, SVD, QR = _named("eigenvalues", "eigenvectors"), _named("U", "S", "Vh"), _named("Q", "R")
OLD_SVD = _named("U", "S", "V")

# ------------------------------------------------------------------------------------------ symmetric and general eigen


def _hermitian(A: Any, UPLO: str) -> Any:
    """The Hermitian matrix whose one triangle is given."""
    if UPLO.upper() not in ("L", "U"):
        raise ArgumentError(f"Expected UPLO argument to be 'L' or 'U', but got {UPLO!r}.")
    return A if UPLO.upper() == "L" else mH(A)


@_linalg
def eigvalsh(A: Any, UPLO: str = "L") -> Any:
    """Eigenvalues of symmetric (Hermitian) matrices in ascending order."""
    check_square(A, "eigvalsh")
    return eigvalsh_op(_hermitian(A, UPLO))


@_linalg
def eigh(A: Any, UPLO: str = "L") -> Named:
    """Eigenvalues and eigenvectors (columns) of symmetric (Hermitian) matrices."""
    check_square(A, "eigh")
    x = _hermitian(A, UPLO)
    return EIG((eigvalsh_op(x), eigh_vectors_op(x)))


def _complex_of(dtype: Any, *_: Any) -> Any:
    return np.result_type(dtype, np.complex64)


def _eigenvalues_vjp(g: Any, out: Any, x: Any) -> Any:
    vectors = eig_vectors_op(x)
    return solve(mH(vectors), unsqueeze(g, -1) * mH(vectors))


def _eigenvectors_vjp(g: Any, out: Any, x: Any) -> Any:
    # The columns have norm 1: what moves them along themselves is taken away.
    inside = mH(out) @ g
    free = inside - mH(out) @ (out * unsqueeze(real(diagonal(inside, 0, -2, -1)), -2))
    return solve(mH(out), over_gaps(free, eigvals_op(x)) @ mH(out))


eigvals_op: Op = primitive(
    "eigvals",
    kernels.eigvals,
    (_eigenvalues_vjp,),
    infer=lambda shape: shape[:-1],
    result=_complex_of,
    node="LinalgEig",
    dtypes="float",
    domain="distinct",
    refuses={"h": "linalg_eig_out_cpu"},
    digits=digits.by_matrix(digits.eigvals),
    doc="Eigenvalues of square matrices, complex, in LAPACK's order.",
)
eig_vectors_op: Op = primitive(
    "eig_vectors",
    kernels.eig_vectors,
    (_eigenvectors_vjp,),
    infer=lambda shape: shape,
    result=_complex_of,
    node="LinalgEig",
    dtypes="float",
    domain="distinct",
    digits=digits.by_matrix(digits.eig_vectors),
    doc="Eigenvectors of square matrices, as columns of norm 1.",
)


@_linalg
def eigvals(A: Any) -> Any:
    """Eigenvalues of square matrices, complex."""
    check_square(A, "eigvals")
    return eigvals_op(A)


@_linalg
def eig(A: Any) -> Named:
    """Eigenvalues and eigenvectors (columns) of square matrices, complex."""
    check_square(A, "eig")
    return EIG((eigvals_op(A), eig_vectors_op(A)))


# ------------------------------------------------------------------------------------------ singular values


def _rest_of_basis(part: Any, full: Any) -> Any:
    """``part`` followed by the columns that complete the basis; those are constants."""
    have = shape_of(part)[-1]
    return part if shape_of(full)[-1] == have else cat([part, full[..., have:]], -1)


def _rank(A: Any) -> int:
    """Number of singular values."""
    return int(min(*shape_of(A)[-2:]))


@_linalg
def svd(A: Any, full_matrices: bool = True, *, driver: Any = None) -> Named:
    """U, S and Vᴴ with A = U diag(S) Vᴴ; columns that only complete a basis have no derivative."""
    k = _rank(A)
    u, s, vh = svd_u_op(A, k=k), svdvals_op(A, k=k), svd_vh_op(A, k=k)
    if full_matrices:
        plain = values_of(A)
        full_u, _, full_vh = np.linalg.svd(plain, full_matrices=True)
        u = _rest_of_basis(u, full_u)
        vh = mT(_rest_of_basis(mT(vh), np.swapaxes(full_vh, -1, -2)))
    return SVD((u, s, vh))


@_linalg
def svdvals(A: Any, *, driver: Any = None) -> Any:
    """Singular values in descending order."""
    return svdvals_op(A, k=_rank(A))


@front("svd")
def old_svd(input: Any, some: bool = True, compute_uv: bool = True) -> Named:
    """U, S and V (not its transpose) with input = U diag(S) Vᴴ."""
    if not compute_uv:
        shape = shape_of(input)
        zeros = [np.zeros((*shape[:-2], n, n), input.dtype) for n in shape[-2:]]
        return OLD_SVD((zeros[0], svdvals(input), zeros[1]))
    u, s, vh = svd(input, not some)
    return OLD_SVD((u, s, mH(vh)))


# ------------------------------------------------------------------------------------------ QR


def _qr_factor(g: Any, q: Any, r: Any, middle: Any) -> Any:
    """The pullback of a reduced QR with full column rank, from [gQ + Q · sym(middle)] R⁻ᴴ (Walter and Lehmann 2012)."""
    low = tril_op(middle, k=-1)
    diag = diag_embed(real(diagonal(middle, 0, -2, -1)))
    inside = q @ (low + mH(low) + diag)
    return mH(solve(r, mH(inside if g is None else g + inside)))


qr_q_op: Op = primitive(
    "qr_q",
    kernels.qr_q,
    (lambda g, out, x: _qr_factor(g, out, qr_r_op(x), -(mH(g) @ out)),),
    infer=lambda shape: shape,
    node="LinalgQr",
    dtypes="float",
    domain="tall",
    latex=r"\operatorname{{Q}}\left({0}\right)",
    refuses={"h": "geqrf_cpu"},
    digits=digits.by_matrix(digits.qr_q),
    doc="Orthonormal factor of the reduced QR decomposition of matrices with at least as many rows as columns.",
)
qr_r_op: Op = primitive(
    "qr_r",
    kernels.qr_r,
    (lambda g, out, x: _qr_factor(None, qr_q_op(x), out, out @ mH(g)),),
    infer=lambda shape: (*shape[:-2], shape[-1], shape[-1]),
    node="LinalgQr",
    dtypes="float",
    domain="tall",
    latex=r"\operatorname{{R}}\left({0}\right)",
    refuses={"h": "geqrf_cpu"},
    digits=digits.by_matrix(digits.qr_r),
    doc="Triangular factor of the reduced QR decomposition of matrices with at least as many rows as columns.",
)


@_linalg
def qr(A: Any, mode: str = "reduced") -> Named:
    """Q and R with A = Q R; ``mode`` is "reduced", "complete" or "r"."""
    if mode not in ("reduced", "complete", "r"):
        raise ArgumentError(f"qr received unrecognized mode '{mode}' but expected one of 'reduced', 'r', or 'complete'")
    rows, columns = shape_of(A)[-2:]
    square = narrow(A, -1, 0, min(rows, columns))
    q, r = qr_q_op(square), qr_r_op(square)
    if columns > rows:
        # The columns beyond the square part follow from it: R = Qᴴ A.
        r = cat([r, mH(q) @ narrow(A, -1, rows, columns - rows)], -1)
    if mode == "r":
        return QR((np.zeros(0, A.dtype), r))
    if mode == "complete" and rows > columns:
        plain = values_of(A)
        q = _rest_of_basis(q, np.linalg.qr(plain, "complete")[0])
        r = cat([r, np.zeros((*shape_of(A)[:-2], rows - columns, columns), A.dtype)], -2)
    return QR((q, r))


@front("qr")
def old_qr(input: Any, some: bool = True) -> Any:
    """Q and R with input = Q R, reduced if ``some``."""
    return qr(input, "reduced" if some else "complete")


# ------------------------------------------------------------------------------------------ systems of equations


@_linalg
def solve_triangular(A: Any, B: Any, *, upper: bool, left: bool = True, unitriangular: bool = False) -> Any:
    """X with A X = B (X A = B unless ``left``) for a triangular A, of which only that triangle is read."""
    if not left:
        return mT(solve_triangular(mT(A), mT(B), upper=not upper, unitriangular=unitriangular))
    return _system(functools.partial(solve_triangular_op, upper=upper, unit=unitriangular), A, B)


def _system(solver: Any, A: Any, B: Any) -> Any:
    """``solver`` with the batches of both broadcast."""
    a, b = tuple(shape_of(A)), tuple(shape_of(B))
    batch = np.broadcast_shapes(a[:-2], b[:-2])
    return solver(expand(A, (*batch, *a[-2:])), expand(B, (*batch, *b[-2:])))


@front("triangular_solve")
def triangular_solve(b: Any, A: Any, upper: bool = True, transpose: bool = False, unitriangular: bool = False) -> Any:
    """The pair (X, A) with A X = b for a triangular A."""
    matrix = mT(A) if transpose else A
    found = solve_triangular(matrix, b, upper=upper != transpose, unitriangular=unitriangular)
    return _named("solution", "cloned_coefficient")((found, A))


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
        raise ShapeError(f"linalg.solve: A of shape {a} and B of shape {b} do not fit in their rows.")
    return _system(solve, A, B)


def _info(A: Any) -> Any:
    return _wrapped(A, np.zeros(shape_of(A)[:-2], np.int32))


@_linalg
def solve_ex(A: Any, B: Any, *, left: bool = True, check_errors: bool = False) -> Named:
    """The solution and an integer that is 0 where it exists."""
    return _named("result", "info")((linalg_solve(A, B, left=left), _info(A)))


@_linalg
def inv_ex(A: Any, *, check_errors: bool = False) -> Named:
    """The inverse and an integer that is 0 where it exists."""
    return _named("inverse", "info")((inv(A), _info(A)))


@within("linalg", "cholesky")
def linalg_cholesky(A: Any, *, upper: bool = False) -> Any:
    """Lower triangular L with A = L Lᴴ, or upper triangular with A = Uᴴ U."""
    return mH(cholesky(A)) if upper else cholesky(A)


@front("cholesky")
def old_cholesky(input: Any, upper: bool = False) -> Any:
    """Lower triangular L with input = L Lᴴ, or upper triangular with input = Uᴴ U."""
    return linalg_cholesky(input, upper=upper)


@_linalg
def cholesky_ex(A: Any, *, upper: bool = False, check_errors: bool = False) -> Named:
    """The Cholesky factor and an integer that is 0 where it exists."""
    return _named("L", "info")((linalg_cholesky(A, upper=upper), _info(A)))


@front("cholesky_inverse")
def cholesky_inverse(L: Any, upper: bool = False) -> Any:
    """The inverse of L Lᴴ (Uᴴ U if ``upper``) from its Cholesky factor."""
    eye = expand(eye_op(n=shape_of(L)[-1], dtype=L.dtype.name), shape_of(L))
    half = solve_triangular(L, eye, upper=upper)
    return half @ mH(half) if upper else mH(half) @ half


@front("cholesky_solve")
def cholesky_solve(B: Any, L: Any, upper: bool = False) -> Any:
    """X with L Lᴴ X = B (Uᴴ U if ``upper``)."""
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
    dtypes="float",
    domain="matrix",
    latex=r"{0}^{{+}}",
    refuses={"h": "linalg.pinv: Low precision dtypes not supported. Got {dtype}"},
    digits=digits.by_matrix(digits.pinv),
    doc="Moore-Penrose pseudo-inverse of matrices, at constant rank.",
)


@_linalg
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


@_linalg
def lstsq(A: Any, B: Any, rcond: Any = None, *, driver: Any = None) -> Named:
    """The least-squares solution of A X = B, with residuals, rank and singular values (plain numbers)."""
    if len(shape_of(A)) < 2:
        raise ShapeError(f"torch.linalg.lstsq: input must have at least 2 dimensions, got {len(shape_of(A))}.")
    vector = len(shape_of(A)) - 1 == len(shape_of(B)) and shape_of(A)[:-1] == shape_of(B)
    right = unsqueeze(B, -1) if vector else B
    found = pinv(A, rcond) @ right
    rows, columns = shape_of(A)[-2:]
    plain = values_of(A)
    values = np.linalg.svd(plain, compute_uv=False)
    limit = values.max(-1, keepdims=True, initial=0) * max(rows, columns) * np.finfo(values.dtype).eps
    ranks = (values > limit).sum(-1)
    residuals: Any = real(narrow(reshape(A, -1), 0, 0, 0))
    driver = "gelsy" if driver is None else driver
    if driver != "gelsy" and rows > columns and np.all(ranks == columns):
        gap = A @ found - right
        residuals = sum_(real(gap * conj(gap)), -2)
        residuals = residuals if not vector else squeeze(residuals, -1)
    solution = squeeze(found, -1) if vector else found
    result = _named("solution", "residuals", "rank", "singular_values")
    ranks = ranks if driver != "gels" else np.zeros(0, np.int64)
    shown = values if driver in ("gelsd", "gelss") else np.zeros(0, values.dtype)
    return result((solution, _wrapped(A, residuals), _wrapped(A, ranks), _wrapped(A, shown)))


def _wrapped(like: Any, value: Any) -> Any:
    """An array as the kind of value that ``like`` is."""
    if not isinstance(value, (np.ndarray, np.generic)) or not hasattr(like, "new_tensor"):
        return value
    return like.new_tensor(value, dtype=value.dtype)


# ------------------------------------------------------------------------------------------ norms and powers


@_linalg
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
        found = sum_(values, -1) if ord == "nuc" else (amax if ord == 2 else amin)(values, -1)
        if keepdim:
            for axis in sorted((rows, columns)):
                found = unsqueeze(found, axis)
        return found
    if ord not in (1, -1, math.inf, -math.inf):
        raise ArgumentError(f"linalg.matrix_norm: Order {ord} not supported: 'fro', 'nuc', ±1, ±2 or ±inf.")
    summed, compared = (rows, columns) if abs(ord) == 1 else (columns, rows)
    sums = norm_op(A, p=1, dim=(summed,), keepdim=True)
    found = (amax if ord > 0 else amin)(sums, compared, True)
    return found if keepdim else squeeze(found, (rows, columns))


@front("norm", op=norm_op)
def old_norm(input: Any, p: Any = "fro", dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The p-norm of all entries, or over the axes ``dim``; "fro" is the 2-norm, "nuc" the sum of singular values.

    >>> import numpy as np
    >>> import symgrad as sg
    >>> sg.norm(np.array([3.0, 4.0]))
    np.float64(5.0)
    """
    x = input if dtype is None else cast(input, dtype)
    return matrix_norm(x, "nuc", (-2, -1) if dim is None else dim, keepdim) if p == "nuc" else norm(x, p, dim, keepdim)


@front("svd_lowrank", method=False)
def svd_lowrank(A: Any, q: int = 6, niter: int = 2, M: Any = None) -> Named:
    """U, S and V of about the ``q`` largest singular values of A (of A - M), by ``niter`` rounds from a random start.

    The method is that of Halko, Martinsson and Tropp (2009); gradients go through its steps, as in torch.
    """
    from symgrad.ops.noise import drawn

    x = A if M is None else A - M
    wide = shape_of(x)[-2] < shape_of(x)[-1]
    x = mH(x) if wide else x
    basis = qr(x @ drawn(None).normal((int(shape_of(x)[-1]), 6 if q is None else q), np.dtype(x.dtype)))[0]
    for _ in range(2 if niter is None else niter):
        basis = qr(x @ qr(mH(x) @ basis)[0])[0]
    u, s, vh = svd(mH(basis) @ x, False)
    left, right = basis @ u, mH(vh)
    return OLD_SVD((right, s, left) if wide else (left, s, right))


@front("pca_lowrank", method=False)
def pca_lowrank(A: Any, q: int | None = None, center: bool = True, niter: int = 2) -> Named:
    """``svd_lowrank`` of a matrix whose columns are centred first."""
    smaller = min(shape_of(A)[-2:])
    count = min(6, smaller) if q is None else q
    if not 0 <= count <= smaller:
        raise ArgumentError(f"q(={q}) must be non-negative integer and not greater than min(m, n)={smaller}")
    return svd_lowrank(A - mean(A, -2, True) if center else A, count, niter)


@_linalg
def cond(A: Any, p: Any = None) -> Any:
    """The condition number: ratio of singular values, or ‖A‖ ‖A⁻¹‖ in another matrix norm."""
    if p in (None, 2, -2):
        values = svdvals(A)
        largest, smallest = values[..., 0], values[..., -1]
        return smallest / largest if p == -2 else largest / smallest
    return matrix_norm(A, p) * matrix_norm(inv(A), p)


_linalg(matrix_exp)
_linalg(matrix_power)
front("matrix_power")(matrix_power)


@_linalg
def tensorinv(A: Any, ind: int = 2) -> Any:
    """The inverse of the linear map from the last axes to the first ``ind``."""
    shape = tuple(shape_of(A))
    n = math.prod(shape[:ind])
    return reshape(inv(reshape(A, n, -1)), *shape[ind:], *shape[:ind])


@_linalg
def tensorsolve(A: Any, B: Any, dims: Any = None) -> Any:
    """X with tensordot(A, X) = B."""
    ndim = len(shape_of(A))
    if dims is not None:
        A = movedim(A, tuple(dims), tuple(range(ndim - len(dims), ndim)))
    wanted = tuple(shape_of(A))[len(shape_of(B)) :]
    n = math.prod(shape_of(B))
    return reshape(solve(reshape(A, n, -1), reshape(B, -1)), wanted)


@_linalg
def vander(x: Any, *, N: int | None = None) -> Any:
    """The powers 0 … N-1 of every entry along a new last axis."""
    from symgrad.ops.scans import cumprod_op

    x = x if shape_of(x) else reshape(x, 1)
    n = shape_of(x)[-1] if N is None else N
    ndim = len(shape_of(x))
    ones = expand(np.ones((), x.dtype), (*shape_of(x), 1))
    if n < 2:
        return ones
    powers = cumprod_op(expand(unsqueeze(x, -1), (*shape_of(x), n - 1)), dim=ndim)
    return cat([ones, powers], -1)


@front("vander", method=False)
def powers(x: Any, N: int | None = None, increasing: bool = False) -> Any:
    """The powers of every entry of a vector along a new last axis, the highest first unless ``increasing``."""
    if len(shape_of(x)) != 1:
        raise ShapeError(f"x must be a one-dimensional tensor, got shape {tuple(shape_of(x))}.")
    out = vander(x, N=N)
    return out if increasing else flip(out, (-1,))


@_linalg
def householder_product(A: Any, tau: Any) -> Any:
    """The first columns of the product of the reflections I - tau_k v_k v_kᴴ, with v_k below the diagonal of A."""
    rows, columns = shape_of(A)[-2:]
    if not shape_of(tau)[-1]:
        return where(np.zeros((), bool), A, np.eye(rows, columns, dtype=A.dtype))
    start = _wrapped(A, np.broadcast_to(np.eye(rows, dtype=A.dtype), (*shape_of(A)[:-1], rows)).copy())
    full = _reflections(A, tau, start)
    return narrow(full, -1, 0, columns)


def _reflections(A: Any, tau: Any, x: Any, adjoint: bool = False) -> Any:
    """The product of reflections (or its adjoint) times ``x``, one reflection at a time."""
    eye = np.equal.outer(*(np.arange(n) for n in shape_of(A)[-2:]))
    vectors = where(eye, 1, tril_op(A, k=-1))
    order = range(shape_of(tau)[-1])
    for k in order if adjoint else reversed(order):
        v = vectors[..., :, k : k + 1]
        t = unsqueeze(unsqueeze(tau[..., k], -1), -1)
        x = x - (conj(t) if adjoint else t) * (v @ (mH(v) @ x))
    return x


@front("ormqr")
def ormqr(input: Any, tau: Any, other: Any, left: bool = True, transpose: bool = False) -> Any:
    """Q · other (or other · Q), or with Qᴴ, for the Q of ``householder_product``."""
    sides = [len(shape_of(x)) for x in (input, other)]
    if min(sides) < 2:
        named = "input" if sides[0] < 2 else "other"
        raise ShapeError(f"torch.ormqr: {named} must have at least 2 dimensions.")
    count = min(shape_of(other)[-2 if left else -1], shape_of(input)[-1])
    if shape_of(tau)[-1:] != (count,):
        raise ShapeError(
            f"torch.ormqr: tau.shape[-1] must be equal to min(other.shape[{-2 if left else -1}], input.shape[-1]): "
            f"{count}, got tau of shape {tuple(shape_of(tau))}"
        )
    if left:
        return _reflections(input, tau, other, transpose)
    return mH(_reflections(input, tau, mH(other), not transpose))

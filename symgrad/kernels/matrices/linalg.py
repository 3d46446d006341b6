"""NumPy kernels of matrices.  Every function stands alone, for export."""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def eig(x: Any) -> Any:
    """Eigenvalues and eigenvectors of norm 1, as columns, as complex numbers, also where all are real."""
    dtype = np.result_type(x.dtype, np.complex64)
    values, vectors = np.linalg.eig(x)
    return values.astype(dtype, copy=False), vectors.astype(dtype, copy=False)


def eigvals(x: Any) -> Any:
    """Eigenvalues as complex numbers, also where all are real."""
    return np.linalg.eigvals(x).astype(np.result_type(x.dtype, np.complex64), copy=False)


def eig_vectors(x: Any) -> Any:
    """Eigenvectors of norm 1, as columns, complex also where all are real."""
    return np.linalg.eig(x)[1].astype(np.result_type(x.dtype, np.complex64), copy=False)


def qr_q(x: Any) -> Any:
    """Q of the reduced QR decomposition."""
    return np.linalg.qr(x)[0]


def qr_r(x: Any) -> Any:
    """R of the reduced QR decomposition."""
    return np.linalg.qr(x)[1]


def cholesky(x: Any) -> Any:
    """The lower triangular factor of symmetric (Hermitian) matrices, whose lower triangle is read.

    ``LinAlgError`` also where a pivot is nan, which LAPACK takes for a positive one; the last pivot is nan, too, then.
    """
    factor = np.linalg.cholesky(x)
    if np.isnan(factor[..., -1:, -1:]).any():
        raise np.linalg.LinAlgError("Matrix is not positive definite")
    return factor


def rest_of_basis(part: Any, rest: Any) -> Any:
    """Orthonormal columns beside those of ``part``, next to ``rest``."""
    outside = rest - part @ (np.conj(np.swapaxes(part, -1, -2)) @ rest)
    triangle = np.linalg.cholesky(np.conj(np.swapaxes(outside, -1, -2)) @ outside)
    return outside @ np.linalg.inv(np.conj(np.swapaxes(triangle, -1, -2)))


def pinv(x: Any, atol: float, rtol: float) -> Any:
    """The pseudo-inverse; singular values up to max(atol, rtol · the largest) count as zero."""
    u, s, vh = svd(x)
    limit = np.maximum(atol, rtol * s.max(-1, keepdims=True, initial=0))
    inverse = np.where(s > limit, 1 / np.where(s > limit, s, 1), 0)
    return np.conj(np.swapaxes(vh, -1, -2)) @ (inverse[..., None] * np.conj(np.swapaxes(u, -1, -2)))


def eliminated(x: Any, pivot: bool) -> tuple[Any, Any]:
    """The order of rows that elimination chooses (as they come unless ``pivot``), and L and U of these in one array.

    32 columns at a time; what is right of them and below follows by one product.
    """
    rows, columns = x.shape[-2:]
    count, a = min(rows, columns), np.array(x).reshape(math.prod(x.shape[:-2]), rows, columns)
    order = np.tile(np.arange(rows), (len(a), 1))
    for start in range(0, count, 32):
        stop = min(start + 32, count)
        columns_of = range(start, min(stop, rows - 1))
        if len(a) == 1 and a.dtype.kind == "f":
            _eliminate_one(a[0], order[0], columns_of, stop, pivot)
        else:
            _eliminate_many(a, order, columns_of, stop, pivot)
        for k in range(start + 1, stop if stop < columns else start):  # right of the block, whose rows lie in order now
            a[:, k, None, stop:] -= a[:, k, None, start:k] @ a[:, start:k, stop:]
        if stop < min(rows, columns):
            a[:, stop:, stop:] -= a[:, stop:, start:stop] @ a[:, start:stop, stop:]
    return order.reshape(x.shape[:-1]), a.reshape(x.shape)


def _eliminate_one(a: Any, order: Any, columns: range, stop: int, pivot: bool) -> None:
    """Elimination by some columns of a real matrix, within those before ``stop``."""
    for k in columns:
        best = k + int(np.abs(a[k:, k]).argmax()) if pivot else k
        if best != k:
            row = a[k].copy()
            a[k], a[best] = a[best], row
            order[k], order[best] = order[best], order[k]
        below, top = a[k + 1 :, k], a[k, k]
        below /= top or np.where(below == 0, 1, top)  # LAPACK leaves zeros alone
        if k + 1 < stop:
            a[k + 1 :, k + 1 : stop] -= below[:, None] * a[k, k + 1 : stop]


def _eliminate_many(a: Any, order: Any, columns: range, stop: int, pivot: bool) -> None:
    """The same of a stack of matrices, which may be complex."""
    every = np.arange(len(a))
    for k in columns:
        if pivot:
            size = np.abs(a[:, k:, k].real)
            if a.dtype.kind == "c":  # LAPACK compares complex numbers by |re| + |im|
                size += np.abs(a[:, k:, k].imag)
            best = size.argmax(1) + k
            for rows in (a, order):
                top = rows[:, k].copy()
                rows[:, k] = rows[every, best]
                rows[every, best] = top
        below, top = a[:, k + 1 :, k], a[:, k, k, None]
        below /= top if top.all() else np.where((top == 0) & (below == 0), 1, top)
        if k + 1 < stop:
            a[:, k + 1 :, k + 1 : stop] -= below[..., None] * a[:, k, None, k + 1 : stop]


def lu_order(x: Any) -> Any:
    """The order of rows that elimination with partial pivoting chooses: x[order] = L U."""
    return eliminated(x, True)[0]


def lu_plain(x: Any) -> Any:
    """L and U without pivoting, in one array: L below the diagonal (its own is 1), U from it on."""
    return eliminated(x, False)[1]


def swaps_of(order: Any, count: int) -> Any:
    """LAPACK's pivots of an order of rows: the k-th (from 1) says which row was exchanged with row k."""
    flat = order.reshape(int(np.prod(order.shape[:-1])), order.shape[-1])
    if len(flat) < 16:
        found = [_exchanges(row, count) for row in flat.tolist()]
        return np.array(found, np.int32).reshape(*order.shape[:-1], count)
    every, current = np.arange(len(flat)), np.tile(np.arange(flat.shape[1]), (len(flat), 1))
    place = current.copy()  # of every row that is still to come
    out = np.empty((len(flat), count), np.int32)
    for k in range(count):
        found, here = place[every, flat[:, k]], current[:, k]
        current[every, found], place[every, here] = here, found
        out[:, k] = found + 1
    return out.reshape(*order.shape[:-1], count)


def _exchanges(order: list[int], count: int) -> list[int]:
    """The pivots of a single matrix."""
    current, place, out = list(range(len(order))), list(range(len(order))), []
    for k, row in enumerate(order[:count]):
        found, here = place[row], current[k]
        current[found], place[here] = here, found
        out.append(found + 1)
    return out


def order_of(swaps: Any, rows: int) -> Any:
    """The order of rows that LAPACK's pivots stand for."""
    flat = swaps.reshape(int(np.prod(swaps.shape[:-1])), swaps.shape[-1])
    every, current = np.arange(len(flat)), np.tile(np.arange(rows), (len(flat), 1))
    for k, place in enumerate(flat.T - 1):
        current[every, k], current[every, place] = current[every, place], current[every, k]
    return current.reshape(*swaps.shape[:-1], rows)


def substituted(triangle: Any, b: Any, upper: bool) -> Any:
    """X with T X = B row after row: a lower triangle is turned, as LAPACK would look for pivots among its rows."""
    if upper:
        return np.linalg.solve(triangle, b)
    return np.ascontiguousarray(np.linalg.solve(triangle[..., ::-1, ::-1], b[..., ::-1, :])[..., ::-1, :])


def solve_blocks(triangle: Any, b: Any, upper: bool) -> Any:
    """X with T X = B for a large triangle: 64 rows at a time, after what the rows that are known take from them."""
    count = triangle.shape[-1]
    shape = (*np.broadcast_shapes(triangle.shape[:-2], b.shape[:-2]), *b.shape[-2:])
    x = np.empty(shape, np.result_type(triangle, b))
    starts = range(0, count, 64)
    with np.errstate(all="ignore"):  # silent at an overflow, as LAPACK
        for start in reversed(starts) if upper else starts:
            rows, known = slice(start, start + 64), slice(start + 64, None) if upper else slice(start)
            rest = b[..., rows, :] - triangle[..., rows, known] @ x[..., known, :]
            x[..., rows, :] = substituted(triangle[..., rows, rows], rest, upper)
    return x


def solve_triangular(a: Any, b: Any, upper: bool, unit: bool) -> Any:
    """X with A X = B, where A is a triangle of ``a``, with ones on its diagonal if ``unit``."""
    triangle = np.triu(a, int(unit)) if upper else np.tril(a, -int(unit))
    if unit:
        triangle = triangle + np.eye(a.shape[-1], dtype=a.dtype)
    count = a.shape[-1]
    if np.diagonal(triangle, axis1=-2, axis2=-1).all():
        return (substituted if count <= 128 else solve_blocks)(triangle, b, upper)
    rows: dict[int, Any] = {}
    with np.errstate(all="ignore"):  # without an inverse row by row, to infinity and nan, as LAPACK
        for k in reversed(range(count)) if upper else range(count):
            row = b[..., k, :]
            for i in rows:
                row = row - triangle[..., k, i, None] * rows[i]
            rows[k] = row / triangle[..., k, k, None]
    return np.stack([rows[k] for k in range(count)], -2)


def det(x: Any) -> Any:
    """The determinant; of a few rows the product of the pivots that elimination of the transpose finds, as in torch."""
    n = x.shape[-1]
    if x.ndim != 2 or n > 4 or x.shape[0] != n or x.dtype != np.float64 or not np.isfinite(x).all():
        return np.linalg.det(x)
    rows, out = x.T.tolist(), 1.0
    for k in range(n):
        best = max(range(k, n), key=lambda i: abs(rows[i][k]))
        if best != k:
            rows[k], rows[best], out = rows[best], rows[k], -out
        pivot, upper = rows[k][k], rows[k][k + 1 :]
        for i in range(k + 1, n if pivot else 0):
            # The reciprocal is taken once for several rows; the last one is divided.
            factor = rows[i][k] / pivot if k == n - 2 else rows[i][k] * (1 / pivot)
            rows[i][k + 1 :] = [y - factor * z for y, z in zip(rows[i][k + 1 :], upper, strict=True)]
    for k in range(n):
        out *= rows[k][k]
    return np.float64(out)


def slogdet_sign(x: Any) -> Any:
    """Sign (or complex phase) of the determinant."""
    return np.linalg.slogdet(x)[0]


def logabsdet(x: Any) -> Any:
    """log|det x|."""
    return np.linalg.slogdet(x)[1]


def logdet(x: Any) -> Any:
    """log det x; nan for a negative determinant, as torch."""
    sign, value = np.linalg.slogdet(x)
    if x.dtype.kind == "c":
        return (value + 1j * np.angle(sign)).astype(x.dtype)[()]
    return np.where(sign < 0, np.nan, value).astype(value.dtype)[()]


def inv_lower(x: Any) -> Any:
    """The inverse of the lower triangle: of its halves, and of what is below them by two products."""
    count = x.shape[-1]
    if count <= 48:
        return np.linalg.inv(np.tril(x))
    half = count // 2
    out = np.zeros(x.shape, x.dtype)
    first = out[..., :half, :half] = inv_lower(x[..., :half, :half])
    last = out[..., half:, half:] = inv_lower(x[..., half:, half:])
    out[..., half:, :half] = -(last @ (x[..., half:, :half] @ first))
    return out


def inv_or_infinite(x: Any) -> Any:
    """The inverse; of singular matrices what their triangular factors give, which divides by zero as torch does."""
    try:
        return np.linalg.inv(x)
    except np.linalg.LinAlgError:
        columns = np.swapaxes(x, -1, -2)
        order = lu_order(columns)[..., None]
        factors = lu_plain(np.take_along_axis(columns, order, -2))
        ones = np.take_along_axis(np.broadcast_to(np.eye(x.shape[-1], dtype=x.dtype), x.shape), order, -2)
        half = solve_triangular(factors, ones, upper=False, unit=True)
        out = np.swapaxes(solve_triangular(factors, half, upper=True, unit=False), -1, -2)
        if x.dtype.kind != "c":
            return out
        # A complex number over zero is nan, which spreads over the whole matrix in torch's order of the two solutions.
        return np.where(np.isfinite(out).all((-2, -1), keepdims=True), out, x.dtype.type(complex(np.nan, np.nan)))


def solve(a: Any, b: Any) -> Any:
    """The solution x of a x = b; ``b`` is one vector or a (batch of) matrices of columns."""
    if b.ndim == 1:
        return np.linalg.solve(a, b[:, None])[..., 0]
    return np.linalg.solve(a, b)


def cross(a: Any, b: Any, dim: int) -> Any:
    """The cross product of the vectors of three entries along an axis."""
    if a.shape[dim] != 3:
        raise ValueError(f"cross: axis {dim} has {a.shape[dim]} entries, and a cross product needs 3.")
    a1, a2, a3 = np.moveaxis(a, dim, 0)
    b1, b2, b3 = np.moveaxis(b, dim, 0)
    return np.stack((a2 * b3 - a3 * b2, a3 * b1 - a1 * b3, a1 * b2 - a2 * b1), dim)


def matrix_exp(x: Any) -> Any:
    """e^X by scaling, squaring and the degree-13 Padé approximant (Higham 2005)."""
    b = (64764752532480000.0, 32382376266240000.0, 7771770303897600.0, 1187353796428800.0, 129060195264000.0,
         10559470521600.0, 670442572800.0, 33522128640.0, 1323241920.0, 40840800.0, 960960.0, 16380.0, 182.0,
         1.0)  # fmt: skip
    dtype = np.dtype(float) if x.dtype.kind in "biu" else x.dtype  # formulas count conditions as 0 and 1
    x = x.astype(np.result_type(dtype, np.float64))
    sizes = np.max(np.sum(np.abs(x), -2), -1, initial=0.0)[..., None, None]
    if not np.isfinite(sizes).all():
        return np.where(np.isfinite(sizes), matrix_exp(np.where(np.isfinite(sizes), x, 0)), np.nan).astype(dtype)
    size = np.max(sizes, initial=0.0)
    squarings = max(0, math.ceil(math.log2(size / 5.37))) if size > 5.37 else 0
    a = x / 2**squarings
    eye = np.broadcast_to(np.eye(x.shape[-1]), x.shape)
    a2 = a @ a
    a4 = a2 @ a2
    a6 = a4 @ a2
    odd = a6 @ (b[13] * a6 + b[11] * a4 + b[9] * a2) + b[7] * a6 + b[5] * a4 + b[3] * a2 + b[1] * eye
    even = a6 @ (b[12] * a6 + b[10] * a4 + b[8] * a2) + b[6] * a6 + b[4] * a4 + b[2] * a2 + b[0] * eye
    u = a @ odd
    out = np.linalg.solve(even - u, even + u)
    for _ in range(squarings):
        out = out @ out
    return out.astype(dtype, copy=False)


def matrix_exp_frechet(x: Any, e: Any) -> Any:
    """The derivative of e^X along E: the upper right block of exp([[X, E], [0, X]]) (Van Loan 1978)."""
    n = x.shape[-1]
    zero = np.zeros_like(x)
    top, bottom = np.concatenate((x, e), -1), np.concatenate((zero, x), -1)
    whole = np.concatenate((top, bottom), -2)
    weights = balancing(whole)
    return matrix_exp(whole * (weights / weights[:, None]))[..., :n, n:] * (weights[:n, None] / weights[n:])


def balancing(x: Any) -> Any:
    """Powers of two d by which x_ij·d_j/d_i has no corner that is larger than the blocks on its diagonal.

    The scaling of a matrix with a large corner would lose the blocks, on which the corner has no bearing.
    """
    n, odd = divmod(x.shape[-1], 2)
    if not n or odd or np.any(x[..., n:, :n]):
        return np.ones(x.shape[-1], x.real.dtype)
    first, last = balancing(x[..., :n, :n]), balancing(x[..., n:, n:])
    size = np.abs(x * (weights := np.concatenate((first, last))) / weights[:, None])
    corner = np.max(size[..., :n, n:], initial=0)
    blocks = max(1.0, np.max(size[..., :n, :n], initial=0), np.max(size[..., n:, n:], initial=0))
    if blocks < corner < np.inf:
        last = last / 2.0 ** math.ceil(math.log2(corner / blocks))
    return np.concatenate((first, last))


def eigh_vectors(x: Any) -> Any:
    """Orthonormal eigenvectors of a symmetric (Hermitian) matrix, as columns in ascending order of eigenvalues."""
    return np.linalg.eigh(x)[1]


def svd(x: Any) -> Any:
    """Left singular vectors, singular values in descending order, and conjugated right singular vectors, as rows.

    ``LinAlgError`` where entries are not finite: of some such matrices LAPACK finds no end, of others any vectors.
    """
    if not np.all(np.isfinite(x)):
        raise np.linalg.LinAlgError("SVD did not converge: the matrix has entries that are not finite")
    return np.linalg.svd(x, full_matrices=False)


def svd_u(x: Any) -> Any:
    """Left singular vectors, as columns."""
    return svd(x)[0]


def svd_vh(x: Any) -> Any:
    """Right singular vectors, as conjugated rows."""
    return svd(x)[2]


def weighted_gram(x: Any, w: Any) -> Any:
    """xᵀ diag(w) x; where no two weights have different signs as a square, of which BLAS computes a half."""
    low, high = (w.min(), w.max()) if w.size else (0, 0)
    if low >= 0 or high <= 0:
        rows = x * np.sqrt(np.abs(w))[:, None]
        out = rows.T @ rows
        return out if low >= 0 else -out
    return (x.T * w) @ x

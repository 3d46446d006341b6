"""Functions of matrices in mpmath's numbers, with the order, signs and phases that LAPACK chooses."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from symgrad import kernels
from symgrad.precision.digits.numbers import Numbers

__all__ = [
    "adjugate", "by_matrix", "cholesky", "det", "det_divided", "eig_vectors", "eigh_vectors", "eigvals",
    "eigvalsh", "inv", "is_complex", "logabsdet", "logdet", "logm", "logm_frechet", "lu", "lu_order",
    "matrix_exp", "matrix_exp_frechet", "pinv", "qr_q", "qr_r", "rest_of_basis", "slogdet_sign", "solve",
    "solve_sylvester", "sqrtm", "svd_u", "svd_vh", "svdvals",
]  # fmt: skip


def is_complex(x: Any) -> bool:
    """Whether some entry is complex."""
    return any(hasattr(v, "_mpc_") for v in x.flat)


def nearest(x: Any) -> Any:
    """The nearest doubles, for choices of sign and order that are LAPACK's."""
    return x.astype(complex if is_complex(x) else float)


def hermitian(a: Any) -> Any:
    """The matrix whose lower half alone is read."""
    return np.tril(a) + np.conj(np.tril(a, -1)).T


def array(m: Any) -> Any:
    """An array of a matrix of mpmath."""
    return np.array(m.tolist(), dtype=object).reshape(m.rows, m.cols)


def by_matrix(f: Numbers) -> Numbers:
    """``f`` on every matrix of stacks of them."""

    def call(mp: Any, *stacks: Any, **params: Any) -> Any:
        arrays = [np.asarray(x, object) for x in stacks]
        lead = np.broadcast_shapes(*(x.shape[:-2] for x in arrays))
        full = [np.broadcast_to(x, lead + x.shape[-2:]) for x in arrays]
        out: Any = None
        for k in np.ndindex(lead):
            made = np.asarray(f(mp, *(x[k] for x in full), **params))
            if out is None:
                out = np.empty(lead + made.shape, made.dtype)
            out[k] = made[()]
        return out

    return call


def of(mp: Any, x: Any) -> Any:
    """A matrix of mpmath."""
    return mp.matrix([[mp.convert(v) for v in row] for row in x.tolist()])


def inv(mp: Any, a: Any) -> Any:
    """A⁻¹."""
    return array(mp.inverse(of(mp, a)))


def solve(mp: Any, a: Any, b: Any) -> Any:
    """A⁻¹ B."""
    return inv(mp, a) @ b


def det(mp: Any, a: Any) -> Any:
    """The determinant."""
    return mp.det(of(mp, a)) if len(a) else mp.mpf(1)


def adjugate(mp: Any, a: Any) -> Any:
    """The transposed cofactors: by the inverse of a matrix that is far from singular, by minors of others."""
    return _of_determinant(mp, det(mp, a), a)


def det_divided(mp: Any, d: Any, a: Any) -> Any:
    """A determinant times the inverse of its matrix; the adjugate where it is as good as 0."""
    whole = np.asarray(d, object)[..., None, None]
    return by_matrix(lambda mp, d, m: _of_determinant(mp, d[0, 0], m))(mp, whole, a)


def _of_determinant(mp: Any, d: Any, a: Any) -> Any:
    n = len(a)
    if not n or abs(d) > mp.sqrt(mp.eps) * _size(a) ** n:
        return d * inv(mp, a)
    minors = [[det(mp, np.delete(np.delete(a, j, 0), i, 1)) for j in range(n)] for i in range(n)]
    return np.array(minors, object) * (-1) ** np.add.outer(range(n), range(n))


def logdet(mp: Any, a: Any) -> Any:
    """Its logarithm; nan where it is negative."""
    d = det(mp, a)
    if is_complex(a):
        return mp.log(d) if d else -mp.inf
    d = mp.re(d)
    return mp.log(d) if d > 0 else -mp.inf if d == 0 else mp.nan


def logabsdet(mp: Any, a: Any) -> Any:
    """The logarithm of its size."""
    d = abs(det(mp, a))
    return mp.log(d) if d else -mp.inf


def slogdet_sign(mp: Any, a: Any) -> Any:
    """Its sign or phase."""
    return mp.sign(det(mp, a))


def cholesky(mp: Any, a: Any) -> Any:
    """The lower factor."""
    return array(mp.cholesky(of(mp, hermitian(a))))


def matrix_exp(mp: Any, a: Any) -> Any:
    """e^A."""
    return array(mp.expm(of(mp, a)))


def matrix_exp_frechet(mp: Any, a: Any, e: Any) -> Any:
    """The derivative of e^A in the direction E, a block of the exponential of [[A, E], [0, A]]."""
    n = len(a)
    return matrix_exp(mp, np.block([[a, e], [np.full((n, n), mp.mpf(0)), a]]))[:n, n:]


def of_kind(mp: Any, m: Any, *like: Any) -> Any:
    """An array of a matrix of mpmath, of real numbers where all of ``like`` are real."""
    found = array(m)
    return found if any(map(is_complex, like)) else np.frompyfunc(mp.re, 1, 1)(found)


def _inverted(a: Any) -> tuple[Any, Any]:
    """A⁻¹ by elimination in NumPy's arrays of mpmath's numbers, where mpmath's own is 20 times slower; and |det A|."""
    n = len(a)
    whole, size = np.concatenate([a, np.eye(n, dtype=int).astype(object)], axis=1), 1
    for k in range(n):
        pivot = max(range(k, n), key=lambda row, k=k: abs(whole[row, k]))  # type: ignore[misc]
        whole[[k, pivot]] = whole[[pivot, k]]
        if not whole[k, k]:
            raise ZeroDivisionError("matrix is numerically singular")
        size = size * abs(whole[k, k])
        whole[k] = whole[k] / whole[k, k]
        factors = whole[:, k].copy()
        factors[k] = 0
        whole = whole - np.outer(factors, whole[k])
    return whole[:, n:], size


def _size(a: Any) -> Any:
    return max(np.sum(np.abs(a), axis=0))


_STEPS = 100
"""Steps to a square root: with their scale they are about ten, whatever the eigenvalues."""


def _root(mp: Any, m: Any) -> Any:
    """The square root by the iteration of Denman and Beavers (1976), scaled by determinants (Higham 2008, 6.7).

    Raises ``ArithmeticError`` for matrices without one: with eigenvalues below 0, or 0.
    """
    other, small = np.eye(len(m), dtype=int).astype(object), mp.mpf(2) ** (-mp.prec // 2)
    for _ in range(_STEPS):
        (by_m, size), (by_other, rest) = _inverted(m), _inverted(other)
        # A power of two, which rounds nothing, and is 1 at the end.
        scale = mp.mpf(2) ** -mp.nint(mp.log(size * rest, 2) / (2 * len(m)))
        before, m, other = m, (m * scale + by_other / scale) / 2, (other * scale + by_m / scale) / 2
        if _size(m - before) <= small * _size(m):  # the next step would have all digits
            return (m + _inverted(other)[0]) / 2
    raise ArithmeticError("the iteration for its square root does not converge")


def _of_numbers(mp: Any, a: Any) -> Any:
    return np.frompyfunc(mp.convert, 1, 1)(a.astype(object))


def sqrtm(mp: Any, a: Any) -> Any:
    """A^(1/2), with digits to spare for matrices that are nearly singular."""
    with mp.workprec(2 * mp.prec + 60):
        return _root(mp, _of_numbers(mp, a))


def logm(mp: Any, a: Any) -> Any:
    """log A: that of a root next to 1 by the series of 2 artanh; with digits to spare for nearly singular matrices."""
    prec = mp.prec
    with mp.workprec(2 * prec + 60):
        m, one, doubled = _of_numbers(mp, a), np.eye(len(a), dtype=int).astype(object), 0
        while _size(m - one) > 0.1:
            m, doubled = _root(mp, m), doubled + 1
        share = (m - one) @ _inverted(m + one)[0]
        square, term, found, k = share @ share, share, share, 1
        while _size(term) > mp.mpf(2) ** (-prec - 20) * _size(found):
            term, k = term @ square, k + 2
            found = found + term / k
        return found * mp.mpf(2) ** (doubled + 1)


def logm_frechet(mp: Any, a: Any, e: Any) -> Any:
    """The derivative of log A in the direction E, a block of the logarithm of [[A, E], [0, A]]."""
    n = len(a)
    return logm(mp, np.block([[a, e], [np.full((n, n), mp.mpf(0)), a]]))[:n, n:]


def solve_sylvester(mp: Any, a: Any, b: Any, q: Any) -> Any:
    """X with A X + X B = Q, by the system of all its entries."""
    eyes = [np.frompyfunc(mp.convert, 1, 1)(np.eye(len(m)).astype(object)) for m in (b, a)]
    system = np.kron(a, eyes[0]) + np.kron(eyes[1], b.T)
    return of_kind(mp, mp.lu_solve(of(mp, system), of(mp, q.reshape(-1, 1))), a, b, q).reshape(q.shape)


def phases(mp: Any, kernel: Any, found: Any, x: Any) -> Any:
    """What turns columns so that they have the signs or phases of those that the kernel gives, LAPACK's."""
    meets = np.sum(found * np.conj(kernel(nearest(x))), axis=0)
    return np.frompyfunc(lambda v: mp.conj(mp.sign(v)), 1, 1)(meets)


def turned(mp: Any, kernel: Any, found: Any, x: Any) -> Any:
    """Columns with these signs or phases."""
    return found * phases(mp, kernel, found, x)


def eigh(mp: Any, a: Any) -> Any:
    """Eigenvalues in ascending order, and eigenvectors."""
    return (mp.eighe if is_complex(a) else mp.eigsy)(of(mp, hermitian(a)))


def eigvalsh(mp: Any, a: Any) -> Any:
    """Eigenvalues of a Hermitian matrix."""
    return np.array(list(eigh(mp, a)[0]), object)


def eigh_vectors(mp: Any, a: Any) -> Any:
    """Its eigenvectors."""
    return turned(mp, kernels.eigh_vectors, array(eigh(mp, a)[1]), a)


def svd(mp: Any, a: Any, k: int) -> Any:
    """U, the singular values, and Vᴴ."""
    if k > min(a.shape):
        raise NotImplementedError("full matrices are not unique")
    return (mp.svd_c if is_complex(a) else mp.svd_r)(of(mp, a))


def svdvals(mp: Any, a: Any, k: int) -> Any:
    """The singular values."""
    return np.array(list(svd(mp, a, k)[1]), object)


def svd_u(mp: Any, a: Any, k: int) -> Any:
    """The left singular vectors."""
    return turned(mp, kernels.svd_u, array(svd(mp, a, k)[0]), a)


def svd_vh(mp: Any, a: Any, k: int) -> Any:
    """The right ones."""
    u, _, vh = svd(mp, a, k)
    # By the phases of the left ones, of which doubles know sixteen digits: their product has to keep all.
    return array(vh) * np.conj(phases(mp, kernels.svd_u, array(u), a))[:, None]


def eig(mp: Any, a: Any) -> Any:
    """Eigenvalues in LAPACK's order, and eigenvectors."""
    values, vectors = mp.eig(of(mp, a))
    left, order = list(range(len(a))), []
    for like in kernels.eigvals(nearest(a)):
        order.append(min(left, key=lambda k, like=like: abs(values[k] - complex(like))))  # type: ignore[misc]
        left.remove(order[-1])
    return np.array([mp.mpc(values[k]) for k in order], object), array(vectors)[:, order]


def eigvals(mp: Any, a: Any) -> Any:
    """The eigenvalues."""
    return eig(mp, a)[0]


def eig_vectors(mp: Any, a: Any) -> Any:
    """The eigenvectors, of length 1."""
    found = eig(mp, a)[1]
    sizes = np.array([mp.norm(list(column)) for column in found.T], object)
    return turned(mp, kernels.eig_vectors, found / sizes, a)


def pinv(mp: Any, a: Any, **_: Any) -> Any:
    """The pseudo-inverse, of the rank that doubles show."""
    values = np.linalg.svd(nearest(a), compute_uv=False)
    rank = int((values > 1e-13 * max(a.shape) * values.max(initial=0)).sum())
    u, s, vh = svd(mp, a, min(a.shape))
    sizes = np.array([s[k] for k in range(rank)], object).reshape(rank, 1)
    return np.conj(array(vh)[:rank]).T @ (np.conj(array(u)[:, :rank]).T / sizes)


def lu(mp: Any, a: Any) -> Any:
    """Both factors without pivoting, in one array."""
    out = a.copy()
    for k, row in itertools.product(range(a.shape[1]), range(len(a))):
        if row <= k:
            continue
        out[row, k] = out[row, k] / out[k, k]
        out[row, k + 1 :] = out[row, k + 1 :] - out[row, k] * out[k, k + 1 :]
    return out


def lu_order(mp: Any, a: Any) -> Any:
    """The order of rows of pivoting."""
    return kernels.lu_order(nearest(a))


def qr_q(mp: Any, a: Any) -> Any:
    """Q of A = QR."""
    return turned(mp, kernels.qr_q, array(mp.qr(of(mp, a), mode="skinny")[0]), a)


def rest_of_basis(mp: Any, part: Any, rest: Any) -> Any:
    """Orthonormal columns beside those of ``part``, next to ``rest``."""
    outside = rest - part @ (np.conj(part).T @ rest)
    return outside @ inv(mp, np.conj(cholesky(mp, np.conj(outside).T @ outside)).T)


def qr_r(mp: Any, a: Any) -> Any:
    """R."""
    return np.conj(qr_q(mp, a)).T @ a

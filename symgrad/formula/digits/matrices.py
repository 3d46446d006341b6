"""Functions of matrices in mpmath's numbers, with the order, signs and phases that LAPACK chooses."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from symgrad.op import lookup


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


def batched(f: Callable[..., Any]) -> Callable[..., Any]:
    """``f`` on every matrix of stacks of them."""

    def call(*stacks: Any, **params: Any) -> Any:
        arrays = [np.asarray(x, object) for x in stacks]
        lead = np.broadcast_shapes(*(x.shape[:-2] for x in arrays))
        full = [np.broadcast_to(x, lead + x.shape[-2:]) for x in arrays]
        out: Any = None
        for k in np.ndindex(lead):
            made = np.asarray(f(*(x[k] for x in full), **params))
            if out is None:
                out = np.empty(lead + made.shape, made.dtype)
            out[k] = made[()]
        return out

    return call


class Matrices:
    """Functions of one matrix, in the arithmetic of a context of mpmath."""

    def __init__(self, mp: Any):
        self.mp = mp

    def of(self, x: Any) -> Any:
        """A matrix of mpmath."""
        return self.mp.matrix([[self.mp.convert(v) for v in row] for row in x.tolist()])

    def inv(self, a: Any) -> Any:
        """A⁻¹."""
        return array(self.mp.inverse(self.of(a)))

    def solve(self, a: Any, b: Any) -> Any:
        """A⁻¹ B."""
        return self.inv(a) @ b

    def det(self, a: Any) -> Any:
        """The determinant."""
        return self.mp.det(self.of(a)) if len(a) else self.mp.mpf(1)

    def logdet(self, a: Any) -> Any:
        """Its logarithm; nan where it is negative."""
        d = self.mp.re(self.det(a))
        return self.mp.log(d) if d > 0 else -self.mp.inf if d == 0 else self.mp.nan

    def logabsdet(self, a: Any) -> Any:
        """The logarithm of its size."""
        d = abs(self.det(a))
        return self.mp.log(d) if d else -self.mp.inf

    def slogdet_sign(self, a: Any) -> Any:
        """Its sign or phase."""
        return self.mp.sign(self.det(a))

    def cholesky(self, a: Any) -> Any:
        """The lower factor."""
        return array(self.mp.cholesky(self.of(hermitian(a))))

    def matrix_exp(self, a: Any) -> Any:
        """e^A."""
        return array(self.mp.expm(self.of(a)))

    def matrix_exp_frechet(self, a: Any, e: Any) -> Any:
        """The derivative of e^A in the direction E, a block of the exponential of [[A, E], [0, A]]."""
        n = len(a)
        return self.matrix_exp(np.block([[a, e], [np.full((n, n), self.mp.mpf(0)), a]]))[:n, n:]

    def turned(self, name: str, found: Any, x: Any, axis: int, **params: Any) -> Any:
        """Vectors (columns for axis 0, rows for 1) with the signs or phases that LAPACK gives them."""
        meets = np.sum(found * np.conj(lookup(name).kernel(nearest(x), **params)), axis=axis, keepdims=True)
        return found * np.frompyfunc(lambda v: self.mp.conj(self.mp.sign(v)), 1, 1)(meets)

    def eigh(self, a: Any) -> Any:
        """Eigenvalues in ascending order, and eigenvectors."""
        return (self.mp.eighe if is_complex(a) else self.mp.eigsy)(self.of(hermitian(a)))

    def eigvalsh(self, a: Any) -> Any:
        """Eigenvalues of a Hermitian matrix."""
        return np.array(list(self.eigh(a)[0]), object)

    def eigh_vectors(self, a: Any) -> Any:
        """Its eigenvectors."""
        return self.turned("eigh_vectors", array(self.eigh(a)[1]), a, 0)

    def svd(self, a: Any, k: int) -> Any:
        """U, the singular values, and Vᴴ."""
        if k > min(a.shape):
            raise NotImplementedError("full matrices are not unique")
        return (self.mp.svd_c if is_complex(a) else self.mp.svd_r)(self.of(a))

    def svdvals(self, a: Any, k: int) -> Any:
        """The singular values."""
        return np.array(list(self.svd(a, k)[1]), object)

    def svd_u(self, a: Any, k: int) -> Any:
        """The left singular vectors."""
        return self.turned("svd_u", array(self.svd(a, k)[0]), a, 0, k=k)

    def svd_vh(self, a: Any, k: int) -> Any:
        """The right ones."""
        return self.turned("svd_vh", array(self.svd(a, k)[2]), a, 1, k=k)

    def eig(self, a: Any) -> Any:
        """Eigenvalues in LAPACK's order, and eigenvectors."""
        values, vectors = self.mp.eig(self.of(a))
        left, order = list(range(len(a))), []
        for like in lookup("eigvals").kernel(nearest(a)):
            order.append(min(left, key=lambda k, like=like: abs(values[k] - complex(like))))  # type: ignore[misc]
            left.remove(order[-1])
        return np.array([self.mp.mpc(values[k]) for k in order], object), array(vectors)[:, order]

    def eigvals(self, a: Any) -> Any:
        """The eigenvalues."""
        return self.eig(a)[0]

    def eig_vectors(self, a: Any) -> Any:
        """The eigenvectors, of length 1."""
        found = self.eig(a)[1]
        sizes = np.array([self.mp.norm(list(column)) for column in found.T], object)
        return self.turned("eig_vectors", found / sizes, a, 0)

    def pinv(self, a: Any, **_: Any) -> Any:
        """The pseudo-inverse, of the rank that doubles show."""
        values = np.linalg.svd(nearest(a), compute_uv=False)
        rank = int((values > 1e-13 * max(a.shape) * values.max(initial=0)).sum())
        u, s, vh = self.svd(a, min(a.shape))
        sizes = np.array([s[k] for k in range(rank)], object).reshape(rank, 1)
        return np.conj(array(vh)[:rank]).T @ (np.conj(array(u)[:, :rank]).T / sizes)

    def lu(self, a: Any) -> Any:
        """Both factors without pivoting, in one array."""
        out = a.copy()
        for k, row in itertools.combinations(range(len(a)), 2):
            out[row, k] = out[row, k] / out[k, k]
            out[row, k + 1 :] = out[row, k + 1 :] - out[row, k] * out[k, k + 1 :]
        return out

    def lu_order(self, a: Any) -> Any:
        """The order of rows of pivoting."""
        return lookup("lu_order").kernel(nearest(a))

    def qr_q(self, a: Any) -> Any:
        """Q of A = QR."""
        return self.turned("qr_q", array(self.mp.qr(self.of(a), mode="skinny")[0]), a, 0)

    def qr_r(self, a: Any) -> Any:
        """R."""
        return np.conj(self.qr_q(a)).T @ a


OPS = (
    "inv", "solve", "det", "logdet", "logabsdet", "slogdet_sign", "cholesky", "matrix_exp", "matrix_exp_frechet",
    "eigvalsh", "eigh_vectors", "svdvals", "svd_u", "svd_vh", "eigvals", "eig_vectors", "pinv", "lu", "lu_order",
    "qr_q", "qr_r",
)  # fmt: skip


def matrix_functions(mp: Any) -> dict[str, Callable[..., Any]]:
    """The functions of stacks of matrices, by their op."""
    own = Matrices(mp)
    return {name: batched(getattr(own, name)) for name in OPS}

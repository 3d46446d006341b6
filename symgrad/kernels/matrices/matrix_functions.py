"""NumPy kernels of the square root and the logarithm of matrices, and of Sylvester's equation, by Schur's form.

Real matrices give real results; what has none is a LinAlgError that says why.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def schur(a: Any) -> tuple[Any, Any]:
    """Unitary Q and upper triangular T with A = Q T Qᴴ, of one matrix.

    Q is that of LAPACK's eigenvectors where these are far enough from parallel; else QR steps with shifts follow.
    """
    n = a.shape[-1]
    a = a.astype(np.complex128)
    if not np.isfinite(a).all():
        raise np.linalg.LinAlgError("the matrix has entries that are not finite")
    q = np.linalg.qr(np.linalg.eig(a)[1])[0] if n and np.any(np.tril(a, -1)) else np.eye(n, dtype=np.complex128)
    t = np.conj(q.T) @ a @ q
    limit, last, rounds = 4e-16 * np.linalg.norm(a), n, 0
    while last > 1:
        if np.linalg.norm(t[last - 1, : last - 1]) <= limit:
            last, rounds = last - 1, 0
            continue
        if rounds == 60:
            raise np.linalg.LinAlgError("the eigenvalues of the matrix were not found")
        rounds += 1
        # Wilkinson's shift: the eigenvalue of the last block of two that is the nearer to its corner.
        corner = t[last - 1, last - 1]
        half = (t[last - 2, last - 2] - corner) / 2
        root = np.sqrt(half * half + t[last - 2, last - 1] * t[last - 1, last - 2] + 0j)
        near = half - root if abs(half - root) <= abs(half + root) else half + root
        shift = corner + (near if rounds % 11 else abs(t[last - 1, last - 2]))
        turn = np.linalg.qr(t[:last, :last] - shift * np.eye(last))[0]
        t[:last] = np.conj(turn.T) @ t[:last]
        t[:, :last] = t[:, :last] @ turn
        q[:, :last] = q[:, :last] @ turn
    return q, np.triu(t)


def root_of_triangle(t: Any) -> Any:
    """The principal square root of an upper triangular matrix, superdiagonal by superdiagonal (Björck, Hammarling)."""
    n = t.shape[-1]
    out = np.zeros_like(t)
    diagonal = np.sqrt(np.diagonal(t))
    out[np.arange(n), np.arange(n)] = diagonal
    for j in range(1, n):
        for i in range(j - 1, -1, -1):
            rest = t[i, j] - out[i, i + 1 : j] @ out[i + 1 : j, j]
            below = diagonal[i] + diagonal[j]
            if rest != 0 and below == 0:
                raise np.linalg.LinAlgError("the matrix is singular and has no square root")
            out[i, j] = rest / below if below != 0 else 0
    return out


def log_of_triangle(t: Any) -> Any:
    """The principal logarithm of an upper triangular matrix: roots until it is near I, then log(I + X) by quadrature.

    The Gauss-Legendre sum of X (I + sX)⁻¹ over 0 < s < 1 is the diagonal Padé approximant (Higham 2008, chapter 11).
    """
    n, roots, near = t.shape[-1], 0, t
    eye = np.eye(n)
    while roots < 100 and np.max(np.sum(np.abs(near - eye), 0), initial=0) > 0.25:
        near, roots = root_of_triangle(near), roots + 1
    x = near - eye
    nodes, weights = np.polynomial.legendre.leggauss(8)
    out = sum(w / 2 * np.linalg.solve(eye + (s + 1) / 2 * x, x) for s, w in zip(nodes, weights, strict=True))
    out = np.triu(out) * 2.0**roots
    out[np.arange(n), np.arange(n)] = np.log(np.diagonal(t))
    return out


def matrix_values(x: Any, what: str, regular: bool) -> Any:
    """Schur's form of one matrix whose eigenvalues are off the cut, for a function that is called ``what``."""
    q, t = schur(x)
    values = np.diagonal(t)
    size = np.max(np.abs(values), initial=0)
    if regular and np.any(np.abs(values) <= 1e-16 * size):
        raise np.linalg.LinAlgError(f"the matrix is singular (it has the eigenvalue 0): it has no {what}")
    # What is 0 up to rounding is on neither side.
    cut = (values.real < -1e-14 * size) & (np.abs(values.imag) <= 1e-14 * size)
    if x.dtype.kind != "c" and cut.any():
        found = values.real[cut][0]
        raise np.linalg.LinAlgError(
            f"the matrix has the eigenvalue {found:.6g} < 0, so that its {what} is not real; cast it to complex first"
        )
    if cut.any():  # those on the cut are taken from above, whatever rounding has left
        t[np.arange(len(t)), np.arange(len(t))] = np.where(cut, values.real + 0j, values)
    return q, t


def each_matrix(function: Any, *arrays: Any) -> Any:
    """``function`` of every matrix of stacks of matrices, in the dtype of the arguments."""
    dtype = np.result_type(*arrays)
    lead = np.broadcast_shapes(*(x.shape[:-2] for x in arrays))
    stacks = [np.broadcast_to(x, lead + x.shape[-2:]) for x in arrays]
    out = np.empty(lead + arrays[-1].shape[-2:], dtype)
    for place in np.ndindex(lead):
        made = function(*(x[place] for x in stacks))
        out[place] = made if dtype.kind == "c" else made.real
    return out


def sqrtm(x: Any) -> Any:
    """The principal square root of square matrices."""

    def root(a: Any) -> Any:
        q, t = matrix_values(a, "square root", False)
        size = np.max(np.abs(np.diagonal(t)), initial=0)
        if a.dtype.kind != "c":  # a zero that rounding has moved below
            values = np.diagonal(t)
            t[np.arange(len(t)), np.arange(len(t))] = np.where(np.abs(values) <= 1e-15 * size, np.abs(values), values)
        return q @ root_of_triangle(t) @ np.conj(q.T)

    return each_matrix(root, x)


def logm(x: Any) -> Any:
    """The principal logarithm of square matrices."""

    def log(a: Any) -> Any:
        q, t = matrix_values(a, "logarithm", True)
        return q @ log_of_triangle(t) @ np.conj(q.T)

    return each_matrix(log, x)


def logm_frechet(x: Any, e: Any) -> Any:
    """The derivative of log X along E: the upper right block of log([[X, E], [0, X]]) (Van Loan 1978)."""

    def along(a: Any, direction: Any) -> Any:
        n = a.shape[-1]
        q, t = matrix_values(a, "logarithm", True)
        inner = np.conj(q.T) @ direction @ q
        scale = max(1.0, float(np.max(np.abs(inner), initial=0)))  # a large direction would take more roots
        whole = np.block([[t, inner / scale], [np.zeros_like(t), t]])
        return scale * (q @ log_of_triangle(whole)[:n, n:] @ np.conj(q.T))

    return each_matrix(along, x, e)


def solve_sylvester(a: Any, b: Any, q: Any) -> Any:
    """X with A X + X B = Q (Bartels, Stewart): column by column in the bases of Schur's forms."""

    def solve(left: Any, right: Any, sides: Any) -> Any:
        (u, t), (v, s) = schur(left), schur(right)
        rest = np.conj(u.T) @ sides @ v
        out, eye = np.zeros_like(rest), np.eye(len(t))
        size = np.max(np.abs(np.diagonal(t)), initial=0) + np.max(np.abs(np.diagonal(s)), initial=0)
        for k in range(len(s)):
            matrix = t + s[k, k] * eye
            if np.any(np.abs(np.diagonal(matrix)) <= 1e-16 * size):
                raise np.linalg.LinAlgError("A and -B have a common eigenvalue, so that there is not one solution")
            out[:, k] = np.linalg.solve(matrix, rest[:, k] - out[:, :k] @ s[:k, k])
        return u @ out @ np.conj(v.T)

    return each_matrix(solve, a, b, q)

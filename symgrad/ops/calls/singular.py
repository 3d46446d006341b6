"""torch's words for matrices without inverse, solution or decomposition: which of a batch, and where."""

from __future__ import annotations

from typing import Any

import numpy as np

from symgrad import kernels
from symgrad.kernels.matrices.failures import culprit, leading_minor, zero_pivot


def inv(a: Any) -> str:
    """Of ``inv``: the pivot that is 0."""
    place, matrix = culprit(np.linalg.inv, a) or ("", None)
    pivot = None if matrix is None else zero_pivot(matrix)
    where = "The inversion" if pivot is None else f"The diagonal element {pivot} is zero, the inversion"
    return f"linalg.inv: {place}{where} could not be completed because the input matrix is singular"


def solve(a: Any, b: Any) -> str:
    """Of ``solve``, where torch names no pivot."""
    place, _ = culprit(np.linalg.inv, a) or ("", None)
    return f"torch.linalg.solve: {place}The solver failed because the input matrix is singular"


def cholesky(a: Any) -> str:
    """Of ``cholesky``: the leading minor that is not positive."""
    place, matrix = culprit(kernels.cholesky, a) or ("", None)
    order = "" if matrix is None else f" (the leading minor of order {leading_minor(matrix)} is not positive-definite)"
    return (
        f"linalg.cholesky: {place}The factorization could not be completed because the input is not "
        f"positive-definite{order}"
    )


def svd(a: Any) -> str:
    """Of the singular values, and of what is made of them."""
    place, matrix = culprit(kernels.svd, a) or ("", None)
    odd = matrix is not None and not np.isfinite(matrix).all()
    why = "contained non-finite values" if odd else "is ill-conditioned or has too many repeated singular values"
    return f"linalg.svd: {place}The algorithm failed to converge because the input matrix {why}"


def eigh(a: Any) -> str:
    """Of the eigenvalues of symmetric matrices."""
    place, matrix = culprit(np.linalg.eigh, a) or ("", None)
    odd = "" if matrix is None or np.isfinite(matrix).all() else "; it has entries that are not finite"
    return (
        f"linalg.eigh: {place}The algorithm failed to converge because the input matrix is ill-conditioned or has too "
        f"many repeated eigenvalues{odd}"
    )


def eig(a: Any) -> str:
    """Of the eigenvalues of other matrices."""
    if not np.isfinite(a).all():
        return "torch.linalg.eig: input tensor should not contain infs or NaNs"
    return f"linalg.eig: {(culprit(np.linalg.eig, a) or ('', None))[0]}The algorithm failed to converge"

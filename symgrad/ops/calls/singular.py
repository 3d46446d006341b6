"""torch's words for matrices that have no inverse, no solution or no Cholesky factor: which of a batch, and where."""

from __future__ import annotations

from typing import Any

import numpy as np

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
    place, matrix = culprit(np.linalg.cholesky, a) or ("", None)
    order = "" if matrix is None else f" (the leading minor of order {leading_minor(matrix)} is not positive-definite)"
    return (
        f"linalg.cholesky: {place}The factorization could not be completed because the input is not "
        f"positive-definite{order}"
    )

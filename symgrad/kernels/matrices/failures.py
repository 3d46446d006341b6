"""Where LAPACK found no result: the matrix of a batch, and the place in it, as torch tells them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from symgrad.kernels.matrices.linalg import cholesky


def culprit(kernel: Callable[[Any], Any], matrices: Any) -> tuple[str, Any] | None:
    """The first matrix that ``kernel`` refuses, and torch's words for its place in the batch; None if there is none.

    >>> culprit(np.linalg.inv, np.stack([np.eye(2), np.ones((2, 2))]))[0]
    '(Batch element 1): '
    """
    for k, matrix in enumerate(matrices.reshape(-1, *matrices.shape[-2:])):
        try:
            kernel(matrix)
        except np.linalg.LinAlgError:
            return f"(Batch element {k}): " if matrices.ndim > 2 else "", matrix
    return None


def zero_pivot(matrix: Any) -> int | None:
    """The first pivot, counted from 1, that elimination with row exchanges finds to be exactly 0.

    None if rounding differs from LAPACK's so that no pivot is.

    >>> zero_pivot(np.array([[1.0, 2.0], [2.0, 4.0]]))
    2
    """
    rest = np.array(matrix)
    for k in range(len(rest)):
        row = k + int(np.argmax(np.abs(rest[k:, k])))
        if rest[row, k] == 0:
            return k + 1
        rest[[k, row]] = rest[[row, k]]
        rest[k + 1 :, k + 1 :] -= np.multiply.outer(rest[k + 1 :, k] / rest[k, k], rest[k, k + 1 :])
    return None


def leading_minor(matrix: Any) -> int:
    """The order of the first leading minor that is not positive, found by halving: larger ones have no factor, either.

    >>> leading_minor(np.array([[1.0, 2.0], [2.0, 1.0]]))
    2
    """
    good, bad = 0, len(matrix)
    while bad - good > 1:
        middle = (good + bad) // 2
        try:
            cholesky(matrix[:middle, :middle])
            good = middle
        except np.linalg.LinAlgError:
            bad = middle
    return bad

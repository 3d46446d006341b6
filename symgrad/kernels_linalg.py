"""NumPy kernels of matrix decompositions.  Every function stands alone, so that an exported file can carry its source."""

from __future__ import annotations

from typing import Any

import numpy as np


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


def pinv(x: Any, atol: float, rtol: float) -> Any:
    """The pseudo-inverse; singular values up to max(atol, rtol · the largest) count as zero."""
    u, s, vh = np.linalg.svd(x, full_matrices=False)
    limit = np.maximum(atol, rtol * s.max(-1, keepdims=True, initial=0))
    inverse = np.where(s > limit, 1 / np.where(s > limit, s, 1), 0)
    return np.conj(np.swapaxes(vh, -1, -2)) @ (inverse[..., None] * np.conj(np.swapaxes(u, -1, -2)))

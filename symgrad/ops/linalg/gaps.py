"""Gaps between eigenvalues: a derivative of eigenvectors divides by them, and says so where that leaves no digits."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from symgrad.dtypes import finfo
from symgrad.errors import IllPosedDerivative
from symgrad.op import shape_of
from symgrad.ops.calls.still import glanced
from symgrad.ops.elementwise.complex import conj
from symgrad.ops.elementwise.select import where
from symgrad.ops.reductions.products import identity_mask
from symgrad.ops.shapes.shaping import unsqueeze

_LOST = 1e3
"""Rounding errors of eigenvalues that a gap must be wide: below, not three digits of the derivative are left."""


def heed_gaps(values: Any, turned: Any, what: str) -> None:
    """Warn where vectors that are ``turned`` against each other belong to ``values`` that can hardly be told apart.

    ``turned`` has the coefficients that are going to be divided by the gaps; a pair whose coefficient is 0 does no
    harm unless its gap is 0, too.  ``what`` is "eigen" or "singular ".  Formulas, which have no values, are not looked
    at.
    """
    rows, pairs = glanced(values), glanced(turned)
    if not isinstance(rows, np.ndarray) or not isinstance(pairs, np.ndarray) or rows.shape[-1] < 2:
        return
    gaps = np.abs(rows[..., :, None] - rows[..., None, :])
    scale = np.max(np.abs(rows), axis=-1)[..., None, None]
    share = np.abs(pairs) > _LOST * finfo(rows.dtype).eps * np.max(np.abs(pairs), axis=(-2, -1), keepdims=True)
    apart = ~np.eye(rows.shape[-1], dtype=bool)
    near = apart & ((gaps == 0) | (share & (gaps <= _LOST * finfo(rows.dtype).eps * scale)))
    if not near.any():
        return
    *batch, i, j = (int(k) for k in np.argwhere(near)[np.argmin(gaps[near])])
    gap = float(gaps[(*batch, i, j)])
    place = f" of matrix {batch}" if batch else ""
    warnings.warn(
        f"The derivative of {what}vectors is ill-posed: {what}values {min(i, j)} and {max(i, j)}{place} differ by "
        f"{gap:.2g} (the largest is {float(scale[(*batch, 0, 0)]):.2g}), and it divides by that. Use a function that "
        "does not depend on the choice of vectors in their plane, or separate the values.",
        IllPosedDerivative,
        stacklevel=2,
    )


def over_gaps(turned: Any, values: Any) -> Any:
    """Entries off the diagonal over the conjugated gaps of eigenvalues, zeros on it."""
    heed_gaps(values, turned, "eigen")
    gaps = unsqueeze(values, -2) - unsqueeze(values, -1)
    eye = identity_mask(values, len(shape_of(values)) - 1)
    return where(eye, 0, turned / conj(where(eye, 1, gaps)))

"""Derivatives of decompositions divide by what may be 0: they say so where that leaves no digits.

The quotient of two rounding errors looks like any other number.  Formulas, which have no values, are not looked at.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from symgrad.dtypes import finfo
from symgrad.errors import AutogradError, IllPosedDerivative
from symgrad.op import shape_of
from symgrad.ops.calls.still import glanced
from symgrad.ops.elementwise.complex import conj
from symgrad.ops.elementwise.select import where
from symgrad.ops.reductions.products import identity_mask
from symgrad.ops.shapes.shaping import unsqueeze

_LOST = 1e3
"""Rounding errors that a divisor must be wide: below, not three digits of the derivative are left."""

_WHOLE = "Functions of the whole matrix have one: write them with products, solve, det or matrix_exp."


def _glances(*values: Any) -> list[Any] | None:
    """Arrays of all of them; None where one has no values, or no entries."""
    found = [glanced(value) for value in values]
    return found if all(isinstance(value, np.ndarray) and value.size for value in found) else None


def _warn(what: str, why: str, cure: str) -> None:
    text = f"The derivative of {what} is ill-posed: {why}, and it divides by that. {cure}"
    warnings.warn(text, IllPosedDerivative, stacklevel=4)


def _place(batch: Any) -> str:
    return f" of matrix {[int(k) for k in batch]}" if len(batch) else ""


def heed_gaps(values: Any, turned: Any, pairs: Any, what: str, rounding: Any = 1.0) -> None:
    """Warn where vectors that are turned against each other belong to ``values`` that can hardly be told apart.

    ``pairs`` is going to be divided by the gaps.  It is made of ``turned``, whose columns say how large its rounding
    errors are: those of columns that nothing depends on are none, but even they must not meet a gap of 0.  ``what`` is
    "eigen" or "singular "; ``rounding`` has the errors of the values, in those of the largest.
    """
    found = _glances(values, turned, pairs)
    if found is None or found[0].shape[-1] < 2:
        return
    rows, sizes, pairs = found[0], np.max(np.abs(found[1]), -2), np.abs(found[2])
    gaps = np.abs(rows[..., :, None] - rows[..., None, :])
    largest = np.max(np.abs(rows), -1)[..., None, None]
    lost = _LOST * finfo(rows.dtype).eps
    with np.errstate(all="ignore"):
        sizes = sizes / np.maximum(np.max(sizes, -1, keepdims=True), finfo(rows.dtype).tiny)
        noise = sizes[..., :, None] + sizes[..., None, :]
        share = np.where(pairs > lost * np.max(pairs, (-2, -1), keepdims=True), 1, np.minimum(noise, 1))
        near = (gaps <= lost * largest * rounding * share) & ((share > 0) | (gaps == 0))
    near &= ~np.eye(rows.shape[-1], dtype=bool)
    if near.any():
        *batch, i, j = np.argwhere(near)[np.argmin(gaps[near])]
        gap, size = gaps[(*batch, i, j)], largest[(*batch, 0, 0)]
        _warn(
            f"{what}vectors",
            f"{what}values {min(i, j)} and {max(i, j)}{_place(batch)} differ by {gap:.2g} (the largest is {size:.2g})",
            "Use a function that does not depend on the choice of vectors in their plane, or separate the values.",
        )


def heed_zeros(values: Any, divided: Any, what: str, which: str, cure: str) -> None:
    """Warn where columns of ``divided`` that are not 0 to rounding go over ``values`` that are."""
    found = _glances(values, divided)
    if found is None:
        return
    rows, sizes = np.abs(found[0]), np.max(np.abs(found[1]), -2)
    largest = np.max(rows, -1, keepdims=True)
    with np.errstate(all="ignore"):
        share = sizes / np.maximum(np.max(sizes, -1, keepdims=True), finfo(rows.dtype).tiny)
        near = (rows <= _LOST * finfo(rows.dtype).eps * largest * share) & ((share > 0) | (rows == 0))
    if near.any():
        *batch, k = np.argwhere(near)[np.argmin(rows[near])]
        size = largest[(*batch, 0)]
        _warn(what, f"{which} {k}{_place(batch)} is {rows[(*batch, k)]:.2g} (the largest is {size:.2g})", cure)


def heed_choice(turned: Any, pairs: Any) -> None:
    """Raise where a function depends on which of the bases of a plane was taken: where ``pairs`` are not 0."""
    found = _glances(turned, pairs)
    if found is None:
        return
    eps = finfo(found[1].dtype).eps
    if np.max(np.abs(found[1])) > np.cbrt(eps) * np.max(np.abs(found[0])) + 100 * eps:
        raise AutogradError(
            "The columns that complete a basis (svd with full_matrices=True, qr with mode='complete') may be any basis "
            "of what they span, and the function depends on which. Use one that does not, as the product of these "
            "columns and their adjoint, or take the columns of the reduced decomposition."
        )


def conditions(vectors: Any) -> Any:
    """The condition number of each eigenvalue: how much nearer to the others it is than a normal matrix's would be."""
    found = _glances(vectors)
    if found is None:
        return 1.0
    try:
        return np.linalg.norm(np.linalg.inv(found[0]), axis=-1)
    except np.linalg.LinAlgError:
        raise np.linalg.LinAlgError(
            f"Eigenvalues of a defective matrix, which has fewer eigenvectors than rows, have no derivative. {_WHOLE}"
        ) from None


def heed_conditions(vectors: Any) -> None:
    """Warn where a matrix has hardly a basis of eigenvectors."""
    sizes = conditions(vectors)
    if np.size(sizes) and np.max(sizes) * _LOST * finfo(vectors.dtype).eps > 1:
        *batch, k = np.unravel_index(np.argmax(sizes), np.shape(sizes))
        warnings.warn(
            f"The derivative of eigenvalues is ill-posed: eigenvalue {k}{_place(batch)} has the condition number "
            f"{np.max(sizes):.2g}, as the matrix can hardly be diagonalized. {_WHOLE}",
            IllPosedDerivative,
            stacklevel=3,
        )


def over_gaps(turned: Any, values: Any, vectors: Any) -> Any:
    """Entries off the diagonal over the conjugated gaps of eigenvalues, zeros on it."""
    sizes = np.asarray(conditions(vectors))
    rounding = sizes[..., :, None] + sizes[..., None, :] if sizes.ndim else sizes
    heed_gaps(values, turned, turned, "eigen", rounding)
    gaps = unsqueeze(values, -2) - unsqueeze(values, -1)
    eye = identity_mask(values, len(shape_of(values)) - 1)
    return where(eye, 0, turned / conj(where(eye, 1, gaps)))

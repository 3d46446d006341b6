"""Transforms of real numbers onto matrices that distributions have: Cholesky factors, covariances and correlations.

>>> import symgrad as sg
>>> L = sg.distributions.transforms.CorrCholeskyTransform()(sg.tensor([0.5, -1.0, 0.2]))
>>> print((L @ L.mT).diagonal())
tensor([1., 1., 1.])
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from symgrad.distributions import constraints
from symgrad.distributions.transforming import Transform
from symgrad.dtypes import finfo
from symgrad.errors import ArgumentError
from symgrad.ops.calls.naming import SPACES
from symgrad.tensor import creation
from symgrad.tensor.facts import Shape

_pad, _softplus = SPACES["nn.functional"]["pad"], SPACES["nn.functional"]["softplus"]


def tril_matrix_to_vec(mat: Any, diag: int = 0) -> Any:
    """The entries of ``(…, n, n)`` matrices on and below the diagonal number ``diag``, row by row, as vectors.

    Raises ``ArgumentError`` for a diagonal that the matrix does not have.

    >>> import symgrad as sg
    >>> sg.distributions.utils.tril_matrix_to_vec(sg.tensor([[1, 2], [3, 4]]))
    tensor([1, 3, 4])
    """
    n = mat.shape[-1]
    if not -n <= diag < n:
        raise ArgumentError(f"diag ({diag}) provided is outside [{-n}, {n - 1}].")
    rows, columns = np.tril_indices(n, diag)
    return mat[..., rows, columns]


def vec_to_tril_matrix(vec: Any, diag: int = 0) -> Any:
    """The ``(…, n, n)`` matrices whose entries on and below the diagonal number ``diag`` are a vector, row by row.

    Raises ``ArgumentError`` for a length that no matrix has so many entries for.

    >>> import symgrad as sg
    >>> sg.distributions.utils.vec_to_tril_matrix(sg.tensor([1.0, 2.0, 3.0]))
    tensor([[1., 0.],
            [2., 3.]])
    """
    count = vec.shape[-1]
    n = next(n for n in range(max(-diag, 0), count + abs(diag) + 2) if len(np.tril_indices(n, diag)[0]) >= count)
    rows, columns = np.tril_indices(n, diag)
    if len(rows) != count:
        raise ArgumentError(
            f"The size of last dimension is {count} which cannot be expressed as the lower triangular part of a square "
            f"D x D matrix: {len(rows)} entries would be that of {n} x {n}."
        )
    places = np.full((n, n), count)  # the 0 behind the vector
    places[rows, columns] = range(count)
    return _pad(vec, [0, 1])[..., places]


class LowerCholeskyTransform(Transform):
    """Square matrices as lower triangular ones, with the exponential function of the diagonal."""

    domain, codomain = constraints.independent(constraints.real, 2), constraints.lower_cholesky

    def _call(self, x: Any) -> Any:
        return x.tril(-1) + x.diagonal(0, -2, -1).exp().diag_embed()

    def _inverse(self, y: Any) -> Any:
        return y.tril(-1) + y.diagonal(0, -2, -1).log().diag_embed()


class PositiveDefiniteTransform(Transform):
    """Square matrices as positive definite ones, by their Cholesky factors."""

    domain, codomain = constraints.independent(constraints.real, 2), constraints.positive_definite

    def _call(self, x: Any) -> Any:
        factor = LowerCholeskyTransform()(x)
        return factor @ factor.mT

    def _inverse(self, y: Any) -> Any:
        return LowerCholeskyTransform().inv(SPACES["linalg"]["cholesky"](y))


class CorrCholeskyTransform(Transform):
    """Vectors of d (d - 1)/2 numbers as Cholesky factors of correlations, whose rows have the length 1.

    tanh of the numbers are the entries below the diagonal, each as the share of what the row has left to its left: a
    stick that is broken again and again, for squares.
    """

    domain, codomain = constraints.real_vector, constraints.corr_cholesky
    bijective = True

    def _call(self, x: Any) -> Any:
        short = 1 - finfo(x.dtype).eps
        shares = vec_to_tril_matrix(x.tanh().clamp(min=-short, max=short), -1)
        left = (1 - shares.square()).sqrt().cumprod(-1)
        ones = creation.eye(shares.shape[-1], dtype=shares.dtype)
        return (shares + ones) * _pad(left[..., :-1], [1, 0], value=1)

    def _inverse(self, y: Any) -> Any:
        left = _pad(self._left(y)[..., :-1], [1, 0], value=1)
        return (tril_matrix_to_vec(y, -1) / tril_matrix_to_vec(left, -1).sqrt()).atanh()

    @staticmethod
    def _left(y: Any) -> Any:
        return 1 - y.square().cumsum(-1)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """The logarithm of the Jacobian's determinant, for the entries below the diagonal."""
        slopes = 2 * (math.log(2) - x - _softplus(-2 * x))
        return slopes.sum(-1) + tril_matrix_to_vec(self._left(y), -2).log().sum(-1) / 2

    def forward_shape(self, shape: Any) -> Any:
        if not len(shape):
            raise ArgumentError("Too few dimensions on input")
        n = (1 + math.isqrt(1 + 8 * shape[-1])) // 2
        if n * (n - 1) // 2 != shape[-1]:
            raise ArgumentError("Input is not a flattened lower-diagonal number")
        return Shape((*shape[:-1], n, n))

    def inverse_shape(self, shape: Any) -> Any:
        if len(shape) < 2:
            raise ArgumentError("Too few dimensions on input")
        if shape[-2] != shape[-1]:
            raise ArgumentError("Input is not square")
        return Shape((*shape[:-2], shape[-1] * (shape[-1] - 1) // 2))

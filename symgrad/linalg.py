"""Linear algebra under the names of ``torch.linalg``: views of the op table, batched over leading axes.

>>> import symgrad as sg
>>> sg.linalg.det(sg.tensor([[2.0, 0.0], [0.0, 3.0]]))
tensor(6.)
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from symgrad.dtypes import finfo
from symgrad.errors import ArgumentError, ShapeError
from symgrad.notices import notice_once
from symgrad.op import shape_of
from symgrad.ops.calls.naming import SPACES
from symgrad.ops.calls.still import plain_number
from symgrad.ops.linalg.contraction import contract
from symgrad.ops.linalg.matrices import diagonal as _diagonal
from symgrad.ops.reductions import sums
from symgrad.ops.reductions.sums import cast
from symgrad.ops.shapes.shaping import unsqueeze
from symgrad.tensor import FUNCTIONS
from symgrad.tensor.calls import with_out
from symgrad.tensor.labelling import labelling, rewriting

inv = FUNCTIONS["inverse"]
det = FUNCTIONS["det"]
matmul = FUNCTIONS["matmul"]
_entries_norm = rewriting("norm", sums.norm)


def diagonal(A: Any, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Any:
    """The ``offset``-th diagonal of the last two axes, as the last axis.

    >>> import symgrad as sg
    >>> import numpy as np
    >>> sg.linalg.diagonal(np.array([[1.0, 2.0], [3.0, 4.0]]))
    array([1., 4.])
    """
    return _diagonal(A, offset, dim1, dim2)


@functools.partial(with_out, "linalg_vector_norm")
def vector_norm(x: Any, ord: float = 2, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The p-norm of entries over the axes ``dim`` (all of them by default); derivative 0 at the zero vector.

    With ``dtype`` the entries are cast first.  Without entries there is no norm of infinite or negative order.

    >>> import symgrad as sg
    >>> import numpy as np
    >>> float(sg.linalg.vector_norm(np.array([3.0, -4.0])))
    5.0
    """
    ord = plain_number("linalg_vector_norm", "ord", ord)
    if not isinstance(ord, (int, float)):
        raise ArgumentError(f"linalg.vector_norm: ord is a number or inf, not {ord!r}.")
    return _entries_norm(x if dtype is None else cast(x, dtype), ord, dim, keepdim)


matrix_norm = SPACES["linalg"]["matrix_norm"]


@functools.partial(with_out, "linalg_norm")
def norm(A: Any, ord: Any = None, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """A vector norm, or a matrix norm when two axes (or "fro") are asked for; without ``ord`` the entries' 2-norm.

    >>> import symgrad as sg
    >>> import numpy as np
    >>> float(sg.linalg.norm(np.array([[3.0, 0.0], [0.0, 4.0]])))
    5.0
    """
    ndim = len(shape_of(A))
    count = len(dim) if isinstance(dim, (tuple, list)) else 1
    if ord is not None and dim is None and ndim not in (1, 2):
        raise ShapeError(f"linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got {ndim}D.")
    if count not in (1, 2):
        raise ArgumentError(f"linalg.norm: If dim is specified, it must be of length 1 or 2. Got {list(dim)}")
    pair = count == 2
    if ord is None or (not pair and not isinstance(ord, str) and not (dim is None and ndim == 2)):
        return vector_norm(A, 2 if ord is None else ord, dim, keepdim, dtype=dtype)
    return matrix_norm(A, ord, (-2, -1) if dim is None else dim, keepdim, dtype=dtype)


@functools.partial(with_out, "linalg_multi_dot")
@functools.partial(labelling, "linalg.multi_dot")
def multi_dot(tensors: Any) -> Any:
    """The product of several matrices, contracted in the cheapest order; the first and last may be vectors.

    Raises ``ShapeError`` when neighbouring sizes differ.

    >>> import symgrad as sg
    >>> import numpy as np
    >>> sg.linalg.multi_dot([np.eye(2), np.array([[1.0], [2.0]]), np.array([3.0])])
    array([3., 6.])
    """
    if len(tensors) < 2:
        raise ArgumentError(f"linalg.multi_dot: expected at least two tensors, got {len(tensors)}.")
    labels: list[tuple[int, ...]] = []
    for k, x in enumerate(tensors):
        ranks = (1, 2) if k in (0, len(tensors) - 1) else (2,)
        shape = shape_of(x)
        if len(shape) not in ranks:
            place = {0: "the first", len(tensors) - 1: "the last"}.get(k)
            which, most = (f"{place} tensor", "1D or 2D") if place else (f"tensor {k}", "2D")
            raise ShapeError(f"multi_dot(): {which} must be {most} but got {len(shape)}D")
        if k and shape[0] != shape_of(tensors[k - 1])[-1]:
            raise ShapeError(
                f"linalg.multi_dot: tensor {k - 1} of shape {tuple(shape_of(tensors[k - 1]))} and tensor {k} of shape "
                f"{tuple(shape)} cannot be multiplied."
            )
        labels.append((k, k + 1)[2 - len(shape) :] if k == 0 else (k, k + 1)[: len(shape)])
    outer = (labels[0][:-1], labels[-1][1:])
    sizes = tuple(shape_of(tensors[0])[:-1]) + tuple(shape_of(tensors[-1])[1:])
    return contract(tuple(tensors), tuple(labels), outer[0] + outer[1], sizes)


@functools.partial(with_out, "linalg_matrix_rank")
def matrix_rank(A: Any, tol: Any = None, hermitian: bool = False, *, atol: Any = None, rtol: Any = None) -> Any:
    """How many singular values exceed ``max(atol, rtol * the largest)``; it has no derivative.

    ``rtol`` is the larger size times the rounding unit where neither is given, and else 0; ``tol`` is torch's old word
    for ``atol``.  ``hermitian`` takes the absolute eigenvalues of the lower triangle.

    >>> import symgrad as sg
    >>> import numpy as np
    >>> int(sg.linalg.matrix_rank(np.ones((3, 2))))
    1
    """
    sizes = SPACES["linalg"]["eigvalsh"](A).abs() if hermitian else SPACES["linalg"]["svdvals"](A)
    limits = (tol if atol is None else atol, rtol)
    atol, rtol = (unsqueeze(x, -1) if hasattr(x, "dtype") else x for x in limits)  # one limit to a matrix
    if rtol is None:
        rtol = 0.0 if atol is not None else max(shape_of(A)[-2:]) * float(finfo(sizes.dtype).eps)
    largest = FUNCTIONS["amax"](sizes, -1, True) if shape_of(sizes)[-1] else 0.0
    limit = FUNCTIONS["maximum"](sizes * 0 + largest * rtol, sizes * 0 + (0.0 if atol is None else atol))
    return FUNCTIONS["count_nonzero"](sizes > limit, -1)


@functools.partial(with_out, "chain_matmul")
def chain_matmul(*matrices: Any) -> Any:
    """The product of several matrices; torch's old name for :func:`multi_dot`, with its warning.

    >>> import symgrad as sg
    >>> sg.chain_matmul(sg.eye(2), sg.ones(2, 3), sg.ones(3, 1))
    tensor([[3.],
            [3.]])
    """
    notice_once(
        "torch.chain_matmul is deprecated and will be removed in a future PyTorch release. Use torch.linalg.multi_dot "
        "instead, which accepts a list of two or more tensors rather than multiple parameters."
    )
    if not matrices:
        raise ArgumentError("chain_matmul(): Expected one or more matrices")
    for matrix in matrices:
        if len(shape_of(matrix)) != 2:
            raise ShapeError(f"Tensor dimension is {len(shape_of(matrix))}, expected 2 instead.")
    return matrices[0].clone() if len(matrices) == 1 else multi_dot(matrices)


def frobenius_norm(input: Any, dim: Any, keepdim: bool = False, *, out: Any = None) -> Any:
    """The square root of the sum of squares over axes, or over all for ``dim=()``; the old name of a vector norm.

    >>> import symgrad as sg
    >>> sg.frobenius_norm(sg.tensor([[3.0, 4.0]]), ())
    tensor(5.)
    """
    return vector_norm(input, 2.0, dim if dim != [] and dim != () else None, keepdim, out=out)


def nuclear_norm(input: Any, dim: Any = (-2, -1), keepdim: bool = False, *, out: Any = None) -> Any:
    """The sum of singular values; the old name of ``matrix_norm(A, "nuc")``.

    >>> import symgrad as sg
    >>> sg.nuclear_norm(sg.eye(3))
    tensor(3.)
    """
    return matrix_norm(input, "nuc", tuple(dim), keepdim, out=out)


LinAlgError = np.linalg.LinAlgError
globals().update(SPACES["linalg"])

_OWN = (
    "LinAlgError", "det", "diagonal", "inv", "matmul", "matrix_norm", "matrix_rank", "multi_dot", "norm",
    "vector_norm",
)  # fmt: skip
__all__ = sorted({*_OWN, *SPACES["linalg"]})  # noqa: PLE0605

"""Functions of the spectrum: eigenvalues and vectors of symmetric matrices, singular values, the matrix exponential.

Derivatives of eigenvectors need distinct eigenvalues; gaps below rounding give infinite entries, as they must.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from symgrad import kernels
from symgrad.dtypes import real_part
from symgrad.op import Op, fixed, front, inexact, is_complex, primitive, sampling, shape_of
from symgrad.ops.calls import singular
from symgrad.ops.elementwise.arithmetic import clone
from symgrad.ops.elementwise.select import where
from symgrad.ops.linalg import sharing
from symgrad.ops.linalg.gaps import heed_gaps, heed_zeros
from symgrad.ops.linalg.inverse import check_square, inv
from symgrad.ops.linalg.matrices import diag_embed, diagonal, mH
from symgrad.ops.reductions.products import eye_op, identity_mask
from symgrad.ops.shapes.joining import concat_op, narrow_op
from symgrad.ops.shapes.shaping import spread, unsqueeze_op, zeros_like
from symgrad.precision import digits

_EIGH = sharing.Whole("eigh", np.linalg.eigh, 2, columns=True)
_SVD = sharing.Whole("svd", kernels.svd, 3, columns=True)


def _vectors_of(shape: tuple[Any, ...]) -> tuple[Any, ...]:
    return shape


def _scaled(vectors: Any, weights: Any) -> Any:
    """Columns of ``vectors`` times ``weights``."""
    return vectors * unsqueeze_op(weights, dim=len(shape_of(weights)) - 1)


eigvalsh_op: Op = primitive(
    "eigvalsh",
    sharing.part(np.linalg.eigvalsh, _EIGH, 0, alone=True),
    (lambda g, out, x: _eigvalsh_vjp(g, eigh_vectors_op(x)),),
    infer=lambda shape: shape[:-1],
    result=real_part,
    node="LinalgEigh",
    fails=singular.eigh,
    domain="symmetric",
    code=lambda x: f"np.linalg.eigvalsh({x})",
    refuses={"buih": "linalg_eigh_cpu"},
    digits=digits.by_matrix(digits.eigvalsh),
    triangle=True,
    decomposes=("eigenvalues", "lambda"),
    copies=True,  # torch saves the parts
    doc="Eigenvalues of symmetric (Hermitian) matrices in ascending order.",
)


def _eigvalsh_vjp(g: Any, vectors: Any) -> Any:
    return _scaled(vectors, g) @ mH(vectors)


def _gaps(values: Any) -> Any:
    """1/(λ_j - λ_i) off the diagonal, 0 on it."""
    ndim = len(shape_of(values))
    eye = identity_mask(values, ndim - 1)
    difference = unsqueeze_op(values, dim=ndim - 1) - unsqueeze_op(values, dim=ndim)
    return where(eye, 0, 1 / where(eye, 1, difference))


def _eigh_vectors_vjp(g: Any, out: Any, x: Any) -> Any:
    turned, values = mH(out) @ g, sharing.with_vectors(eigvalsh_op, x)
    pairs = turned - mH(turned)
    heed_gaps(values, turned, pairs, "eigen")
    inside = _gaps(values) * pairs / 2
    return out @ inside @ mH(out)


eigh_vectors_op: Op = primitive(
    "eigh_vectors",
    sharing.part(kernels.eigh_vectors, _EIGH, 1),
    (_eigh_vectors_vjp,),
    infer=_vectors_of,
    node="LinalgEigh",
    fails=singular.eigh,
    phases=-2,
    domain="symmetric",
    refuses={"buih": "linalg_eigh_cpu"},
    digits=digits.by_matrix(digits.eigh_vectors),
    code=lambda x: f"eigh_vectors({x})",
    triangle=True,
    orthonormal=(0, 1),
    decomposes=("eigenvalues", "V"),
    copies=True,  # torch saves the parts
    layout="columns",
    doc="Eigenvectors of symmetric matrices, as columns.",
)


_SAMPLES = [
    sampling.one("matrix", *sizes, k=lambda make, sizes=sizes: min(make.shape(*sizes[-2:])))
    for sizes in (("n", "n"), ("p", "q"), ("q", "n"), (2, "p", "q"))
]


# The number of singular values is a parameter: which of two sizes is the smaller one, letters cannot tell.
svdvals_op: Op = primitive(
    "svdvals",
    sharing.part(lambda x, k: np.linalg.svd(x, compute_uv=False), _SVD, 1, alone=True),
    (lambda g, out, x, *, k: _svdvals_vjp(g, svd_u_op(x, k=k), svd_vh_op(x, k=k)),),
    infer=lambda shape, k: (*shape[:-2], k),
    size_params=("k",),
    result=real_part,
    node="LinalgSvd",
    fails=singular.svd,
    domain="matrix",
    code=lambda x, k: f"np.linalg.svd({x}, compute_uv=False)",
    refuses={**inexact("linalg.svd"), "h": "linalg_svd_cpu"},
    digits=digits.by_matrix(digits.svdvals),
    example=("matrix", {"k": 2}),
    decomposes=("SVD", "sigma"),
    samples=_SAMPLES,
    copies=True,  # torch saves the parts
    doc="Singular values in descending order.",
)


def _svdvals_vjp(g: Any, u: Any, vh: Any) -> Any:
    return _scaled(u, g) @ vh


_FREE = "Use a function that does not depend on its vectors."


def _turned(g: Any, vectors: Any, values: Any) -> tuple[Any, Any]:
    """What turns singular vectors against each other, over the gaps of squared values, and what turns their phase."""
    inside = mH(vectors) @ g
    skew = inside - mH(inside)
    heed_gaps(values, inside, skew, "singular ")
    square = values * values
    ndim = len(shape_of(values))
    gaps = unsqueeze_op(square, dim=ndim - 1) - unsqueeze_op(square, dim=ndim)
    eye = identity_mask(values, ndim - 1)
    phase = 0
    if is_complex(skew):
        heed_zeros(values, inside, "singular vectors", "singular value", _FREE)
        phase = diag_embed(diagonal(skew, 0, -2, -1) / (4 * values))
    return where(eye, 0, skew / where(eye, 1, gaps)), phase


def _outside(g: Any, vectors: Any, values: Any) -> Any:
    """The part of ``g`` outside the span of orthonormal columns over their singular values; of a basis, nothing."""
    if shape_of(vectors)[-2] == shape_of(vectors)[-1]:
        return 0
    part = g - vectors @ (mH(vectors) @ g)
    heed_zeros(values, part, "singular vectors", "singular value", _FREE)
    return part / unsqueeze_op(values, dim=len(shape_of(values)) - 1)


def _svd_u_vjp(g: Any, u: Any, x: Any, *, k: Any) -> Any:
    # Townsend 2016; the phase of a pair of complex vectors is free, and each side carries half of its derivative.
    s, vh = sharing.with_vectors(svdvals_op, x, k=k), svd_vh_op(x, k=k)
    inside, phase = _turned(g, u, s)
    columns = unsqueeze_op(s, dim=len(shape_of(s)) - 1)
    return (u @ (inside * columns + phase) + _outside(g, u, s)) @ vh


def _svd_vh_vjp(g: Any, vh: Any, x: Any, *, k: Any) -> Any:
    s, u = sharing.with_vectors(svdvals_op, x, k=k), svd_u_op(x, k=k)
    v, h = mH(vh), mH(g)
    inside, phase = _turned(h, v, s)
    columns = unsqueeze_op(s, dim=len(shape_of(s)) - 1)
    return u @ mH(v @ (inside * columns + phase) + _outside(h, v, s))


svd_u_op: Op = primitive(
    "svd_u",
    sharing.part(lambda x, k: kernels.svd_u(x), _SVD, 0),
    (_svd_u_vjp,),
    infer=lambda shape, k: (*shape[:-1], k),
    size_params=("k",),
    code=lambda x, k: f"svd_u({x})",
    node="LinalgSvd",
    fails=singular.svd,
    phases=-2,
    domain="matrix",
    refuses={**inexact("linalg.svd"), "h": "linalg_svd_cpu"},
    digits=digits.by_matrix(digits.svd_u),
    orthonormal=(0,),
    example=("matrix", {"k": 2}),
    decomposes=("SVD", "U"),
    samples=_SAMPLES,
    copies=True,  # torch saves the parts
    layout="columns",
    doc="Left singular vectors, as columns.",
)
svd_vh_op: Op = primitive(
    "svd_vh",
    sharing.part(lambda x, k: kernels.svd_vh(x), _SVD, 2),
    (_svd_vh_vjp,),
    infer=lambda shape, k: (*shape[:-2], k, shape[-1]),
    size_params=("k",),
    code=lambda x, k: f"svd_vh({x})",
    node="LinalgSvd",
    fails=singular.svd,
    phases=-1,
    domain="matrix",
    refuses={**inexact("linalg.svd"), "h": "linalg_svd_cpu"},
    digits=digits.by_matrix(digits.svd_vh),
    orthonormal=(1,),
    example=("matrix", {"k": 2}),
    decomposes=("SVD", "V"),
    samples=_SAMPLES,
    copies=True,  # torch saves the parts
    layout="columns",
    doc="Right singular vectors, as conjugated rows.",
)

matrix_exp_op: Op = primitive(
    "matrix_exp",
    kernels.matrix_exp,
    (lambda g, out, x: matrix_exp_frechet_op(mH(x), g),),
    jvp=(lambda t, out, x: matrix_exp_frechet_op(x, t),),
    infer=_vectors_of,
    node="LinalgMatrixExp",
    domain="square",
    refuses=inexact("linalg.matrix_exp"),
    digits=digits.by_matrix(digits.matrix_exp),
    doc="The matrix exponential.",
)


def second_direction(direction: Op, g: Any, x: Any, e: Any) -> Any:
    """The pullback to X of the derivative of a function of matrices along E.

    The second derivative is symmetric; it is the upper right block of the first one at [[X, E], [0, X]].
    """
    n, last = shape_of(x)[-1], len(shape_of(x)) - 1
    h, zero = mH(x), zeros_like(x)

    def blocks(main: Any, corner: Any) -> Any:
        top, bottom = concat_op(main, corner, dim=last), concat_op(zero, main, dim=last)
        return concat_op(top, bottom, dim=last - 1)

    moved = direction(blocks(h, mH(e)), blocks(g, zero))
    return narrow_op(narrow_op(moved, dim=last - 1, start=0, length=n), dim=last, start=n, length=n)


matrix_exp_frechet_op: Op = primitive(
    "matrix_exp_frechet",
    kernels.matrix_exp_frechet,
    (
        lambda g, out, x, e: second_direction(matrix_exp_frechet_op, g, x, e),
        lambda g, out, x, like: matrix_exp_frechet_op(mH(x), g),
    ),
    domain="square",
    digits=digits.by_matrix(digits.matrix_exp_frechet),
    doc="The derivative of the matrix exponential along a direction.",
)


@front("matrix_exp", op=matrix_exp_op)
def matrix_exp(A: Any) -> Any:
    """The matrix exponential of square matrices (the last two axes)."""
    check_square(A, "matrix_exp")
    return matrix_exp_op(A)


def _power_vjp(g: Any, out: Any, x: Any, *, n: int) -> Any:
    turned, total = mH(x), None
    # d(Aⁿ) is the sum of Aᵏ dA Aⁿ⁻¹⁻ᵏ; for n < 0 that of -A⁻ᵏ dA Aⁿ⁻¹⁺ᵏ over k = 1 … -n.
    pairs = [(k, n - 1 - k) for k in range(n)] if n > 0 else [(-k, n - 1 + k) for k in range(1, 1 - n)]
    for left, right in pairs:
        term = _to_the(turned, left) @ g @ _to_the(turned, right) if left and right else g
        if bool(left) != bool(right):
            term = _to_the(turned, left) @ g if left else g @ _to_the(turned, right)
        total = term if total is None else total + term
    if total is None:
        return g * 0
    return total if n > 0 else -total


def _to_the(x: Any, n: int) -> Any:
    return x if n == 1 else matrix_power_op(x, n=n)


matrix_power_op: Op = primitive(
    "matrix_power",
    np.linalg.matrix_power,
    (_power_vjp,),
    infer=lambda shape, **_: shape,
    node="MatrixPower",
    domain="invertible",
    define=lambda x, *, n: matrix_power(x, n),
    expanded=True,
    code=lambda x, *, n: f"np.linalg.matrix_power({x}, {n})",
    example=("matrix", {"n": 3}),
    samples=[
        lambda make: ((make("invertible", "n", "n"),), {"n": 3}),
        lambda make: ((make("invertible", 2, "n", "n"),), {"n": -2}),
    ],
    doc="A square matrix multiplied n times with itself; formulas show products of equal matrices so.",
)


def matrix_power(A: Any, n: int) -> Any:
    """A multiplied n times with itself; the inverse's power for negative n, the identity for 0."""
    check_square(A, "matrix_power")
    if n < 0:
        return matrix_power(inv(A), -n)
    if n == 0:
        return spread(eye_op(n=shape_of(A)[-1], dtype=A.dtype.name), shape_of(A)) + A * 0
    out, square, power = None, A, int(fixed(n))
    while power:
        if power & 1:
            out = square if out is None else out @ square
        power >>= 1
        square = square @ square if power else square
    return clone(out) if out is A else out

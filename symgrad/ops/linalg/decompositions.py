"""Decompositions and what is made of them: eigenvalues, SVD, QR, reflections.

The parts of a decomposition are ops of their own, so each has one rule; the derivative of vectors needs distinct
values, and gaps below rounding give infinite entries, as they must.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from symgrad import kernels
from symgrad.errors import ArgumentError, AutogradError, ShapeError
from symgrad.notices import notice_once
from symgrad.op import Op, as_size, fixed_length, folded, front, inexact, primitive, refusing, sampling, shape_of
from symgrad.ops.calls import fits, singular
from symgrad.ops.calls.naming import within
from symgrad.ops.calls.results import Named, named
from symgrad.ops.calls.still import decided_by, values_of, wrapped_like
from symgrad.ops.elementwise.arithmetic import clone
from symgrad.ops.elementwise.complex import complex_of, conj, real
from symgrad.ops.elementwise.select import where
from symgrad.ops.linalg import sharing
from symgrad.ops.linalg.gaps import heed_choice, heed_conditions, heed_zeros, over_gaps
from symgrad.ops.linalg.inverse import check_square, cholesky, solve, solve_triangular_op
from symgrad.ops.linalg.matrices import diag_embed, diagonal, mH
from symgrad.ops.linalg.spectral import (
    eigh_vectors_op,
    eigvalsh_op,
    matrix_exp,
    matrix_power,
    svd_u_op,
    svd_vh_op,
    svdvals_op,
)
from symgrad.ops.linalg.triangles import tril_op, triu_op
from symgrad.ops.reductions.sums import cast, mean
from symgrad.ops.rules import work
from symgrad.ops.shapes.joining import cat, narrowed
from symgrad.ops.shapes.shaping import flip, mT, ones_like, reshape, spread, unsqueeze
from symgrad.precision import digits

in_linalg = within("linalg")
"""Publish in ``linalg`` under the function's own name."""


# ------------------------------------------------------------------------------------------ symmetric and general eigen


def _hermitian(A: Any, UPLO: str) -> Any:
    """The Hermitian matrix whose one triangle is given."""
    if UPLO.upper() not in ("L", "U"):
        raise ArgumentError(f"Expected UPLO argument to be 'L' or 'U', but got {UPLO!r}.")
    return A if UPLO.upper() == "L" else mH(A)


@in_linalg
def eigvalsh(A: Any, UPLO: str = "L") -> Any:
    """Eigenvalues of symmetric (Hermitian) matrices in ascending order."""
    check_square(A, "eigvalsh")
    return eigvalsh_op(_hermitian(A, UPLO))


@in_linalg
def eigh(A: Any, UPLO: str = "L") -> Named:
    """Eigenvalues and eigenvectors (columns) of symmetric (Hermitian) matrices."""
    check_square(A, "eigh")
    x = _hermitian(A, UPLO)
    vectors = eigh_vectors_op(x)
    return named("linalg_eigh")((sharing.with_vectors(eigvalsh_op, x), vectors))


def _eigenvalues_vjp(g: Any, out: Any, x: Any) -> Any:
    vectors = eig_vectors_op(x)
    heed_conditions(vectors)
    return solve(mH(vectors), unsqueeze(g, -1) * mH(vectors))


def _eigenvectors_vjp(g: Any, out: Any, x: Any) -> Any:
    # The columns have norm 1: what moves them along themselves is taken away.
    inside = mH(out) @ g
    free = inside - mH(out) @ (out * unsqueeze(real(diagonal(inside, 0, -2, -1)), -2))
    return solve(mH(out), over_gaps(free, sharing.with_vectors(eigvals_op, x), out) @ mH(out))


_EIG = sharing.Whole("eig", kernels.eig, 2, columns=True)

eigvals_op: Op = primitive(
    "eigvals",
    sharing.part(kernels.eigvals, _EIG, 0, alone=True),
    (_eigenvalues_vjp,),
    infer=lambda shape: shape[:-1],
    result=complex_of,
    node="LinalgEig",
    fails=singular.eig,
    domain="distinct",
    code=lambda x: f"eigvals({x})",
    refuses={"bui": "Unknown Complex ScalarType for {dtype}", "h": "linalg_eig_out_cpu"},
    digits=digits.by_matrix(digits.eigvals),
    copies=True,  # torch saves the parts
    doc="Eigenvalues of square matrices, complex, in LAPACK's order.",
)
eig_vectors_op: Op = primitive(
    "eig_vectors",
    sharing.part(kernels.eig_vectors, _EIG, 1),
    (_eigenvectors_vjp,),
    result=complex_of,
    node="LinalgEig",
    fails=singular.eig,
    phases=-2,
    code=lambda x: f"eig_vectors({x})",
    domain="distinct",
    digits=digits.by_matrix(digits.eig_vectors),
    copies=True,  # torch saves the parts
    layout="columns",
    doc="Eigenvectors of square matrices, as columns of norm 1.",
)


@in_linalg
def eigvals(A: Any) -> Any:
    """Eigenvalues of square matrices, complex."""
    check_square(A, "eigvals")
    return eigvals_op(A)


@in_linalg
def eig(A: Any) -> Named:
    """Eigenvalues and eigenvectors (columns) of square matrices, complex."""
    check_square(A, "eig")
    vectors = eig_vectors_op(A)
    return named("linalg_eig")((sharing.with_vectors(eigvals_op, A), vectors))


# ------------------------------------------------------------------------------------------ singular values


def _rest_vjp(g: Any, out: Any, part: Any) -> Any:
    turned = mH(out) @ g
    heed_choice(turned, turned - mH(turned))
    return -(out @ mH(g) @ part)


def _basis_sample(make: Any) -> Any:
    """Columns that are orthonormal to the last bit: reflected by vectors with four entries of size 1, or with two."""
    columns, n = make("tall", "p", "p"), make.shape("p")[0]
    q = np.eye(n, dtype=columns.dtype)
    for k, v in enumerate(np.where(columns.real > 0, 1, -1).T):
        v[np.roll(np.arange(n), k)[4 if n >= 4 else 2 :]] = 0
        q -= np.outer(q @ v, v) * (2 / (v @ v))
    turns = np.where(columns.imag[0] > 0, 1j, 1) if columns.dtype.kind == "c" else 1
    q *= turns
    return (q[:, :-1].copy(), q[:, -1:].copy()), {}


rest_of_basis_op: Op = primitive(
    "rest_of_basis",
    kernels.rest_of_basis,
    (lambda g, out, part, like: _rest_vjp(g, out, part), None),
    infer=lambda part, rest: rest,
    code=lambda part, rest: f"rest_of_basis({part}, {rest})",
    phases=True,
    digits=digits.by_matrix(digits.rest_of_basis),
    example=([[0.6], [0.8]], [[-0.8], [0.6]], {}),
    samples=[_basis_sample],
    doc="The columns that complete orthonormal ones to a basis, near to given ones; what they span has a derivative.",
)


def _whole_basis(part: Any, full: Any) -> Any:
    """``part`` followed by the columns of ``full`` that complete the basis."""
    have = shape_of(part)[-1]
    return part if shape_of(full)[-1] == have else cat([part, rest_of_basis_op(part, full[..., have:])], -1)


def _rank(A: Any) -> int:
    """Number of singular values."""
    return as_size(min(*shape_of(A)[-2:]))  # type: ignore[no-any-return]


@in_linalg
def svd(A: Any, full_matrices: bool = True, *, driver: Any = None) -> Named:
    """U, S and Vᴴ with A = U diag(S) Vᴴ; of columns that only complete a basis, what they span has a derivative."""
    fits.matrix("svd", A)
    k = _rank(A)
    u, s, vh = svd_u_op(A, k=k), sharing.with_vectors(svdvals_op, A, k=k), svd_vh_op(A, k=k)
    rows, columns = shape_of(A)[-2:]
    if full_matrices and rows != columns:  # of a square matrix both are whole, and nobody looks at its values
        full_u, _, full_vh = np.linalg.svd(decided_by(A), full_matrices=True)
        u = _whole_basis(u, full_u)
        vh = mT(_whole_basis(mT(vh), np.swapaxes(full_vh, -1, -2)))
    return named("linalg_svd")((u, s, vh))


@in_linalg
def svdvals(A: Any, *, driver: Any = None) -> Any:
    """Singular values in descending order."""
    return svdvals_op(A, k=_rank(A))


@front("svd")
def old_svd(input: Any, some: bool = True, compute_uv: bool = True) -> Named:
    """U, S and V (not its transpose) with input = U diag(S) Vᴴ."""
    if not compute_uv:
        shape = shape_of(input)
        zeros = [wrapped_like(input, np.zeros((*shape[:-2], n, n), input.dtype)) for n in shape[-2:]]
        return named("svd")((zeros[0], svdvals(input), zeros[1]))
    u, s, vh = svd(input, not some)
    return named("svd")((u, s, mH(vh)))


# ------------------------------------------------------------------------------------------ QR


def _qr_factor(g: Any, q: Any, r: Any, middle: Any) -> Any:
    """The pullback of a reduced QR with full column rank, from [gQ + Q · sym(middle)] R⁻ᴴ (Walter and Lehmann 2012)."""
    low = tril_op(middle, k=-1)
    diag = diag_embed(real(diagonal(middle, 0, -2, -1)))
    inside = q @ (low + mH(low) + diag)
    whole = inside if g is None else g + inside
    cure = "Columns that depend on those before them leave Q free: use a function of the product Q R, or other columns."
    heed_zeros(diagonal(r, 0, -2, -1), inside if g is None else g, "a QR decomposition", "diagonal entry", cure)
    return mH(solve_triangular_op(r, mH(whole), upper=True, unit=False))


_QR = sharing.Whole("qr", np.linalg.qr, 2, columns=True)

qr_q_op: Op = primitive(
    "qr_q",
    sharing.part(kernels.qr_q, _QR, 0),
    (lambda g, out, x: _qr_factor(g, out, qr_r_op(x), -(mH(g) @ out)),),
    code=lambda x: f"qr_q({x})",
    node="LinalgQr",
    phases=True,
    domain="tall",
    refuses={**inexact("linalg.qr"), "h": "geqrf_cpu"},
    digits=digits.by_matrix(digits.qr_q),
    orthonormal=(0,),
    work=work.reflections,
    samples=[sampling.one("tall", "n", "n"), sampling.one("tall", "p", "q"), sampling.one("tall", 2, "p", "q")],
    copies=True,  # torch saves the parts
    layout="columns",
    doc="Orthonormal factor of the reduced QR decomposition of matrices with at least as many rows as columns.",
)
qr_r_op: Op = primitive(
    "qr_r",
    sharing.part(kernels.qr_r, _QR, 1),
    (lambda g, out, x: _qr_factor(None, qr_q_op(x), out, out @ mH(g)),),
    infer=lambda shape: (*shape[:-2], shape[-1], shape[-1]),
    code=lambda x: f"qr_r({x})",
    node="LinalgQr",
    phases=True,
    domain="tall",
    refuses={**inexact("linalg.qr"), "h": "geqrf_cpu"},
    digits=digits.by_matrix(digits.qr_r),
    work=work.reflections,
    samples=[sampling.one("tall", "n", "n"), sampling.one("tall", "p", "q"), sampling.one("tall", 2, "p", "q")],
    copies=True,  # torch saves the parts
    layout="columns",
    doc="Triangular factor of the reduced QR decomposition of matrices with at least as many rows as columns.",
)


@in_linalg
def qr(A: Any, mode: str = "reduced") -> Named:
    """Q and R with A = Q R; ``mode`` is "reduced", "complete" or "r"."""
    if mode not in ("reduced", "complete", "r"):
        raise ArgumentError(f"qr received unrecognized mode '{mode}' but expected one of 'reduced', 'r', or 'complete'")
    fits.matrix("qr", A)
    rows, columns = shape_of(A)[-2:]
    square = narrowed(A, -1, 0, min(rows, columns))
    q, r = qr_q_op(square), qr_r_op(square)
    if columns > rows:
        # The columns beyond the square part follow from it: R = Qᴴ A.
        r = cat([r, mH(q) @ narrowed(A, -1, rows, columns - rows)], -1)
    if mode == "r":
        return named("linalg_qr")((wrapped_like(A, np.zeros(0, A.dtype)), r))
    if mode == "complete" and rows > columns:
        rows, columns = fixed_length(A, -2), fixed_length(A, -1)  # as many rows of zeros and columns are added
        q = _whole_basis(q, np.linalg.qr(decided_by(A), "complete")[0])
        r = cat([r, np.zeros((*shape_of(A)[:-2], rows - columns, columns), A.dtype)], -2)
    return named("linalg_qr")((q, r))


@front("qr")
def old_qr(input: Any, some: bool = True) -> Named:
    """Q and R with input = Q R, reduced if ``some``."""
    notice_once(
        "torch.qr is deprecated in favor of torch.linalg.qr and will be removed in a future PyTorch release.\n"
        "The boolean parameter 'some' has been replaced with a string parameter 'mode'.\n"
        "Q, R = torch.qr(A, some)\nshould be replaced with\n"
        "Q, R = torch.linalg.qr(A, 'reduced' if some else 'complete')"
    )
    return named("qr")(qr(input, "reduced" if some else "complete"))


# ------------------------------------------------------------------------------------------ powers and reflections


@front("svd_lowrank", method=False)
def svd_lowrank(A: Any, q: int = 6, niter: int = 2, M: Any = None) -> tuple[Any, ...]:
    """U, S and V of about the ``q`` largest singular values of A (of A - M), by ``niter`` rounds from a random start.

    The method is that of Halko, Martinsson and Tropp (2009); gradients go through its steps, as in torch.
    """
    from symgrad.ops.noise import drawn

    x = A if M is None else A - M
    wide = shape_of(x)[-2] < shape_of(x)[-1]
    x = mH(x) if wide else x
    basis = qr(x @ drawn(None).normal((int(shape_of(x)[-1]), 6 if q is None else q), np.dtype(x.dtype)))[0]
    for _ in range(2 if niter is None else niter):
        basis = qr(x @ qr(mH(x) @ basis)[0])[0]
    u, s, vh = svd(mH(basis) @ x, False)
    left, right = basis @ u, mH(vh)
    return (right, s, left) if wide else (left, s, right)


@front("pca_lowrank", method=False)
def pca_lowrank(A: Any, q: int | None = None, center: bool = True, niter: int = 2) -> tuple[Any, ...]:
    """``svd_lowrank`` of a matrix whose columns are centred first."""
    smaller = min(shape_of(A)[-2:])
    count = min(6, smaller) if q is None else q
    if not 0 <= count <= smaller:
        raise ArgumentError(f"q(={q}) must be non-negative integer and not greater than min(m, n)={smaller}")
    return svd_lowrank(A - mean(A, -2, True) if center else A, count, niter)


@front("lobpcg", method=False)
def lobpcg(
    A: Any,
    k: int | None = None,
    B: Any = None,
    X: Any = None,
    n: int | None = None,
    iK: Any = None,
    niter: int | None = None,
    tol: float | None = None,
    largest: bool | None = None,
    method: str | None = None,
) -> tuple[Any, ...]:
    """The ``k`` largest (or smallest) λ with A x = λ B x of symmetric matrices, and such x in columns, with xᵀB x = 1.

    torch iterates from ``X`` or from random columns; here all eigenvalues are computed, to all digits, so that ``X``
    says only how many are asked for, and ``iK``, ``niter``, ``tol`` and ``method`` nothing.
    """
    check_square(A, "lobpcg")
    rows = shape_of(A)[-1]
    count = shape_of(X)[-1] if X is not None else 1 if k is None else k
    tried = count if n is None else n
    if rows < 3 * tried:
        raise ArgumentError(
            f"LPBPCG algorithm is not applicable when the number of A rows (={rows}) is smaller than 3 x the number of "
            f"requested eigenpairs (={tried})"
        )
    count = count if k is None else k
    matrix, root = (A + mT(A)) / 2, None
    if B is not None:
        root = cholesky((B + mT(B)) / 2)
        half = solve_triangular_op(root, matrix, upper=False, unit=False)
        matrix = solve_triangular_op(root, mT(half), upper=False, unit=False)
    values, vectors = eigh(matrix)
    if largest is None or largest:
        values, vectors = flip(values, (-1,)), flip(vectors, (-1,))
    vectors = narrowed(vectors, -1, 0, count)
    if root is not None:
        vectors = solve_triangular_op(mT(root), vectors, upper=True, unit=False)
    return narrowed(values, -1, 0, count), vectors


in_linalg(matrix_exp)
in_linalg(matrix_power)
front("matrix_power")(matrix_power)


@in_linalg
def vander(x: Any, *, N: int | None = None) -> Any:
    """The powers 0 … N-1 of every entry along a new last axis."""
    from symgrad.ops.reductions.scans import cumprod_op

    x = x if shape_of(x) else reshape(x, 1)
    n = fixed_length(x, -1) if N is None else N
    ndim = len(shape_of(x))
    if x.dtype.kind in "bui":
        x = cast(x, "int64")  # as products of whole numbers are
    ones = spread(np.ones((), x.dtype), (*shape_of(x), 1))
    if n < 2:
        raise AutogradError("N must be greater than 1.")
    powers = cumprod_op(spread(unsqueeze(x, -1), (*shape_of(x), n - 1)), dim=ndim)
    return cat([ones, powers], -1)


@front("vander", method=False)
def powers(x: Any, N: int | None = None, increasing: bool = False) -> Any:
    """The powers of every entry of a vector along a new last axis, the highest first unless ``increasing``."""
    if len(shape_of(x)) != 1:
        raise ShapeError(f"x must be a one-dimensional tensor, got shape {tuple(shape_of(x))}.")
    if N is not None and N < 0:
        raise ArgumentError(f"N must be non-negative, got {N}.")
    N = fixed_length(x, 0) if N is None else N
    if N in (0, 1):
        return clone(narrowed(reshape(ones_like(x), -1, 1), 1, 0, N))
    out = vander(x, N=N)
    return out if increasing else flip(out, (-1,))


@front("geqrf", words={"input": "A"})
@refusing({"bui": "geqrf_cpu"})
def geqrf(A: Any) -> Named:
    """R, with the vectors of the reflections that ``householder_product`` takes below it, and their factors.

    torch has no derivative of it: ``AutogradError`` for what requires grad, outside of ``no_grad``.

    >>> import symgrad as sg
    >>> A = sg.tensor([[3.0, 1.0], [4.0, 2.0]])
    >>> packed, tau = sg.geqrf(A)
    >>> sg.allclose(sg.orgqr(packed, tau) @ packed.triu(), A)
    True
    """
    if len(shape_of(A)) < 2:
        raise ShapeError("torch.geqrf: input must have at least 2 dimensions.")
    if getattr(A, "requires_grad", False) and clone(A).requires_grad:  # which it is not under no_grad()
        raise AutogradError("the derivative for 'geqrf' is not implemented: Q and R of linalg.qr have one.")
    value = values_of(A)
    if not value.size:
        parts = (np.zeros_like(value), np.zeros((*value.shape[:-2], min(value.shape[-2:])), value.dtype))
    else:
        packed, tau = np.linalg.qr(value, mode="raw")
        parts = (np.swapaxes(packed, -1, -2), tau)
    return named("geqrf")(wrapped_like(A, part.astype(value.dtype, copy=False)) for part in parts)


@in_linalg
@front("orgqr", words={"input": "A", "input2": "tau"})
@refusing({"bui": "orgqr_cpu"})
@folded("linalg.householder_product")
def householder_product(A: Any, tau: Any) -> Any:
    """The first columns of the product of the reflections I - tau_k v_k v_kᴴ, with v_k below the diagonal of A."""
    if len(shape_of(A)) < 2:
        raise ShapeError("torch.linalg.householder_product: input must have at least 2 dimensions.")
    rows, columns = shape_of(A)[-2:]
    if rows < columns or columns < shape_of(tau)[-1]:
        raise ShapeError(
            "torch.linalg.householder_product: input.shape[-2] must be greater than or equal to input.shape[-1], and "
            f"that to tau.shape[-1], got {rows}, {columns} and {shape_of(tau)[-1]}"
        )
    if not shape_of(tau)[-1]:
        return where(np.zeros((), bool), A, np.eye(rows, columns, dtype=A.dtype))
    start = wrapped_like(A, np.broadcast_to(np.eye(rows, dtype=A.dtype), (*shape_of(A)[:-1], rows)).copy())
    full = _reflections(A, tau, start)
    return narrowed(full, -1, 0, columns)


def _reflections(A: Any, tau: Any, x: Any, adjoint: bool = False) -> Any:
    """The product of reflections (or its adjoint) times ``x``: I - V T Vᴴ at once (Schreiber and Van Loan 1989)."""
    if len(shape_of(tau)) != len(shape_of(A)) - 1:
        raise ShapeError(
            f"Expected tau to have one dimension less than input, but got tau.ndim equal to {len(shape_of(tau))} and "
            f"input.ndim is equal to {len(shape_of(A))}"
        )
    count = shape_of(tau)[-1]
    eye = np.equal.outer(*(np.arange(n) for n in shape_of(A)[-2:]))
    v = narrowed(where(eye, 1, tril_op(A, k=-1)), -1, 0, count)
    scale, inside = unsqueeze(tau, -1), mH(v) @ x
    among = scale * triu_op(mH(v) @ v, k=1)  # T is (I + among)⁻¹ diag(tau)
    if adjoint:
        return x - v @ (conj(scale) * solve_triangular_op(mH(among), inside, upper=False, unit=True))
    return x - v @ solve_triangular_op(among, scale * inside, upper=True, unit=True)


@front("ormqr", words={"input2": "tau", "input3": "other"})
@refusing({"bui": "ormqr_cpu"})
@folded("ormqr")
def ormqr(input: Any, tau: Any, other: Any, left: bool = True, transpose: bool = False) -> Any:
    """Q · other (or other · Q), or with Qᴴ, for the Q of ``householder_product``."""
    sides = [len(shape_of(x)) for x in (input, other)]
    if min(sides) < 2:
        named = "input" if sides[0] < 2 else "other"
        raise ShapeError(f"torch.ormqr: {named} must have at least 2 dimensions.")
    count = min(shape_of(other)[-2 if left else -1], shape_of(input)[-1])
    if shape_of(tau)[-1:] != (count,):
        raise ShapeError(
            f"torch.ormqr: tau.shape[-1] must be equal to min(other.shape[{-2 if left else -1}], input.shape[-1]): "
            f"{count}, got tau of shape {tuple(shape_of(tau))}"
        )
    if left:
        return _reflections(input, tau, other, transpose)
    return mH(_reflections(input, tau, mH(other), not transpose))

"""Determinants: of matrices, their logarithms and signs, and the adjugate, which is their derivative."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from symgrad import kernels
from symgrad.dtypes import real_part
from symgrad.op import Op, elementwise, front, inexact, is_complex, primitive, sampling, shape_of
from symgrad.ops.calls.naming import within
from symgrad.ops.calls.results import Named, named
from symgrad.ops.elementwise.complex import conj, imag
from symgrad.ops.elementwise.select import divided_where, where
from symgrad.ops.linalg import sharing
from symgrad.ops.linalg.contraction import einsum
from symgrad.ops.linalg.inverse import check_square, inv_op, matrix_front
from symgrad.ops.linalg.matrices import mH
from symgrad.ops.reductions.products import made_of
from symgrad.ops.rules import work
from symgrad.ops.shapes.shaping import ones_like, unsqueeze_op, zeros_like
from symgrad.precision import digits, single


def _det_vjp(g: Any, out: Any, x: Any) -> Any:
    if shape_of(x)[-1] == 1:
        return _scalar(g) * ones_like(x)  # the matrix is its determinant, which has no part in the slope
    return _scalar(g) * mH(det_divided_op(out, x))


def _scalar(g: Any) -> Any:
    """A batch of numbers as a batch of 1 × 1 matrices, so that it scales matrices."""
    ndim = len(shape_of(g))
    return unsqueeze_op(unsqueeze_op(g, dim=ndim), dim=ndim + 1) if ndim else g


adjugate_op: Op = primitive(
    "adjugate",
    kernels.adjugate,
    (lambda g, out, x: adjugate_moved_op(x, g),),
    domain="invertible",
    define=lambda x: _scalar(det_op(x)) * inv_op(x),
    expanded=True,
    digits=digits.by_matrix(digits.adjugate),
    single=single.smooth(kernels.adjugate),
    refuses={"h": "lu_cpu"},
    doc="Transposed cofactors: det(X) X⁻¹, right for singular matrices too in value and in the derivatives of det.",
)


def _as_moved(x: Any, g: Any) -> Any:
    # adj(X) = det(X) X⁻¹ where X is regular; the adjugate of a number is 1.
    if shape_of(x)[-1] == 1:
        return zeros_like(x)
    inverse = inv_op(x)
    h = mH(inverse)
    inside = _scalar(einsum("...ij,...ij->...", g, conj(inverse)))
    return _scalar(conj(det_op(x))) * (inside * h - h @ g @ h)


def _moved_twice(h: Any, x: Any, g: Any) -> Any:
    # The second derivative of det(X) X⁻¹ along Gᴴ and H, for regular X.
    inverse = inv_op(x)
    a, b = inverse @ mH(g), inverse @ h
    both = a @ b
    over, trace_a, trace_b = (_scalar(einsum("...ii->...", m)) for m in (both, a, b))
    inside = (trace_a * trace_b - over) * inverse
    return mH(_scalar(det_op(x)) * (inside + (both + b @ a - trace_a * b - trace_b * a) @ inverse))


adjugate_moved_op: Op = primitive(
    "adjugate_moved",
    kernels.adjugate_moved,
    (
        lambda h, out, x, g: _moved_twice(h, x, g),
        lambda h, out, x, likeg: mH(adjugate_moved_op(x, mH(h))),
    ),
    dtypes="float",
    mixes=2,
    domain=("invertible", "real"),
    define=_as_moved,
    expanded=True,
    refuses={"h": "lu_cpu"},
    example=("matrix", "matrix", {}),
    samples=[sampling.small(sampling.many(("invertible", 2, "n", "n"), ("real", 2, "n", "n")))],
    doc="The pullback of the adjugate, right for singular matrices, too; its own derivative is that of regular ones.",
)
nonsingular_op: Op = elementwise(
    "nonsingular",
    kernels.nonsingular,
    None,
    public=(),
    result=lambda dtype: np.dtype(bool),
    digits=lambda mp, x: x != 0,
    doc="Whether a matrix of this determinant is far enough from singular ones to be inverted; no derivative.",
)
det_divided_op: Op = primitive(
    "det_divided",
    kernels.det_divided,
    (
        lambda g, out, det, x: _by_det(conj(out), g, det),
        lambda g, out, det, x: det_divided_twice_op(g, det, x),
    ),
    infer=lambda det, x: x,
    define=lambda det, x: _divided(det, x),
    expanded=True,
    digits=digits.det_divided,
    mixes=2,
    domain=("nonzero", "invertible"),
    refuses={"h": "lu_cpu"},
    example=(6.0, "matrix", {}),
    samples=[
        sampling.many(("nonzero",), ("invertible", "n", "n")),
        sampling.many(("nonzero", "q"), ("invertible", "q", "n", "n")),
    ],
    doc="A determinant times the inverse of its matrix, the transposed cofactors; the adjugate of singular matrices.",
)


def _by_det(g: Any, slopes: Any, det: Any) -> Any:
    return divided_where(einsum("...ij,...ij->...", g, slopes), conj(det), nonsingular_op(det))


def _divided(det: Any, x: Any) -> Any:
    if made_of(det, "det", x, {}):
        return adjugate_op(x)
    return where(_scalar(nonsingular_op(det)), _scalar(det) * inv_op(x), adjugate_op(x))


det_divided_twice_op: Op = primitive(
    "det_divided_twice",
    kernels.det_divided_twice,
    (
        lambda h, twice, likeg, det, x: mH(det_divided_twice_op(mH(h), det, x)),
        lambda h, twice, g, det, x: _by_det(conj(h), twice, det),
        lambda h, twice, g, det, x: _twice_by_matrix(h, twice, g, det, x),
    ),
    infer=lambda g, det, x: x,
    define=lambda g, det, x: _divided_twice(g, det, x),
    expanded=True,
    mixes=2,
    domain=("real", "nonzero", "invertible"),
    refuses={"h": "lu_cpu"},
    example=("matrix", 6.0, "matrix", {}),
    samples=[
        sampling.small(sampling.many(("real", "n", "n"), ("nonzero",), ("invertible", "n", "n"))),
        sampling.small(sampling.many(("real", 2, "n", "n"), ("nonzero", 2), ("invertible", 2, "n", "n"))),
    ],
    doc="The pullback of det·inverse to the matrix, where the determinant is a value of its own.",
)


def _twice_by_matrix(h: Any, twice: Any, g: Any, det: Any, x: Any) -> Any:
    # Through the two inverses of -det X⁻ᴴ G X⁻ᴴ.
    regular = _scalar(nonsingular_op(det))
    inverse = divided_where(det_divided_op(det, x), _scalar(det), regular)
    back = twice @ mH(inverse @ h) + mH(h @ inverse) @ twice
    return where(regular, -back, _moved_twice(h, x, g))


def _divided_twice(g: Any, det: Any, x: Any) -> Any:
    inverse = mH(inv_op(x))
    regular = -_scalar(conj(det)) * (inverse @ g @ inverse)
    if made_of(det, "det", x, {}):
        return regular
    return where(_scalar(nonsingular_op(det)), regular, adjugate_moved_op(x, g))


det_op: Op = primitive(
    "det",
    kernels.det,
    (lambda g, out, x: _det_vjp(g, out, x),),
    infer=lambda shape: shape[:-2],
    node="LinalgDet",
    refuses={**inexact("linalg.det"), "h": "lu_cpu"},
    decomposed=True,
    domain="invertible",
    single=single.real(single.det, np.linalg.det),
    code=lambda x: f"np.linalg.det({x})",
    digits=digits.by_matrix(digits.det),
    twins=("logabsdet",),
    work=work.cubic(Fraction(2, 3)),
    doc="Determinant of square matrices.",
)


def _refusals_of(name: str) -> dict[str, str]:
    """What is said of dtypes that a logarithm of a determinant does not take."""
    return {**inexact(name), "h": f"{name}: Low precision dtypes not supported. Got {{dtype}}"}


inv_or_infinite_op: Op = primitive(
    "inv_or_infinite",
    kernels.inv_or_infinite,
    inv_op.vjps,
    jvp=inv_op.jvps,
    domain="invertible",
    define=lambda x: inv_op(x),
    expanded=True,
    doc="The inverse as the slope of log|det|: of singular matrices it is infinite, or nan, where inv has no answer.",
)
logdet_op: Op = primitive(
    "logdet",
    kernels.logdet,
    (lambda g, out, x: _scalar(g) * mH(inv_or_infinite_op(x)),),
    infer=lambda shape: shape[:-2],
    node="Where",
    refuses=_refusals_of("logdet"),
    decomposed=True,
    domain="positive-definite",
    digits=digits.by_matrix(digits.logdet),
    work=work.cubic(Fraction(2, 3)),
    doc="log det of square matrices; nan for a negative determinant.",
)
_SLOGDET = sharing.Whole("slogdet", np.linalg.slogdet, 2)

logabsdet_op: Op = primitive(
    "logabsdet",
    sharing.part(kernels.logabsdet, _SLOGDET, 1),
    (lambda g, out, x: _scalar(g) * mH(inv_or_infinite_op(x)),),
    infer=lambda shape: shape[:-2],
    result=real_part,
    code=lambda x: f"logabsdet({x})",
    node="LinalgSlogdet",
    refuses=_refusals_of("linalg.slogdet"),
    decomposed=True,
    domain="invertible",
    digits=digits.by_matrix(digits.logabsdet),
    twins=("det",),
    work=work.cubic(Fraction(2, 3)),
    doc="log|det| of square matrices.",
)
slogdet_sign_op: Op = primitive(
    "slogdet_sign",
    sharing.part(kernels.slogdet_sign, _SLOGDET, 0),
    (lambda g, out, x: _phase_vjp(g, out, x),),
    infer=lambda shape: shape[:-2],
    code=lambda x: f"slogdet_sign({x})",
    node="LinalgSlogdet",
    refuses=_refusals_of("linalg.slogdet"),
    decomposed=True,
    domain="invertible",
    digits=digits.by_matrix(digits.slogdet_sign),
    work=work.cubic(Fraction(2, 3)),
    doc="Sign (complex: phase) of the determinant.",
)


def _phase_vjp(g: Any, out: Any, x: Any) -> Any:
    # d sign = i Im(tr X⁻¹ dX) sign: zero for real matrices, the turning of the phase for complex ones.
    if not is_complex(x):
        return 0 * x
    return _scalar(-1j * imag(conj(g) * out)) * mH(inv_or_infinite_op(x))


det = matrix_front(det_op, "det", "det")
logdet = matrix_front(logdet_op, "logdet", "logdet")


@within("linalg", "slogdet")
def linalg_slogdet(A: Any) -> Named:
    """Sign and log|det| of square matrices."""
    check_square(A, "slogdet")
    return named("linalg_slogdet")((slogdet_sign_op(A), logabsdet_op(A)))


@front("slogdet", op=logabsdet_op)
def slogdet(input: Any) -> Named:
    """Sign and log|det| of square matrices."""
    return named("slogdet")(linalg_slogdet(input))

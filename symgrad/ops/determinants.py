"""Determinants: of matrices, their logarithms and signs, and the adjugate, which is their derivative."""

from __future__ import annotations

from typing import Any

import numpy as np

from symgrad import kernels, single
from symgrad.op import Op, front, is_complex, primitive, shape_of
from symgrad.ops.complex import conj, imag
from symgrad.ops.contraction import einsum
from symgrad.ops.linalg import check_square, inv_op, matrix_front, mH
from symgrad.ops.shaping import unsqueeze_op, zeros_like


def _det_vjp(g: Any, out: Any, x: Any) -> Any:
    return _scalar(g) * mH(adjugate_op(x))


def _scalar(g: Any) -> Any:
    """A batch of numbers as a batch of 1 × 1 matrices, so that it scales matrices."""
    ndim = len(shape_of(g))
    return unsqueeze_op(unsqueeze_op(g, dim=ndim), dim=ndim + 1) if ndim else g


adjugate_op: Op = primitive(
    "adjugate",
    kernels.adjugate,
    (lambda g, out, x: _adjugate_vjp(g, x),),
    infer=lambda shape: shape,
    dtypes="float",
    domain="invertible",
    define=lambda x: _scalar(det_op(x)) * inv_op(x),
    single=single.smooth(kernels.adjugate),
    refuses={"h": "lu_cpu"},
    latex=r"\operatorname{{adj}}\left({0}\right)",
    doc="Transposed cofactors: det(X) X⁻¹, right for singular matrices too in value and first derivative of det.",
)


def _adjugate_vjp(g: Any, x: Any) -> Any:
    # adj(X) = det(X) X⁻¹ where X is regular; its own derivative is taken there.  That of a number is 1.
    if shape_of(x)[-1] == 1:
        return zeros_like(x)
    inverse = inv_op(x)
    h = mH(inverse)
    inside = _scalar(einsum("...ij,...ij->...", g, conj(inverse)))
    return _scalar(conj(det_op(x))) * (inside * h - h @ g @ h)


det_op: Op = primitive(
    "det",
    np.linalg.det,
    (_det_vjp,),
    infer=lambda shape: shape[:-2],
    node="LinalgDet",
    dtypes="float",
    refuses={"bui": "linalg.det: Expected a floating point or complex tensor as input. Got {dtype}", "h": "lu_cpu"},
    saves=(-1,),
    domain="invertible",
    single=single.real(single.det, np.linalg.det),
    code=lambda x: f"np.linalg.det({x})",
    doc="Determinant of square matrices.",
)
logdet_op: Op = primitive(
    "logdet",
    kernels.logdet,
    (lambda g, out, x: _scalar(g) * mH(inv_op(x)),),
    infer=lambda shape: shape[:-2],
    node="Logdet",
    dtypes="float",
    refuses={
        "bui": "logdet: Expected a floating point or complex tensor as input. Got {dtype}",
        "h": "logdet: Low precision dtypes not supported. Got {dtype}",
    },
    domain="positive-definite",
    doc="log det of square matrices; nan for a negative determinant.",
)
logabsdet_op: Op = primitive(
    "logabsdet",
    kernels.logabsdet,
    (lambda g, out, x: _scalar(g) * mH(inv_op(x)),),
    infer=lambda shape: shape[:-2],
    result=lambda dtype: np.zeros((), dtype).real.dtype,
    node="LinalgSlogdet",
    dtypes="float",
    refuses={
        "bui": "linalg.slogdet: Expected a floating point or complex tensor as input. Got {dtype}",
        "h": "linalg.slogdet: Low precision dtypes not supported. Got {dtype}",
    },
    domain="invertible",
    latex=r"\log\left|\det\left({0}\right)\right|",
    doc="log|det| of square matrices.",
)
slogdet_sign_op: Op = primitive(
    "slogdet_sign",
    kernels.slogdet_sign,
    (lambda g, out, x: _phase_vjp(g, out, x),),
    infer=lambda shape: shape[:-2],
    node="LinalgSlogdet",
    dtypes="float",
    refuses={
        "bui": "linalg.slogdet: Expected a floating point or complex tensor as input. Got {dtype}",
        "h": "linalg.slogdet: Low precision dtypes not supported. Got {dtype}",
    },
    domain="invertible",
    latex=r"\operatorname{{sign}}\det\left({0}\right)",
    doc="Sign (complex: phase) of the determinant.",
)


def _phase_vjp(g: Any, out: Any, x: Any) -> Any:
    # d sign = i Im(tr X⁻¹ dX) sign: zero for real matrices, the turning of the phase for complex ones.
    if not is_complex(x):
        return 0 * x
    return _scalar(-1j * imag(conj(g) * out)) * mH(inv_op(x))


det = matrix_front(det_op, "det", "det")
logdet = matrix_front(logdet_op, "logdet", "logdet")


class SignLogdet(tuple):  # type: ignore[type-arg]
    """The pair (sign, logabsdet)."""

    __slots__ = ()

    @property
    def sign(self) -> Any:
        """Sign (complex: phase) of the determinant."""
        return self[0]

    @property
    def logabsdet(self) -> Any:
        """log|det|."""
        return self[1]


@front("slogdet", op=logabsdet_op)
def slogdet(A: Any) -> SignLogdet:
    """Sign and log|det| of square matrices."""
    check_square(A, "slogdet")
    return SignLogdet((slogdet_sign_op(A), logabsdet_op(A)))

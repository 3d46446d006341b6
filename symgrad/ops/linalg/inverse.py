"""Inverses, systems of equations with a square or triangular matrix, and Cholesky's triangle."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from symgrad import kernels
from symgrad.op import Op, broadcast_shapes, front, inexact, known_as, primitive, sampling, shape_of
from symgrad.ops.calls import fits, singular
from symgrad.ops.elementwise.complex import conj
from symgrad.ops.linalg.matrices import diag_embed, diagonal, mH, outer
from symgrad.ops.linalg.triangles import tril_op, triu_op
from symgrad.ops.rules import work
from symgrad.ops.shapes.shaping import ones_like
from symgrad.precision import digits


def check_square(x: Any, name: str) -> None:
    """Raise ``ShapeError``, in the words of ``name``, unless the last two axes are of one size."""
    shape = shape_of(x)
    if len(shape) < 2 or shape[-1] != shape[-2]:
        raise fits.no_square(name, shape)


def matrix_front(op: Op, name: str, *names: str) -> Any:
    """The public function ``name`` of an op on square matrices, which is published as ``names``."""

    def call(A: Any) -> Any:
        check_square(A, name)
        return op(A)

    known_as(call, name, f"{op.doc}  Raises ``ShapeError`` unless the last two axes are square.")
    return front(*names, op=op)(call)


inv_op: Op = primitive(
    "inv",
    np.linalg.inv,
    (lambda g, out, like: -(mH(out) @ g @ mH(out)),),
    jvp=(lambda t, out, like: -(out @ t @ out),),
    node="LinalgInvEx",
    domain="invertible",
    code=lambda x: f"np.linalg.inv({x})",
    layout="columns",
    refuses={**inexact("linalg.inv"), "h": "linalg.inv: Low precision dtypes not supported. Got {dtype}"},
    digits=digits.by_matrix(digits.inv),
    fails=singular.inv,
    work=work.cubic(2),
    doc="Inverse of square matrices.",
)
inv_lower_op: Op = primitive(
    "inv_lower",
    kernels.inv_lower,
    (lambda g, out, like: -tril_op(mH(out) @ g @ mH(out), k=0),),
    jvp=(lambda t, out, like: -(out @ tril_op(t, k=0) @ out),),
    node="LinalgInvEx",
    domain="positive-definite",
    define=lambda x: inv_op(tril_op(x, k=0)),
    spelled=True,
    layout="columns",
    work=work.cubic(Fraction(1, 3)),
    doc="Inverse of the lower triangles of square matrices.",
)
solve_op: Op = primitive(
    "solve",
    kernels.solve,
    (
        lambda g, out, a, like: _solve_matrix_vjp(solve_op(mH(a), g), out),
        lambda g, out, a, like: solve_op(mH(a), g),
    ),
    jvp=(
        lambda t, out, a, like: -solve_op(a, t @ out),
        lambda t, out, a, like: solve_op(a, t),
    ),
    infer=lambda a, b: b if len(b) == 1 else (*broadcast_shapes(tuple(a[:-2]), tuple(b[:-2])), *b[-2:]),
    node="LinalgSolveEx",
    decomposed=True,
    domain="invertible",
    together=True,
    layout="columns",
    refuses={**inexact("linalg.solve"), "h": "lu_cpu"},
    digits=digits.by_matrix(digits.solve),
    fails=singular.solve,
    example=("matrix", "vector", {}),
    work=work.system,
    samples=[
        sampling.many(("invertible", "n", "n"), ("real", "n")),
        sampling.many(("invertible", "n", "n"), ("real", "n", "m")),
        sampling.many(("invertible", "q", "n", "n"), ("real", "q", "n", "m")),
    ],
    stacks="column",
    doc="Solution x of A x = b.",
)


def _solve_matrix_vjp(gb: Any, x: Any) -> Any:
    if len(shape_of(x)) == 1:
        return -outer(gb, conj(x))
    return -(gb @ mH(x))


def _half(A: Any, upper: bool, unit: bool) -> Any:
    """The triangle of A that is read, without the diagonal where ones stand for it."""
    return triu_op(A, k=int(unit)) if upper else tril_op(A, k=-int(unit))


def _triangular_define(a: Any, b: Any, *, upper: bool, unit: bool) -> Any:
    triangle = _half(a, upper, unit)
    return solve_op(triangle + diag_embed(diagonal(ones_like(a), 0, -2, -1)) if unit else triangle, b)


def _solve_triangular_vjp(g: Any, out: Any, a: Any, like: Any, *, upper: bool, unit: bool) -> Any:
    back = solve_triangular_op(mH(a), g, upper=not upper, unit=unit)
    return -_half(back @ mH(out), upper, unit)


solve_triangular_op: Op = primitive(
    "solve_triangular",
    kernels.solve_triangular,
    (
        _solve_triangular_vjp,
        lambda g, out, a, like, *, upper, unit: solve_triangular_op(mH(a), g, upper=not upper, unit=unit),
    ),
    jvp=(
        lambda t, out, a, like, *, upper, unit: (
            -solve_triangular_op(a, _half(t, upper, unit) @ out, upper=upper, unit=unit)
        ),
        lambda t, out, a, like, **p: solve_triangular_op(a, t, **p),
    ),
    infer=lambda a, b, **_: b,
    node="LinalgSolveTriangular",
    domain="invertible",
    define=_triangular_define,
    expanded=True,
    together=True,
    refuses={"buih": "triangular_solve_cpu"},
    example=("matrix", "matrix", {"upper": True, "unit": False}),
    work=work.system,
    samples=[
        sampling.many(("invertible", "n", "n"), ("real", "n", "m"), upper=True, unit=False),
        sampling.many(("invertible", "q", "n", "n"), ("real", "q", "n", "m"), upper=False, unit=False),
        sampling.many(("invertible", "n", "n"), ("real", "n", "m"), upper=False, unit=True),
    ],
    layout="columns",
    doc="Solution X of A X = B for a triangular A, of which only that triangle is read.",
)


inv = matrix_front(inv_op, "inv", "inverse")


def solve(A: Any, B: Any) -> Any:
    """The solution X of A X = B; ``B`` is a vector or columns.  Raises ``ShapeError`` when sizes do not fit."""
    check_square(A, "solve")
    a, b = shape_of(A), shape_of(B)
    if (b[0] if len(b) == 1 else b[-2]) != a[-1]:
        raise fits.unfit_system("solve", a, b)
    return solve_op(A, B)


def _phi(x: Any) -> Any:
    """Lower triangle with the diagonal halved."""
    return tril_op(x, k=0) - diag_embed(diagonal(x, 0, -2, -1)) / 2


cholesky_op: Op = primitive(
    "cholesky",
    kernels.cholesky,
    (lambda g, out, like: _cholesky_vjp(g, out),),
    node="LinalgCholeskyEx",
    domain="positive-definite",
    code=lambda x: f"np.linalg.cholesky({x})",
    layout="columns",
    refuses={**inexact("linalg.cholesky"), "h": "cholesky_cpu"},
    digits=digits.by_matrix(digits.cholesky),
    triangle=True,
    fails=singular.cholesky,
    work=work.cubic(Fraction(1, 3)),
    doc="Lower triangular L with A = L Lᴴ (Murray 2016 for the derivative).",
)


def _cholesky_vjp(g: Any, out: Any) -> Any:
    middle = _phi(mH(out) @ g)
    inverse = inv_lower_op(out)
    full = mH(inverse) @ middle @ inverse
    return (full + mH(full)) / 2


cholesky = matrix_front(cholesky_op, "cholesky", "cholesky")

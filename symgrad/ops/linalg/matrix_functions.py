"""Functions of whole matrices beside the exponential: the square root, the logarithm, and Sylvester's equation."""

from __future__ import annotations

from typing import Any

from symgrad import kernels
from symgrad.errors import ShapeError
from symgrad.op import Op, broadcast_shapes, primitive, sampling, shape_of
from symgrad.ops.calls.naming import within
from symgrad.ops.linalg.inverse import check_square
from symgrad.ops.linalg.matrices import mH
from symgrad.ops.linalg.spectral import matrix_exp, second_direction
from symgrad.precision import digits

_linalg = within("linalg")


def _sylvester_shape(a: Any, b: Any, q: Any) -> tuple[Any, ...]:
    if tuple(q[-2:]) != (a[-1], b[-1]):
        shown = ", ".join(str(tuple(s)).replace("'", "") for s in (a, b, q))
        raise ShapeError(f"linalg.solve_sylvester: A (n, n), B (m, m) and Q (n, m) do not fit each other: {shown}")
    return (*broadcast_shapes(tuple(a[:-2]), tuple(b[:-2]), tuple(q[:-2])), *q[-2:])


solve_sylvester_op: Op = primitive(
    "solve_sylvester",
    kernels.solve_sylvester,
    (
        lambda g, out, a, b, q: -solve_sylvester_op(mH(a), mH(b), g) @ mH(out),
        lambda g, out, a, b, q: -mH(out) @ solve_sylvester_op(mH(a), mH(b), g),
        lambda g, out, a, b, q: solve_sylvester_op(mH(a), mH(b), g),
    ),
    jvp=(
        lambda t, out, a, b, q: -solve_sylvester_op(a, b, t @ out),
        lambda t, out, a, b, q: -solve_sylvester_op(a, b, out @ t),
        lambda t, out, a, b, q: solve_sylvester_op(a, b, t),
    ),
    infer=_sylvester_shape,
    together=True,
    stacks=False,
    domain="invertible",
    digits=digits.by_matrix(digits.solve_sylvester),
    samples=[
        sampling.many(("invertible", "q", "q"), ("invertible", 2, 2), ("real", "q", 2)),
        sampling.small(sampling.many(("invertible", 2, 2, 2), ("invertible", 1, 1), ("real", 2, 2, 1))),
    ],
    doc="X with A X + X B = Q.",
)
sqrtm_op: Op = primitive(
    "sqrtm",
    kernels.sqrtm,
    (lambda g, out, x: solve_sylvester_op(mH(out), mH(out), g),),
    # dR R + R dR = dX, since R R = X.
    jvp=(lambda t, out, x: solve_sylvester_op(out, out, t),),
    domain="invertible",
    digits=digits.by_matrix(digits.sqrtm),
    samples=[sampling.one("invertible", "q", "q"), sampling.small(sampling.one("invertible", 2, 3, 3))],
    doc="The principal square root of square matrices.",
)
logm_op: Op = primitive(
    "logm",
    kernels.logm,
    (lambda g, out, x: logm_frechet_op(mH(x), g),),
    jvp=(lambda t, out, x: logm_frechet_op(x, t),),
    domain="invertible",
    digits=digits.by_matrix(digits.logm),
    samples=[sampling.one("invertible", "q", "q"), sampling.small(sampling.one("invertible", 2, 3, 3))],
    doc="The principal logarithm of square matrices.",
)
logm_frechet_op: Op = primitive(
    "logm_frechet",
    kernels.logm_frechet,
    (
        lambda g, out, x, e: second_direction(logm_frechet_op, g, x, e),
        lambda g, out, x, like: logm_frechet_op(mH(x), g),
    ),
    infer=lambda x, e: broadcast_shapes(tuple(x), tuple(e)),
    together=True,
    domain="invertible",
    digits=digits.by_matrix(digits.logm_frechet),
    samples=[sampling.small(sampling.many(("invertible", "n", "n"), ("real", "n", "n")))],
    doc="The derivative of the matrix logarithm along a direction.",
)


@_linalg
def sqrtm(A: Any) -> Any:
    """The principal square root of square matrices (the last two axes): the one whose eigenvalues are right of 0.

    Of complex matrices with negative eigenvalues it is that with positive imaginary parts.  A real matrix that has
    them, and a singular one without a square root, is a ``LinAlgError``; the derivative of one of a singular matrix,
    too, since it is infinite.

    >>> import symgrad as sg
    >>> import numpy as np
    >>> sg.linalg.sqrtm(np.array([[4.0, 5.0], [0.0, 9.0]]))
    array([[2., 1.],
           [0., 3.]])
    """
    check_square(A, "sqrtm")
    return sqrtm_op(A)


@_linalg
def logm(A: Any) -> Any:
    """The principal logarithm of square matrices (the last two axes): ``matrix_exp(logm(A))`` is A.

    Singular matrices have none, and real ones with negative eigenvalues no real one: these are a ``LinAlgError``.
    The imaginary parts of eigenvalues of complex ones are in (-π, π].

    >>> import symgrad as sg
    >>> import numpy as np
    >>> sg.linalg.logm(np.array([[1.0, 2.0], [0.0, 1.0]]))
    array([[0., 2.],
           [0., 0.]])
    """
    check_square(A, "logm")
    return logm_op(A)


@_linalg
def solve_sylvester(a: Any, b: Any, q: Any) -> Any:
    """X with a X + X b = q, for a (n, n), b (m, m) and q (n, m), and for batches of them.

    A ``LinAlgError`` where ``a`` and ``-b`` have a common eigenvalue: there is no solution then, or more than one.

    >>> import symgrad as sg
    >>> import numpy as np
    >>> sg.linalg.solve_sylvester(np.array([[1.0]]), np.array([[3.0]]), np.array([[8.0]]))
    array([[2.]])
    """
    for x in (a, b):
        check_square(x, "solve_sylvester")
    if len(shape_of(q)) < 2:
        raise ShapeError(f"linalg.solve_sylvester: q must be a matrix or a batch of them, got shape {shape_of(q)}")
    return solve_sylvester_op(a, b, q)


within("linalg", "expm")(matrix_exp)

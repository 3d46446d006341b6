"""Real and imaginary parts, conjugate and phase: the ops that are not complex-differentiable.

Gradients are torch's: the conjugate Wirtinger derivative, which is the direction of steepest ascent.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from symgrad.dtypes import real_part
from symgrad.op import Op, front, is_complex, primitive, publish
from symgrad.precision import digits


def _same(shape: tuple[Any, ...], *_: Any, **__: Any) -> tuple[Any, ...]:
    return shape


def _conjugated(g: Any, out: Any, like: Any) -> Any:
    return conj(g)


conj_op: Op = primitive(
    "conj",
    np.conj,
    (_conjugated,),
    jvp=(_conjugated,),
    linear=True,
    infer=_same,
    entrywise=True,
    boxed=True,
    retaken=True,
    put_back=lambda whole, part: conj_op(part),
    digits=digits.by_entry(lambda mp, x: mp.conj(x)),
    doc="Complex conjugate; the input itself for real dtypes.",
)


@front("conj", op=conj_op)
def conj(x: Any) -> Any:
    """Complex conjugate; the input itself when it is real."""
    return conj_op(x) if is_complex(x) else x


def complex_of(dtype: Any, *_: Any, **__: Any) -> Any:
    """The complex dtype of a floating one: that of functions whose results are complex for real numbers, too."""
    return np.result_type(dtype, np.complex64)


def _real_tangent(t: Any, out: Any, like: Any) -> Any:
    return real(t)


real_op: Op = primitive(
    "real",
    np.real,
    (lambda g, out, like: g,),
    jvp=(_real_tangent,),
    linear=True,
    infer=_same,
    entrywise=True,
    boxed=True,
    result=real_part,
    node="Select",
    view=True,
    put_back=lambda whole, part: part + 1j * imag(whole),
    digits=digits.by_entry(lambda mp, x: mp.re(x)),
    doc="Real part.",
)


@front("real", op=real_op, method=False)
def real(x: Any) -> Any:
    """Real part; the input itself when it is real."""
    return real_op(x) if is_complex(x) else x


imag: Op = publish(
    primitive(
        "imag",
        np.imag,
        (lambda g, out, like: 1j * g,),
        linear=True,
        infer=_same,
        entrywise=True,
        boxed=True,
        result=real_part,
        node="Select",
        view=True,
        put_back=lambda whole, part: real_op(whole) + 1j * part,
        digits=digits.by_entry(lambda mp, x: mp.im(x)),
        doc="Imaginary part.",
    ),
    method=False,
)

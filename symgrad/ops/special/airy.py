"""Airy's functions, and the spherical Bessel functions of whole orders."""

from __future__ import annotations

from typing import Any

from symgrad import kernels
from symgrad.errors import ArgumentError
from symgrad.op import Op, family, of_reals, sampling
from symgrad.ops.calls.naming import within
from symgrad.ops.rules.constants import exact
from symgrad.precision import digits


def _airy(name: str, kernel: Any, partial: Any, sympy: str, called: str, doc: str) -> Op:
    return of_reals(
        name,
        kernel,
        partial,
        sympy=sympy,
        digits=_DIGITS[name],
        called=called,
        doc=doc,
    )


_DIGITS: dict[str, Any] = {
    "airy_ai": lambda mp, x: mp.airyai(x),
    "airy_ai_slope": lambda mp, x: mp.airyai(x, derivative=1),
    "airy_bi": lambda mp, x: mp.airybi(x),
    "airy_bi_slope": lambda mp, x: mp.airybi(x, derivative=1),
}
airy_ai: Op = _airy(
    "airy_ai",
    kernels.airy_ai,
    lambda out, x: airy_ai_slope(x),
    "airyai",
    r"\mathrm{Ai}",
    "Airy's function Ai(x), the solution of y'' = xy that vanishes far to the right.",
)
airy_ai_slope: Op = _airy(
    "airy_ai_slope",
    kernels.airy_ai_slope,
    lambda out, x: x * airy_ai(x),
    "airyaiprime",
    r"\mathrm{Ai}'",
    "The derivative of Airy's function Ai.",
)
airy_bi: Op = _airy(
    "airy_bi",
    kernels.airy_bi,
    lambda out, x: airy_bi_slope(x),
    "airybi",
    r"\mathrm{Bi}",
    "Airy's function Bi(x), the solution of y'' = xy that grows to the right.",
)
airy_bi_slope: Op = _airy(
    "airy_bi_slope",
    kernels.airy_bi_slope,
    lambda out, x: x * airy_bi(x),
    "airybiprime",
    r"\mathrm{Bi}'",
    "The derivative of Airy's function Bi.",
)
within("special")(airy_ai)


@within("special")
def airy(z: Any) -> tuple[Any, Any, Any, Any]:
    """Airy's functions with their derivatives, as in SciPy: Ai, Ai', Bi and Bi' of real numbers."""
    return airy_ai(z), airy_ai_slope(z), airy_bi(z), airy_bi_slope(z)


def _slope(op: Op, x: Any, n: int) -> Any:
    if n == 0:
        return -op(x, n=1)
    return (n * op(x, n=n - 1) - (n + 1) * op(x, n=n + 1)) / exact(2 * n + 1)


def _spherical(name: str, kernel: Any, letter: str, in_digits: Any, doc: str) -> Op:
    op: Op = family(
        name,
        kernel,
        lambda x, n: _slope(op, x, n),
        domain="off-zero",
        digits=digits.by_entry(in_digits),
        called=rf"\mathrm{{{letter}}}",
        example=(0.5, {"n": 1}),
        samples=sampling.orders("off-zero", 0, 2, 1),
        doc=doc,
    )
    return op


def _in_digits(mp: Any, bessel: Any, x: Any, n: int) -> Any:
    half = mp.mpf(1) / 2
    return mp.sqrt(mp.pi / (2 * abs(x))) * bessel(n + half, abs(x)) * mp.sign(x) ** n


spherical_jn_op = _spherical(
    "spherical_jn",
    kernels.spherical_jn,
    "j",
    lambda mp, x, n: _in_digits(mp, mp.besselj, x, n) if x else mp.mpf(n == 0),
    "Spherical Bessel function of the first kind, whole order n >= 0.",
)
spherical_yn_op = _spherical(
    "spherical_yn",
    kernels.spherical_yn,
    "y",
    lambda mp, x, n: _in_digits(mp, mp.bessely, x, n) * mp.sign(x) if x else -mp.inf,
    "Spherical Bessel function of the second kind, whole order n >= 0.",
)


def _of_order(op: Op, n: Any, z: Any, derivative: bool) -> Any:
    if not isinstance(n, int) or isinstance(n, bool) or n < 0:
        raise ArgumentError(f"{op.name}(n, z) needs a whole number n >= 0 (an int) for its order, got {n!r}.")
    return _slope(op, z, n) if derivative else op(z, n=n)


@within("special")
def spherical_jn(n: int, z: Any, derivative: bool = False) -> Any:
    """The spherical Bessel function j_n(z) of whole order ``n``, or its ``derivative``, as in SciPy."""
    return _of_order(spherical_jn_op, n, z, derivative)


@within("special")
def spherical_yn(n: int, z: Any, derivative: bool = False) -> Any:
    """The spherical Bessel function y_n(z) of whole order ``n``, or its ``derivative``, as in SciPy."""
    return _of_order(spherical_yn_op, n, z, derivative)

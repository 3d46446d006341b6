"""Functions that are integrals, under SciPy's names.

Exponential, sine and cosine integrals, Dawson's, Fresnel's and Spence's, and the complete elliptic ones.
"""

from __future__ import annotations

import math
from typing import Any

from symgrad import kernels
from symgrad.errors import ArgumentError
from symgrad.op import Op, family, of_reals, sampling
from symgrad.ops.calls.naming import within
from symgrad.ops.elementwise.select import where
from symgrad.ops.elementwise.smooth import cos, exp, log, sin
from symgrad.ops.rules.constants import PI, exact
from symgrad.ops.special.airy import spherical_jn_op
from symgrad.precision import digits

# ------------------------------------------------------------------------------------------ exponential integrals


expn_op: Op = family(
    "expn",
    kernels.expn,
    lambda x, n: -(exp(-x) / x) if n == 1 else -expn_op(x, n=n - 1),
    domain="positive",
    digits=digits.by_entry(lambda mp, x, n: mp.expint(n, x)),
    example=(0.5, {"n": 1}),
    samples=sampling.orders("positive", 1, 3, 2),
    called=r"\mathrm{E}",
    doc="The exponential integral E_n(x) of whole order n > 0, x > 0.",
)
expi: Op = of_reals(
    "expi",
    kernels.expi,
    lambda out, x: exp(x) / x,
    sympy="Ei",
    domain="off-zero",
    called=r"\mathrm{Ei}",
    doc="The exponential integral Ei(x), the principal value of the integral of e^t/t up to x.",
)
sine_integral: Op = of_reals(
    "sine_integral",
    kernels.sine_integral,
    lambda out, x: spherical_jn_op(x, n=0),  # whose angle is not rounded
    sympy="Si",
    called=r"\mathrm{Si}",
    parity="odd",
    doc="The sine integral Si(x), the integral of sin(t)/t from 0.",
)
cosine_integral: Op = of_reals(
    "cosine_integral",
    kernels.cosine_integral,
    lambda out, x: cos(x) / x,
    sympy="Ci",
    domain="positive",
    called=r"\mathrm{Ci}",
    doc="The cosine integral Ci(x) = γ + log x + the integral of (cos(t) - 1)/t from 0, x > 0.",
)


@within("special")
def expn(n: int, x: Any) -> Any:
    """The exponential integral E_n(x) of whole order ``n``, as in SciPy.

    Raises ArgumentError for other orders.
    """
    if not isinstance(n, int) or isinstance(n, bool) or n < 0:
        raise ArgumentError(f"expn(n, x) needs a whole number n >= 0 (an int) for its order, got {n!r}.")
    return expn_op(x, n=n) if n else exp(-x) / x


@within("special")
def exp1(x: Any) -> Any:
    """The exponential integral E_1(x), the integral of e^(-t)/t from x on, x > 0."""
    return expn_op(x, n=1)


@within("special")
def sici(x: Any) -> tuple[Any, Any]:
    """The sine and the cosine integral of x."""
    return sine_integral(x), cosine_integral(x)


# ------------------------------------------------------------------------------------------ Dawson, Fresnel, Spence

dawsn: Op = of_reals(
    "dawsn",
    kernels.dawsn,
    lambda out, x: dawsn_slope(x, n=1),
    digits=lambda mp, x: mp.sqrt(mp.pi) / 2 * mp.exp(-x * x) * mp.erfi(x),
    parity="odd",
    doc="Dawson's integral: e^(-x²) times the integral of e^(t²) from 0 to x.",
)


def _dawson_slopes(x: Any, *, n: int) -> Any:
    """From the first derivative on, each by the two below it."""
    before, out = dawsn(x), 1 - 2 * x * dawsn(x)
    for k in range(1, n):
        before, out = out, -2 * x * out - 2 * k * before
    return out


dawsn_slope: Op = family(
    "dawsn_slope",
    kernels.dawsn_slope,
    lambda x, n: dawsn_slope(x, n=n + 1),
    define=_dawson_slopes,
    digits=digits.by_entry(digits.dawson_slope),
    example=(0.5, {"n": 1}),
    samples=[sampling.one("real", "n", "m", n=1), sampling.one("real", n=2)],
    doc="The n-th derivative of Dawson's integral F; 1 - 2x F(x) has no digits far out.",
)
fresnels: Op = of_reals(
    "fresnels",
    kernels.fresnels,
    lambda out, x: fresnel_slope(x, cosine=False),
    sympy="fresnels",
    called=r"\mathrm{S}",
    parity="odd",
    doc="Fresnel's sine integral S(x), the integral of sin(πt²/2) from 0 to x.",
)
fresnelc: Op = of_reals(
    "fresnelc",
    kernels.fresnelc,
    lambda out, x: fresnel_slope(x, cosine=True),
    sympy="fresnelc",
    called=r"\mathrm{C}",
    parity="odd",
    doc="Fresnel's cosine integral C(x), the integral of cos(πt²/2) from 0 to x.",
)
fresnel_slope: Op = family(
    "fresnel_slope",
    kernels.fresnel_slope,
    lambda x, cosine: (-PI if cosine else PI) * x * fresnel_slope(x, cosine=not cosine),
    define=lambda x, *, cosine: (cos if cosine else sin)(PI / 2 * x**2),
    example=(0.5, {"cosine": False}),
    samples=[sampling.one("real", "n", "m", cosine=False), sampling.one("real", "n", cosine=True)],
    doc="sin(πx²/2), or its cosine, the slopes of Fresnel's integrals: a rounded square is no angle far out.",
)
spence: Op = of_reals(
    "spence",
    kernels.spence,
    lambda out, x: spence_slope(x, n=0),
    domain="positive",
    digits=lambda mp, x: mp.polylog(2, 1 - x),
    doc="Spence's function, the integral of log(t)/(1 - t) from 1 to x: the dilogarithm of 1 - x.",
)


def _log_quotient(x: Any, *, n: int) -> Any:
    out = log(x) / (1 - x)
    for k in range(1, n + 1):
        out = (k * out + (-1) ** (k - 1) * math.factorial(k - 1) / x**k) / (1 - x)
    return out


spence_slope: Op = family(
    "spence_slope",
    kernels.spence_slope,
    lambda x, n: spence_slope(x, n=n + 1),
    domain="positive",
    define=_log_quotient,
    example=(2.0, {"n": 1}),
    samples=sampling.orders("positive", 0, 1, 2),
    doc="The n-th derivative of log(x)/(1 - x), which is the derivative of Spence's function; at 1 its limit.",
)


@within("special")
def fresnel(z: Any) -> tuple[Any, Any]:
    """Fresnel's integrals S(z) and C(z), of sin(πt²/2) and cos(πt²/2) from 0."""
    return fresnels(z), fresnelc(z)


# ------------------------------------------------------------------------------------------ complete elliptic integrals

ellipk: Op = of_reals(
    "ellipk",
    kernels.ellipk,
    lambda out, m: ellipb(m) / (2 * (1 - m)),
    sympy="elliptic_k",
    domain="probability",
    called=r"\mathrm{K}",
    doc="The complete elliptic integral of the first kind K(x), of the parameter x = k² <= 1.",
)
ellipe: Op = of_reals(
    "ellipe",
    kernels.ellipe,
    lambda out, m: -ellipd(m) / 2,
    sympy="elliptic_e",
    domain="probability",
    called=r"\mathrm{E}",
    doc="The complete elliptic integral of the second kind E(x), of the parameter x = k² <= 1.",
)
ellipb: Op = of_reals(
    "ellipb",
    kernels.ellipb,
    lambda out, m: ellipb_slope(m, n=1),
    domain="probability",
    define=lambda m: (ellipe(m) - (1 - m) * ellipk(m)) / m,
    digits=lambda mp, m: mp.pi / 4 * mp.hyp2f1(0.5, 0.5, 2, m),
    doc="The integral of cos²/√(1 - m sin²) over the quarter period, in which the derivative of K has no quotient.",
)
ellipd: Op = of_reals(
    "ellipd",
    kernels.ellipd,
    # The quotient by m has no digits near 0, the difference of D and 2B' few near 1.
    lambda out, m: where(2 * m > 1, (ellipb(m) / (1 - m) - out) / m, (out - 2 * ellipb_slope(m, n=1)) / (1 - m)) / 2,
    domain="probability",
    define=lambda m: (ellipk(m) - ellipe(m)) / m,
    digits=lambda mp, m: mp.pi / 4 * mp.hyp2f1(0.5, 1.5, 2, m),
    doc="The integral of sin²/√(1 - m sin²) over the quarter period: -2 times the derivative of E.",
)


def _ellipb_slopes(m: Any, *, n: int) -> Any:
    """From the first derivative on, each by the two below it."""
    before, out = ellipb(m), (ellipd(m) - ellipb(m)) / (2 * m)
    for k in range(n - 1):
        half = exact(2 * k + 1) / 2
        before, out = out, (half**2 * before - (k * (1 - 2 * m) + 2 * (1 - m)) * out) / (m * (1 - m))
    return out


ellipb_slope: Op = family(
    "ellipb_slope",
    kernels.ellipb_slope,
    lambda m, n: ellipb_slope(m, n=n + 1),
    domain="probability",
    define=_ellipb_slopes,
    digits=digits.by_entry(
        lambda mp, m, n: (
            mp.pi / 4 * mp.rf(0.5, n) ** 2 / mp.rf(2, n) * mp.hyp2f1(mp.mpf(n) + 0.5, mp.mpf(n) + 0.5, n + 2, m)
        )
    ),
    example=(0.5, {"n": 1}),
    samples=[sampling.one("probability", "n", "m", n=1), sampling.one("probability", n=2)],
    doc="The n-th derivative of B, half the integral of sin² cos²/Δ³ for n = 1; quotients by m have no digits near 0.",
)
for _op in (expi, dawsn, spence, ellipk, ellipe):
    within("special")(_op)

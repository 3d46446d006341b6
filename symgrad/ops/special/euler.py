"""Euler's gamma and beta functions, and what is made of them, under SciPy's names."""

from __future__ import annotations

import math
from typing import Any

from symgrad import kernels
from symgrad.op import Op, of_reals, sampling
from symgrad.ops.calls.naming import within
from symgrad.ops.elementwise.select import where
from symgrad.ops.elementwise.smooth import cos, exp, log, log1p, round_
from symgrad.ops.rules.constants import PI
from symgrad.ops.special.common import digamma, with_orders
from symgrad.ops.special.gammas import slope_by_order
from symgrad.precision import digits

_special = within("special")


def _log_beta(mp: Any, a: Any, b: Any) -> Any:
    return mp.re(mp.loggamma(a) + mp.loggamma(b) - mp.loggamma(a + b))


def _density(a: Any, b: Any, x: Any, m: int, n: int) -> Any:
    """The density x^(a-1) (1-x)^(b-1)/B(a, b) of the beta distribution, or its derivative of orders m by a, n by b."""

    def slope(i: int, j: int) -> Any:
        """The derivative of its logarithm."""
        if i and j:
            return slope_by_order(a + b, i + j)
        first = (log(x) if i else log1p(-x)) if i + j == 1 else 0
        return first - (polygamma_fall(a, b, n=i - 1) if i else polygamma_fall(b, a, n=j - 1))

    rows = {(0, 0): exp((a - 1) * log(x) + (b - 1) * log1p(-x) - betaln(a, b))}
    for i, j in [(i, j) for i in range(m + 1) for j in range(n + 1) if i < m or j == n or not m][1:]:
        p, q = (i - 1, j) if i else (i, j - 1)
        steps = [(k, r) for k in range(p + 1) for r in range(q + 1)]
        terms = [math.comb(p, k) * math.comb(q, r) * slope(i - k, j - r) * rows[k, r] for k, r in steps]
        rows[i, j] = sum(terms[1:], terms[0])
    return rows[m, n]


polygamma_fall: Op = with_orders(
    "polygamma_fall",
    kernels.polygamma_fall,
    (
        lambda g, out, a, b, *, n: g * polygamma_fall(a, b, n=n + 1),
        lambda g, out, a, b, *, n: -g * slope_by_order(a + b, n + 2),
    ),
    define=lambda a, b, *, n: slope_by_order(a, n + 1) - slope_by_order(a + b, n + 1),
    expanded=True,
    example=(2.0, 3.0, {"n": 0}),
    samples=[
        sampling.many(("positive", "n", "m"), ("positive", "m"), n=0),
        sampling.many(("positive",), ("positive",), n=2),
    ],
    doc="ψ⁽ⁿ⁾(a) - ψ⁽ⁿ⁾(a + b), which has digits also where b is small, or both are large.",
)
gamma: Op = of_reals(
    "gamma",
    kernels.gamma_function,
    lambda out, x: out * digamma(x),
    sympy="gamma",
    domain="positive",
    c="tgamma({0})",
    called=r"\mathrm{\Gamma}",
    doc="Γ(x).",
)


def _reciprocal_slope(out: Any, x: Any) -> Any:
    """-ψ(x)/Γ(x), and below 1/2 what reflection makes of it, in which no pole of ψ meets a zero."""
    left = 2 * x < 1
    turned = where(left, 1 - x, x)
    wave = cos(PI * (x - 2 * round_(x / 2)))
    return where(left, wave * gamma(turned), 0) - digamma(turned) * out


rgamma: Op = of_reals(
    "rgamma",
    kernels.rgamma,
    _reciprocal_slope,
    digits=lambda mp, x: mp.rgamma(x),
    doc="1/Γ(x), which is 0 at the poles of Γ and has all derivatives there.",
)
beta: Op = of_reals(
    "beta",
    kernels.beta_function,
    lambda out, a, b: out * polygamma_fall(a, b, n=0),
    lambda out, a, b: out * polygamma_fall(b, a, n=0),
    sympy="beta",
    domain="positive",
    called=r"\mathrm{B}",
    doc="Euler's beta function Γ(x) Γ(y)/Γ(x + y).",
)
betaln: Op = of_reals(
    "betaln",
    kernels.betaln,
    lambda out, a, b: polygamma_fall(a, b, n=0),
    lambda out, a, b: polygamma_fall(b, a, n=0),
    domain="positive",
    digits=_log_beta,
    called=r"\log \mathrm{B}",
    doc="The logarithm of |B(x, y)|, Euler's beta function.",
)
betainc: Op = of_reals(
    "betainc",
    kernels.betainc,
    lambda out, a, b, x: betainc_slope(a, b, x, m=1, n=0),
    lambda out, a, b, x: betainc_slope(a, b, x, m=0, n=1),
    lambda out, a, b, x: _density(a, b, x, 0, 0),
    domain=("positive", "positive", "probability"),
    digits=lambda mp, a, b, x: mp.betainc(a, b, 0, x, regularized=True),
    samples=[
        sampling.many(("positive", 2, 1), ("positive", 3), ("probability",)),
        sampling.many(("positive",), ("positive",), ("probability",)),
    ],
    doc="Regularised incomplete beta function I_x(a, b), the distribution function of the beta distribution.",
)
betainc_slope: Op = with_orders(
    "betainc_slope",
    kernels.betainc_slope,
    (
        lambda g, out, a, b, x, *, m, n: g * betainc_slope(a, b, x, m=m + 1, n=n),
        lambda g, out, a, b, x, *, m, n: g * betainc_slope(a, b, x, m=m, n=n + 1),
        lambda g, out, a, b, x, *, m, n: g * _density(a, b, x, m, n),
    ),
    domain=("positive", "positive", "probability"),
    digits=digits.by_entry(
        lambda mp, a, b, x, m, n: mp.diff(lambda p, q: mp.betainc(p, q, 0, x, regularized=True), (a, b), (m, n))
    ),
    example=(2.0, 3.0, 0.25, {"m": 1, "n": 0}),
    samples=[
        sampling.many(("positive", 2), ("positive",), ("probability", 2), m=1, n=0),
        sampling.many(("positive",), ("positive",), ("probability",), m=0, n=1),
    ],
    doc="The derivative of I_x(a, b) of orders m by a and n by b: the first ones to 60 last places, most to 3.",
)
poch: Op = of_reals(
    "poch",
    kernels.poch,
    lambda out, z, m: -out * polygamma_fall(z, m, n=0),
    lambda out, z, m: out * digamma(z + m),
    domain="positive",
    digits=lambda mp, z, m: mp.rf(z, m),
    doc="The rising factorial x (x + 1) … (x + y - 1), as a function of real numbers: Γ(x + y)/Γ(x).",
)
for _op in (gamma, rgamma, beta, betaln, betainc, poch):
    _special(_op)


@_special
def factorial(n: Any) -> Any:
    """n! as a function of real numbers, Γ(n + 1)."""
    return gamma(n + 1)


@_special
def binom(n: Any, k: Any) -> Any:
    """The binomial coefficient of real numbers, 1/((n + 1) B(n - k + 1, k + 1))."""
    return 1 / ((n + 1) * beta(n - k + 1, k + 1))

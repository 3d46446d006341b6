"""The incomplete gamma functions and Hurwitz's zeta function, with their derivatives by the parameter.

These are no functions of the table's other ones, so that they are ops of their own, of any order.
"""

from __future__ import annotations

import math
from typing import Any

from symgrad import kernels
from symgrad.op import Op, elementwise, lookup, of_reals, sampling
from symgrad.ops.calls.naming import inplace, within
from symgrad.ops.elementwise.smooth import exp, log
from symgrad.ops.special.common import digamma, lgamma, polygamma_op, with_orders
from symgrad.precision import digits


def slope_by_order(x: Any, n: int) -> Any:
    """The n-th derivative of log Γ, n > 0."""
    return digamma(x) if n == 1 else polygamma_op(x, n=n - 1)


def _density(a: Any, x: Any, n: int = 0) -> Any:
    """The density of the gamma distribution, or its n-th derivative by a."""
    rows = [gamma_density(a, x)]
    for k in range(n):
        terms = [math.comb(k, j) * slope_by_order(a, j + 1) * rows[k - j] for j in range(1, k + 1)]
        rows.append(gamma_score(a, x) * rows[k] - sum(terms))
    return rows[n]


gamma_density: Op = of_reals(
    "gamma_density",
    kernels.gamma_density,
    lambda out, a, x: out * gamma_score(a, x),
    lambda out, a, x: out * ((a - 1 - x) / x),
    domain="positive",
    define=lambda a, x: exp((a - 1) * log(x) - x - lgamma(a)),
    doc="The density x^(a-1) e^(-x)/Γ(a) of the gamma distribution, whose powers have no digits for large a.",
)
gamma_score: Op = of_reals(
    "gamma_score",
    kernels.gamma_score,
    lambda out, a, x: -polygamma_op(a, n=1),
    lambda out, a, x: 1 / x,
    domain="positive",
    define=lambda a, x: log(x) - digamma(a),
    doc="log x - ψ(a), the derivative by a of the logarithm of the gamma distribution's density.",
)
gammainc: Op = elementwise(
    "gammainc",
    kernels.gammainc,
    lambda out, a, x: gammainc_slope(a, x, n=1),
    lambda out, a, x: _density(a, x),
    public=("igamma",),
    node="Igamma",
    dtypes="float",
    refuses={"buic": "igamma_cpu"},
    domain="positive",
    digits=lambda mp, a, x: mp.gammainc(a, 0, x, regularized=True),
    samples=[sampling.many(("positive", 2, 1), ("positive", 3)), sampling.many(*[("positive",)] * 2)],
    called=r"\mathrm{P}",
    doc="Regularised lower incomplete gamma function P(x, y) of order x, the gamma distribution's probability up to y.",
)
gammaincc: Op = elementwise(
    "gammaincc",
    kernels.gammaincc,
    lambda out, a, x: -gammainc_slope(a, x, n=1),
    lambda out, a, x: -_density(a, x),
    public=("igammac",),
    node="Igammac",
    dtypes="float",
    refuses={"buic": "igammac_cpu"},
    domain="positive",
    digits=lambda mp, a, x: mp.gammainc(a, x, mp.inf, regularized=True),
    samples=[sampling.many(("positive", 2, 1), ("positive", 3)), sampling.many(*[("positive",)] * 2)],
    called=r"\mathrm{Q}",
    doc="Regularised upper incomplete gamma function Q(x, y) = 1 - P(x, y) of order x.",
)
zeta: Op = of_reals(
    "zeta",
    kernels.hurwitz,
    lambda out, s, q: zeta_slope(s, q, n=1),
    lambda out, s, q: -s * zeta(s + 1, q),
    node="SpecialZeta",
    numbers="setting",
    node_by_numbers={(True, False): "SpecialZetaBackward1", (False, True): "SpecialZetaBackward2"},
    sympy="zeta",
    domain="above-one",
    doc="Hurwitz's zeta function, the sum of (y + k)^(-x) over k >= 0, for x > 1.",
)


def _by_parameter(
    name: str, kernel: Any, by_second: Any, domain: Any, in_digits: Any, doc: str, samples: list[Any]
) -> Op:
    rules = (
        lambda g, out, a, x, *, n: g * lookup(name)(a, x, n=n + 1),
        lambda g, out, a, x, *, n: g * by_second(a, x, n),
    )
    return with_orders(
        name,
        kernel,
        rules,
        domain=domain,
        digits=digits.by_entry(in_digits),
        example=(2.0, 3.0, {"n": 1}),
        samples=samples,
        doc=doc,
    )


gammainc_slope: Op = _by_parameter(
    "gammainc_slope",
    kernels.gammainc_slope,
    _density,
    "positive",
    lambda mp, a, x, n: mp.diff(lambda t: mp.gammainc(t, 0, x, regularized=True), a, n),
    "The n-th derivative of P(a, x) by a: the first to 20 last places.",
    samples=[sampling.many(("positive", 2, 1), ("positive", 3), n=1), sampling.many(("positive",), ("positive",), n=2)],
)
zeta_slope: Op = _by_parameter(
    "zeta_slope",
    kernels.zeta_slope,
    lambda s, q, n: -s * zeta_slope(s + 1, q, n=n) - n * (zeta_slope(s + 1, q, n=n - 1) if n > 1 else zeta(s + 1, q)),
    ("above-one", "positive"),
    lambda mp, s, q, n: mp.zeta(s, q, n),
    "The n-th derivative of ζ(s, q) by s, for s > 1 and q > 0: to 5 last places.",
    samples=[
        sampling.many(("above-one", "n"), ("positive", "n"), n=1),
        sampling.many(("above-one",), ("positive",), n=2),
    ],
)
for _op in (gammainc, gammaincc, zeta):
    within("special")(_op)
inplace("igamma", "igammac")

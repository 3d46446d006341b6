"""Euler's gamma and beta functions, and what is made of them, under SciPy's names."""

from __future__ import annotations

from typing import Any

from symgrad import kernels
from symgrad.op import Op, elementwise
from symgrad.ops.elementwise import exp, log, log1p
from symgrad.ops.gammas import absent_by
from symgrad.ops.naming import within
from symgrad.ops.special import digamma, lgamma

_special = within("special")


def _log_beta(mp: Any, a: Any, b: Any) -> Any:
    return mp.re(mp.loggamma(a) + mp.loggamma(b) - mp.loggamma(a + b))


gamma: Op = elementwise(
    "gamma",
    kernels.gamma_function,
    lambda out, x: out * digamma(x),
    public=(),
    dtypes="float",
    refuses="c",
    sympy="gamma",
    domain="positive",
    latex=r"\Gamma\left({0}\right)",
    doc="Γ(x).",
)
beta: Op = elementwise(
    "beta",
    kernels.beta_function,
    lambda out, a, b: out * (digamma(a) - digamma(a + b)),
    lambda out, a, b: out * (digamma(b) - digamma(a + b)),
    public=(),
    dtypes="float",
    refuses="c",
    sympy="beta",
    domain="positive",
    latex=r"\mathrm{{B}}\left({0}, {1}\right)",
    doc="Euler's beta function Γ(a) Γ(b)/Γ(a + b).",
)
betaln: Op = elementwise(
    "betaln",
    kernels.betaln,
    lambda out, a, b: digamma(a) - digamma(a + b),
    lambda out, a, b: digamma(b) - digamma(a + b),
    public=(),
    dtypes="float",
    refuses="c",
    domain="positive",
    digits=_log_beta,
    latex=r"\log\mathrm{{B}}\left({0}, {1}\right)",
    doc="log|B(a, b)|.",
)
betainc: Op = elementwise(
    "betainc",
    kernels.betainc,
    absent_by("betainc: a", "its last argument x", "detach() a and b, or do not let them require grad"),
    absent_by("betainc: b", "its last argument x", "detach() a and b, or do not let them require grad"),
    lambda out, a, b, x: exp((a - 1) * log(x) + (b - 1) * log1p(-x) - betaln(a, b)),
    public=(),
    dtypes="float",
    refuses="c",
    domain=("positive", "positive", "probability"),
    digits=lambda mp, a, b, x: mp.betainc(a, b, 0, x, regularized=True),
    latex=r"\mathrm{{I}}_{{{2}}}\left({0}, {1}\right)",
    doc="Regularised incomplete beta function I_x(a, b), the distribution function of the beta distribution.",
)
for _op in (gamma, beta, betaln, betainc):
    _special(_op)


@_special
def factorial(n: Any) -> Any:
    """n! as a function of real numbers, Γ(n + 1).

    >>> import numpy as np
    >>> print(factorial(np.array([0.0, 3.0, 5.0])))
    [  1.   6. 120.]
    """
    return gamma(n + 1)


@_special
def poch(z: Any, m: Any) -> Any:
    """The rising factorial z (z + 1) … (z + m - 1), as a function of positive real numbers: Γ(z + m)/Γ(z).

    >>> import numpy as np
    >>> print(f"{poch(np.float64(3.0), np.float64(2.0)):.12f}")
    12.000000000000
    """
    return exp(lgamma(z + m) - lgamma(z))


@_special
def binom(n: Any, k: Any) -> Any:
    """The binomial coefficient of real numbers, 1/((n + 1) B(n - k + 1, k + 1)).

    >>> import numpy as np
    >>> print(f"{binom(np.float64(5.0), np.float64(2.0)):.12f}")
    10.000000000000
    """
    return 1 / ((n + 1) * beta(n - k + 1, k + 1))

"""The incomplete gamma functions and Hurwitz's zeta function.

Their derivatives by the first argument are not elementary; as in torch they are not there, and asking is an error.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from symgrad import kernels
from symgrad.errors import UnsupportedDerivative
from symgrad.op import Op, elementwise
from symgrad.ops.elementwise import exp, log
from symgrad.ops.naming import inplace, within
from symgrad.ops.special import lgamma


def absent_by(name: str, by: str, instead: str) -> Callable[..., Any]:
    """The derivative by an argument that has none: an error which says by which there is one, and what to do."""

    def partial(out: Any, *inputs: Any) -> Any:
        raise UnsupportedDerivative(
            f"the derivative for {name!r} is not implemented: {name.partition(':')[0]} can be differentiated by {by} "
            f"only; {instead}."
        )

    return partial


def _absent(name: str) -> Callable[..., Any]:
    return absent_by(name, "its second argument", "detach() the first, or do not let it require grad")


def _density(a: Any, x: Any) -> Any:
    """The density of the gamma distribution: x^(a-1) e^(-x) / Γ(a)."""
    return exp((a - 1) * log(x) - x - lgamma(a))


gammainc: Op = elementwise(
    "gammainc",
    kernels.gammainc,
    _absent("igamma: input"),
    lambda out, a, x: _density(a, x),
    public=("igamma",),
    dtypes="float",
    domain="positive",
    latex=r"P\left({0}, {1}\right)",
    digits=lambda mp, a, x: mp.gammainc(a, 0, x, regularized=True),
    doc="Regularised lower incomplete gamma function P(a, x), the distribution function of the gamma distribution.",
)
gammaincc: Op = elementwise(
    "gammaincc",
    kernels.gammaincc,
    _absent("igammac: input"),
    lambda out, a, x: -_density(a, x),
    public=("igammac",),
    dtypes="float",
    domain="positive",
    latex=r"Q\left({0}, {1}\right)",
    digits=lambda mp, a, x: mp.gammainc(a, x, mp.inf, regularized=True),
    doc="Regularised upper incomplete gamma function Q(a, x) = 1 - P(a, x).",
)
zeta: Op = elementwise(
    "zeta",
    kernels.hurwitz,
    _absent("zeta"),
    lambda out, s, q: -s * zeta(s + 1, q),
    public=(),
    dtypes="float",
    sympy="zeta",
    domain="above-one",
    latex=r"\zeta\left({0}, {1}\right)",
    doc="Hurwitz's zeta function, the sum of (q + k)^(-s) over k >= 0, for s > 1.",
)
for _op in (gammainc, gammaincc, zeta):
    within("special")(_op)
inplace("igamma", "igammac")

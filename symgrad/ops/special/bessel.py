"""Bessel functions of integer order, Lambert's W, and the functions around the normal distribution."""

from __future__ import annotations

import math
from typing import Any

from symgrad import kernels
from symgrad.errors import ArgumentError
from symgrad.op import Op, elementwise, family, fixed, front, of_reals, sampling
from symgrad.ops.calls.naming import inplace, within
from symgrad.ops.elementwise.select import abs_, sign
from symgrad.ops.elementwise.smooth import exp, log, sqrt
from symgrad.ops.rules.constants import PI, exact
from symgrad.ops.special.common import digamma, erfc, lgamma, polygamma_op
from symgrad.precision import digits, gauss, halves

inplace("erfinv", "i0", "mvlgamma", "polygamma")


def _order(
    name: str,
    kernel: Any,
    slope: Any,
    letter: str | None,
    doc: str,
    domain: str = "off-zero",
    define: Any = None,
    in_digits: Any = None,
    **fields: Any,
) -> Op:
    return family(
        name,
        kernel,
        slope,
        domain=domain,
        define=define,
        digits=in_digits and digits.by_entry(in_digits),
        called=letter and rf"\mathrm{{{letter}}}",
        example=(0.5, {"n": 1}),
        samples=sampling.orders(domain, 0, 2, 1),
        doc=doc,
        **fields,
    )


def _bessel_j_slope(x: Any, n: int) -> Any:
    if n == 0:
        return -bessel_j(x, n=1)
    return (bessel_j(x, n=n - 1) - bessel_j(x, n=n + 1)) / 2


def _bessel_y_slope(x: Any, n: int) -> Any:
    if n == 0:
        return -bessel_y(x, n=1)
    return (bessel_y(x, n=n - 1) - bessel_y(x, n=n + 1)) / 2


def _bessel_k_slope(x: Any, n: int) -> Any:
    if n == 0:
        return -bessel_k(x, n=1)
    return -(bessel_k(x, n=n - 1) + bessel_k(x, n=n + 1)) / 2


def _bessel_ke_slopes(x: Any, *, n: int, k: int) -> Any:
    """The order itself less half the sum of its neighbours, k times."""
    terms = ((-1) ** j * math.comb(2 * k, j) * bessel_ke(x, n=abs(n + j - k)) for j in range(2 * k + 1))
    return sum(terms) / (-2) ** k


def _bessel_i_slope(x: Any, n: int) -> Any:
    if n == 0:
        return bessel_i(x, n=1)
    return (bessel_i(x, n=n - 1) + bessel_i(x, n=n + 1)) / 2


def _bessel_ie_slopes(x: Any, *, n: int, k: int) -> Any:
    """Half the sum of the neighbouring orders less sign(x) times the one between, k times."""
    out: Any = 0
    for i in range(k + 1):
        parts = sum(math.comb(i, j) * bessel_ie(x, n=abs(n + 2 * j - i)) for j in range(i + 1))
        out = out + math.comb(k, i) * (-sign(x)) ** (k - i) * parts / 2**i
    return out


bessel_j = _order(
    "bessel_j",
    kernels.bessel_j,
    _bessel_j_slope,
    "J",
    "Bessel function of the first kind, integer order n >= 0.",
    in_digits=lambda mp, x, n: mp.besselj(n, x),
)
bessel_y = _order(
    "bessel_y",
    kernels.bessel_y,
    _bessel_y_slope,
    "Y",
    "Bessel function of the second kind, integer order n >= 0, x > 0.",
    domain="positive",
    in_digits=lambda mp, x, n: mp.bessely(n, x),
)
bessel_k = _order(
    "bessel_k",
    kernels.bessel_k,
    _bessel_k_slope,
    "K",
    "Modified Bessel function of the second kind, integer order n >= 0, x > 0.",
    domain="positive",
    in_digits=lambda mp, x, n: mp.besselk(n, x) if x != 0 else mp.inf,
)
bessel_ke: Op = _order(
    "bessel_ke",
    kernels.bessel_ke,
    lambda x, n: bessel_ke_slope(x, n=n, k=1),
    None,
    "e^x times the modified Bessel function of the second kind, integer order n >= 0, x > 0.",
    domain="positive",
    define=lambda x, *, n: exp(x) * bessel_k(x, n=n),
    in_digits=lambda mp, x, n: mp.exp(x) * mp.besselk(n, x) if x != 0 else mp.inf,
    saves=(-1,),  # as torch's rule, which reads the value too
)
bessel_ke_slope: Op = family(
    "bessel_ke_slope",
    kernels.bessel_ke_slope,
    lambda x, n, k: bessel_ke_slope(x, n=n, k=k + 1),
    domain="positive",
    define=_bessel_ke_slopes,
    example=(0.5, {"n": 1, "k": 1}),
    samples=[sampling.one("positive", "n", "m", n=0, k=1), sampling.one("positive", n=2, k=2)],
    doc="The k-th derivative of e^x K_n(x); the difference of neighbouring orders has no digits far out.",
)
bessel_i = _order(
    "bessel_i",
    kernels.bessel_i,
    _bessel_i_slope,
    "I",
    "Modified Bessel function of the first kind, integer order n >= 0.",
    in_digits=lambda mp, x, n: mp.besseli(n, x),
)
bessel_ie: Op = _order(
    "bessel_ie",
    kernels.bessel_ie,
    lambda x, n: bessel_ie_slope(x, n=n, k=1),
    None,
    "e^(-|x|) times the modified Bessel function of the first kind, integer order n >= 0.",
    define=lambda x, *, n: exp(-abs_(x)) * bessel_i(x, n=n),
    saves=(-1,),  # as torch's rule, which reads the value too
)
bessel_ie_slope: Op = family(
    "bessel_ie_slope",
    kernels.bessel_ie_slope,
    lambda x, n, k: bessel_ie_slope(x, n=n, k=k + 1),
    domain="off-zero",
    define=_bessel_ie_slopes,
    example=(0.5, {"n": 1, "k": 1}),
    samples=[sampling.one("off-zero", "n", "m", n=0, k=1), sampling.one("off-zero", n=2, k=2)],
    doc="The k-th derivative of e^(-|x|) I_n(x); the difference of neighbouring orders has no digits far out.",
)
lambertw_op: Op = of_reals(
    "lambertw",
    kernels.lambertw,
    lambda out, x: lambertw_slope(x, n=1, lower=False),
    sympy="LambertW",
    domain="positive",
    called="W",
    doc="Principal branch of Lambert's W: the solution w of w e^w = x.",
)
lambertw_lower: Op = of_reals(
    "lambertw_lower",
    kernels.lambertw_lower,
    lambda out, x: lambertw_slope(x, n=1, lower=True),
    domain="above-branch",
    digits=lambda mp, x: mp.re(mp.lambertw(x, -1)) if -mp.exp(-1) <= x < 0 else mp.nan,
    called="W_{-1}",
    doc="The branch -1 of Lambert's W: the solution w <= -1 of w e^w = x, for -1/e <= x < 0.",
)


def _lambert_slopes(x: Any, *, n: int, lower: bool) -> Any:
    """e^(-nW)/(1 + W)^(2n-1) times a polynomial P_n, with P_(n+1) = -(n v + 2n - 1) P_n + v P_n' for v = 1 + W."""
    w = (lambertw_lower if lower else lambertw_op)(x)
    powers = [1]
    for k in range(1, n):
        taken = [(j - 2 * k + 1) * c for j, c in enumerate(powers)]
        powers = [a - k * b for a, b in zip([*taken, 0], [0, *powers], strict=True)]
    return exp(-n * w) * sum(c * (1 + w) ** (j - 2 * n + 1) for j, c in enumerate(powers) if c)


lambertw_slope: Op = family(
    "lambertw_slope",
    kernels.lambertw_slope,
    lambda x, n, lower: lambertw_slope(x, n=n + 1, lower=lower),
    domain="positive",
    define=_lambert_slopes,
    example=(2.0, {"n": 1, "lower": False}),
    samples=[
        sampling.one("positive", "n", "m", n=1, lower=False),
        sampling.one("above-branch", "n", n=2, lower=True),
        sampling.one("positive", n=2, lower=False),
    ],
    doc="The n-th derivative of a branch of Lambert's W; 1 + W has no digits near the branch point.",
)


@within("special")
def lambertw(z: Any, k: int = 0) -> Any:
    """Lambert's W of real numbers, w e^w = z: the branch 0 for z >= -1/e, or the branch -1 for -1/e <= z < 0.

    As SciPy's where the value is real, and nan elsewhere.  Raises ArgumentError for other branches, which have no real
    values.  R. Corless et al., "On the Lambert W function" (1996).
    """
    if k not in (0, -1) or isinstance(k, bool):
        raise ArgumentError(f"lambertw(z, k): real values are those of the branches k = 0 and k = -1, got {k!r}.")
    return lambertw_lower(z) if k else lambertw_op(z)


def _bessel(name: str, op: Op, n: int, method: bool = False) -> None:
    def call(input: Any) -> Any:
        return op(input, n=n)

    call.__name__ = name
    call.__doc__ = op.told.replace("integer order n >= 0", f"of order {n}").replace("input > 0", "of ``input`` > 0")
    within("special", name)(call)
    if method:
        front(name, op=op)(call)


def _of_whole_order(name: str, op: Op, what: str, value: str) -> None:
    """SciPy's function of an order and a number: of whole orders, and of those below 0 by their symmetry."""

    def call(v: int, z: Any) -> Any:
        if not isinstance(v, int) or isinstance(v, bool):
            raise ArgumentError(
                f"{name}(v, z) needs a whole number v (an int) for its order, got {type(v).__name__}; "
                "orders of iv, ive, kv and kve may be real."
            )
        found = op(z, n=abs(v))
        return -found if v < 0 and v % 2 else found

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"""{what}, of whole order ``v``, as in SciPy.

    Raises ArgumentError for other orders.

    >>> import numpy as np
    >>> from symgrad.special import {name}
    >>> print(f"{{{name}(2, np.float64(1.0)):.9f}}")
    {value}
    """
    within("special")(call)


_of_whole_order("jv", bessel_j, "The Bessel function of the first kind", "0.114903485")
_of_whole_order("yv", bessel_y, "The Bessel function of the second kind", "-1.650682607")


for _name, _op, _n in (
    ("bessel_j0", bessel_j, 0),
    ("bessel_j1", bessel_j, 1),
    ("bessel_y0", bessel_y, 0),
    ("bessel_y1", bessel_y, 1),
    ("modified_bessel_i0", bessel_i, 0),
    ("modified_bessel_i1", bessel_i, 1),
    ("modified_bessel_k0", bessel_k, 0),
    ("modified_bessel_k1", bessel_k, 1),
    ("scaled_modified_bessel_k0", bessel_ke, 0),
    ("scaled_modified_bessel_k1", bessel_ke, 1),
    ("i0", bessel_i, 0),
    ("i1", bessel_i, 1),
    ("i0e", bessel_ie, 0),
    ("i1e", bessel_ie, 1),
    *((f"{_kind}{_n}", _op, _n) for _kind, _op in (("j", bessel_j), ("y", bessel_y), ("k", bessel_k)) for _n in (0, 1)),
    ("k0e", bessel_ke, 0),
    ("k1e", bessel_ke, 1),
):
    _bessel(_name, _op, _n, _name == "i0")


@within("special")
def spherical_bessel_j0(input: Any) -> Any:
    """sin(input)/input, and 1 at 0."""
    from symgrad.ops.special.airy import spherical_jn_op

    return spherical_jn_op(input, n=0)


# ------------------------------------------------------------------------------------------ normal distribution


def _density(x: Any) -> Any:
    return exp(-(x**2) / 2) / sqrt(exact(2) * PI)


def _special(name: str, kernel: Any, *partials: Any, **fields: Any) -> Op:
    op: Op = within("special")(of_reals(name, kernel, *partials, **fields))
    return op


ndtr: Op = _special(
    "ndtr",
    kernels.ndtr,
    lambda out, x: _density(x),
    single=gauss.ndtr,
    half=halves.ndtr,
    copies=True,
    digits=digits.ndtr,
    called=r"\Phi",
    doc="Standard normal distribution function.",
)


def _ndtr_vjp(g: Any, out: Any, x: Any) -> Any:
    # torch's steps: of (1 + erf(x/√2))/2.
    root = 1 / sqrt(exact(2))
    return 2 / sqrt(PI) * exp(-((x * root) ** 2)) * (g / 2) * root


ndtr.vjps = ndtr.jvps = (_ndtr_vjp,)
log_ndtr: Op = _special(
    "log_ndtr",
    kernels.log_ndtr,
    lambda out, x: inverse_mills(x),
    digits=lambda mp, x: mp.log(digits.ndtr(mp, x)),
    called=r"\log \Phi",
    doc="log of the standard normal distribution function, accurate far to the left.",
)
inverse_mills: Op = of_reals(
    "inverse_mills",
    kernels.inverse_mills,
    lambda out, x: inverse_mills_slope(x, n=1),
    define=lambda x: exp(-(x**2) / 2) / (sqrt(2 * PI) * ndtr(x)),
    doc="Density over distribution function of the standard normal distribution: the derivative of log_ndtr.",
)


def _mills_slopes(x: Any, *, n: int) -> Any:
    """By Leibniz' rule of m' = -m (x + m)."""
    rows = [inverse_mills(x)]
    for k in range(n):
        beside = [x + rows[0], *(row + 1 if j == 0 else row for j, row in enumerate(rows[1:]))]
        rows.append(-sum(math.comb(k, j) * rows[j] * beside[k - j] for j in range(k + 1)))
    return rows[n]


inverse_mills_slope: Op = family(
    "inverse_mills_slope",
    kernels.inverse_mills_slope,
    lambda x, n: inverse_mills_slope(x, n=n + 1),
    define=_mills_slopes,
    example=(0.5, {"n": 1}),
    samples=[sampling.one("real", "n", "m", n=1), sampling.one("real", n=2), sampling.one("real", n=3)],
    doc="The n-th derivative of Mills' inverse ratio m; -m (x + m) has no digits far to the left.",
)
ndtri: Op = _special(
    "ndtri",
    kernels.ndtri,
    lambda out, x: ndtri_slope(x, n=1),
    saves=(-1,),
    copies=True,  # torch's rule reads the value only
    domain="probability",
    kinks=(0, 1),
    digits=lambda mp, p: mp.sqrt(2) * digits.erfinv(mp, 2 * p - 1),
    called=r"\Phi^{-1}",
    doc="Standard normal quantile: the inverse of ndtr.",
)
erfcx: Op = _special(
    "erfcx",
    kernels.erfcx,
    lambda out, x: erfcx_slope(x, n=1),
    define=lambda x: exp(x**2) * erfc(x),
    c="erfcx({0})",
    doc="Scaled complementary error function e^(x²) erfc(x).",
)


def _erfcx_slopes(x: Any, *, n: int) -> Any:
    """From the first derivative on, each by the two below it."""
    before, out = erfcx(x), 2 * x * erfcx(x) - 2 / sqrt(PI)
    for k in range(1, n):
        before, out = out, 2 * x * out + 2 * k * before
    return out


erfcx_slope: Op = family(
    "erfcx_slope",
    kernels.erfcx_slope,
    lambda x, n: erfcx_slope(x, n=n + 1),
    define=_erfcx_slopes,
    digits=digits.by_entry(digits.erfcx_slope),
    example=(0.5, {"n": 1}),
    samples=[sampling.one("real", "n", "m", n=1), sampling.one("real", n=2)],
    doc="The n-th derivative of erfcx, which is -1/(√π x²) far out, where 2x erfcx(x) - 2/√π has no digits.",
)
erfinv: Op = elementwise(
    "erfinv",
    kernels.erfinv,
    lambda out, x: erfinv_slope(x, n=1),
    dtypes="float",
    sympy="erfinv",
    refuses={"c": "erfinv_vml_cpu"},
    domain="unit",
    kinks=(-1, 1),
    digits=digits.erfinv,
    called=r"\operatorname{erf}^{-1}",
    parity="odd",
    doc="Inverse of the error function, on (-1, 1).",
)
within("special")(erfinv)
erfcinv: Op = _special(
    "erfcinv",
    kernels.erfcinv,
    lambda out, x: erfcinv_slope(x, n=1),
    sympy="erfcinv",
    digits=lambda mp, x: mp.inf * (1 - x) if x in (0, 2) else digits.erfinv(mp, 1 - x),
    domain="probability",
    kinks=(0, 2),
    called=r"\operatorname{erfc}^{-1}",
    doc="Inverse of the complementary error function, on (0, 2), with its digits near 0.",
)


def _quantile_slope(
    name: str, of: Op, first: Any, twice: int, kernel: Any, doc: str, domain: str = "probability"
) -> Op:
    """The derivatives of ``of``, the first being ``first`` of its value and the second ``twice`` y y'²."""

    def define(x: Any, *, n: int) -> Any:
        y = of(x)
        powers = kernels.quantile_powers(n, twice)
        return first(y) ** n * sum(c * y ** (n - 1 - i) for i, c in enumerate(powers) if c)

    op: Op = family(
        name,
        kernel,
        lambda x, n: op(x, n=n + 1),
        domain=domain,
        define=define,
        example=(0.25, {"n": 1}),
        samples=[sampling.one(domain, "n", "m", n=1), sampling.one(domain, n=2)],
        doc=doc,
    )
    return op


ndtri_slope: Op = _quantile_slope(
    "ndtri_slope",
    ndtri,
    lambda y: sqrt(exact(2) * PI) * exp(y**2 / 2),
    1,
    kernels.ndtri_slope,
    "The n-th derivative of the normal quantile y: the density at y is known from the tail and Mills' ratio.",
)
erfinv_slope: Op = _quantile_slope(
    "erfinv_slope",
    erfinv,
    lambda y: sqrt(PI) / 2 * exp(y**2),
    2,
    kernels.erfinv_slope,
    "The n-th derivative of erfinv: with y the value, e^(y²) is erfcx(|y|) over 1 - |x|.",
    domain="unit",
)
erfcinv_slope: Op = _quantile_slope(
    "erfcinv_slope",
    erfcinv,
    lambda y: -sqrt(PI) / 2 * exp(y**2),
    2,
    kernels.erfcinv_slope,
    "The n-th derivative of erfcinv: with y the value, e^(y²) is erfcx(|y|) over the smaller of x and 2 - x.",
)
entr: Op = _special(
    "entr",
    kernels.entr,
    lambda out, x: -(1 + log(x)),
    half=halves.entr,
    domain="positive",
    kinks=(0,),
    define=lambda x: -x * log(x),
    expanded=False,
    refuses="",
    c="{0} == 0 ? 0 : -{0} * log(fmax({0}, 0))",
    doc="-x log x, 0 at 0, and -inf below.",
)


@front("polygamma", words={"n": "input"})  # of the method, whose tensor comes first
def polygamma(n: Any, input: Any) -> Any:
    """The n-th derivative of the digamma function at ``input`` > 0; as a method ``x.polygamma(n)``.

    >>> import symgrad as sg
    >>> import numpy as np
    >>> print(f"{sg.polygamma(1, np.float64(1.0)):.9f}")  # π²/6
    1.644934067
    """
    if not isinstance(n, int):
        n, input = input, n
    if n < 0:
        raise ArgumentError(f"polygamma(n, x) does not support negative n, got {n}.")
    return polygamma_op(input, n=int(fixed(n)))


def _shifted(f: Any, x: Any, p: int) -> Any:
    return sum((f(x - exact(k) / 2) for k in range(1, p)), f(x))


log_gammas: Op = family(
    "log_gammas",
    kernels.log_gammas,
    lambda x, p: _shifted(digamma, x, p),
    define=lambda x, p: _shifted(lgamma, x, p) + exact(p * (p - 1)) / 4 * log(PI),
    spelled=True,
    refuses={"c": "arange_cpu"},
    domain="positive",
    example=(2.0, {"p": 2}),
    samples=[lambda make: ((make("positive", "n", "m") + 1,), {"p": 3})],
    doc="The multivariate log-gamma function, of which the operand alone is kept.",
)


@front("mvlgamma", "multigammaln")
def mvlgamma(input: Any, p: int) -> Any:
    """The multivariate log-gamma function of dimension ``p``, for ``input`` > (p - 1)/2."""
    if p < 1:
        raise ArgumentError(f"p has to be greater than or equal to 1, got {p}")
    return lgamma(input) if p == 1 else log_gammas(input, p=int(fixed(p)))


within("special", "multigammaln")(mvlgamma)
within("special")(polygamma)

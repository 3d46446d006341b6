"""Powers and exponentials less what they are near, and other functions of a few steps, under SciPy's names.

Written out they lose their digits next to the point at which they vanish; the entries here have them, with derivatives.
"""

from __future__ import annotations

from typing import Any

from symgrad import kernels
from symgrad.op import Op, family, of_reals, sampling
from symgrad.ops.calls.naming import within
from symgrad.ops.elementwise.arithmetic import power
from symgrad.ops.elementwise.smooth import cos, exp, expm1, hypot, log, log1p, sin, sqrt
from symgrad.ops.rules.constants import PI, exact
from symgrad.ops.special.common import erf, xlogy
from symgrad.ops.special.integrals import spence_slope
from symgrad.precision import digits
from symgrad.precision.single import rounded


def _special(name: str, kernel: Any, *partials: Any, **fields: Any) -> Op:
    return of_reals(name, kernel, *partials, single=rounded(kernel), **fields)


cosm1: Op = _special(
    "cosm1",
    kernels.cosm1,
    lambda out, x: -sin(x),
    define=lambda x: cos(x) - 1,
    parity="even",
    bounds=(-2, 0),
    doc="cos(x) - 1, with its digits near 0.",
)


def _exprel(x: Any, *, n: int) -> Any:
    out = (exp(x) - 1) / x
    for k in range(1, n + 1):
        out = (exp(x) - k * out) / x
    return out


exprel_op: Op = family(
    "exprel",
    kernels.exprel,
    lambda x, n: exprel_op(x, n=n + 1),
    define=_exprel,
    overflows=True,
    digits=digits.by_entry(lambda mp, x, n: mp.hyp1f1(n + 1, n + 2, x) / (n + 1)),
    example=(0.5, {"n": 0}),
    samples=sampling.orders("off-zero", 0, 1, 2),
    doc="The n-th derivative of (e^x - 1)/x, the integral of t^n e^(xt) for t from 0 to 1.",
)


@within("special")
def exprel(x: Any) -> Any:
    """(e^x - 1)/x, and 1 at 0, as in SciPy; derivatives of every order have their digits there, too."""
    return exprel_op(x, n=0)


powm1: Op = _special(
    "powm1",
    kernels.powm1,
    lambda out, x, y: y * power(x, y - 1),
    lambda out, x, y: xlogy(power(x, y), x),
    define=lambda x, y: x**y - 1,
    domain=("positive", "real"),
    overflows=True,
    doc="x^y - 1, with its digits where the power is next to 1.",
)

# ------------------------------------------------------------------------------------------ Box and Cox


def _slope(size: Any, lmbda: Any) -> Any:
    """The derivative of (e^(λ size) - 1)/λ by λ."""
    return size * size * exprel_op(lmbda * size, n=1)


boxcox: Op = _special(
    "boxcox",
    kernels.boxcox,
    lambda out, x, lmbda: power(x, lmbda - 1),
    lambda out, x, lmbda: _slope(log(x), lmbda),
    define=lambda x, lmbda: (x**lmbda - 1) / lmbda,
    c="{1} == 0 ? log({0}) : expm1({1} * log({0})) / {1}",
    digits=lambda mp, x, lmbda: (x**lmbda - 1) / lmbda if lmbda else mp.log(x),
    domain=("positive", "off-zero"),
    doc="Box and Cox's transformation (x^λ - 1)/λ of numbers above 0, and log(x) where λ is 0.",
)
boxcox1p: Op = _special(
    "boxcox1p",
    kernels.boxcox1p,
    lambda out, x, lmbda: power(1 + x, lmbda - 1),
    lambda out, x, lmbda: _slope(log1p(x), lmbda),
    define=lambda x, lmbda: ((1 + x) ** lmbda - 1) / lmbda,
    c="{1} == 0 ? log1p({0}) : expm1({1} * log1p({0})) / {1}",
    digits=lambda mp, x, lmbda: ((1 + x) ** lmbda - 1) / lmbda if lmbda else mp.log1p(x),
    domain=("positive", "off-zero"),
    doc="Box and Cox's transformation of 1 + x, with its digits near 0.",
)
log1p_share: Op = _special(
    "log1p_share",
    kernels.log1p_share,
    lambda out, x, lmbda: 1 / (1 + lmbda * x),
    lambda out, x, lmbda: -(x * x) * spence_slope(1 + lmbda * x, n=1),
    define=lambda x, lmbda: log(1 + lmbda * x) / lmbda,
    digits=lambda mp, x, lmbda: mp.log1p(lmbda * x) / lmbda if lmbda else x,
    domain="positive",
    doc="log(1 + λx)/λ, and x where λ is 0: the logarithm of what Box and Cox's transformation makes x of.",
)


@within("special")
def inv_boxcox(y: Any, lmbda: Any) -> Any:
    """The number of which Box and Cox's transformation is ``y``: (1 + λy)^(1/λ), and e^y where λ is 0."""
    return exp(log1p_share(y, lmbda))


@within("special")
def inv_boxcox1p(y: Any, lmbda: Any) -> Any:
    """The number x of which ``boxcox1p`` is ``y``: (1 + λy)^(1/λ) - 1, and e^y - 1 where λ is 0."""
    return expm1(log1p_share(y, lmbda))


# ------------------------------------------------------------------------------------------ and others


root_share: Op = _special(
    "root_share",
    kernels.root_share,
    lambda out, x: power(hypot(1, x), -3),
    define=lambda x: x / sqrt(1 + x**2),
    c="sin(atan({0}))",
    parity="odd",
    rises=True,
    bounds=(-1, 1),
    doc="x/√(1 + x²), whose slope 1/(1 + x²)^(3/2) no difference is in.",
)


def _excess(out: Any, delta: Any, r: Any) -> Any:
    """(h - δ)²/h of h = √(δ² + r²), where h - δ is r²/(h + δ)."""
    h = hypot(delta, r)
    share = r * (r / (h + delta))
    return share * (share / h)


pseudo_huber: Op = _special(
    "pseudo_huber",
    kernels.pseudo_huber,
    _excess,
    lambda out, delta, r: delta * root_share(r / delta),
    define=lambda delta, r: delta**2 * (sqrt(1 + (r / delta) ** 2) - 1),
    domain=("positive", "real"),
    doc="x² (√(1 + (y/x)²) - 1), which is y²/2 near y = 0 and grows as x |y| far out.",
)
erfi: Op = _special(
    "erfi",
    kernels.erfi,
    lambda out, x: 2 / sqrt(PI) * exp(x * x),
    sympy="erfi",
    parity="odd",
    overflows=True,
    rises=True,
    doc="The imaginary error function erf(ix)/i.",
)
owens_t: Op = _special(
    "owens_t",
    kernels.owens_t,
    lambda out, h, a: -exp(-(h * h) / 2) * erf(a * h / sqrt(exact(2))) / (2 * sqrt(2 * PI)),
    lambda out, h, a: exp(-(h * h) * (1 + a * a) / 2) / (2 * PI * (1 + a * a)),
    digits=lambda mp, h, a: (
        mp.quad(lambda t: mp.exp(-h * h * (1 + t * t) / 2) / (1 + t * t), [0, a / 2, a]) / (2 * mp.pi)
    ),
    doc="Owen's T: the probability of X > x and 0 < Y < y X of two standard normal numbers X and Y.",
)
for _op in (cosm1, powm1, boxcox, boxcox1p, pseudo_huber, erfi, owens_t):
    within("special")(_op)

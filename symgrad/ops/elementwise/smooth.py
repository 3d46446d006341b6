"""Smooth functions of one variable: exponentials, logarithms, trigonometric and hyperbolic functions, and the logistic.

Derivatives reuse ``out`` where that is cheaper.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from symgrad import kernels
from symgrad.dtypes import is_narrow
from symgrad.op import Op, elementwise as _elementwise
from symgrad.op.partials import over
from symgrad.ops.elementwise.complex import conj
from symgrad.ops.rules import refusals
from symgrad.ops.rules.constants import exact, one
from symgrad.ops.rules.kinks import at_kink
from symgrad.ops.rules.slopes import slope_of
from symgrad.precision import digits, halves, single
from symgrad.precision.single import libms, smooth

_UPRIGHT = ("exp", "log", "sin", "cos", "tan", "sinh", "cosh", "tanh")
"""Functions that LaTeX has a command for."""


def _smooth(name: str, kernel: Any, *partials: Any, **fields: Any) -> Op:
    """A function of floats, which SymPy, C and LaTeX call by its name where nothing else is said."""
    operands = ", ".join(f"{{{i}}}" for i in range(len(partials)))
    called = rf"\{name}" if name in _UPRIGHT else None
    names = {"dtypes": "float", "sympy": name, "c": f"{name}({operands})", "called": called}
    return _elementwise(name, kernel, *partials, **{**names, **fields})


def _flat(name: str, kernel: Any, **fields: Any) -> Op:
    return _elementwise(name, kernel, 0, domain="off-integer", refuses="bc", **fields)


exp: Op = _smooth(
    "exp",
    np.exp,
    lambda out, x: out,
    scalar=math.exp,
    single=smooth(np.exp),
    overflows=True,
    twins=("log",),
    loses="digits",
    rises=True,
    bounds=(0, math.inf),
    doc="e**x.",
)
exp2: Op = _smooth(
    "exp2",
    np.exp2,
    lambda out, x: out * log(exact(2)),
    sympy=None,
    define=lambda x: exp(x * log(exact(2))),
    single=smooth(np.exp2),
    overflows=True,
    doc="2**x.",
)
expm1: Op = _smooth(
    "expm1",
    np.expm1,
    lambda out, x: out + 1,
    sympy=None,
    define=lambda x: exp(x) - 1,
    expanded=True,
    single=smooth(np.expm1),
    digits=lambda mp, x: mp.expm1(x),
    overflows=True,
    loses="digits",
    rises=True,
    bounds=(-1, math.inf),
    doc="e**x - 1.",
)
log: Op = _smooth(
    "log",
    np.log,
    over(lambda out, x: x),
    scalar=math.log,
    domain="positive",
    kinks=(0,),
    single=smooth(np.log),
    digits=digits.log,
    regular=(0, "{} > 0"),
    twins=("exp", "log2", "log10"),
    loses="digits",
    rises=True,
    doc="Natural logarithm.",
)
log2: Op = _smooth(
    "log2",
    kernels.log2,
    over(lambda out, x: x * log(exact(2))),
    sympy=None,
    domain="positive",
    define=lambda x: log(x) / log(exact(2)),
    single=smooth(kernels.log2),
    regular=(0, "{} > 0"),
    loses="digits",
    rises=True,
    doc="Logarithm to base 2.",
)
log10: Op = _smooth(
    "log10",
    np.log10,
    over(lambda out, x: x * log(exact(10))),
    sympy=None,
    domain="positive",
    define=lambda x: log(x) / log(exact(10)),
    single=smooth(np.log10),
    regular=(0, "{} > 0"),
    loses="digits",
    doc="Logarithm to base 10.",
)
log1p: Op = _smooth(
    "log1p",
    np.log1p,
    over(lambda out, x: x + 1),
    node="Log1P",
    sympy=None,
    domain="positive",
    define=lambda x: log(1 + x),
    expanded=True,
    single=smooth(np.log1p),
    imaginary=kernels.complex_log1p,
    digits=lambda mp, x: -mp.inf if x == -1 else mp.log1p(x),
    regular=(0, "{} > -1"),
    loses="digits",
    rises=True,
    doc="log(1 + x).",
)
sqrt: Op = _smooth(
    "sqrt",
    np.sqrt,
    over(lambda out, x: 2 * out),
    scalar=math.sqrt,
    domain="positive",
    kinks=(0,),
    regular=(0, "{} > 0"),
    loses="digits",
    rises=True,
    bounds=(0, math.inf),
    doc="Square root; the derivative at 0 is +inf.",
)
rsqrt: Op = _smooth(
    "rsqrt",
    lambda x: 1 / np.sqrt(x),
    lambda out, x: -power(out, 3) / 2,  # the operator would be NumPy's, which rounds differently
    sympy=None,
    half=halves.rsqrt,
    code=lambda x: f"1 / np.sqrt({x})",
    domain="positive",
    define=lambda x: 1 / sqrt(x),
    expanded=True,
    regular=(0, "{} > 0"),
    loses="digits",
    c="1 / sqrt({0})",
    bounds=(0, math.inf),
    doc="1/sqrt(x).",
)
cbrt: Op = _smooth(
    "cbrt",
    np.cbrt,
    lambda out, x: 1 / (3 * out * out),
    sympy=None,
    refuses="c",
    domain="off-zero",
    digits=lambda mp, x: mp.sign(x) * mp.cbrt(abs(x)),
    regular=(0, "{} != 0"),
    rises=True,
    parity="odd",
    doc="Cube root.",
)

sin: Op = _smooth(
    "sin",
    np.sin,
    lambda out, x: cos.of(x),
    scalar=math.sin,
    single=smooth(np.sin),
    parity="odd",
    twins=("cos",),
    loses="digits",
    bounds=(-1, 1),
    doc="Sine (radians).",
)
cos: Op = _smooth(
    "cos",
    np.cos,
    lambda out, x: -sin.of(x),
    scalar=math.cos,
    single=smooth(np.cos),
    parity="even",
    twins=("sin",),
    loses="digits",
    bounds=(-1, 1),
    doc="Cosine (radians).",
)
tan: Op = _smooth(
    "tan",
    np.tan,
    lambda out, x: 1 + out**2,
    scalar=math.tan,
    domain="unit",
    single=libms(np.tan),
    parity="odd",
    overflows=True,
    loses="digits",
    doc="Tangent (radians).",
)
sinh: Op = _smooth(
    "sinh",
    np.sinh,
    lambda out, x: cosh(x),
    single=libms(np.sinh),
    parity="odd",
    overflows=True,
    twins=("cosh",),
    loses="digits",
    rises=True,
    doc="Hyperbolic sine.",
)
cosh: Op = _smooth(
    "cosh",
    np.cosh,
    lambda out, x: sinh(x),
    single=libms(np.cosh),
    parity="even",
    overflows=True,
    twins=("sinh",),
    loses="digits",
    bounds=(1, math.inf),
    doc="Hyperbolic cosine.",
)
tanh: Op = _smooth(
    "tanh",
    np.tanh,
    lambda out, x: one_less_square.of(out),
    scalar=math.tanh,
    fused=("TanhBackward", -1),
    single=smooth(np.tanh),
    parity="odd",
    twins=("sigmoid",),
    loses="activation",
    rises=True,
    bounds=(-1, 1),
    doc="Hyperbolic tangent.",
)


def _atan2_scale(x: Any, y: Any) -> Any:
    return x * x + y * y


from symgrad.ops.elementwise.arithmetic import closed, power, ratio  # noqa: E402  (ratio's rules use nothing of this file)

atan2: Op = _smooth(
    "atan2",
    np.arctan2,
    lambda out, y, x: at_kink("atan2", 0, ratio(x, _atan2_scale(x, y)), _atan2_scale(x, y), 0),
    lambda out, y, x: at_kink("atan2", 1, -ratio(y, _atan2_scale(x, y)), _atan2_scale(x, y), 0),
    public=("atan2", "arctan2"),
    refuses="c",
    refuses_back=refusals.second_angle,
    domain="off-zero",
    single=libms(np.arctan2),
    kinks=((0, 0),),
    doc="The angle of the point (y, x), which is arctan(x/y) turned into its quadrant; derivatives 0 at the origin.",
)


def _turning(i: int, arm: Any) -> Any:
    """The rule of argument ``i``, in torch's order."""

    def rule(g: Any, out: Any, y: Any, x: Any) -> Any:
        from symgrad.ops.elementwise.select import excepted, ne

        scale, far = _atan2_scale(x, y), hypot(x, y)
        return at_kink("atan2", i, excepted(g * arm(y, x) * (1 / scale), ne(far, 0)), far, 0, g)

    return rule


atan2.vjps = atan2.jvps = (_turning(0, lambda y, x: x), _turning(1, lambda y, x: -y))
hypot: Op = _smooth(
    "hypot",
    np.hypot,
    lambda out, x, y: at_kink("hypot", 0, ratio(x, out), out, 0),
    lambda out, x, y: at_kink("hypot", 1, ratio(y, out), out, 0),
    sympy=None,
    refuses="buic",
    domain="off-zero",
    kinks=((0, 0),),
    define=lambda x, y: sqrt(x**2 + y**2),
    expanded=True,
    loses="digits",
    bounds=(0, math.inf),
    doc="sqrt(x² + y²).",
)
hypot.vjps = hypot.jvps = (  # in torch's order
    lambda g, out, x, y: at_kink("hypot", 0, ratio(g * x, out), out, 0, g),
    lambda g, out, x, y: at_kink("hypot", 1, ratio(g * y, out), out, 0, g),
)
logaddexp: Op = _smooth(
    "logaddexp",
    kernels.logaddexp,
    lambda out, x, y: sigmoid(x - y),
    lambda out, x, y: sigmoid(y - x),
    sympy=None,
    refuses="bui",
    refuses_back=refusals.differences,
    define=lambda x, y: log(exp(x) + exp(y)),
    loses="activation",
    folds=("logsumexp", "logcumsumexp", -math.inf),
    rises=True,
    doc="log(e^x + e^y) without overflow.",
)
sigmoid: Op = _smooth(
    "sigmoid",
    kernels.sigmoid,
    lambda out, x: (one(out) - out) * out,
    public=("sigmoid", "expit"),
    sympy=None,
    fused=("SigmoidBackward", -1),
    single=single.real(single.sigmoid, kernels.sigmoid),
    imaginary=kernels.complex_sigmoid,
    digits=lambda mp, x: 1 / (1 + mp.exp(-x)),
    quiet="over",
    twins=("tanh",),
    loses="activation",
    rises=True,
    bounds=(0, 1),
    called=r"\sigma",
    doc="The logistic function 1/(1 + e^-x).",
)
gated: Op = _elementwise(
    "gated",
    kernels.gated,
    lambda out, x, gate: sigmoid(gate),
    lambda out, x, gate: out * sigmoid(-gate),
    public=(),
    single=single.real(single.gated, kernels.gated),
    imaginary=kernels.complex_gated,
    half=halves.gated,
    define=lambda x, gate: x * sigmoid(gate),
    spelled=True,
    loses="activation",
    doc="x times the logistic function of the gate, as the quotient x/(1 + e^-gate).",
)
logaddexp.vjps = logaddexp.jvps = (
    lambda g, out, x, y: gated(g, x - y),
    lambda g, out, x, y: gated(g, y - x),
)
logaddexp.conj_vjps = (
    lambda g, out, x, y: gated(g, conj(x - y)),
    lambda g, out, x, y: gated(g, conj(y - x)),
)


def _of_both_sides(g: Any, x: Any, narrow: Callable[[Any, Any], Any]) -> Any:
    """g σ(x) σ(-x), as 1 - σ(x) is 0 where σ(x) rounds to 1; of half precision ``narrow`` has torch's digits."""
    return narrow(g, sigmoid(x)) if is_narrow(getattr(x, "dtype", None)) else gated(g * sigmoid(-x), x)


softplus: Op = _smooth(
    "softplus",
    kernels.softplus,
    lambda out, x: sigmoid(x),
    public=(),
    sympy=None,
    refuses="buic",
    fused=("SoftplusBackward", 0),
    single=single.softplus,
    digits=digits.softplus,
    loses="activation",
    rises=True,
    bounds=(0, math.inf),
    doc="log(1 + e^x) without overflow.",
)
softplus_slope: Op = slope_of(
    softplus,
    kernels.gated,
    lambda x: sigmoid(x) * sigmoid(-x),
    rule=lambda c, out, g, x: _of_both_sides(c * g, x, sigmoid_slope),
    single=single.softplus_slope,
    loses="activation",
)
log_cosh: Op = _smooth(
    "log_cosh",
    kernels.log_cosh,
    lambda out, x: tanh(x),
    public=(),
    sympy=None,
    define=lambda x: log(cosh(x)),
    expanded=True,
    refuses="buic",
    loses="activation",
    c="fabs({0}) + log1p(expm1(-2 * fabs({0})) / 2)",
    parity="even",
    bounds=(0, math.inf),
    doc="log cosh x without overflow.",
)
logsigmoid: Op = _smooth(
    "logsigmoid",
    kernels.logsigmoid,
    lambda out, x: sigmoid(-x),
    public=("logsigmoid",),
    node="LogSigmoid",
    decomposed=True,
    sympy=None,
    refuses="buic",
    fused=("LogSigmoidBackward", 0),
    single=single.logsigmoid,
    digits=lambda mp, x: -digits.softplus(mp, -x),
    loses="activation",
    c="-softplus(-{0})",
    rises=True,
    bounds=(-math.inf, 0),
    called=r"\log \sigma",
    doc="log of the logistic function.",
)


logsigmoid_slope: Op = slope_of(
    logsigmoid,
    kernels.logsigmoid_slope,
    lambda x: -sigmoid(x) * sigmoid(-x),
    rule=lambda c, out, g, x: -_of_both_sides(c * g, x, lambda g, s: g * (1 - s) * s),
    single=single.logsigmoid_slope,
    half=halves.logsigmoid_slope,
)
rsqrt.vjps = rsqrt.jvps = (lambda g, out, x: -(g / 2) * power(out, 3),)
exp2.vjps = exp2.jvps = (lambda g, out, x: g * out * log(exact(2)),)
sigmoid_slope: Op = slope_of(
    sigmoid,
    kernels.sigmoid_slope,
    lambda y: 1 - 2 * y,
    by_result=True,
    half=halves.sigmoid_slope,
    define=lambda g, y: g * (one(y) - y) * y,
)
one_less_square: Op = _elementwise(
    "one_less_square",
    lambda x: one(x) - x * x,
    lambda out, x: -2 * x,
    public=(),
    single=single.one_less_square,
    code=lambda x: f"1 - {closed(x)} * {closed(x)}",
    define=lambda x: 1 - x * x,
    expanded=True,
    c="1 - {0} * {0}",
    doc="1 - x²: the slope of tanh in its value, rounded once.",
)
tanh_slope: Op = slope_of(
    tanh,
    kernels.tanh_slope,
    lambda y: -2 * y,
    rule=lambda c, out, g, y: c * (-2 * y * g),
    by_result=True,
    single=single.tanh_slope,
)


floor: Op = _flat(
    "floor",
    np.floor,
    sympy="floor",
    kinks=(0,),
    rises=True,
    c="floor({0})",
    doc="Largest integer not above x; derivative 0.",
)
ceil: Op = _flat(
    "ceil",
    np.ceil,
    sympy="ceiling",
    kinks=(0,),
    rises=True,
    c="ceil({0})",
    doc="Smallest integer not below x; derivative 0.",
)
round_: Op = _flat(
    "round",
    kernels.nearest,
    public=("round",),
    digits=lambda mp, x: mp.nint(x),
    kinks=(0.5,),
    c="rint({0})",
    rises=True,
    doc="Nearest integer, halves to even; derivative 0.",
)
trunc: Op = _flat(
    "trunc",
    np.trunc,
    public=("trunc", "fix"),
    digits=digits.trunc,
    kinks=(1,),
    c="trunc({0})",
    rises=True,
    doc="Integer part; derivative 0.",
)
frac: Op = _elementwise(
    "frac",
    lambda x: x - np.trunc(x),
    1,
    code=lambda x: f"{x} - np.trunc({x})",
    refuses="buic",
    domain="off-integer",
    kinks=(1,),
    digits=lambda mp, x: x - digits.trunc(mp, x),
    c="{0} - trunc({0})",
    doc="Fractional part, with the sign of x.",
)

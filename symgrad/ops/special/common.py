"""Special functions: the error function and the gamma family, x log y, sinc."""

from __future__ import annotations

from typing import Any

from symgrad import kernels
from symgrad.op import Op, broadcast_shapes, family, of_reals, primitive, sampling
from symgrad.ops.calls.naming import within
from symgrad.ops.elementwise.arithmetic import in_dtype_of
from symgrad.ops.elementwise.smooth import exp, log, log1p, sqrt
from symgrad.ops.rules import smoothness
from symgrad.ops.rules.constants import PI
from symgrad.precision import digits, halves, single


def _special(name: str, kernel: Any, *partials: Any, **fields: Any) -> Op:
    return of_reals(name, kernel, *partials, **{"public": True, **fields})


def with_orders(name: str, kernel: Any, rules: tuple[Any, ...], **fields: Any) -> Op:
    """An entrywise function of several real arrays with whole orders as parameters, mostly orders of derivatives.

    ``rules`` serve both modes, since every entry depends on the entries beside it alone.
    """
    fields = {"dtypes": "float", "refuses": "c", "domain": "positive", "entrywise": True, **fields}
    return primitive(name, kernel, rules, jvp=rules, infer=lambda *shapes, **_: broadcast_shapes(*shapes), **fields)


def _past_pole(x: Any, y: Any, pole: int) -> Any:
    from symgrad.ops.elementwise.select import eq

    return eq(x, 0) & (y <= pole)


def _log_or_zero(x: Any, y: Any) -> Any:
    from symgrad.ops.elementwise.select import where

    if isinstance(y, (int, float)) and y > 0:
        return log(y)  # beside the number 0 it would be rounded to the default dtype
    return where(_past_pole(x, y, 0), 0, log(y))


def _log1p_or_zero(x: Any, y: Any) -> Any:
    from symgrad.ops.elementwise.select import where

    if isinstance(y, (int, float)) and y > -1:
        return log1p(y)  # see _log_or_zero
    return where(_past_pole(x, y, -1), 0, log1p(y))


def _of_factor(op: Op, kernel: Any, factor: Any, past: Any, **fields: Any) -> Op:
    """The op g ∂f/∂x of a function f = x log y in one step, as torch's: where g is 0 it is, whatever the logarithm.

    ``factor(x, y)`` is the logarithm, ``past(x, y)`` where x is 0 and y no further than its pole, where it counts as 0.
    """
    from symgrad.ops.elementwise.select import where

    def by_y(c: Any, out: Any, g: Any, x: Any, y: Any) -> Any:
        return op.vjps[1](where(past(x, y), 0, c), None, g, y)

    made = _special(
        f"{op.name}_slope",
        kernel,
        lambda out, g, x, y: factor(x, y),
        None,  # of x it is read only whether it is 0: a gradient of x alone requires no grad
        by_y,
        public=(),
        domain="positive",
        define=lambda g, x, y: g * factor(x, y),
        overflows=True,
        chooses=True,
        doc=f"A cotangent times the slope of {op.name} by its factor.",
        **fields,
    )
    made.vjps = made.jvps = (lambda c, out, g, x, y: made(where(past(g, y), 0, c), x, y), None, by_y)
    return made


erf: Op = _special(
    "erf",
    kernels.erf,
    lambda out, x: 2 / sqrt(PI) * exp(-(x**2)),
    half=halves.erf,
    sympy="erf",
    parity="odd",
    twins=("erfc",),
    c="erf({0})",
    rises=True,
    bounds=(-1, 1),
    called=r"\operatorname{erf}",
    doc="Error function.",
)
erfc: Op = _special(
    "erfc",
    kernels.erfc,
    lambda out, x: -2 / sqrt(PI) * exp(-(x**2)),
    sympy="erfc",
    overflows=True,
    twins=("erf",),
    c="erfc({0})",
    called=r"\operatorname{erfc}",
    doc="Complementary error function 1 - erf(x).",
)
lgamma: Op = _special(
    "lgamma",
    kernels.lgamma,
    lambda out, x: digamma(x),
    public=("lgamma", "gammaln"),
    sympy="loggamma",
    domain="positive",
    kinks=(0, -1),
    smooth=smoothness.off_poles,
    digits=lambda mp, x: mp.re(mp.loggamma(x)),
    c="lgamma({0})",
    called=r"\log \Gamma",
    doc="log|Γ(x)|.",
)
digamma: Op = _special(
    "digamma",
    kernels.digamma,
    lambda out, x: polygamma_op(x, n=1),
    public=("digamma", "psi"),
    sympy="digamma",
    kinks=(0, -1),
    smooth=smoothness.off_poles,
    decided="at -1, -2 …, π²/sin²(πx) of the nearest floats, a large number, as in torch",
    domain="positive",
    single=single.digamma,
    called=r"\psi",
    doc="Derivative of log Γ.",
)
polygamma_op: Op = family(
    "polygamma",
    kernels.polygamma,
    lambda x, n: polygamma_op(x, n=n + 1),
    refuses={"c": "polygamma"},
    domain="positive",
    single=single.polygamma,
    digits=digits.by_entry(lambda mp, x, n: mp.psi(n, x)),
    example=(2.0, {"n": 1}),
    samples=sampling.orders("positive", 1, 2, 0),
    doc="n-th derivative of the digamma function, x > 0.",
)
xlogy: Op = _special(
    "xlogy",
    kernels.xlogy,
    lambda out, x, y: _log_or_zero(x, y),
    lambda out, x, y: x / y,
    single=single.xlogy,
    half=halves.xlogy,
    domain="positive",
    kinks=((0, 0), (1, 0)),
    smooth=lambda asked, x, y: y > 0,
    decided="by x, it is 0 at (0, 0), as in torch",
    numbers="setting",
    node_by_numbers={(True, False): "XlogyBackward1", (False, True): "XlogyBackward2"},
    define=lambda x, y: x * log(y),
    expanded=False,
    overflows=True,
    chooses=True,
    c="xlogy({0}, {1})",
    samples=[
        sampling.many(("real", "n", "m"), ("positive", "n", "m")),
        sampling.many(("real", "n", "m"), ("positive", "m")),
    ],
    doc="x log y, and 0 where x is 0 and y a number.",
)
xlogy_slope: Op = _of_factor(
    xlogy,
    kernels.xlogy_slope,
    _log_or_zero,
    lambda x, y: _past_pole(x, y, 0),
    single=single.xlogy_slope,
    half=halves.xlogy_slope,
)
xlogy.vjps = xlogy.jvps = (
    lambda g, out, x, y: xlogy_slope(g, x, in_dtype_of(g, y)),
    lambda g, out, x, y: g * x / y,
)
xlog1py: Op = _special(
    "xlog1py",
    kernels.xlog1py,
    lambda out, x, y: _log1p_or_zero(x, y),
    lambda out, x, y: x / (1 + y),
    public=(),
    half=halves.xlog1py,
    domain="positive",
    kinks=((0, -1), (1, -1)),
    smooth=lambda asked, x, y: y > -1,
    decided="by x, it is 0 at (0, -1), as in torch",
    node="SpecialXlog1Py",
    numbers="setting",
    node_by_numbers={(True, False): "SpecialXlog1PyBackward1", (False, True): "SpecialXlog1PyBackward2"},
    define=lambda x, y: x * log1p(y),
    expanded=False,
    c="xlog1py({0}, {1})",
    samples=[
        sampling.many(("real", "n", "m"), ("positive", "n", "m")),
        sampling.many(("real", "n", "m"), ("positive", "m")),
    ],
    doc="x log(1 + y), and 0 where x is 0 and y a number.",
)
xlog1py_slope: Op = _of_factor(
    xlog1py,
    kernels.xlog1py_slope,
    _log1p_or_zero,
    lambda x, y: _past_pole(x, y, -1),
    half=halves.xlog1py_slope,
)
xlog1py.vjps = xlog1py.jvps = (
    lambda g, out, x, y: xlog1py_slope(g, x, in_dtype_of(g, y)),
    lambda g, out, x, y: g * x / (1 + y),
)
within("special")(xlog1py)
sinc: Op = _special(
    "sinc",
    kernels.sinc,
    lambda out, x: dsinc(x),
    refuses="",
    single=single.real(single.sinc, kernels.sinc),
    digits=lambda mp, x: mp.sincpi(x),
    c="sinc({0})",
    called=r"\operatorname{sinc}",
    parity="even",
    doc="sin(πx)/(πx), and 1 at 0.",
)
dsinc: Op = _special(
    "dsinc",
    kernels.dsinc,
    lambda out, x: _second_sinc(out, x),
    public=(),
    refuses="",
    single=single.real(single.dsinc, kernels.dsinc),
    half=halves.dsinc,
    digits=digits.dsinc,
    c="dsinc({0})",
    parity="odd",
    doc="Derivative of sinc; 0 at 0.",
)


def _times_dsinc(g: Any, out: Any, x: Any) -> Any:
    """g dsinc(x), and 0 at 0 also where g is infinite, as in torch."""
    from symgrad.ops.elementwise.select import excepted, isfinite, logical_or, ne

    return excepted(g * dsinc(x), logical_or(ne(x, 0), isfinite(g)))


sinc.vjps = (_times_dsinc,)


def _second_sinc(out: Any, x: Any) -> Any:
    """-π² sinc(x) - 2 dsinc(x)/x, and its limit -π²/3 at 0."""
    from symgrad.ops.elementwise.select import eq, where

    return where(eq(x, 0), -(PI**2) / 3, -(PI**2) * sinc(x) - 2 * out / x)

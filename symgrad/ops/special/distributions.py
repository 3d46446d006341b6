"""Distribution functions of statistics under SciPy's names, made of the incomplete gamma and beta functions."""

from __future__ import annotations

from typing import Any

from symgrad import kernels
from symgrad.op import Op, of_reals, sampling
from symgrad.ops.calls.naming import within
from symgrad.ops.elementwise.select import sign, where
from symgrad.ops.elementwise.smooth import atan2, exp, floor, log, log1p, sin, sqrt
from symgrad.ops.special.euler import betainc, betainc_slope, betaln
from symgrad.ops.special.gammas import gammainc, gammaincc

_special = within("special")


@_special
def betaincc(a: Any, b: Any, x: Any) -> Any:
    """The complement 1 - I_x(a, b) of the regularised incomplete beta function."""
    return betainc(b, a, 1 - x)


@_special
def chdtr(v: Any, x: Any) -> Any:
    """The distribution function of chi square with ``v`` degrees of freedom; differentiable by both."""
    return gammainc(v / 2, x / 2)


@_special
def chdtrc(v: Any, x: Any) -> Any:
    """The probability that chi square with ``v`` degrees of freedom exceeds ``x``."""
    return gammaincc(v / 2, x / 2)


@_special
def gdtr(a: Any, b: Any, x: Any) -> Any:
    """The distribution function of the gamma distribution of rate ``a`` and shape ``b``, as in SciPy."""
    return gammainc(b, a * x)


@_special
def gdtrc(a: Any, b: Any, x: Any) -> Any:
    """The complement of :func:`gdtr`."""
    return gammaincc(b, a * x)


def _student(df: Any, t: Any) -> Any:
    """I_z(df/2, df/2) at z = (1 + t/√(df + t²))/2, which is the square of a sine."""
    return betainc(df / 2, df / 2, sin(atan2(sqrt(df), -t) / 2) ** 2)


def _student_by_df(out: Any, df: Any, t: Any) -> Any:
    a, z = df / 2, sin(atan2(sqrt(df), -t) / 2) ** 2
    direct = (betainc_slope(a, a, z, m=1, n=0) + betainc_slope(a, a, z, m=0, n=1)) / 2
    # Near 0 these are one half less one half; the other integral has digits there, and is not smooth at 0.
    share = t**2 / (df + t**2)
    inside = sign(t) * betainc_slope(df / df / 2, a, share, m=0, n=1) / 4
    direct = where((t**2 > 0) & (t**2 < df), inside, direct)
    return direct - t / (2 * df) * _student_density(df, t)


def _student_density(df: Any, t: Any) -> Any:
    half = df / df / 2  # in the dtype of df, which a number beside an array would widen
    return exp(-(df + 1) / 2 * log1p(t**2 / df) - betaln(df / 2, half)) / sqrt(df)


stdtr: Op = of_reals(
    "stdtr",
    kernels.stdtr,
    _student_by_df,
    lambda out, df, t: _student_density(df, t),
    domain=("positive", "real"),
    define=_student,
    digits=lambda mp, df, t: (lambda tail: tail if t < 0 else 1 - tail)(
        mp.betainc(df / 2, 0.5, 0, df / (df + t * t), regularized=True) / 2
    ),
    samples=[sampling.many(("positive", 2), ("real", 2)), sampling.many(("positive",), ("real",))],
    doc="Student's distribution function with df degrees of freedom, to 30 last places in its left tail.",
)
_special(stdtr)


def _fisher_density(p: Any, q: Any, x: Any) -> Any:
    a, b, share = p / 2, q / 2, p * x / q
    rest = log1p(share)
    return exp((a - 1) * (log(share) - rest) - (b + 1) * rest - betaln(a, b)) * p / q


def _fisher(name: str, sign: int, define: Any, doc: str) -> Op:
    """The entry of F's distribution function, or of its complement with the ``sign`` -1."""

    def slope(p: Any, q: Any, x: Any, m: int, n: int) -> Any:
        direct = betainc_slope(p / 2, q / 2, p * x / (q + p * x), m=m, n=n) / 2
        along = x * _fisher_density(p, q, x)
        return sign * (direct + along / p if m else direct - along / q)

    return of_reals(
        name,
        getattr(kernels, name),
        lambda out, dfn, dfd, x: slope(dfn, dfd, x, 1, 0),
        lambda out, dfn, dfd, x: slope(dfn, dfd, x, 0, 1),
        lambda out, dfn, dfd, x: sign * _fisher_density(dfn, dfd, x),
        domain=("positive", "positive", "positive"),
        define=define,
        samples=[sampling.many(("positive", 2), ("positive", 2), ("positive", 2))],
        doc=doc,
    )


fdtr: Op = _fisher(
    "fdtr",
    1,
    lambda p, q, x: betainc(p / 2, q / 2, p * x / (q + p * x)),
    "The distribution function of F with dfn and dfd degrees of freedom, x >= 0.",
)
fdtrc: Op = _fisher(
    "fdtrc",
    -1,
    lambda p, q, x: betainc(q / 2, p / 2, q / (q + p * x)),
    "The complement of fdtr, with its digits where that is next to 1.",
)
_special(fdtr)
_special(fdtrc)


@_special
def bdtr(k: Any, n: Any, p: Any) -> Any:
    """The distribution function of the binomial distribution: at most ``k`` of ``n``, k < n."""
    return betainc(n - floor(k), floor(k) + 1, 1 - p)


@_special
def bdtrc(k: Any, n: Any, p: Any) -> Any:
    """The probability of more than ``k`` of ``n``, 0 <= k < n."""
    return betainc(floor(k) + 1, n - floor(k), p)


@_special
def nbdtr(k: Any, n: Any, p: Any) -> Any:
    """Negative binomial distribution function: at most ``k`` failures before ``n`` successes."""
    return betainc(n, floor(k) + 1, p)


@_special
def pdtr(k: Any, m: Any) -> Any:
    """The distribution function of Poisson's distribution of mean ``m`` at ``k`` >= 0."""
    return gammaincc(floor(k) + 1, m)


@_special
def pdtrc(k: Any, m: Any) -> Any:
    """The complement of :func:`pdtr`."""
    return gammainc(floor(k) + 1, m)

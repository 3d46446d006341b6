"""Functions of entries in mpmath's numbers, and how a function of entries becomes one of arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = [
    "by_entry", "dawson_slope", "div", "div_floor", "div_trunc", "dsinc", "erfcx_slope", "erfinv", "larger", "log",
    "ndtr", "power", "sign", "smaller", "softplus", "trunc", "wofz", "wofz_slope",
]  # fmt: skip

Numbers = Callable[..., Any]
"""A function ``(mp, *numbers, **params)``."""


def by_entry(f: Numbers) -> Numbers:
    """``f`` on the entries of arrays; for real numbers nan where it has no real value, as ops of real dtypes."""

    def call(mp: Any, *arrays: Any, **params: Any) -> Any:
        def entry(*x: Any) -> Any:
            if any(isinstance(v, mp.mpc) for v in x):
                return f(mp, *x, **params)
            try:
                y = f(mp, *x, **params)
            except (ValueError, ZeroDivisionError):
                return mp.nan
            return (y.real if not y.imag else mp.nan) if isinstance(y, mp.mpc) else y

        out = np.frompyfunc(entry, len(arrays), 1)(*(np.asarray(a, object) for a in arrays))
        first = next(iter(np.asarray(out, object).flat), None)
        return np.asarray(out, bool) if isinstance(first, bool) else np.asarray(out, object)

    return call


def div(mp: Any, x: Any, y: Any) -> Any:
    """x / y, infinite or nan where y is 0."""
    if y != 0:
        return mp.mpf(1) * x / y
    return mp.nan if x == 0 or isinstance(x, mp.mpc) or x != x else mp.inf * mp.sign(x)


def power(mp: Any, x: Any, y: Any) -> Any:
    """x ** y, also for x = 0."""
    if x == 0 and not isinstance(y, mp.mpc):
        return mp.mpf(1) if y == 0 else mp.inf if y < 0 else mp.mpf(0) if y > 0 else mp.nan
    return mp.power(x, y)


def log(mp: Any, x: Any) -> Any:
    """log x, and -inf at 0."""
    return -mp.inf if x == 0 else mp.log(x)


def sign(mp: Any, x: Any) -> Any:
    """The sign or phase; nan stays nan."""
    return x if x != x or x == 0 else mp.sign(x)


def trunc(mp: Any, x: Any) -> Any:
    """x without its fraction."""
    return mp.floor(x) if x >= 0 else mp.ceil(x)


def div_floor(mp: Any, x: Any, y: Any) -> Any:
    """x / y rounded down."""
    return mp.floor(mp.mpf(1) * x / y)


def div_trunc(mp: Any, x: Any, y: Any) -> Any:
    """x / y rounded towards 0."""
    return trunc(mp, mp.mpf(1) * x / y)


def softplus(mp: Any, x: Any) -> Any:
    """log(1 + e^x)."""
    return mp.log1p(mp.exp(x))


def ndtr(mp: Any, x: Any) -> Any:
    """The normal distribution function."""
    return mp.erfc(-x / mp.sqrt(2)) / 2


def dsinc(mp: Any, x: Any) -> Any:
    """The derivative of sinc."""
    return mp.mpf(0) if x == 0 else (mp.cospi(x) - mp.sincpi(x)) / x


def erfinv(mp: Any, x: Any) -> Any:
    """The inverse of erf, infinite at -1 and 1."""
    return mp.inf * x if abs(x) == 1 else mp.erfinv(x)


def larger(mp: Any, x: Any, y: Any) -> Any:
    """The larger one; nan of either."""
    return x if x != x or x >= y else y


def smaller(mp: Any, x: Any, y: Any) -> Any:
    """The smaller one; nan of either."""
    return x if x != x or x <= y else y


def wofz(mp: Any, z: Any) -> Any:
    """e^(-z²) erfc(-iz), in as many digits as cancel below the real line."""
    with mp.workprec(2 * mp.prec + 20):
        out = mp.exp(-z * z) * mp.erfc(-1j * z)
    return +mp.mpc(out)


def wofz_slope(mp: Any, z: Any, n: int) -> Any:
    """The n-th derivative of w by those below it, in as many digits as cancel far out."""
    with mp.workprec(2 * mp.prec + 20 + 2 * (n + 1) * max(0, int(mp.mag(z)) if z else 0)):
        before = wofz(mp, z)
        out = 2j / mp.sqrt(mp.pi) - 2 * z * before
        for k in range(1, n):
            before, out = out, -2 * (z * out + k * before)
    return +mp.mpc(out)


def _by_recurrence(mp: Any, x: Any, n: int, function: Any, slope: Any, sign: int) -> Any:
    """The n-th derivative by those below it, f'' = sign·(2x f' + 2n f), in as many digits as cancel far out."""
    with mp.workprec(mp.prec + 20 + 2 * (n + 1) * max(0, int(mp.mag(x)) if x else 0)):
        before = function(mp, x)
        out = slope(mp, x, before)
        for k in range(1, n):
            before, out = out, sign * (2 * x * out + 2 * k * before)
    return +out


def erfcx_slope(mp: Any, x: Any, n: int) -> Any:
    """The n-th derivative of e^(x²) erfc(x)."""
    return _by_recurrence(
        mp,
        x,
        n,
        lambda mp, x: mp.exp(x * x) * mp.erfc(x),
        lambda mp, x, value: 2 * x * value - 2 / mp.sqrt(mp.pi),
        1,
    )


def dawson_slope(mp: Any, x: Any, n: int) -> Any:
    """The n-th derivative of Dawson's integral."""
    return _by_recurrence(
        mp,
        x,
        n,
        lambda mp, x: mp.sqrt(mp.pi) / 2 * mp.exp(-x * x) * mp.erfi(x),
        lambda mp, x, value: 1 - 2 * x * value,
        -1,
    )

"""Entrywise functions in mpmath's numbers, by the op they belong to.

A function has its real values for real arguments, as the op: what would be complex is nan.  Ops that are defined by
others, and those that only move entries, are not here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Entry = Callable[..., Any]


class Functions:
    """The functions whose meaning takes more than a name, in the arithmetic of a context of mpmath."""

    def __init__(self, mp: Any):
        self.mp = mp
        self.one = mp.mpf(1)

    def real(self, f: Entry) -> Entry:
        """``f``, with nan for what real numbers do not have."""
        mp = self.mp

        def call(*x: Any, **params: Any) -> Any:
            if any(isinstance(v, mp.mpc) for v in x):
                return f(*x, **params)
            try:
                y = f(*x, **params)
            except (ValueError, ZeroDivisionError):
                return mp.nan
            return (y.real if not y.imag else mp.nan) if isinstance(y, mp.mpc) else y

        return call

    def div(self, x: Any, y: Any) -> Any:
        """x / y, infinite or nan where y is 0."""
        if y != 0:
            return x * self.one / y
        return self.mp.nan if x == 0 or isinstance(x, self.mp.mpc) or x != x else self.mp.inf * self.mp.sign(x)

    def power(self, x: Any, y: Any) -> Any:
        """x ** y, also for x = 0."""
        if x == 0 and not isinstance(y, self.mp.mpc):
            return self.one if y == 0 else self.mp.inf if y < 0 else self.one * 0 if y > 0 else self.mp.nan
        return self.mp.power(x, y)

    def log(self, x: Any) -> Any:
        """log x, and -inf at 0."""
        return -self.mp.inf if x == 0 else self.mp.log(x)

    def sign(self, x: Any) -> Any:
        """The sign or phase; nan stays nan."""
        return x if x != x or x == 0 else self.mp.sign(x)

    def trunc(self, x: Any) -> Any:
        """x without its fraction."""
        return self.mp.floor(x) if x >= 0 else self.mp.ceil(x)

    def softplus(self, x: Any) -> Any:
        """log(1 + e^x)."""
        return self.mp.log1p(self.mp.exp(x))

    def ndtr(self, x: Any) -> Any:
        """The normal distribution function."""
        return self.mp.erfc(-x / self.mp.sqrt(2)) / 2

    def dsinc(self, x: Any) -> Any:
        """The derivative of sinc."""
        return self.one * 0 if x == 0 else (self.mp.cospi(x) - self.mp.sincpi(x)) / x

    def erfinv(self, x: Any) -> Any:
        """The inverse of erf, infinite at -1 and 1."""
        return self.mp.inf * x if abs(x) == 1 else self.mp.erfinv(x)


def larger(x: Any, y: Any) -> Any:
    """The larger one; nan of the first."""
    return x if x != x or x >= y else y


def smaller(x: Any, y: Any) -> Any:
    """The smaller one; nan of the first."""
    return x if x != x or x <= y else y


def truth(f: Entry) -> Entry:
    """``f`` with a truth value as result."""
    return lambda *x: bool(f(*x))


def entries(mp: Any) -> dict[str, Entry]:
    """The functions of the entries ``(*arguments, **params)``, in the arithmetic of a context of mpmath."""
    own = Functions(mp)
    real, trunc, inf, nan, one = own.real, own.trunc, mp.inf, mp.nan, own.one
    functions: dict[str, Entry] = {
        **{name: real(getattr(mp, name)) for name in (
            "exp", "sqrt", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh",
            "atanh", "atan2", "floor", "ceil", "erf", "erfc", "digamma", "lambertw", "zeta", "cbrt", "expm1",
        )},
        "add": lambda x, y: x + y,
        "sub": lambda x, y: x - y,
        "mul": lambda x, y: x * y,
        "neg": lambda x: -x,
        "div": own.div,
        "pow": real(own.power),
        "log": real(own.log),
        "log1p": real(lambda x: -inf if x == -1 else mp.log1p(x)),
        "ratio": lambda x, y: one * 0 if y == 0 else x * one / y,
        "floor_divide": real(lambda x, y: mp.floor(x * one / y)),
        "div_floor": real(lambda x, y: mp.floor(x * one / y)),
        "div_trunc": real(lambda x, y: trunc(x * one / y)),
        "remainder": real(lambda x, y: x - y * mp.floor(x * one / y)),
        "fmod": real(lambda x, y: x - y * trunc(x * one / y)),
        "round": mp.nint,
        "trunc": trunc,
        "frac": lambda x: x - trunc(x),
        "abs": abs,
        "sign": own.sign,
        "sgn": own.sign,
        "real": mp.re,
        "imag": mp.im,
        "conj": mp.conj,
        "angle": mp.arg,
        "complex": lambda x, y: mp.mpc(x, y),
        "maximum": larger,
        "minimum": smaller,
        "clamp_min": larger,
        "clamp_max": smaller,
        "clamp": lambda x, lo, hi: smaller(larger(x, lo), hi),
        "fmax": lambda x, y: y if x != x else x if y != y else larger(x, y),
        "fmin": lambda x, y: y if x != x else x if y != y else smaller(x, y),
        "relu": lambda x: larger(x, one * 0),
        "step": lambda x, y: one * 0 if x < y else one / 2 if x == y else one,
        "heaviside": lambda x, y: one * 0 if x < 0 else one * y if x == 0 else one,
        "copysign": lambda x, y: -abs(x) if y < 0 else abs(x),
        "sigmoid": lambda x: 1 / (1 + mp.exp(-x)),
        "softplus": own.softplus,
        "logsigmoid": lambda x: -own.softplus(-x),
        "logaddexp2": lambda x, y: mp.log(mp.power(2, x) + mp.power(2, y), 2),
        "sinc": mp.sincpi,
        "dsinc": own.dsinc,
        "erfinv": own.erfinv,
        "ndtr": own.ndtr,
        "log_ndtr": lambda x: mp.log(own.ndtr(x)),
        "ndtri": real(lambda p: mp.sqrt(2) * own.erfinv(2 * p - 1)),
        "lgamma": real(lambda x: mp.re(mp.loggamma(x))),
        "polygamma": lambda x, n: mp.psi(n, x),
        "gammainc": real(lambda a, x: mp.gammainc(a, 0, x, regularized=True)),
        "gammaincc": real(lambda a, x: mp.gammainc(a, x, inf, regularized=True)),
        "bessel_j": lambda x, n: mp.besselj(n, x),
        "bessel_y": real(lambda x, n: mp.bessely(n, x)),
        "bessel_i": lambda x, n: mp.besseli(n, x),
        "bessel_k": lambda x, n: mp.besselk(n, x),
        "bessel_ke": lambda x, n: mp.exp(x) * mp.besselk(n, x),
        "chebyshev_polynomial_t": lambda x, n: mp.chebyt(n, x),
        "gegenbauer_polynomial": lambda x, n, a: mp.gegenbauer(n, a, x) if n >= 0 else one * 0,
        "laguerre_polynomial": lambda x, n, a: mp.laguerre(n, a, x) if n >= 0 else one * 0,
        "hermite_polynomial_h": lambda x, n: mp.hermite(n, x) if n >= 0 else one * 0,
        "hermite_polynomial_he": lambda x, n: (
            mp.power(2, -mp.mpf(n) / 2) * mp.hermite(n, x / mp.sqrt(2)) if n >= 0 else one * 0
        ),
        "mantissa": lambda x: mp.frexp(x)[0],
        "detach": lambda x: x,
        "clone": lambda x: x,
        "guard": lambda x, keep: x if keep else one * 0,
        "defined": lambda x, keep: x if keep else nan,
    }  # fmt: skip
    predicates: dict[str, Entry] = {
        "gt": lambda x, y: x > y,
        "ge": lambda x, y: x >= y,
        "lt": lambda x, y: x < y,
        "le": lambda x, y: x <= y,
        "eq": lambda x, y: x == y,
        "ne": lambda x, y: x != y,
        "tied": lambda x, y: x == y or (x != x and y != y),
        "logical_and": lambda x, y: x and y,
        "logical_or": lambda x, y: x or y,
        "logical_xor": lambda x, y: bool(x) != bool(y),
        "logical_not": lambda x: not x,
        "isnan": mp.isnan,
        "isinf": mp.isinf,
        "isfinite": mp.isfinite,
        "isreal": lambda x: mp.im(x) == 0,
        "isposinf": lambda x: x == inf,
        "isneginf": lambda x: x == -inf,
        "signbit": lambda x: x < 0,
        "nonsingular": lambda x: x != 0,
    }
    return {**functions, **{name: truth(f) for name, f in predicates.items()}}

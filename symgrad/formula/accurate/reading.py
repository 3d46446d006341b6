"""From scalar terms to ratios of polynomials in their generators."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from symgrad.formula.canonical.scalars.polynomials import Polynomial, TooLong, monomial
from symgrad.formula.canonical.scalars.ratios import RING, Field, Ratio
from symgrad.formula.term import NUMBER, Term, postorder

FUNCTIONS = frozenset({"log", "sin", "cos", "atan", "acos", "acosh"})
"""Functions of one argument that stay what they are."""


LARGEST = 400
"""Higher powers are not read: those of a sum that months of interest are may be."""


def has_halves(power: Term) -> bool:
    """Whether the exponent of a power is a whole or half number; any other power is read as a variable."""
    exponent = power.args[1].number
    if isinstance(exponent, (bool, complex, str, type(None))) or not math.isfinite(exponent):
        return False
    return Fraction(exponent).denominator <= 2


class Unreadable(Exception):
    """A term that is no formula of this kind."""


LONG = 2**24
"""Numbers of more digits than this, such as the fraction that 0.7 stands for, are constants that have a name: powers of
such fractions would outgrow the floats."""


class Reader:
    """Reads the terms of one formula; ``field`` holds the generators.

    ``expands``: whether exponents in one variable are multiplied out; ``expanded``: whether there was one.
    """

    def __init__(self, expands: bool = True) -> None:
        self.field = Field()
        self.expands = expands
        self.expanded = False
        self._read: dict[Term, Ratio] = {}

    def __call__(self, root: Term) -> Ratio:
        """The ratio that a scalar term is.  Raises ``Unreadable``, ``TooLong`` or ``ZeroDivisionError``."""
        for term in postorder([root], self._read):
            self._read[term] = self._one(term)
        return self._read[root]

    def _one(self, term: Term) -> Ratio:
        if term.op is NUMBER:
            return self._number(term.number, term)
        if term.op.name == "symbol":
            return self.field.single(self.field.generator("variable", term=term))
        args = [self._read[a] for a in term.args]
        if term.op.name in RING:
            return RING[term.op.name](self.field, args)
        if term.op.name in _RULES:
            return _RULES[term.op.name](self, term, args)
        if term.op.name in FUNCTIONS:
            return self.function(term.op.name, args[0])
        if term.op.define is not None:
            meant = term.op.define(*term.args, **term.params)
            return Reader.__call__(self, meant)
        raise Unreadable(term.op.name)

    def _number(self, value: Any, term: Term) -> Ratio:
        if isinstance(value, str):
            return self.field.single(self.field.generator("constant", term=term))
        if isinstance(value, (bool, complex)) or not math.isfinite(value):
            raise Unreadable(repr(value))
        exact = Fraction(value)
        if max(abs(exact.numerator), exact.denominator) > LONG:
            return self.field.single(self.field.generator("constant", term=term))
        return Ratio(exact)

    def function(self, name: str, inner: Ratio) -> Ratio:
        """A function of a ratio as a generator; odd and even ones of a positive multiple."""
        if name == "log" and not inner.number:
            raise ZeroDivisionError
        if name in ("sin", "cos", "atan") and inner.number < 0:
            made = self.function(name, self.field.negative(inner))
            return made if name == "cos" else self.field.negative(made)
        if name == "log" and inner.number == 1 and not inner.factors:
            if not inner.monomial:
                return Ratio(Fraction(0))
            if all(self.field.generators[g].kind == "exp" for g, _ in inner.monomial):
                return self.field.ratio({self.field.generators[g].inner: p for g, p in inner.monomial})
            ((g, p), *others) = inner.monomial
            if self.field.generators[g].kind == "sqrt" and not others:  # log √u is half of log u
                under = self.function("log", self.field.ratio(self.field.generators[g].inner))
                return self.field.times(Ratio(p / 2), under)
        return self.field.single(self.field.generator(name, inner))

    def exp(self, inner: Ratio, times: Fraction = Fraction(1)) -> Ratio:
        """e^(times · inner): a product of exponentials of monomials.

        Powers and products of sums stay together: (x - y)² has digits that x² - 2xy + y² loses.  Those of one variable
        are multiplied out if the reader does so.
        """
        single = not inner.factors or (list(inner.factors.values()) == [1] and not inner.monomial)
        if not single and self.expands and len(self.field.variables(inner)) == 1:
            single = self.expanded = True
        poly = inner.polynomial if single else None
        if poly is None:
            poly = {
                (
                    (self.field.generator("ratio", Ratio(Fraction(1), inner.monomial, inner.factors)), Fraction(1)),
                ): inner.number
            }
        found = Ratio(Fraction(1))
        for m, c in poly.items():
            found = self.field.times(found, self.field.single(self.field.generator("exp", m), c * times))
        return found

    def sqrt(self, inner: Ratio) -> Ratio:
        """√inner as a generator."""
        if not inner.number:
            return inner
        size = self._size(inner)
        if size is not None:
            return size
        poly = inner.polynomial
        below = {} if poly is None else self._below(poly)
        if poly is not None and below:  # √(1 + e^-2x) is e^-x √(e^2x + 1), and √(1 + x²/d²) is √(d² + x²)/|d|
            more = [(g, -p) for g, p in below.items()]
            bare = self.sqrt(self.field.ratio({monomial((*m, *more)): c for m, c in poly.items()}))
            return self.field.times(Ratio(Fraction(1), monomial([self._root_of(g, p) for g, p in below.items()])), bare)
        if poly is None or any(p < 0 for m in poly for _, p in m):
            return self.function("sqrt_of", inner)
        return self.field.single(self.field.generator("sqrt", poly))

    def _below(self, poly: Polynomial) -> dict[int, Fraction]:
        """The negative powers that all terms can be multiplied free of: those of variables are even."""
        found: dict[int, Fraction] = {}
        for m in poly:
            for g, p in m:
                kind = self.field.generators[g].kind
                if p < 0 and (kind == "exp" or (kind == "variable" and p.denominator == 1)):
                    found[g] = min(found.get(g, p), p if kind == "exp" else p - p % 2)
        return found

    def _root_of(self, g: int, p: Fraction) -> tuple[int, Fraction]:
        """The root of a power that :meth:`_below` found, as a generator and its power."""
        if self.field.generators[g].kind == "exp":
            return g, p / 2
        return self.field.generator("abs", g), p / 2

    def _size(self, inner: Ratio) -> Ratio | None:
        """c·|x| of c²·x²."""
        if inner.factors or inner.number <= 0 or len(inner.monomial) != 1:
            return None
        ((g, p),) = inner.monomial
        root = Fraction(math.isqrt(inner.number.numerator), math.isqrt(inner.number.denominator))
        if p != 2 or root**2 != inner.number or self.field.generators[g].kind != "variable":
            return None
        return self.field.times(Ratio(root), self.abs(self.field.single(g)))

    def abs(self, inner: Ratio) -> Ratio:
        """|inner|, for a multiple of a variable."""
        if inner.factors or len(inner.monomial) != 1 or inner.monomial[0][1] != 1:
            raise Unreadable("abs")
        g = inner.monomial[0][0]
        if self.field.generators[g].kind != "variable":
            raise Unreadable("abs")
        return self.field.times(Ratio(abs(inner.number)), self.field.single(self.field.generator("abs", g)))

    def power(self, term: Term, base: Ratio) -> Ratio:
        """A power with a whole or half exponent."""
        if not has_halves(term):
            raise Unreadable("pow")
        exponent = Fraction(term.args[1].number)
        if abs(exponent) > LARGEST:
            raise Unreadable("pow")
        if exponent.denominator == 1:
            return self.field.power(base, int(exponent))
        return self.field.power(self.sqrt(base), int(2 * exponent))

    def logistic(self, u: Ratio, times: int = 1) -> Ratio:
        """1/(1 + e^(-times · u))."""
        below = self.field.plus([Ratio(Fraction(1)), self.exp(u, Fraction(-times))])
        return self.field.power(below, -1)

    def waves(self, u: Ratio, sign: int) -> Ratio:
        """e^u ± e^-u."""
        return self.field.plus([self.exp(u), self.field.times(Ratio(Fraction(sign)), self.exp(u, Fraction(-1)))])

    def softplus(self, u: Ratio) -> Ratio:
        """log(1 + e^u)."""
        return self.function("log", self.field.plus([Ratio(Fraction(1)), self.exp(u)]))


def _sign(r: Reader, _: Term, a: list[Ratio]) -> Ratio:
    if not a[0].number:
        return a[0]
    if a[0].number < 0:
        return r.field.negative(_sign(r, _, [r.field.negative(a[0])]))
    return r.field.quotient(r.abs(a[0]), Ratio(abs(a[0].number), a[0].monomial))


_ONE = Ratio(Fraction(1))
_HALF = Ratio(Fraction(1, 2))
Rule = Callable[[Reader, Term, list[Ratio]], Ratio]
_RULES: dict[str, Rule] = {
    "pow": lambda r, t, a: r.power(t, a[0]),
    "sqrt": lambda r, t, a: r.sqrt(a[0]),
    "rsqrt": lambda r, t, a: r.field.quotient(_ONE, r.sqrt(a[0])),
    "abs": lambda r, t, a: r.abs(a[0]),
    "sign": _sign,
    "exp": lambda r, t, a: r.exp(a[0]),
    "expm1": lambda r, t, a: r.field.plus([r.exp(a[0]), Ratio(Fraction(-1))]),
    "log1p": lambda r, t, a: r.function("log", r.field.plus([_ONE, a[0]])),
    "sigmoid": lambda r, t, a: r.logistic(a[0]),
    "tanh": lambda r, t, a: _tanh(r, a[0]),
    "tan": lambda r, t, a: r.field.quotient(r.function("sin", a[0]), r.function("cos", a[0])),
    "sinh": lambda r, t, a: r.field.times(_HALF, r.waves(a[0], -1)),
    "cosh": lambda r, t, a: r.field.times(_HALF, r.waves(a[0], 1)),
    "softplus": lambda r, t, a: r.softplus(a[0]),
    "logsigmoid": lambda r, t, a: r.field.negative(r.softplus(r.field.negative(a[0]))),
    "logaddexp": lambda r, t, a: r.function("log", r.field.plus([r.exp(a[0]), r.exp(a[1])])),
    "hypot": lambda r, t, a: r.sqrt(r.field.plus([r.field.power(x, 2) for x in a])),
}
SLOPES = {"gated", "softplus_slope", "sigmoid_slope", "tanh_slope", "one_less_square", "logsigmoid_slope"}
DEFINED = SLOPES | {"by_divisor", "squared_error", "log2", "log10", "log_cosh"}
"""Ops that are read as what they are made of."""
READABLE = RING.keys() | _RULES.keys() | FUNCTIONS | DEFINED


def _tanh(r: Reader, u: Ratio) -> Ratio:
    """tanh of softplus is a ratio of polynomials in e^u; any other one is, too."""
    e = _exponential(r, u)
    if e is None:
        up, down = r.exp(u, Fraction(2)), _ONE
    else:
        up, down = r.field.power(e, 2), _ONE
    return r.field.quotient(r.field.plus([up, r.field.negative(down)]), r.field.plus([up, down]))


def _exponential(r: Reader, u: Ratio) -> Ratio | None:
    """e^u where u is a logarithm."""
    if u.number == 1 and not u.factors and len(u.monomial) == 1 and u.monomial[0][1] == 1:
        made = r.field.generators[u.monomial[0][0]]
        if made.kind == "log":
            return made.inner  # type: ignore[no-any-return]
    return None


__all__ = ["READABLE", "Polynomial", "Reader", "TooLong", "Unreadable"]

"""Power series at 0 with exact coefficients, for formulas whose terms cancel there.

``(1 - cos x)/x²`` or the derivative of ``(e^x - 1)/x`` lose their digits near 0, where their series has few terms.
Coefficients are fractions; what has others is left alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate
from operator import mul
from typing import Any

from symgrad.formula.accurate.ratios import Field, Ratio
from symgrad.formula.canonical.scalars.polynomials import Monomial
from symgrad.formula.term import number

FIRST, TERMS = 8, 64
"""Coefficients that are computed to see whether anything cancels, and where it does."""
LONGEST = 56
"""Coefficients that are written."""
RADII = [Fraction(k, 8) for k in (16, 12, 8, 6, 4, 3, 2, 1)] + [Fraction(1, 16), Fraction(1, 64)]


class NoSeries(Exception):
    """A function that has no power series with rational coefficients here."""


class Series:
    """x^least · (c0 + c1·x + …), where c0 is not 0; all coefficients are 0 in the zero series."""

    __slots__ = ("coefs", "least")

    def __init__(self, least: int, coefs: Sequence[Fraction]):
        shift = next((k for k, c in enumerate(coefs) if c), len(coefs))
        self.coefs = list(coefs[shift:])
        self.least = least + shift

    def plus(self, other: Series) -> Series:
        """The sum, as far as both are known."""
        least = min(self.least, other.least)
        end = min(self.least + len(self.coefs), other.least + len(other.coefs))
        rows = [[Fraction(0)] * (s.least - least) + s.coefs for s in (self, other)]
        return Series(least, [a + b for a, b in zip(*(row[: max(end - least, 0)] for row in rows), strict=True)])

    def times(self, other: Series) -> Series:
        """The product."""
        (a, below_a), (b, below_b) = _whole(self.coefs), _whole(other.coefs)
        found = [sum(map(mul, a[: k + 1], b[k::-1])) for k in range(min(len(a), len(b)))]
        return Series(self.least + other.least, [Fraction(c, below_a * below_b) for c in found])

    def power(self, n: int) -> Series:
        """A whole power."""
        if n < 0:
            return self._inverse().power(-n)
        found, square = constant(Fraction(1), len(self.coefs)), self
        while n:
            found = found.times(square) if n % 2 else found
            n //= 2
            square = square.times(square) if n else square
        return found

    def _inverse(self) -> Series:
        if not self.coefs:
            raise NoSeries
        a = self.coefs
        found = [1 / a[0]]
        for _ in a[1:]:
            found.append(-_dot(a[1:], found) / a[0])
        return Series(-self.least, found)

    def padded(self) -> list[Fraction]:
        """Coefficients of x⁰, x¹ …; for series without negative powers."""
        if self.least < 0:
            raise NoSeries
        return ([Fraction(0)] * self.least + self.coefs)[: len(self.coefs)]

    def slope(self) -> Series:
        """The derivative."""
        return Series(self.least - 1, [c * (self.least + k) for k, c in enumerate(self.coefs)])

    def integral(self, start: int) -> Series:
        """The integral from 0, plus a number."""
        if self.least < 0:
            raise NoSeries
        return Series(0, [Fraction(start)] + [c / (k + 1) for k, c in enumerate(self.padded())])


def _whole(coefs: Sequence[Fraction]) -> tuple[list[int], int]:
    """The coefficients as whole numbers over one denominator: their sums and products need no reduction."""
    below = math.lcm(*(c.denominator for c in coefs))
    return [c.numerator * (below // c.denominator) for c in coefs], below


def _dot(a: Sequence[Fraction], b: Sequence[Fraction]) -> Fraction:
    """a[0]·b[-1] + a[1]·b[-2] + …, as far as both go."""
    rows = zip(a, reversed(b), strict=False)
    parts = [(x.numerator * y.numerator, x.denominator * y.denominator) for x, y in rows if x and y]
    below = math.lcm(*(d for _, d in parts))
    return Fraction(sum(n * (below // d) for n, d in parts), below)


def constant(value: Fraction, terms: int) -> Series:
    """A number."""
    return Series(0, [value] + [Fraction(0)] * (terms - 1))


def exponential(u: Series) -> Series:
    """e^u where u(0) = 0: y' = u' y."""
    if u.least < 1:
        raise NoSeries
    slope = [(k + 1) * c for k, c in enumerate(u.padded()[1:])]
    y = [Fraction(1)]
    for k in range(len(slope)):
        y.append(_dot(slope, y) / (k + 1))
    return Series(0, y)


def _waves(u: Series) -> tuple[Series, Series]:
    """sin u and cos u where u(0) = 0."""
    if u.least < 1:
        raise NoSeries
    slope = [(k + 1) * c for k, c in enumerate(u.padded()[1:])]
    sin, cos = [Fraction(0)], [Fraction(1)]
    for k in range(len(slope)):
        s, c = _dot(slope, cos) / (k + 1), -_dot(slope, sin) / (k + 1)
        sin.append(s)
        cos.append(c)
    return Series(0, sin), Series(0, cos)


def _root(u: Series) -> Series:
    """√u where u(0) is the square of a fraction."""
    if u.least or not u.coefs or u.coefs[0] < 0:
        raise NoSeries
    first = u.coefs[0]
    start = Fraction(math.isqrt(first.numerator), math.isqrt(first.denominator))
    if start**2 != first:
        raise NoSeries
    y = [start]
    for k in range(1, len(u.coefs)):
        y.append((u.coefs[k] - _dot(y[1:], y[1:])) / (2 * start))
    return Series(0, y)


def _log(u: Series) -> Series:
    if u.least or u.coefs[:1] != [1]:
        raise NoSeries
    return u.slope().times(u.power(-1)).integral(0)


def _atan(u: Series) -> Series:
    if u.least < 1:
        raise NoSeries
    return u.slope().times(constant(Fraction(1), len(u.coefs)).plus(u.times(u)).power(-1)).integral(0)


class _Expansion:
    """Series of the generators of a field, in the one variable there is."""

    def __init__(self, field: Field, terms: int):
        self.field = field
        self.terms = terms
        self.known: dict[int, Series] = {}

    def generator(self, g: int) -> Series:
        if g not in self.known:
            self.known[g] = self._of(g)
        return self.known[g]

    def _of(self, g: int) -> Series:
        made = self.field.generators[g]
        if made.kind == "variable":
            return Series(1, constant(Fraction(1), self.terms).coefs)
        if made.kind == "exp":
            return exponential(self.monomial(made.inner))
        if made.kind == "sqrt":
            rows = [self.monomial(m).times(constant(c, self.terms)) for m, c in made.inner.items()]
            return _root(_total(rows))
        if made.kind == "sum":
            return _total([self.ratio(part) for part in made.inner])
        if made.kind in ("sin", "cos"):
            return _waves(self.ratio(made.inner))[made.kind == "cos"]
        if made.kind in _FUNCTIONS:
            return _FUNCTIONS[made.kind](self.ratio(made.inner))
        raise NoSeries

    def monomial(self, m: Monomial) -> Series:
        found = constant(Fraction(1), self.terms)
        for g, p in m:
            series = self.generator(g)
            if p.denominator != 1:
                if self.field.generators[g].kind != "exp":
                    raise NoSeries
                inner = self.monomial(self.field.generators[g].inner)
                found = found.times(exponential(inner.times(constant(p, self.terms))))
            else:
                found = found.times(series.power(int(p)))
        return found

    def ratio(self, a: Ratio) -> Series:
        return self.looked_at(a)[0]

    def looked_at(self, a: Ratio) -> tuple[Series, bool]:
        """The series, and whether leading terms cancel in one of the sums."""
        found, cancels = self.monomial(a.monomial).times(constant(a.number, self.terms)), False
        for g, _ in a.monomial:
            if self.field.generators[g].kind == "sum":
                least = min(self.ratio(part).least for part in self.field.generators[g].inner)
                cancels = cancels or self.generator(g).least > least
        for key, n in a.factors.items():
            rows = [self.monomial(m).times(constant(c, self.terms)) for m, c in key]
            total = _total(rows)
            cancels = cancels or total.least > min(row.least for row in rows)
            found = found.times(total.power(n))
        return found, cancels


_FUNCTIONS = {"log": _log, "atan": _atan, "sqrt_of": _root}


def _total(rows: Sequence[Series]) -> Series:
    found = rows[0]
    for row in rows[1:]:
        found = found.plus(row)
    return found


class NearZero:
    """A formula near 0: a polynomial for |x| < radius."""

    __slots__ = ("radius", "series", "shown", "variable")

    def __init__(self, variable: int, series: Series, radius: Fraction, shown: int):
        self.variable = variable
        self.series = series
        self.radius = radius
        self.shown = shown

    def term(self, x: Any) -> Any:
        """The polynomial, by Horner's rule."""
        coefs = self.series.coefs[: self.shown]
        step = 2 if not any(coefs[1::2]) else 1
        z = x * x if step == 2 else x
        row = [number(float(c)) if c.denominator != 1 else number(int(c)) for c in coefs[::step]]
        found: Any = row.pop()
        while row:
            found = row.pop() + z * found
        for _ in range(abs(self.series.least)):
            found = found * x if self.series.least > 0 else found / x
        return found


def near_zero(field: Field, a: Ratio) -> NearZero | None:
    """The polynomial to use near 0, where the formula is one of a single variable and cancels there."""
    variables = field.variables(a)
    sums = any(field.generators[g].kind == "sum" for g, _ in a.monomial)
    if len(variables) != 1 or not (a.factors or sums):
        return None
    try:
        if not _Expansion(field, FIRST).looked_at(a)[1]:
            return None
        series, _ = _Expansion(field, TERMS).looked_at(a)
    except (NoSeries, ZeroDivisionError):
        return None
    if len(series.coefs) < 8 or abs(series.least) > 6:
        return None
    first = abs(series.coefs[0])
    for radius in RADII:
        sizes = [abs(c) * radius**k / first for k, c in enumerate(series.coefs)]
        rest = [*accumulate(reversed(sizes))][::-1]
        shown = next((k for k in range(1, len(sizes)) if rest[k] < Fraction(1, 2**55)), len(sizes))
        if shown <= LONGEST and rest[1] <= 1:
            (variable,) = variables
            return NearZero(variable, series, radius, max(shown, 2))
    return None

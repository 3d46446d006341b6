"""Power series with exact coefficients, for formulas whose terms cancel near 0, or near the zero of a divisor.

``(1 - cos x)/x²`` or the derivative of ``(e^x - 1)/x`` lose their digits near 0, ``log(x)/(x - 1)`` near 1, where their
series have few terms.  Coefficients are fractions; what has others is left alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import accumulate
from operator import mul
from typing import Any, NamedTuple

import numpy as np

from symgrad.formula.canonical.scalars.polynomials import Monomial, Polynomial, added
from symgrad.formula.canonical.scalars.ratios import HIGHEST, Field, Generator, Ratio
from symgrad.formula.term import SYMBOL, Term, evaluate, number, postorder, substitute, symbol
from symgrad.op import lookup

FIRST, TERMS = 8, 64
"""Coefficients that are computed to see whether anything cancels, and where it does."""
LONGEST = 56
"""Coefficients that are written."""
CANCELLING = 8.0
"""How much larger than their sum the terms of a polynomial may be together, where the formula itself is worse."""
FAINT = Fraction(1, 2**20)
"""Where an exponential is less than this, what divides by it is a few terms of its series: it may underflow."""
ROUNDINGS = Fraction(1, 2**50)
"""A formula that is off by no more than so much of its value loses no digits."""
DIGITS = 256
"""Binary digits after the point of values that formulas are compared to; fractions of such values have thousands."""
WIDER = [Fraction(k, 4) for k in (3, 4, 5, 6, 7, 8, 10, 12, 14, 16)]
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


class Axis(NamedTuple):
    """What a series is one in: the variable, or an exponential of it, or the reciprocal of that where it is ``turned``.

    log(1 + e^x)/e^x is a function of e^x, and near 1 where that is near 0.
    """

    generator: int
    turned: bool = False


class _Expansion:
    """Series of the generators of a field near the point where the one of ``axis`` is ``centre``.

    They are series in z, which is what ``_line`` says.
    """

    def __init__(self, field: Field, axis: Axis, centre: Fraction, pole: Fraction, terms: int):
        origin = _line(centre, pole, terms)
        self.field = field
        self.axis = axis.generator
        self.fades = field.generators[axis.generator].kind == "exp"
        self.origin = origin.power(-1) if axis.turned else origin
        self.terms = len(origin.coefs)
        self.known: dict[int, Series] = {}
        self._looked_at: dict[int, tuple[Ratio, tuple[Series, bool, bool]]] = {}

    def generator(self, g: int) -> Series:
        if g not in self.known:
            self.known[g] = self._of(g)
        return self.known[g]

    def _of(self, g: int) -> Series:
        made = self.field.generators[g]
        if g == self.axis:
            return self.origin
        if made.kind == "constant":
            return constant(_value(made), self.terms)
        if made.kind == "exp":
            return exponential(self.monomial(made.inner))
        if made.kind == "sqrt":
            return _root(_total(self.rows(made.inner.items())))
        if made.kind == "sum":
            return _total([self.ratio(part) for part in made.inner])
        if made.kind in ("sin", "cos"):
            return _waves(self.ratio(made.inner))[made.kind == "cos"]
        if made.kind in _FUNCTIONS:
            return _FUNCTIONS[made.kind](self.ratio(made.inner))
        raise NoSeries

    def rows(self, poly: Iterable[tuple[Monomial, Fraction]]) -> list[Series]:
        """The terms of a sum."""
        return [self.monomial(m).times(constant(c, self.terms)) for m, c in poly]

    def monomial(self, m: Monomial) -> Series:
        found = constant(Fraction(1), self.terms)
        for g, p in m:
            series = self.generator(g)
            if p.denominator != 1:
                if self.field.generators[g].kind != "exp" or g == self.axis:
                    raise NoSeries
                inner = self.monomial(self.field.generators[g].inner)
                found = found.times(exponential(inner.times(constant(p, self.terms))))
            else:
                found = found.times(series.power(int(p)))
        return found

    def ratio(self, a: Ratio) -> Series:
        return self.looked_at(a)[0]

    def looked_at(self, a: Ratio) -> tuple[Series, bool, bool]:
        """The series, whether leading terms cancel in one of the sums, and whether it is 0/0 where an exponential is 0.

        That underflows.  Each ratio is looked at once: sums of sums have the same ones at every level.
        """
        known = self._looked_at.get(id(a))
        if known is None:
            known = self._looked_at[id(a)] = a, self._look(a)
        return known[1]

    def _look(self, a: Ratio) -> tuple[Series, bool, bool]:
        found, cancels, vanishes = self.monomial(a.monomial).times(constant(a.number, self.terms)), False, False
        divides = any(p < 0 and self.field.generators[g].kind == "variable" for g, p in a.monomial)
        for g, p in a.monomial:
            vanishes = vanishes or (self.fades and g != self.axis and p < 0 and self.generator(g).least > 0)
            # The logarithm of 1 + x² is 0 before its quotient by x is.
            cancels = cancels or (divides and self.field.generators[g].kind == "log" and self.generator(g).least > 1)
            if self.field.generators[g].kind == "sum":
                least = min(self.ratio(part).least for part in self.field.generators[g].inner)
                cancels = cancels or self.generator(g).least > least
        for key, n in a.factors.items():
            rows = self.rows(key)
            total = _total(rows)
            exact = len(key) == 2 and total.least == 1 and not any(total.coefs[1:])  # x - c has no rounding error there
            cancels = cancels or (total.least > min(row.least for row in rows) and not exact)
            vanishes = vanishes or (self.fades and n < 0 and total.least > 0)
            found = found.times(total.power(n))
        return found, cancels, vanishes


def _expansion(field: Field, *point: Any) -> _Expansion:
    """The one for a point: the sums that a loop leaves one in the other have their series worked out once."""
    if point not in field.expansions:
        field.expansions[point] = _Expansion(field, *point)
    return field.expansions[point]  # type: ignore[no-any-return]


def _value(made: Generator) -> Fraction:
    """The fraction that a float stands for."""
    value = made.term.number
    return Fraction(math.pi) if isinstance(value, str) else Fraction(value)


_FUNCTIONS = {"log": _log, "atan": _atan, "sqrt_of": _root}


def _total(rows: Sequence[Series]) -> Series:
    if not rows:  # a sum in which everything has cancelled
        raise NoSeries
    found = rows[0]
    for row in rows[1:]:
        found = found.plus(row)
    return found


class NearPoint:
    """A formula near a point c: a polynomial in z for |z| < radius, times a power of h = x - c.

    z is h, or h/(h + 2s) where the nearest singularity is h = -s: by it the polynomial holds for three times as many h.
    ``decay`` powers of 1 - z, which is 0 at infinity, stand before that one.
    """

    __slots__ = ("axis", "centre", "decay", "pole", "power", "radius", "series", "shown")

    def __init__(self, axis: Axis, centre: Fraction, pole: Fraction, series: Series, power: int, decay: int = 0):
        self.axis = axis
        self.centre = centre
        self.pole = pole
        self.decay = decay
        self.series = series
        self.power = power
        self.radius = Fraction(0)
        self.shown = 0

    def terms(self, x: Any) -> tuple[Any, Any]:
        """Whether the polynomial holds, and its value by Horner's rule."""
        h: Any = x - number(_plain(self.centre)) if self.centre else x
        twice = number(_plain(2 * self.pole))
        z: Any = h / (h + twice) if self.pole else h
        coefs = self.series.coefs[: self.shown]
        step = 2 if not any(coefs[1::2]) else 1
        square = z * z if step == 2 else z
        row = [number(_plain(c)) for c in coefs[::step]]
        found: Any = row.pop()
        while row:
            found = row.pop() + square * found
        times = abs(self.power)
        for part in [h] * times if times <= HIGHEST else [h**times]:
            found = found * part if self.power > 0 else found / part
        for _ in range(self.decay):
            found = found * (twice / (h + twice))
        return lookup("lt")(lookup("abs")(z), number(self.radius)), found

    def _amplified(self, z: float) -> float:
        """By how much rounding errors of the terms at ±z may be larger than the sum."""
        sizes = [abs(float(c)) * z**k for k, c in enumerate(self.series.coefs)]
        signed = [size if c >= 0 else -size for size, c in zip(sizes, self.series.coefs, strict=True)]
        other = [-size if k % 2 else size for k, size in enumerate(signed)]
        return sum(sizes) / (min(abs(sum(signed)), abs(sum(other))) or math.ulp(0))

    def narrow(self, direct: Term, x: Any) -> None:
        """Leave the polynomial for the point itself where ``direct``, the formula of ``x``, keeps its digits beside it.

        x/expm1(x) and 2 sin²(x/2)/x² are 0/0 there and nowhere else.
        """
        if self.decay or self.axis.turned or x is None or x.op is not SYMBOL:
            return
        names = {t.name for t in postorder([direct]) if t.op is SYMBOL}
        radius, shown = self.radius, self.shown
        if names != {x.name} or radius <= FAINT or not self.fits(FAINT, loosely=False):
            return
        least, self.radius, self.shown = self.shown, radius, shown
        zs = [sign * radius * Fraction(k, 64) / 2**n for k in (37, 63) for n in range(20) for sign in (1, -1)]
        points = [float(self.centre + (2 * self.pole * z / (1 - z) if self.pole else z)) for z in zs]
        probed = substitute([direct], {x: symbol(x.name, ("probes",))})[0]
        with np.errstate(all="ignore"):
            found = np.broadcast_to(evaluate(probed, {x.name: np.array(points)}), len(points))
        first = self.series.coefs[0]
        row = [_fixed(c * radius**k / first) for k, c in enumerate(self.series.coefs)]
        if all(math.isfinite(v) and self._is_value(row, float(v), x) for v, x in zip(found, points, strict=True)):
            self.radius, self.shown = FAINT, least

    def _is_value(self, row: Sequence[int], found: float, x: float) -> bool:
        """Whether the polynomial has this value at x, up to some roundings; ``row``: its terms at the radius."""
        h = Fraction(x) - self.centre
        z = _fixed((h / (h + 2 * self.pole) if self.pole else h) / self.radius)
        value = 0
        for term in reversed(row):
            value = term + (z * value >> DIGITS)
        exact = Fraction(value, 2**DIGITS) * self.series.coefs[0] * h**self.power
        return abs(Fraction(found) - exact) <= abs(exact) * ROUNDINGS

    def fits(self, radius: Fraction, loosely: bool) -> bool:
        """Whether the polynomial has few terms within the radius, and they do not cancel; ``loosely``: hardly."""
        first = abs(self.series.coefs[0])
        sizes = [abs(c) * radius**k / first for k, c in enumerate(self.series.coefs)]
        rest = [*accumulate(reversed(sizes))][::-1]
        shown = next((k for k in range(1, len(sizes)) if rest[k] < Fraction(1, 2**55)), len(sizes))
        if shown > LONGEST or (self._amplified(float(radius)) > CANCELLING if loosely else rest[1] > 1):
            return False
        self.radius, self.shown = radius, max(shown, 2)
        return True


def _fixed(value: Fraction) -> int:
    return (value.numerator << DIGITS) // value.denominator


def _plain(value: Fraction) -> int | float:
    return int(value) if value.denominator == 1 else float(value)


def near_point(field: Field, a: Ratio, logarithm: bool = False) -> NearPoint | None:
    """The polynomial to use near 0 or 1, where the formula is one of a single variable and cancels there.

    ``logarithm``: it is one, which cancels where it is small.
    """
    variables = field.variables(a)
    sums = any(field.generators[g].kind == "sum" for g, _ in a.monomial)
    if len(variables) != 1 or not (a.factors or sums or logarithm or len(a.monomial) > 1):
        return None
    (variable,) = variables
    zeros = [c for part in _parts(field, a) for c in _zeros(field, part, variable)]
    points = [(Axis(variable), centre) for centre in dict.fromkeys((Fraction(0), *zeros))]
    points += [(Axis(g, turned), Fraction(0)) for g in _nested(field, variable) for turned in (False, True)]
    for axis, centre in points:
        try:
            first, cancels, vanishes = _expansion(field, axis, centre, Fraction(0), FIRST).looked_at(a)
            if cancels or (logarithm and first.least > 0):
                found = _fitted(field, a, axis, centre)
            elif vanishes:
                found = _near(field, a, axis, centre, Fraction(0))
                found = found if found is not None and found.fits(FAINT, loosely=False) else None
            else:
                continue
        except (NoSeries, ZeroDivisionError):
            continue
        if found is not None:
            return found
    return None


def _nested(field: Field, variable: int) -> list[int]:
    """The exponentials of a variable that are inside of further functions."""
    found = []
    for g, made in enumerate(field.generators):
        if made.kind == "exp" and {h for h, _ in made.inner} == {variable}:
            others = (m for h, other in enumerate(field.generators) if other.kind in ("exp", "log")
                      for m in field.monomials(h))  # fmt: skip
            found += [g] if any(h == g for m in others for h, _ in m) else []
    return found


def _parts(field: Field, a: Ratio) -> list[Ratio]:
    """The product itself, and the terms of sums that were not multiplied out."""
    made = [field.generators[g] for g, _ in a.monomial]
    return [a, *(part for g in made if g.kind == "sum" for part in g.inner)]


def _zeros(field: Field, a: Ratio, variable: int) -> list[Fraction]:
    """Where divisors x - c are 0, but for 0, and where logarithms log(x/c) in sums and divisors are."""
    mark = ((variable, Fraction(1)),)
    divisors = [_worked_out(field, dict(key)) for key, n in a.factors.items() if n < 0]
    found = [-poly[()] / poly[mark] for poly in divisors if set(poly) == {(), mark}]
    below = [(g, p) for g, p in a.monomial if p < 0]
    logs = {g for m in (below, *(m for key in a.factors for m, _ in key)) for g, _ in m}
    logs = {g for g in logs if field.generators[g].kind == "log"}
    inner = [field.generators[g].inner for g in sorted(logs)]
    lines = [_worked_out(field, {u.monomial: u.number}) for u in inner if not u.factors]
    return found + [1 / poly[mark] for poly in lines if set(poly) == {mark}]


def _worked_out(field: Field, poly: Polynomial) -> Polynomial:
    """A polynomial with the values of its constants in the coefficients."""
    rows: list[Polynomial] = []
    for m, c in poly.items():
        known = [(g, p) for g, p in m if field.generators[g].kind == "constant" and p.denominator == 1]
        worth = math.prod((_value(field.generators[g]) ** int(p) for g, p in known), start=c)
        rows.append({tuple(row for row in m if row not in known): worth})
    return added(rows)


def _line(centre: Fraction, pole: Fraction, terms: int) -> Series:
    """x as a series in z."""
    slope = [2 * pole] * terms if pole else [Fraction(1)] + [Fraction(0)] * (terms - 1)
    line = Series(1, slope)
    return line.plus(constant(centre, terms)) if centre else line


def _fitted(field: Field, a: Ratio, axis: Axis, centre: Fraction) -> NearPoint | None:
    plain = _near(field, a, axis, centre, Fraction(0))
    if plain is None:
        return None
    scale = _scale(plain.series, any(made.kind == "constant" for made in field.generators))
    fits = next((r for r in RADII if plain.fits(r * scale, loosely=False)), None)
    if fits is not None and fits > Fraction(1, 2):
        _widened(field, a, plain, scale)
        return plain
    for pole in (centre,) if centre else (scale, -scale):
        turned = [_near(field, a, axis, centre, pole, decay) for decay in range(3)]
        for radius in (Fraction(r, 16) for r in (8, 7, 6)):
            for near in turned:
                if near is not None and near._amplified(float(radius)) < 4 and near.fits(radius, loosely=True):
                    return near
    return None if fits is None else plain


def _near(field: Field, a: Ratio, axis: Axis, centre: Fraction, pole: Fraction, decay: int = 0) -> NearPoint | None:
    series = _expansion(field, axis, centre, pole, TERMS).ratio(a)
    if len(series.coefs) < 8:
        return None
    step = _line(Fraction(0), pole, TERMS)
    rest = series.times(step.power(-series.least))
    for _ in range(decay):
        rest = rest.times(Series(0, [Fraction(1)] * TERMS))
    return NearPoint(axis, centre, pole, rest, series.least, decay)


_FAR_OFF = 2
"""Of so many powers of two the radius may be another than those of functions without constants."""


def _scale(series: Series, constants: bool) -> Fraction:
    """A power of two that radii are multiples of, by how fast coefficients grow: those of e^(1000 x), or of e^(x/0.7).

    It is 1 for coefficients such as functions without ``constants`` have.
    """
    k = max(k for k, c in enumerate(series.coefs[:17]) if c)
    sizes = [abs(c) for c in (series.coefs[0], series.coefs[k])]
    first, last = (c.numerator.bit_length() - c.denominator.bit_length() for c in sizes)
    power = round((first - last) / k - 2.5) if k else 0
    return Fraction(2) ** power if constants or abs(power) > _FAR_OFF else Fraction(1)


def _widened(field: Field, a: Ratio, near: NearPoint, scale: Fraction) -> None:
    """A larger radius where sums of three terms or more cancel beyond it, and the polynomial does so less."""
    expansion = _expansion(field, near.axis, near.centre, Fraction(0), TERMS)
    rows = [expansion.rows(key) for key in a.factors if len(key) > 2]
    rows += [[*map(expansion.ratio, parts)] for _, *parts in [_parts(field, a)] if len(parts) > 1]
    for radius in sorted(r * scale for r in WIDER if r * scale > near.radius):
        edge = float(near.radius)
        loss = max((_loss(row, z) for row in rows for z in (edge, -edge)), default=0.0)
        if loss < 1.5 * near._amplified(edge) or not near.fits(radius, loosely=True):
            return


def _loss(rows: Sequence[Series], z: float) -> float:
    values = [sum(float(c) * z ** (k + row.least) for k, c in enumerate(row.coefs)) for row in rows]
    return sum(map(abs, values)) / (abs(sum(values)) or math.ulp(0))

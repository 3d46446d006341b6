"""Derivatives with their like terms collected: what the chain and product rules leave grows threefold with each order.

Sums, products and quotients of derivatives are read as ratios of polynomials in what they are made of, whose like terms
are one, and written by Horner's rule.  The eighth derivative of tanh is six products instead of two hundred.  A part is
replaced only where that is cheaper, and as good at points of all sizes.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

from symgrad.dtypes import is_real_floating
from symgrad.formula.accurate.part import VARIABLES, Part, constant_of, readers_of
from symgrad.formula.accurate.probing import keeps
from symgrad.formula.accurate.reading import Reader, TooLong, Unreadable
from symgrad.formula.accurate.writing import Writer
from symgrad.formula.canonical.scalars.polynomials import ONE, Monomial, Polynomial, monomial, multiplied
from symgrad.formula.canonical.scalars.ratios import RING, Field, Key, Ratio
from symgrad.formula.term import SYMBOL, Term, number, own_symbol, postorder, substitute, symbols

LEAST = 12
"""Parts of fewer terms are left as they are."""
LARGEST = 20_000
"""So are those of more."""
WIDEST = 40
"""And those of more numbers, arrays and functions."""
CHEAPER = 0.75
"""What costs no less than so much of what it was is not worth other roundings."""

_RING = RING.keys() | {"sigmoid_slope", "tanh_slope", "by_divisor"}


def collected(roots: Sequence[Term], order: Sequence[Term], given: Sequence[Term] = ()) -> list[Term]:
    """The terms with the sums, products and quotients in them as polynomials without like terms, where that pays.

    ``order``: the terms of the roots; ``given``: those that are somebody's own, in whose order they are computed.

    >>> from symgrad.formula.term import symbol
    >>> t = symbol("t")
    >>> grown = t * (1 - t * t) * (3 * t * t) + (1 - t * t) * (t - t * t * t * 2) + (t + t * t * t) * (1 - t * t)
    >>> found = collected([grown], postorder([grown]))
    >>> len(postorder([grown])), len(postorder(found))
    (18, 10)
    """
    inside: dict[Term, int] = {}  # how many terms those of the ring have below them, one for every way, up to the least
    for term in order:
        if _in_ring(term):
            inside[term] = min(LEAST, 1 + sum(inside.get(a, 0) for a in term.args))
    if LEAST not in inside.values():
        return list(roots)
    readers = readers_of(order)
    ends = {t for t in inside if any(r not in inside for r in readers.get(t, ()))}.union(inside.keys() & set(roots))
    found: dict[Term, tuple[Part, Term]] = {}
    theirs = set(postorder(given))
    for term in order if ends else ():
        if inside.get(term) != LEAST or term not in ends or term in theirs:
            continue
        part = Part(term, inside, LARGEST, WIDEST)
        own = part.own(readers, ends) if part.whole else ()
        if len(own) >= LEAST:
            scalar = part.scalar()
            written = _written(scalar, len(own), _meanings(part), term.dtype)
            if written is not None:
                found[term] = part, written
    if not found:
        return list(roots)
    image: dict[Term, Any] = {}
    for term in order:
        args = tuple([image[a] for a in term.args])
        image[term] = term.with_args(args)
        if term in found:
            part, written = found[term]
            image[term] = part.filled(written, image)
    return [image[root] for root in roots]


def _in_ring(term: Term) -> bool:
    """Whether a term is a sum, product, quotient or whole power of real numbers."""
    if term.op.name not in _RING:
        exponent = term.args[1].number if term.op.name == "pow" else None
        if not isinstance(exponent, int) or abs(exponent) > _HIGHEST:
            return False
    return all(t.dtype is None or is_real_floating(t.dtype) for t in (term, *term.args))


LONG = 200
"""How many terms a spelling may have for others to be tried that are mostly dearer."""
_HIGHEST = 12
"""The highest power that is written as a product."""


def _meanings(part: Part) -> tuple[tuple[Term, Term], ...]:
    """The variables of a part as functions of those that they are made of, entry by entry, which become its own."""
    image: dict[Term, Any] = {}
    for term in postorder([leaf for leaf, mark in part.leaves.items() if mark.op is SYMBOL]):
        constant = constant_of(term)
        if constant is not None:
            image[term] = constant
        elif term.op.identity:
            image[term] = image[term.args[0]]
        elif term.args and term.op.entrywise and term.dtype is not None and is_real_floating(term.dtype):
            image[term] = term.op(*(image[a] for a in term.args), **term.params)
        else:
            image[term] = part.leaves.setdefault(term, own_symbol(f"of_{len(image)}"))
    return tuple((mark, image[leaf]) for leaf, mark in part.leaves.items() if mark.op is SYMBOL)


@functools.lru_cache(maxsize=512)
def _written(scalar: Term, price: int, meanings: tuple[tuple[Term, Term], ...], dtype: Any) -> Term | None:
    """A formula of scalars without like terms; None where that costs as much, or digits.

    ``price``: how many terms it spares; ``meanings``: the variables as functions of others.
    """
    known = dict(meanings)
    plain = substitute([scalar], known)[0]
    if not 0 < len(symbols(plain)) <= VARIABLES:
        return None
    for collects in (True, False):
        reader = Reader()
        reader.field.collects = collects
        for writes in (Horner, Carried, Writer):  # each is dearer than that before it, and overflows less
            try:
                made = writes(reader.field)(reader(scalar))
            except (Unreadable, TooLong, ZeroDivisionError, OverflowError):
                continue
            count = sum(bool(t.args) for t in postorder([made]))
            if count > CHEAPER * price:
                if count > LONG:
                    break  # writing the dearer ones would take long, for nothing
                continue
            if keeps(plain, substitute([made], known)[0], dtype):
                return made  # type: ignore[no-any-return]
    return None


class Horner:
    """Writes ratios of one field, whose generators are variables, with few operations."""

    def __init__(self, field: Field):
        self.field = field
        self.plain = Writer(field)
        self._bases: dict[int, Any] = {}

    def __call__(self, a: Ratio) -> Any:
        """The term of a ratio."""
        above: list[Any] = []
        below: list[Any] = []
        for g, p in a.monomial:
            (above if p > 0 else below).append(_power(self._base(g), abs(p)))
        for base, n in self._factors(a):
            (above if n > 0 else below).append(_power(base, abs(n)))
        found = functools.reduce(operator.mul, above) if above else None
        if not below:
            return self.plain.scaled(a.number, found)
        under = functools.reduce(operator.mul, below)
        return self.plain.scaled(a.number, 1 / under if found is None else found / under)

    def _base(self, g: int) -> Any:
        """The term of a generator, written once: sums of sums stand in many others."""
        if g not in self._bases:
            for h in (*self.field.sums_inside(g, self._bases), g):
                self._bases[h] = self._generator(h)
        return self._bases[g]

    def _generator(self, g: int) -> Any:
        made = self.field.generators[g]
        if made.kind == "sum":
            signs = [(Ratio(abs(a.number), a.monomial, a.factors), a.number < 0) for a in made.inner]
            return self.plain.added([(self(a), negative) for a, negative in signs])
        if made.kind not in ("variable", "constant"):
            raise Unreadable(made.kind)
        return made.term

    def polynomial(self, poly: Polynomial) -> Any:
        """The term of a polynomial: what most of its terms have in common is taken out of these, again and again."""
        if len(poly) == 1:
            ((m, c),) = poly.items()
            return self(Ratio(c, m))
        sizes = {abs(c) for c in poly.values()}
        if len(sizes) == 1 and sizes != {Fraction(1)}:
            (size,) = sizes
            return self.plain.scaled(size, self.polynomial({m: c / size for m, c in poly.items()}))
        common = _common(poly)
        if common is None:
            return self._added(poly)
        g, least, group, rest = common
        negative = all(c < 0 for c in group.values())
        part = self.polynomial({m: -c for m, c in group.items()} if negative else group)
        base = self._base(g)
        whole = _power(base if least > 0 else 1 / base, abs(least)) * part
        if not rest:
            return -whole if negative else whole
        other = self.polynomial(rest)
        return other - whole if negative else whole + other

    def _added(self, poly: Polynomial) -> Any:
        return self.plain.added([(self(Ratio(abs(c), m)), c < 0) for m, c in poly.items()])

    def _factors(self, a: Ratio) -> list[tuple[Any, int]]:
        """The sums of a product, each with its power.

        Beside 1 - t², a polynomial in t² is one in that: where the product is small as this factor is, its digits are
        those of its constant.
        """
        found = []
        for key, n in a.factors.items():
            made = None
            for base, term in self._small(a, key) if n == 1 else ():
                made = self._in_powers(dict(key), base, term) if made is None else made
            found.append((self.polynomial(dict(key)) if made is None else made, n))
        return found

    def _small(self, a: Ratio, key: Key) -> Iterator[tuple[Polynomial, Any]]:
        """Quadratic factors of a product beside one of its sums, also x (1 - x), and their terms."""
        for other, n in a.factors.items():
            if other is key or n < 0:
                continue
            poly = dict(other)
            yield poly, self.polynomial(poly)
            for g, p in a.monomial:
                if p >= 1:
                    yield multiplied({((g, Fraction(1)),): Fraction(1)}, poly), self._base(g) * self.polynomial(poly)

    def _in_powers(self, poly: Polynomial, base: Polynomial, x: Any) -> Any:
        """A polynomial in one variable as (a + b v)(c₀ + c₁ x + …) for a quadratic one, x; None where it is not."""
        rows = _digits(poly, base)
        if rows is None or len(rows) < 2:
            return None
        first = next(row for row in rows if any(row))
        k = 0 if first[0] else 1
        scale = [row[k] / first[k] for row in rows]
        if any([c * v for v in first] != row for c, row in zip(scale, rows, strict=True)):
            return None
        ((g, _),) = next(m for m in poly if m)
        found: Any = self.plain.scaled(scale[-1], None)
        for c in reversed(scale[:-1]):
            found = found * x
            if c:
                found = found + number(c) if c > 0 else found - number(-c)
        line = {m: c for m, c in zip(((), ((g, Fraction(1)),)), first, strict=True) if c}
        return found if line == ONE else self.polynomial(line) * found


class Carried(Horner):
    """The same with the factors of sums in each of their terms: e^-x² (1 + x⁴) is no product of 0 and infinity."""

    def __call__(self, a: Ratio) -> Any:
        """The term of a ratio: what its sums do not consist of comes first."""
        inside = {g for key in a.factors for m, _ in key for g, _ in m}
        found: Any = None
        for g, p in sorted(a.monomial, key=lambda row: (row[0] in inside, row[1] < 0)):
            found = self._times(found, g, p)
        for key, n in sorted(a.factors.items(), key=lambda row: -row[1]):
            for _ in range(abs(n)):
                if n > 0 and found is not None:
                    found = self._carried(found, dict(key))
                else:
                    term = self.polynomial(dict(key))
                    found = term if found is None and n > 0 else (1 if found is None else found) / term
        return self.plain.scaled(a.number, found)

    def _times(self, found: Any, g: int, p: Fraction) -> Any:
        """A term times a generator to a power, one factor after the other."""
        base = self._base(g)
        for _ in range(abs(int(p))):
            found = (1 if found is None else found) / base if p < 0 else base if found is None else found * base
        return found

    def _carried(self, found: Any, poly: Polynomial) -> Any:
        """A term times a polynomial, by Horner's rule."""
        if len(poly) == 1:
            ((m, c),) = poly.items()
            for g, p in m:
                found = self._times(found, g, p)
            return self.plain.scaled(c, found)
        common = _common(poly)
        if common is None:
            return functools.reduce(operator.add, (self._carried(found, {m: c}) for m, c in poly.items()))
        g, least, group, rest = common
        whole = self._times(self._carried(found, group), g, least)
        return whole + self._carried(found, rest) if rest else whole


def _common(poly: Polynomial) -> tuple[int, Fraction, Polynomial, Polynomial] | None:
    """What most terms of a polynomial are multiples of, its least power in them, what is left, and the other terms."""
    counts: dict[tuple[int, bool], int] = {}
    for m in poly:
        for g, p in m:
            counts[g, p > 0] = counts.get((g, p > 0), 0) + 1
    g, rises = max(counts, key=lambda key: counts[key])
    if counts[g, rises] == 1:
        return None
    inside = {m: p for m in poly for h, p in m if h == g and (p > 0) == rises}
    least = min(inside.values(), key=abs)
    group = {monomial((*m, (g, -least))): poly[m] for m in inside}
    return g, least, group, {m: c for m, c in poly.items() if m not in inside}


def _digits(poly: Polynomial, base: Polynomial) -> list[list[Fraction]] | None:
    """The coefficients of a polynomial in one variable to a quadratic base: two to each of its powers."""
    variables = {g for p in (poly, base) for m in p for g, _ in m}
    powers = [p for poly_ in (poly, base) for m in poly_ for _, p in m]
    if len(variables) != 1 or any(p < 0 or p.denominator != 1 for p in powers):
        return None
    low, middle, high = _coefficients(base, 3)[:3] if max(_degree(m) for m in base) == 2 else (0, 0, 0)
    if not high:
        return None
    rest = _coefficients(poly, max(_degree(m) for m in poly) + 1)
    rows = []
    while any(rest):
        whole = [Fraction(0)] * max(len(rest) - 2, 0)
        for k in reversed(range(len(whole))):
            whole[k] = c = rest[k + 2] / high
            rest[k + 1] -= c * middle
            rest[k] -= c * low
        rows.append([*rest[:2], Fraction(0)][:2])
        rest = whole
    return rows


def _degree(m: Monomial) -> int:
    return int(m[0][1]) if m else 0


def _coefficients(poly: Polynomial, count: int) -> list[Fraction]:
    found = [Fraction(0)] * count
    for m, c in poly.items():
        found[_degree(m)] = c
    return found


def _power(base: Any, n: Fraction | int) -> Any:
    """A whole power as products of squares."""
    n = int(n)
    found = None
    while n:
        if n % 2:
            found = base if found is None else found * base
        n //= 2
        if n:
            base = base * base
    return found

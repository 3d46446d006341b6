"""Polynomials in opaque atoms, with rational coefficients; exponents may be negative and fractional.

A polynomial is a dict from monomials to coefficients, a monomial a sorted tuple of (atom, exponent).  Work is bounded:
what grows beyond :data:`LONGEST` monomials raises :class:`TooLong`.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable
from fractions import Fraction

Monomial = tuple[tuple[int, Fraction], ...]
Polynomial = dict[Monomial, Fraction]

LONGEST = 40
"""Longer polynomials are not worked with."""

NONE = Fraction(0)
ONE: Polynomial = {(): Fraction(1)}


class TooLong(Exception):
    """A polynomial outgrew its bound."""


class _Exponent(Fraction):
    """A fraction that knows its hash: monomials are looked up far more often than they are made."""

    __slots__ = ("_hash",)
    _hash: int

    def __hash__(self) -> int:  # type: ignore[override]
        return self._hash


@functools.lru_cache(maxsize=4096)
def _exponent(numerator: int, denominator: int) -> Fraction:
    """The one object for an exponent, so that equal monomials are found without comparing fractions."""
    made = _Exponent(numerator, denominator)
    made._hash = hash(Fraction(numerator, denominator))
    return made


def monomial(powers: Iterable[tuple[int, Fraction]]) -> Monomial:
    """The monomial of a product of powers of atoms."""
    found: dict[int, Fraction] = {}
    for atom, power in powers:
        found[atom] = found[atom] + power if atom in found else power
    return tuple(sorted([(a, _exponent(p.numerator, p.denominator)) for a, p in found.items() if p]))


def added(polys: Iterable[Polynomial]) -> Polynomial:
    """The sum; monomials stay in order of first appearance."""
    found: Polynomial = {}
    for poly in polys:
        for m, c in poly.items():
            old = found.get(m)
            found[m] = c if old is None else old + c
    return _bounded({m: c for m, c in found.items() if c})


def multiplied(a: Polynomial, b: Polynomial) -> Polynomial:
    """The product."""
    if len(a) * len(b) > 8 * LONGEST:
        raise TooLong
    found: Polynomial = {}
    for m, c in a.items():
        for n, d in b.items():
            k = monomial((*m, *n))
            old = found.get(k)
            found[k] = c * d if old is None else old + c * d
    return _bounded({m: c for m, c in found.items() if c})


def raised(a: Polynomial, power: int) -> Polynomial:
    """A power with a whole exponent, of a single monomial also a negative one."""
    if len(a) == 1:
        ((m, c),) = a.items()
        return {tuple((x, p * power) for x, p in m): c**power}
    found = ONE
    for _ in range(power):
        found = multiplied(found, a)
    return found


def content(a: Polynomial, cleared: bool = True) -> tuple[Fraction, Monomial]:
    """The common factor of all terms: a number, negative when all are, and the least power of every atom.

    Not ``cleared``, x⁻¹ + y has no common factor; cleared, it has x⁻¹, and 1 + xy is left.
    """
    numbers = list(a.values())
    sign = -1 if all(c < 0 for c in numbers) else 1
    number = Fraction(math.gcd(*(c.numerator for c in numbers)), math.lcm(*(c.denominator for c in numbers)))
    atoms = {x: None for m in a for x, _ in m}
    rows = [dict(m) for m in a]
    spans = [(x, [row.get(x, NONE) for row in rows]) for x in atoms]
    least = ((x, min(powers) if cleared else min(max(powers), max(min(powers), NONE))) for x, powers in spans)
    return sign * number, monomial(least)


def primitive(a: Polynomial, cleared: bool = True) -> tuple[Fraction, Monomial, Polynomial]:
    """A polynomial as number · monomial · polynomial without common factors."""
    number, common = content(a, cleared)
    below = tuple((x, -p) for x, p in common)
    kept = a.values() if number == 1 else [c / number for c in a.values()]
    return number, common, {monomial((*m, *below)): c for m, c in zip(a, kept, strict=True)}


def quotient(a: Polynomial, b: Polynomial) -> Polynomial | None:
    """a / b where b divides a, for polynomials without negative exponents; None otherwise."""
    if not _may_divide(b, a):
        return None
    order = sorted({x for poly in (a, b) for m in poly for x, _ in m})

    def rank(m: Monomial) -> list[Fraction]:
        powers = dict(m)
        return [powers.get(x, NONE) for x in order]

    top = max(b, key=rank)
    rest = dict(a)
    found: Polynomial = {}
    for _ in range(2 * LONGEST):
        if not rest:
            return found
        lead = max(rest, key=rank)
        step = monomial((*lead, *((x, -p) for x, p in top)))
        if any(p < 0 for _, p in step):
            return None
        found[step] = coef = rest[lead] / b[top]
        for m, c in b.items():
            k = monomial((*step, *m))
            left = rest.get(k, NONE) - coef * c
            if left:
                rest[k] = left
            else:
                rest.pop(k, None)
    return None


def _may_divide(b: Polynomial, a: Polynomial) -> bool:
    """Whether the value of b at some whole numbers divides that of a, as it must where b divides a (Gauss's lemma).

    That holds for whole coefficients, of which those of b have no common divisor; others are not asked.
    """
    numbers = [c for poly in (a, b) for c in poly.values()] + [p for poly in (a, b) for m in poly for _, p in m]
    if any(x.denominator != 1 for x in numbers) or math.gcd(*(c.numerator for c in b.values())) != 1:
        return True
    above, below = (
        sum(c.numerator * math.prod((1009 + 30 * x) ** p.numerator for x, p in m) for m, c in poly.items())
        for poly in (a, b)
    )
    return not below or above % below == 0


def _bounded(poly: Polynomial) -> Polynomial:
    if len(poly) > LONGEST:
        raise TooLong
    return poly

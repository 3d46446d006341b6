"""Numbers of a program as a formula has them: fractions, short decimals, roots, logarithms, multiples of π."""

from __future__ import annotations

import cmath
import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from symgrad.formula.canonical.normal import Factor, Form, Power, Product, exact_number
from symgrad.formula.term import NUMBER, Term, as_term, number
from symgrad.op import lookup
from symgrad.ops.rules.constants import PI

if TYPE_CHECKING:
    from symgrad.formula.canonical.simplify import Canonicaliser

LARGEST = 12
"""Numerators and denominators below a root, and denominators before π, up to which floats are recognised."""


def read_number(term: Term, run: Canonicaliser) -> Form:
    """A number as a form."""
    value = term.number
    if isinstance(value, complex) and cmath.isfinite(value) and value != 1j:
        # a + bi as such, so that products of complex numbers and their conjugates come out.
        parts = [read_number(number(x), run) for x in (value.real, value.imag)]
        return run.plus([parts[0], run.times(parts[1], read_number(number(1j), run))], (1, 1), ())
    turns = multiple_of_pi(value)
    if turns is not None:
        return Form([Product(turns, [Factor(as_term(PI), ())], ())], ())
    square = _square(value)
    if square is not None:
        root = _root(*square, run)
        return root if value > 0 else root.scaled(-1)
    logarithm = _logarithm(value)
    if logarithm is not None:
        k, log, power = logarithm
        return Form([Product(k, [Factor(log, (), power)], ())], ())
    exact = exact_number(value)
    if exact is None:
        return Form([Product(1, [Factor(term, ())], ())], ())
    return Form([Product(exact[0], (), (), exact[1])] if exact[0] else (), ())


def _root(k: Fraction, power: int, run: Canonicaliser) -> Form:
    """√(k π^power)."""
    if not power:
        return Form([rational_root(k, Fraction(1, 2))], ())
    outer, above, below = _free_of_squares(k)
    sign = -1 if above == 1 and power < 0 else 1
    inside = Form([Product(Fraction(above, below) ** sign, [Factor(as_term(PI), (), power * sign)], ())], ())
    return run.power(inside, Fraction(sign, 2)).scaled(outer)


def rational_root(k: Fraction, power: Fraction) -> Product:
    """k to a power with denominator 2, by roots of whole numbers without square divisors: √(8/3) = 2√2/√3."""
    outer, above, below = _free_of_squares(k)
    whole = power - Fraction(1, 2)
    roots = [Factor(number(m), (), r) for m, r in ((above, Fraction(1, 2)), (below, Fraction(-1, 2))) if m != 1]
    return with_whole_parts(Product(k ** int(whole) * outer, roots, ()))


def exact_root(p: Product, power: Power) -> Product | None:
    """The coefficient of a product to a power with denominator 2, by roots of whole numbers; None where it has none."""
    value, halves = Fraction(p.coef), Fraction(power)
    if value == 1:
        return Product(1, (), ())
    exact = value > 0 and (not p.decimal or value.denominator <= 12)
    return rational_root(value, halves) if exact and halves.denominator == 2 and abs(halves) < 9 else None


def _free_of_squares(k: Fraction) -> tuple[Fraction, int, int]:
    """(s, m, n) with k = s² m/n, where no small square divides m or n."""
    outer, rests = Fraction(1), []
    for value, side in ((k.numerator, 1), (k.denominator, -1)):
        for d in range(2, LARGEST + 1):
            while value % (d * d) == 0:
                value //= d * d
                outer *= Fraction(d) ** side
        rests.append(value)
    return outer, rests[0], rests[1]


def with_whole_parts(p: Product) -> Product:
    """Powers of numbers with their whole parts in the coefficient: 2^(3/2) = 2√2, 2/√2 = √2 and √2/2 = 1/√2."""
    coef, factors = Fraction(p.coef), []
    for f in p.factors:
        value, power = f.base.number, Fraction(f.power)
        if f.base.op is not NUMBER or not isinstance(value, int) or power.denominator > 2:
            factors.append(f)
            continue
        whole = math.floor(power) if power > 0 else math.ceil(power)
        coef, power = coef * Fraction(value) ** whole, power - whole
        if power < 0 and coef.numerator % value == 0:
            coef, power = coef / value, -power
        elif power > 0 and coef.denominator % value == 0:
            coef, power = coef * value, -power
        if power:
            factors.append(Factor(f.base, f.labels, power))
    return Product(coef, factors, p.out, p.decimal)


def roots_with_pi(p: Product, run: Canonicaliser) -> Product:
    """½√(2/π) = 1/√(2π) and 2/√(2π) = √(2/π), as with whole numbers alone, where the number in front gets shorter."""
    for f in p.factors:
        form = run.products.get(f.base) if abs(f.power) == Fraction(1, 2) else None
        q = None if form is None else form.terms[0]
        if q is None or p.decimal or [g.base for g in q.factors] != [as_term(PI)]:
            continue
        sign = 1 if f.power > 0 else -1
        value, coef = Fraction(q.coef) ** sign, Fraction(p.coef)
        if max((coef * value).as_integer_ratio()) < max(coef.as_integer_ratio()):
            (root,) = _root(1 / value, int(q.factors[0].power) * sign, run).terms
            factors = [x for g in p.factors for x in (root.factors if g is f else (g,))]
            return Product(coef * value * root.coef, factors, p.out)
    return p


def multiple_of_pi(value: Any) -> Fraction | None:
    """k for a float that is kπ to the last bit, for small fractions k."""
    if not isinstance(value, float) or not 0.2 < abs(value) < 40:
        return None
    k = Fraction(value / math.pi).limit_denominator(LARGEST)
    return k if float(k) * math.pi == value else None


def _square(value: Any) -> tuple[Fraction, int] | None:
    """(k, power) for a float that is ±√(k π^power) but for a rounding, for small fractions k and no simpler number."""
    if not isinstance(value, float) or not 0.05 < abs(value) < 20 or len(repr(abs(value))) < 16:
        return None
    for power in (0, 1, -1):
        k = Fraction(value * value / math.pi**power).limit_denominator(LARGEST)
        root = math.sqrt(k * math.pi**power)
        if 0 < k.numerator <= LARGEST and abs(root - abs(value)) <= 2 * math.ulp(root):
            return k, power
    return None


def _logarithm(value: Any) -> tuple[Fraction, Term, int] | None:
    """(k, log(c), power) for a float that is k log(c)^power but for a rounding, with a c that papers have."""
    if not isinstance(value, float) or not 0.05 < abs(value) < 40 or len(repr(abs(value))) < 16:
        return None
    for c, times in ((2, 0), (2, 1), (10, 0), (3, 0), (1, 1)):
        log = math.log(c * math.pi**times)
        for power in (1, -1):
            k = Fraction(value / log**power).limit_denominator(LARGEST)
            if 0 < abs(k.numerator) <= LARGEST and abs(float(k) * log**power - value) <= 2 * math.ulp(value):
                inside = number(c) if not times else as_term(PI) if c == 1 else as_term(lookup("mul")(c, PI))
                return k, as_term(lookup("log")(inside)), power
    return None

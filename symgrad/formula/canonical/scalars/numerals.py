"""Numbers of a program as a formula has them: fractions, short decimals, roots, logarithms, multiples of π."""

from __future__ import annotations

import cmath
import math
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from symgrad.formula.canonical.normal import Factor, Form, Power, Product, exact_number, plain_power
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
        root = _root(*square)
        return root if value > 0 else root.scaled(-1)
    logarithm = _logarithm(value)
    if logarithm is not None:
        k, log, power = logarithm
        return Form([Product(k, [Factor(log, (), power)], ())], ())
    exact = exact_number(value)
    if exact is None:
        return Form([Product(1, [Factor(term, ())], ())], ())
    return Form([Product(exact[0], (), (), exact[1])] if exact[0] else (), ())


def _root(k: Fraction, power: int) -> Form:
    """√(k π^power), with the root of π as a factor of its own: like terms have the same factors."""
    root = rational_root(k, Fraction(1, 2))
    of_pi = [Factor(as_term(PI), (), Fraction(power, 2))] if power else []
    return Form([Product(root.coef, [*root.factors, *of_pi], ())], ())


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
    if value < 0 or halves.denominator != 2 or abs(halves) >= 9:
        return None
    outer, _, below = _free_of_squares(value)
    short = not p.decimal or (outer.denominator <= LARGEST and below <= LARGEST)  # √0.01 = 0.1, but √0.044715
    return rational_root(value, halves) if short else None


def root_of_multiple(p: Product, power: Power) -> Product | None:
    """(kπᵐ)ⁿ = kⁿ·πᵐⁿ for numbers k > 0, always; None for other products."""
    if not p.factors or any(f.base is not as_term(PI) for f in p.factors):
        return None
    front = exact_root(p, power)
    powers = [Factor(f.base, (), plain_power(f.power * power)) for f in p.factors]
    return None if front is None else Product(front.coef, [*front.factors, *powers], (), front.decimal)


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


def one_root(parts: Sequence[tuple[Term, Power]]) -> list[tuple[Term, Power]]:
    """Scalars to powers with the root of a number and that of π as one: √2·√π as √(2π), and √2/√π as √(2/π)."""
    roots = [x for x in parts if abs(x[1]) == Fraction(1, 2) and (x[0] is as_term(PI) or x[0].op is NUMBER)]
    if len(roots) != 2 or (as_term(PI) is roots[0][0]) == (as_term(PI) is roots[1][0]):
        return list(parts)
    (number_, n), (pi, m) = sorted(roots, key=lambda x: x[0] is as_term(PI))
    inside = lookup("mul")(number_, pi) if n == m else lookup("div")(*((number_, pi) if n > 0 else (pi, number_)))
    joined = (as_term(inside), n if n == m else Fraction(1, 2))
    return [joined if x is roots[0] else x for x in parts if x is not roots[1]]


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

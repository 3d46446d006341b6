"""Scalar formulas as products of powers of polynomials, in which what is equal cancels exactly.

A polynomial is one in *generators*: variables, exponentials of monomials, square roots, and other functions of ratios.
Exponentials multiply and divide exactly (e^2x is the square of e^x, σ(x) is e^x/(1 + e^x)), roots and sines are
squared exactly; so a difference that is lost in floating point, such as (x + 1)² - x² or 1 - 1/(1 + e^-x), is found.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Container, Iterable, Sequence
from fractions import Fraction
from typing import Any

from symgrad.formula.canonical.scalars.polynomials import (
    Monomial,
    Polynomial,
    TooLong,
    added,
    monomial,
    multiplied,
    primitive,
    quotient,
    raised,
)

Key = tuple[tuple[Monomial, Fraction], ...]
_NONE: frozenset[int] = frozenset()
HIGHEST = 8
"""Higher powers of sums are not multiplied out."""


class Ratio:
    """number · monomial · Π polynomial^power; the polynomials have two terms or more, and none a common factor."""

    __slots__ = ("factors", "monomial", "number")

    def __init__(self, number: Fraction, mono: Monomial = (), factors: dict[Key, int] | None = None):
        self.number = number
        self.monomial = mono if number else ()
        self.factors = {k: n for k, n in (factors or {}).items() if n} if number else {}

    @property
    def polynomial(self) -> Polynomial | None:
        """The same as a polynomial, with any powers in its monomials; None for a true quotient of sums."""
        if any(n < 0 for n in self.factors.values()):
            return None
        found: Polynomial = {self.monomial: self.number}
        for key, n in self.factors.items():
            found = multiplied(found, _raised(dict(key), n))
        return found if self.number else {}


def key_of(poly: Polynomial) -> Key:
    """A polynomial as something to look up."""
    return _key(tuple(sorted(poly.items())))


class _Key(tuple[tuple[Monomial, Fraction], ...]):
    """A key that knows its hash: products look up those of all their factors."""

    _hash: int

    def __hash__(self) -> int:
        return self._hash


@functools.lru_cache(maxsize=4096)
def _key(rows: Key) -> Key:
    made = _Key(rows)
    made._hash = hash(rows)
    return made


def _raised(poly: Polynomial, n: int) -> Polynomial:
    if n > HIGHEST:
        raise TooLong
    return raised(poly, n)


class Generator:
    """What polynomials are made of.

    ``kind`` is "variable", "exp" (of the monomial ``inner``), "sqrt" (of the polynomial ``inner``), "abs" (of the
    variable number ``inner``), "sum" (of the ratios ``inner``) or the name of a function of the ratio ``inner``;
    ``term`` stands for a variable or an inexact constant, and ``variables`` are the variables inside of it.
    """

    __slots__ = ("inner", "kind", "term", "variables")

    def __init__(self, kind: str, inner: Any, term: Any, variables: frozenset[int]):
        self.kind = kind
        self.inner = inner
        self.term = term
        self.variables = variables


class Field:
    """The generators of one formula, and arithmetic with ratios of polynomials in them.

    ``collects``: sums are multiplied out wherever they are added, for all like terms to be found.
    """

    def __init__(self) -> None:
        self.collects = False
        self.generators: list[Generator] = []
        self.expansions: dict[Any, Any] = {}  # power series of generators, by the point that they are about
        self._known: dict[Any, int] = {}

    def generator(self, kind: str, inner: Any = None, term: Any = None) -> int:
        """The number of a generator, which is the same for the same one."""
        key = (kind, term) if term is not None else (kind, _identity(inner))
        if key not in self._known:
            self._known[key] = found = len(self.generators)
            self.generators.append(Generator(kind, inner, term, self._inside(found, kind, inner)))
        return self._known[key]

    def single(self, generator: int, power: Fraction | int = 1) -> Ratio:
        """A generator as a ratio."""
        return Ratio(Fraction(1), ((generator, Fraction(power)),))

    # -------------------------------------------------------------------------------------- arithmetic

    def ratio(self, poly: Polynomial) -> Ratio:
        """A polynomial as a ratio: relations used, common factors in front."""
        poly = self.reduced(poly)
        if not poly:
            return Ratio(Fraction(0))
        number, common, rest = primitive(poly)
        if len(rest) == 1:
            return Ratio(number, common)
        return Ratio(number, common, {key_of(rest): 1})

    def times(self, a: Ratio, b: Ratio) -> Ratio:
        """The product."""
        factors = dict(a.factors)
        for key, n in b.factors.items():
            factors[key] = factors.get(key, 0) + n
        return self._related(Ratio(a.number * b.number, monomial((*a.monomial, *b.monomial)), factors))

    def negative(self, a: Ratio) -> Ratio:
        """-a."""
        return self.times(Ratio(Fraction(-1)), a)

    def quotient(self, a: Ratio, b: Ratio) -> Ratio:
        """a / b."""
        return self.times(a, self.power(b, -1))

    def power(self, a: Ratio, n: int) -> Ratio:
        """A whole power."""
        if n < 0 and not a.number:
            raise ZeroDivisionError
        mono = tuple((g, p * n) for g, p in a.monomial)
        return self._related(Ratio(a.number**n, mono if n else (), {k: p * n for k, p in a.factors.items()}))

    def plus(self, parts: Sequence[Ratio]) -> Ratio:
        """The sum, over the least common denominator, in lowest terms as far as its factors divide."""
        parts = [p for p in parts if p.number]
        if not parts:
            return Ratio(Fraction(0))
        keys = {k: min(p.factors.get(k, 0) for p in parts) for k in dict.fromkeys(k for p in parts for k in p.factors)}
        powers = [dict(p.monomial) for p in parts]
        atoms = {g: None for row in powers for g in row}
        least = [(g, min(row.get(g, Fraction(0)) for row in powers)) for g in atoms]
        outside = [(g, -p) for g, p in least]
        rows = []
        for part in parts:
            poly: Polynomial = {monomial((*part.monomial, *outside)): part.number}
            for key, n in keys.items():
                if more := part.factors.get(key, 0) - n:
                    if more > HIGHEST and not self.collects:
                        return self.single(self.generator("sum", tuple(parts)))
                    poly = multiplied(poly, _raised(dict(key), more))
            rows.append(poly)
        whole = added(rows)
        if not self.collects and self._worse(parts, keys, rows, whole):
            return self.single(self.generator("sum", tuple(parts)))
        top = self.ratio(whole)
        for key, n in keys.items():
            while n < 0 and (less := self._divided(top, dict(key))) is not None:
                top, n = less, n + 1
            top = self.times(top, Ratio(Fraction(1), (), {key: n}))
        return self.times(top, Ratio(Fraction(1), monomial(least)))

    def _worse(
        self, parts: Sequence[Ratio], keys: dict[Key, int], rows: Sequence[Polynomial], whole: Polynomial
    ) -> bool:
        """Whether factors were multiplied out and nothing cancelled: (x - 1)² + (y - x²)² is better as it is."""
        left = len(self.reduced(whole))
        if left < sum(map(len, rows)):
            return left > 3 and any(n > 2 for part in parts for n in part.factors.values())
        if any(self._is_wave(key) for key in keys) or self._has_roots(parts):
            return False
        return any(len(row) > 1 and (len(row) > 2 or len(parts) > 1) and self._was_factored(p, keys)
                   for row, p in zip(rows, parts, strict=True))  # fmt: skip

    def _has_roots(self, parts: Sequence[Ratio]) -> bool:
        """Whether roots of one variable are in a sum, which cancel by their conjugates."""
        atoms = {g for p in parts for m in (p.monomial, *(m for key in p.factors for m, _ in key)) for g, _ in m}
        roots = any(self.generators[g].kind == "sqrt" for g in atoms)
        return roots and len(_NONE.union(*(self.generators[g].variables for g in atoms))) == 1

    def _is_wave(self, key: Key) -> bool:
        return any(self.generators[g].kind == "exp" for m, _ in key for g, _ in m)

    def _was_factored(self, part: Ratio, keys: dict[Key, int]) -> bool:
        """Whether a summand has more factors than one sum, or has a common denominator to be multiplied with."""
        more = sum(part.factors.get(key, 0) - n for key, n in keys.items())
        return more > 1 or bool(part.monomial) or abs(part.number) != 1

    def _divided(self, top: Ratio, by: Polynomial) -> Ratio | None:
        for key, n in top.factors.items():
            found = quotient(dict(key), by) if n > 0 else None
            if found is not None:
                rest = Ratio(top.number, top.monomial, {**top.factors, key: n - 1})
                return self.times(rest, self.ratio(found))
        return None

    # -------------------------------------------------------------------------------------- relations

    def _related(self, a: Ratio) -> Ratio:
        """|x|² = x² and √p² = p among the common factors."""
        for g, p in a.monomial:
            made = self.generators[g]
            if made.kind == "sqrt" and abs(p) >= 2:
                whole = int(p / 2)
                rest = Ratio(a.number, monomial((*a.monomial, (g, Fraction(-2 * whole)))), a.factors)
                return self.times(rest, self.power(self.ratio(made.inner), whole))
            if made.kind == "abs" and abs(p) >= 2:
                whole = int(p / 2)
                swap = ((g, Fraction(-2 * whole)), (made.inner, Fraction(2 * whole)))
                return self._related(Ratio(a.number, monomial((*a.monomial, *swap)), a.factors))
        return a

    def reduced(self, poly: Polynomial) -> Polynomial:
        """Squares of roots, of |x| and of sines written without them."""
        for _ in range(24):
            for m in poly:
                square = next((s for g, p in m if p >= 2 and (s := self._square(g)) is not None), None)
                if square is not None:
                    break
            else:
                return poly
            g, instead = square
            rest = {monomial((*m, (g, Fraction(-2)))): poly[m]}
            poly = added([{k: v for k, v in poly.items() if k != m}, multiplied(rest, instead)])
        return poly

    def _square(self, g: int) -> tuple[int, Polynomial] | None:
        made = self.generators[g]
        if made.kind == "sqrt":
            return g, made.inner
        if made.kind == "abs":
            return g, {((made.inner, Fraction(2)),): Fraction(1)}
        if made.kind == "sin":
            cos = self.generator("cos", made.inner)
            return g, {(): Fraction(1), ((cos, Fraction(2)),): Fraction(-1)}
        return None

    # -------------------------------------------------------------------------------------- looking

    def below(self, poly: Iterable[Monomial]) -> frozenset[int]:
        """The variables in monomials, also those inside of functions."""
        return _NONE.union(*(self.generators[g].variables for m in poly for g, _ in m))

    def _inside(self, g: int, kind: str, inner: Any) -> frozenset[int]:
        """The variables of a new generator, by those of what is in it: chains of functions cost a step each."""
        return frozenset((g,)) if kind == "variable" else self.below(_monomials(kind, inner))

    def monomials(self, g: int) -> list[Monomial]:
        """What is inside of a generator."""
        return _monomials(self.generators[g].kind, self.generators[g].inner)

    def sums_inside(self, g: int, known: Container[int]) -> list[int]:
        """The sums that a generator is made of and that are not known, the innermost first, which has the least number.

        Unrolled loops have one around the other for every step, more of them than calls may be nested.
        """
        found: set[int] = set()
        stack = [g]
        while stack:
            inside = {h for m in self.monomials(stack.pop()) for h, _ in m if h not in known}
            stack += inside - found
            found |= inside
        return sorted(h for h in found if self.generators[h].kind == "sum")

    def variables(self, a: Ratio) -> frozenset[int]:
        """The variables of a ratio."""
        return self.below(_all_of(a))


def _all_of(a: Ratio) -> list[Monomial]:
    """The monomials in a ratio."""
    return [a.monomial, *(m for key in a.factors for m, _ in key)]


def _monomials(kind: str, inner: Any) -> list[Monomial]:
    """What is inside of a generator of one kind."""
    if kind in ("variable", "constant"):
        return []
    if kind == "abs":
        return [((inner, Fraction(1)),)]
    if kind in ("exp", "sqrt"):
        return [inner] if kind == "exp" else list(inner)
    return [m for a in (inner if kind == "sum" else (inner,)) for m in _all_of(a)]


def _identity(inner: Any) -> Any:
    if isinstance(inner, tuple) and inner and isinstance(inner[0], Ratio):
        return tuple(map(_identity, inner))
    if isinstance(inner, Ratio):
        return inner.number, inner.monomial, tuple(sorted(inner.factors.items()))
    return key_of(inner) if isinstance(inner, dict) else inner


RING: dict[str, Callable[[Field, Sequence[Ratio]], Ratio]] = {
    "add": lambda field, a: field.plus(a),
    "sub": lambda field, a: field.plus([a[0], field.negative(a[1])]),
    "neg": lambda field, a: field.negative(a[0]),
    "mul": lambda field, a: field.times(*a),
    "div": lambda field, a: field.quotient(*a),
    "scaled_reciprocal": lambda field, a: field.quotient(a[1], a[0]),
    "reciprocal": lambda field, a: field.power(a[0], -1),
    "square": lambda field, a: field.power(a[0], 2),
    "one_less_square": lambda field, a: field.plus([Ratio(Fraction(1)), field.negative(field.power(a[0], 2))]),
}
"""The ops whose values are ratios of polynomials in their operands."""

"""From ratios to terms that keep their digits: nothing overflows that need not, and no digits cancel that are known.

Exponentials are written by t = e^-|w|, roots of differences by their conjugates, 1 - cos u as 2 sin²(u/2), sums of two
squares as hypot; products alternate between factors and divisors, so that neither runs away.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import zip_longest
from typing import Any

from symgrad.formula.accurate.reading import Reader, TooLong, Unreadable
from symgrad.formula.accurate.series import NearPoint, near_point
from symgrad.formula.canonical.scalars.polynomials import Monomial, Polynomial, added, monomial, multiplied
from symgrad.formula.canonical.scalars.ratios import HIGHEST, Field, Key, Ratio, key_of
from symgrad.formula.term import Term, number
from symgrad.op import lookup

_PLAIN = ("variable", "constant", "abs")
Items = list[tuple[Any, int]]
"""Terms with the powers they have in a product."""
TURNS = 16
"""So many factors of one kind stand in turn with others, of higher powers such as are powers themselves."""


def call(name: str, *args: Any) -> Any:
    """An op of terms."""
    return lookup(name)(*args)


def _is_scale(term: Any) -> bool:
    """Whether it is a number that keeps another factor from overflowing: that one is multiplied with it first."""
    return term.op.name == "where" and all(a.number is not None for a in term.args[1:])


def _without_high_powers(powers: dict[Any, int]) -> Items:
    """Π term^power, of which high powers are such of a quotient, or such where there is nothing to divide by.

    Others are some factors and divisors in turn, which keeps products in the range of numbers.  High powers come before
    what else is a divisor: 1 - t^-360 is as large as the power, its square is not.
    """
    left = {t: n for t, n in powers.items() if n}
    found: Items = []
    while plain := [t for t in left if not _is_scale(t)]:
        up, down = max(plain, key=left.__getitem__), min(plain, key=left.__getitem__)
        both = min(left[up], -left[down])
        if both <= HIGHEST:
            break
        found.append(((up / down) ** both, 1))
        left = {t: n for t, n in (left | {up: left[up] - both, down: left[down] + both}).items() if n}
    in_turn = min(left.values(), default=0) < 0 < max(left.values(), default=0)
    for t, n in sorted(left.items(), key=lambda row: row[1] if row[1] < -HIGHEST else 0):
        low = abs(n) <= HIGHEST or _is_scale(t)
        found += [(t, n)] if low else _in_powers(t, n, TURNS if in_turn else 1)
    return found


def _in_powers(term: Any, n: int, turns: int) -> Items:
    """term^n as that many equal powers, and what is left."""
    step, sign = -(-abs(n) // turns), 1 if n > 0 else -1
    times, rest = divmod(abs(n), step)
    return [(term**step if step > 1 else term, sign * times), *([(term**rest, sign)] if rest else [])]


class Writer:
    """Writes ratios of one field; ``scales``: with powers of large variables divided out of sums."""

    def __init__(self, field: Field, scales: bool = True):
        self.field = field
        self.scales = scales
        self.has_scaled = False
        self._written: dict[Any, Any] = {}
        self._generators: dict[int, Any] = {}

    def __call__(self, a: Ratio) -> Any:
        """The term of a ratio."""
        key = (a.number, a.monomial, tuple(sorted(a.factors.items())))
        if key not in self._written:
            direct = self._direct(a)
            short = near_point(self.field, a)
            if short is not None:
                short.narrow(direct, self.field.generators[short.axis.generator].term)
                direct = call("where", *self.near(short), direct)
            self._written[key] = direct
        return self._written[key]

    def near(self, short: NearPoint) -> tuple[Any, Any]:
        """Where a series holds, and its value."""
        g, turned = short.axis
        return short.terms(self.polynomial({((g, Fraction(-1 if turned else 1)),): Fraction(1)}))

    def polynomial(self, poly: Polynomial) -> Any:
        """The term of a polynomial."""
        return self(self.field.ratio(poly))

    # -------------------------------------------------------------------------------------- products

    def _direct(self, a: Ratio) -> Any:
        if not a.number:
            return number(0)
        value, items = a.number, []
        powers: list[tuple[int, Fraction]] = []
        roots: list[tuple[Key, Fraction]] = []
        for g, p in a.monomial:
            made = self.field.generators[g]
            if made.kind == "exp":
                powers.append((g, p))
            elif made.kind == "sqrt" and abs(p) == 1 and self._is_wave(made.inner):
                roots.append((key_of(made.inner), p))
            else:
                items += self._plain(a, g, p)
        waves: dict[Key, Any] = {key: a.factors.get(key, 0) + p / 2 for key, p in roots}
        for key, n in a.factors.items():
            if any(self._exponent(m) for m, _ in key):
                waves.setdefault(key, n)
            else:
                c, more = self._factor(dict(key), n, len(a.factors) + len(items) > 1)
                value *= c
                items += more
        if not powers and not waves and (apart := self._over_both(a)) is not None:
            return apart
        if powers or waves:
            from symgrad.formula.accurate.waves import exponentials

            return exponentials(self, value, items, self._exponent(monomial(powers)), waves)
        return self.product(value, items)

    def _over_both(self, a: Ratio) -> Any:
        """(x - y)/(x y), by the larger number first: the quotient by the smaller one may overflow."""
        if len(a.monomial) != 2 or list(a.factors.values()) != [1] or {p for _, p in a.monomial} != {-1}:
            return None
        ((key, _),) = a.factors.items()
        (g, _), (h, _) = a.monomial
        if {m for m, _ in key} != {((g, Fraction(1)),), ((h, Fraction(1)),)} or not {g, h} <= self.field.below(
            [a.monomial]
        ):
            return None  # of variables only: differences of roots have conjugates
        x, y = self._generator(g), self._generator(h)
        larger = call("gt", call("abs", x), call("abs", y))
        big, small = call("where", larger, x, y), call("where", larger, y, x)
        return self.scaled(a.number, self._sum(dict(key)) / big / small)

    def _plain(self, a: Ratio, g: int, p: Fraction) -> Items:
        """A generator to a power; |x|/x is the sign of x."""
        made = self.field.generators[g]
        if made.kind == "abs" and p == 1 and dict(a.monomial).get(made.inner) == -1:
            return [(call("sign", self._generator(made.inner)), 1)]
        if made.kind == "variable" and p == -1 and any(q == 1 and self._is_size_of(h, g) for h, q in a.monomial):
            return []
        if made.kind == "sqrt" and p < 0:
            pair = self.squares(made.inner)
            if pair is not None and () not in made.inner and all(sign > 0 for _, sign in pair):
                return self._size(pair[0][0], pair[1][0], int(p))
        if p.denominator == 1:
            return [(self._generator(g), int(p))]
        return [(call("sqrt", self._generator(g)), int(2 * p))]

    def _is_size_of(self, h: int, g: int) -> bool:
        made = self.field.generators[h]
        return made.kind == "abs" and made.inner == g

    def product(self, value: Fraction, items: Items) -> Any:
        """number · Π term^power, factors and divisors in turn; what is both is divided out."""
        powers: dict[Any, int] = {}
        for t, n in items:
            powers[t] = powers.get(t, 0) + n
        items = _without_high_powers(powers)
        scales = [t for t, n in items for _ in range(n) if _is_scale(t)]
        above = [t for t, n in items for _ in range(n) if not _is_scale(t)]
        above = [t if s is None else s * t if t is not None else s for t, s in zip_longest(above, scales)]
        below = [t for t, n in items for _ in range(-n)]
        found: Any = None
        if above and abs(value) < 1:
            above[0], value = self.scaled(value, above[0]), Fraction(1)
        while above or below:
            if above:
                found = above.pop(0) if found is None else found * above.pop(0)
            if below:
                top = 1 if found is None else found
                found = number(top) / below.pop(0) if found is None else found / below.pop(0)
        return self.scaled(value, found)

    def scaled(self, value: Fraction, term: Any) -> Any:
        """number · term."""
        if term is None:
            return number(int(value) if value.denominator == 1 else value)
        if value in (1, -1):
            return term if value == 1 else -term
        if value.denominator == 1:
            return number(int(value)) * term
        if abs(value.numerator) == 1:
            found = term / number(value.denominator)
            return found if value > 0 else -found
        return number(value.numerator) * term / number(value.denominator)

    # -------------------------------------------------------------------------------------- generators

    def _generator(self, g: int) -> Any:
        if g not in self._generators:
            for h in (*self.field.sums_inside(g, self._generators), g):
                self._generators[h] = self._made(h)
        return self._generators[g]

    def _made(self, g: int) -> Any:
        made = self.field.generators[g]
        if made.kind in ("variable", "constant"):
            return made.term
        if made.kind == "exp":
            return call("exp", self.polynomial({made.inner: Fraction(1)}))
        if made.kind == "abs":
            return call("abs", self._generator(made.inner))
        if made.kind == "sqrt":
            return self._root(made.inner)
        if made.kind == "ratio":
            return self(made.inner)
        if made.kind == "sum":
            signs = [(Ratio(abs(a.number), a.monomial, a.factors), a.number < 0) for a in made.inner]
            return self.added([(self(a), negative) for a, negative in signs])
        if made.kind == "sqrt_of":
            return call("sqrt", self(made.inner))
        if made.kind == "log":
            from symgrad.formula.accurate.logarithms import logarithm

            return logarithm(self, made.inner)
        if made.kind in ("acos", "acosh"):
            return self._inverse_cosine(made.kind, made.inner)
        return call(made.kind, self(made.inner))

    def _inverse_cosine(self, kind: str, inner: Ratio) -> Any:
        """acos u by 1 - u and 1 + u, and acosh u by u - 1, where these are known better than by u."""
        one = Ratio(Fraction(1))
        minus, plus = (self.field.plus([one, self.field.times(Ratio(Fraction(s)), inner)]) for s in (-1, 1))
        if kind == "acos":
            return number(2) * call("atan2", call("sqrt", self(minus)), call("sqrt", self(plus)))
        u, above = self(inner), self(self.field.times(Ratio(Fraction(-1)), minus))
        near = number(2) * call("asinh", call("sqrt", above) / call("sqrt", number(2)))
        return call("where", call("lt", u, number(4)), near, call("acosh", u))

    def _root(self, poly: Polynomial) -> Any:
        """√(a² + b²) without squares, and √(a² - b²) from its factors."""
        if self._is_wave(poly):
            from symgrad.formula.accurate.waves import exponentials

            return exponentials(self, Fraction(1), [], {}, {key_of(poly): Fraction(1, 2)})
        pair = self.squares(poly)
        if pair is None:
            ratio = self.field.ratio(poly)
            turn = self._half_angle(dict(next(iter(ratio.factors)))) if list(ratio.factors.values()) == [1] else None
            if turn is not None and not ratio.monomial and turn[0] * ratio.number > 0:
                return call("sqrt", number(2 * abs(ratio.number))) * call("abs", turn[1])
            form = self._of_second_order(poly)
            return call("sqrt", self.polynomial(poly)) if form is None else form
        (a, c), (b, d) = pair
        if c > 0 and d > 0:
            return call("hypot", a, b)
        big, small = (call("abs", x) for x in ((a, b) if c > 0 else (b, a)))
        return call("sqrt", big - small) * call("sqrt", big + small)

    def _is_wave(self, poly: Polynomial) -> bool:
        """Whether it is a sum of positive multiples of exponentials."""
        return all(c > 0 for c in poly.values()) and any(set(self._exponent(m)) - {()} for m in poly)

    def _of_second_order(self, poly: Polynomial) -> Any:
        """√(x² + xy + y²), of variables that a power of 2 keeps from being squared to infinity, or to nothing."""
        flat = self._flat(poly)
        variables = sorted({g for m in flat for g, _ in m})
        kinds = {self.field.generators[g].kind for g in variables}
        if kinds != {"variable"} or any(sum(p for _, p in m) != 2 or any(p < 0 for _, p in m) for m in flat):
            return None
        big = functools.reduce(lookup("maximum"), [call("abs", self._generator(g)) for g in variables])
        small = call("where", call("lt", big, number(2.0**-400)), number(2.0**600), number(1))
        scale = call("where", call("gt", big, number(2.0**400)), number(2.0**-600), small)
        other = Writer(self.field)
        other._generators = {g: scale * self._generator(g) for g in variables}
        return call("sqrt", other.polynomial(poly)) / scale

    def _flat(self, poly: Polynomial) -> Polynomial:
        """A polynomial whose sums that were kept in brackets are multiplied out."""
        rows: list[Polynomial] = []
        for m, c in poly.items():
            made = self.field.generators[m[0][0]] if len(m) == 1 and m[0][1] == 1 else None
            parts = [part.polynomial for part in made.inner] if made is not None and made.kind == "sum" else []
            whole = parts and all(part is not None for part in parts)
            rows += [multiplied({(): c}, part) for part in parts if part] if whole else [{m: c}]
        return added(rows)

    def squares(self, poly: Polynomial) -> list[tuple[Any, int]] | None:
        """a and b of ±a² ± b² with their signs."""
        if len(poly) != 2:
            return None
        found = []
        for m, c in poly.items():
            root = Fraction(math.isqrt(abs(c.numerator)), math.isqrt(c.denominator))
            if root**2 != abs(c) or len(m) > 1 or any(p != 2 for _, p in m) or self._kind(m) == "exp":
                return None  # e^(2x) - 1 is expm1(2x)
            base = None if not m else self._generator(m[0][0])
            found.append((self.scaled(root, base), 1 if c > 0 else -1))
        return None if all(not m for m in poly) else found

    def _square_of(self, poly: Polynomial) -> tuple[Fraction, Any] | None:
        """4c and (a ± b)/2 of c(a² ± 2ab + b²)."""
        if len(poly) != 3:
            return None
        for middle, c in poly.items():
            (m, a), (k, b) = ((m, c) for m, c in poly.items() if m != middle)
            if 4 * a * b != c * c or monomial((*m, *k)) != tuple((g, 2 * p) for g, p in middle):
                continue
            first, second = (tuple((g, p / 2) for g, p in n) for n in (m, k))
            if a == b and all(p.denominator == 1 for _, p in (*first, *second)):
                half = Fraction(1, 2)
                return 4 * a, self.polynomial({first: half, second: half if c * a > 0 else -half})
        return None

    # -------------------------------------------------------------------------------------- sums

    def _factor(self, poly: Polynomial, n: int, busy: bool) -> tuple[Fraction, Items]:
        """A sum to a power, as a number and factors; ``busy``: among others, which may make up for its size."""
        sine = self._sine(poly)
        if sine is not None:
            return poly[()] ** n, [(sine, 2 * n)]
        pair = self.squares(poly)
        if pair is not None:
            (a, c), (b, d) = pair
            if c > 0 and d > 0 and (abs(n) == 1 or () not in poly):
                if n < 0 and () not in poly:
                    return Fraction(1), self._size(a, b, 2 * n)
                return Fraction(1), [(call("hypot", a, b), 2 * n)]
            if c != d:
                if n < 0 and c < 0:  # below, b² - a² is +0 and not -0 where it vanishes, whatever sign b has
                    a, b, c = call("abs", b), a, d
                a, b = a / 2, b / 2
                return Fraction(4 * c) ** n, [(a - b, n), (a + b, n)]
        root = self._square_of(poly)
        if root is not None:
            return root[0] ** n, [(root[1], 2 * n)]
        turn = self._half_angle(poly)
        if turn is not None:
            sign, term = turn
            return Fraction(2 * sign) ** n, [(term, 2 * n)]
        cubes = self._cubes(poly)
        if cubes is not None:
            return Fraction(1), [(self.polynomial(part), n) for part in cubes]
        conjugate = self._conjugate(poly)
        if conjugate is not None:
            return Fraction(2) ** n, [(conjugate, n)]
        far = self._far(poly, abs(n)) if self.scales and (busy or n < 0) else None
        if far is not None:
            self.has_scaled = True
            term, scale, degree = far
            return Fraction(1), [(scale, degree * n), (term, n)]
        for write in (self._angle, self._turned, self._sum):
            term = write(poly)
            if term is not None:
                break
        return Fraction(1), [(term, n)]

    def _far(self, poly: Polynomial, n: int) -> tuple[Any, Any, int] | None:
        """p(x), of which the power ``n`` is taken, as p(x)/x^k · x^k for large |x|, so that no power overflows."""
        variables = {g for m in poly for g, _ in m if self.field.generators[g].kind == "variable"}
        if len(variables) != 1:
            return None
        (g,) = variables
        powers = [dict(m).get(g, Fraction(0)) for m in poly]
        degree = max(powers)
        grown = any(c.denominator == 1 and abs(c) > 1 for c in poly.values())
        others = any(len(m) > (p > 0) for m, p in zip(poly, powers, strict=True))
        if min(powers) < 0 or degree.denominator != 1 or not (degree > 1 or (degree == 1 and (others or grown))):
            return None
        x = self._generator(g)
        # Some of the range of numbers is left for what stands beside it.
        far = call("gt", call("abs", x), number(10.0 ** min(9, max(270 // (int(degree) * n), 1))))
        below = {monomial((*m, (g, -degree))): c for m, c in poly.items()}
        term = call("where", far, self._sum(below), self._sum(poly))
        return term, call("where", far, x, number(1)), int(degree)

    def _size(self, a: Any, b: Any, n: int) -> Items:
        """hypot(a, b) to a negative power, where it may overflow."""
        big = call("gt", call("maximum", call("abs", a), call("abs", b)), number(1e30))
        scale = call("where", big, number(0.25), number(1))
        return [(call("hypot", scale * a, scale * b), n), (scale, -n)]

    def _cubes(self, poly: Polynomial) -> tuple[Polynomial, Polynomial] | None:
        """a - b and a² + ab + b² of a³ - b³: the second one hardly cancels."""
        if len(poly) != 2:
            return None
        roots: Polynomial = {}
        for m, c in poly.items():
            r = Fraction(round(abs(c.numerator) ** (1 / 3)), round(c.denominator ** (1 / 3)))
            if r**3 != abs(c) or any(p % 3 for _, p in m):
                return None
            roots[tuple((g, p / 3) for g, p in m)] = r if c > 0 else -r
        (m, a), (k, b) = roots.items()
        return roots, added([{tuple((g, 2 * p) for g, p in m): a * a}, {monomial((*m, *k)): -a * b},
                             {tuple((g, 2 * p) for g, p in k): b * b}])  # fmt: skip

    def _half_angle(self, poly: Polynomial) -> tuple[int, Any] | None:
        """1 ± cos u as 2 cos²(u/2) and 2 sin²(u/2)."""
        cosines = [m[0][0] for m in poly if len(m) == 1 and m[0][1] == 1 and self._kind(m) == "cos"]
        if len(poly) != 2 or () not in poly or not cosines or any(abs(c) != 1 for c in poly.values()):
            return None
        (g,) = cosines
        half = self(self.field.times(Ratio(Fraction(1, 2)), self.field.generators[g].inner))
        one, other = poly[()], poly[((g, Fraction(1)),)]
        return int(one), call("cos" if one == other else "sin", half)

    def _sine(self, poly: Polynomial) -> Any:
        """sin u of c - c·cos² u."""
        squares = [m[0][0] for m in poly if len(m) == 1 and m[0][1] == 2 and self._kind(m) == "cos"]
        if len(poly) != 2 or not squares or poly.get(()) != -poly[((squares[0], Fraction(2)),)]:
            return None
        return call("sin", self(self.field.generators[squares[0]].inner))

    def _kind(self, m: Monomial) -> str:
        return self.field.generators[m[0][0]].kind if m else ""

    def _conjugate(self, poly: Polynomial) -> Any:
        """(a + b)/2 = (a² - b²)/4 / (a/2 - b/2) where roots of opposite sign have a short difference of squares."""
        parts: dict[int | None, Polynomial] = {}
        for m, c in poly.items():
            roots = [g for g, p in m if self.field.generators[g].kind == "sqrt" and p == 1]
            if len(roots) > 1:
                return None
            rest = monomial((*m, (roots[0], Fraction(-1)))) if roots else m
            parts.setdefault(roots[0] if roots else None, {})[rest] = c
        if len(parts) != 2 or set(parts) == {None}:
            return None
        (r, a), (s, b) = parts.items()
        under: list[Polynomial] = [{(): Fraction(1)} if g is None else self.field.generators[g].inner for g in (r, s)]
        minus: Polynomial = {(): Fraction(-1)}
        top = self.field.reduced(
            added([multiplied(multiplied(a, a), under[0]), multiplied(minus, multiplied(multiplied(b, b), under[1]))])
        )
        alike = len({c > 0 for c in top.values()}) == 1
        if not alike and (len(top) > 2 or (len(top) == 2 and len(poly) > 2)):
            return None
        one, two = (self._times_root({m: c / 2 for m, c in p.items()}, g) for p, g in ((a, r), (b, s)))
        fixed = dict.fromkeys((*a, *b)) == {(): None}
        if fixed and a[()] * b[()] > 0:
            return one + two
        part = self.field.ratio(top)
        whole = part.factors or any(self.field.generators[g].kind == "exp" for g, _ in part.monomial)
        items: Items = [] if whole else [i for g, p in part.monomial for i in self._plain(part, g, p)]
        if whole:
            items.append((self(Ratio(Fraction(1), part.monomial, part.factors)), 1))
        safe = self.product(part.number / 4, [*items, (one - two, -1)])
        if fixed and whole:  # of e^x/(√(1 + e^x) + 1) the parts overflow where the difference loses nothing
            return call("where", call("gt", call("abs", one + two), number(1e8)), one + two, safe)
        if fixed:
            return safe
        return call("where", call("lt", self.polynomial(multiplied(a, b)), number(0)), safe, one + two)

    def _times_root(self, poly: Polynomial, g: int | None) -> Any:
        term = self.polynomial(poly)
        return term if g is None else self.product(Fraction(1), [(term, 1), (self._generator(g), 1)])

    def _angle(self, poly: Polynomial) -> Any:
        """atan a - atan b as the angle between them."""
        if len(poly) != 2 or set(map(abs, poly.values())) != {Fraction(1)} or sum(poly.values(), Fraction(0)):
            return None
        if any(len(m) != 1 or m[0][1] != 1 or self._kind(m) != "atan" for m in poly):
            return None
        a, b = (self.field.generators[m[0][0]].inner for m, c in sorted(poly.items(), key=lambda row: -row[1]))
        apart = self.field.plus([a, self.field.times(Ratio(Fraction(-1)), b)])
        if len(apart.factors) > 1 or any(len(key) > 2 or n != 1 for key, n in apart.factors.items()):
            return None
        x, y, d = self(a), self(b), self(apart)
        size = call("maximum", call("abs", x), number(1))
        angle = call("atan2", d / size, 1 / size + (x / size) * y)
        if not apart.factors and not apart.monomial:
            return angle
        sizes = [call("abs", x), call("abs", y)]
        apart_ = call("logical_and", call("lt", call("minimum", *sizes), number(1e-9)), call("gt", size, number(1)))
        across = call("lt", call("sign", x) * call("sign", y), number(0))
        return call("where", call("logical_or", apart_, across), call("atan", x) - call("atan", y), angle)

    def _turned(self, poly: Polynomial) -> Any:
        """sin a - sin b and cos a - cos b for close a and b, by sin((a - b)/2) and the angle b and half of that."""
        kinds = {self._kind(m) if len(m) == 1 and m[0][1] == 1 else "" for m in poly}
        if len(poly) != 2 or kinds not in ({"sin"}, {"cos"}) or set(poly.values()) != {Fraction(1), Fraction(-1)}:
            return None
        a, b = (self.field.generators[m[0][0]].inner for m, _ in sorted(poly.items(), key=lambda row: -row[1]))
        if b.factors and not a.factors:  # the sum is rounded: the angle that is none is added to
            negative = self._turned({m: -c for m, c in poly.items()})
            return None if negative is None else -negative
        apart = self.field.plus([a, self.field.times(Ratio(Fraction(-1)), b)])
        if len(apart.factors) > 1 or any(len(key) > 2 or n != 1 for key, n in apart.factors.items()):
            return None
        x, half = self(b), self(self.field.times(Ratio(Fraction(1, 2)), apart))
        (s, c), (u, v) = ((call("sin", w), call("cos", w)) for w in (x, half))
        if kinds == {"sin"}:
            near, far = 2 * u * (c * v - s * u), call("sin", self(a)) - s
        else:
            near, far = -2 * u * (s * v + c * u), call("cos", self(a)) - c
        return near if apart.number and not apart.monomial and not apart.factors else call(
            "where", call("lt", call("abs", half), number(1)), near, far
        )  # fmt: skip

    def _sum(self, poly: Polynomial) -> Any:
        """Functions times polynomials, added up; logarithms are joined first."""
        from symgrad.formula.accurate.logarithms import joined

        rows = joined(self, poly)
        self._versines(poly, rows)
        groups: dict[Monomial, Polynomial] = {}
        for m, c in poly.items():
            own = tuple((g, p) for g, p in m if self.field.generators[g].kind not in _PLAIN)
            plain = tuple((g, p) for g, p in m if self.field.generators[g].kind in _PLAIN)
            if m not in rows.used:
                groups.setdefault(own, {})[plain] = c
        terms: list[tuple[Any, bool]] = rows.terms
        for own, rest in groups.items():
            if not own:
                terms += [self._signed(c, {m: Fraction(1)}) for m, c in rest.items()]
            else:
                found = self.field.times(Ratio(Fraction(1), own), self.field.ratio(rest))
                terms.append((self(Ratio(abs(found.number), found.monomial, found.factors)), found.number < 0))
        return self.added(terms)

    def _versines(self, poly: Polynomial, rows: Any) -> None:
        """c - c·cos u among other terms."""
        for m, c in poly.items():
            if len(m) == 1 and m[0][1] == 1 and self._kind(m) == "cos" and poly.get(()) == -c and () not in rows.used:
                half = self.field.times(Ratio(Fraction(1, 2)), self.field.generators[m[0][0]].inner)
                sine = call("sin", self(half))
                rows.terms.append((self.product(2 * abs(c), [(sine, 2)]), c > 0))
                rows.used |= {m, ()}

    def _signed(self, c: Fraction, poly: Polynomial) -> tuple[Any, bool]:
        ((m, _),) = poly.items()
        return self(Ratio(abs(c), m)), c < 0

    def added(self, terms: Sequence[tuple[Any, bool]]) -> Any:
        """The sum of (term, whether it is subtracted)."""
        (first, negative), *rest = sorted(terms, key=lambda row: row[1])
        found: Term = -first if negative else first
        for term, taken in rest:
            found = found - term if taken else found + term
        return found

    # -------------------------------------------------------------------------------------- exponentials

    def _exponent(self, m: Monomial) -> Polynomial:
        """The polynomial in the exponent of the exponentials in a monomial."""
        return {self.field.generators[g].inner: p for g, p in m if self.field.generators[g].kind == "exp"}


def rewritten(
    scalar: Term, expands: bool = True, collects: bool = False, scales: bool = True
) -> tuple[Reader, Term | None, bool]:
    """A formula of scalars as what it is read as is written; None where it cannot be, or is the same.

    ``collects``: sums are multiplied out, so that they can be scaled where their terms would overflow; ``scales``:
    sums are, where a variable is large.  Last comes whether some have been.
    """
    reader = Reader(expands)
    reader.field.collects = collects
    try:
        ratio = reader(scalar)
        writer = Writer(reader.field, scales)
        try:
            found = writer(ratio)
        except TooLong:  # sums in e^x and e^e^x at once are as they were, but for their series
            short = near_point(reader.field, ratio)
            found = scalar if short is None else call("where", *writer.near(short), scalar)
    except (Unreadable, TooLong, ZeroDivisionError, OverflowError):
        return reader, None, False
    return reader, None if found is scalar else found, writer.has_scaled

"""Products with exponentials: every sum in e^w is written in t = e^-|w|, which never overflows.

``e^x/(1 + e^x)²`` is t/(1 + t)² for either sign of x.  The power of e^w that is left over is applied in two halves, so
that it does not underflow or overflow before the other factors had their say.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from symgrad.formula.canonical.scalars.polynomials import Polynomial, TooLong, added, monomial
from symgrad.formula.canonical.scalars.ratios import Key, Ratio, key_of
from symgrad.formula.term import number
from symgrad.op import lookup

if TYPE_CHECKING:
    from symgrad.formula.accurate.writing import Items, Writer

LONGEST = 12
"""Higher powers of e^w in one sum are left alone."""


def times(poly: Polynomial, by: Fraction | int) -> Polynomial:
    """A multiple of a polynomial."""
    return {m: c * by for m, c in poly.items() if by}


class Piece:
    """Σ coefs[k] · e^(k·w), without what all terms have in common, to the power ``power``, which may be ±½."""

    __slots__ = ("coefs", "lowest", "power")

    def __init__(self, coefs: dict[int, Polynomial], lowest: Polynomial, power: Any):
        self.coefs = coefs
        self.lowest = lowest
        self.power = power

    @property
    def highest(self) -> int:
        """The largest k."""
        return max(self.coefs)

    @property
    def numbers(self) -> dict[int, Fraction] | None:
        """The coefficients where they are numbers."""
        if any(set(c) != {()} for c in self.coefs.values()):
            return None
        return {k: c[()] for k, c in self.coefs.items()}

    @property
    def scale(self) -> Fraction:
        """A power of 2 without which no coefficient overflows where its variables do not."""
        largest = max((abs(c) for poly in self.coefs.values() for m, c in poly.items() if m), default=Fraction(1))
        return Fraction(2 ** max(math.ceil(math.log2(largest)), 0))

    def times(self, by: Fraction) -> Piece:
        """A multiple of the sum."""
        return Piece({k: times(poly, by) for k, poly in self.coefs.items()}, self.lowest, self.power)

    @property
    def kind(self) -> int:
        """1 for e^kw + 1, -1 for e^kw - 1, else 0."""
        numbers = self.numbers if Fraction(self.power).denominator == 1 else None
        if numbers is None or len(numbers) != 2 or numbers[self.highest] != 1 or abs(numbers[0]) != 1:
            return 0
        return int(numbers[0])


class Waves:
    """The sums in e^w of a product, for one w; ``left`` is the exponent of what stands before them."""

    def __init__(self, w: Polynomial, pieces: Sequence[Piece], left: Polynomial):
        self.w = w
        self.pieces = list(pieces)
        self.left = left

    def exponents(self) -> tuple[Polynomial, Polynomial]:
        """What is left in front for w > 0 and for w < 0, when the pieces are written in t."""
        low = added([self.left, *(times(p.lowest, p.power) for p in self.pieces)])
        return added([low, *(times(self.w, p.power * p.highest) for p in self.pieces)]), low


def waves_of(writer: Writer, left: Polynomial, factors: dict[Key, Any]) -> Waves:
    """The sums of a product in powers of one e^w.  Raises ``TooLong`` where there is no such w."""
    try:
        return _waves_of(writer, left, factors, True)
    except TooLong:  # of e^x + e^(x + 1), e is taken for a coefficient
        return _waves_of(writer, left, factors, False)


def _waves_of(writer: Writer, left: Polynomial, factors: dict[Key, Any], whole: bool) -> Waves:
    rows: list[tuple[list[tuple[Polynomial, Polynomial]], int]] = []
    steps: list[Fraction] = []
    direction: Polynomial | None = None
    for key, n in factors.items():
        groups: dict[Key, Polynomial] = {}
        moving = not whole and any(any(writer._exponent(m)) for m, _ in key)
        for m, c in key:
            exponent = writer._exponent(m)
            if moving:
                exponent.pop((), None)
            rest = tuple((g, p) for g, p in m if not _is_power(writer, g, moving))
            groups.setdefault(key_of(exponent), {})[rest] = c
        row = [(dict(e), poly) for e, poly in groups.items()]
        rows.append((row, n))
        for e, _ in row[1:]:
            apart = added([e, times(row[0][0], -1)])
            if direction is None:
                direction = times(apart, 1 / apart[min(apart)])
            steps.append(_multiple(apart, direction))
    if direction is None:
        raise TooLong
    unit = Fraction(math.gcd(*(s.numerator for s in steps)), math.lcm(*(s.denominator for s in steps)))
    w = times(direction, unit)
    pieces = []
    for row, n in rows:
        ks = [_multiple(added([e, times(row[0][0], -1)]), w) for e, _ in row]
        least = min(ks)
        lowest = row[ks.index(least)][0]
        piece = Piece({int(k - least): poly for k, (_, poly) in zip(ks, row, strict=True)}, lowest, n)
        if piece.highest > LONGEST:
            raise TooLong
        pieces.append(piece)
    return Waves(w, pieces, left)


def _is_power(writer: Writer, g: int, moving: bool) -> bool:
    """Whether a generator is e^w; e to a number is one only where nothing else moves."""
    made = writer.field.generators[g]
    return made.kind == "exp" and (bool(made.inner) or not moving)


def _multiple(poly: Polynomial, of: Polynomial) -> Fraction:
    """How many times ``of`` a polynomial is."""
    if not poly:
        return Fraction(0)
    if set(poly) != set(of):
        raise TooLong
    ratios = {poly[m] / of[m] for m in of}
    if len(ratios) > 1:
        raise TooLong
    return ratios.pop()


def exponentials(writer: Writer, value: Fraction, items: Items, left: Polynomial, factors: dict[Key, Any]) -> Any:
    """value · Π items · e^left · Π factors."""
    items = list(items)
    fixed = {key: n for key, n in factors.items() if all(set(writer._exponent(m)) <= {()} for m, _ in key)}
    if fixed:
        items += [(writer(Ratio(Fraction(1), (), {key: 1})), n) for key, n in fixed.items()] if len(factors) > 1 else []
        factors = {key: n for key, n in factors.items() if key not in fixed} if len(factors) > 1 else factors
    if not factors:
        return _with_power(writer, value, items, writer.polynomial(left), left)
    waves = waves_of(writer, left, factors)
    named = _named(writer, waves, bool(items))
    if named is not None:
        number_, term, power, rest = named
        value, items = value * number_, [*items, (term, power)]
        waves = rest
    if not waves.pieces:
        if not waves.left:
            return writer.product(value, items)
        return _with_power(writer, value, items, writer.polynomial(waves.left), waves.left)
    open_ = bool(items) or any(p.numbers is None for p in waves.pieces)
    w = writer.polynomial(waves.w)
    size = Size(writer, waves.w)
    for piece in waves.pieces:
        whole = Fraction(piece.power)
        scale = piece.scale if whole.denominator == 1 else Fraction(1)
        value *= scale ** int(whole)
        items += sums(writer, piece.times(1 / scale), w, size)
    up, down = waves.exponents()
    if not up and not down:
        return writer.product(value, items)
    if up == down:
        return _with_power(writer, value, items, writer.polynomial(up), up)
    if up == times(down, -1) and set(up) == set(waves.w):
        by = _multiple(down, waves.w)
        if by > 0:
            if not open_:
                return writer.product(value, [(size.decay(by), 1), *items])
            half = size.decay(by / 2)
            return writer.product(Fraction(1), [(writer.scaled(value, half), 1), *items]) * half
    one_sided = _one_sided(waves, up, down)
    if one_sided is not None:
        by, growing = one_sided
        side_ = lookup("gt")(w, number(0)) if not growing else lookup("lt")(w, number(0))
        decay = lookup("where")(side_, number(1), size.decay(by / 2 if open_ else by))
        found = writer.product(Fraction(1), [(writer.scaled(value, decay), 1), *items])
        return found * decay if open_ else found
    arg = lookup("where")(lookup("gt")(w, number(0)), writer.polynomial(up), writer.polynomial(down))
    return _with_power(writer, value, items, arg, {})


def _one_sided(waves: Waves, up: Polynomial, down: Polynomial) -> tuple[Fraction, bool] | None:
    """k where what is left is 1 for one sign of w and e^-k|w| for the other; and whether that is the positive one."""
    by = -_multiple(up, waves.w) if not down and set(up) == set(waves.w) else None
    if by is None:
        by = _multiple(down, waves.w) if not up and set(down) == set(waves.w) else Fraction(0)
        return (by, False) if by > 0 else None
    return (by, True) if by > 0 else None


def _with_power(writer: Writer, value: Fraction, items: Items, arg: Any, poly: Polynomial) -> Any:
    """e^arg times the rest: in two halves where the rest can be far from 1."""
    # The square of e^x is e^(2x), and its error that of e^x.
    squares: Polynomial = {m: c for m, c in poly.items() if len(m) == 1 and m[0][1] == 2 and writer._kind(m) != "exp"}
    if squares:
        items, arg = _squares_apart(writer, items, poly, squares)
    if not items and abs(value) >= 1:
        return writer.product(value, [(lookup("exp")(arg), 1)])
    half = lookup("exp")(arg / number(2))
    return writer.product(Fraction(1), [(writer.scaled(value, half), 1), *items]) * half


def _squares_apart(writer: Writer, items: Items, poly: Polynomial, squares: Polynomial) -> tuple[Items, Any]:
    """e^(c·x²): x² is h² + (x - h)(x + h), where h has few digits, so that its square has no rounding error."""
    parts, small = [], []
    for m, c in squares.items():
        x = writer._generator(m[0][0])
        few = lookup("round")(x * number(128)) / number(128)
        usual = lookup("lt")(lookup("abs")(x), number(4096))
        h = lookup("where")(usual, few, x)
        parts.append((writer.scaled(abs(c), h * h), c < 0))
        rest = lookup("where")(usual, (x - few) * (x + few), number(0))
        small.append((writer.scaled(abs(c), rest), c < 0))
    others = {m: c for m, c in poly.items() if m not in squares}
    if others:
        parts.append((writer.polynomial(others), False))
    return [*items, (lookup("exp")(writer.added(small)), 1)], writer.added(parts)


def _named(writer: Writer, waves: Waves, busy: bool) -> tuple[Fraction, Any, int, Waves] | None:
    """tanh, sinh, cosh and expm1 where the product has one of them."""
    by_kind = {p.kind: p for p in waves.pieces if p.kind}
    minus, plus = by_kind.get(-1), by_kind.get(1)
    if minus is not None and plus is not None and minus.highest == plus.highest and minus.power * plus.power < 0:
        n = min(abs(minus.power), abs(plus.power)) * (1 if minus.power > 0 else -1)
        half = writer.polynomial(times(waves.w, Fraction(minus.highest, 2)))
        rest = [p for p in waves.pieces if p not in (minus, plus)]
        rest += [Piece(p.coefs, p.lowest, p.power - m) for p, m in ((minus, n), (plus, -n)) if p.power != m]
        low = added([waves.left, times(minus.lowest, n), times(plus.lowest, -n)])
        return Fraction(1), lookup("tanh")(half), n, Waves(waves.w, rest, low)
    if len(waves.pieces) != 1 or waves.pieces[0].power < 0 or not waves.pieces[0].kind:
        return None
    if busy:
        return None
    (piece,) = waves.pieces
    n, k = piece.power, piece.highest
    low = waves.exponents()[1]
    if low == times(waves.w, -Fraction(n * k, 2)):
        half = writer.polynomial(times(waves.w, Fraction(k, 2)))
        name = "cosh" if piece.kind == 1 else "sinh"
        return Fraction(2) ** n, lookup(name)(half), n, Waves(waves.w, [], {})
    if piece.kind == 1:
        return None
    if not low:
        return Fraction(1), lookup("expm1")(writer.polynomial(times(waves.w, k))), n, Waves(waves.w, [], {})
    if low == times(waves.w, -n * k):
        return Fraction(-1) ** n, lookup("expm1")(writer.polynomial(times(waves.w, -k))), n, Waves(waves.w, [], {})
    return None


class Size:
    """|w| and e^-k|w|, corrected by what the rounding of w lost where it is a difference of variables or a square.

    It ``vanishes`` where a variable is far out: 1/x.
    """

    def __init__(self, writer: Writer, poly: Polynomial):
        self.writer = writer
        w = writer.polynomial(poly)
        self.term = lookup("abs")(w)
        self.vanishes = any(p < 0 and writer.field.generators[g].kind == "variable" for m in poly for g, p in m)
        self.lost: Any = None
        lost = self._of_difference(poly)
        lost = self._of_square(poly, w) if lost is None else lost
        if lost is not None:
            lost = lookup("where")(lookup("lt")(self.term, number(2000)), lost, number(0))
            self.lost = lookup("where")(lookup("gt")(w, number(0)), lost, -lost)

    def _of_difference(self, poly: Polynomial) -> Any:
        if len(poly) != 2 or any(len(m) != 1 or m[0][1] != 1 or abs(c) != 1 for m, c in poly.items()):
            return None
        rows = sorted(poly.items(), key=lambda row: -row[1])
        a, b = (self.writer.scaled(c, self.writer._generator(m[0][0])) for m, c in rows)
        total = a + b
        part = total - a
        return (a - (total - part)) + (b - part)

    def _of_square(self, poly: Polynomial, w: Any) -> Any:
        """x² is h² + (x - h)(x + h), where h has few digits, so that its square has no rounding error."""
        ((m, c),) = poly.items() if len(poly) == 1 else (((), Fraction(0)),)
        if len(m) != 1 or m[0][1] != 2 or {c.numerator, c.denominator} - {1, -1, 2, 4}:
            return None
        x = self.writer._generator(m[0][0])
        h = lookup("round")(x * number(128)) / number(128)
        return (self.writer.scaled(c, h * h) - w) + self.writer.scaled(c, (x - h) * (x + h))

    def decay(self, by: Fraction) -> Any:
        """e^-by|w|."""
        found = lookup("exp")(-self.writer.scaled(by, self.term))
        return found if self.lost is None else found - found * self.writer.scaled(by, self.lost)


def sums(writer: Writer, piece: Piece, w: Any, size: Any) -> Items:
    """A piece in t = e^-|w|."""
    if piece.kind == -1:
        less = -lookup("expm1")(-writer.scaled(Fraction(piece.highest), size.term))
        sign = [(lookup("where")(lookup("lt")(w, number(0)), number(-1), number(1)), 1)] if piece.power % 2 else []
        return [(less, piece.power), *sign]
    up, down = (side(writer, piece, size, first) for first in (piece.highest, 0))
    term = up if up is down else lookup("where")(lookup("gt")(w, number(0)), up, down)
    power = Fraction(piece.power)
    whole = int(power)
    half = [] if power == whole else [(lookup("sqrt")(term), 1 if power > 0 else -1)]
    return [(term, whole), *half]


def side(writer: Writer, piece: Piece, size: Any, first: int, skip: bool = False) -> Any:
    """The sum where e^(first · w) is its largest power, which is taken out."""
    rows = []
    for poly, t, fades in _in_decays(writer, piece, size, first):
        if t is None and skip:
            continue
        found = writer.field.ratio(poly)
        scale, bare = _halved(found)
        items = [(writer(bare), 1)] if found.monomial or found.factors else []
        term = writer.product(abs(scale), items + [(t, 1)] * (t is not None))
        if fades and _grows(found):
            term = lookup("where")(lookup("gt")(t, number(0)), term, number(0))
        rows.append((term, found.number < 0))
    return writer.added(rows)


def _in_decays(writer: Writer, piece: Piece, size: Any, first: int) -> list[tuple[Polynomial, Any, bool]]:
    """The coefficients, what each is multiplied with, and whether that is 0 far out: powers of t = e^-|w|.

    1 - x + x t is 1 + x (t - 1) where t is e^-1/x: far out, where that is next to 1, the terms of the first one cancel.
    So do those of l - 2 l t + l t² near 0, where l is a logarithm, which has no series there.
    """
    n = piece.highest
    coefs = {abs(k - first): poly for k, poly in piece.coefs.items()}
    plain = [(coefs[k], size.decay(Fraction(k)) if k else None, k > 0) for k in sorted(coefs)]
    if piece.numbers is not None or not (size.vanishes or _have_logarithms(writer, piece)):
        return plain
    about = _about_one(coefs)  # Σ b (t - 1)^k
    other = _about_one({n - k: poly for k, poly in coefs.items()})  # Σ c (1 - t)^k t^(n - k)
    best = min((coefs, about, other), key=lambda rows: sum(map(len, rows.values())))
    if best is coefs:
        return plain
    less = lookup("expm1")(-size.term)
    found = []
    for k, poly in best.items():
        powers = [(less, k)] + [(size.decay(Fraction(n - k)), 1)] * (best is other and k < n)
        by = writer.product(Fraction(1), powers) if any(p for _, p in powers) else None
        found.append((times(poly, -1) if best is other and k % 2 else poly, by, best is other and k < n))
    return found


def _have_logarithms(writer: Writer, piece: Piece) -> bool:
    """Whether a coefficient is a multiple of a logarithm."""
    atoms = {g for poly in piece.coefs.values() for m in poly for g, _ in m}
    return any(writer.field.generators[g].kind == "log" for g in atoms)


def _about_one(coefs: dict[int, Polynomial]) -> dict[int, Polynomial]:
    """The coefficients of a polynomial in t as those of one in t - 1."""
    rows = {
        j: added([times(poly, math.comb(k, j)) for k, poly in coefs.items() if k >= j]) for j in range(max(coefs) + 1)
    }
    return {j: poly for j, poly in rows.items() if poly}


def _grows(a: Ratio) -> bool:
    """Whether a coefficient has squares, which overflow where e^-|w| is 0."""
    return any(sum(p for _, p in m) > 1 for m in (a.monomial, *(m for key in a.factors for m, _ in key)))


def _halved(a: Ratio) -> tuple[Fraction, Ratio]:
    """A number and the rest, whose sum has no multiples of variables that could overflow on their own."""
    if len(a.factors) != 1:
        return a.number, Ratio(Fraction(1), a.monomial, a.factors)
    ((key, n),) = a.factors.items()
    largest = max(abs(c) for m, c in key if m) if n == 1 else Fraction(1)
    scale = 2 ** max(math.ceil(math.log2(largest)), 0)
    rest = {key_of({m: c / scale for m, c in key}): n}
    return a.number * scale, Ratio(Fraction(1), a.monomial, rest)


__all__ = ["Piece", "Waves", "exponentials", "monomial", "side", "sums", "times", "waves_of"]

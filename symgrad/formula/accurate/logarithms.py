"""Logarithms: log1p of what is added to 1, sums of exponentials by their largest term, quotients by differences."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from symgrad.formula.accurate.series import near_point
from symgrad.formula.accurate.waves import Piece, Size, Waves, side, sums as pieces, times, waves_of
from symgrad.formula.accurate.writing import call
from symgrad.formula.canonical.scalars.polynomials import Monomial, Polynomial, TooLong, added, monomial
from symgrad.formula.canonical.scalars.ratios import Ratio, key_of
from symgrad.formula.term import number

if TYPE_CHECKING:
    from symgrad.formula.accurate.writing import Writer


def logarithm(writer: Writer, inner: Ratio) -> Any:
    """log(inner)."""
    left = writer._exponent(inner.monomial)
    sums = {k: n for k, n in inner.factors.items() if any(writer._exponent(m) for m, _ in k)}
    if left or sums:
        found = _of_exponentials(writer, inner, left, sums) if sums else None
        found = _far_out(writer, inner, left, sums) if sums and found is None else found
        found = _of_product(writer, inner, left) if not sums else found
        return _plainly(writer, inner) if found is None else found
    twice = _of_small_logarithm(writer, inner)
    if twice is not None:
        return twice
    poly = inner.polynomial
    if poly is not None and not any(p < 0 for m in poly for _, p in m):
        return _of_sum(writer, inner, poly)
    top = Ratio(inner.number, tuple((g, p) for g, p in inner.monomial if p > 0), _signed(inner, 1))
    below = Ratio(Fraction(1), tuple((g, -p) for g, p in inner.monomial if p < 0), _signed(inner, -1))
    apart = writer.field.plus([top, writer.field.times(Ratio(Fraction(-1)), below)])
    if _length(apart) > 2:
        return call("log", writer(inner))
    a, b = writer(top), writer(below)
    squares = inner.number == 1 and any(abs(p) > 1 for _, p in inner.monomial)
    return _near_one(writer, apart, a, b, inner if squares else None)


def _of_small_logarithm(writer: Writer, inner: Ratio) -> Any:
    """log(log(1 + e^u)): where e^u is less than a rounding error of 1, it is u."""
    if inner.factors or inner.number != 1 or len(inner.monomial) != 1 or inner.monomial[0][1] != 1:
        return None
    made = writer.field.generators[inner.monomial[0][0]]
    if made.kind != "log" or made.inner.monomial or made.inner.number != 1 or list(made.inner.factors.values()) != [1]:
        return None
    (poly,) = map(dict, made.inner.factors)
    others = [m for m in poly if m]
    if poly.get(()) != 1 or len(others) != 1 or poly[others[0]] != 1:
        return None
    (m,) = others
    if any(writer.field.generators[g].kind != "exp" for g, _ in m):
        return None
    u = writer.polynomial(writer._exponent(m))
    return call("where", call("lt", u, number(-40)), u, call("log", logarithm(writer, made.inner)))


def _far_out(writer: Writer, inner: Ratio, left: Polynomial, sums: dict[Any, int]) -> Any:
    """log of a product with other factors, whose exponentials are added as logarithms where they may overflow."""
    rest = [(g, p) for g, p in inner.monomial if writer.field.generators[g].kind != "exp"]
    others = {k: n for k, n in inner.factors.items() if k not in sums}
    if others:
        return None
    waves = waves_of(writer, left, sums)
    up, down = waves.exponents()
    if not up and not down:
        return None
    w = writer.polynomial(waves.w)
    size = Size(writer, waves.w)
    items = [item for g, p in rest for item in writer._plain(inner, g, p)]
    for piece in waves.pieces:
        items += pieces(writer, piece, w, size)
    product = call("log", writer.product(inner.number, items))
    apart = writer.added([_linear(writer, waves, up, down, w, size), (product, False)])
    return call("where", call("gt", size.term, number(300)), apart, _plainly(writer, inner))


def _of_product(writer: Writer, inner: Ratio, left: Polynomial) -> Any:
    """log(c e^w), as of a density, by w where e^w is next to 0, or overflows."""
    rest = tuple((g, p) for g, p in inner.monomial if writer.field.generators[g].kind != "exp")
    if not rest and not inner.factors and inner.number <= 0:
        return None
    w = writer.polynomial(left)
    apart = w + call("log", writer(Ratio(inner.number, rest, inner.factors)))
    return call("where", call("gt", call("abs", w), number(300)), apart, _plainly(writer, inner))


def _plainly(writer: Writer, inner: Ratio) -> Any:
    """log(inner) as it is; near 0 by its series, where it is small."""
    direct = call("log", writer(inner))
    near = near_point(writer.field, writer.field.single(writer.field.generator("log", inner)), logarithm=True)
    return direct if near is None else call("where", *writer.near(near), direct)


def _powers_apart(writer: Writer, a: Ratio, value: Any, otherwise: Any) -> Any:
    """log(x²/y), given x²/y, as 2 log x - log y where that is far out."""
    rows = [(p, writer._generator(g)) for g, p in a.monomial]
    rows += [(Fraction(n), writer.polynomial(dict(key))) for key, n in a.factors.items()]
    logs = [(writer.scaled(abs(p), call("log", call("abs", x))), p < 0) for p, x in rows]
    apart = writer.added(logs)
    far = call("logical_and", call("gt", call("abs", apart), number(600)), call("ge", value, number(0)))
    return call("where", far, apart, otherwise)


def _near_one(writer: Writer, apart: Ratio, a: Any, b: Any, powers: Ratio | None = None) -> Any:
    """log(a/b), from the difference where a and b are close; as a difference where they lie on both sides of 1.

    ``powers``: the quotient, where it has powers that may overflow.
    """
    d = writer(apart)
    across = call("logical_xor", call("lt", a, number(1)), call("lt", b, number(1)))
    both = call("logical_and", across, call("gt", b, number(0)))
    far = call("where", both, call("log", a) - call("log", b), call("log", a / b))
    far = far if powers is None else _powers_apart(writer, powers, a / b, far)
    near = call("lt", call("abs", d), call("abs", b) / number(2))
    share = d / b
    if powers is not None:
        share = writer(writer.field.plus([powers, Ratio(Fraction(-1))]))
    return call("where", near, call("log1p", share), far)


def _signed(a: Ratio, sign: int) -> dict[Any, int]:
    return {k: n * sign for k, n in a.factors.items() if n * sign > 0}


def _length(a: Ratio) -> int:
    return len(next(iter(a.factors))) if len(a.factors) == 1 else 1 + 9 * bool(a.factors)


def _of_sum(writer: Writer, inner: Ratio, poly: Polynomial) -> Any:
    """The logarithm of a sum without exponentials."""
    known = _inverse_wave(writer, poly)
    if known is not None:
        return known
    pair = writer.squares(poly)
    if pair is not None and all(sign > 0 for _, sign in pair):
        (a, _), (b, _) = pair
        sizes = [call("abs", x) for x in (a, b)]
        big, small = call("maximum", *sizes), call("minimum", *sizes)
        near = call("logical_and", call("lt", big, number(1.5)), call("gt", big, number(0.5)))
        if () in poly:
            big, near = number(1), call("lt", sizes[0] if a.number is None else sizes[1], number(1))
            small = sizes[0] if a.number is None else sizes[1]
        less = small * small if () in poly else (big - 1) * (big + 1) + small * small
        big, small = call("maximum", *sizes), call("minimum", *sizes)
        share = small / big
        return call("where", near, call("log1p", less), 2 * call("log", big) + call("log1p", share * share))
    if poly.get(()) == 1 and len(poly) > 1:
        return call("log1p", writer.polynomial({m: c for m, c in poly.items() if m}))
    return call("log", writer(inner))


def _inverse_wave(writer: Writer, poly: Polynomial) -> Any:
    """log(x + √(x² ± 1)) = asinh x, acosh x."""
    if len(poly) != 2 or set(poly.values()) != {Fraction(1)}:
        return None
    roots = [m[0][0] for m in poly if len(m) == 1 and m[0][1] == 1 and writer._kind(m) == "sqrt"]
    bases = [m for m in poly if not (m and writer._kind(m) == "sqrt")]
    if len(roots) != 1 or len(bases) != 1:
        return None
    (base,) = bases
    apart = added([writer.field.generators[roots[0]].inner, {tuple((g, 2 * p) for g, p in base): Fraction(-1)}])
    if set(apart) != {()} or abs(apart[()]) != 1:
        return None
    return call("asinh" if apart[()] == 1 else "acosh", writer.polynomial({base: Fraction(1)}))


def _of_exponentials(writer: Writer, inner: Ratio, left: Polynomial, sums: dict[Any, int]) -> Any:
    """log of number · e^left · Π (sums in e^w)^n."""
    rest = [(g, p) for g, p in inner.monomial if writer.field.generators[g].kind != "exp"]
    if rest or len(sums) != len(inner.factors):
        return None
    waves = waves_of(writer, left, sums)
    for k, piece in enumerate(waves.pieces):
        if (piece.numbers or {}).get(piece.highest) == -1:  # 1 - e^w
            waves.pieces[k] = piece.times(Fraction(-1))
            inner = Ratio(inner.number * (-1) ** piece.power, inner.monomial, inner.factors)
    w = writer.polynomial(waves.w)
    size = Size(writer, waves.w)
    whole, sign = _sum_of_logs(writer, waves, inner.number, w, size)
    if whole is None:
        return None
    if sign:
        whole = call("where", call("lt", w, number(0)) if sign > 0 else call("gt", w, number(0)), _nan(w, sign), whole)
    elif _at_one(waves, inner.number) == 1:
        less = writer(writer.field.plus([inner, Ratio(Fraction(-1))]))
        whole = call("where", call("lt", size.term, number(2)), call("log1p", less), whole)
    return whole


def _nan(w: Any, sign: int) -> Any:
    """The logarithm of a negative number."""
    return call("log", w if sign > 0 else -w)


def _at_one(waves: Waves, value: Fraction) -> Fraction | None:
    """What the argument is where e^w = 1; None where that depends."""
    for piece in waves.pieces:
        numbers = piece.numbers
        if numbers is None or not sum(numbers.values()):
            return None
        value *= sum(numbers.values()) ** piece.power
    return value


def _sum_of_logs(
    writer: Writer, waves: Waves, value: Fraction, w: Any, size: Any, linear: bool = True
) -> tuple[Any, int]:
    """The logarithm as a sum, and 1 or -1 where its argument is positive for positive or negative w only.

    Without ``linear``, less what the powers of e in front give.
    """
    parts: list[tuple[Any, bool]] = []
    turns = 1 if value > 0 else -1
    changes = False
    up, down = waves.exponents()
    if linear and (up or down):
        parts.append(_linear(writer, waves, up, down, w, size))
    for piece in waves.pieces:
        if piece.kind == -1:
            changes ^= bool(piece.power % 2)
            whole = -writer.scaled(Fraction(piece.highest), size.term)
            near = _log_of_less(writer, waves.w, piece.highest, -call("expm1", whole))
            far = call("log1p", -size.decay(Fraction(piece.highest)))
            log = call("where", call("gt", whole, number(-0.7)), near, far)
        else:
            found = _positive(writer, piece, w, size)
            if found is None:
                return None, 0
            log = found
        parts.append((writer.scaled(Fraction(abs(piece.power)), log), piece.power < 0))
    if abs(value) != 1:
        parts.append((call("log", number(abs(value) if abs(value) > 1 else 1 / abs(value))), abs(value) < 1))
    if not changes and turns < 0:
        return None, 0
    return writer.added(parts), turns if changes else 0


def _log_of_less(writer: Writer, w: Polynomial, times_: int, less: Any) -> Any:
    """log(1 - e^-|w|), given 1 - e^-|w|; where w is a power that underflows, that is the logarithm of w."""
    ((m, c),) = w.items() if len(w) == 1 else (((), Fraction(0)),)
    direct = call("log", less)
    if writer._kind(m) == "exp" and len(writer._exponent(m)) == len(m):
        far = writer.polynomial(writer._exponent(m))
    elif len(m) == 1 and m[0][1] >= 2 and writer._kind(m) == "variable":
        ((g, p),) = m
        far = writer.scaled(p, call("log", call("abs", writer._generator(g))))
    else:
        return direct
    far = far if abs(c * times_) == 1 else far + call("log", number(abs(c * times_)))
    return call("where", call("lt", less, number(1e-290)), far, direct)


def _linear(writer: Writer, waves: Waves, up: Polynomial, down: Polynomial, w: Any, size: Any) -> tuple[Any, bool]:
    """What the powers of e in front give: a polynomial, or one for each sign of w."""
    if up == down:
        return writer.polynomial(up), False
    if up == times(down, -1) and up == waves.w:
        return size.term, False
    if up == times(down, -1) and down == waves.w:
        return size.term, True
    return call("where", call("gt", w, number(0)), writer.polynomial(up), writer.polynomial(down)), False


def _positive(writer: Writer, piece: Piece, w: Any, size: Any) -> Any:
    """The logarithm of a sum with positive coefficients."""
    numbers = piece.numbers
    if numbers is None or any(c < 0 for c in numbers.values()):
        return None
    found = []
    for first in (piece.highest, 0):
        if numbers[first] == 1:
            found.append(call("log1p", side(writer, piece, size, first, skip=True)))
        else:
            found.append(call("log", side(writer, piece, size, first)))
    return found[0] if found[0] is found[1] else call("where", call("gt", w, number(0)), *found)


class Joined:
    """The terms that pairs of logarithms in a sum became, and the monomials that they replace."""

    def __init__(self) -> None:
        self.used: set[Monomial] = set()
        self.terms: list[tuple[Any, bool]] = []


def joined(writer: Writer, poly: Polynomial) -> Joined:
    """log a - log b from a - b where that is short; log x + c near its zero from the distance to it.

    log(1 + e^x) - x is log(1 + e^-x).
    """
    found = Joined()
    logs = {m: c for m, c in poly.items() if len(m) == 1 and m[0][1] == 1 and writer._kind(m) == "log"}
    for m, c in logs.items():
        for n, d in logs.items():
            if c > 0 and d == -c and not {m, n} & found.used:
                term = _pair(writer, m, n, alone=len(poly) == 2)
                if term is not None:
                    found.used |= {m, n}
                    found.terms.append((writer.scaled(c, term), False))
    for m, c in logs.items():
        if m not in found.used:
            _take_exponents(writer, poly, m, c, found)
    if len(poly) == 2 and () in poly and len(logs) == 1:
        ((m, c),) = logs.items()
        inner = writer.field.generators[m[0][0]].inner
        if inner.number == 1 and not inner.factors and len(inner.monomial) == 1 and inner.monomial[0][1] == 1:
            found.used = set(poly)
            found.terms.append((writer.scaled(abs(c), _shifted(writer, inner, poly[()] / c)), c < 0))
    return found


def _take_exponents(writer: Writer, poly: Polynomial, m: Monomial, c: Fraction, found: Joined) -> None:
    """c·log(Σ …) and multiples of its exponents as one logarithm."""
    inner = writer.field.generators[m[0][0]].inner
    sums = {k: n for k, n in inner.factors.items() if any(writer._exponent(x) for x, _ in k)}
    if not sums:
        return
    try:
        w = waves_of(writer, writer._exponent(inner.monomial), sums).w
    except TooLong:
        return
    taken = {x: poly[x] for x in w if x in poly and x not in found.used}
    if not taken:
        _take_multiples(writer, poly, m, c, found)
        return
    if len({taken.get(x, Fraction(0)) / w[x] for x in w}) != 1:  # log(e^x + e^y) - y is log(1 + e^(x - y))
        terms = [writer._exponent(x) for key in sums for x, _ in key] if set(sums.values()) == {1} else []
        if not any(e == times(taken, -1 / c) for e in terms):
            _take_multiples(writer, poly, m, c, found)
            return
    product = Ratio(Fraction(1))
    for x, d in taken.items():
        exp = writer.field.generator("exp", x)
        product = writer.field.times(product, writer.field.single(exp, d / c))
    made = logarithm(writer, writer.field.times(inner, product))
    found.used |= {m, *taken}
    found.terms.append((writer.scaled(abs(c), made), c < 0))


def _take_multiples(writer: Writer, poly: Polynomial, m: Monomial, c: Fraction, found: Joined) -> None:
    """c·log(Σ …) and products with its exponent: x y - log(1 + e^x) is x (y - 1) - log(1 + e^-x) for x > 0."""
    inner = writer.field.generators[m[0][0]].inner
    sums = {k: n for k, n in inner.factors.items() if any(writer._exponent(x) for x, _ in k)}
    waves = waves_of(writer, writer._exponent(inner.monomial), sums)
    if len(waves.w) != 1 or len(sums) != len(inner.factors):
        return
    (base,) = waves.w
    less = tuple((g, -p) for g, p in base)
    apart = {k: d for k, d in poly.items() if k not in found.used and k != m and _divides(writer, k, less)}
    if not apart:
        return
    w = writer.polynomial(waves.w)
    whole, sign = _sum_of_logs(writer, waves, inner.number, w, Size(writer, waves.w), linear=False)
    if whole is None or sign:
        return
    sides = [writer.polynomial(added([times(side_, c), apart])) for side_ in waves.exponents()]
    found.used |= {m, *apart}
    found.terms.append((call("where", call("gt", w, number(0)), *sides), False))
    found.terms.append((writer.scaled(abs(c), whole), c < 0))


def _divides(writer: Writer, m: Monomial, less: Monomial) -> bool:
    """Whether a monomial of variables is a multiple of what ``less`` is one over."""
    rest = monomial((*m, *less))
    return all(p > 0 for _, p in rest) and all(writer.field.generators[g].kind == "variable" for g, _ in m)


def _pair(writer: Writer, m: Monomial, n: Monomial, alone: bool) -> Any:
    a, b = (writer.field.generators[k[0][0]].inner for k in (m, n))
    quotient = writer.field.times(a, writer.field.power(b, -1))
    if not quotient.factors and quotient.number == 1 and set(_kinds(writer, quotient)) == {"exp"}:
        return writer.polynomial(writer._exponent(quotient.monomial))
    apart = writer.field.plus([a, writer.field.times(Ratio(Fraction(-1)), b)])
    below = writer(b)
    direct = writer._generator(m[0][0]) - writer._generator(n[0][0])
    if _length(apart) > 2 or a.polynomial is None or b.polynomial is None or "exp" in _kinds(writer, apart):
        # log(e^x - 1) - log x: the quotient is next to 1 though the logarithms are large.
        whole = writer.field.single(writer.field.generator("log", quotient))
        short = near_point(writer.field, whole, logarithm=True) if alone else None
        if short is None:
            return None  # among other terms it may meet one of these
        near, value = writer.near(short)
        return call("where", call("logical_and", near, call("gt", below, number(0))), value, direct)
    near = _near_one(writer, apart, writer(a), below)
    return call("where", call("gt", below, number(0)), near, direct)


def _kinds(writer: Writer, a: Ratio) -> list[str]:
    monomials = [a.monomial, *(m for key in a.factors for m, _ in key)]
    return [writer.field.generators[g].kind for m in monomials for g, _ in m]


def _shifted(writer: Writer, inner: Ratio, c: Fraction) -> Any:
    """log x + c; near x = e^-c, whose digits are known to twice a float's, log1p((x - e^-c)/e^-c)."""
    with localcontext() as context:
        context.prec = 50
        root = (-Decimal(c.numerator) / Decimal(c.denominator)).exp()
        first = float(root)
        second = float(root - Decimal(first))
    if not first or first == float("inf"):
        raise TooLong
    x = writer(inner)
    near = ((x - number(first)) - number(second)) / number(first)
    plain = call("log", x) + number(int(c) if c.denominator == 1 else c)
    return call("where", call("lt", call("abs", near), number(0.5)), call("log1p", near), plain)


__all__ = ["joined", "key_of", "logarithm"]

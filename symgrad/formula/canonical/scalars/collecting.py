"""Scalar formulas of many terms as one ratio of polynomials: what the chain and product rules leave of high orders.

The sixth derivative of √(1 + x²) has 750 terms, nearly all of them alike.  Sums, products, quotients, whole powers and
roots are read as a ratio of polynomials in what else stands in them, whose like terms are one.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from symgrad.dtypes import is_real_floating
from symgrad.formula.canonical.chains import price
from symgrad.formula.canonical.scalars.polynomials import Monomial, Polynomial, TooLong
from symgrad.formula.canonical.scalars.ratios import RING, Field, Ratio
from symgrad.formula.term import NUMBER, Term, as_term, number, postorder
from symgrad.op import lookup

LEAST = 24
"""Formulas of fewer terms than this are read as they are."""
MOST = 20_000
"""So are those of more."""
ATOMS = 8
"""And those in more functions and symbols."""
LONG = 2**24
"""Longer numbers are atoms: powers of such fractions would outgrow the floats."""
HIGHEST = 12
"""Higher powers are atoms."""


WORDY = 20
"""Operations of a scalar for which another form without like terms is looked for."""
WORTH = 0.75
"""What part of its operations that may have to be taken."""


class _Unreadable(Exception):
    """A formula that is no ratio of few terms."""


class _Reader:
    """The ratios of the terms of a formula."""

    def __init__(self) -> None:
        self.field = Field()
        self.field.collects = True
        self.atoms = 0
        self.read: dict[Term, Ratio] = {}

    def of(self, term: Term) -> Ratio:
        """The ratio of a term, which is an atom where no rule says what it is made of."""
        found = self.read.get(term)
        if found is None:
            found = self.read[term] = self._number(term) if term.op is NUMBER else self._atom(term)
        return found

    def _number(self, term: Term) -> Ratio:
        value = term.number
        if isinstance(value, (bool, str, complex)) or not abs(value) < LONG:
            return self._atom(term)
        exact = Fraction(value)
        return Ratio(exact) if exact.denominator < LONG else self._atom(term)

    def _atom(self, term: Term) -> Ratio:
        self.atoms += 1
        if self.atoms > ATOMS:
            raise _Unreadable
        return self.field.single(self.field.generator("variable", term=term))

    def root(self, a: Ratio) -> Ratio:
        """√a, of a polynomial."""
        poly = a.polynomial
        if not poly or any(p < 0 for m in poly for _, p in m):
            raise _Unreadable
        return self.field.single(self.field.generator("sqrt", poly))

    def power(self, a: Ratio, exponent: Any) -> Ratio:
        """a to a whole power, or one of its root."""
        doubled = Fraction(exponent) * 2
        return self.field.power(a, int(exponent)) if doubled % 2 == 0 else self.field.power(self.root(a), int(doubled))


_ROOTS: dict[str, Callable[[_Reader, Ratio], Ratio]] = {
    "sqrt": lambda r, a: r.root(a),
    "rsqrt": lambda r, a: r.field.power(r.root(a), -1),
}


def shortest(term: Term, found: Term, settled: Callable[[Term], Term]) -> Term:
    """The canonical form ``found`` of a scalar, or that of its ratio of polynomials where it has far fewer operations.

    ``settled``: the canonical form of a term.
    """
    other = collected(term) if not term.shape and price(found) > WORDY else None
    shorter = found if other is None else settled(other)
    return shorter if price(shorter) <= WORTH * price(found) else found


def collected(root: Term) -> Term | None:
    """A scalar formula as a ratio of polynomials without like terms; None of short, of wide and of complex ones.

    >>> from symgrad.formula.term import count, symbol
    >>> t = symbol("t")
    >>> grown = t
    >>> for _ in range(6):
    ...     grown = grown * (1 - t * t) + grown * t * t - grown / 2
    >>> count(grown), count(collected(grown))
    (40, 3)
    """
    ring = _ring(root)
    if ring is None:
        return None
    reader = _Reader()
    try:
        for term in ring:
            if term.op.name == "pow":
                reader.read[term] = reader.power(reader.of(term.args[0]), term.args[1].number)
            elif term.op.name in _ROOTS:
                reader.read[term] = _ROOTS[term.op.name](reader, reader.of(term.args[0]))
            else:
                reader.read[term] = RING[term.op.name](reader.field, [reader.of(a) for a in term.args])
        return _Writer(reader.field).ratio(reader.of(root))  # type: ignore[no-any-return]
    except (TooLong, ZeroDivisionError, OverflowError, _Unreadable):
        return None


def _ring(root: Term) -> list[Term] | None:
    """The sums, products, quotients and powers that a scalar is made of, arguments first; None of few and of many."""
    if root.shape or not _in_ring(root):
        return None
    found, waiting = {root}, [root]
    while waiting:
        new = [a for a in waiting.pop().args if a not in found and _in_ring(a)]
        found.update(new)
        waiting += new
        if len(found) > MOST:
            return None
    return [t for t in postorder([root]) if t in found] if len(found) >= LEAST else None


def _in_ring(term: Term) -> bool:
    if term.op.name == "pow":
        k = term.args[1].number
        if isinstance(k, (bool, str, complex, type(None))) or abs(k) > HIGHEST or k * 2 != int(k * 2):
            return False
    elif term.op.name not in RING and term.op.name not in _ROOTS:
        return False
    return all(not t.shape and (t.dtype is None or is_real_floating(t.dtype)) for t in (term, *term.args))


class _Writer:
    """Writes ratios of one field."""

    def __init__(self, field: Field):
        self.field = field

    def ratio(self, a: Ratio) -> Any:
        """number · monomial · Π polynomial^power."""
        above, below = self._powers(a.monomial)
        for key, n in a.factors.items():
            (above if n > 0 else below).append(_raised(self.polynomial(dict(key)), abs(n)))
        return self._fraction(a.number, above, below)

    def polynomial(self, poly: Polynomial) -> Any:
        """A sum, term by term."""
        return functools.reduce(operator.add, (self._fraction(c, *self._powers(m)) for m, c in poly.items()))

    def _powers(self, m: Monomial) -> tuple[list[Any], list[Any]]:
        above = [_raised(self._base(g), p) for g, p in m if p > 0]
        return above, [_raised(self._base(g), -p) for g, p in m if p < 0]

    def _base(self, g: int) -> Any:
        made = self.field.generators[g]
        return lookup("sqrt")(self.polynomial(made.inner)) if made.kind == "sqrt" else made.term

    def _fraction(self, value: Fraction, above: list[Any], below: list[Any]) -> Any:
        parts = above if value == 1 and above else [number(value), *above]
        whole = functools.reduce(operator.mul, parts)
        return as_term(whole / functools.reduce(operator.mul, below) if below else whole)


def _raised(base: Any, power: Fraction | int) -> Any:
    return base if power == 1 else base ** (int(power) if int(power) == power else power)

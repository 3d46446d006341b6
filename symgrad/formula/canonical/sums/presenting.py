"""How sums stand in products: −(y − Xw) is Xw − y, and ½(x − 2y) is x/2 − y."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from symgrad.formula.canonical.budget import LARGEST, NESTED_FLIPS
from symgrad.formula.canonical.chains import price
from symgrad.formula.canonical.normal import Factor, Form, Product, numbers
from symgrad.formula.canonical.writing import form_term
from symgrad.formula.term import Term, constant_value
from symgrad.op import lookup

if TYPE_CHECKING:
    from symgrad.formula.canonical.simplify import Canonicaliser


class Presenter:
    """One run's choices of signs and numbers, made once for each sum."""

    def __init__(self, run: Canonicaliser):
        self.run = run
        self._flips: dict[Any, Term] = {}
        self._multiplied: dict[Term, Any] = {}
        self._orders: dict[frozenset[tuple[Factor, int]], list[Factor]] = {}
        self._nesting = 0

    def product(self, p: Product) -> Product:
        """A product as shown: −(y − Xw) is Xw − y, always."""
        self.run.steps -= 4
        p = self._probabilities(self._in_order(p))
        if p.coef in (0, 1):
            return p
        for k, f in enumerate(p.factors):
            inside = self.run.insides.get(f.base)
            as_given = None if inside is None else self._as_given(p, k, inside)
            if as_given is not None:
                return as_given
            if inside is None or f.power != 1 or sum(g.base is f.base for g in p.factors) > 1:
                continue
            if p.coef == -1 and self._complement(inside) is not None:
                continue
            whole = len(p.factors) > 1 and p.coef == int(p.coef) and abs(int(p.coef)) > 1
            fewer = self.numbers(inside, abs(p.coef)) < 1 + self.numbers(inside, 1)
            if not whole and fewer and not self._piles_up(p, f, inside):
                # ½(x - 2y) is x/2 - y, which has fewer numbers.
                spread = self._scaled(f.base, inside, p.coef, p.decimal)
                if spread is not None:
                    factors = (*p.factors[:k], Factor(spread, f.labels, 1), *p.factors[k + 1 :])
                    return Product(1, factors, p.out, p.decimal)
            if p.coef > 0:
                continue
            one_minus = any(q.constant and q.coef > 0 for q in inside.terms) and all(
                abs(q.coef) == 1 for q in inside.terms
            )
            if one_minus and len(p.factors) > 1:
                continue  # among factors 1 - x is not turned into x - 1
            if any(q.coef < 0 for q in inside.terms) and any(q.coef > 0 for q in inside.terms):
                flipped = self._scaled(f.base, inside, -1)
                if flipped is not None:
                    factors = (*p.factors[:k], Factor(flipped, f.labels, 1), *p.factors[k + 1 :])
                    return Product(-p.coef, factors, p.out, p.decimal)
        return p

    def _piles_up(self, p: Product, f: Factor, inside: Form) -> bool:
        """Whether a fraction in front of a sum makes fractions of its terms above or below a bar: of three storeys.

        A term with a bracket takes it in there, log(S/K) + T(r + σ²/2), and one with a constant meets it: √2/2 = 1/√2.
        """
        by = abs(Fraction(p.coef))
        return any(g.power < 0 and g.labels == f.labels for g in p.factors) and any(
            (by * Fraction(q.coef)).denominator > 1
            and not any(g.base in self.run.insides or constant_value(g.base) is not None for g in q.factors)
            for q in inside.terms
        )

    def _in_order(self, p: Product) -> Product:
        """A product with its numbers in the order in which the same ones stood before, as in the rows of a Hessian."""
        scalars = [f for f in p.factors if not f.labels]
        if len(scalars) < 2:
            return p
        known = self._orders.setdefault(frozenset(Counter(scalars).items()), scalars)
        if known == scalars:
            return p
        own = iter(known)
        return p.with_factors([f if f.labels else next(own) for f in p.factors])

    def _probabilities(self, p: Product) -> Product:
        """1 - σ(v) is σ(-v) where no σ(v) stands next to it, and σ(v) - 1 is -(1 - σ(v)), always."""
        for k, f in enumerate(p.factors):
            inside = self.run.insides.get(f.base)
            pair = None if inside is None or f.power != 1 else self._complement(inside)
            if inside is None or pair is None:
                continue
            one, other = pair
            s = other.factors[0]
            v = self.run.arguments[s.base][0]
            if any(g.base is s.base for g in p.factors):
                turned = self._scaled(f.base, inside, -1) if one.coef < 0 else None
                new = None if turned is None else Factor(turned, f.labels, 1)
            else:
                own = self.run.elementwise(lookup("sigmoid"), [v.scaled(-1)], {}, v.shape).terms[0].factors[0]
                names = dict(zip(other.out, f.labels, strict=True))
                new = Factor(own.base, tuple(names[s.labels[x]] for x in own.labels), 1)
                new = new if price(own.base) <= price(s.base) else None
            if new is not None:
                factors = (*p.factors[:k], new, *p.factors[k + 1 :])
                return Product(p.coef * one.coef, factors, p.out, p.decimal)
        return p

    def _complement(self, inside: Form) -> tuple[Product, Product] | None:
        """The terms of ±(1 - σ(v))."""
        if len(inside.terms) != 2:
            return None
        one, other = inside.terms if inside.terms[0].constant else inside.terms[::-1]
        s = other.only
        if s is None or s.base.op.name != "sigmoid" or s.power != 1 or s.base not in self.run.arguments:
            return None
        fits = one.constant and abs(one.coef) == 1 and other.coef == -one.coef and other.elementwise
        return (one, other) if fits else None

    def _as_given(self, p: Product, k: int, inside: Form) -> Product | None:
        """1/(x + ½)² for 4/(2x + 1)², where the program has it so and no other number appears.

        (x + y - a/2)² for (2x + 2y - a)²/4, where it has fewer numbers, or as many and the program has it so.  Always
        where the number in front would outgrow floats: (1 + x/1000)⁹⁹ is not (1000 + x)⁹⁹ / 10²⁹⁷.
        """
        f = p.factors[k]
        given = self.run.given.get(f.base, Fraction(1))
        if Fraction(f.power).denominator != 1:
            return None
        terms = [q for q in inside.terms if not q.constant]
        plain = len(terms) < len(inside.terms) and all(abs(q.coef * given) == 1 for q in terms)
        large = given != 1 and max(abs(Fraction(p.coef).numerator), Fraction(p.coef).denominator) > LARGEST
        by = given if large or (given < 1 and plain) else self._fewest(p, f, inside, given)
        spread = None if by is None else self._scaled(f.base, inside, by)
        if by is None or spread is None:
            return None
        factors = (*p.factors[:k], Factor(spread, f.labels, f.power), *p.factors[k + 1 :])
        return self.product(Product(p.coef / by ** int(f.power), factors, p.out, p.decimal))

    def _fewest(self, p: Product, f: Factor, inside: Form, given: Fraction) -> Fraction | None:
        """What part of a sum under an exponent has the fewest numbers, those in front of the power with them."""
        if f.power <= 1 or p.decimal:
            return None

        def count(by: Fraction) -> tuple[int, bool]:
            return self.numbers(inside, by) + (p.coef / by ** int(f.power) != 1), by != given

        parts = {1 / abs(Fraction(q.coef)) for q in inside.terms} | {given}
        best = min(sorted(x for x in parts if x < 1), key=count, default=None)
        return best if best is not None and count(best) < count(Fraction(1)) else None

    def numbers(self, form: Form, by: Any) -> int:
        """Terms of a multiple of a sum that have a number in front; it may go into a bracket and meet its own there."""
        return sum(self._number_of(p, abs(p.coef * by)) for p in form.terms)

    def _number_of(self, p: Product, by: Any) -> int:
        inner = (
            [self.run.insides[f.base] for f in p.factors if f.power == 1 and f.base in self.run.insides]
            if by != 1
            else []
        )
        return min([int(by != 1), *(numbers(form, by) - numbers(form, 1) for form in inner)])

    def _scaled(self, base: Term, inside: Form, by: Any, decimal: bool = False) -> Term | None:
        """A multiple of a sum, written once; None inside of too many others."""
        found = self._flips.get((base, by))
        # One multiple of each sum at most, and none in a large formula: otherwise nested sums would multiply.
        fresh = by == -1 or (self.run.small and self._multiplied.setdefault(base, by) == by)
        if found is None and fresh and self._nesting < NESTED_FLIPS:
            self._nesting += 1
            found = self._flips[base, by] = form_term(inside.scaled(by, decimal), self.run.layout, self.product)
            self._nesting -= 1
            self.run.symmetries.note(found, self.run.symmetries.symmetric(base))
        return found

"""Elementwise sums and products as one fraction in lowest terms, where that is shorter.

Sums, products and powers of an elementwise form are read as a quotient of polynomials in what else stands in it:
ν(1 + q/ν) is ν + q, y/p - (1 - y)/(1 - p) is (y - p)/(p(1 - p)).  Multiplying both sides of a fraction by a factor and
dividing both by one hold wherever the given form is defined.  The fraction is taken only when its formula is shorter.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

from symgrad.formula.canonical.chains import price
from symgrad.formula.canonical.normal import Factor, Form, Product, content as common_number, plain_power, relabelled
from symgrad.formula.canonical.scalars.polynomials import (
    ONE,
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
from symgrad.formula.canonical.sums.expanding import is_centred
from symgrad.formula.term import NUMBER, SIZE, SYMBOL, Term, postorder
from symgrad.op import lookup

if TYPE_CHECKING:
    from symgrad.formula.canonical.simplify import Canonicaliser

WIDEST = 10
"""Sums with more terms are left as they are."""

DEEPEST = 4
"""Brackets inside of each other that are opened."""

LONG = 6
"""Digits of a number that is shown gladly: decimals multiplied out exactly have more."""

HIGHEST = 6
"""Sums to a higher power stay in their brackets."""


class Fractional(NamedTuple):
    """A polynomial over powers of others, which are named by their index."""

    top: Polynomial
    under: dict[int, int]


# ---------------------------------------------------------------------------------------------- reading


E = Form((), ())
"""What stands for the base of e^u, which needs no form."""


class Reader:
    """Elementwise forms over the same axes as fractions.

    ``deep`` opens every sum, else only those below a line; ``apart`` leaves the terms of the whole their denominators.
    """

    def __init__(self, run: Canonicaliser, shape: tuple[Any, ...], deep: bool, apart: bool = False):
        self.run = run
        self.shape = shape
        self.deep = deep
        self.apart = apart
        self.atoms: list[Form] = []
        self.bases: list[Form | None] = []
        """Of atoms that are exponents: what they are exponents of, ``E`` for e."""
        self.sums: list[Polynomial] = []
        self.roots: dict[int, Polynomial] = {}
        self._known: dict[Any, int] = {}
        self.decimal = False
        self.opened = False
        """Whether there is a denominator, or a sum or an exponent came apart."""
        self.closed = False
        """Whether a sum stayed in its brackets."""

    def form(self, form: Form, depth: int = 0) -> Fractional:
        """A sum of products over its lowest common denominator."""
        if depth > DEEPEST or len(form.terms) > WIDEST:
            raise TooLong
        parts = [self.product(p, form.shape, depth) for p in form.terms]
        self.opened |= len(parts) > 1 and any(f.power < 0 for p in form.terms for f in p.factors)
        if self.apart and not depth:
            return Fractional(added(self._closed(part) for part in parts), {})
        under: dict[int, int] = {}
        for part in parts:
            for k, n in part.under.items():
                under[k] = max(n, under.get(k, 0))
        tops = []
        for part in parts:
            top = part.top
            for k, n in under.items():
                top = multiplied(top, raised(self.sums[k], n - part.under.get(k, 0)))
            tops.append(top)
        return Fractional(added(tops), under)

    def _closed(self, part: Fractional) -> Polynomial:
        """A fraction in lowest terms, with what is below its line as atoms."""
        number, common, top, powers = self._lowest(part)
        below: list[tuple[int, Fraction]] = []
        for k, n in powers.items():
            p = self.run.product(self._sum_form(self.sums[k]))
            below += self._index(("sum", k), Form([p], self.shape), Fraction(n))
        return multiplied({monomial((*common, *below)): number}, top)

    def product(self, p: Product, shape: tuple[Any, ...], depth: int) -> Fractional:
        """One product."""
        self.run.steps -= 1 + len(p.factors)
        self.decimal |= p.decimal
        top: Polynomial = {(): Fraction(p.coef)}
        under: dict[int, int] = {}
        for f in self._entry_by_entry(p, shape):
            part = self._factor(f, p.out, shape, depth)
            top = multiplied(top, part.top)
            for k, n in part.under.items():
                under[k] = under.get(k, 0) + n
        return Fractional(top, under)

    def _entry_by_entry(self, p: Product, shape: tuple[Any, ...]) -> Sequence[Factor]:
        """The factors of a product; what is summed in it is one factor."""
        if p.elementwise:
            return p.factors
        if len(set(p.out)) < len(p.out):
            raise TooLong
        reached: set[int] = {x for f in p.factors for x in f.labels if x not in p.out}
        summed = [f for f in p.factors if reached.intersection(f.labels)]
        whole = self.run.packed(Product(1, summed, p.out), shape)
        (f,) = whole.factors
        names = dict(zip(whole.out, p.out, strict=True))
        return [*(g for g in p.factors if g not in summed), Factor(f.base, tuple(names[x] for x in f.labels))]

    def _factor(self, f: Factor, out: tuple[int, ...], shape: tuple[Any, ...], depth: int) -> Fractional:
        if len(set(f.labels)) < len(f.labels):
            raise TooLong  # a diagonal is no function of the diagonals of what stands in it
        places = [out.index(x) for x in f.labels]
        inside = self.run.insides.get(f.base)
        power = Fraction(f.power)
        if inside is not None and len(inside.terms) <= WIDEST and not is_centred(f.base, self.run):
            whole = inside.spread(places, shape)
            if power.denominator == 1 and abs(power) <= HIGHEST and (power < 0 or self.deep):
                self.opened = True
                return self._sum(whole, int(power), depth)
            self.closed = True
            if power.denominator == 2:
                return self._root(f, whole, places, shape, power, depth)
        special = self._function(f, places, shape, power, depth)
        return special or Fractional({self._atom(Factor(f.base, f.labels), places, shape, power): Fraction(1)}, {})

    def _sum(self, whole: Form, power: int, depth: int) -> Fractional:
        top, under = self.form(whole, depth + 1)
        if not top:
            raise TooLong
        if power > 0:
            self._named(primitive(top)[2])
            return Fractional(raised(top, power), {k: n * power for k, n in under.items()})
        number, common, rest = primitive(top)
        over: Polynomial = {tuple((x, p * power) for x, p in common): number**power}
        for k, n in under.items():
            over = multiplied(over, raised(self.sums[k], -n * power))
        return Fractional(over, {} if rest == ONE else {self._named(rest): -power})

    def _named(self, poly: Polynomial) -> int:
        """The index of a polynomial without common factors; its sign is that of its first mention."""
        key = frozenset(poly.items())
        if key not in self._known:
            self._known[key] = len(self.sums)
            self.sums.append(poly)
        return self._known[key]

    def _root(
        self, f: Factor, whole: Form, places: Sequence[int], shape: tuple[Any, ...], power: Fraction, depth: int
    ) -> Fractional:
        """√u is an atom whose square is u."""
        made = self._atom(Factor(f.base, f.labels, Fraction(1, 2)), places, shape, 2 * power)
        (atom, _) = made[0]
        if atom not in self.roots and depth < DEEPEST:
            self.opened = True
            top, under = self.form(whole, depth + 1)
            if not under:
                self.roots[atom] = top
        return Fractional({made: Fraction(1)}, {})

    def _function(
        self, f: Factor, places: Sequence[int], shape: tuple[Any, ...], power: Fraction, depth: int
    ) -> Fractional | None:
        """e^(cu) = (e^u)^c always; u^(v+c) = u^v u^c where u ≠ 0; σ(-u) = 1 - σ(u) always."""
        args = self.run.arguments.get(f.base)
        name = f.base.op.name
        if args is None or any(a.shape not in ((), f.base.shape) for a in args):
            return None
        wide = [(a if a.shape else a.broadcast(f.base.shape)).spread(places, shape) for a in args]
        if name == "exp" and wide[0].terms:
            by = common_number(wide[0].terms)
            bare = wide[0].scaled(1 / by)
            self.opened |= by < 0
            return Fractional({self._exponential(E, bare, power * by): Fraction(1)}, {})
        if name == "sigmoid" and wide[0].terms and wide[0].terms[0].coef < 0 and self.deep:
            made = self._made("sigmoid", [wide[0].scaled(-1)], shape)
            whole: Polynomial = {(): Fraction(1), made: Fraction(-1)}
            if power == 1:
                return Fractional(whole, {})
            return Fractional(ONE, {self._named(whole): -int(power)}) if power.denominator == 1 else None
        if name == "pow" and power == 1:
            constants = [p for p in wide[1].terms if p.constant]
            rest = Form([p for p in wide[1].terms if not p.constant], shape)
            more = sum(Fraction(p.coef) for p in constants)
            if more == int(more) and rest.terms:
                self.opened |= bool(more) or len(wide[0].terms) == 1
                number = wide[0].constant
                if number is not None and number.coef > 0:
                    by = common_number(rest.terms)
                    made = self._exponential(wide[0], rest.scaled(1 / by), by)
                else:
                    made = self._made("pow", [wide[0], rest], shape)
                part = self._power(wide[0], int(more), shape, depth)
                return Fractional(multiplied({made: Fraction(1)}, part.top), part.under)
        return None

    def _power(self, base: Form, power: int, shape: tuple[Any, ...], depth: int) -> Fractional:
        if abs(power) > HIGHEST:
            raise TooLong
        if not power:
            return Fractional(ONE, {})
        if len(base.terms) > 1:
            return self._sum(base, power, depth)
        top, under = self.product(base.terms[0], shape, depth)
        return Fractional(raised(top, power), {k: n * power for k, n in under.items()})

    def _atom(self, f: Factor, places: Sequence[int], shape: tuple[Any, ...], power: Fraction) -> Monomial:
        out = tuple(range(len(f.labels)))
        bare = Form([Product(1, [Factor(f.base, out, f.power)], out)], f.base.shape).spread(places, shape)
        return self._index((f.base, tuple(places), f.power), bare, power)

    def _made(self, name: str, args: Sequence[Form], shape: tuple[Any, ...]) -> Monomial:
        form = self.run.elementwise(lookup(name), args, {}, shape)
        if len(form.terms) != 1:
            raise TooLong
        return self._index((name, *map(self._key, args)), form, Fraction(1))

    def _exponential(self, base: Form, exponent: Form, power: Fraction) -> Monomial:
        """c^(ku) = (c^u)^k for positive numbers c, always."""
        return self._index(("exp", self._key(base), self._key(exponent)), exponent, power, base)

    def _key(self, form: Form) -> Any:
        return frozenset((self.run.key(p), p.coef) for p in form.terms)

    def _index(self, key: Any, form: Form, power: Fraction, base: Form | None = None) -> Monomial:
        if key not in self._known:
            self._known[key] = len(self.atoms)
            self.atoms.append(form)
            self.bases.append(base)
        return ((self._known[key], power),)

    # ------------------------------------------------------------------------------------------ writing

    def written(self, found: Fractional, cleared: bool = True) -> Form | None:
        """The form of a fraction, cancelled; when ``cleared`` without powers of atoms below the line in its top.

        None, not cleared, where that is the same.
        """
        run, shape = self.run, self.shape
        number, common, top, powers = self._lowest(found)
        if not cleared:
            if len(top) == 1 or all(p > 0 for _, p in common):
                return None
            number, common, top = self._spread(number, common, top)
        if not number:
            return Form((), shape)
        parts = []
        for poly, n in [(top, 1)] * (top != ONE) + [(self.sums[k], n) for k, n in powers.items()]:
            scale, shown = self._with_decimals(poly)
            number *= scale**n
            parts.append(self._sum_form(shown) if poly is top else run.power(self._sum_form(shown), n))
        whole = Form([self._monomial(number, common)], shape)
        for part in parts:
            whole = run.times(whole, part)
        return whole

    def _with_decimals(self, poly: Polynomial) -> tuple[Fraction, Polynomial]:
        """A number and a sum that make up another one: 200v + 1 is 100(2v + 0.01), where there were decimals."""
        largest = str(max(abs(c) for c in poly.values()))
        scale = Fraction(10 ** (len(largest) - len(largest.rstrip("0"))))
        if not self.decimal or scale < 100:
            return Fraction(1), poly
        return scale, {m: c / scale for m, c in poly.items()}

    def _lowest(self, found: Fractional) -> tuple[Fraction, Monomial, Polynomial, dict[int, int]]:
        """Number, monomial, what is left above, and the powers of the named sums."""
        number, common, top = primitive(found.top)
        for atom, square in self.roots.items():
            top = _squares_replaced(top, atom, square)
        if not top:
            return Fraction(0), (), {}, {}
        more, shared, top = primitive(top)
        number, common = number * more, monomial((*common, *shared))
        powers = {k: -n for k, n in found.under.items()}
        for k, base in enumerate(self.sums):
            if len(base) < 2:
                continue
            while (rest := quotient(top, base)) is not None:
                powers[k] = powers.get(k, 0) + 1
                top = rest
                if len(top) == 1:
                    break
        more, shared, top = primitive(top)
        powers = self._joined({k: n for k, n in powers.items() if n})
        return number * more, monomial((*common, *shared)), top, powers

    def _spread(self, number: Fraction, common: Monomial, top: Polynomial) -> tuple[Fraction, Monomial, Polynomial]:
        below = [(x, p) for x, p in common if p < 0]
        rest = tuple((x, p) for x, p in common if p > 0)
        more, shared, top = primitive({monomial((*m, *below)): c for m, c in top.items()}, cleared=False)
        return number * more, monomial((*rest, *shared)), top

    def _joined(self, powers: dict[int, int]) -> dict[int, int]:
        """(1 - x)(1 + x) = 1 - x², where the product has no more terms than its factors."""
        found = dict(powers)
        for i, a in enumerate(list(powers)):
            for b in list(powers)[i + 1 :]:
                if a in found and b in found and found[a] == found[b]:
                    both = multiplied(self.sums[a], self.sums[b])
                    if len(both) <= 2:
                        n = found.pop(a)
                        del found[b]
                        found[self._named(both)] = n
        return found

    def _sum_form(self, poly: Polynomial) -> Form:
        return self.run.sum_of([self._monomial(c, m) for m, c in poly.items()], self.shape)

    def _monomial(self, number: Fraction, powers: Monomial) -> Product:
        run, shape = self.run, self.shape
        whole = Form([Product(number, (), tuple(range(len(shape))), self.decimal)], shape)
        for atom, power in powers:
            form = self.atoms[atom]
            base = self.bases[atom]
            if base is E:
                part = run.elementwise(lookup("exp"), [form.scaled(power)], {}, shape)
            elif base is not None:
                part = run.elementwise(lookup("pow"), [base, form.scaled(power)], {}, shape)
            else:
                (p,) = form.terms
                factors = [Factor(f.base, f.labels, plain_power(f.power * power)) for f in p.factors]
                part = Form([Product(1, factors, p.out)], shape)
            whole = run.times(whole, part)
        if len(whole.terms) != 1:
            raise TooLong
        return whole.terms[0]


def _squares_replaced(top: Polynomial, atom: int, square: Polynomial) -> Polynomial:
    """(√u)² = u."""
    parts = []
    for m, c in top.items():
        power = dict(m).get(atom, Fraction(0))
        times = int(power // 2)
        rest = monomial((*m, (atom, Fraction(-2 * times))))
        parts.append(multiplied({rest: c}, raised(square, times)) if times > 0 else {m: c})
    return added(parts)


# ---------------------------------------------------------------------------------------------- choosing


def in_lowest_terms(form: Form, run: Canonicaliser) -> Form:
    """The form with its elementwise fractions cancelled where that is shorter."""
    terms: list[Product] = []
    for p in form.terms:
        terms += _product(p, run)
    changed = len(terms) != len(form.terms) or any(a is not b for a, b in zip(terms, form.terms, strict=True))
    if changed:
        form = run.sum_of(terms, form.shape)
    if 1 < len(form.terms) <= WIDEST:
        for group in _groups(form):
            shorter = _shorter(Form([form.terms[k] for k in group], form.shape), run)
            if shorter is not None:
                return run.sum_of(form.exchanged(group, shorter), form.shape)
    return form


def _groups(form: Form) -> list[list[int]]:
    """Terms that may share a denominator: all of them, or those with the same sum in it."""
    plain = [k for k, p in enumerate(form.terms) if p.elementwise]
    uses: dict[Term, list[int]] = {}
    for k in plain:
        for f in form.terms[k].factors:
            if f.power < 0 or f.base.op.name == "pow":
                uses.setdefault(f.base, []).append(k)
    some = [sorted(set(u)) for u in uses.values() if len(set(u)) > 1]
    return [g for g in (plain, *some) if len(g) > 1]


def _product(p: Product, run: Canonicaliser) -> list[Product]:
    """A product with the factors that stand entry by entry next to each other brought to lowest terms."""
    for labels in dict.fromkeys(f.labels for f in p.factors if f.base in run.insides):
        near = [f for f in p.factors if set(f.labels) <= set(labels) and len(set(f.labels)) == len(f.labels)]
        if len(set(labels)) < len(labels) or not _promising(near, run):
            continue
        base = next(f.base for f in p.factors if f.labels == labels)
        if base.ndim != len(labels):
            continue  # a number that stands for an array of one entry
        small = Form([Product(1, near, labels)], base.shape)
        found = _shorter(small, run)
        if found is None:
            continue
        if len(near) == len(p.factors) and p.elementwise and set(labels) == set(p.out) and len(labels) == len(p.out):
            places = [p.out.index(x) for x in labels]
            shape = [base.shape[labels.index(x)] for x in p.out]
            return [q.scaled(p.coef, p.decimal) for q in found.spread(places, tuple(shape)).terms]
        inner = run.product(found)
        names = dict(zip(inner.out, labels, strict=True))
        if any(x not in names for f in inner.factors for x in f.labels) or len(names) < len(labels):
            continue
        from symgrad.formula.canonical.rewriting import merged

        whole = merged(p.replaced(near, relabelled(inner.factors, names.__getitem__)), run)
        return [whole.scaled(inner.coef, inner.decimal)]
    return [p]


def _promising(factors: Sequence[Factor], run: Canonicaliser) -> bool:
    """Whether a product has a sum with something to meet: a denominator in it, or a factor that it shares."""
    if len(factors) == 1 and factors[0].power > 0:
        return False
    return sum(f.base in run.insides for f in factors) > 0


def _divides_entries(form: Form, run: Canonicaliser, depth: int = 0) -> bool:
    """Whether arrays stand below a fraction bar, or in an exponent, here or in brackets."""
    for f in (f for p in form.terms for f in p.factors if f.labels):
        inside = run.insides.get(f.base)
        if f.power < 0 or f.power != int(f.power) or f.base.op.name in ("exp", "pow", "sigmoid"):
            return True
        if inside is not None and depth < DEEPEST and _divides_entries(inside, run, depth + 1):
            return True
    return False


def _shorter(form: Form, run: Canonicaliser) -> Form | None:
    """The form as one fraction in lowest terms, when its formula is shorter."""
    from symgrad.formula.canonical.sums.factoring import factored

    shape = form.shape
    wide = form.restricted(form.covered()) if len(form.covered()) < len(shape) else form
    if wide.shape and not _divides_entries(wide, run):
        # A/s - tB/s² of arrays A, B stays: s and t are scalars, which stand in front.
        return None
    own = run.plain_term(factored(wide, run))
    if own in run.lowest:
        return None
    best, least = None, _measure(own)
    for found in _options(wide, run):
        cost = _measure(run.plain_term(factored(found, run)))
        if cost < least:
            best, least = found, cost
    if best is None:
        run.lowest.add(own)
        return None
    return best.spread(form.covered(), shape)


def _options(form: Form, run: Canonicaliser) -> Iterator[Form]:
    """Fractions that the form is; none where there is nothing to cancel or to open."""
    closed, seen = True, {run.form_key(form)}
    for deep, apart in ((False, False), (True, False), (False, True)):
        reader = Reader(run, form.shape, deep, apart)
        try:
            if (deep and not closed) or (apart and len(form.terms) < 2):
                continue
            read = reader.form(form)
            closed = closed and reader.closed
            if reader.opened:
                for cleared in (True, False):
                    found = reader.written(read, cleared)
                    if found is not None and run.form_key(found) not in seen:
                        seen.add(run.form_key(found))
                        yield found
        except TooLong:
            continue


def _measure(term: Term) -> tuple[int, int]:
    """The operations of a formula as printed and its long numbers, and among equals its fractions; means are none.

    Where a scalar is divided by names above a fraction bar there is one operation more.
    """
    digits = (len(str(t.params["value"])) for t in postorder([term]) if t.op is NUMBER)
    fractions = [t for t in postorder([term]) if t.op.name == "div" and t.args[1].op is not SIZE]
    nested = any(_has_fraction(t.args[0]) for t in fractions if not t.shape)
    return price(term) + nested + sum(n - LONG for n in digits if n > LONG), len(fractions)


def _has_fraction(term: Term) -> bool:
    """Whether something is divided by names on the line that a scalar is written on."""
    stack = [term]
    while stack:
        t = stack.pop()
        if t.op.name == "div" and all(
            x.op in (SYMBOL, NUMBER) or x.op.name in ("mul", "pow", "square") for x in postorder([t.args[1]])
        ):
            return t.args[1].op is not NUMBER
        if t.op.name in ("add", "sub", "mul", "neg"):
            stack += t.args
    return False

"""The normal form of a formula: a sum of einsum products.

A :class:`Product` is a rational coefficient times factors ``base ** power`` that carry index labels.  ``out`` names the
axes of the value: a label that stands twice there is a Kronecker delta, one that no factor has is a broadcast, and a
label of a factor that is not in ``out`` is summed.  Axes of size 1 are never covered by a factor.  A :class:`Form` is a
sum of products of one shape; a form without products is zero.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from symgrad.formula.term import Term, number, size_letter
from symgrad.op import Labels
from symgrad.ops.shapes.sizes import product_size, signed_parts, total_size

Power = int | Fraction

LARGEST_SHOWN = 999
"""The largest denominator of a fraction that stands for a float."""

_LARGEST = 2**64
"""Larger factors stay in their sums: taken out of one sum after the other they would outgrow every float."""


class Factor(NamedTuple):
    """``base ** power`` entry by entry, with one label per axis."""

    base: Term
    labels: Labels
    power: Power = 1


def plain_power(power: Power) -> Power:
    """An int where a Fraction is one."""
    if power.__class__ is int:
        return power
    return int(power) if power == int(power) else power


class Product:
    """A coefficient times labelled factors.  ``decimal`` remembers that a float went into the coefficient."""

    __slots__ = ("coef", "decimal", "factors", "key", "out")

    def __init__(self, coef: Fraction | int, factors: Iterable[Factor], out: Labels, decimal: bool = False):
        self.coef = coef
        self.factors = tuple(factors)
        self.out = out
        self.decimal = decimal
        self.key: Any = None

    def scaled(self, by: Fraction | int, decimal: bool = False) -> Product:
        """The product times a number."""
        found = Product(self.coef * by, self.factors, self.out, self.decimal or decimal)
        found.key = self.key
        return found

    def with_out(self, out: Labels) -> Product:
        """The same factors with other output axes."""
        return Product(self.coef, self.factors, out, self.decimal)

    def with_factors(self, factors: Iterable[Factor]) -> Product:
        """The same multiple of other factors."""
        return Product(self.coef, factors, self.out, self.decimal)

    def beside(self, *some: Factor | None) -> list[Factor]:
        """Its factors but some, which are known by identity."""
        return [f for f in self.factors if not any(f is g for g in some)]

    def without(self, *gone: Factor) -> Product:
        """The product without some of its factors."""
        return self.with_factors(self.beside(*gone))

    def replaced(self, old: Sequence[Factor], new: Sequence[Factor] = ()) -> Product:
        """The product with factors replaced; a summed label that no factor has any more gives its size."""
        rest = list(self.factors)
        place = min((rest.index(f) for f in old), default=0)
        for f in old:
            rest.remove(f)
        rest[place:place] = new
        covered = {x for f in rest for x in f.labels} | set(self.out)
        coef = self.coef
        for f in old:
            for x, size in zip(f.labels, f.base.shape, strict=True):
                if x not in covered:
                    covered.add(x)
                    scale, letters = size_factors(size)
                    coef, rest = coef * scale, [*letters, *rest]
        return Product(coef, rest, self.out, self.decimal)

    def exchanged(self, old: Sequence[Factor], by: Product, power: Power = 1, beside: Sequence[Factor] = ()) -> Product:
        """The product with a power of another, along the axes of the first of some factors, in place of these."""
        names = dict(zip(by.out, old[0].labels, strict=True))
        own = dict.fromkeys(x for f in by.factors for x in f.labels if x not in names)
        names |= dict(zip(own, range(self.fresh, self.fresh + len(own)), strict=True)) if own else {}
        new = [Factor(f.base, tuple([names[x] for x in f.labels]), plain_power(f.power * power)) for f in by.factors]
        found = self.replaced(old, [*new, *beside])
        return found if by.coef == 1 else found.scaled(Fraction(by.coef) ** int(power), by.decimal)

    def contracted(self, old: Sequence[Factor], by: Product, shape: tuple[Any, ...]) -> Product:
        """The same of any product, whose deltas are cancelled; ``shape`` is that of its axes."""
        rest, labels = self.without(*old).open, old[0].labels
        return contract_products([rest, by], [rest.out, labels], self.out, dict(zip(labels, shape, strict=True)))

    @property
    def only(self) -> Factor | None:
        """Its factor, where there is one alone."""
        return self.factors[0] if len(self.factors) == 1 else None

    @property
    def front(self) -> Form:
        """Its multiple and its scalars, without the arrays."""
        return Form([Product(self.coef, [f for f in self.factors if not f.labels], (), self.decimal)], ())

    @property
    def open(self) -> Product:
        """The product before it is summed: every label names an axis."""
        return self.with_out(tuple(dict.fromkeys([*self.out, *(x for f in self.factors for x in f.labels)])))

    @property
    def fresh(self) -> int:
        """The first label that it does not have, nor any larger one."""
        return 1 + max([x for labels in (self.out, *[f.labels for f in self.factors]) for x in labels], default=-1)

    def covered(self) -> set[int]:
        """Axes of the value along which it varies."""
        out = self.out
        inside = {x for f in self.factors for x in f.labels} if out else ()
        return {k for k, x in enumerate(out) if x in inside or out.count(x) > 1}

    @property
    def has_delta(self) -> bool:
        """Whether a Kronecker delta stands in it: it is no array whose axes may be read in another order then."""
        return len(set(self.out)) < len(self.out)

    @property
    def elementwise(self) -> bool:
        """Whether nothing is summed and no delta stands in it."""
        return not self.has_delta and all(x in self.out for f in self.factors for x in f.labels)

    @property
    def constant(self) -> bool:
        """Whether it is a number everywhere."""
        return not self.factors and not self.has_delta


class Form:
    """A sum of products of one shape."""

    __slots__ = ("shape", "terms")

    def __init__(self, terms: Sequence[Product], shape: tuple[Any, ...]):
        self.terms = tuple(terms)
        self.shape = shape

    @property
    def constant(self) -> Product | None:
        """The number this form is everywhere, as a product without factors; None otherwise."""
        if not self.terms:
            return Product(0, (), tuple(range(len(self.shape))))
        return self.terms[0] if len(self.terms) == 1 and self.terms[0].constant else None

    @property
    def only(self) -> Product | None:
        """Its term, where there is one alone."""
        return self.terms[0] if len(self.terms) == 1 else None

    def exchanged(self, places: Collection[int], by: Form) -> list[Product]:
        """Its terms, with those of another form in place of the ones at some places."""
        rest, first = [p for k, p in enumerate(self.terms) if k not in places], min(places)
        return [*rest[:first], *by.terms, *rest[first:]]

    @property
    def has_diagonal(self) -> bool:
        """Whether some term is a vector on the diagonal, unlike a multiple of the identity."""
        return any(p.has_delta and any(f.labels for f in p.factors) for p in self.terms)

    def covered(self) -> list[int]:
        """Axes along which the value varies."""
        return sorted(set().union(*[p.covered() for p in self.terms])) if self.terms and self.shape else []

    def scaled(self, by: Fraction | int, decimal: bool = False) -> Form:
        """The form times a number."""
        return Form([p.scaled(by, decimal) for p in self.terms] if by else (), self.shape)

    def restricted(self, axes: Sequence[int]) -> Form:
        """Only the named axes, in that order; the others must not be covered."""
        if _all_of(axes, self.shape):
            return self
        return Form([p.with_out(tuple(p.out[k] for k in axes)) for p in self.terms], tuple(self.shape[k] for k in axes))

    def broadcast(self, shape: tuple[Any, ...]) -> Form:
        """The same value at a larger shape."""
        if shape == self.shape:
            return self
        lead = len(shape) - len(self.shape)
        return Form([_broadcast_product(p, lead) for p in self.terms], shape)

    def spread(self, axes: Sequence[int], shape: tuple[Any, ...]) -> Form:
        """Put the axes of this form at the places ``axes`` of ``shape``; of axes at one place, their diagonal."""
        if shape == self.shape and _all_of(axes, shape):
            return self
        return Form([_spread_product(p, axes, len(shape)) for p in self.terms], shape)


def _all_of(axes: Sequence[int], shape: Sequence[Any]) -> bool:
    """Whether axes are all those of a shape, in order."""
    return len(axes) == len(shape) and all(k == axis for k, axis in enumerate(axes))


def _broadcast_product(p: Product, lead: int) -> Product:
    start = p.fresh
    return p.with_out((*range(start, start + lead), *p.out))


def _spread_product(p: Product, axes: Sequence[int], ndim: int) -> Product:
    fresh = p.fresh
    out = list(range(fresh, fresh + ndim))
    for k, axis in enumerate(axes):
        out[axis] = p.out[k]
    if len({*axes}) < len(axes):
        joined = Joined()
        for k, axis in enumerate(axes):
            joined.join(out[axis], p.out[k])
        return Product(p.coef, relabelled(p.factors, joined.find), tuple(map(joined.find, out)), p.decimal)
    return p.with_out(tuple(out))


def relabelled(factors: Iterable[Factor], names: Callable[[int], int]) -> list[Factor]:
    """Factors with every label mapped."""
    return [Factor(f.base, tuple([names(x) for x in f.labels]), f.power) for f in factors]


# ---------------------------------------------------------------------------------------------- multiplication


class Joined:
    """Labels that turn out to be equal, by union-find."""

    def __init__(self) -> None:
        self.parent: dict[Any, Any] = {}

    def find(self, x: Any) -> Any:
        """The representative of a label."""
        parent = self.parent
        while parent.get(x, x) != x:
            parent[x] = parent.get(parent[x], parent[x])
            x = parent[x]
        return x

    def join(self, a: Any, b: Any) -> None:
        """Make two labels equal."""
        a, b = self.find(a), self.find(b)
        if a != b:
            self.parent[b] = a


def contract_products(
    products: Sequence[Product], specs: Sequence[Labels], output: Labels, sizes: dict[int, Any]
) -> Product:
    """The einsum of products: deltas are cancelled by renaming, sums over uncovered labels give size factors.

    A delta along axes of size 1 is none: no value varies along these.
    """
    joined = Joined()
    for k, (p, labels) in enumerate(zip(products, specs, strict=True)):
        for label, own in zip(labels, p.out, strict=True):
            joined.join((-1, label), (k, own))
    names: dict[Any, int] = {}

    def name(key: Any) -> int:
        return names.setdefault(joined.find(key), len(names))

    single = [sizes.get(x) == 1 and x in output[:k] for k, x in enumerate(output)]
    out = tuple(name((-2, k) if single[k] else (-1, x)) for k, x in enumerate(output))
    coef: Any = 1
    decimal = False
    factors: list[Factor] = []
    for k, p in enumerate(products):
        coef, decimal = coef * p.coef, decimal or p.decimal
        factors += relabelled(p.factors, lambda x, k=k: name((k, x)))  # type: ignore[misc]
    covered = {x for f in factors for x in f.labels} | set(out)
    seen: set[int] = set()
    for label in dict.fromkeys(x for labels in specs for x in labels):
        found = name((-1, label))
        if found not in covered and found not in seen and sizes.get(label, 1) != 1:
            seen.add(found)
            scale, letters = size_factors(sizes[label])
            coef *= scale
            factors = [*letters, *factors]
    return Product(coef, factors, out, decimal)


def size_factors(size: Any) -> tuple[int, list[Factor]]:
    """A size as an integer and scalar factors."""
    if isinstance(size, int):
        return size, []
    parts = signed_parts(size)
    if len(parts) > 1 or parts[0][0] < 0:
        return 1, [Factor(size_sum(size), ())]
    coef, letters = 1, []
    for part in size.split("*"):
        if part.isdigit():
            coef *= int(part)
        else:
            letters.append(Factor(size_letter(part), ()))
    return coef, letters


def size_sum(size: str) -> Term:
    """A size such as ``"n+2*m-1"`` as a term."""
    total: Any = None
    for sign, part in signed_parts(size):
        coef, letters = size_factors(part)
        value: Any = number(coef)
        for letter in letters:
            value = letter.base if value.number == 1 else value * letter.base
        if sign < 0:
            value = -value
        total = value if total is None else total + value
    return total  # type: ignore[no-any-return]


def size_text(term: Any) -> Any:
    """A size from the term that was read for it: the inverse of :func:`size_sum`."""
    if term.number is not None:
        return int(term.number)
    parts = [size_text(a) for a in term.args]
    signs = {"add": (1, 1), "sub": (1, -1), "neg": (-1,)}.get(term.op.name)
    if signs is not None:
        return total_size(parts, signs)
    return product_size(*parts) if parts else term.params["name"]


# ---------------------------------------------------------------------------------------------- comparison


def product_key(p: Product, ordinal: Callable[[Term], int], alike: Callable[[Factor], int]) -> Any:
    """A key that products with equal bodies share, whatever their labels and the order of their factors.

    ``alike`` says how many of a factor's first axes may change places.

    Summed labels are told apart by colour refinement.  Where that leaves a tie the order of appearance decides, which
    may miss an equality and never invents one.
    """
    if p.key is not None:
        return p.key
    place: dict[int, int] = {}
    for x in p.out:
        place.setdefault(x, len(place))
    summed = list(dict.fromkeys([x for f in p.factors for x in f.labels if x not in place]))
    marks = [(ordinal(f.base), f.power, alike(f)) for f in p.factors]
    colour = {**place, **dict.fromkeys(summed, len(place))} if len(summed) > 1 else {}
    for _ in range(min(len(summed), 4) if len(summed) > 1 else 0):
        signs: dict[int, list[Any]] = {x: [] for x in summed}
        for f, mark in zip(p.factors, marks, strict=True):
            around = tuple(colour[x] for x in f.labels)
            sign = (mark, (*sorted(around[: mark[2]]), *around[mark[2] :]))
            for axis, x in enumerate(f.labels):
                if x in signs:
                    signs[x].append((sign, 0 if axis < mark[2] else axis))
        rank = {s: k for k, s in enumerate(sorted({(colour[x], tuple(sorted(signs[x]))) for x in summed}))}
        colour.update({x: len(place) + rank[(colour[x], tuple(sorted(signs[x])))] for x in summed})
    for k, x in enumerate(sorted(summed, key=colour.__getitem__) if len(summed) > 1 else summed):
        place[x] = len(p.out) + k
    rows = []
    for f, mark in zip(p.factors, marks, strict=True):
        labels = tuple([place[x] for x in f.labels])
        if mark[2]:
            labels = (*sorted(labels[: mark[2]]), *labels[mark[2] :])
        rows.append((mark[0], mark[1], labels))
    p.key = (tuple(sorted(rows) if len(rows) > 1 else rows), tuple([place[x] for x in p.out]))
    return p.key


def collected(terms: Iterable[Product], key: Callable[[Product], Any]) -> list[Product]:
    """Terms with equal bodies added up, at the place of the first; those that cancel are gone."""
    found: dict[Any, Product] = {}
    for p in terms:
        k = key(p)
        old = found.get(k)
        if old is None:
            found[k] = p
        else:
            found[k] = Product(old.coef + p.coef, old.factors, old.out, old.decimal or p.decimal)
            found[k].key = k
    return [p for p in found.values() if p.coef]


def content(terms: Sequence[Product]) -> Fraction:
    """The common rational factor of the coefficients, with the sign of the first."""
    values = [Fraction(p.coef) for p in terms]
    sign = 1 if values[0] > 0 else -1
    if any(p.decimal for p in terms) and len(set(map(abs, values))) > 1:
        return Fraction(sign)
    top = math.gcd(*(v.numerator for v in values))
    bottom = math.lcm(*(v.denominator for v in values))
    return Fraction(sign * top, bottom) if max(top, bottom) < _LARGEST else Fraction(sign)


def exact_number(value: Any) -> tuple[Fraction | int, bool] | None:
    """A number as an exact coefficient, and whether it was typed as a float; None for inf, nan, complex and names."""
    if isinstance(value, bool):
        return int(value), False
    if isinstance(value, (int, Fraction)):
        return value, False
    if isinstance(value, float) and math.isfinite(value):
        # A fraction or the shortest decimal with the same bits: 1/3 is one third and 0.1 one tenth.
        near = Fraction(value).limit_denominator(12)
        # One rounding off is allowed for fractions that no decimal stands for: 1/3 - 1 means -2/3.
        slack = 2 * math.ulp(value) if near.denominator in (3, 6, 7, 9, 11, 12) else 0
        return near if abs(float(near) - value) <= slack else Fraction(repr(value)), True
    return None


_LONGEST = 2**53
"""Floats from here on are shown as such: most of the digits of the whole number were typed by nobody."""
_LARGEST = 10**308


def number_of(coef: Fraction | int, decimal: bool) -> Any:
    """The number to show for a coefficient: typed floats stay decimals unless they are small fractions."""
    if decimal and _LONGEST <= abs(Fraction(coef)) < _LARGEST:
        return float(coef)
    if coef.__class__ is int:
        return coef
    below = Fraction(coef).denominator
    if decimal and below not in (1, 2, 4, 8) and (below > LARGEST_SHOWN or 10**17 % below == 0):
        return float(coef)
    value = Fraction(coef)
    return int(value) if value.denominator == 1 else value


def numbers(form: Form, by: Any) -> int:
    """Terms of a multiple of a sum that have a number in front."""
    return sum(abs(p.coef * by) != 1 for p in form.terms)


def factor_out(factor: Factor) -> tuple[int, ...]:
    """The output of a form that is one factor with labels 0, 1 …."""
    return tuple(range(len(factor.labels)))


def inner_shape(form: Form, axes: Sequence[int]) -> tuple[Any, ...]:
    """Sizes of some axes of a form."""
    return tuple(form.shape[k] for k in axes)


def exact_power(value: Any, power: Any) -> Fraction | None:
    """A rational root, when it is one."""
    if value < 0 or power.denominator > 4:
        return None
    root = [round(x ** (1 / power.denominator)) for x in (Fraction(value).numerator, Fraction(value).denominator)]
    if root[1] and Fraction(root[0], root[1]) ** power.denominator == value:
        return Fraction(root[0], root[1]) ** power.numerator if root[0] or power > 0 else None
    return None


def constant_form(value: Any) -> Form:
    """A number as a form."""
    return Form([Product(value, (), ())] if value else (), ())


def is_never_negative(base: Term) -> bool:
    """Whether all values are 0 or more, as those of norms and exponentials are; complex numbers are not compared."""
    return (base.op.bounds or (-1, 0))[0] >= 0 and (base.dtype is None or base.dtype.kind != "c")

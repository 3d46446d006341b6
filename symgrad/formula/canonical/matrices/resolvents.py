"""Inverses of sums, next to the terms of these sums: A⁻¹B + cA⁻¹ = I for A = B + cI."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from symgrad.formula.canonical.matrices.inverses import identified
from symgrad.formula.canonical.normal import Factor, Form, Product, collected, plain_power, relabelled
from symgrad.formula.term import Term

if TYPE_CHECKING:
    from symgrad.formula.canonical.simplify import Canonicaliser

WIDEST = 5
"""Sums with more terms are left as they are."""


def without_resolvents(terms: list[Product], run: Canonicaliser) -> list[Product]:
    """A sum in which what an inverse multiplies adds up to what it is the inverse of: tᵀA⁻¹Bv + c tᵀA⁻¹v = tᵀv.

    It holds for regular A; the inverse exists in the formula already.  A bracket is opened where an inverse in it meets
    one outside.
    """
    inverted = _inverted(terms, run) if len(terms) <= WIDEST else set()
    if not inverted:
        return terms
    found = _shorter(terms, run)
    if found is not None:
        return without_resolvents(found, run)
    for p in terms:
        for f in p.factors:
            inside = run.insides.get(f.base) if f.power == 1 else None
            if inside is None or len(inside.terms) > WIDEST:
                continue
            if inverted.isdisjoint(_inverted(inside.terms, run)) and not _beside(p, f, inverted):
                continue
            found = _opened(terms, p, f, inside, run)
            if found is not None:
                return without_resolvents(found, run)
    return terms


def _beside(p: Product, f: Factor, inverted: set[Term]) -> bool:
    """Whether a bracket is multiplied by one of some inverses."""
    return any(
        g.base.op.name == "inv" and g.base.args[0] in inverted and set(g.labels) & set(f.labels) for g in p.factors
    )


def _inverted(terms: Sequence[Product], run: Canonicaliser) -> set[Term]:
    """The sums of which inverses stand in a product of some terms."""
    bases = {f.base.args[0] for p in terms for f in p.factors if f.base.op.name == "inv"}
    return {base for base in bases if base in run.insides and len(run.insides[base].terms) <= WIDEST}


def _opened(terms: Sequence[Product], p: Product, f: Factor, inside: Form, run: Canonicaliser) -> list[Product] | None:
    """The sum with one bracket opened, where that makes it shorter."""
    from symgrad.formula.canonical.sums.expanding import cost, substituted

    wide = [r for q in terms for r in (substituted(p, f, inside, run) if q is p else (q,))]
    found = _shorter(collected(wide, run.key), run)
    return found if found is not None and len(found) <= len(terms) and cost(found) < cost(terms) else None


def _shorter(terms: Sequence[Product], run: Canonicaliser) -> list[Product] | None:
    """The sum with LA⁻¹BR as LR - cLA⁻¹R for one of its terms, where others cancel then."""
    from symgrad.formula.canonical.sums.expanding import cost

    for p in terms:
        for made in _others(p, run):
            found = collected([r for q in terms for r in (made if q is p else (q,))], run.key)
            if len(found) <= len(terms) and cost(found) < cost(terms):
                return found
    return None


def _others(p: Product, run: Canonicaliser) -> Iterator[list[Product]]:
    """The other ways to write a product in which an inverse of a sum meets a term of that sum."""
    for f in p.factors:
        inside = run.insides.get(f.base.args[0]) if f.base.op.name == "inv" and f.power == 1 else None
        if inside is None or len(set(f.labels)) < 2 or len(inside.terms) > WIDEST:
            continue
        for q in inside.terms:
            for end in (0, 1):
                # A⁻¹B from the right label of A⁻¹ on, and BA⁻¹ back from the left one.
                met = _met(p, f, q, end, run)
                if met is not None:
                    yield _written_anew(p, f, q, end, met, inside, run)


Met = tuple[list[Factor], int]
"""The factors of a product that make up a term of the sum, and the label where they end."""


def _met(p: Product, f: Factor, q: Product, end: int, run: Canonicaliser) -> Met | None:
    """A term of a sum next to the inverse of the sum, which stands at the label ``end`` of it."""
    scalars = [g for g in q.factors if not g.labels]
    left = list(p.factors)
    left.remove(f)
    for s in scalars:
        at = next((k for k, g in enumerate(left) if g.base is s.base and not g.labels and _has(g, s)), None)
        if at is None:
            return None
        left.pop(at)
    start = f.labels[1 - end]
    here, there = (q.out[0], q.out[1]) if end == 0 else (q.out[1], q.out[0])
    matrices = [g for g in q.factors if g.labels]
    if not matrices:
        return ([f, *scalars], start) if q.out[0] == q.out[1] else None
    names = _laid_upon(matrices, left, {here: start}, run)
    if names is None or there not in names[0]:
        return None
    labels, used = names
    gone = [f, *used]
    ends = {f.labels[end], labels[there]}
    inner = {x for g in gone for x in g.labels} - ends
    rest = [g for g in left if not any(g is h for h in used)]
    if inner & {*p.out} or any(x in inner for g in rest for x in g.labels):
        return None
    return [*gone, *scalars], labels[there]


def _has(g: Factor, s: Factor) -> bool:
    """Whether a scalar can be taken out of a power of it."""
    return g.power == s.power or 0 < s.power < g.power or g.power < s.power < 0


def _laid_upon(
    pattern: Sequence[Factor], factors: Sequence[Factor], names: dict[int, int], run: Canonicaliser
) -> tuple[dict[int, int], list[Factor]] | None:
    """Labels and factors that a connected pattern has in a product, from the labels on that are known."""
    if not pattern:
        return names, []
    k = next((k for k, g in enumerate(pattern) if any(x in names for x in g.labels)), None)
    if k is None:
        return None
    g = pattern[k]
    for h in factors:
        if h.base is not g.base or h.power != g.power:
            continue
        turns = {h.labels, h.labels[::-1]} if run.symmetries.symmetric(g.base) else {h.labels}
        for labels in sorted(turns):
            more = dict(names)
            if all(more.setdefault(x, y) == y for x, y in zip(g.labels, labels, strict=True)):
                rest = [x for x in factors if x is not h]
                found = _laid_upon([*pattern[:k], *pattern[k + 1 :]], rest, more, run)
                if found is not None:
                    return found[0], [h, *found[1]]
    return None


def _written_anew(
    p: Product, f: Factor, q: Product, end: int, met: Met, inside: Form, run: Canonicaliser
) -> list[Product]:
    """LA⁻¹BR as LR less the products with the other terms of the sum."""
    from symgrad.formula.canonical.rewriting import merged

    gone, last = met
    scalars = [g for g in gone if not g.labels]
    rest = _without_scalars(p, scalars)
    bare = Product(Fraction(p.coef) / q.coef, rest, p.out, p.decimal or q.decimal)
    arrays = [g for g in gone if g.labels]
    made = [identified(bare, arrays, f.labels[end], last)]
    kept = [g for g in rest if not any(g is h for h in arrays)]
    start = p.fresh
    for other in inside.terms:
        if other is q:
            continue
        names: dict[int, int] = {other.out[1 - end]: last}
        middle = names.setdefault(other.out[end], start)
        fresh: Any = iter(range(start + 1, start + 1000))
        for x in dict.fromkeys(x for g in other.factors for x in g.labels):
            if x not in names:
                names[x] = next(fresh)
        inverse = Factor(f.base, (f.labels[0], middle) if end == 0 else (middle, f.labels[1]))
        factors = [*kept, inverse, *relabelled(other.factors, names.__getitem__)]
        coef = -bare.coef * other.coef
        made.append(merged(Product(coef, factors, p.out, bare.decimal or other.decimal), run))
    return [merged(made[0], run), *made[1:]]


def _without_scalars(p: Product, scalars: Sequence[Factor]) -> list[Factor]:
    """The factors of a product without powers of scalars that it has."""
    rest = list(p.factors)
    for s in scalars:
        k = next(k for k, g in enumerate(rest) if g.base is s.base and not g.labels)
        power = plain_power(rest[k].power - s.power)
        rest[k : k + 1] = [Factor(s.base, (), power)] if power else []
    return rest

"""Sums that are their own transposes, as Hessians are: a common factor is not taken out of one side alone."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from symgrad.formula.canonical.normal import Factor, Form, Power, Product
from symgrad.formula.canonical.sums.expanding import substituted
from symgrad.formula.term import Term

if TYPE_CHECKING:
    from symgrad.formula.canonical.simplify import Canonicaliser

WIDEST = 12
"""Sums with more terms stay as they are."""


def partners(form: Form, run: Canonicaliser) -> Sequence[int] | None:
    """For each term of a symmetric sum the place of its transpose; None for other sums."""
    if not _is_square(form) or len(form.terms) < 3:
        return None
    places = {(run.key(p), p.coef): k for k, p in enumerate(form.terms)}
    turned = [(run.key(p.with_out(p.out[::-1])), p.coef) for p in form.terms]
    return [places[key] for key in turned] if all(key in places for key in turned) else None


def _is_square(form: Form) -> bool:
    return len(form.shape) == 2 and form.shape[0] == form.shape[1] != 1


def one_sided(form: Form, places: Collection[int], factor: Factor, partner: Sequence[int], run: Canonicaliser) -> bool:
    """Whether a factor is on one side of terms that are their own transposes and of one of a pair: axᵀ + xaᵀ + xxᵀ.

    Columns, and symmetric matrices in front of them.
    """
    p = form.terms[next(iter(places))]
    outside = [x for x in factor.labels if x in p.out]
    symmetric = len(factor.labels) == 2 and run.symmetries.symmetric(factor.base)
    if len(outside) != 1 or (len(factor.labels) > 1 and not symmetric):
        return False
    own = [k for k in places if partner[k] == k]
    others = [k for k in places if partner[k] not in places]
    return bool(own and others) and not any(_in_square(form, k, partner) for k in others)


def _in_square(form: Form, k: int, partner: Sequence[int]) -> bool:
    """Whether a term is the mixed one of a square: -xyᵀ beside xxᵀ and yyᵀ."""
    p, bases = form.terms[k], [_powers(q) for q in form.terms]
    doubled = {base: 2 * power for base, power in bases[k].items()}
    own = [j for j, other in enumerate(partner) if other == j]
    return any(
        {base: bases[i].get(base, 0) + bases[j].get(base, 0) for base in bases[i] | bases[j]} == doubled
        and form.terms[i].coef * form.terms[j].coef == p.coef**2
        for i, j in itertools.combinations(own, 2)
    )


def _powers(p: Product) -> dict[tuple[Term, bool], Power]:
    """The powers of the factors of a product, with those of reciprocals as bases of their own."""
    powers: dict[tuple[Term, bool], Power] = {}
    for f in p.factors:
        key = (f.base, f.power > 0)
        powers[key] = powers.get(key, 0) + f.power
    return powers


def opened(form: Form, run: Canonicaliser) -> Form | None:
    """A symmetric sum whose columns stood in brackets, without these: (x - a)xᵀ - xaᵀ = xxᵀ - axᵀ - xaᵀ, always."""
    from symgrad.formula.canonical.sums.factoring import scalars_apart

    if not run.small or not _is_square(form) or not 1 < len(form.terms) <= WIDEST:
        return None
    brackets = any(_is_open(p, f, run) for p in form.terms for f in p.factors)
    if not brackets or _columns(form.terms, 0, run) != _columns(form.terms, 1, run):
        return None
    rest, found = list(form.terms), list[Product]()
    while rest and len(found) + len(rest) <= WIDEST:
        p = rest.pop(0)
        own = run.key(p) == run.key(p.with_out(p.out[::-1]))  # (x - y)(x - y)ᵀ stays
        column = None if own else next((f for f in p.factors if _is_open(p, f, run)), None)
        if column is None:
            found.append(p)
        else:
            rest[:0] = substituted(p, column, run.insides[column.base], run)
    if rest or len(found) == len(form.terms):
        return None
    whole = run.sum_of([scalars_apart(p, run) for p in found], form.shape)
    places = partners(whole, run)
    return whole if places is not None and any(k != place for k, place in enumerate(places)) else None


def _columns(terms: Sequence[Product], axis: int, run: Canonicaliser) -> set[Term]:
    """What stands along an axis of a sum, with what stands in brackets there."""
    found: set[Term] = set()
    for p in terms:
        for f in p.factors:
            if p.out[axis] in f.labels:
                inside = run.insides[f.base].terms if _is_open(p, f, run) else ()
                found |= _columns(inside, 0, run) if inside else {f.base}
    return found


def _is_open(p: Product, f: Factor, run: Canonicaliser) -> bool:
    return len(f.labels) == 1 and f.labels[0] in p.out and f.power == 1 and f.base in run.insides

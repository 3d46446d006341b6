"""Factors that terms have in common under a sum: Σᵢⱼ C ⊙ A + Σᵢⱼ C ⊙ B is Σᵢⱼ C ⊙ (A + B), always.

A factor with one summed axis, or none, comes out by itself (:mod:`symgrad.formula.canonical.sums.factoring`); here are
those that lie under a sum with more than one of their axes, or entry by entry beside others: 1/D⁷ 1 - 1/D⁴ 1.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from symgrad.formula.canonical.normal import Factor, Form, Product, relabelled
from symgrad.formula.canonical.rewriting import merged
from symgrad.formula.canonical.sums.expanding import cost
from symgrad.formula.term import SYMBOL

if TYPE_CHECKING:
    from symgrad.formula.canonical.simplify import Canonicaliser

LEAST = 3
"""What is worth to come out: 1/D⁴ or several factors, but 1ᵀS1 - ‖S‖² stays."""

ONE_SUM = 1
"""What one sum saves beside two, where no other length does."""


def gathered(form: Form, run: Canonicaliser) -> Form | None:
    """The sum with two of its terms as one product under their sum, where that is shorter; None where none are."""
    terms = form.terms
    for i, p in enumerate(terms):
        for q in terms[i + 1 :]:
            run.steps -= 1
            for renamed in _renamings(p, q):
                whole = _as_one(p, renamed, run)
                if whole is not None:
                    rest = [whole if t is p else t for t in terms if t is not q]
                    return run.sum_of([t for t in rest if t.coef], form.shape)
    return None


def summed_together(form: Form, run: Canonicaliser) -> Form | None:
    """1ᵀa - 1ᵀb = 1ᵀ(a - b), always; None where there are no two such sums of one size.

    aᵀb, ‖a‖² and the totals of names stay.
    """
    groups: dict[Any, list[Product]] = {}
    for p in () if form.shape else form.terms:
        labels = {f.labels for f in p.factors}
        plain = len(p.factors) == 1 and p.factors[0].power != 2 and p.factors[0].base.op is not SYMBOL
        if len(labels) == 1 == len(*labels) and (plain or any(f.power < 0 for f in p.factors)):
            groups.setdefault(p.factors[0].base.shape, []).append(p)
    for shape, group in groups.items():
        if len(group) > 1:
            inner = run.product(run.sum_of([p.with_out(p.factors[0].labels) for p in group], shape))
            rest = [
                inner.with_out(()) if p is group[0] else p for p in form.terms if not any(p is q for q in group[1:])
            ]
            return Form([p for p in rest if p.coef], form.shape)
    return None


def _renamings(p: Product, q: Product) -> Iterator[Product]:
    """A product in the labels of another with which it shares an array under a sum that spans all its axes."""
    if len(set(p.out)) < len(p.out) or len(set(q.out)) < len(q.out):
        return
    for f in p.factors:
        if len(set(f.labels)) < 2 or len(set(f.labels)) < len(f.labels) or set(f.labels) <= set(p.out):
            continue
        for g in q.factors:
            if g.base is not f.base or (g.power > 0) != (f.power > 0):
                continue
            names = dict(zip((*q.out, *g.labels), (*p.out, *f.labels), strict=True))
            agree = all(names[x] == y for x, y in zip(q.out, p.out, strict=True))
            known = agree and len(set(names.values())) == len(names)
            if known and all(x in names for h in q.factors for x in h.labels):
                yield Product(q.coef, relabelled(q.factors, names.__getitem__), p.out, q.decimal)


def _as_one(p: Product, q: Product, run: Canonicaliser) -> Product | None:
    """Two products in the same labels as their common factors times the sum of what is left."""
    common: list[Factor] = []
    left, right = list(p.factors), list(q.factors)
    for f in p.factors:
        g = next((g for g in right if g.base is f.base and g.labels == f.labels and g.power * f.power > 0), None)
        if g is None:
            continue
        least = f if abs(float(f.power)) <= abs(float(g.power)) else g
        common.append(least)
        for side, own in ((left, f), (right, g)):
            k = side.index(own)
            side[k : k + 1] = (
                [Factor(own.base, own.labels, own.power - least.power)] if own.power != least.power else []
            )
    axes = sorted({x for f in (*left, *right) for x in f.labels})
    covered = {x for f in common for x in f.labels}
    if not common or not axes or len(axes) > 2 or not {x for f in p.factors for x in f.labels} <= covered | set(p.out):
        return None
    if any(0 < len({x for f in side for x in f.labels}) < len(axes) for side in (left, right)):
        return None  # Jᵀr + (J ⊙ J)ᵀ1 stays, where r varies along one of the axes of J alone
    sizes = {x: n for f in p.factors + q.factors for x, n in zip(f.labels, f.base.shape, strict=True)}
    rests = [Product(t.coef, side, tuple(axes), t.decimal) for t, side in ((p, left), (q, right))]
    out = cost([Product(1, common, p.out)])
    if out < LEAST or out + cost(rests) > cost([p, q]) + ONE_SUM:
        return None
    inner = run.product(run.sum_of(rests, tuple(sizes[x] for x in axes)))
    if not inner.coef or not inner.elementwise:
        return None
    names = dict(zip(inner.out, axes, strict=True))
    return merged(
        Product(inner.coef, [*common, *relabelled(inner.factors, names.__getitem__)], p.out, inner.decimal), run
    )

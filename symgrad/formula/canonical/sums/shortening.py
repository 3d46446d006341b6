"""Sums that are shorter as one power or one fraction: a² + 2ab + b² and 1/√u - x²/u^(3/2).

Every candidate is worked out term by term and taken only when it is shorter.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from symgrad.formula.canonical.cases.branches import constant_inside
from symgrad.formula.canonical.normal import Factor, Form, Power, Product, plain_power
from symgrad.formula.canonical.scalars.identities import (
    half_tangent,
    hyperbolic,
    one_square,
    shared_square,
    two_angles,
    whole_sigmoid,
)
from symgrad.formula.canonical.scalars.meetings import (
    bessel_recurrence,
    normal_probability,
    one_exponential,
    one_logarithm,
)
from symgrad.formula.canonical.sums.expanding import cost, substituted
from symgrad.formula.term import Term, frozen
from symgrad.op import lookup

if TYPE_CHECKING:
    from symgrad.formula.canonical.simplify import Canonicaliser

WIDEST = 8
"""Sums with more terms are left as they are."""


def shortened(form: Form, run: Canonicaliser) -> Form | None:
    """The form with one square completed, or some terms over a common denominator; None when neither is shorter."""
    if not 1 < len(form.terms) <= WIDEST:
        return None
    return next((found for rule in _RULES if (found := rule(form, run)) is not None), None)


# ---------------------------------------------------------------------------------------------- squares


def _square(form: Form, run: Canonicaliser) -> Form | None:
    """a² ± 2ab + b² = (a ± b)², always."""
    if len(form.terms) < 3 or not all(p.elementwise for p in form.terms):
        return None
    roots = [(k, root) for k, p in enumerate(form.terms) if (root := _root(p)) is not None]
    keys = {run.key(p): k for k, p in enumerate(form.terms)}
    for i, (k, a) in enumerate(roots):
        for m, b in roots[i + 1 :]:
            crosses = run.times(Form([a], form.shape), Form([b], form.shape)).terms
            n = keys.get(run.key(crosses[0])) if len(crosses) == 1 else None
            if n is None or n in (k, m) or abs(form.terms[n].coef) != 2 * crosses[0].coef:
                continue
            sign = 1 if form.terms[n].coef > 0 else -1
            whole = run.power(run.sum_of([a, b.scaled(sign)], form.shape), 2)
            return run.sum_of(form.exchanged((k, m, n), whole), form.shape)
    return None


def _root(p: Product) -> Product | None:
    """A product whose square this is."""
    value = Fraction(p.coef)
    if value <= 0 or p.decimal or any(f.power % 2 for f in p.factors):
        return None
    top, bottom = math.isqrt(value.numerator), math.isqrt(value.denominator)
    if top * top != value.numerator or bottom * bottom != value.denominator:
        return None
    return Product(
        Fraction(top, bottom), [Factor(f.base, f.labels, plain_power(Fraction(f.power) / 2)) for f in p.factors], p.out
    )


def _complement(form: Form, run: Canonicaliser) -> Form | None:
    """c - cσ(-u) = cσ(u), always."""
    for k, p in enumerate(form.terms):
        f = p.only
        if f is None or p.has_delta or f.base.op.name != "sigmoid" or f.power != 1 or f.base not in run.arguments:
            continue
        v = run.arguments[f.base][0]
        n = next((n for n, q in enumerate(form.terms) if q.constant and q.coef == -p.coef), None)
        if n is None or not v.terms or v.terms[0].coef > 0 or sorted(f.labels) != sorted(p.out):
            continue
        made = run.elementwise(lookup("sigmoid"), [v.scaled(-1)], {}, v.shape).scaled(-p.coef, p.decimal)
        whole = made.spread([p.out.index(x) for x in f.labels], form.shape)
        return run.sum_of(form.exchanged((k, n), whole), form.shape)
    return None


# ---------------------------------------------------------------------------------------------- sandwiches


def _sandwich(form: Form, run: Canonicaliser) -> Form | None:
    """XᵀAX - Xᵀbbᵀ X = Xᵀ(A - bbᵀ)X, always: terms that begin and end with one matrix, as in Hessians."""
    if len(form.shape) != 2 or form.shape[0] != form.shape[1]:
        return None
    groups: dict[Any, list[tuple[int, Factor, Factor]]] = {}
    for k, p in enumerate(form.terms):
        for f in _ends(p, 0):
            for g in _ends(p, 1):
                if f is not g and f.base is g.base and f.labels.index(p.out[0]) == g.labels.index(p.out[1]):
                    groups.setdefault((f.base, f.labels.index(p.out[0])), []).append((k, f, g))
    for (base, axis), found in groups.items():
        uses = {k: (f, g) for k, f, g in found}
        if len(uses) > 1:
            made = _between_ends(form, base, axis, uses, run)
            return made if len(made.terms) < len(form.terms) else None
    return None


def _ends(p: Product, side: int) -> list[Factor]:
    """The matrices at one end of a product: one of their labels is that output axis, which nothing else has."""
    x = p.out[side]
    around = [f for f in p.factors if x in f.labels]
    if p.out[0] == p.out[1] or len(around) != 1 or around[0].power != 1 or len(set(around[0].labels)) != 2:
        return []
    return around if any(y not in p.out for y in around[0].labels) else []


def _between_ends(
    form: Form, base: Term, axis: int, uses: dict[int, tuple[Factor, Factor]], run: Canonicaliser
) -> Form:
    size = base.shape[1 - axis]
    rests = []
    for k, (f, g) in uses.items():
        p = form.terms[k]
        others = p.beside(f, g)
        rests.append(Product(p.coef, others, (f.labels[1 - axis], g.labels[1 - axis]), p.decimal))
    inner = run.sum_of(rests, (size, size))
    end = Form([Product(1, [Factor(base, (0, 1))], (0, 1))], base.shape)
    place = {axis: 0, 1 - axis: 1}
    specs = [(place[0], place[1]), (1, 2), (3 if axis == 0 else 2, 2 if axis == 0 else 3)]
    whole = run.contract([end, inner, end], specs, (0, 3), form.shape)
    return run.sum_of(form.exchanged(uses, whole), form.shape)


# ---------------------------------------------------------------------------------------------- linear ops


def _one_call(form: Form, run: Canonicaliser) -> Form | None:
    """L(a) + L(b) = L(a + b) for linear ops that formulas show as functions."""
    calls: dict[Any, list[int]] = {}
    for k, p in enumerate(form.terms):
        f = p.only
        called = f is not None and f.base in run.arguments and f.power == 1 and f.labels == p.out
        if f is not None and called and f.base.op.linear and not f.base.op.entrywise and len(set(p.out)) == len(p.out):
            calls.setdefault((f.base.op, frozen(f.base.params), f.base.args[0].shape), []).append(k)
    for group in calls.values():
        if len(group) > 1:
            bases = [form.terms[k].factors[0].base for k in group]
            parts = [
                run.arguments[b][0].scaled(form.terms[k].coef, form.terms[k].decimal)
                for b, k in zip(bases, group, strict=True)
            ]
            inner = run.plus(parts, [1] * len(parts), parts[0].shape)
            if not inner.terms:
                whole = Form((), form.shape)
            else:
                p = run.product(inner)
                bare = Form([Product(1, p.factors, p.out)], inner.shape)
                whole = run.linear(bases[0].op, run.term(bare), bare, bases[0].params).scaled(p.coef, p.decimal)
            return run.sum_of(form.exchanged(group, whole), form.shape)
    return None


# ---------------------------------------------------------------------------------------------- fractions


def _one_fraction(form: Form, run: Canonicaliser) -> Form | None:
    """Terms with different negative powers of one sum over the lowest of them: p/u + q/u² = (pu + q)/u² where u ≠ 0."""
    powers: dict[Any, dict[int, Factor]] = {}
    for k, p in enumerate(form.terms):
        for f in p.factors:
            if f.power < 0 and f.base in run.insides and p.elementwise:
                places = tuple(p.out.index(x) for x in f.labels)
                powers.setdefault((f.base, places), {})[k] = f
    for uses in powers.values():
        lowest = min(f.power for f in uses.values())
        steps = [f.power - lowest for f in uses.values()]
        if not any(steps) or any(s != int(s) or s > 2 for s in steps):
            continue
        found = _over(form, uses, lowest, run)
        if found is not None:
            return found
    return None


def _over(form: Form, uses: dict[int, Factor], lowest: Power, run: Canonicaliser) -> Form | None:
    terms: list[Product] = []
    for k, f in uses.items():
        p = form.terms[k]
        rest = p.without(f)
        terms += _multiplied(rest, f, int(f.power - lowest), run)
    above = run.sum_of(terms, form.shape)
    old = [form.terms[k] for k in uses]
    if cost(above.terms) + 3 >= cost(old):
        return None
    first = next(iter(uses))
    p, f = form.terms[first], uses[first]
    below = Form([Product(1, [Factor(f.base, f.labels, lowest)], p.out)], form.shape)
    whole = run.times(above, below)
    rest_terms = [q for k, q in enumerate(form.terms) if k not in uses]
    return run.sum_of([*rest_terms[:first], *whole.terms, *rest_terms[first:]], form.shape)


def _multiplied(p: Product, f: Factor, times: int, run: Canonicaliser) -> Sequence[Product]:
    """A product times a sum, term by term, some times over."""
    terms = [p]
    for _ in range(times):
        one = Factor(f.base, f.labels)
        placed = [(q, _place(q, p, one)) for q in terms]
        wide = [(q.with_factors([*q.factors, x]), x) for q, x in placed]
        terms = [r for q, x in wide for r in substituted(q, x, run.insides[f.base], run)]
    return terms


def _place(q: Product, p: Product, f: Factor) -> Factor:
    """The factor with the labels that the product ``p``'s axes have in ``q``."""
    names = dict(zip(p.out, q.out, strict=True))
    return Factor(f.base, tuple(names[x] for x in f.labels), f.power)


_RULES = (
    _square, one_square, shared_square, hyperbolic, half_tangent, whole_sigmoid, two_angles, _complement, _sandwich,
    one_logarithm, normal_probability, bessel_recurrence, one_exponential, _one_fraction, _one_call, constant_inside,
)  # fmt: skip

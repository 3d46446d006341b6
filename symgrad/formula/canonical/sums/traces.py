"""Traces that have a matrix in common: tr(AX) + tr(BX) = tr((A + B)X), always."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symgrad.formula.canonical.normal import Factor, Form, Product
from symgrad.formula.canonical.writing import components
from symgrad.formula.term import Term

if TYPE_CHECKING:
    from symgrad.formula.canonical.simplify import Canonicaliser


def traces_together(form: Form, run: Canonicaliser) -> Form | None:
    """A number with the traces in it as one that have a matrix in common; None where there are no two such.

    Quadratic forms stay: xᵀAx + yᵀAy is no shorter as tr(A(xxᵀ + yyᵀ)).
    """
    if form.shape:
        return None
    found: dict[Term, list[tuple[Product, Factor]]] = {}
    for p in form.terms:
        for f in p.factors:
            if _closes(p, f):
                found.setdefault(f.base, []).append((p, f))
    group = max(found.values(), key=len, default=[])
    if len(group) < 2:
        return None
    (_, first), *_ = group
    rests = [Product(p.coef, p.beside(f), f.labels, p.decimal) for p, f in group]
    inner = run.product(run.sum_of(rests, first.base.shape))
    taken = [p for p, _ in group]
    others = [p for p in form.terms if not any(p is q for q in taken)]
    if not inner.coef:
        return Form(others, ())
    whole = run.contract([run.opaque(first.base), Form([inner], first.base.shape)], [(0, 1), (0, 1)], (), ())
    return Form([*whole.terms, *others], ())


def _closes(p: Product, f: Factor) -> bool:
    """Whether a matrix closes the trace of a product: the others lead from one of its axes to the other."""
    if len(f.labels) != 2 or f.labels[0] == f.labels[1] or f.power != 1 or sum(g.base is f.base for g in p.factors) > 1:
        return False
    rest = [g for g in p.beside(f) if g.labels]
    groups = components(rest)
    if len(groups) != 1 or not all(len(g.labels) == 2 and g.labels[0] != g.labels[1] for g in rest):
        return False
    labels = [x for g in p.factors for x in g.labels]
    return all(labels.count(x) == 2 for x in labels)

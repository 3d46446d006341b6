"""Sums of cross products of vectors that have a side in common."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from symgrad.formula.canonical.normal import Factor, Form, Product
from symgrad.formula.canonical.writing import whole
from symgrad.formula.term import Term

if TYPE_CHECKING:
    from symgrad.formula.canonical.simplify import Canonicaliser

LONGEST = 3
"""Terms of a side: longer brackets have a name of their own, which is left as it is."""


def crossed(terms: Sequence[Product], run: Canonicaliser, shape: tuple[Any, ...]) -> list[Product] | None:
    """u × a + b × u = u × (a - b), always, with the same scalars in front; None where no two terms are like that."""
    found = [(p, *parts) for p in terms if (parts := _alone(p)) is not None]
    for (p, f, before), (q, g, other) in itertools.combinations(found, 2):
        if before != other or abs(p.coef) != abs(q.coef) or f.base.params != g.base.params:
            continue
        for (i, u), (j, v) in itertools.product(enumerate(f.base.args), enumerate(g.base.args)):
            if u is v:
                sides = [(f.base.args[1 - i], p.coef), (g.base.args[1 - j], q.coef * (1 if i == j else -1))]
                side = run.plus([run.form_of(x).scaled(c) for x, c in sides], (1, 1), shape)
                if len(side.terms) > LONGEST:
                    continue
                made = run.form_of(_product(f.base, i, whole(run.term(side), shape))) if side.terms else side
                front = Form([Product(1, list(before), (), p.decimal or q.decimal)], ())
                return [*(x for x in terms if x is not p and x is not q), *run.times(front, made).terms]
    return None


def _alone(p: Product) -> tuple[Factor, frozenset[Factor]] | None:
    """The cross product of two vectors in a term that has nothing but scalars beside it, and these."""
    arrays = [f for f in p.factors if f.labels]
    alone = len(arrays) == 1 and arrays[0].base.op.name == "cross" and arrays[0].power == 1
    if not alone or len(p.out) != 1 or arrays[0].labels != p.out or any(a.ndim != 1 for a in arrays[0].base.args):
        return None
    return arrays[0], frozenset(f for f in p.factors if not f.labels)


def _product(like: Term, place: int, side: Term) -> Term:
    """The same cross product with another side than the one in a place."""
    sides = (like.args[0], side) if place == 0 else (side, like.args[1])
    return like.op(*sides, **like.params)  # type: ignore[no-any-return]

"""Quotients that are 0 where their divisor is: ``ratio(1, y)`` is 1/y, and 0 at y = 0."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from symgrad.formula.canonical.normal import Factor, Product, plain_power

if TYPE_CHECKING:
    from symgrad.formula.canonical.simplify import Canonicaliser
    from symgrad.formula.term import Term


def without_guards(p: Product, run: Canonicaliser) -> Product:
    """Powers of y next to ratio(1, y), which is 1/y, and 0 where y is 0."""
    for f in p.factors:
        if f.base.op.name != "ratio" or f.base.args[0].number != 1:
            continue
        y = f.base.args[1]
        for g in p.factors:
            if g.base is not y or g.labels != f.labels:
                continue
            # Where 1/y stands already y is not 0, and both are the same; y²·ratio(1, y) = y always.
            if g.power < 0 or g.power > f.power:
                return without_guards(p.replaced([f, g], [Factor(y, g.labels, plain_power(g.power - f.power))]), run)
            if y.op.name == "norm" and _has_argument(p, y, run):
                # x·‖x‖·ratio(1, ‖x‖) = x always: all are 0 where ‖x‖ = 0.
                rest = [Factor(f.base, f.labels, plain_power(f.power - g.power))] if f.power > g.power else []
                return without_guards(p.replaced([f, g], rest), run)
    return p


def unguarded(terms: Sequence[Product]) -> Sequence[Product]:
    """A sum in which 1/y stands says that y is not 0: ratio(1, y) is 1/y in its other terms, too."""
    guards = {f.base for p in terms for f in p.factors if f.base.op.name == "ratio" and f.base.args[0].number == 1}
    below = {f.base for p in terms for f in p.factors if f.power < 0} if guards else set()
    plain = {g: g.args[1] for g in guards if g.args[1] in below}
    if not plain:
        return terms
    return [
        p.with_factors([Factor(plain[f.base], f.labels, -f.power) if f.base in plain else f for f in p.factors])
        for p in terms
    ]


def _has_argument(p: Product, y: Term, run: Canonicaliser) -> bool:
    """Whether the whole argument of a norm is a factor of a product, or a product of factors of it, as in A X of ‖A X‖.

    Its entries are 0 where the norm is, and so is every product with them, whatever is summed over their axes.
    """
    if any(h.base is y.args[0] and h.power > 0 for h in p.factors):
        return True
    inner = run.product(run.form_of(y.args[0]))
    if not 1 <= len(inner.factors) <= len(p.factors):
        return False
    return _embedded(p, inner, 0, {}, frozenset())


def _embedded(p: Product, inner: Product, k: int, names: dict[int, int], used: frozenset[int]) -> bool:
    """Whether the factors of ``inner`` from ``k`` on are factors of ``p``, with its labels by other ``names``."""
    if k == len(inner.factors):
        return _is_closed(p, inner, names, used)
    f = inner.factors[k]
    for n, g in enumerate(p.factors):
        if n in used or g.base is not f.base or f.power < 0 or g.power < f.power:
            continue
        found = dict(names)
        if all(found.setdefault(x, z) == z for x, z in zip(f.labels, g.labels, strict=True)):
            split = g.power != f.power and any(x not in inner.out for x in f.labels)
            if not split and _embedded(p, inner, k + 1, found, used | {n}):
                return True
    return False


def _is_closed(p: Product, inner: Product, names: dict[int, int], used: frozenset[int]) -> bool:
    """Whether what ``inner`` sums over is summed in ``p`` over these factors alone."""
    summed = {names[x] for f in inner.factors for x in f.labels if x not in inner.out}
    outside = {x for n, g in enumerate(p.factors) if n not in used for x in g.labels}
    distinct = len(set(names.values())) == len(names)
    return not summed or (distinct and not summed & (outside | set(p.out)))

"""Sums that stand above a fraction bar and, as one factor, below it: (Ax)ᵢ/(Ax)ᵢ = 1, where it is not 0."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from symgrad.formula.canonical.normal import Factor, Joined, Product, plain_power

if TYPE_CHECKING:
    from symgrad.formula.canonical.simplify import Canonicaliser


def without_own_sums(p: Product, run: Canonicaliser) -> Product:
    """A product without the sums that cancel against what is below the bar, where that is not 0.

    Of outer products below the bar one side cancels, too: (By)ⱼ/((Ax)ᵢ(By)ⱼ) = 1/(Ax)ᵢ.
    """
    for f in p.factors:
        form = run.contractions.get(f.base) if f.labels and f.power < 0 and f.power == int(f.power) else None
        if form is None or len({*f.labels}) < len(f.labels):
            continue
        (q,) = form.terms
        if q.coef != 1 or q.has_delta or {*q.out} - {x for g in q.factors for x in g.labels}:
            continue
        names = dict(zip(q.out, f.labels, strict=True))
        rest = p.beside(f)
        parts = _connected(q.factors, q.out)
        for part in parts:
            own = tuple(x for x in q.out if any(x in g.labels for g in part))
            group = _group_like(Product(1, part, own), tuple(names[x] for x in own), rest, p, run)
            if group:
                return without_own_sums(_without(p, group, f, _powers_of(parts, part, f, q, names, run)), run)
    return p


def _group_like(
    part: Product, ends: tuple[int, ...], rest: Sequence[Factor], p: Product, run: Canonicaliser
) -> list[Factor]:
    """Those of the other factors that make the same sum with these labels at its ends."""
    for group in _connected(rest, {*ends, *p.out}):
        labels = {x for g in group for x in g.labels}
        alike = len(group) == len(part.factors) and {x for x in labels if x in ends or x in p.out} == {*ends}
        if alike and run.key(Product(1, group, ends)) == run.key(part):
            return group
    return []


def _powers_of(
    parts: Sequence[list[Factor]], met: list[Factor], f: Factor, q: Product, names: dict[int, int], run: Canonicaliser
) -> list[Factor]:
    """The divisor part by part, where one of the parts met itself above the bar."""
    found = []
    for part in parts:
        power = plain_power(f.power + (part is met))
        own = tuple(x for x in q.out if any(x in g.labels for g in part))
        if power and len(parts) == 1:
            found.append(Factor(f.base, f.labels, power))
        elif power:
            sizes = {x: size for g in part for x, size in zip(g.labels, g.base.shape, strict=True)}
            packed = run.packed(Product(1, part, own), tuple(sizes[x] for x in own))
            labels = {x: names[y] for x, y in zip(packed.out, own, strict=True)}
            found += [Factor(g.base, tuple(labels[x] for x in g.labels), g.power * power) for g in packed.factors]
    return found


def _without(p: Product, group: list[Factor], f: Factor, new: list[Factor]) -> Product:

    # What the group sums over is gone with it, and is no axis of entries that are all 1.
    inside = tuple({x for g in group for x in g.labels} - {*f.labels, *p.out})
    wide = Product(p.coef, p.factors, (*p.out, *inside), p.decimal)
    return wide.replaced([*group, f], new).with_out(p.out)


def _connected(factors: Sequence[Factor], edges: Collection[int]) -> list[list[Factor]]:
    """The factors in groups that have labels in common, others than the edges; in order of first appearance."""
    joined = Joined()
    for k, f in enumerate(factors):
        for x in f.labels:
            if x not in edges:
                joined.join((0, x), (1, k))
    groups: dict[object, list[Factor]] = {}
    for k, f in enumerate(factors):
        groups.setdefault(joined.find((1, k)), []).append(f)
    return list(groups.values())

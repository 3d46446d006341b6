"""Pseudo-inverses beside their matrices: XX⁺ and X⁺X are orthogonal projections, which X and X⁺ do not see."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from symgrad.formula.canonical.normal import Factor, Product

if TYPE_CHECKING:
    from symgrad.formula.canonical.simplify import Canonicaliser


class Projection(NamedTuple):
    """XX⁺ (``rows``) or X⁺X in a product: the factors, and the label at which each of them ends."""

    first: Factor
    second: Factor
    start: int
    end: int
    rows: bool


def penrose(p: Product, run: Canonicaliser) -> Product:
    """XX⁺X = X, X⁺XX⁺ = X⁺, XᵀXX⁺ = Xᵀ and (X⁺)ᵀXᵀ = XX⁺, always (Penrose's conditions, of real matrices)."""
    from symgrad.formula.canonical.rewriting import merged

    for projection in _projections(p):
        f, g, *ends, rows = projection
        rest = p.beside(f, g)
        for here, there in (ends, ends[::-1]):
            met = [h for h in rest if here in h.labels]
            if here in p.out or len(met) != 1 or here == there:
                continue
            (h,) = met
            axis = 1 - rows if h.base is (f if rows else g).base else int(rows)
            if h.base in (f.base, g.base) and h.power == 1 and h.labels[axis] == here != h.labels[1 - axis]:
                turned = Factor(h.base, (there, h.labels[1]) if axis == 0 else (h.labels[0], there))
                return merged(p.with_factors([turned if x is h else x for x in rest]), run)
        if _place(p, projection.end, rest, run) < _place(p, projection.start, rest, run):
            new = [_ending(f, projection.start, projection.end), _ending(g, projection.end, projection.start)]
            return penrose(p.with_factors([*rest, *new]), run)
    return p


def _projections(p: Product) -> list[Projection]:
    """The pseudo-inverses that stand beside their matrices."""
    found = []
    for f in p.factors:
        if f.base.op.name != "pinv" or f.power != 1 or len(set(f.labels)) != 2 or not f.base.real_dtype:
            continue
        for g in p.factors:
            if g.base is not f.base.args[0] or g.power != 1 or len(set(g.labels)) != 2:
                continue
            for rows, (left, right) in ((True, (g, f)), (False, (f, g))):
                inner = left.labels[1]
                uses = sum(h.labels.count(inner) for h in p.factors)
                if inner == right.labels[0] and uses == 2 and inner not in p.out:
                    found.append(Projection(left, right, left.labels[0], right.labels[1], rows))
    return found


def _place(p: Product, label: int, rest: list[Factor], run: Canonicaliser) -> tuple[int, ...]:
    """Where a label leads: to an axis of the product, or to another factor."""
    if label in p.out:
        return 0, p.out.index(label)
    return min(((1, run.ordinal(h.base), h.labels.index(label)) for h in rest if label in h.labels), default=(2,))


def _ending(f: Factor, old: int, new: int) -> Factor:
    return Factor(f.base, tuple(new if x == old else x for x in f.labels))

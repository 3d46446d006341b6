"""Products with unit vectors: a sum over an axis on which one of them stands is an entry."""

from __future__ import annotations

from symgrad.formula.normal import Factor, Product
from symgrad.formula.term import Term
from symgrad.op import lookup


def entries_of_others(p: Product) -> Product:
    """Σᵢ eₖ[i]·A[i, j] = A[k, j], always: ``put(1; index=k)`` is the unit vector eₖ."""
    for f in p.factors:
        place = _unit_place(f.base) if f.power > 0 else None
        if place is None or f.labels[0] in p.out:
            continue
        (x,) = f.labels
        others = [g for g in p.factors if g is not f]
        if any(x in g.labels for g in others):
            return entries_of_others(Product(p.coef, [_entry(g, x, place) for g in others], p.out, p.decimal))
    return p


def _unit_place(term: Term) -> int | None:
    """k, when a vector is 1 at one place k and 0 elsewhere."""
    if term.op.name != "put" or term.ndim != 1 or term.args[0].number != 1:
        return None
    index = term.params["index"].value
    index = index[0] if isinstance(index, tuple) and len(index) == 1 else index
    return index if isinstance(index, int) and not isinstance(index, bool) else None


def _entry(f: Factor, label: int, place: int) -> Factor:
    """A factor at one place of an axis."""
    base, labels = f.base, list(f.labels)
    while label in labels:
        axis = labels.index(label)
        base = lookup("select")(base, dim=axis, index=place)
        del labels[axis]
    return Factor(base, tuple(labels), f.power)

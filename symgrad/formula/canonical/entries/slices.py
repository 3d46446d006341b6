"""Entries and axes: a sum over an axis on which a unit vector stands is an entry, and indices that only add axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from symgrad.formula.canonical.normal import Factor, Form, Product
from symgrad.formula.term import Term
from symgrad.op import lookup
from symgrad.ops.indexing.getitem import Index

if TYPE_CHECKING:
    from symgrad.formula.canonical.simplify import Canonicaliser


def entries_of_others(p: Product) -> Product:
    """Σᵢ eₖ[i]·A[i, j] = A[k, j] and eₖ ⊙ v = v[k] eₖ, always: ``put(1; index=k)`` is the unit vector eₖ."""
    for f in p.factors:
        place = unit_place(f.base) if f.power > 0 else None
        if place is None:
            continue
        (x,) = f.labels
        others = p.beside(f)
        if any(x in g.labels for g in others) or f.power != 1:
            alone = [Factor(f.base, f.labels)] if x in p.out else []
            met = [_entry(g, x, place) for g in others]
            return entries_of_others(p.with_factors([*met, *alone])) if met or alone else p
    return p


def sums_of_placed(p: Product, run: Canonicaliser) -> Product:
    """Σ put(v) = Σ v, always: every entry is added in one place; Σ put(v)² = Σ v² where each has a place of its own."""
    for f in p.factors:
        if f.base.op.name != "put" or not (f.power == 1 or (type(f.power) is int and f.power > 1)):
            continue
        if f.power != 1 and (len(f.base.args) > 1 or f.base.params["index"].fancy):  # a place may come twice
            continue
        others = {x for g in p.beside(f) for x in g.labels} | set(p.out)
        value, *places = f.base.args
        taken = lookup("getitem")(f.base, *places, index=f.base.params["index"])
        if others & set(f.labels) or len(set(f.labels)) < len(f.labels) or taken.shape != value.shape:
            continue
        fresh = p.fresh
        (inner,) = run.opaque(value).terms
        parts = [Factor(g.base, tuple(fresh + x for x in g.labels), f.power) for g in inner.factors]
        rest = [h for g in p.factors for h in (parts if g is f else [g])]
        return sums_of_placed(Product(p.coef * inner.coef ** int(f.power), rest, p.out, p.decimal), run)
    return p


def unit_place(term: Term) -> int | None:
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


def without_spread(run: Canonicaliser, term: Term, args: Sequence[Form]) -> Form | None:
    """An op without the axes beside those it mixes along which no operand varies, always; a lone signal has no other.

    The determinants of a stack of equal matrices are one.
    """
    op, shape, params = term.op, args[0].shape, dict(term.params)
    ndim = len(shape) - (op.name == "windows_sum")  # the last axis of its argument runs inside the windows
    mixed = _mixed(term, ndim) if ndim else None
    if mixed is None or any(a.shape != shape for a in args):
        return None
    varies = {*mixed, *range(ndim, len(shape)), *(k for a in args for k in a.covered())}
    if len(varies) == len(shape):
        return None
    kept = sorted(varies)
    for name in {"dim", "dims"} & params.keys():
        given = params[name]
        params[name] = tuple(map(kept.index, mixed)) if isinstance(given, tuple) else kept.index(mixed[0])
    if "widths" in params:
        params["widths"] = tuple(params["widths"][k] for k in kept)
    inner = [run.like(t, a.restricted(kept)) for t, a in zip(term.args, args, strict=True)]
    whole_rank = term.ndim != ndim - len(mixed)
    axes = range(term.ndim) if whole_rank else [k for k in range(ndim) if k not in mixed]
    places = [place for place, k in enumerate(axes) if k in varies or k >= ndim]
    return run.form_of(op(*inner, **params)).spread(places, term.shape)


def _mixed(term: Term, ndim: int) -> list[int] | None:
    """The axes along which an op mixes the entries of its operands, where its entry says so."""
    op, params = term.op, term.params
    if op.along and "widths" in params:
        return [k for k, width in enumerate(params["widths"]) if any(width)]
    mixes = "dim" if op.along else op.mixes
    if mixes is None or isinstance(mixes, int):
        return None if mixes is None else list(range(ndim - mixes, ndim))
    given = params.get(mixes)
    if given is None:
        return None
    return [k % ndim for k in given] if isinstance(given, tuple) else [given % ndim]


def keeps_order(term: Term) -> bool:
    """Whether a term has the entries of its argument in the same order."""
    name = term.op.name
    return name in ("reshape", "squeeze", "unsqueeze") or (name == "permute" and term.ndim == 2 and 1 in term.shape)


def new_axes(index: Any, ndim: int) -> list[bool] | None:
    """For an index of whole axes and new ones only: which axes of the result are new."""
    parts = index.value if isinstance(index.value, tuple) else (index.value,)
    whole = sum(1 for p in parts if isinstance(p, slice))
    out: list[bool] = []
    for p in parts:
        if p is None:
            out.append(True)
        elif p is Ellipsis:
            out += [False] * (ndim - whole)
        elif isinstance(p, slice) and p == slice(None):
            out.append(False)
        else:
            return None
    return out + [False] * (ndim - out.count(False))


def index_of_axes(index: Index, ndim: int) -> list[Any] | None:
    """What an index says of each axis; None where it adds axes, or has masks, or arrays that are constants."""
    parts: list[Any] = []
    for p in index.parts:
        if p is None or isinstance(p, (bool, np.ndarray)):
            return None
        parts += [slice(None)] * (ndim - len(index.parts) + 1) if p is Ellipsis else [p]
    return parts + [slice(None)] * (ndim - len(parts))


def is_identity(form: Form) -> bool:
    """Whether a form is a number times the identity."""
    if len(form.terms) != 1:
        return False
    p = form.terms[0]
    return not p.factors and len(p.out) == 2 and p.out[0] == p.out[1]


def turned_around(parts: Sequence[Any]) -> tuple[int, ...]:
    """The axes along which an index takes all entries backwards; none where it takes anything else."""
    back = slice(None, None, -1)
    return tuple(k for k, p in enumerate(parts) if p == back) if all(p in (slice(None), back) for p in parts) else ()

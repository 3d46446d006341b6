"""Arrays that a program fills entry by entry: what is written at a place, times the unit vector of that place.

``index_put(a, v; index=[k])`` is a − aₖ eₖ + v eₖ, and the entry k of a sum of multiples of unit vectors is the
multiple of eₖ.  So a loop that fills zeros gives the vector of what it has written.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from symgrad.formula.canonical.entries.slices import new_axes, unit_place
from symgrad.formula.canonical.normal import Factor, Form, Product
from symgrad.formula.term import Term, apply
from symgrad.op import lookup
from symgrad.ops.indexing.getitem import Index

if TYPE_CHECKING:
    from symgrad.formula.canonical.simplify import Canonicaliser

MOST = 64
"""Terms of an array among which entries are looked for."""


def place_of(index: Any, shape: Sequence[Any]) -> tuple[int, ...] | None:
    """The place that an index of whole numbers names, counted from the front; None for others."""
    parts = index.parts
    if len(parts) != len(shape) or any(type(k) is not int for k in parts):
        return None
    if any(k < 0 and not isinstance(n, int) for k, n in zip(parts, shape, strict=True)):
        return None
    return tuple(k + n if k < 0 else k for k, n in zip(parts, shape, strict=True))


def read_written(run: Canonicaliser, term: Term, args: Sequence[Form]) -> Form | None:
    """What is written over every entry is all that there is; what is written at a place stands there alone."""
    old, value = term.args[0].dtype, term.args[1].dtype
    if value is not None and old is not None and value.kind != old.kind:
        return None
    new = new_axes(term.params["index"], term.ndim)
    if new is not None:
        if any(new):
            return None
        return args[1] if args[1].shape == term.shape else args[1].broadcast(term.shape)
    place = place_of(term.params["index"], term.shape)
    if place is None or args[1].shape or 1 in term.shape or len(args[0].terms) > MOST:
        return None
    kept = []
    for p in args[0].terms:
        found = _entry(p, dict(enumerate(place)))
        if found is None or (found.coef and len(found.factors) + len(place) > len(p.factors)):
            return None  # other entries of this term stay as they are
        if not found.coef:
            kept.append(p)
    units = [run.opaque(unit_vector(n, k)) for n, k in zip(term.shape, place, strict=True)]
    axes = tuple(range(term.ndim))
    written = run.contract([args[1], *units], [(), *((k,) for k in axes)], axes, term.shape)
    return run.plus([Form(kept, term.shape), written], (1, 1), term.shape)


def not_written(term: Term, index: Any) -> Term | None:
    """The entry at a place without what was written at others; None where nothing was."""
    place, array = place_of(index, term.shape), term
    while place is not None and array.op.name == "index_put" and not array.args[1].shape:
        other = place_of(array.params["index"], array.shape)
        if other is None:
            break
        if other == place:
            return array.args[1]
        array = array.args[0]
    return None if array is term else lookup("getitem")(array, index=index)


def entry_at(run: Canonicaliser, form: Form, index: Any) -> Form | None:
    """The entry at a place of a sum of what stands at places, or is one number everywhere."""
    place = place_of(index, form.shape)
    return None if place is None else _picked(run, form, dict(enumerate(place)))


def row_at(run: Canonicaliser, form: Form, axis: int, place: int) -> Form | None:
    """The entries at one place of an axis, of a sum of what stands at places of it, or is the same at all of them."""
    return _picked(run, form, {axis: place})


def _picked(run: Canonicaliser, form: Form, places: dict[int, int]) -> Form | None:
    if len(form.terms) > MOST:
        return None
    found = [_entry(p, places) for p in form.terms]
    if any(p is None for p in found):
        return None
    shape = tuple(n for k, n in enumerate(form.shape) if k not in places)
    return run.sum_of([p for p in found if p is not None and p.coef], shape)


def _entry(p: Product, places: dict[int, int]) -> Product | None:
    """A product at places of some axes; None where it is made of an array that has no known entries."""
    factors, known = list(p.factors), len(set(p.out)) == len(p.out)
    for axis, k in places.items():
        x = p.out[axis]
        at = [f for f in p.factors if x in f.labels]
        unit = _place_of_unit(at[0].base) if len(at) == 1 and at[0].power == 1 else None
        if unit is not None and unit != k:
            return Product(0, (), ())
        if len(at) == 1 and at[0].power == 1 and at[0].labels == (x,):
            picked = [] if unit == k else [Factor(lookup("getitem")(at[0].base, index=Index(k)), ())]
            factors = [g for f in factors for g in (picked if f is at[0] else [f])]
        elif at:
            known = False
    out = tuple(x for axis, x in enumerate(p.out) if axis not in places)
    return Product(p.coef, factors, out, p.decimal) if known else None


def _place_of_unit(t: Term) -> int | None:
    """Where a unit vector is 1, counted from the front."""
    k = unit_place(t)
    if k is None or k >= 0:
        return k
    return k + t.shape[0] if isinstance(t.shape[0], int) else None


def unit_vector(size: Any, place: int) -> Term:
    """The vector that is 1 at one place and 0 elsewhere."""
    return apply(lookup("put"), (1.0,), {"index": Index((place,)), "shape": (size,)})  # type: ignore[no-any-return]

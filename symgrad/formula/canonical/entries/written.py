"""Arrays that a program fills entry by entry: what is written at a place, times the unit vector of that place.

What is written into zeros at a place k is v eₖ, and the entry k of a sum of multiples of unit vectors is the multiple
of eₖ.  So a loop that fills zeros gives the vector of what it has written.  What is written into other arrays stands
between what is left of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from symgrad.formula.canonical.entries.rows import ends_of
from symgrad.formula.canonical.entries.slices import index_of_axes, new_axes, unit_place
from symgrad.formula.canonical.normal import Factor, Form, Product
from symgrad.formula.term import Term, apply, full
from symgrad.op import lookup
from symgrad.ops.indexing.getitem import Index
from symgrad.ops.shapes.sizes import total_size

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
    below = term.args[0]
    if below.op.name == "index_put" and below.params["index"] == term.params["index"] and len(term.args) == 2:
        return run.form_of(lookup("index_put")(below.args[0], term.args[1], index=term.params["index"]))
    place = place_of(term.params["index"], term.shape)
    if place is None:
        return _around(run, term, args)
    if args[1].shape or 1 in term.shape or len(args[0].terms) > MOST:
        return None
    kept = []
    for p in args[0].terms:
        found = _entry(p, dict(enumerate(place)))
        if found is None or (found.coef and len(found.factors) + len(place) > len(p.factors)):
            return _between(run, term, args)  # other entries of this term stay as they are
        if not found.coef:
            kept.append(p)
    return run.plus([Form(kept, term.shape), _alone(run, args[1], place, term.shape)], (1, 1), term.shape)


def _alone(run: Canonicaliser, value: Form, place: Sequence[int], shape: tuple[Any, ...]) -> Form:
    """A number at a place, and 0 elsewhere."""
    units = [run.opaque(unit_vector(n, k)) for n, k in zip(shape, place, strict=True)]
    axes = tuple(range(len(shape)))
    return run.contract([value, *units], [(), *((k,) for k in axes)], axes, shape)


def _between(run: Canonicaliser, term: Term, args: Sequence[Form]) -> Form | None:
    """What stands before a range of an axis, what is written there, and what stands after it, whatever stood there."""
    (array, value, *places), parts = term.args, index_of_axes(term.params["index"], term.ndim)
    if parts is None or places or not all(isinstance(part, (int, slice)) for part in parts):
        return None
    axis = next(k for k, part in enumerate(parts) if part != slice(None))
    part, size = parts[axis], term.shape[axis]
    ends = ends_of(part, size)
    if ends is None or (array.op.name == "cat" and len(array.args) > MOST):
        return None
    getitem, lead = lookup("getitem"), parts[:axis]
    within = slice(part, part + 1 or None) if isinstance(part, int) else part
    outside = [*[slice(within.start)] * (ends[0] != 0), *[slice(within.stop, None)] * (ends[1] != size)]
    around = {p.start is None: getitem(array, index=Index((*lead, p))) for p in outside}
    new = _written_at(array, value, parts, axis)
    row = [t for t in (around.get(True), new, around.get(False)) if t is not None]
    if total_size([t.shape[axis] for t in row]) != size:
        return None
    if args[1].terms or any(p != slice(None) for p in parts[axis + 1 :]):
        return run.form_of(lookup("cat")(*row, dim=axis))
    left = [run.form_of(_put(around[p.start is None], Index((*lead, p)), term)) for p in outside]
    return run.plus(left, [1] * len(left), term.shape)


def _written_at(array: Term, value: Term, parts: Sequence[Any], axis: int) -> Term:
    """The range of an array along one axis after a value was written into it, which is narrower along later axes."""
    lead, rest = parts[:axis], parts[axis + 1 :]
    new = lookup("getitem")(array, index=Index((*lead, parts[axis])))
    if any(p != slice(None) for p in rest):
        inner = (*lead, *([] if isinstance(parts[axis], int) else [slice(None)]), *rest)
        new = lookup("index_put")(new, value, index=Index(inner))
    elif value.shape == new.shape:
        new = value
    else:
        new = lookup("expand")(value, shape=new.shape)
    return lookup("unsqueeze")(new, dim=axis) if isinstance(parts[axis], int) else new  # type: ignore[no-any-return]


def _around(run: Canonicaliser, term: Term, args: Sequence[Form]) -> Form | None:
    """A range of an array that is one number everywhere else, which is mostly 0."""
    index, array = term.params["index"], term.args[0]
    if len(term.args) > 2 or not all(isinstance(part, (int, slice)) for part in index.parts):
        return None
    before = lookup("getitem")(array, index=index)
    value = term.args[1] if term.args[1].shape == before.shape else lookup("expand")(term.args[1], shape=before.shape)
    old = run.term(args[0])
    if placed_at(old, index, before.shape) is not None:  # which is written over
        over = old.op.name == "put"
        return run.form_of(_put(value, index, term) if over else lookup("index_put")(old.args[0], value, index=index))
    constant = sum(p.coef for p in args[0].terms)
    if any(p.factors for p in args[0].terms) or not isinstance(constant, (int, Fraction)):
        return _between(run, term, args)
    written = run.form_of(_put(value, index, term))
    if not constant:
        return written
    before = full(before.shape, constant, term.dtype)
    return run.plus([args[0], run.form_of(_put(before, index, term)), written], (1, -1, 1), term.shape)


def _put(value: Term, index: Any, like: Term) -> Term:
    """A range of an array, and 0 elsewhere."""
    return lookup("put")(value, index=index, shape=like.shape)  # type: ignore[no-any-return]


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


def placed_at(array: Term, index: Any, shape: tuple[Any, ...]) -> Term | None:
    """What was put or written at the same part of an array before; None where that is not what it is."""
    if array.op.name not in ("put", "index_put") or array.params["index"] != index:
        return None
    value, *places = array.args[array.op.name == "index_put" :]
    if places or not all(isinstance(part, (int, slice)) for part in index.parts):
        return None
    return value if value.shape == shape else lookup("expand")(value, shape=shape)


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
    factors, known, named = list(p.factors), True, {p.out[axis]: k for axis, k in places.items()}
    if any(named[p.out[axis]] != k for axis, k in places.items()):
        return Product(0, (), ())  # beside the diagonal
    if any(x in named for axis, x in enumerate(p.out) if axis not in places):
        return None
    for x, k in named.items():
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

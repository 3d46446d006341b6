"""Entries at places: what is put at an index is a product with rows of the identity, and axes of size 1 are none.

``put(R; index=[t])`` is ``Tᵀ R`` where T holds the rows of the identity that t names, and ``put(r; index=2)`` is ``r``
times the unit vector of that place.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from symgrad.formula.canonical.entries.blocks import ranges
from symgrad.formula.canonical.entries.rows import within
from symgrad.formula.canonical.entries.slices import index_of_axes, is_identity, new_axes, turned_around
from symgrad.formula.canonical.entries.written import entry_at, not_written, placed_at, unit_vector
from symgrad.formula.canonical.normal import Factor, Form, Product
from symgrad.formula.canonical.writing import whole
from symgrad.formula.term import SYMBOL, Term
from symgrad.op import lookup
from symgrad.ops.indexing.getitem import HOLE, Index, axes_in_front

if TYPE_CHECKING:
    from symgrad.formula.canonical.simplify import Canonicaliser

_ALL = slice(None)


def read_put(run: Canonicaliser, term: Term, args: Sequence[Form]) -> Form | None:
    """The transpose of x[:, None] takes that axis away; entries at places are a product with rows of the identity."""
    new = new_axes(term.params["index"], term.ndim)
    if new is not None:
        return args[0].restricted([k for k, added in enumerate(new) if not added])
    parts = index_of_axes(term.params["index"], term.ndim)
    rows = args[1:]
    if parts is not None and not rows:
        if _is_whole(parts, term.shape):
            return args[0]
        if back := turned_around(parts):
            return run.form_of(lookup("flip")(run.like(term.args[0], args[0]), dims=back))
        ranges = [axis for axis, p in enumerate(parts) if isinstance(p, slice)]
        single = _single(parts, dict(zip(ranges, args[0].shape, strict=True)), term.shape)
        if single is not None:
            inner = args[0].restricted([k for k, axis in enumerate(ranges) if isinstance(single[axis], slice)])
            inside = whole(run.term(inner), inner.shape)
            return run.form_of(lookup("put")(inside, index=Index(tuple(single)), shape=term.shape))
    if parts is None or all(isinstance(p, slice) for p in parts):
        return None if parts is None or rows else _within_range(run, term, args[0], parts)
    if any(r.shape != rows[0].shape for r in rows) or any(1 in r.shape for r in rows):
        return None
    picked = tuple(term.ndim + k for k in range(len(rows[0].shape) if rows else 0))
    value, output, shape = _labels(term, parts, picked, args[0].shape)
    forms, specs = [args[0]], [value]
    places = iter(rows)
    for axis, p in enumerate(parts):
        size = term.shape[axis]
        if p is HOLE:
            forms.append(run.form_of(_one_hot(run, next(places), size)))
            specs.append((*picked, axis))
        elif isinstance(p, int) and size != 1:
            forms.append(run.opaque(unit_vector(size, p)))
            specs.append((axis,))
    found = run.contract(forms, specs, output, shape)
    if shape == term.shape:
        return found
    rest = Index(tuple(p if isinstance(p, slice) else _ALL for p in parts))
    return run.form_of(lookup("put")(whole(run.term(found), shape), index=rest, shape=term.shape))


def _within_range(run: Canonicaliser, term: Term, form: Form, parts: Sequence[Any]) -> Form | None:
    """What was put in a part of a range is put in that part of the whole, always; None for others."""
    p = form.only
    arrays = [] if p is None else [f for f in p.factors if f.labels]
    if p is None or len(arrays) != 1 or arrays[0].power != 1 or arrays[0].labels != tuple(p.out):
        return None
    base = arrays[0].base
    inner = index_of_axes(base.params["index"], base.ndim) if base.op.name == "put" and len(base.args) == 1 else None
    if inner is None or not all(isinstance(part, (int, slice)) for part in inner):
        return None
    found = [within(range_, part) for range_, part in zip(parts, inner, strict=True)]
    if None in found:
        return None
    made = run.form_of(lookup("put")(base.args[0], index=Index(tuple(found)), shape=term.shape))
    return run.times(p.front, made)


def _named(parts: Sequence[Any]) -> Index:
    """The shortest index that says the same of each axis: X[1:] for X[1:, :] and X[1:, ...]."""
    last = max(k for k, p in enumerate(parts) if p != _ALL)
    return Index(tuple(parts[: last + 1]) if last else parts[0])


def _is_whole(parts: Sequence[Any], shape: tuple[Any, ...]) -> bool:
    """Whether an index names all places of all axes, in order, as ``x[0:]`` does."""
    return all(
        isinstance(p, slice) and p.step in (None, 1) and p.start in (None, 0) and p.stop in (None, n)
        for p, n in zip(parts, shape, strict=True)
    )


def _single(parts: Sequence[Any], given: dict[int, Any], shape: tuple[Any, ...]) -> list[Any] | None:
    """An index with the place itself for each range of one place; None without such ranges."""
    found = [
        p.start or 0 if given.get(axis) == 1 and shape[axis] != 1 and p.step in (None, 1) else p
        for axis, p in enumerate(parts)
    ]
    return found if any(p is not q for p, q in zip(found, parts, strict=True)) else None


def _labels(
    term: Term, parts: Sequence[Any], picked: tuple[int, ...], given: tuple[Any, ...]
) -> tuple[tuple[int, ...], tuple[int, ...], tuple[Any, ...]]:
    """The axes of the values as labels, those of the result but for slices, and its shape."""
    kept = [axis for axis, p in enumerate(parts) if isinstance(p, slice)]
    first = next(axis for axis, p in enumerate(parts) if not isinstance(p, slice))
    front = axes_in_front(term.params["index"], *(a.shape for a in term.args[1:]))
    before = 0 if front or not picked else sum(axis < first for axis in kept)
    value = (*kept[:before], *picked, *kept[before:])
    sizes = dict(zip(value, given, strict=True))
    return value, tuple(range(term.ndim)), tuple(sizes.get(axis, n) for axis, n in enumerate(term.shape))


def read_getitem(run: Canonicaliser, term: Term, args: Sequence[Form]) -> Form | None:
    """x[:, None] only adds axes of size 1, x[0] of such an axis only takes it away, and I[0] is a unit vector."""
    (form, *places), index = args, term.params["index"]
    new = new_axes(index, len(form.shape))
    if new is not None:
        return form.spread([k for k, added in enumerate(new) if not added], term.shape)
    parts = index_of_axes(index, len(form.shape))
    if parts is None or places:
        return None
    if _is_whole(parts, form.shape):
        return form
    named = _named(parts)
    if named != index:
        return run.form_of(lookup("getitem")(term.args[0], index=named))
    if back := turned_around(parts):
        return run.form_of(lookup("flip")(run.like(term.args[0], form), dims=back))
    written = placed_at(term.args[0], index, term.shape)
    if written is not None:
        return run.form_of(written)
    if term.args[0].op is not SYMBOL and all(isinstance(p, (int, slice)) for p in parts):
        other = None if term.shape else not_written(term.args[0], index)
        found = ranges(run, form, parts) if other is None else run.form_of(other)
        found = entry_at(run, form, index) if found is None and not term.shape else found
        if found is not None:
            return found
    at = [p for p in parts if p != _ALL]
    if len(at) == 1 and isinstance(at[0], int) and at[0] >= 0 and is_identity(form):
        return run.opaque(unit_vector(term.shape[0], at[0])).scaled(form.terms[0].coef)
    left = [axis for axis, p in enumerate(parts) if isinstance(p, slice)]
    single = _single(parts, dict(zip(left, term.shape, strict=True)), form.shape)
    if single is not None:
        entry = run.form_of(lookup("getitem")(whole(run.term(form), form.shape), index=Index(tuple(single))))
        return entry.spread([k for k, axis in enumerate(left) if isinstance(single[axis], slice)], term.shape)
    if 1 not in form.shape:
        return None
    if term.args[0].op is SYMBOL and not term.shape:
        return run.opaque(term)
    kept = [k for k, n in enumerate(form.shape) if n != 1]
    if any(isinstance(parts[k], slice) and parts[k] != _ALL for k in range(len(parts)) if k not in kept):
        return None
    inner = form.restricted(kept)
    rest = tuple(parts[k] for k in kept)
    if any(p != _ALL for p in rest):
        inner = run.form_of(lookup("getitem")(whole(run.term(inner), inner.shape), index=Index(rest)))
    shown = [k for k, p in enumerate(parts) if isinstance(p, slice)]
    return inner.spread([n for n, k in enumerate(shown) if k in kept], term.shape)


def read_scattered(run: Canonicaliser, term: Term, args: Sequence[Form]) -> Form | None:
    """One value for each row, added at the place that its label names: a product with rows of the identity."""
    if term.ndim == 1 and 1 not in (*term.shape, *args[1].shape):
        return _at_rows(run, args[0], args[1], term.shape, 0)
    same = _same_places(term, args[1], term.shape)
    if same is not None:
        return _at_rows(run, args[0], same, term.shape, term.params["dim"])
    found = _hot_rows(run, term, args, term.shape)
    if found is None:
        return None
    rows, labels, axes = found
    return run.contract([args[0].restricted(labels), rows], [labels, axes], tuple(range(term.ndim)), term.shape)


def read_gathered(run: Canonicaliser, term: Term, args: Sequence[Form]) -> Form | None:
    """The entry of every row that its label names is the sum over a one-hot row; of a vector they are its entries."""
    if term.ndim == 1 and 1 not in (*term.shape, *args[0].shape):
        return run.form_of(lookup("getitem")(*(whole(run.term(a), a.shape) for a in args), index=Index(HOLE)))
    same, axis = _same_places(term, args[1], args[0].shape), term.params["dim"]
    if same is not None and is_identity(args[0]):
        front, rows = args[0].terms[0], run.form_of(_one_hot(run, same, args[0].shape[axis]))
        return (rows if axis == 0 else rows.restricted((1, 0))).scaled(front.coef, front.decimal)
    if same is not None:
        index, array = Index((*[_ALL] * axis, HOLE) if axis else HOLE), whole(run.term(args[0]), args[0].shape)
        return run.form_of(lookup("getitem")(array, whole(run.term(same), same.shape), index=index))
    found = _hot_rows(run, term, args, args[0].shape)
    if found is None:
        return None
    rows, labels, axes = found
    shape = tuple(term.shape[k] for k in labels)
    return run.contract([args[0], rows], [tuple(range(term.ndim)), axes], labels, shape).spread(labels, term.shape)


def _same_places(term: Term, places: Form, shape: tuple[Any, ...]) -> Form | None:
    """The places along an axis that are those of every row; None where rows have places of their own."""
    dim, own = term.params["dim"], places.shape
    rows = all(own[k] == shape[k] != 1 for k in range(len(own)) if k != dim)
    alike = len(own) > 1 and rows and 1 not in (own[dim], shape[dim]) and places.covered() == [dim]
    return places.restricted([dim]) if alike else None


def _at_rows(run: Canonicaliser, values: Form, places: Form, shape: tuple[Any, ...], dim: int) -> Form:
    """Values added at places along an axis: a product with rows of the identity."""
    rows, axes = run.form_of(_one_hot(run, places, shape[dim])), tuple(range(len(shape)))
    inner = tuple(len(shape) if k == dim else k for k in axes)
    return run.contract([values, rows], [inner, (len(shape), dim)], axes, shape)


def _hot_rows(
    run: Canonicaliser, term: Term, args: Sequence[Form], shape: tuple[Any, ...]
) -> tuple[Form, tuple[int, ...], tuple[int, ...]] | None:
    """The one-hot rows of labels, one for each place of the other axes; with the axes of labels and rows."""
    dim, places = term.params["dim"], args[1].shape
    others = tuple(k for k in range(len(shape)) if k != dim)
    if places[dim] != 1 or shape[dim] == 1 or not others or any(places[k] != shape[k] or shape[k] == 1 for k in others):
        return None
    return run.form_of(_one_hot(run, args[1].restricted(others), shape[dim])), others, (*others, dim)


def _one_hot(run: Canonicaliser, labels: Form, classes: Any) -> Term:
    return lookup("one_hot")(whole(run.term(labels), labels.shape), classes=classes, dtype="float64")  # type: ignore[no-any-return]


def one_label(p: Product) -> Product:
    """HᵢₐHᵢᵦ = δₐᵦHᵢₐ, always: a row of H names one label."""
    seen: dict[Any, int] = {}
    for f in p.factors:
        if f.base.op.name != "one_hot":
            continue
        first = seen.setdefault((f.base, f.labels[:-1]), f.labels[-1])
        if first != f.labels[-1]:
            rename = {f.labels[-1]: first}
            rest = [Factor(g.base, tuple(rename.get(x, x) for x in g.labels), g.power) for g in p.factors]
            out = tuple(rename.get(x, x) for x in p.out)
            return one_label(Product(p.coef, rest, out, p.decimal))
    hot = [f for f in p.factors if f.base.op.name == "one_hot"]
    once = [f for k, f in enumerate(p.factors) if f not in hot or f not in p.factors[:k]]
    return p if len(once) == len(p.factors) else p.with_factors(once)

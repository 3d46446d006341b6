"""Sums of multiples of unit vectors as the vector or matrix of these multiples: a e₀ + b e₁ is [a; b; 0]."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from symgrad.formula.canonical.entries.slices import index_of_axes, unit_place
from symgrad.formula.canonical.entries.written import unit_vector
from symgrad.formula.canonical.normal import Factor, Form, Product, content
from symgrad.formula.canonical.writing import whole
from symgrad.formula.term import Term, number
from symgrad.op import lookup
from symgrad.ops.indexing.getitem import Index

if TYPE_CHECKING:
    from symgrad.formula.canonical.simplify import Canonicaliser

SPARSEST = 2
"""Places of a stack for each of its entries that is not 0."""

LONGEST = 16
"""Entries of a stack that are taken apart in products."""

PartsOf = Callable[[Term, "Canonicaliser"], list[Product] | None]
Groups = dict[tuple[int, ...], list[Product]]


def stacked(form: Form, run: Canonicaliser) -> Form:
    """A form whose terms with unit vectors are one array of the entries that stand at these places, always."""
    if 1 in form.shape:
        longer = [k for k, size in enumerate(form.shape) if size != 1]
        return stacked(form.restricted(longer), run).spread(longer, form.shape)
    rank = len(form.shape)
    if rank not in (1, 2) or len(form.terms) < 2:
        return form
    for axes in ((0, 1), (1,), (0,)) if rank == 2 else ((0,),):
        every = len(axes) == rank
        terms = [q for p in form.terms for q in _spread(p, run, _multiples)] if every else form.terms
        found = _stacked(Form(terms, form.shape), axes, run)
        if found is not None and len(found.terms) < len(form.terms):
            return stacked(found, run)
    return form


def added(terms: Sequence[Product], run: Canonicaliser) -> list[Product] | None:
    """The terms with stacked arrays in one that have the same scalars in front; None where no two have."""
    rows: dict[Any, list[int]] = {}
    for k, p in enumerate(terms):
        arrays = [f for f in p.factors if f.labels]
        if len(arrays) == 1 and arrays[0].base.op.name == "stack" and arrays[0].labels == tuple(p.out):
            array, scalars = arrays[0], frozenset(f for f in p.factors if not f.labels)
            rows.setdefault((array.base.shape, array.base.params["dim"], array.power, scalars), []).append(k)
    alike = next((row for (*_, power, _), row in rows.items() if len(row) > 1 and power == 1), None)
    if alike is None:
        return None
    of = [(terms[k], next(f.base for f in terms[k].factors if f.labels)) for k in alike]
    shape = of[0][1].args[0].shape
    columns = zip(*(base.args for _, base in of), strict=True)
    forms = [
        [run.form_of(a).scaled(p.coef, p.decimal) for (p, _), a in zip(of, column, strict=True)] for column in columns
    ]
    sums = [run.plus(column, [1] * len(column), shape) for column in forms]
    if not any(entry.terms for entry in sums):
        return [p for k, p in enumerate(terms) if k not in alike]
    entries = [whole(run.term(entry), shape) for entry in sums]
    entries = [entry if entry.shape == shape else lookup("expand")(entry, shape=shape) for entry in entries]
    (made,) = run.opaque(lookup("stack")(*entries, dim=of[0][1].params["dim"])).terms
    first = terms[alike[0]]
    joined = made.with_factors((*(f for f in first.factors if not f.labels), *made.factors))
    return [joined if k == alike[0] else p for k, p in enumerate(terms) if k not in alike[1:]]


def _stacked(form: Form, axes: tuple[int, ...], run: Canonicaliser) -> Form | None:
    """The form with one array for the terms that have a unit vector along each of some axes; None where few have."""
    placed = [_placed(p, axes) for p in form.terms]
    groups: Groups = {}
    for found in placed:
        if found is not None:
            groups.setdefault(found[0], []).append(found[1])
    ranges = _ranges(groups)
    if ranges is None:
        return None
    scalars = common([p for group in groups.values() for p in group])
    left = tuple(size for k, size in enumerate(form.shape) if k not in axes)
    array = _array(groups, ranges, scalars, left, axes, run)
    if array is None:
        return None
    (whole,) = run.opaque(_among_zeros(array, ranges, axes, form.shape)).terms
    made = Product(scalars.coef, (*scalars.factors, *whole.factors), whole.out, scalars.decimal)
    at = next(k for k, found in enumerate(placed) if found is not None)
    rest = [(k, p) for k, p in enumerate(form.terms) if placed[k] is None]
    return Form([*(p for k, p in rest if k < at), made, *(p for k, p in rest if k > at)], form.shape)


def _spread(p: Product, run: Canonicaliser, parts_of: PartsOf) -> list[Product]:
    """A product of a vector that is a sum of multiples of unit vectors, in brackets or stacked, as their products."""
    for k, f in enumerate(p.factors):
        parts = parts_of(f.base, run) if f.power == 1 and len(f.labels) == 1 else None
        if parts is None:
            continue
        found = []
        for q in parts:
            own = [Factor(g.base, f.labels if g.labels else (), g.power) for g in q.factors]
            factors = (*p.factors[:k], *own, *p.factors[k + 1 :])
            found += _spread(Product(p.coef * q.coef, factors, p.out, p.decimal or q.decimal), run, parts_of)
        return found
    return [p]


def _multiples(base: Term, run: Canonicaliser) -> list[Product] | None:
    """The multiples of unit vectors that a vector is the sum of, brackets looked into once; None for other arrays."""
    if base not in run.insides:
        return _entries(base, run)
    found: list[Product] = []
    for p in run.insides[base].terms:
        parts = _spread(p, run, _entries)
        if not all(map(_is_multiple, parts)):
            return None
        found += parts
    return found


def _entries(base: Term, run: Canonicaliser) -> list[Product] | None:
    """The entries of a stack of numbers, as multiples of unit vectors; None for other arrays and for long stacks."""
    start, stack = _range_of(base)
    if stack.op.name != "stack" or stack.ndim != 1 or len(stack.args) > LONGEST:
        return None
    units = (run.opaque(unit_vector(base.shape[0], start + k)) for k in range(len(stack.args)))
    return [q for entry, unit in zip(stack.args, units, strict=True) for q in run.times(run.form_of(entry), unit).terms]


def _range_of(base: Term) -> tuple[int, Term]:
    """Where what is put among zeros begins, and what that is; the array itself for others."""
    parts = index_of_axes(base.params["index"], base.ndim) if base.op.name == "put" and base.ndim == 1 else None
    if parts is None or len(base.args) != 1 or not isinstance(parts[0], slice) or parts[0].step not in (None, 1):
        return 0, base
    return parts[0].start or 0, base.args[0]


def _is_multiple(p: Product) -> bool:
    """Whether a product is a unit vector times scalars."""
    arrays = [f for f in p.factors if f.labels]
    return len(arrays) == 1 and arrays[0].labels == tuple(p.out) and unit_place(arrays[0].base) is not None


def _placed(p: Product, axes: tuple[int, ...]) -> tuple[tuple[int, ...], Product] | None:
    """The places of the unit vectors along some axes of a product, and the product without them."""
    factors = list(p.factors)
    places = []
    for axis in axes:
        x = p.out[axis]
        at = [f for f in factors if x in f.labels]
        place = unit_place(at[0].base) if len(at) == 1 and at[0].power == 1 else None
        if place is None or place < 0 or p.out.count(x) > 1:
            return None
        places.append(place)
        factors.remove(at[0])
    out = tuple(x for k, x in enumerate(p.out) if k not in axes)
    return tuple(places), Product(p.coef, factors, out, p.decimal)


def _ranges(groups: Groups) -> list[tuple[int, int]] | None:
    """The first place and the one after the last, along each axis; None where too few of them are taken."""
    if len(groups) < 2:
        return None
    along = list(zip(*groups, strict=True))
    ranges = [(min(places), max(places) + 1) for places in along]
    area = 1
    for start, stop in ranges:
        area *= stop - start
        if stop - start < 2:
            return None
    return ranges if area <= SPARSEST * len(groups) else None


def common(terms: Sequence[Product]) -> Product:
    """The number and the scalars that all terms have, in front of the array."""
    first, *others = ([f for f in p.factors if not f.labels] for p in terms)
    shared = [f for f in first if all(f in other for other in others)]
    by = content(terms)
    if all(p.coef < 0 for p in terms) != (by < 0):
        by = -by
    decimal = any(p.decimal for p in terms)
    return Product((1 if by > 0 else -1) if decimal else by, shared, (), decimal)


def _array(
    groups: Groups,
    ranges: Sequence[tuple[int, int]],
    scalars: Product,
    shape: tuple[Any, ...],
    axes: tuple[int, ...],
    run: Canonicaliser,
) -> Term | None:
    """The entries, columns or rows at their places, stacked; None where one of them does not vary as a whole."""
    zero = number(0)

    def entry(*places: int) -> Term | None:
        terms = [without(p, scalars) for p in groups.get(places, ())]
        if not terms:
            return zero if not shape else None
        found = run.term(run.sum_of(terms, shape))
        return found if found.shape == shape else None

    rows = [[entry(*places) for places in row] for row in _grid(ranges)]
    if any(x is None for row in rows for x in row):
        return None
    stack = lookup("stack")
    if len(axes) == 1:
        return stack(*rows[0], dim=axes[0])  # type: ignore[no-any-return]
    return stack(*(stack(*row, dim=0) for row in rows), dim=0)  # type: ignore[no-any-return]


def _grid(ranges: Sequence[tuple[int, int]]) -> list[list[tuple[int, ...]]]:
    """All places, row by row."""
    last = range(*ranges[-1])
    return [[(k,) for k in last]] if len(ranges) == 1 else [[(i, k) for k in last] for i in range(*ranges[0])]


def without(p: Product, scalars: Product) -> Product:
    """A product without scalars that it has in front, and so many times less."""
    factors: list[Factor] = list(p.factors)
    for f in scalars.factors:
        factors.remove(f)
    return Product(Fraction(p.coef) / scalars.coef, factors, p.out, p.decimal)


def _among_zeros(array: Term, ranges: Sequence[tuple[int, int]], axes: tuple[int, ...], shape: tuple[Any, ...]) -> Term:
    """An array with the zeros around it that fill up a shape."""
    if array.shape == shape:
        return array
    parts = [slice(None)] * len(shape)
    for axis, (start, stop) in zip(axes, ranges, strict=True):
        if array.shape[axis] != shape[axis]:
            parts[axis] = slice(start or None, None if stop == shape[axis] else stop)
    return lookup("put")(array, index=Index(tuple(parts)), shape=shape)  # type: ignore[no-any-return]

"""Ranges put side by side: [a; 0] + [0; b] is [a; b], as the gradient of what was cut into parts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from symgrad.formula.canonical.entries.rows import reaches, row_of
from symgrad.formula.canonical.entries.slices import unit_place
from symgrad.formula.canonical.entries.stacks import common, without
from symgrad.formula.canonical.normal import Form, Product
from symgrad.formula.canonical.writing import whole
from symgrad.formula.term import Term, full
from symgrad.op import lookup
from symgrad.ops.shapes.sizes import total_size

if TYPE_CHECKING:
    from symgrad.formula.canonical.simplify import Canonicaliser


MOST = 24
"""Terms and ranges of a sum that are joined."""


class Range(NamedTuple):
    """Where terms of a sum stand along one axis, and their sum."""

    start: Any
    stop: Any
    value: Form
    terms: frozenset[int]


def side_by_side(terms: Sequence[Product], shape: tuple[Any, ...], run: Canonicaliser) -> list[Product] | None:
    """The terms with those joined that stand one after the other along an axis; None where there are none."""
    arrays = [_array(p) for p in terms]
    if all(t is None for t in arrays) or len(terms) > MOST:
        return None
    alike = _at_one_place(terms, arrays, run)
    if alike is not None:
        return alike
    for axis in range(len(shape)):
        found = [_ranges(k, p, arrays[k], axis, shape, run) for k, p in enumerate(terms)]
        if sum(map(len, found)) > MOST:
            continue
        row = (
            _into_joined(found, run)
            or _filling(found, shape[axis])
            or _in_order([r for ranges in found for r in ranges])
        )
        gone = frozenset().union(*(r.terms for r in row))
        if len(gone) < 2 or all(arrays[k] is None for k in gone):
            continue
        made = lookup("cat")(*_with_zeros(row, axis, shape, run), dim=axis)
        if made.shape != shape:
            continue
        at = min(gone)
        rest = [p for k, p in enumerate(terms) if k not in gone]
        return [*rest[:at], *run.opaque(made).terms, *rest[at:]]
    return None


def _at_one_place(terms: Sequence[Product], arrays: Sequence[Term | None], run: Canonicaliser) -> list[Product] | None:
    """a[0; x] + b[0; y] = [0; ax + by], always; multiples of one array stay, of which (a + b)[0; x] is made."""
    groups: dict[Any, dict[Term, int]] = {}
    for k, base in enumerate(arrays):
        found = None if base is None else _place(base)
        if base is not None and found is not None:
            groups.setdefault((found[0], base.shape), {}).setdefault(base, k)
    alike = next((group for group in groups.values() if len(group) > 1), None)
    if alike is None:
        return None
    first, *gone = alike.values()
    made = _added([terms[k] for k in alike.values()], list(alike), run)
    return [q for k, p in enumerate(terms) if k not in gone for q in (made if k == first else [p])]


def _place(base: Term) -> tuple[tuple[Any, ...], Term] | None:
    """Between which zeros of which axes an argument of an op stands, and that argument; None for other arrays."""
    value, places = base, list[Any]()
    for axis in range(base.ndim):
        row = row_of(value, axis)
        blocks = [block.value for block in row or () if block.value is not None]
        if row is not None and len(blocks) != 1:
            return None
        value = blocks[0] if blocks else value
        places.append(row and tuple((block.size, block.value is None) for block in row if block.size != 0))
    return (tuple(places), value) if value in base.args else None


def _added(terms: Sequence[Product], arrays: Sequence[Term], run: Canonicaliser) -> Sequence[Product]:
    """The sum of terms that stand at one place, with what all of them have in front of it."""
    front, values = common(terms), [found[1] for base in arrays if (found := _place(base))]
    parts = []
    for p, value in zip(terms, values, strict=True):
        own = without(p, front)
        scalars = own.front
        parts.append(run.times(scalars, run.form_of(value)))
    total = run.plus(parts, [1] * len(parts), values[0].shape)
    if not total.terms:
        return ()
    base = arrays[0]
    made = base.op(*(_block(total, run) if a is values[0] else a for a in base.args), **base.params)
    return run.times(Form([front], ()), run.opaque(made)).terms


def _array(p: Product) -> Term | None:
    """An array that was joined, or put in a range, with nothing but scalars in front of it; numbers are stacked."""
    arrays = [f for f in p.factors if f.labels]
    if len(arrays) != 1 or arrays[0].labels != tuple(p.out) or arrays[0].power != 1:
        return None
    base = arrays[0].base
    numbers = base.op.name == "put" and (unit_place(base) is not None or base.args[0].op.name == "stack")
    return base if base.op.name in ("put", "embed", "cat") and not numbers else None


def _ranges(
    k: int, p: Product, base: Term | None, axis: int, shape: tuple[Any, ...], run: Canonicaliser
) -> list[Range]:
    """The ranges of an axis in which a term has something; a unit vector along the axis is one place."""
    own, found = frozenset((k,)), list[Range]()
    if base is None:
        at = [f for f in p.factors if p.out[axis] in f.labels]
        place = unit_place(at[0].base) if len(at) == 1 and at[0].power == 1 else None
        if place is None or p.out.count(p.out[axis]) > 1:
            return []
        start = place if place >= 0 else total_size((shape[axis], place))
        rest = p.without(at[0])
        return [Range(start, total_size((start, 1)), Form([rest], (*shape[:axis], 1, *shape[axis + 1 :])), own)]
    scalars = p.front
    first: Any = 0
    for size, value in row_of(base, axis) or ():
        last = total_size((first, size))
        if value is not None:
            found.append(Range(first, last, run.times(scalars, run.form_of(value)), own))
        first = last
    return found


def _into_joined(found: Sequence[list[Range]], run: Canonicaliser) -> list[Range]:
    """The ranges of an array that was joined, with what others add to one of them or put where it has zeros."""
    row = joined = next((ranges for ranges in found if len(ranges) > 1), [])
    for other in found:
        if not row or not other or other is joined:
            continue
        wide = _in_order([*row, *(r for r in other if not any(r[:2] == old[:2] for old in row))])
        adds = {r[:2]: r for r in other}
        if wide:
            row = [_sum(r, adds[r[:2]], run) if r[:2] in adds and r is not adds[r[:2]] else r for r in wide]
    return row


def _sum(a: Range, b: Range, run: Canonicaliser) -> Range:
    value = run.plus([a.value, b.value], (1, 1), a.value.shape)
    return Range(a.start, a.stop, value, a.terms | b.terms)


def _filling(found: Sequence[list[Range]], size: Any) -> list[Range]:
    """Ranges from the first place to the last, each of which begins where the one before it ends, as few as can be."""
    rows: dict[Any, list[Range]] = {0: []}
    queue: list[Any] = [0]
    for at in queue:
        for (r,) in (ranges for ranges in found if len(ranges) == 1):
            if r.start == at and r.stop not in rows:
                rows[r.stop] = [*rows[at], r]
                queue.append(r.stop)
    return rows.get(size, [])


def _in_order(ranges: Sequence[Range]) -> list[Range]:
    """Ranges none of which reaches into another, in order; none where one does."""
    row: list[Range] = []
    sizes = [total_size((r.stop, r.start), (1, -1)) for r in ranges]
    for r in ranges:
        before = [reaches(other.stop, r.start, sizes) for other in row]
        after = [reaches(r.stop, other.start, sizes) for other in row]
        at = sum(before)
        if before != [k < at for k in range(len(row))] or after != [k >= at for k in range(len(row))]:
            return []
        row.insert(at, r)
    return row


def _with_zeros(row: Sequence[Range], axis: int, shape: tuple[Any, ...], run: Canonicaliser) -> list[Term]:
    """The blocks of ranges, and zeros where there are none."""
    blocks: list[Term] = []
    at: Any = 0
    for start, stop, value in (*((r.start, r.stop, r.value) for r in row), (shape[axis], None, None)):
        if start != at:
            zeros = (*shape[:axis], total_size((start, at), (1, -1)), *shape[axis + 1 :])
            blocks.append(full(zeros, 0, "float64"))
        if value is not None:
            blocks.append(_block(value, run))
            at = stop
    return blocks


def _block(form: Form, run: Canonicaliser) -> Term:
    term = whole(run.term(form), form.shape)
    return term if term.shape == form.shape else lookup("expand")(term, shape=form.shape)

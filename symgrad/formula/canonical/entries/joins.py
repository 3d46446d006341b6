"""Ranges put side by side: [a; 0] + [0; b] is [a; b], as the gradient of what was cut into parts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from symgrad.formula.canonical.entries.places import index_of_axes
from symgrad.formula.canonical.normal import Form, Product
from symgrad.formula.canonical.writing import whole
from symgrad.formula.term import Term
from symgrad.op import lookup
from symgrad.ops.shapes.sizes import total_size

if TYPE_CHECKING:
    from symgrad.formula.canonical.simplify import Canonicaliser


class Range(NamedTuple):
    """Where a term of a sum stands along one axis; ``stop`` is None at the end."""

    term: int
    axis: int
    start: Any
    stop: Any
    value: Term


def side_by_side(terms: Sequence[Product], shape: tuple[Any, ...], run: Canonicaliser) -> list[Product] | None:
    """The terms with those joined that fill an axis one after the other; None where there are none."""
    ranges = [r for k, p in enumerate(terms) if (r := _range(k, p)) is not None]
    for axis in dict.fromkeys(r.axis for r in ranges):
        row = _filling([r for r in ranges if r.axis == axis])
        if row is None:
            continue
        parts = [_part(terms[r.term], r.value, run) for r in row]
        made = lookup("cat")(*parts, dim=axis)
        if made.shape != shape:
            continue
        gone = {r.term for r in row}
        at = min(gone)
        rest = [p for k, p in enumerate(terms) if k not in gone]
        return [*rest[:at], *run.opaque(made).terms, *rest[at:]]
    return None


def _range(k: int, p: Product) -> Range | None:
    """The range of an axis that a term puts something in, with scalars in front of it."""
    arrays = [f for f in p.factors if f.labels]
    if len(arrays) != 1 or arrays[0].labels != tuple(p.out) or arrays[0].power != 1:
        return None
    place = _place(arrays[0].base)
    return None if place is None else Range(k, *place)


def _place(base: Term) -> tuple[int, Any, Any, Term] | None:
    """The axis of a range, where it starts and stops, and what is put there beside zeros."""
    if base.op.name == "embed":
        axis, start, (value,) = base.params["dim"], base.params["start"], base.args
        stop = total_size((start, value.shape[axis]))
        return axis, start, None if stop == base.shape[axis] else stop, value
    if base.op.name != "put" or len(base.args) != 1 or base.args[0].ndim != base.ndim:
        return None
    (value,), parts = base.args, index_of_axes(base.params["index"], base.ndim)
    if parts is None or not all(isinstance(part, slice) and part.step in (None, 1) for part in parts):
        return None
    cut = [axis for axis, part in enumerate(parts) if part != slice(None)]
    if len(cut) != 1 or any(value.shape[n] != base.shape[n] for n in range(base.ndim) if n != cut[0]):
        return None
    part = parts[cut[0]]
    return cut[0], part.start or 0, None if part.stop == base.shape[cut[0]] else part.stop, value


def _filling(ranges: Sequence[Range]) -> list[Range] | None:
    """Ranges from the first place to the last, each of which begins where the one before it ends."""
    starts: dict[Any, Range] = {}
    for r in ranges:
        starts.setdefault(r.start, r)
    row: list[Range] = []
    at: Any = 0
    while at is not None:
        if at not in starts:
            return None
        row.append(starts.pop(at))
        at = row[-1].stop
    return row if len(row) > 1 else None


def _part(p: Product, value: Term, run: Canonicaliser) -> Term:
    scalars = Form([Product(p.coef, [f for f in p.factors if not f.labels], (), p.decimal)], ())
    return whole(run.term(run.times(scalars, run.form_of(value))), value.shape)

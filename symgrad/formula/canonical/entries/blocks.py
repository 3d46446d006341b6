"""Ranges of arrays that were put together from blocks: ``narrow(cat(x, y))`` is x, also under functions of entries.

An entry of an axis is a range of one: ``select(stack(x, y))`` is x or y.  Zeros around a block are blocks, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from symgrad.formula.canonical.entries.columns import columns_of_diagonal, unit_of_diagonal
from symgrad.formula.canonical.entries.rows import Block, along, ends_of, part_of_part, range_of, row_of, slice_of
from symgrad.formula.canonical.entries.slices import index_of_axes, is_identity
from symgrad.formula.canonical.entries.written import row_at, unit_vector
from symgrad.formula.canonical.normal import Factor, Form, Product
from symgrad.formula.canonical.writing import whole
from symgrad.formula.term import SYMBOL, Term
from symgrad.op import lookup
from symgrad.ops.shapes.sizes import total_size

if TYPE_CHECKING:
    from symgrad.formula.canonical.simplify import Canonicaliser


def read_narrow(run: Canonicaliser, term: Term, args: Sequence[Form]) -> Form | None:
    """A range in which exactly one block stands, always; None where it cuts through blocks."""
    p = term.params
    found = columns_of_diagonal(run, args[0], p["dim"], p["start"], p["length"])
    return _Range(run, p["start"], p["length"]).of(args[0], p["dim"]) if found is None else found


def read_select(run: Canonicaliser, term: Term, args: Sequence[Form]) -> Form | None:
    """An entry of an axis along which arrays were stacked, and a row or column of the identity, always."""
    dim, index = term.params["dim"], term.params["index"]
    if not isinstance(index, int) or index < 0:
        return None
    if is_identity(args[0]):
        return run.opaque(unit_vector(term.shape[0], index)).scaled(args[0].terms[0].coef, args[0].terms[0].decimal)
    found = unit_of_diagonal(run, args[0], dim, index)
    if found is not None:
        return found
    found = _Range(run, index, 1).of(args[0], dim)
    if found is None and term.args[0].op is not SYMBOL:
        return row_at(run, args[0], dim, index)
    return None if found is None else found.restricted([k for k in range(len(found.shape)) if k != dim])


def read_sum(run: Canonicaliser, term: Term, args: Sequence[Form]) -> Form | None:
    """The sum along an axis along which arrays were stacked is their sum, always."""
    p = args[0].terms[0] if len(args[0].terms) == 1 and not term.params["keepdim"] else None
    arrays = [] if p is None else [f for f in p.factors if f.labels]
    if p is None or len(arrays) != 1 or arrays[0].base.op.name != "stack" or arrays[0].power != 1:
        return None
    stacked, dims = arrays[0], term.params["dim"]
    dim = stacked.base.params["dim"]
    if stacked.labels != tuple(p.out) or dim not in dims:
        return None
    blocks = [run.opaque(a) for a in stacked.base.args]
    total = run.plus(blocks, [1] * len(blocks), blocks[0].shape)
    axes = [k for k in range(len(args[0].shape)) if k != dim]
    found = run.contract([total], [tuple(axes)], tuple(k for k in axes if k not in dims), term.shape)
    return run.times(p.front, found)


def read_joined(run: Canonicaliser, term: Term, args: Sequence[Form]) -> Form | None:
    """Blocks of blocks are all of these blocks, and blocks of one number each a column of numbers, always."""
    dim = term.params["dim"]
    parts = [run.like(t, a) for t, a in zip(term.args, args, strict=True)]
    flat: list[Term] = []
    for a in parts:
        if a.op.name == "cat" and a.params["dim"] == dim:
            flat += a.args
        elif a.op.name == "stack" and a.ndim == 1:
            flat += [lookup("unsqueeze")(b, dim=0) for b in a.args]
        else:
            flat.append(a)
    if term.shape == (len(flat),):
        return run.opaque(lookup("stack")(*(run.term(run.form_of(a).restricted(())) for a in flat), dim=0))
    return run.opaque(term.op(*flat, dim=dim)) if len(flat) > len(parts) else None


def ranges(run: Canonicaliser, form: Form, parts: Sequence[Any]) -> Form | None:
    """The entries of an array at ranges and places of its axes, where blocks stand along one of them."""
    met, made = False, set[Term]()
    for axis in reversed(range(len(parts))):
        part, size = parts[axis], form.shape[axis]
        ends = None if part == slice(None) else ends_of(part, size)
        if ends is None:
            continue
        cut = _Range(run, ends[0], total_size(ends, (-1, 1)), part, made)
        found = cut.of(form, axis)
        if found is None:
            return None
        met = met or cut.met
        axes = [k for k in range(len(found.shape)) if k != axis]
        form = found if isinstance(part, slice) else found.restricted(axes)
    return form if met else None


class _Range:
    """One range of an axis, and whether blocks have met it; ``part`` is how an index says it."""

    def __init__(self, run: Canonicaliser, start: Any, length: Any, part: Any = None, made: set[Term] | None = None):
        self.run = run
        self.start = start
        self.length = length
        self.part = part
        self.made = set[Term]() if made is None else made
        """Ranges of arrays without blocks."""
        self.met = False

    def of(self, form: Form, dim: int) -> Form | None:
        """The range of a form; None where some term of it has none."""
        shape = (*form.shape[:dim], self.length, *form.shape[dim + 1 :])
        parts: list[Product] = []
        for p in form.terms:
            found = self._product(p, dim, shape)
            if found is None:
                return None
            parts += found.terms
        return self.run.sum_of(parts, shape)

    def _product(self, p: Product, dim: int, shape: tuple[Any, ...]) -> Form | None:
        x = p.out[dim]
        if p.out.count(x) > 1:
            return None
        forms, specs = [], []
        for f in p.factors:
            plain = Form([Product(1, [Factor(f.base, tuple(range(len(f.labels))))], tuple(range(len(f.labels))))],
                         f.base.shape)  # fmt: skip
            if x in f.labels:
                if f.labels.count(x) > 1:
                    return None
                found = self._base(f.base, f.labels.index(x))
                if found is None:
                    return None
                plain = found
            forms.append(plain if f.power == 1 else self.run.power(plain, f.power))
            specs.append(f.labels)
        if not forms:
            return Form([p], shape)
        return self.run.contract(forms, specs, p.out, shape).scaled(p.coef, p.decimal)

    def _base(self, base: Term, axis: int) -> Form | None:
        row = row_of(base, axis)
        if row is not None:
            blocks = range_of(row, axis, self.start, self.length)
            if blocks is not None:
                self.met = True
                return self._joined(blocks, base, axis)
        elif base.op.name in ("cat", "stack", "put") and base.args[0].shape:
            return self._beside(base, axis)
        inside = self.run.insides.get(base)
        if inside is not None:
            return self.of(inside, axis)
        if base.op.kind != "elementwise" or base not in self.run.arguments:
            return self._plain(base, axis)
        args = self.run.arguments[base]
        parts = [a if not a.shape else self.of(a, axis) for a in args]
        if any(a is None for a in parts):
            return None
        shape = (*base.shape[:axis], self.length, *base.shape[axis + 1 :])
        return self.run.elementwise(base.op, [a for a in parts if a is not None], base.params, shape)

    def _plain(self, base: Term, axis: int) -> Form | None:
        """The range of an array without blocks, as an index names it."""
        if self.part is None:
            return None
        part = self.part
        if self.length == 1 and isinstance(part, slice):
            part = part.start or 0
        entry = part_of_part(base, axis, part) if base.op.name == "getitem" else None
        if entry is None:
            entry = lookup("getitem")(base, index=along(axis, part))
        else:
            self.met = self.met or base not in self.made
        self.made.add(entry)
        found = self.run.opaque(entry)
        if isinstance(part, slice):
            return found
        shape = (*base.shape[:axis], 1, *base.shape[axis + 1 :])
        return found.spread([k for k in range(base.ndim) if k != axis], shape)

    def _joined(self, blocks: Sequence[Block], base: Term, axis: int) -> Form | None:
        shape = (*base.shape[:axis], self.length, *base.shape[axis + 1 :])
        values = [b.value for b in blocks if b.value is not None]
        if len(values) == len(blocks) > 1:
            return self.run.form_of(lookup("cat")(*values, dim=axis))
        if len(values) == len(blocks) == 1:
            return self.run.form_of(values[0])
        found: list[Term] = []
        at: Any = 0
        for size, value in blocks:
            stop = total_size((at, size))
            if value is not None:
                part = slice_of(at, stop, self.length)
                if part is None:
                    return None
                found.append(lookup("put")(value, index=along(axis, part), shape=shape))
            at = stop
        return self.run.plus([self.run.form_of(t) for t in found], [1] * len(found), shape)

    def _beside(self, base: Term, axis: int) -> Form | None:
        """The range of every array that was joined or put among zeros along other axes."""
        params, own = dict(base.params), axis
        if base.op.name == "put":
            parts = index_of_axes(params["index"], base.ndim)
            if parts is None or parts[axis] != slice(None) or len(base.args) > 1:
                return None
            params["shape"] = (*base.shape[:axis], self.length, *base.shape[axis + 1 :])
            own = sum(isinstance(p, slice) for p in parts[:axis])
        elif base.op.name == "stack":
            own = axis - (params["dim"] < axis)
        values = []
        for a in base.args:
            found = self._base(a, own)
            if found is None:
                return None
            if base.op.name == "stack" and self.length == 1:  # whose axis of size 1 no stack of numbers has
                found = found.restricted([k for k in range(len(found.shape)) if k != own])
            values.append(lookup("expand")(whole(self.run.term(found), found.shape), shape=found.shape))
        if base.op.name != "stack" or self.length != 1:
            return self.run.form_of(base.op(*values, **params))
        params["dim"] -= axis < params["dim"]
        shape = (*base.shape[:axis], 1, *base.shape[axis + 1 :])
        return self.run.form_of(base.op(*values, **params)).spread([k for k in range(base.ndim) if k != axis], shape)

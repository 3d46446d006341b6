"""Ranges of arrays that were put together from blocks: ``narrow(cat(x, y))`` is x, also under functions of entries.

An entry of an axis is a range of one: ``select(stack(x, y))`` is x or y.  Zeros around a block are blocks, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from symgrad.formula.canonical.entries.places import is_identity
from symgrad.formula.canonical.entries.written import row_at, unit_vector
from symgrad.formula.canonical.normal import Factor, Form, Product
from symgrad.formula.term import SYMBOL, Term
from symgrad.op import lookup
from symgrad.ops.shapes.sizes import total_size

if TYPE_CHECKING:
    from symgrad.formula.canonical.simplify import Canonicaliser


def read_narrow(run: Canonicaliser, term: Term, args: Sequence[Form]) -> Form | None:
    """A range in which exactly one block stands, always; None where it cuts through blocks."""
    p = term.params
    return _Range(run, p["start"], p["length"]).of(args[0], p["dim"])


def read_select(run: Canonicaliser, term: Term, args: Sequence[Form]) -> Form | None:
    """An entry of an axis along which arrays were stacked, and a row or column of the identity, always."""
    dim, index = term.params["dim"], term.params["index"]
    if not isinstance(index, int) or index < 0:
        return None
    if is_identity(args[0]):
        return run.opaque(unit_vector(term.shape[0], index)).scaled(args[0].terms[0].coef, args[0].terms[0].decimal)
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
    return run.times(Form([Product(p.coef, [f for f in p.factors if not f.labels], (), p.decimal)], ()), found)


class _Range:
    """One range of an axis, and whether blocks have met it."""

    def __init__(self, run: Canonicaliser, start: Any, length: Any):
        self.run = run
        self.start = start
        self.length = length

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
        inner = _BLOCKS.get(base.op.name)
        if inner is not None:
            return inner(self, base, axis)
        inside = self.run.insides.get(base)
        if inside is not None:
            return self.of(inside, axis)
        if base.op.kind != "elementwise" or base not in self.run.arguments:
            return None
        args = self.run.arguments[base]
        parts = [a if not a.shape else self.of(a, axis) for a in args]
        if any(a is None for a in parts):
            return None
        shape = (*base.shape[:axis], self.length, *base.shape[axis + 1 :])
        return self.run.elementwise(base.op, [a for a in parts if a is not None], base.params, shape)

    def _stack(self, base: Term, axis: int) -> Form | None:
        if base.params["dim"] != axis or self.length != 1 or not isinstance(self.start, int):
            return None
        shape = (*base.shape[:axis], 1, *base.shape[axis + 1 :])
        block = self.run.opaque(base.args[self.start])
        return block.spread([k for k in range(base.ndim) if k != axis], shape)

    def _pad(self, base: Term, axis: int) -> Form | None:
        (block,), widths = base.args, base.params["widths"]
        around = any(before or after for k, (before, after) in enumerate(widths) if k != axis)
        whole = self.start == widths[axis][0] and self.length == block.shape[axis]
        return self.run.opaque(block) if whole and not around else None

    def _cat(self, base: Term, axis: int) -> Form | None:
        if base.params["dim"] != axis:
            parts = [self._base(a, axis) for a in base.args]
            if any(a is None for a in parts):
                return None
            return self.run.opaque(lookup("cat")(*(self.run.term(a) for a in parts if a is not None), **base.params))
        at: Any = 0
        for block in base.args:
            if at == self.start and block.shape[axis] == self.length:
                return self.run.opaque(block)
            at = total_size((at, block.shape[axis]))
        return None


_BLOCKS = {"cat": _Range._cat, "stack": _Range._stack, "pad": _Range._pad}
"""Ops that put arrays together, and a range of what they make."""

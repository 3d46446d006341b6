"""Ranges of the columns of a diagonal matrix: those of the identity are [I; 0], and [I; 0]A is [A; 0].

So the Jacobian of what was joined is the blocks of Jacobians: that of [x ⊙ y; Ax] is [diag(y); A].
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from symgrad.formula.canonical.chains import identity
from symgrad.formula.canonical.entries.written import unit_vector
from symgrad.formula.canonical.normal import Factor, Form, Product, relabelled
from symgrad.formula.canonical.writing import whole
from symgrad.formula.term import Term, full
from symgrad.op import lookup
from symgrad.ops.shapes.sizes import total_size

if TYPE_CHECKING:
    from symgrad.formula.canonical.simplify import Canonicaliser


def columns_of_diagonal(run: Canonicaliser, form: Form, dim: int, start: Any, length: Any) -> Form | None:
    """The range of an axis of a diagonal matrix: the identity among zeros, times the range of the diagonal, always."""
    p = form.only
    if p is None or len(form.shape) != 2 or p.out[0] != p.out[1] or length in (1, form.shape[0]):
        return None
    after = total_size((form.shape[0], start, length), (1, -1, -1))
    row = [(start, None), (length, identity(length)), (after, None)]
    blocks = [_zeros(n, 1 - dim, (length, length)) if block is None else block for n, block in row if n != 0]
    placed = run.opaque(lookup("cat")(*blocks, dim=1 - dim))
    along = [f for f in p.factors if p.out[0] in f.labels]
    if not along:
        return run.times(Form([p.with_out(())], ()), placed)
    vector = run.term(Form([p.with_out(p.out[:1])], form.shape[:1]))
    part = run.form_of(lookup("narrow")(vector, dim=0, start=start, length=length))
    return run.contract([placed, part], [(0, 1), (dim,)], (0, 1), placed.shape)


def unit_of_diagonal(run: Canonicaliser, form: Form, dim: int, index: int) -> Form | None:
    """The place of an axis that a delta makes one with another: a unit vector along that one, always."""
    p = form.only
    if p is None or p.out.count(p.out[dim]) != 2:
        return None
    out = tuple(x for k, x in enumerate(p.out) if k != dim)
    unit = Factor(unit_vector(form.shape[dim], index), (p.out[dim],))
    shape = tuple(size for k, size in enumerate(form.shape) if k != dim)
    return run.sum_of([Product(p.coef, [unit, *p.factors], out, p.decimal)], shape)


def among_zeros(p: Product, run: Canonicaliser) -> Product:
    """[D; 0]A = [DA; 0] and A[D, 0] = [AD, 0] for diagonal matrices D, always."""
    for f in p.factors:
        found = _placed(f)
        if found is None:
            continue
        axis, place, blocks = found
        x, y = f.labels[axis], f.labels[1 - axis]
        rest = [g for g in p.beside(f) if g.labels]
        met = {z for g in rest for z in g.labels}
        out = tuple(z for z in p.out if z in met or z in f.labels)
        alone = p.out.count(x) == 1 and x not in met and (y in met or y not in p.out)
        if not alone or len(out) > 2 or len(set(out)) < len(out):
            continue
        own = tuple(dict.fromkeys(z for z in (*out, y) if z in met))
        sizes = {z: n for g in p.factors for z, n in zip(g.labels, g.base.shape, strict=True)}
        beside = Form([Product(1, rest, own)], tuple(sizes[z] for z in own))
        sizes[x] = blocks[place].shape[axis]
        shape = tuple(sizes[z] for z in out)
        inner = run.contract([beside, run.form_of(blocks[place])], [own, f.labels], out, shape)
        value, at = whole(run.term(inner), shape), out.index(x)
        parts = [value if k == place else _zeros(b.shape[axis], at, shape) for k, b in enumerate(blocks)]
        (made,) = run.opaque(lookup("cat")(*parts, dim=at)).terms
        names = dict(zip(made.out, out, strict=True))
        arrays = relabelled(made.factors, names.__getitem__)
        return p.with_factors([*(g for g in p.factors if not g.labels), *arrays])
    return p


def _placed(f: Factor) -> tuple[int, int, Sequence[Term]] | None:
    """The axis along which a factor is a diagonal matrix among zeros, which of the blocks that is, and these."""
    if f.base.op.name != "cat" or f.base.ndim != 2 or f.power != 1 or len(set(f.labels)) < 2:
        return None
    places = [k for k, b in enumerate(f.base.args) if b.op.name != "full"]
    value = f.base.args[places[0] if places else 0]
    diagonal = value.op.name == "eye" or (value.op.name == "einsum" and value.params["output"] == (0, 0))
    return (f.base.params["dim"], places[0], f.base.args) if len(places) == 1 and diagonal else None


def _zeros(size: Any, axis: int, shape: Sequence[Any]) -> Term:
    return full((*shape[:axis], size, *shape[axis + 1 :]), 0, "float64")

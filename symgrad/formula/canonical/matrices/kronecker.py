"""Kronecker products: ``reshape`` of entries A_ik B_jl to a matrix, whose inverse and determinant are those of A and B.

The rules are those of K. B. Petersen and M. S. Pedersen, The Matrix Cookbook (2012), section 10.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from symgrad.formula.canonical.normal import Factor, Form, Product, size_sum
from symgrad.formula.canonical.writing import components, whole
from symgrad.formula.term import Term, number
from symgrad.op import lookup
from symgrad.ops.linalg.contraction import contract
from symgrad.ops.shapes.sizes import product_size

if TYPE_CHECKING:
    from symgrad.formula.canonical.simplify import Canonicaliser

_PAIRS = ((0, 2), (1, 3))
"""Which of four axes are those of A, and which are those of B."""


def split(p: Product, first: Sequence[int], second: Sequence[int]) -> tuple[list[Factor], ...] | None:
    """Factors without free indices, with those of the first pair of axes, and with those of the second."""
    sides = [{p.out[k] for k in axes} for axes in (first, second)]
    if sides[0] & sides[1]:
        return None
    found: tuple[list[Factor], ...] = ([], [], [])
    for group in components(p.factors):
        inside = {x for f in group for x in f.labels} & set(p.out)
        if inside and not inside <= sides[0] and not inside <= sides[1]:
            return None
        found[0 if not inside else 1 if inside <= sides[0] else 2].extend(group)
    return found


def kron(a: Term, b: Term) -> Term:
    """A ⊗ B, as the function of that name computes it."""
    shape = (a.shape[0], b.shape[0], a.shape[1], b.shape[1])
    return lookup("reshape")(contract((a, b), _PAIRS, (0, 1, 2, 3), shape), shape=_merged(shape))  # type: ignore[no-any-return]


def sides(term: Term) -> tuple[Term, Term] | None:
    """A and B of a term that is A ⊗ B."""
    inner = term.args[0] if term.op.name == "reshape" and term.ndim == 2 else None
    if inner is None or inner.op.name != "einsum" or inner.ndim != 4 or len(inner.args) != 2:
        return None
    fits = inner.params["inputs"] == _PAIRS and inner.params["output"] == (0, 1, 2, 3)
    return inner.args if fits and term.shape == _merged(inner.shape) else None


def _merged(shape: tuple[Any, ...]) -> tuple[Any, ...]:
    return (product_size(*shape[:2]), product_size(*shape[2:]))


def read_as_kron(run: Canonicaliser, term: Term, form: Form) -> Form | None:
    """Four axes that become two as A ⊗ B, where the entries are those of two matrices; and back, as with vectors."""
    if term.ndim == 2 * len(form.shape):
        opened = [one for p in form.terms if (one := _opened(run, term, p)) is not None]
        return run.plus(opened, [1] * len(opened), term.shape) if 0 < len(opened) == len(form.terms) else None
    p = form.only
    if p is None or len(form.shape) != 4 or 1 in form.shape or term.shape != _merged(form.shape):
        return None
    parts = split(p, *_PAIRS)
    if parts is None:
        return None
    made = []
    for axes, factors in zip(_PAIRS, parts[1:], strict=True):
        shape = tuple(form.shape[k] for k in axes)
        made.append(whole(run.term(Form([Product(1, factors, tuple(p.out[k] for k in axes))], shape)), shape))
    if any(m.ndim != 2 for m in made):
        return None
    front = Form([Product(p.coef, parts[0], (), p.decimal)], ())
    return run.times(front, run.opaque(kron(*made)))


def _opened(run: Canonicaliser, term: Term, p: Product) -> Form | None:
    """Axes that become two each, where all that has them is A ⊗ B, or the entries of a matrix in a line."""
    places: dict[int, tuple[int, int]] = {}
    for k, x in enumerate(p.out):
        i, j = places.setdefault(x, (2 * k, 2 * k + 1))
        if term.shape[2 * k : 2 * k + 2] != (term.shape[i], term.shape[j]):
            return None
    forms: list[Form] = []
    specs: list[tuple[int, ...]] = []
    groups = components(p.factors)
    inside = [group for group in groups if any(x in places for f in group for x in f.labels)]
    for f in (f for group in inside for f in group):
        rows = [places.get(x, ()) for x in f.labels]
        parts = _parts(f.base, [tuple(term.shape[k] for k in row) for row in rows]) if all(rows) else ()
        if not parts:
            return None
        forms += [run.power(run.form_of(x), f.power) for x in parts]
        specs += zip(*rows, strict=True) if len(rows) == 2 else rows
    output = tuple(k for x in p.out for k in places[x])
    covered = {k for spec in specs for k in spec}
    if forms and not covered.issuperset(output):
        return None
    made = run.contract(forms, specs, output, term.shape) if forms else Form([Product(1, (), output)], term.shape)
    apart = [f for group in groups if group not in inside for f in group]
    return run.times(Form([Product(p.coef, apart, (), p.decimal)], ()), made)


def _parts(base: Term, shapes: Sequence[tuple[Any, ...]]) -> tuple[Term, ...]:
    """The two sides of A ⊗ B, or the matrix whose entries stand in a line, of known shapes; empty for others."""
    if len(shapes) == 1:
        lined = before_reshape(base, shapes[0])
        return () if lined is None else (lined,)
    pair = sides(base)
    fits = pair is not None and [x.shape for x in pair] == [*zip(*shapes, strict=True)]
    return pair if pair is not None and fits else ()


def before_reshape(term: Term, shape: tuple[Any, ...]) -> Term | None:
    """An array that was reshaped, or a function of the entries of such arrays, with the shape it had before, always."""
    found: dict[Term, Term] = {}
    waiting = [term]
    while waiting:
        t = waiting[-1]
        arrays = [a for a in t.args if a.shape and a not in found]
        if t.shape == term.shape and t.op.name == "reshape" and t.args[0].shape == shape:
            found[t] = t.args[0]
        elif t.shape != term.shape or t.op.kind != "elementwise" or len(found) > _LONGEST:
            return None
        elif arrays:
            waiting += arrays
            continue
        else:
            found[t] = t.op(*(found.get(a, a) for a in t.args), **t.params)
        waiting.pop()
    return found[term]


_LONGEST = 50
"""Operations of a function of entries that are looked through."""


def inverse_of_kron(run: Canonicaliser, p: Product) -> Form | None:
    """(A ⊗ B)⁻¹ = A⁻¹ ⊗ B⁻¹ for regular A and B; None for other matrices."""
    alone = len(p.factors) == 1 and p.factors[0].power == 1 and not p.has_delta
    pair = _square_sides(p.factors[0].base) if alone else None
    if pair is None:
        return None
    made = run.opaque(kron(*(lookup("inv")(x) for x in pair)))
    return made if p.factors[0].labels == tuple(p.out) else made.restricted((1, 0))


def determinant_of_kron(run: Canonicaliser, name: str, base: Term) -> Form | None:
    """det(A ⊗ B) = det(A)ᵐ det(B)ⁿ for n × n A and m × m B, always, and so the logarithm of its size."""
    pair = _square_sides(base)
    if pair is None:
        return None
    of = lookup("det" if name == "det" else "logabsdet")
    values = [run.opaque(of(x)) for x in pair]
    sizes = [run.form_of(_size(x.shape[0])) for x in reversed(pair)]
    if name == "det":
        pow_op = lookup("pow")
        return run.times(*(run.form_of(pow_op(run.term(v), run.term(n))) for v, n in zip(values, sizes, strict=True)))
    return run.plus([run.times(v, n) for v, n in zip(values, sizes, strict=True)], (1, 1), ())


def _square_sides(base: Term) -> tuple[Term, Term] | None:
    pair = sides(base)
    return pair if pair is not None and all(x.shape[0] == x.shape[1] for x in pair) else None


def _size(size: Any) -> Term:
    return number(size) if isinstance(size, int) else size_sum(size)


# ---------------------------------------------------------------------------------------------- in products


def mixed_products(p: Product, run: Canonicaliser) -> Product:
    """(A ⊗ B)(C ⊗ D) = AC ⊗ BD, (A ⊗ B) ⊙ (C ⊗ D) = (A ⊙ C) ⊗ (B ⊙ D), and sums of all entries apart, always."""
    krons = [f for f in p.factors if len(f.labels) == 2 and sides(f.base) is not None]
    for k, f in enumerate(krons):
        others = p.beside(f)
        used = {*p.out, *(x for g in others for x in g.labels)}
        if not used & set(f.labels):
            return mixed_products(_sums_apart(p, f, others, run), run)
        for g in krons[k + 1 :]:
            both = _met(p, f, g, run)
            if both is not None:
                rest = [h for h in others if h is not g]
                return mixed_products(p.with_factors([*rest, *both]), run)
        for g in others:
            line = _times_line(p, f, g, run)
            if line is not None:
                return mixed_products(p.with_factors([*(h for h in others if h is not g), line]), run)
    return p


def _times_line(p: Product, f: Factor, g: Factor, run: Canonicaliser) -> Factor | None:
    """(A ⊗ B) vec(Xᵀ) = vec((A X Bᵀ)ᵀ), for every factor A ⊗ B and the entries of X in a line."""
    uses = [x for h in p.factors for x in h.labels]
    if len(g.labels) != 1 or g.labels[0] not in f.labels or f.labels[0] == f.labels[1] or f.power != 1:
        return None
    (x,) = g.labels
    if x in p.out or uses.count(x) != 2:
        return None
    pair = sides(f.base) or ()
    axis = f.labels.index(x)
    lined = before_reshape(g.base, tuple(side.shape[axis] for side in pair))
    if lined is None:
        return None
    rows = [(0, 2), (1, 3)] if axis else [(2, 0), (3, 1)]
    shape = tuple(side.shape[1 - axis] for side in pair)
    forms = [*(run.opaque(side) for side in pair), run.power(run.form_of(lined), g.power)]
    made = whole(run.term(run.contract(forms, [*rows, (2, 3)], (0, 1), shape)), shape)
    return Factor(lookup("reshape")(made, shape=(product_size(*shape),)), (f.labels[1 - axis],))


def _sums_apart(p: Product, f: Factor, others: Sequence[Factor], run: Canonicaliser) -> Product:
    """Σ (A ⊗ B)ᵏ = Σ Aᵏ Σ Bᵏ, and tr(A ⊗ B) = tr(A) tr(B)."""
    fresh = p.fresh
    forms = [run.power(run.opaque(x), f.power) for x in sides(f.base) or ()]
    rows = [tuple(fresh + 2 * k + f.labels.index(x) for x in f.labels) for k in (0, 1)]
    total = run.contract(forms, rows, (), ())
    (q,) = run.times(Form([Product(1, others, p.out)], (1,) * len(p.out)), total).terms
    return Product(p.coef * q.coef, q.factors, q.out, p.decimal or q.decimal)


def _met(p: Product, f: Factor, g: Factor, run: Canonicaliser) -> list[Factor] | None:
    shared = set(f.labels) & set(g.labels)
    uses = [x for h in p.factors for x in h.labels]
    if len(shared) == 2:
        labels, specs, out = f.labels, [(0, 1), tuple(f.labels.index(x) for x in g.labels)], (0, 1)
    elif len(shared) == 1 and len({*f.labels, *g.labels}) == 3 and f.power == g.power == 1:
        (x,) = shared
        if x in p.out or uses.count(x) != 2:
            return None
        specs = [tuple(1 if y == x else 0 for y in f.labels), tuple(1 if y == x else 2 for y in g.labels)]
        labels, out = (*(y for y in (*f.labels, *g.labels) if y != x),), (0, 2)
    else:
        return None
    made = []
    for a, b in zip(sides(f.base) or (), sides(g.base) or (), strict=True):
        sizes = [dict(zip(row, x.shape, strict=True)) for row, x in zip(specs, (a, b), strict=True)]
        if any(sizes[0][x] != sizes[1][x] for x in sizes[0].keys() & sizes[1].keys()):
            return None
        known = sizes[0] | sizes[1]
        forms = [run.power(run.opaque(a), f.power), run.power(run.opaque(b), g.power)]
        shape = tuple(known[x] for x in out)
        made.append(whole(run.term(run.contract(forms, specs, out, shape)), shape))
    if any(m.ndim != 2 for m in made):
        return None
    return [Factor(kron(*made), tuple(labels))]

"""Common factors of a sum: A x + Aᵀ x is (A + Aᵀ) x.

A factor can be taken out of a product when all its labels are output axes, or when exactly one is summed:
then the product is that factor times the rest, as matrices.  a·c + b·c = (a + b)·c holds always.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from symgrad.formula.canonical.chains import identity
from symgrad.formula.canonical.normal import Factor, Form, Joined, Product, relabelled
from symgrad.formula.canonical.rewriting import merged
from symgrad.formula.canonical.sums.common import Use, best_group, others, outer_label, rest_axes, rest_of, tied_axes
from symgrad.formula.canonical.sums.expanding import expanded
from symgrad.formula.canonical.sums.gathering import gathered, summed_together
from symgrad.formula.canonical.sums.shortening import shortened
from symgrad.formula.canonical.sums.traces import traces_together
from symgrad.formula.canonical.writing import components
from symgrad.formula.term import Term

if TYPE_CHECKING:
    from symgrad.formula.canonical.simplify import Canonicaliser

DEEPEST = 12
"""Brackets inside of each other that are searched."""

WIDEST = 24
"""Sums with more terms are not searched for common factors."""


def factored(form: Form, run: Canonicaliser, beside: bool = False) -> Form:
    """The form with the most common factors taken out, until none is left that makes it shorter.

    ``beside`` says that it is multiplied entry by entry, so that a common factor is one more of these.
    """
    if 1 < len(form.terms) <= WIDEST:
        form = _signs_alike(form, run)
    if 1 < len(form.terms) <= WIDEST and form.shape:
        form = Form([scalars_apart(p, run) for p in form.terms], form.shape)
    if len(form.shape) > 2 and 1 < len(form.terms) <= WIDEST:
        patterns = {tied_axes(p) for p in form.terms}
        if len(patterns) == 1 and len(set(form.terms[0].out)) < len(form.shape):
            return _under_one_delta(form, run)
        found = factored(_deltas_apart(form), run) if len(patterns) > 1 else form
        if len(found.terms) < len(form.terms):
            return found
    while 1 < len(form.terms) <= WIDEST and run.steps > 0:
        shorter = shortened(form, run)
        if shorter is not None:
            form = shorter
            continue
        whole = _with_identity(form, run)
        if whole is not None:
            form = whole
            continue
        group = best_group(form, run, beside) if run.brackets < DEEPEST else None
        if group is None:
            whole = (
                traces_together(form, run)
                or _as_brackets(form, run)
                or gathered(form, run)
                or summed_together(form, run)
            )
            if whole is None:
                return _paired(_spread_alike(form, run), run)
            form = whole
            continue
        run.brackets += 1
        form = _taken_out(form, group, run)
        run.brackets -= 1
    return form


def _under_one_delta(form: Form, run: Canonicaliser) -> Form:
    """A sum whose terms have the same deltas: they stand once, beside the sum of the rest."""
    pattern = tied_axes(form.terms[0])
    axes = sorted(set(pattern))
    inner = run.product(form.restricted(axes))
    out = dict(zip(axes, inner.out, strict=True))
    return Form([inner.with_out(tuple(out[k] for k in pattern))], form.shape)


def _deltas_apart(form: Form) -> Form:
    """A sum with its deltas as factors, so that diagonal terms and others have factors in common."""
    return Form([_delta_apart(p, form.shape) for p in form.terms], form.shape)


def _delta_apart(p: Product, shape: tuple[Any, ...]) -> Product:
    """A product whose axes are all different; the first of equal ones keeps the factors."""
    fresh = p.fresh
    out, factors = list(p.out), list(p.factors)
    for k, x in enumerate(p.out):
        if x in p.out[:k]:
            out[k] = fresh + k
            factors.append(Factor(identity(shape[k]), (x, fresh + k)))
    return Product(p.coef, factors, tuple(out), p.decimal)


def _deltas_joined(p: Product) -> Product:
    """The same with identities between axes as deltas again, for which matrix notation has diagonals."""
    joined = Joined()
    deltas = [f for f in p.factors if f.base.op.name == "eye" and f.power == 1]
    for f in deltas:
        joined.join(*f.labels)
    factors = relabelled([f for f in p.factors if f not in deltas], joined.find)
    return Product(p.coef, factors, tuple(joined.find(x) for x in p.out), p.decimal)


def _with_identity(form: Form, run: Canonicaliser) -> Form | None:
    """a + b + M(a + b) = (I + M)(a + b) and c(a + b) + M(a + b) = (cI + M)(a + b), always; not of Hessians."""
    for p in form.terms:
        for f in p.factors:
            inside = run.insides.get(f.base)
            axes = None if inside is None else _axes_alone(p, f)
            square = len(form.shape) == 2 and axes is not None and not set(f.labels) <= set(p.out)
            if inside is None or axes is None or (square and run.symmetries.symmetric(f.base)):
                continue
            multiple = _closed_multiple(form, p, f, axes) or _open_multiple(
                form, p, inside.spread(axes, form.shape), run
            )
            if multiple is not None:
                found, times = multiple
                whole = _sum_with_identity(p, f, times, form.shape, run)
                rest = [whole.terms if q is p else (q,) for q in form.terms if not any(q is x for x in found)]
                return run.sum_of([q for terms in rest for q in terms], form.shape)
    return None


def _as_brackets(form: Form, run: Canonicaliser) -> Form | None:
    """A E (B − E)ᵀ − a + b − c = A E (B − E)ᵀ − E, where E is a − b + c: what another term has in brackets is one."""
    for p in form.terms:
        for f in p.factors:
            inside = run.insides.get(f.base)
            wide = inside is not None and 2 < len(inside.terms) < len(form.terms)
            if inside is None or not wide or len(p.factors) < 2 or not len(inside.shape) == len(form.shape) < 3:
                continue
            for axes in itertools.permutations(range(len(form.shape))):
                multiple = _open_multiple(form, p, inside.spread(axes, form.shape), run)
                if multiple is not None:
                    found, times = multiple
                    labels = tuple(range(len(form.shape)))
                    bracket = Product(times.coef, [Factor(f.base, axes)], labels, found[0].decimal)
                    rest = [bracket if q is found[0] else q for q in form.terms if not any(q is x for x in found[1:])]
                    return Form(rest, form.shape)
    return None


Multiple = tuple[list[Product], Product]
"""Terms of a sum that are a multiple of a bracket, and the number and scalars that it is multiplied by."""


def _open_multiple(form: Form, p: Product, inside: Form, run: Canonicaliser) -> Multiple | None:
    """The terms of a sum that are those of a bracket, all times one number."""
    if len(inside.terms) >= len(form.terms):
        return None
    keys = {run.key(q): q for q in form.terms if q is not p}
    found = [q for x in inside.terms if (q := keys.get(run.key(x))) is not None]
    ratios = {Fraction(q.coef) / x.coef for q, x in zip(found, inside.terms, strict=False)}
    if len(found) < len(inside.terms) or len(ratios) > 1:
        return None
    return found, Product(ratios.pop(), (), ())


def _closed_multiple(form: Form, p: Product, f: Factor, axes: Sequence[int]) -> Multiple | None:
    """Where a matrix stands before a bracket: the same bracket times scalars."""
    if all(x in p.out for x in f.labels) or not any(g.labels for g in p.beside(f)):
        return None
    for q in form.terms:
        scalars = [g for g in q.factors if not g.labels]
        own = [g for g in q.factors if g.labels]
        if q is p or not scalars or len(own) != 1 or own[0].base is not f.base or own[0].power != 1:
            continue
        if len(set(q.out)) == len(q.out) and own[0].labels == tuple(q.out[k] for k in axes):
            return [q], Product(q.coef, scalars, (), q.decimal)
    return None


def _axes_alone(p: Product, f: Factor) -> list[int] | None:
    """The axes that a factor at an end of a product, or entry by entry, would have without the others."""
    summed = [x for x in f.labels if x not in p.out]
    left = [k for k, x in enumerate(p.out) if x not in f.labels]
    if f.power != 1 or len(set(p.out)) < len(p.out) or len(summed) > 1:
        return None
    if not summed:
        return (
            [p.out.index(x) for x in f.labels] if len(p.factors) > 1 and len(set(f.labels)) == len(f.labels) else None
        )
    if len(left) != 1:
        return None
    if len(set(f.labels)) < len(f.labels) or any(
        x in g.labels for g in p.beside(f) for x in f.labels if x not in summed
    ):
        return None
    return [left[0] if x in summed else p.out.index(x) for x in f.labels]


def _sum_with_identity(p: Product, f: Factor, times: Product, shape: tuple[Any, ...], run: Canonicaliser) -> Form:
    """The product with a multiple of the identity, or a scalar, added to all but one of its factors."""
    if set(f.labels) <= set(p.out):
        rest = p.without(f)
        more = run.sum_of([rest, times.with_out(tuple(range(len(shape))))], shape)
        return run.times(more, Form([Product(1, [Factor(f.base, f.labels)], p.out)], shape))
    (summed,) = (x for x in f.labels if x not in p.out)
    (left,) = (k for k, x in enumerate(p.out) if x not in f.labels)
    ends = (p.out[left], summed)
    others = Product(p.coef, p.beside(f), ends, p.decimal)
    matrix = run.sum_of([others, times.with_out((0, 0))], (shape[left], shape[left]))
    labels = tuple(range(len(f.labels)))
    bracket = Form([Product(1, [Factor(f.base, labels)], labels)], f.base.shape)
    return run.contract([matrix, bracket], [ends, f.labels], p.out, shape)


def _spread_alike(form: Form, run: Canonicaliser) -> Form:
    """a1ᵀ + b1ᵀ = (a + b)1ᵀ, diag(a) + diag(b) = diag(a + b) and, beside these, s11ᵀ + t11ᵀ = (s + t)11ᵀ, always."""
    if len(form.shape) != 2 or 1 in form.shape:
        return form
    groups: dict[Any, list[Product]] = {}
    for p in form.terms:
        varies = tuple(k for k in (0, 1) if any(p.out[k] in f.labels for f in p.factors))
        groups.setdefault((varies, p.out[0] == p.out[1]), []).append(p)
    deltas = any(diagonal for _, diagonal in groups)
    for (varies, diagonal), group in groups.items():
        # A number, and a scalar where there is no diagonal, stands beside arrays without ones; so does s I + t I.
        alike = len(varies) == 1 + diagonal or (not varies and not diagonal and deltas and group[0].factors)
        if not alike or not 1 < len(group) < len(form.terms):
            continue
        axes = varies[:1]
        shape = tuple(form.shape[k] for k in axes)
        inner = run.product(Form([p.with_out(tuple(p.out[k] for k in axes)) for p in group], shape))
        whole = Form([inner], shape).spread(axes, form.shape).terms[0]
        whole = whole.with_out((whole.out[0],) * 2) if diagonal else whole
        rest = [whole if p is group[0] else p for p in form.terms if not any(p is q for q in group[1:])]
        form = Form(rest, form.shape)
    return form


def _paired(form: Form, run: Canonicaliser) -> Form:
    """cA + cAᵀ = c(A + Aᵀ) in a longer sum of matrices, for numbers c."""
    if len(form.shape) != 2 or len(form.terms) < 3 or form.shape[0] != form.shape[1]:
        return form
    keys = {run.key(p): p for p in form.terms}
    for p in form.terms:
        other = keys.get(run.key(p.with_out(p.out[::-1])))
        if abs(p.coef) != 1 and other is not None and other is not p and other.coef == p.coef:
            pair = run.product(Form([q.scaled(1 / Fraction(p.coef)) for q in (p, other)], form.shape))
            rest = [pair.scaled(p.coef, p.decimal) if q is p else q for q in form.terms if q is not other]
            return _paired(Form(rest, form.shape), run)
    return form


def scalars_apart(p: Product, run: Canonicaliser) -> Product:
    """A product with each scalar in it, such as xᵀAx, as one factor: it is common to terms as a whole or not at all."""
    arrays = [f for f in p.factors if f.labels]
    if all(x in p.out for f in arrays for x in f.labels):
        return p
    kept, coef = list(p.factors), p.coef
    for group in components(arrays):
        if any(x in p.out for f in group for x in f.labels):
            continue
        q = run.packed(Product(1, group, ()), ())
        place = min(kept.index(f) for f in group)
        kept = [f for f in kept if f not in group]
        kept[place:place] = q.factors
        coef *= q.coef
    return Product(coef, kept, p.out, p.decimal) if kept != list(p.factors) else p


def _signs_alike(form: Form, run: Canonicaliser) -> Form:
    """A sum in which b - a is -(a - b) where both are factors: A(a - b) + B(b - a) = (A - B)(a - b), always."""
    brackets: dict[Any, tuple[int, Term, int]] = {}
    for p in form.terms:
        for f in p.factors:
            if (inside := run.insides.get(f.base)) is not None:
                constant = next((q.coef for q in inside.terms if q.constant), 0)
                place = (len(brackets), f.base, int(constant > 0) - int(constant < 0))
                brackets.setdefault(run.form_key(inside), place)
    terms = []
    for p in form.terms if len(brackets) > 1 else ():
        coef, factors = p.coef, list(p.factors)
        for k, f in enumerate(factors):
            inside = run.insides.get(f.base) if f.power == int(f.power) else None
            other = None if inside is None else brackets.get(run.form_key(inside.scaled(-1)))
            own = None if inside is None else brackets[run.form_key(inside)]
            # Of 1 - s and s - 1 it is 1 - s, of others the first.
            if other is not None and own is not None and (-other[2], other[0]) < (-own[2], own[0]):
                factors[k] = Factor(other[1], f.labels, f.power)
                coef *= (-1) ** int(f.power)
        terms.append(Product(coef, factors, p.out, p.decimal) if factors != list(p.factors) else p)
    return Form(terms or form.terms, form.shape)


def _taken_out(form: Form, group: Sequence[Use], run: Canonicaliser) -> Form:
    """The form with the group replaced by one product: the factor times the sum of the rests."""
    first = group[0]
    if not first.factor.labels and len({tied_axes(form.terms[use.term]) for use in group}) > 1:
        return _scalar_out(form, group, run)
    axes = rest_axes(form, group)
    rests = [q for use in group for q in expanded(rest_of(form.terms[use.term], use, axes), run)]
    if len(axes) < 3 <= len(form.shape):
        rests = [_deltas_joined(q) for q in rests]
    p = form.terms[first.term]
    shape = []
    for axis in axes:
        if axis >= 0:
            shape.append(form.shape[axis])
        else:
            summed = next(k for k, x in enumerate(first.factor.labels) if x not in p.out)
            shape.append(first.factor.base.shape[summed])
    beside = bool(first.factor.labels) and set(first.factor.labels) <= set(p.out)
    inner = run.product(run.sum_of(rests, tuple(shape)), beside)
    start = p.fresh
    names = {x: outer_label(p, first, axis) for x, axis in zip(inner.out, axes, strict=True)}
    fresh: dict[int, int] = {}
    factors = relabelled(inner.factors, lambda x: names[x] if x in names else fresh.setdefault(x, start + len(fresh)))
    place = list(p.factors).index(
        next(f for f in p.factors if f.base is first.factor.base and f.labels == first.factor.labels)
    )
    ordered = [*factors, first.factor] if place else [first.factor, *factors]
    whole = Product(inner.coef, ordered, p.out, inner.decimal)
    if len(set(inner.out)) < len(inner.out):
        whole = _with_delta(whole, inner, axes, p, first)
    whole = merged(whole, run)
    taken = {use.term for use in group}
    terms: list[Any] = []
    for k, q in enumerate(form.terms):
        if k == first.term:
            terms.append(whole)
        elif k not in taken:
            terms.append(q)
    return run.sum_of([q for q in terms if q.coef], form.shape)


def _scalar_out(form: Form, group: Sequence[Use], run: Canonicaliser) -> Form:
    """The same for a scalar that matrices and multiples of the identity have."""
    terms = [form.terms[use.term] for use in group]
    rests = [p.with_factors(others(p, use)) for p, use in zip(terms, group, strict=True)]
    inner = run.product(run.sum_of(rests, form.shape))
    whole = inner.with_factors([group[0].factor, *inner.factors])
    left = [p for p in form.terms if not any(p is q for q in terms)]
    return run.sum_of([whole, *left], form.shape)


def _with_delta(whole: Product, inner: Product, axes: Sequence[int], p: Product, first: Use) -> Product:
    """A rest that is one product with a delta identifies the labels of the factor."""
    joined = Joined()
    seen: dict[int, int] = {}
    for x, axis in zip(inner.out, axes, strict=True):
        label = outer_label(p, first, axis)
        joined.join(seen.setdefault(x, label), label)
    factors = relabelled(whole.factors, joined.find)
    return Product(whole.coef, factors, tuple(joined.find(x) for x in whole.out), whole.decimal)

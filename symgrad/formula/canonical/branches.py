"""Piecewise formulas: ``where`` by its branches, and the points that derivative rules except.

A ``where`` of the program is never dropped.  What may go is a :func:`symgrad.ops.select.guard`, which only a rule of
the table puts in: the formula then holds where its parts are finite, and the compiled program keeps the point.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from symgrad.formula.canonical.expanding import substituted
from symgrad.formula.canonical.normal import Factor, Form, Product
from symgrad.formula.term import Term
from symgrad.op import Op, lookup

if TYPE_CHECKING:
    from symgrad.formula.canonical.simplify import Canonicaliser


def read_guard(run: Canonicaliser, term: Term, args: Sequence[Form]) -> Form:
    """guard(x, keep) and excepted(x, keep) are x wherever x is finite, and defined(x, keep) wherever it is defined."""
    return args[0].broadcast(term.shape)


def read_where(run: Canonicaliser, term: Term, args: Sequence[Form]) -> Form:
    """A ``where`` with its condition not negated, and each branch without further questions about that condition."""
    condition, first, second = (a.broadcast(term.shape) for a in args)
    inner = _arguments_of(run, condition, "logical_not")
    if inner is not None:
        # where(¬c, a, b) = where(c, b, a), always.
        condition, first, second = inner[0], second, first
    return selected(run, term.op, condition, first, second)


def selected(run: Canonicaliser, op: Op, condition: Form, first: Form, second: Form) -> Form:
    """where(condition, first, second) of forms of one shape.

    where(c, k·a, 0) = k·where(c, a, 0) for numbers k; a delta in ``a`` is a delta of the whole.  Arrays stay inside,
    because what is not selected may be infinite or no number.
    """
    shape = condition.shape
    first, second = _known(run, first, condition, 1), _known(run, second, condition, 2)
    if run.same(first, second):
        return first
    clipped = _clip(run, condition, first, second)
    if clipped is not None:
        return clipped
    outer = _hoisted(run, op, condition, first, second)
    if outer is not None:
        return outer
    if bool(first.terms) == bool(second.terms):
        scale = first.terms[0].coef if len(first.terms) == len(second.terms) == 1 else 1
        if scale not in (0, 1) and scale == second.terms[0].coef and not first.constant and not second.constant:
            inner = [form.scaled(Fraction(1) / scale) for form in (first, second)]
            return run.elementwise(op, [condition, *inner], {}, shape).scaled(scale, first.terms[0].decimal)
        return run.elementwise(op, [condition, first, second], {}, shape)
    p = run.product(first if first.terms else second)
    distinct = tuple(dict.fromkeys(p.out))
    small = tuple(shape[p.out.index(x)] for x in distinct)
    mask = run.contract([condition], [p.out], distinct, small)
    kept = Form([Product(1, p.factors, distinct)], small)
    zero = Form((), small)
    inner_form = run.elementwise(op, [mask, kept, zero] if first.terms else [mask, zero, kept], {}, small)
    front = Form([Product(p.coef, (), distinct, p.decimal)], small)
    return run.contract([front, inner_form], [distinct, distinct], p.out, shape)


def _hoisted(run: Canonicaliser, op: Op, condition: Form, first: Form, second: Form) -> Form | None:
    """where(c, where(d, 0, a), where(d, 0, b)) = where(d, 0, where(c, a, b)), always."""
    if len(first.terms) != 1 or len(second.terms) != 1:
        return None
    one, other = (_piece(run, form.terms[0], form.shape) for form in (first, second))
    if one is None or other is None or not run.same(one[0], other[0]):
        return None
    for k in (1, 2):
        if not one[k].terms and not other[k].terms and one[3 - k].terms and other[3 - k].terms:
            inner = selected(run, op, condition, one[3 - k], other[3 - k])
            return selected(run, op, one[0], *((one[1], inner) if k == 1 else (inner, one[2])))
    return None


def _arguments_of(run: Canonicaliser, form: Form, name: str) -> list[Form] | None:
    """The arguments, at the form's shape, of a form that is one call of ``name``."""
    if len(form.terms) != 1:
        return None
    p = form.terms[0]
    if p.coef != 1 or len(p.factors) != 1 or p.factors[0].power != 1 or p.factors[0].base.op.name != name:
        return None
    return _spread_arguments(run, p, p.factors[0], form.shape)


def _spread_arguments(run: Canonicaliser, p: Product, f: Factor, shape: tuple[object, ...]) -> list[Form] | None:
    """The arguments of a factor that is a function, with the axes they have in the product."""
    found = run.arguments.get(f.base)
    if found is None or len(set(p.out)) < len(p.out) or len(set(f.labels)) < len(f.labels):
        return None
    if any(x not in p.out for x in f.labels):
        return None
    axes = [p.out.index(x) for x in f.labels]
    return [a.spread(axes, shape) if a.shape else a.broadcast(shape) for a in found]


def _known(run: Canonicaliser, branch: Form, condition: Form, side: int) -> Form:
    """A branch in which the same condition is not asked again: where(c, where(c, a, b), d) = where(c, a, d), always."""
    terms: list[Product] = []
    changed = False
    for p in branch.terms:
        for f in p.factors:
            if f.base.op.name != "where" or f.power != 1:
                continue
            inside = _spread_arguments(run, p, f, branch.shape)
            if inside is not None and run.same(inside[0], condition):
                own = run.arguments[f.base][side]
                own = own if own.shape or not f.labels else own.broadcast(f.base.shape)
                terms += substituted(p, f, own, run)
                changed = True
                break
        else:
            terms.append(p)
    return _known(run, run.sum_of(terms, branch.shape), condition, side) if changed else branch


def _clip(run: Canonicaliser, condition: Form, first: Form, second: Form) -> Form | None:
    """where(|u| < k, u, k·sign u) = clip(u, -k, k) for numbers k > 0, always."""
    sides = _arguments_of(run, condition, "lt") or _arguments_of(run, condition, "le")
    bound = None if sides is None else sides[1].constant
    if sides is None or bound is None or bound.coef <= 0:
        return None
    size = run.elementwise(lookup("abs"), [first], {}, first.shape)
    if not run.same(size, sides[0]):
        return None
    end = run.elementwise(lookup("sign"), [first], {}, first.shape).scaled(bound.coef, bound.decimal)
    if not run.same(end, second):
        return None
    ends = [Form([Product(k, (), (), bound.decimal)], ()) for k in (-bound.coef, bound.coef)]
    return run.elementwise(lookup("clamp"), [first, *ends], {}, first.shape)


# ---------------------------------------------------------------------------------------------- sums


def joined(run: Canonicaliser, terms: Sequence[Product], shape: tuple[object, ...]) -> list[Product] | None:
    """where(c, a, 0) + where(c, 0, b) = where(c, a, b), always; None when there is no such pair."""
    found = [k for k, p in enumerate(terms) if p.elementwise and any(f.base.op.name == "where" for f in p.factors)]
    for i, k in enumerate(found):
        for m in found[i + 1 :]:
            # A factor of both terms stays in front: what it is where nothing is selected it is in both anyway.
            shared = _shared(terms[k], terms[m])
            places = [tuple(terms[k].out.index(x) for x in f.labels) for f in shared]
            one, other = (_piece(run, _bare(p, shared, places), shape) for p in (terms[k], terms[m]))
            if one is None or other is None:
                continue
            whole = _both(run, one, other)
            if whole is not None:
                if shared:
                    whole = run.times(Form([Product(1, shared, terms[k].out)], shape), whole)
                rest = [p for n, p in enumerate(terms) if n not in (k, m)]
                return [*rest[:k], *whole.terms, *rest[k:]]
    return None


def _both(run: Canonicaliser, one: Piece, other: Piece) -> Form | None:
    """where(c, a, b) + where(c, d, e) = where(c, a + d, b + e); and where(¬c ∧ d, e, 0) goes into the second branch."""
    condition, shape = one[0], one[0].shape
    if run.same(condition, other[0]):
        sides = [run.sum_of([*a.terms, *b.terms], shape) for a, b in zip(one[1:], other[1:], strict=True)]
        return selected(run, lookup("where"), condition, *sides)
    for (c, first, second), (d, above, below) in ((one, other), (other, one)):
        rest = None if below.terms else _apart(run, c, d)
        if rest is not None:
            inner = selected(run, lookup("where"), rest, above, below)
            return selected(run, lookup("where"), c, first, run.sum_of([*second.terms, *inner.terms], shape))
    return None


def _apart(run: Canonicaliser, condition: Form, other: Form) -> Form | None:
    """d, when another condition is d and not this one."""
    sides = _arguments_of(run, other, "logical_and")
    for k in (0, 1) if sides is not None else ():
        assert sides is not None
        inner = _arguments_of(run, sides[k], "logical_not")
        if inner is not None and run.same(inner[0], condition):
            return sides[1 - k]
        deeper = _apart(run, condition, sides[k])
        if deeper is not None:
            return run.elementwise(lookup("logical_and"), [deeper, sides[1 - k]], {}, other.shape)
    return None


def _shared(p: Product, q: Product) -> list[Factor]:
    """The factors of a product, other than conditions, that another has along the same axes."""
    there = {(f.base, f.power, tuple(q.out.index(x) for x in f.labels)) for f in q.factors}
    plain = [f for f in p.factors if f.base.op.name != "where" and f.labels]
    return [f for f in plain if (f.base, f.power, tuple(p.out.index(x) for x in f.labels)) in there]


def _bare(p: Product, shared: Sequence[Factor], places: Sequence[tuple[int, ...]]) -> Product:
    """A product without some of its factors."""
    gone = {(f.base, f.power, at) for f, at in zip(shared, places, strict=True)}
    kept = [f for f in p.factors if (f.base, f.power, tuple(p.out.index(x) for x in f.labels)) not in gone]
    return Product(p.coef, kept, p.out, p.decimal)


Piece = tuple[Form, Form, Form]
"""A condition and two branches."""


def _piece(run: Canonicaliser, p: Product, shape: tuple[object, ...]) -> Piece | None:
    """(condition, first, second) of a product with one ``where``; the rest goes inside."""
    found = [f for f in p.factors if f.base.op.name == "where"]
    if len(found) != 1 or found[0].power != 1 or not p.elementwise:
        return None
    own = run.arguments.get(found[0].base)
    inside = _spread_arguments(run, p, found[0], shape)
    if own is None or inside is None:
        return None
    labels = found[0].labels
    sides = [Form((), shape), Form((), shape)]
    for k in (0, 1):
        if own[k + 1].terms:
            wide = own[k + 1] if own[k + 1].shape or not labels else own[k + 1].broadcast(found[0].base.shape)
            sides[k] = run.sum_of(substituted(p, found[0], wide, run), shape)
    return inside[0], sides[0], sides[1]

"""Piecewise formulas: ``where`` by its branches, and the points that derivative rules except.

A ``where`` of the program is never dropped.  What may go is a :func:`symgrad.ops.elementwise.select.guard`, which only
a rule of the table puts in: the formula then holds where its parts are finite, and the compiled program keeps the
point.  So may one that keeps apart entries which a factor makes 0 anyway, as a masked softmax does.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from symgrad.formula.canonical.cases.intervals import assuming, by_cases, called, spread_arguments
from symgrad.formula.canonical.chains import is_truth
from symgrad.formula.canonical.matrices.triangles import half_where, off_diagonal, without_two
from symgrad.formula.canonical.normal import Factor, Form, Product
from symgrad.formula.canonical.sums.expanding import substituted
from symgrad.formula.term import SYMBOL, Term
from symgrad.op import Op, lookup

if TYPE_CHECKING:
    from symgrad.formula.canonical.simplify import Canonicaliser


def read_first(run: Canonicaliser, term: Term, args: Sequence[Form]) -> Form:
    """The first operand: the others say where it was taken, or where it counts.

    beside(c, x) = c always.  guard(x, keep) and excepted(x, keep) are x wherever x is finite, and defined(x, keep)
    wherever it is defined.
    """
    return args[0].broadcast(term.shape)


def read_where(run: Canonicaliser, term: Term, args: Sequence[Form]) -> Form:
    """A ``where`` with its condition not negated, and each branch without further questions about that condition."""
    condition, first, second = (a.broadcast(term.shape) for a in args)
    inner = called(run, condition, "logical_not")
    if inner is not None:
        # where(¬c, a, b) = where(c, b, a), always.
        condition, first, second = inner[1][0], second, first
    return selected(run, term.op, condition, first, second)


def selected(run: Canonicaliser, op: Op, condition: Form, first: Form, second: Form) -> Form:
    """where(condition, first, second) of forms of one shape, each branch without further questions about that."""
    first = assuming(run, first, lambda question: True if run.same(question, condition) else None)
    second = assuming(run, second, lambda question: False if run.same(question, condition) else None)
    made = chosen(run, condition, first, second, op)
    return by_cases(run, condition, made) or made


def chosen(run: Canonicaliser, condition: Form, first: Form, second: Form, op: Op | None = None) -> Form:
    """where(condition, first, second) of forms that ask nothing more about the condition.

    where(c, k·a, 0) = k·where(c, a, 0) for numbers k; a delta in ``a`` is a delta of the whole.  Arrays stay inside,
    because what is not selected may be infinite or no number.
    """
    shape, op = condition.shape, op or lookup("where")
    if run.same(first, second):
        return first
    scaled = _shared_in_front(run, op, condition, first, second)
    if scaled is not None:
        return scaled
    clipped = _clip(run, condition, first, second)
    if clipped is not None:
        return clipped
    half = half_where(run, condition, first, second)
    if half is not None:
        return half
    off = off_diagonal(run, condition, first, second)
    if off is not None:
        return off
    outer = _hoisted(run, op, condition, first, second)
    if outer is not None:
        return outer
    second = _listed(run, op, second)
    if bool(first.terms) == bool(second.terms):
        scale = first.terms[0].coef if len(first.terms) == len(second.terms) == 1 else 1
        if scale not in (0, 1) and scale == second.terms[0].coef and not first.constant and not second.constant:
            inner = [form.scaled(Fraction(1) / scale) for form in (first, second)]
            return run.elementwise(op, [condition, *inner], {}, shape).scaled(scale, first.terms[0].decimal)
        return run.elementwise(op, [condition, first, second], {}, shape)
    alone = first if first.terms else second
    if all(_absent(run, p, condition, bool(first.terms)) for p in alone.terms):
        return alone
    p = run.product(alone)
    if _absent(run, p, condition, bool(first.terms)):
        return Form([p], shape)
    if first.terms and _shared_out(run, p, condition):
        return run.times(Form([p], shape), condition)
    pairs = next((f for f in p.factors if len(f.labels) == 2 and without_two(f.base)), None)
    if pairs is not None and not first.terms and pairs.labels == p.out:
        inside = [f for f in p.factors if f is pairs or not f.labels]
        beside = run.elementwise(op, [condition, first, Form([Product(1, inside, p.out)], shape)], {}, shape)
        run.symmetries.note(beside.terms[0].factors[0].base)
        rest = p.with_factors([f for f in p.factors if f.labels and f is not pairs])
        return run.times(Form([rest], shape), beside)
    distinct = tuple(dict.fromkeys(p.out))
    small = tuple(shape[p.out.index(x)] for x in distinct)
    mask = run.contract([condition], [p.out], distinct, small)
    kept = Form([Product(1, p.factors, distinct)], small)
    zero = Form((), small)
    inner_form = run.elementwise(op, [mask, kept, zero] if first.terms else [mask, zero, kept], {}, small)
    front = Form([Product(p.coef, (), distinct, p.decimal)], small)
    return run.contract([front, inner_form], [distinct, distinct], p.out, shape)


def _absent(run: Canonicaliser, p: Product, condition: Form, holds: bool) -> bool:
    """Whether a product is 0 wherever a condition is not what ``holds`` says, as one with a masked softmax is."""
    for f in p.factors:
        bracket = run.insides.get(f.base) if f.labels == p.out and f.power > 0 else None
        if bracket is not None and all(_absent(run, q, condition, holds) for q in bracket.terms):
            return True
        inner = f.base.args[0] if f.base.op.name == "softmax" and f.labels == p.out else None
        if inner is not None and inner.op.name == "where" and f.power > 0:
            left_out = inner.args[2 if holds else 1]
            if left_out.number == -math.inf and inner.args[0] is run.term(condition):
                return True
    return False


def _shared_out(run: Canonicaliser, p: Product, condition: Form) -> bool:
    """Whether a product is numbers, or one of each row, over how often a condition holds there, which is never 0."""
    below = [f for f in p.factors if f.power < 0]
    if len(below) != 1 or below[0].base.op.name != "sum" or below[0].base.args[0] is not run.term(condition):
        return False
    inside = {x for f in p.factors for x in f.labels if x in p.out}
    # As diag(w/(M1)) M: more axes have no such.
    rows = inside <= {*below[0].labels} and len(inside) < len({*p.out}) == 2
    return rows or not inside


def _listed(run: Canonicaliser, op: Op, other: Form) -> Form:
    """k·where(c, a, b) as where(c, k·a, k·b): the next lines of a list of cases."""
    p = other.only
    if p is None or (p.coef == 1 and len(p.factors) < 2):
        return other
    piece = _piece(run, p, other.shape)
    return other if piece is None else run.elementwise(op, piece, {}, other.shape)


def constant_inside(form: Form, run: Canonicaliser) -> Form | None:
    """where(c, x, eˣ - 1) + 1 = where(c, x + 1, eˣ), always: a constant that one of the branches takes away."""
    constant = next((q for q in form.terms if q.constant), None)
    for p in form.terms if constant is not None else ():
        piece = _piece(run, p, form.shape)
        if constant is None or piece is None:
            continue
        if any(q.constant and q.coef == -constant.coef for branch in piece[1:] for q in branch.terms):
            first, second = (run.sum_of([*b.terms, constant], form.shape) for b in piece[1:])
            whole = chosen(run, piece[0], first, second)
            parts = [whole.terms if q is p else [q] for q in form.terms if q is not constant]
            return run.sum_of([t for terms in parts for t in terms], form.shape)
    return None


def _hoisted(run: Canonicaliser, op: Op, condition: Form, first: Form, second: Form) -> Form | None:
    """where(c, where(d, 0, a), where(d, 0, b)) = where(d, 0, where(c, a, b)), always."""
    if len(first.terms) != 1 or len(second.terms) != 1:
        return None
    one, other = (_piece(run, form.terms[0], form.shape) for form in (first, second))
    if one is None or other is None or not run.same(one[0], other[0]):
        return None
    for k in (1, 2):
        if not one[k].terms and not other[k].terms and one[3 - k].terms and other[3 - k].terms:
            inner = chosen(run, condition, one[3 - k], other[3 - k], op)
            return chosen(run, one[0], *((one[1], inner) if k == 1 else (inner, one[2])), op)
    return None


def _shared_in_front(run: Canonicaliser, op: Op, condition: Form, first: Form, second: Form) -> Form | None:
    """where(c, s·a, s·b) = s·where(c, a, b), always, for scalars and for what varies where the condition does not."""
    terms = [*first.terms, *second.terms]
    if not terms or not condition.shape or any(p.has_delta for p in terms):
        return None
    one, asked = terms[0], {terms[0].out[k] for k in condition.covered()}
    outer = [f for f in one.factors if {*f.labels} <= {*one.out}]
    shared = [f for f in outer if not f.labels or (asked and not {*f.labels} <= asked)]
    if not first.terms or not second.terms:
        # Beside 0 names alone, which are finite; what else is not selected may be infinite or no number.
        shared = [f for f in shared if f.labels and f.base.op is SYMBOL and f.power > 0]
    for p in terms[1:]:
        shared = [f for f in shared if _alike(f, one, p) in p.factors]
    if not shared:
        return None
    above, below = (
        Form([_without(p, [_alike(f, one, p) for f in shared]) for p in form.terms], form.shape)
        for form in (first, second)
    )
    return run.times(Form([Product(1, shared, one.out)], first.shape), chosen(run, condition, above, below, op))


def _alike(f: Factor, p: Product, q: Product) -> Factor:
    """A factor of a product as one of another along the same axes."""
    return Factor(f.base, tuple(q.out[p.out.index(x)] for x in f.labels), f.power)


def _without(p: Product, factors: Sequence[Factor]) -> Product:
    return p.with_factors([f for f in p.factors if f not in factors])


def _clip(run: Canonicaliser, condition: Form, first: Form, second: Form) -> Form | None:
    """where(|u| < k, u, k·sign u) = where(|u| > k, k·sign u, u) = clip(u, -k, k) for numbers k > 0, always."""
    found = called(run, condition, "lt", "le", "gt", "ge")
    if found is not None and found[0] in ("gt", "ge"):
        first, second = second, first
    bound = None if found is None else found[1][1].constant
    if found is None or bound is None or bound.coef <= 0:
        return None
    size = run.elementwise(lookup("abs"), [first], {}, first.shape)
    if not run.same(size, found[1][0]):
        return None
    end = run.elementwise(lookup("sign"), [first], {}, first.shape).scaled(bound.coef, bound.decimal)
    if not run.same(end, second):
        return None
    ends = [Form([Product(k, (), (), bound.decimal)], ()) for k in (-bound.coef, bound.coef)]
    return run.elementwise(lookup("clamp"), [first, *ends], {}, first.shape)


# ---------------------------------------------------------------------------------------------- sums


def joined(run: Canonicaliser, terms: Sequence[Product], shape: tuple[object, ...]) -> Sequence[Product] | None:
    """where(c, a, 0) + where(c, 0, b) = where(c, a, b), always; None when there is no such pair.

    [c] a is where(c, a, 0), beside another one.
    """
    several = sum(any(f.base.op.name == "where" for f in p.factors) for p in terms)
    if not several:
        return None
    pair = _pair(run, terms, shape)
    if pair is None:
        pair = _on_diagonal(run, terms, shape)
    return pair if pair is not None or several < 2 else _line_of_terms(run, terms, shape)


def _on_diagonal(run: Canonicaliser, terms: Sequence[Product], shape: tuple[object, ...]) -> list[Product] | None:
    """The same of what stands on one diagonal: diag(where(c, a, 0)) + diag(where(c, 0, b)) = diag(where(c, a, b))."""
    patterns: dict[tuple[int, ...], list[Product]] = {}
    for p in terms:
        patterns.setdefault(tuple(map(p.out.index, p.out)), []).append(p)
    for pattern, there in patterns.items():
        kept = sorted(set(pattern))
        if len(kept) == len(pattern) or len(there) < 2:
            continue
        inner = [p.with_out(tuple(p.out[k] for k in kept)) for p in there]
        pair = _pair(run, inner, tuple(shape[k] for k in kept))
        if pair is not None:
            rest = [p for row in patterns.values() if row is not there for p in row]
            return [*rest, *(p.with_out(tuple(p.out[kept.index(k)] for k in pattern)) for p in pair)]
    return None


def _line_of_terms(run: Canonicaliser, terms: Sequence[Product], shape: tuple[object, ...]) -> Sequence[Product] | None:
    """A sum in which several terms ask where one variable lies."""
    for p in terms:
        for f in p.factors:
            args = spread_arguments(run, p, f, shape) if f.base.op.name == "where" else None
            found = None if args is None else by_cases(run, args[0], Form(terms, shape))
            if found is not None:
                return found.terms
    return None


def _pair(run: Canonicaliser, terms: Sequence[Product], shape: tuple[object, ...]) -> list[Product] | None:
    asking = [sum(2 if f.base.op.name == "where" else is_truth(f.base) for f in p.factors) for p in terms]
    found = [k for k, p in enumerate(terms) if p.elementwise and asking[k]]
    for i, k in enumerate(found):
        for m in found[i + 1 :]:
            if max(asking[k], asking[m]) < 2:
                continue
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
                return Form(terms, shape).exchanged((k, m), whole)
    return None


def _both(run: Canonicaliser, one: Piece, other: Piece) -> Form | None:
    """where(c, a, b) + where(c, d, e) = where(c, a + d, b + e); and where(¬c ∧ d, e, 0) goes into the second branch."""
    condition, shape = one[0], one[0].shape
    if run.same(run.elementwise(lookup("logical_not"), [condition], {}, shape), other[0]):
        other = (condition, other[2], other[1])
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
    found = called(run, other, "logical_and")
    if found is None:
        return None
    for side, rest in (found[1], found[1][::-1]):
        inner = called(run, side, "logical_not")
        if inner is not None and run.same(inner[1][0], condition):
            return rest
        deeper = _apart(run, condition, side)
        if deeper is not None:
            return run.elementwise(lookup("logical_and"), [deeper, rest], {}, other.shape)
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
    return p.with_factors(kept)


Piece = tuple[Form, Form, Form]
"""A condition and two branches."""


def _piece(run: Canonicaliser, p: Product, shape: tuple[object, ...]) -> Piece | None:
    """(condition, first, second) of a product with one ``where``, or one truth value; the rest goes inside."""
    found = [f for f in p.factors if f.base.op.name == "where"]
    truths = [] if found else [f for f in p.factors if is_truth(f.base)]
    if len(truths) == 1 and truths[0].power == 1 and p.elementwise:
        axes = tuple(p.out.index(x) for x in truths[0].labels)
        return run.opaque(truths[0].base).spread(axes, shape), Form([_without(p, truths)], shape), Form((), shape)
    if len(found) != 1 or found[0].power != 1 or not p.elementwise:
        return None
    own = run.arguments.get(found[0].base)
    inside = spread_arguments(run, p, found[0], shape)
    if own is None or inside is None:
        return None
    labels = found[0].labels
    sides = [Form((), shape), Form((), shape)]
    for k in (0, 1):
        if own[k + 1].terms:
            wide = own[k + 1] if own[k + 1].shape or not labels else own[k + 1].broadcast(found[0].base.shape)
            sides[k] = run.sum_of(substituted(p, found[0], wide, run), shape)
    return inside[0], sides[0], sides[1]

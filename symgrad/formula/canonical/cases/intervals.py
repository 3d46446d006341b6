"""Conditions about one number line: cases are told by where one variable lies, each value once.

Conditions that compare the same u with numbers cut the line into points and open intervals.  On each of them every
such condition is known, in the arguments of functions too, and neighbours with the same value are one case.
Formulas hold where u is a number; what the program gives at nan is the last case where that costs nothing.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

from symgrad.formula.canonical.chains import price
from symgrad.formula.canonical.normal import Factor, Form, Product
from symgrad.formula.term import SYMBOL, Term, as_term, number, postorder, substitute
from symgrad.op import lookup
from symgrad.ops.elementwise.select import COMPARISONS

if TYPE_CHECKING:
    from symgrad.formula.canonical.simplify import Canonicaliser

CUTS = 4
"""Places at which a line may be cut; formulas with more are left as they are."""

DEPTH = 6
"""Functions, brackets and branches inside of each other that are searched for conditions."""

WIDEST = 6
"""Sums with more terms are left as they are."""

Known = Callable[[Form], "bool | None"]
"""What is known of a condition: that it holds, that it does not, or nothing."""

_COMPARISONS = {op.name: op for op in COMPARISONS}


# ---------------------------------------------------------------------------------------------- assumptions


def assuming(run: Canonicaliser, form: Form, known: Known, depth: int = DEPTH) -> Form:
    """The form without the questions whose answer is known: where(c, f(where(c, a, b)), d) = where(c, f(a), d)."""
    found = [_answered(run, p, form.shape, known, depth) for p in form.terms]
    if all(x is None for x in found):
        return form
    terms = [q for p, x in zip(form.terms, found, strict=True) for q in ((p,) if x is None else x.terms)]
    return run.sum_of(terms, form.shape)


def _answered(run: Canonicaliser, p: Product, shape: tuple[Any, ...], known: Known, depth: int) -> Form | None:
    """A product with its questions answered; None where it has none."""
    found = [(f, x) for f in p.factors if (x := _inside(run, p, f, shape, known, depth)) is not None]
    if not found:
        return None
    rest = [f for f in p.factors if not any(f is g for g, _ in found)]
    whole = Form([p.with_factors(rest)], shape)
    for f, x in found:
        whole = run.times(whole, x if f.power == 1 else run.power(x, f.power))
    return whole


def _inside(run: Canonicaliser, p: Product, f: Factor, shape: tuple[Any, ...], known: Known, depth: int) -> Form | None:
    """A factor with its questions answered, at the shape of the product; None where it has none."""
    if not depth or not asks(run, f.base) or not placed(p, f):
        return None
    axes = [p.out.index(x) for x in f.labels]
    own = run.insides.get(f.base) or run.products.get(f.base)
    if own is not None:
        wide = own.spread(axes, shape)
        found = assuming(run, wide, known, depth - 1)
        return None if found is wide else found
    args = spread_arguments(run, p, f, shape)
    if args is None:
        return None
    if f.base.op.name == "where":
        answer = known(args[0])
        if answer is not None:
            return assuming(run, args[1 if answer else 2], known, depth - 1)
    made = [assuming(run, a, known, depth - 1) for a in args]
    return None if all(map(_is, made, args)) else run.elementwise(f.base.op, made, f.base.params, shape)


def _is(a: Any, b: Any) -> bool:
    return a is b


def asks(run: Canonicaliser, term: Term) -> bool:
    """Whether a ``where`` stands in a term."""
    found = run.asking.get(term)
    if found is None:
        for t in postorder([term]):
            if t not in run.asking:
                run.asking[t] = t.op.name == "where" or any(run.asking[a] for a in t.args)
        found = run.asking[term]
    return found


def placed(p: Product, f: Factor) -> bool:
    """Whether a factor has axes of the product, each once."""
    return len(set(p.out)) == len(p.out) and len(set(f.labels)) == len(f.labels) and set(f.labels) <= set(p.out)


def spread_arguments(run: Canonicaliser, p: Product, f: Factor, shape: tuple[Any, ...]) -> list[Form] | None:
    """The arguments of a factor that is a function of entries, with the axes they have in the product."""
    found = run.arguments.get(f.base) if f.base.op.entrywise else None
    if found is None or not placed(p, f):
        return None
    axes = [p.out.index(x) for x in f.labels]
    row = []
    for a in found:
        own = axes[-len(a.shape) :] if a.shape else []  # an argument may lack the first axes of the result
        if len(own) < len(a.shape) or any(shape[axis] != size for axis, size in zip(own, a.shape, strict=True)):
            return None
        row.append(a.spread(own, shape) if a.shape else a.broadcast(shape))
    return row


def called(run: Canonicaliser, form: Form, *names: str) -> tuple[str, list[Form]] | None:
    """The name and the arguments, at the form's shape, of a form that is one call of an op with one of these names."""
    if len(form.terms) != 1:
        return None
    p = form.terms[0]
    if p.coef != 1 or len(p.factors) != 1 or p.factors[0].power != 1 or p.factors[0].base.op.name not in names:
        return None
    args = spread_arguments(run, p, p.factors[0], form.shape)
    return None if args is None else (p.factors[0].base.op.name, args)


# ---------------------------------------------------------------------------------------------- lines


class Line(NamedTuple):
    """What the first condition compares: u = left with numbers, or u = left - right with 0; and a term of u."""

    left: Form
    right: Form | None
    u: Form
    lead: Product


Cut = tuple[Fraction, bool]
"""A number that u is compared with, and whether it was typed as a float."""


def _line(run: Canonicaliser, condition: Form) -> Line | None:
    """The line of a condition; of one made of several, that of the first."""
    found = called(run, condition, *_COMPARISONS, "logical_and", "logical_or", "logical_not")
    if found is None:
        return None
    name, args = found
    if name not in _COMPARISONS:
        return _line(run, args[0])
    plain = args[1].constant is not None
    u = args[0] if plain else run.plus(args, (1, -1), condition.shape)
    lead = next((p for p in u.terms if not p.constant), None)
    return None if lead is None else Line(args[0], None if plain else args[1], u, lead)


def _holds(run: Canonicaliser, line: Line, condition: Form, u: Fraction | None, cuts: set[Cut] | None) -> bool | None:
    """Whether a condition holds at a place of the line, where None is nan; None when it is about something else."""
    found = called(run, condition, *_COMPARISONS, "logical_and", "logical_or", "logical_not")
    if found is None:
        return None
    name, args = found
    if name not in _COMPARISONS:
        parts = [_holds(run, line, a, u, cuts) for a in args]
        if name == "logical_not":
            return None if parts[0] is None else not parts[0]
        ends = name == "logical_or"
        return ends if ends in parts else None if None in parts else not ends
    place = _cut(run, line, args)
    if place is None:
        return None
    (cut, decimal), turned = place
    if cuts is not None:
        cuts.add((cut, decimal))
    if u is None:
        return name == "ne"
    return bool(getattr(operator, str(_COMPARISONS[name].turned) if turned else name)(u, cut))


def _cut(run: Canonicaliser, line: Line, args: Sequence[Form]) -> tuple[Cut, bool] | None:
    """(c, whether the sides are turned) for a comparison that is one of u with c."""
    bound = args[1].constant
    if bound is not None and line.right is None and run.same(args[0], line.u):
        return (Fraction(bound.coef), bound.decimal), False
    difference = run.plus(args, (1, -1), args[0].shape)
    key = run.key(line.lead)
    ratio = next((Fraction(p.coef) / line.lead.coef for p in difference.terms if run.key(p) == key), None)
    if not ratio:
        return None
    rest = run.plus([difference, line.u.scaled(ratio)], (1, -1), difference.shape).constant
    if rest is None or (line.right is not None and rest.coef):
        return None
    return (Fraction(-rest.coef) / ratio, rest.decimal), ratio < 0


# ---------------------------------------------------------------------------------------------- cases


class Case(NamedTuple):
    """A value and the first and the last cell of the line that have it: 0, 2, 4 … are open, 1, 3 … are the cuts."""

    value: Form
    first: int
    last: int


def by_cases(run: Canonicaliser, condition: Form, form: Form) -> Form | None:
    """A form by where the variable of a condition lies; None where that is not shorter."""
    ready = run.small and not run.telling and run.case_steps > 0 and len(form.terms) <= WIDEST
    line = _line(run, condition) if ready else None
    if line is None:
        return None
    # Cases are looked for with steps of their own, so that a formula with many is brought to its form all the same.
    steps, run.steps, run.telling = run.steps, run.case_steps, True
    found = _cases(run, line, form)
    run.case_steps, run.steps, run.telling = run.steps, steps, False
    return found if found is not None and price(run.term(found)) <= price(run.term(form)) else None


def _cases(run: Canonicaliser, line: Line, form: Form) -> Form | None:
    """The form by where u lies; None where no two questions are about that, or too many."""
    cuts: set[Cut] = set()
    questions: list[Form] = []

    def noted(question: Form) -> bool | None:
        _holds(run, line, question, None, cuts)
        questions.append(question)
        return None

    assuming(run, form, noted)
    places = sorted({c for c, _ in cuts})
    if not 0 < len(places) <= CUTS or (len(questions) < 2 and called(run, questions[0], *_COMPARISONS) is not None):
        return None
    cells = [_at(run, line, form, u) for u in _samples(places)]
    for k, cut in enumerate(places, 1):
        cells[2 * k - 1] = _taken_in(run, line, cut, cells[2 * k - 1], (cells[2 * k - 2], cells[2 * k]))
    cases = [Case(cells[0], 0, 0)]
    for k, value in enumerate(cells[1:], 1):
        old = cases[-1]
        cases[-1:] = [Case(value, old.first, k)] if run.same(old.value, value) else [old, Case(value, k, k)]
    decimals = dict(sorted(cuts))
    return _told(run, line, [(c, decimals[c]) for c in places], cases, _at(run, line, form, None))


def _samples(places: Sequence[Fraction]) -> list[Fraction]:
    """A number in every cell."""
    found = [places[0] - 1]
    for low, high in zip(places, [*places[1:], places[-1] + 2], strict=True):
        found += [low, (low + high) / 2]
    return found


def _at(run: Canonicaliser, line: Line, form: Form, u: Fraction | None) -> Form:
    return assuming(run, form, lambda condition: _holds(run, line, condition, u, None))


def _taken_in(run: Canonicaliser, line: Line, cut: Fraction, own: Form, beside: Sequence[Form]) -> Form:
    """What a formula is at a cut: that of the one beside which has the same value there, so that it needs no case."""
    if any(run.same(own, x) for x in beside):
        return own
    there = _value_at(run, line, own, cut)
    for x in beside if there is not None else ():
        other = _value_at(run, line, x, cut)
        if there is not None and other is not None and run.same(there, other):
            return x
    return own


def _value_at(run: Canonicaliser, line: Line, form: Form, cut: Fraction) -> Form | None:
    """What a form is where u is a number; None unless u is a symbol that stands in it entry by entry."""
    p = line.u.terms[0]
    symbol = p.factors[0].base if len(p.factors) == 1 else None
    if symbol is None or symbol.op is not SYMBOL or not run.same(line.u, run.opaque(symbol)):
        return None
    term = run.term(form)
    moved = {symbol}
    for t in postorder([term]):
        if any(a in moved for a in t.args):
            if not t.op.entrywise:
                return None
            moved.add(t)
    (found,) = substitute([term], {symbol: number(cut)})
    return run.form_of(as_term(found)).broadcast(form.shape)


def _told(run: Canonicaliser, line: Line, cuts: Sequence[Cut], cases: list[Case], at_nan: Form) -> Form:
    """The cases as choices inside of each other."""
    from symgrad.formula.canonical.cases.branches import chosen

    if len(cases) == 3 and run.same(cases[0].value, cases[2].value):
        # Outside of one interval there is one value.
        return chosen(run, _within(run, line, cuts, cases[1]), cases[1].value, cases[0].value)
    last = next((k for k, c in enumerate(cases) if run.same(c.value, at_nan)), len(cases) - 1)
    found = cases[last].value
    # Cases below the last are told from below, those above it from above.
    for case, below in [*((c, False) for c in cases[last + 1 :]), *((c, True) for c in reversed(cases[:last]))]:
        found = chosen(run, _bound(run, line, cuts, case, below), case.value, found)
    return found


def _within(run: Canonicaliser, line: Line, cuts: Sequence[Cut], case: Case) -> Form:
    """The condition that u lies in a case between two others."""
    if case.first == case.last and case.first % 2:
        return _compared(run, line, "eq", cuts[case.first // 2])
    ends = [_bound(run, line, cuts, case, below) for below in (False, True)]
    return run.elementwise(lookup("logical_and"), ends, {}, line.u.shape)


def _bound(run: Canonicaliser, line: Line, cuts: Sequence[Cut], case: Case, below: bool) -> Form:
    """The condition that u lies not above a case (``below``), or not below it."""
    cell = case.last if below else case.first
    shut = cell % 2
    cut = cuts[cell // 2 if shut or below else cell // 2 - 1]
    return _compared(run, line, ("le" if shut else "lt") if below else ("ge" if shut else "gt"), cut)


def _compared(run: Canonicaliser, line: Line, name: str, cut: Cut) -> Form:
    coef, decimal = cut
    right = line.right or Form([Product(coef, (), (), decimal)] if coef else (), ()).broadcast(line.u.shape)
    return run.elementwise(lookup(name), [line.left, right], {}, line.u.shape)

"""Logarithms, exponentials, Bessel functions and the error function that meet in a sum."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING

from symgrad.formula.canonical.normal import Factor, Form, Product
from symgrad.formula.canonical.scalars.numerals import rational_root
from symgrad.formula.term import NUMBER, Term, postorder
from symgrad.op import lookup

if TYPE_CHECKING:
    from symgrad.formula.canonical.simplify import Canonicaliser

Call = tuple[int, Factor]


def one_logarithm(form: Form, run: Canonicaliser) -> Form | None:
    """c log u - c log v = c log(u/v) where u, v > 0, which the given form asks for."""

    def joined(one: Call, other: Call) -> Form | None:
        if not run.same(_beside(form, one), _beside(form, other).scaled(-1)):
            return None
        up, down = (one, other) if form.terms[one[0]].coef > 0 else (other, one)
        u, v = (_spread(form, call, run.arguments[call[1].base][0]) for call in (up, down))
        made = run.elementwise(lookup("log"), [run.times(u, run.power(v, -1))], {}, form.shape)
        return run.times(_beside(form, up), made)

    calls = [c for c in _calls(form, "log") if c[1].base in run.arguments]
    return _first_pair(form, calls, joined, run)


def one_exponential(form: Form, run: Canonicaliser) -> Form | None:
    """a eᵘ + b eᵛ = (a + b eᵛ⁻ᵘ) eᵘ where eᵛ⁻ᵘ has no exponential, for its logarithms: Sφ(d₁) = Ke⁻ʳᵀφ(d₂)."""
    found = {k: own for k, p in enumerate(form.terms) if p.elementwise and (own := _exponentials(p, run))}
    if len(found) < 2 or not run.small or not any(_has_logarithm(f.base) for own in found.values() for f in own):
        return None
    for k, m in itertools.combinations(sorted(found, key=lambda k: len(found[k])), 2):
        u, v = (_exponent(form, n, found[n], run) for n in (k, m))
        if run.same(u, v) or run.steps <= 0:
            continue
        more = run.elementwise(lookup("exp"), [run.settled(run.plus([v, u], (1, -1), form.shape))], {}, form.shape)
        if any(f.base.op.name == "exp" for p in more.terms for f in p.factors):
            continue
        a, b = (_rest(form, n, found[n]) for n in (k, m))
        inner = run.settled(run.plus([a, run.times(b, more)], (1, 1), form.shape))
        bell = Form([Product(1, found[k], form.terms[k].out)], form.shape)
        whole = run.times(inner, bell)
        rest = [q for n, q in enumerate(form.terms) if n not in (k, m)]
        return run.sum_of([*rest[:k], *whole.terms, *rest[k:]], form.shape)
    return None


def _exponentials(p: Product, run: Canonicaliser) -> list[Factor]:
    return [f for f in p.factors if f.base.op.name == "exp" and f.base in run.arguments]


def _has_logarithm(term: Term) -> bool:
    return any(t.op.name == "log" for t in postorder([term]))


def _exponent(form: Form, k: int, own: list[Factor], run: Canonicaliser) -> Form:
    """The sum of the exponents in a term."""
    parts = [_spread(form, (k, f), run.arguments[f.base][0].scaled(f.power)) for f in own]
    return run.plus(parts, [1] * len(parts), form.shape)


def _rest(form: Form, k: int, own: list[Factor]) -> Form:
    """What stands beside some factors of a term."""
    p = form.terms[k]
    return Form([p.with_factors([f for f in p.factors if f not in own])], form.shape)


def bessel_recurrence(form: Form, run: Canonicaliser) -> Form | None:
    """J₀(u) - J₂(u) = 2J₀(u) - 2J₁(u)/u and I₀(u) + I₂(u) = 2I₀(u) - 2I₁(u)/u, where u ≠ 0."""
    for name, sign in (("bessel_j", -1), ("bessel_i", 1)):

        def joined(one: Call, other: Call, sign: int = sign) -> Form | None:
            low, high = sorted((one, other), key=lambda call: call[1].base.params["n"])
            f, g = low[1].base, high[1].base
            if (f.params["n"], g.params["n"]) != (0, 2) or f.args[0] is not g.args[0]:
                return None
            rest = _beside(form, low)
            if not run.same(rest, _beside(form, high).scaled(sign)):
                return None
            u = _spread(form, low, run.form_of(f.args[0]))
            first = run.opaque(f.op(f.args[0], n=1))
            quotient = run.times(_spread(form, low, first), run.power(u, -1))
            zeroth = _spread(form, low, run.opaque(f))
            return run.times(rest.scaled(2), run.plus([zeroth, quotient], (1, -1), form.shape))

        found = _first_pair(form, _calls(form, name), joined, run)
        if found is not None:
            return found
    return None


def normal_probability(form: Form, run: Canonicaliser) -> Form | None:
    """c + c erf(u/√2) = 2cΦ(u) and c - c erf(u/√2) = 2cΦ(-u), always."""
    for call in _calls(form, "erf"):
        k, f = call
        p = form.terms[k]
        n = next((n for n, q in enumerate(form.terms) if q.constant and abs(q.coef) == abs(p.coef)), None)
        if n is None or len(p.factors) > 1 or f.base not in run.arguments:
            continue
        u = without_root(run.arguments[f.base][0], run)
        if u is None:
            continue
        c = form.terms[n].coef
        made = run.elementwise(lookup("ndtr"), [u if c == p.coef else u.scaled(-1)], {}, u.shape)
        rest = [q for m, q in enumerate(form.terms) if m not in (k, n)]
        place, whole = min(k, n), _spread(form, call, made.scaled(2 * c, p.decimal))
        return run.sum_of([*rest[:place], *whole.terms, *rest[place:]], form.shape)
    return None


def without_root(form: Form, run: Canonicaliser) -> Form | None:
    """√2 times a form that has the root of 2 in all its terms."""
    found = run.times(Form([rational_root(Fraction(2), Fraction(1, 2))], ()), form)
    return None if any(f.base.op is NUMBER for p in found.terms for f in p.factors) else found


def _calls(form: Form, name: str) -> list[Call]:
    """The terms, by their number, in which one call of a function stands once, with it."""
    found = []
    for k, p in enumerate(form.terms):
        own = [f for f in p.factors if f.base.op.name == name]
        if len(own) == 1 and own[0].power == 1 and p.elementwise and len(set(own[0].labels)) == len(own[0].labels):
            found.append((k, own[0]))
    return found


def _beside(form: Form, call: Call) -> Form:
    """What a call is multiplied with."""
    p = form.terms[call[0]]
    return Form([p.without(call[1])], form.shape)


def _spread(form: Form, call: Call, value: Form) -> Form:
    """A form with the axes of a call's value, along those axes of the sum."""
    k, f = call
    axes = [form.terms[k].out.index(x) for x in f.labels]
    return value.spread(axes, form.shape) if value.shape else value.broadcast(form.shape)


def _first_pair(
    form: Form, calls: list[Call], joined: Callable[[Call, Call], Form | None], run: Canonicaliser
) -> Form | None:
    """The form with the first two terms that can be joined as what they are together."""
    for i, one in enumerate(calls):
        for other in calls[i + 1 :]:
            whole = joined(one, other)
            if whole is not None:
                rest = [p for n, p in enumerate(form.terms) if n not in (one[0], other[0])]
                return run.sum_of([*rest[: one[0]], *whole.broadcast(form.shape).terms, *rest[one[0] :]], form.shape)
    return None

"""Logarithms, exponentials, Bessel functions and the error function that meet in a sum."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import TYPE_CHECKING

from symgrad.formula.canonical.normal import Factor, Form, Product
from symgrad.formula.canonical.scalars.numerals import rational_root
from symgrad.formula.canonical.scalars.pairs import Call, beside, calls, first_pair, spread
from symgrad.formula.term import NUMBER, Term, postorder
from symgrad.op import lookup

if TYPE_CHECKING:
    from symgrad.formula.canonical.simplify import Canonicaliser


def one_logarithm(form: Form, run: Canonicaliser) -> Form | None:
    """c log u - c log v = c log(u/v) where u, v > 0, which the given form asks for."""

    def joined(one: Call, other: Call) -> Form | None:
        if not run.same(beside(form, one), beside(form, other).scaled(-1)):
            return None
        up, down = (one, other) if form.terms[one[0]].coef > 0 else (other, one)
        u, v = (spread(form, call, run.arguments[call[1].base][0]) for call in (up, down))
        made = run.elementwise(lookup("log"), [run.times(u, run.power(v, -1))], {}, form.shape)
        return run.times(beside(form, up), made)

    logs = [c for c in calls(form, "log") if c[1].base in run.arguments]
    return first_pair(form, logs, joined, run)


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
        return run.sum_of(form.exchanged((k, m), whole), form.shape)
    return None


def _exponentials(p: Product, run: Canonicaliser) -> list[Factor]:
    return [f for f in p.factors if f.base.op.name == "exp" and f.base in run.arguments]


def _has_logarithm(term: Term) -> bool:
    return any(t.op.name == "log" for t in postorder([term]))


def _exponent(form: Form, k: int, own: list[Factor], run: Canonicaliser) -> Form:
    """The sum of the exponents in a term."""
    parts = [spread(form, (k, f), run.arguments[f.base][0].scaled(f.power)) for f in own]
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
            rest = beside(form, low)
            if not run.same(rest, beside(form, high).scaled(sign)):
                return None
            u = spread(form, low, run.form_of(f.args[0]))
            first = run.opaque(f.op(f.args[0], n=1))
            quotient = run.times(spread(form, low, first), run.power(u, -1))
            zeroth = spread(form, low, run.opaque(f))
            return run.times(rest.scaled(2), run.plus([zeroth, quotient], (1, -1), form.shape))

        found = first_pair(form, calls(form, name), joined, run)
        if found is not None:
            return found
    return None


def normal_probability(form: Form, run: Canonicaliser) -> Form | None:
    """c + c erf(u/√2) = 2cΦ(u) and c - c erf(u/√2) = 2cΦ(-u), always."""
    for call in calls(form, "erf"):
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
        whole = spread(form, call, made.scaled(2 * c, p.decimal))
        return run.sum_of(form.exchanged((k, n), whole), form.shape)
    return None


def without_root(form: Form, run: Canonicaliser) -> Form | None:
    """√2 times a form that has the root of 2 in all its terms."""
    found = run.times(Form([rational_root(Fraction(2), Fraction(1, 2))], ()), form)
    return None if any(f.base.op is NUMBER for p in found.terms for f in p.factors) else found

"""Powers whose exponent is a formula: uᵛ·u = uᵛ⁺¹ and uᵛ·uʷ = uᵛ⁺ʷ, where u > 0."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from symgrad.formula.normal import Factor, Form, Product, plain_power
from symgrad.op import lookup

if TYPE_CHECKING:
    from symgrad.formula.simplify import Canonicaliser


def gathered_powers(p: Product, run: Canonicaliser) -> Product:
    """A product in which a base with a formula for its exponent stands once."""
    from symgrad.formula.rewriting import merged, without

    for f in p.factors:
        if f.base.op.name != "pow" or f.base not in run.arguments:
            continue
        base, exponent = (_at(a, f) for a in run.arguments[f.base])
        for g in p.factors:
            if g is f:
                continue
            more = _exponent(base, g, f, run)
            if more is None:
                continue
            total = run.plus([exponent.scaled(f.power), more], (1, 1), f.base.shape)
            made = raised(base, total, run)
            if len(made.terms) != 1:
                continue
            (q,) = made.terms
            names = dict(zip(q.out, f.labels, strict=True))
            factors = [Factor(x.base, tuple(names[y] for y in x.labels), x.power) for x in q.factors]
            found = without(p, [f, g], factors)
            return merged(Product(found.coef * q.coef, found.factors, found.out, found.decimal), run)
    return p


def _at(form: Form, f: Factor) -> Form:
    return form if form.shape == f.base.shape else form.broadcast(f.base.shape)


def _exponent(base: Form, g: Factor, f: Factor, run: Canonicaliser) -> Form | None:
    """The exponent that ``g`` has as a power of ``base``."""
    if sorted(g.labels) != sorted(f.labels):
        return None
    axes = tuple(g.labels.index(x) for x in f.labels)
    if g.base.op.name == "pow" and g.base in run.arguments:
        other, exponent = (_at(a, g).restricted(axes) for a in run.arguments[g.base])
        return exponent.scaled(g.power) if run.same(other, base) else None
    own = Form([Product(1, [Factor(g.base, g.labels)], f.labels)], f.base.shape)
    if not run.same(own, base):
        return None
    return Form([Product(Fraction(g.power), (), tuple(range(len(f.labels))))], f.base.shape)


def raised(base: Form, exponent: Form, run: Canonicaliser) -> Form:
    """``base ** exponent``; by a number when the exponent is one."""
    constant = exponent.constant
    if constant is None:
        return run.elementwise(lookup("pow"), [base, exponent], {}, base.shape)
    if not constant.coef:
        return Form([Product(1, (), tuple(range(len(base.shape))))], base.shape)
    return run.power(base, plain_power(Fraction(constant.coef)))

"""Powers: those whose exponent is a formula (uᵛ·u = uᵛ⁺¹ and uᵛ·uʷ = uᵛ⁺ʷ, where u > 0), and roots of products."""

from __future__ import annotations

import collections
import itertools
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from symgrad.formula.canonical.normal import Factor, Form, Power, Product, plain_power
from symgrad.formula.canonical.scalars.numerals import exact_root
from symgrad.formula.term import SIZE, SYMBOL, Term, postorder
from symgrad.op import lookup

if TYPE_CHECKING:
    from symgrad.formula.canonical.simplify import Canonicaliser

WIDEST_EXPONENT = 6
"""Exponents with more terms are left as they are."""


def gathered_powers(p: Product, run: Canonicaliser) -> Product:
    """A product in which a base with a formula for its exponent stands once."""
    from symgrad.formula.canonical.rewriting import merged

    for f in p.factors:
        if f.base.op.name != "pow" or f.base not in run.arguments:
            continue
        base, exponent = (_at(a, f) for a in run.arguments[f.base])
        if abs(f.power) != 1 and f.power == int(f.power):
            # (uᵛ)ᵏ = uᵏᵛ for whole k, always.
            times = abs(int(f.power))
            return gathered_powers(
                p.exchanged([f], run.product(raised(base, exponent.scaled(times), run)), f.power // times), run
            )
        for g in p.factors:
            if g is f:
                continue
            more = _exponent(base, g, f, run)
            if more is None:
                continue
            total = run.plus([exponent.scaled(f.power), more], (1, 1), f.base.shape)
            made = raised(base, total, run)
            if len(made.terms) == 1:
                return merged(p.exchanged([f, g], made.terms[0]), run)
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
    inside = run.insides.get(g.base)
    if not run.same(own, base) and (inside is None or not run.same(inside.restricted(axes), base)):
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


def roots_of_products(p: Product, run: Canonicaliser) -> Product:
    """xy·(xy)ᵏ = (xy)ᵏ⁺¹ for k < 0 and (xy)ᵏ/(xy) = (xy)ᵏ⁻¹ for k > 0, wherever the given form is defined."""
    from symgrad.formula.canonical.rewriting import merged

    for f in p.factors:
        form = run.products.get(f.base)
        if form is None or f.power == int(f.power):
            continue
        (q,) = form.terms
        names = dict(zip(q.out, f.labels, strict=True))
        step = 1 if f.power < 0 else -1
        met = []
        for h in q.factors:
            labels = tuple(names[x] for x in h.labels)
            met += [g for g in p.factors if g.base is h.base and g.labels == labels and g.power * step / h.power >= 1]
        if len(met) == len(q.factors):
            new = [Factor(f.base, f.labels, plain_power(f.power + step))]
            left = zip(met, q.factors, strict=True)
            new += [Factor(g.base, g.labels, k) for g, h in left if (k := plain_power(g.power - step * h.power))]
            return merged(p.replaced([f, *met], new).scaled(Fraction(q.coef) ** -step), run)
    return p


def powers_of_logs(run: Canonicaliser, form: Form) -> Form | None:
    """e^(u + v log x) = eᵘxᵛ where x > 0, and e^(u + k log Γ(x)) = eᵘ(e^(log Γ(x)))ᵏ for whole k, always."""
    few = len(form.terms) <= WIDEST_EXPONENT and len(form.covered()) == len(form.shape)
    for k, p in enumerate(form.terms if few else ()):
        for f in p.factors if p.elementwise else ():
            if f.power != 1 or f.base not in run.arguments:
                continue
            others = p.beside(f)
            whole = not others and p.coef == int(p.coef)
            if f.base.op.name == "lgamma" and whole and (len(form.terms) > 1 or p.coef != 1):
                inner = Form([Product(1, [f], p.out)], form.shape)
                made = run.power(run.elementwise(lookup("exp"), [inner], {}, form.shape), int(p.coef))
            elif f.base.op.name == "log":
                axes = [p.out.index(x) for x in f.labels]
                x = run.arguments[f.base][0]
                base = x.spread(axes, form.shape) if x.shape else x.broadcast(form.shape)
                made = raised(base, Form([p.with_factors(others)], form.shape), run)
            else:
                continue
            rest = Form([q for n, q in enumerate(form.terms) if n != k], form.shape)
            return run.times(made, run.elementwise(lookup("exp"), [rest], {}, form.shape)) if rest.terms else made
    return None


def roots_apart(p: Product) -> tuple[list[Factor], Product]:
    """The roots of numbers in a product, and the rest of it: (x/√2)ᵏ = √2⁻ᵏxᵏ for whole k, always."""
    roots = [f for f in p.factors if not f.labels and all(t.op not in (SYMBOL, SIZE) for t in postorder([f.base]))]
    return roots, p.with_factors([f for f in p.factors if f not in roots]) if roots else p


def in_front(roots: list[Factor], p: Product) -> Product:
    """A product times roots of numbers."""
    return p.with_factors([*roots, *p.factors]) if roots else p


def root_of(p: Product, shape: tuple[Any, ...], power: Power, run: Canonicaliser) -> Form | None:
    """(n·x)ᵏ = nᵏ·xᵏ for sizes n, which are positive; (xᵀx · yᵀy)ᵏ = ‖x‖²ᵏ‖y‖²ᵏ and (Σ|x|ᵖ)ᵏ = ‖x‖ₚᵖᵏ for real x.

    √(xᵀx/6) = ‖x‖/√6: exact numbers above 0 go out of roots of norms.
    """
    sizes = [Factor(f.base, (), plain_power(f.power * power)) for f in p.factors if f.base.op is SIZE]
    if sizes:
        rest = p.with_factors([f for f in p.factors if f.base.op is not SIZE])
        return run.times(Form([Product(1, sizes, ())], ()), run.power(Form([rest], shape), power))
    labels = [x for f in p.factors for x in f.labels]
    front = exact_root(p, power)
    if front is None or not 0 < len(set(labels)) == len(labels):
        return None
    if p.out:
        return _norms_along(p, front, shape, power)
    norms = [_norm(f, power) for f in p.factors]
    if None in norms:
        return None
    return Form([Product(front.coef, [*front.factors, *(f for f in norms if f is not None)], (), p.decimal)], ())


def _norms_along(p: Product, front: Product, shape: tuple[Any, ...], power: Power) -> Form | None:
    """A power of sums of squares along some axes, as of rows, as that of norms: derivatives have those, too."""
    f = p.factors[0]
    whole = len(p.factors) == 1 and f.power == 2 and 2 * power == int(2 * power)
    if not whole or not f.base.real_dtype or len(p.out) == len(f.labels) or not {*p.out} <= {*f.labels}:
        return None
    dims = tuple(k for k, x in enumerate(f.labels) if x not in p.out)
    norm = lookup("norm")(f.base, p=2, dim=dims, keepdim=False)
    kept = tuple(x for x in f.labels if x in p.out)
    return Form([Product(front.coef, [*front.factors, Factor(norm, kept, int(2 * power))], p.out, p.decimal)], shape)


def norms_together(p: Product) -> Product:
    """xᵀx ‖x‖ᵏ = ‖x‖ᵏ⁺² for real x, wherever the given form is defined."""
    uses = collections.Counter(x for f in p.factors for x in {*f.labels})
    uses.update(p.out)
    for f, g in itertools.permutations(p.factors, 2):
        inner = _of_norm(f.base)
        if inner is None:
            continue
        labels = set(g.labels)
        squares = g.base is inner and g.power == 2 and len(labels) == inner.ndim and all(uses[x] == 1 for x in labels)
        product = g.base.op.name == "matmul" and not g.base.shape and all(x is inner for x in g.base.args)
        if squares or product:
            power = plain_power(f.power + (2 * g.power if product else 2))
            rest = p.beside(f, g)
            found = p.with_factors([*rest, *([Factor(f.base, (), power)] if power else [])])
            return norms_together(found)
    return p


def _of_norm(base: Term) -> Term | None:
    """The real array of which a term is the square root of the sum of squares."""
    if base.op.name != "norm" or base.shape or base.params["p"] != 2 or not base.args[0].real_dtype:
        return None
    return base.args[0]


def _norm(f: Factor, power: Power) -> Factor | None:
    """A power of the sum of a factor's entries as that of a norm, where it is one and the power of that is whole."""
    inner = f.base.args[0] if f.base.op.name == "abs" else f.base
    whole = f.power > 0 and f.power * power == int(f.power * power)
    if (
        not whole
        or not 0 < len(f.labels) <= 2
        or not inner.real_dtype
        or not (f.power % 2 == 0 or inner is not f.base)
        or (f.power != 2 and inner.ndim > 1)
    ):
        return None
    norm = lookup("norm")(inner, p=f.power, dim=tuple(range(inner.ndim)), keepdim=False)
    return Factor(norm, (), int(f.power * power))

"""Complex numbers in products: the imaginary unit, conjugates, real and imaginary parts."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from symgrad.formula.canonical.normal import Factor, Form, Product, plain_power, relabelled
from symgrad.formula.term import Term, is_complex_constant, number
from symgrad.op import Op, lookup

if TYPE_CHECKING:
    from symgrad.formula.canonical.simplify import Canonicaliser


def unit_powers(p: Product) -> Product:
    """i² = -1."""
    for f in p.factors:
        if f.base.number == 1j and f.power == int(f.power) and f.power != 1:
            turns = int(f.power) % 4
            made = p.replaced([f], [Factor(f.base, ())] if turns % 2 else [])
            return Product(-made.coef if turns > 1 else made.coef, made.factors, made.out, made.decimal)
    return p


def conjugate_pairs(p: Product, run: Canonicaliser) -> Product:
    """z·conj(z) = |z|², always."""
    from symgrad.formula.canonical.rewriting import merged

    for f in p.factors:
        if f.base.op.name != "conj" or f.power < 1:
            continue
        for g in p.factors:
            if g.base is f.base.args[0] and g.labels == f.labels and g.power >= 1:
                k = min(f.power, g.power)
                size = run.elementwise(lookup("abs"), [run.opaque(g.base)], {}, g.base.shape).terms[0]
                rest = [Factor(x.base, x.labels, plain_power(x.power - k)) for x in (f, g) if x.power != k]
                return merged(p.exchanged([f, g], size, 2 * k, beside=rest), run)
    return p


def conjugate_sums(p: Product, run: Canonicaliser) -> Product:
    """(φᴴψ)(ψᴴφ) = |φᴴψ|², always."""
    from symgrad.formula.canonical.rewriting import merged
    from symgrad.formula.canonical.writing import components

    found = components([f for f in p.factors if f.labels])
    scalars = [part for part in found if len(part) > 1 and not any(x in p.out for f in part for x in f.labels)]
    for one, other in itertools.combinations(scalars, 2):
        form = Form([Product(1, one, ())], ())
        turned = conjugate(run, form)
        if run.same(turned, Form([Product(1, other, ())], ())) and not run.same(turned, form):
            (size,) = run.elementwise(lookup("abs"), [form], {}, ()).terms
            kept = [f for f in p.factors if not any(f is g for g in (*one, *other))]
            squared = [Factor(f.base, f.labels, 2 * f.power) for f in size.factors]
            return conjugate_sums(merged(p.with_factors([*kept, *squared]), run), run)
    return p


def phases(p: Product, run: Canonicaliser) -> Product:
    """sign(z)·conj(z) = |z|, always: both are 0 at 0."""
    from symgrad.formula.canonical.rewriting import merged

    for f in p.factors:
        for g in p.factors if f.base.op.name == "conj" and f.power >= 1 else ():
            if g.base.op.name == "sign" and g.base.args[0] is f.base.args[0] and g.labels == f.labels and g.power == 1:
                (size,) = run.elementwise(lookup("abs"), [run.opaque(f.base.args[0])], {}, f.base.shape).terms
                names = dict(zip(size.out, f.labels, strict=True))
                new = relabelled(size.factors, names.__getitem__)
                new += [Factor(f.base, f.labels, plain_power(f.power - 1))] if f.power > 1 else []
                return merged(p.replaced([f, g], new), run)
    return p


def conjugate(run: Canonicaliser, form: Form) -> Form:
    """The conjugate of a sum of products is the sum of products of conjugates, always; of a real array it is itself."""
    terms = []
    for p in form.terms:
        factors = []
        coef = p.coef
        for f in p.factors:
            if f.base.number == 1j:
                coef = -coef if f.power % 2 else coef
                factors.append(f)
            elif f.base in run.insides and not f.labels and f.power == int(f.power):
                q = run.product(conjugate(run, run.insides[f.base]))
                coef *= Fraction(q.coef) ** int(f.power)
                factors += [Factor(x.base, x.labels, x.power * f.power) for x in q.factors]
            elif f.base.dtype.kind != "c" if f.base.dtype is not None else not is_complex_constant(f.base):
                factors.append(f)
            elif run.symmetries.hermitian(f.base):
                factors.append(Factor(f.base, f.labels[::-1], f.power))
            elif f.base.op.name == "conj":
                factors.append(Factor(f.base.args[0], f.labels, f.power))
            elif f.base.op.name == "cast" and f.power != int(f.power):
                # A real number may lie on the cut, where the root of the conjugate is not the conjugate of the root.
                root = lookup("pow")(f.base, number(f.power))
                factors.append(Factor(lookup("conj")(root), f.labels))
            else:
                factors.append(Factor(lookup("conj")(f.base), f.labels, f.power))
        terms.append(Product(coef, factors, p.out, p.decimal))
    return run.sum_of(terms, form.shape)


def part(run: Canonicaliser, op: Op, form: Form) -> Form | None:
    """Re(x + iy) = x and Im(x + iy) = y for the terms whose factors are real, always."""
    terms = [opened for p in form.terms for opened in _opened(p, run)]
    known, rest = [], []
    for p in terms:
        if all(f.base.number == 1j or _is_real(f.base) for f in p.factors):
            units = [f for f in p.factors if f.base.number == 1j]
            if bool(units) == (op.name == "imag"):
                known.append(p.replaced(units))
        else:
            rest.append(p)
    if len(rest) == len(terms):
        return _real_in_front(run, op, rest[0], form.shape) if len(rest) == 1 else None
    found = run.sum_of(known, form.shape)
    if not rest:
        return found
    return run.plus([found, run.elementwise(op, [Form(rest, form.shape)], {}, form.shape)], (1, 1), form.shape)


def _is_real(base: Term) -> bool:
    """Whether the base of a factor is real: an array of floats, or a size."""
    return base.real_dtype or (base.number is None and base.dtype is not None and base.dtype.kind in "iu")


def _real_in_front(run: Canonicaliser, op: Op, p: Product, shape: tuple[Any, ...]) -> Form | None:
    """Re(2xz) = 2x Re(z), Re(iz) = -Im(z) and Im(iz) = Re(z) for real x, always."""

    def goes(f: Factor) -> bool:
        real = f.base.number == 1j or _is_real(f.base)
        return real and (not f.labels or (len(set(p.out)) == len(p.out) and set(f.labels) <= set(p.out)))

    front = [f for f in p.factors if goes(f)]
    if not front and p.coef == 1:
        return None
    units = [f for f in front if f.base.number == 1j]
    coef = -p.coef if units and op.name == "real" else p.coef
    if units:
        op = lookup("imag" if op.name == "real" else "real")
    inner = Form([Product(1, [f for f in p.factors if f not in front], p.out)], shape)
    rest = Product(coef, [f for f in front if f not in units], p.out, p.decimal)
    return run.times(Form([rest], shape), run.elementwise(op, [inner], {}, shape))


def _opened(p: Product, run: Canonicaliser) -> list[Product]:
    """A product with a constant a + bi in it as the sum that it is."""
    from symgrad.formula.canonical.rewriting import merged

    for f in p.factors:
        inside = run.insides.get(f.base)
        if inside is not None and not f.labels and f.power == 1 and f.base.dtype is None:
            return [
                merged(Product(q.coef * r.coef, [*q.factors, *r.factors], q.out, q.decimal), run)
                for q in [p.replaced([f])]
                for r in inside.terms
            ]
    return [p]

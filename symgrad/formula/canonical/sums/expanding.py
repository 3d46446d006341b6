"""Sums that are better off term by term: products are distributed over them.

Everywhere else sums stay factors, so that ``Xᵀ(Xw - y)`` stays as it is.  (a + b)·c = a·c + b·c holds always.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from symgrad.formula.canonical.chains import price
from symgrad.formula.canonical.matrices.triangles import triangle_of
from symgrad.formula.canonical.normal import Factor, Form, Product, collected, contract_products, plain_power
from symgrad.formula.canonical.rewriting import merged
from symgrad.formula.canonical.sums.quotients import without_own_sums
from symgrad.formula.term import SYMBOL, Term, postorder

if TYPE_CHECKING:
    from symgrad.formula.canonical.simplify import Canonicaliser

WIDEST = 5
"""Sums with more terms are never distributed over."""

OPENED = 12
"""Terms that a sum may have when all its brackets are multiplied out."""

LONGEST_OPENED = 80
"""Length of such a sum: what is longer comes out no shorter than it was, and takes the time of ten formulas."""

_FUNCTIONS = frozenset({"exp", "cosh", "cos", "sigmoid", "pow"})
"""Functions that meet their own kind in a sum and cancel there."""


def distributed(
    forms: Sequence[Form],
    specs: Sequence[tuple[int, ...]],
    output: tuple[int, ...],
    sizes: dict[int, Any],
    run: Canonicaliser,
) -> list[Product] | None:
    """A sum with diagonal terms, weighted by vectors: (diag(a) - M) diag(b) = diag(a ⊙ b) - M diag(b).

    The same for eᵛ in front of a sum of σ(v) and σ(-v) that takes it in everywhere, and for P in front of a sum with
    rows of sums over P: P ⊙ (A - (A ⊙ P)11ᵀ) = P ⊙ A - diag((A ⊙ P)1) P.
    """
    for k, form in enumerate(forms):
        others = [f.terms[0] for i, f in enumerate(forms) if i != k and len(f.terms) == 1]
        if len(others) < len(forms) - 1 or not 1 < len(form.terms) <= 2 * WIDEST or not set(specs[k]) <= set(output):
            continue
        delta = any(len(set(p.out)) < len(p.out) for p in form.terms)
        weights = [f for p in others for f in p.factors if f.labels]
        if delta and weights and (is_hollow(form) or all(len(f.labels) < 2 for f in weights)):
            return _rows(k, forms, specs, output, sizes, run)
        if len(output) == 2 and _sums_over(form, {f.base for f in weights if len(set(f.labels)) > 1}):
            # The bracket goes first, as in the sums over P inside of it, so that both products are one.
            order = [k, *(i for i in range(len(forms)) if i != k)]
            return _rows(0, [forms[i] for i in order], [specs[i] for i in order], output, sizes, run)
        powers = {f.base for p in others for f in p.factors if f.base.op.name == "exp"}
        if powers and all(any(f.base.op.name == "sigmoid" for f in p.factors) for p in form.terms):
            found = _rows(k, forms, specs, output, sizes, run)
            if not any(f.base in powers for p in found for f in p.factors):
                return found
    return None


def _sums_over(form: Form, matrices: set[Term]) -> bool:
    """Whether beside matrices a sum has rows or columns that are sums over one of these matrices."""
    if not matrices or len(form.shape) != 2:
        return False
    along = [{x for f in p.factors for x in f.labels if x in p.out} for p in form.terms]
    short = [p for p, axes in zip(form.terms, along, strict=True) if len(axes) == 1]
    bases = {f.base for p in short for f in p.factors}
    return any(len(axes) == 2 for axes in along) and not matrices.isdisjoint(postorder(bases))


def _rows(
    k: int,
    forms: Sequence[Form],
    specs: Sequence[tuple[int, ...]],
    output: tuple[int, ...],
    sizes: dict[int, Any],
    run: Canonicaliser,
) -> list[Product]:
    """The products with each term of one sum."""
    rows = [[p if i == k else f.terms[0] for i, f in enumerate(forms)] for p in forms[k].terms]
    return [merged(contract_products(row, specs, output, sizes), run) for row in rows]


def expanded(p: Product, run: Canonicaliser, depth: int = 3) -> list[Product]:
    """The product, or a sum of products that is shorter or that can go on simplifying."""
    p = _cleared(p, run)
    for f in p.factors if depth and run.steps > 0 else ():
        inside = run.insides.get(f.base)
        if inside is None or f.power != 1 or len(inside.terms) > WIDEST:
            continue
        once = sum(g.base is f.base for g in p.factors) == 1
        traced = _traced(p, f, inside, run)
        if traced is not None:
            return [traced]
        sums = _sums_alone(p, f)
        if any(_is_centred(f.base, axis, run) for axis in sums):
            return []
        centred = any(_holds_centred(inside, axis, run) for axis in sums) or _meets_centred(p, f, inside, run)
        own = once and (_leaves_own_sum(p, f, inside, run) or _meets_own_mean(p, f, inside, run))
        if centred or own or _falls_apart(p, f, inside, once) or (once and _meets_inverse(p, f, inside, run)):
            return [r for q in substituted(p, f, inside, run) for r in expanded(q, run, depth - 1)]
        near = _near(p, f, inside, run) if once else []
        if near:
            small = Product(1, [f, *near], f.labels)
            found = substituted(small, f, inside, run)
            if cost(found) < cost([small]) + cost(inside.terms) - 1:
                return _replaced(p, [f, *near], Form(run.sum_of(found, inside.shape).terms, inside.shape), run)
    return [p]


def _cleared(p: Product, run: Canonicaliser) -> Product:
    """ν(1 + x/ν) = ν + x and (ν - x/ν)/ν = 1 - x/ν², and the same below a fraction bar, where ν ≠ 0."""
    for f in p.factors:
        inside = run.insides.get(f.base)
        if inside is None or f.power not in (1, -1) or len(inside.terms) > WIDEST:
            continue
        if is_centred(f.base, run):
            continue  # n(x - 1ᵀx/n) is n times what has a name of its own
        for g in p.factors:
            if g.labels or g.power != int(g.power):
                continue
            unit = 1 if g.power * f.power > 0 else -1
            met = [x.power for q in inside.terms for x in q.factors if x.base is g.base and x.power * unit < 0]
            if not met:
                continue
            into = Factor(g.base, (), unit)
            wide = [merged(q.with_factors([*q.factors, into]), run) for q in inside.terms]
            if f.power < 0 and _fractions(wide, g.base) > _fractions(inside.terms, g.base):
                continue  # S/(K + S + S²/I) has no fraction K/S below its bar
            # J(aJ^(-5/3) + b) is aJ^(-2/3) + bJ: beside a root the factor is gone in front.
            gone = g.power == unit * f.power and any(x != int(x) for x in met)
            short = cost(wide) <= cost(inside.terms) + gone
            bracket = run.product(run.sum_of(wide, inside.shape)) if short else None
            if bracket is None or not bracket.coef or not bracket.elementwise:
                continue
            names = dict(zip(bracket.out, f.labels, strict=True))
            new = [Factor(x.base, tuple(names[y] for y in x.labels), x.power * f.power) for x in bracket.factors]
            left = plain_power(g.power - unit * f.power)
            new += [Factor(g.base, (), left)] if left else []
            rest = p.beside(f, g)
            coef = p.coef * Fraction(bracket.coef) ** int(f.power)
            return merged(Product(coef, [*rest, *new], p.out, p.decimal), run)
    return p


def _fractions(terms: Sequence[Product], base: Term) -> int:
    """How many terms are divided by powers of a factor."""
    return sum(any(x.base is base and x.power < 0 for x in q.factors) for q in terms)


def _leaves_own_sum(p: Product, f: Factor, inside: Form, run: Canonicaliser) -> bool:
    """Whether a constant in a bracket leaves a sum over itself: Σⱼ Pᵢⱼ(log Pᵢⱼ + 1)/(P1)ᵢ."""
    rest = p.beside(f)
    if not any(q.constant for q in inside.terms) or not any(g.power < 0 and g.base in run.contractions for g in rest):
        return False
    return len(without_own_sums(Product(1, rest, p.out), run).factors) < len(rest)


def _meets_own_mean(p: Product, f: Factor, inside: Form, run: Canonicaliser) -> bool:
    """Whether a number in a bracket is a sum over what stands beside it: Σ sᵢeᵢ(eᵢ - sᵀe) = Σ sᵢeᵢ² - (sᵀe)².

    These are the moments of e, of which variances and cumulants are made.
    """
    if len(f.labels) != 1 or f.labels[0] in p.out or all(q.covered() for q in inside.terms):
        return False
    beside = [g for g in p.beside(f) if g.labels]
    if any(g.labels != f.labels for g in beside):
        return False
    bases = {g.base for g in beside}
    numbers = {g.base for q in inside.terms if not q.covered() for g in q.factors if not g.labels}
    known = [run.contractions[x] for x in numbers if x in run.contractions]
    return any({g.base for g in form.terms[0].factors} <= bases for form in known)


def _meets_inverse(p: Product, f: Factor, inside: Form, run: Canonicaliser) -> bool:
    """Whether an inverse cancels when a bracket is opened: Bᵀ(I - (BM)⁻ᵀ) = Bᵀ - M⁻ᵀ, (I - M⁻¹A)A⁻¹ = A⁻¹ - M⁻¹."""
    if len(set(f.labels)) != 2:
        return False
    bases = {h.base for q in inside.terms for h in q.factors}
    for g in p.beside(f):
        shared = {*f.labels} & {*g.labels}
        if (
            len(set(g.labels)) != 2
            or len(shared) != 1
            or shared & {*p.out}
            or "inv" not in {b.op.name for b in (g.base, *bases)}
        ):
            continue
        ends = tuple(x for h in (f, g) for x in h.labels if x not in shared)
        small = Product(1, [f, g], ends)
        if cost(substituted(small, f, inside, run)) < cost([small]) + cost(inside.terms) - 1:
            return True
    return False


def _near(p: Product, f: Factor, inside: Form, run: Canonicaliser) -> list[Factor]:
    """Factors that may cancel against terms of a sum: functions against their kind, a base against its powers."""
    powers = [x.base for q in inside.terms for x in q.factors if x.base.op.name == "pow" and x.base in run.arguments]
    bases = {x.base for power in powers for q in run.arguments[power][0].terms for x in q.factors}
    labels = set(f.labels)
    return [g for g in p.factors if (g.base.op.name in _FUNCTIONS or g.base in bases) and set(g.labels) == labels]


def _replaced(p: Product, old: Sequence[Factor], new: Form, run: Canonicaliser) -> list[Product]:
    """The product with some factors replaced by a form that has the labels of the first of them."""
    alone = len(old) == len(p.factors) and p.out == old[0].labels
    made = [p.contracted(old, q, new.shape) for q in (new.terms if alone else [run.product(new)])]
    return [merged(q, run) for q in made if q.coef]


def cost(terms: Sequence[Product]) -> int:
    """A measure of length, in which the exponents of powers count."""
    return sum(1 + sum(1 + (f.power != 1) + _exponent(f) for f in p.factors) for p in terms)


def _exponent(f: Factor) -> int:
    return 1 + price(f.base.args[1]) if f.base.op.name == "pow" else 0


def substituted(p: Product, f: Factor, inside: Form, run: Canonicaliser) -> list[Product]:
    """The products of the terms of a sum that is a factor."""
    return [merged(p.contracted([f], q, inside.shape), run) for q in inside.terms]


def _traced(p: Product, f: Factor, inside: Form, run: Canonicaliser) -> Product | None:
    """tr(A + Aᵀ) = 2 tr A, always: the trace of a sum whose terms have the same trace."""
    if len(f.labels) != 2 or f.labels[0] != f.labels[1] or f.labels[0] in p.out:
        return None
    if any(f.labels[0] in g.labels for g in p.beside(f)):
        return None
    whole = run.sum_of(substituted(Product(1, [f], ()), f, inside, run), ())
    if len(whole.terms) != 1:
        return None
    rest = p.without(f).open
    return merged(contract_products([rest, whole.terms[0]], [rest.out, ()], p.out, {}), run)


def _sums_alone(p: Product, f: Factor) -> list[int]:
    """The axes of a matrix along which a product sums it and nothing else."""
    others = {x for g in p.beside(f) for x in g.labels} | {*p.out}
    return [k for k, x in enumerate(f.labels) if x not in others and f.labels.count(x) == 1 < len(f.labels)]


def is_centred(base: Term, run: Canonicaliser) -> bool:
    """Whether the sums of a bracket along one of its axes are 0."""
    return any(_is_centred(base, axis, run) for axis in range(base.ndim))


def _is_centred(base: Term, axis: int, run: Canonicaliser) -> bool:
    """Whether the sums of a bracket along an axis are 0: 1ᵀ(X - 11ᵀX/n) = 0, always."""
    from symgrad.formula.canonical.sums.factoring import scalars_apart

    inside = run.insides.get(base)
    if inside is None or len(inside.terms) > WIDEST or all(axis in q.covered() for q in inside.terms):
        return False
    known = run.symmetries.centred
    if (base, axis) not in known:
        labels = tuple(range(base.ndim))
        f = Factor(base, labels)
        rest = Product(1, [f], (*labels[:axis], *labels[axis + 1 :]))
        shape = (*base.shape[:axis], *base.shape[axis + 1 :])
        parts = [scalars_apart(q, run) for q in substituted(rest, f, inside, run)]
        known[base, axis] = not run.sum_of(parts, shape).terms
    return known[base, axis]


def _holds_centred(inside: Form, axis: int, run: Canonicaliser) -> bool:
    """Whether one term of a sum is 0 when it is summed along an axis: (W - diag(c)X̃)1 = W1 where X̃1 = 0."""
    for q in inside.terms:
        x = q.out[axis]
        along = [g for g in q.factors if x in g.labels]
        alone = len(along) == 1 and along[0].power == 1 and q.out.count(x) == 1 < len(along[0].labels)
        if alone and _is_centred(along[0].base, along[0].labels.index(x), run):
            return True
    return False


def _meets_centred(p: Product, f: Factor, inside: Form, run: Canonicaliser) -> bool:
    """Whether a term of a bracket that is one number along an axis meets there what is centred: zᵀ(z - s) = zᵀz."""
    for axis, x in enumerate(f.labels):
        beside = [g for g in p.beside(f) if x in g.labels]
        if x in p.out or len(beside) != 1 or beside[0].power != 1 or all(axis in q.covered() for q in inside.terms):
            continue
        if _is_centred(beside[0].base, beside[0].labels.index(x), run) and not _is_centred(f.base, axis, run):
            return True
    return False


def _falls_apart(p: Product, f: Factor, inside: Form, once: bool) -> bool:
    """Whether terms become simpler: outer products and scaled matrices in a trace, constants in a sum, diagonals."""
    if len(f.labels) > 2:
        taken = len(set(f.labels)) < 3 and all(len(g.labels) < 3 for q in inside.terms for g in q.factors)
        return once and len(p.out) < 3 and (taken or _made_of_matrices(inside))
    if len(f.labels) == 2 and not p.out and once:
        return any(_has_scalar(q) or q.out[1] not in _reached(q, q.out[:1]) for q in inside.terms)
    if len(f.labels) == 2 and f.labels[0] == f.labels[1] and all(len(q.covered()) < 2 for q in inside.terms):
        return True  # diag(a1ᵀ + 1bᵀ) = a + b
    if len(f.labels) == 1 and f.labels[0] not in p.out:
        alone = not any(f.labels[0] in g.labels for g in p.beside(f))
        arrays = [q for q in inside.terms if q.covered()]
        # 1ᵀ(x - μ) = 1ᵀx - nμ, and 1ᵀ(Xw + b - y) stays together, as the gradient by w has it.
        return alone and any(_has_scalar(q) for q in (inside.terms if len(arrays) < 2 else arrays))
    if once and len(set(f.labels)) == 2 and is_hollow(inside):
        return len(p.factors) > 1
    if once and len(f.labels) == 2 and len(p.out) < 2 and f.labels[0] != f.labels[1]:
        return _weighs_differences(p, f, inside) or _sums_outer(p, f, inside)
    if not once or len(f.labels) != 2:
        return False
    return _meets_triangle(p, f, inside) or (len(p.out) == 2 and _wrapped(p, f, inside))


def is_hollow(form: Form) -> bool:
    """Whether a sum is ones less the identity, in front of which (11ᵀ - I) ⊙ A = A - diag(diag(A))."""
    pair = len(form.shape) == 2 == len(form.terms) and not any(p.factors for p in form.terms)
    return pair and sorted(len(set(p.out)) for p in form.terms) == [1, 2]


def _weighs_differences(p: Product, f: Factor, inside: Form) -> bool:
    """Whether one matrix of the program weighs sums of columns and rows: (W ⊙ (a1ᵀ - 1bᵀ))1 = a ⊙ W1 - Wb."""
    apart = all(len(q.covered()) < 2 and len(set(q.out)) == len(q.out) for q in inside.terms)
    weights = [g for g in p.factors if len(g.labels) > 1 and g is not f]
    return (
        apart and len(weights) == 1 and weights[0].base.op is SYMBOL and sorted(weights[0].labels) == sorted(f.labels)
    )


def _sums_outer(p: Product, f: Factor, inside: Form) -> bool:
    """Whether outer products in a bracket become numbers: (A - abᵀ)ᵀ1 = Aᵀ1 - (1ᵀa)b."""
    summed = [x for x in f.labels if x not in p.out]
    if len(summed) != 1 or any(summed[0] in g.labels for g in p.beside(f)):
        return False
    return any(len(q.covered()) == 2 and q.out[1] not in _reached(q, q.out[:1]) for q in inside.terms)


def _made_of_matrices(inside: Form) -> bool:
    """Whether an array of order three is xᵢₖ - yⱼₖ, xₖᵢxₖⱼ - δᵢⱼ or has a Σ aᵢᵣbⱼᵣcₖᵣ, and matrices make it up."""
    plain = [q for q in inside.terms if all(len(g.labels) < 3 for g in q.factors)]
    if any(sum(bool(g.labels) for g in q.factors) > 2 for q in plain):
        return True
    rank = len(inside.shape)
    diagonal = any(len(set(q.out)) < rank for q in plain)
    return len(plain) == len(inside.terms) and (diagonal or all(1 < len(q.covered()) < rank for q in plain))


def _wrapped(p: Product, f: Factor, inside: Form) -> bool:
    """Whether each term of a bracket ends with the matrix that meets its other side: Aᵀ(A - BA) as in Hessians."""
    for k, x in enumerate(f.labels):
        for g in p.factors:
            meets = g is not f and len(g.labels) == 2 and x in g.labels and x not in p.out and f.labels[1 - k] in p.out
            if meets and all(
                any(h.base is g.base and q.out[1 - k] in h.labels for h in q.factors) for q in inside.terms
            ):
                return True
    return False


def _meets_triangle(p: Product, f: Factor, inside: Form) -> bool:
    """Whether triangles in a bracket meet one next to it: in Lᵀ(tril(A) + B), or one has the diagonal of LD + A."""
    if f.labels[0] == f.labels[1]:
        return any(triangle_of(g.base) for q in inside.terms for g in q.factors)
    if not any(g.base.op.name in ("tril", "triu") for q in inside.terms for g in q.factors):
        return False
    beside = [g for g in p.beside(f) if len(g.labels) == 2 and set(g.labels) != set(f.labels)]
    return any(set(g.labels) & set(f.labels) and triangle_of(g.base) for g in beside)


def _has_scalar(p: Product) -> bool:
    """Whether some factors are no part of the array."""
    inside = _reached(p, p.out)
    return any(not inside.intersection(f.labels) for f in p.factors)


def _reached(p: Product, start: tuple[int, ...]) -> set[int]:
    """Labels that are connected with some labels."""
    reached, size = set(start), -1
    while len(reached) > size:
        size = len(reached)
        reached.update(x for f in p.factors if reached.intersection(f.labels) for x in f.labels)
    return reached


def opened(form: Form, run: Canonicaliser) -> Form | None:
    """The form with all its brackets multiplied out; None where there are none, or too many terms."""
    done: list[Product] = []
    waiting = list(reversed(form.terms))
    while waiting:
        p = waiting.pop()
        found = next((f for f in p.factors if f.power == 1 and _opens(f, run)), None)
        if found is None:
            done.append(p)
        else:
            waiting += reversed(substituted(p, found, run.insides[found.base], run))
        if len(done) + len(waiting) > OPENED or run.steps <= 0:
            return None
    whole = run.sum_of([p for p in done if p.coef], form.shape)
    return whole if len(done) > 1 and cost(whole.terms) <= LONGEST_OPENED else None


def _opens(f: Factor, run: Canonicaliser) -> bool:
    """Whether a factor is a sum of which each term can have its place."""
    inside = run.insides.get(f.base)
    return inside is not None and len(inside.terms) <= WIDEST and len(set(f.labels)) == len(f.labels)


def flattened(terms: Sequence[Product], insides: dict[Term, Form], multiples: bool = True) -> list[Product]:
    """A term that is nothing but a short sum in brackets goes in term by term; with ``multiples`` also 2(a + b)."""
    found: list[Product] = []
    for p in terms:
        f = p.only
        shut = f is None or f.power != 1 or not (multiples or abs(p.coef) == 1)
        inside = None if f is None or shut else insides.get(f.base)
        if f is None or inside is None or len(inside.terms) > WIDEST or len({*p.out, *f.labels}) > len(set(p.out)):
            found.append(p)
        elif len(set(p.out)) == len(p.out) and len(set(f.labels)) == len(f.labels):
            whole = inside.spread([p.out.index(x) for x in f.labels], (1,) * len(p.out))
            found += [q.scaled(p.coef, p.decimal) for q in whole.terms]
        elif multiples and set(p.out) == set(f.labels) and len(set(f.labels)) == len(f.labels):
            # diag(1 + d) is I + diag(d), which may merge with others.
            places = [f.labels.index(x) for x in p.out]
            found += [q.with_out(tuple(q.out[k] for k in places)).scaled(p.coef, p.decimal) for q in inside.terms]
        else:
            found.append(p)
    return found


def absorbed(terms: list[Product], run: Canonicaliser) -> list[Product]:
    """y - y(1 - s) = ys, A + (I - B)A = 2A - BA: a bracket is opened where what its 1 or I gives stands already."""
    keys = {run.key(p): p for p in terms} if 1 < len(terms) <= WIDEST else {}
    for p in terms if keys else ():
        for f in p.factors:
            inside = run.insides.get(f.base)
            if inside is None or f.power != 1 or len(inside.terms) > WIDEST:
                continue
            if _meets_identity(p, f, inside, keys, run):
                made = [r for q in terms for r in (substituted(p, f, inside, run) if q is p else (q,))]
                return absorbed(collected(made, run.key), run)
            if not p.elementwise:
                continue
            constant = next((q for q in inside.terms if q.constant), None)
            if constant is None:
                continue
            alone = p.without(f).scaled(constant.coef)
            other = keys.get(run.key(alone))
            if other is not None and other is not p and other.coef == -alone.coef:
                made = [*(q for q in terms if q is not p), *substituted(p, f, inside, run)]
                return absorbed(collected(made, run.key), run)
    return terms


def _meets_identity(p: Product, f: Factor, inside: Form, keys: dict[Any, Product], run: Canonicaliser) -> bool:
    """Whether the identity matrix in a bracket makes a product that is another term, or its transpose."""
    for q in inside.terms:
        multiple = not any(g.labels for g in q.factors)
        if multiple and len(q.out) == 2 and q.out[0] == q.out[1] and p.factors != (f,):
            (alone,) = substituted(p, f, Form([q], inside.shape), run)
            back = alone.with_out(alone.out[::-1])
            others = [keys.get(run.key(x)) for x in (alone, back)]
            if any(other is not None and other is not p for other in others):
                return True
    return False

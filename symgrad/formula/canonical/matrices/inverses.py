"""Matrix inverses: of products, and next to what they are the inverse of."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from symgrad.formula.canonical.matrices.kronecker import inverse_of_kron
from symgrad.formula.canonical.matrices.spectra import orthogonal_axes
from symgrad.formula.canonical.normal import Factor, Form, Product, contract_products, relabelled, size_factors
from symgrad.formula.term import SYMBOL, Term
from symgrad.op import lookup

if TYPE_CHECKING:
    from symgrad.formula.canonical.simplify import Canonicaliser

Path = list[tuple[Term, bool]]
"""Matrices that are multiplied one after the other, and whether each is transposed."""


def without_inverses(p: Product, run: Canonicaliser) -> Product:
    """X⁻¹X = I and XX⁻¹ = I, also for X a product, for regular X: the inverse exists in the formula already."""
    while True:
        uses: dict[int, int] = {}
        for f in p.factors:
            for x in f.labels:
                uses[x] = uses.get(x, 0) + 1
        inner = {x for x, n in uses.items() if n == 2 and x not in p.out}
        found = next((m for f in p.factors if (m := _met(f, p, inner, run)) is not None), None)
        if found is None:
            return p
        p = identified(p, *found)


Met = tuple[list[Factor], int, int]
"""Factors whose product is the identity, and the two labels that it makes equal."""


def _met(f: Factor, p: Product, inner: set[int], run: Canonicaliser) -> Met | None:
    """An inverse and what it is the inverse of, side by side."""
    if f.base.op.name != "inv" or f.power != 1 or len(f.labels) != 2:
        return None
    base = f.base.args[0]
    path = run.paths.get(base, [(base, False)])
    turns = (f.labels, f.labels[::-1]) if run.symmetries.symmetric(f.base) else (f.labels,)
    for left, right in turns:
        # M⁻¹M, read from the right label of M⁻¹, and MM⁻¹, read back from the left one.
        for start, stays, steps in ((right, left, path), (left, right, [(t, not turned) for t, turned in path[::-1]])):
            walked = _walked(start, steps, p, inner, run)
            if walked is not None and start != stays:
                return [f, *walked[0]], stays, walked[1]
    return None


def _walked(start: int, path: Path, p: Product, inner: set[int], run: Canonicaliser) -> tuple[list[Factor], int] | None:
    """The factors of a path from a label on, and the label where it ends."""
    used: list[Factor] = []
    for base, turned in path:
        if start not in inner:
            return None
        for g in p.factors:
            if g.base is not base or g.power != 1 or len(g.labels) != 2 or any(g is x for x in used):
                continue
            ends = [g.labels[::-1] if turned else g.labels]
            if run.symmetries.symmetric(base):
                ends += [g.labels, g.labels[::-1]]
            stop = next((b for a, b in ends if a == start and b != start), None)
            if stop is not None:
                used.append(g)
                start = stop
                break
        else:
            return None
    return used, start


def identified(p: Product, gone: Sequence[Factor], left: int, right: int) -> Product:
    """The product without factors whose product is the identity."""
    rest = [x for x in p.factors if not any(x is g for g in gone)]
    factors = relabelled(rest, lambda x: left if x == right else x)
    out = tuple(left if x == right else x for x in p.out)
    coef = p.coef
    if left not in out and all(left not in x.labels for x in factors):
        scale, letters = size_factors(gone[0].base.shape[0])
        coef, factors = coef * scale, [*letters, *factors]
    return Product(coef, factors, out, p.decimal)


def inverses_together(p: Product, run: Canonicaliser) -> Product:
    """(I + S⁻¹A)⁻¹S⁻¹ = (S + A)⁻¹, for regular S: beside S⁻¹ the sum is that of S times it, where that is shorter."""
    for f in p.factors:
        inside = run.insides.get(f.base.args[0]) if _is_inverse(f) else None
        if inside is None or len(inside.terms) > WIDEST:
            continue
        inverted = {h.base for q in inside.terms for h in q.factors if h.base.op.name == "inv"}
        for g in p.factors:
            shared = set(f.labels) & set(g.labels)
            if g.base in inverted and _is_inverse(g) and len(shared) == 1 and _only(shared, p, (f, g)):
                whole = _inverse_of_both(p, f, g, inside, run)
                if whole is not None:
                    rest = p.beside(f, g)
                    made = Product(p.coef * whole.coef, [*rest, *whole.factors], p.out, p.decimal or whole.decimal)
                    return inverses_together(made, run)
    return p


WIDEST = 5
"""Sums with more terms are not multiplied by a matrix."""


def _is_inverse(f: Factor) -> bool:
    return f.base.op.name == "inv" and f.power == 1 and len(set(f.labels)) == 2


def _only(shared: set[int], p: Product, pair: tuple[Factor, Factor]) -> bool:
    """Whether a label is summed over two factors alone."""
    (x,) = shared
    return x not in p.out and not any(x in h.labels for h in p.factors if h not in pair)


def _inverse_of_both(p: Product, f: Factor, g: Factor, inside: Form, run: Canonicaliser) -> Product | None:
    """B⁻¹S⁻¹ as (SB)⁻¹ with the labels that it has in a product, B being a sum; None where SB is no shorter."""
    from symgrad.formula.canonical.rewriting import merged
    from symgrad.formula.canonical.sums.expanding import cost

    (a,), (c,) = ([y for y in h.labels if y not in other.labels] for h, other in ((f, g), (g, f)))
    other = Product(1, [Factor(g.base.args[0], g.labels[::-1])], g.labels[::-1])
    sizes = dict(zip((*f.labels, *g.labels), (*f.base.shape, *g.base.shape), strict=True))
    specs = [g.labels[::-1], f.labels[::-1]]
    found = [merged(contract_products([other, q], specs, (c, a), sizes), run) for q in inside.terms]
    if cost(found) > cost(inside.terms):
        return None
    shape = (sizes[c], sizes[a])
    (made,) = inverse_of(run, run.sum_of(found, shape)).terms
    if made.out[0] == made.out[1]:
        return None  # a diagonal matrix
    start = p.fresh
    names = dict(zip(made.out, (a, c), strict=True))
    return Product(made.coef, relabelled(made.factors, lambda x: names.get(x, start + x)), (a, c), made.decimal)


# ---------------------------------------------------------------------------------------------- inverses of products


def inverse_of(run: Canonicaliser, form: Form) -> Form:
    """The inverse of a matrix form: (cAB)⁻¹ = c⁻¹B⁻¹A⁻¹ for square A, B and c ≠ 0, (Aᵀ)⁻¹ = (A⁻¹)ᵀ, (A⁻¹)⁻¹ = A."""
    if form.shape == (1, 1):
        # A matrix of one entry is its number.
        return run.power(form.restricted(()), -1).spread((), form.shape)
    p = run.product(form)
    scalars = [f for f in p.factors if not f.labels]
    arrays = [f for f in p.factors if f.labels]
    size = form.shape[0]
    if not p.coef:
        return run.opaque(lookup("inv")(run.term(form)))
    front = Product(Fraction(1) / p.coef, [Factor(f.base, (), -f.power) for f in scalars], (), p.decimal)
    bare = Product(1, arrays, p.out)
    of_kron = inverse_of_kron(run, bare)
    if of_kron is not None:
        return run.times(Form([front], ()), of_kron)
    if p.out[0] == p.out[1] and bare_diagonal(bare):
        inner = Product(1, [Factor(f.base, f.labels, -f.power) for f in arrays], p.out)
    else:
        if not is_path(arrays, p.out, size):
            whole = run.packed(bare, form.shape)
            (factor,) = whole.factors
            path = path_of(bare, factor.labels == whole.out)
            if path is not None:
                run.paths[factor.base] = path
            bare = whole
        # The ends change roles, and so do the axes of every factor.
        inner = Product(1, [_inverted(run, f) for f in bare.factors], bare.out[::-1])
    from symgrad.formula.canonical.rewriting import merged

    return run.times(Form([front], ()), Form([merged(inner, run)], form.shape))


def bare_diagonal(p: Product) -> bool:
    """Whether a product is diag(v) of an elementwise v."""
    return all(f.labels == (p.out[0],) for f in p.factors)


def is_path(arrays: Sequence[Factor], out: tuple[int, ...], size: Any) -> bool:
    """Whether square matrices, diagonal ones among them, are multiplied from the first output axis to the second."""
    matrices = [f for f in arrays if len(f.labels) > 1]
    square = out[0] != out[1] and all(f.base.shape == (size, size) for f in matrices)
    met = {x for f in matrices for x in f.labels}
    inside = all(x in met for f in arrays for x in f.labels)
    return square and inside and path_of(Product(1, matrices, out), True) is not None


def path_of(p: Product, forward: bool) -> Path | None:
    """The matrices of a product in order, from the first output axis to the second or back."""
    here, there = p.out if forward else p.out[::-1]
    left, path = list(p.factors), []
    while left:
        found = [f for f in left if here in f.labels]
        if len(found) != 1 or found[0].power != 1 or len(set(found[0].labels)) != 2:
            return None
        (f,) = found
        path.append((f.base, f.labels[0] != here))
        here = f.labels[0] if f.labels[1] == here else f.labels[1]
        left.remove(f)
    return path if path and here == there else None


def _inverted(run: Canonicaliser, f: Factor) -> Factor:
    """The inverse of a matrix factor; its labels stand for the transposed roles.  That of a weight is diagonal."""
    if len(f.labels) == 1:
        return Factor(f.base, f.labels, -f.power)
    if f.base.op is SYMBOL and orthogonal_axes(f.base) == (0, 1):
        # Q⁻¹ = Qᵀ for orthogonal Q.
        return Factor(f.base, f.labels)
    if f.base.op.name == "inv":
        base = f.base.args[0]
    else:
        base = lookup("inv")(f.base)
        if run.symmetries.symmetric(f.base):
            run.symmetries.note(base)
    return Factor(base, f.labels[::-1])

"""Products with orthogonal factors, and functions of eigenvalues between eigenvectors.

For symmetric A = V diag(λ) Vᵀ with ``V = eigh_vectors(A)`` and ``λ = eigvalsh(A)``: V diag(λᵏ) Vᵀ = Aᵏ.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from symgrad.formula.canonical.normal import Factor, Product, relabelled, size_factors
from symgrad.formula.term import SYMBOL, Term
from symgrad.op import lookup

if TYPE_CHECKING:
    from symgrad.formula.canonical.simplify import Canonicaliser


def orthogonal_axes(term: Term) -> tuple[int, ...]:
    """The axes of a matrix over which it contracts with itself to the identity."""
    if term.op is SYMBOL:
        return (0, 1) if term.params.get("structure") == "orthogonal" else ()
    return term.op.orthonormal or () if term.ndim == 2 and not term.complex_dtype else ()


def without_spectra(p: Product, run: Canonicaliser) -> Product:
    """A product in which eigenvectors and orthogonal matrices have met their own transposes."""
    from symgrad.formula.canonical.rewriting import merged

    uses: dict[int, list[Factor]] = {}
    for f in p.factors:
        for x in f.labels:
            uses.setdefault(x, []).append(f)
    for f in p.factors:
        for axis in orthogonal_axes(f.base) if f.power == 1 else ():
            x = f.labels[axis]
            if x in p.out or f.labels[0] == f.labels[1]:
                continue
            pair = [g for g in uses[x] if g is not f and g.base is f.base and g.power == 1 and g.labels[axis] == x]
            if len(pair) != 1 or pair[0].labels[1 - axis] == x:
                continue
            others = [g for g in uses[x] if g is not f and g is not pair[0]]
            if not others:
                return merged(_identified(p, f, pair[0], 1 - axis), run)
            found = _function_of(p, f, pair[0], others, run) if axis == 1 else None
            if found is not None:
                return merged(found, run)
    return p


def without_singular_vectors(p: Product, run: Canonicaliser) -> Product:
    """U diag(σᵏ) Vᵀ for odd k: X for 1, X Xᵀ X for 3 …, always, and X⁻ᵀ for -1 and regular X."""
    from symgrad.formula.canonical.rewriting import merged

    for u in p.factors:
        if u.base.op.name != "svd_u" or u.power != 1 or len(u.labels) != 2:
            continue
        x, inner = u.base.args[0], u.labels[1]
        around = [f for f in p.factors if inner in f.labels and f is not u]
        vh = next((f for f in around if f.base.op.name == "svd_vh" and f.labels[0] == inner and f.power == 1), None)
        s = next((f for f in around if f.base.op.name == "svdvals" and f.power % 2 == 1), None)
        if vh is None or s is None or len(around) != 2 or inner in p.out or x.complex_dtype:
            continue
        square = x.shape[0] == x.shape[1]
        if vh.base.args[0] is not x or s.base.args[0] is not x or s.power < (-1 if square else 1):
            continue
        new = _odd_power(x, int(s.power), (u.labels[0], vh.labels[1]), p)
        rest = [f for f in p.factors if f not in (u, vh, s)]
        place = list(p.factors).index(u)
        return merged(p.with_factors([*rest[:place], *new, *rest[place:]]), run)
    return p


def _odd_power(x: Term, power: int, ends: tuple[int, int], p: Product) -> list[Factor]:
    """Factors of U diag(σᵏ) Vᴴ from label to label."""
    a, b = ends
    fresh = p.fresh
    if power == -1:
        return [Factor(lookup("inv")(x), (b, a))]
    stops = [a, *range(fresh, fresh + power - 1), b]
    return [Factor(x, (i, j) if k % 2 == 0 else (j, i)) for k, (i, j) in enumerate(itertools.pairwise(stops))]


def _identified(p: Product, f: Factor, g: Factor, axis: int) -> Product:
    """Both factors gone, and their other labels equal."""
    left, right = f.labels[axis], g.labels[axis]
    rest = p.beside(f, g)
    factors = relabelled(rest, lambda x: left if x == right else x)
    out = tuple(left if x == right else x for x in p.out)
    coef: Any = p.coef
    if left not in out and all(left not in x.labels for x in factors):
        scale, letters = size_factors(f.base.shape[axis])
        coef, factors = coef * scale, [*letters, *factors]
    return Product(coef, factors, out, p.decimal)


def _function_of(p: Product, f: Factor, g: Factor, others: list[Factor], run: Canonicaliser) -> Product | None:
    """V diag(λᵏ) Vᵀ = Aᵏ, V diag(e^λ) Vᵀ = e^A, V diag(∏ of the other λ) Vᵀ = det(A) A⁻¹, for regular symmetric A."""
    if f.base.op.name != "eigh_vectors" or len(others) != 1 or len(others[0].labels) != 1:
        return None
    (h,) = others
    a = f.base.args[0]
    labels = (f.labels[0], g.labels[0])
    if h.base.op.name == "eigvalsh" and h.base.args[0] is a and isinstance(h.power, int):
        base = lookup("inv")(a) if h.power < 0 else a
        if abs(h.power) > 1:
            base = lookup("matrix_power")(a, n=h.power)
        new = [Factor(base, labels)]
    elif h.base.op.name == "exp" and h.power == 1 and _eigenvalues(h.base.args[0]) is a:
        new = [Factor(lookup("matrix_exp")(a), labels)]
    elif h.base.op.name == "prod_others" and h.power == 1 and _eigenvalues(h.base.args[0]) is a:
        new = [Factor(lookup("det")(a), ()), Factor(lookup("inv")(a), labels)]
    else:
        return None
    for x in new:
        if x.labels:
            run.symmetries.note(x.base)
    run.symmetries.note(a)
    return p.with_factors([*new, *(x for x in p.factors if x not in (f, g, h))])


def _eigenvalues(term: Term) -> Term | None:
    return term.args[0] if term.op.name == "eigvalsh" else None

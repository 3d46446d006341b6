"""Products with orthogonal factors, and functions of eigenvalues between eigenvectors.

For symmetric A = V diag(λ) Vᵀ with ``V = eigh_vectors(A)`` and ``λ = eigvalsh(A)``: V diag(λᵏ) Vᵀ = Aᵏ.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from symgrad.formula.normal import Factor, Product, relabelled, size_factors
from symgrad.formula.term import SYMBOL, Term
from symgrad.op import lookup

if TYPE_CHECKING:
    from symgrad.formula.simplify import Canonicaliser

# Axes along which the sum of products of two columns (rows) is 1 or 0.
_ORTHOGONAL = {"eigh_vectors": (0, 1), "svd_u": (0,), "svd_vh": (1,), "qr_q": (0,)}


def orthogonal_axes(term: Term) -> tuple[int, ...]:
    """The axes of a matrix over which it contracts with itself to the identity."""
    if term.op is SYMBOL:
        return (0, 1) if term.params.get("structure") == "orthogonal" else ()
    return _ORTHOGONAL.get(term.op.name, ()) if term.ndim == 2 and not _complex(term) else ()


def _complex(term: Term) -> bool:
    return term.dtype is not None and term.dtype.kind == "c"


def without_spectra(p: Product, run: Canonicaliser) -> Product:
    """A product in which eigenvectors and orthogonal matrices have met their own transposes."""
    from symgrad.formula.rewriting import merged

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


def _identified(p: Product, f: Factor, g: Factor, axis: int) -> Product:
    """Both factors gone, and their other labels equal."""
    left, right = f.labels[axis], g.labels[axis]
    rest = [x for x in p.factors if x is not f and x is not g]
    factors = relabelled(rest, lambda x: left if x == right else x)
    out = tuple(left if x == right else x for x in p.out)
    coef: Any = p.coef
    if left not in out and all(left not in x.labels for x in factors):
        scale, letters = size_factors(f.base.shape[axis])
        coef, factors = coef * scale, [*letters, *factors]
    return Product(coef, factors, out, p.decimal)


def _function_of(p: Product, f: Factor, g: Factor, others: list[Factor], run: Canonicaliser) -> Product | None:
    """V diag(λᵏ) Vᵀ = Aᵏ, and V diag(∏ of the other λ) Vᵀ = det(A) A⁻¹ for regular symmetric A."""
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
    elif h.base.op.name == "prod_others" and h.power == 1 and _eigenvalues(h.base.args[0]) is a:
        new = [Factor(lookup("det")(a), ()), Factor(lookup("inv")(a), labels)]
    else:
        return None
    for x in new:
        if x.labels:
            run.note_symmetric(x.base)
    run.note_symmetric(a)
    return Product(p.coef, [*new, *(x for x in p.factors if x not in (f, g, h))], p.out, p.decimal)


def _eigenvalues(term: Term) -> Term | None:
    return term.args[0] if term.op.name == "eigvalsh" else None

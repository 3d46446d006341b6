"""The derivative of the matrix exponential in a direction, where it stands in a scalar product."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symgrad.formula.canonical.matrices.commuting import commutes
from symgrad.formula.canonical.normal import Factor, Product, contract_products

if TYPE_CHECKING:
    from symgrad.formula.canonical.simplify import Canonicaliser


def adjoint_directions(p: Product, run: Canonicaliser) -> Product:
    """⟨L(Mᵀ, G), A⟩ = ⟨G, L(M, A)⟩ always, which is ⟨G, A e^M⟩ where A commutes with M; L is exp's derivative."""
    from symgrad.formula.canonical.rewriting import merged

    for f in p.factors:
        known = f.base.op.name == "matrix_exp_frechet" and f.power == 1 and f.base in run.arguments
        found = _moved(p, f, run) if known else None
        if found is not None:
            return merged(found, run)
    return p


def _moved(p: Product, f: Factor, run: Canonicaliser) -> Product | None:
    from symgrad.formula.canonical.reading import exponential

    matrix, direction = run.arguments[f.base]
    *lead, i, j = f.labels
    others = [g for g in p.factors if g is not f and (i in g.labels or j in g.labels)]
    if len(direction.terms) != 1 or i == j or i in p.out or j in p.out or len(others) != 1:
        return None
    (g,) = others
    if set(g.labels) != {i, j} or g.power != 1 or any(axis < len(lead) for axis in matrix.covered()):
        return None
    with_respect_to = Product(1, [Factor(g.base, (0, 1) if g.labels == (i, j) else (1, 0))], (0, 1))
    turned = matrix.restricted((len(lead) + 1, len(lead)))
    if not commutes(with_respect_to, turned, run):
        return None
    rest = [h for h in p.factors if h is not f and h is not g]
    own = tuple(dict.fromkeys([*p.out, *(x for h in rest for x in h.labels)]))
    middle = 1 + max(x for labels in (own, f.labels) for x in labels)
    (power,) = exponential(run, turned).terms
    products = [Product(p.coef, rest, own, p.decimal), direction.terms[0], with_respect_to, power]
    sizes = dict(zip(f.labels, f.base.shape, strict=True)) | {middle: f.base.shape[-1]}
    return contract_products(products, [own, f.labels, (i, middle), (middle, j)], p.out, sizes)

"""The derivative of the matrix exponential in a direction, where it stands in a scalar product."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symgrad.formula.canonical.matrices.commuting import commutes
from symgrad.formula.canonical.normal import Factor, Product, contract_products
from symgrad.formula.term import Term, is_zero

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
    others = [g for g in p.beside(f) if i in g.labels or j in g.labels]
    if len(direction.terms) != 1 or i == j or i in p.out or j in p.out or len(others) != 1:
        return None
    (g,) = others
    if set(g.labels) != {i, j} or g.power != 1 or any(axis < len(lead) for axis in matrix.covered()):
        return None
    with_respect_to = Product(1, [Factor(g.base, (0, 1) if g.labels == (i, j) else (1, 0))], (0, 1))
    turned = matrix.restricted((len(lead) + 1, len(lead)))
    if not commutes(with_respect_to, turned, run):
        return None
    rest, middle = p.without(f, g).open, p.fresh
    (power,) = exponential(run, turned).terms
    products = [rest, direction.terms[0], with_respect_to, power]
    sizes = dict(zip(f.labels, f.base.shape, strict=True)) | {middle: f.base.shape[-1]}
    return contract_products(products, [rest.out, f.labels, (i, middle), (middle, j)], p.out, sizes)


def second_directions(p: Product, run: Canonicaliser) -> Product:
    """⟨A, L²(M, G, D)⟩ = ⟨G, DᵀA e^(Mᵀ)⟩ where D and Aᵀ commute with M; L² is exp's second derivative.

    It is a block of the first: of L([M, G; 0, M], [D, 0; 0, D]) the one in the upper right corner.
    """
    from symgrad.formula.canonical.rewriting import merged

    for f in p.factors:
        blocks = _second(f.base) if f.power == 1 else None
        found = None if blocks is None else _twice_moved(p, f, blocks, run)
        if found is not None:
            return merged(found, run)
    return p


def _second(t: Term) -> tuple[Term, Term, Term] | None:
    """M, G and D of L²(M, G, D) where it stands as a block."""
    if t.op.name != "narrow" or t.args[0].op.name != "narrow" or t.args[0].args[0].op.name != "matrix_exp_frechet":
        return None
    below = t.args[0].args[0]
    matrix, direction = map(_quarters, below.args)
    size, (right, upper) = t.shape[0], (t.params, t.args[0].params)
    corner = (upper["dim"], upper["start"], right["dim"], right["start"]) == (0, 0, 1, size)
    if matrix is None or direction is None or not corner or t.shape != matrix[0].shape:
        return None
    (m, g, low, same), (d, zero, left, alike) = matrix, direction
    if m is not same or d is not alike or not all(is_zero(x) for x in (low, zero, left)):
        return None
    return m, g, d


def _quarters(t: Term) -> tuple[Term, ...] | None:
    """The four blocks of a matrix of two times two blocks of one size, row by row."""
    if t.op.name != "cat" or len(t.args) != 2 or any(row.op.name != "cat" or len(row.args) != 2 for row in t.args):
        return None
    found = tuple(x for row in t.args for x in row.args)
    rows = t.params["dim"] == 0 and all(row.params["dim"] == 1 for row in t.args)
    return found if rows and len({x.shape for x in found}) == 1 and found[0].ndim == 2 else None


def _twice_moved(p: Product, f: Factor, blocks: tuple[Term, Term, Term], run: Canonicaliser) -> Product | None:
    from symgrad.formula.canonical.reading import exponential

    matrix, direction, second = map(run.form_of, blocks)
    i, j = f.labels
    others = [g for g in p.beside(f) if i in g.labels or j in g.labels]
    if len(direction.terms) != 1 or len(second.terms) != 1 or i == j or {i, j} & {*p.out} or len(others) != 1:
        return None
    (g,) = others
    if {*g.labels} != {i, j} or g.power != 1:
        return None
    by = Product(1, [Factor(g.base, (0, 1) if g.labels == (i, j) else (1, 0))], (0, 1))
    turned, also = matrix.restricted((1, 0)), second.restricted((1, 0))
    if not all(commutes(q, form, run) for q, form in ((by, turned), (by, also), (also.terms[0], turned))):
        return None
    rest, first = p.without(f, g).open, p.fresh
    (power,) = exponential(run, turned).terms
    products = [rest, direction.terms[0], also.terms[0], by, power]
    sizes = dict.fromkeys((i, j, first, first + 1), f.base.shape[0])
    specs = [rest.out, (i, j), (i, first), (first, first + 1), (first + 1, j)]
    return contract_products(products, specs, p.out, sizes)

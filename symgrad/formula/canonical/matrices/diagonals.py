"""Diagonals of what is made of differences: xᵢ - xⱼ is 0 where i = j, so that a kernel of distances is k(0) there."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from symgrad.formula.canonical.normal import Factor, Product, plain_power
from symgrad.formula.term import Term, postorder, symbols
from symgrad.op import lookup

if TYPE_CHECKING:
    from symgrad.formula.canonical.simplify import Canonicaliser

DEEPEST = 8
"""Functions inside of each other through which a diagonal goes."""


def on_diagonals(p: Product, run: Canonicaliser) -> Product:
    """A product without the diagonals that are numbers, or scalars of the formula."""
    differences = run.symmetries.differences
    for f in p.factors if differences else ():
        if len(f.labels) < 2 or f.labels[0] != f.labels[1]:
            continue
        if f.base in differences:
            if f.power > 0:
                return Product(0, (), p.out)
        elif len(f.labels) == 2 and not differences.isdisjoint(postorder([f.base])):
            found = _scalar(f.base, run)
            if found is not None and (found.coef or f.power > 0) and f.power == int(f.power):
                return on_diagonals(_with_scalar(p, f, found), run)
    return p


def _with_scalar(p: Product, f: Factor, scalar: Product) -> Product:

    made = [Factor(g.base, (), plain_power(g.power * f.power)) for g in scalar.factors]
    rest = p.replaced([f], made).scaled(Fraction(scalar.coef) ** int(f.power), scalar.decimal)
    return rest if rest.coef else Product(0, (), p.out)


def _scalar(matrix: Term, run: Canonicaliser) -> Product | None:
    """The number that all entries of a diagonal are; None where they are no one number."""
    known = run.symmetries.diagonals
    if matrix not in known:
        known[matrix] = None  # what is asked again on the way has no answer
        form = run.form_of(_diagonal(matrix))
        constant = form.constant
        found = Product(0, (), ()) if constant is not None and not constant.coef else run.product(form)
        known[matrix] = found if all(not g.labels and _is_plain(g.base) for g in found.factors) else None
    return known[matrix]


def _is_plain(scalar: Term) -> bool:
    """Whether a scalar is a name or a function of names, unlike log 0."""
    return scalar.op.kind == "leaf" or bool(symbols(scalar))


def _diagonal(term: Term, depth: int = 0) -> Term:
    """The diagonal of a matrix, by those of what it is made of entry by entry."""
    if term.ndim < 2:
        return term
    if term.op.entrywise and depth < DEEPEST and all(a.ndim < 2 or a.shape == term.shape for a in term.args):
        return term.op(*(_diagonal(a, depth + 1) for a in term.args), **term.params)  # type: ignore[no-any-return]
    return lookup("diagonal")(term, offset=0, dim1=0, dim2=1)  # type: ignore[no-any-return]

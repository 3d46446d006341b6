"""The products of all entries of a vector but two, which second derivatives of products are made of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from symgrad.formula.canonical.normal import Factor, Form, Product
from symgrad.formula.term import Term
from symgrad.op import lookup

if TYPE_CHECKING:
    from symgrad.formula.canonical.simplify import Canonicaliser


def read_prod_others(run: Canonicaliser, term: Term, args: Sequence[Form]) -> Form | None:
    """[∏ₖ xₖ without k = i and k = j]ᵢⱼ is symmetric, always; it is remembered what x is."""
    rows = without_own(term)
    form = run.forms.get(rows) if rows is not None else None
    if form is None or form.shape != term.shape or form.covered() != [1]:
        return None
    made = term.op(run.like(term.args[0], args[0]), **term.params)
    run.arguments[made] = [form.restricted((1,))]
    run.symmetries.note(made)
    return run.opaque(made)


def without_own(term: Term) -> Term | None:
    """The matrix of which an entry is that of its row without those at two places: its own and that of the column."""
    rows = term.args[0] if term.op.name == "prod_others" and term.params["dim"] == 1 and term.ndim == 2 else None
    if rows is None or rows.op.name != "where" or rows.args[1].number != 1:
        return None
    mask, _, own = rows.args
    diagonal = mask.op.name == "ne" and mask.args[0].op.name == "eye" and mask.args[1].number == 0
    return own if diagonal and mask.shape == term.shape else None


def pairs_on_diagonal(p: Product, run: Canonicaliser) -> Product:
    """The product of all entries without k = i and k = i is that of all others, always."""
    for f in p.factors:
        on_diagonal = len(f.labels) == 2 and f.labels[0] == f.labels[1]
        if on_diagonal and f.base in run.arguments and without_own(f.base) is not None:
            (x,) = run.arguments[f.base]
            (others,) = run.form_of(lookup("prod_others")(run.term(x), dim=0)).terms
            if others.coef == 1 and len(others.factors) == 1:
                new = Factor(others.factors[0].base, f.labels[:1], f.power)
                rest = [new if g is f else g for g in p.factors]
                return pairs_on_diagonal(Product(p.coef, rest, p.out, p.decimal), run)
    return p

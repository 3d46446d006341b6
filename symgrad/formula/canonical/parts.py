"""A derivative of arrays by arrays as a sum of products whose Kronecker deltas stay what they are.

Second derivatives are mostly deltas: that of ‖T - U Vᵀ‖² by U is δ_ij (2 Vᵀ V)_kl, a k x k matrix and not one of n k
rows.  After S. Laue, M. Mitterreiter and J. Giesen, "Computing higher order derivatives of matrix and tensor
expressions", NeurIPS 2018.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from symgrad.formula.canonical.normal import Factor, Form, Product, relabelled
from symgrad.formula.canonical.simplify import Canonicaliser, canonical
from symgrad.formula.canonical.sums.expanding import flattened
from symgrad.formula.canonical.writing import components
from symgrad.formula.term import Term
from symgrad.op import Labels


class Part(NamedTuple):
    """The product of ``terms`` with index labels; ``out`` names the axes of the whole.

    A label that stands twice in ``out`` is a Kronecker delta, and one that no term has is a broadcast.  No label is in
    two terms.
    """

    terms: list[Term]
    labels: list[Labels]
    out: Labels


def parts(term: Term) -> list[Part]:
    """The parts whose sum a term is; none for zero.

    Products of one array with the same deltas are one part; those of several stay factors, since their product is
    larger than they are.

    >>> from symgrad.formula.derive import jacobian
    >>> from symgrad.formula.term import symbol
    >>> V, U = symbol("V", ("m", "k")), symbol("U", ("n", "k"))
    >>> parts(jacobian(U @ (V.T @ V), U))
    [Part(terms=[<term matmul(…, V)>], labels=[(1, 2)], out=(0, 1, 0, 2))]
    """
    whole = canonical(term)
    run = Canonicaliser()
    run.run(whole)
    form = run.forms[whole]
    made: list[Part] = []
    alike: dict[Any, list[Product]] = {}
    for p in flattened(form.terms, run.insides):
        arrays = [f for f in p.factors if f.labels]
        groups = components(arrays)
        if len(groups) > 1 and all(_in_order(p.out, group) for group in groups):
            made.append(_apart(run, p, groups, form.shape))
        else:
            renamed = _renamed(p)
            alike.setdefault((renamed.out, _in_order(renamed.out, renamed.factors)), []).append(renamed)
    for (out, inside), products in alike.items():
        own = [Product(p.coef, p.factors, inside, p.decimal) for p in products]
        made.append(Part([_term(run, own, inside, out, form.shape)], [inside], out))
    return made


def _in_order(out: Labels, factors: Sequence[Factor]) -> Labels:
    """The labels of some factors that are free, in the order of the whole's axes."""
    inside = {x for f in factors for x in f.labels}
    return tuple(x for x in dict.fromkeys(out) if x in inside)


def _apart(run: Canonicaliser, p: Product, groups: Sequence[Sequence[Factor]], shape: tuple[Any, ...]) -> Part:
    """A product of several arrays; the numbers in front go with the first."""
    scalars = [f for f in p.factors if not f.labels]
    terms, labels = [], []
    for k, group in enumerate(groups):
        inside = _in_order(p.out, group)
        own = Product(1 if k else p.coef, (*(() if k else scalars), *group), inside, p.decimal and not k)
        terms.append(_term(run, [own], inside, p.out, shape))
        labels.append(inside)
    return Part(terms, labels, p.out)


def _term(run: Canonicaliser, own: Sequence[Product], inside: Labels, out: Labels, shape: tuple[Any, ...]) -> Term:
    return run.term(Form(own, tuple(shape[out.index(x)] for x in inside)))


def _renamed(p: Product) -> Product:
    """Labels numbered as they come in the axes of the whole, so that equal patterns of deltas are equal."""
    names: dict[int, int] = {}
    for x in (*p.out, *(x for f in p.factors for x in f.labels)):
        names.setdefault(x, len(names))
    factors = relabelled(p.factors, names.__getitem__)
    return Product(p.coef, factors, tuple(names[x] for x in p.out), p.decimal)

"""Fourier transforms of Fourier transforms: which of them undo each other, with the sizes that they leave."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from symgrad.formula.canonical.normal import Factor, Form, Product, plain_power, size_factors
from symgrad.formula.term import Term

if TYPE_CHECKING:
    from symgrad.formula.canonical.simplify import Canonicaliser

_SHARE: dict[str, tuple[Fraction | int, Fraction | int]] = {
    "backward": (0, 1),
    "forward": (1, 0),
    "ortho": (Fraction(1, 2), Fraction(1, 2)),
}
"""How often a norm divides the transform, and the inverse one, by the number of entries."""


def read_fourier(run: Canonicaliser, term: Term, args: Sequence[Form]) -> Form | None:
    """𝓕*𝓕x = nx, 𝓕⁻¹𝓕x = x, and 𝓕*(v ⊙ 𝓕⁻*x) = 𝓕⁻¹(v ⊙ 𝓕x), where the sizes cancel, always."""
    front, inner = run.apart(args[0])
    (p,) = inner.terms
    back = [f for f in p.factors if f.power == 1 and f.labels == p.out and _turns_back(f.base, term)]
    if len(back) != 1 or not p.elementwise or back[0].base not in run.arguments:
        return None
    (f,) = back
    (x,) = run.arguments[f.base]
    scalars = p.beside(f)
    if not any(g.labels for g in scalars):
        front = run.times(front, Form([Product(1, scalars, ())], ()))
        left = 1 - _divisions(term) - _divisions(f.base)
        return run.times(run.times(front, run.power(_entries(term), plain_power(left))) if left else front, x)
    if term.params["norm"] == f.base.params["norm"] == "forward":
        plain = {**f.base.params, "norm": "backward"}
        other = run.product(run.linear(f.base.op, f.base.args[0], x, plain))
        factors = [Factor(other.factors[0].base, f.labels) if g is f else g for g in p.factors]
        made = Form([p.with_factors(factors)], inner.shape)
        return run.times(front, run.linear(term.op, run.term(made), made, {**term.params, "norm": "backward"}))
    return None


def _turns_back(t: Term, term: Term) -> bool:
    """Whether one transform is the other way round along the same axes."""
    alike = t.op is term.op and t.shape == term.shape and t.params["dims"] == term.params["dims"]
    return alike and t.params["inverse"] != term.params["inverse"]


def _divisions(t: Term) -> Fraction | int:
    """How often a transform divides by the number of entries."""
    return _SHARE[t.params["norm"]][t.params["inverse"]]


def _entries(t: Term) -> Form:
    """The number of entries that are transformed together."""
    parts = [size_factors(t.shape[k]) for k in t.params["dims"]]
    product = Product(1, [f for _, letters in parts for f in letters], ())
    for number, _ in parts:
        product = product.scaled(number)
    return Form([product], ())

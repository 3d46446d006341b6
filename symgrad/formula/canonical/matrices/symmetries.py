"""Which matrices of a formula equal their transposes, their conjugate transposes, or the negatives of these."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from symgrad.formula.canonical.normal import Factor, Form, Product
from symgrad.formula.canonical.scalars.imaginary import conjugate
from symgrad.formula.structures import is_hermitian, is_symmetric
from symgrad.formula.term import SYMBOL, Term

if TYPE_CHECKING:
    from symgrad.formula.canonical.simplify import Canonicaliser


class Symmetries:
    """What one run knows of them."""

    def __init__(self, run: Canonicaliser) -> None:
        self.run = run
        self.differences: set[Term] = set()
        """Arrays such as xᵢₖ - xⱼₖ, which are their own negatives when their first two axes change places."""
        self.odd: set[Term] = set()
        """Functions of such matrices that are their own negatives, too: sin(xᵢ - xⱼ)."""
        self.centred: dict[tuple[Term, int], bool] = {}
        """Whether the sums of brackets along an axis are 0."""
        self.roots: dict[Term, Term | None] = {}
        """Of which matrix others are functions."""
        self.diagonals: dict[Term, Product | None] = {}
        """The numbers that diagonals of what is made of them are."""
        self._symmetric: dict[Term, bool] = {}
        self._hermitian: dict[Term, bool] = {}

    def symmetric(self, term: Term) -> bool:
        """Whether a matrix equals its transpose: declared so, or made of such entry by entry, or its inverse."""
        found = self._symmetric.get(term)
        if found is None:
            found = term.ndim == 2 and term.shape[0] == term.shape[1] and self._looks_symmetric(term)
            self._symmetric[term] = found
        return found

    def _looks_symmetric(self, term: Term) -> bool:
        if term.op is SYMBOL:
            return is_symmetric(term)
        name = term.op.name
        if name in ("eye", "full") or (name == "einsum" and term.params["output"] == (0, 0)):
            return True
        if term.op.entrywise or name in ("inv", "permute"):
            return all(a.ndim == 0 or self._symmetric.get(a, a.op is SYMBOL and self.symmetric(a)) for a in term.args)
        return False

    def hermitian(self, term: Term) -> bool:
        """Whether a complex matrix is declared equal to its conjugate transpose, or a sum of such, or their inverse."""
        while term.op.name == "inv":
            term = term.args[0]
        if term.op is SYMBOL:
            return is_hermitian(term)
        inside = self.run.insides.get(term)
        if inside is None or len(inside.shape) != 2 or inside.shape[0] != inside.shape[1]:
            return False
        if term not in self._hermitian:
            self._hermitian[term] = False
            self._hermitian[term] = self.run.same(conjugate(self.run, inside).restricted((1, 0)), inside)
        return self._hermitian[term]

    def alike(self, f: Factor) -> int:
        """How many of the first axes of a factor may change places."""
        return 2 if self.symmetric(f.base) or (f.power % 2 == 0 and f.base in self.differences) else 0

    def note(self, term: Term, known: bool = True) -> None:
        """Remember that a matrix equals its transpose."""
        self._symmetric[term] = known

    def note_function(self, made: Term, args: Sequence[Form]) -> None:
        """Remember whether a function of matrices entry by entry equals its transpose."""
        if made.ndim == 2 and made.shape[0] == made.shape[1]:
            turned = [a.restricted((1, 0)) if a.shape else a for a in args]
            self._symmetric[made] = all(map(self.run.same, args, turned))
            if made.op.parity and self.run.same(args[0], turned[0].scaled(-1)):
                # cos(D)ᵀ = cos(D) and sin(D)ᵀ = -sin(D) where Dᵀ = -D, always.
                self._symmetric[made] = made.op.parity == "even"
                if made.op.parity == "odd":
                    self.odd.add(made)

    def note_reduced(self, made: Form, argument: Form, dims: Sequence[int | None], even: bool) -> None:
        """Remember whether a reduction along later axes equals its transpose: ‖xᵢ - xⱼ‖ is ‖xⱼ - xᵢ‖."""
        rank = len(argument.shape)
        if len(made.shape) != 2 or rank < 3 or argument.shape[0] != argument.shape[1] or {0, 1} & {*dims}:
            return
        turned = argument.restricted((1, 0, *range(2, rank)))
        if any(self.run.same(turned, argument.scaled(sign)) for sign in ((1, -1) if even else (1,))):
            self.note(made.terms[0].factors[0].base)

    def upright(self, p: Product) -> Product:
        """A product with Sⱼᵢ = -Sᵢⱼ, for a free axis i, where S is its own negative when it is transposed."""
        if self.odd.isdisjoint(f.base for f in p.factors):
            return p
        place = {x: k for k, x in reversed([*enumerate(p.out)])}
        coef, factors = p.coef, list(p.factors)
        for k, f in enumerate(factors):
            if f.base in self.odd and f.power in (1, -1):
                first, second = (place.get(x, len(place)) for x in f.labels)
                if first > second:
                    factors[k], coef = Factor(f.base, f.labels[::-1], f.power), -coef
        return Product(coef, factors, p.out, p.decimal)

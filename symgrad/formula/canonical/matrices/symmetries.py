"""Which matrices of a formula equal their transposes, and which their conjugate transposes."""

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
            self._symmetric[made] = all(not a.shape or self.run.same(a, a.restricted((1, 0))) for a in args)

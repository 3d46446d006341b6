"""Elementwise parts of formulas: what they are functions of, and what they cost."""

from __future__ import annotations

import functools
from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Any

from symgrad.formula.term import NUMBER, SYMBOL, Term, full, make, number, own_symbol, postorder, substitute
from symgrad.op import lookup
from symgrad.op.operators import WRITTEN

LARGEST = 120
"""Elementwise parts of more terms than this are left as they are."""
VARIABLES = 6
"""So are those of more arrays."""


class Part:
    """The elementwise part of a formula that ends in ``end``: its terms, what it is a function of, and its guards.

    Parts of more terms than ``largest``, and of more arrays than ``widest``, are not known to their end.
    """

    def __init__(self, end: Term, inside: Container[Term], largest: int = LARGEST, widest: int = LARGEST):
        self.end = end
        self.largest = largest
        self.widest = widest
        self.terms: set[Term] = set()
        self.leaves: dict[Term, Term] = {}
        self.kept: dict[Term, None] = {}
        stack = [end]
        while stack and len(self.terms) <= largest and len(self.leaves) <= widest:
            term = stack.pop()
            if term in self.terms:
                continue
            self.terms.add(term)
            if term.op.name == "guard":
                self.kept[term.args[1]] = None
            for a in term.args[:1] if term.op.name == "guard" else term.args:
                if a in inside:
                    stack.append(a)
                elif a not in self.leaves:
                    constant = constant_of(a)
                    self.leaves[a] = own_symbol(str(len(self.leaves))) if constant is None else constant

    @property
    def whole(self) -> bool:
        """Whether it is small enough to be known to its end."""
        return len(self.terms) <= self.largest and len(self.leaves) <= self.widest

    @property
    def known(self) -> bool:
        """Whether it is small enough, and a function of something."""
        variables = sum(mark.op is not NUMBER for mark in self.leaves.values())
        return self.whole and 0 < variables <= VARIABLES

    def scalar(self) -> Term:
        """The same formula of scalars; guards are taken off."""
        image: dict[Term, Any] = dict(self.leaves)
        for term in postorder([self.end], {*self.leaves, *self.kept}):
            args = [image[a] for a in (term.args[:1] if term.op.name == "guard" else term.args)]
            image[term] = args[0] if term.op.name == "guard" else term.op(*args, **term.params)
        return image[self.end]  # type: ignore[no-any-return]

    def bounds(self) -> tuple[tuple[str, float, float], ...]:
        """The variables that never leave an interval, such as a logarithm of softmax, and its ends."""
        bounded = ((mark, t.op.bounds) for t, mark in self.leaves.items() if mark.op is SYMBOL and t.op.bounds)
        return tuple((str(mark.name), *ends) for mark, ends in bounded)

    def price(self, readers: Mapping[Term, Sequence[Term]]) -> int:
        """What its formula costs; functions that others read are computed anyway."""
        return price_of([t for t in self.terms if t.op.name in WRITTEN or self.terms.issuperset(readers.get(t, ()))])

    def own(self, readers: Mapping[Term, Sequence[Term]], ends: Container[Term]) -> set[Term]:
        """The terms that nothing else reads, and so need not be computed where another formula is in its place.

        ``ends`` are read, whoever does.
        """
        found = {self.end}
        for term in reversed(postorder([self.end], self.leaves)):
            if term not in ends and found.issuperset(readers.get(term, ())):
                found.add(term)
        return found

    def filled(self, written: Term, image: dict[Term, Any]) -> Term:
        """A formula of the scalars as one of the arrays; where a guard does not hold, the part is as it was."""
        names = {mark: image[t] for t, mark in self.leaves.items() if mark.op is not NUMBER}
        made: Any = substitute([written], names)[0]
        end = self.end
        if self.kept:
            made = lookup("where")(
                functools.reduce(lookup("logical_and"), map(image.__getitem__, self.kept)), made, image[end]
            )
        constant = constant_of(made)
        if constant is not None and end.dtype is not None:
            return full(end.shape, constant.params["value"], end.dtype)
        if made.shape != end.shape:
            made = lookup("expand")(made, shape=end.shape)
        return make(made.op, made.args, made.params, end.shape, end.dtype) if made.args else made


def constant_of(term: Term) -> Any:
    """A number that fills an array, as a number."""
    while term.op.identity or term.op.name == "expand":
        term = term.args[0]
    if term.op is NUMBER:
        return term
    if term.op.name == "full" and not isinstance(term.params["value"], str):
        return number(term.params["value"])
    return None


def readers_of(order: Sequence[Term]) -> dict[Term, list[Term]]:
    """The terms of an order that read each of its terms."""
    found: dict[Term, list[Term]] = {}
    for term in order:
        for a in term.args:
            found.setdefault(a, []).append(term)
    return found


def price_of(terms: Iterable[Term]) -> int:
    """What terms cost per entry, roughly, in products: functions are dear, operators are not."""
    return sum(1 if t.op.name in WRITTEN else 8 for t in terms if t.args)

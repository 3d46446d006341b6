"""The search for one change of a formula that gives it wanted values.

A change is tried on a given formula, which becomes right by it, or on the exact one, which becomes the given one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from symgrad.check.formulas.changes import Change, Later, changes
from symgrad.errors import SymgradError
from symgrad.formula.term import Term, count, postorder, substitute

BUDGET = 1500
"""Changes that are tried for one diagnosis of a formula of usual size; fewer of a large one."""

Wanted = Callable[[Term], bool]
"""Whether a formula is what is looked for."""

_MISFITS = (SymgradError, ValueError, TypeError, IndexError, KeyError)
"""What ops raise at arguments that do not fit."""


class Search:
    """Single changes of formulas, with one after the other of which a formula is looked at.

    ``symbols`` are those that one in a formula may have been taken for; ``is_defined`` says of a part in the place of
    another whether it has a value: the root of a negative number has none, also where what is made of it does.
    """

    def __init__(
        self,
        symbols: Sequence[Term] = (),
        budget: int = BUDGET,
        is_defined: Callable[[Term], bool] = lambda part: True,
    ):
        self.symbols, self.is_defined = symbols, is_defined
        self.left = budget
        self._users: tuple[Term | None, dict[Term, list[Term]]] = (None, {})

    def found(self, root: Term, wanted: Wanted) -> Change | None:
        """The first change of ``root`` that makes it what is wanted."""
        price = 1 + count(root) // 100
        for change in changes(root, self.symbols):
            self.left -= price
            if self.left < 0:
                return None
            if self.meets(root, change, wanted):
                return change
        return None

    def meets(self, root: Term, change: Change, wanted: Wanted) -> bool:
        """Whether a changed formula is what is wanted."""
        _, part, other, _ = change
        try:
            other = other.term() if isinstance(other, Later) else other
            if not isinstance(other, Term) or part is other:
                return False
            images = [substitute([root], {part: other})[0]]
        except _MISFITS:
            images = []
        images += self.single(root, part, other) if isinstance(other, Term) else []
        return any(isinstance(made, Term) and wanted(made) for made in images) and self.is_defined(other)

    def single(self, root: Term, part: Term, other: Term) -> list[Term]:
        """The formula with one use of a shared part changed."""
        out: list[Term] = []
        for user, made in self._uses(root, part, other):
            alone = [(user, made)] * self._shared(root, part)
            for above, changed in [*alone, *(self._uses(root, user, made) if self._shared(root, user) else ())]:
                try:
                    out.append(substitute([root], {above: changed})[0])
                except _MISFITS:
                    continue
        return out

    def _shared(self, root: Term, part: Term) -> bool:
        return len(self.users(root).get(part, [])) > 1

    def _uses(self, root: Term, part: Term, other: Term) -> Iterator[tuple[Term, Any]]:
        """The terms that use a part, and what they become when they use another."""
        users = self.users(root).get(part, [])
        for user in users if len(users) <= 6 else []:
            try:
                yield user, user.op(*(other if a is part else a for a in user.args), **user.params)
            except _MISFITS:
                continue

    def users(self, root: Term) -> dict[Term, list[Term]]:
        """The terms that use each term of a formula."""
        if self._users[0] is not root:
            found: dict[Term, list[Term]] = {}
            for t in postorder([root]):
                for a in dict.fromkeys(t.args):
                    found.setdefault(a, []).append(t)
            self._users = (root, found)
        return self._users[1]

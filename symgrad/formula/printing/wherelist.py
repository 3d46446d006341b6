"""Where-lists: a formula as short statements with named parts, at any size and depth.

Every shared part and every part at which an expression would become too deep or too long gets a name t1, t2, … (or one
that was chosen, see :mod:`symgrad.formula.printing.naming`); each statement is a small term over symbols, which the
SymPy and LaTeX printers then show on their own.  Linear in the number of distinct parts, without recursion.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from symgrad.formula.canonical.budget import exceeds
from symgrad.formula.printing.naming import Names, named_parts
from symgrad.formula.term import SYMBOL, Term, make, postorder

CANONICAL_BUDGET = 3_000
"""Distinct parts up to which a formula is brought to canonical form before it is shown."""

STATEMENT_DEPTH = 12
STATEMENT_SIZE = 60
"""What one statement may hold before a part of it gets a name."""


def canonical_or_raw(term: Term) -> Term:
    """The canonical form within ``CANONICAL_BUDGET``, else the program as it was run."""
    if exceeds(term, CANONICAL_BUDGET):
        return term
    from symgrad.formula.canonical.simplify import canonical

    found = canonical(term)
    return found if found.shape == term.shape else term


class Statements:
    """A formula cut into statements: ``parts`` are (name, term over symbols), the last of them is the result."""

    def __init__(self, root: Term, shared_from: int = 2, size: int = STATEMENT_SIZE, names: Any = None):
        self.root = root
        self.order = postorder([root])
        self.names = Names(names, self.order)
        self.parts: list[tuple[str, Term]] = []
        self._cut(shared_from, size)

    def _cut(self, shared_from: int, largest: int) -> None:
        uses: dict[Term, int] = {}
        for t in self.order:
            for a in t.args:
                uses[a] = uses.get(a, 0) + 1
        image: dict[Term, Term] = {}
        depth: dict[Term, int] = {}
        size: dict[Term, int] = {}
        for t in self.order:
            args = tuple(image[a] for a in t.args)
            unchanged = all(a is b for a, b in zip(args, t.args, strict=True))
            now = t if unchanged else make(t.op, args, t.params, t.shape, t.dtype)
            depth[t] = 1 + max((depth[a] for a in t.args), default=-1)
            size[t] = 1 + sum(size[a] for a in t.args)
            shared = uses.get(t, 0) >= shared_from and size[t] > 2
            if t is self.root or (t.args and (shared or depth[t] >= STATEMENT_DEPTH or size[t] >= largest)):
                name = self.names.last() if t is self.root else self.names.next()
                self.parts.append((name, now))
                now = make(SYMBOL, (), {"name": name}, t.shape, t.dtype or np.dtype(float))
                depth[t], size[t] = 0, 1
            image[t] = now

    @property
    def symbols(self) -> list[Term]:
        """The symbols of the whole formula."""
        return [t for t in self.order if t.op is SYMBOL]


def where_list(term: Term, names: Any = None) -> list[tuple[Any, Any]]:
    """``(symbol, expression)`` pairs in SymPy: the named parts in order, and the result last.

    The canonical form is shown up to ``CANONICAL_BUDGET`` distinct parts, the program as it was run beyond.
    """
    from symgrad.formula.sympy.expressions import Builder, symbol_expr

    chosen: list[tuple[Term, Term]] = []
    shown = canonical_or_raw(term)
    if isinstance(names, Mapping):
        shown, chosen = named_parts(term, names)
    found = Statements(shown, names=names)
    symbols = [t for t in postorder([term, *(part for _, part in chosen)]) if t.op is SYMBOL]
    letters = Builder([*found.symbols, *symbols]).letters
    pairs = []
    for name, statement in [*((str(z.name), part) for z, part in chosen), *found.parts]:
        builder = Builder((), evaluate=len(found.parts) <= CANONICAL_BUDGET)
        builder.letters = letters
        left = make(SYMBOL, (), {"name": name}, statement.shape, statement.dtype or np.dtype(float))
        pairs.append((symbol_expr(left), builder.built(postorder([statement]))))
    return pairs

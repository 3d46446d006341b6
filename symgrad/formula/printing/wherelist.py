"""Where-lists: a formula as short statements with named parts, at any size and depth.

Every shared part and every part at which an expression would become too deep or too long gets a name t1, t2, … (or one
that was chosen, see :mod:`symgrad.formula.printing.naming`); each statement is a small term over symbols, which the
SymPy and LaTeX printers then show on their own.  Linear in the number of distinct parts, without recursion.
"""

from __future__ import annotations

import collections
from collections.abc import Container, Mapping, Sequence
from typing import Any

import numpy as np

from symgrad.formula.canonical.budget import exceeds
from symgrad.formula.canonical.scalars.collecting import collected
from symgrad.formula.canonical.simplify import canonical
from symgrad.formula.canonical.writing import whole
from symgrad.formula.printing.naming import Names, named_parts
from symgrad.formula.printing.sharing import is_entry
from symgrad.formula.structures import shows_symmetry
from symgrad.formula.term import NUMBER, SYMBOL, Term, make, postorder

CANONICAL_BUDGET = 3_000
"""Distinct parts up to which a formula is brought to canonical form before it is shown."""

STATEMENT_DEPTH = 12
STATEMENT_SIZE = 60
"""What one statement may hold before a part of it gets a name."""


def canonical_or_raw(term: Term) -> Term:
    """The canonical form within ``CANONICAL_BUDGET``, else the program as it was run."""
    if exceeds(term, CANONICAL_BUDGET):
        shorter = None if term.shape else collected(term)
        if shorter is None or exceeds(shorter, CANONICAL_BUDGET):
            return term
        term = shorter
    found = whole(canonical(term), term.shape)
    return found if found.shape == term.shape else term


_THIN = frozenset({"squeeze", "unsqueeze"})
"""What only adds or takes axes of size 1 gets no name, which would not tell them; its argument gets one."""


SMALL_RESULT = 4
"""Nodes of a result, a part of it being one, up to which that part is written in it."""


def _is_short(t: Term, named: Container[Term]) -> bool:
    """Whether a part is a symbol with a number, as short as a name: 2a, n², x/2, 1 - e; or two entries side by side."""
    if t.op.name == "neg":
        t = t.args[0]
    if any(is_entry(a, named) for a in t.args):
        return all(a.op is NUMBER or is_entry(a, named) for a in t.args) and t.op.name in ("mul", "pow")
    kinds = sorted(0 if a.op is NUMBER else 1 if a in named or not a.args else 2 for a in t.args)
    return bool(t.op.entrywise) and kinds == [0, 1]


def _is_call(t: Term) -> bool:
    """Whether an op prints as a function with a name."""
    return t.op.kind not in ("elementwise", "multilinear")


class Statements:
    """A formula cut into statements: ``parts`` are (name, term over symbols), the last of them is the result.

    ``chosen`` are the parts that get a name, where they were chosen; else what is shared, deep or large gets one.
    Where it is cut is found once for all; a statement is written when it is asked for, since few of many are printed.
    """

    def __init__(
        self,
        root: Term,
        shared_from: int = 2,
        size: int = STATEMENT_SIZE,
        names: Any = None,
        order: Sequence[Term] | None = None,
        chosen: Container[Term] | None = None,
    ):
        self.root = root
        self.order = postorder([root]) if order is None else order
        self.names = Names(names, self.order)
        self.named: dict[Term, str] = {}
        if chosen is None:
            self._cut(shared_from, size)
        else:
            self.named = {t: self.names.next() for t in self.order if t in chosen and t is not root}
            self.named[root] = self.names.last()
        self._whole = list(self.named)

    def _cut(self, shared_from: int, largest: int) -> None:
        uses = collections.Counter(a for t in self.order for a in t.args)
        thin = [t for t in self.order if t.op.name in _THIN and t is not self.root]
        for t in reversed(thin):
            uses[t.args[0]] += uses.pop(t) - 1
        # The rows of a matrix of numbers stand in that matrix.
        rows = {a for t in self.order if t.op.name == "stack" for a in t.args if a.op.name == "stack" and uses[a] == 1}
        depth: dict[Term, int] = {}
        size: dict[Term, int] = {}
        for t in self.order:
            deep, large = 0, 1
            for a in t.args:
                deep, large = max(deep, depth[a] + 1), large + size[a]
            shared = uses[t] >= shared_from and (large > 2 or (large == 2 and uses[t] > 2 and _is_call(t)))
            shared = shared and not _is_short(t, self.named) and not is_entry(t, self.named)
            large_or_deep = deep >= STATEMENT_DEPTH or large >= (STATEMENT_SIZE if t in rows else largest)
            whole = t.op.name not in _THIN and (shared or large_or_deep)
            if t is self.root or (t.args and whole):
                self.named[t] = self.names.last() if t is self.root else self.names.next()
                deep, large = 0, 1
            depth[t], size[t] = deep, large
            if t is self.root:
                self._join_last(uses, 1 + sum(size[a] for a in t.args))

    def _join_last(self, uses: Mapping[Term, int], large: int) -> None:
        """Take the name of the last part away where the result is little more than that part: t/n, tr(t)/2, Aᵀ t."""
        beside = [self.root, *postorder(self.root.args, self.named)]
        for last in [*self.named][-2:-1]:
            if large <= SMALL_RESULT and uses[last] == 1 and any(last in t.args for t in beside):
                del self.named[last]

    def __len__(self) -> int:
        return len(self._whole)

    def part(self, k: int) -> tuple[str, Term]:
        """The name of a part and what it is, in terms of those before it."""
        whole = self._whole[k]
        image: dict[Term, Term] = {}
        for t in (*postorder(whole.args, self.named), whole):
            args = tuple([image[a] if a in image else self._symbol(a) for a in t.args])
            image[t] = t.with_args(args)
        return self.named[whole], image[whole]

    def _symbol(self, part: Term) -> Term:
        params = {"name": self.named[part]} | ({"structure": "symmetric"} if shows_symmetry(part) else {})
        return make(SYMBOL, (), params, part.shape, part.dtype or np.dtype(float))

    @property
    def parts(self) -> list[tuple[str, Term]]:
        """All parts."""
        return [self.part(k) for k in range(len(self))]

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
        builder = Builder((), evaluate=len(found.order) <= CANONICAL_BUDGET)
        builder.letters = letters
        left = make(SYMBOL, (), {"name": name}, statement.shape, statement.dtype or np.dtype(float))
        pairs.append((symbol_expr(left), builder.built(postorder([statement]))))
    return pairs

r"""Vectors and matrices that depend on indices: the rows ``a_i`` of a matrix, the matrices ``A_b`` of a batch.

A :class:`Family` is a product in index notation of which some letters are the axes of the vector or matrix itself.
Those letters have fixed names, so that columns meet columns and rows meet rows, and the products of matrix notation
are sums over them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from symgrad.errors import FormulaError
from symgrad.formula.reading.indices import Indexed, entry_by_entry, identity
from symgrad.formula.reading.values import Value, op
from symgrad.formula.term import Term

FIRST, SECOND, MEETING, BATCH = "·0", "·1", "·2", "·b"
"""The letters of the axes of a vector or matrix, of the axis that a product sums over, and of a batch."""

_OWN = {"s": (), "v": (FIRST,), "r": (FIRST,), "m": (FIRST, SECOND)}
_TURNED = {"v": "r", "r": "v"}


class Family:
    """Entries with a kind: "v", "r" or "m", whose own axes are the letters ``FIRST`` and ``SECOND``."""

    def __init__(self, kind: str, entries: Indexed):
        self.kind = kind
        self.entries = entries

    @property
    def term(self) -> Term:
        """A family is not one array, and functions of whole arrays do not take it."""
        raise FormulaError("vectors and matrices with an index cannot stand here; write the indices of all entries")

    @property
    def own(self) -> tuple[str, ...]:
        """The letters that are axes of each member."""
        return _OWN[self.kind]

    @property
    def letters(self) -> tuple[str, ...]:
        """The letters that say which member it is."""
        return tuple(x for x in self.entries.letters if x not in (FIRST, SECOND))

    def repeated(self) -> tuple[str, ...]:
        """The letters that stand more than once, but for those of the members' axes."""
        return tuple(x for x in self.entries.repeated() if x not in (FIRST, SECOND, BATCH))

    def summed(self, letters: Iterable[str]) -> Any:
        """The sum over members; an ordinary value when all are summed."""
        return settled(Family(self.kind, self.entries.summed(letters)))

    def contracted(self, free: Sequence[str]) -> Term:
        """The array of all members, whose first axes are the letters ``free``."""
        return self.entries.contracted((*free, *self.own))

    def transposed(self) -> Family:
        """The transposes of all members."""
        if self.kind == "m":
            return Family("m", _renamed(self.entries, {FIRST: SECOND, SECOND: FIRST}))
        return Family(_TURNED.get(self.kind, self.kind), self.entries)

    def combined(self, function: Callable[..., Any], values: Sequence[Any]) -> Any:
        """A function of the entries of families of one kind, and of numbers."""
        sizes = {x: n for t, row in self.entries.operands for x, n in zip(row, t.shape, strict=True)}
        made = [_sized(a, sizes) for a in values]
        kinds = {f.kind for f in made} - {"s"}
        if len(kinds) > 1:
            raise FormulaError("columns, rows and matrices do not add entry by entry")
        kind = kinds.pop() if kinds else "s"
        return settled(Family(kind, entry_by_entry(function, [f.entries for f in made])))

    def members(self) -> tuple[tuple[str, ...], Term]:
        """The letters of the members, and the array of all of them with the members' own axes last."""
        return self.letters, self.contracted(self.letters)

    def each(self, kind: str, function: Callable[[Term], Any]) -> Any:
        """A function of each member, along the last axes of an array, that gives members of a kind."""
        letters, term = self.members()
        return settled(Family(kind, Indexed([(function(term), (*letters, *_OWN[kind]))])))


def settled(family: Family) -> Any:
    """Entries for numbers, and an ordinary value for a family without indices."""
    if family.kind == "s":
        return family.entries if family.entries.letters else Value("s", family.entries.contracted(()))
    if family.letters == (BATCH,):
        return Value("t", family.contracted((BATCH,)))
    return family if family.letters else Value(family.kind, family.contracted(()))


def rows(term: Term, letters: Sequence[str], columns: bool = False) -> Family:
    """The vectors (of an array with one axis more than letters) or matrices that the indices of some axes pick."""
    left = term.ndim - len(letters)
    kind = {1: "v", 2: "m"}[left]
    own = _OWN[kind]
    return Family(kind, Indexed([(term, (*own, *letters) if columns else (*letters, *own))]))


def family_of(a: Any) -> Family:
    """Any value as a family; of an array with three axes the first one numbers the members."""
    if isinstance(a, Family):
        return a
    if isinstance(a, Indexed):
        return Family("s", a)
    kind = {"o": "s", "or": "s", "oo": "s"}.get(a.kind, a.kind)
    if kind == "t" and a.term.ndim == 3:
        return Family("m", Indexed([(a.term, (BATCH, FIRST, SECOND))]))
    if kind not in _OWN:
        raise FormulaError("ones, I and arrays of more axes do not mix with rows and batches here")
    return Family(kind, Indexed([(a.term, _OWN[kind])]))


def has_families(*values: Any) -> bool:
    """Whether some of the values are families."""
    return any(isinstance(a, Family) for a in values)


def product(a: Any, b: Any) -> Any:
    """The product of two values of which one is a family, member by member."""
    for one, other in ((a, b), (b, a)):
        if isinstance(one, Value) and one.kind == "eye":
            return settled(Family(other.kind, other.entries.times(one.term)))
    if isinstance(b, Value) and b.kind == "o" and a.kind in ("r", "m"):
        last = a.own[-1]
        return settled(Family("s" if a.kind == "r" else "v", a.entries.summed([last]).times(b.term)))
    if isinstance(a, Value) and a.kind == "or" and b.kind in ("v", "m"):
        left = b.entries.summed([FIRST]).times(a.term)
        return settled(Family("s", left) if b.kind == "v" else Family("r", _renamed(left, {SECOND: FIRST})))
    x, y = family_of(a), family_of(b)
    if "s" in (x.kind, y.kind):
        return settled(Family(y.kind if x.kind == "s" else x.kind, x.entries.times(y.entries)))
    rule = _PRODUCTS.get((x.kind, y.kind))
    if rule is None:
        names = {"v": "columns", "r": "rows", "m": "matrices"}
        raise FormulaError(f"{names[x.kind]} and {names[y.kind]} have no product in this order")
    left, right, kind = rule
    both = _renamed(x.entries, left).times(_renamed(y.entries, right))
    return settled(Family(kind, both if not left else both.summed([MEETING])))


_PRODUCTS: dict[tuple[str, str], tuple[dict[str, str], dict[str, str], str]] = {
    ("r", "v"): ({FIRST: MEETING}, {FIRST: MEETING}, "s"),
    ("m", "v"): ({SECOND: MEETING}, {FIRST: MEETING}, "v"),
    ("r", "m"): ({FIRST: MEETING}, {FIRST: MEETING, SECOND: FIRST}, "r"),
    ("m", "m"): ({SECOND: MEETING}, {FIRST: MEETING}, "m"),
    ("v", "r"): ({}, {FIRST: SECOND}, "m"),
}  # fmt: skip
"""What the letters of both factors become, and the kind of the product."""


def _sized(a: Any, sizes: dict[str, Any]) -> Family:
    """A value as a family, where I has the size of the axes beside it."""
    if isinstance(a, Value) and a.kind == "eye" and FIRST in sizes:
        return Family("m", identity(sizes[FIRST], (FIRST, SECOND)).times(a.term))
    return family_of(a)


def norm(a: Family, p: Any) -> Any:
    """The norm of each member."""
    dims = len(a.own)
    return a.each("s", lambda t: op("norm", t, p=p, dim=tuple(range(t.ndim - dims, t.ndim)), keepdim=False))


def total(a: Family) -> Any:
    """The sum of the entries of each member."""
    return settled(Family("s", a.entries.summed(a.own)))


def trace(a: Family) -> Any:
    """The trace of each member."""
    return settled(Family("s", _renamed(a.entries, {SECOND: FIRST}).summed([FIRST])))


def diagonal(a: Family) -> Any:
    """The diagonal matrix of each column, or the diagonal of each matrix."""
    letters, term = a.members()
    if a.kind == "m":
        return a.each("v", lambda t: op("diagonal", t, offset=0, dim1=t.ndim - 2, dim2=t.ndim - 1))
    eye = identity(term.shape[-1], (FIRST, SECOND))
    return Family("m", Indexed([(term, (*letters, FIRST))]).times(eye))


def _renamed(entries: Indexed, letters: dict[str, str]) -> Indexed:
    made = [(t, tuple(letters.get(x, x) for x in row)) for t, row in entries.operands]
    return Indexed(made, [(letters.get(x, x), letters.get(y, y)) for x, y in entries.deltas])

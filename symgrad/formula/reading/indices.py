"""Index notation: products of entries such as ``A_{ij} x_j``, and what sums and functions make of them.

An :class:`Indexed` has one letter per axis, so that axes are told apart by their letters and not by their places.  It
is what the readers of LaTeX and of SymPy's ``Sum`` and ``Indexed`` build; the result is an ordinary term once the order
of the free letters is stated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from symgrad.errors import FormulaError, ShapeError
from symgrad.formula.term import Term, apply
from symgrad.op import lookup

Operand = tuple[Term, tuple[str, ...]]


def op(name: str, *args: Any, **params: Any) -> Any:
    """Apply an op of the table to terms."""
    return apply(lookup(name), args, params)


class Indexed:
    """A product in index notation: operands with a letter per axis, and pairs of equal letters."""

    kind = "indexed"

    def __init__(self, operands: Sequence[Operand], deltas: Sequence[tuple[str, str]] = ()):
        self.operands = list(operands)
        self.deltas = list(deltas)

    @property
    def letters(self) -> tuple[str, ...]:
        """The letters of all operands, in order of appearance."""
        return tuple(dict.fromkeys(x for _, row in self.operands for x in row))

    @property
    def term(self) -> Term:
        """Entries are not one array, and functions of whole arrays do not take them."""
        raise FormulaError("entries with indices cannot stand here; write the indices of all arrays")

    def transposed(self) -> Indexed:
        """The same: entries are numbers."""
        return self

    def repeated(self) -> tuple[str, ...]:
        """The letters that stand more than once."""
        rows = [x for _, row in self.operands for x in row]
        return tuple(x for x in self.letters if rows.count(x) > 1)

    def times(self, other: Indexed | Term) -> Indexed:
        """The product with another one, or with a scalar."""
        if isinstance(other, Indexed):
            return Indexed(self.operands + other.operands, self.deltas + other.deltas)
        if other.shape:
            raise FormulaError("an array without indices has no product with entries; write its indices too")
        return Indexed([*self.operands, (other, ())], self.deltas)

    def contracted(self, free: Sequence[str]) -> Term:
        """The array whose axes are the letters ``free``; all others are summed.

        A free letter that stands nowhere is an axis of size 1, which broadcasts.
        """
        same = {b: a for a, b in self.deltas}
        labels: dict[str, int] = {}
        rows = [tuple(labels.setdefault(x, len(labels)) for x in row) for _, row in self.operands]
        sizes = _sizes(self.operands)
        output = tuple(y for x in free if (y := same.get(x, x)) in labels)
        out: Any = op(
            "einsum", *(t for t, _ in self.operands), inputs=tuple(rows), output=tuple(labels[x] for x in output),
            shape=tuple(sizes[x] for x in output),
        )  # fmt: skip
        for k, x in enumerate(free):
            if same.get(x, x) not in labels:
                out = op("unsqueeze", out, dim=k)
        return out  # type: ignore[no-any-return]

    def with_identities(self, known: dict[str, Any]) -> Indexed:
        """The same with identity matrices for its deltas; ``known`` are the sizes of letters."""
        found = Indexed(self.operands)
        for pair in self.deltas:
            size = next((known[x] for x in pair if x in known), None)
            if size is None:
                raise FormulaError(
                    f"nothing tells how many values the indices of the delta of {' and '.join(pair)} have"
                )
            found = found.times(identity(size, pair))
        return found

    def summed(self, letters: Iterable[str]) -> Indexed:
        """The sum over some letters; one that stands nowhere is an error."""
        gone = set(letters)
        missing = sorted(gone - set(self.letters))
        if missing:
            raise FormulaError(f"the sum over {missing[0]} has no index {missing[0]}")
        return self.settled(tuple(x for x in self.letters if x not in gone))

    def settled(self, free: Sequence[str] | None = None) -> Indexed:
        """The same as one array with each of its letters once."""
        free = self.letters if free is None else tuple(free)
        if len(self.operands) == 1 and not self.deltas and self.operands[0][1] == free:
            return self
        return Indexed([(self.contracted(free), free)])


def identity(size: Any, pair: tuple[str, str]) -> Indexed:
    """Kronecker's delta of two letters whose axes have a size."""
    return Indexed([(op("eye", n=size, dtype="float64"), pair)])


def entry_by_entry(function: Callable[..., Any], values: Sequence[Indexed | Term]) -> Indexed:
    """A function of entries; scalars have no letters."""
    parts: list[Operand] = []
    known = _sizes([x for value in values if isinstance(value, Indexed) for x in value.operands])
    for value in values:
        if isinstance(value, Indexed):
            parts += value.with_identities(known).settled().operands
        elif value.shape:
            raise FormulaError("entries with indices and arrays without do not mix; write the indices of all arrays")
        else:
            parts.append((value, ()))
    letters = tuple(_sizes(parts))
    return Indexed([(function(*(_spread(t, row, letters) for t, row in parts)), letters)])


def without_own(term: Term, own: tuple[str, ...], letters: tuple[str, ...]) -> Indexed:
    r"""``\prod_{k \ne i, j}`` and ``\prod_{k \le j, k \ne i}``: products without entries, all of them or up to one."""
    bound, first, last = letters[0], letters[-1], letters[2]
    kind = "cumprod" if letters[1] == r"\le" else "prod_others"
    if kind == "prod_others":
        first, last = last, first
    n = term.shape[own.index(bound)]
    rows = op("expand", _spread(term, own, (first, bound)), shape=(n, n))
    rest = op("where", op("ne", op("eye", n=n, dtype="float64"), 0), 1, rows)
    return Indexed([(op(kind, rest, dim=1), (first, last))])


def _sizes(operands: Sequence[Operand]) -> dict[str, Any]:
    """The size of each letter, which is one at all places."""
    sizes: dict[str, Any] = {}
    for t, row in operands:
        for x, n in zip(row, t.shape, strict=True):
            if sizes.setdefault(x, n) != n:
                raise ShapeError(f"the index {x} runs over {sizes[x]} entries at one place and over {n} at another")
    return sizes


def _spread(term: Term, own: tuple[str, ...], letters: tuple[str, ...]) -> Any:
    """A term with its axes in the order of ``letters``, axes of size 1 for those that it does not have."""
    if not own or own == letters:
        return term
    order = [x for x in letters if x in own]
    if tuple(order) != own:
        term = op("permute", term, dims=tuple(own.index(x) for x in order))
    out: Any = term
    first = letters.index(order[0])
    for k, x in enumerate(letters[first:]):
        if x not in own:
            out = op("unsqueeze", out, dim=k)
    return out

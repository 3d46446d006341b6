"""The conditions under which a formula holds: branches that were taken, indices that were chosen, kinks avoided."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from symgrad.errors import CompileError, ShapeError, SymgradError
from symgrad.formula.term import SYMBOL, Term, evaluate, number, symbols
from symgrad.notices import notice_once
from symgrad.op import lookup
from symgrad.ops.indexing.getitem import Index
from symgrad.tape.formulas.below import nodes_below
from symgrad.tape.formulas.fitting import asked, has_sizes
from symgrad.tape.formulas.origin import origin_of
from symgrad.tape.formulas.reading import Reading, read
from symgrad.tape.graph import Node, Source
from symgrad.tape.record import value_of
from symgrad.tape.watching.looks import DECIDED, FAILED, Look, looks
from symgrad.tape.watching.taken import is_told, is_used

_WORDS = {
    "ties": "the largest or chosen entries of {0} are distinct", "all equal": "the entries of {0} are not all equal",
    "zero vector": "{0} is not zero",
}  # fmt: skip


@dataclass(frozen=True)
class Condition:
    """One condition.

    ``kind`` is "branch" (a truth value that the program asked for), "size" (what it asked of sizes), "index" (an index
    made of values), "value" (a number taken out of a tensor) or "kink" (a point at which the derivative jumps).
    ``term`` is the condition as a formula, or None where it is ``words`` (in which ``{0}`` stands for the formula
    ``about``); ``where`` is the line of the program, or the op with the kink.
    """

    kind: str
    term: Term | None
    words: str
    where: str
    about: Term | None = None

    @property
    def expr(self) -> Any:
        """The condition as a SymPy relation, or None where it is words."""
        from symgrad.formula.sympy.expressions import as_condition, to_sympy

        return None if self.term is None else as_condition(to_sympy(self.term))

    def latex(self) -> str:
        """The condition in LaTeX."""
        from symgrad.formula.printing.latex import latex

        if self.term is not None:
            return latex(self.term)
        before, here, after = self.words.partition("{0}")
        middle = latex(self.about) if here and self.about is not None else ""
        return "".join(rf"\text{{{t}}}" if k != 1 else t for k, t in enumerate((before, middle, after)) if t)

    def unicode(self) -> str:
        """The condition as text with mathematical signs."""
        from symgrad.formula.printing.formats import spelled

        return spelled(self.latex(), "unicode")

    def __str__(self) -> str:
        return f"{self.unicode()}  ({self.kind}: {self.where})"


class Conditions(Sequence[Condition]):
    """All conditions of a formula; a text with one line for each, empty when the formula holds always."""

    def __init__(self, found: Sequence[Condition], symbols: Sequence[Term] = ()):
        self._found = tuple(dict.fromkeys(found))
        self._shapes = {str(s.name): s.shape for s in symbols}

    def __getitem__(self, k: Any) -> Any:
        return self._found[k]

    def __len__(self) -> int:
        return len(self._found)

    def __iter__(self) -> Iterator[Condition]:
        return iter(self._found)

    @property
    def expr(self) -> Any:
        """All conditions that have a formula, joined by SymPy's ``And``; of arrays they hold for every entry."""
        import sympy as sp

        return sp.And(*(c.expr for c in self if c.term is not None))

    def latex(self) -> str:
        """All conditions in LaTeX, separated by commas."""
        return r",\quad ".join(c.latex() for c in self)

    def note(self) -> str:
        """All conditions as the line below a formula."""
        return rf"\text{{valid where}}\; {self.latex()}"

    def hold(self, **values: Any) -> bool:
        """Whether all conditions that have a formula hold at other values of the symbols."""
        known = {name: np.asarray(value)[()] for name, value in values.items()}
        sizes = {
            letter: n
            for name, value in known.items()
            for letter, n in zip(self._shapes.get(name, ()), np.shape(value), strict=False)
            if isinstance(letter, str)
        }
        return all(bool(np.all(evaluate(c.term, known, sizes))) for c in self if c.term is not None)

    def __str__(self) -> str:
        return "\n".join(map(str, self))

    def __repr__(self) -> str:
        return str(self) or "no conditions"


def valid_when(tensor: Any) -> Conditions:
    """The conditions of a recorded tensor's formula."""
    origin = origin_of(tensor)
    reading, _ = read(tensor)
    by = [reading[edge].name for _, edge in origin] if isinstance(origin, list) else []
    return conditions(reading, tensor._node is None and origin is not None, by)


def conditions(reading: Reading, derivative: bool, by: Sequence[Any] = ()) -> Conditions:
    """The conditions of a graph that was read; those of its kinks, when the formula is a derivative of it.

    ``by`` are the names of the symbols by which it is the derivative, where they are known.
    """
    seen = looks_before(reading)
    found = [_of_look(look, reading) for look in seen if look.how not in _ARRAYS or _is_used(look)]
    found += [Condition("size", _shown(term), "", "sizes") for term in asked(reading) if has_sizes(term)]
    nodes = reading.nodes if derivative else _differentiated(reading)
    for node in nodes:
        found += _kinks(node, reading, frozenset(by))
    return Conditions(found, reading.symbols)


def looks_before(reading: Reading, names: Collection[str] = (), alone: float = 0) -> list[Look]:
    """What the program looked at of the leaves of a graph until the last of it was recorded.

    Of leaves ``alone``, which are no younger for being a result, until then.  And of the last constants with these
    ``names``, such as labels of which lists were made, which no graph knows.
    """
    since, until = reading.span or (0, max((node.sequence_nr for node in reading.nodes), default=alone))
    rows = [(look, look.alive()) for look in looks() if since <= look.at < until]
    named = {name: id(leaf) for _, row in rows for leaf in row if (name := getattr(leaf, "name", None)) in names}
    mine = {*map(id, reading.leaves), *named.values()}
    return [look for look, row in rows if not mine.isdisjoint(map(id, row))]


def choices_of(reading: Reading, names: Collection[str] = ()) -> Iterator[tuple[Term, Any, str]]:
    """The values on which the program chose the way that a graph is, as terms, with what they were and how it looked.

    A number that was taken out counts where the graph has it, or the text of the program computes with it: a loop that
    prints its losses chooses nothing.
    """
    numbers: set[Any] | None = None
    for look in looks_before(reading, names, math.inf):
        if look.how not in _CHOOSING:
            numbers = _numbers(reading.nodes) if numbers is None else numbers
            entries = [] if look.seen is None or look.how in _ARRAYS else look.seen.ravel().tolist()
            stands = not numbers.isdisjoint(entries)
            if not stands and not _is_used(look):
                if look.site is not None and not is_told(look.site[0]):
                    notice_once(UNTOLD.format(look.where))
                continue
        edge = look.edge(deep=True)
        if edge is not None:
            try:
                reading.also(edge)
                term = reading[edge]
            except ShapeError as error:
                raise CompileError(
                    f"what the run decided by values at {look.where} cannot be asked at other sizes ({error}). Compile "
                    "the function in place of its result, or record it where no two sizes are equal."
                ) from error
            seen = _once_more(term, reading) if look.seen is None else look.seen
            if seen is not None:
                yield term, seen, look.how


def _is_used(look: Look) -> bool:
    """Whether the text of the program computes with what was taken out."""
    return look.site is not None and is_used(*look.site, look.how in _ARRAYS)


UNTOLD = (
    "A number was taken out of a tensor at {}, and no file tells what becomes of it: what Python computed of it is the "
    "number of this run in the program. Compile the function that computes the tensor, whose program follows it."
)
"""Said where the text of a program cannot be read."""

_CHOOSING = ("bool()", "in", "an index", "int()", DECIDED, FAILED)
"""Looks on which a way depends, whatever numbers there are in the graph: masks, loops of so many steps, places."""


_ARRAYS = ("numpy()", "np.asarray()")
"""Looks that give no numbers, of which some may be among those of the graph."""


def _once_more(term: Term, reading: Reading) -> Any:
    """What was seen of a value that nobody keeps: its leaves have the values of that time."""
    values = {}
    for name, leaf in reading.sources.items():
        alive = leaf.ref() if isinstance(leaf, Source) else leaf
        values[name] = value_of(leaf.kept if alive is None else alive)
    sizes = {letter: n for n, letter in reading.letters.items()}
    try:
        return np.asarray(evaluate(term, values, sizes))
    except SymgradError:
        return None


def _numbers(nodes: Sequence[Node]) -> set[Any]:
    """The numbers in a graph: operands, and those in parameters and indices."""
    found: set[Any] = set()
    for node in nodes:
        rest: list[Any] = [*node.args, *(node.params or {}).values()]
        while rest:
            item = rest.pop()
            if isinstance(item, (tuple, Index)):
                rest += item.parts if isinstance(item, Index) else item
            elif isinstance(item, slice):
                rest += (item.start, item.stop, item.step)
            elif isinstance(item, (int, float, complex)):
                found.add(item)
            elif isinstance(item, Source) and item.kept is not None and not np.ndim(item.kept):
                found.add(np.asarray(item.kept).item())
    return found


def _differentiated(reading: Reading) -> list[Node]:
    """What recorded passes went through, whose results stand in the graph: the derivative knows it no more."""
    passes = {id(p): p for node in reading.nodes if (p := getattr(node.args, "origin", None)) is not None}
    roots = [root for p in passes.values() for root in p.roots if isinstance(root, Node)]
    for root in roots:
        reading.also(root)
    return nodes_below(roots)[0]


def _of_look(look: Look, reading: Reading) -> Condition:
    """What must be as it was when the program looked."""
    edge = look.edge()
    kind = {"bool()": "branch", "an index": "index"}.get(look.how, "value")
    if edge is None or look.seen is None:
        what = "a value of many operations" if look.rows is None or look.many else "a value that is gone"
        return Condition(kind, None, f"{what} is as it was", look.where)
    reading.also(edge)
    term = reading[edge]
    if kind == "branch":
        return branch(term, bool(look.seen), look.where)
    if look.seen.ndim == 0:
        value = number(look.seen.item())
        if term.dtype is not None and term.dtype.kind == "b":
            return Condition(kind, _shown(_truth(term, bool(look.seen))), "", look.where)
        return Condition(kind, _shown(lookup("eq")(term, value)), "", look.where)
    values = " ".join(np.array2string(look.seen, separator=", ").split())
    return Condition(kind, None, f"{{0}} is {values}", look.where, _shortest(term))


def branch(term: Term, taken: bool, where: str) -> Condition:
    """The condition that a truth value which the program asked for at ``where`` was ``taken``."""
    return Condition("branch", _shown(_truth(term, taken)), "", where)


def _truth(term: Term, taken: bool) -> Any:
    """The term as a condition that holds."""
    if term.dtype is None or term.dtype.kind != "b":
        return lookup("ne" if taken else "eq")(term, 0)
    if taken:
        return term
    if term.op.opposite is not None:
        return lookup(term.op.opposite)(*term.args)
    return term.args[0] if term.op.name == "logical_not" else lookup("logical_not")(term)


def _kinks(node: Node, reading: Reading, by: frozenset[Any]) -> Iterator[Condition]:
    """The points at which the derivative of one operation jumps."""
    if not node.op.kinks or not node.mask:
        return
    args = [reading[a] for a in node.args]
    if node.op.smooth is not None:
        if all(a.number is None for a in args):
            moving = [i for i in range(len(args)) if node.mask >> i & 1]
            along = [i for i in moving if not by or any(s.name in by for s in symbols(args[i]))]
            if along:
                yield Condition("kink", _shown(node.op.smooth(along, *args)), "", node.op.name)
        return
    names = dict(zip(("x", "y") if len(args) == 2 else ("x", "lo", "hi"), args, strict=False))
    if node.op.name == "clamp_min":
        names["lo"] = args[-1]
    if node.op.name == "clamp_max":
        names["hi"] = args[-1]
    for kink in node.op.kinks:
        if isinstance(kink, str) and kink in _WORDS:
            yield Condition("kink", None, _WORDS[kink], node.op.name, _shortest(args[0]))
        elif isinstance(kink, str) and " = " in kink:
            left, right = (names.get(side) for side in kink.split(" = "))
            if left is not None and right is not None:
                yield Condition("kink", _shown(lookup("ne")(left, right)), "", node.op.name)
        elif isinstance(kink, (int, float)):
            yield Condition("kink", _shown(lookup("ne")(args[0], kink)), "", node.op.name)
        elif isinstance(kink, tuple) and len(kink) == len(args) == 2 and all(a.number is None for a in args):
            # Such a point is one of both arguments: x² has no kink, though x^y has one at (0, 2).
            either = lookup("logical_or")(lookup("ne")(args[0], kink[0]), lookup("ne")(args[1], kink[1]))
            yield Condition("kink", _shown(either), "", node.op.name)


def _shown(term: Term) -> Term:
    """A condition with its two sides in their shortest form."""
    args = [_shortest(a) for a in term.args]
    return term.op(*args, **term.params) if args else term


def _shortest(term: Term) -> Term:
    from symgrad.formula.printing.wherelist import canonical_or_raw

    return term if term.op is SYMBOL or term.number is not None else canonical_or_raw(term)

"""Sizes that the letters of a reading stand for: what was asked of them, and how long axes must be."""

from __future__ import annotations

from collections.abc import Sequence

from symgrad.formula.term import SIZE, Term, postorder
from symgrad.op import lookup
from symgrad.ops.indexing.getitem import Index
from symgrad.ops.indexing.lengths import least_sizes
from symgrad.ops.shapes.sizes import size_value
from symgrad.tape.formulas.reading import Reading
from symgrad.tape.formulas.sizes import Comparison


def compared(reading: Reading, asked: Sequence[Comparison]) -> list[Term]:
    """What a program asked of sizes, once each; numbers are kept, too, which may be others at other sizes."""
    found: dict[Term, None] = {}
    known = _known_sizes(reading) if asked else {}
    for name, left, right, answer in asked:
        sides = reading.number(left, known), reading.number(right, known)
        if sides[0] is not sides[1]:
            op = lookup(name)
            found[(op if answer else lookup(str(op.opposite)))(*sides)] = None
    return list(found)


def has_sizes(term: Term) -> bool:
    """Whether a comparison has sizes, which others may have: two numbers have their answer for good."""
    return any(t.op is SIZE for t in postorder([term]))


def _known_sizes(reading: Reading) -> dict[int, str]:
    """The letters, and what is made of them for the sizes of arrays on the way."""
    made = {
        n: size
        for node in reading.nodes
        for n, size in zip(node.shape, reading.terms[id(node)].shape, strict=False)
        if isinstance(size, str)
    }
    return {**made, **reading.letters}


def misfits(reading: Reading) -> set[int]:
    """Sizes that cannot be letters: at these values, arrays made of them have other shapes than their terms say.

    ``x[2:6]`` has four entries where x has six, and three where it has five.
    """
    values = {letter: n for n, letter in reading.letters.items() if letter.isidentifier()}
    found: set[int] = set()
    for node in reading.nodes:
        row = zip(reading.terms[id(node)].shape, node.shape, strict=False)
        if any(size_value(size, values) != n for size, n in row if size != n):
            below = {n for arg in node.args for n in getattr(arg, "raw_shape", ()) if n in reading.letters}
            found |= below or reading.letters.keys()
    return found


def least_lengths(reading: Reading) -> list[tuple[str, int]]:
    """Sizes of axes, and how long they must be for slices of them to be as long as the terms say, once each."""
    found: dict[tuple[str, int], None] = {}
    for term in postorder(list(reading.terms.values())):
        index = term.params.get("index")
        if isinstance(index, Index) and term.args:
            found |= dict.fromkeys(least_sizes(term.args[0].shape, index))
    return list(found)

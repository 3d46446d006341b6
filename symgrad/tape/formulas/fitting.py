"""Sizes that the letters of a reading stand for: what was asked of them, and how long axes must be."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from symgrad.formula.term import SIZE, Term, number, postorder, size_letter
from symgrad.op import lookup
from symgrad.ops.indexing.getitem import Index, axes_used
from symgrad.ops.indexing.lengths import least_sizes
from symgrad.ops.shapes.sizes import letters_of, size_value
from symgrad.tape.formulas.constants import ops_of
from symgrad.tape.formulas.reading import Reading
from symgrad.tape.formulas.sizes import Comparison, Size, asked_of


def compared(reading: Reading, asked: Sequence[Comparison]) -> list[Term]:
    """What a program asked of sizes, once each; numbers are kept, too, which may be others at other sizes."""
    found: dict[Term, None] = {}
    for known in _known_sizes(reading) if asked else ():
        for name, left, right, answer in asked:
            sides = reading.number(left, known), reading.number(right, known)
            if sides[0] is not sides[1]:
                op = lookup(name)
                found[(op if answer else lookup(str(op.opposite)))(*sides)] = None
    for size, k in reading.shared:
        found[lookup("eq")(lookup("remainder")(size_letter(size), number(k)), number(0))] = None
    return list(found)


def asked(reading: Reading) -> list[Term]:
    """What holds of the sizes of a reading, as a program asked for it; of a recorded graph as far as it is known."""
    if reading.span is not None:
        return reading.compared
    told = asked_of(reading.nodes, reading.leaves, ops_of(reading.recipes.values()))
    found = compared(reading, [*told, *taken_apart(reading.nodes)])
    if reading.beyond:
        reading.unclear = reading.unclear | reading.letters.keys()
    unclear = {reading.letters[n]: n for n in sorted(reading.unclear) if n in reading.letters}
    found += [lookup("eq")(size_letter(letter), number(n)) for letter, n in unclear.items()]
    return found + [lookup("eq")(size_letter(size), size_letter(other)) for size, other in reading.alike]


def has_sizes(term: Term) -> bool:
    """Whether a comparison has sizes, which others may have: two numbers have their answer for good."""
    return any(t.op is SIZE for t in postorder([term]))


def read_by(roots: Sequence[Term], leaves: Iterable[Term], given: Sequence[Term]) -> set[Term]:
    """The leaves that formulas read, or that have a size of theirs in their shape which no ``given`` leaf has."""
    read = set(postorder(roots))
    untold = _letters(read) - _letters(given)
    return {t for t in leaves if t in read or _letters([t]) & untold}


def _letters(terms: Iterable[Term]) -> set[str]:
    sizes = [n for t in terms for n in ((t.params["name"],) if t.op is SIZE else t.shape) if isinstance(n, str)]
    return set().union(*map(letters_of, sizes))


def _known_sizes(reading: Reading) -> list[dict[int, str]]:
    """The letters, and what is made of them for sizes on the way: any of those that are as long may be meant."""
    known = dict(reading.letters)
    others: dict[tuple[int, str], None] = {}
    for node in reading.nodes:
        for n, size in zip(node.shape, reading.terms[id(node)].shape, strict=False):
            if isinstance(size, str) and known.setdefault(n, size) != size:
                others[n, size] = None
    return [known, *({**known, n: size} for n, size in others)]


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


def taken_apart(nodes: Sequence[Any]) -> list[Comparison]:
    """Axes that a program takes apart, as loops over rows and ``split`` do: at other sizes it would go on otherwise."""
    ranges: dict[tuple[int, int], set[tuple[int, int]]] = {}
    sizes: dict[tuple[int, int], int] = {}
    for node in nodes:
        for axis, start, stop in _range_taken(node):
            place = (id(node.args[0]), axis)
            sizes[place] = node.args[0].raw_shape[axis]
            ranges.setdefault(place, set()).add((start, stop))
    apart = {sizes[place] for place, found in ranges.items() if len(found) > 1 and _fill(sorted(found), sizes[place])}
    return [Comparison("eq", Size(n), n, True) for n in sorted(apart)]


def _fill(ranges: list[tuple[int, int]], size: int) -> bool:
    """Whether ranges reach over an axis, in equal steps if there is room between them."""
    (first, end), (second, _) = ranges[:2]
    step = max(second - first, 1)
    for start, stop in ranges[1:]:
        if start > max(end, first + step):
            return False
        first, end = start, max(end, stop)
    return end >= size or (ranges[0][0] < step and first + step >= size)


def _range_taken(node: Any) -> Iterator[tuple[int, int, int]]:
    """The axes of which a node takes an entry, or a range, by numbers from the start: with its start and stop."""
    name, params = node.op.name, node.params or {}
    if any(value.__class__ is Size for value in params.values()):
        return  # which tells its size at other sizes
    if name == "select":
        yield params["dim"], params["index"], params["index"] + 1
    elif name == "narrow":
        yield params["dim"], params["start"], params["start"] + params["length"]
    elif name == "getitem" and not params["index"].fancy:
        axis = 0
        parts = params["index"].parts
        for k, part in enumerate(parts):
            if part is Ellipsis:
                axis = len(node.args[0].raw_shape) - sum(map(axes_used, parts[k + 1 :]))
            elif isinstance(part, int) and part >= 0:
                yield axis, part, part + 1
            elif isinstance(part, slice) and (part.stop or 0) > 0 and (part.start or 0) >= 0 and part.step in (None, 1):
                yield axis, part.start or 0, part.stop
            axis += axes_used(part)


def long_enough(reading: Reading) -> list[Term]:
    """That axes are so long that slices of them are: nobody can run a recorded graph again for shorter ones.

    Axes of no entries at all are left out, as nearly every slice asks for one.
    """
    return [lookup("ge")(size_letter(size), number(least)) for size, least in least_lengths(reading) if least > 1]


def least_lengths(reading: Reading) -> list[tuple[str, int]]:
    """Sizes of axes, and how long they must be for slices of them to be as long as the terms say, once each."""
    found: dict[tuple[str, int], None] = {}
    for term in postorder([*reading.terms.values(), *reading.cut]):
        index = term.params.get("index")
        if term.op.name == "narrow":
            found |= dict.fromkeys(_least_of_range(term))
        elif isinstance(index, Index) and term.args:
            whole = term.args[0] if term.op.name == "getitem" else term  # which parts are taken of, or put into
            found |= dict.fromkeys(least_sizes(whole.shape, index))
    return list(found)


def _least_of_range(term: Term) -> list[tuple[str, int]]:
    """How long the axis must be of which ``narrow`` takes a range of plain numbers: a slice would be shorter."""
    dim, start, length = (term.params[key] for key in ("dim", "start", "length"))
    whole = term.args[0].shape[dim]
    known = isinstance(whole, str) and start.__class__ is int and length.__class__ is int
    return [(whole, start + length)] if known and start + length > 0 else []

r"""Indices in formulas typed by people: ``A_{ij}``, ``x_{i+1}``, ``A_{i:}``, ``\sum_{i=1}^{n}``, ``\sum_{j\ne i}``.

An index is one letter.  The size of a letter is found where it stands at a symbol, at the other letter of a delta, or
in the shape that the whole formula is to have, whose axes belong to the free letters in alphabetical order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

SUMS = (r"\sum", r"\prod")
INDEXED = (*SUMS, r"\max", r"\min")
"""Signs with an index below, which is bound by them."""
WHOLE = (":", r"\cdot", r"\bullet", r"\ast")
"""What stands for all entries along an axis."""


def alphabetical(letters: Iterable[str]) -> list[str]:
    """Letters in the order of the alphabet, small and capital ones alike: F_{iJ} has its axes in that order."""
    return sorted(letters, key=lambda x: (x.lower(), x.isupper()))


class Place(NamedTuple):
    """An index: a letter and what is added to it, a number, or all entries of the axis."""

    letter: str
    shift: int = 0

    @property
    def whole(self) -> bool:
        """Whether it stands for all entries."""
        return not self.letter

    @property
    def fixed(self) -> bool:
        """Whether it is a number; the first entry has number 1."""
        return self.letter == "1"


def subscript_letters(r: Any) -> tuple[str, ...]:
    """The letters after ``_``, where nothing but letters makes sense."""
    places = subscript(r)
    for place in places:
        if place.whole or place.fixed or place.shift:
            raise r.tokens.error("an index is one letter here")
    return tuple(place.letter for place in places)


def subscript(r: Any) -> tuple[Place, ...]:
    """The indices after ``_``."""
    tokens = r.tokens
    tokens.expect("_")
    tokens.expect("{")
    out: list[Place] = []
    while not tokens.found("}"):
        if tokens.found(","):
            continue
        text = tokens.peek()
        if text in WHOLE:
            tokens.take()
            out.append(Place(""))
        elif tokens.kind == "number" and text.isdigit() and "0" not in text:
            out += [Place("1", int(digit) - 1) for digit in tokens.take()]
        elif _is_index(text):
            out.append(Place(tokens.take(), _shift(tokens)))
        else:
            raise tokens.error(
                f"the index {text!r} is not understood: an index is a letter, i+1, a number from 1 or a colon"
                if text
                else "the index has no end"
            )
    return tuple(out)


def _shift(tokens: Any) -> int:
    """What is added to an index, as in ``i+1``."""
    if tokens.peek() not in ("+", "-"):
        return 0
    sign = 1 if tokens.take() == "+" else -1
    if not tokens.peek().isdigit():
        raise tokens.error("a number is expected here, as in i+1")
    return sign * int(tokens.take())


class Range(NamedTuple):
    """The index of a sum: how many entries it leaves out at both ends; ``last`` is the number that it runs to.

    ``size`` is the letter that it runs to, or to so many entries before.
    """

    letter: str
    first: int = 0
    after: int = 0
    last: int | None = None
    size: str = ""


class Limits(NamedTuple):
    r"""What stands below and above a sum sign: indices, and conditions such as ``j \ne i`` between two letters.

    ``where`` is the 1 and 0 of any other condition, as in ``\sum_{i: x_i > 0}``.
    """

    ranges: tuple[Range, ...]
    conditions: tuple[tuple[str, str, str], ...] = ()
    where: Any = None

    @property
    def letters(self) -> tuple[str, ...]:
        """The letters that are summed over."""
        return tuple(x.letter for x in self.ranges)


_BETWEEN = {r"\ne": "ne", "<": "lt", ">": "gt", r"\le": "le", r"\ge": "ge"}


def limits(r: Any) -> Limits:
    r"""What stands below and above a sum sign."""
    tokens = r.tokens
    if tokens.peek() != "_":
        raise tokens.error("a sum sign needs its index, as in \\sum_i x_i")
    tokens.take()
    tokens.expect("{")
    found: dict[str, int] = {}
    conditions: list[tuple[str, str, str]] = []
    base, where = 1, None
    while not tokens.found("}"):
        if tokens.found(",") or tokens.found("(") or tokens.found(")"):
            continue
        if found and tokens.peek() in SUCH_THAT:
            tokens.take()
            if not (_is_index(tokens.peek()) and tokens.peek(1) in _BETWEEN and _is_index(tokens.peek(2))):
                where = _such_that(r, found)
            continue
        if not _is_index(tokens.peek()):
            raise tokens.error(f"{tokens.peek()!r} is no index of a sum")
        letter = tokens.take()
        found.setdefault(letter, 0)
        if tokens.found("="):
            if not tokens.peek().isdigit():
                raise tokens.error("a sum starts with a number, as in \\sum_{i=1}^n")
            start = int(tokens.take())
            base = min(1, start)
            found[letter] = start - base
            r.firsts[letter] = base
        elif tokens.peek() in _BETWEEN and _is_index(tokens.peek(1)):
            relation = _BETWEEN[tokens.take()]
            other = tokens.take()
            conditions.append((letter, relation, other))
            if r.scalar and other not in r.bound:
                found.setdefault(other, 0)
        elif tokens.found(r"\in"):
            if r.asked and tokens.peek(1) == "}":
                raise tokens.error(
                    f"which indices {tokens.peek()} holds is not known; write all of them, \\sum_{{i=1}}^{{n}}, with "
                    "weights that are 1 for those and 0 for others"
                )
            while tokens.peek() not in ("}", ""):
                tokens.take()
    end = _upper(r, base) if tokens.found("^") else ()
    ranges = tuple(Range(letter, first, *end) for letter, first in found.items())
    return Limits(ranges, tuple(conditions), where)


SUCH_THAT = (":", "|", r"\mid", r"\colon")
"""What stands between the index of a sum and a condition on it."""


def _such_that(r: Any, letters: Iterable[str]) -> Any:
    """The 1 and 0 of a condition on the entries with an index."""
    start = r.tokens.at
    bound, inside = r.bound, r.inside
    r.bound, r.inside = bound | set(letters), []
    made = r.condition()
    r.bound, r.inside = bound, inside
    if not {*_BETWEEN, "="} & {text for _, text, _ in r.tokens.items[start : r.tokens.at]}:
        raise r.tokens.error(r"a condition is expected here, as in \sum_{i: x_i > 0} x_i")
    return made


def _upper(r: Any, base: int) -> tuple[int, int | None, str]:
    """How many entries the limit above a sum leaves out at the end, or the number that it is, and its letter."""
    tokens = r.tokens
    tokens.expect("{")
    if tokens.kind == "number":
        last = int(tokens.take())
        tokens.expect("}")
        return 0, last + 1 - base, ""
    size = tokens.take()
    if not size:
        raise tokens.error("the limit of the sum has no end")
    off = _shift(tokens)
    if not tokens.found("}"):
        raise tokens.error("the limit of a sum is a letter or a number, or n-1")
    return max(0, base - 1 - off), None, size


def _is_index(text: str) -> bool:
    return (len(text) == 1 and text.isalpha()) or text in (r"\alpha", r"\beta", r"\mu", r"\nu", r"\ell")


def sizes_of_indices(r: Any, wanted: tuple[Any, ...] | None) -> dict[str, Any]:
    """The size of each index letter of the text, as far as the text and the wanted shape tell."""
    sizes: dict[str, Any] = {}
    same: list[tuple[str, str]] = []
    bound: set[str] = set()
    for mark, row in _subscripts(r):
        if mark in INDEXED:
            bound |= set(row)
        elif mark == r"\delta" and len(row) == 2:
            same.append((row[0], row[1]))
        elif not isinstance(mark, str) and len(mark) >= len(row):
            for letter, size in zip(row, mark, strict=False):
                if letter:
                    sizes.setdefault(letter, size)
    for letter, size in _stated_ends(r):
        sizes.setdefault(letter, size)
    free = alphabetical({*sizes, *(x for pair in same for x in pair)} - bound)
    if wanted is not None and len(free) == len(wanted):
        for letter, size in zip(free, wanted, strict=True):
            sizes.setdefault(letter, size)
    for _ in same:
        for a, b in same:
            known = sizes.get(a, sizes.get(b))
            if known is not None:
                sizes.setdefault(a, known)
                sizes.setdefault(b, known)
    return sizes


def _stated_ends(r: Any) -> Iterator[tuple[str, str]]:
    r"""The letters of sums from 1 to a size of the symbols, ``\sum_{i=1}^n``, with that size."""
    words = [text for _, text, _ in r.tokens.items]
    for k in range(len(words) - 7):
        head = words[k + 1 : k + 5] if words[k + 4] == "}" else words[k + 1 : k + 7]
        end = words[k + 1 + len(head) : k + 5 + len(head)]
        plain = words[k] in SUMS and head[:2] == ["_", "{"] and head[3:] in (["}"], ["=", "1", "}"])
        if plain and end[:2] == ["^", "{"] and end[3:] == ["}"] and end[2] in r.letters:
            yield head[2], end[2]


def sizes_of_limits(r: Any) -> dict[str, Any]:
    r"""The sizes that a function names in its sums: ``N`` of ``\sum_{i=1}^{N}`` and of ``\sum_{i=0}^{N-1}``.

    Letters of a text that is judged are those of the function, or are tried one after the other.
    """
    if r.wanted is not None:
        return {}
    words = [text for _, text, _ in r.tokens.items]
    found: dict[str, Any] = {}
    for k in range(len(words) - 10):
        head, last = words[k : k + 7], words[k + 7 : k + 13]
        whole = head[5] == "1" and last[:2] == ["^", "{"] and last[3:4] == ["}"]
        if head[0] in SUMS and head[4] == "=" and head[6] == "}" and (whole or last[3:] == ["-", "1", "}"]):
            size = r.index_sizes.get(head[3])
            open_letter = last[2].isalpha() and last[2] not in r.letters
            if size is not None and head[5] in ("0", "1") and open_letter:
                found.setdefault(last[2], size)
    return found


def _subscripts(r: Any) -> Iterator[tuple[Any, list[str]]]:
    """What has a subscript (a sign, or the shape of a symbol), with its letters; "" for what is no letter."""
    tokens = r.tokens
    for k in range(len(tokens.items)):
        if tokens.items[k][1] != "_":
            continue
        before = tokens.items[k - 1][1] if k else ""
        row = _row(tokens, k + 2, before in SUMS)
        if before in (*INDEXED, r"\delta"):
            yield before, [x for x in row if x]
            continue
        shape = _shape_before(r, k)
        if shape is not None:
            yield shape, row


def _row(tokens: Any, k: int, below: bool = False) -> list[str]:
    """The letters of a subscript; ``below`` a sum sign a colon ends them, and elsewhere it is a whole axis."""
    row: list[str] = []
    for _, inner, _ in tokens.items[k:]:
        if inner in ("}", "=", r"\ne", "<", r"\in") or (row and inner in SUCH_THAT and below):
            break
        if _is_index(inner) or inner in WHOLE:
            row.append(inner if _is_index(inner) else "")
    return row


def _shape_before(r: Any, end: int) -> tuple[Any, ...] | None:
    """The shape of the symbol whose tokens end at a place."""
    for parts, value in (*r.rows, *r.known) if r.others.get("capitals") else (*r.known, *r.rows):
        if end >= len(parts) and [i[1] for i in r.tokens.items[end - len(parts) : end]] == parts:
            return tuple((value.exact or value.term).shape)
    return None

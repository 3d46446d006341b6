r"""Sums and products over indices, ``\sum_{i=1}^{n-1} x_i x_{i+1}``, for :mod:`symgrad.formula.reading.people.tex`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from symgrad.errors import FormulaError, ShapeError
from symgrad.formula.reading.families import Family
from symgrad.formula.reading.indices import Indexed
from symgrad.formula.reading.misfits import LimitMisfit, ProductMisfit, said
from symgrad.formula.reading.people.entries import cropped, related
from symgrad.formula.reading.people.indices import SUMS, Limits, Range, limits
from symgrad.formula.reading.values import Value, entrywise, op
from symgrad.op import lookup


def totalled(r: Any, product: Any, letters: Iterable[str]) -> Any:
    """A product of entries summed over letters; a number when none are left."""
    if not isinstance(product, (Indexed, Family)):
        raise r.tokens.error("after a sum sign entries with indices are expected, such as x_i")
    try:
        found = product.summed(letters)
    except FormulaError as error:
        raise r.tokens.error(str(error)) from None
    except ShapeError as error:
        raise r.tokens.error(said(error), ProductMisfit) from None
    return found if found.kind != "indexed" or found.letters else Value("s", found.contracted(()))


def summed(r: Any) -> Any:
    r"""``\sum`` or ``\prod`` over indices, with or without limits, of the product that follows."""
    tokens = r.tokens
    sign = tokens.take()
    if tokens.peek() not in ("_", "^"):
        return _of_all(r, sign)
    within = limits(r)
    letters = within.letters
    before, r.bound = r.bound, r.bound | set(letters)
    shifts, r.shifts = r.shifts, {k: v for k, v in r.shifts.items() if k not in letters}
    if sign == r"\prod":
        r.inside.append("/")
    found = limited(r, _summand(r, letters), within, 0 if sign == r"\sum" else 1)
    r.bound = before
    r.shifts = {**r.shifts, **{k: v for k, v in shifts.items() if k in letters}}
    if sign == r"\sum":
        return totalled(r, found, letters)
    r.inside.pop()
    return multiplied(r, found, letters)


def _summand(r: Any, letters: Iterable[str]) -> Any:
    """What is summed: a product, and those after it that have the index, which they could not have outside."""
    found = r.juxtaposed()
    while r.tokens.peek() in ("+", "-") and _has_index(r.tokens, letters):
        name = "add" if r.tokens.take() == "+" else "sub"
        found = r.entrywise(lookup(name), found, r.juxtaposed())
    return found


def _has_index(tokens: Any, letters: Iterable[str]) -> bool:
    """Whether the term after a sign has one of the letters as an index that no sum of its own brings."""
    depth = 0
    for k in range(tokens.at + 1, len(tokens.items)):
        text = tokens.items[k][1]
        if (depth == 0 and text in ("+", "-", "=", ",", ";", "&", r"\\")) or text in SUMS:
            return False
        if text == "_" and any(tokens.items[j][1] in letters for j in range(k + 2, min(k + 3, len(tokens.items)))):
            return True
        depth += (text in ("(", "{", "[")) - (text in (")", "}", "]"))
        if depth < 0:
            return False
    return False


def _of_all(r: Any, sign: str) -> Any:
    r"""A sum or product without an index, ``\sum (x_i - \mu)``: over all indices that are free, or all entries."""
    found = r.juxtaposed()
    if isinstance(found, Indexed):
        letters = [x for x in found.letters if x not in r.bound]
        return totalled(r, found, letters) if sign == r"\sum" else multiplied(r, found, letters)
    if not isinstance(found, Value) or found.kind not in ("v", "r", "m"):
        raise r.tokens.error(rf"after {sign} without an index an array or entries such as x_i are expected")
    name = "sum" if sign == r"\sum" else "prod"
    for _ in range(found.term.ndim):
        found = Value("s", op(name, found.term, dim=(0,) if name == "sum" else 0, keepdim=False))
    return found


def limited(r: Any, found: Any, within: Limits, nothing: int) -> Any:
    r"""What a sum is taken of, for the indices between the limits; ``nothing`` where ``j \ne i`` fails."""
    for x in within.ranges if isinstance(found, (Indexed, Family)) else ():
        low, high = r.shifts.pop(x.letter, (0, 0))
        size: Any = _entries_along(found, x.letter, r.index_sizes)
        _settle_end(r, x, size)
        if x.last is not None and not isinstance(size, int):
            raise r.tokens.error(f"the sum over {x.letter} ends at a number, and its size is a letter")
        end = x.after if x.last is None else size - x.last
        if not r.others.get("cyclic"):
            low, high = max(low, x.first), max(high, end)
            found = cropped(found, {x.letter: (low or None, -high or None)}) if low or high else found
    for a, relation, b in within.conditions:
        size = r.index_sizes.get(a, r.index_sizes.get(b))
        if size is None:
            raise r.tokens.error(f"the size of the index {a} is not known; state shape= or shapes=")
        found = _where(related(size, a, relation, b), found, nothing)
    return found if within.where is None else _where(within.where, found, nothing)


def _entries_along(found: Indexed | Family, letter: str, known: Mapping[str, Any]) -> Any:
    """How many entries what is summed has along an index; of one that it has not, as far as the text tells."""
    entries = found.entries if isinstance(found, Family) else found
    here = (n for t, row in entries.operands for x, n in zip(row, t.shape, strict=True) if x == letter)
    return next(here, known.get(letter))


def _settle_end(r: Any, x: Range, size: Any) -> None:
    """Refuse a sum that ends at another size than its index has; a letter that is none means one size in a text.

    A function whose shapes were found by trying has no say in the letters of its sizes.
    """
    if r.asked or not x.size:
        return
    end = x.size if x.size in r.letters else r.limits.setdefault(x.size, size)
    if size in r.letters and end != size:
        said = x.size if end == x.size else f"{x.size}, which is {end} at another place"
        problem = f"the sum over {x.letter} ends at {said}, and what it adds up has {size} entries along {x.letter}"
        raise r.tokens.error(problem, LimitMisfit)


def _where(kept: Any, found: Any, nothing: int) -> Any:
    """What is summed, and what adds nothing to it where a condition fails: 1 in a product."""
    return entrywise(lambda x, condition: op("where", condition, x, nothing), found, kept)


def multiplied(r: Any, entries: Any, letters: Iterable[str]) -> Any:
    """The product of entries over letters."""
    for letter in letters:
        if not isinstance(entries, Indexed) or letter not in entries.letters:
            raise r.tokens.error(f"the product over {letter} has no index {letter}")
        last = entries.settled((*(x for x in entries.letters if x != letter), letter))
        ((term, row),) = last.operands
        entries = Indexed([(op("prod", term, dim=len(row) - 1, keepdim=False), row[:-1])])
        entries = entries if entries.letters else Value("s", entries.operands[0][0])
    return entries

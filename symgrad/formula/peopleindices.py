r"""Indices in formulas typed by people: ``A_{ij}``, ``\sum_{i=1}^{n}``, and the sizes that ``\delta_{ij}`` needs.

An index is one letter.  The size of a letter is found where it stands at a symbol, at the other letter of a delta, or
in the shape that the whole formula is to have, whose axes belong to the free letters in alphabetical order.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

SUMS = (r"\sum", r"\prod")


def subscript_letters(r: Any) -> tuple[str, ...]:
    """The letters after ``_``; numbers and shifts are refused."""
    tokens = r.tokens
    tokens.expect("_")
    tokens.expect("{")
    out: list[str] = []
    while not tokens.found("}"):
        if tokens.found(","):
            continue
        text = tokens.peek()
        if not _is_index(text):
            raise tokens.error(
                f"the index {text!r} is not understood: an index is one letter, and shifts such as i+1 and numbers are "
                "not read"
                if text
                else "the index has no end"
            )
        out.append(tokens.take())
    return tuple(out)


def index_letters(r: Any) -> tuple[str, ...]:
    r"""The letters below a sum sign; ``i=1`` and the limit above are passed."""
    tokens = r.tokens
    if tokens.peek() != "_":
        raise tokens.error("a sum sign needs its index, as in \\sum_i x_i")
    tokens.take()
    tokens.expect("{")
    out: list[str] = []
    while not tokens.found("}"):
        if tokens.found("="):
            while tokens.peek() not in ("}", ",", ""):
                tokens.take()
        elif tokens.found(","):
            continue
        elif _is_index(tokens.peek()):
            out.append(tokens.take())
        else:
            raise tokens.error(f"{tokens.peek()!r} is no index of a sum")
    if tokens.found("^"):
        tokens.expect("{")
        while not tokens.found("}"):
            if not tokens.take():
                raise tokens.error("the limit of the sum has no end")
    return tuple(out)


def _is_index(text: str) -> bool:
    return (len(text) == 1 and text.isalpha()) or text in (r"\alpha", r"\beta", r"\mu", r"\nu")


def sizes_of_indices(r: Any, wanted: tuple[Any, ...] | None) -> dict[str, Any]:
    """The size of each index letter of the text, as far as the text and the wanted shape tell."""
    sizes: dict[str, Any] = {}
    same: list[tuple[str, str]] = []
    bound: set[str] = set()
    for mark, row in _subscripts(r):
        if mark in SUMS:
            bound |= set(row)
        elif mark == r"\delta" and len(row) == 2:
            same.append((row[0], row[1]))
        elif not isinstance(mark, str) and len(mark) == len(row):
            for letter, size in zip(row, mark, strict=True):
                sizes.setdefault(letter, size)
    free = sorted({*sizes, *(x for pair in same for x in pair)} - bound)
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


def _subscripts(r: Any) -> Iterator[tuple[Any, list[str]]]:
    """What has a subscript (a sign, or the shape of a symbol), with the letters of it."""
    tokens = r.tokens
    start = tokens.at
    for k in range(len(tokens.items)):
        text = tokens.items[k][1]
        if text != "_":
            continue
        row = []
        for _, inner, _ in tokens.items[k + 2 :]:
            if inner == "}" or inner == "=":
                break
            if _is_index(inner):
                row.append(inner)
        before = tokens.items[k - 1][1] if k else ""
        if before in (*SUMS, r"\delta"):
            yield before, row
            continue
        shape = _shape_before(r, k)
        if shape is not None:
            yield shape, row
    tokens.at = start


def _shape_before(r: Any, end: int) -> tuple[Any, ...] | None:
    """The shape of the symbol whose tokens end at a place."""
    for parts, value in r.known:
        if end >= len(parts) and [i[1] for i in r.tokens.items[end - len(parts) : end]] == parts:
            return tuple((value.exact or value.term).shape)
    return None

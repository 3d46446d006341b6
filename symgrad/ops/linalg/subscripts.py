"""Subscripts of ``einsum``: from an equation to labels, and torch's words for what is wrong with one."""

from __future__ import annotations

import functools
import string
from collections.abc import Sequence
from typing import Any

from symgrad.errors import ArgumentError, ShapeError
from symgrad.op import Labels, shape_of

LETTERS = string.ascii_uppercase + string.ascii_lowercase
"""A letter for each axis number, in torch's order: an output that is not stated is sorted by it."""

_DOTS = 1000
"""The label of the first axis that an ellipsis stands for; letters have their code points."""


@functools.lru_cache(maxsize=1024)
def parsed(equation: str, ranks: tuple[int, ...]) -> tuple[tuple[Labels, ...], Labels]:
    """The labels of the operands' axes and of the output's.

    Raises ``ArgumentError`` for an equation that cannot be read, and ``ShapeError`` where it does not fit the number of
    operands or of their axes.
    """
    left, arrow, right = equation.partition("->")
    terms = _terms(left, len(ranks))
    dots = 0
    for k, (term, rank) in enumerate(zip(terms, ranks, strict=True)):
        named, open_ = len(term) - (Ellipsis in term), Ellipsis in term
        if named > rank or (named < rank and not open_):
            relation, end = ("is more than", "") if open_ else ("does not match", " and no ellipsis was given")
            raise ShapeError(
                f"einsum(): the number of subscripts in the equation ({named}) {relation} the number of dimensions "
                f"({rank}) for operand {k}{end}"
            )
        dots = max(dots, rank - named)
    labels = tuple(_labels(term, dots, rank - len(term) + 1) for term, rank in zip(terms, ranks, strict=True))
    flat = [label for row in labels for label in row]
    if arrow:
        out = _labels(_output(right, len(equation) - len(right)), dots, dots)
    else:
        out = (*range(_DOTS, _DOTS + dots), *sorted(x for x in set(flat) if x < _DOTS and flat.count(x) == 1))
    _known(out, set(flat))
    return labels, out


def _labels(term: Sequence[Any], dots: int, own: int) -> Labels:
    """The labels of one term; its ellipsis stands for the last ``own`` of all ``dots`` axes."""
    row: list[int] = []
    for x in term:
        row += range(_DOTS + dots - own, _DOTS + dots) if x is Ellipsis else (ord(x),)
    return tuple(row)


def _terms(text: str, count: int) -> list[list[Any]]:
    """The letters and ellipses of each operand, in one pass from the left."""
    terms: list[list[Any]] = [[]]
    where = 0
    while where < len(text):
        char, k = text[where], len(terms) - 1
        if char == ",":
            if len(terms) == count:
                raise ShapeError("einsum(): fewer operands were provided than specified in the equation")
            terms.append([])
        elif char == ".":
            if Ellipsis in terms[k]:
                raise ArgumentError(f"einsum(): found '.' for operand {k} for which an ellipsis was already found")
            if text[where : where + 3] != "...":
                raise ArgumentError(f"einsum(): found '.' for operand {k} that is not part of any ellipsis")
            terms[k].append(...)
            where += 2
        elif char != " ":
            terms[k].append(_letter(char, where))
        where += 1
    if len(terms) < count:
        raise ShapeError("einsum(): more operands were provided than specified in the equation")
    return terms


def _output(text: str, start: int) -> list[Any]:
    """The letters and the ellipsis behind the arrow, which end at ``start`` of the equation."""
    term: list[Any] = []
    where = 0
    while where < len(text):
        char = text[where]
        if char == ".":
            if Ellipsis in term:
                raise ArgumentError("einsum(): found '.' for output but an ellipsis (...) was already found")
            if text[where : where + 3] != "...":
                raise ArgumentError("einsum(): found '.' for output that is not part of any ellipsis (...)")
            term.append(...)
            where += 2
        elif char != " ":
            if char in term:
                raise ArgumentError(f"einsum(): output subscript {char} appears more than once in the output")
            term.append(_letter(char, start + where))
        where += 1
    return term


def _letter(char: str, where: int) -> str:
    if char not in LETTERS:
        raise ArgumentError(
            f"einsum(): invalid subscript given at index {where} in the equation string, subscripts must be in "
            f"[a-zA-Z], not {char!r}"
        )
    return char


def _known(out: Labels, known: set[int]) -> None:
    for label in out:
        if label not in known and label < _DOTS:
            raise ArgumentError(
                f"einsum(): output subscript {chr(label)} does not appear in the equation for any input operand"
            )


def unequal(label: int, size: Any, seen: Any, operand: int, labels: Labels) -> str:
    """What is wrong where one label names axes of two sizes."""
    if label >= _DOTS:
        axis = label - next(x for x in labels if x >= _DOTS)
        return (
            f"einsum(): dimension {axis} covered by ellipsis in operand {operand} has size {size} which does not "
            f"broadcast with previously seen ellipsis with size {seen} for the respective dimension"
        )
    if labels.count(label) > 1:
        return (
            f"einsum(): subscript {chr(label)} is repeated for operand {operand} but the sizes don't match, "
            f"{size} != {seen}"
        )
    return (
        f"einsum(): subscript {chr(label)} has size {size} for operand {operand} which does not broadcast with "
        f"previously seen size {seen}"
    )


def numbered(*given: Any) -> tuple[str, tuple[Any, ...]]:
    """The equation and the operands of ``einsum(a, [0, 1], b, [1], [0])``."""
    count = len(given) // 2
    rows = [*given[1 : 2 * count : 2], *given[2 * count :]]
    if not count or not all(isinstance(row, (list, tuple)) for row in rows):
        raise ArgumentError("einsum(a, [0, 1], b, [1], [0]): behind each operand stands the list of its axis numbers.")

    def word(row: Any) -> str:
        for k in row:
            if k is not Ellipsis and not 0 <= k < len(LETTERS):
                raise ArgumentError(
                    f"einsum(): axis number {k} is not within the valid range [0, {len(LETTERS)}). An axis is named "
                    "by such a number, or by an Ellipsis."
                )
        return "".join("..." if k is Ellipsis else LETTERS[k] for k in row)

    equation = ",".join(map(word, rows[:count]))
    return equation + "".join("->" + word(row) for row in rows[count:]), given[: 2 * count : 2]


def _given(equation: str, shapes: Sequence[Any]) -> str:
    return f"({equation!r} of shapes {', '.join(str(tuple(s)) for s in shapes)})"


def _check_diagonals(equation: str, inputs: Sequence[Labels], shapes: Sequence[Any]) -> None:
    """Raise where one operand has axes of two sizes under one label: a diagonal does not spread an axis of size 1."""
    for k, (labels, shape) in enumerate(zip(inputs, shapes, strict=True)):
        if len(set(labels)) == len(labels):
            continue
        for axis, label in enumerate(labels):
            first = labels.index(label)
            if shape[axis] != shape[first]:
                words = unequal(label, shape[axis], shape[first], k, labels)
                raise ShapeError(f"{words} {_given(equation, shapes)}")


def fitted(equation: Any, *operands: Any) -> tuple[tuple[Any, ...], tuple[Labels, ...], Labels, tuple[Any, ...]]:
    """The operands of an einsum as it was called, the labels of their axes and of the result's, and its shape.

    Raises ``ShapeError`` when sizes do not fit, and ``ArgumentError`` for a bad equation.
    """
    if not isinstance(equation, str):
        equation, operands = numbered(equation, *operands)
    if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
        operands = tuple(operands[0])
    if not operands:
        raise ArgumentError("einsum(): must specify the equation string and at least one operand")
    return operands, *_fitted(equation, tuple([tuple(shape_of(x)) for x in operands]))


@functools.lru_cache(maxsize=4096)
def _fitted(equation: str, shapes: tuple[Any, ...]) -> tuple[tuple[Labels, ...], Labels, tuple[Any, ...]]:
    """The labels of the operands' axes and of the result's, and its shape: looked up by the operands' shapes."""
    try:
        inputs, output = parsed(equation, tuple(map(len, shapes)))
    except (ArgumentError, ShapeError) as wrong:
        raise type(wrong)(f"{wrong} {_given(equation, shapes)}") from None
    _check_diagonals(equation, inputs, shapes)
    sizes: dict[int, Any] = {}
    for k, (labels, shape) in enumerate(zip(inputs, shapes, strict=True)):
        for label, size in zip(labels, shape, strict=True):
            if sizes.get(label, 1) == 1:
                sizes[label] = size
            elif size not in (1, sizes[label]):
                words = unequal(label, size, sizes[label], k, labels)
                raise ShapeError(f"{words} {_given(equation, shapes)}")
    # A size-1 axis that another operand has at full size broadcasts: it gets a label of its own and is summed out.
    fresh = 2000
    rows = []
    for labels, shape in zip(inputs, shapes, strict=True):
        row = []
        for label, size in zip(labels, shape, strict=True):
            if size == 1 and sizes[label] != 1:
                fresh += 1
                row.append(fresh)
            else:
                row.append(label)
        rows.append(tuple(row))
    numbers: dict[int, int] = {}
    small = tuple(tuple(numbers.setdefault(x, len(numbers)) for x in row) for row in rows)
    return small, tuple(numbers[x] for x in output), tuple(sizes[x] for x in output)

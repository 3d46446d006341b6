"""Formulas with other letters, or numbers, for their sizes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from symgrad.formula.term import SIZE, Term, make, rebuilt, size_letter, with_sizes
from symgrad.ops.shapes.sizes import LETTER, letters_of, size_value


def resized(roots: Sequence[Term], sizes: dict[str, Any]) -> list[Any]:
    """The same formulas with other letters, or numbers, for their sizes."""

    def size(s: Any) -> Any:
        return resized_size(s, sizes)

    def change(term: Term, args: tuple[Any, ...]) -> Any:
        if term.op is SIZE:
            return size_letter(size(term.params["name"]))
        params, shape = with_sizes(term.op, term.params, size), tuple(map(size, term.shape))
        same = params == term.params and args == term.args and shape == term.shape
        return term if same else make(term.op, args, params, shape, term.dtype)

    return rebuilt(roots, change)


def resized_size(size: Any, sizes: dict[str, Any]) -> Any:
    """A size of an axis with other letters, or numbers.

    >>> resized_size("n+m", {"m": 3}), resized_size("n+m", {"m": 3, "n": 2})
    ('n+3', 5)
    """
    if not isinstance(size, str):
        return size
    if all(isinstance(sizes.get(x), int) for x in letters_of(size)):
        return size_value(size, sizes)
    return LETTER.sub(lambda m: str(sizes.get(m[0], m[0])), size)

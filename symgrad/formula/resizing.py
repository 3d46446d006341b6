"""Formulas with other letters, or numbers, for their sizes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from symgrad.formula.term import SIZE, SYMBOL, Term, make, rebuilt, size_letter, with_sizes
from symgrad.ops.shapes.sizes import LETTER, letters_of, size_value


def resized(roots: Sequence[Term], sizes: dict[str, Any]) -> list[Any]:
    """The same formulas with other letters, or numbers, for their sizes."""

    def size(s: Any) -> Any:
        if not isinstance(s, str):
            return s
        if all(isinstance(sizes.get(x), int) for x in letters_of(s)):
            return size_value(s, sizes)
        return LETTER.sub(lambda m: str(sizes.get(m[0], m[0])), s)

    def change(term: Term, args: tuple[Any, ...]) -> Any:
        if term.op is SYMBOL:
            return make(SYMBOL, (), term.params, tuple(map(size, term.shape)), term.dtype)
        if term.op is SIZE:
            return size_letter(size(term.params["name"]))
        params = with_sizes(term.op, term.params, size)
        return term if params == term.params and args == term.args else term.op(*args, **params)

    return rebuilt(roots, change)

"""Sums in which two terms are one: halves of a matrix, parts of a join, cases that ask the same, cross products."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from symgrad.formula.canonical.cases.branches import joined
from symgrad.formula.canonical.chains import is_truth
from symgrad.formula.canonical.entries.joins import side_by_side
from symgrad.formula.canonical.entries.stacks import added
from symgrad.formula.canonical.matrices.crossing import crossed
from symgrad.formula.canonical.matrices.triangles import both_halves
from symgrad.formula.canonical.normal import Product
from symgrad.formula.term import Term

if TYPE_CHECKING:
    from symgrad.formula.canonical.simplify import Canonicaliser


def fewer(terms: Sequence[Product], run: Canonicaliser, shape: tuple[Any, ...]) -> Sequence[Product] | None:
    """A sum with fewer terms; None where there are no such two."""
    for asked, together in _TOGETHER:
        if sum(any(asked(f.base) for f in p.factors) for p in terms) > 1:
            made: Sequence[Product] | None = together(terms, run, shape)
            if made is not None:
                return made
    return None


def _of(*ops: str) -> Callable[[Term], bool]:
    return lambda term: term.op.name in ops


_TOGETHER: tuple[tuple[Callable[[Term], bool], Any], ...] = (
    (_of("tril", "triu"), lambda terms, run, shape: both_halves(terms, run)),
    (_of("put", "embed", "cat"), lambda terms, run, shape: side_by_side(terms, shape, run)),
    (_of("stack"), lambda terms, run, shape: added(terms, run)),
    (lambda term: term.op.name == "where" or is_truth(term), lambda terms, run, shape: joined(run, terms, shape)),
    (_of("cross"), crossed),
)
"""What makes one of two terms that have factors of some kind."""

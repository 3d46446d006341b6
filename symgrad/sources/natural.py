"""What a value of unstated shapes is: a number, whose derivative is a gradient, or an array, whose is a Jacobian."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from symgrad.errors import SymgradError
from symgrad.formula.reading.people.text import is_numpy
from symgrad.formula.term import Term, postorder, symbols
from symgrad.sources.asked import Source, source
from symgrad.sources.shapes import likeliest_rank


def asked_about(of: Any, shapes: Any, derived: bool) -> Source:
    """The value of a text or function; with the likelier shapes where its derivative is asked for."""
    return next(likelier(of, shapes)) if derived else source(of, (), shapes)


def likelier(of: Any, shapes: Any) -> Iterator[Source]:
    """The value as a number and as an array, the likelier one first; an impossible one is left out.

    Values of derivatives are numbers where that is possible, as in textbooks.  But ``W @ x`` is a number only if ``W``
    is a vector, and capital letters are matrices; and ``x / norm(x)`` only if ``x`` is a number, and nobody takes the
    norm of one.  Raises ``SymgradError`` where no shapes are found.
    """
    try:
        number = source(of, (), shapes, scalar=True)
    except SymgradError:
        array = as_array(of, shapes)
        if array is None:
            raise
        yield array
        return
    if number.term.shape != () or not any(s.ndim < likeliest_rank(str(s.name)) for s in number.symbols):
        yield number
        return
    array = as_array(of, shapes)
    if array is None:
        yield number
    elif _adds_up_numbers(of, number, array):
        yield array
    else:
        yield from (array, number) if _has_matrices_for_vectors(number, array) else (number, array)


def as_array(of: Any, shapes: Any) -> Source | None:
    """The value with the least surprising shapes, where it is an array then."""
    try:
        found = source(of, (), shapes)
    except SymgradError:
        return None
    return found if found.term.shape else None


def _has_matrices_for_vectors(number: Source, array: Source) -> bool:
    """Whether a capital letter is a matrix in the array that is a vector in the number."""
    ranks = {s.name: s.ndim for s in number.symbols}
    return any(s.ndim == 2 and ranks.get(s.name) == 1 and str(s.name)[:1].isupper() for s in array.symbols)


def _adds_up_numbers(of: Any, number: Source, array: Source) -> bool:
    """Whether what is an op of whole arrays in the array has nothing but numbers in it in the number."""
    ranks = {s.name: s.ndim for s in number.symbols}
    products = not isinstance(of, str) or is_numpy(of)  # else A*B and AB may be products of numbers
    nodes = (t for t in postorder([array.term]) if _mixes_entries(t, products))
    return any(all(ranks.get(s.name) == 0 for s in below) for t in nodes if (below := symbols(t)))


def _mixes_entries(term: Term, products: bool) -> bool:
    """Whether the op is one of whole arrays: a norm, a sum, an inverse; ``products`` counts those of two, too."""
    return bool(term.args) and term.op.partials is None and (products or len(term.args) == 1)

"""Element form: one entry of a formula, with indices and sums, and small formulas written out entry by entry."""

from __future__ import annotations

import itertools
import math
from typing import Any

from symgrad.errors import ArgumentError, FormulaError
from symgrad.formula.canonical.simplify import canonical
from symgrad.formula.term import Term
from symgrad.op import shape_of
from symgrad.tape.formulas.reading import read
from symgrad.tape.record import Recorded

LARGEST = 256
"""Entries that :func:`explicit` writes out at most."""


def formula_of(value: Any) -> tuple[Term, dict[str, int]]:
    """The canonical term of a tensor or term, and the sizes of its letters where they are known."""
    if isinstance(value, Term):
        return _canonical(value), {}
    if not isinstance(value, Recorded):
        raise ArgumentError(f"entries are those of formulas: a tensor or a term is taken, not {type(value).__name__}.")
    reading, term = read(value)
    return _canonical(term), {letter: n for n, letter in reading.letters.items()}


def _canonical(term: Term) -> Term:
    made = canonical(term)
    return made if made.ndim == term.ndim else term  # an axis of one entry may be gone, and it has an index


def element(t: Any, *indices: Any) -> Any:
    """One entry of a tensor's formula as a SymPy expression with indices: arrays are ``Indexed``, contractions ``Sum``.

    ``t`` is a recorded tensor or a term with as many axes as there are ``indices``; an index is a name, a SymPy symbol
    or an int (counted from 0, like NumPy's).  Sizes are letters.  Ops without a formula for their entries (inverses)
    stay, with indices.  Raises ``ArgumentError`` when the number of indices does not fit.

    >>> import symgrad as sg
    >>> A = sg.tensor([[1.0, 2.0], [3.0, 4.0]], name="A")
    >>> x = sg.tensor([1.0, 1.0], requires_grad=True, name="x")
    >>> sg.element(A @ x, "i")
    Sum(A[i, k]*x[k], (k, 0, n - 1))
    """
    from symgrad.formula.sympy.entries import entry_at

    return entry_at(formula_of(t)[0], indices)


def explicit(t: Any) -> Any:
    """A small formula written out: a SymPy ``Array`` of the entries, or one expression for a 0-d tensor.

    Sizes are those of the recorded tensor.  Raises ``FormulaError`` for more than 256 entries.

    >>> import symgrad as sg
    >>> x = sg.tensor([1.0, 2.0], requires_grad=True, name="x")
    >>> sg.explicit(x * x.sum())
    [(x[0] + x[1])*x[0], (x[0] + x[1])*x[1]]
    """
    import sympy as sp

    from symgrad.formula.sympy.entries import Entries

    term, sizes = formula_of(t)
    shape = shape_of(t) if not isinstance(t, Term) else term.shape
    if any(isinstance(n, str) for n in shape):
        raise ArgumentError(f"explicit needs sizes that are numbers; this formula has shape {tuple(shape)}.")
    if math.prod(shape) > LARGEST:
        raise FormulaError(
            f"explicit writes out at most {LARGEST} entries; this formula has shape {tuple(shape)}. Use "
            "symgrad.element for the general entry."
        )
    made = Entries(set(), sizes)
    entries = [made.entry(term, tuple(map(sp.Integer, k))) for k in itertools.product(*map(range, shape))]
    return sp.Array(entries, tuple(int(n) for n in shape)) if shape else entries[0]

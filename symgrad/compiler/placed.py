"""Sums of parts put into zeros: one array, to which the parts are added in place.

The gradient of a function of several slices of one array is such a sum: a stencil, differences of neighbours, the legs
of a chain.  Written out it is an array of zeros per part; here the parts are added to one, in the order of the sum.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from symgrad.dtypes import is_floating
from symgrad.formula.term import Term, make
from symgrad.op import lookup
from symgrad.op.operators import WRITTEN


class Sums(NamedTuple):
    """Which terms are sums in place.

    ``bases``: of every such sum, the operand whose array it goes on with; ``starts``: the parts that begin as zeros;
    ``parts``: those that are added where they lie, and are never arrays of their own.
    """

    bases: dict[Term, Term]
    starts: set[Term]
    parts: set[Term]


def sums_in_place(order: Sequence[Term], uses: Mapping[Term, int]) -> Sums:
    """The sums of a program that can be made in place: what they go on with is read by nobody else."""
    found = Sums({}, set(), set())
    for term in order:
        if term.op.name not in ("add", "sub") or not term.shape or not _floating(term):
            continue
        pairs = (term.args,) if term.op.name == "sub" else (term.args, term.args[::-1])
        for base, other in pairs:
            if any(x.shape != term.shape or not _alike(x, term) for x in (base, other)) or uses[base] > 1:
                continue
            placed = uses[other] == 1 and place(other) is not None
            if base not in found.bases and not (placed and _owned(base)):
                continue
            found.bases[term] = base
            if place(base) is not None:
                found.starts.add(base)
            if placed:
                found.parts.add(other)
            break
    return found


def place(term: Term) -> str | None:
    """The index, as text, of the entries that the operand of ``term`` fills once each; the others are zeros."""
    x = term.args[0] if term.args else None
    if term.op.place is None or x is None or not _alike(x, term):
        return None
    return term.op.place(*(a.shape for a in term.args), **term.params)


def zeros(term: Term) -> Term:
    """Zeros of the shape and dtype of a term."""
    params = {"shape": term.shape, "value": 0, "dtype": term.dtype.name}
    return make(lookup("full"), (), params, term.shape, term.dtype)


def _alike(one: Term, other: Term) -> bool:
    """Whether two terms have one dtype: to NumPy, none is float64."""
    return one.dtype is not None and other.dtype is not None and bool(one.dtype == other.dtype)


def _floating(term: Term) -> bool:
    return term.dtype is not None and is_floating(term.dtype)


def _owned(term: Term) -> bool:
    """Whether the array of a term is new: that of an operator or of a part in zeros."""
    return term.op.place is not None or (term.op.name in WRITTEN and bool(term.args))

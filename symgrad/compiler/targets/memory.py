"""Whose memory results show: that of an argument or of another result; such results are copied."""

from __future__ import annotations

from collections.abc import Sequence

from symgrad.compiler.trace import Output
from symgrad.formula.term import SYMBOL, Term


def shown(term: Term) -> Term:
    """The term whose memory a view shows, or the term itself."""
    while term.op.view is not None or term.op.shares or term.op.aliased:
        term = term.args[0]
    return term


def shows_argument(term: Term) -> bool:
    """Whether a term's value lies in the memory of an argument or a constant."""
    return shown(term).op is SYMBOL


def repeated(outputs: Sequence[Output]) -> set[Output]:
    """The outputs that would show memory of an earlier one, so that who writes to one would change the other.

    Equal results are one term, and so one array of the program; numbers cannot be written to.
    """
    seen: set[Term] = set()
    found = set()
    for output in outputs:
        if output.shape:
            root = shown(output.term)
            if root in seen:
                found.add(output)
            seen.add(root)
    return found

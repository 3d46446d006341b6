"""Texts of formulas for reading: derivations, reports and cards.  Expressions themselves print as SymPy prints them."""

from __future__ import annotations

from typing import Any

from sympy.core.function import _coeff_isneg
from sympy.printing.str import StrPrinter

from symgrad.formula.sympy.expressions import to_sympy
from symgrad.formula.term import Term

__all__ = ["text"]


class _Readable(StrPrinter):  # type: ignore[misc]
    def _as_ordered_terms(self, expr: Any, order: Any = None) -> Any:
        """The terms of a sum in SymPy's order, but no minus in front where another term can stand there."""
        terms = list(super()._as_ordered_terms(expr, order=order))
        first = next((k for k, term in enumerate(terms) if not _coeff_isneg(term)), 0)
        return [terms[first], *terms[:first], *terms[first + 1 :]]


def text(formula: Any, **options: Any) -> str:
    """The text of a SymPy expression, or of a term's: then options are those of :func:`to_sympy`.

    >>> from symgrad.formula.term import symbol
    >>> x, m = symbol("x", ("n",)), symbol("m", ("n",))
    >>> text((x - m) ** 2), str(to_sympy((x - m) ** 2))
    ('(x - m)**2', '(-m + x)**2')
    """
    return str(_Readable().doprint(to_sympy(formula, **options) if isinstance(formula, Term) else formula))

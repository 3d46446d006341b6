"""SymPy's numbers as ops take them."""

from __future__ import annotations

import functools
from fractions import Fraction
from typing import Any

from symgrad.errors import FormulaError
from symgrad.formula.sympy.terms import from_sympy_expr
from symgrad.formula.term import NUMBER, Term, postorder
from symgrad.ops.rules.constants import PI, Constant, exact


@functools.lru_cache(maxsize=1024, typed=True)
def operand(expr: Any) -> Any:
    """A whole number, a fraction, a float, a complex number, or a constant that formulas show as it is made.

    >>> import sympy as sp
    >>> operand(sp.Rational(2, 3)), operand(sp.Float(0.5)), operand(sp.sqrt(2)), operand(1 + sp.I)
    (Fraction(2, 3), 0.5, sqrt(2), (1+1j))
    """
    if expr.is_Integer:
        return int(expr)
    if expr.is_Rational:
        return Fraction(int(expr.p), int(expr.q))
    if not expr.is_extended_real:
        value = complex(expr)  # SymPy does not know of each number whether it is real: of sums and integrals not
        return value.real if expr.is_extended_real is None and not value.imag else value
    if expr.is_Float or not expr.is_finite:
        return float(expr)
    try:
        made = _constant(from_sympy_expr(expr))
    except FormulaError:  # of functions that are no ops
        return float(expr)
    return Constant(made.op, made.args, float(expr), made.params) if isinstance(made, Constant) else float(expr)


def _constant(term: Term) -> Any:
    made: dict[Term, Any] = {}
    for t in postorder([term]):
        if t.op is NUMBER:
            value = t.params["value"]
            made[t] = PI if isinstance(value, str) else exact(value) if isinstance(value, (int, Fraction)) else value
        else:
            made[t] = t.op(*(made[a] for a in t.args), **t.params)
    return made[term]

"""Functions from SymPy expressions, and SymPy's matrix expressions from formulas."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from symgrad.errors import ArgumentError, FormulaError, NameProblem
from symgrad.formula.canonical.simplify import canonical
from symgrad.formula.term import SYMBOL, Term, postorder, symbol
from symgrad.notation.functions import FormulaFunction

__all__ = ["SympyFunction", "from_sympy", "to_matexpr"]


def from_sympy(expr: Any, *symbols: Any, indices: Sequence[Any] | None = None) -> SympyFunction:
    r"""A differentiable function of a SymPy expression's symbols.

    ``symbols`` are the arguments in order (SymPy symbols, matrix symbols, indexed bases, or names); without them they
    are all symbols in alphabetical order.  Understood are SymPy's scalar functions, which act entry by entry on arrays;
    the expressions that symgrad makes; matrix expressions (``MatMul``, ``Inverse``, ``Trace``, ``HadamardProduct`` …);
    array expressions; and entries with indices (``Sum(A[i, j]*x[j], (j, 0, n - 1))``), whose free indices become axes,
    in alphabetical order or that of ``indices``.

    The function takes arrays, numbers, tensors (and records them) or terms.  A ``MatrixSymbol("x", n, 1)`` is an array
    of shape (n, 1).  Raises ``FormulaError`` for what has no meaning as a function of arrays (an integral, an undefined
    function), and ``NameProblem`` where symbols are missing or two of them share a name.

    >>> import sympy as sp
    >>> import symgrad as sg
    >>> x, a = sp.symbols("x a")
    >>> f = sg.from_sympy(sp.exp(-a * x**2), x, a)
    >>> t = sg.tensor([1.0, 2.0], requires_grad=True, name="x")
    >>> f(t, 2.0).sum().backward()
    >>> t.grad
    tensor([-0.5413, -0.0027])
    >>> sg.latex(f, (3,), 1.5)
    'e^{-a x^{\\odot 2}}'
    """
    import sympy as sp

    from symgrad.formula.sympy.heads import ArraySymbol
    from symgrad.formula.sympy.terms import from_sympy_expr

    expr = sp.sympify(expr) if not isinstance(expr, (str, Term)) else expr
    if not isinstance(expr, (sp.Basic, sp.MatrixBase)):
        raise ArgumentError(
            f"from_sympy() takes a SymPy expression, not {type(expr).__name__}; texts are read by "
            "sympy.sympify, and LaTeX by symgrad.from_latex."
        )
    if len(symbols) == 1 and isinstance(symbols[0], (list, tuple)):
        symbols = tuple(symbols[0])
    _check_names(expr)
    given, declared = [_named(s) for s in symbols], _declared(symbols)
    term = from_sympy_expr(expr, declared, indices)
    found = {str(t.name): t for t in postorder([term]) if t.op is SYMBOL}
    found |= {
        s.name: found.get(s.name, symbol(s.name, s.shape)) for s in expr.free_symbols if isinstance(s, ArraySymbol)
    }
    missing = sorted(set(found) - set(given))
    if symbols and missing:
        raise NameProblem(f"{', '.join(missing)}: no argument; state all symbols, or none for alphabetical order.")
    for name in given:
        found.setdefault(name, declared.get(name, symbol(name)))
    order = given or sorted(found)
    return SympyFunction(expr, term, [found[name] for name in order])


class SympyFunction(FormulaFunction):
    """A function of arrays made of a SymPy expression; see :func:`from_sympy`."""

    @property
    def expr(self) -> Any:
        """The expression."""
        return self.given


def _named(s: Any) -> str:
    return s if isinstance(s, str) else str(getattr(s, "name", s))


def _check_names(expr: Any) -> None:
    """Names that can stand in formulas and source text, one for each symbol."""
    import sympy as sp

    seen: dict[str, Any] = {}
    for s in sorted(expr.free_symbols, key=str):
        if isinstance(s, (sp.Indexed, sp.tensor.indexed.Idx)):
            continue
        name = _named(s)
        if not name.isidentifier():
            raise NameProblem(f"{name!r} cannot be an argument's name; rename it with expr.subs or expr.xreplace.")
        other = seen.setdefault(name, s)
        if other != s and type(other) is type(s):
            raise NameProblem(f"two different symbols are called {name!r} (their assumptions differ); rename one.")


def _declared(symbols: Iterable[Any]) -> dict[str, Term]:
    """The shapes that symbols state."""
    import sympy as sp

    from symgrad.formula.sympy.nodes import size_of

    out = {}
    for s in symbols:
        shape = getattr(s, "shape", None) if not isinstance(s, str) else None
        if shape or isinstance(s, sp.Symbol):
            out[_named(s)] = symbol(_named(s), tuple(size_of(n) for n in shape or ()))
    return out


def to_matexpr(value: Any) -> Any:
    """A formula as SymPy's ``MatrixExpr``: vectors are columns, entry by entry products ``HadamardProduct``.

    ``value`` is a tensor, a formula, a term, or an expression that symgrad made; its canonical form is converted.
    Scalars become plain SymPy.  Raises ``FormulaError`` for what SymPy has no node for: more than two axes,
    broadcasting other than by scalars, columns and rows, and ops such as ``softmax``.

    >>> import symgrad as sg
    >>> A = sg.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], name="A")
    >>> x = sg.tensor([1.0, 1.0], requires_grad=True, name="x")
    >>> ((A @ x) @ (A @ x)).backward()
    >>> sg.to_matexpr(x.grad)
    2*A.T*A*x
    >>> sg.to_matexpr(sg.formula("tr(inv(X) @ S)", wrt="X"))
    -X.T**(-1)*S.T*X.T**(-1)
    """
    from symgrad.formula.sympy.matrices import matrix_expression

    value = getattr(value, "term", value)  # of a tensor, of a formula, of a function made by from_sympy or from_latex
    if not isinstance(value, Term):
        from symgrad.formula.sympy.terms import from_sympy_expr

        if not hasattr(value, "free_symbols"):
            raise FormulaError(
                f"to_matexpr() takes a tensor, a formula, a term or an expression, not {type(value).__name__}."
            )
        value = from_sympy_expr(value)
    return matrix_expression(canonical(value))

"""Functions from SymPy expressions, and SymPy's matrix expressions from formulas."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from symgrad.errors import ArgumentError, FormulaError, NameProblem, ShapeError
from symgrad.formula.term import NUMBER, SIZE, SYMBOL, Term, evaluate, postorder, size_letter, symbol
from symgrad.op import Op, shape_of
from symgrad.ops.rules.constants import PI, exact
from symgrad.ops.shapes.sizes import size_value
from symgrad.tape.formulas.formal import Formal
from symgrad.tape.formulas.sizes import Size
from symgrad.tape.record import Recorded

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
            f"from_sympy() takes a SymPy expression, not {type(expr).__name__}; texts are read by sympy.sympify or, "
            "without evaluating them, by symgrad.formula.reading.text."
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


class SympyFunction:
    """A function of arrays made of a SymPy expression; see :func:`from_sympy`.

    ``expr`` is the expression, ``term`` its formula, ``names`` are the arguments in order.
    """

    def __init__(self, expr: Any, term: Term, symbols: list[Term]):
        self.expr = expr
        self.term = term
        self.symbols = symbols
        self.names = [str(s.name) for s in symbols]
        self.__name__ = "f"
        self.__signature__ = inspect.Signature(
            [inspect.Parameter(n, inspect.Parameter.POSITIONAL_OR_KEYWORD) for n in self.names]
        )
        order = postorder([term])
        self._used = {t for t in order if t.op is SYMBOL}
        self._entrywise = all(t.op.entrywise or t.op.kind == "leaf" for t in order)

    def __call__(self, *args: Any, **named: Any) -> Any:
        """The value for arrays, numbers, tensors or terms, by position or by name."""
        if any(isinstance(v, Formal) for v in (*args, *named.values())):
            return Formal(self(*map(_bare, args), **{name: _bare(v) for name, v in named.items()}))
        try:
            bound = self.__signature__.bind(*args, **named)
        except TypeError as error:
            raise ArgumentError(f"f({', '.join(self.names)}): {error}.") from None
        values = {name: _value(v, name) for name, v in bound.arguments.items()}
        letters = self._letters(values)
        if any(isinstance(v, (Recorded, Term)) for v in values.values()):
            return self._run(values, letters)
        if self._entrywise and any(np.ndim(values[str(s.name)]) for s in self.symbols if not s.shape):
            return self._run(values, letters)
        return evaluate(self.term, values, letters)

    def __repr__(self) -> str:
        return f"f({', '.join(self.names)}) = {self.expr}"

    def _letters(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """The size that every letter stands for; shapes that do not fit are an error."""
        letters: dict[str, Any] = {}
        for s in self.symbols:
            got = tuple(shape_of(values[str(s.name)]))
            if not s.shape and (not got or self._entrywise or s not in self._used):
                continue
            fits = len(got) == len(s.shape)
            for letter, n in zip(s.shape, got, strict=False):
                known = letters.setdefault(letter, n) if isinstance(letter, str) and letter.isidentifier() else letter
                fits = fits and (isinstance(known, str) or isinstance(n, str) or known == n)
            if not fits:
                sizes = ", ".join(f"{k} = {v}" for k, v in letters.items())
                raise ShapeError(
                    f"f({', '.join(self.names)}): {s.name} has shape {got} where the expression has "
                    f"{tuple(s.shape)}{' with ' + sizes if sizes else ''}."
                )
        return letters

    def _run(self, values: Mapping[str, Any], letters: dict[str, Any]) -> Any:
        """The ops of the formula, one after the other, on whatever the arguments are."""
        formal = any(isinstance(v, Term) for v in values.values())
        if any(isinstance(v, Recorded) for v in values.values()):
            values = {name: _tensor(v, name) for name, v in values.items()}
        image: dict[Term, Any] = {}
        for t in postorder([self.term]):
            if t.op is SYMBOL:
                image[t] = values[str(t.name)]
            elif t.op is NUMBER:
                image[t] = _constant(t.number)
            elif t.op is SIZE:
                n = letters.get(str(t.name), t.name)
                image[t] = size_letter(n) if formal else Size(n)  # type: ignore[arg-type]
            elif t.op.name in ("full", "eye"):
                image[t] = t if formal else _constant_tensor(t, letters)
            else:
                image[t] = t.op(*(image[a] for a in t.args), **_sized(t.op, t.params, letters))
        return image[self.term]


def _bare(value: Any) -> Any:
    return value.term if isinstance(value, Formal) else value


def _value(value: Any, name: str) -> Any:
    if isinstance(value, (Recorded, Term)):
        return value
    array = np.asarray(value)
    if array.dtype.kind not in "biufc":
        raise ArgumentError(f"{name} is {type(value).__name__}; arrays, numbers, tensors and terms are taken.")
    return array if array.ndim else array[()]


def _tensor(value: Any, name: str) -> Any:
    """An array beside tensors becomes a tensor with a name, so that it is one symbol wherever the formula has it."""
    from symgrad.tensor.creation import tensor

    return tensor(value, name=name) if isinstance(value, np.ndarray) else value


def _constant(value: Any) -> Any:
    if isinstance(value, str):
        return PI
    return exact(value) if isinstance(value, Fraction) else value


def _constant_tensor(t: Term, letters: dict[str, Any]) -> Any:
    from symgrad.tensor import creation

    sizes = tuple(Size(size_value(n, letters)) for n in t.shape)
    if t.op.name == "eye":
        return creation.eye(sizes[0], dtype=t.dtype)
    return creation.full(sizes, t.params["value"], dtype=t.dtype)


def _sized(op: Op, params: dict[str, Any], letters: dict[str, Any]) -> dict[str, Any]:
    """Params with the sizes that the letters stand for."""
    out = dict(params)
    for key in op.size_params or ():
        value = out[key]
        out[key] = tuple(_size(v, letters) for v in value) if isinstance(value, tuple) else _size(value, letters)
    return out


def _size(value: Any, letters: dict[str, Any]) -> Any:
    if not isinstance(value, str):
        return value
    if value in letters:
        return letters[value] if isinstance(letters[value], str) else Size(letters[value])
    written = re.sub(r"[^\W\d]\w*", lambda m: str(letters.get(m[0], m[0])), value)
    return written if re.search(r"[^\W\d]", written) else size_value(written, {})


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

    ``value`` is a tensor, a term, or an expression that symgrad made; its canonical form is converted.  Scalars become
    plain SymPy.  Raises ``FormulaError`` for what SymPy has no node for: more than two axes, broadcasting other than by
    scalars, columns and rows, and ops such as ``softmax``.

    >>> import symgrad as sg
    >>> A = sg.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], name="A")
    >>> x = sg.tensor([1.0, 1.0], requires_grad=True, name="x")
    >>> ((A @ x) @ (A @ x)).backward()
    >>> sg.to_matexpr(x.grad)
    2*A.T*A*x
    """
    from symgrad.formula.canonical.simplify import canonical
    from symgrad.formula.sympy.matrices import matrix_expression

    if isinstance(value, Recorded):
        value = value.term  # type: ignore[attr-defined]
    elif not isinstance(value, Term):
        from symgrad.formula.sympy.terms import from_sympy_expr

        if not hasattr(value, "free_symbols"):
            raise FormulaError(f"to_matexpr() takes a tensor, a term or an expression, not {type(value).__name__}.")
        value = from_sympy_expr(value)
    return matrix_expression(canonical(value))

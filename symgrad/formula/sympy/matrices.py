"""Terms as SymPy's matrix expressions; vectors are columns of shape (n, 1), scalars are plain SymPy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import sympy as sp
from sympy.matrices.expressions.hadamard import hadamard_power

from symgrad.errors import FormulaError
from symgrad.formula.sympy.entries import size_expr
from symgrad.formula.sympy.expressions import applied, number_expr
from symgrad.formula.term import NUMBER, SIZE, SYMBOL, Term, describe, postorder

Rule = Callable[[Term, Sequence[Any]], Any]


def matrix_expression(root: Term) -> Any:
    """The matrix expression of a term, arguments first."""
    image: dict[Term, Any] = {}
    for t in postorder([root]):
        image[t] = _converted(t, [image[a] for a in t.args])
    return image[root]


def _shape(t: Term) -> tuple[Any, Any]:
    """Rows and columns."""
    if t.ndim > 2:
        raise FormulaError(f"{describe(t)} has {t.ndim} axes; SymPy's matrices have two. t.expr has no such limit.")
    rows, *rest = map(size_expr, t.shape)
    return rows, rest[0] if rest else 1


def _converted(t: Term, args: Sequence[Any]) -> Any:
    if t.op is SYMBOL:
        return sp.MatrixSymbol(t.name, *_shape(t)) if t.shape else sp.Symbol(str(t.name))
    if t.op is NUMBER:
        return number_expr(t.number)
    if t.op is SIZE:
        return size_expr(t.name)
    if t.op.identity:
        return args[0]
    if not t.shape and all(not a.shape for a in t.args) and t.op.kind == "elementwise":
        return applied(t, args)
    _shape(t) if t.shape else None
    rule = _RULES.get(t.op.name)
    found = rule(t, args) if rule is not None else None
    if found is None and t.op.kind == "elementwise":
        found = _entrywise(t, args)
    if found is None:
        raise FormulaError(f"SymPy's matrix expressions have nothing for {describe(t)}; t.expr has.")
    return found


def _entrywise(t: Term, args: Sequence[Any]) -> Any:
    """A function of one array and of scalars, applied to each entry."""
    moving = [k for k, a in enumerate(t.args) if a.shape]
    if len(moving) != 1 or t.args[moving[0]].shape != t.shape:
        return None
    (k,) = moving
    d = sp.Dummy("d")
    return args[k].applyfunc(sp.Lambda(d, applied(t, [d if j == k else a for j, a in enumerate(args)])))


def _spread(t: Term, a: Term, expr: Any) -> Any:
    """An argument at the shape of the result: scalars and vectors times ones."""
    if a.shape == t.shape:
        return expr
    rows, columns = _shape(t)
    if not a.shape:
        return expr * sp.OneMatrix(rows, columns)
    if a.ndim == 1 or a.shape[0] == 1:
        row = expr.T if a.ndim == 1 else expr
        return sp.OneMatrix(rows, 1) * row
    return expr * sp.OneMatrix(1, columns) if a.shape[1] == 1 else None


def _sum(sign: int) -> Rule:
    def rule(t: Term, args: Sequence[Any]) -> Any:
        a, b = (_spread(t, x, e) for x, e in zip(t.args, args, strict=True))
        return None if a is None or b is None else a + sign * b

    return rule


def _mul(t: Term, args: Sequence[Any]) -> Any:
    if any(not a.shape for a in t.args):
        return sp.Mul(*args) if not t.shape else args[0] * args[1]
    a, b = (_spread(t, x, e) for x, e in zip(t.args, args, strict=True))
    return None if a is None or b is None else sp.HadamardProduct(a, b)


def _div(t: Term, args: Sequence[Any]) -> Any:
    above, below = t.args
    if not below.shape:
        return args[0] / args[1]
    bottom = _spread(t, below, hadamard_power(args[1], -1))
    if not above.shape:
        return args[0] * bottom
    top = _spread(t, above, args[0])
    return None if top is None or bottom is None else sp.HadamardProduct(top, bottom)


def _pow(t: Term, args: Sequence[Any]) -> Any:
    if t.args[1].shape:
        return None
    return hadamard_power(args[0], args[1])


def _matmul(t: Term, args: Sequence[Any]) -> Any:
    x, y = t.args
    a, b = args
    if x.ndim > 2 or y.ndim > 2:
        return None
    if x.ndim == 1 and y.ndim == 1:
        return sp.Trace(a.T * b)
    return (a.T * b).T if x.ndim == 1 else a * b


def _total(t: Term, args: Sequence[Any]) -> Any:
    (x,), (expr,) = t.args, args
    rows, columns = _shape(x)
    if not t.shape:
        return sp.Trace(sp.OneMatrix(1, rows) * expr * (sp.OneMatrix(columns, 1) if columns != 1 else sp.Identity(1)))
    if t.params["dim"] == (1,):
        return expr * sp.OneMatrix(columns, 1)
    made = expr.T * sp.OneMatrix(rows, 1)
    return made.T if t.params["keepdim"] else made


def _norm(t: Term, args: Sequence[Any]) -> Any:
    (x,), (expr,) = t.args, args
    return sp.sqrt(sp.Trace(expr.T * expr)) if not t.shape and t.params["p"] == 2 and x.ndim in (1, 2) else None


def _squeeze(t: Term, args: Sequence[Any]) -> Any:
    """Axes of size 1 that go or come; nothing else."""
    (x,), (expr,) = t.args, args
    if x.ndim > 2 or [s for s in x.shape if s != 1] != [s for s in t.shape if s != 1]:
        return None
    if not t.shape:
        return expr[0, 0]
    return expr if expr.shape == _shape(t) else expr.T


def _einsum(t: Term, args: Sequence[Any]) -> Any:
    diagonal = t.params["inputs"] == ((0,),) and t.params["output"] == (0, 0)
    return sp.DiagMatrix(args[0]) if diagonal else None


def _matrices(rule: Callable[[Any], Any]) -> Rule:
    return lambda t, args: rule(args[0]) if t.args[0].ndim == 2 else None


_RULES: dict[str, Rule] = {
    "add": _sum(1),
    "sub": _sum(-1),
    "neg": lambda t, args: -args[0],
    "mul": _mul,
    "div": _div,
    "reciprocal": lambda t, args: hadamard_power(args[0], -1),
    "pow": _pow,
    "square": lambda t, args: hadamard_power(args[0], 2),
    "matmul": _matmul,
    "outer": lambda t, args: args[0] * args[1].T,
    "permute": lambda t, args: args[0] if t.ndim == 1 else args[0].T,
    "unsqueeze": lambda t, args: args[0] if t.params["dim"] == 1 else args[0].T,
    "squeeze": _squeeze,
    "reshape": _squeeze,
    "expand": lambda t, args: _spread(t, t.args[0], args[0]),
    "sum": _total,
    "norm": _norm,
    "trace": _matrices(sp.Trace),
    "det": _matrices(sp.Determinant),
    "inv": _matrices(sp.Inverse),
    "logdet": _matrices(lambda a: sp.log(sp.Determinant(a))),
    "logabsdet": _matrices(lambda a: sp.log(sp.Abs(sp.Determinant(a)))),
    "matrix_power": lambda t, args: args[0] ** t.params["n"],
    "solve": lambda t, args: sp.Inverse(args[0]) * args[1],
    "diagonal": _matrices(sp.DiagonalOf),
    "einsum": _einsum,
    "eye": lambda t, args: sp.Identity(size_expr(t.params["n"])),
    "full": lambda t, args: number_expr(t.params["value"]) * sp.OneMatrix(*_shape(t)),
    "cast": lambda t, args: args[0],
}

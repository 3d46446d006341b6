"""SymPy expressions of terms.  The way back is :mod:`symgrad.formula.sympy.terms`.

0-d formulas become plain SymPy.  For arrays SymPy's arithmetic and functions mean elementwise NumPy, and every other op
is an opaque head that carries its shape (:mod:`symgrad.formula.sympy.heads`); :func:`shape_of` tells the shape of any
such expression.  Expressions are trees, and SymPy's printers recurse, so building stops at a depth and a tree size.
"""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import sympy as sp

from symgrad.dtypes import is_floating
from symgrad.errors import FormulaError, FormulaTooDeep
from symgrad.formula.canonical.budget import WRITTEN_OUT
from symgrad.formula.canonical.chains import is_transpose
from symgrad.formula.printing.wherelist import canonical_or_raw
from symgrad.formula.sympy.columns import in_columns
from symgrad.formula.sympy.entries import indexable
from symgrad.formula.sympy.heads import _WORD, ArraySymbol, Head, SizeSymbol, Static, head, shape_of, unknown
from symgrad.formula.term import NUMBER, SIZE, SYMBOL, Term, as_term, concrete, number, postorder, symbol
from symgrad.formula.unknown import constant_text, constants
from symgrad.op import TABLE, Op, lookup
from symgrad.timing import timed

__all__ = ["DEPTH_BUDGET", "shape_of", "to_sympy"]

DEPTH_BUDGET = 150
"""Levels of nested operations an expression may have (a chain of sums or of products is one level)."""

_CACHE: weakref.WeakKeyDictionary[Term, dict[Any, Any]] = weakref.WeakKeyDictionary()
_PLAIN = ("exp", "log", "sqrt", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh",
          "atanh", "atan2", "floor", "ceil", "abs", "sign")  # fmt: skip
_RELATIONS = {"gt": sp.Gt, "ge": sp.Ge, "lt": sp.Lt, "le": sp.Le, "eq": sp.Eq, "tied": sp.Eq, "ne": sp.Ne}
_LOGIC = {"logical_and": sp.And, "logical_or": sp.Or, "logical_xor": sp.Xor, "logical_not": sp.Not}
_SUMS = ("add", "sub", "neg")
_PRODUCTS = ("mul", "div", "reciprocal")


@timed("symbolic", "to_sympy")
def to_sympy(term: Term, canonicalise: bool = True, symbols: Sequence[Term] = ()) -> Any:
    """The SymPy expression of a term, canonical form first unless ``canonicalise=False``.

    ``symbols`` are further symbols of the computation, from whose axes size letters can be read where the formula
    itself has none (``ones(n)``).  Raises ``FormulaTooDeep`` past ``DEPTH_BUDGET`` levels or ``WRITTEN_OUT`` nodes.

    >>> x = symbol("x")
    >>> to_sympy(lookup("tanh")(x) * 2)
    2*tanh(x)
    """
    key = (canonicalise, tuple(symbols))
    cache = _CACHE.setdefault(term, {})
    if key not in cache:
        made = _built(in_columns(canonical_or_raw(term)) if canonicalise else term, term, symbols)
        cache[key] = indexable(made) if term.shape and canonicalise else made
    return cache[key]


def _built(term: Term, original: Term, symbols: Sequence[Term]) -> Any:
    order = postorder([term])
    _check_size(order)
    builder = Builder([*order, *postorder([original]), *symbols])
    return builder.built(order)


def _check_size(order: Sequence[Term]) -> None:
    depth: dict[Term, int] = {}
    size: dict[Term, int] = {}
    for t in order:
        family = _family(t)
        depth[t] = max((depth[a] + (family is None or _family(a) != family) for a in t.args), default=0)
        size[t] = 1 + sum(size[a] for a in t.args)
        if depth[t] > DEPTH_BUDGET or size[t] > WRITTEN_OUT:
            measure = f"{DEPTH_BUDGET} levels" if depth[t] > DEPTH_BUDGET else f"{WRITTEN_OUT} nodes written out"
            raise FormulaTooDeep(
                f"this formula has {len(order)} distinct parts and passes the budget of {measure} for one expression; "
                "symgrad.where_list(t) gives it as short statements with named parts, at any size."
            )


def _family(t: Term) -> str | None:
    name = t.op.name
    return "sum" if name in _SUMS else "product" if name in _PRODUCTS else None


# ---------------------------------------------------------------------------------------------- building


class Builder:
    """Expressions of terms, bottom-up.  Sums and products are collected and made n-ary when something else needs them.

    ``evaluate=False`` leaves out SymPy's own simplification, which costs ten times the rest.
    """

    def __init__(self, terms: Sequence[Term], evaluate: bool = True):
        self.evaluate = evaluate
        self.uses: dict[Term, int] = {}
        self.exprs: dict[Term, Any] = {}
        self.parts: dict[Term, list[Any]] = {}
        self.shapes: dict[Any, Any] = {}
        self.others: dict[str, list[Any]] = {}
        self.letters: dict[str, Any] = {}
        for t in terms:
            if t.op is SYMBOL:
                array = symbol_expr(t)
                for axis, letter in enumerate(t.shape):
                    if isinstance(letter, str) and letter.isidentifier():
                        self.letters.setdefault(letter, SizeSymbol(letter, array, axis))

    def built(self, order: Sequence[Term]) -> Any:
        """The expression of the last term of a postorder."""
        for t in order:
            for a in t.args:
                self.uses[a] = self.uses.get(a, 0) + 1
        for t in order:
            self.add(t)
        return as_number(self.image(order[-1]))

    def image(self, t: Term) -> Any:
        """The expression of a term whose arguments were added."""
        if t not in self.exprs:
            parts = self.parts.pop(t)
            if self.evaluate:
                made = sp.Add(*parts) if _family(t) == "sum" else _product(parts)
            else:
                made = (sp.Add if _family(t) == "sum" else sp.Mul)(*parts, evaluate=False)
            self.exprs[t] = self._shaped(made, t)
        return self.exprs[t]

    def add(self, t: Term) -> None:
        """Build one term."""
        family = _family(t)
        if family == "sum":
            self.parts[t] = self._summands(t)
        elif family == "product":
            self.parts[t] = self._factors(t)
        else:
            self.exprs[t] = self._shaped(self._node(t), t)

    def _joined(self, t: Term, family: str) -> list[Any]:
        """The parts of an argument that continues the chain, else the argument as one part.

        The list is taken over from an argument with one use, so that a long chain costs linear time.
        """
        if t in self.parts and _family(t) == family:
            return self.parts.pop(t) if self.uses.get(t) == 1 else list(self.parts[t])
        return [as_number(self.image(t))]

    def _summands(self, t: Term) -> list[Any]:
        first = self._joined(t.args[0], "sum")
        if t.op.name == "neg":
            return [-p for p in first]
        second = self._joined(t.args[1], "sum")
        first.extend(second if t.op.name == "add" else [-p for p in second])
        return first

    def _factors(self, t: Term) -> list[Any]:
        first = self._joined(t.args[0], "product")
        if t.op.name == "reciprocal":
            return [_power(p, sp.Integer(-1)) for p in first]
        second = self._joined(t.args[1], "product")
        first.extend(second if t.op.name == "mul" else [_power(p, sp.Integer(-1)) for p in second])
        return first

    def _shaped(self, expr: Any, t: Term) -> Any:
        """``expr``, broadcast where SymPy's simplification lost the shape (u - u is 0, p or not p is true)."""
        if not t.shape:
            return expr
        if expr in (sp.true, sp.false):
            return self._head("full", (), {"shape": t.shape, "value": bool(expr), "dtype": "bool"})
        if isinstance(expr, sp.logic.boolalg.Boolean) or shape_of(expr, self.shapes) == t.shape:
            return expr
        if expr.is_number:
            return self._head(
                "full", (), {"shape": t.shape, "value": _plain_number(expr), "dtype": str(t.dtype or "float64")}
            )
        return self._head("expand", (expr,), {"shape": t.shape})

    def _head(self, name: str, operands: Sequence[Any], params: dict[str, Any]) -> Any:
        op = lookup(name)
        letters = tuple(dict.fromkeys(w for k in op.size_params or () for w in _letters(params[k])))
        static = Static(sorted(params.items()), letters)
        return head(name)(*operands, static, *(self.size(w) for w in letters))

    def size(self, letter: str) -> Any:
        """The symbol of a size letter."""
        return self.letters.get(letter) or sp.Symbol(letter, integer=True, positive=True)

    def _node(self, t: Term) -> Any:
        name, op = t.op.name, t.op
        if op is SYMBOL:
            return symbol_expr(t)
        if op is NUMBER:
            return number_expr(t.number)
        if op is SIZE:
            return self.size(t.params["name"])
        if is_transpose(t) and t.args[0].op.name == "conj":
            return self._head("adjoint", [as_number(self.image(t.args[0].args[0]))], {})
        args = [self.image(a) for a in t.args]
        if name in _RELATIONS:
            return _RELATIONS[name](*map(as_number, args))
        if name in _LOGIC and len({a.shape for a in t.args}) == 1:
            return _LOGIC[name](*map(as_condition, args))
        if name == "where":
            return chosen(as_condition(args[0]), as_number(args[1]), as_number(args[2]))
        numbers = [as_number(a) for a in args]
        if not self.evaluate and name in _PLAIN:
            return sp.Function.__new__(_class(name), *numbers, evaluate=False) if name != "sqrt" else sp.sqrt(*numbers)
        if op.identity:
            return numbers[0]
        rule = _NODES.get(name)
        if rule is not None:
            return rule(t, *numbers)
        if op.kind == "opaque" or op.infer is None or op.name not in TABLE:
            return self._unknown(t, numbers)
        return head(name)(*numbers) if op.kind == "elementwise" else self._head(name, numbers, t.params)

    def _unknown(self, t: Term, operands: Sequence[Any]) -> Any:
        """A function that is not of the table, with a symbol for every argument that is neither array nor number."""
        rest: list[Any] = []
        for value in constants(t):
            if isinstance(value, (int, float)):
                rest.append(number_expr(value))
                continue
            text = constant_text(value)
            same = self.others.setdefault(text, [])
            if not any(value is other for other in same):
                same.append(value)
            k = next(k for k, other in enumerate(same) if value is other)
            rest.append(sp.Symbol(f"{text}_{k}" if k else text))
        return unknown(t.op.name, t.shape)(*operands, *rest)


def _letters(value: Any) -> list[str]:
    if isinstance(value, tuple):
        return [w for v in value for w in _letters(v)]
    return [w for w in _WORD.findall(value) if w not in ("len", "range", "None")] if isinstance(value, str) else []


def symbol_expr(t: Term) -> Any:
    """A plain SymPy symbol for a scalar, an :class:`ArraySymbol` for an array."""
    name = t.params["name"]
    return ArraySymbol(name, t.shape) if t.shape else sp.Symbol(name)


def number_expr(value: Any) -> Any:
    """A constant in SymPy: exact when it is exact; a float prints with the digits that give back its every bit."""
    if isinstance(value, str):
        return sp.pi
    if isinstance(value, (bool, np.bool_)):
        return sp.Integer(int(value))
    if isinstance(value, int):
        return sp.Integer(value)
    if isinstance(value, Fraction):
        return sp.Rational(value.numerator, value.denominator)
    if isinstance(value, complex):
        return number_expr(value.real) + sp.I * number_expr(value.imag)
    if math.isnan(value):
        return sp.nan
    if math.isinf(value):
        return sp.oo if value > 0 else -sp.oo
    short = sp.Float(repr(value), 17)
    return short if float(short) == value else sp.Float(value, 17)


def _plain_number(expr: Any) -> Any:
    if expr.is_Integer:
        return int(expr)
    return Fraction(int(expr.p), int(expr.q)) if expr.is_Rational else float(expr)


def chosen(condition: Any, a: Any, b: Any) -> Any:
    """``a`` where the condition holds, else ``b``: plain SymPy for scalars, NumPy's ``where`` for arrays.

    SymPy's ``Piecewise`` solves and merges its conditions, which is right for numbers and not for arrays.
    """
    if condition in (sp.true, sp.false):
        return a if condition is sp.true else b
    if any(e.has(ArraySymbol, Head) for e in (condition, a, b)):
        return head("where")(condition, a, b, Static(()))
    return sp.Piecewise((a, condition), (b, True))


def as_number(expr: Any) -> Any:
    """A condition as 1 and 0; anything else as it is."""
    if isinstance(expr, sp.logic.boolalg.Boolean) and not isinstance(expr, sp.Symbol):
        return chosen(expr, sp.Integer(1), sp.Integer(0))
    return expr


def as_condition(expr: Any) -> Any:
    """A number as the condition that it is not zero."""
    if isinstance(expr, sp.logic.boolalg.Boolean):
        return expr
    if isinstance(expr, Head) and expr.op_name == "where" and expr.args[1:3] == (1, 0):
        return expr.args[0]
    if isinstance(expr, sp.Piecewise) and expr.args[0][0] == 1 and expr.args[-1][0] == 0 and len(expr.args) == 2:
        return expr.args[0][1]
    return sp.Ne(expr, 0)


def _product(parts: Sequence[Any]) -> Any:
    """The product, kept as written where SymPy would cancel a factor against its own inverse."""
    above: set[Any] = set()
    below: set[Any] = set()
    for part in parts:
        for factor in sp.Mul.make_args(part):
            base, exponent = factor.as_base_exp()
            if not base.is_number:
                (below if exponent.could_extract_minus_sign() else above).add(base)
    return sp.Mul(*parts, evaluate=not above & below)


def _power(base: Any, exponent: Any) -> Any:
    if exponent == -1 and base.is_zero:
        return sp.Pow(base, exponent, evaluate=False)
    return sp.Pow(base, exponent)


def _exp(t: Term, x: Any) -> Any:
    return sp.exp(x, evaluate=not x.has(sp.log))


def _extreme(name: str, function: Any) -> Callable[..., Any]:
    def build(t: Term, *args: Any) -> Any:
        return head(name)(*args) if t.shape else function(*args)

    return build


def _cast(t: Term, x: Any) -> Any:
    """Casts among floats do not show; those that round do."""
    if np.dtype(t.params["dtype"]).kind in "iub" and (t.args[0].dtype is None or is_floating(t.args[0].dtype)):
        return head("cast")(x, Static(sorted(t.params.items())))
    return x


def _class(name: str) -> Any:
    return getattr(sp, lookup(name).sympy or name)


def _function(name: str) -> Callable[..., Any]:
    function = _class(name)
    return lambda t, *args: function(*args)


_NODES: dict[str, Callable[..., Any]] = {
    **{name: _function(name) for name in _PLAIN},
    "exp": _exp,
    "pow": lambda t, x, y: _power(x, y),
    "square": lambda t, x: _power(x, sp.Integer(2)),
    "rsqrt": lambda t, x: _power(x, sp.Rational(-1, 2)),
    "maximum": _extreme("maximum", sp.Max),
    "minimum": _extreme("minimum", sp.Min),
    "clamp_min": _extreme("maximum", sp.Max),
    "clamp_max": _extreme("minimum", sp.Min),
    "relu": lambda t, x: head("relu")(x) if t.shape else sp.Max(x, 0),
    "cast": _cast,
}


def applied(t: Term, args: Sequence[Any]) -> Any:
    """The elementwise op of a term at other expressions: its form at symbols, with these in their places."""
    stands = [a if a.op is NUMBER else symbol(f"_{k}", (), a.dtype or float) for k, a in enumerate(t.args)]
    made = to_sympy(t.op(*stands, **concrete(t.op, t.params, {})), canonicalise=False)
    return _filled(made, args)


def _filled(made: Any, args: Sequence[Any]) -> Any:
    return made.xreplace({sp.Symbol(f"_{k}"): a for k, a in enumerate(args)})


def partial(op: Op, args: Sequence[Any], i: int) -> Any:
    """The partial derivative of an elementwise op by argument ``i``, at SymPy arguments."""
    inputs = [symbol(f"_{k}") for k in range(len(args))]
    g = number(1, np.dtype(float))
    pulled = op.pullback(i, g, op(*inputs), inputs, {})
    if pulled is None:
        raise FormulaError(f"{op.name} has no derivative by argument {i + 1}")
    return _filled(to_sympy(as_term(pulled), canonicalise=False), args)

"""The way back: terms of SymPy expressions."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import sympy as sp

from symgrad.errors import FormulaError
from symgrad.formula.reading.indices import Indexed, entry_by_entry
from symgrad.formula.sympy.heads import Head, SizeSymbol, Static
from symgrad.formula.term import Term, apply, as_term, number, size_letter, symbol
from symgrad.op import TABLE, lookup


def from_sympy_expr(expr: Any, symbols: Any = None, indices: Sequence[str] | None = None) -> Term:
    """The term of an expression: SymPy's elementwise functions, heads, matrix and array nodes, entries with indices.

    It is the inverse of :func:`to_sympy`.  ``symbols`` gives the shape and dtype of symbols, as ``{name: (shape,
    dtype)}`` or a list of symbol terms; others are float64 scalars, or arrays of the shape that their symbol states.
    ``indices`` is the order of the free indices of an expression of entries; without it it is alphabetical.

    >>> from_sympy_expr(sp.sin(sp.Symbol("x")) ** 2)
    <term pow(…, 2)>
    """
    from symgrad.formula.reading.text import symbol_table
    from symgrad.formula.sympy import nodes

    table = symbol_table(symbols or {})
    bounds = nodes.Bounds(expr, table)
    image: dict[Any, Any] = {}
    stack = [expr]
    while stack:
        item = stack[-1]
        if item in image or isinstance(item, Static):
            stack.pop()
            continue
        if isinstance(item, nodes.REFUSED):
            raise nodes.refused(item)
        below = nodes.children(item) if nodes.handled(item) else item.args
        missing = [a for a in below if a not in image and not isinstance(a, Static)]
        if missing:
            stack.extend(reversed(missing))
            continue
        args = [image.get(a) for a in below]
        if nodes.handled(item):
            made = nodes.node(item, args, bounds, from_sympy_expr)
        elif any(isinstance(a, Indexed) for a in args):
            made = _of_entries(item, args, table)
        elif isinstance(item, sp.Symbol) and item.name not in table and _is_size(item.name, bounds.letters):
            made = size_letter(item.name)
        else:
            made = _term(item, args, table)
        image[stack.pop()] = made
    found = image[expr]
    if isinstance(found, Indexed):
        order = sorted(found.letters) if indices is None else [str(i) for i in indices]
        if sorted(order) != sorted(found.letters):
            raise FormulaError(f"the free indices are {', '.join(sorted(found.letters))}, not {', '.join(order)}.")
        return found.contracted(order)
    return found  # type: ignore[no-any-return]


def _is_size(name: str, letters: set[str]) -> bool:
    """Whether a symbol is a size: a letter that shapes have, or the length of a slice."""
    return name in letters or name.startswith("len(range(")


def _of_entries(item: Any, args: list[Any], table: dict[str, Term]) -> Any:
    """A product or a function of entries with indices."""
    if isinstance(item, sp.Mul):
        out = args[0] if isinstance(args[0], Indexed) else Indexed([(args[0], ())])
        for a in args[1:]:
            out = out.times(a)
        return out
    return entry_by_entry(lambda *terms: _term(item, list(terms), table), args)


def _term(item: Any, args: list[Any], table: dict[str, Term]) -> Any:
    if isinstance(item, SizeSymbol):
        return size_letter(item.name)
    if isinstance(item, sp.Symbol):
        return table[item.name] if item.name in table else symbol(item.name, getattr(item, "shape", ()))
    if isinstance(item, Head):
        return apply(item.op, tuple(args[: len(item.operands)]), item.params)
    found = _BACK.get(type(item).__name__)
    if found is not None:
        return found(args)
    if item.is_number and not item.args:
        return _number_term(item)
    if isinstance(item, (sp.Add, sp.Mul)):
        return _folded(item, args)
    if isinstance(item, (sp.Max, sp.Min)):
        op = lookup("maximum" if isinstance(item, sp.Max) else "minimum")
        return functools.reduce(op, args)
    if isinstance(item, sp.functions.elementary.piecewise.ExprCondPair) or item in (sp.true, sp.false):
        return args or number(item is sp.true)
    if isinstance(item, sp.Piecewise):
        return _piecewise(args)
    name = _op_name(item)
    if name not in TABLE or isinstance(item, sp.core.function.AppliedUndef):
        from symgrad.formula.sympy.nodes import refused

        raise refused(item)
    return lookup(name)(*args)


def _piecewise(pairs: list[Any]) -> Any:
    """The first value whose condition holds; without a last one for the rest there is no number."""
    out: Any = pairs[-1][0] if pairs[-1][1].number is True else number(float("nan"))
    for value, condition in reversed(pairs[:-1] if pairs[-1][1].number is True else pairs):
        out = lookup("where")(condition, value, out)
    return out


def _number_term(item: Any) -> Term:
    if item is sp.pi:
        from symgrad.ops.rules.constants import PI

        return as_term(PI)
    if item is sp.E:
        return lookup("exp")(number(1))  # type: ignore[no-any-return]
    if item is sp.I:
        return number(1j)
    if item.is_Rational:
        return number(Fraction(int(item.p), int(item.q)))
    return number(float(item))


def _folded(item: Any, args: Sequence[Term]) -> Any:
    if isinstance(item, sp.Add):
        return functools.reduce(lookup("add"), args)
    above = [a for a, e in zip(args, item.args, strict=True) if not _is_inverse(e)]
    below = [_inverted(a) for a, e in zip(args, item.args, strict=True) if _is_inverse(e)]
    top = functools.reduce(lookup("mul"), above) if above else number(1)
    return lookup("div")(top, functools.reduce(lookup("mul"), below)) if below else top


def _is_inverse(e: Any) -> bool:
    return bool(e.is_Pow and e.exp.is_Rational and e.exp < 0 and not e.base.is_Rational)


def _inverted(a: Term) -> Any:
    """The base (to a positive power) of a factor with a negative exponent."""
    if a.op.name == "div":
        return a.args[1]
    base, exponent = a.args
    return lookup("pow")(base, lookup("neg")(exponent))


def _pow(args: list[Term]) -> Any:
    base, exponent = args
    if exponent.number == Fraction(1, 2):
        return lookup("sqrt")(base)
    return lookup("div")(1, base) if exponent.number == -1 else lookup("pow")(base, exponent)


def _of_order(name: str, order: Term, x: Term) -> Any:
    n = _whole(name, order)
    return lookup("digamma")(x) if name == "polygamma" and not n else lookup(name)(x, n=n)


def _whole(name: str, order: Term) -> int:
    if not isinstance(order.number, int):
        raise FormulaError(f"{name} is read for whole orders only.")
    return order.number


def _op_name(item: Any) -> str:
    """The op of a SymPy function or head: as its entry says, or of the same name."""
    name = type(item).__name__
    if name in _NAMES:
        return _NAMES[name]
    said = (op.name for op in TABLE.values() if op.sympy == name)
    return getattr(item, "op_name", None) or next(said, name)


_NAMES = {"Mod": "remainder", "re": "real", "im": "imag", "conjugate": "conj", "arg": "angle"}


"""SymPy's functions whose ops do not become them again."""


_BACK: dict[str, Callable[[list[Any]], Any]] = {
    "Pow": _pow,
    "StrictGreaterThan": lambda a: lookup("gt")(*a),
    "GreaterThan": lambda a: lookup("ge")(*a),
    "StrictLessThan": lambda a: lookup("lt")(*a),
    "LessThan": lambda a: lookup("le")(*a),
    "Equality": lambda a: lookup("eq")(*a),
    "Unequality": lambda a: lookup("ne")(*a),
    "And": lambda a: functools.reduce(lookup("logical_and"), a),
    "Or": lambda a: functools.reduce(lookup("logical_or"), a),
    "Xor": lambda a: functools.reduce(lookup("logical_xor"), a),
    "Not": lambda a: lookup("logical_not")(*a),
    "ITE": lambda a: lookup("where")(*a),
    "sec": lambda a: lookup("div")(1, lookup("cos")(*a)),
    "csc": lambda a: lookup("div")(1, lookup("sin")(*a)),
    "cot": lambda a: lookup("div")(1, lookup("tan")(*a)),
    "polygamma": lambda a: _of_order("polygamma", *a),
    "Heaviside": lambda a: lookup("heaviside")(*a),
    "besselj": lambda a: _of_order("bessel_j", *a),
    "besseli": lambda a: _of_order("bessel_i", *a),
    "bessely": lambda a: _of_order("bessel_y", *a),
    "besselk": lambda a: _of_order("bessel_k", *a),
    "expint": lambda a: _of_order("expn", *a),
    "LambertW": lambda a: lookup("lambertw_lower" if a[1:] and a[1].number == -1 else "lambertw")(a[0]),
    "jn": lambda a: _of_order("spherical_jn", *a),
    "yn": lambda a: _of_order("spherical_yn", *a),
    "elliptic_e": lambda a: lookup("ellipe" if len(a) == 1 else "ellipeinc")(*a),
    "factorial": lambda a: lookup("gamma")(lookup("add")(a[0], 1)),
    "zeta": lambda a: lookup("zeta")(a[0], a[1] if len(a) > 1 else 1),
    "chebyshevt": lambda a: _of_order("chebyshev_polynomial_t", *a),
    "chebyshevu": lambda a: lookup("gegenbauer_polynomial")(a[1], n=_whole("chebyshevu", a[0]), a=1.0),
    "legendre": lambda a: lookup("gegenbauer_polynomial")(a[1], n=_whole("legendre", a[0]), a=0.5),
    "gegenbauer": lambda a: lookup("gegenbauer_polynomial")(a[2], n=_whole("gegenbauer", a[0]), a=float(a[1].number)),
    "laguerre": lambda a: lookup("laguerre_polynomial")(a[1], n=_whole("laguerre", a[0]), a=0),
    "assoc_laguerre": lambda a: lookup("laguerre_polynomial")(
        a[2], n=_whole("laguerre", a[0]), a=_whole("laguerre", a[1])
    ),
    "hermite": lambda a: _of_order("hermite_polynomial_h", *a),
    "hermite_prob": lambda a: _of_order("hermite_polynomial_he", *a),
}

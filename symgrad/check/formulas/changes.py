"""Mistakes in formulas: the single changes of a term that people make, or that undo what they made."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any

from symgrad.formula.term import (
    SIZE,
    SYMBOL,
    Term,
    number,
    postorder,
    size_letter,
    size_product,
)
from symgrad.op import lookup
from symgrad.op.operators import WRITTEN

Change = tuple[str, Term, Any, Any]
"""(kind, changed part, what it becomes, further words)"""


class Later:
    """An op with its arguments, applied when it is tried: many of them do not fit."""

    def __init__(self, name: str, args: tuple[Any, ...], params: dict[str, Any]):
        self.name = name
        self.args = args
        self.params = params

    def term(self) -> Any:
        """The term; errors of shapes come from here."""
        return lookup(self.name)(*(a.term() if isinstance(a, Later) else a for a in self.args), **self.params)


def op(name: str, *args: Any, **params: Any) -> Later:
    """An op of the table on terms, for later."""
    return Later(name, args, params)


def changes(root: Term, symbols: Sequence[Term] = ()) -> Iterator[Change]:
    """Every single mistake that can be made, or undone, in a formula; the likelier kinds first.

    ``symbols`` are those that one in the formula may have been taken for.
    """
    order = list(reversed(postorder([root])))
    letters = dict.fromkeys(x for s in symbols for x in s.shape if isinstance(x, str))
    for t in order:
        yield from _sizes(t)
        yield from (
            ("size", t, size_letter(x), size_letter(x)) for x in letters if t.op is SIZE and x != t.params["name"]
        )
    for t in (t for t in order if t.op is SYMBOL):
        yield from (("variable", t, s, s) for s in symbols if s is not t and s.shape == t.shape)
    for rules in _RULES:
        for t in order:
            for rule in rules:
                yield from rule(t)


def _terms(t: Term) -> Iterator[Change]:
    if t.op.name not in ("add", "sub"):
        return
    a, b = t.args
    minus = t.op.name == "sub"
    if b.shape == t.shape or not b.shape:
        yield "sign", t, op("add" if minus else "sub", a, b), b
        if a.shape == t.shape:
            yield "term", t, a, b
    if a.shape == t.shape or not a.shape:
        yield (
            "sign",
            t,
            op("add" if not minus else "sub", op("neg", a), b) if not minus else op("neg", op("add", a, b)),
            a,
        )
        if b.shape == t.shape:
            yield "term", t, op("neg", b) if minus else b, a


def _sizes(t: Term) -> Iterator[Change]:
    """A size that is too large or too small by one, and a sum for a mean."""
    if t.op is SIZE:
        yield from (("size", t, number(1) * s, s) for s in (op("sub", t, 1).term(), op("add", t, 1).term()))
    if t.op.name in ("add", "sub") and t.args[0].op is SIZE and t.args[1].number in (1, -1):
        yield "size", t, t.args[0], t.args[0]
    if t.op.name == "sum" and t.args[0].ndim:
        summed = [t.args[0].shape[k] for k in t.params["dim"]]
        yield "mean", t, op("div", t, size_product(summed)), None
    if t.op.name == "matmul" and t.args[0].ndim == 1:
        yield "mean", t, op("div", t, size_letter(t.args[0].shape[0])), None


def _complements(t: Term) -> Iterator[Change]:
    """p for 1 - p, and the other way round."""
    if t.op.name == "sub" and t.args[0].number == 1:
        yield "complement", t, t.args[1], t.args[1]
    elif t.op.name == "add" and t.args[1].number == 1 and t.args[0].op.name == "neg":
        yield "complement", t, t.args[0].args[0], t.args[0].args[0]
    elif t.op.name in ("sigmoid", "softmax", "ndtr") or t.op is SYMBOL:
        yield "complement", t, op("sub", 1, t), op("sub", 1, t).term()


def _products(t: Term) -> Iterator[Change]:
    name = t.op.name
    if name == "mul" and all(a.ndim for a in t.args):
        yield "product", t, op("matmul", *t.args), "@ for *"
        if t.args[1].ndim == 2:
            yield "product", t, op("matmul", t.args[0], t.args[1].T), "@ for *"
    if name == "matmul":
        a, b = t.args
        yield "order", t, op("matmul", b, a), None
        yield "product", t, op("mul", a, b), "* for @"
        if a.ndim == 1 and b.ndim == 1:
            yield "product", t, op("outer", a, b), "outer product for dot product"
        yield "transpose", t, op("matmul", a.T, b), a
        yield "transpose", t, op("matmul", a, b.T), b
        yield "transpose", t, op("matmul", a.T, b.T), a
    if name == "outer":
        yield "order", t, op("outer", *reversed(t.args)), None
    if name == "einsum" and len(t.args) == 1 and t.params["inputs"] == ((0,),) and t.params["output"] == (0, 0):
        yield "diag", t, t.args[0], None


def _transposes(t: Term) -> Iterator[Change]:
    if t.op.name == "permute" and t.ndim == 2:
        yield "transpose", t, t.args[0], t.args[0]
    elif t.ndim == 2 and t.shape[0] == t.shape[1]:
        yield "transpose", t, t.T, t


def _powers(t: Term) -> Iterator[Change]:
    if t.op.name == "pow" and t.args[1].number is not None:
        base, exponent = t.args
        p = exponent.number
        if isinstance(p, (int, float, Fraction)) and not isinstance(p, bool):
            p = Fraction(p).limit_denominator(1000) if not isinstance(p, Fraction) else p
            for other in (p - 1, p + 1, -p, p * 2, p / 2, p - 2, p + 2, p - Fraction(1, 2), p + Fraction(1, 2)):
                yield "exponent", t, op("pow", base, number(other)) if other else number(1), (p, other)
    elif t.op.name in ("sqrt", "square", "reciprocal", "cbrt"):
        yield "exponent", t, t.args[0], (t.op.name, 1)
        if t.op.name == "sqrt":
            yield "exponent", t, op("pow", t.args[0], number(Fraction(3, 2))), (Fraction(1, 2), Fraction(3, 2))
            yield "exponent", t, op("mul", t.args[0], t.args[0]), (Fraction(1, 2), 2)
    elif t.op.name == "inv":
        yield "inverse", t, t.args[0], ""
    elif t.op is SYMBOL and t.ndim == 2 and t.shape[0] == t.shape[1]:
        yield "inverse", t, op("inv", t), "added"
    if t.op.name == "div":
        yield "exponent", t, op("div", t.args[1], t.args[0]), (1, -1)
        yield "exponent", t, op("mul", t.args[0], t.args[1]), (-1, 1)
        yield "exponent", t, op("div", op("div", *t.args), t.args[1]), (-1, -2)
    if (t.args and t.op.name in ("norm", "det")) or (
        (t.op is SYMBOL or t.op.kind == "elementwise") and t.op.name not in WRITTEN and not _is_condition(t)
    ):
        yield "exponent", t, op("mul", t, t), (1, 2)
        yield "exponent", t, op("mul", op("mul", t, t), t), (1, 3)
        yield "exponent", t, op("div", 1, t), (1, -1)
        yield "exponent", t, op("sqrt", t), (1, Fraction(1, 2))


def _is_condition(t: Term) -> bool:
    return t.dtype is not None and t.dtype.kind == "b"


def _functions(t: Term) -> Iterator[Change]:
    for twin in t.op.twins or ():
        yield "function", t, op(twin, *t.args, **t.params), (t.op.name, twin)
    if t.op.kind == "elementwise" and len(t.args) == 1 and t.op.name != "neg":
        yield "function", t, t.args[0], (t.op.name, "")
    if t.op.name in ("sum", "mean", "trace") and t.args[0].ndim:
        yield "sum", t, t.args[0], None
    if t.op.name == "trace":
        yield "function", t, op("sum", t.args[0], dim=(0, 1), keepdim=False), ("trace", "sum")
    if t.op.name == "sum" and t.args[0].ndim == 2 and not t.ndim and t.args[0].shape[0] == t.args[0].shape[1]:
        yield "function", t, op("trace", t.args[0]), ("sum", "trace")
    if t.op is SYMBOL and t.ndim:
        yield "function", t, op("sum", t, dim=tuple(range(t.ndim)), keepdim=False), ("", "sum")


def _factors(t: Term) -> Iterator[Change]:
    if t.op.name == "mul":
        for kept, gone in (t.args, t.args[::-1]):
            if kept.shape in (t.shape, ()):
                yield from _without(t, kept, gone)
    if t.op.name in ("matmul", "outer"):
        for kept, gone in (t.args, t.args[::-1]):
            if kept.shape == t.shape:
                yield from _without(t, kept, gone)
            elif kept.ndim == 1:
                yield "missing factor", t, op("sum", kept, dim=(0,), keepdim=False), gone
    if t.op.name == "div" and t.args[0].shape in (t.shape, ()):
        yield "missing factor", t, t.args[0], op("div", 1, t.args[1])
    if t.op.name == "div" and t.args[0].number is None and t.args[1].shape == t.shape:
        yield from _without(t, op("div", number(1), t.args[1]), t.args[0])
    if t.op.name == "where" and t.args[2].number == 0 and t.args[1].shape in (t.shape, ()):
        yield "missing factor", t, t.args[1], t.args[0]
    if t.op.name == "neg":
        yield "sign", t, t.args[0], t.args[0]


def _without(t: Term, kept: Term | Later, gone: Term) -> Iterator[Change]:
    """A product without a factor, and without what that is but for its sign, as in (Xw - y)·x for -(y - Xw)·x."""
    yield "missing factor", t, kept, gone
    if gone.op.name in ("neg", "sub"):
        yield (
            "missing factor",
            t,
            op("neg", kept),
            op("sub", *gone.args[::-1]) if gone.op.name == "sub" else gone.args[0],
        )


def _axes(t: Term) -> Iterator[Change]:
    """Another axis, of a sum, a softmax or what else runs along one."""
    dim, count = t.params.get("dim"), t.args[0].ndim if t.args else 0
    axis = dim[0] if isinstance(dim, tuple) and len(dim) == 1 else dim
    if type(axis) is int and len(t.args) == 1:
        for other in range(count):
            if other != axis % count:
                changed = {**t.params, "dim": (other,) if isinstance(dim, tuple) else other}
                yield "axis", t, op(t.op.name, t.args[0], **changed), (axis % count, other)


def _scaled(t: Term) -> Iterator[Change]:
    known = isinstance(t.number, (int, Fraction, float)) and not isinstance(t.number, bool)
    if known and math.isfinite(t.number):
        v = Fraction(t.number).limit_denominator(10**6)
        for other in (-v, 2 * v, v / 2, v + 1, v - 1, 1 / v if v else v, 3 * v, v / 3):
            if other != v:
                yield "constant", t, number(other), (v, other)
    elif t.op is not SYMBOL or t.args == ():
        yield "sign", t, op("neg", t), t
        yield "factor", t, op("mul", number(2), t), 2
        yield "factor", t, op("mul", number(Fraction(1, 2)), t), Fraction(1, 2)


_RULES: tuple[tuple[Callable[[Term], Iterator[Change]], ...], ...] = (
    (_terms,),
    (_products, _transposes),
    (_factors,),
    (_powers,),
    (_complements, _functions),
    (_axes,),
    (_scaled,),
)


def factors(root: Term) -> Iterator[Change]:
    """The changes that leave out a factor of the whole formula."""
    stack = [root]
    while stack:
        t = stack.pop()
        yield from (c for c in _factors(t) if c[0] == "missing factor")
        if t.op.name in ("mul", "div", "neg"):
            stack += [a for a in t.args if a.shape == t.shape and a.op.name in ("mul", "div", "neg")]

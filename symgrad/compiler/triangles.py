"""Gradients through Cholesky factors, of which the rule takes the lower triangle of Lᵀ X.

X is a sum of what the readers of L gave.  Of a diagonal matrix D the triangle is the diagonal of L times that of D; of
a triangle of Y it is that of Lᵀ Y, as the rows above do not reach it; and where X is L⁻ᵀ B, from a system that was
solved, it is that of B.  So a likelihood's gradient neither solves that system nor multiplies matrices for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from symgrad.formula.term import Term, make, rebuilt
from symgrad.op import lookup
from symgrad.ops.linalg.contraction import einsum_op


def with_triangles(outputs: Sequence[Term], order: Sequence[Term]) -> list[Term]:
    """The outputs, whose terms are in ``order``, with the rewrites of this module."""
    if not any(_is_factor(term) for term in order):
        return list(outputs)
    readers: dict[Term, list[Term]] = {}
    for term in order:
        for a in term.args:
            readers.setdefault(a, []).append(term)
    asked = set(outputs)

    def change(term: Term, args: tuple[Any, ...]) -> Term:
        found = None
        if term.op.name == "matmul" and term not in asked and _turned_factor(args[0]):
            alone = readers[term.args[1]] == [term] and term.args[1] not in asked
            found = _lower(term, *args) if alone and all(map(_below, readers[term])) else None
        if found is None and args is not term.args:
            found = make(term.op, args, term.params, term.shape, term.dtype)
        return term if found is None else found

    return rebuilt(outputs, change, order)


def _is_factor(term: Term) -> bool:
    return term.op.name == "cholesky" and term.ndim == 2 and term.dtype is not None and term.dtype.kind == "f"


def _turned_factor(term: Term) -> bool:
    return term.op.name == "permute" and term.params["dims"] == (1, 0) and _is_factor(term.args[0])


def _below(term: Term) -> bool:
    """Whether a term reads nothing but the lower triangle of its operand."""
    if term.op.name == "tril":
        return bool(term.params["k"] <= 0)
    return term.op.name == "diagonal" and term.params["offset"] == 0


def _lower(product: Term, turned: Term, x: Term) -> Term | None:
    """What has the lower triangle of Lᵀ X, with fewer products and systems; None where nothing is saved."""
    whole: Term | None = None
    rest: Term | None = None
    for minus, part in _addends(x):
        short = _short(turned, part)
        if short is None:
            rest = _joined(rest, minus, _stripped(part))
        else:
            whole = _joined(whole, minus, short)
    if whole is None:
        return None
    if rest is None:
        return whole
    return _joined(whole, False, make(product.op, (turned, rest), {}, product.shape, product.dtype))


def _addends(x: Term) -> list[tuple[bool, Term]]:
    """The terms of a sum with their signs: whether each is taken off."""
    found, stack = [], [(False, x)]
    while stack:
        minus, x = stack.pop()
        if x.op.name == "neg":
            stack.append((not minus, x.args[0]))
        elif x.op.name in ("add", "sub"):
            stack.append((minus != (x.op.name == "sub"), x.args[1]))
            stack.append((minus, x.args[0]))
        else:
            found.append((minus, x))
    return found


def _joined(total: Term | None, minus: bool, part: Term) -> Term:
    if total is None:
        return make(lookup("neg"), (part,), {}, part.shape, part.dtype) if minus else part
    return make(lookup("sub" if minus else "add"), (total, part), {}, part.shape, part.dtype)


def _stripped(x: Term) -> Term:
    return x.args[0] if x.op.name == "tril" and x.params["k"] == 0 else x


def _short(turned: Term, x: Term) -> Term | None:
    """What has the lower triangle of Lᵀ X for one addend X, where no product with Lᵀ is needed."""
    factor = turned.args[0]
    y = _stripped(x)
    if y.op is einsum_op and len(y.args) == 1 and y.params["inputs"] == ((0,),) and y.params["output"] == (0, 0):
        d = y.args[0]
        own = lookup("diagonal")(factor, offset=0, dim1=0, dim2=1)
        scaled = make(lookup("mul"), (own, d), {}, d.shape, factor.dtype)
        return make(y.op, (scaled,), y.params, y.shape, y.dtype)
    if y.op.name == "matmul" and (b := _solved(turned, y.args[0])) is not None:
        return make(y.op, (b, y.args[1]), y.params, y.shape, y.dtype)
    return _solved(turned, y)


def _solved(turned: Term, x: Term) -> Term | None:
    """B of L⁻ᵀ B."""
    if x.op.name == "solve_triangular" and x.args[0] is turned and x.params["upper"] and not x.params["unit"]:
        return x.args[1]
    return None

"""Gradients through Cholesky factors, of which the rule takes the lower triangle of Lᵀ X.

X is a sum of what the readers of L gave.  Of a diagonal matrix D the triangle is the diagonal of L times that of D; of
a triangle of Y it is that of Lᵀ Y, as the rows above do not reach it; and where X is L⁻ᵀ B, from a system that was
solved, it is that of B.  So a likelihood's gradient neither solves that system nor multiplies matrices for it.

Systems that are left have right sides without numbers, so that one whose right side is half of another's is not solved
again.  They stay systems though L⁻¹ is computed, too: of smooth data, L⁻¹ b by the product has but half the digits.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from symgrad.compiler.singles import turn_of
from symgrad.formula.term import NUMBER, Term, full, make, rebuilt
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
        if term.op.name == "solve_triangular":
            found = _once(term, args)
        if found is None and args is not term.args:
            found = term.with_args(args)
        return term if found is None else found

    return rebuilt(outputs, change, order)


def _once(term: Term, args: tuple[Any, ...]) -> Term | None:
    """The number of the right side times the solution without it; None where there is no such number."""
    right, scale = _unscaled(args[1])
    if scale is None:
        return None
    found = term.with_args((args[0], right))
    return make(lookup("mul"), (scale, found), {}, term.shape, term.dtype)


def _unscaled(x: Term) -> tuple[Term, Term | None]:
    """What is multiplied by a number, and that number or None; also below a new axis."""
    inner = x.args[0] if x.op.name == "unsqueeze" else x
    if inner.op.name == "mul" and inner.dtype == x.dtype:
        for scale, rest in (inner.args, inner.args[::-1]):
            if scale.op is NUMBER and rest.fits(inner):
                return (rest if inner is x else x.with_args((rest,))), scale
    return x, None


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
    """What has the triangle of X: that of which it is the triangle, or the transpose of the upper one."""
    if x.op.name == "tril" and x.params["k"] == 0:
        return x.args[0]
    if turn_of(x) == (1, 0) and x.args[0].op.name == "triu" and x.args[0].params["k"] == 0:
        return _turned(x.args[0].args[0])
    return x


def _turned(x: Term) -> Term:
    """The transpose of a matrix; that of a product is the product of those."""
    if turn_of(x) == (1, 0):
        return x.args[0]
    if x.op.name == "matmul" and x.ndim == 2 and all(a.ndim == 2 and turn_of(a) == (1, 0) for a in x.args[1:]):
        return make(x.op, tuple(map(_turned, x.args[::-1])), x.params, x.shape[::-1], x.dtype)
    return make(lookup("permute"), (x,), {"dims": (1, 0)}, x.shape[::-1], x.dtype)


def _short(turned: Term, x: Term) -> Term | None:
    """What has the lower triangle of Lᵀ X for one addend X, where no product with Lᵀ is needed."""
    factor = turned.args[0]
    y = _stripped(x)
    if y.op is einsum_op and len(y.args) == 1 and y.params["inputs"] == ((0,),) and y.params["output"] == (0, 0):
        d = y.args[0]
        own = lookup("diagonal")(factor, offset=0, dim1=0, dim2=1)
        if d.op.name == "div" and d.args[1] is own and d.args[0].op is NUMBER:  # of log |A|
            scaled = full(d.shape, d.args[0].number, d.dtype)
        else:
            scaled = make(lookup("mul"), (own, d), {}, d.shape, factor.dtype)
        return y.with_args((scaled,))
    if y.op.name == "matmul" and (b := _solved(turned, y.args[0])) is not None:
        return y.with_args((b, y.args[1]))
    return _solved(turned, y)


def _solved(turned: Term, x: Term) -> Term | None:
    """B of L⁻ᵀ B, and of numbers times that."""
    x, scale = _unscaled(x)
    if x.op.name != "solve_triangular" or x.args[0] is not turned or not x.params["upper"] or x.params["unit"]:
        return None
    b = x.args[1]
    return b if scale is None else make(lookup("mul"), (scale, b), {}, b.shape, b.dtype)

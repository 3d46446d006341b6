"""Triangular matrices: parts of triangles that are whole triangles, and Cholesky factors that meet their transposes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from symgrad.formula.canonical.normal import Factor, Form, Product, relabelled
from symgrad.formula.canonical.writing import whole
from symgrad.formula.structures import declared
from symgrad.formula.term import SYMBOL, Term, constant_value
from symgrad.op import Op, lookup

if TYPE_CHECKING:
    from symgrad.formula.canonical.simplify import Canonicaliser


def triangle_of(term: Term) -> str | None:
    """Whether a matrix is "lower", "upper" or "diagonal": declared so, cut out, a Cholesky factor, or the inverse."""
    while term.op.name == "inv":
        term = term.args[0]
    if term.op.name == "cholesky":
        return "lower"
    if term.op.name in ("tril", "triu") and term.params["k"] == 0:
        return "lower" if term.op.name == "tril" else "upper"
    found = declared(term)
    return found if found in ("lower", "upper", "diagonal") else None


def part_of_triangle(form: Form, wanted: str, run: Canonicaliser) -> Form | None:
    """The lower (upper) part of a triangular matrix with weights: the matrix, or the diagonal of one the other way."""
    p = form.terms[0] if len(form.terms) == 1 else None
    if p is None or len(set(p.out)) < 2:
        return None
    matrices = [f for f in p.factors if len(set(f.labels)) == 2]
    if len(matrices) != 1 or matrices[0].power != 1 or set(matrices[0].labels) != set(p.out):
        return None
    if any(x not in p.out for f in p.factors for x in f.labels):
        return None
    found = triangle_of(matrices[0].base)
    if matrices[0].labels != p.out and found in ("lower", "upper"):
        found = "upper" if found == "lower" else "lower"
    if found is None:
        return None
    if found in (wanted, "diagonal"):
        return form
    row, column = p.out
    factors = [_on_diagonal(f) for f in relabelled(p.factors, lambda x: row if x == column else x)]
    from symgrad.formula.canonical.rewriting import merged

    return Form([merged(Product(p.coef, factors, (row, row), p.decimal), run)], form.shape)


def _on_diagonal(f: Factor) -> Factor:
    """The diagonal of a triangle's inverse has the reciprocals of its own; a part with it has that of the whole."""
    base, power = f.base, f.power
    while len(f.labels) == 2 and triangle_of(base) is not None and base.args:
        if base.op.name == "inv":
            base, power = base.args[0], -power
        elif base.op.name in ("tril", "triu"):
            base = base.args[0]
        else:
            break
    return Factor(base, f.labels, power)


def turned_part(op: Op, form: Form, k: int, run: Canonicaliser) -> Form | None:
    """triu(Xᵀ) = tril(X)ᵀ, always."""
    p = form.terms[0] if len(form.terms) == 1 else None
    f = p.factors[0] if p is not None and p.coef == 1 and len(p.factors) == 1 else None
    if p is None or f is None or f.base.op is not SYMBOL or f.labels != p.out[::-1] or f.power != 1:
        return None
    other = lookup("triu" if op.name == "tril" else "tril")
    flipped = form.restricted((1, 0))
    return run.linear(other, run.term(flipped), flipped, {"k": -k}).restricted((1, 0))


def without_cholesky(p: Product, run: Canonicaliser) -> Product:
    """L Lᵀ = S and L⁻ᵀ L⁻¹ = S⁻¹ for the Cholesky factor L of a real S."""
    from symgrad.formula.canonical.rewriting import merged

    uses: dict[int, int] = {}
    for f in p.factors:
        for x in f.labels:
            uses[x] = uses.get(x, 0) + 1
    for k, f in enumerate(p.factors):
        found = _whole(f)
        if found is None or f.power != 1 or len(set(f.labels)) < 2:
            continue
        axis, whole = found
        x = f.labels[axis]
        for g in p.factors[k + 1 :]:
            meets = g.base is f.base and g.power == 1 and g.labels[axis] == x and uses[x] == 2 and x not in p.out
            if meets and g.labels[1 - axis] != x:
                run.symmetries.note(whole)
                made = Factor(whole, (f.labels[1 - axis], g.labels[1 - axis]))
                rest = [made if h is f else h for h in p.factors if h is not g]
                return without_cholesky(merged(Product(p.coef, rest, p.out, p.decimal), run), run)
    return p


def _whole(f: Factor) -> tuple[int, Any] | None:
    """The axis along which a (inverse) Cholesky factor meets itself, and what comes of it."""
    inverse = f.base.op.name == "inv"
    factor = f.base.args[0] if inverse else f.base
    if factor.op.name != "cholesky" or factor.ndim != 2 or factor.dtype is None or factor.dtype.kind == "c":
        return None
    matrix = factor.args[0]
    return (0, lookup("inv")(matrix)) if inverse else (1, matrix)


def shifted_over_places(run: Canonicaliser, term: Term, args: Sequence[Form]) -> Form | None:
    """e^(a - where(j ≥ i, b, ∞)) is the upper triangle of e^(a - b), where 1, 2, 3 … along both axes say i and j."""
    bound = term.args[1]
    if bound.op.name != "where" or bound.args[2].number != math.inf or term.ndim != 2:
        return None
    places = [_places_along(a) for a in bound.args[0].args] if bound.args[0].op.name == "ge" else []
    if sorted(places) != [0, 1]:
        return None
    exponent = run.plus([args[0], run.forms[bound.args[1]]], (1, -1), term.shape)
    inner = run.elementwise(lookup("exp"), [exponent], {}, term.shape)
    op = lookup("triu" if places == [1, 0] else "tril")
    return run.form_of(op(whole(run.term(inner), term.shape), k=0))


def _places_along(term: Term) -> int:
    """The axis of a matrix along which an array counts 1, 2, 3 …; -1 for others."""
    counted = term.args[0] if term.op.name == "unsqueeze" else term
    ones = counted.args[0] if counted.op.name == "cumsum" and counted.ndim == 1 else None
    return 1 - term.params["dim"] if ones is not None and term is not counted and constant_value(ones) == 1 else -1

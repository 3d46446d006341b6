"""Functions of one matrix, which may stand in any order: Xe^X = e^X X and (I + X²)⁻¹X = X(I + X²)⁻¹."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from symgrad.formula.canonical.matrices.inverses import path_of
from symgrad.formula.canonical.normal import Factor, Form, Product
from symgrad.formula.term import Term
from symgrad.op import lookup

if TYPE_CHECKING:
    from symgrad.formula.canonical.simplify import Canonicaliser

_OF_ONE = frozenset({"inv", "matrix_exp", "matrix_power", "neg"})
_OF_BOTH = frozenset({"matmul", "add", "sub"})
_RANKS = ("inv", "matrix_exp")
DEEPEST = 8
"""Steps that are gone into a matrix."""


def in_order(p: Product, run: Canonicaliser) -> Product:
    """A product in which functions of one matrix are in order, its powers in front, always; e^(aX)e^(bX) is one."""
    pairs = dict(_neighbours(p))
    for first, second in pairs.items():
        square = all(f.base.shape[0] == f.base.shape[1] for f in (first, second))
        root = function_of(first.base, run) if square else None
        if root is None or function_of(second.base, run) is not root:
            continue
        if first.base.op.name == second.base.op.name == "matrix_exp":
            exponents = [run.form_of(f.base.args[0]) for f in (first, second)]
            total = run.plus(exponents, (1, 1), first.base.args[0].shape)
            made = run.form_of(lookup("matrix_exp")(run.term(total))) if total.terms else None
            (q,) = made.terms if made is not None else (None,)
            if q is not None and q.coef == 1 and len(q.factors) == 1 and q.factors[0].labels == q.out:
                one = Factor(q.factors[0].base, (first.labels[0], second.labels[1]))
                return in_order(_replaced(p, first, second, [one]), run)
        elif _rank(second.base, root, run) < _rank(first.base, root, run) and not _turns_round(first, pairs):
            swapped = [Factor(second.base, first.labels), Factor(first.base, second.labels)]
            return in_order(_replaced(p, first, second, swapped), run)
    return p


def _neighbours(p: Product) -> Iterator[tuple[Factor, Factor]]:
    """The pairs of matrices that are multiplied with each other, the first one first."""
    for f in p.factors:
        if len(f.labels) != 2 or f.power != 1 or f.labels[0] == f.labels[1] or f.labels[1] in p.out:
            continue
        met = [g for g in p.beside(f) if f.labels[1] in g.labels]
        if len(met) == 1 and len(met[0].labels) == 2 and met[0].power == 1:
            (g,) = met
            if g.labels[0] == f.labels[1] != g.labels[1]:
                yield f, g


def _turns_round(f: Factor, pairs: dict[Factor, Factor]) -> bool:
    """Whether the factors that follow one end where it begins, as in a trace, which has no first factor."""
    last = f
    while last in pairs:
        last = pairs[last]
        if last is f:
            return True
    return False


def _replaced(p: Product, first: Factor, second: Factor, new: list[Factor]) -> Product:
    rest = [h for f in p.beside(second) for h in (new if f is first else [f])]
    return p.with_factors(rest)


def _rank(t: Term, root: Term, run: Canonicaliser) -> tuple[int, int]:
    """The matrix itself before its inverses, these before exponentials, and what was seen before."""
    if t is root:
        return -1, 0
    return _RANKS.index(t.op.name) if t.op.name in _RANKS else len(_RANKS), run.ordinal(t)


def function_of(t: Term, run: Canonicaliser, depth: int = DEEPEST) -> Term | None:
    """The matrix of which another one is a function by products, sums with the identity, inverses and exponentials.

    It is the term itself where others meet in it, and None for multiples of the identity.
    """
    if t not in run.symmetries.roots:
        run.symmetries.roots[t] = _root(t, run, depth)
    return run.symmetries.roots[t]


def _root(t: Term, run: Canonicaliser, depth: int) -> Term | None:
    name = t.op.name
    if name == "eye":
        return None
    if depth == 0:
        return t
    if name in _OF_ONE or name == "mul":
        parts = [a for a in t.args if a.shape]
    else:
        parts = list(t.args) if name in _OF_BOTH else []
    if not parts or any(a.shape != t.shape for a in parts) or (name == "mul" and len(parts) > 1):
        return t
    roots = {root for a in parts if (root := function_of(a, run, depth - 1)) is not None}
    return None if not roots else roots.pop() if len(roots) == 1 else t


def commutes(p: Product, matrix: Form, run: Canonicaliser) -> bool:
    """Whether a product is made of numbers alone, or it and a matrix are made of functions of one other matrix."""
    if not any(f.labels for f in p.factors):
        return p.out[0] == p.out[1]
    roots: set[tuple[Term | None, bool]] = set()
    for q in (p, *matrix.terms):
        arrays = [f for f in q.factors if f.labels]
        path = path_of(Product(1, arrays, q.out), True) if arrays else []
        if path is None or (q.has_delta and (arrays or len(q.out) != 2)) or not (arrays or q.out[0] == q.out[1]):
            return False
        for base, way in path:
            root = function_of(base, run) if base.shape[0] == base.shape[1] else None
            roots.add((root, way and not (root is not None and run.symmetries.symmetric(root))))
    return len(roots) <= 1 and (None, False) not in roots and (None, True) not in roots

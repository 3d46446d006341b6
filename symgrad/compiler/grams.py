"""Products Xᵀ diag(w) X, as in Hessians of likelihoods: BLAS computes half of them where weights have one sign."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from symgrad.compiler.singles import turn_of
from symgrad.formula.term import Term, make, rebuilt
from symgrad.ops.linalg.contraction import einsum_op
from symgrad.ops.linalg.matrices import weighted_gram_op


def with_grams(outputs: Sequence[Term], order: Sequence[Term]) -> list[Term]:
    """The outputs, whose terms are in ``order``, with such products as one op."""
    if all(_gram(term, term.args) is None for term in order):
        return list(outputs)

    def change(term: Term, args: tuple[Any, ...]) -> Term:
        found = _gram(term, args)
        if found is not None:
            return found
        return term.with_args(args)

    return rebuilt(outputs, change, order)


def _gram(term: Term, args: tuple[Any, ...]) -> Term | None:
    """(Xᵀ · w) X and Xᵀ (w · X), with a weight for every row of X."""
    if term.dtype != np.float64 or len(args) != 2 or not _is_product(term):
        return None
    left, right = args
    if left.op.name == "mul":
        for turned, w in (left.args, left.args[::-1]):
            if turn_of(turned) == (1, 0) and turned.args[0] is right and w.shape == right.shape[:1]:
                return _made(term, right, w)
    if right.op.name == "mul" and turn_of(left) == (1, 0):
        for x, w in (right.args, right.args[::-1]):
            if x is left.args[0] and w.op.name == "unsqueeze" and w.params["dim"] == 1 and w.args[0].ndim == 1:
                return _made(term, x, w.args[0])
    return None


def _is_product(term: Term) -> bool:
    """Whether a term is the product of two matrices."""
    if term.op is not einsum_op:
        return term.op.name == "matmul" and term.ndim == 2
    (first, second), output = term.params["inputs"], term.params["output"]
    matrices = len(first) == len(second) == len(output) == 2 and len(set(first + second)) == 3
    return matrices and first[1] == second[0] and output == (first[0], second[1])


def _made(term: Term, x: Term, w: Term) -> Term | None:
    if {x.dtype, w.dtype} != {term.dtype}:
        return None
    return make(weighted_gram_op, (x, w), {}, term.shape, term.dtype)

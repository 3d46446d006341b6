"""Windows that several products read: gathered once, in the order in which the products take them."""

from __future__ import annotations

from collections.abc import Sequence

from symgrad.formula.term import Term
from symgrad.ops.linalg.contraction import einsum_op


def gathered(order: Sequence[Term]) -> dict[Term, tuple[int, ...]]:
    """The windows that are read by two products or more as one matrix, with their axes in the order of its memory.

    Windows are a view in which entries stand several times.  A product makes a matrix of it, which takes as long as
    the product where that is small, and the next one makes the same matrix again, or its transpose.
    """
    inner: dict[Term, list[set[int]]] = {}
    for term in order:
        if len(term.args) == 2 and term.op.kind == "multilinear":
            for x, axes in zip(term.args, _summed(term), strict=True):
                if x.op.name == "windows":
                    inner.setdefault(x, []).append(axes)
    found = {}
    for x, rows in inner.items():
        outer = set(range(x.ndim)) - rows[0]
        if len(rows) > 1 and all(axes in (rows[0], outer) for axes in rows):
            found[x] = (*sorted(outer), *sorted(rows[0]))
    return found


def _summed(term: Term) -> list[set[int]]:
    """For each of the operands of a product, the axes that it sums over."""
    if term.op is einsum_op:
        inputs, output = term.params["inputs"], term.params["output"]
    else:
        inputs, output = term.op.einsum(*(a.shape for a in term.args))
    return [{k for k, label in enumerate(row) if label not in output} for row in inputs]

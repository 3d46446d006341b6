"""Sums of products as contractions: Σ a · b is ``a @ b``, without an array for the product.

A contraction adds in the order of BLAS, as products of matrices do, so this is for derivatives, which are nobody's
order of operations, in double precision.  It is the last pass: axes that a sum keeps and another op takes away are
gone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import numpy as np

from symgrad.formula.term import NUMBER, SIZE, Term, make, rebuilt
from symgrad.op import broadcast_shapes, lookup
from symgrad.ops.linalg.contraction import einsum_op
from symgrad.ops.shapes.shaping import unsqueeze_op

DOUBLE = (np.dtype(np.float64), np.dtype(np.complex128))
FACTORS = 6
"""How many factors of a product are looked at."""
LOOKED_AT = 24
"""How many terms of a scalar factor are looked at."""


def with_contractions(
    outputs: Sequence[Term], order: Sequence[Term], finish: Callable[[Term, tuple[Any, ...]], Term]
) -> list[Term]:
    """The outputs, whose terms are in ``order``, with contractions, which ``finish`` simplifies."""
    if not any(_is_sum(term) and term.args[0].op.name in ("mul", "div") for term in order):
        return list(outputs)
    before: dict[Term, int] = {}
    for term in order:
        for a in term.args:
            before[a] = before.get(a, 0) + 1
    for term in outputs:
        before[term] = before.get(term, 0) + 1
    reads: dict[Term, int] = {}

    def once(term: Term) -> bool:
        return reads.get(term, 1) < 2

    def change(term: Term, args: tuple[Any, ...]) -> Term:
        found = None
        product = _product(args[0], once) if _is_sum(term) and once(args[0]) else None
        if product is not None:
            found = _contracted(term, product, once, finish)
        if found is None:
            found = term.with_args(args)
        reads[found] = reads.get(found, 0) + before[term]
        return found

    return rebuilt(outputs, change, order)


def _is_sum(term: Term) -> bool:
    return len(term.args) == 1 and (term.op.name == "sum" or term.op is einsum_op)


def _product(x: Term, once: Callable[[Term], bool]) -> Term | None:
    """A product, or a quotient by what divides one of its factors: a · b / y is a · (b / y)."""
    if x.op.name != "div" or x.args[0].op.name != "mul" or not once(x.args[0]):
        return x if x.op.name == "mul" else None
    (a, b), y = x.args[0].args, x.args[1]
    if broadcast_shapes(b.shape, y.shape) != b.shape or b.dtype != x.dtype:
        return None
    return make(lookup("mul"), (a, make(x.op, (b, y), {}, b.shape, x.dtype)), {}, x.shape, x.dtype)


def _contracted(
    term: Term, x: Term, once: Callable[[Term], bool], finish: Callable[[Term, tuple[Any, ...]], Term]
) -> Term | None:
    """The sum ``term`` of a product ``x`` as a contraction, with scalars outside of it."""
    dims = _summed_axes(term)
    if not dims or term.dtype not in DOUBLE:
        return None
    scalars, arrays = _factors(x, once)
    if any(t.dtype != term.dtype and t.op is not NUMBER for t in (*scalars, *arrays)) or not arrays:
        return None
    if broadcast_shapes(*(a.shape for a in arrays)) != x.shape:
        return None
    made: Term | None
    if len(arrays) == 1:
        made = term.with_args((arrays[0],)) if scalars else None
    else:
        made = _product_of(term, x, dims, reduce(_times, arrays[:-1]), arrays[-1])
        if made is not None:
            made = finish(made, made.args)
            for k in sorted(dims) if made.shape != term.shape else ():
                made = unsqueeze_op(made, dim=k)
    return None if made is None else reduce(_times, scalars, made)


def _summed_axes(term: Term) -> set[int] | None:
    """The axes along which a term sums, where it does nothing else."""
    if term.op.name == "sum":
        dims = set(term.params["dim"])
        return dims if not term.params["keepdim"] or len(dims) < term.ndim else None
    labels, output = term.params["inputs"][0], term.params["output"]
    if len(set(labels)) < len(labels) or tuple(x for x in labels if x in output) != output:
        return None
    return {k for k, x in enumerate(labels) if x not in output}


def _factors(x: Term, once: Callable[[Term], bool]) -> tuple[list[Term], list[Term]]:
    """The scalar factors of a product, and the others, each in their order."""
    scalars: list[Term] = []
    arrays: list[Term] = []
    stack = [x]
    while stack:
        t = stack.pop()
        opened = t.op.name == "mul" and once(t) and t.dtype == x.dtype and t.shape
        if opened and len(stack) + len(arrays) + len(scalars) < FACTORS:
            stack += t.args[::-1]
        elif t.shape or not _is_finite(t):
            arrays.append(t)
        else:
            scalars.append(t)
    return scalars, arrays


def _is_finite(scalar: Term) -> bool:
    """Whether no size and no 0 is seen below: 1/n is infinite where a sum is empty, and may not be multiplied by it."""
    stack, left = [scalar], LOOKED_AT
    while stack:
        t = stack.pop()
        left -= 1
        if t.op is SIZE or left < 0 or (t.op is NUMBER and t.number in (0, math.inf, -math.inf)):
            return False
        stack += t.args
    return True


def _times(a: Term, b: Term) -> Term:
    return make(lookup("mul"), (a, b), {}, broadcast_shapes(a.shape, b.shape), a.dtype)


def _product_of(term: Term, x: Term, summed: set[int], a: Term, b: Term) -> Term | None:
    """Σ a · b along axes of the product that both have."""
    first, second = _labelled(a, x), _labelled(b, x)
    if first is None or second is None or not summed <= set(first[1]) & set(second[1]):
        return None
    inputs = (first[1], second[1])
    output = tuple(k for k in range(x.ndim) if k not in summed)
    shape = tuple(x.shape[k] for k in output)
    params = {"inputs": inputs, "output": output, "shape": shape}
    return make(einsum_op, (first[0], second[0]), params, shape, term.dtype)


def _labelled(factor: Term, x: Term) -> tuple[Term, tuple[int, ...]] | None:
    """A factor without the axes that were only put in, and the axes of the product that it has."""
    labels = list(range(x.ndim - factor.ndim, x.ndim))
    while factor.op.name == "unsqueeze":
        del labels[factor.params["dim"]]
        factor = factor.args[0]
    fits = all(size == x.shape[k] for size, k in zip(factor.shape, labels, strict=True))
    return (factor, tuple(labels)) if fits else None

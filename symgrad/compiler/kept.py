"""Sums and the axes that they keep with size 1: kept where they come back, and not kept where they are taken away."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from symgrad.formula.term import Term, make, rebuilt
from symgrad.op import lookup

BETWEEN = 6
"""How many entrywise ops may stand between a sum and where its axes are taken away."""


def without_kept_axes(outputs: Sequence[Term], order: Sequence[Term]) -> list[Term]:
    """Axes that a sum keeps only to be squeezed away are not kept, nor in what is done with the sum in between.

    ``order``: the terms of the outputs.
    """
    if not any(t.op.name == "squeeze" for t in order):
        return list(outputs)
    uses: dict[Term, int] = dict.fromkeys(outputs, 1)
    for term in order:
        for a in term.args:
            uses[a] = uses.get(a, 0) + 1

    def without(x: Term, dims: tuple[int, ...], depth: int) -> Term | None:
        if uses.get(x, 1) > 1 or not depth:
            return None
        shape = tuple(s for k, s in enumerate(x.shape) if k not in dims)
        if x.op.name == "sum" and x.params["keepdim"] and set(x.params["dim"]) == set(dims):
            return make(x.op, x.args, {**x.params, "keepdim": False}, shape, x.dtype)
        if not x.op.entrywise or any(a.shape not in ((), x.shape) for a in x.args):
            return None
        args = [without(a, dims, depth - 1) if a.shape else a for a in x.args]
        known = tuple(a for a in args if a is not None)
        return make(x.op, known, x.params, shape, x.dtype) if len(known) == len(args) else None

    def change(term: Term, args: tuple[Any, ...]) -> Term:
        found = without(args[0], term.params["dim"], BETWEEN) if term.op.name == "squeeze" else None
        if found is not None:
            return found
        if args[0].op.name == "neg" and term.op.name == "neg":  # where only the axes stood between two signs
            return args[0].args[0]  # type: ignore[no-any-return]
        return term.with_args(args)

    return rebuilt(outputs, change, order, only=("squeeze", "neg"))


def kept_sum(term: Term, args: tuple[Any, ...]) -> Term | None:
    """A contraction that sums axes of its operand and has axes of size 1 in their place, as a sum that keeps them."""
    labels, output = term.params["inputs"][0], term.params["output"]
    if len(args) > 1 or len(labels) != len(output) or len(set(labels)) + len(set(output)) < 2 * len(labels):
        return None
    gone = tuple(k for k, (a, b) in enumerate(zip(labels, output, strict=True)) if a != b)
    if not gone or any(labels[k] in output or output[k] in labels or term.shape[k] != 1 for k in gone):
        return None
    return make(lookup("sum"), args, {"dim": gone, "keepdim": True}, term.shape, term.dtype)


def kept_again(term: Term, x: Term) -> Term | None:
    """An axis of size 1 put where one was just taken away, or where a sum, or minus a sum, has lost one."""
    if x.op.name == "squeeze" and x.params["dim"] == (term.params["dim"],):
        return x.args[0]
    inner = x.args[0] if x.op.name == "neg" else x
    if inner.op.name != "sum" or inner.params["keepdim"] or inner.params["dim"] != (term.params["dim"],):
        return None
    found = make(inner.op, inner.args, {**inner.params, "keepdim": True}, term.shape, inner.dtype)
    return found if inner is x else make(x.op, (found,), {}, term.shape, x.dtype)

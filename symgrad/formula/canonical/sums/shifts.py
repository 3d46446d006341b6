"""Shifts along an axis, which softmax does not see: programs subtract the largest entry so that nothing overflows.

softmax(x + c) = softmax(x), log_softmax(x + c) = log_softmax(x) and logsumexp(x + c) = logsumexp(x) + c, always, for c
that has one value along the axis.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from symgrad.formula.canonical.normal import Form, Product
from symgrad.formula.term import Term
from symgrad.op import lookup

if TYPE_CHECKING:
    from symgrad.formula.canonical.simplify import Canonicaliser


def split(form: Form, dim: int) -> tuple[Form, Form] | None:
    """The terms of a sum that vary along an axis, and those that do not; None where there are none of either kind."""
    varies = [dim in p.covered() for p in form.terms]
    if all(varies) or not any(varies):
        return None
    kinds: tuple[list[Product], list[Product]] = ([], [])
    for p, moving in zip(form.terms, varies, strict=True):
        kinds[not moving].append(p)
    return Form(kinds[0], form.shape), Form(kinds[1], form.shape)


def read_softmax(run: Canonicaliser, term: Term, args: Sequence[Form]) -> Form | None:
    """softmax or log_softmax of an array without its shift; of one entry, which is all that there is, 1 or 0."""
    if term.shape[term.params["dim"]] == 1:
        one = [Product(1, (), tuple(range(term.ndim)))]
        return Form(one if term.op.name == "softmax" else (), term.shape)
    found = split(args[0], term.params["dim"])
    if found is None or args[0].shape != term.shape:
        return None
    return run.opaque(lookup(term.op.name)(run.like(term.args[0], found[0]), dim=term.params["dim"]))


def logsumexp(run: Canonicaliser, form: Form, dim: int) -> Form | None:
    """log Σe^x along one axis, with the shift of x apart."""
    found = split(form, dim)
    if found is None:
        return None
    moving, shift = found
    rest = [k for k in range(len(form.shape)) if k != dim]
    shape = tuple(form.shape[k] for k in rest)
    inner = run.opaque(lookup("logsumexp")(run.term(moving), dim=(dim,), keepdim=False))
    return run.plus([inner, shift.restricted(rest)], (1, 1), shape)


def read_logsumexp(run: Canonicaliser, term: Term, args: Sequence[Form]) -> Form | None:
    """logsumexp along one axis, with the shift apart."""
    dims = term.params["dim"]
    if len(dims) != 1 or term.params["keepdim"] or len(args[0].covered()) < len(args[0].shape):
        return None
    return logsumexp(run, args[0], dims[0])

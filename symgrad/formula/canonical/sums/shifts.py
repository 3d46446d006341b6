"""Shifts along an axis, which softmax does not see: programs subtract the largest entry so that nothing overflows.

softmax(x + c) = softmax(x), log_softmax(x + c) = log_softmax(x) and logsumexp(x + c) = logsumexp(x) + c, always, for c
that has one value along the axis.  Of what has nothing else, these are 1/n, -log n and c + log n.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from symgrad.formula.canonical.normal import Factor, Form, Product, size_factors
from symgrad.formula.term import Term, size_letter
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
    """softmax or log_softmax of an array without its shift; of one that has one value along the axis, 1/n or -log n."""
    dim = term.params["dim"]
    if args[0].shape == term.shape and not any(dim in p.covered() for p in args[0].terms):
        return _alike(run, term, dim)
    found = split(args[0], dim)
    if found is None or args[0].shape != term.shape:
        return None
    return run.opaque(lookup(term.op.name)(run.like(term.args[0], found[0]), dim=dim))


def _alike(run: Canonicaliser, term: Term, dim: int) -> Form | None:
    """The shares, or their logarithms, of n entries that are one."""
    size, out = term.shape[dim], tuple(range(term.ndim))
    if size == 0:
        return None
    if term.op.name == "softmax":
        scale, letters = size_factors(size)
        return Form([Product(Fraction(1, scale), [Factor(f.base, (), -1) for f in letters], out)], term.shape)
    return Form([p.scaled(-1).with_out(out) for p in _log(run, size).terms], term.shape)


def _log(run: Canonicaliser, size: Any) -> Form:
    """The logarithm of a size; of 1 it is 0."""
    return Form((), ()) if size == 1 else run.opaque(lookup("log")(size_letter(size)))


def logsumexp(run: Canonicaliser, form: Form, dim: int) -> Form | None:
    """log Σe^x along one axis, with the shift of x apart."""
    rest = [k for k in range(len(form.shape)) if k != dim]
    shape = tuple(form.shape[k] for k in rest)
    if form.shape[dim] != 0 and not any(dim in p.covered() for p in form.terms):
        return run.plus([_log(run, form.shape[dim]).broadcast(shape), form.restricted(rest)], (1, 1), shape)
    found = split(form, dim)
    if found is None:
        return None
    moving, shift = found
    inner = run.opaque(lookup("logsumexp")(run.term(moving), dim=(dim,), keepdim=False))
    return run.plus([inner, shift.restricted(rest)], (1, 1), shape)


def read_logsumexp(run: Canonicaliser, term: Term, args: Sequence[Form]) -> Form | None:
    """logsumexp along one axis, with the shift apart."""
    dims, covered = term.params["dim"], args[0].covered()
    if len(dims) != 1 or term.params["keepdim"] or (dims[0] in covered and len(covered) < len(args[0].shape)):
        return None
    return logsumexp(run, args[0], dims[0])

"""Diagonals in derivatives of arrays by arrays: computed as vectors, for as long as nothing needs the whole.

A Jacobian is the pullback of the identity, a row of it for each entry of the result.  What is entrywise in a function
keeps these rows diagonal: of n residuals, n² entries of which n are not zero.  Here such a term is also known by its
diagonal, and where a sum or a contraction takes one of the axes away, the diagonal is what is read.

Valid where the zeros are zeros of the derivative, whatever they are multiplied with: so it begins at the identities of
pullbacks, and not at those that a function computes with itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from symgrad.formula.term import Term, constant_value, make, rebuilt
from symgrad.op import Labels, broadcast_shapes
from symgrad.ops.linalg.contraction import einsum_op
from symgrad.ops.shapes.shaping import squeeze_op, unsqueeze_op


class Diagonal(NamedTuple):
    """What is zero but where the axes with equal labels have equal indices, and there ``core``.

    ``labels`` has one label for each axis, 0, 1, … in order of first occurrence; these are the axes of ``core``.
    """

    core: Term
    labels: Labels


Known = dict[Term, Diagonal]


def without_identities(outputs: Sequence[Term], order: Sequence[Term]) -> list[Term]:
    """The outputs, whose terms are in ``order``, with diagonals in the place of sums over rows of them."""
    if not any(map(_is_identity, order)):
        return list(outputs)
    known: Known = {}

    def change(term: Term, args: tuple[Any, ...]) -> Term:
        made = term if args is term.args else make(term.op, args, term.params, term.shape, term.dtype)
        found = _known(made, known)
        if not isinstance(found, Diagonal):
            return made if found is None else found
        if _fewer(found.labels, made, known):
            made = _whole(found, made)
        known[made] = found
        return made

    return rebuilt(outputs, change, order)


def _is_identity(term: Term) -> bool:
    """Whether a term is the identity that a pullback begins with: ones on a diagonal."""
    if term.op is not einsum_op or len(term.args) != 1 or constant_value(term.args[0]) != 1:
        return False
    labels = term.params["inputs"][0]
    return len(set(labels)) == len(labels) and bool(term.params["output"] == labels * 2)


def _fewer(labels: Labels, term: Term, known: Known) -> bool:
    """Whether a term is diagonal in fewer axes than an operand, so that its entries are not computed from all of it."""
    operands = [known[a].labels for a in term.args if a in known]
    return any(len(labels) - len(set(labels)) < len(row) - len(set(row)) for row in operands)


def _whole(diagonal: Diagonal, like: Term) -> Term:
    core, labels = diagonal
    params = {"inputs": (tuple(range(core.ndim)),), "output": labels, "shape": like.shape}
    return make(einsum_op, (core,), params, like.shape, like.dtype)


def _known(term: Term, known: Known) -> Diagonal | Term | None:
    """A term as a diagonal, or as a shorter term where it is none any more; None where nothing is known of it."""
    if _is_identity(term):
        return Diagonal(term.args[0], tuple(range(term.args[0].ndim)) * 2)
    if not any(a in known for a in term.args):
        return None
    if term.op.kind == "multilinear" and term.op.name not in _ENTRYWISE:
        return _contracted(term, known)
    rule = _ENTRYWISE.get(term.op.name)
    place = None if rule is None else rule(term.args, known)
    return None if place is None else _entrywise(term, place, known)


# ---------------------------------------------------------------------------------------------- contractions


def _contracted(term: Term, known: Known) -> Diagonal | Term | None:
    """A contraction of diagonals: axes with one label in a diagonal have one label in the contraction."""
    inputs, output = term.op.einsum(*(a.shape for a in term.args), **term.params)
    merged: dict[int, int] = {}

    def label(x: int) -> int:
        while x in merged:
            x = merged[x]
        return x

    xs, rows = [], []
    for x, row in zip(term.args, inputs, strict=True):
        diagonal = known.get(x)
        if diagonal is None:
            xs.append(x)
            rows.append(row)
            continue
        first: dict[int, int] = {}
        for mine, outer in zip(diagonal.labels, row, strict=True):
            a, b = label(first.setdefault(mine, outer)), label(outer)
            if a != b:
                merged[b] = a
        xs.append(diagonal.core)
        rows.append(tuple(first[k] for k in sorted(first)))
    rows = [tuple(map(label, row)) for row in rows]
    if not all(_alike(x, row) for x, row in zip(xs, rows, strict=True)):
        return None
    output = tuple(map(label, output))
    wanted = tuple(dict.fromkeys(output))
    shape = tuple(term.shape[output.index(x)] for x in wanted)
    core = xs[0]
    if len(xs) > 1 or rows[0] != wanted or core.shape != shape:
        params = {"inputs": tuple(rows), "output": wanted, "shape": shape}
        core = make(einsum_op, tuple(xs), params, shape, term.dtype)
    return core if wanted == output else Diagonal(core, tuple(map(wanted.index, output)))


def _alike(x: Term, row: Labels) -> bool:
    """Whether axes with one label are equally long: a broadcast axis of size 1 is no part of a diagonal."""
    return all(x.shape[k] == x.shape[row.index(a)] for k, a in enumerate(row))


# ---------------------------------------------------------------------------------------------- entry by entry


def _any_of(args: Sequence[Term], known: Known) -> int | None:
    return next(k for k, a in enumerate(args) if a in known)


def _first(args: Sequence[Term], known: Known) -> int | None:
    return 0 if args[0] in known and not any(a in known for a in args[1:]) else None


def _chosen(args: Sequence[Term], known: Known) -> int | None:
    """Of a choice between a diagonal and zeros, the place of the diagonal."""
    for k in (1, 2):
        if args[k] in known and args[0] not in known and constant_value(args[3 - k]) == 0:
            return k
    return None


def _both(args: Sequence[Term], known: Known) -> int | None:
    a, b = (known.get(x) for x in args)
    return 0 if a is not None and b is not None and a.labels == b.labels else None


_ENTRYWISE: dict[str, Callable[[Sequence[Term], Known], int | None]] = {
    "mul": _any_of,
    "div": _first,
    "neg": _any_of,
    "cast": _any_of,
    "conj": _any_of,
    "real": _any_of,
    "imag": _any_of,
    "masked": _first,
    "where": _chosen,
    "add": _both,
    "sub": _both,
}
"""Ops that give zero where their operand at the place found is zero, whatever the others are."""


def _entrywise(term: Term, place: int, known: Known) -> Diagonal | None:
    whole, (_, labels) = term.args[place], known[term.args[place]]
    if whole.ndim != term.ndim:
        return None
    for k, label in enumerate(labels):
        if labels.count(label) > 1 and whole.shape[k] != term.shape[k]:
            return None
    row = tuple(_along(a, labels, known) for a in term.args)
    return Diagonal(make(term.op, row, term.params, broadcast_shapes(*(a.shape for a in row)), term.dtype), labels)


def _along(x: Term, labels: Labels, known: Known) -> Term:
    """The entries of an operand on the diagonal, to be broadcast with its core."""
    diagonal = known.get(x)
    if diagonal is not None and diagonal.labels == labels:
        return diagonal.core
    if not x.ndim:
        return x
    single = tuple(k for k, size in enumerate(x.shape) if size == 1)
    row = tuple(label for label, size in zip(labels[-x.ndim :], x.shape, strict=True) if size != 1)
    found = squeeze_op(x, dim=single) if single else x
    wanted = tuple(sorted(set(row)))
    if row != wanted:
        shape = tuple(found.shape[row.index(a)] for a in wanted)
        params = {"inputs": (row,), "output": wanted, "shape": shape}
        found = make(einsum_op, (found,), params, shape, x.dtype)
    for label in range(wanted[0], max(labels) + 1) if wanted else ():
        if label not in wanted:
            found = unsqueeze_op(found, dim=label - wanted[0])
    return found

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
from symgrad.ops.indexing.getitem import Index
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
    even: set[Term] = set()  # cores of one number, of whose diagonals an identity is made as soon

    def change(term: Term, args: tuple[Any, ...]) -> Term:
        made = term.with_args(args)
        found = _known(made, known)
        if not isinstance(found, Diagonal):
            return made if found is None else found
        core = found.core
        if _is_even(core, even):
            even.add(core)
        if core not in even or _fewer(found.labels, made, known):
            made = _whole(found, made)  # what is read of it is spread out last, and nothing is computed with its zeros
        known[made] = found
        return made

    return rebuilt(outputs, change, order)


def _is_identity(term: Term) -> bool:
    """Whether a term is the identity that a pullback begins with: ones on a diagonal."""
    if term.op is not einsum_op or len(term.args) != 1 or constant_value(term.args[0]) != 1:
        return False
    labels = term.params["inputs"][0]
    return len(set(labels)) == len(labels) and bool(term.params["output"] == labels * 2)


def _is_even(core: Term, even: set[Term]) -> bool:
    if constant_value(core) is not None:
        return True
    spread = core.op.entrywise or core.op.kind == "multilinear"
    return bool(spread) and all(not a.shape or a in even or constant_value(a) is not None for a in core.args)


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
    if term.op.linear and term.args[0] in known:
        return _inside(term, known)
    rule = _ENTRYWISE.get(term.op.name)
    if rule is _both:
        term = _with_common_labels(term, known)
    place = None if rule is None else rule(term.args, known)
    return None if place is None else _entrywise(term, place, known)


# ---------------------------------------------------------------------------------------------- contractions


def _contracted(term: Term, known: Known) -> Diagonal | Term | None:
    """A contraction of diagonals: axes with one label in a diagonal have one label in the contraction."""
    inputs, output = term.labels()
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


# ---------------------------------------------------------------------------------------------- along single axes


def _inside(term: Term, known: Known) -> Diagonal | None:
    """What acts along axes that have a label of their own, done to the core."""
    core, labels = known[term.args[0]]
    if len(term.args) > 1:
        return None
    if isinstance(term.params.get("index"), Index):
        return _indexed(term, core, labels)
    dim = term.params.get("dim")
    if not term.op.along or term.ndim != len(labels) or not isinstance(dim, int) or labels.count(labels[dim]) > 1:
        return None
    axis = labels[dim]
    shape = (*core.shape[:axis], term.shape[dim], *core.shape[axis + 1 :])
    return Diagonal(make(term.op, (core,), {**term.params, "dim": axis}, shape, term.dtype), labels)


def _indexed(term: Term, core: Term, labels: Labels) -> Diagonal | None:
    """An index of slices and numbers, or its transpose, that takes all of the axes whose labels meet."""
    index, back = term.params["index"], "shape" in term.params
    ndim = term.ndim if back else len(labels)
    parts = _of_all_axes(index, ndim)
    if parts is None:
        return None
    # Slices are axes of both sides, numbers of the indexed array alone, and new axes of what is taken from it alone.
    before, after = (int, type(None)) if back else (type(None), int)
    if len(labels) != sum(not isinstance(p, before) for p in parts):
        return None
    mine, outer, fresh = iter(labels), iter(term.shape), iter(range(len(labels), 2 * len(labels) + len(parts)))
    kept, shape, row = [], [], []
    for part in parts:
        label = next(fresh) if isinstance(part, before) else next(mine)
        size = None if isinstance(part, after) else next(outer)
        if labels.count(label) > 1 and part != slice(None):
            return None
        if label not in row:
            kept.append(part)
            shape += [] if size is None else [size]
        if size is not None:
            row.append(label)
    params: dict[str, Any] = {"index": Index(tuple(kept))}
    if back:
        params["shape"] = tuple(shape)
    made = make(term.op, (core,), params, tuple(shape), term.dtype)
    numbers: dict[int, int] = {}
    return Diagonal(made, tuple(numbers.setdefault(label, len(numbers)) for label in row))


def _of_all_axes(index: Any, ndim: int) -> tuple[Any, ...] | None:
    """The parts of a basic index, one for each axis and one for each new axis; None of other indices."""
    parts = index.parts
    if index.steps is not None or any(p.__class__ not in (slice, int, type(None), type(...)) for p in parts):
        return None
    whole = ndim - sum(p is not None and p is not Ellipsis for p in parts)
    at = parts.index(...) if ... in parts else len(parts)
    return (*parts[:at], *(slice(None),) * whole, *parts[at + (... in parts) :])


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


def _with_common_labels(term: Term, known: Known) -> Term:
    """A sum of two diagonals of which one lies in the other, with that one known by the labels of the other."""
    a, b = (known.get(x) for x in term.args)
    if a is None or b is None or a.labels == b.labels or term.args[0].shape != term.args[1].shape:
        return term
    for k, (fine, wide) in enumerate(((a, b), (b, a))):
        if all(fine.labels[p] == fine.labels[wide.labels.index(x)] for p, x in enumerate(wide.labels)):
            output = tuple(fine.labels[wide.labels.index(x)] for x in range(wide.core.ndim))
            shape = tuple(term.shape[wide.labels.index(x)] for x in range(wide.core.ndim))
            params = {"inputs": (tuple(range(fine.core.ndim)),), "output": output, "shape": shape}
            core = make(einsum_op, (fine.core,), params, shape, fine.core.dtype)
            whole = _whole(Diagonal(core, wide.labels), term.args[k])
            known[whole] = Diagonal(core, wide.labels)
            row = (whole, term.args[1]) if k == 0 else (term.args[0], whole)
            return term.with_args(row)
    return term


_ENTRYWISE: dict[str, Callable[[Sequence[Term], Known], int | None]] = {
    "mul": _any_of, "div": _first, "neg": _any_of, "cast": _any_of, "conj": _any_of, "real": _any_of,
    "imag": _any_of, "masked": _first, "where": _chosen, "add": _both, "sub": _both,
}  # fmt: skip
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

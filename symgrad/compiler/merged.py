"""Rewrites of what derivatives consist of: masks and choices that meet, constants that are moved, turns taken back.

Valid to the last bit, but for the sign of zeros.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from symgrad.formula.term import NUMBER, Term, constant_value, full, make, number, rebuilt
from symgrad.op import broadcast_shapes, lookup

COMMUTATIVE = ("add", "mul")
"""Ops whose operands may be exchanged to the last bit."""


def known_by(term: Term, seen: set[Term]) -> Term:
    """The term, or b + a where it is a + b and the program has that; ``seen`` are the terms that it has."""
    if term.op.name in COMMUTATIVE and term not in seen:
        other = term.with_args(term.args[::-1])
        if other in seen:
            return other
        seen.add(term)
    return term


def moved_constant(term: Term, args: tuple[Any, ...]) -> Term | None:
    """Entries of a constant array, wherever they are taken from, are such an array."""
    if len(args) != 1 or term.op.view is None or not term.shape or args[0].op.name != "full":
        return None
    value = constant_value(args[0])
    if isinstance(value, str) or term.dtype != args[0].dtype:
        return None
    return full(term.shape, value, term.dtype or np.float64)


def flip(term: Term, args: tuple[Any, ...]) -> Term | None:
    """What is flipped twice."""
    (x,) = args
    return x.args[0] if x.op is term.op and x.params == term.params else None


def masked(term: Term, args: tuple[Any, ...]) -> Term | None:
    """An array times a mask, as a choice by the mask."""
    x, keep = args
    while keep.op.name in ("cast", "beside"):  # a mask as numbers, and beside what it has the derivative 0 by
        keep = keep.args[0]
    fits = x.dtype in (None, term.dtype) and broadcast_shapes(x.shape, keep.shape) == term.shape
    if not term.shape or not fits or keep.dtype != np.bool_:
        return None
    return make(lookup("where"), (keep, x, number(0)), {}, term.shape, term.dtype)


def chosen(term: Term, args: tuple[Any, ...]) -> Term | None:
    """A choice in a branch of one by the same condition, where(c, a, where(c, b, d)), is where(c, a, d).

    And one between the same is none, nor is one by c ∨ ¬c.
    """
    keep, *branches = args
    always = keep.op.name == "logical_or" and any(
        y.op.name == "logical_not" and y.args[0] is x for x, y in (keep.args, keep.args[::-1])
    )
    if (always or branches[0] is branches[1]) and branches[0].fits(term):
        return branches[0]  # type: ignore[no-any-return]
    row = [x.args[k] if x.op is term.op and x.args[0] is keep else x for k, x in enumerate(branches, 1)]
    if row == branches or broadcast_shapes(keep.shape, *(x.shape for x in row)) != term.shape:
        return None
    return make(term.op, (keep, *row), {}, term.shape, term.dtype)


def _never_negative(term: Term) -> bool:
    return term.op.bounds is not None and term.op.bounds[0] >= 0


def choices(term: Term, args: tuple[Any, ...]) -> Term | None:
    """The sum of two choices by one condition, each of which has a branch of zeros, as one choice."""
    a, b = map(_scaled_choice, args)
    if not (a.op.name == b.op.name == "where") or a.args[0] is not b.args[0] or a.shape != b.shape != ():
        return None
    if any(x.dtype not in (None, term.dtype) for x in (*a.args[1:], *b.args[1:])):
        return None
    first, second = (tuple(constant_value(x) == 0 for x in t.args[1:]) for t in (a, b))
    if (True, False) == first[::-1] == second or (True, False) == first == second[::-1]:
        row = tuple(y if zero else x for x, y, zero in zip(a.args[1:], b.args[1:], first, strict=True))
    elif first == second and True in first:
        row = tuple(x if zero else _sum(term, x, y) for x, y, zero in zip(a.args[1:], b.args[1:], first, strict=True))
    else:
        return None
    return make(a.op, (a.args[0], *row), {}, term.shape, term.dtype)


def _scaled_choice(term: Term) -> Term:
    """A number times a choice between something and 0, as a choice."""
    if term.op.name != "mul" or term.args[0].op is not NUMBER or term.args[1].op.name != "where":
        return term
    c, choice = term.args
    zeros = tuple(constant_value(x) == 0 for x in choice.args[1:])
    if zeros not in ((True, False), (False, True)) or choice.dtype != term.dtype or c.number in (np.inf, -np.inf):
        return term
    row = (
        x if zero else make(term.op, (c, x), {}, x.shape, x.dtype)
        for x, zero in zip(choice.args[1:], zeros, strict=True)
    )
    return make(choice.op, (choice.args[0], *row), {}, term.shape, term.dtype)


def _sum(term: Term, x: Term, y: Term) -> Term:
    shape = broadcast_shapes(x.shape, y.shape)
    if x is y:
        return make(lookup("mul"), (number(2), x), {}, shape, term.dtype)
    return make(term.op, (x, y), {}, shape, term.dtype)


def inverses(outputs: Sequence[Term], order: Sequence[Term]) -> list[Term]:
    """The slope of log|det X| as X⁻¹ where the program inverts X anyway, and has no result where there is none."""
    known = {t.args[0]: t for t in order if t.op.name == "inv"}
    if not known:
        return list(outputs)

    def change(term: Term, args: tuple[Any, ...]) -> Term:
        made = known.get(term.args[0], term) if term.op.name == "inv_or_infinite" else term
        return made if args == term.args else make(made.op, args, term.params, term.shape, term.dtype)

    return rebuilt(outputs, change, order)


def exponentials(outputs: Sequence[Term], order: Sequence[Term]) -> list[Term]:
    """a/(1 + e^u) as a e^-u/(1 + e^-u) where the program has e^-u and u is never negative: one exponential for two.

    Both have all their digits, and e^-u does not overflow.
    """
    falling = {t.args[0].args[0]: t for t in order if t.op.name == "exp" and t.args[0].op.name == "neg"}
    rising = {t for t in order if t.op.name == "exp" and t.args[0] in falling and _never_negative(t.args[0])}
    if not rising:
        return list(outputs)
    sums = {t for t in order if t.op.name == "add" and t.args[0].number == 1 and t.args[1] in rising}
    below = {t for t in order if t.op.name == "div" and t.args[1] in sums and t.dtype == t.args[1].dtype}
    readers: dict[Term, set[Term]] = {}
    for term in order:
        for a in term.args:
            if a in rising or a in sums:
                readers.setdefault(a, set()).add(term)
    given = set(outputs)
    alone = {e for e in rising - given if readers[e] <= sums - given and all(readers[t] <= below for t in readers[e])}

    def change(term: Term, args: tuple[Any, ...]) -> Term:
        if term in below and term.args[1].args[1] in alone:
            e = falling[term.args[1].args[1].args[0]]
            over = make(lookup("mul"), (args[0], e), {}, term.shape, term.dtype)
            return make(
                term.op, (over, make(lookup("add"), (number(1), e), {}, e.shape, e.dtype)), {}, term.shape, term.dtype
            )
        return term.with_args(args)

    return rebuilt(outputs, change, order)


def with_shares(outputs: Sequence[Term], order: Sequence[Term]) -> list[Term]:
    """log Σ e^x of what the program has the shares of, with the axis kept as that has it; e^log softmax is softmax.

    And the cross entropy of a label is an entry of log softmax, where softmax is there.  The schedule then finds both
    from the same exponentials.
    """
    logs = {t.args[0] for t in order if t.op.name == "exp" and t.args[0].op.name == "log_softmax"}
    shares = {(t.args[0], t.params["dim"]) for t in order if t.op.name == "shares"}
    totals = {
        t for t in order
        if t.op.name == "logsumexp" and not t.params["keepdim"] and (t.args[0], *t.params["dim"]) in shares
    }  # fmt: skip
    known = {t.args[0] for t in order if t.op.name == "softmax" and t.params["dim"] == t.ndim - 1}
    entropies = {t for t in order if t.op.name == "label_cross_entropy" and t.args[0] in known}
    if not logs and not totals and not entropies:
        return list(outputs)

    def change(term: Term, args: tuple[Any, ...]) -> Any:
        if term in entropies:
            return -lookup("chosen")(lookup("log_softmax")(args[0], dim=args[0].ndim - 1), args[1])
        if term.op.name == "exp" and term.args[0] in logs:
            return make(lookup("softmax"), args[0].args, args[0].params, term.shape, term.dtype)
        made = term.with_args(args)
        if term not in totals:
            return made
        (dim,) = term.params["dim"]
        shape = (*term.args[0].shape[:dim], 1, *term.args[0].shape[dim + 1 :])
        kept = make(term.op, args, {**term.params, "keepdim": True}, shape, term.dtype)
        return make(lookup("squeeze"), (kept,), {"dim": (dim,)}, term.shape, term.dtype)

    return rebuilt(outputs, change, order)

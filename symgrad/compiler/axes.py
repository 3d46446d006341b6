"""Rewrites of ops that give an array other axes: what does nothing, and what is undone by the next one."""

from __future__ import annotations

from typing import Any

import numpy as np

from symgrad.compiler.kept import kept_again
from symgrad.formula.term import Term, constant_value, full, make
from symgrad.op import lookup
from symgrad.ops.indexing.getitem import getitem as getitem_at, static_index
from symgrad.ops.shapes.shaping import unsqueeze_op


def permute(term: Term, args: tuple[Any, ...]) -> Term | None:
    """Nothing turned is nothing done; two turns are one."""
    (x,) = args
    dims = term.params["dims"]
    if dims == tuple(range(len(dims))):
        return x  # type: ignore[no-any-return]
    if x.op.name == "permute":
        inner = tuple(x.params["dims"][k] for k in dims)
        return permute(term, (x.args[0],)) if inner == dims else _retransposed(term, x.args[0], inner)
    return None


def _retransposed(term: Term, x: Term, dims: tuple[int, ...]) -> Term:
    if dims == tuple(range(len(dims))):
        return x
    return make(lookup("permute"), (x,), {"dims": dims}, term.shape, term.dtype)


def reshape(term: Term, args: tuple[Any, ...]) -> Term | None:
    """Of two reshapes the last one counts."""
    (x,) = args
    if x.shape == term.shape:
        return x  # type: ignore[no-any-return]
    if x.op.name == "reshape":
        return term.with_args(x.args)
    return None


def expand(term: Term, args: tuple[Any, ...]) -> Term | None:
    """What has that shape already; new axes in front come with the others."""
    (x,) = args
    while x.op.name == "unsqueeze" and x.params["dim"] == 0 and x.shape != term.shape:
        x = x.args[0]
    if x.shape == term.shape:
        return x  # type: ignore[no-any-return]
    return None if x is args[0] else term.with_args((x,))


def _new_axes(term: Term, ndim: int) -> tuple[int, ...] | None:
    """The places of new axes of an index that does nothing but put them in."""
    index = term.params["index"]
    parts = index.parts
    plain = all(p is None or p is Ellipsis or (p.__class__ is slice and p == slice(None)) for p in parts)
    if index.steps is not None or not plain:
        return None
    whole = ndim - sum(p is not None and p is not Ellipsis for p in parts)
    at = parts.index(...) if ... in parts else len(parts)
    parts = (*parts[:at], *(slice(None),) * whole, *parts[at + 1 :])
    return tuple(k for k, p in enumerate(parts) if p is None)


def getitem(term: Term, args: tuple[Any, ...]) -> Term | None:
    """An index of new axes alone."""
    found, axes = args[0], _new_axes(term, args[0].ndim) if len(args) == 1 else None
    for dim in axes or ():
        found = unsqueeze_op(found, dim=dim)
    return None if axes is None else found


def gather(term: Term, args: tuple[Any, ...]) -> Term | None:
    """Entries picked along an axis are those of an index, where there is no other axis."""
    return getitem_at(*args) if term.ndim == 1 else None


def scatter(term: Term, args: tuple[Any, ...]) -> Term | None:
    """Entries added along an axis are put back by an index, where there is no other axis."""
    if term.ndim != 1:
        return None
    index, places = static_index(args[1]).parted()
    return make(
        lookup("put"), (args[0], *places), {"index": index, "shape": term.params["shape"]}, term.shape, term.dtype
    )


def put(term: Term, args: tuple[Any, ...]) -> Term | None:
    """What an index has put new axes in goes back without them; the only row of an axis is all of it."""
    if (axis := _only_row(term)) is not None and args[0].dtype == term.dtype and args[0].ndim == term.ndim - 1:
        return unsqueeze_op(args[0], dim=axis)  # type: ignore[no-any-return]
    axes = _new_axes(term, term.ndim) if len(args) == 1 else None
    if not axes or args[0].ndim != term.ndim + len(axes) or args[0].dtype != term.dtype:
        return None
    made = make(lookup("squeeze"), args, {"dim": axes}, term.shape, term.dtype)
    short = squeeze(made, args)
    return made if short is None else short


def _only_row(term: Term) -> int | None:
    """The axis of size 1 of whose only row an index tells, where it takes all of the others."""
    index = term.params["index"]
    rows = [k for k, p in enumerate(index.parts) if p.__class__ is int]
    others = all(p.__class__ is slice and p == slice(None) for k, p in enumerate(index.parts) if k not in rows)
    if index.steps is not None or len(rows) != 1 or not others or term.shape[rows[0]] != 1:
        return None
    return rows[0]


def unsqueeze(term: Term, args: tuple[Any, ...]) -> Term | None:
    """A constant with another axis, or the axis that was just taken away."""
    value = constant_value(args[0])
    if value is None or isinstance(value, str):
        return kept_again(term, args[0])
    return full(term.shape, value, term.dtype or np.float64)


def squeeze(term: Term, args: tuple[Any, ...]) -> Term | None:
    """Taking away the axes of size 1 that were just put in."""
    (x,) = args
    dims = term.params["dim"]
    if x.op.name == "unsqueeze" and dims == (x.params["dim"],):
        return x.args[0]  # type: ignore[no-any-return]
    return None

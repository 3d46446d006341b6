"""Duals of an outer derivative that one inside of it writes into: they move along both until the inner one is done.

A dual is of one derivative.  The one that is written into becomes a dual of the inner derivative, over a twin that is
all that it was; so do its base and its other views, whose tangents are cut out of the same one.  When the inner
derivative is done, each of them is again what its twin is.
"""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np

from symgrad.errors import AutogradError
from symgrad.op import shape_of
from symgrad.tape.forward.place import Place

_RAISED: dict[int, list[weakref.ref[Any]]] = {}
"""What became a dual of an inner derivative, by its tag."""

_SLOTS = ("primal", "tag", "place", "chain", "history", "seen")


def raise_to(tag: int, dual: Any) -> None:
    """Let a dual and all that share its memory be duals of the inner derivative ``tag``, along which they stand still.

    Raises ``AutogradError`` for a view of what has no tangent: how large that is nobody knows.
    """
    before = dual.place
    if before.tangent is None and dual.chain:
        raise AutogradError(
            "a view of what an outer forward derivative does not move cannot be changed in place by a value of an "
            "inner one; make a new tensor instead: by cat, stack, where or index_put."
        )
    like = dual if before.tangent is None else before.tangent
    zeros = getattr(dual.primal, "new_zeros", np.zeros)
    place = Place(zeros(tuple(shape_of(like)), dtype=like.dtype))
    for member in {id(member): member for member in (*before.family(), dual)}.values():
        twin = _become(object.__new__(member.__class__), member)
        before.share(twin)
        member.primal, member.tag, member.history, member.seen = twin, tag, None, -1
        member.place = place.share(member)
        _RAISED.setdefault(tag, []).append(weakref.ref(member))


def lower(tag: int) -> None:
    """The derivative ``tag`` is done: what became its duals is what it was before, with the values it has now."""
    for ref in _RAISED.pop(tag, ()):
        member = ref()
        if member is not None and member.tag == tag:
            _become(member, member.primal)
            member.place.share(member)


def _become(dual: Any, other: Any) -> Any:
    for slot in _SLOTS:
        setattr(dual, slot, getattr(other, slot))
    dual.seen = -1  # its part of the tangent is cut out anew
    return dual

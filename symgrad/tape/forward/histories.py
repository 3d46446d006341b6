"""What duals were computed of: for tangents that several steps have together and none of them alone.

``sqrt((x**2).sum())`` at the origin has a tangent, but its last step finds 0 / 0; ``exp(x) / exp(x).sum()`` far out
finds inf / inf.  :mod:`symgrad.formula.stable` knows other spellings of such values by their terms.  While a function
is traced, whose program is for all places, and where a tangent came out as nan, duals remember their terms, and an op
that ends in such a value moves as its other spelling does.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from symgrad.errors import SymgradError
from symgrad.formula.shortcuts import as_run
from symgrad.formula.stable import CANDIDATES, respelled
from symgrad.formula.term import Term, as_term, images, make, own_symbol
from symgrad.op import Op, shape_of
from symgrad.ops.rules.kinks import keeps_nan
from symgrad.tape.forward.dualwrites import faced
from symgrad.tape.threads import ThreadState, meanwhile
from symgrad.tape.watching.watch import WATCH, watching

_NAMES = itertools.count()


class History:
    """The term of a dual, and the terms and values of what it was computed of.

    ``changes``: how often its tangent had been changed by then; a dual that is changed later is no longer this one.
    ``spelled``: whether its tangent, or one that led to it, is that of another spelling.
    """

    __slots__ = ("changes", "parts", "spelled", "term")

    def __init__(self, term: Term, parts: Sequence[tuple[Term, Any]], changes: int):
        self.term = term
        self.parts = parts
        self.changes = changes
        self.spelled = any(getattr(getattr(value, "history", None), "spelled", False) for _, value in parts)


class _State(ThreadState):
    def __init__(self) -> None:
        self.kept: bool | None = None  # None: while a function is traced
        self.chosen: set[int] = set()


_STATE = _State()


def histories_kept(kept: bool = True) -> AbstractContextManager[None]:
    """Inside, duals remember what they were computed of, or do not."""
    return meanwhile(_STATE, kept=kept)


def are_kept() -> bool:
    """Whether duals remember what they were computed of; tracers that repeat every node as it ran want no others."""
    if _STATE.kept is False or not (_STATE.kept or WATCH.count):
        return False
    watch = watching()
    kept = bool(_STATE.kept) if watch is None else not watch.everything
    return kept and not keeps_nan("composed")


def were_chosen(tag: int) -> bool:
    """Whether a function chose between values of another spelling and others, while it was traced.

    Zeros of a branch not taken go with the steps that were written, so it is traced once more along these.
    """
    chosen = tag in _STATE.chosen and _STATE.kept is None
    _STATE.chosen.discard(tag)
    return chosen


def history(op: Op, args: Sequence[Any], params: dict[str, Any], out: Any, tag: int) -> History | None:
    """What the result ``out`` of an op on duals was computed of; None where no term says it."""
    if op.kind in ("folded", "function", "opaque") or op.define_symbolic is not None:
        return None
    args = [faced(a) for a in args]
    terms = {id(a): _term_of(a, tag) for a in args}
    row = tuple(terms[id(a)] for a in args)
    try:
        found = as_run(op, row, params)
    except (SymgradError, TypeError, ValueError):  # whatever an op makes of terms that it does not know
        return None
    if not isinstance(found, Term) or found.shape != tuple(shape_of(out)):
        return None
    if found.args and found.dtype is not None and found.dtype != out.dtype:
        found = make(found.op, found.args, found.params, found.shape, out.dtype)
    known = History(found, tuple(zip(row, args, strict=True)), 0)
    if known.spelled and op.structural is not None:
        _STATE.chosen.add(tag)
    return known


def _term_of(value: Any, tag: int) -> Term:
    """The term of an argument: a symbol for what the derivative of this tag knows nothing of."""
    if getattr(value, "tag", None) == tag and hasattr(value, "history"):
        known = value.history
        if known is None or known.changes != value.place.changes:
            known = value.history = History(_leaf(value), (), value.place.changes)
        return known.term  # type: ignore[no-any-return]
    if hasattr(value, "raw_shape") or np.ndim(value):
        return _leaf(value)
    return as_term(value)


def _leaf(value: Any) -> Term:
    dtype = value.dtype if hasattr(value, "dtype") else np.asarray(value).dtype
    return own_symbol(str(next(_NAMES)), tuple(map(int, shape_of(value))), np.dtype(dtype))


def moved_otherwise(op: Op, known: History) -> Any:
    """The result of an op once more, in a spelling whose tangent is right everywhere; None where there is none."""
    if op.name not in CANDIDATES:
        return None
    found = respelled(known.term)
    if found is None:
        return None
    values = _values(known, set(found[1]))
    if values is None:
        return None
    try:
        moved = images([found[0]], {}, {}, values)[found[0]]
    except SymgradError:
        return None
    known.spelled = True
    return moved


def _values(known: History, wanted: set[Term]) -> dict[Term, Any] | None:
    """The values of terms below a history, if all of them are there and as they were."""
    values: dict[Term, Any] = {}
    seen: set[int] = set()
    stack = list(known.parts)
    while stack and len(values) < len(wanted):
        term, value = stack.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        own = getattr(value, "history", None)
        if term in wanted:
            if own is not None and (own.term is not term or own.changes != value.place.changes):
                return None
            values[term] = value
        elif own is not None and own.term is term:
            stack.extend(own.parts)
    return values if len(values) == len(wanted) else None

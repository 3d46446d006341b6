"""Where a plain gradient came from, so that ``w.grad.expr`` works without ``create_graph`` and at no numeric cost.

A gradient tensor keeps the backward passes that were added into it.  The derivation on formula nodes runs only when
a formula is asked for, once per pass for all its leaves.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np

from symgrad.errors import FormulaError
from symgrad.formula.term import SYMBOL, Term
from symgrad.op import is_complex
from symgrad.ops.rules.kinks import in_force
from symgrad.tape.backward.tether import at, held
from symgrad.tape.memory.versions import changed_since
from symgrad.tape.numbering import sequence

LIMIT = 64
"""Accumulated passes a gradient remembers; beyond that its formula is a symbol of its own."""


class Origin:
    """One backward pass: its outputs and cotangents, as the graph knows them."""

    __slots__ = (
        "__weakref__", "_given", "began", "cache", "calls", "convention", "known", "pulled", "recorded", "replaced",
        "roots", "seeds", "shown", "taken", "wanted",
    )  # fmt: skip

    def __init__(self, outputs: Sequence[Any], gradients: Sequence[Any]):
        self.roots = tuple(out.edge() for out in outputs)
        self.seeds = tuple(None if g is None else g.edge() for g in gradients)
        self.wanted: frozenset[int] | None = None  # the identities of the edges asked for; None for all leaves
        self.recorded = False
        self.taken: set[int] = set()  # arrays that belong to somebody: a leaf that gets one keeps a copy of it
        self.began = next(sequence)
        self.shown: weakref.WeakValueDictionary[int, Any] | None = None  # the tensors that hooks saw, by their arrays
        self.calls: list[Any] = []  # while a recorded pass runs: what the user's code in it took and gave
        self._given: weakref.WeakValueDictionary[Any, Any] | None = None
        self.cache: dict[Any, Any] = {}
        self.replaced: dict[Any, list[Any]] = {}  # by edge: the hooks that put another gradient in place
        self.convention = in_force()  # at kinks: the formula is read later, and must say what the number said
        self.pulled = "gradient"  # or all entries of the one output at once: "jacobian", "dz", "dzbar"
        self.known = True  # False when something replaced gradients in a way that no formula can follow

    @property
    def given(self) -> weakref.WeakValueDictionary[Any, Any]:
        """After a recorded pass: the edges of what the user's code gave, which know the pass and are not kept by it."""
        if self._given is None:  # most passes have no such code, and making the dictionary takes as long as a node
            self._given = weakref.WeakValueDictionary()
        return self._given

    def hooks_at(self, edge: Any) -> list[Any]:
        """The hooks that put another gradient in the place of the one for ``edge``."""
        return self.replaced.get(edge) or self.replaced.get(held(edge)) or []


OWN: tuple[Any, ...] = ()
"""The origin of a gradient that is no sum of known passes; it is a symbol of its own, like any other tensor."""


def attach(tensor: Any, origin: Origin, target: Any) -> Any:
    """Note that ``origin``'s gradient for ``target`` was added to ``tensor``; returns the tensor."""
    extra = tensor.more()
    leaf = target._requires_grad or (target._extra is not None and target._extra.claims)
    edge = target._node if target._node is not None else target if leaf else target.source()
    extra.origin_at = next(sequence)
    if not origin.known or extra.origin == OWN:
        extra.origin = OWN
    elif extra.origin is None:
        extra.origin = [(origin, held(edge))]
    elif extra.origin is FormulaError:
        pass
    elif len(extra.origin) < LIMIT:
        extra.origin.append((origin, held(edge)))
    else:
        extra.origin = FormulaError
    return tensor


def origin_of(tensor: Any) -> Any:
    """The passes a gradient is the sum of; None when its value was set or changed since by other means."""
    extra = tensor._extra
    if extra is None or not extra.origin or changed_since(tensor._value, extra.origin_at):
        return None
    if isinstance(extra.origin, list):
        return [(passed, at(edge)) for passed, edge in extra.origin]
    return extra.origin


def slope_of(reading: Any, tensor: Any) -> tuple[Term, Term] | None:
    """What a tensor is the gradient of and by which symbol, where one plain pass from a scalar gave all of it.

    ``reading`` is that of the tensor.
    """
    origin = origin_of(tensor)
    if tensor._node is not None or not isinstance(origin, list) or len(origin) != 1:
        return None
    ((passed, target),) = origin
    plain = passed.pulled == "gradient" and passed.seeds == (None,) and not passed.replaced
    if not plain or passed.hooks_at(target) or passed.convention != in_force():
        return None
    root, wrt = reading[passed.roots[0]], reading[target]
    return (root, wrt) if root.shape == () and wrt.op is SYMBOL and not is_complex(wrt) else None


def settle(tensor: Any) -> None:
    """Before another pass is added: forget passes that the value no longer comes from, unless it is zero anyway."""
    if origin_of(tensor) is None:
        tensor.more().origin = OWN if np.any(tensor._value) else None

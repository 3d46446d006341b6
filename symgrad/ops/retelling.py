"""Derivatives that numbers take one way and formulas another.

torch divides a product by its factors where none is zero, so that the product itself stands in the graph of the
derivative: hooks on it are called in a second pass, and it has gradients of its own.  The formula that holds at zeros,
too, does without it.  Both are recorded, and the numbers of their derivatives follow the one, the formulas
the other.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from symgrad.op import Op, broadcast_shapes
from symgrad.ops.shaping import zeros_like


def values(x: Any) -> Any:
    """The array of a tensor, or an array itself; None for what has no values.  To choose a way, not a result."""
    array = getattr(x, "_value", x)
    return array if isinstance(array, (np.ndarray, np.generic)) else None


def nonzero(x: Any) -> bool:
    """Whether values are known, finite, and nowhere zero."""
    array = values(x)
    return array is not None and bool(np.all(array != 0) and np.all(np.isfinite(array)))


class Retold(Op):
    """An op that tells numbers from formulas; it is no entry of the table, since formulas never see it."""

    __slots__ = ()

    def __reduce__(self) -> tuple[Any, ...]:
        return (_named, (self.name,))


def _named(name: str) -> Op:
    return unseen if name == "unseen" else unheard


unseen: Op = Retold(
    "unseen",
    "elementwise",
    lambda x: x,
    (lambda g, out, likex: unseen(g),),
    infer=broadcast_shapes,
    define_symbolic=lambda reading, node, args: args[0].full_like(0),
    doc="x in numbers, 0 in formulas.",
)
unheard: Op = Retold(
    "unheard",
    "elementwise",
    zeros_like,
    (lambda g, out, likex: None if values(g) is g else unheard(g),),
    infer=broadcast_shapes,
    define_symbolic=lambda reading, node, args: args[0],
    doc="0 in numbers, x in formulas.",
)
unseen.jvps, unheard.jvps = unseen.vjps, (lambda t, out, likex: unheard(t),)

READ: list[Callable[[], bool]] = []
"""Whether a program is read off what runs, which takes the way of the formulas then; filled in from above."""


def either(quick: bool, run: Callable[[], Any], shown: Callable[[], Any], g: Any) -> Any:
    """A cotangent that numbers get by ``run`` where it is ``quick``, else by ``shown``, as formulas do in any case."""
    if not quick or any(asked() for asked in READ):
        return shown()
    return run() if values(g) is g else unseen(run()) + unheard(shown())

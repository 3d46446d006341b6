"""Structural zeros: entries of a cotangent that are zero because a branch was not taken, whatever they meet.

They travel with the cotangent (:class:`symgrad.tape.graph.Masked`) and are put in again after every step, so that
``0 * inf`` never leaks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from symgrad.ops.elementwise.select import EXCEPTING, guard, where_op
from symgrad.ops.reductions.sums import cast_op
from symgrad.ops.rules.fitting import unbroadcast
from symgrad.ops.shapes.shaping import expand_op
from symgrad.tape.graph import Masked, Node
from symgrad.tape.memory.arrays import look_of


def structural(node: Node, i: int, c: Any, g: Any, zeros: Masked | None, inputs: Any, inner: Any) -> Any:
    """Attach to a contribution which of its entries are structural zeros."""
    shape = node.args[i].raw_shape
    rule, keep = node.op.structural, None
    if rule is not None and not leaks(node.params):
        # In a recorded sweep the condition is a tensor, so the zeros follow it in formulas and programs.
        keep = rule(i, *inputs[1:])
    if keep is not None:
        if keep.shape != node.shape:
            keep = expand_op(keep, shape=node.shape)
        zeroing, inner = zeroing_of(node.op), g
        if _recorded(g) and not _recorded(c):
            inner = None  # zeros that do not depend on the cotangent, as those of sgn, go on without it, as in torch
        elif zeros is not None and zeros.zeroing is zeroing:
            keep, inner = keep & zeros.keep, zeros.inner
            c = zeroing(keep, inner) if node.shape == shape and c.dtype == inner.dtype else c
        elif zeros is not None and zeroing is excepted:
            # Inside of a branch the points that a rule excepts stay in the value.
            keep, zeroing, inner = zeros.keep, zeros.zeroing, zeroing(keep, zeros.inner)
    elif zeros is None or not node.op.by_entries:
        return c
    else:
        keep, zeroing = zeros.keep, zeros.zeroing
    if node.shape != shape:
        return Masked(c, unbroadcast(cast_op(keep, dtype="int64"), shape) > 0, zeroing)
    return Masked(c, keep, zeroing, inner if inner is not None and inner.dtype == c.dtype else None)


def look(cotangent: Any, zeros: Any) -> Any:
    """What tells whether hooks change a cotangent in place: its structural zeros are entries like others then."""
    return look_of(np.asarray(getattr(cotangent, "_value", cotangent))) if zeros and cotangent is not None else None


def _recorded(cotangent: Any) -> bool:
    return bool(getattr(cotangent, "_requires_grad", False))


def leaks(params: dict[str, Any] | None) -> bool:
    """Whether a ``where`` was called under torch's convention, so that its branches have no structural zeros."""
    return params is not None and bool(params.get("leaks"))


def branch_taken(keep: Any, c: Any) -> Any:
    """A cotangent with zeros where a branch was not taken."""
    return where_op(keep, c, 0)


def excepted(keep: Any, c: Any) -> Any:
    """A cotangent with zeros at the points that a rule excepts."""
    return guard(c, keep)


def zeroing_of(op: Any) -> Callable[[Any, Any], Any]:
    """How the zeros of an op's cotangent are put in again."""
    return excepted if op in EXCEPTING else branch_taken

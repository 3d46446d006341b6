"""Whether somebody follows a value: differentiates by it, or traces what is computed with it.

What gives plain arrays would be a constant to whoever follows, and its derivative silently zero; it asks here first.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from symgrad.errors import ArgumentError
from symgrad.op import carrier_of
from symgrad.tape.forward.bundle import Bundle
from symgrad.tape.forward.dualwrites import faced
from symgrad.tape.modes import is_grad_enabled
from symgrad.tape.record import Recorded
from symgrad.tape.watching.watch import watching


def is_followed(leaves: Iterable[Any]) -> bool:
    """Whether one of these arguments is a tensor that requires grad, one in a traced function, or a dual number."""
    for leaf in leaves:
        if leaf.__class__ is np.ndarray:
            continue
        leaf = faced(leaf)
        if isinstance(leaf, Recorded):
            if watching() is not None or (leaf.requires_grad and is_grad_enabled()):  # type: ignore[attr-defined]
                return True
        elif leaf.__class__ is not str and carrier_of(leaf.__class__) is not None:
            return True
    return False


def numbers_of(value: Any, owner: str) -> Any:
    """The array of an operand of ``owner``, whose results are numbers without history.

    Raises ``ArgumentError`` where the operand is followed; not under ``vmap``, which runs what it cannot map in a loop.
    """
    if not isinstance(value, Bundle) and is_followed((value,)):
        raise ArgumentError(
            f"{owner} gives numbers, through which no derivative is taken and which cannot be traced: detach() the "
            "operand, or use func.jvp and func.vjp (or the dense matrix), which can be differentiated."
        )
    return value._value if isinstance(value, Recorded) else np.asarray(value)

"""The exact derivative in words, for reports; built only when a report is printed or asked for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from symgrad.autograd import grad as tape_grad
from symgrad.check.asking.derivatives import pushed_tensor
from symgrad.check.oracle.answer import Exact
from symgrad.tape.record import plain
from symgrad.tensor import Tensor


def formula_texts(exact: Exact, i: int, kind: str, name: str) -> Callable[[], tuple[str, str] | None]:
    """A function giving ``(text, LaTeX)`` of the exact derivative; it gives None for a black box.

    A Jacobian is told as the differential: the derivative along a tangent ``d{name}``.
    """
    found: list[tuple[str, str]] = []

    def texts() -> tuple[str, str] | None:
        if not _recorded(exact):
            return None
        if not found:
            from symgrad.formula.sympy.texts import text

            g = _along_tangent(exact, i, name) if kind in ("jacobian", "jvp") else gradient_tensor(exact, i)
            if g is None:
                return None
            found.append((text(g.expr), g.latex()))
        return found[0]

    return texts


def _recorded(exact: Exact) -> bool:
    return exact.output is not None and exact.output._requires_grad


def gradient_tensor(exact: Exact, i: int) -> Any:
    """The exact gradient by one argument as a tensor, which has its formula; None for a black box."""
    if not _recorded(exact):
        return None
    return tape_grad(exact.output, exact.leaves[i], retain_graph=True, allow_unused=True, materialize_grads=True)[0]


def _along_tangent(exact: Exact, i: int, name: str) -> Any:
    leaf = exact.leaves[i]
    tangent = plain(Tensor, np.ones_like(leaf._value)[()])
    tangent.more().name = f"d{name}"
    return pushed_tensor(exact.output, [leaf], [tangent])

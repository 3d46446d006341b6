"""Gradients of the wrong shape: which sum is missing, or which one is too many."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from symgrad.check.report import Diagnosis

if TYPE_CHECKING:
    from symgrad.check.diagnosis import Case


def explain_shape(case: Case) -> Diagnosis:
    """What is wrong with a gradient whose shape is not its variable's."""
    g, c, name = case.g, case.c, case.name
    shapes = f"has shape {c.shape}, {name} has {g.shape}"
    if c.ndim >= 2 and case.meets(_transposed(g), c):
        return Diagnosis("transpose", f"The given gradient is the transpose of the exact one: it {shapes}.", "A for Aᵀ")
    if c.size == g.size:
        if case.meets(g.reshape(c.shape)):
            return Diagnosis("shape", f"The values are right, but the gradient {shapes}.", f"reshape it to {g.shape}")
        return Diagnosis("shape", f"The gradient {shapes}.", "a missing or superfluous axis, and wrong values as well")
    axes = _summed_axes(case, c)
    if axes is not None:
        return Diagnosis(
            "missing sum",
            f"A sum over {_axes(axes)} is missing: {name} was broadcast, and its gradient {shapes}.",
            f"sum the gradient over {_axes(axes)}: broadcasting is undone by a sum",
        )
    axes = _summed_axes(case, c, reverse=True)
    if axes is not None:
        return Diagnosis(
            "extra sum", f"The gradient is summed over {_axes(axes)}: it {shapes}.", "a sum that is not there"
        )
    if c.ndim > g.ndim or c.size > g.size:
        return Diagnosis("missing sum", f"The gradient {shapes}.", "a sum over the axes along which it was broadcast")
    return Diagnosis("shape", f"The gradient {shapes}.", "a gradient has the shape of its variable")


def _transposed(g: Any) -> Any:
    return np.transpose(g)


def _summed_axes(case: Case, c: Any, reverse: bool = False) -> tuple[int, ...] | None:
    """The axes of the larger array whose sum gives the smaller one."""
    large, small = (case.g, c) if reverse else (c, case.g)
    if large.size <= small.size or large.ndim > 8:
        return None
    for count in range(1, large.ndim + 1):
        for axes in combinations(range(large.ndim), count):
            total = large.sum(axis=axes)
            if total.size != small.size:
                continue
            if _same(total.reshape(small.shape), small, case):
                return axes
    return None


def _same(a: Any, b: Any, case: Case) -> bool:
    room = 64 * float(np.max(case.argument.tolerance)) + 1e-6 * float(np.max(np.abs(b)))
    return bool(np.all(np.abs(a - b) <= room))


def _axes(axes: tuple[int, ...]) -> str:
    return f"axis {axes[0]}" if len(axes) == 1 else f"axes {', '.join(map(str, axes))}"

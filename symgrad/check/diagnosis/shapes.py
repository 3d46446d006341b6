"""Gradients of the wrong shape: which sum is missing, or which one is too many."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from symgrad.check.diagnosis.constants import constant_name
from symgrad.check.report import Diagnosis, number_text

if TYPE_CHECKING:
    from symgrad.check.diagnosis.case import Case


_SHAPES = {
    "gradient": "a gradient has the shape of its variable",
    "vjp": "a vjp has the shape of its variable",
    "jacobian": "a Jacobian has the axes of the result first, then those of the variable",
    "jvp": "a jvp has the shape of the result",
    "elementwise": "an elementwise derivative has the shape of the result",
}


def explain_shape(case: Case) -> Diagnosis:
    """What is wrong with a gradient whose shape is not its variable's."""
    g, c, name = case.g, case.c, case.name
    shapes = f"has shape {c.shape}, {name} has {g.shape}"
    if case.argument.kind in ("jacobian", "jvp", "elementwise"):
        shapes = f"has shape {c.shape} in place of {g.shape}"
    if c.shape == (inner := g.shape[case.argument.outputs :]) + g.shape[: g.ndim - len(inner)] and case.meets(
        np.moveaxis(g, range(case.argument.outputs), range(-case.argument.outputs, 0)), c
    ):
        text = f"The axes of {name} come first, those of {case.argument.function} have to: the Jacobian {shapes}."
        return Diagnosis("transpose", text, "the layout: entry (i, j) is the derivative of output i by input j")
    if c.ndim >= 2 and case.meets(np.transpose(g), c):
        return Diagnosis(
            "transpose", f"The given {case.what} is the transpose of the exact one: it {shapes}.", "A for Aᵀ"
        )
    if c.size == g.size:
        if case.meets(g.reshape(c.shape)):
            return Diagnosis(
                "shape", f"The values are right, but the {case.what} {shapes}.", f"reshape it to {g.shape}"
            )
        return Diagnosis(
            "shape", f"The {case.what} {shapes}.", "a missing or superfluous axis, and wrong values as well"
        )
    if c.ndim == 1 and g.shape == c.shape * 2 and case.meets(np.diagonal(g), c):
        text = f"Only the diagonal of the exact {case.what} is given: it {shapes}."
        return Diagnosis("entries", text, "each entry depends on all others, too")
    axes, factor = _summed_axes(case, c)
    if axes:
        return Diagnosis(
            "missing sum",
            f"A sum over {_axes(axes)} is missing{_beside(factor, case)}: {name} was broadcast; its {case.what} "
            f"{shapes}.",
            f"sum the gradient over {_axes(axes)}: broadcasting is undone by a sum",
        )
    axes, factor = _summed_axes(case, c, reverse=True)
    if axes:
        return Diagnosis(
            "extra sum",
            f"The {case.what} is summed over {_axes(axes)}{_beside(factor, case)}: it {shapes}.",
            "a sum that should not be there",
        )
    if c.ndim > g.ndim or c.size > g.size:
        return Diagnosis(
            "missing sum", f"The {case.what} {shapes}.", "a sum over the axes along which it was broadcast"
        )
    return Diagnosis("shape", f"The {case.what} {shapes}.", _SHAPES[case.argument.kind])


def _summed_axes(case: Case, c: Any, reverse: bool = False) -> tuple[tuple[int, ...], float]:
    """The axes of the larger array whose sum gives the smaller one, up to a factor; () when there are none."""
    large, small = (case.g, c) if reverse else (c, case.g)
    if large.size <= small.size or large.ndim > 8:
        return (), 1.0
    for count in range(1, large.ndim + 1):
        for axes in combinations(range(large.ndim), count):
            total = large.sum(axis=axes)
            cancels = np.max(np.abs(total), initial=0) < 1e-9 * np.max(np.abs(large), initial=0)
            if total.size == small.size and not cancels:
                factor = _ratio(total.reshape(small.shape), small, case)
                if factor:
                    return axes, 1 / factor if reverse else factor
    return (), 1.0


def _ratio(a: Any, b: Any, case: Case) -> float:
    """``k`` with ``a = k b``; 0 when there is none.  For one number only k = 1 says something."""
    norm = float(np.sum(np.abs(b) ** 2))
    k = float(np.real(np.sum(np.conj(b) * a))) / norm if norm and b.size > 1 else 1.0
    room = 64 * float(np.max(case.argument.tolerance)) + 1e-6 * abs(k) * float(np.max(np.abs(b)))
    return k if bool(np.all(np.abs(a - k * b) <= room)) else 0.0


def _beside(factor: float, case: Case) -> str:
    if abs(factor - 1) < 1e-6:
        return ""
    return f", and what is left is {constant_name(factor, case) or number_text(factor)} times too large"


def _axes(axes: tuple[int, ...]) -> str:
    return f"axis {axes[0]}" if len(axes) == 1 else f"axes {', '.join(map(str, axes))}"

"""Derivatives taken for simpler ones: that of one row for the sum over all, that of a number for that of a matrix."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from symgrad.check.diagnosis.case import Case
from symgrad.check.diagnosis.variants import Variant, tried
from symgrad.check.graph import surgery
from symgrad.check.graph.surgery import Local
from symgrad.check.report import Diagnosis


def one_row(case: Case) -> Diagnosis | None:
    """What comes from the first or the last row of a batch only, where that of all rows is to be added."""
    rows = case.by_rows()
    return None if rows.surgeon is None or not rows.surgeon.sweeps else tried(case, rows, _one_row, [])


def as_of_numbers(case: Case) -> Diagnosis | None:
    """The derivative of a function of matrices taken as if they commuted with what is multiplied: f'(A)ᵀG."""
    rows = case.by_rows()
    return None if rows.surgeon is None or not rows.surgeon.sweeps else tried(case, rows, _as_of_numbers, [])


def _one_row(case: Case, node: Any, i: int, values: Any) -> Iterator[Variant]:  # noqa: ARG001
    for axis in _summed_axes(node, i):
        for place, said in ((0, "first"), (-1, "last")):
            yield Variant(
                node, i, partial(_at_place, axis=axis, place=place), partial(_told, case, node, i, axis, said)
            )


def _told(case: Case, node: Any, i: int, axis: int, said: str) -> Diagnosis:
    whole, arg = (surgery.text_of(case.exact.output, edge) for edge in (node, node.args[i]))
    there = f"Only what comes to {arg} through the {said} entry of {whole} along axis {axis} is there"
    return Diagnosis(
        "missing sum",
        f"{there}; what comes through the others is not added.",
        f"a sum over axis {axis}, as over a batch, of which one entry is taken",
        case.line(node),
    )


def _at_place(local: Local, axis: int, place: int) -> Any:
    part = np.zeros_like(local.g)
    at = (slice(None),) * axis + (place,)
    part[at] = local.g[at]
    return local.of(part)


def _summed_axes(node: Any, i: int) -> list[int]:
    """The axes of a result over which the gradient of an argument is summed: those that the argument does not have."""
    arg = node.args[i]
    shape = getattr(arg, "raw_shape", None)
    if shape is None:
        return []
    if node.op.kind == "multilinear" and all(hasattr(a, "raw_shape") for a in node.args):
        inputs, output = node.op.einsum(*(a.raw_shape for a in node.args), **(node.params or {}))
        missing = [k for k, label in enumerate(output) if label not in inputs[i]]
    elif node.op.entrywise:
        lead = len(node.shape) - len(shape)
        missing = [k for k in range(len(node.shape)) if k < lead or shape[k - lead] == 1]
    else:
        missing = []
    return [k for k in missing if node.shape[k] > 1]


def _as_of_numbers(case: Case, node: Any, i: int, values: Any) -> Iterator[Variant]:  # noqa: ARG001
    """Of a function f of a matrix A, f'(A)ᵀ is what the rule makes of the identity, which commutes with all."""
    shape = node.shape
    if node.op.mixes != 2 or len(node.args) != 1 or node.args[0].raw_shape != shape or shape[-1] < 2:
        return
    of = surgery.text_of(case.exact.output, node)
    for how, said in ((0, "f'(A)ᵀ G"), (1, "G f'(A)ᵀ"), (2, "(f'(A)ᵀ G + G f'(A)ᵀ)/2")):

        def told(said: str = said) -> Diagnosis:
            return Diagnosis(
                "function of a matrix",
                f"The derivative of {of} is taken as if all matrices commuted: {said}, for the gradient G of it.",
                "d f(A) is f'(A) dA for numbers only; of matrices it is a sum, or an integral, with dA in between",
                case.line(node),
            )

        yield Variant(node, i, partial(_commuting, how=how), told)

    yield Variant(
        node,
        i,
        _entry_by_entry,
        lambda: Diagnosis(
            "function of a matrix",
            f"The derivative of {of} is taken as that of the function of every entry.",
            "np.exp(A) for a matrix exponential, 1/A for an inverse",
            case.line(node),
        ),
    )


def _entry_by_entry(local: Local) -> Any:
    """What matrices of one entry each would hand down."""
    x = np.reshape(local.saved[1], (-1, 1, 1))
    try:
        with np.errstate(all="ignore"):
            out = np.asarray(local.node.op(x, **(local.node.params or {})))
            slopes = np.asarray(local.rule(np.ones_like(out), out, x))
    except Exception:  # noqa: BLE001  (an entry need not have a root)
        return None
    return local.g * slopes.reshape(local.g.shape)


def _commuting(local: Local, how: int) -> Any:
    slope = local.of(np.broadcast_to(np.eye(local.g.shape[-1], dtype=local.g.dtype), local.g.shape))
    left, right = slope @ local.g, local.g @ slope
    return (left, right, (left + right) / 2)[how]

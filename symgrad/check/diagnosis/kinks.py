"""Mistakes where a function has a branch: the gradient goes on where none should, or a margin is forgotten."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from symgrad.check.diagnosis.case import Case
from symgrad.check.diagnosis.variants import Value, Variant, tried
from symgrad.check.graph import surgery
from symgrad.check.graph.surgery import Local
from symgrad.check.report import Diagnosis
from symgrad.tape.graph import Node


def let_through(case: Case) -> Diagnosis | None:
    """The gradient goes on where an operation lets none through; asked before the entries that it shows in."""
    return _first(case, _passed_on)


def decided_elsewhere(case: Case) -> Diagnosis | None:
    """The side of a branch is taken by another condition; asked before the entries that it shows in."""
    return _first(case, _condition_elsewhere) or _first(case, _by_own_sign)


def _first(case: Case, propose: Any) -> Diagnosis | None:
    rows = case.by_rows()
    return None if rows.surgeon is None or not rows.surgeon.sweeps else tried(case, rows, propose, [])


def _chooses(node: Node) -> bool:
    """Whether an operation lets some entries through and others not, by comparing; ``abs`` and powers do not."""
    return node.op.structural is not None or any(isinstance(kink, str) for kink in node.op.kinks or ())


def _passed_on(case: Case, node: Any, i: int, values: list[Value]) -> Iterator[Variant]:  # noqa: ARG001
    """The gradient goes on where the operation lets none through: a hinge or a mask forgotten."""
    if _chooses(node):
        yield Variant(
            node,
            i,
            _unmasked,
            lambda: Diagnosis(
                "branch",
                f"The gradient goes through {node.op.name} where it lets none through, in "
                f"{surgery.describe_node(case.exact.output, node)}.",
                "the condition of the branch: relu's mask, a hinge, a mask of padding",
                case.line(node),
            ),
        )


def _condition_elsewhere(case: Case, node: Any, i: int, values: list[Value]) -> Iterator[Variant]:  # noqa: ARG001
    """The side of a branch is decided by its argument without a constant: a margin or a threshold forgotten."""
    arg = node.args[i]
    if not _chooses(node) or case.replay is None or not isinstance(arg, Node):
        return
    for other in case.replay.without_constants():
        changed = case.replay.values_of(other).get(arg)
        if changed is not None and np.shape(changed) == arg.shape:
            yield Variant(
                node, i, partial(_decided_by, changed=changed), partial(_decided_told, case, node, arg, other.said)
            )


def _by_own_sign(case: Case, node: Any, i: int, values: list[Value]) -> Iterator[Variant]:  # noqa: ARG001
    """What decides is whether the gradient is positive, and not the argument: ``g[g <= 0] = 0`` after a relu."""
    if not _chooses(node):
        return
    for both, said in ((False, "is decided by the sign of the gradient, not by that of its argument"), _OF_BOTH):
        yield Variant(node, i, partial(_positive, both=both), partial(_own_sign_told, case, node, said))


_OF_BOTH = (True, "lets nothing through where the gradient is negative")


def _own_sign_told(case: Case, node: Any, said: str) -> Diagnosis:
    return Diagnosis(
        "branch",
        f"The derivative of {node.op.name} {said}, in {surgery.describe_node(case.exact.output, node)}.",
        "the array in the condition: g[x <= 0] = 0, not g[g <= 0] = 0",
        case.line(node),
    )


def _positive(local: Local, both: bool) -> Any:
    g = local.c if both else surgery.skip(local)
    return np.where(g > 0, g, 0)


def _decided_by(local: Local, changed: Any) -> Any:
    operands = [*local.saved[1 : local.i + 1], changed, *local.saved[local.i + 2 :]]
    if any(v is None for v in operands):
        return None
    return local.apply(local.node.op(*operands, **(local.node.params or {})), *operands)


def _decided_told(case: Case, node: Any, arg: Any, said: str) -> Diagnosis:
    part = surgery.text_of(case.exact.output, arg)
    return Diagnosis(
        "branch",
        f"The derivative of {node.op.name} takes the side of {part} {said}.",
        "the condition of the branch: a margin or a threshold",
        case.line(node),
    )


def _unmasked(local: Local) -> Any:
    """The cotangent as it came, where the operation hands down that or nothing: a mask, and no slope."""
    g = surgery.skip(local)
    lost = (local.c == 0) & (g != 0)
    return g if np.any(lost) and np.all(lost | (local.c == g)) else None

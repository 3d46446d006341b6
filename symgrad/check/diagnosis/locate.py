"""Where a mistake without a name lies: the value whose gradient must be wrong already when it gets there.

If the derivatives from a value on to the arguments are right, the errors of all arguments are what one error in the
gradient of that value brings them: a linear system with more equations than unknowns.  The value closest to the result
of which that holds is where to look.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from symgrad.check.diagnosis.case import Case
from symgrad.check.graph.surgery import text_of
from symgrad.check.report import UNNAMED, Diagnosis

MOST_UNKNOWNS = 200
"""Entries of a value whose gradient is solved for."""


def locate(cases: Sequence[Case]) -> None:
    """Say where to look of mistakes that have no name; ``cases`` are those of all arguments."""
    unnamed = [case for case in cases if case.argument.diagnosis and case.argument.diagnosis.kind in UNNAMED]
    if not unnamed or cases[0].surgeon is None or cases[0].subject.derivative.kind != "gradient":
        return
    if any(case.off is None or not np.all(np.isfinite(case.off)) or case.g.dtype.kind != "f" for case in cases):
        return
    if any(case.symmetric for case in cases):  # any error of a triangle can be one of the other
        return
    arg = _place(cases)
    if arg is None:
        return
    part = text_of(cases[0].exact.output, arg)
    said = f"The gradient of {part} is wrong when it gets there; what is done with it from there on may be right."
    found = Diagnosis("place", said, f"the derivative of what f does with {part} afterwards", cases[0].line(arg))
    for case in unnamed:
        case.argument.diagnosis = found


def _place(cases: Sequence[Case]) -> Any:
    """The first value, from the output down, whose gradient alone can be wrong."""
    surgeon = cases[0].surgeon
    assert surgeon is not None
    leaves = [case.exact.leaves[case.number] for case in cases]
    off = np.concatenate([np.ravel(case.off) for case in cases])
    tolerance = np.concatenate([np.ravel(case.argument.tolerance) for case in cases])
    room = 8 * tolerance + 1e-6 * float(np.max(np.abs(off)))
    end = surgeon.spent + 10 * MOST_UNKNOWNS * len(surgeon.nodes)
    for node in surgeon.nodes[1:]:
        if math.prod(node.shape) > MOST_UNKNOWNS or off.size <= 1:
            continue
        matrices = [surgeon.matrix(node, leaf, at_once=True) for leaf in leaves]
        if any(matrix is None for matrix in matrices) or surgeon.is_over(end):
            continue
        whole = np.concatenate(matrices, axis=1)
        if not np.isfinite(whole).all():
            continue
        solution, _, rank, _ = np.linalg.lstsq(whole.T, off, rcond=None)
        reached = int(np.any(whole, axis=0).sum())  # entries that no gradient of the value comes to are no equations
        if rank < reached and np.all(np.abs(solution @ whole - off) <= room):
            return node
    return None

"""Numbers of a run that would stand in its formula, though they are others for other values of the arguments.

What a function does with the values of its arguments outside of the graph (``a.detach().numpy().max()``) is a number of
the example by which it is run.  It is found by running it again at values near by: what changes is no constant.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from symgrad.errors import FormulaError
from symgrad.formula.term import Term
from symgrad.notices import line_text
from symgrad.tape.graph import Source
from symgrad.tape.watching.nudges import NUDGE, own

if TYPE_CHECKING:
    from symgrad.sources.running import Run


def nudged(array: np.ndarray[Any, Any], nudge: float, k: int) -> Any:
    """Argument ``k`` near by: its zeros stay zeros, unless it has nothing else, and what is symmetric stays so."""
    nudge *= own(k) * max(1.0, 8 * float(np.finfo(array.dtype).eps) / NUDGE)
    found = array * (1 + nudge) if array.any() else array + nudge
    for axis, n in enumerate(array.shape):
        steps = 1 + nudge * np.cos(np.arange(n)) / 2
        found = found * steps.reshape(-1, *[1] * (array.ndim - 1 - axis))
    return found.astype(array.dtype)


def refuse_samples(run: Run, again: Callable[[float], Run]) -> None:
    """Raise ``FormulaError`` where a formula has numbers that follow the values of the arguments.

    ``again`` runs the function at values that differ by a part of themselves.  Of functions that never give the same
    twice this cannot be told.
    """
    lines = []
    if any(read.how != "bool()" for read in run.reads):
        with suppress(Exception):  # whatever the function does with other values
            lines = _lines_of_samples(run, again)
    if lines:
        raise FormulaError(
            "the formula would have numbers of one example, which are others for other arguments. Compute them with "
            f"the tensor itself (what detach() gives stays in formulas), or pass them as arguments: {'; '.join(lines)}"
        )


def _lines_of_samples(run: Run, again: Callable[[float], Run]) -> list[str]:
    near = again(NUDGE)
    if _same(run, near) is not False and _same(near, again(2 * NUDGE)) is not False:
        return []
    if not _same(run, again(0.0)):
        return []
    reads = zip(run.reads, near.reads, strict=False)
    moved = [a for a, b in reads if a.how != "bool()" and not np.array_equal(a.seen, b.seen)]
    return list(dict.fromkeys(f"{read.how} at {line_text(read.line) or 'the program'}" for read in moved))


def _same(a: Run, b: Run) -> bool | None:
    """Whether two runs give one formula with the same constants; None where the functions took different ways."""
    stack, seen, same = [(a.term, b.term)], set[tuple[Term, Term]](), True
    while stack:
        pair = x, y = stack.pop()
        if x is y or pair in seen:
            continue
        seen.add(pair)
        if x.op.name != y.op.name or len(x.args) != len(y.args):
            return None
        same = same and bool(x.args) and x.params == y.params
        stack += zip(x.args, y.args, strict=True)
    return same and all(
        np.array_equal(_value(leaf), _value(b.reading.sources.get(name)), equal_nan=leaf.dtype.kind in "fc")
        for name, leaf in a.reading.sources.items()
        if name not in a.arguments
    )


def _value(leaf: Any) -> Any:
    """The values that a constant has, or had when its graph was recorded."""
    tensor = leaf.ref() if isinstance(leaf, Source) else leaf
    return getattr(tensor, "_value", None) if tensor is not None else leaf.kept

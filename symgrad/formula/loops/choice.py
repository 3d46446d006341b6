"""Whether a formula is printed as a recurrence: when that is shorter, and no closed form is known."""

from __future__ import annotations

from symgrad.formula.canonical.budget import exceeds
from symgrad.formula.loops.recurrence import Recurrence, recurrence, unrolled
from symgrad.formula.loops.rows import Row, shown
from symgrad.formula.printing.latex import written
from symgrad.formula.printing.names import texts
from symgrad.formula.printing.sharing import LINE_SIGNS, signs
from symgrad.formula.printing.wherelist import CANONICAL_BUDGET, canonical_or_raw
from symgrad.formula.term import SYMBOL, Term, postorder

_TRIED = 12
"""Terms of a step up to which two and three steps are written out, to see whether the formula grows with them."""

_OF_GRADIENTS = 6
"""How much longer a gradient is than what it is the gradient of."""


def rolled(
    root: Term, target: Term | None, name: str | None, bold: bool, column: float | None, always: bool
) -> list[Row] | None:
    """The lines of a program with a loop, or of its gradient by ``target``; None where it is better written out."""
    loop = recurrence(root)
    if loop is None:
        return None
    length = None if always else _length(loop)
    if length == 0:
        return None
    found = shown(loop, target, name, bold, column)
    if found is None or length is None:
        return None if found is None else found.rows
    ours = sum(signs(left) + signs(right) + LINE_SIGNS for left, right in found.rows)
    return found.rows if ours < length * (1 if target is None else _OF_GRADIENTS) else None


def _length(loop: Recurrence) -> float | None:
    """About how many signs the formula has when it is written out: 0 for a closed form, None for very many."""
    if len(loop.sums) == len(loop.states):
        return None if exceeds(loop.root, CANONICAL_BUDGET) else 0  # sums of entries have short forms of their own
    if loop.stacked or len(postorder([s.body for s in loop.states])) > _TRIED:
        return None
    two, three = (_signs(canonical_or_raw(unrolled(loop, steps))) for steps in (2, 3))
    return 0 if three <= two else two + (loop.steps - 2) * (three - two)


def _signs(term: Term) -> int:
    names = texts(str(t.name) for t in postorder([term]) if t.op is SYMBOL)
    return signs(written(term, names))

"""What a value of unstated shapes is: a number, whose derivative is a gradient, or an array, whose is a Jacobian."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from symgrad.errors import SymgradError
from symgrad.formula.term import Term
from symgrad.judging.verdict import Verdict
from symgrad.notation.layouts import LAYOUTS, Derivative
from symgrad.op import lookup
from symgrad.ops.shapes.sizes import product_size
from symgrad.sources import Source, source
from symgrad.sources.natural import likelier

JACOBIAN = "f is an array here, and the formula its Jacobian ∂fᵢ/∂xⱼ; state shapes= where it is a number."
TURNED = "the text is in the {layout} layout; here {what}."
SHAPES = ("a gradient has the shape of {wrt}", "a Jacobian has a row for each entry of f", "it has the shape of f")
"""Of a value of no, one or two axes."""
STACKED = "the text is the {what} by vec {wrt}, where vec stacks {lines}."


def best_of_values(
    judged: Callable[[Source], Verdict], of: Any, args: Sequence[Any], shapes: Any, derived: bool
) -> tuple[Source, Verdict]:
    """The verdict about a number or about an array, whichever is likelier, or else is equal."""
    if args or not derived:
        about = source(of, args, shapes)
        return about, judged(about)
    first, *others = likelier(of, shapes)
    found, refusal = _tried(judged, first)
    if found or not others or (first.term.shape and _is_jacobian(found)):
        return first, _known(found, refusal)
    (other,) = others
    again, _ = _tried(judged, other)
    if again and other.term.shape:
        again.notes.append(JACOBIAN)
    return (other, again) if again is not None and _is_better(again, found) else (first, _known(found, refusal))


def _known(found: Verdict | None, refusal: SymgradError | None) -> Verdict:
    if found is None:
        raise refusal  # type: ignore[misc]
    return found


def _is_better(again: Verdict, found: Verdict | None) -> bool:
    """Whether the second verdict says more than the first one: it is EQUAL, or its shapes fit."""
    return again.equal or found is None or (found.theirs is None and again.theirs is not None)


def _tried(judged: Callable[[Source], Verdict], about: Source) -> tuple[Verdict | None, SymgradError | None]:
    try:
        return judged(about), None
    except SymgradError as error:
        return None, error


def _is_jacobian(found: Verdict | None) -> bool:
    """Whether a formula that is wrong has as many axes as the Jacobian, and was meant for one."""
    return found is not None and found.theirs is not None and found.theirs.ndim == found.ours.ndim


def turned(about: Source, wrt: Any, derivative: Term) -> Iterator[tuple[str, Term]]:
    """What a derivative of two axes by one variable is in the layout that has them in the other order, with a note."""
    if isinstance(wrt, (tuple, list)) or wrt is None or derivative.ndim != 2:
        return
    layout = next(layout for layout in LAYOUTS if _is_turned(about, wrt, layout))
    yield TURNED.format(layout=layout, what=SHAPES[about.term.ndim].format(wrt=wrt)), derivative.T


def laid_out(about: Source, wrt: Any, derivative: Term, layout: str) -> Term:
    """The derivative in one layout; of one axis it is the same in all."""
    return derivative.T if _is_turned(about, wrt, layout) and derivative.ndim == 2 else derivative


def _is_turned(about: Source, wrt: Any, layout: str) -> bool:
    names = () if wrt is None else wrt if isinstance(wrt, (tuple, list)) else (wrt,)
    by = tuple((str(name), about.target(name).ndim) for name in names)
    return Derivative(about.name, by).turned(layout, about.term.ndim)


def stacked(about: Source, wrt: Any, derivative: Term) -> Iterator[tuple[str, Term]]:
    """What a derivative is by vec of matrices, which stacks columns (Magnus and Neudecker, 1988) or rows, with a note.

    Jacobians of matrices and Hessians by one are matrices then, and gradients are vectors; nothing without a matrix.
    """
    by = () if wrt is None else wrt if isinstance(wrt, (tuple, list)) else (wrt,)
    axes = [n for n in (about.term.ndim, *(about.target(name).ndim for name in by)) if n]
    if not by or len(axes) > 2 or max(axes, default=0) < 2:
        return
    what = "gradient" if len(axes) == 1 else "Hessian" if len(by) == 2 else "Jacobian of vec f"
    for lines in ("columns", "rows"):
        ends = list(itertools.accumulate(axes, initial=0))
        groups = [range(a, b) for a, b in itertools.pairwise(ends)]
        turned = derivative
        if lines == "columns":
            turned = lookup("permute")(derivative, dims=tuple(k for group in groups for k in reversed(group)))
        sizes = tuple(functools.reduce(product_size, [turned.shape[k] for k in group]) for group in groups)
        yield (
            STACKED.format(what=what, wrt=" and vec ".join(dict.fromkeys(by)), lines=lines),
            lookup("reshape")(turned, shape=sizes),
        )

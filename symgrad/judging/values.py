"""What a value of unstated shapes is: a number, whose derivative is a gradient, or an array, whose is a Jacobian."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from symgrad.errors import SymgradError
from symgrad.formula.term import Term
from symgrad.judging.verdict import Verdict
from symgrad.op import lookup
from symgrad.ops.shapes.sizes import product_size
from symgrad.sources import Source, source
from symgrad.sources.natural import likelier

JACOBIAN = "f is an array here, and the formula its Jacobian ∂fᵢ/∂xⱼ; state shapes= where it is a number."
COLUMNS = "the text is the Jacobian of vec f by vec {wrt}, which stack columns."


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


def by_columns(about: Source, wrt: Any, jacobian: Term) -> Term | None:
    """∂ vec f/∂ vec X of matrices, which stack columns (Magnus and Neudecker 1988); None where there is no matrix."""
    if wrt is None or isinstance(wrt, (tuple, list)):
        return None
    rows, columns = len(about.term.shape), len(about.target(wrt).shape)
    if not rows or not columns or rows + columns < 3:
        return None
    axes = (*reversed(range(rows)), *reversed(range(rows, rows + columns)))
    turned = lookup("permute")(jacobian, dims=axes)
    sides = [functools.reduce(product_size, sizes) for sizes in (turned.shape[:rows], turned.shape[rows:])]
    made: Term = lookup("reshape")(turned, shape=tuple(sides))
    return made

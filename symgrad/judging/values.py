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

JACOBIAN = "f is an array here, and the formula its Jacobian ∂fᵢ/∂xⱼ; state shapes= where it is a number."
COLUMNS = "the text is the Jacobian of vec f by vec {wrt}, which stack columns."


def best_of_values(
    judged: Callable[[Source], Verdict], of: Any, args: Sequence[Any], shapes: Any, derived: bool
) -> tuple[Source, Verdict]:
    """The verdict about a number or about an array, whichever the names in it suggest, or else is equal.

    Values of derivatives are numbers where that is possible, as in textbooks; but ``W @ x`` is a number only if ``W``
    is a vector, and capital letters are matrices.
    """
    if args or not derived:
        about = source(of, args, shapes)
        return about, judged(about)
    try:
        number = source(of, (), shapes, scalar=True)
    except SymgradError as error:
        array = _array(of, shapes)
        if array is None:
            raise error
        return array, judged(array)
    if number.term.shape != ():  # a recorded tensor, or all shapes are stated
        return number, judged(number)
    row = any(str(s.name)[:1].isupper() and s.ndim == 1 for s in number.symbols)
    array = _array(of, shapes) if row else None
    if array is not None and _capitals(array) > _capitals(number):
        found = _tried(judged, array)
        if found is not None and (found or _is_jacobian(found)):
            return array, found
    found = judged(number)
    if not found:
        array = array or _array(of, shapes)
        other = None if array is None else _tried(judged, array)
        if array is not None and other is not None and (other or (found.theirs is None and other.theirs is not None)):
            other.notes.append(JACOBIAN)
            return array, other
    return number, found


def _array(of: Any, shapes: Any) -> Source | None:
    """The value with the least surprising shapes, where it is an array then."""
    try:
        found = source(of, (), shapes)
    except SymgradError:
        return None
    return found if found.term.shape else None


def _capitals(about: Source) -> int:
    return sum(str(s.name)[:1].isupper() and s.ndim == 2 for s in about.symbols)


def _tried(judged: Callable[[Source], Verdict], about: Source) -> Verdict | None:
    try:
        return judged(about)
    except SymgradError:
        return None


def _is_jacobian(found: Verdict) -> bool:
    """Whether a formula that is wrong has as many axes as the Jacobian, and was meant for one."""
    return found.theirs is not None and found.theirs.ndim == found.ours.ndim


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

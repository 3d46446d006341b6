"""Bounds on the work of one canonical form, so that it ends soon for formulas of any size.

Work is counted in steps, never in seconds: a formula has the same canonical form on every machine.  Past the budget
the rest of the formula is carried over as the program has it, on top of what was brought to canonical form by then.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from symgrad.formula.canonical.chains import is_transpose, matmul, turned
from symgrad.formula.canonical.entries.slices import new_axes
from symgrad.formula.term import Term, postorder, remade
from symgrad.op import lookup

STEPS = 14_000
"""Products and factors looked at in one run, which take under a second."""

CASE_STEPS = 2_000
"""Further steps, for telling cases apart."""

PASSES = 6
"""Runs until the canonical form of a form is the form itself; one more is enough nearly always."""

ONE_RUN = 10_000
"""A form with more operations, shared parts counted every time, that used up the steps of its run has that run only."""

INLINE = 12
"""Products with more factors than this enter others as one opaque factor."""

LARGEST = 10**12
"""Larger coefficients stay inside of what is packed; those of hundreds of factors would outgrow every float."""

TERMS = 24
"""Sums with more terms than this enter others as one opaque term."""

WRITTEN_OUT = 20_000
"""Operations of a formula, shared parts counted every time, up to which it is written as one expression."""

SMALL = 400
"""In formulas with more distinct terms than this, parts that are used twice are written once."""

SHARED = 2
"""Terms or factors that such a part may have and still be written out each time."""

NESTED_FLIPS = 8
"""Brackets inside of each other that one minus sign turns around."""


def exceeds(root: Term, limit: int) -> bool:
    """Whether more than ``limit`` distinct terms make up a formula; what is beyond is not walked."""
    seen, waiting = {root}, [root]
    while waiting and len(seen) <= limit:
        new = [a for a in waiting.pop().args if a not in seen]
        seen.update(new)
        waiting += new
    return len(seen) > limit


def outgrows(root: Term, limit: int) -> bool:
    """Whether a formula has more than ``limit`` operations when every shared part is written out."""
    if exceeds(root, limit):
        return True
    size: dict[Term, int] = {}
    for t in postorder([root]):
        size[t] = 1 + sum(size[a] for a in t.args)
        if size[t] > limit:
            return True
    return False


def shared_terms(order: Sequence[Term]) -> set[Term]:
    """The terms of a postorder that several others use."""
    once: set[Term] = set()
    found: set[Term] = set()
    for term in order:
        for arg in term.args:
            (found if arg in once else once).add(arg)
    return found


def carried_over(term: Term, args: tuple[Term, ...]) -> Term:
    """The term over canonical arguments: zeros, ones and double transposes go, and nothing else is looked at."""
    if args == term.args:
        return term
    if term.op.kind == "elementwise":
        return remade(term, args)
    if is_transpose(term) and is_transpose(args[0]):
        return args[0].args[0]
    if term.op.name == "einsum" and len(args) == 2:
        product = _matrix_product(term, *args)
        return remade(term, args) if product is None else product
    if term.op.name == "reshape" and [n for n in args[0].shape if n != 1] == [n for n in term.shape if n != 1]:
        return _unit_axes(term, args[0])
    added = new_axes(term.params["index"], term.ndim) if term.op.name == "put" else None
    if added is not None:
        # The transpose of x[:, None] takes that axis away.
        return lookup("squeeze")(args[0], dim=tuple(k for k, new in enumerate(added) if new))  # type: ignore[no-any-return]
    return remade(term, args)


def _matrix_product(term: Term, a: Term, b: Term) -> Term | None:
    """A contraction of two arrays over one axis as a product of matrices and vectors, where it is one."""
    first, second = term.params["inputs"]
    output = term.params["output"]
    if output and output[0] in second:
        a, b, first, second = b, a, second, first
    summed = [x for x in first if x in second]
    rest = [x for x in (*first, *second) if x not in summed]
    if len(summed) != 1 or rest != list(output) or not 1 <= max(len(first), len(second)) <= 2:
        return None
    if len(first) == 1 == len(second) - 1:  # a matrix stands before a vector
        a, b, first, second = b, a, second, first
    left = turned(a) if len(first) == 2 and first[0] == summed[0] else a
    right = turned(b) if len(second) == 2 and second[1] == summed[0] else b
    found = matmul(left, right)
    return found if found.shape == term.shape else None


def _unit_axes(term: Term, a: Term) -> Term:
    """A change of shape that only adds or drops axes of size 1, by these axes."""
    found: Any = lookup("squeeze")(a, dim=tuple(k for k, n in enumerate(a.shape) if n == 1)) if 1 in a.shape else a
    for k, n in enumerate(term.shape):
        if n == 1:
            found = lookup("unsqueeze")(found, dim=k)
    return found  # type: ignore[no-any-return]

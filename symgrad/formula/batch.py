"""A formula that is linear in one symbol, for a whole stack of values of that symbol at once.

The stack's axes come first; how ops act on stacks stands in :mod:`symgrad.ops.rules.stacked`.
"""

from __future__ import annotations

from typing import Any

from symgrad.errors import FormulaError
from symgrad.formula.term import Term, postorder
from symgrad.op import lookup
from symgrad.ops.linalg.contraction import contract
from symgrad.ops.rules.stacked import labels_of, spread, stacked


def batched(root: Term, variable: Term, stack: Term) -> Term:
    """``root`` with ``variable`` replaced by every entry of ``stack``, whose leading axes become those of the result.

    ``root`` must be linear in ``variable``.  Raises ``FormulaError`` for an op that has no batched form.
    """
    lead = stack.shape[: stack.ndim - variable.ndim]
    image: dict[Term, Term] = {variable: stack}
    for term in postorder([root]):
        if term not in image and any(a in image for a in term.args):
            image[term] = _batched_op(term, image, lead)
    if root not in image:
        return spread(root, lead)  # type: ignore[no-any-return]
    return image[root]


def _batched_op(term: Term, image: dict[Term, Term], lead: tuple[Any, ...]) -> Term:
    op = term.op
    args = [image.get(a, a) for a in term.args]
    if op.name == "solve" and term.args[0] not in image:
        return _solved(term, args[1], lead)
    if op.name in ("gather", "scatter_into"):
        return _picked(term, args, lead)
    own_shapes = [a.shape if a in image else None for a in term.args]
    found = stacked(op, args, own_shapes, term.params, lead, term.shape)
    if found is None and op.define is not None:
        return _by_definition(term, image, lead)
    if found is None:
        raise FormulaError(f"the Jacobian of a formula with {op.name!r} in its derivative is not known as one formula")
    return found  # type: ignore[no-any-return]


def _solved(term: Term, stack: Term, lead: tuple[Any, ...]) -> Term:
    """Systems with one matrix for all right sides, or one for each place of a batch: by the inverse, made once."""
    matrix, rows = term.args[0], labels_of(lead)
    batch = tuple(range(3, 1 + matrix.ndim))
    columns = (2,) if term.args[1].ndim > 1 else ()
    specs = ((*batch, 0, 1), (*rows, *batch, 1, *columns))
    return contract(  # type: ignore[no-any-return]
        (lookup("inv")(matrix), stack), specs, (*rows, *batch, 0, *columns), lead + term.shape
    )


def _picked(term: Term, args: list[Term], lead: tuple[Any, ...]) -> Term:
    """Entries picked by an index array, or put where it says: a product with the index as rows of the identity."""
    index, dim, axes = args[1], term.params["dim"], tuple(range(args[1].ndim))
    whole = term.shape if term.op.name == "scatter_into" else term.args[0].shape
    if any(a != b for k, (a, b) in enumerate(zip(index.shape, whole, strict=True)) if k != dim):
        raise FormulaError(f"the Jacobian of a formula with {term.op.name!r} of a part of an array is not one formula")
    rows = lookup("one_hot")(index, classes=whole[dim], dtype="float64")
    there = tuple(len(axes) if k == dim else k for k in axes)
    before, after = (axes, there) if term.op.name == "scatter_into" else (there, axes)
    specs = ((*labels_of(lead), *before), (*axes, len(axes)))
    return contract((args[0], rows), specs, (*labels_of(lead), *after), lead + term.shape)  # type: ignore[no-any-return]


def _by_definition(term: Term, image: dict[Term, Term], lead: tuple[Any, ...]) -> Term:
    """An op by its definition."""
    assert term.op.define is not None
    definition = term.op.define(*term.args, **term.params)
    for inner in postorder([definition]):
        if inner not in image and any(a in image for a in inner.args):
            image[inner] = _batched_op(inner, image, lead)
    return image[definition]

"""A formula that is linear in one symbol, for a whole stack of values of that symbol at once.

The stack's axes come first.  Multilinear ops get the new axes as labels of their einsum, elementwise ops broadcast, and
the few linear primitives shift their axis parameters; so nothing is copied per entry of the stack.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from symgrad.errors import FormulaError
from symgrad.formula.term import Term, postorder
from symgrad.op import lookup
from symgrad.ops.contraction import contract

_SAME = frozenset({"where", "conj", "real", "imag", "cast", "tril", "triu", "complex", "adjoint"})
"""Ops that leave leading axes alone."""

_SHIFTED = frozenset(
    ("reshape", "narrow", "embed", "select", "cumsum", "flip", "roll", "mean", "cat", "stack", "getitem", "put",
     "fourier", "matrix_exp_frechet")
)  # fmt: skip
"""Linear primitives that have a batched form: their axis parameters move."""

_LEAD = 1_000_000
"""Labels of the new axes, far from those that ops use."""


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
        return contract((root,), (tuple(range(root.ndim)),), _labels(lead) + tuple(range(root.ndim)), lead + root.shape)  # type: ignore[no-any-return]
    return image[root]


def _labels(lead: Sequence[Any]) -> tuple[int, ...]:
    return tuple(range(_LEAD, _LEAD + len(lead)))


def _batched_op(term: Term, image: dict[Term, Term], lead: tuple[Any, ...]) -> Term:
    op, k = term.op, len(lead)
    args = [image.get(a, a) for a in term.args]
    if op.kind == "elementwise" or op.name in _SAME:
        ranked = [_ranked(a, own, term.ndim, k) if own in image else a for a, own in zip(args, term.args, strict=True)]
        return op(*ranked, **term.params)  # type: ignore[no-any-return]
    if op.kind == "multilinear":
        labels, output = op.einsum(*(a.shape for a in term.args), **term.params)
        inputs = tuple((_labels(lead) + own) if a in image else own for own, a in zip(labels, term.args, strict=True))
        out = _labels(lead) + tuple(x for x in output if x is not None)
        return contract(args, inputs, out, lead + term.shape)  # type: ignore[no-any-return]
    if op.name == "solve" and term.args[0] not in image:
        own = (1,) if term.args[1].ndim == 1 else (1, 2)
        inverse = lookup("inv")(args[0])
        return contract(  # type: ignore[no-any-return]
            (inverse, args[1]), ((0, 1), (*_labels(lead), *own)), (*_labels(lead), 0, *own[1:]), lead + term.shape
        )
    if op.name in ("gather", "scatter_into"):
        return _picked(term, args, lead)
    if op.name not in _SHIFTED and op.define is not None:
        return _by_definition(term, image, lead)
    return _shifted(term, args, image, lead)


def _picked(term: Term, args: list[Term], lead: tuple[Any, ...]) -> Term:
    """Entries picked by an index array, or put where it says: a product with the index as rows of the identity."""
    index, dim, axes = args[1], term.params["dim"], tuple(range(args[1].ndim))
    whole = term.shape if term.op.name == "scatter_into" else term.args[0].shape
    if any(a != b for k, (a, b) in enumerate(zip(index.shape, whole, strict=True)) if k != dim):
        raise FormulaError(f"the Jacobian of a formula with {term.op.name!r} of a part of an array is not one formula")
    rows = lookup("one_hot")(index, classes=whole[dim], dtype="float64")
    there = tuple(len(axes) if k == dim else k for k in axes)
    before, after = (axes, there) if term.op.name == "scatter_into" else (there, axes)
    specs = ((*_labels(lead), *before), (*axes, len(axes)))
    return contract((args[0], rows), specs, (*_labels(lead), *after), lead + term.shape)  # type: ignore[no-any-return]


def _by_definition(term: Term, image: dict[Term, Term], lead: tuple[Any, ...]) -> Term:
    """An op by its definition."""
    assert term.op.define is not None
    definition = term.op.define(*term.args, **term.params)
    for inner in postorder([definition]):
        if inner not in image and any(a in image for a in inner.args):
            image[inner] = _batched_op(inner, image, lead)
    return image[definition]


def _ranked(arg: Term, own: Term, ndim: int, k: int) -> Term:
    """Axes of size 1 after the new ones, so that the rest broadcasts as before."""
    for _ in range(ndim - own.ndim):
        arg = lookup("unsqueeze")(arg, dim=k)
    return arg


def _shifted(term: Term, args: list[Term], image: dict[Term, Term], lead: tuple[Any, ...]) -> Term:
    """A linear primitive with its axis parameters moved behind the new axes."""
    op, params, k = term.op, dict(term.params), len(lead)
    if op.name not in _SHIFTED:
        raise FormulaError(f"the Jacobian of a formula with {op.name!r} in its derivative is not known as one formula")
    if "shape" in params:
        params["shape"] = lead + tuple(params["shape"])
    for name in ("dim", "dims"):
        if name in params:
            value = params[name]
            params[name] = tuple(d + k for d in value) if isinstance(value, tuple) else value + k
    if op.name in ("getitem", "put"):
        return _indexed(term, args, params, lead)
    stacked = [a if own in image else _spread(a, lead) for a, own in zip(args, term.args, strict=True)]
    return op(*stacked, **params)  # type: ignore[no-any-return]


def _indexed(term: Term, args: list[Term], params: dict[str, Any], lead: tuple[Any, ...]) -> Term:
    """An index behind the new axes; arrays of places that stand apart put their axes first, before the new ones."""
    from symgrad.ops.indexing import Index, axes_in_front

    index, k = params["index"], len(lead)
    params["index"] = Index((slice(None),) * k + index.parts)
    first = axes_in_front(index, *(a.shape for a in args[len(args) - index.holes :]))
    behind = (*range(first, first + k), *range(first))
    if term.op.name == "getitem":
        return _turned(term.op(*args, **params), behind)
    return term.op(_turned(args[0], (*range(k, k + first), *range(k))), *args[1:], **params)  # type: ignore[no-any-return]


def _turned(arg: Term, first: tuple[int, ...]) -> Term:
    """The leading axes in another order."""
    order = (*first, *range(len(first), arg.ndim))
    return arg if order == tuple(range(arg.ndim)) else lookup("permute")(arg, dims=order)


def _spread(arg: Term, lead: tuple[Any, ...]) -> Term:
    own = tuple(range(arg.ndim))
    return contract((arg,), (own,), _labels(lead) + own, lead + arg.shape)  # type: ignore[no-any-return]

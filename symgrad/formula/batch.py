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

_SAME = frozenset({"where", "conj", "real", "imag", "cast", "tril", "triu"})
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
    return _shifted(term, args, image, lead)


def _ranked(arg: Term, own: Term, ndim: int, k: int) -> Term:
    """Axes of size 1 after the new ones, so that the rest broadcasts as before."""
    for _ in range(ndim - own.ndim):
        arg = lookup("unsqueeze")(arg, dim=k)
    return arg


def _shifted(term: Term, args: list[Term], image: dict[Term, Term], lead: tuple[Any, ...]) -> Term:
    """A linear primitive with its axis parameters moved behind the new axes."""
    op, params, k = term.op, dict(term.params), len(lead)
    known = {
        "reshape",
        "narrow",
        "embed",
        "select",
        "cumsum",
        "flip",
        "mean",
        "cat",
        "stack",
        "getitem",
        "put",
        "matrix_exp_frechet",
    }
    if op.name not in known:
        raise FormulaError(f"the Jacobian of a formula with {op.name!r} in its derivative is not known as one formula")
    if "shape" in params:
        params["shape"] = lead + tuple(params["shape"])
    for name in ("dim", "dims"):
        if name in params:
            value = params[name]
            params[name] = tuple(d + k for d in value) if isinstance(value, tuple) else value + k
    if "index" in params:
        from symgrad.ops.indexing import static_index

        value = params["index"].value
        params["index"] = static_index((slice(None),) * k + (value if isinstance(value, tuple) else (value,)))
    stacked = [a if own in image else _spread(a, lead) for a, own in zip(args, term.args, strict=True)]
    return op(*stacked, **params)  # type: ignore[no-any-return]


def _spread(arg: Term, lead: tuple[Any, ...]) -> Term:
    own = tuple(range(arg.ndim))
    return contract((arg,), (own,), _labels(lead) + own, lead + arg.shape)  # type: ignore[no-any-return]

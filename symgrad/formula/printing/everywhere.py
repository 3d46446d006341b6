"""Numbers beside matrices: c 11ᵀ where c would be read as the multiple cI of the identity.

NumPy's ``A - 3`` takes 3 from every entry, and in a product of matrices A - 3 is what papers write for A - 3I.
"""

from __future__ import annotations

from typing import Any

from symgrad.formula.canonical.writing import MATRICES, everywhere
from symgrad.formula.term import SYMBOL, Term, rebuilt

_PRODUCTS = frozenset({"matmul", "permute", "trace"})
"""What is made of matrices by indices alone."""


def numbers_everywhere(root: Term) -> Term:
    """A formula in which numbers stand beside matrices as matrices, where it is not read entry by entry."""

    def change(t: Term, args: tuple[Any, ...]) -> Term:
        if (t.op.mixes == 2 and not t.op.linear) or t.op.name in _PRODUCTS:  # which take matrices, not entries
            args = tuple(map(_as_matrix, args))
        return t.with_args(args)

    return _as_matrix(rebuilt([root], change)[0])


def _as_matrix(t: Term) -> Term:
    """A sum of square matrices and numbers, or a multiple of one, with numbers at all places."""
    if t.ndim != 2 or t.shape[0] != t.shape[1] or not t.real_dtype:
        return t
    if _is_multiple(t):
        args = tuple(_as_matrix(a) if a.shape else a for a in t.args)
    elif t.op.name in ("add", "sub") and _is_matrix(t):
        args = tuple(_as_matrix(a) if a.shape else everywhere(a, t.shape) for a in t.args)
    else:
        return t
    return t.with_args(args)


def _is_multiple(t: Term) -> bool:
    return t.op.name == "mul" and not all(a.shape for a in t.args)


def _is_matrix(t: Term) -> bool:
    """Whether something is made of numbers and square matrices by sums and multiples, not entry by entry."""
    if t.op is SYMBOL or not t.shape or t.op.name in MATRICES:
        return True
    linear = t.op.name in ("add", "sub", "neg") or _is_multiple(t)
    return linear and t.ndim == 2 and all(map(_is_matrix, t.args))

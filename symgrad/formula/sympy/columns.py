"""Columns in texts: ``A @ c`` for a column ``c``, where canonical forms compute with the vector of its entries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from symgrad.formula.term import Term, postorder, remade
from symgrad.op import lookup
from symgrad.ops.indexing.getitem import Index

_ENTRIES = Index((slice(None), 0))


def in_columns(root: Term) -> Term:
    """The formula with products and entrywise functions of columns as columns; other vectors are ``c[:, 0]``.

    Axes of size 1 that are left are added as in NumPy: ``v[:, None]``.

    >>> from symgrad.formula.term import symbol
    >>> A, c = symbol("A", ("n", "n")), symbol("c", ("n", 1))
    >>> vector = lookup("matmul")(A, lookup("squeeze")(c, dim=(1,)))
    >>> in_columns(lookup("unsqueeze")(vector, dim=1)) is lookup("matmul")(A, c)
    True
    """
    done: dict[Term, Term] = {}
    columns: dict[Term, Term] = {}
    for t in postorder([root]):
        args = tuple(done[a] for a in t.args)
        column = _column(t, args, columns) if t.ndim == 1 else None
        if column is not None:
            columns[t] = column
        if t.op.name == "unsqueeze" and t.params["dim"] == 1 and t.args[0] in columns:
            done[t] = columns[t.args[0]]
        elif t.op.name == "unsqueeze" and (found := _widened(t)) is not None:
            base, index = found
            done[t] = lookup("getitem")(done[base], index=index)
        elif _is_vector_of(t):
            done[t] = lookup("getitem")(*args, index=_ENTRIES)
        else:
            done[t] = remade(t, args) if args != t.args else t
    return done[root]


def _widened(t: Term) -> tuple[Term, Index] | None:
    """What axes of size 1 were added to, and the index that adds them; None for numbers."""
    added: list[int] = []
    while t.op.name == "unsqueeze":
        dim = t.params["dim"]
        added = [dim, *added]
        (t,) = t.args
    ndim = t.ndim + len(added)
    return (t, Index(tuple(None if k in added else slice(None) for k in range(ndim)))) if t.ndim else None


def _is_vector_of(t: Term) -> bool:
    """Whether a term is the vector of the entries of a column."""
    return t.op.name == "squeeze" and t.args[0].ndim == 2 and tuple(t.params["dim"]) == (1,)


def _column(t: Term, args: Sequence[Term], columns: Mapping[Term, Term]) -> Term | None:
    """A vector as a column, where what it is made of has one."""
    if _is_vector_of(t):
        return args[0]
    if not any(a in columns for a in t.args):
        return None
    if t.op.name == "matmul" and t.args[0].ndim == 2:
        return lookup("matmul")(args[0], columns[t.args[1]])  # type: ignore[no-any-return]
    if not t.op.entrywise or any(a.shape not in ((), t.shape) for a in t.args):
        return None
    made = [columns.get(a, arg) for a, arg in zip(t.args, args, strict=True)]
    made = [lookup("unsqueeze")(a, dim=1) if a.ndim == 1 else a for a in made]
    return t.op(*made, **t.params)  # type: ignore[no-any-return]

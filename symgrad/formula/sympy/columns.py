"""Columns and rows in texts: ``X @ W.T + b`` for a ``W`` of one row, where canonical forms compute with vectors.

A canonical form leaves axes of size 1 out.  Here they come back where all that is computed has them, so that the text
reads as the program does; elsewhere a vector is ``c[:, 0]`` or ``r[0]``, and a number ``b[0]``.
"""

from __future__ import annotations

from collections.abc import Mapping

from symgrad.formula.canonical.chains import is_transpose, turned
from symgrad.formula.term import SYMBOL, Term, full, postorder, remade
from symgrad.op import lookup
from symgrad.ops.indexing.getitem import Index

_ALL = slice(None)
_SCALINGS = frozenset({"mul", "div", "neg"})


def in_columns(root: Term) -> Term:
    """The formula with products and entrywise functions of columns as columns, and so with rows and single entries.

    Axes of size 1 that are left are added as in NumPy: ``v[:, None]``.

    >>> from symgrad.formula.term import symbol
    >>> A, c = symbol("A", ("n", "n")), symbol("c", ("n", 1))
    >>> vector = lookup("matmul")(A, lookup("squeeze")(c, dim=(1,)))
    >>> in_columns(lookup("unsqueeze")(vector, dim=1)) is lookup("matmul")(A, c)
    True
    """
    writer = _Writer()
    for t in postorder([root]):
        writer.add(t)
    return writer.done[root]


class _Writer:
    """Terms as they are written: each as it is, and with an axis of size 1 where what it is made of has one."""

    def __init__(self) -> None:
        self.done: dict[Term, Term] = {}
        self.columns: dict[Term, Term] = {}
        """Vectors as matrices of one column."""
        self.rows: dict[Term, Term] = {}
        """The same as matrices of one row."""
        self.ones: dict[Term, Term] = {}
        """Numbers as arrays of one entry."""

    def add(self, t: Term) -> None:
        """Write a term whose arguments are written."""
        if t.ndim == 1:
            self._lift(t)
        elif not t.ndim and t.args:
            one = self._one(t)
            if one is not None:
                self.ones[t] = one
        self.done[t] = self._written(t)

    def _lift(self, t: Term) -> None:
        """Note a vector as a column and as a row, if it can be had without ``[:, None]`` of the whole."""
        name, args = t.op.name, t.args
        if name == "squeeze" and args[0].ndim == 2:
            matrix = self.done[args[0]]
            self.columns[t], self.rows[t] = (matrix, turned(matrix))[:: 1 if t.params["dim"] == (1,) else -1]
        elif name == "matmul" and args[0].ndim == 2 and args[1] in self.columns:
            matrix = self.done[args[0]]
            self.columns[t] = lookup("matmul")(matrix, self.columns[args[1]])
            self.rows[t] = lookup("matmul")(self.rows[args[1]], turned(matrix))
        elif t.op.entrywise and not self.columns.keys().isdisjoint(args) and _alike(t):
            self.columns[t] = column = t.op(*[self._beside(a, self.columns, 1) for a in args], **t.params)
            alone = name in _SCALINGS and sum(bool(a.ndim) for a in args) == 1
            # (Xw - y)ᵀ, and 2rᵀ rather than (2r)ᵀ.
            self.rows[t] = t.op(*[self._beside(a, self.rows, 0) for a in args], **t.params) if alone else turned(column)

    def _beside(self, a: Term, lifted: Mapping[Term, Term], axis: int) -> Term:
        """An operand beside columns (``axis`` 1) or rows (0)."""
        if not a.ndim:
            return self.ones.get(a, self.done[a])
        found = lifted.get(a)
        return _indexed(self.done[a], (None, _ALL) if axis == 0 else (_ALL, None)) if found is None else found

    def _one(self, t: Term) -> Term | None:
        """A number as an array of one entry, where what it is made of is one or has one column."""
        if t.op.name == "squeeze" and t.args[0].ndim == 1:
            return self.done[t.args[0]]
        if _is_whole(t) and t.args[0] in self.columns:
            return t.op(self.columns[t.args[0]], **{**t.params, "dim": (0,)})  # type: ignore[no-any-return]
        if t.op.name == "matmul" and all(a in self.columns for a in t.args):
            u, v = map(self.columns.__getitem__, t.args)
            return lookup("sum")(u * v, dim=(0,), keepdim=False)  # type: ignore[no-any-return, operator]
        if t.op.name == "matmul":
            u, v = t.args if t.args[1] in self.columns else t.args[::-1]
            return lookup("matmul")(self.done[u], self.columns[v]) if v in self.columns else None
        if t.op.entrywise and not self.ones.keys().isdisjoint(t.args):
            return t.op(*[self.ones.get(a, self.done[a]) for a in t.args], **t.params)  # type: ignore[no-any-return]
        return None

    def _written(self, t: Term) -> Term:
        """A term with the axes that it has."""
        if t.op.name == "unsqueeze":
            return self._widened(t)
        if t.op.name == "squeeze" and t.args[0].ndim <= 2:
            return _indexed(self.done[t.args[0]], [0 if k in t.params["dim"] else _ALL for k in range(t.args[0].ndim)])
        if _is_whole(t) and t.args[0] in self.columns:
            return t.op(self.columns[t.args[0]], **{**t.params, "dim": (0, 1)})  # type: ignore[no-any-return]
        entrywise = t.ndim and t.op.entrywise
        args = tuple([self.ones.get(a, self.done[a]) if entrywise else self.done[a] for a in t.args])
        return remade(t, args) if args != t.args else t

    def _widened(self, t: Term) -> Term:
        """A term to which axes of size 1 are added."""
        base, added = t, list[int]()
        while base.op.name == "unsqueeze":
            lifted = (self.rows, self.columns)[base.params["dim"]] if base.args[0].ndim == 1 else {}
            if base.args[0] in lifted:
                break
            added = [base.params["dim"], *added]
            (base,) = base.args
        if base.op.name == "unsqueeze":
            found = lifted[base.args[0]]
        elif base in self.ones:
            found, added = self.ones[base], added[1:]
        elif base.ndim:
            found = self.done[base]
        elif any(x.op is SYMBOL for x in postorder([base])):
            return remade(t, (self.done[t.args[0]],))
        else:  # of sizes and numbers
            return self.done[base] * full(t.shape, 1, "float64")  # type: ignore[no-any-return, operator]
        ndim = found.ndim + len(added)
        return _indexed(found, [None if k in added else _ALL for k in range(ndim)]) if added else found


def _alike(t: Term) -> bool:
    """Whether the operands of an entrywise function are numbers and arrays of its own shape."""
    return all(a.shape in ((), t.shape) for a in t.args)


def _is_whole(t: Term) -> bool:
    """Whether a term is the sum of a vector, or its length."""
    plain = t.op.name == "sum" or (t.op.name == "norm" and t.params["p"] == 2)
    return plain and t.args[0].ndim == 1 and not t.params["keepdim"]


def _indexed(t: Term, places: object) -> Term:
    """A part of an array by an index, without ends that take all; that of a transpose is as short."""
    index = list(places)  # type: ignore[call-overload]
    if is_transpose(t) and index == [_ALL, 0]:
        t, index = t.args[0], [0]
    if None not in index:
        while index[-1] == _ALL:
            index.pop()
    return lookup("getitem")(t, index=Index(tuple(index) if len(index) != 1 else index[0]))  # type: ignore[no-any-return]

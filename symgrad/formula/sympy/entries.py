"""One entry of a formula: arrays with indices, contractions as sums; and expressions of arrays that take an index."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import sympy as sp

from symgrad.errors import ArgumentError
from symgrad.formula.term import NUMBER, SIZE, SYMBOL, Term
from symgrad.op import lookup
from symgrad.ops.shapes.sizes import size_value

_SUMMED = ("k", "l", "p", "q", "r", "s", "u", "v")


def entry_at(term: Term, indices: Sequence[Any]) -> Any:
    """The entry of a term at indices: names, SymPy symbols or ints (from the end where they are negative)."""
    if len(indices) != term.ndim:
        raise ArgumentError(
            f"element: this formula has {term.ndim} axes (shape {tuple(term.shape)}) and got {len(indices)} indices."
        )
    entries = Entries(set(), {})
    wanted = tuple(_index(i, n, entries) for i, n in zip(indices, term.shape, strict=True))
    entries.taken = {str(s) for i in wanted for s in i.free_symbols}
    return entries.entry(term, wanted)


def _index(i: Any, n: Any, entries: Entries) -> Any:
    """One index as SymPy; slices, and numbers beyond a size that is known, are refused."""
    if isinstance(i, (slice, type(Ellipsis), type(None), list, tuple)):
        raise ArgumentError(f"an entry has an index or a number for every axis, not {i!r}; take parts of the tensor.")
    found = sp.Symbol(i, integer=True) if isinstance(i, str) else sp.sympify(i)
    if found.is_Integer:
        if isinstance(n, int) and not -n <= int(found) < n:
            raise ArgumentError(f"the index {i} is out of bounds for an axis of size {n}.")
        return found if found >= 0 else entries.size(n) + found
    return found


class Entries:
    """Entries of terms by index, each worked out once; with known sizes sums are written out."""

    def __init__(self, taken: set[str], sizes: dict[str, int]):
        self.taken = taken
        self.sizes = sizes
        self.known: dict[tuple[Term, tuple[Any, ...]], Any] = {}

    def entry(self, root: Term, indices: tuple[Any, ...]) -> Any:
        """The entry of ``root`` at ``indices``; no recursion, formulas may be deep."""
        stack = [(root, indices)]
        plans: dict[Any, Any] = {}
        while stack:
            item = stack[-1]
            if item in self.known:
                stack.pop()
                continue
            if item not in plans:
                plans[item] = self.plan(*item)
            needed, build = plans[item]
            missing = [n for n in needed if n not in self.known]
            if missing:
                stack += missing
            else:
                self.known[stack.pop()] = build([self.known[n] for n in needed])
        return self.known[(root, indices)]

    def size(self, letter: Any) -> Any:
        """A size as SymPy, a number where it is known."""
        if not isinstance(letter, str) or self.sizes:
            return sp.Integer(size_value(letter, self.sizes))
        return size_expr(letter)

    def plan(self, t: Term, at: tuple[Any, ...]) -> tuple[list[tuple[Term, tuple[Any, ...]]], Any]:
        """The entries that an entry needs, and what makes it of them."""
        from symgrad.formula.sympy.expressions import number_expr

        if t.op is SYMBOL:
            name = t.params["name"]
            return [], lambda _: sp.IndexedBase(name)[at] if at else sp.Symbol(name)
        if t.op is NUMBER:
            return [], lambda _: number_expr(t.number)
        if t.op is SIZE:
            return [], lambda _: self.size(t.params["name"])
        if t.op.name == "full":
            return [], lambda _: number_expr(t.params["value"])
        if t.op.name == "eye":
            return [], lambda _: sp.KroneckerDelta(*at)
        if t.op.name == "norm" and t.params["p"] == 2:
            return self.total(t, at, lambda x: sp.Abs(x) ** 2 if t.args[0].complex_dtype else x**2, sp.sqrt)
        if t.op.entrywise:
            return [(a, _broadcast(a, at)) for a in t.args], lambda parts: _applied(t, parts)
        if t.op.kind == "multilinear":
            return self.contraction(t, at)
        spelled_out = _spelled_out(t)
        if spelled_out is not None:
            return [(spelled_out, at)], lambda parts: parts[0]
        return [], lambda _: self.opaque(t, at)

    def total(self, t: Term, at: tuple[Any, ...], inner: Any, outer: Any) -> tuple[list[Any], Any]:
        """``outer(Σ inner(entry))`` along the axes that a reduction takes away."""
        (x,) = t.args
        dims = t.params["dim"]
        labels = tuple(range(x.ndim))
        kept = tuple(k for k in labels if k not in dims)
        return self.summed([(x, labels)], kept, at, lambda parts: inner(parts[0]), outer)

    def contraction(self, t: Term, at: tuple[Any, ...]) -> tuple[list[Any], Any]:
        """The entry of an einsum: a sum over the labels that the output does not have, deltas for equal ones."""
        specs, output = t.labels()
        found: dict[Any, Any] = {}
        deltas = []
        for label, i in zip(output, at, strict=True):
            if label in found and label is not None:
                deltas.append(sp.KroneckerDelta(found[label], i))
            found.setdefault(label, i)
        names = [x for x in output if x is not None]
        values = [i for x, i in zip(output, at, strict=True) if x is not None]
        return self.summed(
            list(zip(t.args, specs, strict=True)), tuple(names), tuple(values), lambda p: sp.Mul(*p, *deltas), None
        )

    def summed(
        self, parts: Sequence[Any], kept: tuple[Any, ...], at: tuple[Any, ...], inner: Any, outer: Any
    ) -> tuple[list[Any], Any]:
        """What a sum of products of entries needs, and the sum."""
        place = dict(reversed(list(zip(kept, at, strict=True))))
        sizes = {x: n for a, labels in parts for x, n in zip(labels, a.shape, strict=True)}
        free = [x for x in sizes if x not in place]
        finish = outer or (lambda x: x)
        if self.sizes or not free or all(isinstance(sizes[x], int) and sizes[x] < 2 for x in free):
            ranges = [range(size_value(sizes[x], self.sizes)) for x in free]
            rows = []
            for values in itertools.product(*ranges):
                here = {**place, **dict(zip(free, map(sp.Integer, values), strict=True))}
                rows.append([(a, _at(a, labels, here)) for a, labels in parts])
            flat = [item for row in rows for item in row]
            width = len(parts)
            return flat, lambda found: finish(
                sp.Add(*(inner(found[k : k + width]) for k in range(0, len(found), width)))
            )
        names = [self.fresh() for _ in free]
        here = {**place, **dict(zip(free, names, strict=True))}
        limits = [(i, 0, self.size(sizes[x]) - 1) for i, x in zip(names, free, strict=True)]
        return [(a, _at(a, labels, here)) for a, labels in parts], lambda found: finish(sp.Sum(inner(found), *limits))

    def fresh(self) -> Any:
        """A summation index that is not taken."""
        numbered = (f"k{n}" for n in itertools.count(1))
        name = next(x for x in itertools.chain(_SUMMED, numbered) if x not in self.taken)
        self.taken.add(name)
        return sp.Symbol(name, integer=True)

    def opaque(self, t: Term, at: tuple[Any, ...]) -> Any:
        """An op without a formula for its entries, as a named array with indices."""
        from symgrad.formula.sympy.expressions import to_sympy

        if not at:
            return to_sympy(t)
        return sp.IndexedBase(sp.Symbol(str(to_sympy(t))))[at]


def _spelled_out(t: Term) -> Any:
    """An op by simpler ones whose entries have a formula; None where there are none."""
    name, op = t.op.name, lookup
    if name == "matrix_power" and t.ndim == 2 and 1 < t.params["n"] <= 16:
        (a,) = t.args
        return op("matmul")(a, a if t.params["n"] == 2 else op("matrix_power")(a, n=t.params["n"] - 1))
    if name in ("softmax", "logsumexp"):
        grown = op("exp")(t.args[0])
        dims = t.params["dim"] if name == "logsumexp" else (t.params["dim"],)
        total = op("sum")(grown, dim=dims, keepdim=name == "softmax" or t.params["keepdim"])
        return op("div")(grown, total) if name == "softmax" else op("log")(total)
    return t.op.define(*t.args, **t.params) if t.op.define is not None else None


def size_expr(size: Any) -> Any:
    """A size, an int or letters such as ``"n + 1"``, as SymPy: its letters are positive integers."""
    if not isinstance(size, str):
        return size
    words = [w for w in size.replace("*", " ").replace("+", " ").replace("-", " ").split() if not w.isdigit()]
    return sp.sympify(size, {w: sp.Symbol(w, integer=True, positive=True) for w in words})


def _broadcast(a: Term, at: tuple[Any, ...]) -> tuple[Any, ...]:
    own = at[len(at) - a.ndim :]
    return _ones(a, own)


def _at(a: Term, labels: Sequence[Any], here: dict[Any, Any]) -> tuple[Any, ...]:
    return _ones(a, tuple(here[x] for x in labels))


def _ones(a: Term, at: tuple[Any, ...]) -> tuple[Any, ...]:
    """Indices along axes of size 1 are 0."""
    return tuple(sp.Integer(0) if n == 1 else i for n, i in zip(a.shape, at, strict=True))


def _applied(t: Term, parts: list[Any]) -> Any:
    """An elementwise op of SymPy scalars."""
    from symgrad.formula.sympy.expressions import applied, as_condition, as_number

    if t.op.name == "where":
        condition, first, second = parts
        return sp.Piecewise((as_number(first), as_condition(condition)), (as_number(second), True))
    return applied(t, list(map(as_number, parts)))


# ---------------------------------------------------------------------------------------------- expressions


class Indexable:
    """What an expression of an array can do besides: ``expr[i, j]`` is its entry, a SymPy scalar."""

    __slots__ = ()
    __iter__ = None
    _iterable = False

    def __getitem__(self, index: Any) -> Any:
        from symgrad.formula.canonical.simplify import canonical
        from symgrad.formula.sympy.terms import from_sympy_expr

        return entry_at(canonical(from_sympy_expr(self)), index if isinstance(index, tuple) else (index,))


_MADE: dict[Any, Any] = {}


def indexable(expr: Any) -> Any:
    """The same expression with :class:`Indexable`'s manners; equal to the plain one, and printed like it.

    SymPy makes sums and products of its own classes, which take no index; only the outermost is made one that does.
    """
    if isinstance(expr, Indexable) or not isinstance(expr, sp.Expr) or not expr.args:
        return expr
    base: Any = type(expr)
    if base not in _MADE:
        _MADE[base] = _class_of(base)
    made = sp.Basic.__new__(_MADE[base], *expr.args)
    for slot in (name for kind in base.__mro__ for name in getattr(kind, "__slots__", ())):
        if slot not in ("_mhash", "_args", "_assumptions", "__weakref__") and hasattr(expr, slot):
            setattr(made, slot, getattr(expr, slot))
    made.plain = expr
    return made


def _class_of(base: Any) -> Any:
    """The class of expressions of ``base`` that take an index; whatever SymPy makes of one is of ``base`` again."""
    space = {
        "__slots__": ("plain",), "__module__": __name__, "__qualname__": base.__name__, "func": property(_func),
        "__new__": lambda cls, *args, **options: base(*args, **options),
        "_from_args": classmethod(lambda cls, *args, **options: base._from_args(*args, **options)),
        "__eq__": _equal, "__ne__": _unequal, "__hash__": _hash, "__reduce_ex__": _reduce,
    }  # fmt: skip
    return type(base)(base.__name__, (Indexable, base), space)


def _func(self: Any) -> Any:
    return self.plain.func


def _equal(self: Any, other: Any) -> bool:
    return bool(self.plain == getattr(other, "plain", other))


def _unequal(self: Any, other: Any) -> bool:
    return not _equal(self, other)


def _hash(self: Any) -> int:
    return hash(self.plain)


def _reduce(self: Any, _: Any) -> Any:
    return indexable, (self.plain,)

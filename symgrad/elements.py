"""Element form: one entry of a formula, with indices and sums, and small formulas written out entry by entry."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

from symgrad.errors import ArgumentError, FormulaError
from symgrad.formula.simplify import canonical
from symgrad.formula.term import NUMBER, SIZE, SYMBOL, Term, concrete, describe, size_value
from symgrad.op import shape_of
from symgrad.tape.formula import read

_SUMMED = ("k", "l", "p", "q", "r", "s", "u", "v")
LARGEST = 256
"""Entries that :func:`explicit` writes out at most."""


def formula_of(value: Any) -> tuple[Term, dict[str, int]]:
    """The canonical term of a tensor or term, and the sizes of its letters where they are known."""
    if isinstance(value, Term):
        return canonical(value), {}
    reading, term = read(value)
    return canonical(term), {letter: n for n, letter in reading.letters.items()}


def element(t: Any, *indices: Any) -> Any:
    """One entry of a tensor's formula as a SymPy expression with indices: arrays are ``Indexed``, contractions ``Sum``.

    ``t`` is a recorded tensor or a term with as many axes as there are ``indices``; an index is a name, a SymPy symbol
    or an int (counted from 0, like NumPy's).  Sizes are letters.  Ops without a formula for their entries (inverses)
    stay, with indices.  Raises ``ArgumentError`` when the number of indices does not fit.

    >>> import symgrad as sg
    >>> A = sg.tensor([[1.0, 2.0], [3.0, 4.0]], name="A")
    >>> x = sg.tensor([1.0, 1.0], requires_grad=True, name="x")
    >>> sg.element(A @ x, "i")
    Sum(A[i, k]*x[k], (k, 0, n - 1))
    """
    import sympy as sp

    term, _ = formula_of(t)
    if len(indices) != term.ndim:
        raise ArgumentError(
            f"element: this formula has {term.ndim} axes (shape {tuple(term.shape)}) and got {len(indices)} indices."
        )
    wanted = tuple(sp.Symbol(i, integer=True) if isinstance(i, str) else sp.sympify(i) for i in indices)
    return _Entries({str(i) for i in wanted}, {}).entry(term, wanted)


def explicit(t: Any) -> Any:
    """A small formula written out: a SymPy ``Array`` of the entries, or one expression for a 0-d tensor.

    Sizes are those of the recorded tensor.  Raises ``FormulaError`` for more than 256 entries.

    >>> import symgrad as sg
    >>> x = sg.tensor([1.0, 2.0], requires_grad=True, name="x")
    >>> sg.explicit(x * x.sum())
    [(x[0] + x[1])*x[0], (x[0] + x[1])*x[1]]
    """
    import sympy as sp

    term, sizes = formula_of(t)
    shape = shape_of(t) if not isinstance(t, Term) else term.shape
    if any(isinstance(n, str) for n in shape):
        raise ArgumentError(f"explicit needs sizes that are numbers; this formula has shape {tuple(shape)}.")
    if math.prod(shape) > LARGEST:
        raise FormulaError(
            f"explicit writes out at most {LARGEST} entries; this formula has shape {tuple(shape)}. Use "
            "symgrad.element for the general entry."
        )
    made = _Entries(set(), sizes)
    entries = [made.entry(term, tuple(map(sp.Integer, k))) for k in itertools.product(*map(range, shape))]
    return sp.Array(entries, tuple(int(n) for n in shape)) if shape else entries[0]


class _Entries:
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
        import sympy as sp

        if not isinstance(letter, str) or self.sizes:
            return sp.Integer(size_value(letter, self.sizes))
        return sp.sympify(letter, {w: sp.Symbol(w, integer=True, positive=True) for w in _words(letter)})

    def plan(self, t: Term, at: tuple[Any, ...]) -> tuple[list[tuple[Term, tuple[Any, ...]]], Any]:
        """The entries that an entry needs, and what makes it of them."""
        import sympy as sp

        from symgrad.formula.sympy_io import number_expr

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
            return self.total(t, at, lambda x: sp.Abs(x) ** 2 if _complex(t) else x**2, sp.sqrt)
        if t.op.kind == "elementwise" or t.op.name in ("where", "abs", "sign", "conj", "real", "imag", "cast"):
            return [(a, _broadcast(a, at)) for a in t.args], lambda parts: _applied(t, parts)
        if t.op.kind == "multilinear":
            return self.contraction(t, at)
        return [], lambda _: self.opaque(t, at)

    def total(self, t: Term, at: tuple[Any, ...], inner: Any, outer: Any) -> tuple[list[Any], Any]:
        """``outer(Σ inner(entry))`` along the axes that a reduction takes away."""
        (x,) = t.args
        dims = t.params["dim"]
        labels = tuple(range(x.ndim))
        kept = tuple(k for k in labels if k not in dims)
        return self.summed([(x, labels)], kept, at, x.ndim, lambda parts: inner(parts[0]), outer)

    def contraction(self, t: Term, at: tuple[Any, ...]) -> tuple[list[Any], Any]:
        """The entry of an einsum: a sum over the labels that the output does not have, deltas for equal ones."""
        import sympy as sp

        specs, output = t.op.einsum(*(a.shape for a in t.args), **t.params)
        found: dict[Any, Any] = {}
        deltas = []
        for label, i in zip(output, at, strict=True):
            if label in found and label is not None:
                deltas.append(sp.KroneckerDelta(found[label], i))
            found.setdefault(label, i)
        names = [x for x in output if x is not None]
        values = [i for x, i in zip(output, at, strict=True) if x is not None]
        return self.summed(
            list(zip(t.args, specs, strict=True)), tuple(names), tuple(values), 0, lambda p: sp.Mul(*p, *deltas), None
        )

    def summed(
        self, parts: Sequence[Any], kept: tuple[Any, ...], at: tuple[Any, ...], _: int, inner: Any, outer: Any
    ) -> tuple[list[Any], Any]:
        """What a sum of products of entries needs, and the sum."""
        import sympy as sp

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
        import sympy as sp

        numbered = (f"k{n}" for n in itertools.count(1))
        name = next(x for x in itertools.chain(_SUMMED, numbered) if x not in self.taken)
        self.taken.add(name)
        return sp.Symbol(name, integer=True)

    def opaque(self, t: Term, at: tuple[Any, ...]) -> Any:
        """An op without a formula for its entries, as a named array with indices."""
        import sympy as sp

        from symgrad.formula.sympy_io import to_sympy

        if not at:
            return to_sympy(t)
        return sp.IndexedBase(sp.Symbol(str(to_sympy(t))))[at]


def _complex(t: Term) -> bool:
    return t.args[0].dtype is not None and t.args[0].dtype.kind == "c"


def _words(letter: str) -> list[str]:
    return [w for w in letter.replace("*", " ").replace("+", " ").replace("-", " ").split() if not w.isdigit()]


def _broadcast(a: Term, at: tuple[Any, ...]) -> tuple[Any, ...]:
    own = at[len(at) - a.ndim :]
    return _ones(a, own)


def _at(a: Term, labels: Sequence[Any], here: dict[Any, Any]) -> tuple[Any, ...]:
    return _ones(a, tuple(here[x] for x in labels))


def _ones(a: Term, at: tuple[Any, ...]) -> tuple[Any, ...]:
    """Indices along axes of size 1 are 0."""
    import sympy as sp

    return tuple(sp.Integer(0) if n == 1 else i for n, i in zip(a.shape, at, strict=True))


def _applied(t: Term, parts: list[Any]) -> Any:
    """An elementwise op of SymPy scalars: the op's own SymPy form, with symbols in the places of its arguments."""
    import sympy as sp

    from symgrad.formula.sympy_io import as_condition, as_number, to_sympy
    from symgrad.formula.term import symbol

    if t.op.name == "where":
        condition, first, second = parts
        return sp.Piecewise((as_number(first), as_condition(condition)), (as_number(second), True))
    parts = [as_number(p) for p in parts]
    stands = [a if a.op is NUMBER else symbol(f"_{k}", (), a.dtype or float) for k, a in enumerate(t.args)]
    made = to_sympy(t.op(*stands, **concrete(t.op, t.params, {})), canonicalise=False)
    if not isinstance(made, sp.Basic):
        raise FormulaError(f"{describe(t)} has no element form")
    return made.xreplace({sp.Symbol(f"_{k}"): p for k, p in enumerate(parts)})

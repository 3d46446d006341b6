"""SymPy's matrix, array and index nodes as terms, for :func:`symgrad.formula.sympy.expressions.from_sympy_expr`.

Matrices keep SymPy's two axes: a ``MatrixSymbol("x", n, 1)`` is an array of shape (n, 1).  An ``Indexed`` is an entry
of an array with one letter per axis (:mod:`symgrad.formula.reading.indices`); ``Sum`` runs over a whole axis, written
from 0 to n - 1 or from 1 to n.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import sympy as sp
from sympy.matrices import expressions as matrices
from sympy.matrices.expressions.applyfunc import ElementwiseApplyFunction
from sympy.matrices.expressions.diagonal import DiagMatrix, DiagonalMatrix, DiagonalOf
from sympy.matrices.expressions.dotproduct import DotProduct
from sympy.matrices.expressions.matexpr import MatrixElement
from sympy.tensor.array import NDimArray
from sympy.tensor.array.expressions import array_expressions as arrays

from symgrad.errors import FormulaError
from symgrad.formula.reading.indices import Indexed, identity, op
from symgrad.formula.term import Term, full, number, size_letter, symbol


def size_of(expr: Any) -> Any:
    """A size as an int or as letters."""
    expr = sp.sympify(expr)
    if expr.is_Integer:
        return int(expr)
    text = str(expr).replace(" ", "")
    if not expr.is_Symbol and not all(part.isalnum() for part in text.replace("+", "*").replace("-", "*").split("*")):
        raise FormulaError(
            f"the size {expr} is not understood: sizes are numbers, symbols, and their sums and products"
        )
    return text


def refused(item: Any) -> FormulaError:
    """The error for a node that has no meaning here, with what to do about it."""
    name = type(item).__name__
    advice = {
        "Derivative": "call .doit() first, or differentiate the function that this makes of what is below it",
        "Integral": "call .doit() first",
        "Limit": "call .doit() first",
        "Subs": "call .doit() first",
        "MatrixSolve": "write it as A.inv() * b",
    }.get(name)
    if isinstance(item, sp.Function) and not isinstance(item, sp.core.function.AppliedUndef):
        advice = "the op table has no such function"
    shown = str(item) if len(str(item)) < 60 else f"{str(item)[:57]}..."
    if isinstance(item, sp.core.function.AppliedUndef):
        advice = "replace the undefined function by an expression (expr.subs)"
    return FormulaError(
        f"{name} has no meaning as a function of arrays here: {shown}" + (f"; {advice}." if advice else ".")
    )


# ---------------------------------------------------------------------------------------------- indices


class Bounds:
    """The sizes of index letters: from sums, from ``Idx``, from declared bases, else a letter of their own."""

    def __init__(self, expr: Any, table: dict[str, Term]):
        self.table = table
        self.same: dict[str, str] = {}
        self.size: dict[str, Any] = {}
        self.ranges: dict[str, tuple[Any, Any]] = {}
        self.letters = _size_letters(expr)
        entries: dict[tuple[str, int], str] = {}
        for item in sp.preorder_traversal(expr) if expr.has(sp.Sum, sp.Product, sp.Indexed, sp.KroneckerDelta) else ():
            if isinstance(item, (sp.Sum, sp.Product)):
                for k, low, high in item.limits:
                    self.ranges[str(k)] = (low, high)
                    if low in (0, 1):
                        self._learn(str(k), size_of(high - low + 1))
            elif isinstance(item, sp.Indexed):
                for axis, (i, n) in enumerate(zip(item.indices, self._declared(item), strict=True)):
                    if i.is_Integer:
                        continue
                    letter = _letter(i)
                    self._unite(letter, entries.setdefault((str(item.base), axis), letter))
                    if n is not None:
                        self._learn(letter, n)
                    elif isinstance(i, sp.Idx) and i.upper is not None:
                        self._learn(letter, size_of(i.upper - i.lower + 1))
            elif isinstance(item, sp.KroneckerDelta):
                self._unite(*(_letter(i) for i in item.args[:2]))
        self.axes = {key: self.of(letter) for key, letter in entries.items()}

    def _declared(self, item: Any) -> Sequence[Any]:
        known = self.table.get(str(item.base))
        if known is not None:
            if known.ndim != len(item.indices):
                raise FormulaError(f"{item} has {len(item.indices)} indices; {item.base} was given {known.ndim} axes.")
            return known.shape
        shape = item.base.shape
        return [None] * len(item.indices) if shape is None else [size_of(n) for n in shape]

    def _root(self, letter: str) -> str:
        while self.same.get(letter, letter) != letter:
            letter = self.same[letter]
        return letter

    def _unite(self, a: str, b: str) -> None:
        a, b = self._root(a), self._root(b)
        if a != b:
            size = self.size.pop(a, None)
            self.same[a] = b
            if size is not None:
                self._learn(b, size)

    def _learn(self, letter: str, size: Any) -> None:
        known = self.size.setdefault(self._root(letter), size)
        if known != size:
            raise FormulaError(f"the index {letter} runs over {known} entries at one place and over {size} at another.")

    def of(self, letter: str) -> Any:
        """The size of a letter's axis."""
        root = self._root(letter)
        return self.size.setdefault(root, f"n_{root}")


def _size_letters(expr: Any) -> set[str]:
    """The names in the shapes of arrays and in the limits of sums: sizes, which are no arguments."""
    found: set[str] = set()
    for item in expr.atoms(matrices.MatrixSymbol, sp.IndexedBase, arrays.ArraySymbol, sp.Idx, sp.Sum, sp.Product):
        if isinstance(item, (sp.Sum, sp.Product)):
            sizes = [end for _, *ends in item.limits for end in ends]
        elif isinstance(item, sp.Idx):
            sizes = [end for end in (item.lower, item.upper) if end is not None]
        else:
            sizes = list(item.shape or ())
        found |= {s.name for size in sizes for s in sp.sympify(size).free_symbols}
    return found


def _letter(index: Any) -> str:
    if not isinstance(index, (sp.Symbol, sp.Idx)):
        raise FormulaError(f"the index {index} is not understood: an index is a symbol or, for one entry, an integer.")
    return str(index)


def entry(item: Any, bounds: Bounds) -> Any:
    """``A[i, j]``: an entry with letters; axes with an integer are taken out."""
    name = str(item.base)
    known = bounds.table.get(name)
    if known is None:
        shape = item.base.shape or [f"n_{name}{axis}" for axis in range(len(item.indices))]
        shape = [bounds.axes.get((name, axis), size_of(n)) for axis, n in enumerate(shape)]
        known = symbol(name, tuple(shape))
    return picked(known, item.indices)


def picked(term: Term, indices: Sequence[Any]) -> Any:
    """The entries of an array at letters and integers."""
    letters: list[str] = []
    for i in indices:
        if sp.sympify(i).is_Integer:
            term = op("select", term, dim=len(letters), index=int(i))
        else:
            letters.append(_letter(i))
    return Indexed([(term, tuple(letters))]).settled(tuple(dict.fromkeys(letters))) if letters else term


def total(item: Any, body: Any, bounds: Bounds) -> Any:
    """``Sum`` or ``Product`` over whole axes."""
    for k, low, high in item.limits:
        letter = str(k)
        size = bounds.of(letter)
        if low not in (0, 1) or size_of(high - low + 1) != size:
            raise FormulaError(
                f"the sum over {k} from {low} to {high} does not run over the whole axis, which has {size} entries."
            )
        plain = not isinstance(body, Indexed) or letter not in body.letters
        if plain:
            count = size_letter(size)
            scaled = op("mul" if isinstance(item, sp.Sum) else "pow", body, count) if isinstance(body, Term) else None
            body = scaled if scaled is not None else body.times(count)
        elif isinstance(item, sp.Sum):
            body = body.summed([letter])
        else:
            last = body.settled((*(x for x in body.letters if x != letter), letter))
            ((term, row),) = last.operands
            body = Indexed([(op("prod", term, dim=len(row) - 1, keepdim=False), row[:-1])])
        if isinstance(body, Indexed) and not body.letters:
            body = body.contracted(())
    return body


# ---------------------------------------------------------------------------------------------- matrices


def _folded(name: str) -> Callable[[Sequence[Any]], Any]:
    return lambda args: functools.reduce(functools.partial(op, name), args)


def _product(args: Sequence[Term]) -> Any:
    out = _folded("matmul")([a for a in args if a.shape])
    for a in reversed([a for a in args if not a.shape]):
        out = op("mul", a, out)
    return out


def _power(args: Sequence[Term]) -> Any:
    base, exponent = args
    k = exponent.number
    if not isinstance(k, int):
        raise FormulaError("a power of a matrix is read for whole exponents only.")
    return op("inv", base) if k == -1 else op("matrix_power", base, n=k)


def _transpose(args: Sequence[Term]) -> Any:
    return op("permute", args[0], dims=(1, 0))


def _diagonal(args: Sequence[Term]) -> Any:
    vector = op("squeeze", args[0], dim=(1,))
    return op("einsum", vector, inputs=((0,),), output=(0, 0), shape=(vector.shape[0],) * 2)


def _diagonal_of(args: Sequence[Term]) -> Any:
    return op("unsqueeze", op("diagonal", args[0], offset=0, dim1=0, dim2=1), dim=1)


def _off_diagonal(args: Sequence[Term]) -> Any:
    a = args[0]
    return op("mul", a, op("eye", n=a.shape[0], dtype="float64"))


def _dot(args: Sequence[Term]) -> Any:
    a, b = (op("reshape", x, shape=(x.shape[0] if x.shape[1] == 1 else x.shape[1],)) for x in args)
    return op("matmul", a, b)


def _kron(args: Sequence[Term]) -> Any:
    out = args[0]
    for a in args[1:]:
        (n, m), (p, q) = out.shape, a.shape
        out = op("einsum", out, a, inputs=((0, 1), (2, 3)), output=(0, 2, 1, 3), shape=(n, p, m, q))
        out = op("reshape", out, shape=(_times(n, p), _times(m, q)))
    return out


def _times(a: Any, b: Any) -> Any:
    """The product of two sizes."""
    if isinstance(a, int) and isinstance(b, int):
        return a * b
    return b if a == 1 else a if b == 1 else f"{a}*{b}"


def _tensor_product(args: Sequence[Term]) -> Any:
    rows, at = [], 0
    for a in args:
        rows.append(tuple(range(at, at + a.ndim)))
        at += a.ndim
    return op(
        "einsum", *args, inputs=tuple(rows), output=tuple(range(at)), shape=tuple(s for a in args for s in a.shape)
    )


def _merged(term: Term, groups: Sequence[Sequence[int]], keep: bool) -> Any:
    """Axes that are made one, summed or kept at the end."""
    labels = list(range(term.ndim))
    for group in groups:
        for k in group:
            labels[k] = labels[group[0]]
    first = [labels[g[0]] for g in groups]
    output = [x for x in labels if x not in first] + (first if keep else [])
    sizes = dict(zip(labels, term.shape, strict=True))
    shape = tuple(sizes[x] for x in output)
    return op("einsum", term, inputs=(tuple(labels),), output=tuple(output), shape=shape)


MATRICES: dict[str, Callable[[Sequence[Term]], Any]] = {
    "MatMul": _product,
    "MatAdd": _folded("add"),
    "HadamardProduct": _folded("mul"),
    "HadamardPower": lambda a: op("pow", *a),
    "MatPow": _power,
    "Inverse": lambda a: op("inv", a[0]),
    "Transpose": _transpose,
    "Adjoint": lambda a: op("conj", _transpose(a)),
    "Trace": lambda a: op("trace", a[0]),
    "Determinant": lambda a: op("det", a[0]),
    "DiagMatrix": _diagonal,
    "DiagonalMatrix": _off_diagonal,
    "DiagonalOf": _diagonal_of,
    "DotProduct": _dot,
    "KroneckerProduct": _kron,
    "ArrayAdd": _folded("add"),
    "ArrayTensorProduct": _tensor_product,
}
_HANDLED = (
    matrices.MatrixExpr, sp.MatrixBase, NDimArray, sp.Trace, sp.Determinant, sp.Indexed, sp.IndexedBase, sp.Sum,
    sp.Product, sp.KroneckerDelta, MatrixElement, DotProduct, ElementwiseApplyFunction, DiagMatrix, DiagonalMatrix,
    DiagonalOf, arrays._ArrayExpr, arrays._CodegenArrayAbstract,
)  # fmt: skip


REFUSED = (sp.Integral, sp.Derivative, sp.Limit, sp.Subs, sp.core.function.AppliedUndef, sp.Lambda)
"""Nodes that are refused before anything below them is read."""


def handled(item: Any) -> bool:
    """Whether a node is one of those of this file."""
    return isinstance(item, _HANDLED)


def children(item: Any) -> tuple[Any, ...]:
    """The expressions below a node; sizes, limits and indices are none."""
    if isinstance(
        item, (matrices.MatrixSymbol, matrices.Identity, matrices.ZeroMatrix, matrices.OneMatrix, sp.Indexed,
               sp.KroneckerDelta, arrays.ArraySymbol, arrays.ZeroArray, arrays.OneArray)
    ):  # fmt: skip
        return ()
    if isinstance(item, (sp.MatrixBase, NDimArray)):
        return tuple(item.flat() if isinstance(item, sp.MatrixBase) else list(sp.flatten(item.tolist())))
    if isinstance(item, (sp.Sum, sp.Product, MatrixElement, matrices.Inverse)):
        return (item.args[0],)
    if isinstance(item, (arrays.PermuteDims, arrays.ArrayContraction, arrays.ArrayDiagonal)):
        return (item.expr,)
    if isinstance(item, (ElementwiseApplyFunction, arrays.ArrayElementwiseApplyFunc)):
        return (item.args[1],)
    return tuple(item.args)


def node(item: Any, args: Sequence[Any], bounds: Bounds, read: Callable[..., Term]) -> Any:
    """The term (or the entries) of a node whose children are known; ``read`` reads the body of a function."""
    if isinstance(item, (matrices.MatrixSymbol, arrays.ArraySymbol)):
        name = str(item.name)
        return bounds.table[name] if name in bounds.table else symbol(name, tuple(map(size_of, item.shape)))
    if isinstance(item, matrices.Identity):
        return op("eye", n=size_of(item.shape[0]), dtype="float64")
    if isinstance(item, (matrices.ZeroMatrix, matrices.OneMatrix, arrays.ZeroArray, arrays.OneArray)):
        one = isinstance(item, (matrices.OneMatrix, arrays.OneArray))
        return full(tuple(map(size_of, item.shape)), int(one), "float64")
    if isinstance(item, (sp.MatrixBase, NDimArray)):
        return _explicit(args, tuple(map(int, item.shape)))
    if isinstance(item, sp.Indexed):
        return entry(item, bounds)
    if isinstance(item, sp.KroneckerDelta):
        a, b = (_letter(i) for i in item.args[:2])
        return identity(bounds.of(a), (a, b)).settled()
    if isinstance(item, MatrixElement):
        return picked(args[0], item.args[1:])
    if isinstance(item, (sp.Sum, sp.Product)):
        return total(item, args[0], bounds)
    if isinstance(item, arrays.PermuteDims):
        return op("permute", args[0], dims=tuple(item.permutation.array_form))
    if isinstance(item, arrays.ArrayContraction):
        return _merged(args[0], item.contraction_indices, keep=False)
    if isinstance(item, arrays.ArrayDiagonal):
        return _merged(args[0], item.diagonal_indices, keep=True)
    if isinstance(item, (ElementwiseApplyFunction, arrays.ArrayElementwiseApplyFunc)):
        bound = item.function
        return read(bound.expr, {bound.variables[0].name: args[0]})
    rule = MATRICES.get(type(item).__name__)
    if rule is None:
        raise refused(item)
    return rule(args)


def _explicit(entries: Sequence[Term], shape: tuple[int, ...]) -> Any:
    """An array of entries written out."""
    if any(not isinstance(e, Term) or e.shape for e in entries):
        raise FormulaError("the entries of an explicit matrix are scalars here.")
    numbers = [e.number for e in entries]
    if all(isinstance(v, (int, Fraction)) and v == numbers[0] for v in numbers):
        return full(shape, numbers[0], "float64")
    rows = [
        op("mul", e, full((1,), 1, "float64")) if e.number is None else full((1,), e.number, "float64") for e in entries
    ]
    return op("reshape", op("cat", *rows, dim=0), shape=shape)


__all__ = ["MATRICES", "Bounds", "children", "handled", "node", "number", "refused", "size_of"]

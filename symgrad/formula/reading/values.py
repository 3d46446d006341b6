r"""Matrix notation with types: what juxtaposition, ``\odot`` and ``+`` mean for scalars, columns, rows and matrices.

Vectors are columns, so ``x^{\top} y`` is a number, ``x y^{\top}`` a matrix, and ``\mathbf{1} b^{\top}`` a matrix whose
number of rows is not known until it meets another one.  A :class:`Value` is a term with its kind:

``s`` scalar, ``v`` column, ``r`` row (held as a 1-D term), ``m`` matrix, ``t`` more axes, ``eye`` a multiple of ``I``,
``o``/``or``/``oo`` a multiple of ones (column, row, matrix), ``rb`` a row for every row, ``cb`` a column for every
column.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from symgrad.errors import FormulaError, ShapeError
from symgrad.formula.canonical.matrices.kronecker import kron
from symgrad.formula.reading.indices import Indexed, entry_by_entry
from symgrad.formula.reading.misfits import ProductMisfit
from symgrad.formula.term import NUMBER, Term, apply, full, number
from symgrad.op import lookup
from symgrad.ops.indexing.getitem import Index
from symgrad.ops.shapes.sizes import product_size

_TRANSPOSE = {"v": "r", "r": "v", "o": "or", "or": "o", "rb": "cb", "cb": "rb"}
_ONES = ("o", "or", "oo")
_SCALARS = ("s", *_ONES)


def op(name: str, *args: Any, **params: Any) -> Any:
    """Apply an op of the table to terms; those inside its index are operands, too.

    Raises ``ShapeError`` for terms that have fewer axes than the op takes.
    """
    index = params.get("index")
    if isinstance(index, Index):
        params["index"], places = index.parted()
        args = (*args, *places)
    try:
        return apply(lookup(name), args, params)
    except IndexError as error:  # the rule of the shape looked for an axis
        shapes = ", ".join(str(a.shape) for a in args if isinstance(a, Term))
        raise ShapeError(f"{name} takes no array of shape {shapes}: {error}") from None


def diag(a: Term) -> Any:
    """The matrix with a vector on its diagonal, or the diagonal of a matrix."""
    if a.ndim == 1:
        return op("einsum", a, inputs=((0,),), output=(0, 0), shape=(a.shape[0], a.shape[0]))
    if a.ndim != 2:
        raise ProductMisfit(f"diag() of {f'an array of shape {a.shape}' if a.ndim else 'a number'}: it takes a vector")
    return op("diagonal", a, offset=0, dim1=0, dim2=1)


def vec(a: Term) -> Any:
    """The columns of a matrix, one below the other."""
    return op("reshape", a.T, shape=(functools.reduce(product_size, reversed(a.shape), 1),)) if a.ndim > 1 else a


class Value:
    """A term with its kind; ``exact`` is the term with all its axes, where some of size 1 were dropped."""

    __slots__ = ("exact", "kind", "term")

    def __init__(self, kind: str, term: Term, exact: Term | None = None):
        self.kind = kind
        self.term = term
        self.exact = exact


def value_of(term: Term) -> Value:
    """A term in matrix notation; axes of size 1 make columns, rows and scalars."""
    shape = term.shape
    if len(shape) > 2:
        return Value("t", term)
    if any(s == 1 and not isinstance(s, str) for s in shape):
        kept = [s for s in shape if s != 1]
        kind = "s" if not kept else "v" if shape[0] != 1 else "r"
        return Value(kind, op("reshape", term, shape=tuple(kept)), term)
    return Value("s" if not shape else "v" if len(shape) == 1 else "m", term)


def counted(term: Term) -> Term:
    """A term in arithmetic: truth values count as 1 and 0."""
    truth = term.dtype is not None and term.dtype.kind == "b"
    return op("cast", term, dtype="float64") if truth else term


def negated(term: Term) -> Term:
    """-term; truth values count as numbers."""
    return op("neg", term) if counted(term) is term else op("mul", -1, term)  # type: ignore[no-any-return]


def scalar(value: Any) -> Value:
    """A number."""
    return Value("s", number(value))


def transposed(a: Any) -> Any:
    """The transpose."""
    if not isinstance(a, Value):
        return a.transposed()
    if a.kind == "m":
        return Value("m", op("permute", a.term, dims=(1, 0)))
    if a.kind == "t":
        raise FormulaError(f"an array with {a.term.ndim} axes has no transpose in matrix notation")
    return Value(_TRANSPOSE.get(a.kind, a.kind), a.term)


def _column(a: Value) -> Term:
    return op("unsqueeze", a.term, dim=1)  # type: ignore[no-any-return]


def aligned(values: Sequence[Value]) -> tuple[str, list[Term]]:
    """The common kind of operands of an entrywise operation, and terms that broadcast to it."""
    arrays = [a for a in values if a.kind not in _SCALARS]
    kinds = {a.kind for a in arrays}
    if not kinds:
        found = [a.kind for a in values if a.kind != "s"]
        kind = "s" if not found else found[0] if len(set(found)) == 1 else "oo"
        return kind, [a.term for a in values]
    if "t" in kinds:  # beside three axes and more those of size 1 have their place
        return "t", [a.term if a.exact is None else a.exact for a in values]
    if len(kinds) == 1 and "eye" not in kinds:
        return arrays[0].kind, [a.term for a in values]
    if kinds == {"eye"}:
        if any(a.kind in _ONES for a in values):
            raise FormulaError("the size of I is not known beside ones")  # c I + d 11ᵀ is no multiple of I
        return "eye", [a.term for a in values]
    if kinds & {"v", "r"}:
        shapes = ", ".join(f"{a.kind}{a.term.shape}" for a in arrays)
        raise FormulaError(f"columns, rows and matrices do not add entry by entry: {shapes}")
    # The size of I is that of a matrix, or of the row or column that ones of unknown size stand beside.
    square = next((a.term for kind in ("m", "rb", "cb") for a in arrays if a.kind == kind), None)
    return "m", [_as_matrix(a, square) for a in values]


def _as_matrix(a: Value, like: Term | None) -> Term:
    if a.kind == "eye":
        if like is None:
            raise FormulaError("the size of I is not known here")
        return identity(a, like.shape[0])
    return _column(a) if a.kind == "cb" else a.term


def identity(a: Value, n: Any) -> Term:
    """A multiple of the identity at a known size."""
    eye = op("eye", n=n, dtype="float64")
    return eye if a.term.number == 1 else op("mul", a.term, eye)  # type: ignore[no-any-return]


def entrywise(function: Callable[..., Any], *values: Any) -> Any:
    """An entrywise operation on values, on entries with indices, or on families of vectors or matrices.

    To functions such as tanh, conditions are the numbers 0 and 1.
    """
    if getattr(function, "dtypes", None) == "float":
        return entrywise(lambda *terms: function(*map(counted, terms)), *values)
    family = next((a for a in values if hasattr(a, "combined")), None)
    if family is not None:
        return family.combined(function, values)
    if any(isinstance(a, Indexed) for a in values):
        return entry_by_entry(function, [operand_of(a) for a in values])
    kind, terms = aligned(values)
    if kind == "eye" and len(values) > 1 and any(a.kind != "eye" for a in values):
        raise FormulaError("the size of I is not known here")
    return Value(kind, function(*terms))


def as_number(a: Any) -> Any:
    """A value as a number in a sum, where conditions count as 0 and 1."""
    if isinstance(a, Indexed) and a.deltas:
        return Indexed([(counted(t), row) for t, row in a.operands], a.deltas)  # the sum tells the sizes of its letters
    return entrywise(counted, a)


def negative(a: Any) -> Any:
    """The negative of a value."""
    return as_number(a).times(number(-1)) if isinstance(a, Indexed) and a.deltas else entrywise(negated, a)


def operand_of(a: Any) -> Any:
    """What products and functions of entries take: entries, or the term of a value."""
    return a if isinstance(a, Indexed) else a.term


def divided(top: Any, bottom: Any) -> Any:
    """A quotient; arrays divide entry by entry."""
    if bottom.kind == "s" and isinstance(top, Value):
        return Value(top.kind, op("div", top.term, bottom.term))
    return entrywise(lookup("div"), top, bottom)


def pseudo_inverse(a: Term) -> Term:
    """The pseudo-inverse of a matrix, where no text says which singular values count as zero."""
    return op("pinv", a, atol=0.0, rtol=1e-12)  # type: ignore[no-any-return]


def is_zero(a: Value) -> bool:
    """Whether a value is the number 0, which stands for an array of any shape."""
    return a.kind == "s" and a.term.op is NUMBER and a.term.number == 0


def scaled(a: Value, b: Value) -> Value:
    """A scalar times anything.  0 stays a scalar: it stands for an array of any shape, whose name is 0 in a list."""
    if is_zero(a):
        return a
    return Value(b.kind, op("mul", a.term, b.term))


def product(a: Value, b: Value) -> Value:
    """What two things side by side mean."""
    if a.kind == "s" or b.kind == "s":
        return scaled(a, b) if a.kind == "s" else scaled(b, a)
    if a.kind == "eye":
        return scaled(a, b)
    if b.kind == "eye":
        return scaled(b, a)
    rule = _PRODUCTS.get((a.kind, b.kind))
    if rule is None:
        raise FormulaError(f"{_said(a)} and {_said(b)} have no product in this order")
    return rule(a.term, b.term)


def cross_product(a: Value, b: Value) -> Value:
    r"""What ``\times`` between two columns means; ones have as many entries as the other."""
    if {a.kind, b.kind} not in ({"v"}, {"v", "o"}):
        raise FormulaError(f"{_said(a)} and {_said(b)} have no cross product: it is one of two columns of 3 entries")
    known = a if a.kind == "v" else b
    sizes = {*a.term.shape, *b.term.shape}
    if (len(sizes) > 1 and a.kind == b.kind) or any(isinstance(size, int) and size != 3 for size in sizes):
        raise FormulaError(f"{_said(a)} and {_said(b)} have no cross product: both need 3 entries")
    return Value("v", op("cross", *(as_term(x, known.term.shape) for x in (a, b)), dim=0))


def cross_matrix(a: Value) -> Value:
    r"""``[a]_{\times}``, the matrix of x ↦ a × x: the cross products of the rows of the identity with a."""
    size = a.term.shape[0] if a.kind == "v" else None
    if size is None or (isinstance(size, int) and size != 3):
        raise FormulaError(f"{_said(a)} has no matrix of cross products: that is one of a column of 3 entries")
    rows = op("outer", full((size,), 1, "float64"), a.term)
    return Value("m", op("cross", op("eye", n=size, dtype="float64"), rows, dim=1))


def kronecker_product(a: Value, b: Value) -> Value:
    r"""What ``\otimes`` between matrices, columns and rows means; that of two columns is a column."""
    if not {a.kind, b.kind} <= {"m", "v", "r"}:
        raise FormulaError(f"{_said(a)} and {_said(b)} have no Kronecker product here: it is one of matrices")
    made = kron(_two_sided(a), _two_sided(b))
    if a.kind == b.kind != "m":
        return Value(a.kind, op("reshape", made, shape=(made.shape[0 if a.kind == "v" else 1],)))
    return Value("m", made)


def _two_sided(a: Value) -> Term:
    """A column as a matrix of one column, and a row as one of one row."""
    if a.kind == "m":
        return a.term
    (size,) = a.term.shape
    made: Term = op("reshape", a.term, shape=(size, 1) if a.kind == "v" else (1, size))
    return made


def _said(a: Value) -> str:
    names = {"v": "a column", "r": "a row", "m": "a matrix", "t": "an array of more axes"}
    return f"{names.get(a.kind, 'ones of unknown size')} {a.term.shape or ''}".strip()


def _dot(x: Term, y: Term) -> Term:
    return op("matmul", counted(x), y)  # type: ignore[no-any-return]


def _total(x: Term) -> Term:
    return op("sum", x, dim=tuple(range(x.ndim)), keepdim=False)  # type: ignore[no-any-return]


def _over(x: Term, axis: int) -> Term:
    return op("sum", x, dim=(axis,), keepdim=False)  # type: ignore[no-any-return]


def _flipped(x: Term) -> Term:
    return op("permute", x, dims=(1, 0))  # type: ignore[no-any-return]


_PRODUCTS: dict[tuple[str, str], Callable[[Term, Term], Value]] = {
    ("r", "v"): lambda a, b: Value("s", _dot(a, b)),
    ("r", "m"): lambda a, b: Value("r", _dot(_flipped(b), a)),
    ("m", "v"): lambda a, b: Value("v", _dot(a, b)),
    ("m", "m"): lambda a, b: Value("m", _dot(a, b)),
    ("v", "r"): lambda a, b: Value("m", op("outer", a, b)),
    ("r", "o"): lambda a, b: Value("s", op("mul", b, _total(a))),
    ("or", "v"): lambda a, b: Value("s", op("mul", a, _total(b))),
    ("or", "m"): lambda a, b: Value("r", op("mul", a, _over(b, 0))),
    ("m", "o"): lambda a, b: Value("v", op("mul", b, _over(a, 1))),
    ("v", "or"): lambda a, b: Value("cb", op("mul", b, a)),
    ("o", "r"): lambda a, b: Value("rb", op("mul", a, b)),
    ("o", "or"): lambda a, b: Value("oo", op("mul", a, b)),
    ("m", "cb"): lambda a, b: Value("cb", _dot(a, b)),
    ("r", "cb"): lambda a, b: Value("or", _dot(a, b)),
    ("or", "cb"): lambda a, b: Value("or", op("mul", a, _total(b))),
    ("m", "rb"): lambda a, b: Value("m", op("outer", _over(a, 1), b)),
    ("r", "rb"): lambda a, b: Value("r", op("mul", _total(a), b)),
    ("rb", "v"): lambda a, b: Value("o", _dot(a, b)),
    ("rb", "m"): lambda a, b: Value("rb", _dot(_flipped(b), a)),
    ("rb", "o"): lambda a, b: Value("o", op("mul", b, _total(a))),
    ("rb", "cb"): lambda a, b: Value("oo", _dot(a, b)),
    ("cb", "v"): lambda a, b: Value("v", op("mul", a, _total(b))),
    ("cb", "m"): lambda a, b: Value("m", op("outer", a, _over(b, 0))),
    ("cb", "rb"): lambda a, b: Value("m", op("outer", a, b)),
    ("oo", "v"): lambda a, b: Value("o", op("mul", a, _total(b))),
    ("oo", "m"): lambda a, b: Value("rb", op("mul", a, _over(b, 0))),
    ("m", "oo"): lambda a, b: Value("cb", op("mul", b, _over(a, 1))),
    ("r", "oo"): lambda a, b: Value("or", op("mul", b, _total(a))),
}


def as_term(a: Value, shape: tuple[Any, ...] | None) -> Term:
    """The term of a value at the shape it is known to have."""
    if a.kind == "eye":
        if shape is None:
            raise FormulaError("the size of I is not known here; state the shape of the whole formula with shape=")
        return identity(a, shape[0])
    if shape is None:
        if a.kind in ("o", "or", "oo", "rb", "cb"):
            raise FormulaError("a size of the ones is not known; state the shape of the whole formula with shape=")
        return a.term
    term = _column(a) if a.kind == "cb" else a.term
    if term.shape == shape:
        return term
    if a.kind in ("v", "r", "s") and any(s == 1 for s in shape) and len([s for s in shape if s != 1]) == term.ndim:
        return op("reshape", term, shape=shape)  # type: ignore[no-any-return]
    if a.kind == "t" and [s for s in term.shape if s != 1] == [s for s in shape if s != 1]:
        return op("reshape", term, shape=shape)  # type: ignore[no-any-return]
    return op("expand", term, shape=shape)  # type: ignore[no-any-return]


def named_term(a: Any) -> Term:
    """The term that a name in a where-list stands for: a row has an axis of size 1 before its own."""
    exact: Term | None = getattr(a, "exact", None)
    if exact is not None:
        return exact
    return op("unsqueeze", a.term, dim=0) if a.kind == "r" else as_term(a, None)

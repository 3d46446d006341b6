"""How matrix ops, indexing and contractions are written in LaTeX."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from symgrad.dtypes import is_floating
from symgrad.formula.canonical.matrices.kronecker import sides
from symgrad.formula.joined import ROUNDING
from symgrad.formula.printing import pieces
from symgrad.formula.printing.calls import (
    diagonal_matrix,
    exact,
    filled,
    function,
    in_order,
    index_tex,
    operator,
    power,
    unit_vector,
    writes,
)
from symgrad.formula.printing.indices import (
    extreme_of_entries,
    index_notation,
    product_of_entries,
    products_without_own,
    root_of_squares,
    sum_of_entries,
)
from symgrad.formula.printing.latex import Writer, kind_of
from symgrad.formula.printing.pieces import ATOM, MUL, OPEN, POWER, Item, Piece, brackets, closed, text_of, transposed
from symgrad.formula.printing.sizes import size_tex
from symgrad.formula.structures import shows_symmetry
from symgrad.formula.term import Term, constant_value
from symgrad.op import lookup
from symgrad.ops.indexing.getitem import Index
from symgrad.ops.shapes.sizes import total_size

# ---------------------------------------------------------------------------------------------- matrices


@writes("full")
def _full(w: Writer, t: Term) -> Piece | None:
    value, kind = t.params["value"], kind_of(t.shape)
    if kind == "s" or value == 0:
        return pieces.number_piece(value) if kind == "s" else Piece(kind, "0")
    if kind == "t" and t.dtype != "float64":
        return None
    return pieces.product(pieces.number_piece(value), filled(1, t.shape) if kind == "t" else w.ones(kind, t.shape))


@writes("eye")
def _eye(w: Writer, t: Term) -> Piece:
    return w.identity(t.params["n"])


@writes("arange")
def _arange(w: Writer, t: Term) -> Piece | None:
    return function("c", operator("arange"), size_tex(t.params["n"])) if t.dtype == "int64" else None


@writes("one_hot")
def _one_hot(w: Writer, t: Term) -> Piece | None:
    """The rows of the identity that labels name, which tell how many columns it has."""
    if t.dtype is None or t.dtype.kind == "b":
        return None
    name = rf"{operator('onehot')}_{{{size_tex(t.params['classes'])}}}"
    return function(kind_of(t.shape), name, text_of(exact(w, t.args[0])))


@writes("permute")
def _permute(w: Writer, t: Term) -> Piece | None:
    if t.ndim == 1:
        return w.operand(t.args[0])
    return transposed(w.operand(t.args[0])) if t.params["dims"] == (1, 0) else None


@writes("matmul")
def _matmul(w: Writer, t: Term) -> Piece | None:
    x, y = t.args
    if x.ndim > 2 or y.ndim > 2:
        return None
    a, b = w.operand(x), w.operand(y)
    if a.kind == "s" or b.kind == "s":
        return pieces.product(a, b)
    w.closing(x, y)
    kind = kind_of(t.shape)
    if x.ndim == 1 and y.ndim == 1:
        return pieces.matrix_product("s", transposed(a), b)
    if x.ndim == 1:
        return pieces.matrix_product(kind, transposed(b), a)
    made = pieces.matrix_product(kind, a, b)
    return made.replaced(flip=_row(x, a, b)) if kind == "c" else made


@writes("cross")
def _cross(w: Writer, t: Term) -> Piece | None:
    """The cross product of two vectors, and its matrix [x]ₓ; along an axis of other arrays it is a function."""
    identity, lines = t.args
    if identity.op.name == "eye" and lines.op.name == "outer" and constant_value(lines.args[0]) == 1:
        return Piece("m", rf"\left[{text_of(w.write(lines.args[1]))}\right]_{{\times}}")
    a, b = (w.operand(x) for x in t.args)
    if a.kind != "c" or b.kind != "c":
        return None
    w.closing(*t.args)
    return pieces.cross(a, b)


def _row(x: Term, a: Piece, b: Piece) -> Item | None:
    """xᵀAᵀ for (Ax)ᵀ, where nothing stands in front; xᵀA for an A that can be seen to be symmetric."""
    if not (a.bare and b.bare):
        return None
    back = a if shows_symmetry(x) else transposed(a)
    return pieces.matrix_product("r", transposed(b), back).core, MUL


@writes("outer")
def _outer(w: Writer, t: Term) -> Piece | None:
    a, b = (w.operand(x) for x in t.args)
    if a.kind == "s" or b.kind == "s":
        made = pieces.product(a, b)
        return transposed(made) if made.kind == "c" and kind_of(t.shape) == "r" else made
    if a.kind != "c" or b.kind != "c":
        return None
    made = pieces.matrix_product("m", a, transposed(b))
    back = pieces.matrix_product("m", b, transposed(a))
    return made.replaced(flip=(back.core, back.level))


@writes("unsqueeze", "squeeze")
def _axes(w: Writer, t: Term) -> Piece | None:
    a = w.operand(t.args[0])
    kind = kind_of(t.shape)
    if kind == "t" or a.kind == "t":
        return in_order(w, t)
    return transposed(a) if {kind, a.kind} == {"r", "c"} else a


@writes("expand")
def _expand(w: Writer, t: Term) -> Piece | None:
    x, kind = t.args[0], kind_of(t.shape)
    if kind == "t":
        return None
    a = w.operand(x)
    if kind == "s":
        return a
    if a.kind == "s":
        return pieces.product(a, w.ones(kind, t.shape))
    if len(t.shape) == 1:
        return a
    return w.lifted(a, x.shape, t.shape)


@writes("sum")
def _sum_over(w: Writer, t: Term) -> Piece | None:
    x, axes = t.args[0], t.params["dim"]
    a = w.operand(x)
    if a.kind == "t":
        return sum_of_entries(w, t)
    if kind_of(t.shape) == "t":
        return None
    if a.kind == "s":
        return a
    w.closing(x)
    sizes = x.shape if x.ndim == 2 else (*x.shape, *x.shape)
    if a.kind in "cr":
        if kind_of(t.shape) != "s":
            return transposed(a) if kind_of(t.shape) != a.kind else a
        column = a if a.kind == "c" else transposed(a)
        long = sizes[0] if a.kind == "c" else sizes[1]
        return pieces.matrix_product("s", w.ones("r", (long,)), column)
    if axes == (0, 1):
        return pieces.matrix_product("s", pieces.matrix_product("r", w.ones("r", sizes[:1]), a), w.ones("c", sizes[1:]))
    if axes == (1,):
        return pieces.matrix_product("c", a, w.ones("c", sizes[1:]))
    if t.params["keepdim"]:
        return pieces.matrix_product("r", w.ones("r", sizes[:1]), a)
    columns = pieces.matrix_product("c", transposed(a), w.ones("c", sizes[:1]))
    row = pieces.matrix_product("r", w.ones("r", sizes[:1]), a)
    return columns.replaced(flip=(row.core, row.level)) if row.bare else columns


@writes("diagonal", "trace", "det", "inv")
def _of_matrix(w: Writer, t: Term) -> Piece | None:
    x = t.args[0]
    if x.ndim != 2:
        return _stack_of_inverses(w, x) if t.op.name == "inv" else None
    w.closing(x)
    a, kind = w.operand(x), kind_of(t.shape)
    if t.op.name == "inv":
        lead = Piece("s", coef=a.coef, top=a.top, bottom=a.bottom)
        made = Piece(
            "m", rf"{closed((a.core, a.level), ATOM)}^{{-1}}", POWER, power=(closed((a.core, a.level), ATOM), "-")
        )
        return pieces.quotient(made, lead) if a.kind != "s" else power(a, Fraction(-1))
    if t.op.name == "det":
        return function(kind, r"\det", text_of(a))
    made = function(kind, operator("tr" if t.op.name == "trace" else "diag"), a.core)
    if a.kind == "s":
        return a
    return made.with_lead(a.coef, a.top, a.bottom)


def _stack_of_inverses(w: Writer, x: Term) -> Piece:
    a = exact(w, x)
    return Piece("t", rf"{closed((text_of(a), a.level if a.bare else pieces.MUL), ATOM)}^{{-1}}", POWER)


@writes("pinv")
def _pseudo_inverse(w: Writer, t: Term) -> Piece | None:
    """X⁺, where only rounding counts as zero."""
    if t.ndim != 2 or t.params["atol"] or t.params["rtol"] > ROUNDING or kind_of(t.args[0].shape) != "m":
        return None
    a = exact(w, t.args[0])
    return Piece("m", rf"{closed((text_of(a), a.level if a.bare else MUL), ATOM)}^{{+}}", POWER)


@writes("matrix_exp_frechet", "logm_frechet")
def _direction(w: Writer, t: Term) -> Piece | None:
    """The derivative of the exponential or the logarithm at a matrix in a direction."""
    if t.ndim != 2 or w.taken("L"):
        return None
    name = r"\exp" if t.op.name == "matrix_exp_frechet" else r"\log"
    return function(kind_of(t.shape), rf"L_{{{name}}}", *(text_of(exact(w, a)) for a in t.args))


@writes("matrix_exp")
def _matrix_exp(w: Writer, t: Term) -> Piece:
    return function(kind_of(t.shape), operator("expm"), text_of(exact(w, t.args[0])))


@writes("sqrtm")
def _root_of_matrix(w: Writer, t: Term) -> Piece | None:
    """A^(1/2)."""
    if t.ndim != 2:
        return None
    a = exact(w, t.args[0])
    base = closed((text_of(a), a.level if a.bare else MUL), ATOM)
    return Piece("m", rf"{base}^{{1/2}}", POWER) if kind_of(t.shape) == "m" else None


@writes("svd_u", "svd_vh", "svdvals", "eigh_vectors")
def _spectrum(w: Writer, t: Term) -> Piece | None:
    """Singular vectors svdu(X) and svdv(X), and eigenvectors, as columns; of X with fewer rows, by their own names."""
    x = t.args[0]
    if x.ndim != 2 or t.params.get("k", x.shape[1]) != x.shape[1]:
        return None
    if t.op.name != "svd_vh":
        name = {"svd_u": "svdu", "eigh_vectors": "eigvec"}.get(t.op.name, t.op.name)
        return function(kind_of(t.shape), operator(name), text_of(exact(w, x)))
    made = function(kind_of(t.shape), operator("svdv"), text_of(exact(w, x)))
    if x.complex_dtype and w.taken("H"):
        return None
    return _adjoint(made) if x.complex_dtype else transposed(made)


def _adjoint(a: Piece) -> Piece:
    return a.replaced(core=rf"{closed((a.core, a.level), ATOM)}^{{H}}", level=POWER, ratio=None)


@writes("tril", "triu")
def _triangle(w: Writer, t: Term) -> Piece:
    k = t.params["k"]
    name = operator(t.op.name) + (rf"_{{{k}}}" if k else "")
    return function(kind_of(t.shape), name, text_of(exact(w, t.args[0])))


@writes("matrix_power")
def _matrix_power(w: Writer, t: Term) -> Piece | None:
    if t.ndim != 2:
        return None
    w.closing(t.args[0])
    a, n = w.operand(t.args[0]), t.params["n"]
    if a.kind == "s":
        return power(a, Fraction(n))
    return Piece("m", rf"{closed((text_of(a), a.level), ATOM)}^{{{n}}}", POWER)


@writes("logdet", "logabsdet")
def _logdet(w: Writer, t: Term) -> Piece | None:
    if t.args[0].ndim != 2:
        return None
    w.closing(t.args[0])
    inner = r"\det" + brackets(text_of(w.operand(t.args[0])))
    if t.op.name == "logdet":
        return Piece("s", r"\log " + inner, OPEN)
    return Piece("s", rf"\log \left|{inner}\right|", OPEN)


@writes("solve")
def _solve(w: Writer, t: Term) -> Piece | None:
    x, y = t.args
    if x.ndim != 2 or y.ndim > 2:
        return None
    a, b = w.operand(x), w.operand(y)
    if a.kind == "s":
        return pieces.quotient(b, a)
    base = closed((a.core, a.level), ATOM)
    inverse = Piece("m", rf"{base}^{{-1}}", POWER)
    if a.flip is not None and a.level == POWER and a.core.endswith(r"^{\top}"):
        inverse = Piece("m", rf"{closed(a.flip, ATOM)}^{{-\top}}", POWER)
    lead = Piece("s", coef=a.coef, top=a.top, bottom=a.bottom)
    if b.kind == "s":
        return pieces.quotient(pieces.product(b, inverse), lead)
    return pieces.quotient(pieces.matrix_product(kind_of(t.shape), inverse, b), lead)


@writes("norm")
def _norm(w: Writer, t: Term) -> Piece | None:
    x, p = t.args[0], t.params["p"]
    if x.ndim == 2 and 1 <= p == p // 1 < math.inf and t.params["dim"] in ((0,), (1,)) and not t.params["keepdim"]:
        return _norms(w, t)
    if x.ndim > 2:
        return root_of_squares(w, t)
    if t.params["dim"] != tuple(range(x.ndim)):
        return None
    w.closing(x)
    a = w.operand(x)
    if p == 2:
        return Piece("s", _between_bars(text_of(a)) + ("_{F}" if a.kind == "m" else ""))
    order = text_of(pieces.number_piece(int(p) if p == p // 1 and math.isfinite(p) else p))
    return Piece("s", rf"{_between_bars(text_of(_vec(a) if a.kind == 'm' else a))}_{{{order}}}")


def _between_bars(text: str) -> str:
    """The signs of a norm, as high as a fraction in it."""
    left, right = (r"\left", r"\right") if r"\frac" in text else ("", "")
    return rf"{left}\lVert {text} {right}\rVert"


def _norms(w: Writer, t: Term) -> Piece | None:
    """The norms of rows or columns, as roots of sums of powers."""
    x, p = t.args[0], int(t.params["p"])
    if x.dtype is None or kind_of(x.shape) != "m":
        return None
    w.closing(x)
    a = w.operand(x)
    if p % 2 == 0 and x.dtype.kind == "c":
        return None
    parts = a if p % 2 == 0 else Piece("m", rf"\left|{text_of(a)}\right|")
    ones = w.ones("c", x.shape[1:] if t.params["dim"] == (1,) else x.shape[:1])
    parts = power(parts, Fraction(p))
    sums = pieces.matrix_product("c", parts if t.params["dim"] == (1,) else transposed(parts), ones)
    return power(sums, Fraction(1, p))


def _vec(columns: Piece) -> Piece:
    """The columns of a matrix, one below the other (Magnus and Neudecker, 1988)."""
    return function("c", operator("vec"), text_of(columns))


@writes("middle")
def _median(w: Writer, t: Term) -> Piece:
    """That of all entries, whatever their axes are."""
    x = t.args[0].args[0] if t.args[0].op.name == "reshape" else t.args[0]
    w.write(x)
    return function("s", operator("nanmedian" if t.params["skip_nan"] else "median"), text_of(exact(w, x)))


@writes("logsumexp", "amax", "amin")
def _reduced(w: Writer, t: Term) -> Piece | None:
    x, axes = t.args[0], t.params["dim"]
    if t.params["keepdim"] and kind_of(t.shape) == "t":
        return None
    name = t.op.name
    w.closing(t.args[0])
    if name == "logsumexp":
        if axes != (x.ndim - 1,) or (x.ndim > 1 and kind_of(x.shape) != "m"):
            return None
        return function(kind_of(t.shape), operator(name), text_of(exact(w, x)))
    if axes != tuple(range(x.ndim)):
        return extreme_of_entries(w, t)
    return function(kind_of(t.shape), r"\max" if name == "amax" else r"\min", text_of(w.operand(x)))


@writes("reshape")
def _reshape(w: Writer, t: Term) -> Piece | None:
    """A ⊗ B, which every other product has in brackets; a matrix read row by row as vec of its transpose."""
    pair = sides(t)
    if pair is None and kind_of(t.args[0].shape) == "m" and kind_of(t.shape) == "c":
        return _vec(transposed(exact(w, t.args[0])))
    if pair is None or not all(kind_of(x.shape) == "m" for x in pair):
        return in_order(w, t)
    left, right = pair
    w.closing(left)
    w.closing(right)
    return pieces.cross(w.operand(left), w.operand(right), "m", r"\otimes")


# ---------------------------------------------------------------------------------------------- indexing


@writes("getitem")
def _getitem(w: Writer, t: Term) -> Piece:
    index = t.params["index"].value
    if t.args[0].op.name == "eye" and isinstance(index, tuple) and len(index) == 2 and index[0] == slice(None):
        place = index[1]
        if isinstance(place, int) and not isinstance(place, bool):
            return unit_vector(t.shape[0], place)
    rows = t.args[0].op.name == "select" and _of_rows(t.params["index"], t.args[0].ndim)
    if rows:
        return _places(w, t, t.args[0], rows)
    return _indexed(w, t, index_tex(t.params["index"], [text_of(exact(w, a)) for a in t.args[1:]]))


def _of_rows(index: Index, ndim: int) -> list[str] | None:
    """What an index of places and ranges says of each axis; None for others."""
    if not all(isinstance(p, (int, slice)) and not isinstance(p, bool) for p in index.parts):
        return None
    return [index_tex(Index(p))[1:-1] for p in index.parts] + [":"] * (ndim - len(index.parts))


@writes("narrow", "select")
def _range(w: Writer, t: Term) -> Piece:
    """Places along some axes, one index for all of them: the entry of a row is that of the matrix."""
    return _places(w, t, t, [":"] * t.ndim)


def _places(w: Writer, t: Term, chosen: Term, rest: Sequence[str]) -> Piece:
    """Entries or ranges of ``chosen``, and ``rest``: what is said of the axes that it has left."""
    found = [chosen]
    while found[-1].args[0].op.name == chosen.op.name and not _has_axis(found, found[-1].args[0].params["dim"]):
        found.append(found[-1].args[0])
    whole = found[-1].args[0]
    parts, left = [":"] * whole.ndim, list(range(whole.ndim))
    for one in reversed(found):
        if chosen.op.name == "select":
            parts[left.pop(one.params["dim"])] = str(one.params["index"])
        else:
            parts[one.params["dim"]] = _ends(one)
    if chosen.op.name == "select":
        for axis, text in zip(left, rest, strict=True):
            parts[axis] = text
    return _indexed(w, t, f"[{', '.join(parts)}]", whole)


def _has_axis(ranges: Sequence[Term], axis: int) -> bool:
    """Whether one of some ranges is one of this axis; of entries each takes its axis away."""
    return any(t.op.name == "narrow" and t.params["dim"] == axis for t in ranges)


def _ends(t: Term) -> str:
    """The ends of a range, but for those of the axis."""
    start, length = t.params["start"], t.params["length"]
    stop = total_size((start, length))
    first = "" if start == 0 else size_tex(start)
    return f"{first}:{'' if stop == t.args[0].shape[t.params['dim']] else size_tex(stop)}"


def _indexed(w: Writer, t: Term, index: str, whole: Term | None = None) -> Piece:
    a = exact(w, t.args[0] if whole is None else whole)
    text = text_of(a)
    plain = "_" not in text and "^" not in text
    call = text.startswith(r"\operatorname") and text.endswith(r"\right)")
    base = text if a.bare and a.level == ATOM and (plain or call) else brackets(text)
    return Piece(kind_of(t.shape), rf"{base}_{{{index}}}")


# ---------------------------------------------------------------------------------------------- index notation


@writes("einsum")
def _einsum(w: Writer, t: Term) -> Piece | None:
    inputs, output = t.params["inputs"], t.params["output"]
    if inputs == ((0,),) and output == (0, 0) and t.args[0].ndim == 1 and kind_of(t.args[0].shape) == "c":
        return diagonal_matrix(w, w.operand(t.args[0]))
    if not set(output) <= set().union(*map(set, inputs)):
        return _spread(w, t)
    return index_notation(w, t)


def _spread(w: Writer, t: Term) -> Piece | None:
    """A contraction that also broadcasts: the contraction, then the broadcast."""
    inputs, output = t.params["inputs"], t.params["output"]
    known = set().union(*map(set, inputs))
    kept = tuple(x for x in dict.fromkeys(output) if x in known)
    if len(set(output)) < len(output):
        return None
    if len(output) > 2:
        # Indices stay integers only where nothing is multiplied by ones.
        return index_notation(w, t) if all(inputs) and t.dtype is not None and is_floating(t.dtype) else None
    sizes = tuple(t.shape[output.index(x)] for x in kept)
    made = t.op(*t.args, inputs=inputs, output=kept, shape=sizes)
    for axis, label in enumerate(output):
        if label not in known:
            made = lookup("unsqueeze")(made, dim=axis)
    return w.write(lookup("expand")(made, shape=t.shape))


writes("cumprod")(products_without_own)
writes("prod", "prod_others")(product_of_entries)

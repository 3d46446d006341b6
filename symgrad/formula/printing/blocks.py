r"""Arrays put together from blocks: ``\begin{bmatrix} x \\ y \end{bmatrix}`` for a column of parts, and how it is read.

Zeros around a part are the transpose of a slice: the derivative of ``x[1:]`` is ``[0; g]``.  That of ``x[::2]`` is
``\left(I_{n}\right)_{[::2]}^{\top} g``, a product with the rows of the identity that the index names.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from symgrad.formula.printing.calls import exact, index_tex, unit_vector, writes
from symgrad.formula.printing.latex import Writer, kind_of
from symgrad.formula.printing.pieces import (
    ATOM,
    POWER,
    Piece,
    brackets,
    matrix_product,
    number_piece,
    product,
    text_of,
    transposed,
)
from symgrad.formula.printing.sizes import size_tex
from symgrad.formula.reading.values import Value, op, value_of
from symgrad.formula.term import Term, full
from symgrad.op import lookup
from symgrad.ops.indexing.getitem import Index
from symgrad.ops.shapes.sizes import total_size

MOST_NUMBERS = 36
"""Entries of a constant that are written one by one."""

MOST_ZEROS = 3
"""Rows of zeros that are written one by one."""


def _framed(kind: str, rows: Sequence[Sequence[str]]) -> Piece:
    body = r" \\ ".join(" & ".join(row) for row in rows)
    return Piece(kind, rf"\begin{{bmatrix}} {body} \end{{bmatrix}}", ATOM)


def _plain(w: Writer, *blocks: Term) -> bool:
    """Whether blocks are columns and matrices whose texts tell their sizes; zeros do so beside others."""
    rest = [b for b in blocks if not _is_zero(b) and b.shape]
    sized = all(kind_of(b.shape) in "cm" and not w.open[b] for b in rest)
    return bool(rest) and sized and not any(1 in b.shape for b in rest)


def _is_zero(t: Term) -> bool:
    return t.op.name == "full" and t.params["value"] == 0 and t.dtype == "float64"


def few_numbers(value: Any) -> str | None:
    """A number, column or matrix, entry by entry; None for more entries than a reader takes in, or more axes."""
    array = np.asarray(value)
    if array.ndim > 2 or not 0 < array.size <= MOST_NUMBERS or array.dtype.kind not in "biufc":
        return None
    texts = [text_of(number_piece(_exact_value(x))) for x in array.flat]
    if not array.ndim:
        return texts[0]
    wide = array.shape[1] if array.ndim == 2 else 1
    return text_of(_framed("m", [texts[k : k + wide] for k in range(0, len(texts), wide)]))


def _exact_value(x: Any) -> Any:
    """An entry in the fewest digits that its dtype has; a whole number as one."""
    if x.dtype.kind == "c" and x.imag:
        return complex(x)
    value = float(str(x.real)) if x.dtype.kind in "fc" else int(x)
    return int(value) if abs(value) < 2**53 and value == int(value) else value


@writes("cat")
def _joined(w: Writer, t: Term) -> Piece | None:
    if t.ndim > 2 or not _plain(w, *(_line_of(w, a, t.params["dim"]) for a in t.args)):
        return None
    if t.params["dim"] == 1:
        return _framed("m", [_row(w, t)])
    wide = {len(a.args) if a.op.name == "cat" and a.params["dim"] == 1 and _plain(w, *a.args) else 0 for a in t.args}
    if len(wide) == 1 and wide != {0}:
        return _framed("m", [_row(w, a) for a in t.args])
    return _framed(kind_of(t.shape), [[text] for text in _row(w, t)])


def _row(w: Writer, t: Term) -> list[str]:
    dim = t.params["dim"]
    return [_zero(a.shape[dim]) if _is_zero(a) else _block_text(w, a, dim) for a in t.args]


def _block_text(w: Writer, t: Term, dim: int) -> str:
    line = _line_of(w, t, dim)
    return text_of(exact(w, line) if line is t or dim or not line.shape else transposed(exact(w, line)))


def _line_of(w: Writer, t: Term, dim: int) -> Term:
    """The column or row that a matrix of one is, or the number of one entry, as which blocks are written."""
    if t.shape == (1,) and t.op.name in ("unsqueeze", "reshape") and not t.args[0].shape:
        return t.args[0]
    if t.ndim != 2 or t.shape[dim] != 1 or t.shape[1 - dim] == 1:
        return t
    line = t.args[0] if t.op.name == "unsqueeze" and t.args[0].ndim == 1 else lookup("squeeze")(t, dim=(dim,))
    w.write(line)
    return line


def _zero(count: Any) -> str:
    """So many rows or columns of zeros, as one block."""
    return "0" if count == 1 else rf"\mathbf{{0}}_{{{size_tex(count)}}}"


@writes("stack")
def _stacked(w: Writer, t: Term) -> Piece | None:
    """A column or matrix of numbers, entry by entry, or of columns and rows."""
    cells = _cells(w, t)
    if cells is None or (t.ndim == 2 and len(cells[0]) == len(cells) == 1):
        return None
    return _framed(kind_of(t.shape), cells)


def _cells(w: Writer, t: Term) -> list[list[str]] | None:
    """The numbers, columns or rows that were stacked, as they stand in brackets; None for other arrays."""
    if t.op.name != "stack" or t.ndim > 2 or len(t.args) < 2:
        return None
    dim, (first, *_) = t.params["dim"], t.args
    rows = [a.args if a.op.name == "stack" else (a,) for a in t.args]
    if dim == 0 and not any(x.shape for row in rows for x in row):
        return None if t.ndim == 2 and len(rows[0]) < 2 else [[text_of(exact(w, x)) for x in row] for row in rows]
    if first.ndim != 1 or not _plain(w, *t.args) or any(_is_zero(a) for a in t.args):
        return None
    if dim == 1:
        return [[text_of(exact(w, a)) for a in t.args]]
    return [[text_of(transposed(exact(w, a)))] for a in t.args]


@writes("embed")
def _embedded(w: Writer, t: Term) -> Piece | None:
    """What stands in a range, as if it were put there."""
    axis, start, (x,) = t.params["dim"], t.params["start"], t.args
    if isinstance(start, str) or isinstance(x.shape[axis], str) or isinstance(t.shape[axis], str):
        return None
    part = slice(start or None, None if start + x.shape[axis] == t.shape[axis] else start + x.shape[axis])
    return _put_there(w, t, Index((*[slice(None)] * axis, part)))


@writes("pad")
def _bordered(w: Writer, t: Term) -> Piece | None:
    """What stands between zeros, as if it were put there; other numbers around a column are blocks of their own."""
    (x,), widths, value = t.args, t.params["widths"], t.params["value"]
    if value == 0:
        middle = Index(tuple(slice(before or None, -after or None) for before, after in widths))
        return _put_there(w, t, middle)
    if t.ndim != 1 or kind_of(x.shape) != "c" or w.open[x]:
        return None
    above, below = (_repeated(value, count) for count in widths[0])
    return _framed("c", [[text] for text in (*above, text_of(exact(w, x)), *below)])


def _put_there(w: Writer, t: Term, index: Index) -> Piece | None:
    """A term as its argument, put at an index among zeros; of zeros there are zeros, which are no such term."""
    made = lookup("put")(t.args[0], index=index, shape=t.shape)
    return _placed(w, made) if made.op.name == "put" else None


def _repeated(value: Any, count: int) -> list[str]:
    """So many equal numbers among blocks: one by one where they are few."""
    one = number_piece(_exact_value(np.asarray(value)))
    few = [text_of(one)] * count
    return few if count <= MOST_ZEROS else [text_of(product(one, Piece("c", rf"\mathbf{{1}}_{{{count}}}", ATOM)))]


@writes("put")
def _placed(w: Writer, t: Term) -> Piece | None:
    """A unit vector, a column of blocks in which the values stand, or the rows of the identity that an index names."""
    index = t.params["index"]
    parts = _along_axes(index, t.ndim)
    if parts is None or t.ndim > 2 or 1 in t.shape:
        return None
    if t.ndim == 1 and t.args[0].number == 1 and isinstance(parts[0], int):
        return unit_vector(t.shape[0], parts[0])
    cut = [axis for axis, p in enumerate(parts) if not _is_whole(p)]
    x = t.args[0]
    if len(cut) != 1:
        return None if index.holes or not all(isinstance(p, slice) for p in parts) else _placed_twice(w, t, parts)
    ends = _zeros_around(parts[cut[0]], t.shape[cut[0]])
    told = not w.open[x] or (ends is None and x.ndim == 1)  # ones are as many as there are rows of the identity
    if kind_of(x.shape) not in "cm" or 1 in x.shape or x.ndim != t.ndim or not told:
        return None
    if ends is not None:
        cells = _cells(w, x) or [[]]
        if min(len(cells), len(cells[0])) > 1:
            return _among_zeros(cells, *((0, 0) if axis != cut[0] else ends for axis in (0, 1)))
        along = cells[0] if cut[0] else [cell for row in cells for cell in row if len(row) == 1]
        blocks = [*_zeros(ends[0]), *(along or [text_of(exact(w, x))]), *_zeros(ends[1])]
        return _framed(kind_of(t.shape), [blocks] if cut[0] else [[b] for b in blocks])
    places = [index_tex(Index(p), [text_of(exact(w, a)) for a in t.args[1:]]) for p in parts if not _is_whole(p)]
    rows = rf"{brackets(rf'I_{{{size_tex(t.shape[cut[0]])}}}')}_{{{places[0]}}}"
    chosen = Piece("m", rows, flip=(rf"{rows}^{{\top}}", POWER))
    values = w.operand(x)
    return matrix_product("m", values, chosen) if cut[0] else matrix_product(values.kind, transposed(chosen), values)


def _along_axes(index: Index, ndim: int) -> list[Any] | None:
    """What an index says of each axis, in order; None where it adds axes or has a mask of several."""
    several = (p is None or isinstance(p, bool) or (hasattr(p, "ndim") and p.ndim != 1) for p in index.parts)
    if any(several):
        return None
    parts: list[Any] = []
    for p in index.parts:
        parts += [slice(None)] * (ndim - len(index.parts) + 1) if p is Ellipsis else [p]
    return parts + [slice(None)] * (ndim - len(parts))


def _is_whole(part: Any) -> bool:
    return isinstance(part, slice) and part == slice(None)


def _placed_twice(w: Writer, t: Term, parts: Sequence[Any]) -> Piece:
    """Values among zeros along both axes: one matrix of blocks, or one axis after the other."""
    ends = [_zeros_around(part, size) for part, size in zip(parts, t.shape, strict=True)]
    around = [pair for pair in ends if pair is not None]
    cells = _cells(w, t.args[0])
    whole = cells is None or len(cells[0]) == 1
    if len(around) == 2 and not (whole and any("0" not in _zeros(n) for pair in around for n in pair if n)):
        return _among_zeros([[text_of(exact(w, t.args[0]))]] if cells is None or whole else cells, *around)
    first, second = (Index((parts[0],)), Index((slice(None), parts[1])))
    rows = t.args[0].shape[0]
    inner = t.op(t.args[0], index=second, shape=(rows, t.shape[1]))
    return w.write(t.op(inner, index=first, shape=t.shape))


def _among_zeros(cells: list[list[str]], rows: tuple[Any, Any], columns: tuple[Any, Any]) -> Piece:
    """A matrix of numbers, entry by entry, with so many zeros above and below, on the left and on the right of it."""
    before, after = (_zeros(count) for count in columns)
    wide = [[*before, *row, *after] for row in cells]
    above, below = (_rows_of_zeros(count, wide, before, after) for count in rows)
    return _framed("m", [*above, *wide, *below])


def _rows_of_zeros(count: Any, rows: list[list[str]], before: list[str], after: list[str]) -> list[list[str]]:
    """So many rows of zeros above or below numbers: each entry by entry, or all as blocks."""
    inner = len(rows[0]) - len(before) - len(after)
    return [[*before, *["0"] * inner, *after] if zero == "0" else [zero] * len(rows[0]) for zero in _zeros(count)]


def _zeros_around(part: Any, size: Any) -> tuple[Any, Any] | None:
    """How many zeros stand before and after the values of a range of an axis."""
    if not isinstance(part, slice) or part.step not in (None, 1):
        return None
    start, stop = part.start or 0, part.stop
    before = start if start >= 0 else total_size([size, start])
    after = 0 if stop is None else -stop if stop < 0 else total_size([size, stop], (1, -1))
    return before, after


def _zeros(count: Any) -> list[str]:
    """Zeros as a block: written one by one where they are few."""
    few = isinstance(count, int) and count <= MOST_ZEROS
    return ["0"] * count if few else [_zero(count)]


def read_blocks(r: Any) -> Value:
    """The rows of blocks up to the end of the environment; a 0 beside columns or matrices is one row of zeros."""
    rows: list[list[Any]] = [[]]
    while True:
        rows[-1].append(r.condition())
        if r.tokens.found(r"\end{bmatrix}"):
            break
        if r.tokens.found(r"\\"):
            rows.append([])
        else:
            r.tokens.expect("&")
    return of_blocks(r, rows)


def of_blocks(r: Any, rows: list[list[Any]]) -> Value:
    """The array of rows of blocks."""
    if len(rows) == len(rows[0]) == 1:
        return value_of(r.plain(rows[0][0]))
    if len(rows) > 1 and all(getattr(x, "kind", None) == "s" for row in rows for x in row):
        columns = [row[0].term if len(row) == 1 else op("stack", *(x.term for x in row), dim=0) for row in rows]
        return value_of(op("stack", *columns, dim=0))
    if all(getattr(x, "kind", None) in ("s", "zeros") for row in rows for x in row):
        return value_of(_numbers_and_zeros(r, rows))
    if len(rows) == 1:
        return value_of(_joined_blocks(r, rows[0], 1))
    if any(len(row) > 1 for row in rows):
        found = [None if _is_row_of_zeros(row) else _joined_blocks(r, row, 1) for row in rows]
        wide = next((t for t in found if t is not None), None)
        if wide is None:
            raise r.tokens.error("a matrix of blocks needs at least one array")
        zeros = full((1, *wide.shape[1:]), 0, wide.dtype)
        return value_of(op("cat", *(zeros if t is None else t for t in found), dim=0))
    return value_of(_joined_blocks(r, [v for (v,) in rows], 0))


def _is_row_of_zeros(row: Sequence[Any]) -> bool:
    """Whether a row of a matrix of blocks is one row of zeros."""
    return all(getattr(getattr(x, "term", None), "number", None) == 0 for x in row)


class Zeros:
    """As many rows or columns of zeros as the block says."""

    kind = "zeros"

    def __init__(self, size: Any):
        self.size = size


def _numbers_and_zeros(r: Any, rows: Sequence[Sequence[Any]]) -> Term:
    """Numbers entry by entry, with zeros around them that say how many they are."""
    if len(rows[0]) == 1:
        return _line(x for (x,) in rows)
    lines = [None if all(isinstance(x, Zeros) for x in row) else _line(row) for row in rows]
    wide = next((t for t in lines if t is not None), None)
    if wide is None:
        raise r.tokens.error("a matrix of blocks needs at least one array")
    parts = [
        full((row[0].size, *wide.shape), 0, wide.dtype) if t is None else op("unsqueeze", t, dim=0)
        for row, t in zip(rows, lines, strict=True)
    ]
    return op("cat", *parts, dim=0)  # type: ignore[no-any-return]


def _line(cells: Iterable[Any]) -> Term:
    """Numbers and zeros in a line, as a vector."""
    parts = [full((x.size,), 0, "float64") if isinstance(x, Zeros) else op("stack", x.term, dim=0) for x in cells]
    return parts[0] if len(parts) == 1 else op("cat", *parts, dim=0)


def _joined_blocks(r: Any, blocks: Sequence[Any], dim: int) -> Term:
    """Blocks side by side; a number among columns is one entry, and a 0 among matrices one row or column of zeros."""
    parts = [b if isinstance(b, Zeros) else _as_block(r.plain(b), b.kind, dim) for b in blocks]
    like = next((p for p in parts if isinstance(p, Term) and p.ndim), None)
    if like is None or like.ndim <= dim:
        raise r.tokens.error("a column of blocks needs at least one array")
    return op("cat", *(_block(p, like, r, dim) for p in parts), dim=dim)  # type: ignore[no-any-return]


def _as_block(term: Term, kind: str, dim: int) -> Term:
    """A vector among blocks side by side is a column, and a row on top of others is one of a matrix."""
    if term.ndim != 1 or (dim == 0 and kind != "r"):
        return term
    return op("unsqueeze", term, dim=dim)  # type: ignore[no-any-return]


def _block(part: Any, like: Term, r: Any, dim: int) -> Term:
    if isinstance(part, Term) and part.ndim:
        return part
    if isinstance(part, Term) and part.number != 0:
        if like.ndim == 1:
            return op("unsqueeze", part, dim=0)  # type: ignore[no-any-return]
        raise r.tokens.error("a number among matrices can only be 0")
    size = part.size if isinstance(part, Zeros) else 1
    return full((*like.shape[:dim], size, *like.shape[dim + 1 :]), 0, like.dtype)

r"""Arrays put together from blocks: ``\begin{bmatrix} x \\ y \end{bmatrix}`` for a column of parts, and how it is read.

Zeros around a part are the transpose of a slice: the derivative of ``x[1:]`` is ``[0; g]``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from symgrad.formula.printing.calls import exact, unit_vector, writes
from symgrad.formula.printing.latex import Writer, kind_of
from symgrad.formula.printing.pieces import ATOM, Piece, matrix_product, product, text_of, transposed
from symgrad.formula.reading.values import Value, op, value_of
from symgrad.formula.term import Term, full

MOST_ZEROS = 3
"""Rows of zeros that are written one by one."""


def _framed(kind: str, rows: Sequence[Sequence[str]]) -> Piece:
    body = r" \\ ".join(" & ".join(row) for row in rows)
    return Piece(kind, rf"\begin{{bmatrix}} {body} \end{{bmatrix}}", ATOM)


def _plain(w: Writer, *blocks: Term) -> bool:
    """Whether blocks are columns and matrices whose texts tell their sizes."""
    return all(kind_of(b.shape) in "cm" and not w.open[b] and 1 not in b.shape for b in blocks)


@writes("cat")
def _joined(w: Writer, t: Term) -> Piece | None:
    if t.ndim > 2 or not _plain(w, *t.args):
        return None
    if t.params["dim"] == 1:
        return _framed("m", [_row(w, t)])
    wide = {len(a.args) if a.op.name == "cat" and a.params["dim"] == 1 and _plain(w, *a.args) else 0 for a in t.args}
    if len(wide) == 1 and wide != {0}:
        return _framed("m", [_row(w, a) for a in t.args])
    return _framed(kind_of(t.shape), [[text_of(exact(w, a))] for a in t.args])


def _row(w: Writer, t: Term) -> list[str]:
    return [text_of(exact(w, a)) for a in t.args]


@writes("put")
def _placed(w: Writer, t: Term) -> Piece | None:
    """A number at one place, or a row or column of a matrix, with unit vectors."""
    index = t.params["index"].value
    index = index if isinstance(index, tuple) else (index,)
    places = [*index, *[slice(None)] * (t.ndim - len(index))]
    fixed = [axis for axis, k in enumerate(places) if isinstance(k, int) and not isinstance(k, bool)]
    if (
        t.ndim > 2
        or 1 in t.shape
        or not fixed
        or any(k != slice(None) for axis, k in enumerate(places) if axis not in fixed)
    ):
        return _padded(w, t)
    x = t.args[0]
    w.closing(x)
    units = [unit_vector(t.shape[axis], places[axis]) for axis in fixed]
    if t.ndim == 1:
        return product(w.images[x], units[0])
    if len(fixed) == 2:
        return product(w.images[x], matrix_product("m", units[0], transposed(units[1])))
    sides = (w.images[x], transposed(units[0])) if fixed == [1] else (units[0], transposed(w.images[x]))
    return matrix_product("m", *sides)


def _padded(w: Writer, t: Term) -> Piece | None:
    """A vector, or the rows of a matrix, with a few zeros before and after."""
    x, ends = t.args[0], padding(t)
    if ends is None or sum(ends) > MOST_ZEROS or not _plain(w, x):
        return None
    return _framed(kind_of(t.shape), [["0"]] * ends[0] + [[text_of(exact(w, x))]] + [["0"]] * ends[1])


def padding(t: Term) -> tuple[int, int] | None:
    """Zeros before and after the values of a ``put`` along its first axis."""
    index = t.params["index"].value
    index = index[0] if isinstance(index, tuple) and len(index) == 1 else index
    if not isinstance(index, slice) or index.step not in (None, 1) or not 0 < t.ndim < 3:
        return None
    start, stop, size = index.start or 0, index.stop, t.shape[0]
    after = 0 if stop is None else -stop if stop < 0 else size - stop if isinstance(size, int) else -1
    return (start, after) if start >= 0 <= after else None


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
    if len(rows) == len(rows[0]) == 1:
        return value_of(r.plain(rows[0][0]))
    if len(rows) == 1:
        return value_of(op("cat", *(r.plain(v) for v in rows[0]), dim=1))
    if any(len(row) > 1 for row in rows):
        return value_of(op("cat", *(op("cat", *(r.plain(v) for v in row), dim=1) for row in rows), dim=0))
    parts = [r.plain(v) for (v,) in rows]
    like = next((p for p in parts if p.ndim), None)
    if like is None:
        raise r.tokens.error("a column of blocks needs at least one array")
    return value_of(op("cat", *(_row_of(p, like, r) for p in parts), dim=0))


def _row_of(part: Term, like: Term, r: Any) -> Term:
    if part.ndim:
        return part
    if part.number != 0:
        raise r.tokens.error("a number among blocks can only be 0")
    return full((1, *like.shape[1:]), 0, like.dtype)

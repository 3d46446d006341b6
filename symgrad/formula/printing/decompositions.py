r"""Singular vectors and eigenvectors under the names of a textbook: ``X = U \operatorname{diag}(\sigma) V^{\top}``.

A formula such as U Vᵀ then stands below a line that says what its letters are; the line is read back by its note.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from symgrad.formula.printing.names import bolded, texts
from symgrad.formula.reading.atoms import word
from symgrad.formula.reading.values import op
from symgrad.formula.term import SYMBOL, Term, make, postorder, rebuilt
from symgrad.op import TABLE

NOTES = ("SVD", "eigenvalues")


class Decomposition(NamedTuple):
    """A matrix, the kind of its decomposition, and the names of left vectors, values and right vectors."""

    matrix: Term
    note: str
    left: str
    values: str
    right: str


def decomposed(term: Term) -> tuple[Term, list[Decomposition]]:
    """The formula over symbols for singular and eigenvectors, and what they decompose."""
    order = postorder([term])
    found: dict[tuple[Term, str], set[str]] = {}
    for t in order:
        if t.op.decomposes and _plain(t):
            found.setdefault((t.args[0], t.op.decomposes[0]), set()).add(t.op.name)
    taken = {t.params["name"] for t in order if t.op is SYMBOL}
    lines: list[Decomposition] = []
    images: dict[Term, Term] = {}
    for (x, note), names in found.items():
        if any(a in images for a in postorder([x])) or not names - {"svdvals", "eigvalsh"}:
            continue  # values alone keep their function, and so do decompositions inside of each other
        own = {name: _free(letter, taken) for name, letter in _letters(note).items()}
        taken |= set(own.values())
        vectors = own["svd_u" if note == "SVD" else "eigh_vectors"]
        values = own["svdvals" if note == "SVD" else "eigvalsh"]
        lines.append(Decomposition(x, note, vectors, values, own.get("svd_vh", vectors)))
        images |= {t: _named(t, own[t.op.name]) for t in order if t.op.name in names and t.args[0] is x and _plain(t)}
    if not lines:
        return term, []

    def change(t: Term, args: tuple[Any, ...]) -> Term:
        if t in images:
            return images[t]
        if t.op.name == "select" and args[0].op.name == "permute" and args[0].params["dims"] == (1, 0):
            # A row of Vᵀ is a column of V.
            return op("select", args[0].args[0], dim=1 - t.params["dim"], index=t.params["index"])  # type: ignore[no-any-return]
        return t.with_args(args)

    return rebuilt([term], change)[0], lines


def _letters(note: str) -> dict[str, str]:
    """The parts of a kind of decomposition, with their letters."""
    return {op.name: op.decomposes[1] for op in TABLE.values() if op.decomposes and op.decomposes[0] == note}


def _plain(t: Term) -> bool:
    """Whether a decomposition is one of a real matrix with as many columns as values."""
    x = t.args[0]
    real = x.dtype is not None and x.dtype.kind == "f"
    return real and x.ndim == 2 and t.params.get("k", x.shape[1]) == x.shape[1] and 1 not in x.shape


def _free(letter: str, taken: set[str]) -> str:
    names = [letter, *(f"{letter}{k}" for k in range(1, len(taken) + 2))]
    shown = set(texts(taken).values())
    return next(n for n in names if n not in taken and texts([n])[n] not in shown)


def _named(t: Term, name: str) -> Term:
    if t.op.name == "svd_vh":
        return op("permute", _named(op("permute", t, dims=(1, 0)), name), dims=(1, 0))  # type: ignore[no-any-return]
    return make(SYMBOL, (), {"name": name}, t.shape, t.dtype or np.dtype(float))


def line(d: Decomposition, names: dict[str, str], bold: bool = False) -> str:
    """The right side of the line."""
    u, s, v = (bolded(names[n]) if bold else names[n] for n in (d.left, d.values, d.right))
    return rf"{u} \operatorname{{diag}}\left({s}\right) {v}^{{\top}} \quad \text{{({d.note})}}"


def names_of(lines: Iterable[Decomposition]) -> list[str]:
    """All names that the lines bring in."""
    return [n for d in lines for n in (d.left, d.values, d.right)]


def parts(note: str, x: Term) -> tuple[Term, Term, Term]:
    """The left vectors, the values and the right vectors of a matrix."""
    if note == "SVD":
        k = x.shape[-1]
        rows = op("svd_vh", x, k=k)
        return op("svd_u", x, k=k), op("svdvals", x, k=k), op("permute", rows, dims=(1, 0))
    vectors = op("eigh_vectors", x)
    return vectors, op("eigvalsh", x), vectors


def read_line(r: Any, x: Term) -> None:
    """Define the names of a line after its ``=``; the reader stands behind the line afterwards."""
    start = r.tokens.at
    texts_before = [i[1] for i in r.tokens.items[start:]]
    diag = next(k for k, text in enumerate(texts_before) if text == r"\operatorname{diag}")
    close = texts_before.index(")", diag)
    up = texts_before.index("^", close)
    note_at = next(k for k, (kind, _, _) in enumerate(r.tokens.items[start:]) if kind == "word" and k > up)
    places = ((0, diag), (diag + 2, close), (close + 1, up))
    note = word(texts_before[note_at]).strip("()")
    for (a, b), part in zip(places, parts(note, x), strict=True):
        first, after = (r.tokens.items[start + k][2] for k in (a, b))
        r.define(r.tokens.text[first:after].strip(), part)
    r.tokens.at = start + note_at + 1

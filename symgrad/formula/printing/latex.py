r"""LaTeX of formulas.

Vectors are columns.  Precedence, loosest first: ``+ -``, ``\odot`` and ``\oslash``, products by juxtaposition,
superscripts.  ``\mathbf{1}`` and ``I`` are the ones vector and the identity of whatever size fits.  What has no matrix
notation is written with indices and sums, and an op without notation of its own as a named function; so any formula
prints, and :mod:`symgrad.formula.reading.tex` reads it back.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from symgrad.errors import FormulaError, FormulaTooDeep
from symgrad.formula.canonical.budget import WRITTEN_OUT, exceeds, outgrows
from symgrad.formula.printing import pieces
from symgrad.formula.printing.decompositions import decomposed, line, names_of
from symgrad.formula.printing.everywhere import numbers_everywhere
from symgrad.formula.printing.examples import per_example, sum_of
from symgrad.formula.printing.kronecker import kronecker_latex
from symgrad.formula.printing.names import bolded, texts
from symgrad.formula.printing.naming import named_parts
from symgrad.formula.printing.pieces import Piece, signed, text_of, transposed
from symgrad.formula.printing.sharing import LINE_SIGNS, signs, worth_a_name
from symgrad.formula.printing.sizes import size_tex
from symgrad.formula.printing.wherelist import CANONICAL_BUDGET, Statements, canonical_or_raw
from symgrad.formula.printing.width import COLUMN, broken, width as width_of, within
from symgrad.formula.structures import declared
from symgrad.formula.term import NUMBER, SIZE, SYMBOL, Term, count, postorder, rebuilt, symbol, symbols
from symgrad.timing import timed

INLINE_SIZE = 150
"""Nodes a formula may have, shared parts written out, before its shared parts get names."""

INLINE_WIDTH = 440.0
"""The widest formula, in points, of which no part gets a name: the line of a page with narrow margins."""

SHARED_WIDTH = 200.0
"""The width, in points, from which a formula gets names for parts that it would print again and again."""

SHARED_GAIN = 0.9
"""The part of its signs that may remain with such names, definitions included."""

STATEMENT_SIZES = (60, 24, 12, 6)
"""What one statement of a where-list may hold; the first size is taken whose lines fit."""

LINES = 24
"""Lines of a where-list that are printed."""


def kind_of(shape: tuple[Any, ...]) -> str:
    """How an array of this shape stands in matrix notation: scalar, column, row, matrix, or tensor."""
    if all(s == 1 and not isinstance(s, str) for s in shape):
        return "s"
    if len(shape) == 1:
        return "c"
    if len(shape) > 2:
        return "t"
    return "r" if shape[0] == 1 else "c" if shape[1] == 1 else "m"


class Writer:
    """Turns terms into pieces, arguments first; one writer per formula, so that names and indices agree."""

    def __init__(self, names: dict[str, str], bold: bool = False, sized: bool = False):
        self.names = names
        self.bold = bold
        self.sized = sized
        self.needs_sizes = False
        self.open: dict[Term, bool] = {}
        self.images: dict[Term, Piece] = {}
        self.within: set[str] = set()
        """Letters of indices in the brackets inside of what is written with indices."""

    def taken(self, text: str) -> bool:
        """Whether a symbol of the formula is written so."""
        return text in self.names.values()

    def sizes_of(self, t: Term) -> set[str]:
        """The size letters in the shapes around a term, which are not used as indices."""
        return {s for x in (t, *t.args) for s in x.shape if isinstance(s, str)}

    def write(self, root: Term) -> Piece:
        """The piece of a term."""
        for t in postorder([root]):
            if t not in self.images:
                self.open[t] = self._is_open(t)
                self.images[t] = self._piece(t)
        return self.images[root]

    def _is_open(self, t: Term) -> bool:
        """Whether nothing in a term's text tells its size: it is made of ones and the identity."""
        name = t.op.name
        if name in ("full", "eye", "expand"):
            return t.ndim > 0 and not self.sized
        if name == "einsum" and not set(t.params["output"]) <= set().union(*map(set, t.params["inputs"])):
            return not self.sized
        if name == "outer":
            return any(self.open[a] for a in t.args)
        if t.op.entrywise or name in ("matmul", "permute", "squeeze", "unsqueeze", "einsum"):
            arrays = [a for a in t.args if a.shape]
            return bool(arrays) and all(self.open[a] for a in arrays) and len(self._shown_axes(t)) < t.ndim
        return False

    def _shown_axes(self, t: Term) -> set[int]:
        """Axes of an array of order three or more whose sizes its text tells."""
        if not self.open.get(t, True):
            return set(range(t.ndim))
        if t.ndim < 3:
            return set()
        if t.op.name == "einsum":
            known = set().union(*map(set, t.params["inputs"]))
            return {k for k, x in enumerate(t.params["output"]) if x in known}
        if t.op.entrywise:
            return {k + t.ndim - a.ndim for a in t.args for k in self._shown_axes(a)}
        return set()

    def _close_identities(self, t: Term) -> None:
        """An identity enters sums and products as I; anything else does not keep its form."""
        if t.op.entrywise:
            linear = t.op.name in ("add", "sub", "neg", "mul") and all(a.shape == t.shape for a in t.args)
            images = [self.images[a] for a in t.args]
            sizeless = linear and self._is_open(t) and not any(x.shape for x in symbols(t))
            if sizeless and 0 < sum(a.core == "I" for a in images) < len(images):
                self.needs_sizes = True  # I - 11ᵀ/n shows no size at all
            for a in t.args:
                over = t.op.name in ("div", "ratio") and a is not t.args[1] and t.args[1].ndim == 0
                if self.images[a].core == "I" and not (linear or over or t.op.name == "mul"):
                    self.closing(a)

    def closing(self, *terms: Term) -> None:
        """Note that sizes are lost where these terms stand, unless ones and identities show theirs."""
        if all(self.open[t] for t in terms):
            self.needs_sizes = True

    def ones(self, kind: str, shape: tuple[Any, ...]) -> Piece:
        """Ones in the form of a kind, with their sizes where they are needed."""
        rows, columns = (
            rf"\mathbf{{1}}_{{{size_tex(s)}}}" if self.sized else r"\mathbf{1}" for s in (shape[0], shape[-1])
        )
        upright = columns if kind == "r" else rows
        column, row = (upright, pieces.ATOM), (rf"{upright}^{{\top}}", pieces.POWER)
        if kind == "c":
            return Piece("c", *column, flip=row)
        if kind == "r":
            return Piece("r", *row, flip=column)
        return Piece("m", rf"{rows} {columns}^{{\top}}", pieces.MUL)

    def identity(self, size: Any) -> Piece:
        """The identity matrix, which is diag(1) where a symbol is called I."""
        if self.taken("I"):
            return Piece("m", rf"\operatorname{{diag}}\left(\mathbf{{1}}_{{{size_tex(size)}}}\right)")
        text = rf"I_{{{size_tex(size)}}}" if self.sized else "I"
        return Piece("m", text, flip=(text, pieces.ATOM))

    def _piece(self, t: Term) -> Piece:
        from symgrad.formula.printing.indices import by_its_entry
        from symgrad.formula.printing.ops import WRITERS, called, named

        if t.op is SYMBOL or t.op is SIZE:
            return self._name(t)
        if t.op is NUMBER:
            hidden = isinstance(t.number, str) and self.taken(rf"\{t.number}")  # a symbol is called π
            return pieces.number_piece(math.pi if hidden else t.number)
        self._close_identities(t)
        rule: Callable[[Writer, Term], Piece | None] | None = WRITERS.get(t.op.name, named if t.op.called else None)
        found = by_its_entry(self, t) if t.ndim > 2 and t.op.entrywise else None
        if found is None and rule is not None:
            found = rule(self, t)
        return called(self, t) if found is None else found

    def _name(self, t: Term) -> Piece:
        name = t.params["name"]
        if t.op is SIZE:
            return Piece("s", size_tex(name), pieces.ATOM if name.isalnum() or "(" in name else pieces.SUM)
        text = self.names.get(name, name)
        level = pieces.POWER if "^" in text else pieces.ATOM  # a state of a loop has the step for its exponent
        return Piece(kind_of(t.shape), bolded(text) if self.bold and t.shape else text, level)

    # -------------------------------------------------------------------------------------- operands

    def raw(self, t: Term) -> Piece:
        """An argument as it is, conditions included."""
        return self.images[t]

    def operand(self, t: Term, out: tuple[Any, ...] | None = None) -> Piece:
        """An argument as a number (a condition in Iverson brackets), broadcast to the shape ``out``."""
        piece = self.images[t]
        if piece.level <= pieces.RELATION:
            piece = Piece(piece.kind, rf"\left[{piece.core}\right]")
        if out is None or t.shape == out:
            return piece
        if t.op.name == "full" and t.params["value"] != 0:
            return pieces.number_piece(t.params["value"])
        return self.lifted(piece, t.shape, out)

    def exact(self, piece: Piece, shape: tuple[Any, ...]) -> Piece:
        """A piece whose text has this very shape, for places where an axis of size 1 counts."""
        from symgrad.formula.printing.calls import reshaped

        return reshaped(piece, shape) if 1 in shape else piece

    def lifted(self, piece: Piece, shape: tuple[Any, ...], out: tuple[Any, ...]) -> Piece:
        """A piece of ``shape`` repeated to a matrix of shape ``out`` by a product with ones; scalars stay."""
        if piece.kind == "s" or len(out) < 2 or shape == out:
            return piece
        if len(out) > 2:
            return self.exact(piece, shape)
        if len(shape) == 1:
            piece, shape = transposed(piece) if piece.kind == "c" else piece, (1, *shape)
        if shape == out:
            return piece
        if piece.kind == "r":
            return pieces.matrix_product("m", self.ones("c", out[:1]), piece)
        return pieces.matrix_product("m", piece, self.ones("r", out[1:]))


@timed("symbolic", "latex")
def latex(
    term: Term,
    *,
    canonical: bool = True,
    where: bool | None = None,
    lines: int = LINES,
    bold: bool = False,
    name: str | None = None,
    environment: str | None = None,
    notes: Sequence[str] = (),
    vec: str | None = None,
    width: float | None = COLUMN,
    names: Any = None,
    loops: bool | None = None,
    slope: tuple[Term, Term] | None = None,
    batch: str | None = None,
) -> str:
    r"""The LaTeX of a term.

    ``canonical=False`` prints the program as it was run.  ``where`` names the shared parts and lists them after the
    formula: True always, False never, None when the formula is long, or has a tenth fewer signs with names for what
    it would repeat; at most ``lines`` lines are printed, one of which says how many were left out.
    ``bold`` sets arrays in bold, and ``name`` is printed on the left of ``=``.
    ``environment`` ("align", "align*", "equation" or "equation*") makes it a whole environment for a document, and
    ``notes`` are lines of LaTeX below the formula, such as conditions under which it holds.
    ``width`` is that of the lines of where-lists and environments, in points of ten-point type: longer sums go on in a
    further line, and longer products get more names; None leaves lines as long as they come.
    ``names`` are those of the parts: a letter that is numbered, a list, or a dict of names and what they mean, such
    as ``{"r": "X@w - y"}``; with a dict those parts are listed, and no others where the rest is short.
    ``vec`` ("rows" or "columns", as vec stacks them) prints a derivative with four axes with Kronecker products.
    ``loops`` prints the steps of a loop, if they are alike, as a recurrence, and gradients as the adjoint recurrence:
    True always, False never, None where that is shorter and nothing is said of parts.  ``slope`` is what the term is
    the gradient of, and by which symbol, where that is known.
    ``batch`` is a letter that numbers examples: printed is the formula of one of them, with ``X_i`` for its part of X,
    and the sum of those of all where the batch is summed over.  Raises ``FormulaError`` where examples meet, and with
    ``canonical=False``: the program of one example is not known.

    >>> from symgrad.formula.term import symbol
    >>> X, w = symbol("X", ("n", "m")), symbol("w", ("m",))
    >>> latex(X.T @ (X @ w))
    'X^{\\top} X w'
    """
    if not isinstance(term, Term):
        raise FormulaError(f"latex() prints formulas, not {type(term).__name__}; for a tensor use t.latex().")
    if batch is not None and not canonical:
        raise FormulaError(
            "latex(batch=, canonical=False): the formula of one example is a canonical form, in which the axis of the "
            "batch is gone; leave out batch= for the program as it was run, or canonical=False for that of one example."
        )
    example = None if batch is None else per_example(term, batch)
    if example is not None:
        term, loops = example.term, False
        if name and example.front is None:
            name = rf"{name}_{{{batch}}}" if name.isalpha() else rf"\left[{name}\right]_{{{batch}}}"
    found = None
    if loops or (loops is None and canonical and where is None and names is None and vec is None):
        from symgrad.formula.loops.choice import rolled

        root, target = slope or (term, None)
        found = rolled(root, target, name, bold, width, bool(loops))
    shown = _seen_symmetric(term, canonical_or_raw(term)) if canonical and found is None else term
    if found is not None:
        rows = found
    elif vec is not None:
        rows = [("" if name is None else name, kronecker_latex(term, vec, _names(term), bold))]
    else:
        inline = width if environment is not None else INLINE_WIDTH
        made = _Lines(lines, bold, width, inline)
        rows = made.rows(shown if not isinstance(names, Mapping) else term, where, name, names)
    if example is not None and example.front is not None:
        write = Writer(_names(example.front, *(t for t in (example.rest,) if t is not None)), bold).write
        rows[-1] = (rows[-1][0], sum_of(example, rows[-1][1], str(batch), write))
    if shown.dtype is not None and shown.dtype.kind == "b" and term.dtype is not None and term.dtype.kind != "b":
        # A derivative that is 1 where a condition holds, and 0 elsewhere.
        rows[-1] = (rows[-1][0], rf"\left[{rows[-1][1]}\right]")
    rows += [("", note) for note in notes]
    wide = where is None and width is not None and width_of(rows[-1][1]) > INLINE_WIDTH
    if environment is not None or len(rows) > 1 or where or wide:
        rows = [line for left, right in rows for line in broken(left, right, width)]
    return _in_environment(rows, environment)


def _seen_symmetric(term: Term, shown: Term) -> Term:
    """A formula in which the matrices of the program's Cholesky factors, which may be gone, are symmetric ones."""
    factors = [] if exceeds(term, CANONICAL_BUDGET) else [t for t in postorder([term]) if t.op.name == "cholesky"]
    known = {
        k: symbol(k.params["name"], k.shape, k.dtype, structure="symmetric")
        for k in (t.args[0] for t in factors)
        if k.op is SYMBOL and k.ndim == 2 and k.dtype is not None and k.dtype.kind == "f" and not declared(k)
    }

    def change(t: Term, args: tuple[Any, ...]) -> Term:
        if t in known:
            return known[t]
        return t.with_args(args)

    return rebuilt([shown], change)[0] if known else shown


class _Lines:
    """How formulas are cut into lines: at most so many, in bold, in a column, and inline up to a width."""

    def __init__(self, most: int, bold: bool, column: float | None, inline: float | None):
        self.most = most
        self.bold = bold
        self.column = column
        self.inline = inline

    def rows(self, shown: Term, where: bool | None, name: str | None, names: Any) -> list[tuple[str, str]]:
        """The formula as one left and right side, or with those of its parts before it."""
        if isinstance(names, Mapping):
            rest, parts = named_parts(shown, names)
            spelled = _names(shown, rest, *(t for pair in parts for t in pair))
            defined = [
                (written(z, spelled, self.bold), written(part, spelled, self.bold, exact=True)) for z, part in parts
            ]
            return defined + self.rows(rest, where, name, None)
        lettered, found = (shown, []) if where is False else decomposed(shown)
        if found:
            spelled = _names(shown, lettered, *(symbol(n) for d in found for n in names_of([d])))
            lines = [(written(d.matrix, spelled, self.bold), line(d, spelled, self.bold)) for d in found]
            return lines + self.rows(lettered, where, name, names)
        if where is False and outgrows(shown, WRITTEN_OUT):
            raise FormulaTooDeep(
                f"this formula has {count(shown)} distinct parts and would have more than {WRITTEN_OUT} with all "
                "of them written out; leave where=False away, and shared parts get names."
            )
        if not where and (where is False or not is_long(shown)):
            spelled = _names(shown)
            text = written(shown, spelled, self.bold)
            if where is False or self.fits(name or "", text):
                inline = [(name or "", text)]
                return inline if where is False else self._shortest(inline, shown, spelled, names)
        tried = []
        order = postorder([shown])
        for size in STATEMENT_SIZES:
            rows = _where_rows(
                Statements(shown, size=size, names=names, order=order), self.most, self.bold, name, self.column
            )
            over = 0.0 if self.column is None else max(_overflow(left, right, self.column) for left, right in rows)
            tried.append((over, rows))
            if not over:
                break
        return min(tried, key=lambda entry: entry[0])[1]

    def _shortest(
        self, inline: list[tuple[str, str]], shown: Term, spelled: dict[str, str], names: Any
    ) -> list[tuple[str, str]]:
        """A formula of one line, or with names for its largest parts where that makes it much shorter."""
        if self.column is None or width_of(inline[0][1]) < SHARED_WIDTH:
            return inline
        writer = Writer(spelled, self.bold)
        writer.write(shown)
        chosen = worth_a_name(shown, {t: text_of(piece) for t, piece in writer.images.items()})
        if not chosen:
            return inline
        found = Statements(shown, names=names, chosen=chosen)
        rows = _where_rows(found, self.most, self.bold, inline[0][0] or None, self.column)
        named = sum(signs(right) + LINE_SIGNS * (k < len(rows) - 1) for k, (_, right) in enumerate(rows))
        return rows if named <= SHARED_GAIN * signs(inline[0][1]) else inline

    def fits(self, left: str, text: str) -> bool:
        """Whether a formula may stand without names for its parts."""
        if self.column is None or self.inline is None:
            return True
        if width_of(text) <= self.inline:
            return True
        narrow = self.inline == self.column and not _overflow(left, text, self.column)
        return narrow and len(broken(left, text, self.column)) <= self.most


def _overflow(left: str, right: str, column: float) -> float:
    """How far a statement reaches out of a column when it is set in several lines if need be."""
    return max(0.0, *(width_of(f"{a} = {b}") - column for a, b in broken(left, right, column)))


def caption(derivative: bool) -> str:
    """The line that says how the axes of a formula are meant."""
    axes = "axes: those of the result, then those of the variable; " if derivative else ""
    return rf"\text{{({axes}vectors are columns)}}"


ENVIRONMENTS = ("align", "align*", "equation", "equation*")


def _in_environment(rows: list[tuple[str, str]], environment: str | None) -> str:
    """Rows of left and right sides as one formula, or as an environment of its own."""
    if environment is not None and environment not in ENVIRONMENTS:
        raise FormulaError(f"environment= is one of {', '.join(ENVIRONMENTS)}, not {environment!r}.")
    aligned = [f"{left} &= {right}" if left else f"& {right}" for left, right in rows]
    if environment is not None and environment.startswith("align"):
        return _begun(environment, aligned)
    if len(rows) == 1:
        left, right = rows[0]
        body = f"{left} = {right}" if left else right
    else:
        body = _begun("aligned", aligned)
    return body if environment is None else _begun(environment, [body])


def _begun(environment: str, rows: list[str]) -> str:
    return f"\\begin{{{environment}}}\n" + " \\\\\n".join(rows) + f"\n\\end{{{environment}}}"


def written(term: Term, names: dict[str, str], bold: bool = False, exact: bool = False) -> str:
    """The text of one term; ``exact`` makes it tell its own size too."""
    term = numbers_everywhere(term)
    writer = Writer(names, bold)
    piece = writer.write(term)
    if writer.needs_sizes or (exact and writer.open[term]):
        piece = Writer(names, bold, sized=True).write(term)
    return text_of(piece)


def _names(*roots: Term) -> dict[str, str]:
    return texts(t.params["name"] for t in postorder(roots) if t.op is SYMBOL)


def is_long(term: Term) -> bool:
    """Whether a formula has more operations than stand in one line, shared parts counted every time."""
    return outgrows(term, INLINE_SIZE)


def _where_rows(
    found: Statements, lines: int, bold: bool, name: str | None, column: float | None
) -> list[tuple[str, str]]:
    """The where-list, as left and right sides: definitions in order, the result last."""
    last = len(found) - 1
    kept = [found.part(k) for k in (*range(min(lines - 1, last)), last)]
    left_out = len(found) - len(kept)
    result = kept[-1][0]
    # Only the names on the printed lines are made: a list of 10^5 parts prints a few of them.
    printed = {t.params["name"] for _, part in kept for t in postorder([part]) if t.op is SYMBOL}
    names = texts([*printed, *(t.params["name"] for t in found.symbols), *(n for n, _ in kept)])
    rows = [
        ((name or "", written(part, names, bold)))
        if left == result
        else (written(symbol(left, part.shape), names, bold), _defining(part, names, bold))
        for left, part in kept
    ]
    return within(rows, lines, left_out, column)


def _defining(part: Term, names: dict[str, str], bold: bool) -> str:
    """What a name stands for; an equation in Iverson's brackets, since t = X = Y would be two."""
    text = written(part, names, bold, exact=True)
    return rf"\left[{text}\right]" if part.op.name == "eq" else text


__all__ = ["Writer", "kind_of", "latex", "signed"]

"""Functions of formulas that are written in LaTeX: as this library prints them, or as people type them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from symgrad.errors import ArgumentError, FormulaError, FormulaTooDeep, SymgradError
from symgrad.formula.canonical.simplify import canonical
from symgrad.formula.reading.people.tex import read_latex
from symgrad.formula.reading.tex import from_latex as read_printed
from symgrad.formula.sampling import letters_of, sample, value
from symgrad.formula.term import SYMBOL, Term, describe, postorder, symbol, symbols
from symgrad.notation.functions import FormulaFunction
from symgrad.op import shape_of
from symgrad.ops.shapes.sizes import is_size
from symgrad.sources import names_in, source
from symgrad.sources.asked import checked, too_deep
from symgrad.sources.shapes import parse_shapes

__all__ = ["from_latex"]

PRINTED, TYPED = "printed", "typed"


class _TwoMeanings(FormulaError):
    """A text that both notations have a meaning for, not the same one."""


def from_latex(
    text: str, shapes: str | Mapping[str, Any] | None = None, /, *, notation: str | None = None, **named: Any
) -> FormulaFunction:
    r"""A differentiable function of LaTeX, as symgrad prints it or as people type it.

    ``shapes`` (``"X=n,m w=m"`` or a dict) and keyword arguments state the shapes of names: tuples of letters, numbers
    and sums of them (``"n-1"``), terms, or arrays that have the shape.  The shapes that are missing are found by
    trying: the most general ones for which the text has a meaning, capital letters being matrices and small ones
    vectors.  The arguments of the function are the names in the order in which they are stated, then in that of the
    text (``lambda_`` for ``lambda``, which Python has for itself).  Headers (``f(x) = …``) and definitions
    (``…, \quad r = Ax - b``) are read; ``\pi`` is the number unless its shape is stated or it must be an array.

    Some texts mean one thing in print here and another on paper: ``\left|X\right|`` of a matrix is absolute values, and
    the determinant.  They are refused; ``notation`` ("printed" or "typed") says what is meant.  Nothing of the text is
    executed.  Raises ``FormulaError`` with the place where the text cannot be read, ``ShapeError`` where no shapes fit,
    ``NameProblem`` for names without meaning, ``ArgumentError`` for what is no text.

    >>> import symgrad as sg
    >>> f = sg.from_latex(r"\|Ax - b\|_2^2", "A=n,m x=m b=n")
    >>> f.names
    ['A', 'x', 'b']
    >>> x = sg.tensor([1.0, 2.0], requires_grad=True, name="x")
    >>> f([[3.0, 1.0]], x, [4.0]).backward()
    >>> x.grad
    tensor([6., 2.])
    >>> sg.latex(f, (4, 3), (3,), (4,), wrt="x")
    '2 A^{\\top} \\left(A x - b\\right)'
    """
    if not isinstance(text, str):
        raise ArgumentError(f"from_latex() takes a text, not {type(text).__name__}.")
    if notation not in (None, PRINTED, TYPED):
        raise ArgumentError(f"notation= is {PRINTED!r} or {TYPED!r}, not {notation!r}.")
    if notation != PRINTED:  # the search for shapes, and the wider grammar, take time that grows faster than the text
        checked(text, "the formula")
    stated = parse_shapes(shapes) if isinstance(shapes, str) else dict(shapes or {})
    table = {name: _stated(name, s) for name, s in (stated | named).items()}
    try:
        table, term = _read(text.strip().strip("$").strip(), table, notation)
    except RecursionError:
        raise too_deep() from None
    used = {str(t.name): t for t in postorder([term]) if t.op is SYMBOL}
    return FormulaFunction(text, term, [used.get(n, s) for n, s in table.items() if n in used or n in stated | named])


def _stated(name: str, given: Any) -> Term:
    """The symbol of a name whose shape was stated."""
    if isinstance(given, Term):
        return symbol(name, given.shape, given.dtype, given.params.get("structure"))
    if isinstance(given, (str, bool, int, float)) or given is None:
        raise ArgumentError(
            f"the shape of {name} is a tuple such as ('n', 3), () for a number, or an array that has it; not {given!r}."
        )
    if isinstance(given, tuple):
        bad = [s for s in given if not isinstance(s, int) and not (isinstance(s, str) and is_size(s))]
        if bad:
            raise ArgumentError(f"a size is a number or a letter, not {bad[0]!r} (in the shape of {name}).")
        return symbol(name, given)
    return symbol(name, tuple(shape_of(given)))


def _read(text: str, table: dict[str, Term], notation: str | None) -> tuple[dict[str, Term], Term]:
    """The symbols and the term of a text; names whose shapes are not stated are looked for where it has no meaning."""
    try:
        return table, _meant(text, table, notation)
    except (FormulaTooDeep, _TwoMeanings):
        raise
    except SymgradError as error:
        refusal = error
    if not any(name not in table for name in names_in(text)):
        raise refusal
    found = source(text, shapes={name: s.shape for name, s in table.items()})
    constant = symbol("pi")
    table = table | {str(s.name): s for s in found.symbols if str(s.name) not in table and s is not constant}
    return table, _meant(text, table, notation)


def _meant(text: str, table: dict[str, Term], notation: str | None) -> Term:
    """The term of a text in the notation that is stated, or in the one in which it has a meaning."""
    found: dict[str, Term] = {}
    refusal: SymgradError | None = None
    for name, reader in ((PRINTED, read_printed), (TYPED, read_latex)):
        if notation in (None, name):
            try:
                found[name] = reader(text, table)
            except SymgradError as error:
                refusal = error
    if not found:
        raise refusal  # type: ignore[misc]
    if len(found) == 2 and not _same(found[PRINTED], found[TYPED]):
        here, paper = (f"{describe(t)} of shape {tuple(t.shape)}" for t in found.values())
        raise _TwoMeanings(
            f"{text!r} has two meanings: as this library prints formulas {here}, as people type them {paper}; "
            f"state notation={PRINTED!r} or notation={TYPED!r}."
        )
    return next(iter(found.values()))


def _same(a: Term, b: Term) -> bool:
    """Whether two terms are one formula, or have the same values at random points."""
    if a is b or canonical(a) is canonical(b):
        return True
    if a.ndim != b.ndim:
        return False
    known = symbols(a, b)
    rng = np.random.default_rng(0)
    for shift in range(2):
        sizes = {letter: 2 + shift + k % 3 for k, letter in enumerate(letters_of(*known))}
        values = sample([s for s in known if s.op is SYMBOL], sizes, "positive", rng)
        x, y = value(a, values, sizes), value(b, values, sizes)
        if x is None or y is None:
            continue
        if x.shape != y.shape or not np.allclose(x, y, rtol=1e-6, atol=1e-9, equal_nan=True):
            return False
    return True

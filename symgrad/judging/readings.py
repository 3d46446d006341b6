"""The ways in which a text can be meant, in the order in which they are tried."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from symgrad.errors import FormulaError, NameProblem, ShapeError, SymgradError
from symgrad.formula.people import PartialEntry, ProductMisfit, read_latex
from symgrad.formula.peopletext import read_matrices, read_numpy, split_definition
from symgrad.formula.plainread import from_unicode
from symgrad.formula.term import Term, symbol
from symgrad.sources import is_latex

Reading = tuple[str, Callable[[], Term]]

MISFITS = {
    "entrywise": ("hadamard", "⊙, the product entry by entry, is needed where the text has a matrix product."),
    "left": ("transpose", "A transpose is missing on the left of a product."),
    "right": ("transpose", "A transpose is missing on the right of a product."),
    "swapped": ("order", "The factors of a product stand in the wrong order."),
}


def table_of(symbols: Sequence[Term]) -> dict[str, Term]:
    """The symbols by name; ``λ`` and ``lambda`` may stand for ``lam``, ``x0`` for ``x_0``, and so on."""
    return {str(s.name): s for s in symbols}


def readings(given: Any, symbols: Sequence[Term], shape: tuple[Any, ...]) -> list[Reading]:
    """Functions that give the term of what a person wrote, with a word on each way of reading it."""
    table = table_of(symbols)
    if isinstance(given, Term):
        return [("", lambda: given)]
    if not isinstance(given, str):
        return _of_sympy(given, table, shape)
    if is_latex(given):
        ways: list[Reading] = [("", lambda: read_latex(given, table, shape))]
        if re.search(r"\||\\[lr]?vert", given):
            ways.append(("|X| is read as absolute values.", lambda: read_latex(given, table, shape, bars="abs")))
        if re.search(r"_\s*(\{\s*)?[a-z]", given):
            note = "an index that stands twice in a product is summed."
            ways.append((note, lambda: read_latex(given, table, shape, repeated=True)))
        return ways
    text = split_definition(given)
    ways = [("", lambda: read_numpy(text, table))]
    note = "* is read as the matrix product." if "*" in text and "@" not in text else ""
    ways.append((note, lambda: read_matrices(text, table, shape)))
    if not text.isascii():
        ways.append(("", lambda: from_unicode(text, table, shape)))
    return ways


def _of_sympy(given: Any, table: dict[str, Term], shape: tuple[Any, ...]) -> list[Reading]:
    import sympy as sp

    from symgrad.formula.sympy_io import from_sympy_expr

    expr = given if isinstance(given, (sp.Basic, sp.MatrixBase)) else sp.sympify(given)
    if isinstance(expr, (sp.MatrixExpr, sp.MatrixBase)) or getattr(expr, "atoms", lambda *_: ())(sp.MatrixSymbol):
        return [("", lambda: read_matrices(str(expr), table, shape))]
    unknown = sorted(s.name for s in expr.free_symbols if s.name not in table and not _is_size(s, table))
    if unknown:
        raise NameProblem(f"{unknown[0]!r} is no symbol here; the symbols are {', '.join(sorted(table))}.")
    return [("", lambda: from_sympy_expr(expr, table.values()))]


def _is_size(s: Any, table: dict[str, Term]) -> bool:
    return any(s.name == size for t in table.values() for size in t.shape)


def read_first(ways: Sequence[Reading], shape: tuple[Any, ...]) -> tuple[list[tuple[str, Term]], Exception | None]:
    """The terms of all readings that work, those of the wanted shape first, and the most telling error."""
    found: list[tuple[str, Term]] = []
    errors: list[Exception] = []
    for note, way in ways:
        try:
            term = way()
        except (SymgradError, ValueError, TypeError, KeyError, IndexError) as error:
            errors.append(error)
            continue
        if all(term is not other for _, other in found):
            found.append((note, term))
    found.sort(key=lambda entry: entry[1].shape != shape)
    return found, max(errors, key=_weight) if errors else None


def _weight(error: Exception) -> tuple[int, int]:
    place = re.search(r"position (\d+)", str(error))
    return (isinstance(error, (ProductMisfit, ShapeError)), int(place[1]) if place else -1)


def repaired(given: str, symbols: Sequence[Term], shape: tuple[Any, ...]) -> list[tuple[str, Term]]:
    """What a text whose shapes do not fit would be with one kind of repair, as (repair, term)."""
    table = table_of(symbols)
    out = []
    for misfit in MISFITS:
        try:
            if is_latex(given):
                term = read_latex(given, table, shape, misfit=misfit)
            else:
                term = read_matrices(split_definition(given), table, shape, misfit=misfit)
        except (SymgradError, ValueError, TypeError, KeyError, IndexError):
            continue
        out.append((misfit, term))
    return out


def is_misfit(error: Exception | None) -> bool:
    """Whether an error says that shapes do not fit, rather than that the text cannot be read."""
    return isinstance(error, (ProductMisfit, ShapeError)) and not isinstance(error, PartialEntry)


__all__ = ["MISFITS", "FormulaError", "is_misfit", "read_first", "readings", "repaired", "symbol", "table_of"]

"""Functions of MATLAB and R: which names mean something else there than in NumPy, and are not taken for it.

MATLAB adds up the columns of a matrix and counts axes from 1; R counts entries from 1, and its ``x[-1]`` leaves one
out; ``var`` and ``std`` divide by n - 1 in both.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from symgrad.errors import FormulaError, SymgradError
from symgrad.formula.reading.people.dialects import R, language
from symgrad.formula.reading.people.text import read_matrices

_DEVIATIONS = re.compile(r"\b(var|std|sd)\s*\(")
_ALONG = re.compile(r"\b(sum|mean|prod|max|min|cumsum|cumprod|median|any|all|sort|diff|norm)\s*\(")
_MADE = re.compile(r"\b(ones|zeros)\s*\(")
_DIVISION = re.compile(r"(?<!\.)/\s*(?:([^\W\d]\w*)(?![\w(])|\()")
_ENTRY_OF_R = re.compile(r"[\w)]\s*\[[^\]]*(?:\d|:)[^\]]*\]")


def refuse_other_meanings(text: str, table: Mapping[str, Any]) -> None:
    """Raise ``FormulaError`` where a function of MATLAB or R has a name that is known, and another meaning there."""
    where = language(text)
    if not where:
        return
    found = _DEVIATIONS.search(text)
    if found is not None:
        raise FormulaError(f"{found[1]}() of {where} divides by n - 1: write it as a sum")
    if where == R:
        if re.search(r"\bnorm\s*\(", text):
            raise FormulaError("norm() of R is the largest sum of a column: write sqrt(sum(x^2))")
        if (entry := _ENTRY_OF_R.search(text)) is not None:
            raise FormulaError(
                f"{entry[0]!r}: R counts entries from 1, and leaves out those below 0: write it in NumPy"
            )
        return
    for division in _DIVISION.finditer(text):
        below = division[1] or f"({_arguments(text, division.end())[0]})"
        if _axes(below, table) == 1:
            raise FormulaError(f"/{below}: MATLAB solves equations there: write ./{below} for a quotient of entries")
    for call in _MADE.finditer(text):
        sizes = _arguments(text, call.end())
        if len(sizes) == 1 and not sizes[0].lstrip().startswith("size"):
            raise FormulaError(f"{call[1]}(n) is a matrix of n rows in MATLAB: write {call[1]}(n,1), or {call[1]}(n,n)")
    for call in _ALONG.finditer(text):
        arguments = _arguments(text, call.end())
        if len(arguments) > 1 and call[1] not in ("max", "min", "norm"):
            raise FormulaError(f"{call[1]}() of MATLAB counts axes from 1: write it in NumPy, or without an axis")
        if len(arguments) == 1 and _axes(arguments[0], table) > 1:
            raise FormulaError(
                f"{call[1]}() of a matrix is another thing in MATLAB, where it goes along columns, or is a norm of "
                f"operators: write {call[1]}(A(:)), norm(A,'fro'), or it in NumPy"
            )


def _arguments(text: str, start: int) -> list[str]:
    """The arguments of a call whose bracket was opened before ``start``."""
    depth, out, last = 1, [], start
    for k in range(start, len(text)):
        depth += (text[k] in "([{") - (text[k] in ")]}")
        if depth == 0 or (depth == 1 and text[k] == ","):
            out.append(text[last:k])
            last = k + 1
        if depth == 0:
            break
    return out


def _axes(text: str, table: Mapping[str, Any]) -> int:
    try:
        return read_matrices(text, table).ndim
    except SymgradError:  # with names of its own, which are judged where it is read as a whole
        return 0

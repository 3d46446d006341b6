r"""Formulas that are written as differentials: ``df = \operatorname{tr}(X^{-1} dX)`` states the derivative X⁻ᵀ."""

from __future__ import annotations

import re
from typing import Any

from symgrad.formula.derive import jacobian
from symgrad.formula.printing.names import name_latex
from symgrad.formula.reading.people.paper import LOWERED
from symgrad.formula.term import Term, symbol, symbols
from symgrad.judging.readings import read_first, readings
from symgrad.sources import Source, is_latex

_D = r"(?:\\(?:mathrm|operatorname|text|rm)\s*(?:\{\s*d\s*\}|d(?![a-zA-Z]))|\\delta(?![a-zA-Z])|(?<![a-zA-Z\\])d)"
"""The d of a differential, or the δ of a variation."""


def _spelled(name: str) -> str:
    """A pattern of the ways to write a name."""
    return "|".join(map(re.escape, dict.fromkeys([name, name_latex(name)])))


def names_entries(given: Any, wrt: Any) -> bool:
    r"""Whether the header of a text has indices at the variable, as ``\frac{\partial f}{\partial X_{ij}}`` has."""
    header, sign, _ = given.partition("=") if isinstance(given, str) and isinstance(wrt, str) else ("", "", "")
    return bool(sign and re.search(rf"(?:\\partial|∂|{_D})\s*(?:{_spelled(wrt)})\s*(?:_|\[|{LOWERED})", header))


def without_vec(given: Any, wrt: Any) -> Any:
    r"""The Jacobian ``K`` of ``d\operatorname{vec}F = K\,d\operatorname{vec}X``; other texts as they are."""
    if not isinstance(given, str) or not isinstance(wrt, str):
        return given
    vec = rf"{_D}\s*(?:\\operatorname\s*\{{\s*vec\s*\}}|\\(?:mathrm|text)\s*\{{\s*vec\s*\}}|\\?vec)"
    found = re.fullmatch(rf"\s*{vec}[^=]*=(.+?){vec}\s*[({{]?\s*(?:{_spelled(wrt)})\s*[)}}]?\s*", given)
    return given if found is None else found[1]


def derivative_stated(given: Any, about: Source, wrt: Any) -> Term | None:
    """The derivative that a text states by a differential, which is linear in ``dx``; None for other texts."""
    if (
        not isinstance(given, str)
        or not isinstance(wrt, str)
        or any(s.name in ("d", "delta", f"d{wrt}") for s in about.symbols)
    ):
        return None
    target = about.target(wrt)
    step = symbol(f"d{wrt}", target.shape, target.dtype)
    latex = is_latex(given)
    spelled = _spelled(wrt)
    pattern = rf"{_D}(?:\s|\\,|\\!)*\{{?(?:{spelled})(?![a-zA-Z_])\}}?" if latex else rf"(?<!\w)d{re.escape(wrt)}(?!\w)"
    left, sign, right = given.partition("=")
    plain = right if sign and re.match(rf"\s*{_D}", left) else given
    text, count = re.subn(pattern, lambda _: f" {name_latex(str(step.name))} " if latex else str(step.name), plain)
    if not count or re.search(r"\\int(?![a-z])|\\frac\s*\{\s*" + _D, plain):
        return None
    inner = re.fullmatch(r"([^:]+):([^:]+)", text) if latex else None
    text = text if inner is None else rf"\langle {inner[1]}, {inner[2]}\rangle"
    reads, _ = read_first(readings(text, [*about.symbols, step], about.term.shape), about.term.shape)
    for read in reads:
        if read.term.shape == about.term.shape and read.cut is None:
            found = jacobian(read.term, step)
            return None if step in symbols(found) else found
    return None

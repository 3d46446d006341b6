"""What is other in every step of a loop: entries of an array, arrays of a list, and numbers that follow the step."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from symgrad.formula.loops.pairing import entry
from symgrad.formula.printing.pieces import number_piece, text_of
from symgrad.formula.term import NUMBER, SYMBOL, Term, number, symbol
from symgrad.op import lookup

_LISTED = 8
"""Numbers without a rule that are listed."""


@dataclass(frozen=True)
class Moving:
    """Data of the steps: ``symbol`` stands for that of step k, which is ``terms[k]``.

    ``array`` is what it is an entry of, and ``index`` where: slopes and offsets in k.  An array of a list has the stem
    of its name in the place of it, and numbers that follow no rule have neither.
    """

    symbol: Term
    terms: tuple[Term, ...]
    array: Term | None = None
    index: tuple[tuple[int, int] | str, ...] = ()
    stem: str = ""

    def text(self, names: Mapping[str, str], letter: str) -> str:
        """The LaTeX of the data of step ``letter``."""
        places = ",".join(p if isinstance(p, str) else place(*p, letter) for p in self.index)
        if self.array is not None:
            return f"{names[str(self.array.name)]}_{{[{places}]}}"
        return f"{self.stem}_{{{places}}}" if places else f"{self.stem}^{{({letter})}}"

    def listed(self) -> str:
        """The numbers, one after the other."""
        return r",\; ".join(text_of(number_piece(t.number)) for t in self.terms)


def place(slope: int, offset: int, letter: str) -> str:
    """The text of ``slope k + offset``.

    >>> place(1, 0, "k"), place(-1, 4, "k"), place(2, -1, "k")
    ('k', '4-k', '2 k-1')
    """
    if slope == 0:
        return str(offset)
    head = letter if abs(slope) == 1 else f"{abs(slope)} {letter}"
    if slope < 0:
        return f"{offset}-{head}" if offset else f"-{head}"
    return head + (f"{offset:+d}" if offset else "")


def moving(terms: Sequence[Term | None], k: Term, used: set[str]) -> Moving | Term | None:
    """The data that ``terms`` are, step by step (None at the end: no step reads it); None where no rule is known."""
    known = [t for t in terms if t is not None]
    if len(known) < 3 or any(t is None for t in terms[: len(known)]):
        return None
    if all(t.op is NUMBER for t in known):
        values = [t.number for t in known]
        if any(isinstance(v, (str, bool, complex)) for v in values):
            return None
        rule = _rule(values, k)
        return _list(known, len(terms), used) if rule is None else rule
    filled = (*known, *known[-1:] * (len(terms) - len(known)))
    if all(t.op is SYMBOL for t in known):
        return _numbered(filled, len(known))
    entries = [entry(t) for t in known]
    if any(e is None or e[0].op is not SYMBOL or e[0] is not entries[0][0] for e in entries):  # type: ignore[index]
        return None
    array, _ = entries[0]  # type: ignore[misc]
    rows = [e[1] for e in entries]  # type: ignore[index]
    index: list[tuple[int, int] | str] = []
    for column in zip(*rows, strict=True):
        if type(column[0]) is int:
            found = _affine(column)
            if found is None:
                return None
            index.append(found)
        elif isinstance(column[0], slice) and column[0] == slice(None):
            index.append(":")
        else:
            return None
    name = f"{array.name}@{'_'.join(map(str, index))}"
    return Moving(symbol(name, known[0].shape, known[0].dtype), filled, array, tuple(index))


def _affine(values: Sequence[int]) -> tuple[int, int] | None:
    slope, offset = values[1] - values[0], values[0]
    return (slope, offset) if all(v == slope * m + offset for m, v in enumerate(values)) else None


def _numbered(terms: Sequence[Term], count: int) -> Moving | None:
    """Arrays of a list, which have a name and a number."""
    from symgrad.formula.printing.names import name_latex

    found = [re.fullmatch(r"(.*?[^\d])(\d+)", str(t.name)) for t in terms[:count]]
    if any(m is None or m[1] != found[0][1] for m in found):  # type: ignore[index]
        return None
    stem = found[0][1].rstrip("_")  # type: ignore[index]
    index = _affine([int(m[2]) for m in found])  # type: ignore[index]
    if index is None or "_" in stem:
        return None
    name = f"{stem}@{index}"
    return Moving(symbol(name, terms[0].shape, terms[0].dtype), tuple(terms), None, (index,), name_latex(stem))


def _list(terms: Sequence[Term], count: int, used: set[str]) -> Moving | None:
    if len(terms) < count or count > _LISTED:
        return None
    stem = next(c for c in ("c", "a", "b", "d", "r", "q", "c_k", "a_k", "b_k", "d_k") if c not in used)
    used.add(stem)
    from symgrad.formula.printing.names import name_latex

    return Moving(symbol(f"{stem}@listed", ()), tuple(terms), stem=name_latex(stem))


def _rule(values: Sequence[Any], k: Term) -> Term | None:
    """A formula in k that gives the numbers: a + b k, 1 / (a + b k), or a rᵏ."""
    mul, add, div, power = (lookup(name) for name in ("mul", "add", "div", "pow"))
    line = _line(values)
    if line is not None:
        return add(mul(k, number(line[0])), number(line[1]))  # type: ignore[no-any-return]
    if any(v == 0 for v in values):
        return None
    line = _line([1 / Fraction(v) if isinstance(v, (int, Fraction)) else 1 / v for v in values])
    if line is not None:
        return div(number(1), add(mul(k, number(line[0])), number(line[1])))  # type: ignore[no-any-return]
    ratio = _rounded(values[1] / values[0])
    if all(_close(values[0] * ratio**m, v) for m, v in enumerate(values)) and abs(ratio) != 1:
        return mul(number(values[0]), power(number(ratio), k))  # type: ignore[no-any-return]
    return None


def _line(values: Sequence[Any]) -> tuple[Any, Any] | None:
    if all(isinstance(v, (int, Fraction)) for v in values):
        slope, offset = values[1] - values[0], values[0]
        return (slope, offset) if all(v == slope * m + offset for m, v in enumerate(values)) else None
    offset = _rounded(values[0])
    slope = _rounded((values[-1] - values[0]) / (len(values) - 1))
    largest = max(map(abs, values))
    near = all(abs(slope * m + offset - v) <= 4e-16 * largest for m, v in enumerate(values))
    return (slope, offset) if near else None


def _rounded(value: Any) -> Any:
    """A number without the noise of its last digit."""
    if isinstance(value, (int, Fraction)):
        return value
    near = float(f"{float(value):.14g}")
    near = near if _close(near, value) else float(value)
    return int(near) if near.is_integer() else near


def _close(a: Any, b: Any) -> bool:
    return bool(abs(a - b) <= 4e-15 * abs(b)) and bool(np.isfinite(float(a)))

"""What was found about a formula: plain data, and a page of text 80 columns wide."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from symgrad.check.report import WIDTH, Diagnosis


@dataclass
class Verdict:
    """The verdict on a formula.  True only when it is EQUAL.

    verdict         "EQUAL", "DIFFERENT" or "UNDECIDED"
    proof           "structural" (the same canonical form), "numerical" (equal at ``points`` random points),
                    "counterexample", or "shapes" (a product or sum in the text has no meaning)
    counterexample  the smallest arrays of integers found for which the values differ, by name
    theirs, ours    the values of the given and of the exact formula there
    diagnosis       the probable mistake (kind, sentence, hint), None when there is none
    formula, latex  the exact formula as text and LaTeX
    notes           how the text was read, where that needs saying
    """

    verdict: str
    proof: str
    text: str
    target: str
    points: int = 0
    counterexample: dict[str, Any] | None = None
    theirs: Any = None
    ours: Any = None
    diagnosis: Diagnosis | None = None
    formula: str = ""
    latex: str = ""
    notes: list[str] = field(default_factory=list)

    def __bool__(self) -> bool:
        return self.verdict == "EQUAL"

    @property
    def equal(self) -> bool:
        """Whether the formulas are equal."""
        return bool(self)

    def __str__(self) -> str:
        lines = _row("", f"{self.verdict}: {self._reason()}", 0)
        if self.diagnosis is not None:
            lines += _row("mistake", self.diagnosis.sentence)
            if self.diagnosis.hint:
                lines += _row("look for", self.diagnosis.hint)
        if self.counterexample is not None:
            lines += _row("at", ", ".join(f"{k} = {array_text(v)}" for k, v in self.counterexample.items()))
            few = None if self.theirs is None else array_text(self.theirs)
            digits = 17 if few == array_text(self.ours) else 6
            lines += _row("given", "has no value" if few is None else array_text(self.theirs, digits))
            lines += _row("exact", array_text(self.ours, digits))
        if self.formula and not self:
            lines += _row("formula", f"{self.target} = {self.formula}")
        for note in self.notes:
            lines += _row("note", note)
        return "\n".join(lines)

    def __repr__(self) -> str:
        return str(self)

    def _reason(self) -> str:
        short = textwrap.shorten(self.text, 48, placeholder=" …")
        if self.proof == "structural":
            return f"{short} is {self.target}; both have the same canonical form."
        if self.verdict == "EQUAL":
            return f"{short} is {self.target} at {self.points} random points of several sizes."
        if self.proof == "shapes":
            return f"{short} is not {self.target}; its shapes do not fit."
        if self.verdict == "DIFFERENT":
            return f"{short} is not {self.target}."
        return f"{short} could not be compared with {self.target}."


def array_text(value: Any, digits: int = 6) -> str:
    """An array in one line; whole numbers without a decimal point."""
    array = np.asarray(value)
    if array.ndim:
        return f"[{', '.join(array_text(row, digits) for row in array)}]"
    number = array.item()
    if isinstance(number, float) and number.is_integer() and abs(number) < 1e15:
        return str(int(number))
    return f"{number:.{digits}g}" if isinstance(number, (float, complex)) else str(number)


def _row(label: str, text: str, indent: int = 2) -> list[str]:
    head = f"{' ' * indent}{label:<{12 if label else 0}}"
    return textwrap.wrap(
        text,
        WIDTH,
        initial_indent=head,
        subsequent_indent=" " * (14 if label else 4),
        break_on_hyphens=False,
        break_long_words=True,
    )

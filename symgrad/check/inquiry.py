"""The search for the mistakes in derivatives that a comparison has found wrong."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from symgrad.check.asking.nested import Given
from symgrad.check.asking.subject import Subject
from symgrad.check.diagnosis.case import Case
from symgrad.check.diagnosis.hypotheses import diagnose
from symgrad.check.diagnosis.locate import locate
from symgrad.check.diagnosis.retry import same_everywhere, second_look
from symgrad.check.diagnosis.written import changed_formula
from symgrad.check.mending.search import Search
from symgrad.check.oracle.answer import Exact
from symgrad.check.report import UNNAMED, ArgumentReport, Diagnosis, Mend

FIRST_MENDING, LIKELY_MENDING, LONGEST_MENDING, DOUBTING, INFORMED = 0.6, 2, 5, 2, 3
"""Seconds for running the gradient with one change after another: at first, while these are likely ones, where nothing
else explains it, where only a guess does, and with what is missing once the mistake has a name."""

KNOWN, SOON, EXPLAINING, LOCATING = 0.15, 0.5, 0.85, 0.15
"""The parts of the time by which what explains the mistakes is found: where a mend is known, before more are tried, and
after that; and the part for finding where they are."""

UNEXPLAINED = (*UNNAMED, "precision")

CLOSE_BY = (
    "an argument has the same value everywhere; the mistake was looked for close by, where more can be told apart"
)


class Inquiry:
    """What was compared, kept until the mistakes are asked for: the verdict does not wait for them."""

    def __init__(self, subject: Subject, given: Given, exact: Exact, arguments: Sequence[ArgumentReport]):
        self.subject, self.given, self.exact, self.arguments = subject, given, exact, arguments
        self.wrong = [i for i, a in enumerate(arguments) if not a.ok]
        self.mending = Search(subject, given, arguments)  # what the user wants of it is known now only
        self.beside: Inquiry | None = None  # the same of a point where more can be told apart

    def about_numbers(self) -> bool:
        """Whether a second call shows that the formula is right, and its numbers are not."""
        with np.errstate(all="ignore"):
            return any(second_look(self.subject, self.given, self.arguments, i) for i in self.wrong)

    def run(self, seconds: float) -> tuple[Mend | None, list[str]]:
        """Write a diagnosis into the reports of all that is wrong; gives the change that mends it, and notes."""
        if self.beside is not None and self.beside.wrong == self.wrong:
            mend, notes = self.beside.run(seconds / 2)
            if mend is not None or not self.beside._unexplained:
                for i in self.wrong:
                    self.arguments[i].diagnosis = self.beside.arguments[i].diagnosis
                return mend, [*notes, CLOSE_BY]
        start, exact, arguments = time.monotonic(), self.exact, self.arguments
        first = min(FIRST_MENDING, seconds / 4)
        mend = self.mending.go_on(first, start + seconds, likely=min(LIKELY_MENDING, seconds / 4))
        with np.errstate(all="ignore"):
            cases = [
                Case(argument, i, self.subject, exact, again=self.given.again) for i, argument in enumerate(arguments)
            ]
            last = start + seconds * (SOON if mend is None else KNOWN)
            self._explain(cases, last, seconds / 32)
            late = time.monotonic() > last
            if self._unexplained and mend is None:
                mend = self.mending.go_on(LONGEST_MENDING, start + seconds, two=True)
                if mend is None and late:
                    last = start + seconds * EXPLAINING
                    for surgeon in exact.surgeons.values():
                        surgeon.patience = 1.0
                    self._explain(cases, last, 0)
                    late = time.monotonic() > last
            exact.deadline = max(last, time.monotonic()) + seconds * LOCATING
            locate(cases)
        if mend is None and any(a.diagnosis and a.diagnosis.kind in GUESSES for a in arguments):
            mend = self.mending.go_on(min(DOUBTING, seconds / 4), start + seconds)
        if mend is None:
            kinds = {found.kind for found in (arguments[i].diagnosis for i in self.wrong) if found is not None}
            kinds |= {"factor", "term"} if self._unexplained else set()
            mend = self.mending.informed(kinds, exact.missing, min(INFORMED, seconds / 4), start + seconds)
            mend = mend or self.mending.special
        for argument in arguments:
            argument.diagnosis = _by_mend(argument.diagnosis, mend)
        notes = []
        if late and self._unexplained:
            notes.append(
                f"the search for the mistake was given up after {seconds:.3g} seconds; with smaller arguments, or "
                "fewer rounds of a loop, it gets further"
            )
        return mend, notes

    @property
    def _unexplained(self) -> bool:
        return any(_is_unexplained(self.arguments[i].diagnosis) for i in self.wrong)

    def _explain(self, cases: Sequence[Case], last: float, least: float) -> None:
        """Each wrong argument has half of the time that is left, and the last one all of it."""
        for i in self.wrong:
            if not _is_unexplained(self.arguments[i].diagnosis):
                continue
            now, share = time.monotonic(), 1 if i == self.wrong[-1] else 2
            self.exact.deadline = now + max((last - now) / share, least)
            self.arguments[i].diagnosis = (
                second_look(self.subject, self.given, self.arguments, i)
                or _of_sample(cases[i])
                or _of_two(self.arguments, i)
                or _of_formula(cases[i], _of_function(self.given, self.subject, cases[i], diagnose(cases[i])))
            )
        for case in cases:  # a mistake found for one argument may be that of those before it
            found = case.argument.diagnosis
            if self.exact.suspects and found is not None and found.kind in UNEXPLAINED:
                case.argument.diagnosis = case.suspected() or found


def _is_unexplained(found: Diagnosis | None) -> bool:
    return found is None or found.kind in UNEXPLAINED


PLACES = ("entry", "slice", "slice factors", "place", "order", "zeros", "operand")
"""Kinds of diagnosis that say where the mistake shows; what it is stands in the line that mends it."""

GUESSES = ("branch", "overwritten")
"""Kinds of diagnosis that fit the numbers of one point by chance now and then."""

_CONDITION = re.compile(r"[<>]|[=!]=|where|max|min|clip|abs|sign|relu|\bif\b|\belse\b")
"""What stands in the line where such a mistake is made, or ``+=`` in the place of ``=``."""


def _by_mend(found: Diagnosis | None, mend: Mend | None) -> Diagnosis | None:
    """The line that makes the gradient right when it is changed comes first, and guesses that it belies are dropped."""
    if found is None or mend is None or found.kind not in (*UNEXPLAINED, *PLACES, *GUESSES):
        return found
    said, line = _said(mend), f"{mend.place}: {mend.was}"
    if found.kind in PLACES or (found.kind in GUESSES and _bears_out(mend)):
        return Diagnosis(found.kind, f"{said} {found.sentence}", found.hint, line)
    return Diagnosis("line", said, "", line)


def _said(mend: Mend) -> str:
    """A change, or two, as a sentence."""
    if mend.also is not None:
        both = " ".join(_said(replace(m, also=None)) for m in (mend, mend.also))
        return f"There are two mistakes. {both}"
    name = Path(mend.file).name
    if mend.right == "pass":
        return f"Without line {mend.line} of {name} the gradient is right."
    return f"Line {mend.line} of {name} is wrong: {mend.right} is right."


def _bears_out(mend: Mend) -> bool:
    """Whether what a mend changes decides which side of a branch is taken, or what is written over."""
    return any(mend.was.count(adding) != mend.right.count(adding) for adding in ("+=", ".add.at(")) or bool(
        _CONDITION.search(mend.was + mend.right)
    )


def _of_function(given: Given, subject: Subject, case: Case, found: Diagnosis) -> Diagnosis:
    """A mistake without a name in a function that changes its arguments while it runs, or does not look at them."""
    if found.kind != "unknown":
        return found
    if not given.changed:
        return same_everywhere(given, subject, case) or found
    names = " and ".join(given.changed)
    return Diagnosis(
        "in place",
        f"The function of the derivative overwrites {names} while it runs; what it computes after that reads the new "
        "values.",
        f"out={given.changed[0]}, or an operation in place on an argument; a copy keeps the old values",
    )


def _of_formula(case: Case, found: Diagnosis) -> Diagnosis:
    """A mistake without a name that is one of the formula as a whole, as people write it."""
    return changed_formula(case) or found if found.kind in UNNAMED else found


def _of_two(arguments: Sequence[ArgumentReport], i: int) -> Diagnosis | None:
    """What to say of a gradient that is that of another argument, or is given for two, to the last digit."""
    mine = arguments[i]
    for other in arguments:
        if other is mine or other.ok:
            continue
        if mine.given.shape != mine.exact.shape and _agree(mine.given, other) and _agree(other.given, mine):
            return Diagnosis(
                "order",
                f"The gradients of {mine.name} and {other.name} stand in each other's place.",
                "the order of the arguments",
            )
        if other.given.shape != mine.given.shape or mine.exact.shape != other.exact.shape:
            continue
        apart = np.abs(mine.exact - other.exact) > mine.tolerance + other.tolerance
        if np.any(mine.given) and np.array_equal(mine.given, other.given) and np.any(apart):
            return Diagnosis(
                "same array",
                f"The same is given for {mine.name} and {other.name}, to the last digit, but they differ.",
                "one array under two names, a = b = np.zeros(n), to which both are added",
            )
    return None


def _agree(given: Any, other: ArgumentReport) -> bool:
    """Whether a gradient is that of another argument."""
    return given.shape == other.exact.shape and bool(np.all(np.abs(given - other.exact) <= other.tolerance))


def _of_sample(case: Case) -> Diagnosis | None:
    """What to say where only some of very many entries are known."""
    known = case.exact.sampled.get(case.subject.positions[case.number])
    if known is None:
        return None
    return Diagnosis(
        "entries",
        f"{case.argument.wrong} of the {known} entries that were measured are wrong.",
        "the same with fewer entries, where each is measured",
    )

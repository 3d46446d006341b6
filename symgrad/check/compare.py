"""The comparison: ask the oracle, measure the differences, diagnose."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from symgrad.check.asking.derivatives import Derivative
from symgrad.check.asking.nested import Arguments, Given
from symgrad.check.asking.subject import Subject
from symgrad.check.branches.sides import looked_at_branches
from symgrad.check.diagnosis.case import Case
from symgrad.check.diagnosis.hypotheses import diagnose
from symgrad.check.diagnosis.locate import locate
from symgrad.check.diagnosis.retry import asked_again, repeated_gradients, same_everywhere, second_look
from symgrad.check.mending.search import Search
from symgrad.check.oracle.answer import Exact
from symgrad.check.oracle.exact import exact_gradient
from symgrad.check.oracle.formulas import formula_texts
from symgrad.check.oracle.subgradients import look_at_subgradients
from symgrad.check.oracle.trust import symmetrised
from symgrad.check.report import UNNAMED, ArgumentReport, Diagnosis, Mend, Report


@dataclass
class Question:
    """What ``check`` was asked: a function, its derivative, and the point, whole and taken apart."""

    f: Callable[..., Any]
    grad: Any
    args: Sequence[Any]
    argnums: int | Sequence[int] | None
    flat: Arguments
    label: str
    rtol: float | None
    method: str | None = None


def joined(label: str, reports: Sequence[Report]) -> Report:
    """One report of the reports on several results."""
    if len(reports) == 1:
        return reports[0]
    notes = list(dict.fromkeys(note for report in reports for note in report.notes))
    arguments = [argument for report in reports for argument in report.arguments]
    return Report(label, reports[0].method, [report.value for report in reports], arguments, notes)


def compared(given: Given, derivative: Derivative, kind: str, label: str, rtol: float | None) -> Report:
    """The report on derivatives that were given; ``kind`` is what they are called there."""

    def at(there: Given) -> tuple[Report, Exact]:
        return _compared_at(there, derivative, kind, label, rtol)

    report, exact = at(given)
    if report.ok:
        _ask_again(given, report)
    if given.changed:
        names = ", ".join(given.changed)
        report.notes.append(f"the function of the derivative changes {names} in place; it was given a copy")
    return looked_at_branches(given, exact, report, at, derivative) if report.ok else report


def _compared_at(
    given: Given, derivative: Derivative, kind: str, label: str, rtol: float | None
) -> tuple[Report, Exact]:
    subject = Subject(given.f, given.args, given.positions, given.names, derivative, given.own)
    with np.errstate(all="ignore"):
        exact = exact_gradient(subject, given.gradients)
        look_at_subgradients(subject, exact, given.gradients)
    outputs = np.ndim(exact.value) if derivative.kind != "gradient" else 0
    arguments = []
    for i, k in enumerate(given.positions):
        argument = _compare(
            exact, i, given.names[k], given.gradients[i], rtol, k in exact.symmetric and derivative.kind != "jvp"
        )
        argument.kind, argument.function, argument.outputs = kind, label, outputs
        argument.measured = exact.measured
        argument.formulas = formula_texts(exact, i, derivative.kind, argument.name)
        arguments.append(argument)
    wrong = [i for i, a in enumerate(arguments) if a.wrong or a.given.shape != a.exact.shape]
    search = Search(subject, given, arguments)
    mend = search.go_on(FIRST_MENDING) if wrong else None
    if wrong:
        with np.errstate(all="ignore"):
            cases = [Case(argument, i, subject, exact) for i, argument in enumerate(arguments)]
            last = time.monotonic() + (LONGEST_SEARCH if mend is None else LONGEST_SEARCH / 4)
            for i in wrong:
                now, share = time.monotonic(), 1 if i == wrong[-1] else 2
                exact.deadline = now + max((last - now) / share, LONGEST_SEARCH / 20)
                arguments[i].diagnosis = (
                    second_look(subject, given, arguments, i)
                    or _of_sample(cases[i])
                    or _of_function(given, subject, cases[i], diagnose(cases[i]))
                )
            for case in cases:  # a mistake found for one argument may be that of those before it
                found = case.argument.diagnosis
                if exact.suspects and found is not None and found.kind in UNEXPLAINED:
                    case.argument.diagnosis = case.suspected() or found
            late = time.monotonic() > last
            exact.deadline = max(last, time.monotonic()) + LONGEST_SEARCH / 4
            locate(cases)
            unexplained = any(a.diagnosis and a.diagnosis.kind in UNEXPLAINED for a in arguments)
            mend = search.go_on(LONGEST_MENDING) if unexplained else mend
            for argument in arguments:
                argument.diagnosis = _by_mend(argument.diagnosis, mend)
            if late and any(a.diagnosis and a.diagnosis.kind in UNEXPLAINED for a in arguments):
                exact.notes.append(
                    f"the search for the mistake was given up after {LONGEST_SEARCH} seconds; with smaller arguments, "
                    "or fewer rounds of a loop, it gets further"
                )
    if any(g.size for g in exact.gradients) and not any(map(np.any, exact.gradients)):
        exact.notes.append("the exact gradient is zero here, where many mistakes do not show; check at another point")
    return Report(label, exact.method, exact.value, arguments, exact.notes, mend), exact


def _by_mend(found: Diagnosis | None, mend: Mend | None) -> Diagnosis | None:
    """A mistake that nothing else explains is in the line that makes the gradient right when it is changed."""
    if found is None or mend is None or found.kind not in (*UNEXPLAINED, "entry", "slice", "place", "order", "zeros"):
        return found
    name = Path(mend.file).name
    if mend.right == "pass":
        said = f"Without line {mend.line} of {name} the gradient is right."
    else:
        said = f"Line {mend.line} of {name} is wrong: {mend.right} is right."
    kept = "" if found.kind in UNEXPLAINED else f"{found.sentence} "
    kind = found.kind if kept else "line"
    return Diagnosis(kind, kept + said, found.hint if kept else "", f"{name}:{mend.line}: {mend.was}")


LONGEST_SEARCH = 12
"""Seconds for finding the mistake: each wrong argument has half of what is left, the last one all of it."""

FIRST_MENDING, LONGEST_MENDING = 0.3, 5
"""Seconds for running the gradient with one change after the other: at first, and where nothing else explains it."""

UNEXPLAINED = (*UNNAMED, "precision")


def _ask_again(given: Given, report: Report) -> None:
    """Call the function of a derivative that is right once more: one that keeps something is so the first time only."""
    repeated = repeated_gradients(given, Subject(given.f, given.args, given.positions, given.names).given_args())
    for argument, again in zip(report.arguments, repeated or (), strict=False):
        argument.diagnosis = asked_again(argument, again)


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


def _compare(exact: Exact, i: int, name: str, given: Any, rtol: float | None, symmetric: bool) -> ArgumentReport:
    g = exact.gradients[i]
    tolerance = exact.tolerance[i]
    if rtol is not None:
        tolerance = np.maximum(tolerance, rtol * np.abs(g))
    if given.shape != g.shape:
        return ArgumentReport(name, given, g, tolerance, 0, None, None)
    notes = []
    compared = given
    if symmetric:
        compared = symmetrised(given)
        notes.append(f"f reads one triangle of {name} only: the gradient is that for symmetric {name}")
    with np.errstate(all="ignore"):
        off = np.abs(compared - g) / np.where(tolerance > 0, tolerance, np.finfo(float).tiny)
        inside = (np.real(given) >= exact.low[i] - tolerance) & (np.real(given) <= exact.high[i] + tolerance)
    off = np.where((compared == g) | (np.isnan(given) & np.isnan(g)), 0, np.where(np.isnan(off), np.inf, off))
    kinks = (off > 1) & (exact.low[i] < exact.high[i]) & inside
    if kinks.any():
        count = int(kinks.sum())
        notes.append(
            f"{count} entr{'y sits' if count == 1 else 'ies sit'} on a kink of f, where the given value is another "
            "valid subgradient than symgrad's; that is a convention, not an error"
        )
        off = np.where(kinks, 0, off)
    wrong = int((off > 1).sum())
    worst = None
    if off.size:
        worst = tuple(int(k) for k in np.unravel_index(int(np.argmax(off)), off.shape))
    return ArgumentReport(name, given, g, tolerance, wrong, worst, None, notes)

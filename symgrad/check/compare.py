"""The comparison: ask the oracle, and measure the differences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from symgrad.check.asking.arrays import as_array
from symgrad.check.asking.calling import epsilon_of, like
from symgrad.check.asking.derivatives import Derivative, largest
from symgrad.check.asking.nested import Arguments, Given
from symgrad.check.asking.subject import Subject
from symgrad.check.branches.plain import looked_at_plain
from symgrad.check.branches.sides import Compare, compared_there, looked_at_branches
from symgrad.check.diagnosis.retry import asked_again, gradients_in_double, repeated_gradients
from symgrad.check.inquiry import Inquiry
from symgrad.check.oracle.answer import Exact
from symgrad.check.oracle.digits import is_near, look_at_digits
from symgrad.check.oracle.exact import exact_gradient
from symgrad.check.oracle.faint import look_at_faint
from symgrad.check.oracle.formulas import formula_texts
from symgrad.check.oracle.subgradients import look_at_subgradients
from symgrad.check.oracle.tolerance import moved_by_constants, ulps_of
from symgrad.check.oracle.trust import symmetrised
from symgrad.check.report import ArgumentReport, Report


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
    pending = [search for report in reports for search in report.pending]
    return Report(label, reports[0].method, [report.value for report in reports], arguments, notes, pending=pending)


def compared(given: Given, derivative: Derivative, kind: str, label: str, rtol: float | None) -> Report:
    """The report on derivatives that were given; ``kind`` is what they are called there."""

    def at(there: Given) -> tuple[Report, Exact]:
        return _compared_at(there, derivative, kind, label, rtol)

    report, exact = at(given)
    if report.ok:
        _ask_again(given, report)
    elif given.again is not None and report.pending:
        report.pending[0].beside = _beside(given, report.pending[0].subject, at)
    if given.changed:
        names = ", ".join(given.changed)
        report.notes.append(f"the function of the derivative changes {names} in place; it was given a copy")
    for looked_at in (looked_at_branches, looked_at_plain):
        if report.ok:
            report = looked_at(given, exact, report, at, derivative)
    return report


def _compared_at(
    given: Given, derivative: Derivative, kind: str, label: str, rtol: float | None
) -> tuple[Report, Exact]:
    subject = Subject(given.f, given.args, given.positions, given.names, derivative, given.own)
    with np.errstate(all="ignore"):
        exact = exact_gradient(subject, given.gradients)
        look_at_subgradients(subject, exact, given.gradients)
    outputs = np.ndim(exact.value) if derivative.kind != "gradient" else 0

    def differences(gradients: Sequence[Any]) -> list[ArgumentReport]:
        symmetric = [k in exact.symmetric and derivative.kind != "jvp" for k in given.positions]
        names = [given.names[k] for k in given.positions]
        return [_compare(exact, i, names[i], g, rtol, symmetric[i]) for i, g in enumerate(gradients)]

    def again(args: Sequence[Any]) -> list[Any] | None:
        return repeated_gradients(given, args)

    arguments = differences(given.gradients)
    if not all(a.ok for a in arguments) and _narrow_data(subject, exact):
        doubled = gradients_in_double(given, subject)
        if doubled is not None and all(a.ok for a in differences(doubled)):
            exact.tolerance = [t * _narrow_data(subject, exact) for t in exact.tolerance]
            arguments = differences(given.gradients)
    if not all(a.ok for a in arguments) and all(map(_is_tiny, arguments, [_size_of(exact)] * len(arguments))):
        exact.tolerance = [t + n for t, n in zip(exact.tolerance, _noise(given, subject, exact), strict=True)]
        arguments = differences(given.gradients)
    if not all(a.ok for a in arguments) and all(map(is_near, given.gradients, exact.gradients)):
        exact.tolerance = [t + m for t, m in zip(exact.tolerance, moved_by_constants(subject, exact), strict=True)]
        arguments = differences(given.gradients)
    if not all(a.ok for a in arguments):
        lost = look_at_digits(subject, exact, given.gradients, again)
        arguments = differences(given.gradients)
        for i, said in lost.items():
            arguments[i].notes.append(said)
    faint = all(a.ok for a in arguments) and look_at_faint(subject, exact, given.gradients, again)
    if faint:
        arguments = differences(given.gradients)
    for i, argument in enumerate(arguments):
        argument.kind, argument.function, argument.outputs = kind, label, outputs
        argument.measured = exact.measured
        argument.formulas = formula_texts(exact, i, derivative.kind, argument.name)
    if any(a.exact.size for a in arguments) and all(np.all(np.abs(a.exact) <= a.tolerance) for a in arguments):
        exact.notes.append("the exact gradient is zero here, where many mistakes do not show; check at another point")
    if np.isnan(exact.value).any():
        exact.notes.append(f"{label} gives nan here, of which no derivative tells anything; check at another point")
    pending = [] if all(a.ok for a in arguments) else [Inquiry(subject, given, exact, arguments)]
    if faint:
        pending[0].mending.wanted = False  # at other points changes are right to the rounding of the largest entries
    return Report(label, exact.method, exact.value, arguments, exact.notes, pending=pending), exact


NOISE, UNITS, MOVES = 8, 64, 3
"""How many times what rounded arguments make of it a derivative may be off, where that is no more units in the last
place of the largest number of all, and the points at which that is looked at."""


def _size_of(exact: Exact) -> float:
    return max(map(largest, (np.asarray(exact.value), *exact.gradients)))


def _is_tiny(a: ArgumentReport, size: float) -> bool:
    """Whether a derivative in double precision is off by no more than the rounding of much larger ones."""
    eps = float(np.finfo(np.float64).eps)
    return a.given.shape == a.exact.shape and np.isfinite(size) and largest(a.given - a.exact) <= UNITS * eps * size


def _noise(given: Given, subject: Subject, exact: Exact) -> list[Any]:
    """By how much a given derivative moves besides the exact one when arguments are rounded otherwise.

    Where the exact one is 0, or all but 0, a right formula gives what rounding leaves of it, which is another one at
    each of these points; a mistake stays what it is.
    """
    rng, eps = np.random.default_rng(2), float(np.finfo(np.float64).eps)
    noise = [np.zeros(g.shape) for g in exact.gradients]
    for _ in range(MOVES if given.again is not None and exact.output is not None else 0):
        args = [
            a * (1 + 2 * eps * rng.choice([-1.0, 1.0], a.shape)) if k in subject.data and a.dtype.kind in "fc" else a
            for k, a in enumerate(subject.args)
        ]
        made = repeated_gradients(given, subject.in_own_kind(args))
        there = subject.derivative.exact(*subject.trace(args))
        pairs = zip(noise, made or (), given.gradients, there, exact.gradients, strict=made is not None)
        with np.errstate(invalid="ignore"):
            off = [(n, np.abs((m - g) - (e - x))) for n, m, g, e, x in pairs]
        noise = [np.maximum(n, NOISE * np.where(np.isfinite(d), d, 0)) for n, d in off] or noise
    return noise


def _narrow_data(subject: Subject, exact: Exact) -> float:
    """How much wider rounding is in the precision of other arguments than those under check; 0 where it is not.

    Numbers in double precision beside arrays in single precision: where the gradient is right once all is in double
    precision, what it lacks before is rounding.
    """
    own = max(subject.eps, default=0.0)
    widest = max((epsilon_of(subject.originals[k]) for k in subject.data), default=0.0)
    return widest / own * ulps_of(widest) / ulps_of(own) if widest > own > 0 and not exact.measured else 0.0


def _beside(given: Given, subject: Subject, compare: Compare) -> Inquiry | None:
    """The search for a mistake close by, for arrays of equal entries: different mistakes look alike there."""
    rng, args = np.random.default_rng(5), list(given.args)
    for k in [k for k in subject.data if k < subject.given]:
        array = as_array(args[k])
        if array.dtype.kind in "fc" and array.size > 1 and np.all(array == array.flat[0]):
            moved = array + (0.05 + 0.2 * rng.random(array.shape)) * np.where(array == 0, 1, array)
            args[k] = like(args[k], moved.astype(array.dtype))
    if all(a is b for a, b in zip(args, given.args, strict=True)):
        return None
    there = compared_there(replace(given, args=args), compare)
    return None if there is None or there.ok else there.pending[0]


def _ask_again(given: Given, report: Report) -> None:
    """Call the function of a derivative that is right once more: one that keeps something is so the first time only."""
    repeated = repeated_gradients(given, Subject(given.f, given.args, given.positions, given.names).given_args())
    for argument, again in zip(report.arguments, repeated or (), strict=False):
        argument.diagnosis = asked_again(argument, again)


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

"""The check itself: read what was given, ask the oracle, compare, diagnose."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from symgrad.check.diagnosis import Case, diagnose
from symgrad.check.formulas import formula_texts
from symgrad.check.nested import take_apart
from symgrad.check.oracle import Exact, exact_gradient
from symgrad.check.report import ArgumentReport, Report
from symgrad.check.retry import second_look
from symgrad.check.subject import Subject
from symgrad.check.trust import symmetrised
from symgrad.errors import ArgumentError


def check(
    f: Callable[..., Any],
    grad: Any,
    *args: Any,
    argnums: int | Sequence[int] | None = None,
    names: Sequence[str] | None = None,
    rtol: float | None = None,
) -> Report:
    """Compare the gradient ``grad`` of the scalar function ``f`` at ``args`` with the exact one.

    ``grad`` is a function of the same arguments, or its result: one array, or a tuple of arrays for several
    arguments (NumPy, torch, JAX, nested lists).  Arguments may be dicts, dataclasses or lists of arrays; their gradient
    has the same structure.  ``f`` may be a function of this library, of NumPy, torch or JAX; in a custom function it is
    ``forward`` that counts, since ``backward`` may be wrong.  ``argnums`` says which arguments the gradient belongs to
    (default: the first floating-point ones), ``names`` what the arguments are called in formulas (default: the
    parameters of ``f``).  The tolerance follows from the dtypes and from the conditioning of ``f`` at the point;
    ``rtol`` widens it.

    Returns a :class:`Report`: true if the gradient is right; printed, it names the wrong entry, the ratio, the
    probable mistake and the exact formula.  Raises ``ArgumentError`` when ``f`` is not scalar or not deterministic.

    >>> import symgrad as sg
    >>> report = sg.check(lambda x: (x**2).sum(), lambda x: x, [1.0, 2.0])
    >>> report.ok, report.diagnosis.kind
    (False, 'factor')
    >>> sg.check(lambda x: (x**2).sum(), lambda x: 2 * x, np.array([1.0, 2.0])).ok
    True
    """
    if not callable(f):
        raise ArgumentError(f"check() takes the function first, not {type(f).__name__}: check(f, grad, *args).")
    if not args:
        raise ArgumentError("check() needs the point at which to compare: check(f, grad, *args).")
    given = take_apart(f, grad, args, argnums, names)
    subject = Subject(given.f, given.args, given.positions, given.names)
    with np.errstate(all="ignore"):
        exact = exact_gradient(subject, given.gradients)
    arguments = [
        _compare(exact, i, given.names[k], given.gradients[i], rtol, k in exact.symmetric)
        for i, k in enumerate(given.positions)
    ]
    for i, argument in enumerate(arguments):
        if argument.wrong or argument.given.shape != argument.exact.shape:
            argument.diagnosis = second_look(subject, given, arguments, i)
            argument.diagnosis = argument.diagnosis or diagnose(Case(argument, i, subject, exact))
        argument.formulas = formula_texts(exact, i)
    if any(g.size for g in exact.gradients) and not any(map(np.any, exact.gradients)):
        exact.notes.append("the exact gradient is zero here, where many mistakes do not show; check at another point")
    label = getattr(f, "__name__", type(f).__name__)
    return Report("f" if label == "<lambda>" else label, exact.method, exact.value, arguments, exact.notes)


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

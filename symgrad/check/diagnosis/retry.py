"""A wrong gradient asked for once more: at the same point, and in double precision."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from symgrad.check.asking.arrays import as_array
from symgrad.check.asking.calling import double_precision, like
from symgrad.check.asking.nested import Given
from symgrad.check.asking.subject import Subject
from symgrad.check.diagnosis.case import Case
from symgrad.check.oracle.exact import exact_gradient
from symgrad.check.report import ArgumentReport, Diagnosis


def second_look(subject: Subject, given: Given, arguments: Sequence[ArgumentReport], i: int) -> Diagnosis | None:
    """What calling the gradient function again shows: that it is random, or right but for its rounding."""
    argument = arguments[i]
    if given.again is None or argument.given.shape != argument.exact.shape:
        return None
    repeated = _at(given, subject.given_args())
    if repeated is not None and not _within(repeated[i], argument.given, argument.tolerance):
        return _not_repeated(argument, repeated[i])
    precision = np.finfo(argument.given.dtype).dtype if argument.given.dtype.kind in "fc" else None
    if precision is None or np.finfo(precision).eps <= np.finfo(np.float64).eps:
        return None
    doubled = gradients_in_double(given, subject)
    if doubled is None or doubled[i].dtype == argument.given.dtype:
        return None
    if not _within(doubled[i], argument.exact, argument.tolerance):
        return None
    return Diagnosis(
        "rounding",
        f"The formula is right: in float64 the gradient agrees. In {argument.given.dtype} it loses digits.",
        "a difference of nearly equal numbers; write it in another way, or compute it in double precision",
    )


def asked_again(argument: ArgumentReport, repeated: Any) -> Diagnosis | None:
    """What a second call shows of a gradient that the first call had right."""
    if _within(repeated, argument.given, argument.tolerance):
        return None
    return _not_repeated(argument, repeated)


def gradients_in_double(given: Given, subject: Subject) -> list[Any] | None:
    """The gradients at the point with all arguments in double precision; None where there is no function to ask."""
    with double_precision():
        return repeated_gradients(given, subject.in_own_kind(subject.args))


def repeated_gradients(given: Given, args: Sequence[Any]) -> list[Any] | None:
    """The gradients at a point once more; None where there is no function to ask, or it fails."""
    return None if given.again is None else _at(given, args)


def same_everywhere(given: Given, subject: Subject, case: Case) -> Diagnosis | None:
    """A gradient that is the same at other arguments, to the last digit."""
    args = subject.given_args()
    for k in [k for k in subject.data if k < subject.given]:
        args[k] = like(subject.originals[k], 0.75 * as_array(args[k]).astype(subject.args[k].dtype))
    elsewhere = repeated_gradients(given, args)
    if elsewhere is None or not np.array_equal(elsewhere[case.number], case.argument.given):
        return None
    try:
        with np.errstate(all="ignore"):
            there = Subject(given.f, args, subject.positions, subject.names, subject.derivative, subject.given)
            exact = exact_gradient(there, elsewhere)
    except Exception:  # noqa: BLE001  (whatever the function does with other arguments)
        return None
    if _within(exact.gradients[case.number], case.g, 4 * case.argument.tolerance):
        return None  # and so is the exact one
    return Diagnosis(
        "stale",
        "The gradient is the same at other arguments, to the last digit: it is computed from values of another point.",
        "a cache that is filled once, a value kept from an earlier forward pass, a constant",
    )


def _not_repeated(argument: ArgumentReport, repeated: Any) -> Diagnosis:
    """Of a gradient that is another one in the second call; one that grows by itself is added to what was there."""
    if repeated.shape == argument.exact.shape:
        grown = repeated - argument.given
        if np.any(grown) and _within(grown, argument.exact, 4 * argument.tolerance + 1e-9 * np.abs(repeated)):
            return Diagnosis(
                "not deterministic",
                "Every call at the same point adds the gradient to what the calls before have left.",
                "an array that is not set to 0 at the start: out=, a buffer, .grad",
            )
    return Diagnosis(
        "not deterministic",
        "The gradient is another one each time it is computed at the same point.",
        "random numbers without a seed, or state that is kept between calls",
    )


def _at(given: Given, args: Sequence[Any]) -> list[Any] | None:
    assert given.again is not None
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return given.again(args)
        except Exception:  # noqa: BLE001  (it has already given its answer; this is a second one)
            return None


def _within(a: Any, b: Any, tolerance: Any) -> bool:
    if a.shape != b.shape:
        return False
    with np.errstate(all="ignore"):
        return bool(np.all((np.abs(a - b) <= tolerance) | (np.isnan(a) & np.isnan(b)) | (a == b)))

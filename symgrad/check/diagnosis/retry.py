"""A wrong gradient asked for once more: at the same point, and in double precision."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from symgrad.check.asking.calling import double_precision
from symgrad.check.asking.nested import Given
from symgrad.check.asking.subject import Subject
from symgrad.check.report import ArgumentReport, Diagnosis


def second_look(subject: Subject, given: Given, arguments: Sequence[ArgumentReport], i: int) -> Diagnosis | None:
    """What calling the gradient function again shows: that it is random, or right but for its rounding."""
    argument = arguments[i]
    if given.again is None or argument.given.shape != argument.exact.shape:
        return None
    repeated = _at(given, subject.given_args())
    if repeated is not None and not _within(repeated[i], argument.given, argument.tolerance):
        return Diagnosis(
            "not deterministic",
            "The gradient is another one each time it is computed at the same point.",
            "random numbers without a seed, or state that is kept between calls",
        )
    precision = np.finfo(argument.given.dtype).dtype if argument.given.dtype.kind in "fc" else None
    if precision is None or np.finfo(precision).eps <= np.finfo(np.float64).eps:
        return None
    with double_precision():
        doubled = _at(given, subject.in_own_kind(subject.args))
    if doubled is None or doubled[i].dtype == argument.given.dtype:
        return None
    if not _within(doubled[i], argument.exact, argument.tolerance):
        return None
    return Diagnosis(
        "rounding",
        f"The formula is right: in float64 the gradient agrees. In {argument.given.dtype} it loses digits.",
        "a difference of nearly equal numbers; write it in another way, or compute it in double precision",
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

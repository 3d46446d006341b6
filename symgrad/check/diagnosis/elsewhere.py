"""The exact derivative at other arguments: one with a wrong sign, transposed, or turned round."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from symgrad.check.asking.calling import like
from symgrad.check.asking.subject import Subject
from symgrad.check.diagnosis.case import Case
from symgrad.check.oracle.exact import exact_gradient
from symgrad.tape.record import Recorded

LARGEST = 100_000
"""Entries of all arguments up to which the function is run again."""

LARGEST_MEASURED = 100
"""The same of a black box, which is run many times for each."""


def elsewhere(case: Case) -> Iterator[tuple[str, str, Any]]:
    """``(what is meant, where to look, gradient)`` for arguments that people mix up."""
    subject = case.subject
    mine = subject.positions[case.number]
    if sum(np.size(subject.args[k]) for k in subject.data) > (LARGEST_MEASURED if case.exact.measured else LARGEST):
        return
    for k in sorted(subject.data, key=lambda k: np.ndim(subject.args[k])):  # offsets and targets before matrices
        array, name = subject.args[k], subject.names[k]
        kind = np.asarray(array).dtype.kind
        if k != mine and kind in "fc" and np.any(array):
            yield f"-{name} in place of {name}", f"the sign in front of {name}", _gradient(case, k, -array)
        if k != mine and np.ndim(array) == 2 and np.shape(array)[0] == np.shape(array)[1]:
            turned = np.asarray(array).T
            yield f"{name}ᵀ in place of {name}", f"{name} for {name}ᵀ", _gradient(case, k, turned)
        if k != mine and kind in "fc" and k >= subject.given:
            ones = f"where {name} has to come in"
            yield f"ones in place of the cotangent {name}", ones, _gradient(case, k, np.ones_like(array))
        if case.exact.measured and k >= subject.given:
            continue  # of a black box each of these costs as much as the whole check
        if k != mine and kind in "fc" and np.ndim(array) and np.size(array) > 1:
            for axis in range(np.ndim(array)):
                what = f"{name} turned round along axis {axis}" if np.ndim(array) > 1 else f"{name}[::-1]"
                flipped = np.flip(array, axis)
                yield f"{what} in place of {name}", f"the order of {name}", _gradient(case, k, flipped)
            if np.ndim(array) > 2:
                both = np.flip(array, (-2, -1))
                what = f"{name} turned round along its last two axes in place of {name}"
                yield what, f"the order of {name}: a kernel flipped, or not", _gradient(case, k, both)


def _gradient(case: Case, k: int, array: Any) -> Any:
    """The gradient with ``array`` for argument ``k``; None where the function has none there."""
    subject, number = case.subject, case.number
    args = [array if j == k else a for j, a in enumerate(subject.args)]
    measured = case.exact.measured and subject.derivative.kind == "gradient"
    try:
        with np.errstate(all="ignore"):
            if measured:
                originals = subject.given_args()
                originals[k] = like(originals[k], array)
                own = [subject.positions[number]]
                there = Subject(subject.f, originals, own, subject.names, subject.derivative, subject.given)
                return exact_gradient(there, [case.g]).gradients[0]
            output, leaves = subject.trace(args)
            if not isinstance(output, Recorded) or not output._requires_grad:
                return None
            return subject.derivative.exact(output, leaves)[number]
    except Exception:  # noqa: BLE001  (whatever the function does with other arguments)
        return None

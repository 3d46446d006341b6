"""The exact gradient: the ladder of ways to know it.

``f`` runs on double-precision tensors and the tape gives the gradient.  A directional derivative by differences of
``f`` itself guards against functions that leave the tape on the way (``float(x)``, ``x.data``); those, and functions
that do not run on tensors at all, are black boxes (:mod:`symgrad.check.oracle.measured`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from symgrad.check.asking.arrays import as_array
from symgrad.check.asking.calling import double_precision
from symgrad.check.asking.derivatives import pulled
from symgrad.check.asking.subject import Subject
from symgrad.check.graph.lines import lines_noted
from symgrad.check.oracle.answer import Exact
from symgrad.check.oracle.manydigits import DIGITS, gradients_in_digits
from symgrad.check.oracle.measured import (
    Refusal,
    line_of_error,
    line_of_number,
    measured,
    real,
)
from symgrad.check.oracle.repeats import require_deterministic
from symgrad.check.oracle.tolerance import set_tolerances
from symgrad.check.oracle.trust import agrees_on_symmetric_matrices, agrees_with_values, weights_of
from symgrad.errors import ArgumentError, ChangedInPlace
from symgrad.tape.record import Recorded
from symgrad.tape.watching.looks import look_count

ROUNDED = 1e-14
"""How far values on tensors and on arrays are apart, relative to the largest, where nothing but rounding differs.

A method may mean something else there: ``x.var()`` divides by n - 1 on tensors, which hardly shows beside an epsilon.
"""


def exact_gradient(subject: Subject, given: Sequence[Any]) -> Exact:
    """The exact gradient at the point, from the tape if ``f`` can be traced and from ``f``'s values if not.

    Functions of arrays are tried on tensors, and then on tensors that have the methods of arrays.  The ``method`` of
    the derivative leaves no choice.
    """
    method = subject.derivative.method
    found, apart = _from_tape(subject, given), subject.apart
    if subject.is_of_arrays and (isinstance(found, Refusal) or apart > ROUNDED):
        subject.as_arrays = True
        again = _from_tape(subject, given)
        if isinstance(again, Exact) and (isinstance(found, Refusal) or subject.apart < apart):
            found = again
        else:
            subject.as_arrays = False
    if method in ("exact", "mp") and isinstance(found, Refusal):
        raise ArgumentError(
            f"method={method!r} needs a function that symgrad can follow, but {found.text}. Compare with values of f: "
            "method='fd'."
        )
    if isinstance(found, Refusal):
        return measured(subject, given, found, method)
    if method in ("fd", "complex-step"):
        # A function that runs on tensors may be written for them alone.
        return measured(subject, given, Refusal("", on_tensors=not subject.is_of_arrays or method == "fd"), method)
    if method == "mp":
        found.gradients = gradients_in_digits(subject, found)
        found.method = f"the exact derivative in {DIGITS} digits"
    return found


def _from_tape(subject: Subject, given: Sequence[Any]) -> Exact | Refusal:
    constants: dict[Any, Any] = {}
    before = look_count()
    try:
        with lines_noted(constants) as lines:
            output, leaves = subject.trace(subject.args)
    except Exception as error:  # noqa: BLE001  (whatever f does with a tensor; it may still run on arrays)
        return _refused(subject, error)
    value = real(subject.derivative.value(output))
    if not isinstance(output, Recorded):
        return Refusal("makes plain numbers of its arguments on the way", line_of_number(before))
    functions = list(dict.fromkeys(subject.functions))
    order = require_deterministic(value, lambda: subject.on_tensors(subject.args))
    if _means_another(subject, value):
        return Refusal("gives another value on symgrad tensors than on arrays")
    weights = weights_of(value)
    try:
        weighted = pulled(output, leaves, weights)
        gradients = weighted if subject.derivative.kind == "gradient" else subject.derivative.exact(output, leaves)
    except ChangedInPlace as error:
        if not functions:
            raise
        return _refused(
            subject, error
        )  # a forward may change what it likes: nothing of it is recorded where it is used
    symmetric: list[int] = []
    if not agrees_with_values(subject, weights, weighted):
        symmetric = agrees_on_symmetric_matrices(subject, weights, weighted)
        if not symmetric:
            reason = "leaves the tape on the way (float(), .item(), .data, .detach() or plain NumPy on values)"
            return Refusal(reason, line_of_number(before), None, True, gradients)
    found = Exact("the exact derivative, from the recorded operations", value, gradients, [], notes=order)
    found.output, found.leaves, found.symmetric, found.lines = output, leaves, symmetric, lines
    found.constants, found.as_arrays = constants, subject.as_arrays
    if functions:
        names = " and ".join(functions)
        found.notes.append(f"the derivative is that of forward in {names}, whose backward is not asked")
    set_tolerances(subject, found, given)
    return found


def _refused(subject: Subject, error: Exception) -> Refusal:
    """Why ``f`` does not run on tensors."""
    said = " ".join(str(error).split())
    reason = f"({type(error).__name__}: {said:.60}{'…' * (len(said) > 60)})"
    if subject.functions:
        names = " and ".join(dict.fromkeys(subject.functions))
        own = not subject.is_foreign  # those of another library run in that one
        return Refusal(f"calls {names}, whose operations cannot be recorded {reason}", "", error, own)
    if subject.is_foreign:
        return Refusal("runs on arrays of its own library only", "", error)
    if "numpy() on Tensor" in said:  # the words of torch for np.asarray(), which say nothing to users of arrays
        reason = "makes plain arrays of its arguments (np.asarray() or the like)"
    else:
        reason = f"runs on arrays, not on symgrad tensors {reason}"
    return Refusal(reason, line_of_error(error), error)


def _means_another(subject: Subject, value: Any) -> bool:
    """Whether ``f`` on its own arrays gives another value than on tensors: the same method may mean something else."""
    try:
        with np.errstate(all="ignore"), double_precision():
            own = as_array(subject.on_own(subject.args))
    except Exception:  # noqa: BLE001  (f is written for tensors)
        return False
    value = as_array(value)
    if own.dtype.kind not in "fc" or own.dtype.itemsize < value.dtype.itemsize:
        return False
    if own.shape == value.shape:
        with np.errstate(all="ignore"):
            subject.apart = float(np.max(np.abs(own - value), initial=0.0) / (np.max(np.abs(value), initial=0.0) or 1))
    subject.same_on_own = own.shape == value.shape and np.allclose(own, value, rtol=1e-6, atol=1e-9, equal_nan=True)
    return not subject.same_on_own

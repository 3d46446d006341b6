"""What ``gradcheck`` compares with: differences, the complex step, or the exact derivative.

Central differences know a derivative to about ten digits at best, so that small mistakes pass.  The complex step
``Im f(x + ih)/h`` knows all digits of analytic functions of real arguments (Squire and Trapp, SIAM Review 40(1), 1998).
The exact derivative is that of the operations in ``forward``, by the rules of the op table; the backward passes of
custom functions are not asked.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from symgrad.autograd import forward_ad
from symgrad.autograd.checking.differences import Subject, tensors_of
from symgrad.errors import ArgumentError
from symgrad.tape.modes import enable_grad, own_no_grad
from symgrad.tape.record import plain
from symgrad.tape.watching.lookthrough import looked_through
from symgrad.tensor import Tensor

METHODS = ("fd", "complex-step", "exact", "mp")

DIGITS = 50
"""Digits of ``method="mp"``."""

TIGHT = (1e-10, 1e-8)
"""``atol`` and ``rtol`` where the reference has no error of its own to speak of."""

_STEP = 1e-30
_CLOSE = 1e-4
"""How far, relative to the largest entry, a complex step may be from differences."""

Derivative = Callable[[int, Any], list[Any]]
"""``(number of the input, direction) -> derivatives of all outputs along it``"""


def reference(subject: Subject, method: str) -> Derivative:
    """The derivatives to compare with.  ``ArgumentError`` for an unknown method."""
    if method not in METHODS:
        raise ArgumentError(f"method={method!r} is none of {', '.join(map(repr, METHODS))}.")
    if method == "complex-step":
        return lambda k, direction: _complex_step(subject, k, direction)
    if method == "fd":
        return subject.difference
    digits = DIGITS if method == "mp" else None
    return lambda k, direction: _exact(subject, k, direction, digits)


def run_along(subject: Subject, directions: dict[int, Any], digits: int | None = None) -> list[Any]:
    """The derivatives of all outputs where some inputs move; as in torch, none of those under check requires grad.

    With ``digits`` they are evaluated to so many from their formulas, which only inputs that require grad leave.
    """
    row = [x.detach() if i in subject.checked else x for i, x in enumerate(subject.given())]
    if digits is not None:
        row = [x._require() if i in subject.checked else x for i, x in enumerate(row)]
    with forward_ad.dual_level(), enable_grad():
        for i, direction in directions.items():
            tangent = plain(Tensor, np.array(direction, subject.inputs[i].dtype)[()])
            row[i] = forward_ad.make_dual(row[i], tangent)
        found = subject.func(*row)
        outs = found if isinstance(found, (tuple, list)) else (found,)
        pairs = [forward_ad.unpack_dual(o) for o in outs if hasattr(o, "raw_shape")]
        return [
            np.zeros(p.raw_shape, p.dtype) if t is None else _value(t, digits).astype(p.dtype).reshape(p.raw_shape)
            for p, t in pairs
        ]


def _value(tangent: Any, digits: int | None) -> Any:
    if digits is None or getattr(tangent, "grad_fn", None) is None:
        return np.array(getattr(tangent, "_value", tangent))
    return np.array(tangent.evalf(digits))


def _exact(subject: Subject, k: int, direction: Any, digits: int | None) -> list[Any]:
    standing = {i: np.zeros_like(subject.inputs[i]._value) for i in subject.checked}
    with looked_through():
        return run_along(subject, standing | {k: direction}, digits)


def _complex_step(subject: Subject, k: int, direction: Any) -> list[Any]:
    if any(subject.inputs[i].dtype.kind == "c" for i in subject.checked):
        raise ArgumentError("method='complex-step' needs real inputs; use method='exact' or 'fd'.")
    row = [x.detach() if i in subject.checked else x for i, x in enumerate(subject.given())]
    row[k] = plain(Tensor, np.asarray(row[k]._value + 1j * _STEP * np.asarray(direction))[()])
    with looked_through(), own_no_grad():
        try:
            found = [np.imag(o._value) / _STEP for o in tensors_of(subject.func(*row), tracked=False)]
        except Exception as error:
            raise ArgumentError(
                f"method='complex-step': the function does not take complex numbers ({type(error).__name__}: {error}); "
                "use method='exact' or 'fd'."
            ) from error
    differences = subject.difference(k, direction)
    for j, (step, difference) in enumerate(zip(found, differences, strict=True)):
        room = _CLOSE * (1 + np.max(np.abs(difference), initial=0.0))
        if np.any(np.abs(step - difference) > room):
            raise ArgumentError(
                f"method='complex-step': output {j} is no analytic function of {subject.name(k)} (abs, conj, maximum "
                "and their kin are not); use method='exact' or 'fd'."
            )
    return found

"""The exact gradient in many digits: the formula that was recorded, evaluated by mpmath."""

from __future__ import annotations

from typing import Any

import numpy as np

from symgrad.autograd import grad as tape_grad
from symgrad.check.asking.subject import Subject
from symgrad.check.oracle.answer import Exact
from symgrad.errors import ArgumentError, SymgradError

DIGITS = 50
"""Digits that the formula is evaluated to; the comparison rounds them to double precision."""


def gradients_in_digits(subject: Subject, exact: Exact) -> list[Any]:
    """The gradients evaluated to :data:`DIGITS` digits and rounded once; refuses what has no formula in digits."""
    if subject.derivative.kind != "gradient":
        raise ArgumentError(
            f"method='mp' is for gradients and vjps; this is a {subject.derivative.kind}. Leave out method=, or check "
            "a vjp (kind='vjp')."
        )
    found = tape_grad(exact.output, exact.leaves, create_graph=True, allow_unused=True, materialize_grads=True)
    try:
        return [_rounded(g, like) for g, like in zip(found, exact.gradients, strict=True)]
    except SymgradError as error:
        raise ArgumentError(
            f"method='mp': the gradient cannot be evaluated in digits ({error}); use method='exact'."
        ) from error


def _rounded(gradient: Any, like: Any) -> Any:
    if gradient.grad_fn is None:
        return like
    return np.asarray(gradient.evalf(DIGITS)).astype(like.dtype).reshape(like.shape)

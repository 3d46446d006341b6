"""Whether the tape's gradient may be believed: whether it predicts how the values of ``f`` move.

Functions that leave the tape on the way (``float(x)``, ``x.data``) have a gradient there, and it is wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from symgrad.check.asking.derivatives import pulled
from symgrad.check.asking.subject import Subject
from symgrad.check.oracle.blackbox import central_difference

WIDTHS = (1e-2, 1e-5, 1e-8, 1e-11)
"""Steps, relative to the entries: badly conditioned functions have poles close by, which only the short ones miss."""


def agrees_with_values(subject: Subject, weights: Any, gradients: Sequence[Any]) -> bool:
    """Whether the gradients of the weighted values predict how these move along a direction."""
    return _agrees(subject, weights, gradients, ())


def weights_of(value: Any) -> Any:
    """Weights for the entries of a value of ``f``: of any sign, and smaller for larger entries; 1 for a single one."""
    if not np.ndim(value):
        return np.ones(())
    size = np.where(np.isfinite(value) & (value != 0), np.abs(value), 1.0)
    rng = np.random.default_rng(2)
    return np.where(np.isfinite(value), rng.uniform(0.5, 1, size.shape) * rng.choice([-1.0, 1.0], size.shape), 0) / size


def agrees_on_symmetric_matrices(subject: Subject, weights: Any, gradients: Sequence[Any]) -> list[int]:
    """The symmetric arguments that ``f`` reads one triangle of, if the gradient is right as long as they are symmetric.

    ``eigh`` and ``cholesky`` are such functions: the derivative by entries that they do not read is zero, but their
    gradient, here and elsewhere, is the symmetric one.
    """
    matrices = [k for k in subject.positions if _is_symmetric(subject.args[k])]
    return matrices if matrices and _agrees(subject, weights, gradients, matrices) else []


def reads_one_triangle(subject: Subject) -> list[int]:
    """The symmetric arguments of which a scalar function reads one triangle."""
    if not any(_is_symmetric(subject.args[k]) for k in subject.positions):
        return []
    try:
        output, leaves = subject.trace(subject.args)
        gradients, one = pulled(output, leaves), np.ones(())
        return (
            [] if agrees_with_values(subject, one, gradients) else agrees_on_symmetric_matrices(subject, one, gradients)
        )
    except Exception:  # noqa: BLE001  (it does not run on tensors: a black box, moved as a whole)
        return []


def symmetrised(array: Any) -> Any:
    """The Hermitian part of matrices."""
    return (array + np.conj(np.swapaxes(array, -1, -2))) / 2


def _is_symmetric(array: Any) -> bool:
    square = np.ndim(array) >= 2 and array.shape[-1] == array.shape[-2] > 1
    return square and np.array_equal(array, np.conj(np.swapaxes(array, -1, -2)))


def _agrees(subject: Subject, weights: Any, gradients: Sequence[Any], symmetric: Sequence[int]) -> bool:
    """Here or close by, which clears points on a kink, where the difference quotient takes the mean of two pieces."""
    rng = np.random.default_rng(0)

    def nudges(args: Sequence[Any]) -> dict[int, Any]:
        made = {k: _nudge(args[k], rng) for k in subject.positions}
        return {k: symmetrised(v) if k in symmetric else v for k, v in made.items()}

    for attempt in range(2):
        moves = {k: v * 1e-3 * attempt for k, v in nudges(subject.args).items()}
        args = subject.moved(moves)
        if attempt:
            output, leaves = subject.trace(args)
            gradients = pulled(output, leaves, weights)
        if _predicts(subject, args, weights, gradients, nudges(args)):
            return True
    return False


def _predicts(
    subject: Subject, args: Sequence[Any], weights: Any, gradients: Sequence[Any], direction: dict[int, Any]
) -> bool:
    parts = [np.conj(g) * direction[k] for k, g in zip(subject.positions, gradients, strict=True)]
    slope = sum(float(np.sum(np.real(p))) for p in parts)
    scale = sum(float(np.sum(np.abs(p))) for p in parts)

    def along(t: float) -> Any:
        values = subject.values([a + t * direction[k] if k in direction else a for k, a in enumerate(args)])
        return np.sum(weights * values, where=weights != 0)

    for width in WIDTHS:
        measured, error = central_difference(along, width)
        if not np.isfinite(measured) or not np.isfinite(slope):
            return True
        if width < WIDTHS[0] and not 20 * error <= 1e-3 * scale:
            continue  # rounding alone would decide
        if abs(slope - measured) <= 20 * error + 1e-5 * scale + 1e-12:
            return True
    return False


def _nudge(array: Any, rng: np.random.Generator) -> Any:
    """A random direction of the size of the array's entries."""
    size = np.where(array == 0, 1.0, np.abs(array))
    noise = rng.uniform(0.5, 1, array.shape) * rng.choice([-1.0, 1.0], array.shape)
    if array.dtype.kind == "c":
        noise = noise * np.exp(1j * rng.uniform(0, 6, array.shape))
    return size * noise

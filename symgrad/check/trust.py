"""Whether the tape's gradient may be believed: whether it predicts how the values of ``f`` move.

Functions that leave the tape on the way (``float(x)``, ``x.data``) have a gradient there, and it is wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from symgrad.check.blackbox import central_difference
from symgrad.check.subject import Subject, tape_gradients

WIDTHS = (1e-2, 1e-5, 1e-8, 1e-11)
"""Steps, relative to the entries: badly conditioned functions have poles close by, which only the short ones miss."""


def agrees_with_values(subject: Subject, gradients: Sequence[Any]) -> bool:
    """Whether the gradient predicts how the values move along a direction."""
    return _agrees(subject, gradients, ())


def agrees_on_symmetric_matrices(subject: Subject, gradients: Sequence[Any]) -> list[int]:
    """The symmetric arguments that ``f`` reads one triangle of, if the gradient is right as long as they are symmetric.

    ``eigh`` and ``cholesky`` are such functions: the derivative by entries that they do not read is zero, but their
    gradient, here and elsewhere, is the symmetric one.
    """
    matrices = [k for k in subject.positions if _is_symmetric(subject.args[k])]
    return matrices if matrices and _agrees(subject, gradients, matrices) else []


def symmetrised(array: Any) -> Any:
    """The Hermitian part of matrices."""
    return (array + np.conj(np.swapaxes(array, -1, -2))) / 2


def _is_symmetric(array: Any) -> bool:
    square = np.ndim(array) >= 2 and array.shape[-1] == array.shape[-2] > 1
    return square and np.array_equal(array, np.conj(np.swapaxes(array, -1, -2)))


def _agrees(subject: Subject, gradients: Sequence[Any], symmetric: Sequence[int]) -> bool:
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
            gradients = tape_gradients(output, leaves)
        if _predicts(subject, args, gradients, nudges(args)):
            return True
    return False


def _predicts(subject: Subject, args: Sequence[Any], gradients: Sequence[Any], direction: dict[int, Any]) -> bool:
    parts = [np.conj(g) * direction[k] for k, g in zip(subject.positions, gradients, strict=True)]
    slope = sum(float(np.sum(np.real(p))) for p in parts)
    scale = sum(float(np.sum(np.abs(p))) for p in parts)

    def along(t: float) -> Any:
        return subject.on_tensors([a + t * direction[k] if k in direction else a for k, a in enumerate(args)])

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

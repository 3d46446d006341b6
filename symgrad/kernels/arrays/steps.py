"""NumPy kernels of chains of steps, each of which reaches a state from itself and from the two before it."""

from __future__ import annotations

from typing import Any

import numpy as np


def alignments(scores: Any, barriers: Any, running: Any, times: tuple[int, ...]) -> Any:
    """Logarithms of sums over all ways to every state, after every step.

    Sample n takes ``times[n]`` steps, after the first those where ``running`` (step, sample, 1) is true.  ``scores`` is
    (…, step, sample, state); ``barriers`` (sample, state, way) is -inf where a state is not reached from the one two
    before, and 0 elsewhere.
    """
    out = np.empty_like(scores)
    states = scores.shape[-1]
    alpha = np.where(np.arange(states) < 2, scores[..., 0, :, :], -np.inf)
    out[..., 0, :, :] = alpha
    before = np.full((*alpha.shape[:-1], states + 2), -np.inf, scores.dtype)
    with np.errstate(invalid="ignore"):
        for step in range(1, scores.shape[-3]):
            before[..., 2:] = alpha
            later = np.logaddexp(alpha, before[..., 1:-1])
            later = np.logaddexp(later, before[..., :-2] + barriers[..., 0]) + scores[..., step, :, :]
            alpha = later if min(times, default=step + 1) > step else np.where(running[step], later, alpha)
            out[..., step, :, :] = alpha
    return out


def last_alignments(logs: Any, labels: Any, barriers: Any, running: Any, times: tuple[int, ...]) -> Any:
    """The same after the last step, of the scores that ``labels`` (step, sample, state) picks among the classes."""
    labels = np.broadcast_to(labels, (*logs.shape[:-1], labels.shape[-1]))
    return alignments(np.take_along_axis(logs, labels, -1), barriers, running, times)[..., -1, :, :].copy()


def pulled_steps(g: Any, shares: Any) -> Any:
    """Cotangents of the states after every step, from what comes in there and by the later ones.

    ``shares[…, step, sample, state, way]`` is the slope of a state by the one two before, the one before and itself.
    """
    out = g.copy()
    for step in range(g.shape[-3] - 2, -1, -1):
        parts = out[..., step + 1, :, :, None] * shares[..., step + 1, :, :, :]
        here = out[..., step, :, :]
        here += parts[..., 2]
        here[..., :-1] += parts[..., 1:, 1]
        here[..., :-2] += parts[..., 2:, 0]
    return out


def pushed_steps(t: Any, shares: Any) -> Any:
    """Tangents of the states after every step, from what comes in there and by the earlier ones."""
    out = t.copy()
    before = np.zeros((*t.shape[:-3], t.shape[-2], t.shape[-1] + 2), t.dtype)
    for step in range(1, t.shape[-3]):
        before[..., 2:] = out[..., step - 1, :, :]
        here, part = out[..., step, :, :], shares[..., step, :, :, :]
        here += before[..., 2:] * part[..., 2]
        here += before[..., 1:-1] * part[..., 1]
        here += before[..., :-2] * part[..., 0]
    return out

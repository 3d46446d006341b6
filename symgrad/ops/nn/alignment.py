"""Connectionist temporal classification: the loss of all alignments of a sequence with a shorter one."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from symgrad.errors import ArgumentError, DtypeError, ShapeError
from symgrad.op import refusing, shape_of
from symgrad.ops.calls.naming import within
from symgrad.ops.calls.still import values_of
from symgrad.ops.elementwise.select import eq, where
from symgrad.ops.indexing.getitem import gather, getitem
from symgrad.ops.indexing.windows import windows_op
from symgrad.ops.nn.losses import check_reduction
from symgrad.ops.reductions.softmax import logsumexp
from symgrad.ops.reductions.sums import mean, sum_
from symgrad.ops.shapes.joining import cat
from symgrad.ops.shapes.shaping import reshape, unsqueeze


def _numbers(name: str, lengths: Any, batch: int) -> list[int]:
    """A length for every sample."""
    plain = values_of(lengths).reshape(-1)
    if plain.size and plain.dtype.kind not in "ui":
        raise DtypeError(f"{name} must be integral, and these are of dtype {plain.dtype}")
    if len(plain) != batch:
        raise ArgumentError(f"{name} must be of size batch_size ({batch}), got {len(plain)}")
    return [int(n) for n in plain]


def _labels(targets: Any, lengths: list[int]) -> list[Any]:
    """The target of every sample, from rows or from one long vector."""
    plain = values_of(targets)
    if plain.ndim == 2:
        return [plain[k, :n] for k, n in enumerate(lengths)]
    ends = np.cumsum(lengths)
    return [plain[end - n : end] for end, n in zip(ends, lengths, strict=True)]


def _losses(logs: Any, targets: list[Any], times: Any, blank: int) -> Any:
    """-log of the probability of all alignments (Graves et al. 2006), for the whole batch at once.

    ``logs`` is (time, batch, classes).  Shorter targets are filled up with blanks, which nobody reads.
    """
    counts = np.array([len(target) for target in targets], np.int64)
    states = np.full((len(targets), 2 * int(counts.max(initial=0)) + 1), blank, np.int64)
    for row, target in zip(states, targets, strict=True):
        row[1 : 2 * len(target) : 2] = target
    # A state is reached from the one two before (if that skips a blank between other labels), the last, and itself.
    barriers = np.zeros((*states.shape, 3), logs.dtype)
    barriers[:, :2, 0] = -math.inf
    barriers[:, 2:, 0][(states[:, 2:] == blank) | (states[:, 2:] == states[:, :-2])] = -math.inf
    outside = np.full((len(targets), 2), -math.inf, logs.dtype)
    steps = max(1, int(times.max(initial=0)))
    scores = gather(getitem(logs, slice(0, steps)), 2, np.broadcast_to(states, (steps, *states.shape)))
    alpha = where(np.arange(states.shape[1]) < 2, scores[0], -math.inf)
    for step in range(1, steps):
        ways = windows_op(cat([outside, alpha], 1), dim=1, size=3, step=1, dilation=1) + barriers
        later, running = logsumexp(ways, 2) + scores[step], times > step
        alpha = later if running.all() else where(running[:, None], later, alpha)
    ends = gather(alpha, 1, np.stack([2 * counts, np.maximum(2 * counts - 1, 0)], 1))
    found = -logsumexp(where(np.stack([counts >= 0, counts > 0], 1), ends, -math.inf), 1)
    return found if times.all() else where(times > 0, found, np.where(counts > 0, math.inf, 0.0).astype(found.dtype))


@within("nn.functional")
@refusing({"buic": "ctc_loss_cpu"})
def ctc_loss(
    log_probs: Any,
    targets: Any,
    input_lengths: Any,
    target_lengths: Any,
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Any:
    """The CTC loss of log-probabilities (time, batch, classes), or (time, classes) for one sample.

    "mean" divides every loss by the length of its target first.  The gradient by ``log_probs`` is the derivative of
    what is computed; torch adds exp(log_probs) to it, which vanishes behind a ``log_softmax``.

    Raises ``ArgumentError`` for an unknown reduction.
    """
    check_reduction(reduction)
    single = len(shape_of(log_probs)) == 2
    logs = unsqueeze(log_probs, 1) if single else log_probs
    if len(shape_of(targets)) not in (1, 2):
        raise ShapeError(f"Expected 1 to 2 dimensions for argument 'targets', got shape {tuple(shape_of(targets))}")
    if not 0 <= blank < shape_of(logs)[2]:
        raise ArgumentError(f"blank must be in label range: {blank} is none of {shape_of(logs)[2]} classes")
    batch = shape_of(logs)[1]
    times, counts = _numbers("input_lengths", input_lengths, batch), _numbers("target_lengths", target_lengths, batch)
    if min(times, default=0) < 0 or min(counts, default=0) < 0:
        raise ArgumentError(f"Expected lengths to be at least 0, but got {times} of inputs, {counts} of targets")
    room, need = shape_of(targets)[-1], max(counts, default=0) if len(shape_of(targets)) == 2 else sum(counts)
    if need > room:
        raise ArgumentError(f"Expected targets to have size at least {need} at the last dimension, but got size {room}")
    value = _losses(logs, _labels(targets, counts), np.array(times, np.int64), blank)
    if zero_infinity:
        value = where(eq(value, math.inf), 0, value)
    if reduction == "mean":
        return mean(value / np.maximum(counts, 1).astype(value.dtype))
    if reduction == "sum":
        return sum_(value)
    return reshape(value, ()) if single else value

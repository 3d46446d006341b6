"""Connectionist temporal classification: the loss of all alignments of a sequence with a shorter one."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from symgrad.errors import ArgumentError
from symgrad.op import front, shape_of
from symgrad.ops.indexing import getitem
from symgrad.ops.naming import within
from symgrad.ops.reductions import logsumexp, mean, sum_
from symgrad.ops.select import eq, where
from symgrad.ops.shaping import cat, reshape, stack, unsqueeze
from symgrad.ops.still import values_of


def _numbers(lengths: Any) -> list[int]:
    return [int(n) for n in values_of(lengths).reshape(-1)]


def _labels(targets: Any, lengths: list[int]) -> list[Any]:
    """The target of every sample, from rows or from one long vector."""
    plain = values_of(targets)
    if plain.ndim == 2:
        return [plain[k, :n] for k, n in enumerate(lengths)]
    ends = np.cumsum(lengths)
    return [plain[end - n : end] for end, n in zip(ends, lengths, strict=True)]


def _shifted(alpha: Any, by: int) -> Any:
    """The states ``by`` places later, with log 0 in front."""
    count = shape_of(alpha)[0]
    front_part = np.full(min(by, count), -math.inf, alpha.dtype)
    return cat([front_part, getitem(alpha, slice(0, max(count - by, 0)))], 0)


def _loss(logs: Any, target: Any, blank: int) -> Any:
    """-log of the probability of all alignments (Graves et al. 2006); ``logs`` is (time, classes)."""
    states = np.full(2 * len(target) + 1, blank)
    states[1::2] = target
    skips = np.zeros(len(states), bool)
    skips[2:] = (states[2:] != blank) & (states[2:] != states[:-2])
    scores = getitem(logs, (slice(None), states))
    alpha = where(np.arange(len(states)) < 2, scores[0], -math.inf)
    for step in range(1, shape_of(logs)[0]):
        ways = stack([alpha, _shifted(alpha, 1), where(skips, _shifted(alpha, 2), -math.inf)], 0)
        alpha = logsumexp(ways, 0) + scores[step]
    return -logsumexp(getitem(alpha, slice(-2, None)), 0)


@front("ctc_loss", method=False)
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

    "mean" divides every loss by the length of its target first.  Raises ``ArgumentError`` for an unknown reduction.
    """
    if reduction not in ("none", "mean", "sum"):
        raise ArgumentError(f"{reduction} is not a valid value for reduction: 'mean', 'sum' or 'none'.")
    single = len(shape_of(log_probs)) == 2
    logs = unsqueeze(log_probs, 1) if single else log_probs
    times, counts = _numbers(input_lengths), _numbers(target_lengths)
    losses = []
    for k, target in enumerate(_labels(targets, counts)):
        losses.append(_loss(getitem(logs, (slice(0, times[k]), k)), target, blank))
    value = stack(losses, 0)
    if zero_infinity:
        value = where(eq(value, math.inf), 0, value)
    if reduction == "mean":
        return mean(value / np.maximum(counts, 1).astype(value.dtype))
    if reduction == "sum":
        return sum_(value)
    return reshape(value, ()) if single else value


within("nn.functional")(ctc_loss)

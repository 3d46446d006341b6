"""Connectionist temporal classification: the loss of all alignments of a sequence with a shorter one."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from symgrad import kernels
from symgrad.errors import ArgumentError, DtypeError, ShapeError
from symgrad.op import Op, primitive, refusing, sampling, shape_of
from symgrad.ops.calls.naming import within
from symgrad.ops.calls.still import decided_by
from symgrad.ops.elementwise.select import eq, where
from symgrad.ops.elementwise.smooth import exp
from symgrad.ops.indexing.gathering import gather, gather_op, scatter_op
from symgrad.ops.indexing.getitem import getitem
from symgrad.ops.indexing.places import check_places
from symgrad.ops.indexing.windows import windows_op, windows_sum_op
from symgrad.ops.nn.losses import check_reduction
from symgrad.ops.reductions.softmax import logsumexp
from symgrad.ops.reductions.sums import mean, sum_
from symgrad.ops.shapes.joining import cat, narrow, narrow_op, select_op, stack
from symgrad.ops.shapes.shaping import ones_like, reshape, spread, unsqueeze, zeros_like


def _numbers(name: str, lengths: Any, batch: int) -> list[int]:
    """A length for every sample."""
    plain = decided_by(lengths).reshape(-1)
    if plain.size and plain.dtype.kind not in "ui":
        raise DtypeError(f"{name} must be integral, and these are of dtype {plain.dtype}")
    if len(plain) != batch:
        raise ArgumentError(f"{name} must be of size batch_size ({batch}), got {len(plain)}")
    return [int(n) for n in plain]


def _labels(targets: Any, lengths: list[int]) -> list[Any]:
    """The target of every sample, from rows or from one long vector."""
    plain = decided_by(targets)
    if plain.ndim == 2:
        return [plain[k, :n] for k, n in enumerate(lengths)]
    ends = np.cumsum(lengths)
    return [plain[end - n : end] for end, n in zip(ends, lengths, strict=True)]


def _filled(x: Any, axis: int, size: int, value: float) -> list[Any]:
    """Entries of one value in front of, or behind, those of ``x`` along an axis, to be joined with them."""
    return [ones_like(narrow_op(x, dim=axis, start=0, length=1)) * value] * size


def _ways(states: Any, outside: float = -math.inf) -> Any:
    """Of every state the one two before, the one before and itself."""
    axis = len(shape_of(states)) - 1
    row = cat([*_filled(states, axis, 2, outside), states], axis)
    return windows_op(row, dim=axis, size=3, step=1, dilation=1)


def _entry(x: Any, k: int) -> Any:
    return select_op(x, dim=0, index=k)


def _count(x: Any, axis: int) -> int:
    """A size that says how many terms a definition has: no letter can."""
    size = shape_of(x)[axis]
    if isinstance(size, str):
        raise ShapeError(f"a chain of steps is written out for a number of them, not for {size}")
    return int(size)


def _reached(scores: Any, barriers: Any, running: Any, times: tuple[int, ...]) -> list[Any]:
    """Logarithms of the sums over all ways to every state (Graves et al. 2006), after every step."""
    first, states = _entry(scores, 0), _count(scores, 2)
    start = narrow_op(first, dim=1, start=0, length=min(2, states))
    found = [cat([start, *_filled(first, 1, states - 2, -math.inf)], 1)]
    for step in range(1, _count(scores, 0)):
        later = logsumexp(_ways(found[-1]) + barriers, 2) + _entry(scores, step)
        found.append(later if min(times, default=step + 1) > step else where(_entry(running, step), later, found[-1]))
    return found


def _steps(x: Any) -> int:
    """The axis of steps, behind which there are those of samples and of states."""
    return len(shape_of(x)) - 3


def _running(times: tuple[int, ...], steps: int) -> Any:
    """Which samples take which steps after the first, with an axis for their states."""
    places = np.arange(steps)[:, None]
    return (np.greater(times, places) & (places > 0))[:, :, None]


def _before(states: Any) -> Any:
    """The states before every step, and zeros before the first."""
    axis = _steps(states)
    first, rest = narrow(states, axis, 0, 1), narrow(states, axis, 0, shape_of(states)[axis] - 1)
    return cat([zeros_like(first), rest], axis)


def _shares(reached: Any, scores: Any, barriers: Any, running: Any) -> Any:
    """The slopes of the states after every step but the first by those that they are reached from."""
    here = unsqueeze(reached, -1)
    slopes = exp(_ways(_before(reached)) + barriers - unsqueeze(reached - scores, -1))
    stay = cat([zeros_like(here), zeros_like(here), ones_like(here)], -1)
    return where(unsqueeze(running, -1), where(here > -math.inf, slopes, 0), stay)


def _pulled(g: Any, reached: Any, scores: Any, barriers: Any, running: Any) -> Any:
    """The cotangent of the scores: at first those of two states enter, then all while a sample has steps."""
    back, axis = pulled_steps_op(g, _shares(reached, scores, barriers, running)), _steps(scores)
    later, states = shape_of(scores)[axis] - 1, shape_of(scores)[-1]
    first = narrow_op(back, dim=axis, start=0, length=1)
    start = narrow_op(first, dim=axis + 2, start=0, length=min(2, states))
    rest = narrow_op(back, dim=axis, start=1, length=later)
    taken = narrow_op(running, dim=_steps(running), start=1, length=later)
    return cat([cat([start, *_filled(first, axis + 2, states - 2, 0)], axis + 2), where(taken, rest, 0)], axis)


def _pulled_from_last(g: Any, logs: Any, labels: Any, barriers: Any, running: Any, times: tuple[int, ...]) -> Any:
    axis = _steps(logs)
    labels = spread(labels, *shape_of(logs)[:-1], shape_of(labels)[-1])
    scores = gather_op(logs, labels, dim=axis + 2)
    reached = alignments_op(scores, barriers, running, times=times)
    before = zeros_like(narrow(reached, axis, 0, shape_of(reached)[axis] - 1))
    found = _pulled(cat([before, unsqueeze(g, axis)], axis), reached, scores, barriers, running)
    return scatter_op(found, labels, dim=axis + 2, shape=shape_of(logs))


def _example(make: Any, states: int = 2) -> Any:
    barriers, times = np.zeros((2, states, 3)), (4, 2)
    barriers[:, :, 0] = -math.inf
    return (make("real", 4, 2, states), barriers, _running(times, 4)), {"times": times}


_SCORES, _FREE, _ALL = [[[-1.0, -2.0]], [[-0.5, -3.0]]], [[[0.0, 0.5, 1.0], [0.0, 0.25, 1.0]]], [[[False]], [[True]]]
"""Two steps of a sample with two states, and what they are reached by."""


def _labelled_example(make: Any) -> Any:
    (scores, *rest), times = _example(make, 3)
    return (scores, make("index:3", 4, 2, 3), *rest), times


alignments_op: Op = primitive(
    "alignments",
    kernels.alignments,
    (lambda g, out, scores, barriers, running, *, times: _pulled(g, out, scores, barriers, running), None, None),
    result=lambda scores, *others, times: scores,
    define=lambda scores, barriers, running, *, times: stack(_reached(scores, barriers, running, times), 0),
    spelled=True,
    refuses="buic",
    mixes=3,
    example=(_SCORES, _FREE, _ALL, {"times": (2,)}),
    samples=[_example],
    doc="Log-probabilities of all alignments that end in a state, after every step.",
)
last_alignments_op: Op = primitive(
    "last_alignments",
    kernels.last_alignments,
    (
        lambda g, out, x, labels, barriers, running, *, times: _pulled_from_last(
            g, x, labels, barriers, running, times
        ),
        *(None, None, None),
    ),
    infer=lambda logs, labels, *others, times: labels[1:],
    result=lambda logs, *others, times: logs,
    define=lambda logs, labels, barriers, running, *, times: _reached(
        gather_op(logs, labels, dim=2), barriers, running, times
    )[-1],
    spelled=True,
    refuses="buic",
    mixes=3,
    example=(_SCORES, [[[0, 1]], [[0, 1]]], _FREE, _ALL, {"times": (2,)}),
    samples=[_labelled_example],
    doc="The same after the last step, of the scores of a label for every state; nothing else is kept.",
)


def _unrolled(first: int, last: int, by: int, put: Any, x: Any, shares: Any) -> Any:
    """States of one step after the other, each with what ``put`` makes of the neighbour's."""
    found = {first: _entry(x, first)}
    for step in range(first + by, last + by, by):
        found[step] = _entry(x, step) + put(found[step - by], _entry(shares, max(step, step - by)))
    return stack([found[step] for step in sorted(found)], 0)


def _put_back(states: Any, shares: Any) -> Any:
    size = _count(states, 1)
    back = windows_sum_op(unsqueeze(states, -1) * shares, dim=1, step=1, dilation=1, size=size + 2)
    return narrow_op(back, dim=1, start=2, length=size)


pulled_steps_op: Op = primitive(
    "pulled_steps",
    kernels.pulled_steps,
    (
        lambda c, out, likeg, shares: pushed_steps_op(c, shares),
        lambda c, out, likeg, shares: unsqueeze(out, -1) * _ways(_before(pushed_steps_op(c, shares)), 0),
    ),
    define=lambda g, shares: _unrolled(_count(g, 0) - 1, 0, -1, _put_back, g, shares),
    spelled=True,
    refuses="buic",
    mixes=4,
    example=(_SCORES, [_FREE, _FREE], {}),
    samples=[sampling.many(("real", 4, 2, 3), ("real", 4, 2, 3, 3))],
    doc="Cotangents of the states of a chain of steps.",
)
pushed_steps_op: Op = primitive(
    "pushed_steps",
    kernels.pushed_steps,
    (
        lambda c, out, liket, shares: pulled_steps_op(c, shares),
        lambda c, out, liket, shares: unsqueeze(pulled_steps_op(c, shares), -1) * _ways(_before(out), 0),
    ),
    define=lambda t, shares: _unrolled(0, _count(t, 0) - 1, 1, lambda x, s: sum_(_ways(x, 0) * s, 2), t, shares),
    spelled=True,
    refuses="buic",
    mixes=4,
    example=(_SCORES, [_FREE, _FREE], {}),
    samples=[sampling.many(("real", 4, 2, 3), ("real", 4, 2, 3, 3))],
    doc="Tangents of the states of a chain of steps.",
)


def _losses(logs: Any, targets: list[Any], times: Any, blank: int) -> Any:
    """-log of the probability of all alignments by ``logs`` (time, batch, classes); blanks fill shorter targets up."""
    counts = np.array([len(target) for target in targets], np.int64)
    states = np.full((len(targets), 2 * int(counts.max(initial=0)) + 1), blank, np.int64)
    for row, target in zip(states, targets, strict=True):
        row[1 : 2 * len(target) : 2] = target
    # A state is reached from the one two before (if that skips a blank between other labels), the last, and itself.
    barriers = np.zeros((*states.shape, 3), logs.dtype)
    barriers[:, :2, 0] = -math.inf
    barriers[:, 2:, 0][(states[:, 2:] == blank) | (states[:, 2:] == states[:, :-2])] = -math.inf
    steps = max(1, int(times.max(initial=0)))
    logs, labels = getitem(logs, slice(0, steps)), np.broadcast_to(states, (steps, *states.shape))
    check_places(labels, logs, 2)
    chosen = tuple(times.tolist())
    alpha = last_alignments_op(logs, labels, barriers, _running(chosen, steps), times=chosen)
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

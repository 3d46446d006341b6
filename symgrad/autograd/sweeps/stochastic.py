"""Samples that carry a gradient to the parameters they were drawn with: the score function (Williams 1992).

The derivative of an expected reward is the expectation of reward · ∂ log p, p being the probability of what was drawn.
A sample knows its log p as a recorded composite of ops; ``sample.reinforce(reward)`` puts the reward in, and backward
then sends reward · ∂ log p / ∂θ to the parameters θ.  So the rule, its formula and its program come from log p.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from symgrad.dtypes import is_floating
from symgrad.errors import AutogradError, ShapeError, UnsupportedMode
from symgrad.notices import users_frames
from symgrad.op import Op, register, shape_of
from symgrad.ops.noise import SAMPLED
from symgrad.tape.formulas.names import site_name
from symgrad.tape.graph import Node
from symgrad.tape.modes import is_grad_enabled
from symgrad.tape.numbering import sequence
from symgrad.tape.operands import scalarised
from symgrad.tape.record import Recorded, plain
from symgrad.tape.saved import select_saved
from symgrad.tensor import Tensor

_UNTRACKED = ()
"""The log-probability of a sample whose parameters need no gradient."""


def _score(g: Any, out: Any, log_p: Any, sample: Any, reward: Any) -> Any:  # noqa: ARG001  (the rule's signature)
    return reward


REINFORCED: Op = register(
    Op(
        "reinforced",
        "opaque",
        lambda log_p, sample, reward: sample,
        (_score, None, None),
        infer=lambda log_p, sample, reward: sample,
        result=lambda log_p, sample, reward: sample,
        doc="A sample; the cotangent of its log-probability is the reward, whatever comes from above.",
    )
)


def _outside() -> Any:
    """Where the user's code drew the sample; the variable it is assigned to names it in formulas."""
    frame = next(users_frames(), None)
    return None if frame is None else (frame.f_code, frame.f_lasti)


def _sampled(values: Any, parameters: Sequence[Any], log_p: Callable[[Any], Any] | None) -> Any:
    """The tensor of a sample, with its log-probability where a parameter requires grad.

    Without a reward the derivative by the parameters is zero, as torch has it; without ``log_p`` there is none.
    """
    drawn: Any = plain(Tensor, scalarised(np.asarray(values)))
    drawn.more().score = _UNTRACKED
    tracked: list[Any] = [p for p in parameters if isinstance(p, Recorded) and p._requires_grad]
    if not tracked or not is_grad_enabled():
        return drawn
    if log_p is None:
        raise UnsupportedMode(
            "derivative for aten::binomial is not implemented; draw under no_grad(), or from prob.detach(): the "
            "log-probability of the sample has a derivative"
        )
    constant = drawn
    constant.more().name = site_name(None, _outside()) or "sample"
    score = log_p(constant)
    if is_floating(constant.dtype):
        drawn = sum((p * 0 for p in tracked), constant)
    drawn.more().score = (score, constant)
    return drawn


SAMPLED[0] = _sampled


def reinforced(tensor: Any) -> bool:
    """Whether a tensor is a sample that was given its reward."""
    return tensor._node is not None and tensor._node.op is REINFORCED


def awaits_reward(tensor: Any) -> bool:
    """Whether a tensor is a sample of tracked parameters without a reward."""
    extra = tensor._extra
    return extra is not None and extra.score not in (None, _UNTRACKED) and not reinforced(tensor)


def reinforce(sample: Any, reward: Any) -> None:
    """Give a sample its reward: a number, or a tensor or array that broadcasts to the sample's shape.

    Raises ``RuntimeError`` for what is no sample and ``ShapeError`` for a reward that does not fit.

    >>> import symgrad as sg
    >>> _ = sg.manual_seed(0)
    >>> p = sg.tensor([0.25, 0.75], requires_grad=True)
    >>> action = p.bernoulli()
    >>> action.reinforce(2.0)
    >>> action.backward()
    >>> bool((p.grad == 2 * (action - p) / (p * (1 - p))).all())
    True
    """
    score = None if sample._extra is None else sample._extra.score
    if score is None:
        raise AutogradError(
            "reinforce() can be only called on outputs of stochastic functions: bernoulli(), multinomial() and normal()"
        )
    if score is _UNTRACKED:
        return
    log_p, constant = score
    given = reward if isinstance(reward, Recorded) else _reward(reward, log_p.dtype)
    shape = sample._value.shape
    lead = len(shape) - given._value.ndim
    if lead < 0 or any(a not in (1, b) for a, b in zip(given._value.shape, shape[lead:], strict=True)):
        raise ShapeError(
            f"reinforce(): a reward of shape {tuple(shape_of(given._value))} does not broadcast to the sample's shape "
            f"{tuple(shape)}; give one reward for all, or one for every entry."
        )
    if sample._node is None:  # integers, which no derivative reached so far
        sample._node, sample._requires_grad = _node(sample), True
    node = sample._node
    node.op, node.params, node.mask, node.rules = REINFORCED, None, 1, None
    node.args = (log_p._node, constant.source(), given.edge())
    node.saved = select_saved(REINFORCED, 1, sample._value, [log_p._value, constant._value, given._value])


def _node(sample: Any) -> Node:
    made = Node()
    made.shape, made.dtype, made.extra, made.sequence_nr = sample._value.shape, sample.dtype, None, next(sequence)
    return made


def _reward(value: Any, dtype: Any) -> Any:
    made = plain(Tensor, scalarised(np.asarray(value).astype(dtype)))
    if not made.ndim:
        made.more().recipe = ("number", {"value": made.item()})
    return made

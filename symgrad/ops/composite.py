"""Plain functions of ops: losses and small conveniences.  No derivative rules stand here."""

from __future__ import annotations

from typing import Any

import numpy as np

from symgrad.errors import ArgumentError
from symgrad.op import front, shape_of
from symgrad.ops.elementwise import sigmoid
from symgrad.ops.elementwise import softplus as softplus_op
from symgrad.ops.indexing import one_hot_op
from symgrad.ops.reductions import log_softmax, mean, sum_


def _reduce(value: Any, reduction: str) -> Any:
    if reduction == "mean":
        return mean(value)
    if reduction == "sum":
        return sum_(value)
    if reduction == "none":
        return value
    raise ArgumentError(f"reduction is 'mean', 'sum' or 'none', not {reduction!r}.")


@front(method=False, function=False)
def softplus(input: Any, beta: float = 1, threshold: float = 20) -> Any:
    """log(1 + e^(beta x)) / beta.  ``threshold`` is accepted as in torch; the value is exact without it."""
    return softplus_op(input) if beta == 1 else softplus_op(input * beta) / beta


@front(method=False, function=False)
def silu(input: Any) -> Any:
    """x · sigmoid(x)."""
    return input * sigmoid(input)


@front(method=False, function=False)
def mse_loss(input: Any, target: Any, reduction: str = "mean") -> Any:
    """Squared differences, averaged, summed or as they are."""
    return _reduce((input - target) ** 2, reduction)


@front(method=False, function=False)
def binary_cross_entropy_with_logits(input: Any, target: Any, reduction: str = "mean") -> Any:
    """-[t log σ(x) + (1 - t) log(1 - σ(x))], without overflow."""
    return _reduce(softplus_op(input) - target * input, reduction)


@front(method=False, function=False)
def cross_entropy(input: Any, target: Any, reduction: str = "mean") -> Any:
    """-log softmax(input) at the target class; ``target`` holds class numbers or class probabilities.

    ``input`` has shape (classes,) or (batch, classes).
    """
    ndim = len(shape_of(input))
    if ndim not in (1, 2):
        raise ArgumentError(f"cross_entropy: input of shape (classes,) or (batch, classes) expected, got {ndim} axes.")
    if target.dtype.kind in "ui":
        target = one_hot_op(target, classes=shape_of(input)[-1], dtype=input.dtype.name)
    loss = -sum_(target * log_softmax(input, -1), -1)
    return _reduce(loss, reduction)

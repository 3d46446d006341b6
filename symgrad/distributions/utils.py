"""What distributions of users' own are made with, by the names of ``torch.distributions.utils``.

>>> import symgrad as sg
>>> sg.distributions.utils.probs_to_logits(sg.tensor(0.5), is_binary=True)
tensor(0.)
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from symgrad.distributions.base import broadcast_all
from symgrad.distributions.discrete import Categorical, Odds, inside as clamp_probs
from symgrad.distributions.matrix_transforms import tril_matrix_to_vec, vec_to_tril_matrix
from symgrad.tensor.creation import empty

__all__ = [
    "broadcast_all", "clamp_probs", "lazy_property", "logits_to_probs", "probs_to_logits", "tril_matrix_to_vec",
    "vec_to_tril_matrix",
]  # fmt: skip


def probs_to_logits(probs: Any, is_binary: bool = False) -> Any:
    """The logits of probabilities: of choices along the last axis, or each of an event."""
    return (Odds if is_binary else Categorical)._logits(probs)


def logits_to_probs(logits: Any, is_binary: bool = False) -> Any:
    """The probabilities of logits: of choices along the last axis, or each of an event."""
    return (Odds if is_binary else Categorical)._probs(logits)


def _standard_normal(shape: Any, dtype: Any, device: Any) -> Any:
    """Normal numbers; a private name of torch that packages of distributions import."""
    return empty(shape, dtype=dtype, device=device).normal_()


def _sum_rightmost(value: Any, dim: int) -> Any:
    """The sum over the last ``dim`` axes; a private name of torch that packages of distributions import."""
    return value.sum(tuple(range(-dim, 0))) if dim else value


class lazy_property(functools.cached_property[Any]):  # noqa: N801  (torch's name)
    """A property that is computed when it is first asked for, with a graph whatever the mode."""

    def __init__(self, wrapped: Callable[[Any], Any]):
        from symgrad.tape.modes import enable_grad

        def compute(instance: Any) -> Any:
            with enable_grad():
                return wrapped(instance)

        super().__init__(compute)

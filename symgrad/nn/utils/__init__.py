"""What training loops do around the network: parameters and gradients all together, and sequences of many lengths."""

from typing import Any

from symgrad.nn.utils import rnn
from symgrad.nn.utils.parameters import (
    clip_grad_norm_,
    clip_grad_value_,
    clip_grads_with_norm_,
    get_total_norm,
    parameters_to_vector,
    vector_to_parameters,
)
from symgrad.notices import renamed

__all__ = [
    "clip_grad_norm_",
    "clip_grad_value_",
    "clip_grads_with_norm_",
    "get_total_norm",
    "parameters_to_vector",
    "rnn",
    "vector_to_parameters",
]


def __getattr__(name: str) -> Any:
    if name == "clip_grad_norm":  # the name of old programs, which torch still has
        return renamed(clip_grad_norm_, "torch.nn.utils")
    raise AttributeError(f"module 'symgrad.nn.utils' has no attribute {name!r}")

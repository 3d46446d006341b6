"""What training loops do around the network: parameters and gradients all together, and sequences of many lengths.

What knows modules is loaded when it is asked for.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from symgrad.nn.utils import clip_grad, convert_parameters, rnn
from symgrad.nn.utils.clip_grad import clip_grad_norm_, clip_grad_value_, clip_grads_with_norm_, get_total_norm
from symgrad.nn.utils.convert_parameters import parameters_to_vector, vector_to_parameters

__all__ = [
    "clip_grad",
    "clip_grad_norm_",
    "clip_grad_value_",
    "clip_grads_with_norm_",
    "convert_parameters",
    "get_total_norm",
    "init",
    "parameters_to_vector",
    "parametrizations",
    "parametrize",
    "remove_spectral_norm",
    "remove_weight_norm",
    "rnn",
    "skip_init",
    "spectral_norm",
    "stateless",
    "vector_to_parameters",
    "weight_norm",
]

if TYPE_CHECKING:
    from symgrad.nn.utils import init, parametrizations, parametrize
    from symgrad.nn.utils.init import skip_init
    from symgrad.nn.utils.norms import remove_spectral_norm, remove_weight_norm, spectral_norm, weight_norm

    stateless: Any

_ROOMS = {
    "symgrad.nn.utils.norms": ("remove_spectral_norm", "remove_weight_norm", "spectral_norm", "weight_norm"),
    "symgrad.nn.utils.init": ("skip_init",),
    "symgrad.nn.utils.fusion": (
        "fuse_conv_bn_eval",
        "fuse_conv_bn_weights",
        "fuse_linear_bn_eval",
        "fuse_linear_bn_weights",
    ),
}
_MODULES = {
    "fusion": "symgrad.nn.utils.fusion",
    "init": "symgrad.nn.utils.init",
    "parametrizations": "symgrad.nn.utils.parametrizations",
    "parametrize": "symgrad.nn.utils.parametrize",
    "stateless": "symgrad.func.stateless",
}


def __getattr__(name: str) -> Any:
    if name == "clip_grad_norm":  # the name of old programs
        return clip_grad.clip_grad_norm
    if name in _MODULES:
        return importlib.import_module(_MODULES[name])
    for room, names in _ROOMS.items():
        if name in names:
            return getattr(importlib.import_module(room), name)
    raise AttributeError(f"module 'symgrad.nn.utils' has no attribute {name!r}")

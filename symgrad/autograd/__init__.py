"""The torch-named surface of automatic differentiation: ``backward``, ``grad``, ``Function``, modes, checks."""

from __future__ import annotations

from symgrad.autograd import function, functional, graph
from symgrad.autograd.function import Function
from symgrad.autograd.jacobians import jacobian
from symgrad.autograd.sweeps import backward, grad
from symgrad.autograd.variable import Variable
from symgrad.tape import modes as grad_mode
from symgrad.tape.modes import (
    enable_grad,
    inference_mode,
    is_grad_enabled,
    is_inference_mode_enabled,
    no_grad,
    set_grad_enabled,
)

__all__ = [
    "Function",
    "Variable",
    "backward",
    "enable_grad",
    "function",
    "functional",
    "grad",
    "grad_mode",
    "graph",
    "inference_mode",
    "is_grad_enabled",
    "is_inference_mode_enabled",
    "jacobian",
    "no_grad",
    "set_grad_enabled",
]

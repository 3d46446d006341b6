"""The torch-named surface of automatic differentiation: ``backward``, ``grad``, ``Function``, modes, checks."""

from __future__ import annotations

from symgrad.autograd import anomaly_mode, forward_ad, function, functional, graph, profiler
from symgrad.autograd.anomaly_mode import detect_anomaly, set_detect_anomaly
from symgrad.autograd.function import Function
from symgrad.autograd.gradcheck import gradcheck, gradgradcheck
from symgrad.autograd.graphs.saved import SavedTensor
from symgrad.autograd.jacobians.recorded import jacobian, wirtinger
from symgrad.autograd.sweeps import unfolding as _unfolding  # noqa: F401  (backward of folded functions)
from symgrad.autograd.sweeps.entrances import backward, grad
from symgrad.autograd.variable import Variable
from symgrad.tape import modes as grad_mode
from symgrad.tape.modes import (
    enable_grad,
    inference_mode,
    is_grad_enabled,
    is_inference_mode_enabled,
    is_multithreading_enabled,
    no_grad,
    set_grad_enabled,
    set_multithreading_enabled,
)
from symgrad.tape.overriding import looking, when_used

__all__ = [
    "Function", "SavedTensor", "Variable", "anomaly_mode", "backward", "detect_anomaly", "enable_grad",
    "forward_ad", "function", "functional", "grad", "grad_mode", "gradcheck", "gradgradcheck", "graph",
    "inference_mode", "is_grad_enabled", "is_inference_mode_enabled", "is_multithreading_enabled", "jacobian",
    "no_grad", "profiler", "set_detect_anomaly", "set_grad_enabled", "set_multithreading_enabled", "wirtinger",
]  # fmt: skip


def _look() -> None:
    globals()["grad"] = looking(None, grad)


when_used(_look)

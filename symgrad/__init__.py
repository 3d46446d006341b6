"""symgrad: derivatives as numbers and as exact formulas, side by side."""

from __future__ import annotations

from symgrad import autograd
from symgrad.autograd import enable_grad, inference_mode, no_grad, set_grad_enabled
from symgrad.creation import *  # noqa: F403
from symgrad.tensor import FUNCTIONS, Tensor

globals().update(FUNCTIONS)
__version__ = "0.1.0"
__all__ = ["Tensor", "autograd", "enable_grad", "inference_mode", "no_grad", "set_grad_enabled"]

"""Activations, elementwise and along an axis."""

from __future__ import annotations

from typing import Any

from symgrad.nn import functional
from symgrad.nn.modules.applied import Applied
from symgrad.nn.modules.attention import MultiheadAttention as MultiheadAttention  # torch has it here
from symgrad.nn.modules.module import Module
from symgrad.nn.parameter import Parameter
from symgrad.tensor.creation import full


class ReLU(Applied):
    """max(x, 0), entry by entry."""

    _layer_function = staticmethod(functional.relu)
    inplace: bool = False


class ReLU6(Applied):
    """min(max(x, 0), 6), entry by entry."""

    _layer_function = staticmethod(functional.relu6)
    inplace: bool = False


class RReLU(Applied):
    """x, or a x below 0, where a is drawn between two bounds in training, and in their middle otherwise."""

    _layer_function = staticmethod(functional.rrelu)
    _layer_shown = "lower={lower}, upper={upper}"
    _layer_trains = True
    lower: float = 1 / 8
    upper: float = 1 / 3
    inplace: bool = False


class Hardtanh(Applied):
    """x between two bounds, and the bounds beyond them."""

    _layer_function = staticmethod(functional.hardtanh)
    _layer_shown = "min_val={min_val}, max_val={max_val}"
    min_val: float = -1.0
    max_val: float = 1.0
    inplace: bool = False


class Sigmoid(Applied):
    """1/(1 + exp(-x)), entry by entry."""

    _layer_function = staticmethod(functional.sigmoid)


class Hardsigmoid(Applied):
    """x/6 + 1/2 between 0 and 1."""

    _layer_function, _layer_usual = staticmethod(functional.hardsigmoid), {}  # as in torch
    inplace: bool = False


class Tanh(Applied):
    """The hyperbolic tangent, entry by entry."""

    _layer_function = staticmethod(functional.tanh)


class SiLU(Applied):
    """x σ(x), entry by entry."""

    _layer_function = staticmethod(functional.silu)
    inplace: bool = False


class Mish(Applied):
    """x tanh(softplus(x)), entry by entry."""

    _layer_function = staticmethod(functional.mish)
    inplace: bool = False


class Hardswish(Applied):
    """x relu6(x + 3)/6, entry by entry."""

    _layer_function, _layer_usual = staticmethod(functional.hardswish), {}  # as in torch
    inplace: bool = False


class ELU(Applied):
    """x, or α (exp(x) - 1) below 0."""

    _layer_function = staticmethod(functional.elu)
    _layer_shown = "alpha={alpha}"
    alpha: float = 1.0
    inplace: bool = False


class CELU(Applied):
    """x, or α (exp(x/α) - 1) below 0."""

    _layer_function = staticmethod(functional.celu)
    _layer_shown = "alpha={alpha}"
    alpha: float = 1.0
    inplace: bool = False


class SELU(Applied):
    """The ELU with a factor, both chosen so that normal numbers stay normal."""

    _layer_function = staticmethod(functional.selu)
    inplace: bool = False


class GLU(Applied):
    """The first half along an axis, times σ of the second."""

    _layer_function = staticmethod(functional.glu)
    _layer_shown = "dim={dim}"
    dim: int = -1


class GELU(Applied):
    """x Φ(x), with Φ the distribution function of normal numbers; ``approximate="tanh"``: by a hyperbolic tangent."""

    _layer_function = staticmethod(functional.gelu)
    _layer_shown = "approximate={approximate!r}"
    approximate: str = "none"


class Hardshrink(Applied):
    """x, and 0 between -λ and λ."""

    _layer_function = staticmethod(functional.hardshrink)
    _layer_shown = "{lambd}"
    lambd: float = 0.5


class Softshrink(Applied):
    """x, moved towards 0 by λ."""

    _layer_function = staticmethod(functional.softshrink)
    _layer_shown = "{lambd}"
    lambd: float = 0.5


class Tanhshrink(Applied):
    """x - tanh(x), entry by entry."""

    _layer_function = staticmethod(functional.tanhshrink)


class LeakyReLU(Applied):
    """x, or a x below 0."""

    _layer_function = staticmethod(functional.leaky_relu)
    _layer_shown = "negative_slope={negative_slope}"
    negative_slope: float = 0.01
    inplace: bool = False


class LogSigmoid(Applied):
    """log σ(x), entry by entry."""

    _layer_function = staticmethod(functional.logsigmoid)


class Softplus(Applied):
    """log(1 + exp(β x))/β, and x where β x is above the threshold."""

    _layer_function = staticmethod(functional.softplus)
    _layer_shown = "beta={beta}, threshold={threshold}"
    beta: float = 1.0
    threshold: float = 20.0


class Softsign(Applied):
    """x/(1 + |x|), entry by entry."""

    _layer_function = staticmethod(functional.softsign)


class Threshold(Applied):
    """x where it is above the threshold, and a value elsewhere."""

    _layer_function = staticmethod(functional.threshold)
    _layer_shown = "threshold={threshold}, value={value}"
    threshold: float
    value: float
    inplace: bool = False


class Softmin(Applied):
    """exp(-x), divided by its sum along an axis."""

    _layer_function = staticmethod(functional.softmin)
    _layer_shown = "dim={dim}"
    dim: int | None = None


class Softmax(Applied):
    """exp(x), divided by its sum along an axis."""

    _layer_function = staticmethod(functional.softmax)
    _layer_shown = "dim={dim}"
    dim: int | None = None


class LogSoftmax(Applied):
    """The logarithm of the softmax along an axis."""

    _layer_function = staticmethod(functional.log_softmax)
    _layer_shown = "dim={dim}"
    dim: int | None = None


class Softmax2d(Module):
    """The softmax over the channels of images, (N, C, H, W) or (C, H, W)."""

    def forward(self, input: Any) -> Any:
        """The shape of the input."""
        return functional.softmax(input, -3)


class PReLU(Module):
    """x, or a x below 0, with one weight a, or one for each channel.

    >>> import symgrad as sg
    >>> sg.nn.PReLU()(sg.tensor([-2.0, 3.0]))
    tensor([-0.5000,  3.0000], grad_fn=<PreluKernelBackward0>)
    """

    _layer_shown = "num_parameters={num_parameters}"

    def __init__(self, num_parameters: int = 1, init: float = 0.25, device: Any = None, dtype: Any = None):
        super().__init__()
        self.num_parameters, self.init = num_parameters, init
        self.weight = Parameter(full((num_parameters,), init, device=device, dtype=dtype))

    def reset_parameters(self) -> None:
        """Every weight is that of the beginning again."""
        self.weight.data.fill_(self.init)

    def forward(self, input: Any) -> Any:
        """The shape of the input."""
        return functional.prelu(input, self.weight)

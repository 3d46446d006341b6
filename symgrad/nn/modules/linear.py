"""Affine layers."""

from __future__ import annotations

import math
from typing import Any

from symgrad.errors import ArgumentError
from symgrad.nn import functional, init
from symgrad.nn.modules.module import Module
from symgrad.nn.parameter import Parameter
from symgrad.tensor.creation import empty


def empty_parameter(shape: tuple[int, ...], device: Any, dtype: Any) -> Any:
    """A parameter whose values are set afterwards."""
    return Parameter(empty(shape, device=device, dtype=dtype))


class Identity(Module):
    """Gives what it gets; other arguments of its construction are for layers that it stands for."""

    def __init__(self, *args: Any, **kwargs: Any):  # noqa: ARG002
        super().__init__()

    def forward(self, input: Any) -> Any:
        """The input itself."""
        return input


class Linear(Module):
    """x Wᵀ + b: ``weight`` is (out_features, in_features), ``bias`` (out_features,); inputs are (*, in_features).

    The values at the beginning are uniform between ±1/√in_features.

    >>> import symgrad as sg
    >>> layer = sg.nn.Linear(3, 2)
    >>> layer(sg.ones(5, 3)).shape
    torch.Size([5, 2])
    >>> x = sg.ones(5, 3, requires_grad=True)
    >>> print(layer(x).sum().expr)
    p*sum(bias) + sum(weight @ sum(x, 0))
    """

    _layer_shown = "in_features={in_features}, out_features={out_features}, bias={bias}"

    def __init__(self, in_features: int, out_features: int, bias: bool = True, device: Any = None, dtype: Any = None):
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        self.weight = empty_parameter((out_features, in_features), device, dtype)
        self.register_parameter("bias", empty_parameter((out_features,), device, dtype) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the values of the beginning again."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            bound = 1 / math.sqrt(self.in_features) if self.in_features else 0
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input: Any) -> Any:
        """Shape (*, out_features)."""
        return functional.linear(input, self.weight, self.bias)


class NonDynamicallyQuantizableLinear(Linear):
    """A linear layer by the name that the text of torch's attention has for its last one."""


class Bilinear(Module):
    """x₁ᵀ W x₂ + b for each of out_features matrices: ``weight`` is (out_features, in1_features, in2_features)."""

    _layer_shown = "in1_features={in1_features}, in2_features={in2_features}, out_features={out_features}, bias={bias}"

    def __init__(
        self,
        in1_features: int,
        in2_features: int,
        out_features: int,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ):
        super().__init__()
        if in1_features <= 0:
            raise ArgumentError(f"in1_features must be > 0, but got {in1_features}")
        self.in1_features, self.in2_features, self.out_features = in1_features, in2_features, out_features
        self.weight = empty_parameter((out_features, in1_features, in2_features), device, dtype)
        self.register_parameter("bias", empty_parameter((out_features,), device, dtype) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the values of the beginning again: uniform between ±1/√in1_features."""
        bound = 1 / math.sqrt(self.in1_features)
        init.uniform_(self.weight, -bound, bound)
        if self.bias is not None:
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input1: Any, input2: Any) -> Any:
        """Shape (*, out_features)."""
        return functional.bilinear(input1, input2, self.weight, self.bias)

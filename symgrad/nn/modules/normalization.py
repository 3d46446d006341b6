"""Normalization of each example by itself."""

from __future__ import annotations

from typing import Any

from symgrad.errors import ArgumentError
from symgrad.nn import functional
from symgrad.nn.modules.applied import Applied
from symgrad.nn.modules.scaling import Scaled


class LocalResponseNorm(Applied):
    """x / (k + α mean of the squares of neighbouring channels)^β."""

    _layer_function = staticmethod(functional.local_response_norm)
    _layer_shown = "{size}, alpha={alpha}, beta={beta}, k={k}"
    size: int
    alpha: float = 1e-4
    beta: float = 0.75
    k: float = 1.0


class LayerNorm(Scaled):
    """(x - mean)/√(var + ε) · weight + bias over the last axes, of shape ``normalized_shape``.

    >>> import symgrad as sg
    >>> sg.nn.LayerNorm(2)(sg.tensor([[1.0, 3.0]])).shape
    torch.Size([1, 2])
    """

    _layer_shown = "{normalized_shape}, eps={eps}, elementwise_affine={elementwise_affine}, bias={bias}"

    def __init__(
        self,
        normalized_shape: Any,
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ):
        super().__init__()
        self.normalized_shape = _shape(normalized_shape)
        self.eps, self.elementwise_affine = eps, elementwise_affine
        self._layer_scale(self.normalized_shape, elementwise_affine, bias, (device, dtype))
        self.reset_parameters()

    def forward(self, input: Any) -> Any:
        """The shape of the input."""
        return functional.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)


class RMSNorm(Scaled):
    """x/√(mean of x² + ε) · weight over the last axes, of shape ``normalized_shape`` (Zhang and Sennrich, 2019)."""

    _layer_shown = "{normalized_shape}, eps={eps}, elementwise_affine={elementwise_affine}"

    def __init__(
        self,
        normalized_shape: Any,
        eps: float | None = None,
        elementwise_affine: bool = True,
        device: Any = None,
        dtype: Any = None,
    ):
        super().__init__()
        self.normalized_shape = _shape(normalized_shape)
        self.eps, self.elementwise_affine = eps, elementwise_affine
        self._layer_scale(self.normalized_shape, elementwise_affine, None, (device, dtype))
        self.reset_parameters()

    def forward(self, input: Any) -> Any:
        """The shape of the input."""
        return functional.rms_norm(input, self.normalized_shape, self.weight, self.eps)


class GroupNorm(Scaled):
    """(x - mean)/√(var + ε) · weight + bias, with the mean and variance of each group of channels."""

    _layer_shown = "{num_groups}, {num_channels}, eps={eps}, affine={affine}, bias={bias}"

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ):
        super().__init__()
        if num_channels % num_groups:
            raise ArgumentError(f"num_channels ({num_channels}) must be divisible by num_groups ({num_groups})")
        self.num_groups, self.num_channels, self.eps, self.affine = num_groups, num_channels, eps, affine
        self._layer_scale((num_channels,), affine, bias, (device, dtype))
        self.reset_parameters()

    def forward(self, input: Any) -> Any:
        """The shape of the input."""
        return functional.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)


def _shape(given: Any) -> tuple[int, ...]:
    return (given,) if isinstance(given, int) else tuple(given)

"""Convolutions, and their transposes."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from symgrad.errors import ArgumentError
from symgrad.nn import functional, init
from symgrad.nn.modules.linear import empty_parameter
from symgrad.nn.modules.module import Module
from symgrad.nn.modules.utils import _ntuple, _reverse_repeat_tuple


class _ConvNd(Module):
    """What convolutions share: their sizes, their weights, and the values of these at the beginning.

    ``weight`` is (out_channels, in_channels/groups, *kernel_size), with the channels exchanged in transposes.
    """

    _layer_axes: ClassVar[int]
    _layer_function: ClassVar[Any]
    transposed: ClassVar[bool] = False
    _layer_modes: ClassVar[tuple[str, ...]] = ("zeros", "reflect", "replicate", "circular")

    def _layer_set_up(
        self, in_channels: int, out_channels: int, groups: int, bias: bool, mode: str, where: Any
    ) -> None:
        """Check the numbers, and make the parameters."""
        self.in_channels, self.out_channels, self.groups, self.padding_mode = in_channels, out_channels, groups, mode
        if groups <= 0:
            raise ArgumentError("groups must be a positive integer")
        for what in ("in_channels", "out_channels"):
            if getattr(self, what) % groups:
                raise ArgumentError(f"{what} must be divisible by groups")
        if mode not in self._layer_modes:
            raise ArgumentError(
                f"padding_mode of {type(self).__name__} must be one of {self._layer_modes}, not {mode!r}"
            )
        first, second = (in_channels, out_channels) if self.transposed else (out_channels, in_channels)
        self.weight = empty_parameter((first, second // groups, *self.kernel_size), *where)
        self.register_parameter("bias", empty_parameter((out_channels,), *where) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the values of the beginning again: uniform between ±1/√(number of weights of an entry)."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        weights = math.prod(self.weight.shape[1:])
        if self.bias is not None and weights:
            init.uniform_(self.bias, -1 / math.sqrt(weights), 1 / math.sqrt(weights))

    def extra_repr(self) -> str:
        """Channels, windows, and what is not as usual."""
        text = f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}"
        for name, usual in (("padding", 0), ("dilation", 1), ("output_padding", 0)):
            told = getattr(self, name, (usual,) * self._layer_axes)
            text += f", {name}={told}" if told != (usual,) * self._layer_axes else ""
        text += f", groups={self.groups}" if self.groups != 1 else ""
        text += ", bias=False" if self.bias is None else ""
        return text + (f", padding_mode={self.padding_mode}" if self.padding_mode != "zeros" else "")


class _Conv(_ConvNd):
    """Convolutions: ``padding`` may be "same" or "valid", and ``padding_mode`` says what stands there."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ):
        super().__init__()
        self.kernel_size, self.stride, self.dilation = (
            _ntuple(self._layer_axes)(w) for w in (kernel_size, stride, dilation)
        )
        self.padding = padding if isinstance(padding, str) else _ntuple(self._layer_axes)(padding)
        if isinstance(padding, str) and padding not in ("same", "valid"):
            raise ArgumentError(f"Invalid padding string {padding!r}, should be one of {{'valid', 'same'}}")
        if padding == "same" and any(width != 1 for width in self.stride):
            raise ArgumentError("padding='same' is not supported for strided convolutions")
        self._layer_set_up(in_channels, out_channels, groups, bias, padding_mode, (device, dtype))

    def forward(self, input: Any) -> Any:
        """Shape (N, out_channels, …)."""
        padding = self.padding
        if self.padding_mode != "zeros":
            input, padding = functional.pad(input, self._layer_ends(), mode=self.padding_mode), (0,) * self._layer_axes
        return type(self)._layer_function(
            input, self.weight, self.bias, self.stride, padding, self.dilation, self.groups
        )

    def _layer_ends(self) -> list[int]:
        """The padding at both ends of each axis, the last axis first."""
        if self.padding == "valid":
            return [0] * (2 * self._layer_axes)
        if self.padding == "same":
            whole = [d * (k - 1) for d, k in zip(self.dilation, self.kernel_size, strict=True)]
            return [width for total in reversed(whole) for width in (total // 2, total - total // 2)]
        return list(_reverse_repeat_tuple(self.padding, 2))


class _ConvTransposeNd(_ConvNd):
    """Transposes of convolutions: ``output_padding`` tells of the sizes that a convolution may come from."""

    transposed = True
    _layer_modes = ("zeros",)

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Any = 1,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ):
        super().__init__()
        self.kernel_size, self.stride, self.padding, self.output_padding, self.dilation = (
            _ntuple(self._layer_axes)(w) for w in (kernel_size, stride, padding, output_padding, dilation)
        )
        self._layer_set_up(in_channels, out_channels, groups, bias, padding_mode, (device, dtype))

    def forward(self, input: Any, output_size: Any = None) -> Any:
        """Shape (N, out_channels, …); ``output_size`` says which of the possible sizes it has."""
        more = self.output_padding if output_size is None else self._more(input, list(output_size))
        return type(self)._layer_function(
            input, self.weight, self.bias, self.stride, self.padding, more, self.groups, self.dilation
        )

    def _more(self, input: Any, size: list[int]) -> list[int]:
        """The output padding that gives a size."""
        axes = self._layer_axes
        if len(size) == input.ndim:
            size = size[-axes:]
        if len(size) != axes:
            raise ArgumentError(
                f"{type(self).__name__}: for {input.ndim}D input, output_size must have {axes} or {input.ndim} "
                f"elements (got {len(size)})"
            )
        rows = zip(input.shape[-axes:], self.stride, self.padding, self.dilation, self.kernel_size, strict=True)
        least = [(n - 1) * s - 2 * p + d * (k - 1) + 1 for n, s, p, d, k in rows]
        most = [n + s - 1 for n, s in zip(least, self.stride, strict=True)]
        if any(not low <= asked <= high for low, asked, high in zip(least, size, most, strict=True)):
            raise ArgumentError(
                f"requested an output size of {size}, but valid sizes range from {least} to {most} (for an input of "
                f"{tuple(input.shape[2:])})"
            )
        return [asked - low for asked, low in zip(size, least, strict=True)]


class Conv1d(_Conv):
    """Correlates (N, in_channels, L) with each of out_channels weights.

    >>> import symgrad as sg
    >>> sg.nn.Conv1d(2, 4, 3, padding=1)(sg.ones(1, 2, 10)).shape
    torch.Size([1, 4, 10])
    """

    _layer_axes, _layer_function = 1, staticmethod(functional.conv1d)


class Conv2d(_Conv):
    """Correlates (N, in_channels, H, W) with each of out_channels weights.

    >>> import symgrad as sg
    >>> sg.nn.Conv2d(3, 8, 3, stride=2)(sg.ones(1, 3, 9, 9)).shape
    torch.Size([1, 8, 4, 4])
    """

    _layer_axes, _layer_function = 2, staticmethod(functional.conv2d)


class Conv3d(_Conv):
    """Correlates (N, in_channels, D, H, W) with each of out_channels weights."""

    _layer_axes, _layer_function = 3, staticmethod(functional.conv3d)


class ConvTranspose1d(_ConvTransposeNd):
    """The transpose of :class:`Conv1d` as a linear map of its input."""

    _layer_axes, _layer_function = 1, staticmethod(functional.conv_transpose1d)


class ConvTranspose2d(_ConvTransposeNd):
    """The transpose of :class:`Conv2d` as a linear map of its input."""

    _layer_axes, _layer_function = 2, staticmethod(functional.conv_transpose2d)


class ConvTranspose3d(_ConvTransposeNd):
    """The transpose of :class:`Conv3d` as a linear map of its input."""

    _layer_axes, _layer_function = 3, staticmethod(functional.conv_transpose3d)

"""Pools: the largest or mean entry of each window."""

from __future__ import annotations

from typing import Any, ClassVar

from symgrad.nn import functional
from symgrad.nn.modules.applied import Applied
from symgrad.nn.modules.module import Module


class _Pool(Applied):
    """What pools share: windows are as far apart as they are wide unless ``stride`` is told."""

    kernel_size: Any

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        if getattr(self, "stride", ...) is None:
            self.stride = self.kernel_size


class _MaxPool(_Pool):
    _layer_shown = (
        "kernel_size={kernel_size}, stride={stride}, padding={padding}, dilation={dilation}, ceil_mode={ceil_mode}"
    )
    kernel_size: Any
    stride: Any = None
    padding: Any = 0
    dilation: Any = 1
    return_indices: bool = False
    ceil_mode: bool = False


class MaxPool1d(_MaxPool):
    """The largest entry of each window of (N, C, L)."""

    _layer_function = staticmethod(functional.max_pool1d)


class MaxPool2d(_MaxPool):
    """The largest entry of each window of (N, C, H, W)."""

    _layer_function = staticmethod(functional.max_pool2d)


class MaxPool3d(_MaxPool):
    """The largest entry of each window of (N, C, D, H, W)."""

    _layer_function = staticmethod(functional.max_pool3d)


class AvgPool1d(_Pool):
    """The mean of each window of (N, C, L)."""

    _layer_function = staticmethod(functional.avg_pool1d)
    _layer_shown = "kernel_size={kernel_size}, stride={stride}, padding={padding}"
    kernel_size: Any
    stride: Any = None
    padding: Any = 0
    ceil_mode: bool = False
    count_include_pad: bool = True

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        for name in ("kernel_size", "stride", "padding"):
            value = getattr(self, name)
            setattr(self, name, (value,) if isinstance(value, int) else value)


class _AvgPool(_Pool):
    _layer_shown = "kernel_size={kernel_size}, stride={stride}, padding={padding}"
    kernel_size: Any
    stride: Any = None
    padding: Any = 0
    ceil_mode: bool = False
    count_include_pad: bool = True
    divisor_override: int | None = None


class AvgPool2d(_AvgPool):
    """The mean of each window of (N, C, H, W)."""

    _layer_function = staticmethod(functional.avg_pool2d)


class AvgPool3d(_AvgPool):
    """The mean of each window of (N, C, D, H, W)."""

    _layer_function = staticmethod(functional.avg_pool3d)


class _LPPool(Applied):
    _layer_shown = "norm_type={norm_type}, kernel_size={kernel_size}, stride={stride}, ceil_mode={ceil_mode}"
    norm_type: float
    kernel_size: Any
    stride: Any = None
    ceil_mode: bool = False


class LPPool1d(_LPPool):
    """(Σ xᵖ)^(1/p) over each window of (N, C, L)."""

    _layer_function = staticmethod(functional.lp_pool1d)


class LPPool2d(_LPPool):
    """(Σ xᵖ)^(1/p) over each window of (N, C, H, W)."""

    _layer_function = staticmethod(functional.lp_pool2d)


class LPPool3d(_LPPool):
    """(Σ xᵖ)^(1/p) over each window of (N, C, D, H, W)."""

    _layer_function = staticmethod(functional.lp_pool3d)


class _AdaptiveMaxPool(Applied):
    _layer_shown = "output_size={output_size}"
    output_size: Any
    return_indices: bool = False


class AdaptiveMaxPool1d(_AdaptiveMaxPool):
    """The largest entries of so many windows that the result has the size that is asked for."""

    _layer_function = staticmethod(functional.adaptive_max_pool1d)


class AdaptiveMaxPool2d(_AdaptiveMaxPool):
    """The largest entries of so many windows that the result has the size that is asked for."""

    _layer_function = staticmethod(functional.adaptive_max_pool2d)


class AdaptiveMaxPool3d(_AdaptiveMaxPool):
    """The largest entries of so many windows that the result has the size that is asked for."""

    _layer_function = staticmethod(functional.adaptive_max_pool3d)


class _AdaptiveAvgPool(Applied):
    _layer_shown = "output_size={output_size}"
    output_size: Any


class AdaptiveAvgPool1d(_AdaptiveAvgPool):
    """The means of so many windows that the result has the size that is asked for."""

    _layer_function = staticmethod(functional.adaptive_avg_pool1d)


class AdaptiveAvgPool2d(_AdaptiveAvgPool):
    """The means of so many windows that the result has the size that is asked for."""

    _layer_function = staticmethod(functional.adaptive_avg_pool2d)


class AdaptiveAvgPool3d(_AdaptiveAvgPool):
    """The means of so many windows that the result has the size that is asked for."""

    _layer_function = staticmethod(functional.adaptive_avg_pool3d)


class _FractionalMaxPool(Applied):
    kernel_size: Any
    output_size: Any = None
    output_ratio: Any = None
    return_indices: bool = False
    _random_samples: Any = None


class FractionalMaxPool2d(_FractionalMaxPool):
    """The largest entries of windows that lie at random places (Graham, 2014)."""

    _layer_function = staticmethod(functional.fractional_max_pool2d)


class FractionalMaxPool3d(_FractionalMaxPool):
    """The largest entries of windows that lie at random places (Graham, 2014)."""

    _layer_function = staticmethod(functional.fractional_max_pool3d)


class _MaxUnpool(Module):
    """The entries back at the places that a pool found them at, and zeros elsewhere."""

    _layer_shown = "kernel_size={kernel_size}, stride={stride}, padding={padding}"

    _layer_function: ClassVar[Any]
    _layer_axes: ClassVar[int]

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0):
        super().__init__()
        widths = (kernel_size, kernel_size if stride is None else stride, padding)
        self.kernel_size, self.stride, self.padding = (
            (width,) * self._layer_axes if isinstance(width, int) else tuple(width) for width in widths
        )

    def forward(self, input: Any, indices: Any, output_size: Any = None) -> Any:
        """The pool's input as far as it is known; ``output_size`` tells its size where several would do."""
        return type(self)._layer_function(input, indices, self.kernel_size, self.stride, self.padding, output_size)


class MaxUnpool1d(_MaxUnpool):
    """Undoes :class:`MaxPool1d`, by the indices that it returned."""

    _layer_function, _layer_axes = staticmethod(functional.max_unpool1d), 1


class MaxUnpool2d(_MaxUnpool):
    """Undoes :class:`MaxPool2d`, by the indices that it returned."""

    _layer_function, _layer_axes = staticmethod(functional.max_unpool2d), 2


class MaxUnpool3d(_MaxUnpool):
    """Undoes :class:`MaxPool3d`, by the indices that it returned."""

    _layer_function, _layer_axes = staticmethod(functional.max_unpool3d), 3

"""Layers that lay entries out otherwise, make images larger, or compare rows."""

from __future__ import annotations

from typing import Any

from symgrad.errors import ArgumentError
from symgrad.nn import functional
from symgrad.nn.modules.applied import Applied
from symgrad.nn.modules.module import Module


class Flatten(Module):
    """Some axes as one: all but the first by default."""

    _layer_shown = "start_dim={start_dim}, end_dim={end_dim}"

    def __init__(self, start_dim: int = 1, end_dim: int = -1):
        super().__init__()
        self.start_dim, self.end_dim = start_dim, end_dim

    def forward(self, input: Any) -> Any:
        """A view where that is possible."""
        return input.flatten(self.start_dim, self.end_dim)


class Unflatten(Module):
    """One axis as several, of the sizes that are told."""

    _layer_shown = "dim={dim}, unflattened_size={unflattened_size}"

    def __init__(self, dim: int, unflattened_size: Any):
        super().__init__()
        if not isinstance(dim, int) or not isinstance(unflattened_size, (tuple, list)):
            raise ArgumentError(f"Unflatten takes an axis and a tuple of sizes, not {dim!r} and {unflattened_size!r}.")
        self.dim, self.unflattened_size = dim, unflattened_size

    def forward(self, input: Any) -> Any:
        """A view of the input."""
        return input.unflatten(self.dim, self.unflattened_size)


class Fold(Applied):
    """Adds windows up to images: (N, C Π kernel_size, L) to (N, C, *output_size)."""

    _layer_function = staticmethod(functional.fold)
    _layer_shown = (
        "output_size={output_size}, kernel_size={kernel_size}, dilation={dilation}, padding={padding}, stride={stride}"
    )
    output_size: Any
    kernel_size: Any
    dilation: Any = 1
    padding: Any = 0
    stride: Any = 1


class Unfold(Applied):
    """Every window of images as a column: (N, C, H, W) to (N, C Π kernel_size, L)."""

    _layer_function = staticmethod(functional.unfold)
    _layer_shown = "kernel_size={kernel_size}, dilation={dilation}, padding={padding}, stride={stride}"
    kernel_size: Any
    dilation: Any = 1
    padding: Any = 0
    stride: Any = 1


class PixelShuffle(Applied):
    """(N, C r², H, W) to (N, C, r H, r W)."""

    _layer_function = staticmethod(functional.pixel_shuffle)
    _layer_shown = "upscale_factor={upscale_factor}"
    upscale_factor: int


class PixelUnshuffle(Applied):
    """(N, C, r H, r W) to (N, C r², H, W)."""

    _layer_function = staticmethod(functional.pixel_unshuffle)
    _layer_shown = "downscale_factor={downscale_factor}"
    downscale_factor: int


class ChannelShuffle(Applied):
    """The channels of groups, dealt out in turns."""

    _layer_function = staticmethod(functional.channel_shuffle)
    _layer_shown = "groups={groups}"
    groups: int


class Upsample(Applied):
    """Images of another size, by the nearest entries or by polynomials between them."""

    _layer_function = staticmethod(functional.interpolate)
    size: Any = None
    scale_factor: Any = None
    mode: str = "nearest"
    align_corners: bool | None = None
    recompute_scale_factor: bool | None = None

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        if self.scale_factor is not None:
            many = isinstance(self.scale_factor, tuple)
            self.scale_factor = tuple(map(float, self.scale_factor)) if many else float(self.scale_factor)

    def extra_repr(self) -> str:
        """The size, or the factor, and the mode."""
        factor = self.scale_factor is not None
        how = f"scale_factor={self.scale_factor}" if factor else f"size={self.size}"
        return f"{how}, mode={self.mode!r}"


class UpsamplingNearest2d(Upsample):
    """Images of another size, by the nearest entries."""

    def __init__(self, size: Any = None, scale_factor: Any = None):
        super().__init__(size, scale_factor, mode="nearest")


class UpsamplingBilinear2d(Upsample):
    """Images of another size, by bilinear interpolation between the outermost entries."""

    def __init__(self, size: Any = None, scale_factor: Any = None):
        super().__init__(size, scale_factor, mode="bilinear", align_corners=True)


class CosineSimilarity(Applied):
    """x·y / (‖x‖ ‖y‖) along an axis."""

    _layer_function = staticmethod(functional.cosine_similarity)
    dim: int = 1
    eps: float = 1e-8


class PairwiseDistance(Applied):
    """‖x - y + ε‖ of rows."""

    _layer_function = staticmethod(functional.pairwise_distance)
    p: float = 2.0
    eps: float = 1e-6
    keepdim: bool = False

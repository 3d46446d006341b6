"""What convolutions and pooling demand of their arguments: the first demand not met is an error, in torch's words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from symgrad.dtypes import c_name
from symgrad.errors import ArgumentError, DtypeError, ShapeError
from symgrad.op import shape_of

Sizes = Sequence[int]


def padding_of(padding: Any, steps: Sizes) -> None:
    """A padding in a word: "same", which needs steps of 1, or "valid"."""
    if padding not in ("same", "valid"):
        raise ArgumentError(f"Invalid padding string: {padding!r}; there are 'same' and 'valid'.")
    if padding == "same" and any(step != 1 for step in steps):
        raise ArgumentError("padding='same' is not supported for strided convolutions")


def same_dtype(input: Any, bias: Any) -> None:
    """The bias of a convolution has the dtype of its input."""
    dtypes = [getattr(x, "dtype", None) for x in (input, bias)]
    if all(dtype is not None for dtype in dtypes) and dtypes[0] != dtypes[1]:
        ours, its = (c_name(np.dtype(dtype)) for dtype in dtypes)
        raise DtypeError(f"Input type ({ours}) and bias type ({its}) should be the same")


def convolvable(
    input: Any, weight: Any, bias: Any, steps: Sizes, gaps: Sizes, pads: Sizes, groups: int, transposed: bool = False
) -> None:
    """An input with its batch, a weight and a bias that fit, for a convolution or its transpose."""
    shape, kernel = list(shape_of(input)), list(shape_of(weight))
    if min(steps) <= 0:
        raise ArgumentError(f"non-positive stride is not supported, got {list(steps)}")
    if min(pads) < 0:
        raise ArgumentError(f"negative padding is not supported, got {list(pads)}")
    if min(gaps) <= 0:
        raise ArgumentError(f"dilation should be greater than zero, but got {list(gaps)}")
    if len(kernel) < 3:
        raise ShapeError(f"weight should have at least three dimensions, got weight of size {kernel}")
    if groups <= 0:
        raise ArgumentError(f"non-positive groups is not supported, got {groups}")
    if 0 in kernel[2:]:
        raise ShapeError(f"kernel size should be greater than zero, but got weight of size {kernel}")
    if len(kernel) != len(shape):
        dims, got = len(kernel), len(shape)
        raise ShapeError(
            f"Expected {dims}-dimensional input for {dims}-dimensional weight {kernel}, but got {got}-dimensional "
            f"input of size {shape} instead"
        )
    if kernel[0] < groups:
        raise ShapeError(
            f"Given groups={groups}, expected weight to be at least {groups} at dimension 0, but got weight of size "
            f"{kernel} instead"
        )
    if kernel[0] % groups:
        raise ShapeError(
            f"Given groups={groups}, expected weight to be divisible by {groups} at dimension 0, but got weight of "
            f"size {[kernel]} instead"
        )
    _channels(shape, kernel, bias, groups, transposed)
    if not transposed:
        _room(shape, kernel, gaps, pads)


def _channels(shape: list[int], kernel: list[int], bias: Any, groups: int, transposed: bool) -> None:
    taken, made = (kernel[0], kernel[1] * groups) if transposed else (kernel[1] * groups, kernel[0])
    if shape[1] != taken:
        given = "transposed=1" if transposed else f"groups={groups}"
        raise ShapeError(
            f"Given {given}, weight of size {kernel}, expected input{shape} to have {taken} channels, but got "
            f"{shape[1]} channels instead"
        )
    if bias is not None and tuple(shape_of(bias)) != (made,):
        raise ShapeError(
            f"Given {'transposed=1, ' if transposed else ''}weight of size {kernel}, expected bias to be 1-dimensional "
            f"with {made} elements, but got bias of size {list(shape_of(bias))} instead"
        )


def _room(shape: list[int], kernel: list[int], gaps: Sizes, pads: Sizes) -> None:
    """The window fits into the padded input; ``pads`` are the widths of both ends together."""
    have = [n + p for n, p in zip(shape[2:], pads, strict=True)]
    need = [d * (k - 1) + 1 for k, d in zip(kernel[2:], gaps, strict=True)]
    if any(n < k for n, k in zip(have, need, strict=True)):
        raise ShapeError(
            f"Calculated padded input size per channel: ({' x '.join(map(str, have))}). Kernel size: "
            f"({' x '.join(map(str, need))}). Kernel size can't be greater than actual input size"
        )


def output_padding_of(extra: Sizes, steps: Sizes, gaps: Sizes) -> None:
    """What a transposed convolution adds at one end is less than a step or a gap."""
    if min(extra) < 0:
        raise ArgumentError(f"negative output_padding is not supported, got {list(extra)}")
    if any(e >= s and e >= d for e, s, d in zip(extra, steps, gaps, strict=True)):
        raise ArgumentError(
            f"output padding must be smaller than either stride or dilation, but got output_padding={list(extra)}, "
            f"stride={list(steps)}, dilation={list(gaps)}"
        )


def blocks(sizes: Sizes, steps: Sizes, gaps: Sizes, pads: Sizes) -> None:
    """Windows of ``unfold`` and ``fold``."""
    for name, values in (("kernel size", sizes), ("stride", steps), ("dilation", gaps)):
        if min(values) <= 0:
            raise ArgumentError(f"{name} should be greater than zero, but got {tuple(values)}")
    if min(pads) < 0:
        raise ArgumentError(f"padding should be non-negative, but got {tuple(pads)}")


def pooled(name: str, shape: Sizes, sizes: Sizes, steps: Sizes, pads: Sizes, gaps: Sizes) -> None:
    """Windows to pool over, and a shape that is not empty but for its batch."""
    for what, values in (("kernel_size", sizes), ("stride", steps), ("dilation", gaps)):
        if min(values) <= 0:
            raise ArgumentError(f"{name}() {what} must be greater than zero, but got {_shown(values)}")
    if min(pads) < 0:
        raise ArgumentError(f"pad must be non-negative, but got pad: {min(pads)}")
    for pad, window, gap in zip(pads, sizes, gaps, strict=True):
        if pad > (gap * (window - 1) + 1) // 2:
            raise ArgumentError(
                f"pad should be at most half of effective kernel size, but got pad={pad}, kernel_size={window} and "
                f"dilation={gap}"
            )
    least = len(sizes) + 1
    if least == 4:
        _solid(name, shape)
    if len(shape) not in (least, least + 1) or 0 in shape[len(shape) - least :]:
        raise ShapeError(
            f"{name}: Expected {least}D or {least + 1}D (batch mode) tensor with optional 0 dim batch size for input, "
            f"but got:{list(shape)}"
        )


def _solid(name: str, shape: Sizes) -> None:
    """Planes of three axes, where torch has words of their own."""
    if len(shape) not in (4, 5):
        raise ShapeError(f"non-empty 4D or 5D (batch mode) tensor expected for input, got shape {list(shape)}")
    for axis, size in enumerate(shape[-4:]):
        if size == 0:
            kernel = "max_pool3d_with_indices_out_cpu_template" if name == "max_pool3d" else name
            raise ShapeError(
                f"{kernel}(): Expected input's non-batch dimensions to have positive length, but input has a shape of "
                f"{list(shape)} and non-batch dimension {axis} has length zero!"
            )


def _shown(values: Sizes) -> str:
    return str(values[0]) if len(set(values)) == 1 else str(tuple(values))


def windows_fit(have: Sizes, counts: Sizes, lead: Sizes, line: bool) -> None:
    """At least one window along every axis; ``line`` for the largest entries along one, without their places."""
    if min(counts) < 1:
        if line:
            raise ShapeError(f"max_pool1d() Invalid computed output size: {counts[0]}")
        one = (lead[-1], 1) if len(have) == 1 else (lead[-1],)  # torch's lines are planes of height 1
        before, after = ("x".join(map(str, (*one, *sizes))) for sizes in (have, counts))
        raise ShapeError(f"Given input size: ({before}). Calculated output size: ({after}). Output size is too small")


def unpooled(wanted: Sizes, own: Sizes, steps: Sizes) -> None:
    """An output size of unpooling that a pooling with these steps may have had."""
    if any(not n - s < m < n + s for m, n, s in zip(wanted, own, steps, strict=True)):
        most = ", ".join(f"{n - s} and {n + s}" for n, s in zip(own, steps, strict=True))
        raise ArgumentError(f'invalid output_size "{tuple(wanted)}" (every axis must be between {most})')


def cells_of(name: str, wanted: Any, rank: int, shape: Sizes) -> None:
    """The output size of adaptive pooling over ``rank`` axes, and an input that is not empty but for its batch."""
    if rank > 1 and not isinstance(wanted, int) and len(shape) <= len(tuple(wanted)):
        raise ShapeError(f"Input dimension should be at least {len(tuple(wanted)) + 1}, got shape {list(shape)}")
    if len(shape) not in (rank + 1, rank + 2):
        colon = ":" if "max" in name else ""
        raise ShapeError(
            f"Expected 2 to 3 dimensions, but got {len(shape)}-dimensional tensor for argument #1 'self' (while "
            f"checking arguments for {name})"
            if rank == 1
            else f"{name}(): Expected {rank + 1}D or {rank + 2}D tensor, but got{colon} {list(shape)}"
        )
    if not isinstance(wanted, int):
        count = len(tuple(wanted))
        if rank == 1 and count != 1:
            raise ArgumentError(f"{name}() argument 'output_size' should contain one int (got {count})")
        if count not in (1, rank):
            size = "(): internal error: output_size.size()" if "max" in name else ": output_size"
            raise ArgumentError(f"{name}{size} must be {rank}")
    for number in [wanted] if isinstance(wanted, int) else wanted:
        if number is not None and number < 0:
            raise ArgumentError(
                f"{name}: elements of output_size must be greater than or equal to 0 but received {wanted}; "
                f"Trying to create tensor with negative dimension {number}"
            )
    have = list(shape[len(shape) - rank :])
    if 0 in have:
        raise ShapeError(
            f"{name}(): Expected input to have non-zero size for non-batch dimensions, but input has sizes "
            f"{list(shape)} with dimension {len(shape) - rank + have.index(0)} being empty"
        )


def pixels(name: str, word: str, factor: int, shape: Sizes) -> None:
    """Images with channels, and a factor above 0."""
    if len(shape) < 3:
        raise ShapeError(
            f"{name} expects input to have at least 3 dimensions, but got input with {len(shape)} dimension(s)"
        )
    if factor <= 0:
        raise ArgumentError(f"{name} expects a positive {word}, but got {factor}")


def dealt(shape: Sizes, groups: int) -> None:
    """Channels that can be dealt out over groups."""
    if len(shape) < 3:
        raise ShapeError(f"channel_shuffle expects input with > 2 dims, but got input with sizes {list(shape)}")
    if groups <= 0:
        raise ArgumentError(f"Number of groups to divide channels in must be positive. Value of groups:{groups}")
    if shape[1] % groups:
        raise ShapeError(
            f"Number of channels must be divisible by groups. Got {shape[1]} channels and {groups} groups."
        )


def by_time(shape: Sizes, kernel: Sizes, bias: Sizes) -> None:
    """What ``conv_tbc`` demands."""
    words = (
        (len(shape) == 3, "Input must have 3 dims: time, batch, in_channel"),
        (len(kernel) == 3, "Weight tensor must have 3 dims: kernel_width, in_channels, out_channels."),
        (len(bias) == 1, "Bias must be 1-D"),
        (shape[2:] == kernel[1:2], "Input dim 2 (input channels) is not == dim 1 in the weight tensor"),
        (bias[:1] == kernel[2:], "Bias size must equal dim 2 in the weight tensor (output channels)."),
    )
    for fits, problem in words:
        if not fits:
            raise ShapeError(f"{problem} (input {tuple(shape)}, weight {tuple(kernel)}, bias {tuple(bias)})")

"""Convolutions in any number of dimensions: sliding windows and one contraction; no rules stand here."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from symgrad.errors import ArgumentError, ShapeError
from symgrad.op import folded, front, known_as, refusing, shape_of
from symgrad.ops.calls.naming import within
from symgrad.ops.indexing.windows import windowed, windows_sum_op
from symgrad.ops.linalg.contraction import contract
from symgrad.ops.nn import demands
from symgrad.ops.reductions.wide import rounded_once
from symgrad.ops.shapes.padding import pad_axes
from symgrad.ops.shapes.shaping import in_rows, owned, permute, reshape, squeeze, unsqueeze


def per_axis(value: Any, rank: int, name: str = "size") -> tuple[int, ...]:
    """One number for all axes, or a number for each."""
    if isinstance(value, int):
        return (value,) * rank
    if getattr(value, "shape", None) == ():  # a number of NumPy, or a tensor of one
        return (int(value),) * rank
    found = tuple(int(v) for v in value)
    if len(found) == 1:
        return found * rank
    if len(found) != rank:
        raise ArgumentError(
            f"expected {name} to be a single integer value or a list of {rank} values to match the convolution "
            f"dimensions, but got {name}={list(found)}"
        )
    return found


def _batched(x: Any, rank: int, name: str) -> tuple[Any, bool]:
    ndim = len(shape_of(x))
    if ndim not in (rank + 1, rank + 2):
        raise ShapeError(
            f"Expected {rank + 1}D (unbatched) or {rank + 2}D (batched) input to {name}, but got input of size: "
            f"{list(shape_of(x))}"
        )
    return (x, True) if ndim == rank + 2 else (unsqueeze(x, 0), False)


def patches(x: Any, sizes: Sequence[int], steps: Sequence[int], dilations: Sequence[int]) -> Any:
    """Windows over the axes from 2 on: (batch, channels, places…, inside…)."""
    for k, (size, step, dilation) in enumerate(zip(sizes, steps, dilations, strict=True)):
        x = windowed(x, 2 + k, size, step, dilation)
    return x


def _biased(out: Any, bias: Any, rank: int) -> Any:
    return out if bias is None else out + reshape(bias, -1, *(1,) * rank)


def _same_widths(size: int, dilation: int) -> tuple[int, int]:
    total = dilation * (size - 1)
    return total // 2, total - total // 2


def _conv(rank: int) -> Any:
    name = f"conv{rank}d"

    @folded(f"nn.functional.{name}", one_node=True, added="bias")
    @rounded_once
    def call(
        input: Any,
        weight: Any,
        bias: Any = None,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
    ) -> Any:
        x, batched = _batched(input, rank, name)
        sizes = shape_of(weight)[2:]
        steps, gaps = per_axis(stride, rank, "stride"), per_axis(dilation, rank, "dilation")
        if isinstance(padding, str):
            demands.padding_of(padding, steps)
        if padding == "same" and len(sizes) == rank:
            widths = [_same_widths(n, d) for n, d in zip(sizes, gaps, strict=True)]
        else:
            widths = [(p, p) for p in per_axis(0 if isinstance(padding, str) else padding, rank, "padding")]
        demands.same_dtype(input, bias)
        demands.convolvable(x, weight, bias, steps, gaps, [sum(pair) for pair in widths], groups)
        batch, channels = shape_of(x)[:2]
        seen = patches(pad_axes(x, {2 + k: w for k, w in enumerate(widths)}), sizes, steps, gaps)
        places = shape_of(seen)[2 : 2 + rank]
        out_channels = shape_of(weight)[0]
        where, inside = tuple(range(10, 10 + rank)), tuple(range(20, 20 + rank))
        if groups == 1:  # NumPy contracts arrays with an axis of one group ten times as slowly
            shape = (batch, out_channels, *places)
            out = contract((seen, weight), ((0, 2, *where, *inside), (3, 2, *inside)), (0, 3, *where), shape)
        else:
            seen = reshape(seen, batch, groups, channels // groups, *places, *sizes)
            kernel = reshape(weight, groups, out_channels // groups, channels // groups, *sizes)
            out = contract(
                (seen, kernel),
                ((0, 1, 2, *where, *inside), (1, 3, 2, *inside)),
                (0, 1, 3, *where),
                (batch, groups, out_channels // groups, *places),
            )
            out = reshape(out, batch, out_channels, *places)
        out = _biased(out, bias, rank)
        return out if batched else squeeze(out, 0)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = (
        f"Cross-correlation over {rank} axes: input (batch, channels, …), weight (out, channels / groups, …); "
        '``padding`` may be "same" or "valid".'
    )
    front(name, method=False)(call)
    return within("nn.functional")(call)


def _conv_transpose(rank: int) -> Any:
    name = f"conv_transpose{rank}d"

    @folded(f"nn.functional.{name}", one_node=True, added="bias")
    @rounded_once
    def call(
        input: Any,
        weight: Any,
        bias: Any = None,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        dilation: Any = 1,
    ) -> Any:
        x, batched = _batched(input, rank, name)
        sizes = shape_of(weight)[2:]
        steps, gaps = per_axis(stride, rank, "stride"), per_axis(dilation, rank, "dilation")
        widths, extra = per_axis(padding, rank, "padding"), per_axis(output_padding, rank, "output_padding")
        demands.same_dtype(input, bias)
        demands.convolvable(x, weight, bias, steps, gaps, widths, groups, True)
        demands.output_padding_of(extra, steps, gaps)
        batch, channels, *places = shape_of(x)
        made = shape_of(weight)[1]
        where, inside = tuple(range(10, 10 + rank)), tuple(range(20, 20 + rank))
        if groups == 1:
            shape = (batch, made, *places, *sizes)
            out = contract((x, weight), ((0, 2, *where), (2, 3, *inside)), (0, 3, *where, *inside), shape)
        else:
            out = contract(
                (
                    reshape(x, batch, groups, channels // groups, *places),
                    reshape(weight, groups, channels // groups, made, *sizes),
                ),
                ((0, 1, 2, *where), (1, 2, 3, *inside)),
                (0, 1, 3, *where, *inside),
                (batch, groups, made, *places, *sizes),
            )
            out = reshape(out, batch, groups * made, *places, *sizes)
        for k in reversed(range(rank)):
            full = (places[k] - 1) * steps[k] + gaps[k] * (sizes[k] - 1) + 1
            out = windows_sum_op(out, dim=2 + k, step=steps[k], dilation=gaps[k], size=full)
        out = in_rows(pad_axes(out, {2 + k: (-widths[k], extra[k] - widths[k]) for k in range(rank)}))
        out = _biased(out, bias, rank)
        return out if batched else squeeze(out, 0)

    known_as(call, name, f"The transpose of ``conv{rank}d`` as a linear map; weight (channels, out / groups, …).")
    front(name, method=False)(call)
    return within("nn.functional")(call)


conv1d, conv2d, conv3d = map(_conv, (1, 2, 3))
conv_transpose1d, conv_transpose2d, conv_transpose3d = map(_conv_transpose, (1, 2, 3))


@within("nn.functional")
@front("conv_tbc", method=False)
def conv_tbc(input: Any, weight: Any, bias: Any, pad: int = 0) -> Any:
    """``conv1d`` of sequences that lie as (time, batch, channels), with weights (places, channels, out)."""
    demands.by_time(shape_of(input), shape_of(weight), shape_of(bias))
    made = conv1d(permute(input, 1, 2, 0), permute(weight, 2, 1, 0), bias, 1, pad)
    return permute(made, 2, 0, 1)


@within("nn.functional")
@refusing("ui")
@rounded_once
def unfold(input: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Any:
    """Patches of images as columns: (batch, channels · patch, places)."""
    x, batched = _batched(input, 2, "unfold")
    sizes, steps, gaps, widths = (per_axis(v, 2) for v in (kernel_size, stride, dilation, padding))
    demands.blocks(sizes, steps, gaps, widths)
    seen = patches(pad_axes(x, {2 + k: (w, w) for k, w in enumerate(widths)}), sizes, steps, gaps)
    batch, channels, *places = shape_of(seen)[:4]
    columns = reshape(permute(seen, 0, 1, 4, 5, 2, 3), batch, channels * math.prod(sizes), math.prod(places))
    columns = owned(columns)
    return columns if batched else squeeze(columns, 0)


@within("nn.functional")
@rounded_once
def fold(input: Any, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Any:
    """Columns of patches added back into images of ``output_size``: the transpose of ``unfold``."""
    batched = len(shape_of(input)) == 3
    x = input if batched else unsqueeze(input, 0)
    target, sizes, steps, gaps, widths = (per_axis(v, 2) for v in (output_size, kernel_size, stride, dilation, padding))
    demands.blocks(sizes, steps, gaps, widths)
    full = [n + 2 * w for n, w in zip(target, widths, strict=True)]
    places = [(n - d * (k - 1) - 1) // s + 1 for n, k, s, d in zip(full, sizes, steps, gaps, strict=True)]
    batch, rows, count = shape_of(x)
    if rows % math.prod(sizes):
        raise ShapeError(
            "Expected size of input's dimension 1 to be divisible by the product of kernel_size, but got input.size(1)="
            f"{rows} and kernel_size={tuple(sizes)}."
        )
    if count != math.prod(places):
        raise ShapeError(
            f"Given output_size={tuple(target)}, kernel_size={tuple(sizes)}, dilation={tuple(gaps)}, padding="
            f"{tuple(widths)}, stride={tuple(steps)}, expected size of input's dimension 2 to match the calculated "
            f"number of sliding blocks {math.prod(places)}, but got input.size(2)={count}."
        )
    seen = permute(reshape(x, batch, rows // math.prod(sizes), *sizes, *places), 0, 1, 4, 5, 2, 3)
    for k in (1, 0):
        seen = windows_sum_op(seen, dim=2 + k, step=steps[k], dilation=gaps[k], size=full[k])
    out = in_rows(pad_axes(seen, {2 + k: (-w, -w) for k, w in enumerate(widths)}))
    return out if batched else squeeze(out, 0)


@within("nn.functional")
def pixel_shuffle(input: Any, upscale_factor: int) -> Any:
    """(…, c r², h, w) becomes (…, c, h r, w r)."""
    demands.pixels("pixel_shuffle", "upscale_factor", upscale_factor, shape_of(input))
    *lead, channels, height, width = shape_of(input)
    r, n = upscale_factor, len(lead)
    if channels % (r * r):
        raise ShapeError(
            "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of upscale_factor, "
            f"but input.size(-3)={channels} is not divisible by {r * r}"
        )
    x = reshape(input, *lead, channels // (r * r), r, r, height, width)
    x = permute(x, *range(n), n, n + 3, n + 1, n + 4, n + 2)
    return owned(reshape(x, *lead, channels // (r * r), height * r, width * r))


@within("nn.functional")
def pixel_unshuffle(input: Any, downscale_factor: int) -> Any:
    """(…, c, h r, w r) becomes (…, c r², h, w)."""
    demands.pixels("pixel_unshuffle", "downscale_factor", downscale_factor, shape_of(input))
    *lead, channels, height, width = shape_of(input)
    r, n = downscale_factor, len(lead)
    if height % r or width % r:
        raise ShapeError(f"pixel_unshuffle expects height and width to be divisible by {r}, got {height} and {width}")
    x = reshape(input, *lead, channels, height // r, r, width // r, r)
    x = permute(x, *range(n), n, n + 2, n + 4, n + 1, n + 3)
    return owned(reshape(x, *lead, channels * r * r, height // r, width // r))


for _name, _call in (("pixel_shuffle", pixel_shuffle), ("pixel_unshuffle", pixel_unshuffle)):
    front(_name, method=False)(_call)


@within("nn.functional")
def channel_shuffle(input: Any, groups: int) -> Any:
    """Channels (axis 1) dealt out over groups: (g, c / g) becomes (c / g, g)."""
    demands.dealt(shape_of(input), groups)
    batch, channels, *rest = shape_of(input)
    x = reshape(input, batch, groups, channels // groups, *rest)
    return reshape(permute(x, 0, 2, 1, *range(3, 3 + len(rest))), shape_of(input))


front("channel_shuffle", method=False)(channel_shuffle)

"""Resampling: interpolate by constant matrices or gathers, grid_sample by weighted gathers; no rules stand here."""

from __future__ import annotations

import functools
import itertools
import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from symgrad.dtypes import is_real_floating, torch_name
from symgrad.errors import ArgumentError, ShapeError, UnsupportedMode
from symgrad.notices import notice
from symgrad.op import fixed, fixed_length, folded, front, refusing, shape_of
from symgrad.ops.calls.naming import within
from symgrad.ops.elementwise.floats import fmod, rounded
from symgrad.ops.elementwise.select import clamp, isinf, isnan, where
from symgrad.ops.elementwise.smooth import floor
from symgrad.ops.indexing.gathering import gather_op
from symgrad.ops.indexing.getitem import index_select
from symgrad.ops.linalg.matrices import matmul
from symgrad.ops.nn.pooling import adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d
from symgrad.ops.nn.weighing import weighed
from symgrad.ops.reductions.sums import cast, sum_
from symgrad.ops.reductions.wide import rounded_once
from symgrad.ops.rules.refusals import kind_of
from symgrad.ops.shapes.joining import stack, unbind
from symgrad.ops.shapes.padding import pad_axes
from symgrad.ops.shapes.shaping import mT, reshape, spread, unsqueeze


def _scale(have: int, wanted: int, factor: float | None, align: bool) -> float:
    """Input entries per output entry."""
    if align:
        return (have - 1) / (wanted - 1) if wanted > 1 else 0.0
    return 1 / factor if factor else have / wanted


def _linear(have: int, wanted: int, factor: float | None, align: bool) -> tuple[Any, Any]:
    """The neighbours of linear interpolation along an axis, and their weights, each (wanted, neighbours)."""
    step = _scale(have, wanted, factor, align)
    place = np.arange(wanted) * step if align else np.maximum((np.arange(wanted) + 0.5) * step - 0.5, 0)
    low = np.minimum(place.astype(np.int64), have - 1)
    weight = np.clip(place - low, 0, 1)
    return np.stack([low, np.minimum(low + 1, have - 1)], 1), np.stack([1 - weight, weight], 1)


def cubic_weights(t: Any) -> list[Any]:
    """Weights of the four neighbours for cubic convolution with A = -3/4 (Keys 1981)."""
    a = -0.75

    def near(x: Any) -> Any:
        return ((a + 2) * x - (a + 3)) * x * x + 1

    def far(x: Any) -> Any:
        return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a

    return [far(t + 1), near(t), near(1 - t), far(2 - t)]


def _cubic(have: int, wanted: int, factor: float | None, align: bool) -> tuple[Any, Any]:
    """The same of cubic convolution."""
    step = _scale(have, wanted, factor, align)
    place = np.arange(wanted) * step if align else (np.arange(wanted) + 0.5) * step - 0.5
    low = np.floor(place)
    places = np.clip(low[:, None] + np.arange(-1, 3), 0, have - 1).astype(np.int64)
    return places, np.stack(cubic_weights(place - low), 1)


def _triangle(x: Any) -> Any:
    return np.maximum(1 - np.abs(x), 0)


def _bump(x: Any) -> Any:
    """Keys' cubic with A = -1/2, from -2 to 2."""
    x = np.abs(x)
    near, far = (1.5 * x - 2.5) * x * x + 1, -0.5 * (((x - 5) * x + 8) * x - 4)
    return np.where(x < 1, near, np.where(x < 2, far, 0))


def _smoothing(mode: str, have: int, wanted: int, factor: float | None, align: bool) -> tuple[Any, Any]:
    """The same with a kernel as wide as the entries that it replaces, so that nothing is missed."""
    kernel, reach = (_bump, 2.0) if mode == "bicubic" else (_triangle, 1.0)
    step = _scale(have, wanted, factor, align)
    widening = max(step, 1.0)
    center = step * (np.arange(wanted)[:, None] + 0.5)
    first = np.maximum((center - reach * widening + 0.5).astype(np.int64), 0)
    last = np.minimum((center + reach * widening + 0.5).astype(np.int64), have)
    place = first + np.arange((last - first).max())
    weights = np.where(place < last, kernel((place - center + 0.5) / widening), 0)
    total = weights.sum(1, keepdims=True)
    return np.minimum(place, last - 1), weights / np.where(total == 0, 1, total)


def _nearest(have: int, wanted: int, factor: float | None, exact: bool) -> Any:
    # torch computes the places in single precision, and the last bit decides which neighbour is nearest.
    step = np.float32(1 / factor if factor else have / wanted)
    offset = np.float32(0.5 if exact else 0)
    return np.minimum(((np.arange(wanted, dtype=np.float32) + offset) * step).astype(np.int64), have - 1)


def _sizes(have: Sequence[int], size: Any, factor: Any) -> tuple[list[int], list[float | None]]:
    rank = len(have)
    if (size is None) == (factor is None):
        which = "either" if size is None else "only one of"
        raise ArgumentError(f"{which} size or scale_factor should be defined")
    name, given = ("scale_factor", factor) if size is None else ("size", size)
    several = hasattr(given, "__len__") and getattr(given, "shape", None) != ()
    each = list(given) if several else [given] * rank
    if len(each) != rank:
        raise ArgumentError(
            f"Input and {name} must have the same number of spatial dimensions, but got input with spatial dimensions "
            f"of {list(have)} and {name} of {given}."
        )
    if size is not None:
        return [operator.index(fixed(n)) for n in each], [None] * rank
    factors = [float(fixed(f)) for f in each]
    return [math.floor(n * f) for n, f in zip(have, factors, strict=True)], list(factors)


@within("nn.functional")
@refusing("bic")
@rounded_once
def interpolate(
    input: Any,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Any:
    """Axes from 2 on resampled: "nearest", "nearest-exact", "linear", "bilinear", "bicubic", "trilinear", "area".

    ``antialias`` smooths where the result is smaller, in the modes "bilinear" and "bicubic"; ``ValueError`` in others.
    """
    have = shape_of(input)[2:]
    if not 1 <= len(have) <= 3:
        raise UnsupportedMode(f"Only 3D, 4D and 5D input Tensors supported (got {len(shape_of(input))}D)")
    wanted, factors = _sizes(have, size, scale_factor)
    if min([*have, *wanted], default=1) <= 0:
        raise ArgumentError(
            f"Input and output sizes should be greater than 0, but got input {tuple(have)} output {tuple(wanted)}"
        )
    if 0 in shape_of(input)[1:]:
        raise ShapeError(
            f"Non-empty {len(have) + 2}D data tensor expected but got a tensor with sizes {list(input.shape)}"
        )
    if align_corners is not None and mode in ("nearest", "nearest-exact", "area"):
        raise ArgumentError(
            "align_corners option can only be set with the interpolating modes: linear | bilinear | bicubic | trilinear"
        )
    if recompute_scale_factor:
        if size is not None:
            raise ArgumentError("recompute_scale_factor is not meaningful with an explicit size.")
        factors = [None] * len(have)
    if antialias and (mode not in ("bilinear", "bicubic") or len(have) != 2):
        raise ArgumentError(
            "Anti-alias option is restricted to bilinear, bicubic, and lanczos modes and requires a 4-D tensor as input"
        )
    have = tuple(fixed_length(input, 2 + k) for k in range(len(have)))
    if mode == "area":
        return (adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d)[len(have) - 1](input, wanted)
    if mode in ("nearest", "nearest-exact"):
        for k, (n, m, f) in enumerate(zip(have, wanted, factors, strict=True)):
            input = index_select(input, 2 + k, _nearest(n, m, f, mode == "nearest-exact"))
        return input
    rank = {"linear": 1, "bilinear": 2, "bicubic": 2, "trilinear": 3}.get(mode)
    if rank != len(have):
        raise UnsupportedMode(
            f"Got {len(have) + 2}D input, but {mode} mode needs {'another' if rank is None else f'{rank + 2}D'} input"
        )
    weights = _cubic if mode == "bicubic" else _linear
    if antialias:
        weights = functools.partial(_smoothing, mode)
    axes, picture = list(enumerate(zip(have, wanted, factors, strict=True))), kind_of(input) == "u"
    for k, (n, m, f) in reversed(axes) if picture else axes:
        found = weights(n, m, f, bool(align_corners))
        if picture:  # and every step is one again
            smooth = weighed(cast(input, np.float32), *found, 2 + k)
            input = cast(clamp(floor(smooth + 0.5), 0, 255), input.dtype)
        else:
            input = weighed(input, *found, 2 + k)
    return input


def _renamed(name: str) -> None:
    notice(f"`nn.functional.{name}` is deprecated. Use `nn.functional.interpolate` instead.")


@within("nn.functional", "upsample")
def upsample(
    input: Any, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: bool | None = None
) -> Any:
    """The old name of ``interpolate``, with torch's warning."""
    _renamed("upsample")
    return interpolate(input, size, scale_factor, mode, align_corners)


@within("nn.functional")
def upsample_nearest(input: Any, size: Any = None, scale_factor: Any = None) -> Any:
    """``interpolate`` with mode "nearest", with torch's warning."""
    _renamed("upsample_nearest")
    return interpolate(input, size, scale_factor, "nearest")


@within("nn.functional")
def upsample_bilinear(input: Any, size: Any = None, scale_factor: Any = None) -> Any:
    """``interpolate`` with mode "bilinear" and aligned corners, with torch's warning."""
    _renamed("upsample_bilinear")
    return interpolate(input, size, scale_factor, "bilinear", True)


# ------------------------------------------------------------------------------------------ grids


_CORNERS = (
    "Default grid_sample and affine_grid behavior has changed to align_corners=False since 1.3.0. Please specify "
    "align_corners=True if the old behavior is desired. See the documentation of grid_sample for details."
)


def _reflected(x: Any, low: float, high: float) -> Any:
    """``x`` folded back and forth into [low, high] / 2."""
    if low == high:
        return x * 0
    start, span = low / 2, (high - low) / 2
    size = (x - start) * where(x < start, -1, 1)
    extra, even = fmod(size, span), floor(size / span) % 2 == 0
    return where(even, extra + start, span - extra + start)


def _clipped(x: Any, size: int) -> Any:
    # Outside it is the nearest end, and nan is at the first place.
    return where((x > 0) & (x < size - 1), x, where(x >= size - 1, size - 1, 0))


def _in_pixels(x: Any, size: int, padding: str, align: bool) -> Any:
    """Grid coordinates in [-1, 1] as places in an axis, brought inside as the padding mode says."""
    place = (x + 1) / 2 * (size - 1) if align else ((x + 1) * size - 1) / 2
    if padding == "zeros":  # what is far away is outside all the same, and weights have to be numbers
        place = where(isinf(place), clamp(place, -9, size + 9), place)
    return _brought_inside(place, size, padding, align)


def _brought_inside(place: Any, size: int, padding: str, align: bool) -> Any:
    if padding == "reflection":
        place = _reflected(place, 0, 2 * (size - 1)) if align else _reflected(place, -1, 2 * size - 1)
    return _clipped(place, size) if padding in ("border", "reflection") else place


def _read(x: Any, places: Sequence[Any]) -> Any:
    """Entries at whole places, zero outside: x (batch, channels, …), places (batch, …)."""
    batch, channels, *sizes = shape_of(x)
    inside, flat = [(place >= 0) & (place < size) for place, size in zip(places, sizes, strict=True)], 0
    for place, here, size in zip(places, inside, sizes, strict=True):
        flat = flat * size + cast(where(here, place, 0), np.int64)
    cells, there = math.prod(sizes), shape_of(places[0])[1:]
    lines = pad_axes(reshape(x, batch, channels, cells), {2: (0, 1)})  # a zero behind, for all that is outside
    index = reshape(where(functools.reduce(operator.and_, inside), flat, cells), batch, 1, math.prod(there))
    found = gather_op(lines, spread(index, batch, channels, math.prod(there)), dim=2)
    return reshape(found, batch, channels, *there)


@front("grid_sampler", method=False)
def grid_sampler(input: Any, grid: Any, interpolation_mode: int, padding_mode: int, align_corners: bool) -> Any:
    """``grid_sample`` with its modes as numbers."""
    modes, paddings = ("bilinear", "nearest", "bicubic"), ("zeros", "border", "reflection")
    return grid_sample(input, grid, modes[interpolation_mode], paddings[padding_mode], align_corners)


front("grid_sampler_2d", "grid_sampler_3d", method=False)(grid_sampler)


@within("nn.functional")
@refusing("buic")
@rounded_once
def grid_sample(
    input: Any, grid: Any, mode: str = "bilinear", padding_mode: str = "zeros", align_corners: bool | None = None
) -> Any:
    """``input`` (batch, channels, …) at the points of ``grid`` (batch, …, 2 or 3) in [-1, 1], last axis first.

    ``mode`` is "bilinear", "nearest" or "bicubic" (two axes); ``padding_mode`` "zeros", "border" or "reflection".
    """
    if align_corners is None:
        notice(_CORNERS)
    sizes, align = shape_of(input)[2:], bool(align_corners)
    if len(shape_of(grid)) != len(sizes) + 2 or len(sizes) not in (2, 3):
        raise ShapeError(
            "grid_sampler(): expected 4D or 5D input and grid with same number of dimensions, but got input with sizes "
            f"{list(shape_of(input))} and grid with sizes {list(shape_of(grid))}"
        )
    if shape_of(grid)[-1] != len(sizes):
        raise ShapeError(
            f"grid_sampler(): expected grid to have size {len(sizes)} in last dimension, but got grid with sizes "
            f"{list(shape_of(grid))}"
        )
    if shape_of(grid)[0] != shape_of(input)[0]:
        raise ShapeError(
            "grid_sampler(): expected grid and input to have same batch size, but got input with sizes "
            f"{list(shape_of(input))} and grid with sizes {list(shape_of(grid))}"
        )
    if mode not in ("bilinear", "nearest", "bicubic") or padding_mode not in ("zeros", "border", "reflection"):
        raise ArgumentError(
            "nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' or 'bicubic', and padding_mode "
            f"to be 'zeros', 'border', or 'reflection', but got: {mode!r}, {padding_mode!r}"
        )
    if 0 in sizes:
        raise ShapeError(
            "grid_sampler(): expected input to have non-empty spatial dimensions, but input has sizes "
            f"{list(shape_of(input))}"
        )
    if mode == "bicubic" and len(sizes) != 2:
        raise UnsupportedMode("grid_sampler(): bicubic interpolation only supports 4D input")
    return _sampled(input, grid, mode, padding_mode, align)


@folded("nn.functional.grid_sample", one_node=True)
def _sampled(input: Any, grid: Any, mode: str, padding: str, align: bool) -> Any:
    sizes, points = shape_of(input)[2:], list(reversed(unbind(grid, -1)))
    if mode == "bicubic":
        return _sampled_cubic(input, points, padding, align)
    places = [_in_pixels(p, n, padding, align) for p, n in zip(points, sizes, strict=True)]
    if mode == "nearest":
        slope = 0 * floor(where(isnan(places[0]), 0, places[0]))  # the grid's gradient is zero, not absent
        return _read(input, [rounded(p) for p in places]) + unsqueeze(slope, 1)
    lows = [floor(p) for p in places]
    return _mixed(
        input,
        [(low, low + 1) for low in lows],
        [(low + 1 - place, place - low) for low, place in zip(lows, places, strict=True)],
    )


def _mixed(x: Any, places: Sequence[Sequence[Any]], weights: Sequence[Sequence[Any]]) -> Any:
    """The sum of entries around points, each by the product of its weights; for every axis its places and weights."""
    corners = list(itertools.product(*(range(len(row)) for row in places)))
    chosen = [stack([row[c] for c in along], 1) for row, along in zip(weights, zip(*corners, strict=True), strict=True)]
    whole = [stack([row[c] for c in along], 1) for row, along in zip(places, zip(*corners, strict=True), strict=True)]
    return sum_(_read(x, whole) * unsqueeze(math.prod(chosen[1:], start=chosen[0]), 1), 2)


def _sampled_cubic(x: Any, points: Sequence[Any], padding: str, align: bool) -> Any:
    sizes = shape_of(x)[2:]
    places = [_in_pixels(p, n, "zeros", align) for p, n in zip(points, sizes, strict=True)]
    lows = [floor(p) for p in places]
    weights = [cubic_weights(p - low) for p, low in zip(places, lows, strict=True)]
    rows, columns = (
        [_brought_inside(low + k - 1, n, padding, align) for k in range(4)] for low, n in zip(lows, sizes, strict=True)
    )
    return _mixed(x, (rows, columns), weights)


@within("nn.functional")
def affine_grid(theta: Any, size: Sequence[int], align_corners: bool | None = None) -> Any:
    """The points that affine maps ``theta`` (batch, 2, 3) or (batch, 3, 4) give for an output of ``size``."""
    if align_corners is None:
        notice(_CORNERS)
    if not is_real_floating(theta.dtype):
        raise ArgumentError(f"Expected theta to have floating point type, but got {torch_name(theta.dtype)}")
    if len(size) not in (4, 5):
        raise UnsupportedMode(f"affine_grid only supports 4D and 5D sizes, for maps of 2 and 3 axes. Got size {size}.")
    rank = len(size) - 2
    if tuple(shape_of(theta)[1:]) != (rank, rank + 1):
        raise ArgumentError(
            f"Expected a batch of {rank}D affine matrices of shape Nx{rank}x{rank + 1} for size {tuple(size)}. Got "
            f"{tuple(shape_of(theta))}."
        )
    if min(size) <= 0:
        raise ArgumentError(f"Expected non-zero, positive output size. Got {size}")
    axes = []
    for n in tuple(size)[2:]:
        ends = np.linspace(-1, 1, n) if n > 1 else np.zeros(1)
        axes.append(ends if align_corners else ends * (n - 1) / n)
    grid = np.meshgrid(*axes, indexing="ij")
    base = np.stack([*reversed(grid), np.ones(grid[0].shape)], -1).astype(theta.dtype)
    flat = spread(base.reshape(1, -1, base.shape[-1]), size[0], -1, -1)
    return reshape(matmul(flat, mT(theta)), size[0], *tuple(size)[2:], len(axes))

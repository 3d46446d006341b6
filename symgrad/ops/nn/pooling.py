"""Pooling over sliding windows and over adaptive cells; no rules stand here."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from symgrad.errors import ArgumentError, OutOfBounds, ShapeError
from symgrad.op import fixed, fixed_length, front, known_as, length_of, refusal, refusing, shape_of
from symgrad.ops.calls import fits
from symgrad.ops.calls.naming import SPACES, within
from symgrad.ops.calls.still import values_of
from symgrad.ops.elementwise.arithmetic import div_rounded
from symgrad.ops.elementwise.select import placed, relu, sign
from symgrad.ops.indexing.gathering import gather_op
from symgrad.ops.indexing.getitem import getitem
from symgrad.ops.indexing.places import outside
from symgrad.ops.indexing.scatter import scatter_set_op
from symgrad.ops.nn import demands
from symgrad.ops.nn.convolution import patches, per_axis
from symgrad.ops.nn.weighing import weighed
from symgrad.ops.noise import drawn
from symgrad.ops.reductions.extremes import argmax_of_pool_op
from symgrad.ops.reductions.sums import cast, mean, sum_op
from symgrad.ops.reductions.wide import rounded_once
from symgrad.ops.rules.refusals import kind_of
from symgrad.ops.shapes.padding import pad_axes
from symgrad.ops.shapes.shaping import reshape, squeeze


def _planes(x: Any, rank: int) -> tuple[Any, tuple[Any, ...]]:
    """The input as (batch, 1, …) with everything before the last ``rank`` axes in the batch, and those axes."""
    shape = tuple(shape_of(x))
    if len(shape) not in (rank + 1, rank + 2):
        raise ShapeError(f"pooling over {rank} axes takes {rank + 1} or {rank + 2} axes, got shape {shape}.")
    lead = shape[: len(shape) - rank]
    return reshape(x, math.prod(lead), 1, *shape[len(lead) :]), lead


def _extent(size: int, window: int, step: int, pad: int, dilation: int, ceil_mode: bool) -> int:
    """Number of windows along an axis; with ``ceil_mode`` a window may hang over if it starts inside."""
    span = size + 2 * pad - dilation * (window - 1) - 1
    count = (-(-span // step) if ceil_mode else span // step) + 1
    return count - 1 if ceil_mode and (count - 1) * step >= size + pad else count


def _windows(
    x: Any,
    sizes: Sequence[int],
    steps: Sequence[int],
    pads: Sequence[int],
    gaps: Sequence[int],
    ceil: bool,
    value: Any,
    lead: Sequence[int],
    line: bool = False,
) -> tuple[Any, list[int]]:
    """Padded windows of planes, as (batch, 1, places…, inside…), and the places."""
    have = shape_of(x)[2:]
    counts = [_extent(*row, ceil) for row in zip(have, sizes, steps, pads, gaps, strict=True)]
    widths = {}
    for k, count in enumerate(counts):
        need = (count - 1) * steps[k] + gaps[k] * (sizes[k] - 1) + 1
        widths[2 + k] = (pads[k], need - have[k] - pads[k])
        if steps[k] > 1:  # what windows leave of the axis is cut off, or filled up
            fixed((length_of(x, 2 + k) + (2 * pads[k] - gaps[k] * (sizes[k] - 1) - 1)) % steps[k])
    demands.windows_fit(have, counts, lead, line)
    seen = patches(pad_axes(x, widths, value), sizes, steps, gaps)
    return seen, list(shape_of(seen)[2 : 2 + len(have)])


def _divisors(
    have: Sequence[int], counts: Sequence[int], sizes: Sequence[int], steps: Sequence[int], pads: Sequence[int],
    include: bool, dtype: Any,
) -> Any:  # fmt: skip
    """How many entries every window averages over: a number where it is the same one."""
    rows = [tuple(map(fixed, row)) for row in zip(have, counts, sizes, steps, pads, strict=True)]
    if all(
        n and (include or not pad) and (n - 1) * step + window <= size + 2 * pad for size, n, window, step, pad in rows
    ):
        return math.prod(window for _, _, window, _, _ in rows)  # none reaches over an end
    total = np.ones((), np.int64)
    for size, count, window, step, pad in rows:
        start = np.arange(count) * step - pad
        end = np.minimum(start + window, size + pad)
        inside = end - start if include else np.minimum(end, size) - np.maximum(start, 0)
        total = np.multiply.outer(total, inside)
    return int(total.flat[0]) if total.size and (total == total.flat[0]).all() else total.astype(dtype)


def _avg_pool(rank: int) -> Any:
    @rounded_once
    def call(
        input: Any,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> Any:
        sizes = per_axis(kernel_size, rank)
        steps = sizes if stride in (None, (), []) else per_axis(stride, rank)
        pads, gaps = per_axis(padding, rank), (1,) * rank
        demands.pooled(f"avg_pool{rank}d", shape_of(input), sizes, steps, pads, gaps)
        if divisor_override == 0:
            raise ArgumentError("divisor must be not zero")
        x, lead = _planes(placed(input), rank)
        seen, counts = _windows(x, sizes, steps, pads, gaps, ceil_mode, 0, lead)
        total = sum_op(seen, dim=tuple(range(2 + rank, 2 + 2 * rank)), keepdim=False)
        by = divisor_override or _divisors(shape_of(x)[2:], counts, sizes, steps, pads, count_include_pad, input.dtype)
        if isinstance(by, np.ndarray):
            for k in range(rank):
                fixed_length(x, 2 + k)
        whole = kind_of(x) in "bui"
        means = cast(div_rounded(total, by, rounding_mode="trunc"), x.dtype) if whole else total / by
        return reshape(means, *lead, *counts)

    return _published(call, f"avg_pool{rank}d", f"Means over windows of the last {rank} axes.")


def _published(call: Any, name: str, doc: str) -> Any:
    return within("nn.functional")(known_as(call, name, doc))


def _max_pool(rank: int) -> Any:
    name = f"max_pool{rank}d"

    @rounded_once
    def call(
        input: Any,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        ceil_mode: bool = False,
        return_indices: bool = False,
    ) -> Any:
        sizes = per_axis(kernel_size, rank)
        steps = sizes if stride in (None, (), []) else per_axis(stride, rank)
        pads, gaps = per_axis(padding, rank), per_axis(dilation, rank)
        demands.pooled(name, shape_of(input), sizes, steps, pads, gaps)
        x, lead = _planes(placed(input), rank)
        lowest = np.iinfo(x.dtype).min if kind_of(x) in "ui" else -math.inf
        line = rank == 1 and not return_indices
        if kind_of(x) in ("bui" if line else "b"):
            raise refusal(name, "max_pool1d_impl" if line else "max_pool2d", x.dtype)
        seen, counts = _windows(x, sizes, steps, pads, gaps, ceil_mode, lowest, lead, line)
        flat = reshape(seen, -1, *counts, math.prod(sizes))
        place = argmax_of_pool_op(flat, dim=rank + 1, keepdim=True)
        out = reshape(gather_op(flat, place, dim=rank + 1), *lead, *counts)
        if not return_indices:
            return out
        return out, reshape(_flat_places(place, shape_of(x)[2:], sizes, steps, pads, gaps), *lead, *counts)

    _published(call, name, f"Largest entries of windows over the last {rank} axes; the first of equal ones.")

    def with_indices(input: Any, *args: Any, **options: Any) -> tuple[Any, Any]:
        return call(input, *args, **{**options, "return_indices": True})  # type: ignore[no-any-return]

    front(name, method=False)(call)
    _published(with_indices, f"{name}_with_indices", f"``{name}`` and the flat places of the entries.")
    return call


def _flat_places(
    place: Any,
    have: Sequence[int],
    sizes: Sequence[int],
    steps: Sequence[int],
    pads: Sequence[int],
    gaps: Sequence[int],
) -> Any:
    """Places inside windows as places in the flattened plane."""
    rank = len(sizes)
    inside = squeeze(place, rank + 1)
    total: Any = 0
    rest = inside
    for k in range(rank):
        below, stride = math.prod(sizes[k + 1 :]), math.prod(have[k + 1 :])
        step = rest // below
        rest = rest % below
        start = np.arange(shape_of(inside)[1 + k]) * steps[k] - pads[k]
        total = total + (step * gaps[k] + start.reshape(-1, *(1,) * (rank - 1 - k))) * stride
    return total


avg_pool1d, avg_pool2d, avg_pool3d = map(_avg_pool, (1, 2, 3))
max_pool1d, max_pool2d, max_pool3d = map(_max_pool, (1, 2, 3))
for _avg in (avg_pool1d,):
    front(_avg.__name__, method=False)(_avg)


def _lp_pool(rank: int) -> Any:
    def call(input: Any, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False) -> Any:
        pool = (avg_pool1d, avg_pool2d, avg_pool3d)[rank - 1]
        mean = pool(input**norm_type, kernel_size, stride, 0, ceil_mode)
        count = math.prod(per_axis(kernel_size, rank))
        return (sign(mean) * relu(sign(mean) * mean) * count) ** (1 / norm_type)

    return _published(call, f"lp_pool{rank}d", f"``norm_type``-norms of windows over the last {rank} axes.")


lp_pool1d, lp_pool2d, lp_pool3d = map(_lp_pool, (1, 2, 3))

# ------------------------------------------------------------------------------------------ adaptive cells


def _cells(size: int, count: int) -> list[tuple[int, int]]:
    """Ends of ``count`` cells that cover an axis; they may overlap by one entry."""
    return [(k * size // count, -(-(k + 1) * size // count)) for k in range(count)]


def _target(name: str, output_size: Any, x: Any, rank: int) -> tuple[int, ...]:
    """The number of cells along every one of the last ``rank`` axes."""
    shape = shape_of(x)
    demands.cells_of(name, output_size, rank, shape)
    have = shape[len(shape) - rank :]
    wanted = (output_size,) * len(have) if isinstance(output_size, int) else tuple(output_size)
    if len(wanted) == 1:
        wanted = wanted * len(have)
    return tuple(n if w is None else int(w) for w, n in zip(wanted, have, strict=True))


def _adaptive_avg(rank: int) -> Any:
    name = f"adaptive_avg_pool{rank}d"

    @refusing({"bui": name})
    @rounded_once
    def call(input: Any, output_size: Any) -> Any:
        target = _target(name, output_size, input, rank)
        x, lead = _planes(placed(input), rank)
        if target == (1,) * rank:
            return mean(input, tuple(range(-rank, 0)), True)
        for k, count in enumerate(target):
            ends = np.array(_cells(fixed_length(x, 2 + k), count), np.int64).reshape(-1, 2)
            width = ends[:, 1:] - ends[:, :1]
            steps = np.arange(width.max(initial=1))
            weights = np.where(steps < width, 1 / width, 0)
            x = weighed(x, np.minimum(ends[:, :1] + steps, ends[:, 1:] - 1), weights, 2 + k)
        return reshape(x, *lead, *target)

    return _published(call, name, "Means over cells, as many as asked for.")


def _largest(windows: Any, lead: Sequence[int], grid: Any) -> Any:
    """The largest entry of each window in the last axis, and by ``grid``, where windows stand in planes, its place."""
    _, *target, count = shape_of(windows)
    axis = 1 + len(target)
    place = argmax_of_pool_op(windows, dim=axis, keepdim=True)
    out = reshape(gather_op(windows, place, dim=axis), *lead, *target)
    if grid is None:
        return out
    flat = np.ravel_multi_index(tuple(grid[0]), tuple(grid[1]))
    shown = np.broadcast_to(flat.reshape(-1, *target, count), shape_of(windows))
    return out, reshape(gather_op(place * 0 + shown, place, dim=axis), *lead, *target)


def _adaptive_max(rank: int) -> Any:
    name = f"adaptive_max_pool{rank}d"

    @refusing({"bui": f"adaptive_max_pool{max(rank, 2)}d"})
    def call(input: Any, output_size: Any, return_indices: bool = False) -> Any:
        target = _target(name, output_size, input, rank)
        x, lead = _planes(placed(input), rank)
        have = [fixed_length(x, 2 + k) for k in range(rank)]
        index = []
        for k, count in enumerate(target):
            cells = _cells(have[k], count)
            longest = max((end - start for start, end in cells), default=1)
            # Short cells repeat their last entry, which changes no maximum and is never the first one.
            rows = np.array([[min(start + j, end - 1) for j in range(longest)] for start, end in cells], np.int64)
            shape = [1] * (2 * rank)
            shape[k], shape[rank + k] = count, longest
            index.append(rows.reshape(shape))
        grid = np.broadcast_arrays(*index)
        count = math.prod(grid[0].shape[rank:])
        flat = reshape(getitem(x, (slice(None), 0, *grid)), shape_of(x)[0], *target, count)
        return _largest(flat, lead, (grid, have) if return_indices else None)

    def with_indices(input: Any, output_size: Any, return_indices: bool = False) -> tuple[Any, Any]:
        return call(input, output_size, True)  # type: ignore[no-any-return]

    _published(with_indices, f"{name}_with_indices", f"``{name}`` and the flat places of the entries.")
    return _published(call, name, "Largest entries of cells, as many as asked for.")


adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d = map(_adaptive_avg, (1, 2, 3))
adaptive_max_pool1d, adaptive_max_pool2d, adaptive_max_pool3d = map(_adaptive_max, (1, 2, 3))
front("adaptive_avg_pool1d", method=False)(adaptive_avg_pool1d)
# torch's plain function gives the places, too.
front("adaptive_max_pool1d", method=False)(SPACES["nn.functional"]["adaptive_max_pool1d_with_indices"])

# ------------------------------------------------------------------------------------------ unpooling


def _unpool(rank: int) -> Any:
    def call(
        input: Any, indices: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None
    ) -> Any:
        fits.unpooled(input, indices)
        x, lead = _planes(input, rank)
        sizes = per_axis(kernel_size, rank)
        steps = sizes if stride in (None, (), []) else per_axis(stride, rank)
        pads = per_axis(padding, rank)
        own = [(n - 1) * s - 2 * p + k for n, s, p, k in zip(shape_of(x)[2:], steps, pads, sizes, strict=True)]
        target = tuple(int(n) for n in tuple(own if output_size is None else output_size)[-rank:])
        demands.unpooled(target, own, steps)
        if outside(indices, math.prod(target)):
            volume = "x".join(map(str, target))
            raise OutOfBounds(f"Found an invalid max index: it is in no output volume, which are of size {volume}")
        batch = shape_of(x)[0]
        entries = math.prod(shape_of(x)[1:])
        flat, places = reshape(x, batch, entries), reshape(indices, batch, entries)
        zeros = np.zeros((batch, math.prod(target)), input.dtype)
        return reshape(scatter_set_op(zeros, flat, places, dim=1), *lead, *target)

    return _published(
        call, f"max_unpool{rank}d", f"Entries put back where ``max_pool{rank}d`` found them, zeros elsewhere."
    )


max_unpool1d, max_unpool2d, max_unpool3d = map(_unpool, (1, 2, 3))

# ------------------------------------------------------------------------------------------ fractional steps


def _starts(sample: Any, have: int, count: int, window: int) -> Any:
    """Where the windows begin along an axis, for a random number in [0, 1) per plane (Graham 2014)."""
    step = (have - window) / (count - 1) if count > 1 else 0.0
    places = np.arange(count)
    out = ((places + sample[:, None]) * step).astype(np.int64) - (sample[:, None] * step).astype(np.int64)
    out[:, -1:] = have - window
    return out


def _fractional(rank: int) -> Any:
    def call(
        input: Any,
        kernel_size: Any,
        output_size: Any = None,
        output_ratio: Any = None,
        return_indices: bool = False,
        _random_samples: Any = None,
        *,
        generator: Any = None,
    ) -> Any:
        x, lead = _planes(placed(input), rank)
        have, sizes = shape_of(x)[2:], per_axis(kernel_size, rank)
        if 0 in shape_of(input)[-rank - 1 :]:
            raise ShapeError(
                f"fractional_max_pool{rank}d(): Expected input to have non-zero size for non-batch dimensions, but got"
                f"{list(shape_of(input))}"
            )
        if (output_size is None) == (output_ratio is None):
            raise ArgumentError("fractional_max_pool: exactly one of output_size and output_ratio must be given.")
        ratios = output_ratio if isinstance(output_ratio, (tuple, list)) else [output_ratio] * rank
        if output_size is None:
            target = tuple(int(n * r) for n, r in zip(have, ratios, strict=True))
        else:
            target = per_axis(output_size, rank)
        if any(n + k - 1 > m for n, k, m in zip(target, sizes, have, strict=True)):
            raise ArgumentError(
                f"fractional_max_pool{rank}d(): pool size {sizes} too large relative to input size {tuple(have)} for "
                f"the output size {target}"
            )
        if _random_samples is None:
            samples = drawn(generator).uniform((shape_of(x)[0], rank), np.dtype(x.dtype))
        else:
            samples = values_of(_random_samples).reshape(-1, rank)[: shape_of(x)[0]]
            if len(samples) < shape_of(x)[0]:
                raise ShapeError(
                    f"Expect _random_samples to have {rank} numbers for each of the {shape_of(x)[0]} planes of the "
                    f"input, but got shape {list(shape_of(_random_samples))}"
                )
        # In the plane torch takes the samples from the last axis backwards, in space from the first.
        order = range(rank) if rank == 3 else range(rank - 1, -1, -1)
        index: list[Any] = []
        for k, sample in zip(range(rank), order, strict=True):
            starts = _starts(samples[:, sample], have[k], target[k], sizes[k])
            rows = starts[..., None] + np.arange(sizes[k])
            shape = [len(rows), *[1] * (2 * rank)]
            shape[1 + k], shape[1 + rank + k] = target[k], sizes[k]
            index.append(rows.reshape(shape))
        planes = np.arange(shape_of(x)[0]).reshape(-1, *(1,) * (2 * rank))
        grid = np.broadcast_arrays(planes, *index)
        flat = reshape(getitem(x, (grid[0], 0, *grid[1:])), shape_of(x)[0], *target, math.prod(sizes))
        return _largest(flat, lead, (grid[1:], have) if return_indices else None)

    return _published(call, f"fractional_max_pool{rank}d", "Largest entries of windows at random, uneven steps.")


fractional_max_pool2d, fractional_max_pool3d = map(_fractional, (2, 3))

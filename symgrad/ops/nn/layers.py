"""Layers of ``nn.functional`` as plain functions of ops: linear maps, normalisations, embeddings."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from symgrad.dtypes import finfo
from symgrad.errors import ArgumentError, DtypeError, ShapeError
from symgrad.op import folded, front, shape_of
from symgrad.ops.calls import fits
from symgrad.ops.calls.naming import within
from symgrad.ops.calls.still import standing, still, values_of
from symgrad.ops.elementwise.arithmetic import clone, div_rounded
from symgrad.ops.elementwise.select import clamp_min, eq, where
from symgrad.ops.elementwise.smooth import rsqrt
from symgrad.ops.indexing.gathering import one_hot_op
from symgrad.ops.indexing.getitem import getitem, put_op, static_index
from symgrad.ops.indexing.places import check_integers, check_places, outside
from symgrad.ops.indexing.windows import windowed
from symgrad.ops.linalg.contraction import einsum
from symgrad.ops.linalg.matrices import matmul
from symgrad.ops.nn.moments import standardised
from symgrad.ops.reductions.extremes import max_
from symgrad.ops.reductions.sums import cast, cast_wide, check_mean, mean, norm, size, sum_, var
from symgrad.ops.reductions.wide import in_dtype_of, rounded_once
from symgrad.ops.rules.refusals import kind_of
from symgrad.ops.shapes.padding import pad_axes
from symgrad.ops.shapes.shaping import expand_as, reshape, spread, t, unsqueeze

_nn = within("nn.functional")


@_nn
def linear(input: Any, weight: Any, bias: Any = None) -> Any:
    """input @ weightᵀ + bias, for ``input`` (…, in), ``weight`` (out, in) or (in,), and ``bias`` (out,)."""
    return matmul(input, t(weight)) if bias is None else _with_bias(input, weight, bias)


@rounded_once
def _with_bias(input: Any, weight: Any, bias: Any) -> Any:
    return matmul(input, t(weight)) + bias


@_nn
@rounded_once
def bilinear(input1: Any, input2: Any, weight: Any, bias: Any = None) -> Any:
    """input1ᵀ weight_k input2 + bias_k for every k."""
    for k, x in enumerate((input1, input2), 1):
        have, wanted = shape_of(x)[-1], shape_of(weight)[k]
        if have != wanted:
            raise ShapeError(f"bilinear(): input{k} size does not match weight size: got {have} but expected {wanted}")
    out = einsum("...i,kij,...j->...k", input1, weight, input2)
    return out if bias is None else out + bias


@_nn
def normalize(input: Any, p: float = 2.0, dim: Any = 1, eps: float = 1e-12) -> Any:
    """``input`` divided by its p-norm along ``dim``, which is taken as at least ``eps``."""
    return input / expand_as(clamp_min(norm(input, p, dim, True), eps), input)


@_nn
def one_hot(input: Any, num_classes: int = -1) -> Any:
    """Class numbers as rows with a single 1: shape (…,) becomes (…, num_classes), dtype int64.

    ``num_classes`` is one more than the largest class by default.  Raises ``DtypeError`` unless the classes are
    integers, and ``ArgumentError`` for a class outside the range.
    """
    if input.dtype.kind not in "ui":
        raise DtypeError(f"one_hot is only applicable to index tensor of type LongTensor, not of {input.dtype}.")
    if num_classes == -1 and 0 in shape_of(input):
        raise ArgumentError("Can not infer total number of classes from empty tensor.")
    # Without a number of classes the values say how many there are, and a program holds for these values.
    classes = int(np.asarray(input).astype(np.int64).max(initial=-1)) + 1 if num_classes == -1 else num_classes
    if outside(input, classes):
        values = values_of(input)
        raise ArgumentError(
            f"Class values must be {'non-negative' if np.min(values) < 0 else 'smaller than num_classes'}. They run "
            f"from {int(np.min(values))} to {int(np.max(values))}, and num_classes is {classes}."
        )
    return one_hot_op(input, classes=classes, dtype="int64")


# ------------------------------------------------------------------------------------------ normalisation


def _standardised(input: Any, axes: tuple[int, ...], eps: float) -> Any:
    check_mean("mean", "Input", getattr(input, "dtype", np.dtype(float)))
    return standardised(input, dim=axes, eps=eps)


def _channels(x: Any, ndim: int) -> Any:
    """A vector with one entry per channel, placed on axis 1."""
    return reshape(x, -1, *(1,) * (ndim - 2))


def _affine(x: Any, weight: Any, bias: Any) -> Any:
    x = x if weight is None else x * weight
    return x if bias is None else x + bias


def _trailing(input: Any, normalized_shape: Sequence[int], name: str, weight: Any, bias: Any = None) -> tuple[int, ...]:
    wanted, rank = tuple(normalized_shape), len(shape_of(input))
    fits.normalized(name, input, wanted, weight, bias)
    return tuple(range(rank - len(wanted), rank))


@_nn
@folded("nn.functional.layer_norm", one_node=True)
def layer_norm(
    input: Any, normalized_shape: Sequence[int], weight: Any = None, bias: Any = None, eps: float = 1e-5
) -> Any:
    """Mean 0 and variance 1 over the last axes, then times ``weight`` plus ``bias``."""
    axes = _trailing(input, normalized_shape, "layer_norm", weight, bias)
    return in_dtype_of(_affine(_standardised(cast_wide(input), axes, eps), weight, bias), input)


@_nn
@folded("nn.functional.rms_norm")
def rms_norm(input: Any, normalized_shape: Sequence[int], weight: Any = None, eps: float | None = None) -> Any:
    """Divided by the root of the mean square over the last axes, then times ``weight``."""
    axes = _trailing(input, normalized_shape, "rms_norm", weight)
    x = cast_wide(input)
    small = float(finfo(x.dtype).eps) if eps is None else eps
    return in_dtype_of(_affine(x * rsqrt(mean(x * x, axes, True) + small), weight, None), input)


@_nn
@folded("nn.functional.group_norm", added="bias")
def group_norm(input: Any, num_groups: int, weight: Any = None, bias: Any = None, eps: float = 1e-5) -> Any:
    """Mean 0 and variance 1 over every group of channels (axis 1) and all later axes."""
    shape = shape_of(input)
    if len(shape) < 2:
        raise ShapeError(f"Expected at least 2 dimensions for input tensor but received {len(shape)}")
    if shape[1] % num_groups:
        raise ShapeError(
            f"Expected number of channels in input to be divisible by num_groups, but got input of shape {list(shape)}"
            f" and num_groups={num_groups}"
        )
    if math.prod(shape) == num_groups:
        raise ShapeError(f"Expected more than 1 value per channel when training, got input size {list(shape)}")
    parts = [None if x is None else _channels(x, len(shape)) for x in (weight, bias)]
    if not math.prod(shape):
        return _affine(clone(input), *parts)
    grouped = reshape(cast_wide(input), shape[0], num_groups, -1)
    return in_dtype_of(_affine(reshape(_standardised(grouped, (2,), eps), shape), *parts), input)


def _per_channel(x: Any, weight: Any, bias: Any, like: Any) -> Any:
    ndim = len(shape_of(x))
    return in_dtype_of(_affine(x, *(None if p is None else _channels(p, ndim) for p in (weight, bias))), like)


@folded("nn.functional.batch_norm", one_node=True, added="bias")
def _normed(input: Any, axes: Any, running_mean: Any, running_var: Any, weight: Any, bias: Any, eps: float) -> Any:
    """Mean 0 and variance 1 over ``axes``, or by the running ones, then times ``weight`` plus ``bias`` per channel.

    torch keeps the running ones in both cases: they may not change before backward.
    """
    x = cast_wide(input)
    made = _by_running(x, running_mean, running_var, eps) if axes is None else _standardised(x, axes, eps)
    return _per_channel(made, weight, bias, input)


def _by_running(x: Any, running_mean: Any, running_var: Any, eps: float) -> Any:
    """Standardised per channel by statistics of before."""
    ndim = len(shape_of(x))
    return (x - _channels(cast_wide(running_mean), ndim)) * rsqrt(_channels(cast_wide(running_var), ndim) + eps)


def _tracked(running: Any, value: Any, momentum: float) -> None:
    """A running statistic moved towards a new value, in place and without gradient."""
    running.data.copy_(running.data * (1 - momentum) + still(value) * momentum)


@_nn
def batch_norm(
    input: Any,
    running_mean: Any,
    running_var: Any,
    weight: Any = None,
    bias: Any = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Any:
    """Standardised per channel (axis 1): by the batch while training (running statistics follow), else by those."""
    ndim, x = len(shape_of(input)), cast_wide(input)
    axes = tuple(k for k in range(ndim) if k != 1)
    named = {"running_mean": running_mean, "running_var": running_var, "weight": weight, "bias": bias}
    fits.channels(input, named)
    if training:
        if math.prod(shape_of(input)[k] for k in axes) == 1:
            raise ShapeError(
                f"Expected more than 1 value per channel when training, got input size {tuple(shape_of(input))}"
            )
        seen = 0 not in shape_of(input)  # an empty batch has no statistics
        if running_mean is not None and seen:
            _tracked(running_mean, mean(x, axes), momentum)
        if running_var is not None and seen:
            _tracked(running_var, var(x, axes), momentum)
        return _normed(input, axes, running_mean, running_var, weight, bias, eps)
    for name in ("running_mean", "running_var"):
        if named[name] is None:
            raise ArgumentError(f"{name} must be defined in evaluation mode")
    return _normed(input, None, running_mean, running_var, weight, bias, eps)


@_nn
def instance_norm(
    input: Any,
    running_mean: Any = None,
    running_var: Any = None,
    weight: Any = None,
    bias: Any = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Any:
    """Standardised per sample and channel (axes 0 and 1)."""
    ndim, x = len(shape_of(input)), cast_wide(input)
    axes = tuple(range(2, ndim))
    weight = None if weight is None else clone(weight)  # torch repeats it, so that it may change before backward
    if use_input_stats:
        if math.prod(shape_of(input)[2:]) == 1:
            raise ShapeError(
                f"Expected more than 1 spatial element when training, got input size {tuple(shape_of(input))}"
            )
        seen = 0 not in shape_of(input)  # an empty batch has no statistics
        if running_mean is not None and seen:
            _tracked(running_mean, mean(mean(x, axes), 0), momentum)
        if running_var is not None and seen:
            _tracked(running_var, mean(var(x, axes), 0), momentum)
        return _normed(input, axes, None, None, weight, bias, eps)
    return _normed(input, None, running_mean, running_var, weight, bias, eps)


@_nn
def local_response_norm(input: Any, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> Any:
    """input / (k + alpha · mean of squares over ``size`` neighbouring channels)^beta."""
    ndim = len(shape_of(input))
    if ndim < 3:
        raise ShapeError(f"Expected 3D or higher dimensionality input (got {ndim} dimensions)")
    if not math.prod(shape_of(input)):
        return input
    squares = pad_axes(input * input, {1: (size // 2, (size - 1) // 2)})
    near = windowed(squares, 1, size)
    whole = kind_of(input) in "bui"
    total = div_rounded(sum_(near, -1), size, rounding_mode="trunc") if whole else mean(near, -1)
    return input / (total * alpha + k) ** beta


# ------------------------------------------------------------------------------------------ embeddings


def _renormed(weight: Any, used: Any, max_norm: float, norm_type: float) -> None:
    """Rows that are used are scaled down to ``max_norm``, in place and without gradient, as torch."""
    rows = np.unique(used)
    table = weight.detach()
    size = norm(table[rows], norm_type, 1, True)
    table[rows] = table[rows] * where(size > max_norm, max_norm / (size + 1e-7), 1)


def _check_rows(rows: Any, weight: Any, padding_idx: int | None) -> None:
    """Raise unless ``weight`` is a table that has all rows asked for."""
    if len(shape_of(weight)) != 2:
        raise ShapeError(f"'weight' must be 2-D, got shape {tuple(shape_of(weight))}")
    check_integers("embedding", rows)
    count = shape_of(weight)[0]
    check_places(rows, weight, 0, "index out of range in self: ")
    if padding_idx is not None and not -count <= padding_idx < count:
        raise ArgumentError(f"Padding_idx must be within num_embeddings: {padding_idx} for {count} rows")


@_nn
def embedding(
    input: Any,
    weight: Any,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Any:
    """Rows of ``weight`` at the numbers in ``input``; the row ``padding_idx`` gets no gradient."""
    rows = input if hasattr(input, "dtype") else np.asarray(input)
    _check_rows(rows, weight, padding_idx)
    if max_norm is not None:
        _renormed(weight, values_of(rows), max_norm, norm_type)
    out = getitem(weight, rows)
    if (not scale_grad_by_freq and padding_idx is None) or kind_of(weight) in "bui":
        return out
    constant = standing(out)
    if scale_grad_by_freq:
        index, places = static_index(rows).parted()
        once = cast(eq(rows, rows), weight.dtype)
        count = getitem(put_op(once, *places, index=index, shape=shape_of(weight)[:1]), rows)
        factor = unsqueeze(1 / count, -1)
        out = out * factor + constant * (1 - factor)
    if padding_idx is None:
        return out
    padding = padding_idx if padding_idx >= 0 else size(weight, (0,)) + padding_idx
    return where(unsqueeze(eq(rows, padding), -1), constant, out)


@_nn
def embedding_bag(
    input: Any,
    weight: Any,
    offsets: Any = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    mode: str = "mean",
    sparse: bool = False,
    per_sample_weights: Any = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Any:
    """Sums, means or maxima of rows of ``weight`` over bags: rows of ``input``, or ranges that begin at ``offsets``."""
    if mode not in ("sum", "mean", "max"):
        raise ArgumentError(f"mode has to be one of sum, mean or max, not {mode!r}")
    rows = input if hasattr(input, "dtype") else np.asarray(input)
    shape = shape_of(rows)
    if len(shape) == 2:
        bags = np.repeat(np.arange(shape[0]), shape[1])
        count = shape[0]
    else:
        starts = values_of(offsets)
        if starts.size and starts[0] != 0:
            raise ArgumentError(
                "offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from position 0. "
                f"However, got {starts[0]}"
            )
        if starts.size and starts[-1] > shape[0]:
            raise ArgumentError(
                f"offsets[-1] can not be greater than input's length {shape[0]} but got offsets[-1] of {starts[-1]}"
            )
        count = len(starts) - include_last_offset
        bags = np.searchsorted(starts[:count], np.arange(shape[0]), side="right") - 1
    if max_norm is not None:
        _check_rows(rows, weight, padding_idx)
        _renormed(weight, values_of(rows), max_norm, norm_type)
    table = cast_wide(weight)
    picked = embedding(reshape(rows, -1), table, padding_idx, scale_grad_by_freq=scale_grad_by_freq)
    if per_sample_weights is not None:
        if mode != "sum":
            raise ArgumentError(f"embedding_bag: per_sample_weights was not None. mode must be 'sum', not {mode!r}.")
        picked = picked * unsqueeze(reshape(cast_wide(per_sample_weights), -1), 1)
    kept = np.ones(bags.size, bool)
    if padding_idx is not None:
        kept = values_of(rows).reshape(-1) != padding_idx % shape_of(weight)[0]
    if not kept.all():
        picked, bags = getitem(picked, np.flatnonzero(kept)), bags[kept]
    lengths = np.bincount(bags, minlength=count)
    if count and lengths[0] and (lengths == lengths[0]).all():
        rectangular = reshape(picked, (count, int(lengths[0]), *shape_of(picked)[1:]))
        if mode == "max":
            return in_dtype_of(max_(rectangular, 1)[0], weight)
        return in_dtype_of((sum_ if mode == "sum" else mean)(rectangular, 1), weight)
    return in_dtype_of(_bagged(picked, bags, lengths, mode), weight)


def _bagged(picked: Any, bags: Any, lengths: Any, mode: str) -> Any:
    """The rows of each bag together; ``bags`` says where each row belongs, in ascending order."""
    shape = (len(lengths), *shape_of(picked)[1:])
    if mode == "max":
        # Short bags repeat their last row, which is never the first largest one; those without rows are zero.
        last = np.cumsum(lengths) - 1
        places = np.minimum(
            last[:, None] - lengths[:, None] + 1 + np.arange(max(lengths.max(initial=0), 1)), last[:, None]
        )
        if not shape_of(picked)[0]:
            return spread(sum_(picked, 0), shape)
        return where((lengths > 0)[:, None], max_(getitem(picked, np.maximum(places, 0)), 1)[0], 0)
    index, places = static_index(bags).parted()
    total = put_op(picked, *places, index=index, shape=shape)
    return total if mode == "sum" else total / np.maximum(lengths, 1)[:, None].astype(picked.dtype)


# ------------------------------------------------------------------------------------------ other orders of arguments


@front("embedding", method=False)
def _embedding_function(
    weight: Any, indices: Any, padding_idx: int = -1, scale_grad_by_freq: bool = False, sparse: bool = False
) -> Any:
    """``nn.functional.embedding`` with the order of arguments of torch's plain name, where -1 is no padding."""
    fixed = None if padding_idx < 0 else padding_idx
    return embedding(indices, weight, fixed, None, 2.0, scale_grad_by_freq, sparse)


@front("batch_norm", method=False)
def _batch_norm_function(
    input: Any, weight: Any, bias: Any, running_mean: Any, running_var: Any, training: bool, momentum: float,
    eps: float, cudnn_enabled: bool = False,
) -> Any:  # fmt: skip
    """``nn.functional.batch_norm`` with the order of arguments of torch's plain name."""
    return batch_norm(input, running_mean, running_var, weight, bias, training, momentum, eps)


@front("instance_norm", method=False)
def _instance_norm_function(
    input: Any, weight: Any, bias: Any, running_mean: Any, running_var: Any, use_input_stats: bool, momentum: float,
    eps: float, cudnn_enabled: bool = False,
) -> Any:  # fmt: skip
    """``nn.functional.instance_norm`` with the order of arguments of torch's plain name."""
    return instance_norm(input, running_mean, running_var, weight, bias, use_input_stats, momentum, eps)

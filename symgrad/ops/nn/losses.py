"""Losses of ``nn.functional`` of two arrays: plain functions of ops, but for the entry that a label names."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from symgrad import kernels
from symgrad.errors import ArgumentError, DtypeError, ShapeError
from symgrad.notices import notice
from symgrad.op import Op, length_of, of_reals, refusing, shape_of
from symgrad.ops.calls import fits
from symgrad.ops.calls.naming import within
from symgrad.ops.calls.still import standing
from symgrad.ops.elementwise.arithmetic import squared_error
from symgrad.ops.elementwise.select import abs_, clamp_min, minimum, where
from symgrad.ops.elementwise.smooth import exp, gated, log, sigmoid, softplus
from symgrad.ops.indexing.places import everywhere
from symgrad.ops.linalg.blas import pairwise_distance
from symgrad.ops.nn.neurons import rounded_size
from symgrad.ops.reductions.sums import mean, sum_
from symgrad.ops.reductions.wide import in_dtype_of, rounded_once
from symgrad.ops.rules.constants import PI, exact
from symgrad.ops.rules.refusals import kind_of
from symgrad.ops.shapes.shaping import spread, unsqueeze
from symgrad.ops.special.common import xlogy


def reduced(value: Any, reduction: str) -> Any:
    """The mean or sum of losses, or the losses themselves."""
    if reduction == "mean":
        return mean(value)
    if reduction == "sum":
        return sum_(value)
    check_reduction(reduction)
    return value


def check_reduction(reduction: str) -> None:
    """Refuse other words than torch's."""
    if reduction not in ("mean", "sum", "none"):
        raise ArgumentError(f"{reduction} is not a valid value for reduction: it is 'mean', 'sum' or 'none'.")


def reduction_of(reduction: str, size_average: Any, reduce: Any) -> str:
    """torch's deprecated pair of flags, read as a reduction; and the old name of "mean"."""
    if size_average is None and reduce is None:
        if reduction == "elementwise_mean":
            notice("reduction='elementwise_mean' is deprecated. Please use reduction='mean' instead.")
            return "mean"
        return reduction
    summed = "mean" if size_average is None or size_average else "sum"
    found = "none" if reduce is not None and not reduce else summed
    notice(f"size_average and reduce args will be deprecated, please use reduction='{found}' instead.")
    return found


def _loss(call: Callable[..., Any]) -> Any:
    """Publish an entrywise loss ``call(input, target, …)`` with torch's weight, reduction and legacy flags."""
    alone = len(inspect.signature(call).parameters) == 2  # with no parameter of its own before the weight

    def function(
        input: Any,
        target: Any,
        size_average: Any = None,
        reduce: Any = None,
        reduction: str = "mean",
        *args: Any,
        weight: Any = None,
        **options: Any,
    ) -> Any:
        if args and alone:
            (weight,) = args
            args = ()
        held = call.__name__ == "soft_margin_loss"  # which torch computes in a result of the input's shape
        if not held:
            _announce_sizes(input, target)
        value = call(*_alike(input, target), *args, **options)
        if held and shape_of(value) != shape_of(input):
            raise _outgrown(shape_of(input), shape_of(value), shape_of(target))
        return _weighted(value, weight, input, reduction_of(reduction, size_average, reduce))

    function.__name__ = function.__qualname__ = call.__name__
    function.__doc__ = call.__doc__
    return within("nn.functional")(function)


def _announce_sizes(input: Any, target: Any) -> None:
    """torch's warning where the target is broadcast: a column beside a vector gives a matrix of differences."""
    sizes = tuple(shape_of(input)), tuple(shape_of(target))
    if sizes[0] != sizes[1]:
        shown = [_shown(s) for s in sizes]
        notice(
            f"Using a target size ({shown[1]}) that is different to the input size ({shown[0]}). This will likely lead "
            "to incorrect results due to broadcasting. Please ensure they have the same size."
        )


def _outgrown(shape: tuple[Any, ...], whole: tuple[Any, ...], target: tuple[Any, ...]) -> ShapeError:
    """torch's error for a target that makes more of the input than it is."""
    return ShapeError(
        f"output with shape {list(shape)} doesn't match the broadcast shape {list(whole)}: the target of shape "
        f"{list(target)} must broadcast to the input's shape."
    )


def _same_sizes(input: Any, target: Any, words: str) -> None:
    """Refuse what torch refuses: a target that broadcasts would be compared with every row of the input."""
    sizes = tuple(shape_of(input)), tuple(shape_of(target))
    if sizes[0] != sizes[1]:
        raise ShapeError(words.format(input=_shown(sizes[0]), target=_shown(sizes[1])))


def _shown(shape: tuple[Any, ...]) -> str:
    return f"torch.Size([{', '.join(map(str, shape))}])"


def _alike(input: Any, target: Any) -> tuple[Any, Any]:
    """Both with axes where their dtypes differ: torch expands a number without before, so that its dtype counts."""
    dtypes, shapes = [getattr(x, "dtype", None) for x in (input, target)], [shape_of(x) for x in (input, target)]
    if any(d is None for d in dtypes) or dtypes[0] == dtypes[1] or bool(shapes[0]) is bool(shapes[1]):
        return input, target
    input, target = (
        x if shape else spread(x, max(shapes, key=len)) for x, shape in zip((input, target), shapes, strict=True)
    )
    return input, target


def _weighted(value: Any, weight: Any, input: Any, reduction: str, by_sum: bool = True) -> Any:
    """A reduction with weights, one to an entry of the input; ``by_sum`` the weighted mean divides by their sum."""
    if weight is None:
        return reduced(value, reduction)
    if tuple(shape_of(weight)) != tuple(shape_of(input)):
        raise ShapeError("Weights and input must have the same size.")
    if reduction == "mean" and by_sum:
        return sum_(value * weight) / sum_(weight)
    return reduced(value * weight, reduction)


@_loss
@refusing("buic")
def mse_loss(input: Any, target: Any) -> Any:
    """Squared differences, averaged, summed or as they are.

    ``input`` and ``target`` are of one shape; ``reduction`` is "mean", "sum" or "none".
    """
    return squared_error(input, target)


@_loss
def l1_loss(input: Any, target: Any) -> Any:
    """Absolute differences."""
    return abs_(input - target)


@_loss
@refusing("buic")
def smooth_l1_loss(input: Any, target: Any, beta: float = 1.0) -> Any:
    """d²/(2 beta) of the differences d = input - target for |d| < beta, |d| - beta/2 beyond."""
    if beta < 0:
        raise ArgumentError(f"smooth_l1_loss does not support negative values for beta, got {beta}.")
    return _smooth(input, target, beta)


@rounded_once
def _smooth(input: Any, target: Any, beta: float) -> Any:
    d = input - target
    return abs_(d) if beta == 0 else rounded_size(d, beta, beta)


@within("nn.functional")
@refusing("buic")
def huber_loss(input: Any, target: Any, reduction: str = "mean", delta: float = 1.0, weight: Any = None) -> Any:
    """d²/2 of the differences d = input - target for |d| < delta, delta (|d| - delta/2) beyond."""
    _announce_sizes(input, target)
    if delta <= 0:
        raise ArgumentError(f"huber_loss does not support non-positive values for delta, got {delta}.")
    return _weighted(_huber(input, target, delta), weight, input, reduction, by_sum=False)


@rounded_once
def _huber(input: Any, target: Any, delta: float) -> Any:
    return in_dtype_of(rounded_size(input - target, delta, 1), input)


def _limited_log(x: Any) -> Any:
    return log(clamp_min(x, exp(exact(-100))))


bce: Op = of_reals(
    "bce",
    kernels.bce,
    # Where p is 0 or 1 the slope is very large, not 0 as that of the limited logarithm: so torch.
    lambda out, p, t: (p - t) / clamp_min(p * (1 - p), exact(Fraction(1, 10**12))),
    lambda out, p, t: log(1 - p) - log(p),
    domain="probability",
    define=lambda p, t: -(t * _limited_log(p) + (1 - t) * _limited_log(1 - p)),
    doc="-[t log p + (1 - t) log(1 - p)], with the logarithms limited to -100 from below.",
)


bce_with_logits: Op = of_reals(
    "bce_with_logits",
    kernels.bce_with_logits,
    lambda out, x, t: (1 - t) * sigmoid(x) - t * sigmoid(-x),
    lambda out, x, t: -x,  # the difference of both logarithms, which has few digits of it near 0
    domain=("real", "probability"),
    define=lambda x, t: t * softplus(-x) + (1 - t) * softplus(x),
    doc="-[t log σ(x) + (1 - t) log(1 - σ(x))] of parts of one sign, so that no digits are lost.",
)
bce_with_logits.vjps = bce_with_logits.jvps = (
    lambda g, out, x, t: gated(g * (1 - t), x) - gated(g * t, -x),
    bce_with_logits.vjps[1],
)


@within("nn.functional")
@refusing("buic")
@rounded_once
def binary_cross_entropy(
    input: Any, target: Any, weight: Any = None, size_average: Any = None, reduce: Any = None, reduction: str = "mean"
) -> Any:
    """-[target log input + (1 - target) log(1 - input)], with the logarithms limited to -100 from below.

    Raises ``ArgumentError`` for entries of either that are no probabilities.
    """
    _same_sizes(
        input,
        target,
        "Using a target size ({target}) that is different to the input size ({input}) is deprecated. Please ensure "
        "they have the same size.",
    )
    for name, chances, hint in (("input", input, "; with_logits takes any"), ("target", target, "")):
        if not everywhere(chances, lambda x: (x >= 0) & (x <= 1)):
            raise ArgumentError(f"all elements of {name} should be between 0 and 1{hint}")
    value = bce(input, target)
    return reduced(value if weight is None else value * weight, reduction_of(reduction, size_average, reduce))


@within("nn.functional")
@refusing("buic")
@rounded_once
def binary_cross_entropy_with_logits(
    input: Any,
    target: Any,
    weight: Any = None,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
    pos_weight: Any = None,
) -> Any:
    """-[target log σ(input) + (1 - target) log σ(-input)] without overflow; ``pos_weight`` weighs the first part."""
    _same_sizes(input, target, "Target size ({target}) must be the same as input size ({input})")
    if pos_weight is None:
        value = bce_with_logits(input, target)
    else:
        value = pos_weight * target * softplus(-input) + (1 - target) * softplus(input)
    value = in_dtype_of(value if weight is None else value * weight, target)
    return reduced(value, reduction_of(reduction, size_average, reduce))


@_loss
@rounded_once
def soft_margin_loss(input: Any, target: Any) -> Any:
    """log(1 + e^(-target input))."""
    return in_dtype_of(softplus(-(input * target)), input)


@within("nn.functional")
def kl_div(
    input: Any,
    target: Any,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
    log_target: bool = False,
) -> Any:
    """target (log target - input) entry by entry, ``input`` being a logarithm.

    "batchmean" divides the sum by the first size.
    """
    if kind_of(input) in "bui" or kind_of(target) in "bui":
        raise DtypeError("kl_div: Integral inputs not supported.")
    value = exp(target) * (target - input) if log_target else xlogy(target, target) - target * input
    if reduction == "batchmean":
        return sum_(value) / (length_of(input, 0) if shape_of(input) else 1)
    if reduction == "mean" and size_average is None and reduce is None:
        notice(_BATCHMEAN)
    return reduced(value, reduction_of(reduction, size_average, reduce))


_BATCHMEAN = (
    "reduction: 'mean' divides the total loss by both the batch size and the support size.'batchmean' divides only by "
    "the batch size, and aligns with the KL div math definition.'mean' will be changed to behave the same as "
    "'batchmean' in the next major release."
)


@within("nn.functional")
@rounded_once
def poisson_nll_loss(
    input: Any,
    target: Any,
    log_input: bool = True,
    full: bool = False,
    size_average: Any = None,
    eps: float = 1e-8,
    reduce: Any = None,
    reduction: str = "mean",
) -> Any:
    """e^input - target input (or input - target log input), with Stirling's term for targets > 1 when ``full``."""
    value = exp(input) - target * input if log_input else input - target * log(input + eps)
    if full:
        safe = where(target > 1, target, 1)
        value = value + where(target > 1, safe * log(safe) - safe + log(2 * PI * safe) / 2, 0)
    return reduced(value, reduction_of(reduction, size_average, reduce))


@within("nn.functional")
def gaussian_nll_loss(
    input: Any, target: Any, var: Any, full: bool = False, eps: float = 1e-6, reduction: str = "mean"
) -> Any:
    """[log var + (input - target)²/var]/2, with var limited from below by eps (without gradient)."""
    if not hasattr(var, "dtype"):
        var = np.full(shape_of(input), var, input.dtype)
    if shape_of(var) != shape_of(input):
        if shape_of(input)[:-1] == shape_of(var):
            var = unsqueeze(var, -1)
        elif shape_of(input)[:-1] != shape_of(var)[:-1] or shape_of(var)[-1] != 1:
            raise ShapeError(f"var is of incorrect size: {tuple(shape_of(var))} for input {tuple(shape_of(input))}.")
    if not everywhere(var, lambda x: ~(x < 0)):  # nan is not refused
        raise ArgumentError("var has negative entry/entries")
    # The clamp has no gradient: the slope at var stays that of the formula with the clamped value.
    limited = var + standing(where(var < eps, eps - var, 0))
    value = (log(limited) + (input - target) ** 2 / limited) / 2
    return reduced(value + math.log(2 * math.pi) / 2 if full else value, reduction)


@within("nn.functional")
def hinge_embedding_loss(
    input: Any,
    target: Any,
    margin: float = 1.0,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
) -> Any:
    """``input`` where ``target`` is 1, max(0, margin - input) where it is -1."""
    value = where(target != 1, clamp_min(margin - input, 0), 0) + where(target != -1, input, 0)
    return reduced(value, reduction_of(reduction, size_average, reduce))


@within("nn.functional")
def margin_ranking_loss(
    input1: Any,
    input2: Any,
    target: Any,
    margin: float = 0,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
) -> Any:
    """max(0, -target (input1 - input2) + margin)."""
    fits.margin_ranking(input1, input2, target)
    value = clamp_min(-target * (input1 - input2) + margin, 0)
    return reduced(value, reduction_of(reduction, size_average, reduce))


@within("nn.functional")
def cosine_embedding_loss(
    input1: Any,
    input2: Any,
    target: Any,
    margin: float = 0,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
) -> Any:
    """1 - cos where ``target`` is 1, max(0, cos - margin) where it is -1."""
    axis = len(shape_of(target))
    if axis > 1:
        raise ShapeError("0D or 1D target tensor expected, multi-target not supported")
    shapes = [shape_of(x) for x in (input1, input2)]
    if any(len(shape) != axis + 1 for shape in shapes):
        raise ShapeError(
            f"{axis}D target tensor expects {axis + 1}D input tensors, but found inputs with sizes {shapes}"
        )
    dot, a, b = sum_(input1 * input2, axis), sum_(input1 * input1, axis), sum_(input2 * input2, axis)
    cosine = dot / ((a + 1e-12) * (b + 1e-12)) ** 0.5
    value = where(target == 1, 1 - cosine, 0) + where(target == -1, clamp_min(cosine - margin, 0), 0)
    return reduced(value, reduction_of(reduction, size_average, reduce))


@within("nn.functional")
def triplet_margin_loss(
    anchor: Any,
    positive: Any,
    negative: Any,
    margin: float = 1.0,
    p: float = 2,
    eps: float = 1e-6,
    swap: bool = False,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
) -> Any:
    """max(0, d(anchor, positive) - d(anchor, negative) + margin) with the p-norm distance."""

    def distance(a: Any, b: Any) -> Any:
        return pairwise_distance(a, b, p, eps)

    return triplet_margin_with_distance_loss(
        anchor,
        positive,
        negative,
        distance_function=distance,
        margin=margin,
        swap=swap,
        reduction=reduction_of(reduction, size_average, reduce),
    )


@within("nn.functional")
def triplet_margin_with_distance_loss(
    anchor: Any,
    positive: Any,
    negative: Any,
    *,
    distance_function: Callable[[Any, Any], Any] | None = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
) -> Any:
    """max(0, d(anchor, positive) - d(anchor, negative) + margin) with any distance."""
    if margin <= 0:
        raise ArgumentError(f"margin must be greater than 0, got {margin}")
    fits.triplet(anchor, positive, negative)
    distance = distance_function or pairwise_distance
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = minimum(far, distance(positive, negative))
    return reduced(clamp_min(margin + near - far, 0), reduction)

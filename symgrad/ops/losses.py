"""Losses of ``nn.functional``: plain functions of ops, but for the entry that a label names."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from symgrad import kernels
from symgrad.dtypes import is_real_floating, result_type
from symgrad.errors import ArgumentError, ShapeError
from symgrad.op import Op, elementwise, primitive, refusing, shape_of
from symgrad.ops import fits
from symgrad.ops.arithmetic import squared_error
from symgrad.ops.blas import pairwise_distance
from symgrad.ops.constants import PI, exact
from symgrad.ops.elementwise import exp, log, logsigmoid, softplus
from symgrad.ops.indexing import gather_op, one_hot_op, scatter_op
from symgrad.ops.naming import within
from symgrad.ops.places import array_of, check_places, place_outside
from symgrad.ops.predicates import any_
from symgrad.ops.reductions import cast, mean, size, sum_
from symgrad.ops.scans import cumprod_op
from symgrad.ops.select import abs_, clamp_min, eq, minimum, relu, where
from symgrad.ops.shaping import expand, reshape, unsqueeze
from symgrad.ops.softmax import log_softmax, logsumexp
from symgrad.ops.special import xlogy
from symgrad.ops.still import still, values_of


def _reduced(value: Any, reduction: str) -> Any:
    if reduction == "mean":
        return mean(value)
    if reduction == "sum":
        return sum_(value)
    _check_reduction(reduction)
    return value


def _check_reduction(reduction: str) -> None:
    if reduction not in ("mean", "sum", "none"):
        raise ArgumentError(f"{reduction} is not valid for reduction=: it is 'mean', 'sum' or 'none'.")


def _legacy(reduction: str, size_average: Any, reduce: Any) -> str:
    """torch's deprecated pair of flags, read as a reduction."""
    if size_average is None and reduce is None:
        return reduction
    if reduce is not None and not reduce:
        return "none"
    return "mean" if size_average is None or size_average else "sum"


def _loss(call: Callable[..., Any]) -> Any:
    """Publish an entrywise loss ``call(input, target, …)`` with torch's weight, reduction and legacy flags."""

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
        value = call(*_one_dtype(input, target), *args, **options)
        return _weighted(value, weight, _legacy(reduction, size_average, reduce))

    function.__name__ = function.__qualname__ = call.__name__
    function.__doc__ = call.__doc__
    return within("nn.functional")(function)


def _one_dtype(input: Any, target: Any) -> tuple[Any, Any]:
    """Both in their common dtype: torch expands a number without axes before, so that its dtype counts in full."""
    dtypes = [getattr(x, "dtype", None) for x in (input, target)]
    if any(d is None for d in dtypes) or dtypes[0] == dtypes[1] or bool(shape_of(input)) is bool(shape_of(target)):
        return input, target
    common = result_type(*dtypes)  # type: ignore[arg-type]
    input, target = (x if x.dtype == common else cast(x, common) for x in (input, target))
    return input, target


def _weighted(value: Any, weight: Any, reduction: str) -> Any:
    """A reduction with weights; the weighted mean divides by their sum."""
    if weight is None:
        return _reduced(value, reduction)
    if reduction == "mean":
        return sum_(value * weight) / sum_(expand(weight, shape_of(value)))
    return _reduced(value * weight, reduction)


@_loss
@refusing("buic")
def mse_loss(input: Any, target: Any) -> Any:
    """Squared differences, averaged, summed or as they are.

    ``input`` and ``target`` are of one shape; ``reduction`` is "mean", "sum" or "none".

    >>> import symgrad as sg
    >>> sg.nn.functional.mse_loss(sg.tensor([1.0, 2.0]), sg.tensor([0.0, 0.0]))
    tensor(2.5000)
    """
    return squared_error(input, target)


@_loss
def l1_loss(input: Any, target: Any) -> Any:
    """Absolute differences."""
    return abs_(input - target)


@_loss
@refusing("buic")
def smooth_l1_loss(input: Any, target: Any, beta: float = 1.0) -> Any:
    """d²/(2 beta) for |d| < beta, |d| - beta/2 beyond."""
    if beta < 0:
        raise ArgumentError(f"smooth_l1_loss does not support negative values for beta, got {beta}.")
    d = input - target
    size = abs_(d)
    return size if beta == 0 else where(size >= beta, size - beta / 2, d * d / (2 * beta))


@within("nn.functional")
@refusing("buic")
def huber_loss(input: Any, target: Any, reduction: str = "mean", delta: float = 1.0, weight: Any = None) -> Any:
    """d²/2 for |d| < delta, delta (|d| - delta/2) beyond."""
    if delta <= 0:
        raise ArgumentError(f"huber_loss does not support non-positive values for delta, got {delta}.")
    d = input - target
    size = abs_(d)
    return _weighted(where(size >= delta, delta * (size - delta / 2), d * d / 2), weight, reduction)


def _limited_log(x: Any) -> Any:
    return log(clamp_min(x, exp(exact(-100))))


surprise: Op = elementwise(
    "surprise",
    kernels.surprise,
    # Where p is 0 or 1 the slope is very large, not 0 as that of the limited logarithm: so torch.
    lambda out, p, t: (p - t) / clamp_min(p * (1 - p), exact(Fraction(1, 10**12))),
    lambda out, p, t: log(1 - p) - log(p),
    public=(),
    dtypes="float",
    refuses="c",
    domain="probability",
    define=lambda p, t: -(t * _limited_log(p) + (1 - t) * _limited_log(1 - p)),
    expanded=True,
    doc="-[t log p + (1 - t) log(1 - p)], with the logarithms limited to -100 from below.",
)


@within("nn.functional")
@refusing("buic")
def binary_cross_entropy(
    input: Any, target: Any, weight: Any = None, size_average: Any = None, reduce: Any = None, reduction: str = "mean"
) -> Any:
    """-[t log p + (1 - t) log(1 - p)], with the logarithms limited to -100 from below."""
    values = array_of(input)
    if values is not None and ((values < 0) | (values > 1)).any():
        raise ArgumentError("all elements of input should be between 0 and 1; with_logits takes any")
    value = surprise(input, target)
    return _reduced(value if weight is None else value * weight, _legacy(reduction, size_average, reduce))


@within("nn.functional")
def binary_cross_entropy_with_logits(
    input: Any,
    target: Any,
    weight: Any = None,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
    pos_weight: Any = None,
) -> Any:
    """-[t log σ(x) + (1 - t) log(1 - σ(x))] without overflow; ``pos_weight`` weighs the first part."""
    if pos_weight is None:
        value = (1 - target) * input - logsigmoid(input)
    else:
        value = (1 - target) * input - ((pos_weight - 1) * target + 1) * logsigmoid(input)
    value = value if weight is None else value * weight
    return _reduced(value, _legacy(reduction, size_average, reduce))


@_loss
def soft_margin_loss(input: Any, target: Any) -> Any:
    """log(1 + e^(-t x))."""
    return softplus(-(target * input))


@within("nn.functional")
def kl_div(
    input: Any,
    target: Any,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
    log_target: bool = False,
) -> Any:
    """t (log t - x) entry by entry, with x a logarithm; "batchmean" divides the sum by the first size."""
    value = exp(target) * (target - input) if log_target else xlogy(target, target) - target * input
    if reduction == "batchmean":
        return sum_(value) / (shape_of(input)[0] if shape_of(input) else 1)
    return _reduced(value, _legacy(reduction, size_average, reduce))


@within("nn.functional")
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
    """e^x - t x (or x - t log x), with Stirling's term for t > 1 when ``full``."""
    value = exp(input) - target * input if log_input else input - target * log(input + eps)
    if full:
        safe = where(target > 1, target, 1)
        value = value + where(target > 1, safe * log(safe) - safe + log(2 * PI * safe) / 2, 0)
    return _reduced(value, _legacy(reduction, size_average, reduce))


@within("nn.functional")
def gaussian_nll_loss(
    input: Any, target: Any, var: Any, full: bool = False, eps: float = 1e-6, reduction: str = "mean"
) -> Any:
    """[log var + (x - t)²/var]/2, with var limited from below by eps (without gradient)."""
    if not hasattr(var, "dtype"):
        var = np.full(shape_of(input), var, input.dtype)
    if shape_of(var) != shape_of(input):
        if shape_of(input)[:-1] == shape_of(var):
            var = unsqueeze(var, -1)
        elif shape_of(input)[:-1] != shape_of(var)[:-1] or shape_of(var)[-1] != 1:
            raise ShapeError(f"var is of incorrect size: {tuple(shape_of(var))} for input {tuple(shape_of(input))}.")
    variances = array_of(var)
    if variances is not None and (variances < 0).any():
        raise ArgumentError("var has negative entry/entries")
    # The clamp has no gradient: the slope at var stays that of the formula with the clamped value.
    limited = var + still(where(var < eps, eps - var, 0))
    value = (log(limited) + (input - target) ** 2 / limited) / 2
    return _reduced(value + math.log(2 * math.pi) / 2 if full else value, reduction)


@within("nn.functional")
def hinge_embedding_loss(
    input: Any,
    target: Any,
    margin: float = 1.0,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
) -> Any:
    """x where t = 1, max(0, margin - x) where t = -1."""
    value = where(target != 1, clamp_min(margin - input, 0), 0) + where(target != -1, input, 0)
    return _reduced(value, _legacy(reduction, size_average, reduce))


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
    """max(0, -t (x1 - x2) + margin)."""
    fits.margin_ranking(input1, input2, target)
    value = clamp_min(-target * (input1 - input2) + margin, 0)
    return _reduced(value, _legacy(reduction, size_average, reduce))


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
    """1 - cos where t = 1, max(0, cos - margin) where t = -1."""
    axis = len(shape_of(target))
    dot, a, b = sum_(input1 * input2, axis), sum_(input1 * input1, axis), sum_(input2 * input2, axis)
    cosine = dot / ((a + 1e-12) * (b + 1e-12)) ** 0.5
    value = where(target == 1, 1 - cosine, 0) + where(target == -1, clamp_min(cosine - margin, 0), 0)
    return _reduced(value, _legacy(reduction, size_average, reduce))


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
        reduction=_legacy(reduction, size_average, reduce),
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
    return _reduced(clamp_min(margin + near - far, 0), reduction)


# ------------------------------------------------------------------------------------------ classes


def _class_axis(input: Any) -> int:
    return 0 if len(shape_of(input)) == 1 else 1


@within("nn.functional")
def nll_loss(
    input: Any,
    target: Any,
    weight: Any = None,
    size_average: Any = None,
    ignore_index: int = -100,
    reduce: Any = None,
    reduction: str = "mean",
) -> Any:
    """-input at the target class (axis 1, or the only axis), weighted by class; "mean" divides by the weights' sum.

    Log-probabilities are (classes,), (n, classes) or (n, classes, …), labels integers without the axis of classes.

    >>> import symgrad as sg
    >>> sg.nn.functional.nll_loss(sg.tensor([[-0.1, -2.0], [-3.0, -0.2]]), sg.tensor([0, 1]))
    tensor(0.1500)
    """
    axis = _class_axis(input)
    classes = size(input, (axis,))
    counted = target != ignore_index
    _check_batch(input, target)
    _check_weight(weight, classes)
    safe = where(counted, target, 0)
    _check_classes(safe, input, axis)
    picked = _squeezed(gather_op(input, unsqueeze(safe, axis), dim=axis), axis)
    if weight is None:
        weights: Any = cast(counted, input.dtype)
    else:
        weights = where(counted, _of_class(weight, safe), 0)
    value = where(counted, -picked * weights, 0)
    reduction = _legacy(reduction, size_average, reduce)
    return sum_(value) / sum_(weights) if reduction == "mean" else _reduced(value, reduction)


def _all_counted(target: Any, ignore_index: int) -> bool:
    return not values_of(any_(eq(target, ignore_index)))  # one value is looked at, so that programs serve other targets


def _of_class(weight: Any, labels: Any) -> Any:
    """The weight of every label's class."""
    return reshape(gather_op(weight, reshape(labels, -1), dim=0), shape_of(labels))


def _squeezed(x: Any, axis: int) -> Any:
    shape = shape_of(x)
    return reshape(x, (*shape[:axis], *shape[axis + 1 :]))


def _check_batch(input: Any, target: Any) -> None:
    """Raise where there are not as many targets as samples."""
    have, wanted = shape_of(input), shape_of(target)
    if len(have) > 1 and wanted and have[0] != wanted[0]:
        raise ShapeError(f"Expected input batch_size ({have[0]}) to match target batch_size ({wanted[0]}).")


def _check_weight(weight: Any, classes: int) -> None:
    if weight is not None and tuple(shape_of(weight)) != (classes,):
        raise ShapeError(
            f"weight tensor should be defined either for all {classes} classes or no classes but got weight tensor of "
            f"shape: {list(shape_of(weight))}"
        )


def _check_classes(target: Any, input: Any, axis: int) -> None:
    wrong = place_outside(target, input, axis)
    if wrong is not None:
        classes = shape_of(input)[axis]
        raise IndexError(f"Target {wrong} is out of bounds: there are {classes} classes (0 … {classes - 1}).")


def _hot(labels: Any, like: Any) -> Any:
    return one_hot_op(labels, classes=shape_of(like)[-1], dtype=like.dtype.name)


chosen_op: Op = primitive(
    "chosen",
    kernels.chosen,
    (lambda g, out, like, labels: unsqueeze(g, -1) * _hot(labels, like), None),
    jvp=(lambda t, out, like, labels: chosen_op(t, labels), None),
    infer=lambda x, labels: labels,
    result=lambda x, labels: x,
    domain="real",
    define=lambda x, labels: sum_(_hot(labels, x) * x, -1),
    digits="kernel",
    expanded=True,
    doc="The entry of every row that its label names; formulas show the sum over a one-hot row.",
)


@within("nn.functional")
def cross_entropy(
    input: Any,
    target: Any,
    weight: Any = None,
    size_average: Any = None,
    ignore_index: int = -100,
    reduce: Any = None,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Any:
    """-log softmax(input) at the target class; ``target`` holds class numbers or class probabilities.

    Classes are on axis 1 (on the only axis of a vector).

    Logits are (classes,), (n, classes) or (n, classes, …) of a floating dtype, labels integers without that axis.
    Raises ``IndexError`` for a label that is no class; ``ignore_index`` leaves labels out.

    >>> import symgrad as sg
    >>> sg.nn.functional.cross_entropy(sg.tensor([[2.0, 0.0], [0.0, 2.0]]), sg.tensor([0, 1]))
    tensor(0.1269)
    """
    reduction = _legacy(reduction, size_average, reduce)
    axis = _class_axis(input)
    classes = size(input, (axis,))
    last = axis == len(shape_of(input)) - 1
    if (
        last
        and weight is None
        and not label_smoothing
        and target.dtype.kind in "ui"
        and _all_counted(target, ignore_index)
    ):
        # A row of a one-hot target sums to 1, so that the gradient is softmax(input) - target as it stands.
        _check_batch(input, target)
        _check_classes(target, input, axis)
        return _reduced(logsumexp(input, -1) - chosen_op(input, target), reduction)
    logs = log_softmax(input, axis)
    along = None if weight is None else reshape(weight, *(1,) * axis, -1, *(1,) * (len(shape_of(input)) - axis - 1))
    if shape_of(target) == shape_of(input) and is_real_floating(target.dtype):
        if label_smoothing:
            target = target * (1 - label_smoothing) + label_smoothing / classes
        value = -sum_(logs * target if along is None else logs * target * along, axis)
        if reduction != "mean":
            return _reduced(value, reduction)
        return sum_(value) / (math.prod(shape_of(input)) // classes)
    hard = nll_loss(logs, target, weight, ignore_index=ignore_index, reduction=reduction)
    if not label_smoothing:
        return hard
    smooth = where(target != ignore_index, -sum_(logs if along is None else logs * along, axis), 0)
    if reduction == "mean":
        chosen = cast(target != ignore_index, input.dtype)
        if weight is not None:
            safe = where(target != ignore_index, target, 0)
            chosen = chosen * _of_class(weight, safe)
        smooth = sum_(smooth) / sum_(chosen)
    else:
        smooth = _reduced(smooth, reduction)
    return (1 - label_smoothing) * hard + label_smoothing / classes * smooth


@within("nn.functional")
def multi_margin_loss(
    input: Any,
    target: Any,
    p: int = 1,
    margin: float = 1.0,
    weight: Any = None,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
) -> Any:
    """Σ max(0, margin - x_target + x_i)^p over the other classes, divided by their number."""
    reduction = _legacy(reduction, size_average, reduce)
    _check_reduction(reduction)
    if p not in (1, 2):
        raise ArgumentError(f"only p == 1 and p == 2 supported, got {p}")
    if weight is not None and len(shape_of(weight)) != 1:
        raise ShapeError(f"weight must be one-dimensional, got shape {tuple(shape_of(weight))}")
    fits.multi_margin(input, target, weight)
    x = input if len(shape_of(input)) == 2 else reshape(input, 1, -1)
    labels = reshape(target, -1)
    classes = size(x, (1,))
    check_places(labels, x, 1, "target out of range: ")
    own = gather_op(x, unsqueeze(labels, 1), dim=1)
    gap = relu(margin - own + x)  # no slope at the margin, as in torch
    gap = gap if p == 1 else gap**p
    if weight is not None:
        gap = gap * unsqueeze(_of_class(weight, labels), 1)
    others = one_hot_op(labels, classes=classes, dtype="bool")
    value = sum_(where(others, 0, gap), 1) / classes
    value = value if len(shape_of(input)) == 2 else reshape(value, shape_of(target))
    return _reduced(value, reduction)


@within("nn.functional")
def multilabel_margin_loss(
    input: Any,
    target: Any,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
) -> Any:
    """Σ max(0, 1 - x_label + x_i) over labels (up to the first -1) and other classes, divided by their number."""
    reduction = _legacy(reduction, size_average, reduce)
    _check_reduction(reduction)
    fits.multilabel_margin(input, target)
    x = input if len(shape_of(input)) == 2 else reshape(input, 1, -1)
    labels = reshape(target, shape_of(x))
    classes = size(x, (1,))
    listed = cumprod_op(cast(labels >= 0, "int64"), dim=1)
    safe = where(listed != 0, labels, 0)
    check_places(safe, x, 1, "target out of range: ")
    own = gather_op(x, safe, dim=1)
    is_label = scatter_op(listed, safe, dim=1, shape=shape_of(x))
    pairs = (unsqueeze(listed, 2) != 0) & (unsqueeze(is_label, 1) == 0)
    value = sum_(where(pairs, relu(1 - unsqueeze(own, 2) + unsqueeze(x, 1)), 0), (1, 2)) / classes
    value = value if len(shape_of(input)) == 2 else reshape(value, ())
    return _reduced(value, reduction)


@within("nn.functional")
def multilabel_soft_margin_loss(
    input: Any,
    target: Any,
    weight: Any = None,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
) -> Any:
    """The mean over classes of -[t log σ(x) + (1 - t) log σ(-x)]."""
    value = -(target * logsigmoid(input) + (1 - target) * logsigmoid(-input))
    value = value if weight is None else value * weight
    return _reduced(mean(value, -1), _legacy(reduction, size_average, reduce))

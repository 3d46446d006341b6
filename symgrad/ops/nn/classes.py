"""Losses of ``nn.functional`` for classes: log-likelihood, cross entropy, margins between classes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from symgrad import kernels
from symgrad.dtypes import is_real_floating, torch_name
from symgrad.errors import ArgumentError, DtypeError, ShapeError
from symgrad.op import Op, broadcast_shapes, folded, length_of, primitive, refusing, sampling, shape_of
from symgrad.ops.calls import fits
from symgrad.ops.calls.naming import within
from symgrad.ops.calls.still import decided_by, values_of
from symgrad.ops.elementwise.select import eq, placed, relu, where
from symgrad.ops.elementwise.smooth import logsigmoid
from symgrad.ops.indexing.gathering import gather_op, one_hot_op, scatter_op
from symgrad.ops.indexing.places import check_places, holds_somewhere, outside, place_outside
from symgrad.ops.nn.layers import linear
from symgrad.ops.nn.losses import check_reduction, reduced, reduction_of
from symgrad.ops.reductions.predicates import any_
from symgrad.ops.reductions.scans import cumprod_op
from symgrad.ops.reductions.softmax import log_softmax, logsumexp, softmax_op
from symgrad.ops.reductions.sums import cast, mean, size, sum_
from symgrad.ops.reductions.wide import rounded_once
from symgrad.ops.shapes.joining import narrow
from symgrad.ops.shapes.shaping import movedim, reshape, unsqueeze
from symgrad.precision import single


def _class_axis(input: Any) -> int:
    return 0 if len(shape_of(input)) == 1 else 1


@within("nn.functional")
@refusing("buic")
@rounded_once
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
    """
    return _nll(placed(input), target, weight, size_average, ignore_index, reduce, reduction)


def _nll(
    input: Any, target: Any, weight: Any, size_average: Any, ignore_index: int, reduce: Any, reduction: str
) -> Any:
    _check_batch(input, target)
    target = _one_label(input, target)
    axis = _class_axis(input)
    reduction = reduction_of(reduction, size_average, reduce)
    plain, known = _plainly(target, weight, ignore_index, shape_of(input)[axis])
    if plain:
        if not known:
            _check_classes(target, input, axis)
        last = len(shape_of(input)) - 1
        return reduced(-chosen_op(input if axis == last else movedim(input, axis, last), target), reduction)
    counted = target != ignore_index
    _check_weight(weight, size(input, (axis,)))
    safe = where(counted, target, 0)
    _check_classes(safe, input, axis)
    picked = _squeezed(gather_op(input, unsqueeze(safe, axis), dim=axis), axis)
    if weight is None:
        weights: Any = cast(counted, input.dtype)
    else:
        weights = where(counted, _of_class(weight, safe), 0)
    value = where(counted, -picked * weights, 0)
    return sum_(value) / sum_(weights) if reduction == "mean" else reduced(value, reduction)


def _plainly(target: Any, weight: Any, ignore_index: int, classes: Any) -> tuple[bool, bool]:
    """Whether every label counts, all of them alike; and whether all are known to be classes, so that nobody asks."""
    if weight is not None or target.dtype.kind not in "ui":
        return False, False
    if getattr(target, "_watched", True):  # one value is looked at, so that programs serve other targets
        return not holds_somewhere(eq(target, ignore_index)), False
    if isinstance(classes, int) and -classes <= ignore_index < 0:  # which would count from the end
        return not decided_by(any_(eq(target, ignore_index))), False
    values = values_of(target)
    if isinstance(classes, int) and not 0 <= ignore_index < classes and not outside(target, classes):
        return True, True
    return ignore_index not in values, False


def _of_class(weight: Any, labels: Any) -> Any:
    """The weight of every label's class."""
    return reshape(gather_op(weight, reshape(labels, -1), dim=0), shape_of(labels))


def _squeezed(x: Any, axis: int) -> Any:
    shape = shape_of(x)
    return reshape(x, (*shape[:axis], *shape[axis + 1 :]))


def _check_batch(input: Any, target: Any) -> None:
    """Raise unless there is a label for every sample, and every place of it."""
    have, wanted = tuple(shape_of(input)), tuple(shape_of(target))
    if not have:
        raise ShapeError("Expected 1 or more dimensions (got 0)")
    if len(have) > 1 and (not wanted or have[0] != wanted[0]):
        count = wanted[0] if wanted else 0
        raise ShapeError(f"Expected input batch_size ({have[0]}) to match target batch_size ({count}).")
    if len(have) <= 2 and len(wanted) > 1:
        raise ShapeError(f"0D or 1D target tensor expected, multi-target not supported (it has shape {wanted})")
    if len(have) == 1 and wanted not in ((), (1,)):
        raise ShapeError(f"For 1D input, 1D target must have size 1, but got target size: {wanted[0]}")
    if len(have) > 2 and wanted != (have[0], *have[2:]):
        raise ShapeError(f"Expected target size {[have[0], *have[2:]]}, got {list(wanted)}")
    dtype = getattr(target, "dtype", None)
    if dtype is not None and dtype.kind not in "iu":
        raise DtypeError(f"expected target dtype to be Long or Byte, but got {torch_name(dtype)}")


def _one_label(input: Any, target: Any) -> Any:
    """The label of a single sample without an axis of its own."""
    return reshape(target, ()) if len(shape_of(input)) == 1 and tuple(shape_of(target)) == (1,) else target


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
    linear=True,
    infer=lambda x, labels: broadcast_shapes(x[:-1], labels),
    result=lambda x, labels: x,
    define=lambda x, labels: sum_(_hot(labels, x) * x, -1),
    expanded=True,
    digits="kernel",
    example=("matrix", [0, 1], {}),
    samples=[sampling.many(("real", "n", "m"), ("index:m", "n")), sampling.many(("real", "m"), ("index:m",))],
    stacks=True,
    doc="The entry of every row that its label names; formulas show the sum over a one-hot row.",
)


def _chances(x: Any) -> Any:
    return softmax_op(x, dim=len(shape_of(x)) - 1)


def _pulled(g: Any, x: Any, labels: Any) -> Any:
    return g * _chances(x) - g * _hot(labels, x)


label_cross_entropy: Op = primitive(
    "label_cross_entropy",
    kernels.label_cross_entropy,
    (lambda g, out, x, labels: _pulled(unsqueeze(g, -1), x, labels), None),
    jvp=(lambda t, out, x, labels: sum_(t * _chances(x), -1) - chosen_op(t, labels), None),
    infer=lambda x, labels: broadcast_shapes(x[:-1], labels),
    result=lambda x, labels: x,
    copies=lambda mask, x, labels: (0,),  # torch saves log softmax
    refuses="buic",
    single=single.label_cross_entropy,
    mixes=1,
    define=lambda x, labels: logsumexp(x, -1) - chosen_op(x, labels),
    expanded=True,
    example=("matrix", [0, 1], {}),
    samples=[sampling.many(("real", "n", "m"), ("index:m", "n")), sampling.many(("real", "m"), ("index:m",))],
    doc="log Σ e^x less the entry that the label names, of every row, without taking the difference of large numbers.",
)


@within("nn.functional")
@rounded_once
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
    """
    reduction = reduction_of(reduction, size_average, reduce)
    if not 0 <= label_smoothing <= 1:
        raise ArgumentError(f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing}")
    axis = _class_axis(input)
    plain = known = False
    if not label_smoothing and axis == len(shape_of(input)) - 1:
        plain, known = _plainly(target, weight, ignore_index, shape_of(input)[axis])
    if plain:
        # A row of a one-hot target sums to 1, so that the gradient is softmax(input) - target as it stands.
        _check_batch(input, target)
        if not known:
            _check_classes(target, input, axis)
        return reduced(label_cross_entropy(input, _one_label(input, target)), reduction)
    classes: Any = length_of(input, axis) if hasattr(input, "raw_shape") else size(input, (axis,))
    logs = log_softmax(input, axis)
    along = None if weight is None else reshape(weight, *(1,) * axis, -1, *(1,) * (len(shape_of(input)) - axis - 1))
    if shape_of(target) == shape_of(input) and is_real_floating(target.dtype):
        if ignore_index >= 0:
            raise ArgumentError("ignore_index is not supported for floating point target")
        if label_smoothing:
            target = target * (1 - label_smoothing) + label_smoothing * (1 / classes)
        value = -sum_(logs * target if along is None else logs * target * along, axis)
        if reduction != "mean":
            return reduced(value, reduction)
        return sum_(value) / math.prod(length_of(input, k) for k in range(len(shape_of(input))) if k != axis)
    hard = _nll(logs, target, weight, None, ignore_index, None, reduction)
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
        smooth = reduced(smooth, reduction)
    return (1 - label_smoothing) * hard + label_smoothing * (1 / classes) * smooth


@within("nn.functional")
def linear_cross_entropy(
    input: Any,
    linear_weight: Any,
    target: Any,
    *,
    linear_bias: Any = None,
    weight: Any = None,
    reduction: str = "mean",
    ignore_index: int | None = None,
    label_smoothing: float = 0.0,
    options: None = None,
) -> Any:
    """:func:`cross_entropy` of ``input @ linear_weightᵀ + linear_bias``, the last layer of a classifier with its loss.

    ``input`` is (in,) or (n, in), ``linear_weight`` (classes, in) or (classes, …, in), ``linear_bias`` as the weight
    without its last axis, and ``target`` as for logits of shape (n, classes, …).  Raises ShapeError where these do not
    fit, and ArgumentError for ``options``: logits are not computed chunk by chunk here.

    >>> import symgrad as sg
    >>> x, w = sg.tensor([[1.0, 0.0], [0.0, 2.0]]), sg.tensor([[2.0, 0.0], [0.0, 1.0]])
    >>> sg.nn.functional.linear_cross_entropy(x, w, sg.tensor([0, 1]))
    tensor(0.1269)
    """
    rows, table = tuple(shape_of(input)), tuple(shape_of(linear_weight))
    _check_linear(rows, table, linear_bias)
    if options is not None:
        raise ArgumentError(
            f"linear_cross_entropy(options={options!r}): the logits are not computed chunk by chunk here; leave "
            "options None, or give parts of the batch to symgrad.utils.checkpoint.checkpoint."
        )
    logits = linear(input, reshape(linear_weight, -1, table[-1]), None if linear_bias is None else _flat(linear_bias))
    logits = reshape(logits, *rows[:-1], *table[:-1])
    if ignore_index is not None and shape_of(target) == shape_of(logits):
        raise ArgumentError("ignore_index cannot be specified when target contains probabilities")
    left_out = -100 if ignore_index is None else ignore_index
    return cross_entropy(logits, target, weight, None, left_out, None, reduction, label_smoothing)


def _flat(x: Any) -> Any:
    return reshape(x, -1)


def _check_linear(rows: tuple[Any, ...], table: tuple[Any, ...], bias: Any) -> None:
    """Torch's errors for parts of a linear layer that do not fit."""
    if len(rows) not in (1, 2):
        raise ShapeError(f"expected input with dimensionality 1 or 2, got {len(rows)}")
    if len(table) < 2:
        raise ShapeError(f"expected linear_weight with dimensionality at least 2, got {len(table)}")
    if rows[-1] != table[-1]:
        raise ShapeError(
            f"expected equal input and linear_weight last dimensions (in_features), got {rows[-1]} and {table[-1]}, "
            "respectively"
        )
    if bias is not None and tuple(shape_of(bias)) != table[:-1]:
        raise ShapeError(f"expected linear_bias shape {table[:-1]}, got {tuple(shape_of(bias))}")
    if len(table) > 2 and len(rows) == 1:
        raise ShapeError(
            f"K-dimensional loss defined by linear_weight shape {table} requires batched input, (N, {rows[-1]}), got "
            f"unbatched input with shape {rows}"
        )


@within("nn.functional")
@refusing("buic")
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
    reduction = reduction_of(reduction, size_average, reduce)
    check_reduction(reduction)
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
    return reduced(value, reduction)


@within("nn.functional")
@folded("nn.functional.multilabel_margin_loss")
def multilabel_margin_loss(
    input: Any,
    target: Any,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
) -> Any:
    """Σ max(0, 1 - x_label + x_i) over labels (up to the first -1) and other classes, divided by their number."""
    reduction = reduction_of(reduction, size_average, reduce)
    check_reduction(reduction)
    fits.multilabel_margin(input, target)
    x = input if len(shape_of(input)) == 2 else reshape(input, 1, -1)
    labels = reshape(target, shape_of(x))
    classes = size(x, (1,))
    listed = cumprod_op(cast(labels >= 0, "int64"), dim=1)
    if not (getattr(labels, "_watched", True) or getattr(target, "_node", None)):  # columns that list nothing
        decided_by(target)
        used = max(1, int(np.count_nonzero(values_of(any_(listed != 0, 0)))))
        labels, listed = (narrow(part, 1, 0, used) for part in (labels, listed)) if used < classes else (labels, listed)
    safe = where(listed != 0, labels, 0)
    check_places(safe, x, 1, "target out of range: ")
    is_label = scatter_op(listed, safe, dim=1, shape=shape_of(x))
    own = gather_op(x, safe, dim=1)
    pairs = (unsqueeze(listed, 2) != 0) & (unsqueeze(is_label, 1) == 0)
    value = sum_(where(pairs, relu(1 - unsqueeze(own, 2) + unsqueeze(x, 1)), 0), (1, 2)) / classes
    value = value if len(shape_of(input)) == 2 else reshape(value, ())
    return reduced(value, reduction)


@within("nn.functional")
def multilabel_soft_margin_loss(
    input: Any,
    target: Any,
    weight: Any = None,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
) -> Any:
    """The mean over classes of -[target log σ(input) + (1 - target) log σ(-input)]."""
    value = -(target * logsigmoid(input) + (1 - target) * logsigmoid(-input))
    value = value if weight is None else value * weight
    return reduced(mean(value, -1), reduction_of(reduction, size_average, reduce))

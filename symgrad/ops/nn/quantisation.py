"""Values rounded to the steps of integers, as a network with quantised weights will see them, with gradients through.

The derivative is that of training aware of it (Jacob et al. 2018): 1 where the value lies within the range of the
integers, and 0 where it is cut off.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from symgrad.dtypes import is_floating, is_real_floating, torch_name
from symgrad.errors import ArgumentError, DtypeError, ShapeError, UnsupportedDtype
from symgrad.op import folded, front, shape_of
from symgrad.ops.calls.still import standing, values_of
from symgrad.ops.elementwise.arithmetic import clone
from symgrad.ops.elementwise.select import clamp, where
from symgrad.ops.elementwise.smooth import round_
from symgrad.ops.indexing.places import everywhere
from symgrad.ops.reductions.sums import cast, cast_wide
from symgrad.ops.shapes.shaping import axis_of, reshape


def _on_steps(input: Any, scale: Any, zero_point: Any, low: int, high: int, whole: bool) -> Any:
    """The width of a step is a number of float32, as in torch, also for what is float64.

    A zero point that need not be a ``whole`` number is added before there is rounded.
    """
    steps = cast_wide(standing(input)) * (1 / scale)
    steps = round_(steps) + zero_point if whole else round_(steps + zero_point)
    inside = (steps >= low) & (steps <= high)
    value = cast(cast(clamp(steps, low, high) - zero_point, "float32") * scale, input.dtype)
    kept = where(inside, input, 0)
    return value + (kept - standing(kept))  # which is 0, and has the derivative


def _check(input: Any, low: int, high: int, zero_point: Any) -> None:
    if not is_floating(input.dtype) or input.dtype.kind == "c":
        raise UnsupportedDtype(
            f"\"fake_quantize_tensor_cachemask_kernel_type_handling\" not implemented for '{torch_name(input.dtype)}'"
        )
    if low > high:
        raise ArgumentError(f"`quant_min` should be less than or equal to `quant_max`, but they are {low} and {high}.")
    if not everywhere(zero_point, lambda points: (points >= low) & (points <= high)):
        points = values_of(zero_point)
        raise ArgumentError(
            f"`zero_point` must be between `quant_min` and `quant_max`, {low} and {high}, but it goes from "
            f"{points.min()} to {points.max()}."
        )


def _check_constant(name: str, argument: str, x: Any) -> None:
    """Raise torch's error where the gradient by a setting is asked for."""
    if getattr(x, "requires_grad", False):
        raise ArgumentError(
            f"The function '{name}' is not differentiable with respect to argument '{argument}'. This input cannot "
            "have requires_grad True. A step that is learned is an autograd.Function of its own."
        )


def _kept(x: Any) -> Any:
    """A setting as it is now: who observes values changes it before the gradient is asked for."""
    return clone(x) if hasattr(x, "requires_grad") else x


def _setting(x: Any, *shape: int) -> Any:
    """A setting of float32 in a shape, whole numbers as they are; programs follow what it is computed from."""
    if not hasattr(x, "dtype"):
        return x if isinstance(x, int) else np.float32(x)
    kept = reshape(standing(x), shape)
    return kept if x.dtype.kind == "i" else cast(kept, "float32")


@folded("fake_quantize_per_tensor_affine", one_node=True)
def _of_whole(input: Any, scale: Any, zero_point: Any, low: int, high: int) -> Any:
    return _on_steps(input, _setting(scale), _setting(zero_point), low, high, True)


@folded("fake_quantize_per_channel_affine", one_node=True)
def _of_axis(input: Any, scale: Any, zero_point: Any, axis: int, low: int, high: int) -> Any:
    rows = (-1, *(1,) * (len(shape_of(input)) - axis - 1))
    whole = zero_point.dtype.kind == "i"
    return _on_steps(input, _setting(scale, *rows), _setting(zero_point, *rows), low, high, whole)


@front("fake_quantize_per_tensor_affine", method=False)
def fake_quantize_per_tensor_affine(input: Any, scale: Any, zero_point: Any, quant_min: int, quant_max: int) -> Any:
    """``(clamp(round(input / scale) + zero_point, quant_min, quant_max) - zero_point) * scale``, passing gradients on.

    The gradient is passed on where nothing is cut off, as if nothing were rounded.  ``scale`` and ``zero_point`` are
    numbers or tensors of one entry, which no gradient is known by.  Raises ``ArgumentError`` for a zero point outside
    of the range.

    >>> import symgrad as sg
    >>> x = sg.tensor([-2.0, 0.14, 0.76], requires_grad=True)
    >>> y = sg.fake_quantize_per_tensor_affine(x, 0.1, 0, -8, 7)
    >>> y.detach()
    tensor([-0.8000,  0.1000,  0.7000])
    >>> y.sum().backward()
    >>> x.grad
    tensor([0., 1., 0.])
    """
    name = "_fake_quantize_per_tensor_affine_cachemask_tensor_qparams"
    for argument, setting in (("scale", scale), ("zero_point", zero_point)):
        _check_constant(name, argument, setting)
        if (count := math.prod(shape_of(setting))) != 1:
            raise ArgumentError(f"a Tensor with {count} elements cannot be converted to Scalar")
    zero_point = np.float64(zero_point) if zero_point.__class__ is float else zero_point
    _check(input, quant_min, quant_max, zero_point)
    if not everywhere(zero_point, lambda point: round_(point) == point):
        raise ArgumentError(f"`zero_point` is a whole number, not {values_of(zero_point).item()}")
    return _of_whole(input, _kept(scale), _kept(zero_point), quant_min, quant_max)


@front("fake_quantize_per_channel_affine", method=False)
def fake_quantize_per_channel_affine(
    input: Any, scale: Any, zero_point: Any, axis: int, quant_min: int, quant_max: int
) -> Any:
    """:func:`fake_quantize_per_tensor_affine` with a ``scale`` and a ``zero_point`` for every place along ``axis``.

    Both are vectors as long as the axis; ``ShapeError`` else.

    >>> import symgrad as sg
    >>> scale, point = sg.tensor([0.5, 0.1]), sg.zeros(2)
    >>> sg.fake_quantize_per_channel_affine(sg.full((2, 2), 0.26), scale, point, 1, -8, 7)
    tensor([[0.5000, 0.3000],
            [0.5000, 0.3000]])
    """
    name = "fake_quantize_per_channel_affine_cachemask"
    _check_constant(name, "scale", scale)
    _check_constant(name, "zero_point", zero_point)
    if not is_real_floating(scale.dtype) or scale.dtype.itemsize > 4:
        raise DtypeError(f"Scale must be Float or BFloat16, found {torch_name(scale.dtype)}")
    if zero_point.dtype != np.int32 and (zero_point.dtype.kind != "f" or zero_point.dtype.itemsize > 4):
        raise DtypeError(f"Zero-point must be Int32, Float or Half, found {torch_name(zero_point.dtype)}")
    width, point = shape_of(scale), shape_of(zero_point)
    for which, found in (("scale", width), ("zero point", point)):
        if len(found) != 1:
            raise ShapeError(f"{which} should be a 1-D tensor, but its shape is {tuple(found)}")
    if width != point:
        raise ShapeError("scale and zero-point need to have the same dimensions")
    shape, axis = shape_of(input), axis_of(axis, len(shape_of(input)))
    if width[0] != shape[axis]:
        raise ShapeError("dimensions of scale and zero-point are not consistent with input tensor")
    _check(input, quant_min, quant_max, zero_point)
    return _of_axis(input, _kept(scale), _kept(zero_point), axis, quant_min, quant_max)

"""Values rounded to the steps of integers, as a network with quantised weights will see them, with gradients through.

The derivative is that of training aware of it (Jacob et al. 2018): 1 where the value lies within the range of the
integers, and 0 where it is cut off.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from symgrad.dtypes import is_floating, torch_name
from symgrad.errors import ArgumentError, DtypeError, ShapeError, UnsupportedDtype
from symgrad.op import folded, front, shape_of
from symgrad.ops.calls.still import standing, values_of
from symgrad.ops.elementwise.select import clamp, where
from symgrad.ops.elementwise.smooth import round_
from symgrad.ops.reductions.sums import cast, cast_wide
from symgrad.ops.shapes.shaping import axis_of, reshape


def _on_steps(input: Any, scale: Any, zero_point: Any, low: int, high: int) -> Any:
    """The width of a step is a number of float32, as in torch, also for what is float64.

    A zero point that need not be a whole number is added before there is rounded.
    """
    steps = cast_wide(standing(input)) * (1 / scale)
    whole = not hasattr(zero_point, "dtype") or zero_point.dtype.kind == "i"
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
    points = values_of(zero_point)
    if points.size and not (low <= points.min() and points.max() <= high):
        raise ArgumentError(
            f"`zero_point` must be between `quant_min` and `quant_max`, {low} and {high}, but it goes from "
            f"{points.min()} to {points.max()}."
        )


def _constant(name: str, argument: str, x: Any) -> Any:
    """A setting as an array; raises torch's error where its gradient is asked for."""
    if getattr(x, "requires_grad", False):
        raise ArgumentError(
            f"The function '{name}' is not differentiable with respect to argument '{argument}'. This input cannot "
            "have requires_grad True. A step that is learned is an autograd.Function of its own."
        )
    return values_of(x)


@front("fake_quantize_per_tensor_affine", method=False)
@folded("fake_quantize_per_tensor_affine", one_node=True)
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
    width, point = _constant(name, "scale", scale), _constant(name, "zero_point", zero_point)
    for setting in (width, point):
        if setting.size != 1:
            raise ArgumentError(f"a Tensor with {setting.size} elements cannot be converted to Scalar")
    _check(input, quant_min, quant_max, point)
    if point.item() != int(point.item()):
        raise ArgumentError(f"`zero_point` is a whole number, not {point.item()}")
    return _on_steps(input, np.float32(width.item()), int(point.item()), quant_min, quant_max)


@front("fake_quantize_per_channel_affine", method=False)
@folded("fake_quantize_per_channel_affine", one_node=True)
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
    width, point = _constant(name, "scale", scale), _constant(name, "zero_point", zero_point)
    if width.dtype.kind != "f" or width.dtype.itemsize > 4:
        raise DtypeError(f"Scale must be Float or BFloat16, found {torch_name(width.dtype)}")
    if point.dtype != np.int32 and (point.dtype.kind != "f" or point.dtype.itemsize > 4):
        raise DtypeError(f"Zero-point must be Int32, Float or Half, found {torch_name(point.dtype)}")
    for which, setting in (("scale", width), ("zero point", point)):
        if setting.ndim != 1:
            raise ShapeError(f"{which} should be a 1-D tensor, but its shape is {setting.shape}")
    if width.shape != point.shape:
        raise ShapeError("scale and zero-point need to have the same dimensions")
    shape, axis = shape_of(input), axis_of(axis, len(shape_of(input)))
    if width.shape[0] != shape[axis]:
        raise ShapeError("dimensions of scale and zero-point are not consistent with input tensor")
    _check(input, quant_min, quant_max, point)
    rows = (-1, *(1,) * (len(shape) - axis - 1))
    point = point if point.dtype.kind == "i" else point.astype(np.float32)
    return _on_steps(input, reshape(width.astype(np.float32), *rows), reshape(point, *rows), quant_min, quant_max)

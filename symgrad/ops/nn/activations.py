"""Activation functions of ``nn.functional``: plain functions of ops, with ``inplace`` as in torch."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from symgrad.dtypes import finfo, float64, narrowed, torch_name
from symgrad.errors import ArgumentError, DtypeError
from symgrad.notices import notice
from symgrad.op import Op, front, known_as, refusing, shape_of
from symgrad.ops.calls import fits
from symgrad.ops.calls.naming import CHANGES, with_inplace, within, written
from symgrad.ops.calls.still import values_of
from symgrad.ops.elementwise.arithmetic import static_number
from symgrad.ops.elementwise.select import abs_, by_pieces, relu, where
from symgrad.ops.elementwise.smooth import logsigmoid, sigmoid, softplus as softplus_op, tanh
from symgrad.ops.nn import neurons
from symgrad.ops.reductions.softmax import log_softmax, softmax
from symgrad.ops.reductions.wide import rounded_once
from symgrad.ops.rules.kinks import bent
from symgrad.ops.rules.refusals import kind_of
from symgrad.ops.shapes.joining import chunk
from symgrad.ops.shapes.shaping import axis_of, reshape


def _activation(*names: str) -> Callable[[Callable[..., Any]], Any]:
    """Publish an activation in ``nn.functional`` with ``inplace=`` and as ``name_``."""

    def publish(call: Callable[..., Any]) -> Any:
        name = names[0] if names else call.__name__.rstrip("_")
        changed = f"nn.functional.{name}_"
        CHANGES[changed] = call

        @functools.wraps(call)
        def function(input: Any, *args: Any, inplace: bool = False, **options: Any) -> Any:
            return overwrite(input, *args, **options) if inplace else call(input, *args, **options)

        function.__signature__ = with_inplace(call)  # type: ignore[attr-defined]

        def overwrite(input: Any, *args: Any, **options: Any) -> Any:
            return written(input, CHANGES[changed], *args, **options)

        known_as(overwrite, f"{name}_", f"``{name}`` in place.")
        within("nn.functional", *(names or (name,)))(function)
        within("nn.functional", f"{name}_")(overwrite)
        return function

    return publish


def _alone(op: Op) -> Callable[[Any], Any]:
    """An op of one argument as a function, which says what the op does."""

    def call(input: Any) -> Any:
        return op(input)

    call.__doc__ = op.told
    return call


for _name, _op in (("relu", relu), ("sigmoid", sigmoid), ("tanh", tanh)):
    _activation(_name)(_alone(_op))
within("nn.functional")(logsigmoid)
within("special", "expit")(sigmoid)


@_activation()
def relu6(input: Any) -> Any:
    """min(max(input, 0), 6); derivative 0 at both ends."""
    return _limited("relu6", input, 0, 6)


@_activation()
def hardtanh(input: Any, min_val: float = -1.0, max_val: float = 1.0) -> Any:
    """``input`` limited to [min_val, max_val]; derivative 0 at the bounds."""
    if max_val < min_val:
        raise ArgumentError(f"hardtanh: min_val cannot be greater than max_val ({min_val} > {max_val}).")
    if kind_of(input) in "ui":
        min_val, max_val = int(min_val), int(max_val)
        if kind_of(input) == "u" and min(min_val, max_val) < 0:
            raise DtypeError("cannot do hardtanh on an unsigned type with negative limits")
    return _limited("hardtanh", input, min_val, max_val)


def _limited(kinks: str, x: Any, low: Any, high: Any) -> Any:
    """x limited to [low, high]; ``kinks`` names the rows of conventions at these."""
    limited = neurons.limited(x, low, high)
    return by_pieces(bent(f"{kinks}_max", bent(f"{kinks}_min", limited, x, low, lambda: x), x, high, lambda: x), x)


@_activation()
def hardsigmoid(input: Any) -> Any:
    """(input + 3)/6 between -3 and 3, 0 and 1 outside."""
    line = lambda: (input + 3) / 6  # noqa: E731
    limited = bent("relu6_min", neurons.hardsigmoid(input), input, -3, line)
    return by_pieces(bent("relu6_max", limited, input, 3, line), input)


@_activation()
def hardswish(input: Any) -> Any:
    """input · hardsigmoid(input)."""
    bow = lambda: input * (input + 3) / 6  # noqa: E731
    return bent("relu6_max", bent("relu6_min", neurons.hardswish(input), input, -3, bow), input, 3, bow)


@_activation()
def elu(input: Any, alpha: float = 1.0) -> Any:
    """``input`` above 0, alpha (e^input - 1) below."""
    out = neurons.elu(input, alpha, 1, 1)
    return out if static_number(alpha) == 1 else bent("elu", out, input, 0, lambda: input)


@_activation()
def celu(input: Any, alpha: float = 1.0) -> Any:
    """``input`` above 0, alpha (e^(input/alpha) - 1) below."""
    return neurons.elu(input, alpha, 1, alpha)


@_activation()
def selu(input: Any) -> Any:
    """The self-normalising scale times elu (Klambauer et al. 2017)."""
    scale = 1.0507009873554804934193349852946
    out = neurons.elu(input, 1.6732632423543772848170429916717, scale, 1)
    return bent("elu", out, input, 0, lambda: scale * input)


@_activation()
def leaky_relu(input: Any, negative_slope: float = 0.01) -> Any:
    """``input`` above 0, negative_slope · input below."""
    return _leaky(input, negative_slope)


def _leaky(x: Any, slope: Any) -> Any:
    return by_pieces(bent("leaky_relu", neurons.leaky(x, slope), x, 0, lambda: x), x)


@_activation("rrelu")
def rrelu(
    input: Any, lower: float = 1 / 8, upper: float = 1 / 3, training: bool = False, *, generator: Any = None
) -> Any:
    """leaky_relu with a slope drawn for every entry that is not positive while training, the mean slope otherwise."""
    if lower > upper:
        raise ArgumentError(f"Lower bound should be less than or equal to the upper bound, got {lower} and {upper}")
    if not training:
        return _leaky(input, (lower + upper) / 2)
    from symgrad.ops.noise import drawn

    values = values_of(input)
    slopes = np.ones(values.shape, values.dtype)
    low = values <= 0
    slopes[low] = drawn(generator).uniform((int(low.sum()),), np.dtype(np.float64)) * (upper - lower) + lower
    return input * slopes


@_activation("threshold")
@refusing("bc")
def threshold(input: Any, threshold: float, value: float) -> Any:
    """``input`` above the threshold, ``value`` elsewhere; both are integers beside integers."""
    if input.dtype.kind in "ui":
        threshold, value = (int(narrowed(x, input.dtype)) for x in (threshold, value))
    cut = where(input <= threshold, value, input)
    return by_pieces(bent("threshold", cut, input, threshold, lambda: value + (input - threshold)), input)


@_activation("silu")
def silu(input: Any) -> Any:
    """input · sigmoid(input)."""
    return neurons.silu(input)


@_activation("mish")
def mish(input: Any) -> Any:
    """input · tanh(softplus(input))."""
    return neurons.mish(input)


@within("nn.functional")
def gelu(input: Any, approximate: str = "none") -> Any:
    """input · Φ(input) with the normal distribution function, or its tanh approximation."""
    if approximate == "tanh":
        return neurons.gelu_by_tanh(input)
    if approximate != "none":
        raise ArgumentError(f"approximate argument must be either none or tanh, not {approximate!r}.")
    return neurons.gelu(input)


@within("nn.functional")
def softplus(input: Any, beta: float = 1, threshold: float = 20) -> Any:
    """log(1 + e^(beta input)) / beta.

    ``threshold`` is where torch gives ``input`` itself instead, for lack of an overflow-free form; at the default
    of 20 the two differ by 2e-9, and here the exact value stays.  A lower threshold is kept to.
    """
    if static_number(beta) == 1 and threshold >= 20:
        return softplus_op(input)
    return _steeper_softplus(input, beta, threshold)


@rounded_once
def _steeper_softplus(x: Any, beta: Any, threshold: float) -> Any:
    smooth = softplus_op(x * beta) / beta
    return smooth if threshold >= 20 else where(x * beta > threshold, x, smooth)


@within("nn.functional")
def softsign(input: Any) -> Any:
    """input / (1 + |input|)."""
    return input / (1 + abs_(input))


@within("nn.functional")
def tanhshrink(input: Any) -> Any:
    """input - tanh(input)."""
    return input - tanh(input)


@front("hardshrink")
@refusing("buic")
def hardshrink(input: Any, lambd: float = 0.5) -> Any:
    """``input`` outside [-lambd, lambd], 0 inside."""
    shrunk = bent("hardshrink_min", neurons.hardshrink(input, lambd), input, -lambd, lambda: input + lambd)
    return by_pieces(bent("hardshrink_max", shrunk, input, lambd, lambda: input - lambd), input)


within("nn.functional")(hardshrink)


@within("nn.functional")
def softshrink(input: Any, lambd: float = 0.5) -> Any:
    """``input`` moved towards 0 by lambd, 0 within it."""
    if lambd < 0:
        dtype = getattr(input, "dtype", float64)
        most = float(finfo(dtype).max)
        raise ArgumentError(
            f"lambda must be in range [0, {most:.6g}] for input dtype {torch_name(dtype)}, but found {lambd:.6g}"
        )
    shrunk = bent("softshrink_min", neurons.softshrink(input, lambd), input, -lambd, lambda: input + lambd)
    return by_pieces(bent("softshrink_max", shrunk, input, lambd, lambda: input - lambd), input)


@front("prelu")
@refusing("buic")
def prelu(input: Any, weight: Any) -> Any:
    """``input`` above 0, weight · input below; one weight, or one per channel (axis 1)."""
    fits.prelu(input, weight)
    ndim = len(shape_of(input))
    if len(shape_of(weight)) == 1 and ndim > 1:
        weight = reshape(weight, -1, *(1,) * (ndim - 2))
    elif not ndim and shape_of(weight):
        weight = reshape(weight, ())
    return _leaky(input, weight)


within("nn.functional")(prelu)


@within("nn.functional")
@refusing("buic")
@rounded_once
def glu(input: Any, dim: int = -1) -> Any:
    """The first half along ``dim`` times the sigmoid of the second."""
    axis = axis_of(dim, len(shape_of(input)))
    if shape_of(input)[axis] % 2:
        raise ArgumentError(f"Halving dimension must be even, but dimension {axis} is size {shape_of(input)[axis]}")
    first, second = chunk(input, 2, axis)
    return neurons.glu(first, second)


def _default_dim(dim: int | None, ndim: int) -> int:
    return (0 if ndim in (0, 1, 3) else 1) if dim is None else dim


def _softmax(name: str, call: Any, negate: bool) -> Any:
    def function(input: Any, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Any:
        if dim is None:
            notice(
                f"Implicit dimension choice for {name} has been deprecated. Change the call to include dim=X as an "
                "argument."
            )
        axis = _default_dim(dim, len(shape_of(input)))
        return call(-input if negate else input, axis, dtype=dtype)

    return within("nn.functional")(known_as(function, name, f"{name} along ``dim``, computed in ``dtype`` if given."))


_softmax("softmax", softmax, False)
_softmax("log_softmax", log_softmax, False)
_softmax("softmin", softmax, True)
within("special")(softmax)
within("special")(log_softmax)

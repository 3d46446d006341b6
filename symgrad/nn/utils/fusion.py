"""Layers and the normalization behind them as one layer, for networks that are trained: ``torch.nn.utils.fusion``."""

from __future__ import annotations

import copy
from typing import Any

from symgrad.errors import ArgumentError
from symgrad.nn.parameter import Parameter

__all__ = ["fuse_conv_bn_eval", "fuse_conv_bn_weights", "fuse_linear_bn_eval", "fuse_linear_bn_weights"]


def _fused(weight: Any, bias: Any, norm: Any, axis: int) -> tuple[Any, Any]:
    """Weights whose outputs, on ``axis``, are what the normalization makes of those of the layer."""
    mean, var, eps, scale, shift = norm
    if mean is None or var is None:
        raise ArgumentError(
            "bn.running_mean and bn.running_var must not be None: a normalization by the statistics of each batch is "
            "in no weights"
        )
    factor = (var + eps).rsqrt() if scale is None else scale * (var + eps).rsqrt()
    around = [1] * weight.dim()
    around[axis] = -1
    moved = -mean if bias is None else bias - mean
    whole = moved * factor if shift is None else moved * factor + shift
    made = (weight * factor.reshape(around)).detach().to(weight.dtype)
    kind, follows = (weight.dtype, False) if bias is None else (bias.dtype, bias.requires_grad)
    return Parameter(made, weight.requires_grad), Parameter(whole.detach().to(kind), follows)


def fuse_conv_bn_weights(
    conv_w: Any, conv_b: Any, bn_rm: Any, bn_rv: Any, bn_eps: float, bn_w: Any, bn_b: Any, transpose: bool = False
) -> tuple[Any, Any]:
    """Weight and bias of a convolution with the normalization of its outputs in it.

    >>> import symgrad as sg
    >>> zeros, ones = sg.zeros(1), sg.ones(1)
    >>> w, b = fuse_conv_bn_weights(sg.ones(1, 1, 1), None, zeros, 4 * ones, 0.0, ones, ones)
    >>> w.item(), b.item()
    (0.5, 1.0)
    """
    return _fused(conv_w, conv_b, (bn_rm, bn_rv, bn_eps, bn_w, bn_b), 1 if transpose else 0)


def fuse_linear_bn_weights(
    linear_w: Any, linear_b: Any, bn_rm: Any, bn_rv: Any, bn_eps: float, bn_w: Any, bn_b: Any
) -> tuple[Any, Any]:
    """Weight and bias of a linear layer with the normalization of its outputs in it.

    >>> import symgrad as sg
    >>> zeros, ones = sg.zeros(1), sg.ones(1)
    >>> fuse_linear_bn_weights(sg.ones(1, 1), None, ones, ones, 0.0, ones, zeros)[1].item()
    -1.0
    """
    return _fused(linear_w, linear_b, (bn_rm, bn_rv, bn_eps, bn_w, bn_b), 0)


def _layer(layer: Any, bn: Any, transpose: bool) -> Any:
    if layer.training or bn.training:
        raise ArgumentError("Fusion only for eval!: statistics of a batch cannot be in weights; call eval() before")
    made = copy.deepcopy(layer)
    norm = (bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias)
    made.weight, made.bias = _fused(made.weight, made.bias, norm, 1 if transpose else 0)
    return made


def fuse_conv_bn_eval(conv: Any, bn: Any, transpose: bool = False) -> Any:
    """A convolution that does what ``bn(conv(x))`` does.

    Raises ``ArgumentError`` for layers that are trained, and for a normalization without running statistics.

    >>> import symgrad as sg
    >>> conv, bn = sg.nn.Conv1d(1, 2, 1).eval(), sg.nn.BatchNorm1d(2).eval()
    >>> x = sg.ones(1, 1, 3)
    >>> sg.allclose(fuse_conv_bn_eval(conv, bn)(x), bn(conv(x)))
    True
    """
    return _layer(conv, bn, transpose)


def fuse_linear_bn_eval(linear: Any, bn: Any) -> Any:
    """A linear layer that does what ``bn(linear(x))`` does.  Raises ``ArgumentError`` where the sizes do not agree.

    >>> import symgrad as sg
    >>> linear, bn = sg.nn.Linear(1, 2).eval(), sg.nn.BatchNorm1d(2).eval()
    >>> x = sg.ones(3, 1)
    >>> sg.allclose(fuse_linear_bn_eval(linear, bn)(x), bn(linear(x)))
    True
    """
    if bn.num_features not in (1, linear.out_features):
        raise ArgumentError(
            "To fuse, linear.out_features == bn.num_features or bn.num_features == 1, got "
            f"{linear.out_features=} and {bn.num_features=}"
        )
    return _layer(linear, bn, transpose=False)

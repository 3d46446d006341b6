"""Norms of weights along all axes but one, and weights that are a direction and a length."""

from __future__ import annotations

from typing import Any

from symgrad.op import front, shape_of
from symgrad.ops.reductions.sums import norm
from symgrad.ops.shapes.shaping import axis_of, reshape, transpose


@front("norm_except_dim", method=False)
def norm_except_dim(v: Any, pow: int = 2, dim: int = 0) -> Any:
    """The norms of order ``pow`` of the parts of ``v`` along ``dim``, whose other axes have size 1 then.

    Of all entries, 0-d, for ``dim=-1``, as in torch.
    """
    if dim == -1:
        return norm(v, pow)
    shape = shape_of(v)
    axis, ndim = axis_of(dim, len(shape)), len(shape)
    if axis == 0:
        return reshape(norm(reshape(v, shape[0], -1), pow, 1), shape[0], *[1] * (ndim - 1))
    if axis == ndim - 1:
        return reshape(norm(reshape(v, -1, shape[axis]), pow, 0), *[1] * (ndim - 1), shape[axis])
    return transpose(norm_except_dim(transpose(v, 0, axis), pow, 0), 0, axis)


@front("_weight_norm", method=False)
def weight_norm(v: Any, g: Any, dim: int = 0) -> Any:
    """Weights of the directions ``v`` and the lengths ``g`` along ``dim``: g v/‖v‖ (Salimans and Kingma 2016)."""
    return v * (g / norm_except_dim(v, 2, dim))

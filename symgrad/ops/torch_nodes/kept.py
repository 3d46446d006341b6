"""What backward of functions of several ops reads as it is by then: what torch keeps, and the parts here do not."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["ANEW", "COMPUTING", "KEPT", "SCALING"]

_READ_AGAIN: dict[tuple[int | None, ...], str] = {
    (-2,): "take_along_dim",
    (0,): "nan_to_num nansum nanmean gather cummax cummin triangular_solve",
    (0, 1): "take dist cdist complex masked_select",
    (1, -1): "ldexp",
    (2,): "scatter_add index_fill index_select put",
    (0, -1): "prod cumprod logcumsumexp",
    (0, 3, -1): "scatter_reduce index_reduce",
    (1,): "masked_scatter",
    (1, 2): "nn.functional.nll_loss",
    (1, 2, -1): "lu_solve",
    (0, 1, -1): "linalg.lu_solve",
    (None,): "sort topk kthvalue mode msort",
    (-1,): "softmax log_softmax nn.functional.softmax nn.functional.log_softmax polar cholesky ormqr",
}
_PIECEWISE = "gelu relu6 hardtanh hardsigmoid elu celu selu leaky_relu softshrink hardshrink threshold softplus"
_BOTH = """
    smooth_l1_loss huber_loss soft_margin_loss multi_margin_loss binary_cross_entropy binary_cross_entropy_with_logits
    prelu
"""
_DECOMPOSED = "cholesky cholesky_ex solve solve_ex lu lu_factor lu_factor_ex lstsq householder_product solve_triangular"
_TAILS = "i1 log_ndtr erfcx"


def _blended(input: Any, end: Any, weight: Any) -> tuple[int, ...]:
    return (0, 1) if getattr(weight, "requires_grad", False) else ()


def _signed_kept(input: Any, *_: Any, **__: Any) -> tuple[int, ...]:
    return (0, -1) if getattr(input, "requires_grad", False) else (-1,)


def _source_kept(input: Any, dim: Any, index: Any, source: Any, **_: Any) -> tuple[int, ...]:
    return (2, 3) if getattr(source, "requires_grad", False) else (2,)


def _real_kept(input: Any, n: Any = None, dim: Any = -1, *_: Any, **__: Any) -> tuple[int, ...]:
    """The input of half a spectrum, where torch does not pad it first."""
    real = getattr(input, "dtype", np.dtype(complex)).kind != "c"
    return (0,) if real and (n is None or (isinstance(n, int) and n <= input.shape[dim])) else ()


def _chosen_kept(input: Any, dim: Any = None, *_: Any, **__: Any) -> tuple[int | None, ...]:
    return (0, -1) if dim is None else (None,)


KEPT: dict[str, Any] = (
    {name: positions for positions, names in _READ_AGAIN.items() for name in names.split()}
    | {f"nn.functional.{name}": (0,) for name in _PIECEWISE.split()}
    | {f"nn.functional.{name}": (0, 1) for name in _BOTH.split()}
    | {f"linalg.{name}": (-1,) for name in _DECOMPOSED.split()}
    | {f"special.{name}": (-1,) for name in _TAILS.split()}
    | {f"fft.{name}": _real_kept for name in ("fft", "ifft", "rfft", "rfft2", "rfftn", "ihfft2", "ihfftn")}
    | dict.fromkeys(("index_add", "index_copy"), _source_kept)
    | {"lerp": _blended, "copysign": _signed_kept, "max": _chosen_kept, "min": _chosen_kept, "median": _chosen_kept}
)
"""Positions of arguments that torch keeps for backward though the parts here do not, or a function of the arguments
that gives them; -1 is the result, -2 what was made of the first argument in its memory, None what nobody can change,
such as places.  Backward objects when they were changed, and to a second pass once they were freed."""

_ANEW = """
    glu hardshrink hardsigmoid hardtanh relu6 smooth_l1_loss softplus soft_margin_loss softshrink threshold huber_loss
    binary_cross_entropy_with_logits multi_margin_loss pdist
"""
_PLAIN_ANEW = """
    dist cdist pdist hardshrink mvlgamma addr prod median nanmedian logit special.logit float_power renorm
"""
ANEW = frozenset((*_PLAIN_ANEW.split(), *(f"nn.functional.{n}" for n in _ANEW.split())))
"""Functions of several ops whose derivative torch makes of their arguments, which it reads as they are by then."""

_LOSSES = ("nn.functional.mse_loss", "nn.functional.smooth_l1_loss", "nn.functional.huber_loss")
_COMPARED = (
    "eq_",
    "ge_",
    "greater_equal_",
    "gt_",
    "greater_",
    "le_",
    "less_equal_",
    "lt_",
    "less_",
    "ne_",
    "not_equal_",
)
COMPUTING = ("dist", "addcmul", "addcdiv", "add", "sub", "subtract", "rsub", "div", "divide", *_LOSSES, *_COMPARED)
"""Functions of several ops that compute with every tensor among their arguments, also those that are no floats."""

SCALING = ("add", "add_", "sub", "sub_", "subtract", "lerp")
"""Functions that multiply by a number on the way which torch keeps apart from what it frees."""

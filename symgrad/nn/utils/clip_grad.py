"""The gradients of many parameters together: their norm, and clipping."""

from __future__ import annotations

import math
from typing import Any

from symgrad.errors import AutogradError
from symgrad.linalg import vector_norm
from symgrad.notices import renamed
from symgrad.ops.shapes.joining import stack
from symgrad.tape.modes import no_grad
from symgrad.tensor import Tensor
from symgrad.tensor.creation import tensor

__all__ = [
    "clip_grad_norm_",
    "clip_grad_value_",
    "clip_grads_with_norm_",
    "get_total_norm",
]

Tensors = Any
"""A tensor, or any iterable of tensors."""


def _listed(tensors: Tensors) -> list[Any]:
    return [tensors] if isinstance(tensors, Tensor) else list(tensors)


def _gradients(parameters: Tensors) -> list[Any]:
    return [p.grad for p in _listed(parameters) if p.grad is not None]


def get_total_norm(
    tensors: Tensors,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,  # noqa: ARG001  (torch's choice of kernel)
) -> Any:
    """The norm of all entries of all tensors.

    >>> import symgrad as sg
    >>> sg.nn.utils.get_total_norm([sg.tensor([3.0]), sg.tensor([0.0, 4.0])])
    tensor(5.)
    """
    rows = _listed(tensors)
    if not rows:
        return tensor(0.0)
    total = vector_norm(stack([vector_norm(row, norm_type) for row in rows]), norm_type)
    if error_if_nonfinite and not math.isfinite(total.item()):
        raise AutogradError(
            f"The total norm of order {float(norm_type)} for gradients from `parameters` is non-finite, so it cannot "
            "be clipped. To disable this error and scale the gradients by the non-finite norm anyway, set "
            "`error_if_nonfinite=False`"
        )
    return total


def clip_grads_with_norm_(
    parameters: Tensors,
    max_norm: float,
    total_norm: Any,
    foreach: bool | None = None,  # noqa: ARG001  (torch's choice of kernel)
) -> None:
    """Scale the gradients in place, so that a total norm of ``total_norm`` becomes ``max_norm`` at most.

    >>> import symgrad as sg
    >>> w = sg.tensor([3.0, 4.0], requires_grad=True)
    >>> (w * w).sum().backward()
    >>> total = sg.nn.utils.get_total_norm([w.grad])
    >>> sg.nn.utils.clip_grads_with_norm_([w], 1.0, total)
    >>> w.grad
    tensor([0.6000, 0.8000])
    """
    with no_grad():
        factor = (float(max_norm) / (total_norm + 1e-6)).clamp(max=1.0)
        for g in _gradients(parameters):
            g.mul_(factor)


def clip_grad_norm_(
    parameters: Tensors,
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,  # noqa: ARG001  (torch's choice of kernel)
) -> Any:
    """Scale the gradients in place so that their norm, all together, is at most ``max_norm``; gives the norm before.

    >>> import symgrad as sg
    >>> w = sg.tensor([3.0, 4.0], requires_grad=True)
    >>> (w * w).sum().backward()
    >>> sg.nn.utils.clip_grad_norm_(w, 1.0), w.grad
    (tensor(10.), tensor([0.6000, 0.8000]))
    """
    kept = _listed(parameters)
    with no_grad():
        total = get_total_norm(_gradients(kept), norm_type, error_if_nonfinite)
    clip_grads_with_norm_(kept, max_norm, total)
    return total


def clip_grad_value_(parameters: Tensors, clip_value: float, foreach: bool | None = None) -> None:  # noqa: ARG001
    """Clamp every entry of the gradients in place to ``[-clip_value, clip_value]``.

    >>> import symgrad as sg
    >>> w = sg.tensor([3.0, -0.1], requires_grad=True)
    >>> (w * w).sum().backward()
    >>> sg.nn.utils.clip_grad_value_([w], 0.5)
    >>> w.grad
    tensor([ 0.5000, -0.2000])
    """
    with no_grad():
        for g in _gradients(parameters):
            g.clamp_min_(-float(clip_value)).clamp_max_(float(clip_value))  # two changes, as torch counts them


clip_grad_norm = renamed(clip_grad_norm_, "torch.nn.utils")  # the name of old programs, which torch still has

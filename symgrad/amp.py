"""torch.amp for code that asks for it: products are never computed in half precision of themselves here.

``custom_fwd`` and ``custom_bwd`` mark the methods of an ``autograd.Function`` that shall run alike under ``autocast``.
Outside of it they do nothing in torch either, so that such functions are the same here.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from symgrad.errors import ArgumentError
from symgrad.switches import autocast

__all__ = ["autocast", "custom_bwd", "custom_fwd"]


def custom_fwd(fwd: Callable[..., Any] | None = None, *, device_type: str, cast_inputs: Any = None) -> Any:
    """The ``forward`` of a custom function as it is; ``cast_inputs`` has no effect outside of ``autocast``.

    Raises ``ValueError`` for a device type that is no string.

    >>> import symgrad as sg
    >>> class Double(sg.autograd.Function):
    ...     @staticmethod
    ...     @sg.amp.custom_fwd(device_type="cpu")
    ...     def forward(ctx, x):
    ...         return 2 * x
    ...     @staticmethod
    ...     @sg.amp.custom_bwd(device_type="cpu")
    ...     def backward(ctx, g):
    ...         return 2 * g
    >>> x = sg.tensor([1.0], requires_grad=True)
    >>> Double.apply(x).backward()
    >>> x.grad
    tensor([2.])
    """
    _check(device_type)
    return functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs) if fwd is None else fwd


def custom_bwd(bwd: Callable[..., Any] | None = None, *, device_type: str) -> Any:
    """The ``backward`` of a custom function as it is; see :func:`custom_fwd`.

    Raises ``ValueError`` for a device type that is no string.

    >>> import symgrad as sg
    >>> sg.amp.custom_bwd(abs, device_type="cpu")(-1)
    1
    """
    _check(device_type)
    return functools.partial(custom_bwd, device_type=device_type) if bwd is None else bwd


def _check(device_type: Any) -> None:
    if not isinstance(device_type, str):
        raise ArgumentError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")

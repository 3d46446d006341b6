"""``np.linspace``, ``np.logspace`` and ``np.geomspace`` between ends that are tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from symgrad.errors import ArgumentError
from symgrad.interop.functions import front_of, glanced, tensor, wanted


def _inexact(*ends: Any) -> Any:
    """The dtype of what lies between: plain numbers take that of the others."""
    return np.result_type(*(getattr(x, "dtype", x) for x in ends), 1.0)


def _linear(
    start: Any,
    stop: Any,
    num: Any = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: Any = None,
    axis: int = 0,
    **rest: Any,
) -> Any:
    wanted("np.linspace", rest)
    num = int(num)
    if num < 0:
        raise ArgumentError(f"Number of samples, {num}, must be non-negative.")
    inexact = _inexact(start, stop)
    start, stop = front_of("broadcast_tensors")(*(tensor(x).to(inexact) for x in (start, stop)))
    parts = num - 1 if endpoint else num
    step = (stop - start) / parts if parts > 0 else (stop - start) * np.nan
    along = tensor(np.arange(num).reshape((-1,) + (1,) * start.ndim)).to(start.dtype)
    out = along * step + start if parts > 0 else along * (stop - start) + start
    if endpoint and num > 1:  # the last one is stop itself, to the last bit
        out = front_of("cat")([out[:-1], stop[None]], 0)
    out = front_of("movedim")(out, 0, axis)
    out = out if dtype is None else out.to(dtype)
    return (out, step) if retstep else out


def _powers(
    start: Any, stop: Any, num: Any = 50, endpoint: bool = True, base: Any = 10.0, dtype: Any = None, axis: int = 0
) -> Any:
    if np.ndim(base):
        start, stop, base = (tensor(x) for x in (start, stop, base))
        start, stop, base = front_of("broadcast_tensors")(start, stop, base)
        base = base.unsqueeze(axis)
    out = base ** _linear(start, stop, num, endpoint, axis=axis)
    return out if dtype is None else out.to(dtype)


def _geometric(start: Any, stop: Any, num: Any = 50, endpoint: bool = True, dtype: Any = None, axis: int = 0) -> Any:
    inexact = _inexact(start, stop)
    start, stop = front_of("broadcast_tensors")(*(tensor(x).to(inexact) for x in (start, stop)))
    if (glanced(start) == 0).any() or (glanced(stop) == 0).any():
        raise ArgumentError("Geometric sequence cannot include zero")
    log = front_of("log")
    ratio = log(stop / start)  # relative to the start, so that only the way from it is rounded
    out = start[None] * front_of("exp")(_linear(ratio * 0, ratio, num, endpoint))
    if int(num) > 1 and endpoint:
        out = front_of("cat")([out[:-1], stop[None]], 0)
    out = front_of("movedim")(out, 0, axis)
    return out if dtype is None else out.to(dtype)


RANGES: dict[Any, Callable[..., Any]] = {np.linspace: _linear, np.logspace: _powers, np.geomspace: _geometric}

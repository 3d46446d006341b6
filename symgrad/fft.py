"""Discrete Fourier transforms under the names of ``torch.fft``: views of the op table.

>>> import symgrad as sg
>>> sg.fft.ifft(sg.fft.fft(sg.tensor([1.0, 2.0]))).real
tensor([1., 2.])
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, Unpack

import numpy as np

from symgrad.devices import Options
from symgrad.dtypes import get_default_dtype
from symgrad.ops.calls.naming import SPACES
from symgrad.tensor import Tensor
from symgrad.tensor.creation import finished
from symgrad.tensor.ranges import arange

globals().update(SPACES["fft"])


def fftfreq(
    n: int,
    d: float = 1.0,
    *,
    dtype: Any = None,
    requires_grad: bool = False,
    name: str | None = None,
    **options: Unpack[Options],
) -> Tensor:
    """The frequencies of ``fft`` for ``n`` samples ``d`` apart.

    >>> import symgrad as sg
    >>> sg.fft.fftfreq(4)
    tensor([ 0.0000,  0.2500, -0.5000, -0.2500])
    """
    value = np.fft.fftfreq(operator.index(n), d).astype(dtype or get_default_dtype())
    recipe = _recipe(lambda k, half: (k + half) % n - half, n, n, d, value) if hasattr(n, "kept") else None
    return finished("fft_fftfreq", value, requires_grad, name, options, recipe)


def rfftfreq(
    n: int,
    d: float = 1.0,
    *,
    dtype: Any = None,
    requires_grad: bool = False,
    name: str | None = None,
    **options: Unpack[Options],
) -> Tensor:
    """The frequencies of ``rfft`` for ``n`` samples ``d`` apart.

    >>> import symgrad as sg
    >>> sg.fft.rfftfreq(4, d=0.5)
    tensor([0.0000, 0.5000, 1.0000])
    """
    value = np.fft.rfftfreq(operator.index(n), d).astype(dtype or get_default_dtype())
    recipe = _recipe(lambda k, half: k, n // 2 + 1, n, d, value) if hasattr(n, "kept") else None
    return finished("fft_rfftfreq", value, requires_grad, name, options, recipe)


def _recipe(turns: Callable[[Any, Any], Any], count: Any, n: Any, d: float, value: Any) -> Any:
    """How frequencies are made at every size: so many turns, made of 0, 1, 2 … and the half of n, in n samples."""
    made = turns(arange(count, dtype=np.dtype(np.float64)), n // 2) * (1 / (n * d))
    return made.to(value.dtype).more().recipe


__all__ = sorted({"fftfreq", "rfftfreq", *SPACES["fft"]})  # noqa: PLE0605

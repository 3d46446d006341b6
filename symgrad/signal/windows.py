"""Windows of signal processing under the names of ``torch.signal.windows``.

Each has ``M`` places; ``sym=True`` makes both ends equal, for filters, ``sym=False`` a periodic one, for spectra.

>>> import symgrad as sg
>>> sg.signal.windows.hann(5)
tensor([0.0000, 0.5000, 1.0000, 0.5000, 0.0000])
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from symgrad.devices import strided
from symgrad.dtypes import as_dtype, get_default_dtype
from symgrad.errors import ArgumentError
from symgrad.tensor import Tensor
from symgrad.tensor.creation import finished
from symgrad.tensor.docstrings import illustrate

__all__ = [
    "bartlett", "blackman", "cosine", "exponential", "gaussian", "general_cosine", "general_hamming", "hamming",
    "hann", "kaiser", "nuttall",
]  # fmt: skip


def _made(name: str, M: int, shape: Callable[[Any], Any], dtype: Any, requires_grad: bool, options: Any) -> Tensor:
    """The values ``shape(places)`` as a tensor; a single place is 1."""
    kind = as_dtype(dtype or get_default_dtype())
    if M < 0:
        raise ArgumentError(f"{name} requires non-negative window length, got M={M}")
    if options.get("layout", strided) not in (None, strided):
        raise ArgumentError(f"{name} is implemented for strided tensors only, got: {options['layout']}")
    if kind not in (np.float32, np.float64):
        raise ArgumentError(f"{name} expects float32 or float64 dtypes, got: torch.{kind}")
    value = shape(np.arange(M, dtype=np.float64)) if M > 1 else np.ones(M)
    return finished(name, value.astype(kind), requires_grad, None, options, depth=3)


def _length(M: int, sym: bool) -> int:
    """The distance of the ends: of a periodic window the first place comes again behind the last."""
    return max(M - 1 if sym else M, 1)


def exponential(
    M: int, *, center: float | None = None, tau: float = 1.0, sym: bool = True, dtype: Any = None,
    requires_grad: bool = False, **options: Any,
) -> Tensor:  # fmt: skip
    """exp(-|n - center|/tau), around the middle by default; another ``center`` needs ``sym=False``.

    >>> import symgrad as sg
    >>> sg.signal.windows.exponential(5, tau=2.0)
    tensor([0.3679, 0.6065, 1.0000, 0.6065, 0.3679])
    """
    if tau <= 0:
        raise ArgumentError(f"Tau must be positive, got: {tau} instead.")
    if sym and center is not None:
        raise ArgumentError("Center must be None for symmetric windows")
    middle = _length(M, sym) / 2 if center is None else center
    return _made("exponential", M, lambda n: np.exp(-np.abs(n - middle) / tau), dtype, requires_grad, options)


def cosine(M: int, *, sym: bool = True, dtype: Any = None, requires_grad: bool = False, **options: Any) -> Tensor:
    """The half wave sin(π(n + 1/2)/M).

    >>> import symgrad as sg
    >>> sg.signal.windows.cosine(4)
    tensor([0.3827, 0.9239, 0.9239, 0.3827])
    """
    count = M if sym else M + 1
    return _made("cosine", M, lambda n: np.sin(math.pi * (n + 0.5) / count), dtype, requires_grad, options)


def gaussian(
    M: int, *, std: float = 1.0, sym: bool = True, dtype: Any = None, requires_grad: bool = False, **options: Any
) -> Tensor:
    """exp(-n²/(2 std²)) around the middle.

    >>> import symgrad as sg
    >>> sg.signal.windows.gaussian(5, std=1.0)
    tensor([0.1353, 0.6065, 1.0000, 0.6065, 0.1353])
    """
    if std <= 0:
        raise ArgumentError(f"Standard deviation must be positive, got: {std} instead.")
    middle = _length(M, sym) / 2
    return _made("gaussian", M, lambda n: np.exp(-(((n - middle) / std) ** 2) / 2), dtype, requires_grad, options)


def kaiser(
    M: int, *, beta: float = 12.0, sym: bool = True, dtype: Any = None, requires_grad: bool = False, **options: Any
) -> Tensor:
    """I₀(β√(1 - t²))/I₀(β) for t from -1 to 1.

    >>> import symgrad as sg
    >>> sg.signal.windows.kaiser(5, beta=4.0)
    tensor([0.0885, 0.6334, 1.0000, 0.6334, 0.0885])
    """
    if beta < 0:
        raise ArgumentError(f"beta must be non-negative, got: {beta} instead.")

    def shape(n: Any) -> Any:
        return np.i0(beta * np.sqrt(np.maximum(1 - (2 * n / _length(M, sym) - 1) ** 2, 0))) / np.i0(beta)

    return _made("kaiser", M, shape, dtype, requires_grad, options)


def bartlett(M: int, *, sym: bool = True, dtype: Any = None, requires_grad: bool = False, **options: Any) -> Tensor:
    """The triangle 1 - |2n/(M - 1) - 1|.

    >>> import symgrad as sg
    >>> sg.signal.windows.bartlett(5)
    tensor([0.0000, 0.5000, 1.0000, 0.5000, 0.0000])
    """
    return _made("bartlett", M, lambda n: 1 - np.abs(2 * n / _length(M, sym) - 1), dtype, requires_grad, options)


def general_cosine(
    M: int, *, a: Iterable[float], sym: bool = True, dtype: Any = None, requires_grad: bool = False, **options: Any
) -> Tensor:
    """The sum of (-1)^k a_k cos(2πkn/(M - 1)).

    >>> import symgrad as sg
    >>> sg.signal.windows.general_cosine(5, a=[0.5, 0.5])
    tensor([0.0000, 0.5000, 1.0000, 0.5000, 0.0000])
    """
    return _cosine_sum("general_cosine", M, a, sym, dtype, requires_grad, options)


def _cosine_sum(
    name: str, M: int, a: Iterable[float], sym: bool, dtype: Any, requires_grad: bool, options: Any
) -> Tensor:
    if not isinstance(a, Iterable):
        raise ArgumentError("Coefficients must be a list/tuple")
    weights = list(a)
    if not weights:
        raise ArgumentError("Coefficients cannot be empty")

    def shape(n: Any) -> Any:
        angle = 2 * math.pi * n / _length(M, sym)
        return sum((-1) ** k * float(weight) * np.cos(k * angle) for k, weight in enumerate(weights))

    return _made(name, M, shape, dtype, requires_grad, options)


def general_hamming(
    M: int, *, alpha: float = 0.54, sym: bool = True, dtype: Any = None, requires_grad: bool = False, **options: Any
) -> Tensor:
    """α - (1 - α) cos(2πn/(M - 1)).

    >>> import symgrad as sg
    >>> sg.signal.windows.general_hamming(5, alpha=0.6)
    tensor([0.2000, 0.6000, 1.0000, 0.6000, 0.2000])
    """
    return general_cosine(M, a=[alpha, 1 - alpha], sym=sym, dtype=dtype, requires_grad=requires_grad, **options)


def _cosines(name: str, weights: list[float], doc: str) -> Callable[..., Tensor]:
    def window(M: int, *, sym: bool = True, dtype: Any = None, requires_grad: bool = False, **options: Any) -> Tensor:
        # torch checks what it is given under the name of the general window, but for this one.
        told = name if name == "blackman" else "general_cosine"
        return _cosine_sum(told, M, weights, sym, dtype, requires_grad, options)

    window.__name__ = window.__qualname__ = name
    window.__doc__ = doc
    illustrate(f"symgrad.signal.windows.{name}", window)
    return window


hann = _cosines("hann", [0.5, 0.5], "1/2 - cos(2πn/(M - 1))/2.")
hamming = _cosines("hamming", [0.54, 0.46], "The Hamming window, whose first side lobe is low.")
blackman = _cosines("blackman", [0.42, 0.5, 0.08], "The Blackman window, of three cosines.")
nuttall = _cosines("nuttall", [0.3635819, 0.4891775, 0.1365995, 0.0106411], "Nuttall's window, of four cosines.")

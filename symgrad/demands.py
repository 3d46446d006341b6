"""What programs demand of sizes and values while they run, by the names of torch's own functions for it.

>>> import symgrad as sg
>>> x = sg.ones(2, 3)
>>> sg._check(x.shape[0] == 2, lambda: f"two rows, not {x.shape[0]}")
>>> sg._check_index(x.shape[1] > 4, lambda: "more than four columns")
Traceback (most recent call last):
IndexError: more than four columns
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from symgrad.errors import ArgumentError
from symgrad.tensor import Tensor

__all__: list[str] = []

_UNTOLD = "Expected cond to be True, but got False. (Give a message, as in _check(n > 0, lambda: f'no rows: {n}').)"


def _check_with(error_type: type[Exception], cond: Any, message: Callable[[], Any] | None) -> None:
    """Raise ``error_type(message())`` unless ``cond``; ``ArgumentError`` for conditions that are no truth values."""
    if isinstance(cond, Tensor):
        raise ArgumentError(
            "cond must be a bool, but got a Tensor. For tensor conditions, use torch._check_tensor_all() to assert "
            "that all elements are true."
        )
    if not isinstance(cond, (bool, np.bool_)):
        raise ArgumentError(f"cond must be a bool, but got {type(cond)}")
    if cond:
        return
    if message is not None and not callable(message):
        raise ArgumentError("message must be a callable")
    raise error_type(_UNTOLD if message is None else str(message()))


def _checking(error_type: type[Exception]) -> Callable[..., None]:
    def check(cond: Any, message: Callable[[], Any] | None = None) -> None:
        _check_with(error_type, cond, message)

    check.__doc__ = f"Raise ``{error_type.__name__}`` with what ``message()`` says, unless ``cond``."
    return check


_check, _check_value = _checking(RuntimeError), _checking(ValueError)
_check_index, _check_type = _checking(IndexError), _checking(TypeError)
_check_not_implemented = _checking(NotImplementedError)


def _check_tensor_all(cond: Any, message: Callable[[], Any] | None = None) -> None:
    """Raise ``RuntimeError`` unless all entries of a tensor of truth values hold."""
    if not isinstance(cond, Tensor):
        raise ArgumentError(f"cond must be a tensor, but got {type(cond)}")
    if cond.dtype != np.bool_:
        raise ArgumentError(f"cond tensor must have dtype torch.bool, but got {cond.dtype}")
    entries: Any = cond
    _check(bool(entries.all()), message)


def _check_is_size(i: Any, message: Callable[[], Any] | None = None, *, max: int | None = None) -> None:
    """Raise ``RuntimeError`` unless a number is a size: not negative, and at most ``max``."""
    _check(bool(i >= 0), message)
    if max is not None:
        _check(bool(i <= max), message)


def _assert_async(condition: Any, message: str = "Expected a nonzero value") -> None:
    """As :func:`_assert`: there is no device that would answer later."""
    _assert(condition, message)


def _assert(condition: Any, message: str) -> None:
    """Python's ``assert`` as a function."""
    if not condition:
        raise AssertionError(message)

"""Functions of the array API standard that NumPy has by the same name and arguments: on tensors they are recorded."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from symgrad.tensor.creation import tensor


def as_tensors(result: Any) -> Any:
    """What a function of NumPy gave, with tensors in place of arrays and of NumPy's numbers."""
    if isinstance(result, tuple) and hasattr(result, "_fields"):
        return type(result)(*map(as_tensors, result))
    if isinstance(result, (tuple, list)):
        return type(result)(map(as_tensors, result))
    return tensor(result) if isinstance(result, (np.ndarray, np.generic, bool)) else result


def of_numpy(module: Any, names: Iterable[str]) -> dict[str, Callable[..., Any]]:
    """NumPy's functions by name; what they give are tensors."""
    return {name: _giving_tensors(getattr(module, name)) for name in names}


def _giving_tensors(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        return as_tensors(function(*args, **kwargs))

    call.__doc__ = f"``np.{function.__name__}`` of tensors, which is recorded."
    return call

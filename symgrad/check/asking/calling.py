"""Calling functions of other libraries: with arrays of their own kind, in double precision where they can."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from symgrad.check.asking.arrays import as_array
from symgrad.dtypes import finfo, is_floating
from symgrad.tape.record import Recorded


def is_torch(value: Any) -> bool:
    """Whether a value is a tensor of torch."""
    return hasattr(value, "detach") and hasattr(value, "cpu") and not isinstance(value, Recorded)


def is_jax(value: Any) -> bool:
    """Whether a value is an array of JAX."""
    return hasattr(value, "dtype") and type(value).__module__.partition(".")[0] in ("jax", "jaxlib")


def like(original: Any, array: Any) -> Any:
    """A copy of ``array`` as the library of ``original`` holds it; a NumPy array for other libraries."""
    if is_torch(original):
        return _asking(sys.modules["torch"].from_numpy(np.array(array)), original)
    if is_jax(original):
        return sys.modules["jax"].numpy.asarray(array)
    return np.array(array)[()]


def copied(value: Any) -> Any:
    """A copy of an argument as it was given, without history; a NumPy array where no other library's."""
    if is_torch(value):
        return _asking(value.detach().clone(), value)
    return value if is_jax(value) else np.array(as_array(value))[()]


def _asking(made: Any, original: Any) -> Any:
    """A new tensor of torch that asks for gradients where ``original`` does: its functions may call backward."""
    return made.requires_grad_() if original.requires_grad and made.is_floating_point() else made


def epsilon_of(value: Any) -> float:
    """The rounding unit of an array of any library; 0 where it is no floating-point array."""
    if is_torch(value):
        return float(sys.modules["torch"].finfo(value.dtype).eps) if value.is_floating_point() else 0.0
    dtype = as_array(value).dtype
    return float(finfo(dtype).eps) if is_floating(dtype) else 0.0


@contextmanager
def double_precision() -> Iterator[None]:
    """JAX computes in double precision inside, where it is loaded; it does not unless asked."""
    jax = sys.modules.get("jax")
    switch = getattr(jax, "enable_x64", getattr(getattr(jax, "experimental", None), "enable_x64", None))
    if switch is None:
        yield
        return
    with switch(True):
        yield

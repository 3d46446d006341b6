"""Constructors of old PyTorch code: ``FloatTensor([1.0])``, ``DoubleTensor(2, 3)``, ``set_default_tensor_type``."""

from __future__ import annotations

import functools
import warnings
from typing import Any

from symgrad.dtype_objects import shown
from symgrad.dtypes import TYPE_NAMES, from_type_name, is_real_floating, set_default_dtype
from symgrad.errors import DtypeError
from symgrad.tensor import Tensor
from symgrad.tensor.creation import legacy

__all__ = ["set_default_tensor_type"]


class _TensorType(type):
    """The class of ``FloatTensor`` and its kin: calling one makes a tensor; instances are those of its dtype."""

    dtype: Any

    def __call__(cls, *data: Any) -> Any:
        return legacy(data, cls.dtype)

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, Tensor) and instance.dtype == cls.dtype


@functools.cache
def constructor(name: str) -> type:
    """``FloatTensor`` and its kin: data, or the sizes of a tensor of zeros, in the dtype of the name."""
    dtype = from_type_name(name)
    doc = (
        f"``{name}([1, 2])``: data as {dtype}; ``{name}(2, 3)``: that shape, filled with zeros.\n\n"
        f">>> import symgrad as sg\n>>> sg.{name}(2).dtype\n{dtype!r}"
    )
    return _TensorType(name, (), {"__doc__": doc, "__module__": "symgrad", "dtype": shown(dtype)})


NAMES = tuple(f"{old}Tensor" for old in TYPE_NAMES.values() if not old.startswith("UInt"))  # which came later


def set_default_tensor_type(t: Any) -> None:
    """The old way to say ``set_default_dtype``: ``set_default_tensor_type("torch.DoubleTensor")``.  It warns of that.

    Raises ``DtypeError`` unless the type is a floating one.
    """
    warnings.warn(
        "torch.set_default_tensor_type() is deprecated as of PyTorch 2.1, please use torch.set_default_dtype() and "
        "torch.set_default_device() as alternatives.",
        UserWarning,
        stacklevel=2,
    )
    dtype = from_type_name(t)
    if not is_real_floating(dtype):
        raise DtypeError(f"only floating-point types are supported as the default type, not {t!r}.")
    set_default_dtype(dtype)

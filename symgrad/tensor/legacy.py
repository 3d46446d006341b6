"""Constructors of old PyTorch code: ``FloatTensor([1.0])``, ``DoubleTensor(2, 3)``, ``set_default_tensor_type``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from symgrad.dtypes import TYPE_NAMES, from_type_name, is_real_floating, set_default_dtype
from symgrad.errors import DtypeError
from symgrad.tensor import Tensor

__all__ = ["set_default_tensor_type"]


def constructor(name: str) -> Callable[..., Any]:
    """``FloatTensor`` and its kin: data, or the sizes of a tensor of zeros, in the dtype of the name."""
    dtype = from_type_name(name)

    def make(*data: Any) -> Any:
        return Tensor(*data).to(dtype)

    make.__name__ = make.__qualname__ = name
    make.__doc__ = f"``{name}([1, 2])``: data as {dtype}; ``{name}(2, 3)``: that shape, filled with zeros."
    return make


NAMES = tuple(f"{old}Tensor" for old in TYPE_NAMES.values())


def set_default_tensor_type(t: Any) -> None:
    """The old way to say ``set_default_dtype``: ``set_default_tensor_type("torch.DoubleTensor")``.

    Raises ``DtypeError`` unless the type is a floating one.
    """
    dtype = from_type_name(t)
    if not is_real_floating(dtype):
        raise DtypeError(f"only floating-point types are supported as the default type, not {t!r}.")
    set_default_dtype(dtype)

"""Names of types that annotations of code for torch are made of."""

from __future__ import annotations

import builtins
import os
from collections.abc import Sequence
from typing import IO, Any, TypeAlias

from symgrad.devices import device
from symgrad.dtype_objects import dtype
from symgrad.tensor import Tensor

__all__ = ["Device", "FileLike", "Number", "Storage"]

Number: TypeAlias = int | float | bool
Device: TypeAlias = device | str | int | None
FileLike: TypeAlias = str | os.PathLike[str] | IO[bytes]
Storage: TypeAlias = Any
_TensorOrTensors = Tensor | Sequence[Tensor]
_dtype, _device = dtype, device
_size = list[int] | tuple[int, ...]
_int, _float, _bool, _complex = builtins.int, builtins.float, builtins.bool, builtins.complex

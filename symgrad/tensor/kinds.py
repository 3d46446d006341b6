"""What arguments may be, for annotations: nothing of this is loaded when the library runs."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from types import EllipsisType
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from symgrad.devices import device, layout, memory_format
from symgrad.dtype_objects import dtype
from symgrad.kernels.randomness.streams import Generator
from symgrad.tensor.tensor import Tensor

Array: TypeAlias = np.ndarray[Any, Any]
Operand: TypeAlias = Tensor | Array | np.generic | complex | Fraction
"""What flows through ops beside tensors, and is a tensor there."""
Number: TypeAlias = Tensor | np.number[Any] | complex
Ints: TypeAlias = Sequence[int]
DType: TypeAlias = dtype | npt.DTypeLike
Device: TypeAlias = device | str | int
Layout: TypeAlias = layout
Format: TypeAlias = memory_format
Random: TypeAlias = Generator
Index: TypeAlias = int | slice | EllipsisType | Tensor | Array | np.generic | list[Any] | tuple[Any, ...] | None
"""What stands in the brackets of ``x[...]``."""

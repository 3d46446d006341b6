"""Text of tensors, as torch prints them."""

from __future__ import annotations

from typing import Any

import numpy as np


def tensor_text(t: Any) -> str:
    """``repr`` of a tensor."""
    return f"tensor({np.array2string(np.asarray(t._value), separator=', ', precision=4)})"

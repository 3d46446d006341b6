"""How results lie in memory: as torch's do, which strides and later sums show."""

from __future__ import annotations

from typing import Any

import numpy as np


def laid_out(layout: str | None, out: Any) -> Any:
    """A result in torch's layout in memory, which is row by row where an op's entry does not say otherwise."""
    if layout == "columns":
        return np.ascontiguousarray(out.swapaxes(-1, -2)).swapaxes(-1, -2)
    return out if layout == "kept" or out.flags.c_contiguous else np.ascontiguousarray(out)

"""How results lie in memory: as torch's do, which strides and later sums show."""

from __future__ import annotations

from typing import Any

import numpy as np

from symgrad.op import Op

_BY_COLUMNS = ("inv", "solve", "cholesky")
"""Ops whose results LAPACK leaves column by column, and torch with it."""


def laid_out(op: Op, out: Any) -> Any:
    """A result in torch's layout in memory: row by row, but what comes from LAPACK."""
    if op.name in _BY_COLUMNS:
        return np.ascontiguousarray(out.swapaxes(-1, -2)).swapaxes(-1, -2)
    return out if op.name in _AS_IT_IS or out.flags.c_contiguous else np.ascontiguousarray(out)


_AS_IT_IS = ("flip", "detach", "abs", "angle", "sgn", "cast", "where", "bessel_i", "bessel_ie", "bessel_j", "polygamma")
"""Ops whose results have the layout of what they were made of."""

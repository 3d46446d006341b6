"""What the last digits of torch's results depend on besides torch: the processor that its libraries look at."""

from __future__ import annotations

import functools

import numpy as np


@functools.cache
def fuses_elimination() -> bool:
    """Whether the LAPACK of torch multiplies and subtracts with one rounding: on some processors it does.

    Ours rounds both, as torch's does elsewhere; determinants then differ by the rounding errors of elimination.
    """
    import torch

    pivots, sides, ends = np.random.default_rng(0).random((3, 50)) + np.array([[1.0], [0.0], [0.0]])
    found = [
        torch.linalg.det(torch.tensor([[a, b], [b, d]], dtype=torch.float64)).item()
        for a, b, d in zip(pivots, sides, ends, strict=True)
    ]
    return found != (pivots * (ends - sides / pivots * sides)).tolist()

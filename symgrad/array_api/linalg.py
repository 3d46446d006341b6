"""The extension ``linalg`` of the array API standard, on tensors.

>>> import symgrad as sg
>>> vector_norm(sg.tensor([3.0, 4.0]))
tensor(5.)
"""

from __future__ import annotations

import numpy as np

from symgrad.array_api.numpy_names import of_numpy

_NAMES = (
    "cholesky", "cross", "det", "diagonal", "eigh", "eigvalsh", "inv", "matmul", "matrix_norm", "matrix_power",
    "matrix_rank", "matrix_transpose", "outer", "pinv", "qr", "slogdet", "solve", "svd", "svdvals", "tensordot",
    "trace", "vecdot", "vector_norm",
)  # fmt: skip
globals().update(of_numpy(np.linalg, _NAMES))
__all__ = list(_NAMES)

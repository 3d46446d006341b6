"""What code for torch asks about how it was built: this library is Python on NumPy."""

from __future__ import annotations

import numpy as np


def show() -> str:
    """What torch would be built with, as far as it is told.

    >>> import symgrad as sg
    >>> "USE_CUDA=OFF" in sg.__config__.show()
    True
    """
    return f"symgrad on NumPy {np.__version__}: USE_CUDA=OFF, USE_MKL=OFF, USE_MPI=OFF"


def parallel_info() -> str:
    """How operations run at once: those of NumPy's libraries do.

    >>> import symgrad as sg
    >>> print(sg.__config__.parallel_info())
    As many threads as the libraries take that NumPy calls
    """
    return "As many threads as the libraries take that NumPy calls"

"""The extension ``fft`` of the array API standard, on tensors.

>>> import symgrad as sg
>>> fftshift(sg.tensor([1.0, 2.0, 3.0]))
tensor([3., 1., 2.])
"""

from __future__ import annotations

import numpy as np

from symgrad.array_api.numpy_names import of_numpy

_NAMES = (
    "fft", "fftfreq", "fftn", "fftshift", "hfft", "ifft", "ifftn", "ifftshift", "ihfft", "irfft", "irfftn", "rfft",
    "rfftfreq", "rfftn",
)  # fmt: skip
globals().update(of_numpy(np.fft, _NAMES))
__all__ = list(_NAMES)

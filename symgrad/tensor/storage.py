"""The memory of a tensor, as ``untyped_storage`` and ``storage`` show it."""

from __future__ import annotations

import numpy as np


class Storage(np.ndarray):
    """An array that says, as torch's storages do, where it lies."""

    def data_ptr(self) -> int:
        """Address of the first entry: equal for tensors that share memory."""
        return int(self.ctypes.data)

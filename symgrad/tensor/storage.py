"""The memory of a tensor, as ``untyped_storage`` and ``storage`` show it."""

from __future__ import annotations

import numpy as np

# A backward pass frees what it made.  The C library hands large blocks back to the system and asks for them again in
# the next pass, page by page, which takes longer than the arithmetic of arrays of 10⁴ to 10⁶ entries.  What is large
# is, in glibc, larger than any block below 32 MiB that was freed before; this one is never written to.
np.empty((1 << 25) - (1 << 16), np.uint8)


class Storage(np.ndarray):
    """An array that says, as torch's storages do, where it lies."""

    def data_ptr(self) -> int:
        """Address of the first entry: equal for tensors that share memory."""
        return int(self.ctypes.data)

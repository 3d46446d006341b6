"""The memory of a tensor, as ``untyped_storage`` and ``storage`` show it."""

from __future__ import annotations

from typing import Any

import numpy as np

from symgrad.devices import CPU
from symgrad.tape.formulas.sizes import Size, as_number


class Storage(np.ndarray):
    """An array in a row that says, as torch's storages do, where it lies and how large it is."""

    device = CPU  # type: ignore[assignment]
    is_cuda = False
    sizes: tuple[int, ...] = ()
    """Those of the tensors whose memory this is; what is counted holds for these."""

    def __array_finalize__(self, other: Any) -> None:
        self.sizes = getattr(other, "sizes", ())

    def data_ptr(self) -> int:
        """Address of the first entry: equal for tensors that share memory."""
        return int(self.ctypes.data)

    def __len__(self) -> int:
        for n in self.sizes:
            as_number(Size(n))
        return super().__len__()

    def size(self) -> int:  # type: ignore[override]
        """How many entries there are; bytes, where the storage is untyped."""
        return len(self)

    def nbytes(self) -> int:  # type: ignore[override]
        """How many bytes there are."""
        return len(self) * self.itemsize

    def element_size(self) -> int:
        """Bytes of an entry."""
        return self.itemsize

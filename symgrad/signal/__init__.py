"""Signal processing under the names of ``torch.signal``: windows."""

from symgrad.signal import windows

__all__ = ["windows"]

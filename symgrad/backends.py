"""Settings of libraries that torch computes with: scripts set them before they start; here they change nothing.

>>> import symgrad as sg
>>> sg.backends.cudnn.deterministic = True
>>> sg.backends.cudnn.is_available()
False
"""

from __future__ import annotations

from types import SimpleNamespace

__all__ = ["cuda", "cudnn", "mkl", "mkldnn", "mps", "openmp"]


def _absent() -> bool:
    """Whether the library computes here: no, NumPy does."""
    return False


cudnn = SimpleNamespace(
    is_available=_absent, enabled=True, benchmark=False, deterministic=False, benchmark_limit=10, allow_tf32=True
)
cuda = SimpleNamespace(
    is_built=_absent, matmul=SimpleNamespace(allow_tf32=False, allow_fp16_reduced_precision_reduction=True)
)
mkl, mkldnn, openmp = (SimpleNamespace(is_available=_absent) for _ in range(3))
mps = SimpleNamespace(is_available=_absent, is_built=_absent)

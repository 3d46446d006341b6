"""Settings of libraries that torch computes with: scripts set them before they start; here they change nothing.

>>> import symgrad as sg
>>> sg.backends.cudnn.deterministic = True
>>> sg.backends.cudnn.is_available()
False
>>> sg.accelerator.current_accelerator().type if sg.accelerator.is_available() else "cpu"
'cpu'
"""

from __future__ import annotations

from types import SimpleNamespace

from symgrad.errors import DeviceError

__all__ = ["accelerator", "cuda", "cudnn", "mkl", "mkldnn", "mps", "openmp", "xpu"]


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


def _none() -> int:
    """How many devices of a kind there are."""
    return 0


def _nothing(*_: object, **__: object) -> None:
    """What is done to a device that is not there."""


def _refused(*_: object) -> None:
    """What only a device that is there can tell."""
    raise DeviceError("Cannot access accelerator device when none is available.")


mps = SimpleNamespace(
    is_available=_absent, is_built=_absent, device_count=_none, empty_cache=_nothing, manual_seed=_nothing
)
xpu = SimpleNamespace(
    is_available=_absent, device_count=_none, empty_cache=_nothing, manual_seed=_nothing, manual_seed_all=_nothing
)
accelerator = SimpleNamespace(
    is_available=_absent,
    device_count=_none,
    current_accelerator=_nothing,
    empty_cache=_nothing,
    synchronize=_refused,
    memory_allocated=_refused,
    max_memory_allocated=_refused,
)

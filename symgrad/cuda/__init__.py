"""What code asks before it moves to a GPU; there is none."""

from __future__ import annotations

from typing import Any

from symgrad.cuda import amp, nvtx
from symgrad.errors import DeviceError, OutOfMemoryError

__all__ = [
    "OutOfMemoryError", "amp", "current_device", "device_count", "empty_cache", "is_available", "is_bf16_supported",
    "is_initialized", "manual_seed", "manual_seed_all", "max_memory_allocated", "max_memory_reserved",
    "memory_allocated", "memory_reserved", "nvtx",
]  # fmt: skip


def is_available() -> bool:
    """Whether there is a GPU: no.

    >>> import symgrad as sg
    >>> "cuda" if sg.cuda.is_available() else "cpu"
    'cpu'
    """
    return False


def device_count() -> int:
    """The number of GPUs: none.

    >>> import symgrad as sg
    >>> sg.cuda.device_count()
    0
    """
    return 0


def current_device() -> int:
    """The number of the GPU in use.  Raises ``DeviceError``, since there is none."""
    raise DeviceError("there is no GPU here: symgrad computes with NumPy, on the CPU.")


def manual_seed(seed: int) -> None:
    """Seed the GPU's random numbers; without one nothing happens, as in torch.

    >>> import symgrad as sg
    >>> sg.cuda.manual_seed(0)
    """


def manual_seed_all(seed: int) -> None:
    """Seed the random numbers of all GPUs; without any nothing happens, as in torch.

    >>> import symgrad as sg
    >>> sg.cuda.manual_seed_all(0)
    """


def empty_cache() -> None:
    """Give unused memory of the GPU back; without one nothing happens, as in torch.

    >>> import symgrad as sg
    >>> sg.cuda.empty_cache()
    """


def memory_allocated(device: object = None) -> int:  # noqa: ARG001
    """The bytes that tensors take on the GPU: 0, as in torch without one.

    >>> import symgrad as sg
    >>> sg.cuda.memory_allocated()
    0
    """
    return 0


def max_memory_allocated(device: object = None) -> int:  # noqa: ARG001
    """The most bytes that tensors have taken on the GPU: 0, as in torch without one.

    >>> import symgrad as sg
    >>> sg.cuda.max_memory_allocated()
    0
    """
    return 0


def memory_reserved(device: object = None) -> int:  # noqa: ARG001
    """The bytes that are kept for tensors on the GPU: 0, as in torch without one.

    >>> import symgrad as sg
    >>> sg.cuda.memory_reserved()
    0
    """
    return 0


def max_memory_reserved(device: object = None) -> int:  # noqa: ARG001
    """The most bytes that were kept for tensors on the GPU: 0, as in torch without one.

    >>> import symgrad as sg
    >>> sg.cuda.max_memory_reserved()
    0
    """
    return 0


def is_bf16_supported(including_emulation: bool = True) -> bool:  # noqa: ARG001
    """Whether the GPU computes in bfloat16: no, as there is none.

    >>> import symgrad as sg
    >>> sg.cuda.is_bf16_supported()
    False
    """
    return False


def is_initialized() -> bool:
    """Whether the GPU was used: no.

    >>> import symgrad as sg
    >>> sg.cuda.is_initialized()
    False
    """
    return False


def _refusing(name: str) -> Any:
    """A function, or a class, that only programs with a GPU call."""

    def refuse(*_: object, **__: object) -> Any:
        raise DeviceError(f"cuda.{name}(): there is no GPU here: symgrad computes with NumPy, on the CPU.")

    refuse.__name__ = refuse.__qualname__ = name
    return refuse


_WITH_A_GPU = (
    "Event", "ExternalStream", "Stream", "current_stream", "default_stream", "get_device_capability",
    "get_device_name", "get_device_properties", "get_rng_state", "ipc_collect", "mem_get_info", "memory_summary",
    "reset_peak_memory_stats", "set_device", "set_rng_state", "stream", "synchronize",
)  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in _WITH_A_GPU:
        return _refusing(name)
    raise AttributeError(f"module 'symgrad.cuda' has no attribute {name!r}: there is no GPU here.")

"""What code asks before it talks to other processes; there is no group of them."""

from __future__ import annotations

from typing import Any

from symgrad.absent import AbsentRoom


def is_available() -> bool:
    """Whether there are groups of processes: no.

    >>> import symgrad as sg
    >>> sg.distributed.is_available() and sg.distributed.is_initialized()
    False
    """
    return False


def is_initialized() -> bool:
    """Whether this process is in a group: no."""
    return False


is_torchelastic_launched = is_nccl_available = is_gloo_available = is_mpi_available = is_initialized


_REST: Any = AbsentRoom(
    "torch.distributed",
    "is not here: there are no groups of processes, and distributed.is_available() is False. parallel.grad takes the "
    "gradients of a batch by several processes.",
)


def __getattr__(name: str) -> Any:
    return getattr(_REST, name)

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


_NAMES = (
    "_composable _functional_collectives _shard _symmetric_memory _tensor _tools algorithms all_gather "
    "all_gather_coalesced all_gather_into_tensor all_gather_object all_reduce all_reduce_coalesced all_to_all "
    "all_to_all_single autograd barrier batch_isend_irecv broadcast broadcast_object_list checkpoint constants "
    "destroy_process_group device_mesh distributed_c10d elastic fsdp gather gather_object get_backend get_rank "
    "get_world_size group init_device_mesh init_process_group irecv isend launcher logging_handlers monitored_barrier "
    "new_group nn optim pipelining recv recv_object_list reduce reduce_op reduce_scatter reduce_scatter_tensor "
    "remote_device rendezvous rpc run scatter scatter_object_list send send_object_list tensor utils"
)
"""Functions and modules of torch's; its classes have names in capitals, and its questions begin with is_."""


def __getattr__(name: str) -> Any:
    if name in _NAMES.split() or name[0].isupper() or name.startswith("is_"):
        return getattr(_REST, name)
    raise AttributeError(f"module 'symgrad.distributed' has no attribute {name!r}")

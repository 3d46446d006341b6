"""Modules in several places at once, of which there is one here: ``nn.DataParallel`` is the module that it wraps."""

from __future__ import annotations

from typing import Any

from symgrad.devices import on_cpu
from symgrad.errors import DeviceError
from symgrad.nn.modules.module import Module

__all__ = ["DataParallel", "DistributedDataParallel"]


class DataParallel(Module):
    """A module, ``self.module``, that is called as it is, as with torch where there is no GPU.

    Names of its state begin with ``module.``.  Raises ``DeviceError`` for devices that are told.

    >>> import symgrad as sg
    >>> net = sg.nn.DataParallel(sg.nn.Linear(2, 1))
    >>> list(net.state_dict()), net(sg.ones(3, 2)).shape
    (['module.weight', 'module.bias'], torch.Size([3, 1]))
    """

    def __init__(self, module: Module, device_ids: Any = None, output_device: Any = None, dim: int = 0):
        super().__init__()
        for place in device_ids or ():
            on_cpu(f"cuda:{place}" if isinstance(place, int) else place)
        self.module, self.dim, self.output_device = module, dim, output_device
        self.device_ids: list[int] = []

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """What the module gives."""
        return self.module(*inputs, **kwargs)


class DistributedDataParallel(Module):
    """Refused: there is one process; :func:`symgrad.parallel.grad` takes the gradients of a batch by several."""

    def __init__(self, module: Module, *_: Any, **__: Any):
        super().__init__()
        raise DeviceError(
            f"DistributedDataParallel({type(module).__name__}): there is no process group here, and "
            "distributed.is_initialized() is False. parallel.grad takes the gradients of a batch by several processes."
        )

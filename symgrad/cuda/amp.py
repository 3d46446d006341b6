"""torch.cuda.amp, the former place of torch.amp for GPUs: what is there does nothing without one, as in torch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from symgrad import amp
from symgrad.notices import notice

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd"]


def _former(name: str, given: str = "'cuda', args...") -> None:
    notice(
        f"`torch.cuda.amp.{name}(args...)` is deprecated. Please use `torch.amp.{name}({given})` instead.",
        FutureWarning,
    )


class GradScaler(amp.GradScaler):
    """:class:`symgrad.amp.GradScaler` for a GPU, which without one lets losses and steps pass, with torch's warnings.

    >>> import symgrad as sg
    >>> loss = sg.tensor(2.0)
    >>> sg.cuda.amp.GradScaler(enabled=False).scale(loss) is loss
    True
    """

    def __init__(
        self,
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ):
        _former("GradScaler")
        super().__init__("cuda", init_scale, growth_factor, backoff_factor, growth_interval, enabled)


class autocast(amp.autocast):  # noqa: N801  (torch's name)
    """:class:`symgrad.autocast` for a GPU, which without one does nothing, with torch's warnings.

    >>> import symgrad as sg
    >>> with sg.cuda.amp.autocast(enabled=False):
    ...     (sg.ones(2, 2) @ sg.ones(2)).dtype
    dtype('float32')
    """

    def __init__(self, enabled: bool = True, dtype: Any = None, cache_enabled: bool = True):
        _former("autocast")
        super().__init__("cuda", dtype, enabled, cache_enabled)


def custom_fwd(fwd: Callable[..., Any] | None = None, *, cast_inputs: Any = None) -> Any:
    """:func:`symgrad.amp.custom_fwd` for a GPU, with torch's warning.

    >>> import symgrad as sg
    >>> sg.cuda.amp.custom_fwd(abs)(-1)
    1
    """
    _former("custom_fwd", "args..., device_type='cuda'")
    return amp.custom_fwd(fwd, device_type="cuda", cast_inputs=cast_inputs)


def custom_bwd(bwd: Callable[..., Any]) -> Any:
    """:func:`symgrad.amp.custom_bwd` for a GPU, with torch's warning.

    >>> import symgrad as sg
    >>> sg.cuda.amp.custom_bwd(abs)(-1)
    1
    """
    _former("custom_bwd", "args..., device_type='cuda'")
    return amp.custom_bwd(bwd, device_type="cuda")

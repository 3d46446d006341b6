"""torch.amp for code that asks for it: products are never computed in half precision of themselves here.

``custom_fwd`` and ``custom_bwd`` mark the methods of an ``autograd.Function`` that shall run alike under ``autocast``.
Outside of it they do nothing in torch either, so that such functions are the same here.  ``GradScaler`` scales losses
whose gradients would be too small for half precision, for whoever computes in it.
"""

from __future__ import annotations

import functools
import math
import warnings
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from symgrad.errors import ArgumentError, ScalingError
from symgrad.switches import autocast
from symgrad.tape.modes import no_grad

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd", "is_autocast_available"]


def custom_fwd(fwd: Callable[..., Any] | None = None, *, device_type: str, cast_inputs: Any = None) -> Any:
    """The ``forward`` of a custom function as it is; ``cast_inputs`` has no effect outside of ``autocast``.

    Raises ``ValueError`` for a device type that is no string.

    >>> import symgrad as sg
    >>> class Double(sg.autograd.Function):
    ...     @staticmethod
    ...     @sg.amp.custom_fwd(device_type="cpu")
    ...     def forward(ctx, x):
    ...         return 2 * x
    ...     @staticmethod
    ...     @sg.amp.custom_bwd(device_type="cpu")
    ...     def backward(ctx, g):
    ...         return 2 * g
    >>> x = sg.tensor([1.0], requires_grad=True)
    >>> Double.apply(x).backward()
    >>> x.grad
    tensor([2.])
    """
    _check(device_type)
    return functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs) if fwd is None else fwd


def custom_bwd(bwd: Callable[..., Any] | None = None, *, device_type: str) -> Any:
    """The ``backward`` of a custom function as it is; see :func:`custom_fwd`.

    Raises ``ValueError`` for a device type that is no string.

    >>> import symgrad as sg
    >>> sg.amp.custom_bwd(abs, device_type="cpu")(-1)
    1
    """
    _check(device_type)
    return functools.partial(custom_bwd, device_type=device_type) if bwd is None else bwd


def _check(device_type: Any) -> None:
    if not isinstance(device_type, str):
        raise ArgumentError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")


_NOT_SCALED = (
    "Attempted {} but _scale is None.  This may indicate your script did not use scaler.scale(loss or outputs) earlier "
    "in the iteration."
)
_READY, _UNSCALED, _STEPPED = "ready", "unscaled", "stepped"


def _single(value: Any) -> float:
    """A factor as torch keeps it, in single precision."""
    with np.errstate(over="ignore"):
        return float(np.float32(float(value)))


class GradScaler:
    """A factor for losses, so that small gradients are numbers in half precision: halved when they overflow.

    An optimiser is anything with ``param_groups`` (dicts with ``"params"``) and ``step()``, which runs where all
    gradients are finite.  After ``growth_interval`` steps without overflow the factor grows.  ``enabled=False`` lets
    everything pass as it is, and so does ``device="cuda"``, with a warning.  Raises torch's errors for calls in another
    order than ``scale``, ``backward``, ``unscale_`` (if at all), ``step``, ``update``.

    >>> import symgrad as sg
    >>> x = sg.tensor([1.0, 2.0], requires_grad=True)
    >>> class Descent:
    ...     param_groups = [{"params": [x]}]
    ...     def step(self):
    ...         with sg.no_grad():
    ...             x.sub_(0.25 * x.grad)
    >>> scaler, descent = sg.amp.GradScaler("cpu"), Descent()
    >>> scaler.scale((x * x).sum()).backward()
    >>> scaler.step(descent)
    >>> scaler.update()
    >>> x, scaler.get_scale()
    (tensor([0.5000, 1.0000], requires_grad=True), 65536.0)
    """

    def __init__(
        self,
        device: str = "cuda",
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ):
        if enabled and device == "cuda":
            warnings.warn(
                "torch.cuda.amp.GradScaler is enabled, but CUDA is not available.  Disabling.",
                UserWarning,
                stacklevel=2,
            )
        self._enabled = enabled and device != "cuda"
        if self._enabled and growth_factor <= 1:
            raise ScalingError("The growth factor must be > 1.0.")
        if self._enabled and backoff_factor >= 1:
            raise ScalingError("The backoff factor must be < 1.0.")
        self._scale = float(init_scale)
        self._growth_factor = growth_factor
        self._backoff_factor = backoff_factor
        self._growth_interval = growth_interval
        self._steps = 0
        self._used = False
        self._stages: dict[int, str] = {}
        self._overflows: dict[int, bool] = {}

    def scale(self, outputs: Any) -> Any:
        """A loss, or tensors in lists and tuples, times the factor."""
        if not self._enabled:
            return outputs
        if hasattr(outputs, "requires_grad"):
            self._used, self._scale = True, _single(self._scale)
            return outputs * self._scale
        if not isinstance(outputs, Iterable):
            raise ArgumentError("outputs must be a Tensor or an iterable of Tensors")
        scaled = map(self.scale, outputs)
        return type(outputs)(scaled) if isinstance(outputs, (list, tuple)) else scaled

    def unscale_(self, optimizer: Any) -> None:
        """Divide the gradients of an optimiser's parameters by the factor, in place, to clip them before the step."""
        if not self._enabled:
            return
        self._check_used("unscale_")
        stage = self._stages.get(id(optimizer), _READY)
        if stage == _UNSCALED:
            raise ScalingError("unscale_() has already been called on this optimizer since the last update().")
        if stage == _STEPPED:
            raise ScalingError("unscale_() is being called after step().")
        grads = [p.grad for group in optimizer.param_groups for p in group["params"] if p.grad is not None]
        if any(g.dtype == np.float16 for g in grads):
            raise ArgumentError("Attempting to unscale FP16 gradients.")
        if grads:
            self._overflows[id(optimizer)] = not all(bool(g.isfinite().all()) for g in grads)
        with no_grad():
            for g in grads:
                g.mul_(_single(1 / self._scale))
        self._stages[id(optimizer)] = _UNSCALED

    def step(self, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        """``optimizer.step(*args, **kwargs)`` with gradients that are not scaled; None, and no step, on overflow."""
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs:
            raise ScalingError("Closure use is not currently supported if GradScaler is enabled.")
        self._check_used("step")
        if self._stages.get(id(optimizer)) == _STEPPED:
            raise ScalingError("step() has already been called since the last update().")
        if self._stages.get(id(optimizer)) != _UNSCALED:
            self.unscale_(optimizer)
        if id(optimizer) not in self._overflows:
            raise ScalingError("No inf checks were recorded for this optimizer.")
        made = None if self._overflows[id(optimizer)] else optimizer.step(*args, **kwargs)
        self._stages[id(optimizer)] = _STEPPED
        return made

    def update(self, new_scale: Any = None) -> None:
        """The factor for the next iteration: smaller after an overflow, larger after many steps, or ``new_scale``."""
        if not self._enabled:
            return
        self._check_used("update")
        if new_scale is not None:
            self._scale = _single(new_scale)
        elif not self._overflows:
            raise ScalingError("No inf checks were recorded prior to update.")
        elif any(self._overflows.values()):
            self._scale, self._steps = _single(self._scale * self._backoff_factor), 0
        elif self._steps + 1 < self._growth_interval:
            self._steps += 1
        else:
            grown = _single(self._scale * self._growth_factor)
            self._scale, self._steps = grown if math.isfinite(grown) else self._scale, 0
        self._stages, self._overflows = {}, {}

    def get_scale(self) -> float:
        """The factor; 1 where it is not enabled."""
        return self._scale if self._enabled else 1.0

    def get_growth_factor(self) -> float:
        """By what the factor grows."""
        return self._growth_factor

    def set_growth_factor(self, new_factor: float) -> None:
        """Let the factor grow by another one."""
        self._growth_factor = new_factor

    def get_backoff_factor(self) -> float:
        """By what the factor is multiplied after an overflow."""
        return self._backoff_factor

    def set_backoff_factor(self, new_factor: float) -> None:
        """Multiply by another one after an overflow."""
        self._backoff_factor = new_factor

    def get_growth_interval(self) -> int:
        """After how many steps without overflow the factor grows."""
        return self._growth_interval

    def set_growth_interval(self, new_interval: int) -> None:
        """Let the factor grow after another number of steps."""
        self._growth_interval = new_interval

    def is_enabled(self) -> bool:
        """Whether losses are scaled."""
        return self._enabled

    def state_dict(self) -> dict[str, Any]:
        """What :meth:`load_state_dict` takes; empty where it is not enabled."""
        if not self._enabled:
            return {}
        return {
            "scale": self._scale,
            "growth_factor": self._growth_factor,
            "backoff_factor": self._backoff_factor,
            "growth_interval": self._growth_interval,
            "_growth_tracker": self._steps,
        }

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on where another one was."""
        if not self._enabled:
            return
        if not state_dict:
            raise ScalingError(
                "The source state dict is empty, possibly because it was saved from a disabled instance of GradScaler."
            )
        self._scale = _single(state_dict["scale"]) if self._used else state_dict["scale"]
        self._growth_factor = state_dict["growth_factor"]
        self._backoff_factor, self._growth_interval = state_dict["backoff_factor"], state_dict["growth_interval"]
        self._steps = state_dict["_growth_tracker"]

    def _check_used(self, name: str) -> None:
        if not self._used:
            raise ScalingError(_NOT_SCALED.format(name))


def is_autocast_available(device_type: str) -> bool:
    """Whether products could be computed in half precision of themselves on a kind of device: on none.

    >>> import symgrad as sg
    >>> sg.amp.is_autocast_available("cpu")
    False
    """
    del device_type
    return False

"""The legacy name ``Variable``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from symgrad.errors import AutogradError
from symgrad.tape.observers import RUNNING
from symgrad.tensor import Tensor
from symgrad.tensor.creation import variable


class _AnyTensor(type):
    # Old code asks isinstance(x, Variable) of tensors that nobody wrapped; only a metaclass can answer that.
    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, Tensor)


class _Engine:
    """What torch calls its execution engine: callbacks at the end of a backward pass."""

    @staticmethod
    def queue_callback(callback: Callable[[], Any]) -> None:
        """Call ``callback()`` once the backward pass under way has ended; hooks and custom functions use it."""
        if not RUNNING.sweeps:
            raise AutogradError("Final callbacks can only be installed during backward pass.")
        RUNNING.sweeps[-1].callbacks.append(callback)


class Variable(metaclass=_AnyTensor):
    """``Variable(data, requires_grad=False)`` gives a tensor that shares the memory of ``data``.

    ``volatile`` has no effect and warns, as in torch.

    >>> import symgrad as sg
    >>> x = sg.Variable(sg.tensor([1.0]), requires_grad=True)
    >>> x, isinstance(x, sg.Variable)
    (tensor([1.], requires_grad=True), True)
    """

    _execution_engine = _Engine()

    def __new__(cls, data: Any = (), requires_grad: bool = False, volatile: Any = None) -> Any:
        """A tensor: there are no variables any more."""
        return variable(data, requires_grad, volatile)

"""The legacy name ``Variable``."""

from __future__ import annotations

from typing import Any

from symgrad.creation import variable
from symgrad.tensor import Tensor


class _AnyTensor(type):
    # Old code asks isinstance(x, Variable) of tensors that nobody wrapped; only a metaclass can answer that.
    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, Tensor)


class Variable(metaclass=_AnyTensor):
    """``Variable(data, requires_grad=False)`` gives a tensor that shares the memory of ``data``.

    ``volatile`` has no effect and warns, as in torch.

    >>> import symgrad as sg
    >>> x = Variable(sg.tensor([1.0]), requires_grad=True)
    >>> x, isinstance(x, Variable)
    (tensor([1.], requires_grad=True), True)
    """

    def __new__(cls, data: Any = (), requires_grad: bool = False, volatile: Any = None) -> Any:
        """A tensor: there are no variables any more."""
        return variable(data, requires_grad, volatile)

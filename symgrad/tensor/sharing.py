"""Tensors that are given other memory, or are shown as of another class."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from symgrad import dtypes
from symgrad.errors import ArgumentError, AutogradError, SymgradWarning
from symgrad.notices import notice
from symgrad.tape.graph import Labelled
from symgrad.tape.memory.inplace import refuse
from symgrad.tape.memory.views import by_the_mode, count_change, take_place
from symgrad.tape.modes import MODE, no_grad
from symgrad.tape.overriding import disabled
from symgrad.tape.record import Recorded, plain
from symgrad.tensor.facts import with_gradient


class Sharing(Recorded):
    """The part of a tensor that shares memory with others."""

    __slots__ = ()

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "__torch_dispatch__" in vars(cls):
            notice(
                f"{cls.__name__}.__torch_dispatch__ is never called here: there are no operations below the functions. "
                "__torch_function__ says what functions do with such tensors.",
                SymgradWarning,
            )

    def set_(
        self, source: Any = None, storage_offset: int = 0, size: Sequence[int] | None = None, stride: Any = None
    ) -> Any:
        """Show the memory of another tensor (or array) of the same dtype from now on; without one, no entries.

        ``size``, ``stride`` and ``storage_offset`` say which of its entries, as in ``as_strided``.  There is no
        derivative: ``RuntimeError`` where one of the two has a history, and for a leaf outside of ``no_grad``.

        >>> import symgrad as sg
        >>> x, y = sg.zeros(2), sg.tensor([1.0, 2.0, 3.0])
        >>> x.set_(y)
        tensor([1., 2., 3.])
        >>> y[0] = 5.0
        >>> x
        tensor([5., 2., 3.])
        """
        tensor: Any = self
        dtype = self._value.dtype
        shown: Any = np.empty(0, dtype) if source is None else source
        shown = shown if isinstance(shown, Recorded) else plain(type(tensor), np.asarray(shown))
        if shown._value.dtype != dtype:
            raise AutogradError(
                f"Could not set tensor of type {dtypes.c_name(shown._value.dtype)} to a tensor of type "
                f"{dtypes.c_name(dtype)}"
            )
        refuse(self, (shown,), "set")
        if MODE.local.enabled and (self._requires_grad or shown._requires_grad):
            raise AutogradError(
                "derivative for aten::set_ is not implemented: set the memory under no_grad(), or that of .detach()"
            )
        if size is not None:
            steps = [math.prod(size[k + 1 :]) for k in range(len(size))] if stride is None else stride
            with no_grad():
                shown = shown.as_strided(size, steps, storage_offset)
        count_change(self)  # whoever saved the tensor finds it changed, unlike after ``.data``
        tensor.data = shown
        return self

    def is_set_to(self, tensor: Any) -> bool:
        """Whether another tensor shows the same entries of the same memory.

        >>> import symgrad as sg
        >>> x = sg.zeros(2)
        >>> x.is_set_to(x.detach()), x.is_set_to(sg.zeros(2))
        (True, False)
        """
        mine, other = self._array(), tensor._array()
        return bool(
            mine.shape == other.shape
            and mine.strides == other.strides
            and mine.__array_interface__["data"] == other.__array_interface__["data"]
        )

    def as_subclass(self, cls: type[Any]) -> Any:
        """A view of the tensor, of a class derived from ``Tensor``.

        >>> import symgrad as sg
        >>> class Length(sg.Tensor):
        ...     pass
        >>> type(sg.ones(2).as_subclass(Length)).__name__
        'Length'
        """
        tensor: Any = self
        made = _blank(cls)
        with disabled():
            view = tensor.view_as(tensor)
        made._value, made._node = view._value, view._node
        made._requires_grad, made._extra = view._requires_grad, view._extra
        take_place(view, made, "Alias")
        if made._node is not None and made._requires_grad:
            Labelled.on(made._node, "AliasBackward0")
        return made

    def __copy__(self) -> Any:
        """``copy.copy``: a leaf in the same memory, without ``.grad`` and hooks, that counts changes for itself.

        As in torch it was given its memory once, which is its first change.
        """
        tensor: Any = self
        made = self._make_subclass(type(self), tensor.data, tensor.requires_grad)
        made.more().counted = 1
        made.more().name = None if tensor._extra is None else tensor._extra.name
        getattr(made, "__dict__", {}).update(getattr(self, "__dict__", {}))
        return made

    @staticmethod
    def _make_subclass(cls: type[Any], data: Any, require_grad: bool = False) -> Any:
        """A leaf in the memory of ``data``, of a class derived from ``Tensor``: for the ``__new__`` of that class.

        >>> import symgrad as sg
        >>> class Length(sg.Tensor):
        ...     def __new__(cls, data, unit):
        ...         return sg.Tensor._make_subclass(cls, data, True)
        >>> Length(sg.ones(2), unit="m").requires_grad
        True
        """
        made = _blank(cls)
        with disabled():
            made._value, made._node = data.detach()._array(), None
        made._requires_grad, made._extra = False, None
        by_the_mode(made)
        return with_gradient(made)._require() if require_grad else made


def _blank(cls: type[Any]) -> Any:
    """A tensor of nothing yet, of a class derived from ``Tensor``."""
    if not isinstance(cls, type) or not issubclass(cls, Sharing):
        raise ArgumentError(
            "Creating a Tensor subclass from a class that does not inherit from Tensor is not possible. Make sure "
            f"your class inherits from Tensor. (This one is {cls!r}.)"
        )
    return object.__new__(cls)

"""Layers whose number of inputs is that of their first input; from then on they are layers of the usual class."""

from __future__ import annotations

from typing import Any, ClassVar

from symgrad.errors import AutogradError
from symgrad.nn.modules.batchnorm import (
    BatchNorm1d,
    BatchNorm2d,
    BatchNorm3d,
    InstanceNorm1d,
    InstanceNorm2d,
    InstanceNorm3d,
)
from symgrad.nn.modules.conv import Conv1d, Conv2d, Conv3d, ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from symgrad.nn.modules.linear import Linear
from symgrad.nn.modules.module import Module
from symgrad.nn.parameter import Parameter, UninitializedParameter, is_lazy


class LazyModuleMixin:
    """The base class of lazy layers of users: ``class Own(LazyModuleMixin, Layer)`` with ``initialize_parameters``.

    That is called with the first inputs, before ``forward``, and gives every :class:`UninitializedParameter` its
    entries by ``materialize``.  A layer is of the class ``cls_to_become``, if there is one, from then on.

    >>> import symgrad as sg
    >>> class Scale(LazyModuleMixin, sg.nn.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.by = sg.nn.UninitializedParameter()
    ...     def initialize_parameters(self, x):
    ...         self.by.materialize(x.shape[-1:])
    ...         sg.nn.init.ones_(self.by)
    ...     def forward(self, x):
    ...         return x * self.by
    >>> Scale()(sg.ones(2, 3)).shape
    torch.Size([2, 3])
    """

    cls_to_become: Any = None

    def __init__(self: Any, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        self._initialize_hook = self.register_forward_pre_hook(self._infer_parameters, with_kwargs=True)
        self._load_hook = self.register_load_state_dict_pre_hook(self._lazy_load_hook)

    def initialize_parameters(self, *args: Any, **kwargs: Any) -> None:
        """Give the parameters their entries; a class has its own."""
        raise NotImplementedError(f"initialize_parameters is not implemented for {type(self).__name__}")

    def has_uninitialized_params(self: Any) -> bool:
        """Whether a parameter or a buffer of the layer itself has no entries yet."""
        return any(map(is_lazy, (*self._parameters.values(), *self._buffers.values())))

    @staticmethod
    def _infer_parameters(module: Any, args: Any, kwargs: Any = None) -> None:
        """What happens before the first call, and never again."""
        module.initialize_parameters(*args, **(kwargs or {}))
        if module.has_uninitialized_params():
            raise AutogradError(f"module {type(module).__name__} has not been fully initialized")
        module._begin()

    def _begin(self: Any) -> None:
        """Be a layer like others from now on."""
        self._initialize_hook.remove()
        self._load_hook.remove()
        del self._initialize_hook, self._load_hook
        if self.cls_to_become is not None:
            self.__class__ = self.cls_to_become

    @staticmethod
    def _lazy_load_hook(module: Any, state_dict: Any, prefix: str, *_: Any) -> None:
        """Parameters without entries take the shapes of those that are loaded."""
        for name, own in (*module._parameters.items(), *module._buffers.items()):
            told = state_dict.get(prefix + name)
            if is_lazy(own) and told is not None and not is_lazy(told):
                own.materialize(told.shape)


class _Lazy(LazyModuleMixin, Module):
    """The settings of a layer but its number of inputs; its parameters have no entries yet, and stay the same objects.

    ``axis`` is the axis of an input that tells the number, as one of its shape.
    """

    axis: ClassVar[int]

    def __init__(self, *settings: Any, **named: Any):
        super().__init__(0, *settings, **named)
        self._given = (settings, named)
        for name, parameter in self._parameters.items():
            if parameter is not None:
                self._parameters[name] = UninitializedParameter(dtype=parameter.dtype)
                self._parameters[name].name = parameter.name

    def reset_parameters(self) -> None:
        """Nothing: there are no entries yet."""

    def initialize_parameters(self, input: Any, *_: Any, **__: Any) -> None:
        """Fit the layer to its first input."""
        self._fit(int(input.shape[self.axis]))

    def _fit(self, size: int) -> None:
        """Have the entries of a layer of a number of inputs, with the values of the beginning."""
        settings, named = self.__dict__.pop("_given")
        whole: Any = self.cls_to_become(size, *settings, **named)
        for name, parameter in whole._parameters.items():
            if parameter is not None:
                own = self._parameters[name]
                own.data = parameter.data.to(own.dtype)
                own.__class__ = Parameter
        for name, buffer in whole._buffers.items():
            if buffer is not None:
                self._buffers[name] = buffer.to(self._buffers[name].dtype)
        kept = ("_parameters", "_buffers", "training")
        self.__dict__.update((name, v) for name, v in vars(whole).items() if name not in kept and "hook" not in name)

    def _load_from_state_dict(self, state_dict: Any, prefix: str, *rest: Any) -> None:
        """A state tells the number, too."""
        told = state_dict.get(f"{prefix}weight", state_dict.get(f"{prefix}running_mean"))
        if told is None or not told.numel():
            super()._load_from_state_dict(state_dict, prefix, *rest)
            return
        self._fit(self._size_of(told))
        self._begin()
        self._load_from_state_dict(state_dict, prefix, *rest)  # of the class that it has now

    def _size_of(self, weight: Any) -> int:
        """The number of inputs of a layer with this weight."""
        if weight.ndim == 1 or getattr(self, "transposed", False):
            return int(weight.shape[0])
        return int(weight.shape[1]) * int(getattr(self, "groups", 1))


class LazyLinear(_Lazy, Linear):
    """``LazyLinear(out_features, bias=True)`` is a :class:`Linear` from its first input on.

    >>> import symgrad as sg
    >>> layer = sg.nn.LazyLinear(2)
    >>> layer(sg.ones(5, 3)).shape, layer
    (torch.Size([5, 2]), Linear(in_features=3, out_features=2, bias=True))
    """

    cls_to_become, axis = Linear, -1


class LazyConv1d(_Lazy, Conv1d):
    """A :class:`Conv1d` whose ``in_channels`` its first input tells."""

    cls_to_become, axis = Conv1d, -2


class LazyConv2d(_Lazy, Conv2d):
    """A :class:`Conv2d` whose ``in_channels`` its first input tells."""

    cls_to_become, axis = Conv2d, -3


class LazyConv3d(_Lazy, Conv3d):
    """A :class:`Conv3d` whose ``in_channels`` its first input tells."""

    cls_to_become, axis = Conv3d, -4


class LazyConvTranspose1d(_Lazy, ConvTranspose1d):
    """A :class:`ConvTranspose1d` whose ``in_channels`` its first input tells."""

    cls_to_become, axis = ConvTranspose1d, -2


class LazyConvTranspose2d(_Lazy, ConvTranspose2d):
    """A :class:`ConvTranspose2d` whose ``in_channels`` its first input tells."""

    cls_to_become, axis = ConvTranspose2d, -3


class LazyConvTranspose3d(_Lazy, ConvTranspose3d):
    """A :class:`ConvTranspose3d` whose ``in_channels`` its first input tells."""

    cls_to_become, axis = ConvTranspose3d, -4


class LazyBatchNorm1d(_Lazy, BatchNorm1d):
    """A :class:`BatchNorm1d` whose ``num_features`` its first input tells."""

    cls_to_become, axis = BatchNorm1d, 1


class LazyBatchNorm2d(_Lazy, BatchNorm2d):
    """A :class:`BatchNorm2d` whose ``num_features`` its first input tells."""

    cls_to_become, axis = BatchNorm2d, 1


class LazyBatchNorm3d(_Lazy, BatchNorm3d):
    """A :class:`BatchNorm3d` whose ``num_features`` its first input tells."""

    cls_to_become, axis = BatchNorm3d, 1


class LazyInstanceNorm1d(_Lazy, InstanceNorm1d):
    """An :class:`InstanceNorm1d` whose ``num_features`` its first input tells."""

    cls_to_become, axis = InstanceNorm1d, -2


class LazyInstanceNorm2d(_Lazy, InstanceNorm2d):
    """An :class:`InstanceNorm2d` whose ``num_features`` its first input tells."""

    cls_to_become, axis = InstanceNorm2d, -3


class LazyInstanceNorm3d(_Lazy, InstanceNorm3d):
    """An :class:`InstanceNorm3d` whose ``num_features`` its first input tells."""

    cls_to_become, axis = InstanceNorm3d, -4

"""Parameters, which are leaves that require grad unless told otherwise, and the buffers of modules."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from symgrad.errors import ArgumentError
from symgrad.tape.forward.dual import TensorType
from symgrad.tape.memory.alone import PLAIN
from symgrad.tape.overriding import answers
from symgrad.tape.pickling import WITH_GRAPH
from symgrad.tape.record import call_site
from symgrad.tensor import Tensor
from symgrad.tensor.creation import empty


class ParameterType(TensorType):
    """The class of the class of parameters: those of a class of the user's own, which they keep, are some, too."""

    def __instancecheck__(cls, instance: Any) -> bool:  # noqa: N805  (of a metaclass)
        return super().__instancecheck__(instance) or bool(getattr(instance, "__dict__", {}).get("_is_param"))


class Parameter(Tensor, metaclass=ParameterType):
    """A leaf in the memory of ``data`` that requires grad, and has its name: ``Parameter(torch.randn(3))``.

    >>> import symgrad as sg
    >>> Parameter(sg.tensor([1.0]))
    Parameter containing:
    tensor([1.], requires_grad=True)
    """

    __slots__ = ()
    _copied_alone = True
    """``copy.deepcopy`` gives the copy memory of its own, as torch does, though others have the parameter's."""

    def __new__(cls, data: Any = None, requires_grad: bool = True) -> Any:
        """Raises ``TypeError`` for data that is no tensor."""
        if data is not None and not hasattr(data, "detach"):
            raise ArgumentError(
                f"Parameter() takes a tensor, not {type(data).__name__}: Parameter(symgrad.tensor(...))."
            )
        if data is not None and answers(type(data)):
            made = data.detach().requires_grad_(requires_grad)
            made._is_param = True
            return made
        made = cls._make_subclass(cls, empty(0) if data is None else data, requires_grad)
        extra = made.more()
        extra.site, extra.name = call_site(1), getattr(getattr(data, "_extra", None), "name", None)
        return made

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        """The values in memory of its own, as torch has it: no gradient, hooks or attributes go along."""
        if WITH_GRAPH in memo:
            return super().__deepcopy__(memo)
        if id(self) not in memo:
            made = memo[id(self)] = type(self)(self.data.clone(), self.requires_grad)
            if self._extra is not None:
                extra = made.more()
                extra.site, extra.name = self._extra.site, self._extra.name
        return memo[id(self)]

    def __repr__(self) -> str:
        return f"Parameter containing:\n{self.data._require(self.requires_grad)!r}"


class _Nothing(np.ndarray[Any, Any]):
    """What has no entries yet: an array that can be handed on, and not computed with."""

    def _refuse(self, function: Any, *_: Any, **__: Any) -> NoReturn:
        raise ArgumentError(
            f"Attempted to use an uninitialized parameter in {function.__name__}. This error happens when you are "
            "using a `LazyModule` or explicitly manipulating `torch.nn.parameter.UninitializedParameter` objects. When "
            "using LazyModules Call `forward` with a dummy batch to initialize the parameters before calling torch "
            "functions"
        )

    __array_ufunc__ = __array_function__ = _refuse  # type: ignore[assignment]


class Uninitialized:
    """What has no entries yet, and becomes a tensor of its class with them: ``materialize``.

    Functions of it raise ``ValueError``: as an empty tensor it would be a sum of 0.
    """

    __slots__ = ()
    cls_to_become: Any = Tensor

    def materialize(self: Any, shape: Any, device: Any = None, dtype: Any = None) -> None:
        """Be a tensor of a shape from now on, with any values, of the same dtype if none is told.

        >>> import symgrad as sg
        >>> weight = sg.nn.UninitializedParameter()
        >>> weight.materialize((2, 3))
        >>> weight.shape, type(weight).__name__
        (torch.Size([2, 3]), 'Parameter')
        """
        self.data = empty(tuple(shape), device=device, dtype=self.dtype if dtype is None else dtype)
        self.__class__ = self.cls_to_become


def is_lazy(param: Any) -> bool:
    """Whether something is a parameter or a buffer without entries.

    >>> import symgrad as sg
    >>> is_lazy(sg.nn.UninitializedParameter()), is_lazy(sg.nn.Parameter(sg.ones(1)))
    (True, False)
    """
    return isinstance(param, Uninitialized)


class UninitializedParameter(Uninitialized, Parameter):
    """A parameter of a layer that has seen no input yet: it has no entries, and becomes a :class:`Parameter`."""

    __slots__ = ()
    cls_to_become = Parameter

    def __new__(cls, requires_grad: bool = True, device: Any = None, dtype: Any = None) -> Any:
        """One of a dtype, without entries."""
        made = super().__new__(cls, empty(0, device=device, dtype=dtype), requires_grad)
        made._value = made._value.view(_Nothing)
        return made

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        """Another one of the same dtype."""
        return memo.setdefault(id(self), type(self)(self.requires_grad, dtype=self.dtype))

    def __repr__(self) -> str:
        return "<UninitializedParameter>"


class BufferType(type):
    """The class of the class of buffers, which are tensors with a mark."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, Tensor) and bool(getattr(instance, "_is_buffer", False))


class Buffer(metaclass=BufferType):
    """A tensor that a module keeps as a buffer when it is assigned to an attribute: ``self.mean = Buffer(zeros(3))``.

    It is in the memory of ``data``; ``persistent``: whether ``state_dict`` has it.

    >>> import symgrad as sg
    >>> isinstance(Buffer(sg.zeros(3)), Buffer), isinstance(sg.zeros(3), Buffer)
    (True, False)
    """

    persistent: bool

    def __new__(cls, data: Any = None, *, persistent: bool = True) -> Any:
        """The tensor with its mark."""
        made: Any = (empty(0) if data is None else data).detach()
        made.requires_grad_(data is not None and data.requires_grad)
        made.persistent = persistent
        made._is_buffer = True
        return made


class UninitializedBuffer(Uninitialized, Tensor):
    """A buffer of a layer that has seen no input yet: it has no entries, and becomes a tensor."""

    __slots__ = ()

    def __new__(
        cls, requires_grad: bool = False, device: Any = None, dtype: Any = None, persistent: bool = True
    ) -> Any:
        """One of a dtype, without entries."""
        made = cls._make_subclass(cls, empty(0, device=device, dtype=dtype), requires_grad)
        made.persistent, made._is_buffer = persistent, True
        made._value = made._value.view(_Nothing)
        return made

    def __repr__(self) -> str:
        return "<UninitializedBuffer>"


PLAIN.update((Parameter, UninitializedParameter, UninitializedBuffer))

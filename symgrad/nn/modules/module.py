"""The base class of layers and networks."""

from __future__ import annotations

import inspect
from typing import Any, ClassVar

from symgrad.errors import ArgumentError
from symgrad.nn.modules.calling import (
    register_module_backward_hook,
    register_module_forward_hook,
    register_module_forward_pre_hook,
    register_module_full_backward_hook,
    register_module_full_backward_pre_hook,
)
from symgrad.nn.modules.holding import (
    Holder,
    register_module_buffer_registration_hook,
    register_module_module_registration_hook,
    register_module_parameter_registration_hook,
)
from symgrad.nn.modules.state import (
    Keeper,
    _IncompatibleKeys as _IncompatibleKeys,  # a private name that programs import
)

__all__ = [
    "Module",
    "register_module_backward_hook",
    "register_module_buffer_registration_hook",
    "register_module_forward_hook",
    "register_module_forward_pre_hook",
    "register_module_full_backward_hook",
    "register_module_full_backward_pre_hook",
    "register_module_module_registration_hook",
    "register_module_parameter_registration_hook",
]


class Signature:
    """``inspect.signature``: a module is called as its ``forward`` is, and a class as its ``__init__``."""

    def __get__(self, module: Any, owner: Any) -> inspect.Signature:
        if module is None:
            raise AttributeError("__signature__")
        return inspect.signature(module.forward)


class _Settings:
    """The settings of a layer, as ``str.format_map`` asks for them."""

    def __init__(self, layer: Any):
        self.layer = layer

    def __getitem__(self, name: str) -> Any:
        value = getattr(self.layer, name)
        return value is not None if name == "bias" else value


class Module(Keeper):
    """A function that holds tensors: its class says in ``forward`` what it computes of them and of its arguments.

    Tensors that are assigned to attributes as :class:`Parameter`, and modules, are held under these names: all
    parameters are found by ``parameters()`` and ``named_parameters()``, and in formulas they go by their paths.
    ``buffers()`` are tensors that are no parameters (``register_buffer``), ``train()`` and ``eval()`` set how dropout
    and normalization behave, ``state_dict()`` and ``load_state_dict()`` give and take the state.

    Raises ``AttributeError`` where something is assigned before ``super().__init__()`` was called.

    >>> import symgrad as sg
    >>> class Line(sg.nn.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.w = sg.nn.Parameter(sg.tensor([2.0, -1.0]))
    ...         self.b = sg.nn.Parameter(sg.tensor(0.5))
    ...     def forward(self, x):
    ...         return x @ self.w + self.b
    >>> line = Line()
    >>> x = sg.tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> (line(x) ** 2).sum().backward()
    >>> line.w.grad
    tensor([16., 22.])
    >>> print(line.w.grad.expr)
    2*(x.T @ (b + x @ w))
    """

    __signature__ = Signature()

    training: bool
    call_super_init: bool = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if not self.call_super_init and (args or kwargs):
            raise ArgumentError(
                f"{type(self).__name__}.__init__() takes no arguments; got {[*args, *kwargs]}: its class defines "
                "__init__, which calls super().__init__() without any."
            )
        super().__init__()
        object.__setattr__(self, "training", True)
        if self.call_super_init:
            super(Holder, self).__init__(*args, **kwargs)  # what else a class derives from

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take the state of a copy or of a file; classes that change old states begin with this."""
        self.__dict__.update(state)

    _layer_shown: ClassVar[str] = ""
    """The settings of a layer that its text shows, for ``str.format``; of the bias, whether there is one."""
    _layer_usual: ClassVar[dict[str, Any]] = {}
    """Settings that stand behind these where they are other ones."""

    def extra_repr(self) -> str:
        """What ``repr`` shows between the parentheses."""
        shown = type(self)._layer_shown.format_map(_Settings(self))
        return f"{shown}{unusual(self, **type(self)._layer_usual)}".removeprefix(", ")

    def _get_name(self) -> str:
        return type(self).__name__

    def _layer_told_below(self) -> list[str]:
        """The modules of this one in its text, each with its name."""
        return [f"({name}): {indented(repr(module))}" for name, module in self._modules.items()]

    def __repr__(self) -> str:
        extra = self.extra_repr()
        lines = extra.split("\n") if extra else []
        if not self._modules and len(lines) <= 1:
            return f"{self._get_name()}({extra})"
        lines += self._layer_told_below()
        return f"{self._get_name()}(\n  " + "\n  ".join(lines) + "\n)"


def unusual(layer: Any, **usual: Any) -> str:
    """The settings that are not as they usually are."""
    told = {name: getattr(layer, name, value) for name, value in usual.items()}
    return "".join(f", {name}={value}" for name, value in told.items() if value != usual[name])


def indented(text: str) -> str:
    """The text of what stands in another text."""
    return text.replace("\n", "\n  ")

"""Going through a module and all below it: parameters, buffers, modules, and what is done to each of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Self

from symgrad import devices
from symgrad.errors import ArgumentError
from symgrad.nn.modules.holding import Holder
from symgrad.tape.modes import no_grad
from symgrad.tensor import Tensor
from symgrad.tensor.creation import empty
from symgrad.tensor.gradients import without_gradients


class Walker(Holder):
    """Iterators over what a module holds, and changes of all of it."""

    training: bool

    # ------------------------------------------------------------------------------------ iterators

    def named_modules(
        self, memo: set[Any] | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Any]]:
        """``(path, module)`` of this module and of all below it, each once; ``remove_duplicate=False``: by each path.

        The path of this module itself is ``prefix``.
        """
        seen = set() if memo is None else memo
        stack: list[tuple[str, Any]] = [(prefix, self)]
        while stack:
            path, module = stack.pop()
            if module is None or module in seen:
                continue
            if remove_duplicate:
                seen.add(module)
            yield path, module
            stack += [(_below(path, name), inner) for name, inner in reversed(module._modules.items())]

    def modules(self) -> Iterator[Any]:
        """The module itself and all below it, each once."""
        return (module for _, module in self.named_modules())

    def named_children(self) -> Iterator[tuple[str, Any]]:
        """``(name, module)`` of the modules that this one holds itself, each once."""
        seen = set()
        for name, module in self._modules.items():
            if module is not None and module not in seen:
                seen.add(module)
                yield name, module

    def children(self) -> Iterator[Any]:
        """The modules that this one holds itself, each once."""
        return (module for _, module in self.named_children())

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Any]]:
        """``(path, parameter)`` of all parameters, each once, or with ``recurse=False`` of its own ones alone."""
        return self.__named("_parameters", prefix, recurse, remove_duplicate)

    def parameters(self, recurse: bool = True) -> Iterator[Any]:
        """All parameters, each once."""
        return (parameter for _, parameter in self.named_parameters(recurse=recurse))

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Any]]:
        """``(path, buffer)`` of all buffers, each once."""
        return self.__named("_buffers", prefix, recurse, remove_duplicate)

    def buffers(self, recurse: bool = True) -> Iterator[Any]:
        """All buffers, each once."""
        return (buffer for _, buffer in self.named_buffers(recurse=recurse))

    def __named(self, shelf: str, prefix: str, recurse: bool, remove_duplicate: bool) -> Iterator[tuple[str, Any]]:
        modules = self.named_modules(None, prefix, remove_duplicate) if recurse else [(prefix, self)]
        seen = set()
        for path, module in modules:
            for name, tensor in module.__dict__[shelf].items():
                if tensor is not None and id(tensor) not in seen:
                    if remove_duplicate:
                        seen.add(id(tensor))
                    yield _below(path, name), tensor

    # ------------------------------------------------------------------------------------ by path

    def get_submodule(self, target: str) -> Any:
        """The module at a path such as ``"net.0"``; the empty path is this module.

        Raises ``AttributeError`` where the path leads nowhere, or to something else.
        """
        module: Any = self
        for name in target.split(".") if target else ():
            if not hasattr(module, name):
                raise AttributeError(f"{type(module).__name__} has no attribute `{name}`")
            module = getattr(module, name)
            if not isinstance(module, Walker):
                raise AttributeError(f"`{name}` is not an nn.Module")
        return module

    def set_submodule(self, target: str, module: Any, strict: bool = False) -> None:
        """Put a module at a path; ``strict``: only in the place of one that is there."""
        if not target:
            raise ArgumentError("Cannot set the submodule without a target name!")
        *path, name = target.split(".")
        if not isinstance(module, Walker):
            raise ArgumentError(f"`module` is not an nn.Module, found {type(module)}")
        parent = self.get_submodule(".".join(path))
        if strict and not hasattr(parent, name):
            raise AttributeError(f"{type(parent).__name__} has no attribute `{name}`")
        if hasattr(parent, name) and not isinstance(getattr(parent, name), Walker):
            raise AttributeError(f"`{name}` is not an nn.Module")
        setattr(parent, name, module)

    def get_parameter(self, target: str) -> Any:
        """The parameter at a path such as ``"net.0.weight"``; raises ``AttributeError`` where there is none."""
        return self.__get(target, "_parameters", "an nn.Parameter")

    def get_buffer(self, target: str) -> Any:
        """The buffer at a path; raises ``AttributeError`` where there is none."""
        return self.__get(target, "_buffers", "a buffer")

    def __get(self, target: str, shelf: str, what: str) -> Any:
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        if not hasattr(module, name):
            raise AttributeError(f"{type(module).__name__} has no attribute `{name}`")
        if name not in module.__dict__[shelf]:
            raise AttributeError(f"`{name}` is not {what}")
        return module.__dict__[shelf][name]

    # ------------------------------------------------------------------------------------ changes

    def apply(self, fn: Callable[[Any], Any]) -> Self:
        """Call ``fn`` with every module, those below first; returns this module."""
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    def train(self, mode: bool = True) -> Self:
        """Set ``training`` of this module and of all below it, which dropout and normalization go by."""
        if not isinstance(mode, bool):
            raise ArgumentError("training mode is expected to be boolean")
        self.training = mode
        for module in self.children():
            module.train(mode)
        return self

    def eval(self) -> Self:
        """The same as ``train(False)``."""
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Set ``requires_grad`` of all parameters."""
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Take the gradients of all parameters away, or make them zeros."""
        without_gradients(self.parameters(), set_to_none)

    def _apply(self, fn: Callable[[Any], Any], recurse: bool = True) -> Self:
        """Every parameter, gradient and buffer has the values ``fn(tensor)`` from now on."""
        for module in self.children() if recurse else ():
            module._apply(fn)
        for parameter in self._parameters.values():
            if parameter is not None:
                grad = parameter.grad
                with no_grad():
                    parameter.data = fn(parameter)
                    if grad is not None:
                        grad.data = fn(grad)
        for name, buffer in self._buffers.items():
            if buffer is not None:
                self._buffers[name] = fn(buffer)
        return self

    def to(self, *args: Any, **kwargs: Any) -> Self:
        """Parameters and buffers of floats have another dtype: ``to(float64)``, ``to("cpu", float64)``, ``to(tensor)``.

        Raises ``TypeError`` for dtypes that are neither floating point nor complex.
        """
        device, dtype, rest = _where(args, kwargs)
        dtype = None if dtype is None else empty(0, dtype=dtype).dtype
        if dtype is not None and not (dtype.is_floating_point or dtype.is_complex):
            raise ArgumentError(
                f"nn.Module.to only accepts floating point or complex dtypes, but got desired dtype={dtype}"
            )

        def moved(tensor: Any) -> Any:
            cast = dtype if tensor.is_floating_point() or tensor.is_complex() else None
            there = {"dtype": cast, **({} if device is None else {"device": device}), **rest}
            if tensor.ndim not in (4, 5):
                there.pop("memory_format", None)  # which says how images lie
            return tensor.to(**there)

        return self._apply(moved)

    def type(self, dst_type: Any) -> Self:
        """Every parameter and buffer has another dtype."""
        return self._apply(lambda tensor: tensor.type(dst_type))

    def float(self) -> Self:
        """Parameters and buffers of floats are float32."""
        return self.__floats("float")

    def double(self) -> Self:
        """Parameters and buffers of floats are float64."""
        return self.__floats("double")

    def half(self) -> Self:
        """Parameters and buffers of floats are float16."""
        return self.__floats("half")

    def bfloat16(self) -> Self:
        """Parameters and buffers of floats are bfloat16."""
        return self.__floats("bfloat16")

    def cpu(self) -> Self:
        """The module itself: everything is in the memory of the CPU."""
        return self._apply(lambda tensor: tensor.cpu())

    def cuda(self, device: Any = None) -> Self:
        """Raises: there are no GPUs here."""
        return self._apply(lambda tensor: tensor.cuda(device))

    def to_empty(self, *, device: Any, recurse: bool = True) -> Self:
        """Every parameter and buffer has memory of its own, with any values in it."""
        return self._apply(lambda tensor: empty(tensor.shape, dtype=tensor.dtype, device=device), recurse)

    def share_memory(self) -> Self:
        """Every tensor's values are in memory that processes share, as ``Tensor.share_memory_`` has it."""
        return self._apply(lambda tensor: tensor.share_memory_())

    def __floats(self, cast: str) -> Self:
        return self._apply(lambda tensor: getattr(tensor, cast)() if tensor.is_floating_point() else tensor)


def _below(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _where(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any, dict[str, Any]]:
    """The device, the dtype and the other settings of a call of ``to``."""
    rest = dict(kwargs)
    device, dtype, other = rest.pop("device", None), rest.pop("dtype", None), rest.pop("tensor", None)
    for arg in args:
        if isinstance(arg, bool):
            rest["non_blocking"] = arg
        elif isinstance(arg, Tensor):
            other = arg
        elif isinstance(arg, (str, devices.device)):
            device = arg
        elif arg is not None:
            dtype = arg
    return device, other.dtype if other is not None else dtype, rest

"""What a module holds: parameters, buffers and other modules, each in a dict of its own, found as attributes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from symgrad.autograd.graphs.hooks import RemovableHandle, attached
from symgrad.errors import ArgumentError, MemberError
from symgrad.nn.parameter import Buffer, Parameter
from symgrad.tensor import Tensor

_SHELVES = ("_parameters", "_buffers", "_modules")


def typename(thing: Any) -> str:
    """The class of a thing, or a class, with its module; tensors go by their dtype: ``torch.FloatTensor``."""
    if type(thing) is Tensor:
        return str(thing.type())
    kind = thing if isinstance(thing, type) else type(thing)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def identifier(path: str) -> str:
    """What formulas call the parameter at a path: ``fc1_weight`` for ``fc1.weight``, ``weight_0`` for ``0.weight``.

    What a parameter is computed of goes by its name: ``weight_original`` for ``parametrizations.weight.original``.
    """
    parts = [part for part in path.split(".") if part != "parametrizations"]
    front = next((k for k, part in enumerate(parts) if not part.isdigit()), len(parts))
    return "_".join(parts[front:] + parts[:front])


def name_after(parameter: Any, path: str, before: str | None) -> None:
    """Name a parameter after its place, unless the user named it: ``before`` is what its place called it so far."""
    name = identifier(path)
    if parameter.name == before and name.isidentifier():
        parameter.name = name


_REGISTERING: dict[str, dict[int, Callable[..., Any]]] = {"parameter": {}, "buffer": {}, "module": {}}
"""What is asked before any module holds something: ``hook(module, name, what)`` may give another one."""


def _asked(what: str, holder: Any, name: str, value: Any) -> Any:
    """What is held in the place of ``value``."""
    for hook in tuple(_REGISTERING[what].values()):
        found = hook(holder, name, value)
        value = value if found is None else found
    return value


def register_module_parameter_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """``hook(module, name, parameter)`` is called before a module holds a parameter, and may give another one.

    >>> import symgrad as sg
    >>> names = []
    >>> with register_module_parameter_registration_hook(lambda module, name, p: names.append(name)):
    ...     _ = sg.nn.Linear(2, 1)
    >>> names
    ['weight', 'bias']
    """
    return attached(_REGISTERING["parameter"], hook)


def register_module_buffer_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """``hook(module, name, buffer)`` is called before a module holds a buffer, and may give another one.

    >>> import symgrad as sg
    >>> with register_module_buffer_registration_hook(lambda module, name, b: b.double()):
    ...     sg.nn.BatchNorm1d(2).running_mean.dtype == sg.float64
    True
    """
    return attached(_REGISTERING["buffer"], hook)


def register_module_module_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """``hook(module, name, child)`` is called before a module holds another one, and may give a third.

    >>> import symgrad as sg
    >>> with register_module_module_registration_hook(lambda module, name, child: sg.nn.Identity()):
    ...     sg.nn.Sequential(sg.nn.Tanh())
    Sequential(
      (0): Identity()
    )
    """
    return attached(_REGISTERING["module"], hook)


class Holder:
    """Sorts what is assigned to attributes: parameters, buffers and modules have places of their own.

    _shelves  the dicts that what a call computes depends on: a program of a module holds while these are the same
    """

    _shelves: ClassVar[tuple[str, ...]] = (*_SHELVES, "_forward_pre_hooks", "_forward_hooks")

    _parameters: dict[str, Any]
    _buffers: dict[str, Any]
    _modules: dict[str, Any]
    _non_persistent_buffers_set: set[str]

    def __init__(self) -> None:
        put = super().__setattr__
        put("_parameters", {})
        put("_buffers", {})
        put("_modules", {})
        put("_non_persistent_buffers_set", set())

    # ------------------------------------------------------------------------------------ registering

    def register_parameter(self, name: str, param: Any) -> None:
        """Hold a parameter, or None, under a name; it is called so in formulas if it has no name.

        Raises ``TypeError`` for what is no :class:`Parameter`, ``KeyError`` for names that are taken or have a dot.
        """
        self.__check(name, "parameter")
        if param is not None and not isinstance(param, Parameter):
            raise ArgumentError(
                f"cannot assign '{typename(param)}' object to parameter '{name}' (torch.nn.Parameter or None required)"
            )
        if param is not None and param.grad_fn is not None:
            raise ArgumentError(
                f"Cannot assign non-leaf Tensor to parameter '{name}'. Model parameters must be created explicitly. To "
                f"express '{name}' as a function of another Tensor, compute the value in the forward() method."
            )
        self._parameters[name] = param = None if param is None else _asked("parameter", self, name, param)
        if param is not None:
            name_after(param, name, None)

    def register_buffer(self, name: str, tensor: Any, persistent: bool = True) -> None:
        """Hold a tensor, or None, that is no parameter; ``persistent``: whether ``state_dict`` has it.

        Raises ``TypeError`` for what is no tensor, ``KeyError`` for names that are taken or have a dot.
        """
        self.__check(name, "buffer")
        if tensor is not None and not isinstance(tensor, Tensor):
            raise ArgumentError(
                f"cannot assign '{typename(tensor)}' object to buffer '{name}' (torch Tensor or None required)"
            )
        self._buffers[name] = _asked("buffer", self, name, tensor)
        (self._non_persistent_buffers_set.discard if persistent else self._non_persistent_buffers_set.add)(name)

    def add_module(self, name: str, module: Any) -> None:
        """Hold another module, or None, under a name; names of its parameters in formulas begin with that.

        Raises ``TypeError`` for what is no module, ``KeyError`` for names that are taken or have a dot.
        """
        if module is not None and not isinstance(module, Holder):
            raise ArgumentError(f"{typename(module)} is not a Module subclass")
        self.__check(name, "module")
        self._modules[name] = module = _asked("module", self, name, module)
        self.__name_below(name, module)

    def register_module(self, name: str, module: Any) -> None:
        """The same as :meth:`add_module`."""
        self.add_module(name, module)

    def __check(self, name: Any, what: str) -> None:
        """Refuse names that cannot be attributes, and those that are taken."""
        shelf = f"_{what}s"
        if shelf not in self.__dict__:
            raise MemberError(f"cannot assign {what} before Module.__init__() call")
        if not isinstance(name, str):
            raise ArgumentError(f"{what} name should be a string. Got {typename(name)}")
        if hasattr(self, name) and name not in self.__dict__[shelf]:
            raise MemberError(f"attribute '{name}' already exists")
        if "." in name:
            raise MemberError(f'{what} name can\'t contain "."' + (f", got: {name}" if what == "module" else ""))
        if not name:
            raise MemberError(f'{what} name can\'t be empty string ""')

    def __name_below(self, name: str, module: Any) -> None:
        """The parameters of a module go by the place that it has now."""
        stack, seen = [("", module)], {None}
        while stack:
            path, holder = stack.pop()
            if holder not in seen:
                seen.add(holder)
                for key, parameter in holder._parameters.items():
                    if parameter is not None:
                        name_after(parameter, f"{name}.{path}{key}", identifier(path + key))
                stack.extend((f"{path}{key}.", inner) for key, inner in holder._modules.items())

    # ------------------------------------------------------------------------------------ attributes

    def __getattr__(self, name: str) -> Any:
        for shelf in _SHELVES:
            held = self.__dict__.get(shelf, {})
            if name in held:
                return held[name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'", name=name, obj=self)

    def __setattr__(self, name: str, value: Any) -> None:
        held = self.__dict__
        if isinstance(value, Parameter):
            self.__take(name, "parameter")
            self.register_parameter(name, value)
        elif name in held.get("_parameters", ()):
            self.__replace("parameter", name, value, "as parameter", "torch.nn.Parameter")
        elif isinstance(value, Holder):
            self.__take(name, "module")
            held["_modules"][name] = value = _asked("module", self, name, value)
            self.__name_below(name, value)
        elif name in held.get("_modules", ()):
            self.__replace("module", name, value, "as child module", "torch.nn.Module")
        elif isinstance(value, Buffer):
            self.__take(name, "buffer")
            self.register_buffer(name, value, value.persistent)
        elif name in held.get("_buffers", ()):
            if value is not None and not isinstance(value, Tensor):
                self.__replace("buffer", name, value, "as buffer", "torch.nn.Buffer, torch.Tensor")
            held["_buffers"][name] = _asked("buffer", self, name, value)
        else:
            super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        for shelf in _SHELVES:
            if name in self.__dict__.get(shelf, ()):
                del self.__dict__[shelf][name]
                self._non_persistent_buffers_set.discard(name)
                return
        super().__delattr__(name)

    def __dir__(self) -> list[str]:
        held = [name for shelf in _SHELVES for name in self.__dict__.get(shelf, ())]
        return sorted(name for name in {*super().__dir__(), *held} if not name[:1].isdigit())

    def __take(self, name: str, what: str) -> None:
        """Nothing else is to be found under the name of what comes now."""
        if f"_{what}s" not in self.__dict__:
            raise MemberError(f"cannot assign {what}{'s' * (what == 'parameter')} before Module.__init__() call")
        self.__dict__.pop(name, None)
        self._non_persistent_buffers_set.discard(name)
        for shelf in _SHELVES:
            if shelf != f"_{what}s":
                self.__dict__[shelf].pop(name, None)

    def __replace(self, what: str, name: str, value: Any, how: str, kinds: str) -> None:
        """What a parameter or module was may become None, and nothing of another kind."""
        if value is not None:
            raise ArgumentError(f"cannot assign '{typename(value)}' {how} '{name}' ({kinds} or None expected)")
        self.__dict__[f"_{what}s"][name] = _asked(what, self, name, None) if what == "module" else None

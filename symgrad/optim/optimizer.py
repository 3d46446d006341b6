"""The base class of optimisers that users write: it keeps the parameters in groups, their settings and their state."""

from __future__ import annotations

import copy
import functools
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable
from typing import Any

from symgrad.autograd.graphs.hooks import RemovableHandle, attached
from symgrad.errors import ArgumentError, AutogradError
from symgrad.notices import notice
from symgrad.tensor import Tensor
from symgrad.tensor.gradients import without_gradients


class _Required:
    """Stands in ``defaults`` for a setting that every group has to tell."""

    def __repr__(self) -> str:
        return "<required parameter>"


required = _Required()
_STEP, _STATE, _LOAD = [
    (f"_optimizer_{what}_pre_hooks", f"_optimizer_{what}_post_hooks")
    for what in ("step", "state_dict", "load_state_dict")
]
"""Torch's names for the hooks before and after each: optimisers around another one set them themselves."""


class NoStep(AutogradError, NotImplementedError):
    """An optimiser whose class does not say what a step is."""


class Optimizer:
    """Keeps parameters in groups for a class that says in ``step`` how they change.

    ``params`` are tensors, pairs of a name and a tensor, or dicts with "params" and settings of that group;
    ``defaults`` are the settings of groups that do not tell them.  ``param_groups`` and ``state`` (by parameter) are
    for ``step``.

    Raises ``TypeError`` for what is no leaf tensor, ``ValueError`` for no parameters and for one in two groups.

    >>> import symgrad as sg
    >>> class Descent(sg.optim.Optimizer):
    ...     def __init__(self, params, lr):
    ...         super().__init__(params, {"lr": lr})
    ...     @sg.no_grad()
    ...     def step(self):
    ...         for group in self.param_groups:
    ...             for p in group["params"]:
    ...                 p -= group["lr"] * p.grad
    >>> w = sg.tensor([3.0, 4.0], requires_grad=True)
    >>> descent = Descent([w], lr=0.5)
    >>> (w @ w).backward()
    >>> descent.step()
    >>> w
    tensor([0., 0.], requires_grad=True)
    """

    _is_stepping = False

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "step" in cls.__dict__:
            cls.step = _between_hooks(cls.__dict__["step"])  # type: ignore[method-assign]

    def __init__(self, params: Iterable[Any], defaults: dict[str, Any]):
        if isinstance(params, Tensor):
            raise ArgumentError(
                "params argument given to the optimizer should be an iterable of Tensors or dicts, but got "
                f"{params.type()}"
            )
        self.defaults = defaults
        self.state: Any = defaultdict(dict)
        self.param_groups: list[dict[str, Any]] = []
        self.__set_hooks()
        groups = list(params)
        if not groups:
            raise ArgumentError("optimizer got an empty parameter list")
        for group in groups if isinstance(groups[0], dict) else [{"params": groups}]:
            self.add_param_group(group)

    def __set_hooks(self) -> None:
        for name in (*_STEP, *_STATE, *_LOAD):
            setattr(self, name, OrderedDict())

    # ------------------------------------------------------------------------------------ groups

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add a dict with "params" and settings."""
        if not isinstance(param_group, dict):
            raise ArgumentError(f"param_group must be a dict, but got {type(param_group)}")
        group = dict(param_group)
        params = group["params"]
        if isinstance(params, (set, frozenset)):
            raise ArgumentError(
                "optimizer parameters need to be organized in ordered collections, but the ordering of tensors in sets "
                "will change between runs. Please use a list instead."
            )
        rows = [params] if isinstance(params, Tensor) else list(params)
        named = [row for row in rows if isinstance(row, tuple) and len(row) == 2]
        if named:
            if len(named) < len(rows):
                raise ArgumentError("all optimizer params should be with/without names. Some param names are missing")
            group["param_names"], rows = [name for name, _ in named], [tensor for _, tensor in named]
        group["params"] = rows
        self.__check(rows)
        for name, value in self.defaults.items():
            if value is required and name not in group:
                raise ArgumentError(f"parameter group didn't specify a value of required optimization parameter {name}")
            group.setdefault(name, value)
        self.param_groups.append(group)

    def __check(self, params: list[Any]) -> None:
        """Refuse what cannot be changed by a step, and parameters that another group has."""
        for param in params:
            if not isinstance(param, Tensor):
                raise ArgumentError(
                    f"optimizer can only optimize Tensors, but one of the params is {type(param).__name__}"
                )
            if not (param.is_leaf or param.retains_grad):
                raise ArgumentError("can't optimize a non-leaf Tensor")
        if len({id(param) for param in params}) < len(params):
            notice("optimizer contains a parameter group with duplicate parameters: each step changes them twice.")
        held = {id(param) for group in self.param_groups for param in group["params"]}
        if any(id(param) in held for param in params):
            raise ArgumentError("some parameters appear in more than one parameter group")

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Take the gradients of all parameters away, or make them zeros."""
        for group in self.param_groups:
            without_gradients(group["params"], set_to_none)

    def step(self, closure: Callable[[], Any] | None = None) -> Any:  # noqa: ARG002
        """Change the parameters once; the class of an optimiser says how."""
        raise NoStep(f"{type(self).__name__} does not define step().")

    # ------------------------------------------------------------------------------------ state

    def state_dict(self) -> dict[str, Any]:
        """Settings and state, with numbers in place of the parameters."""
        for hook in _hooks(self, _STATE[0]):
            hook(self)
        numbers: dict[int, int] = {}
        for group in self.param_groups:
            for param in group["params"]:
                numbers.setdefault(id(param), len(numbers))
        groups = [{k: v for k, v in group.items() if k != "params"} for group in self.param_groups]
        for made, group in zip(groups, self.param_groups, strict=True):
            made["params"] = [numbers[id(param)] for param in group["params"]]
        state = {numbers[id(k)] if isinstance(k, Tensor) else k: v for k, v in self.state.items()}
        told: dict[str, Any] = {"state": state, "param_groups": groups}
        for hook in _hooks(self, _STATE[1]):
            told = hook(self, told) or told
        return told

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take what :meth:`state_dict` gave, for the same parameters in the same order.

        Raises ``ValueError`` where the groups are not as many or as long.
        """
        given = copy.copy(state_dict)
        for hook in _hooks(self, _LOAD[0]):
            given = hook(self, given) or given
        groups = [dict(group) for group in given["param_groups"]]
        if len(groups) != len(self.param_groups):
            raise ArgumentError("loaded state dict has a different number of parameter groups")
        if any(len(a["params"]) != len(b["params"]) for a, b in zip(groups, self.param_groups, strict=True)):
            raise ArgumentError(
                "loaded state dict contains a parameter group that doesn't match the size of optimizer's group"
            )
        by_number: dict[Any, Any] = {}
        for group, own in zip(groups, self.param_groups, strict=True):
            by_number.update(zip(group["params"], own["params"], strict=True))
            group["params"] = own["params"]
        state: Any = defaultdict(dict)
        for key, value in given["state"].items():
            owner = by_number.get(key, key)
            state[owner] = _suited(owner, copy.deepcopy(value))
        self.__setstate__({"state": state, "param_groups": groups})  # by which classes bring old states up to date
        for hook in _hooks(self, _LOAD[1]):
            hook(self)

    def __getstate__(self) -> dict[str, Any]:
        return {"defaults": self.defaults, "state": self.state, "param_groups": self.param_groups}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if _STEP[0] not in self.__dict__:
            self.__set_hooks()

    def __repr__(self) -> str:
        lines = [f"{type(self).__name__} ("]
        for k, group in enumerate(self.param_groups):
            lines += [*([""] if k else []), f"Parameter Group {k}"]
            lines += [f"    {name}: {group[name]}" for name in sorted(group) if name != "params"]
        return "\n".join([*lines, ")"])

    # ------------------------------------------------------------------------------------ hooks

    def register_step_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """``hook(optimizer, args, kwargs)`` is called before a step, and may return other ``(args, kwargs)``."""
        return attached(getattr(self, _STEP[0]), hook)

    def register_step_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """``hook(optimizer, args, kwargs)`` is called after a step."""
        return attached(getattr(self, _STEP[1]), hook)

    def register_state_dict_pre_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """``hook(optimizer)`` is called before the state is told."""
        return attached(getattr(self, _STATE[0]), hook, prepend)

    def register_state_dict_post_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """``hook(optimizer, state_dict)`` is called with the state, and may return another."""
        return attached(getattr(self, _STATE[1]), hook, prepend)

    def register_load_state_dict_pre_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """``hook(optimizer, state_dict)`` is called before a state is taken, and may return another."""
        return attached(getattr(self, _LOAD[0]), hook, prepend)

    def register_load_state_dict_post_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """``hook(optimizer)`` is called after a state is taken."""
        return attached(getattr(self, _LOAD[1]), hook, prepend)


def _hooks(optimizer: Any, table: str) -> list[Callable[..., Any]]:
    """The hooks of a table; one around another optimiser may have none, as it does not call ``__init__``."""
    return list(getattr(optimizer, table, {}).values())


def _between_hooks(step: Callable[..., Any]) -> Callable[..., Any]:
    """A step that calls the hooks of its optimiser before and after."""

    @functools.wraps(step)
    def hooked(self: Any, *args: Any, **kwargs: Any) -> Any:
        if self._is_stepping:  # super().step() of a class whose own step the hooks are around
            return step(self, *args, **kwargs)
        for hook in _hooks(self, _STEP[0]):
            changed = hook(self, args, kwargs)
            if changed is not None:
                if not isinstance(changed, tuple) or len(changed) != 2:
                    raise AutogradError(
                        f"a hook before a step must return None or a tuple of (args, kwargs), but got {changed!r}."
                    )
                args, kwargs = changed
        self._is_stepping = True
        try:
            out = step(self, *args, **kwargs)
        finally:
            self._is_stepping = False
        for hook in _hooks(self, _STEP[1]):
            hook(self, args, kwargs)
        return out

    return hooked


def _suited(param: Any, value: Any) -> Any:
    """Tensors of a state in the dtype of their parameter where that is of floats; counts of steps stay."""
    if isinstance(value, dict):
        return {key: inner if key == "step" else _suited(param, inner) for key, inner in value.items()}
    if isinstance(value, Tensor) and isinstance(param, Tensor) and param.is_floating_point():
        return value.to(param.dtype)
    return value

"""The state of a module as a dict from paths to tensors, and back."""

from __future__ import annotations

import functools
import itertools
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from symgrad.autograd.graphs.hooks import RemovableHandle, attached
from symgrad.errors import ArgumentError, AutogradError
from symgrad.nn.modules.calling import Caller
from symgrad.nn.parameter import Parameter
from symgrad.tape.modes import no_grad
from symgrad.tensor import Tensor

_EXTRA = "_extra_state"


class _IncompatibleKeys(NamedTuple):
    """What loading a state found missing, and what it had no place for."""

    missing_keys: list[str]
    unexpected_keys: list[str]

    def __repr__(self) -> str:
        if not any(self):
            return "<All keys matched successfully>"
        return f"_IncompatibleKeys(missing_keys={self.missing_keys}, unexpected_keys={self.unexpected_keys})"


class Keeper(Caller):
    """``state_dict`` and ``load_state_dict``."""

    _version: int = 1

    def __init__(self) -> None:
        super().__init__()
        for hooks in (
            "_state_dict_pre_hooks",
            "_state_dict_hooks",
            "_load_state_dict_pre_hooks",
            "_load_state_dict_post_hooks",
        ):
            object.__setattr__(self, hooks, OrderedDict())
        object.__setattr__(self, "_state_dict_hooks_of_changes", set())

    # ------------------------------------------------------------------------------------ out

    def state_dict(self, *, destination: Any = None, prefix: str = "", keep_vars: bool = False) -> Any:
        """Parameters and persistent buffers by their paths, detached unless ``keep_vars``; they share memory.

        ``destination``: a dict to put them into; ``prefix`` stands before all paths.
        """
        if destination is None:
            destination = OrderedDict()
            destination._metadata = OrderedDict()
        local = {"version": self._version}
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = local
        for hook in self._state_dict_pre_hooks.values():
            hook(self, prefix, keep_vars)
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
        for number, hook in self._state_dict_hooks.items():
            changed = hook(self, destination, prefix, local)
            if changed is not None and number in self._state_dict_hooks_of_changes:
                destination = changed
            elif changed is not None:
                raise AutogradError("state_dict post-hook must return None: it changes the dict in place.")
        return destination

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        """Put what this module holds itself into a dict; classes with a state of another kind do it otherwise."""
        for name, tensor in self.__own_state():
            destination[prefix + name] = tensor if keep_vars else tensor.detach()
        if type(self).get_extra_state is not Keeper.get_extra_state:
            destination[prefix + _EXTRA] = self.get_extra_state()

    def __own_state(self) -> list[tuple[str, Any]]:
        """Parameters, then buffers that are kept, with their names."""
        both = itertools.chain(self._parameters.items(), self._buffers.items())
        return [(name, t) for name, t in both if t is not None and name not in self._non_persistent_buffers_set]

    def get_extra_state(self) -> Any:
        """What else belongs to the state; classes with such define this and :meth:`set_extra_state`."""
        raise AutogradError("Reached a code path in Module.get_extra_state() that should never be called.")

    def set_extra_state(self, state: Any) -> None:  # noqa: ARG002
        """Take what :meth:`get_extra_state` gave."""
        raise AutogradError("Reached a code path in Module.set_extra_state() that should never be called.")

    # ------------------------------------------------------------------------------------ in

    def load_state_dict(self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False) -> Any:
        """Copy a state into parameters and buffers; ``assign``: its tensors take their place.

        Returns ``(missing_keys, unexpected_keys)``, which are both empty where ``strict``.  Raises ``TypeError`` for
        what is no mapping, ``RuntimeError`` for shapes that differ and, where ``strict``, for keys that do not fit.
        """
        if not isinstance(state_dict, Mapping):
            raise ArgumentError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
        given = OrderedDict(state_dict)
        metadata = getattr(state_dict, "_metadata", None)
        missing: list[str] = []
        unexpected: list[str] = []
        errors: list[str] = []
        self.__load(given, "", (metadata or {}, strict, assign), missing, unexpected, errors)
        if strict:
            for what, keys in (("Unexpected", unexpected), ("Missing", missing)):
                if keys:
                    errors.insert(0, f"{what} key(s) in state_dict: {', '.join(map(_quoted, keys))}. ")
        if errors:
            lines = "\n\t".join(errors)
            raise AutogradError(f"Error(s) in loading state_dict for {type(self).__name__}:\n\t{lines}")
        return _IncompatibleKeys(missing, unexpected)

    def __load(self, given: Any, prefix: str, how: Any, missing: Any, unexpected: Any, errors: list[str]) -> None:
        """Load a module and those below it; what has another prefix is none of its business."""
        metadata, strict, assign = how
        local = {**metadata.get(prefix[:-1], {}), **({"assign_to_params_buffers": True} if assign else {})}
        self._load_from_state_dict(given, prefix, local, True, missing, unexpected, errors)
        for name, module in self._modules.items():
            if module is not None:
                inner = f"{prefix}{name}."
                below = OrderedDict((key, value) for key, value in given.items() if key.startswith(inner))
                module.__load(below, inner, (metadata, strict, assign), missing, unexpected, errors)
        keys = _IncompatibleKeys(missing, unexpected)
        for hook in self._load_state_dict_post_hooks.values():
            if hook(self, keys) is not None:
                raise AutogradError("Hooks registered with ``register_load_state_dict_post_hook`` return nothing.")

    def _load_from_state_dict(
        self,
        state_dict: Any,
        prefix: str,
        local_metadata: dict[str, Any],
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        """Load what this module holds itself; classes with a state of another kind do it otherwise."""
        for hook in self._load_state_dict_pre_hooks.values():
            hook(state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)
        for name, tensor in self.__own_state():
            key = prefix + name
            if key not in state_dict:
                missing_keys.append(key)
            elif problem := self.__fill(name, tensor, key, state_dict[key], local_metadata):
                error_msgs.append(problem)
        if type(self).set_extra_state is not Keeper.set_extra_state:
            if prefix + _EXTRA in state_dict:
                self.set_extra_state(state_dict[prefix + _EXTRA])
            else:
                missing_keys.append(prefix + _EXTRA)
        own = {prefix + name for name, _ in self.__own_state()} | {prefix + _EXTRA}
        for key in state_dict if strict else ():
            first, dot, _ = key.removeprefix(prefix).partition(".")
            if key.startswith(prefix) and key not in own and not (dot and first in self._modules):
                unexpected_keys.append(key)

    def __fill(self, name: str, tensor: Any, key: str, value: Any, local: dict[str, Any]) -> str | None:
        """Give a parameter or buffer its value from a state; returns what is wrong with that."""
        if not isinstance(value, Tensor):
            return (
                f'While copying the parameter named "{key}", expected torch.Tensor or Tensor-like object from '
                f"checkpoint but received {type(value)}"
            )
        if tensor.ndim == 0 and tuple(value.shape) == (1,):
            value = value[0]
        if tuple(value.shape) != tuple(tensor.shape):
            return (
                f"size mismatch for {key}: copying a param with shape {value.shape} from checkpoint, the shape in "
                f"current model is {tensor.shape}."
            )
        if local.get("assign_to_params_buffers"):
            if name in self._parameters and isinstance(value, Parameter):
                value.requires_grad_(tensor.requires_grad)
            elif name in self._parameters:
                value = Parameter(value, tensor.requires_grad)
            setattr(self, name, value)
            return None
        with no_grad():
            tensor.copy_(value)
        return None

    # ------------------------------------------------------------------------------------ hooks

    def register_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """``hook(module, prefix, keep_vars)`` is called before the state is written."""
        return attached(self._state_dict_pre_hooks, hook)

    def register_state_dict_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """``hook(module, state_dict, prefix, local_metadata)`` is called after the state is written."""
        return attached(self._state_dict_hooks, hook)

    def _register_state_dict_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """As :meth:`register_state_dict_post_hook`, of a hook that may give another dict."""
        handle = attached(self._state_dict_hooks, hook)
        self._state_dict_hooks_of_changes.add(handle.id)
        return handle

    def register_load_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """``hook(module, state_dict, prefix, local_metadata, strict, missing, unexpected, errors)``, before loading."""
        return attached(self._load_state_dict_pre_hooks, functools.partial(hook, self))  # is copied with the module

    def _register_load_state_dict_pre_hook(self, hook: Callable[..., Any], with_module: bool = False) -> Any:
        return (
            self.register_load_state_dict_pre_hook(hook)
            if with_module
            else attached(self._load_state_dict_pre_hooks, hook)
        )

    def register_load_state_dict_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """``hook(module, incompatible_keys)`` is called after loading, and may change the lists of keys."""
        return attached(self._load_state_dict_post_hooks, hook)


def _quoted(key: str) -> str:
    return f'"{key}"'

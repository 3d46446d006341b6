"""What a node of torch.fx calls, as the function of this library that has its name.

Nothing is listed here: torch's functions are found by the names they are published under, which are those here, too.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any

import numpy as np

import symgrad as sg
from symgrad.errors import UnsupportedFunction
from symgrad.tensor.creation import tensor

SPACES = ("nn.functional", "linalg", "special", "fft", "")
"""Namespaces that torch and this library share."""
PYTHON = ("_operator", "operator", "builtins", "math")
"""Modules whose functions run as they are: tensors answer them."""
PLAIN = (int, float, complex, bool, str, tuple, list, dict, slice)
"""Classes, besides tensors, of the values that a program has."""
ALIKE = {"torch.channels_last", "torch.contiguous_format", "torch.preserve_format", "torch.channels_last_3d"}
"""Memory formats, which say how entries lie and not what they are."""


def method_of(name: str) -> Callable[..., Any]:
    """The call of a method; ``UnsupportedFunction`` where no value of a program has it."""
    if not hasattr(sg.Tensor, name) and not any(hasattr(kind, name) for kind in PLAIN):
        raise UnsupportedFunction(f"tensors have no method {name!r} here")

    def call(x: Any, *args: Any, **kwargs: Any) -> Any:
        return getattr(x, name)(*args, **kwargs)

    return call


def function_of(target: Any) -> Callable[..., Any]:
    """The function here for a function of torch, Python or ATen; ``UnsupportedFunction`` where there is none."""
    import torch

    if isinstance(target, (torch._ops.OpOverload, torch._ops.OpOverloadPacket)):
        from symgrad.foreign.aten import aten_of

        return aten_of(target)
    module = getattr(target, "__module__", None)
    found = _published().get(id(target))
    if found is not None:
        return found
    if module in PYTHON:
        return _with_numbers(target) if module == "math" else target
    if module is not None and not module.startswith("torch"):
        raise UnsupportedFunction("it is no function of torch; trace through it, without torch.fx.wrap")
    raise UnsupportedFunction("there is no function of that name here")


def _with_numbers(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of ``math``, which takes sizes and gives numbers."""
    return lambda *args: function(*args)


def name_of(target: Any) -> str:
    """What users call a target: ``torch.nn.functional.relu``."""
    if isinstance(target, str):
        return target
    known = _names().get(id(target))
    return known or f"{getattr(target, '__module__', '') or ''}.{getattr(target, '__name__', target)}".lstrip(".")


@functools.cache
def _names() -> dict[int, str]:
    """Torch's functions by identity: one object has one name, that of the first namespace."""
    import torch

    found: dict[int, str] = {}
    for space in SPACES:
        module = functools.reduce(getattr, filter(None, space.split(".")), torch)
        for name in dir(module):
            value = getattr(module, name, None)
            if callable(value) and not name.startswith("_") and not isinstance(value, (type, types.ModuleType)):
                found.setdefault(id(value), ".".join(filter(None, ("torch", space, name))))
    return found


@functools.cache
def _published() -> dict[int, Callable[..., Any]]:
    """The functions here for torch's, by identity of torch's."""
    found = {}
    for key, name in _names().items():
        space, _, last = name.removeprefix("torch.").rpartition(".")
        module = functools.reduce(getattr, filter(None, space.split(".")), sg)
        mine = getattr(module, last, None)
        if mine is not None and callable(mine):
            found[key] = mine
    return found


def setting(value: Any) -> Any:
    """A constant argument in this library's terms: dtypes, sizes, devices and tensors of torch are."""
    import torch

    if isinstance(value, torch.Tensor):
        return tensor(array_of(value))
    if isinstance(value, torch.dtype):
        return getattr(sg, str(value).removeprefix("torch."))
    if isinstance(value, torch.device):
        return "cpu"
    if isinstance(value, torch.Size):
        return tuple(value)
    return value


def array_of(value: Any) -> Any:
    """The entries of a tensor of torch as an array of their own."""
    import torch

    value = value.detach().cpu()
    if value.dtype is torch.bfloat16:
        return tensor(value.float().numpy()).to(sg.bfloat16).numpy()
    return np.array(value.resolve_conj().resolve_neg().numpy())


def is_format(value: Any) -> bool:
    """Whether an argument says how entries lie in memory."""
    return str(value) in ALIKE

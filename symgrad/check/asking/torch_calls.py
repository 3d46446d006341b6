"""Functions written for torch, run on tensors of this library: ``torch.exp(t)`` records what ``symgrad.exp(t)`` does.

torch asks the class of an argument what to do (its ``__torch_function__`` protocol).  Tensors answer while a check
follows a function, and custom functions run their ``forward`` then.  Whether the values are those on torch's own
tensors is compared afterwards, as for every function.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from symgrad.check.asking.arrays import as_array
from symgrad.devices import device
from symgrad.dtype_objects import KINDS
from symgrad.stand_in import loaded_torch
from symgrad.tape.record import Recorded
from symgrad.tape.watching.lookthrough import met_functions
from symgrad.tensor import Tensor

_ROOMS = ("linalg", "fft", "special")
"""Namespaces whose functions torch calls by names such as linalg_inv."""

_MAKING = (
    "arange", "as_tensor", "empty", "empty_like", "eye", "full", "full_like", "linspace", "logspace", "ones",
    "ones_like", "tensor", "zeros", "zeros_like",
)  # fmt: skip
"""Functions of torch that make arrays; they ask nobody what a dtype or a device of this library is."""

_SETTINGS = ("inplace", "dtype", "_stacklevel")
"""What torch's functions hand on though nobody has given it."""


@contextmanager
def torch_followed() -> Iterator[None]:
    """Inside, torch's functions take tensors of this library, and custom functions run their ``forward`` on them."""
    torch = loaded_torch()
    own = vars(Tensor).get("__torch_function__")  # of the classes that users derive
    if torch is None or getattr(own, "__func__", None) is _called:
        yield
        return
    function = torch.autograd.Function
    before = function.__dict__.get("apply")
    making = {name: getattr(torch, name) for name in _MAKING}
    Tensor.__torch_function__ = classmethod(_called)  # type: ignore[attr-defined]
    if before is not None:
        function.apply = classmethod(lambda cls, *args: _applied(cls, before.__func__, args))
    for name, make in making.items():
        setattr(torch, name, functools.partial(_made, make))
    try:
        with _mode()():
            yield
    finally:
        for name, make in making.items():
            setattr(torch, name, make)
        del Tensor.__torch_function__  # type: ignore[attr-defined]
        if own is not None:
            Tensor.__torch_function__ = own  # type: ignore[attr-defined]
        if before is not None:
            function.apply = before


@functools.cache
def _mode() -> Any:
    """A mode of torch in which the arrays that it makes of numbers, as zeros() does, are tensors of this library."""

    class Following(sys.modules["torch"].overrides.TorchFunctionMode):  # type: ignore[misc]
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            held = [a for a in (*args, *(kwargs or {}).values()) if isinstance(a, (list, tuple))]
            given = [*args, *(kwargs or {}).values(), *(a for group in held for a in group)]
            if any(isinstance(a, Recorded) for a in given):
                return _called(Tensor, func, types, args, kwargs)
            made = func(*args, **(kwargs or {}))
            alone = not any(isinstance(a, sys.modules["torch"].Tensor) for a in given)
            return _held(made) if alone else made

    return Following


def followable(f: Callable[..., Any]) -> Callable[..., Any]:
    """``Square.apply`` of torch in a form that :func:`torch_followed` can follow; other functions are themselves."""
    torch = loaded_torch()
    whose = getattr(f, "__self__", None)
    if torch is None or not isinstance(whose, type) or not issubclass(whose, torch.autograd.Function):
        return f
    return lambda *args: _applied(whose, f.__func__, args) if f.__name__ == "apply" else f(*args)  # type: ignore[attr-defined]


def _applied(cls: Any, apply: Callable[..., Any], args: Any) -> Any:
    """A custom function: on tensors of this library its ``forward``, whose operations are recorded."""
    if not any(isinstance(a, Recorded) for a in args):
        return apply(cls, *args)
    met = met_functions()
    if met is not None:
        met.append(cls.__name__)
    torch = sys.modules["torch"]
    apart = cls.setup_context is not torch.autograd.Function.setup_context
    return cls.forward(*args) if apart else cls.forward(_Context(len(args)), *args)


class _Context:
    """What ``forward`` leaves values on; nobody asks for them."""

    def __init__(self, count: int):
        self.needs_input_grad = (True,) * count

    def save_for_backward(self, *tensors: Any) -> None:
        """Keep tensors, as torch's context does."""
        self.saved_tensors = tensors

    def mark_dirty(self, *_: Any) -> None:
        """Nothing to note."""

    mark_non_differentiable = save_for_forward = set_materialize_grads = mark_dirty


def _made(own: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """An array that torch makes, or this library where the dtype or the device is that of a tensor of it."""
    ours = any(isinstance(a, (*KINDS, device)) for a in (*args, *kwargs.values()))
    return _called(Tensor, own, (), args, kwargs) if ours else own(*args, **kwargs)


def _called(cls: Any, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:  # noqa: ARG001
    """torch's question what a function of it does with a tensor of this library."""
    own = _counterpart(func)
    if own is None:
        raise TypeError(f"torch's {getattr(func, '__name__', func)} is not known here")
    given = {k: _held(v) for k, v in (kwargs or {}).items() if k not in _SETTINGS or (v is not None and v is not False)}
    given.pop("_stacklevel", None)
    return own(*map(_held, args), **given)


def _counterpart(func: Any) -> Any:
    """The function of this library that has the name, and the place, of one of torch."""
    symgrad = sys.modules["symgrad"]
    name, module = getattr(func, "__name__", ""), getattr(func, "__module__", None) or ""
    if module.startswith("torch.nn"):
        return getattr(symgrad.nn.functional, name, None)
    for room in _ROOMS:
        if name.startswith(f"{room}_"):
            return getattr(getattr(symgrad, room), name.removeprefix(f"{room}_"), None)
    if type(func).__name__ in ("method_descriptor", "wrapper_descriptor") or not module:
        return getattr(Tensor, name, None)
    return getattr(symgrad, name, None) or getattr(symgrad.nn.functional, name, None)


def _held(value: Any) -> Any:
    """torch's tensors and dtypes as those of this library, also in lists."""
    torch = sys.modules["torch"]
    if isinstance(value, torch.Tensor):
        return sys.modules["symgrad"].tensor(as_array(value))
    if isinstance(value, torch.dtype):
        return getattr(sys.modules["symgrad"], str(value).removeprefix("torch."))
    return type(value)(map(_held, value)) if type(value) in (list, tuple) else value

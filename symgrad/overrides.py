"""torch's names for ``__torch_function__``: functions that classes of users override, and modes that see every call."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from types import FunctionType, ModuleType
from typing import Any, Self

from symgrad.tape.overriding import METHODS, WITHIN, answers, disabled as disabled, dispatched, overriding, resolve_name
from symgrad.tensor import Tensor
from symgrad.tensor.overridden import watched

__all__ = [
    "TorchFunctionMode", "get_ignored_functions", "get_overridable_functions", "handle_torch_function",
    "has_torch_function", "has_torch_function_unary", "has_torch_function_variadic", "is_tensor_like",
    "is_tensor_method_or_property", "resolve_name", "wrap_torch_function",
]  # fmt: skip


def has_torch_function(relevant_args: Iterable[Any]) -> bool:
    """Whether the class of one of these arguments says itself what functions do with it, or a mode looks on.

    >>> import symgrad as sg
    >>> has_torch_function((sg.ones(2), 3))
    False
    """
    return not WITHIN.disabled and (bool(WITHIN.modes) or any(answers(type(arg)) for arg in relevant_args))


def has_torch_function_unary(arg: Any) -> bool:
    """:func:`has_torch_function` of one argument."""
    return has_torch_function((arg,))


def has_torch_function_variadic(*args: Any) -> bool:
    """:func:`has_torch_function` of several arguments."""
    return has_torch_function(args)


def handle_torch_function(public_api: Any, relevant_args: Iterable[Any], *args: Any, **kwargs: Any) -> Any:
    """What the classes of ``relevant_args`` make of ``public_api(*args, **kwargs)``.

    For functions of one's own, after :func:`has_torch_function`.  ``TypeError`` where no class knows.

    >>> import symgrad as sg
    >>> class Length(sg.Tensor):
    ...     pass
    >>> def twice(x):
    ...     return handle_torch_function(twice, (x,), x) if has_torch_function((x,)) else 2 * x
    >>> type(twice(sg.ones(2).as_subclass(Length))).__name__
    'Length'
    """
    return dispatched(public_api, overriding(relevant_args, {}), args, kwargs)


def wrap_torch_function(dispatcher: Callable[..., Iterable[Any]]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator of functions that classes may override; ``dispatcher`` gives the arguments whose classes are asked.

    >>> @wrap_torch_function(lambda x: (x,))
    ... def twice(x):
    ...     return 2 * x
    >>> twice(3)
    6
    """

    def inner(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            relevant = tuple(dispatcher(*args, **kwargs))
            if has_torch_function(relevant):
                return handle_torch_function(wrapped, relevant, *args, **kwargs)
            return function(*args, **kwargs)

        return wrapped

    return inner


def is_tensor_like(inp: Any) -> bool:
    """Whether something is a tensor, or of a class with ``__torch_function__``.

    >>> import symgrad as sg
    >>> is_tensor_like(sg.ones(2)), is_tensor_like(3)
    (True, False)
    """
    return isinstance(inp, Tensor) or hasattr(type(inp), "__torch_function__")


def is_tensor_method_or_property(func: Any) -> bool:
    """Whether a function that ``__torch_function__`` got is a method, or the reading of a property, of tensors.

    >>> import symgrad as sg
    >>> is_tensor_method_or_property(sg.Tensor.add), is_tensor_method_or_property(sg.add)
    (True, False)
    """
    return func in METHODS or getattr(func, "__name__", "") in ("__get__", "__set__", "__delete__")


def get_overridable_functions() -> dict[Any, list[Any]]:
    """The functions that classes may override, by the namespace that they stand in.

    >>> import symgrad as sg
    >>> sg.sin in get_overridable_functions()[sg]
    True
    """
    symgrad: Any = sys.modules["symgrad"]
    rooms: list[ModuleType] = [symgrad, symgrad.nn.functional, symgrad.linalg, symgrad.fft, symgrad.special]
    ignored = get_ignored_functions()
    found: dict[Any, list[Any]] = {
        room: [
            f
            for name in dir(room)
            if name[0] != "_" and isinstance(f := getattr(room, name), FunctionType) and f not in ignored
        ]
        for room in rooms
    }
    found[Tensor] = list(METHODS)
    return found


def get_ignored_functions() -> set[Any]:
    """What classes cannot override: what makes tensors of none, questions and settings.

    >>> import symgrad as sg
    >>> sg.zeros in get_ignored_functions(), sg.zeros_like in get_ignored_functions()
    (True, False)
    """
    symgrad: Any = sys.modules["symgrad"]
    return {getattr(symgrad, name) for name in _IGNORED.split()}


_IGNORED = """
    arange are_deterministic_algorithms_enabled as_strided as_tensor asarray bartlett_window blackman_window
    broadcast_shapes can_cast compile empty empty_permuted empty_strided enable_grad eye fill from_numpy frombuffer full
    get_default_device get_default_dtype get_float32_matmul_precision get_num_threads get_rng_state hamming_window
    hann_window inference_mode initial_seed is_anomaly_check_nan_enabled is_anomaly_enabled is_autocast_enabled
    is_grad_enabled is_inference_mode_enabled is_storage is_tensor is_warn_always_enabled kaiser_window linspace load
    logspace manual_seed no_grad normal ones promote_types rand rand_like randint randint_like randn randn_like randperm
    range result_type save scalar_tensor seed set_anomaly_enabled set_default_device
    set_default_tensor_type set_float32_matmul_precision set_grad_enabled set_num_threads set_printoptions set_rng_state
    set_warn_always sparse_coo_tensor tensor tril_indices triu_indices typename use_deterministic_algorithms vander vmap
    zeros
"""
"""Those of torch's that there are here."""


class TorchFunctionMode:
    """A context in which every function and method of tensors is handed to its ``__torch_function__``.

    >>> import symgrad as sg
    >>> class Names(TorchFunctionMode):
    ...     def __torch_function__(self, func, types, args=(), kwargs=None):
    ...         print(resolve_name(func))
    ...         return func(*args, **(kwargs or {}))
    >>> with Names():
    ...     x = sg.sin(sg.tensor([0.0]) * 2)
    torch.tensor
    torch.Tensor.mul
    torch.sin
    """

    _watching: AbstractContextManager[None]

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """What becomes of a call; ``NotImplemented`` leaves it to the classes of its arguments."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        self._watching = watched()
        self._watching.__enter__()
        WITHIN.modes = (*WITHIN.modes, self)
        return self

    def __exit__(self, *error: object) -> None:
        WITHIN.modes = WITHIN.modes[:-1]
        self._watching.__exit__(None, None, None)

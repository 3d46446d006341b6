"""Calling a module: its forward, between the hooks that were registered on it."""

from __future__ import annotations

import warnings
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from symgrad.autograd.graphs.hooks import RemovableHandle, attached
from symgrad.errors import AutogradError
from symgrad.nn.modules.backward_hooks import BackwardHooks, hang_on_last_node
from symgrad.nn.modules.walking import Walker

Hook = Callable[..., Any]


class UndefinedForward(AutogradError, NotImplementedError):
    """A module without ``forward`` is called."""


class _Call:
    """One call of a module: its arguments and its result, as hooks have made them so far."""

    def __init__(self, args: tuple[Any, ...], kwargs: dict[str, Any]):
        self.args, self.kwargs, self.result = args, kwargs, None
        self.hooked: set[int] = set()  # the numbers of the forward hooks that were called

    def follow(self, changed: Any) -> None:
        """Take what a hook gave, if it gave something, for the result."""
        if changed is not None:
            self.result = changed


class Caller(Walker):
    """Calls ``forward``, and the hooks around it."""

    _forward_pre_hooks: OrderedDict[int, Hook]
    _forward_hooks: OrderedDict[int, Hook]
    _backward_pre_hooks: OrderedDict[int, Hook]
    _backward_hooks: OrderedDict[int, Hook]
    _is_full_backward_hook: bool | None

    def __init__(self) -> None:
        super().__init__()
        put = object.__setattr__
        for table in ("_forward_pre_hooks", "_forward_hooks", "_backward_pre_hooks", "_backward_hooks"):
            put(self, table, OrderedDict())
        for flags in ("_forward_pre_hooks_with_kwargs", "_forward_hooks_with_kwargs", "_forward_hooks_always_called"):
            put(self, flags, {})
        put(self, "_is_full_backward_hook", None)

    def forward(self, *args: Any, **kwargs: Any) -> Any:  # noqa: ARG002
        """What the module computes; classes of modules define it."""
        raise UndefinedForward(f'Module [{type(self).__name__}] is missing the required "forward" function')

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """What ``forward`` gives for the arguments, unless hooks change one or the other."""
        if not (
            self._forward_hooks or self._forward_pre_hooks or self._backward_hooks or self._backward_pre_hooks or _NOTED
        ):
            return self.forward(*args, **kwargs)
        call = _Call(args, kwargs)
        try:
            return self.__between_hooks(call)
        except Exception:
            for holder, number, hook in self.__with_global("_forward_hooks"):
                if number in holder._forward_hooks_always_called and number not in call.hooked:
                    try:
                        call.follow(self.__after(holder, number, hook, call))
                    except Exception as error:  # noqa: BLE001  (that of the call is the one to tell)
                        warnings.warn(f"a forward hook that is always called raised {error!r}, too.", stacklevel=2)
            raise

    def __with_global(self, table: str) -> list[tuple[Any, int, Hook]]:
        """The hooks of all modules, then those of this one: who holds each, its number, and itself."""
        return [(holder, *entry) for holder in (EVERYWHERE, self) for entry in holder.__dict__[table].items()]

    def __between_hooks(self, call: _Call) -> Any:
        for holder, number, hook in self.__with_global("_forward_pre_hooks"):
            call.args, call.kwargs = self.__before(holder, number, hook, call.args, call.kwargs)
        backward = None
        full, partial, pre_hooks = self.__of_backward()
        if full or pre_hooks:
            backward = BackwardHooks(self, full, pre_hooks)
            call.args = backward.of_inputs(call.args)
        call.result = self.forward(*call.args, **call.kwargs)
        for holder, number, hook in self.__with_global("_forward_hooks"):
            call.hooked.add(number)
            call.follow(self.__after(holder, number, hook, call))
        call.follow(None if backward is None else backward.of_result(call.result))
        if partial:
            hang_on_last_node(self, partial, call.result)
        return call.result

    def __of_backward(self) -> tuple[list[Hook], list[Hook], list[Hook]]:
        """The backward hooks: full ones, those of the last node alone, and those that are called before."""
        full: list[Hook] = []
        partial: list[Hook] = []
        for holder, _, hook in self.__with_global("_backward_hooks"):
            (full if holder._is_full_backward_hook else partial).append(hook)
        return full, partial, [hook for _, _, hook in self.__with_global("_backward_pre_hooks")]

    def __before(
        self, holder: Any, number: int, hook: Hook, args: Any, kwargs: dict[str, Any]
    ) -> tuple[Any, dict[str, Any]]:
        """The arguments after a hook that may have given others."""
        if number not in holder._forward_pre_hooks_with_kwargs:
            changed = hook(self, args)
            return (args if changed is None else changed if isinstance(changed, tuple) else (changed,)), kwargs
        changed = hook(self, args, kwargs)
        if changed is None:
            return args, kwargs
        if not isinstance(changed, tuple) or len(changed) != 2:
            raise AutogradError(
                f"forward pre-hook must return None or a tuple of (new_args, new_kwargs), but got {changed}."
            )
        return changed

    def __after(self, holder: Any, number: int, hook: Hook, call: _Call) -> Any:
        named = (call.kwargs,) if number in holder._forward_hooks_with_kwargs else ()
        return hook(self, call.args, *named, call.result)

    # ------------------------------------------------------------------------------------ registering

    def register_forward_pre_hook(
        self, hook: Hook, *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """``hook(module, args)`` is called before ``forward``, and may return other arguments.

        ``prepend``: before the hooks that are there.  ``with_kwargs``: as ``hook(module, args, kwargs)``, which returns
        None or ``(args, kwargs)``.
        """
        handle = attached(self._forward_pre_hooks, hook, prepend, [self._forward_pre_hooks_with_kwargs])
        if with_kwargs:
            self._forward_pre_hooks_with_kwargs[handle.id] = True
        return handle

    def register_forward_hook(
        self, hook: Hook, *, prepend: bool = False, with_kwargs: bool = False, always_call: bool = False
    ) -> RemovableHandle:
        """``hook(module, args, result)`` is called after ``forward``, and may return another result.

        ``prepend``: before the hooks that are there.  ``with_kwargs``: as ``hook(module, args, kwargs, result)``.
        ``always_call``: also where ``forward`` raises, with the result None.
        """
        others = self._forward_hooks_with_kwargs, self._forward_hooks_always_called
        handle = attached(self._forward_hooks, hook, prepend, others)
        if with_kwargs:
            self._forward_hooks_with_kwargs[handle.id] = True
        if always_call:
            self._forward_hooks_always_called[handle.id] = True
        return handle

    def register_full_backward_pre_hook(self, hook: Hook, prepend: bool = False) -> RemovableHandle:
        """``hook(module, grad_output)`` is called before backward goes through, and may return other gradients."""
        return attached(self._backward_pre_hooks, hook, prepend)

    def register_full_backward_hook(self, hook: Hook, prepend: bool = False) -> RemovableHandle:
        """``hook(module, grad_input, grad_output)`` is called in backward, and may return another ``grad_input``.

        ``grad_input`` has an entry for each argument without a name, None for those that require no grad.
        """
        return self.__enter_backward(hook, prepend, full=True)

    def register_backward_hook(self, hook: Hook) -> RemovableHandle:
        """``hook(module, grad_input, grad_output)`` of the last node of the result, as old programs have it.

        ``grad_input`` has the gradients of that node's arguments, which need not be the module's;
        :meth:`register_full_backward_hook` has those.
        """
        return self.__enter_backward(hook, False, full=False)

    def __enter_backward(self, hook: Hook, prepend: bool, full: bool) -> RemovableHandle:
        if self._backward_hooks and self._is_full_backward_hook is (not full):
            raise AutogradError(
                "Cannot use both regular backward hooks and full backward hooks on a single Module. Please use only "
                "one of them."
            )
        object.__setattr__(self, "_is_full_backward_hook", full)
        return attached(self._backward_hooks, hook, prepend)


# ------------------------------------------------------------------------------------ hooks of all modules

EVERYWHERE = Caller()
"""It holds the hooks that are called with every module, before the module's own."""


_NOTED: dict[int, bool] = {}
"""The numbers of those hooks, at one look."""


def _noted(handle: RemovableHandle) -> RemovableHandle:
    handle.tables = (*handle.tables, _NOTED)
    _NOTED[handle.id] = True
    return handle


def register_module_forward_pre_hook(hook: Hook) -> RemovableHandle:
    """``hook(module, args)`` is called before ``forward`` of every module, and may return other arguments.

    >>> import symgrad as sg
    >>> seen = []
    >>> with register_module_forward_pre_hook(lambda module, args: seen.append(type(module).__name__)):
    ...     _ = sg.nn.Sequential(sg.nn.Tanh())(sg.ones(1))
    >>> seen
    ['Sequential', 'Tanh']
    """
    return _noted(EVERYWHERE.register_forward_pre_hook(hook))


def register_module_forward_hook(
    hook: Hook, *, with_kwargs: bool = False, always_call: bool = False
) -> RemovableHandle:
    """``hook(module, args, result)`` is called after ``forward`` of every module, and may return another result.

    ``with_kwargs``: as ``hook(module, args, kwargs, result)``; ``always_call``: also where ``forward`` raises.

    >>> import symgrad as sg
    >>> with register_module_forward_hook(lambda module, args, result: result * 2):
    ...     sg.nn.Identity()(sg.ones(1))
    tensor([2.])
    """
    return _noted(EVERYWHERE.register_forward_hook(hook, with_kwargs=with_kwargs, always_call=always_call))


def register_module_full_backward_pre_hook(hook: Hook) -> RemovableHandle:
    """``hook(module, grad_output)`` is called before backward goes through any module, and may return other gradients.

    >>> import symgrad as sg
    >>> x = sg.ones(1, requires_grad=True)
    >>> with register_module_full_backward_pre_hook(lambda module, grad: (grad[0] * 3,)):
    ...     sg.nn.Identity()(x).sum().backward()
    >>> x.grad
    tensor([3.])
    """
    return _noted(EVERYWHERE.register_full_backward_pre_hook(hook))


def register_module_full_backward_hook(hook: Hook) -> RemovableHandle:
    """``hook(module, grad_input, grad_output)`` is called in backward of every module.

    It may return another ``grad_input``.

    >>> import symgrad as sg
    >>> x, seen = sg.ones(1, requires_grad=True), []
    >>> with register_module_full_backward_hook(lambda module, taken, given: seen.append(given[0].item())):
    ...     sg.nn.Identity()(x * 1).sum().backward()
    >>> seen
    [1.0]
    """
    return _noted(EVERYWHERE.register_full_backward_hook(hook))


def register_module_backward_hook(hook: Hook) -> RemovableHandle:
    """``hook(module, grad_input, grad_output)`` of the last node of every module, as old programs have it.

    >>> import symgrad as sg
    >>> x, seen = sg.ones(1, requires_grad=True), []
    >>> with register_module_backward_hook(lambda module, taken, given: seen.append(given[0].item())):
    ...     sg.nn.Tanh()(x).sum().backward()
    >>> seen
    [1.0]
    """
    return _noted(EVERYWHERE.register_backward_hook(hook))

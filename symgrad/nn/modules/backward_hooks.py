"""The backward hooks of one call of a module: what goes in and what comes out passes a node on which they hang."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Sequence
from typing import Any

from symgrad.autograd import Function
from symgrad.errors import AutogradError
from symgrad.tape.modes import MODE
from symgrad.tensor import Tensor

Gradients = tuple[Any, ...]
Hook = Callable[..., Any]


class BackwardHookFunction(Function):
    """The tensors themselves, behind one node."""

    @staticmethod
    def forward(ctx: Any, *tensors: Any) -> Any:
        """See the class."""
        ctx.mark_non_differentiable(*(tensor for tensor in tensors if not tensor.requires_grad))
        return tensors

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        """See the class."""
        return gradients


class BackwardHooks:
    """Calls hooks with the gradients of a module's result, and of its arguments as soon as both are there."""

    def __init__(self, module: Any, hooks: Sequence[Hook], pre_hooks: Sequence[Hook]):
        self.module, self.hooks, self.pre_hooks = module, hooks, pre_hooks
        self.inputs = 0
        self.places: list[int] | None = None  # of the arguments that are tensors; None where none requires grad
        self.of_outputs: Gradients | None = None

    def of_inputs(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """The arguments of the call, behind the node that tells their gradients."""
        self.inputs = len(args)
        passed, self.places = _behind_one_node(args, self._leave)
        return passed

    def of_result(self, result: Any) -> Any:
        """The result of the call, behind the node that its gradients come in at."""
        if not isinstance(result, (Tensor, tuple)):
            warnings.warn(
                "For backward hooks to be called, module output should be a Tensor or a tuple of Tensors but received "
                f"{type(result)}",
                stacklevel=2,
            )
        row = result if isinstance(result, tuple) else (result,)
        places: list[int] | None = None

        def come_in(_: Any, gradients: Gradients) -> Gradients | None:
            return self._come_in(_spread(places, gradients, len(row)), places or [])

        passed, places = _behind_one_node(row, come_in)
        if not isinstance(result, tuple):
            return passed[0]
        return type(result)(*passed) if hasattr(result, "_fields") else passed

    def _come_in(self, gradients: Gradients, places: list[int]) -> Gradients | None:
        for hook in self.pre_hooks:
            gradients = _changed(hook(self.module, gradients), gradients, "pre hook", "grad_output")
        self.of_outputs = gradients
        if self.places is None:
            self._without_inputs()
        return tuple(gradients[place] for place in places)

    def _without_inputs(self) -> None:
        """No argument requires grad: the hooks are called when the gradients of the result are there."""
        warnings.warn(
            "Full backward hook is firing when gradients are computed with respect to module outputs since no inputs "
            "require gradients: grad_input is None for each of them.",
            stacklevel=2,
        )
        for hook in self.hooks:
            changed = hook(self.module, (None,) * self.inputs, self.of_outputs)
            if changed is not None and not (isinstance(changed, tuple) and all(g is None for g in changed)):
                raise AutogradError(
                    "Backward hook for Modules where no input requires gradient should always return None or None for "
                    "all gradients."
                )
        self.of_outputs = None

    def _leave(self, gradients: Gradients, _: Any) -> Gradients | None:
        """The hooks themselves; a gradient that did not come through the result does not call them."""
        if self.of_outputs is None:
            return None
        row = _spread(self.places, gradients, self.inputs)
        for hook in self.hooks:
            row = _changed(hook(self.module, row, self.of_outputs), row, "hook", "grad_input")
        self.of_outputs = None
        return tuple(row[place] for place in self.places or ())


def _changed(found: Any, gradients: Gradients, kind: str, what: str) -> Gradients:
    """The gradients that a hook gives in place of others, which are as many; these where it gives None."""
    if found is None:
        return gradients
    changed = found if isinstance(found, tuple) else (found,)
    if len(changed) != len(gradients):
        raise AutogradError(
            f"Backward {kind} returned an invalid number of {what}, got {len(changed)}, but expected {len(gradients)}"
        )
    return changed


def hang_on_last_node(module: Any, hooks: Sequence[Hook], result: Any) -> None:
    """Call hooks with the gradients of the node that made the first tensor of a result."""
    while not isinstance(result, Tensor):
        result = next(iter(result.values() if isinstance(result, dict) else result))
    if result.grad_fn is not None:
        for hook in hooks:
            result.grad_fn.register_hook(functools.partial(hook, module))


def _behind_one_node(row: tuple[Any, ...], hook: Hook) -> tuple[tuple[Any, ...], list[int] | None]:
    """The tensors of a row behind a node with a hook, and their places; the row itself where none requires grad."""
    places = [k for k, arg in enumerate(row) if isinstance(arg, Tensor)]
    if not (MODE.local.enabled and any(row[k].requires_grad for k in places)):
        return row, None
    passed = BackwardHookFunction.apply(*(row[k] for k in places))
    next(tensor.grad_fn for tensor in passed if tensor.grad_fn is not None).register_hook(hook)
    made = list(row)
    for place, tensor in zip(places, passed, strict=True):
        made[place] = tensor
    return tuple(made), places


def _spread(places: list[int] | None, gradients: Gradients, length: int) -> Gradients:
    """A row of gradients, with None at the places of what is no tensor."""
    row: list[Any] = [None] * length
    for place, gradient in zip(places or (), gradients, strict=True):
        row[place] = gradient
    return tuple(row)

"""Modules as functions of their weights, as ``functorch`` had them: ``make_functional`` and its kin.

``import functorch`` finds them after ``install_as_torch()``, beside ``vmap``, ``grad`` and the others of
:mod:`symgrad.func`.

>>> import symgrad as sg
>>> f, weights = make_functional(sg.nn.Linear(2, 1))
>>> f(weights, sg.ones(3, 2)).shape
torch.Size([3, 1])
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

from symgrad.errors import ArgumentError
from symgrad.func import *  # noqa: F403  (functorch has these names as well)
from symgrad.func.stateless import functional_call, stack_module_state

Weights = tuple[Any, ...]


def make_functional_with_buffers(
    model: Any, disable_autograd_tracking: bool = False
) -> tuple[Callable[..., Any], Weights, Weights]:
    """``(f, parameters, buffers)`` of a module, for ``f(parameters, buffers, *inputs)``; the module stays as it is.

    The parameters are leaves of their own, without gradients if ``disable_autograd_tracking``.

    >>> import symgrad as sg
    >>> f, parameters, buffers = make_functional_with_buffers(sg.nn.BatchNorm1d(2))
    >>> len(parameters), len(buffers)
    (2, 3)
    """
    model = copy.deepcopy(model)
    names = [name for name, _ in model.named_parameters()]
    kept = [name for name, _ in model.named_buffers()]

    def function(parameters: Sequence[Any], buffers: Sequence[Any], *args: Any, **kwargs: Any) -> Any:
        own = dict(zip((*names, *kept), (*parameters, *buffers), strict=True))
        return functional_call(model, own, args, kwargs)

    given = model.parameters()
    leaves = tuple(p.detach() if disable_autograd_tracking else p for p in given)
    return function, leaves, tuple(model.buffers())


def make_functional(model: Any, disable_autograd_tracking: bool = False) -> tuple[Callable[..., Any], Weights]:
    """``(f, parameters)`` of a module, for ``f(parameters, *inputs)``.  Raises ``ValueError`` for one with buffers.

    >>> import symgrad as sg
    >>> f, weights = make_functional(sg.nn.Linear(1, 1, bias=False))
    >>> sg.func.grad(lambda w: f(w, sg.ones(1)).sum())(weights)[0].tolist()
    [[1.0]]
    """
    function, leaves, buffers = make_functional_with_buffers(model, disable_autograd_tracking)
    if buffers:
        raise ArgumentError(
            "make_functional(model): `model` has buffers. Please use make_functional_with_buffers(model) instead."
        )
    return lambda parameters, *args, **kwargs: function(parameters, (), *args, **kwargs), leaves


def combine_state_for_ensemble(models: Sequence[Any]) -> tuple[Callable[..., Any], Weights, Weights]:
    """``(f, parameters, buffers)`` of several modules of one class, whose weights are stacked for ``vmap``.

    >>> import symgrad as sg
    >>> f, weights, buffers = combine_state_for_ensemble([sg.nn.Linear(2, 1) for _ in range(3)])
    >>> vmap(f, (0, 0, None))(weights, buffers, sg.ones(5, 2)).shape
    torch.Size([3, 5, 1])
    """
    parameters, buffers = stack_module_state(models)
    function, _, _ = make_functional_with_buffers(models[0])
    return function, tuple(parameters.values()), tuple(buffers.values())

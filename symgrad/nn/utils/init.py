"""Modules whose parameters are set afterwards."""

from __future__ import annotations

import inspect
from typing import Any

from symgrad.errors import ArgumentError
from symgrad.nn.modules.module import Module
from symgrad.random import fork_rng

__all__ = ["skip_init"]


def skip_init(module_cls: Any, *args: Any, **kwargs: Any) -> Any:
    """A module whose parameters have any values, and for which no random numbers are taken.

    Raises ``RuntimeError`` for what is no class of modules, and for classes that take no ``device``, as torch does.

    >>> import symgrad as sg
    >>> sg.nn.utils.skip_init(sg.nn.Linear, 3, 2)
    Linear(in_features=3, out_features=2, bias=True)
    """
    if not (isinstance(module_cls, type) and issubclass(module_cls, Module)):
        raise ArgumentError(f"Expected a Module; got {module_cls}")
    if "device" not in inspect.signature(module_cls).parameters:
        raise ArgumentError("Module must support a 'device' arg to skip initialization")
    with fork_rng():
        return module_cls(*args, **kwargs)

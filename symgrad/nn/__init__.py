"""Neural networks under torch's names: functions, modules that hold their weights, initial values.

The classes of modules stand in :mod:`symgrad.nn.modules`, which is loaded when the first of them is asked for.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from symgrad.nn import attention, functional, init, utils
from symgrad.nn.parameter import Buffer, Parameter

__all__ = ["Buffer", "Parameter", "attention", "functional", "init", "modules", "utils"]

if TYPE_CHECKING:
    from symgrad.nn import modules
    from symgrad.nn.modules import *  # noqa: F403

else:

    def __getattr__(name: str) -> Any:
        modules = importlib.import_module("symgrad.nn.modules")
        if name == "modules":
            return modules
        if name not in modules.__all__:
            raise AttributeError(f"module 'symgrad.nn' has no attribute {name!r}{modules.instead_of(name)}")
        return getattr(modules, name)

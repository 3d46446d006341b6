"""Neural networks under torch's names: functions, modules that hold their weights, initial values.

The classes of modules stand in :mod:`symgrad.nn.modules`, which is loaded when the first of them is asked for.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from symgrad.nn import attention as attention, functional as functional, init as init, utils as utils
from symgrad.nn.parameter import (
    Buffer as Buffer,
    Parameter as Parameter,
    UninitializedBuffer as UninitializedBuffer,
    UninitializedParameter as UninitializedParameter,
)

_HERE = [
    "Buffer", "DataParallel", "Parameter", "UninitializedBuffer", "UninitializedParameter", "attention", "functional",
    "init", "modules", "parallel", "utils",
]  # fmt: skip

if TYPE_CHECKING:
    from symgrad.nn import modules as modules, parallel as parallel
    from symgrad.nn.modules import *  # noqa: F403
    from symgrad.nn.parallel import DataParallel as DataParallel

else:

    def __getattr__(name: str) -> Any:
        modules = importlib.import_module("symgrad.nn.modules")
        if name == "modules":
            return modules
        if name in ("parallel", "DataParallel"):
            parallel = importlib.import_module("symgrad.nn.parallel")
            return getattr(parallel, name, parallel)
        if name == "__all__":  # for ``from symgrad.nn import *``
            return [*_HERE, *modules.__all__]
        if name not in modules.__all__:
            globals()[name] = modules.absent(name)
            return globals()[name]
        return getattr(modules, name)

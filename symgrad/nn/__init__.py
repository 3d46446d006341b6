"""Neural-network functions under torch's names; see :mod:`symgrad.nn.functional`.  There are no modules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from symgrad.nn import attention, functional, init, utils
from symgrad.nn.parameter import Parameter

__all__ = ["Parameter", "attention", "functional", "init", "utils"]


_SHORT = {
    "bceloss": "binary_cross_entropy",
    "bcewithlogitsloss": "binary_cross_entropy_with_logits",
    "identity": "",
}
_CONTAINERS = {
    "Module": "write a class of your own that keeps its nn.Parameters as attributes or in a dict",
    "Sequential": "call the functions one after the other",
    "ModuleList": "keep them in a list",
    "ModuleDict": "keep them in a dict",
    "ParameterList": "keep the nn.Parameters in a list",
    "ParameterDict": "keep the nn.Parameters in a dict",
}


if not TYPE_CHECKING:  # which knows what there is

    def __getattr__(name: str) -> Any:
        whole = name.lower()
        spelled = (_SHORT.get(whole), whole, whole.removesuffix("loss"), whole.rstrip("d").rstrip("123"))
        known = {function.replace("_", ""): function for function in functional.__all__}
        found = next((known[s.replace("_", "")] for s in spelled if s and s.replace("_", "") in known), None)
        instead = _CONTAINERS.get(name) or (f"this one is nn.functional.{found}" if found else "write it with ops")
        raise AttributeError(
            f"module 'symgrad.nn' has no attribute {name!r}: layers are functions here (nn.functional.linear(x, W, "
            f"b)), and their weights are tensors that you keep, or nn.Parameter; {instead}."
        )

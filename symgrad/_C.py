# ruff: noqa: N999  (torch's name)
"""Names of torch's C++ part that Python code for torch reaches for.

How classes switch ``__torch_function__`` off, and the error of matrices that have no inverse.
"""

import itertools
from typing import Any

from numpy.linalg import LinAlgError as _LinAlgError

from symgrad.autograd.graph import current_graph_task_id as _current_graph_task_id
from symgrad.tape import overriding

__all__ = [
    "DisableTorchFunction", "DisableTorchFunctionSubclass", "_LinAlgError", "_are_functorch_transforms_active",
    "_current_graph_task_id", "_disabled_torch_function_impl", "_get_privateuse1_backend_name", "_get_tracing_state",
    "_group_tensors_by_device_and_dtype", "_log_api_usage_once",
]  # fmt: skip

DisableTorchFunction = DisableTorchFunctionSubclass = overriding.disabled
_disabled_torch_function_impl = overriding.not_overriding


def _are_functorch_transforms_active() -> bool:
    """False: code that asks this leaves out what it cannot do inside of one, and here it can."""
    return False


def _get_privateuse1_backend_name() -> str:
    """What torch calls a device of somebody else's that has no name yet."""
    return "privateuseone"


def _get_tracing_state() -> None:
    """None: what is traced here runs as it always does."""


def _log_api_usage_once(event: str) -> None:
    """Nothing is counted here."""


def _group_tensors_by_device_and_dtype(
    lists: list[list[Any]], with_indices: bool = False
) -> dict[tuple[Any, Any], tuple[list[list[Any]], list[int]]]:
    """Lists of tensors beside one another, by the device and dtype of the first list's; with their places there."""
    groups: dict[tuple[Any, Any], tuple[list[list[Any]], list[int]]] = {}
    for place, row in enumerate(
        zip(*(column or itertools.repeat(None, len(lists[0])) for column in lists), strict=True)
    ):
        first = row[0]
        columns, places = groups.setdefault((first.device, first.dtype), ([[] for _ in lists], []))
        for column, given, taken in zip(columns, lists, row, strict=True):
            if given:
                column.append(taken)
        if with_indices:
            places.append(place)
    return groups

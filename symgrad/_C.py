# ruff: noqa: N999  (torch's name)
"""Names of torch's C++ part that Python code for torch reaches for.

How classes switch ``__torch_function__`` off, and the error of matrices that have no inverse.
"""

from numpy.linalg import LinAlgError as _LinAlgError

from symgrad.autograd.graph import current_graph_task_id as _current_graph_task_id
from symgrad.tape import overriding

__all__ = [
    "DisableTorchFunction", "DisableTorchFunctionSubclass", "_LinAlgError", "_current_graph_task_id",
    "_disabled_torch_function_impl", "_get_tracing_state", "_log_api_usage_once",
]  # fmt: skip

DisableTorchFunction = DisableTorchFunctionSubclass = overriding.disabled
_disabled_torch_function_impl = overriding.not_overriding


def _get_tracing_state() -> None:
    """None: what is traced here runs as it always does."""


def _log_api_usage_once(event: str) -> None:
    """Nothing is counted here."""

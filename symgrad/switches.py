"""Settings of the whole process under torch's names: threads, reproducibility."""

from __future__ import annotations

import os
import warnings
from contextlib import ContextDecorator
from typing import Any, Self

from symgrad.dtype_objects import dtype
from symgrad.errors import ArgumentError, UnsupportedMode
from symgrad.notices import is_warn_always_enabled, set_warn_always

__all__ = [
    "are_deterministic_algorithms_enabled", "autocast", "get_autocast_cpu_dtype", "get_autocast_dtype",
    "get_autocast_gpu_dtype", "get_float32_matmul_precision", "get_num_threads", "is_autocast_cache_enabled",
    "is_autocast_cpu_enabled", "is_autocast_enabled", "is_warn_always_enabled", "set_float32_matmul_precision",
    "set_num_threads", "set_warn_always", "use_deterministic_algorithms",
]  # fmt: skip


def get_num_threads() -> int:
    """The number of threads of NumPy's linear algebra; all else runs in the thread that calls it.

    It is asked of ``threadpoolctl`` where that is installed, else read from the environment (``OMP_NUM_THREADS``).

    >>> import symgrad as sg
    >>> sg.get_num_threads() >= 1
    True
    """
    try:
        from threadpoolctl import threadpool_info
    except ImportError:
        return int(os.environ.get("OMP_NUM_THREADS", os.cpu_count() or 1))
    return max((int(pool["num_threads"]) for pool in threadpool_info()), default=1)


def set_num_threads(number: int) -> None:
    """Set the number of threads of NumPy's linear algebra, with ``threadpoolctl``; warns where that is absent."""
    if number < 1:
        raise ArgumentError(f"set_num_threads expects a positive integer, but got {number}")
    try:
        from threadpoolctl import threadpool_limits
    except ImportError:
        warnings.warn(
            "set_num_threads has no effect: NumPy's threads can be set while a program runs with threadpoolctl only "
            "(pip install threadpoolctl), or before it starts with OMP_NUM_THREADS.",
            UserWarning,
            stacklevel=2,
        )
        return
    threadpool_limits(number)


_MATMUL = ["highest"]


def set_float32_matmul_precision(precision: str) -> None:
    """How exact products of float32 matrices may be: "highest", "high" or "medium"; here they are exact in any case.

    >>> import symgrad as sg
    >>> sg.set_float32_matmul_precision("high")
    >>> sg.get_float32_matmul_precision()
    'high'
    >>> sg.set_float32_matmul_precision("highest")
    """
    if precision not in ("highest", "high", "medium"):
        warnings.warn(
            f"{precision} is not one of 'highest', 'high', or 'medium'; the current setFloat32MatmulPrecision call has "
            "no effect.",
            UserWarning,
            stacklevel=2,
        )
        return
    _MATMUL[0] = precision


def get_float32_matmul_precision() -> str:
    """What :func:`set_float32_matmul_precision` was told last; "highest" at first.

    >>> import symgrad as sg
    >>> sg.get_float32_matmul_precision()
    'highest'
    """
    return _MATMUL[0]


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Ask for the same results in every run: that is so in either mode.

    >>> import symgrad as sg
    >>> sg.use_deterministic_algorithms(True)
    >>> sg.are_deterministic_algorithms_enabled()
    True
    """


def are_deterministic_algorithms_enabled() -> bool:
    """Whether results are the same in every run: always."""
    return True


class autocast(ContextDecorator):  # noqa: N801  (torch's name)
    """torch's automatic half precision, which is never on here: computations have the dtypes of their operands.

    ``autocast("cuda")`` warns, as torch does where there is no GPU, and does nothing; so does what is not ``enabled``.
    Raises ``UnsupportedMode`` for the CPU, where torch would compute products in bfloat16.

    >>> import symgrad as sg
    >>> with sg.autocast("cpu", enabled=False):
    ...     (sg.ones(2, 2) @ sg.ones(2)).dtype
    dtype('float32')
    """

    def __init__(self, device_type: str, dtype: Any = None, enabled: bool = True, cache_enabled: Any = None):  # noqa: ARG002
        if not enabled:
            return
        if device_type != "cuda":
            raise UnsupportedMode(
                f"autocast({device_type!r}) would compute products in {dtype or 'bfloat16'}, and symgrad computes in "
                "the dtypes that operands have: cast what is to be narrow (x.bfloat16()), or say enabled=False."
            )
        warnings.warn("CUDA is not available or torch_xla is imported. Disabling autocast.", UserWarning, stacklevel=2)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass


def is_autocast_enabled(device_type: str | None = None) -> bool:  # noqa: ARG001
    """Whether products are computed in half precision of themselves: never."""
    return False


def is_autocast_cpu_enabled() -> bool:
    """Whether products are computed in bfloat16 of themselves on the CPU: never."""
    return False


def is_autocast_cache_enabled() -> bool:
    """Whether casts of parameters would be kept: as torch's setting, which nothing changes here."""
    return True


def get_autocast_dtype(device_type: str) -> Any:
    """The dtype that torch's :class:`autocast` has if none is named: float16, and bfloat16 on the CPU.

    >>> import symgrad as sg
    >>> sg.get_autocast_dtype("cuda"), sg.get_autocast_dtype("cpu")
    (dtype('float16'), dtype(bfloat16))
    """
    return dtype("bfloat16" if device_type == "cpu" else "float16")


def get_autocast_cpu_dtype() -> Any:
    """:func:`get_autocast_dtype` of the CPU: bfloat16."""
    return get_autocast_dtype("cpu")


def get_autocast_gpu_dtype() -> Any:
    """:func:`get_autocast_dtype` of a GPU: float16."""
    return get_autocast_dtype("cuda")

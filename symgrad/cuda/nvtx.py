"""Marks for a profiler of GPUs: without one, making a range is fine, and entering it raises."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

from symgrad.errors import DeviceError


def _refuse(*args: Any, **kwargs: Any) -> NoReturn:  # noqa: ARG001
    raise DeviceError("NVTX functions not installed. Are you sure you have a CUDA build? There is no GPU here.")


mark = range_push = range_pop = range_start = range_end = _refuse


@contextmanager
def range(msg: str, *args: Any, **kwargs: Any) -> Iterator[None]:
    """What a block is called in such a profile."""
    range_push(msg.format(*args, **kwargs))
    yield

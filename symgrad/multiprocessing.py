"""``torch.multiprocessing``: Python's module of this name, whose processes have this library for torch as well.

Tensors that go from one process to another are copied; there is no memory that several share.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Sequence
from multiprocessing import *  # noqa: F403
from typing import Any

from symgrad.errors import ArgumentError, WorkerError


def get_all_sharing_strategies() -> set[str]:
    """How tensors can go to other processes: by their values."""
    return {"file_system"}


def get_sharing_strategy() -> str:
    """How tensors go to other processes."""
    return "file_system"


def set_sharing_strategy(new_strategy: str) -> None:
    """Nothing, as there is one.  Raises ``ArgumentError`` for what torch has no strategy of."""
    if new_strategy not in ("file_system", "file_descriptor"):
        raise ArgumentError(f"set_sharing_strategy({new_strategy!r}): it is 'file_system' or 'file_descriptor'")


class ProcessContext:
    """Processes that :func:`spawn` started."""

    def __init__(self, processes: Sequence[Any]):
        self.processes = list(processes)

    def pids(self) -> list[Any]:
        """The numbers that the system has for them."""
        return [process.pid for process in self.processes]

    def join(self, timeout: float | None = None) -> bool:
        """Wait for them, and tell whether all have ended.  Raises ``RuntimeError`` where one of them failed."""
        for process in self.processes:
            process.join(timeout)
        for number, process in enumerate(self.processes):
            if process.exitcode:
                raise WorkerError(f"process {number} terminated with exit code {process.exitcode}")
        return all(process.exitcode == 0 for process in self.processes)


def spawn(
    fn: Callable[..., Any],
    args: Sequence[Any] = (),
    nprocs: int = 1,
    join: bool = True,
    daemon: bool = False,
    start_method: str = "spawn",
) -> ProcessContext | None:
    """Start ``nprocs`` processes, each of which calls ``fn(number, *args)``, and wait for them if ``join``.

    Raises ``RuntimeError`` where one of them failed.
    """
    context: Any = multiprocessing.get_context(start_method)
    made = [context.Process(target=fn, args=(number, *args), daemon=daemon) for number in range(nprocs)]
    for process in made:
        process.start()
    started = ProcessContext(made)
    if not join:
        return started
    started.join()
    return None

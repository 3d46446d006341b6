"""``torch.multiprocessing``: Python's module of this name, whose processes have this library for torch as well.

Tensors that go from one process to another are copied; there is no memory that several share.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Sequence
from multiprocessing import *  # noqa: F403
from multiprocessing import connection
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

    def join(self, timeout: float | None = None, grace_period: float | None = None) -> bool:
        """Wait until one of them ends, and tell whether all have ended: ``while not started.join(): pass``.

        Raises ``RuntimeError`` where one of them failed; the others are ended then, and killed if that takes longer
        than ``grace_period`` seconds.
        """
        running = [process.sentinel for process in self.processes if process.exitcode is None]
        if running and not any(process.exitcode for process in self.processes):
            connection.wait(running, timeout)
        codes = [process.exitcode for process in self.processes]
        failed = next((number for number, code in enumerate(codes) if code), None)
        if failed is None:
            return None not in codes
        for process in self.processes:
            process.terminate()
        for process in self.processes:
            process.join(30 if grace_period is None else grace_period)
            process.kill()
        raise WorkerError(f"process {failed} terminated with exit code {codes[failed]}")


def spawn(
    fn: Callable[..., Any],
    args: Sequence[Any] = (),
    nprocs: int = 1,
    join: bool = True,
    daemon: bool = False,
    start_method: str = "spawn",
) -> ProcessContext | None:
    """Start ``nprocs`` processes, each of which calls ``fn(number, *args)``, and wait for them if ``join``.

    Raises ``RuntimeError`` where one of them failed, and ends the others.
    """
    context: Any = multiprocessing.get_context(start_method)
    made = [context.Process(target=fn, args=(number, *args), daemon=daemon) for number in range(nprocs)]
    for process in made:
        process.start()
    started = ProcessContext(made)
    if not join:
        return started
    while not started.join():
        pass
    return None

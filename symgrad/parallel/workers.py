"""Worker processes: the standard library's pool, told once what function it is for."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import threading
import traceback
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import resource_tracker
from typing import Any, NamedTuple

from symgrad.errors import ArgumentError, WorkerError
from symgrad.parallel.marks import Marks, differing, marks_of
from symgrad.parallel.memory import Place, Window
from symgrad.parallel.work import Arguments, Manners, Span, run


class Task(NamedTuple):
    """A run of chunks for one worker; ``sums`` is where their gradients go, ``pieces`` where parts of those go."""

    given: Arguments
    arrays: list[Place]
    spans: list[Span]
    sums: list[Place]
    pieces: dict[int, tuple[Place, int]]
    manners: Manners
    marks: Marks


class Pool:
    """The processes of one function; ``marks`` says what it read from outside when they began."""

    def __init__(self, job: Any, workers: int, start_method: str | None, marks: Marks):
        self.marks = marks
        self.owner = os.getpid()
        self.alive = True
        context = multiprocessing.get_context(start_method)
        forks = context.get_start_method() == "fork"
        # What opens a block of memory tells the tracker of its process: workers shall have this one's.
        resource_tracker.ensure_running()
        self._pool = ProcessPoolExecutor(
            workers, mp_context=context, initializer=_begin, initargs=(job if forks else _written(job), )
        )  # fmt: skip

    def results(self, tasks: Sequence[Task]) -> list[Any]:
        """What the tasks give; the error of the first task that fails, when none runs any more.

        Whatever interrupts the wait ends the processes.
        """
        futures: list[Future[Any]] = []
        try:
            futures += [self._pool.submit(_done, task) for task in tasks]
            wait(futures, return_when="FIRST_EXCEPTION")
            for future in futures:
                future.cancel()
            wait(futures)
            return [future.result() for future in futures if not future.cancelled()]
        except BrokenProcessPool as error:
            self.kill()
            raise WorkerError(
                "parallel: a worker process ended without an answer. It was killed (no memory left?), or it could not "
                "begin: a program that does not fork (start_method, or the default of macOS, Windows and Python 3.14) "
                'runs its file again in every worker, and has to call this under `if __name__ == "__main__":`.'
            ) from error
        except BaseException as error:
            if not isinstance(error, Exception):
                self.kill()
            raise

    @property
    def usable(self) -> bool:
        """Whether these are living processes of this one."""
        return self.alive and self.owner == os.getpid()

    def close(self) -> None:
        """End the processes when they have done their tasks."""
        if self.owner == os.getpid():  # else they are those of the process that this one was forked from
            self._pool.shutdown(wait=True, cancel_futures=True)

    def kill(self) -> None:
        """End the processes now."""
        self.alive = False
        if self.owner != os.getpid():
            return
        processes = list((getattr(self._pool, "_processes", None) or {}).values())
        for process in processes:
            process.kill()
        self._pool.shutdown(wait=True, cancel_futures=True)


def _written(job: Any) -> bytes:
    """A job for processes that do not begin as copies of this one."""
    try:
        return pickle.dumps(job)
    except Exception as error:
        raise ArgumentError(
            f"parallel: {job.name} cannot be sent to worker processes "
            f"({error}). Where they are forked (start_method='fork', on Linux) any function will do; otherwise define "
            "it at the top of a module, or give the program that symgrad.compile makes of a tensor's graph."
        ) from error


# ---------------------------------------------------------------------------------------------- in the worker


class _Worker:
    """What a worker process has: its job, and the memory that it looks at."""

    def __init__(self, job: Any):
        self.job = job
        self.window = Window()
        self.compared = False

    def ready(self, marks: Marks) -> Any:
        """The job; ``ArgumentError`` where its function cannot be found here, or reads other values than at home."""
        if isinstance(self.job, bytes):
            try:
                self.job = pickle.loads(self.job)
            except (AttributeError, ImportError) as error:
                raise ArgumentError(
                    f"parallel: a worker process cannot import the function ({error}). Functions of a notebook or of "
                    "the interactive prompt go to workers by fork only (start_method='fork', on Linux): write it to a "
                    "module and import it."
                ) from error
        if not self.compared:
            other = differing(marks, marks_of(self.job.function))
            if other:
                raise ArgumentError(
                    f"parallel: the function reads {', '.join(other)} from outside, which in a worker process is not "
                    "what it is here: a worker imports the module anew. Pass it as an argument."
                )
            self.compared = True
        return self.job


_worker: list[_Worker] = []


def _begin(job: Any) -> None:
    """The first thing that a worker does; how it ends is the business of the process that began it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    _worker[:] = [_Worker(job)]


def _end_with(parent: Any) -> None:
    """End when the parent is gone, also if it was killed."""
    parent.join()
    os._exit(1)


def _done(task: Task) -> Any:
    """One task, in a worker: sums are left in memory, the rest is sent."""
    return _sendable(lambda: _computed(task))


def _computed(task: Task) -> Any:
    worker = _worker[0]
    job, window = worker.ready(task.marks), worker.window
    places = [*task.arrays, *task.sums, *(place for place, _ in task.pieces.values())]
    window.close_all_but({place.block for place in places})
    arrays = window.look(task.arrays)
    wholes = window.look([place for place, _ in task.pieces.values()])
    pieces = {k: (whole, task.pieces[k][1]) for k, whole in zip(task.pieces, wholes, strict=True)}
    sums, extra = run(job, task.given, arrays, task.spans, pieces, task.manners)
    value, *slopes = sums
    for target, found in zip(window.look(task.sums), slopes, strict=True):
        target[...] = found
    return value, extra


def _sendable(call: Callable[[], Any]) -> Any:
    """What a call gives; what it raises, in a form that pickle brings home."""
    try:
        return call()
    except Exception as error:
        try:
            pickle.loads(pickle.dumps(error))
        except Exception:  # noqa: BLE001  (anything that a constructor raises)
            raise WorkerError(
                f"{type(error).__name__}: {error}\n\n{''.join(traceback.format_exception(error))}"
            ) from None
        raise

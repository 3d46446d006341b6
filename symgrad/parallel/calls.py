"""What users call: the value and gradient of a batch, computed by several processes."""

from __future__ import annotations

import functools
import multiprocessing
import os
import threading
import weakref
from collections.abc import Callable
from typing import Any, Self

import numpy as np

from symgrad.errors import ArgumentError
from symgrad.func.bound import Argnums, check_function
from symgrad.parallel.arguments import Wanted, cut_up, spans_of
from symgrad.parallel.marks import marks_of
from symgrad.parallel.memory import Arena, place_of
from symgrad.parallel.pieces import branches, tree_sum
from symgrad.parallel.trial import try_reduction
from symgrad.parallel.work import Arguments, Gradients, Manners, Span, run
from symgrad.parallel.workers import Pool, Task
from symgrad.tape.record import plain
from symgrad.tensor import Tensor


def value_and_grad(
    func: Callable[..., Any],
    argnums: Argnums = 0,
    has_aux: bool = False,
    *,
    in_axes: Any = None,
    reduction: str = "mean",
    workers: int | None = None,
    chunks: int = 16,
    start_method: str | None = None,
    randomness: str = "error",
    verify: bool = True,
) -> ParallelGradient:
    """:func:`symgrad.func.value_and_grad` of a batch that is cut into ``chunks``, computed by ``workers`` processes.

    ``in_axes`` names the axis of each argument along which the examples lie, as in ``jax.vmap``: an int for all, or a
    tuple nested like the arguments, with None for what all chunks share.  Without it, arrays of arguments that are not
    differentiated are cut along their first axis (numbers and arrays without axes are shared); arrays given by keyword
    always are.  ``reduction`` says what ``func`` does with its examples: "mean" if it averages over them (a chunk then
    counts by its number of examples), "sum" if it adds them.  The first call, the second, the fourth and so on try on a
    few examples whether that is so, and raise ``ArgumentError`` if not, unless ``verify`` is False.

    The values and gradients of the chunks are added in pairs, the pairs in pairs, and so on.  Neither the chunks nor
    this tree depend on ``workers``: 1 (no process at all), 2 and 4 give the same bits.  More ``chunks`` than
    examples are as many as there are examples.  Gradients by arguments that are cut are joined again; with ``has_aux``
    the result is ``((value, [aux of each chunk]), gradient)``.

    Processes begin at the first call and stay until ``close()``, the end of a ``with`` block or of the object.
    ``workers`` is by default the number of processors, ``start_method`` Python's ("fork" takes any function, the others
    those that a module has).  What ``func`` reads from outside is copied when processes begin; a change of arrays,
    numbers and texts there is noticed at the next call, which begins anew.  Arrays go through shared memory: those of
    :func:`share` are not copied at all.  Random numbers are refused unless ``randomness`` is "different": then every
    chunk draws its own, which follow from :func:`symgrad.manual_seed`.

    The result has no history: ``ArgumentError`` where somebody outside differentiates by an argument, or by a tensor
    that ``func`` takes from outside.  An error of a chunk is raised here with the worker's traceback, that of the first
    chunk if several fail; ``WorkerError`` where a process ends.

    >>> import symgrad as sg, numpy as np
    >>> X, y = np.arange(6.0).reshape(3, 2), np.array([1.0, 2.0, 3.0])
    >>> with sg.parallel.value_and_grad(lambda w, X, y: ((X @ w - y) ** 2).mean(), workers=1) as both:
    ...     both(np.ones(2), X, y)
    (tensor(15., dtype=float64), tensor([20., 26.], dtype=float64))
    """
    check_function(func, "parallel.value_and_grad")
    if reduction not in ("mean", "sum"):
        raise ArgumentError(f"parallel: reduction is 'mean' or 'sum', got {reduction!r}.")
    if randomness not in ("error", "different"):
        raise ArgumentError(f"parallel: randomness is 'error' or 'different', got {randomness!r}.")
    if start_method not in (None, *multiprocessing.get_all_start_methods()):
        known = multiprocessing.get_all_start_methods()
        raise ArgumentError(f"parallel: start_method is None or one of {known} on this system, got {start_method!r}.")
    for name, count in (("workers", workers), ("chunks", chunks)):
        if count is not None and (not isinstance(count, int) or isinstance(count, bool) or count < 1):
            raise ArgumentError(f"parallel: {name} is a positive whole number, got {count!r}.")
    if workers is not None and workers > chunks:
        raise ArgumentError(
            f"parallel: {workers} workers have only {chunks} chunks to share; ask for more (chunks={workers}). The "
            "last bits of the result depend on the chunks, and on the workers they do not."
        )
    job = Gradients(func, argnums, has_aux, reduction == "mean", randomness)
    return ParallelGradient(job, in_axes, min(workers or _processors(), chunks), chunks, start_method, verify)


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class ParallelGradient:
    """What :func:`value_and_grad` gives: a function, and the processes behind it, which ``close()`` ends."""

    def __init__(
        self, job: Gradients, in_axes: Any, workers: int, chunks: int, start_method: str | None, verify: bool
    ):  # fmt: skip
        self.workers = workers
        self.chunks = chunks
        self._job = job
        self._in_axes = in_axes
        self._start_method = start_method
        self._verify = verify
        self._calls = 0
        self._told = False
        self._lock = threading.Lock()
        self._held = _Held()
        self._end = weakref.finalize(self, self._held.close)
        functools.update_wrapper(self, job.function, ("__name__", "__qualname__", "__doc__"), ())

    def __repr__(self) -> str:
        name = getattr(self, "__name__", "f")
        return f"<value_and_grad of {name}, {self.chunks} chunks, workers={self.workers}>"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """End the processes and free their memory; the next call begins anew."""
        with self._lock:
            self._held.close()

    def __reduce__(self) -> Any:
        settings = self._in_axes, self.workers, self.chunks, self._start_method, self._verify
        return ParallelGradient, (self._job, *settings)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """``(value, gradient)``."""
        with self._lock:
            return self._called(args, kwargs)

    def _called(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        job = self._job
        given, arrays, size = cut_up(args, kwargs, job.argnums, self._in_axes)
        if self._verify and job.randomness == "error":
            # What is 0 at the first weights, a penalty of zeros for one, shows later.
            self._calls += 1
            if not self._told or not self._calls & (self._calls - 1):
                self._told = try_reduction(job, given, arrays, size)
        wanted = Wanted(args, job.argnums, given.axes)
        spans = spans_of(size, min(self.chunks, size), job.randomness)
        runs = branches(len(spans), self.workers)
        if self.workers == 1 or len(runs) == 1:
            pieces = {k: (np.empty(shape, dtype), axis) for k, (shape, dtype, axis) in wanted.joined.items()}
            sums, extra = run(job, given, arrays, spans, pieces, Manners.here())
        else:
            sums, extra, pieces = self._by_workers(given, arrays, [spans[a:b] for a, b in runs], wanted)
        value, *slopes = sums
        found = wanted.nested(slopes, {k: whole for k, (whole, _) in pieces.items()})
        out = plain(Tensor, value.astype(extra[0].dtype)[()])
        return ((out, [each.aux for each in extra]) if job.has_aux else out), found

    def _by_workers(self, given: Arguments, arrays: list[Any], runs: list[list[Span]], wanted: Wanted) -> Any:
        """The sums, the aux of all chunks, and the gradients that are joined."""
        pool = self._held.ready(self._job, self.workers, self._start_method)
        arena = self._held.arena
        places = [place_of(array) for array in arrays]
        sizes = [array.nbytes for array, place in zip(arrays, places, strict=True) if place is None]
        arena.begin([*sizes, *wanted.bytes_of_joined(), *wanted.bytes_of_added() * len(runs)])
        sent = [arena.put(array) if place is None else place for array, place in zip(arrays, places, strict=True)]
        joined = {k: (arena.room(shape, dtype), axis) for k, (shape, dtype, axis) in wanted.joined.items()}
        manners, tasks = Manners.here(), []
        for spans in runs:
            into = [arena.room(shape, dtype) for shape, dtype in wanted.added]
            tasks.append(Task(given, sent, spans, into, joined, manners, pool.marks))
        found = pool.results(tasks)
        # What is added up is written to: the first of every pair must not lie in memory that the next call uses.
        rows = ([value, *(arena.read(p).copy() for p in t.sums)] for (value, _), t in zip(found, tasks, strict=True))
        pieces = {k: (arena.read(place).copy(), axis) for k, (place, axis) in joined.items()}
        return tree_sum(rows), [each for _, extra in found for each in extra], pieces


class _Held:
    """The processes and the memory of one function."""

    def __init__(self) -> None:
        self.pool: Pool | None = None
        self.arena = Arena()

    def ready(self, job: Gradients, workers: int, start_method: str | None) -> Pool:
        """The processes, begun anew where the function reads other values from outside than they have."""
        marks = marks_of(job.function)
        if self.pool is None or not self.pool.usable or self.pool.marks != marks:
            self.close()
            self.pool, self.arena = Pool(job, workers, start_method, marks), Arena()
        return self.pool

    def close(self) -> None:
        """End the processes, free the memory."""
        if self.pool is not None:
            self.pool.close()
            self.pool = None
        self.arena.close()

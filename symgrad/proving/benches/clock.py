"""Times of several functions in one process, measured in turns, so that other work on the machine hits all of them."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

Run = Callable[[], Any]
_TURN = 0.005
"""Seconds that a function has before it is another one's turn."""


def took(run: Run, number: int = 1, clock: Callable[[], float] = time.perf_counter) -> float:
    """Seconds of one call, on average over ``number`` of them."""
    start = clock()
    for _ in range(number):
        run()
    return (clock() - start) / number


def interleaved(runs: Sequence[Run], seconds: float, clock: Callable[[], float] = time.perf_counter) -> list[float]:
    """The least time of each function, over turns of some milliseconds that they take one after the other.

    ``clock``: ``time.process_time`` for what runs in one thread, as it stands still while others have the processor.

    >>> len(interleaved([lambda: sum(range(100)), lambda: None], 0.01))
    2
    """
    for run in runs:
        run()  # traces and compiles, if it has to
    numbers = [max(1, int(_TURN / max(took(run), 1e-9))) for run in runs]
    best = [float("inf")] * len(runs)
    end = time.perf_counter() + seconds
    rounds = 0
    while rounds < 3 or time.perf_counter() < end:
        best = [min(b, took(run, n, clock)) for b, run, n in zip(best, runs, numbers, strict=True)]
        rounds += 1
    return best

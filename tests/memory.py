"""Bytes of memory as tests measure them: those of the code in question, whatever else the process does."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable

TRIES = 3


def _least(run: Callable[[], object], below: float, which: int) -> int:
    """The figure of one run, measured again where it is not below the limit.

    All of the process is measured: one of its tables may grow meanwhile (that of interned names, which thousands of
    tests have filled, by 3.8 MB at once), a module be loaded, or a thread be at work.  That only adds, and not every
    time; what the code itself takes is there in every run.
    """
    found = []
    for _ in range(TRIES):
        gc.collect()
        tracemalloc.start()
        try:
            before = tracemalloc.get_traced_memory()[0]
            kept = run()
            gc.collect()
            found.append(tracemalloc.get_traced_memory()[which] - before)
        finally:
            tracemalloc.stop()
        del kept
        if found[-1] < below:
            break
    return min(found)


def peak(run: Callable[[], object], below: float) -> int:
    """Bytes in use at most while ``run()`` works, which should be less than ``below``."""
    return _least(run, below, 1)


def left(run: Callable[[], object], below: float) -> int:
    """Bytes in use after ``run()``, with what it returns; they should be less than ``below``."""
    return _least(run, below, 0)

"""torch.profiler: what :mod:`symgrad.autograd.profiler` measures, step by step and by a plan.

>>> import symgrad as sg
>>> from symgrad.profiler import ProfilerActivity, profile, record_function
>>> with profile(activities=[ProfilerActivity.CPU]) as prof, record_function("loss"):
...     _ = sg.ones(2) * 2
>>> [row.key for row in prof.key_averages()]
['loss', 'mul']
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable, Iterable
from enum import Enum
from pathlib import Path
from typing import Any, Self

from symgrad.autograd import profiler
from symgrad.autograd.profiler import record_function
from symgrad.errors import ArgumentError

__all__ = [
    "ProfilerAction", "ProfilerActivity", "profile", "record_function", "schedule", "supported_activities",
    "tensorboard_trace_handler",
]  # fmt: skip


class ProfilerActivity(Enum):
    """What is measured: here NumPy's work on the CPU, whatever is asked for."""

    CPU = 0
    XPU = 1
    CUDA = 3


class ProfilerAction(Enum):
    """What is done in a step."""

    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3


def supported_activities() -> set[ProfilerActivity]:
    """What can be measured.

    >>> import symgrad as sg
    >>> sg.profiler.supported_activities()
    {<ProfilerActivity.CPU: 0>}
    """
    return {ProfilerActivity.CPU}


def schedule(
    *, wait: int, warmup: int, active: int, repeat: int = 0, skip_first: int = 0, skip_first_wait: int = 0
) -> Callable[[int], ProfilerAction]:
    """A plan: after ``skip_first`` steps, ``wait`` idle, ``warmup`` and ``active`` measured ones, ``repeat`` times.

    0 for ``repeat`` goes on for ever; ``skip_first_wait`` leaves the first ``wait`` out.  Raises ``ArgumentError`` for
    counts below zero and for no active step.

    >>> import symgrad as sg
    >>> plan = sg.profiler.schedule(wait=1, warmup=0, active=2, repeat=1)
    >>> [plan(step).name for step in range(5)]
    ['NONE', 'RECORD', 'RECORD_AND_SAVE', 'NONE', 'NONE']
    """
    if min(wait, warmup, repeat, skip_first) < 0 or active <= 0:
        raise ArgumentError("Invalid profiler schedule arguments: counts are not negative, and active is positive")
    length = wait + warmup + active

    def action(step: int) -> ProfilerAction:
        if step < skip_first:
            return ProfilerAction.NONE
        step -= skip_first
        if skip_first_wait:
            step += wait
        if repeat > 0 and step // length >= repeat:
            return ProfilerAction.NONE
        place = step % length
        if place < wait:
            return ProfilerAction.NONE
        if place < wait + warmup:
            return ProfilerAction.WARMUP
        return ProfilerAction.RECORD if place < length - 1 else ProfilerAction.RECORD_AND_SAVE

    return action


_OPTIONS = {"execution_trace_observer", "custom_trace_id_callback", "post_processing_timeout_s"}
"""Options of torch's that say nothing about what is measured."""


class profile(profiler.profile):  # noqa: N801  (torch's name)
    """:class:`symgrad.autograd.profiler.profile` with steps: ``step()`` ends one, and ``schedule`` says what it is for.

    ``on_trace_ready(prof)`` is called after the last measured step of a round, when ``key_averages()`` tells of that
    round, or without a schedule at the end.  ``activities`` and torch's other options are taken and have no meaning.

    >>> import symgrad as sg
    >>> seen = []
    >>> with sg.profiler.profile(
    ...     schedule=sg.profiler.schedule(wait=1, warmup=0, active=1, repeat=1),
    ...     on_trace_ready=lambda prof: seen.append([row.key for row in prof.key_averages()]),
    ... ) as prof:
    ...     for work in (sg.sin, sg.cos, sg.tan):
    ...         _ = work(sg.ones(2))
    ...         prof.step()
    >>> seen
    [['cos']]
    """

    def __init__(
        self,
        *,
        activities: Iterable[Any] | None = None,
        schedule: Callable[[int], ProfilerAction] | None = None,
        on_trace_ready: Callable[[Any], Any] | None = None,
        record_shapes: bool = False,
        **options: Any,
    ):
        del activities
        super().__init__(record_shapes=record_shapes, **{k: v for k, v in options.items() if k not in _OPTIONS})
        self.schedule = schedule
        self.on_trace_ready = on_trace_ready
        self.step_num = 0

    @property
    def current_action(self) -> ProfilerAction:
        """What the step under way is for."""
        return ProfilerAction.RECORD if self.schedule is None else self.schedule(self.step_num)

    def start(self) -> None:
        """Begin to measure: what entering the block does."""
        self.__enter__()

    def stop(self) -> None:
        """Measure no more: what leaving the block does."""
        self.__exit__()

    def step(self) -> None:
        """End a step, and begin the next."""
        done = self.current_action
        self.step_num += 1
        if done is ProfilerAction.RECORD_AND_SAVE:
            self._tell()
        if self._measures() and done is not ProfilerAction.RECORD:
            self._events = []  # a new round

    def __exit__(self, *error: object) -> None:
        super().__exit__(*error)
        if self._measures():
            self._tell()

    def events(self) -> profiler.EventList:
        """All measured calls in the order in which they began."""
        return self.function_events

    def _add(self, event: profiler.FunctionEvent) -> None:
        if self._measures():
            super()._add(event)

    def _measures(self) -> bool:
        return self.current_action in (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE)

    def _tell(self) -> None:
        if self.on_trace_ready is not None:
            self.on_trace_ready(self)

    def __enter__(self) -> Self:
        self._events = []
        return super().__enter__()


def tensorboard_trace_handler(
    dir_name: str | os.PathLike[str], worker_name: str | None = None, use_gzip: bool = False
) -> Callable[[Any], None]:
    """For ``on_trace_ready``: write the time line of every round to a file of its own in ``dir_name``.

    Raises ``ArgumentError`` for ``use_gzip``.
    """
    if use_gzip:
        raise ArgumentError("tensorboard_trace_handler writes plain JSON: leave use_gzip out, and compress the files")

    def handler(prof: Any) -> None:
        folder = Path(dir_name)
        folder.mkdir(parents=True, exist_ok=True)
        worker = worker_name or f"{socket.gethostname()}_{os.getpid()}"
        prof.export_chrome_trace(folder / f"{worker}.{time.time_ns()}.pt.trace.json")

    return handler

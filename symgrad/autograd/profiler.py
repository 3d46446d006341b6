"""Where the time goes: calls and time per operation of forward and backward, and of formulas and code apart.

Nothing is paid while no profile is active: ops are measured by taking the place of the general path of recording
(:mod:`symgrad.tape.observers` leads every op there), backward by running its nodes one by one.
"""

from __future__ import annotations

import functools
import json
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

from symgrad.errors import ArgumentError, AutogradError
from symgrad.op import Op, shape_of
from symgrad.tape import observers, record
from symgrad.tape.backward.engine import Sweep
from symgrad.tape.naming import node_name
from symgrad.tape.record import Recorded
from symgrad.tape.threads import ThreadState
from symgrad.timing import TIMERS

__all__ = ["EventList", "FunctionEvent", "profile", "record_function"]

KINDS = ("numeric", "symbolic", "codegen", "user")
"""What is measured: operations on arrays, work on formulas, writing of programs, and blocks the user named."""

ACTIVE: list[profile] = []
"""The profiles that measure now."""

_LOCK = threading.Lock()


class FunctionEvent:
    """One measured call; times in microseconds.

    ``phase`` is ``"forward"`` or ``"backward"`` for numeric work, else empty.  ``self_cpu_time_total`` is the time
    without that of calls inside which were measured themselves; ``depth`` says in how many measured calls it lay.
    """

    __slots__ = ("_inside", "depth", "end", "input_shapes", "kind", "name", "phase", "start", "thread")

    count = 1

    def __init__(self, name: str, kind: str, phase: str, input_shapes: tuple[Any, ...], depth: int = 0):
        self.name = name
        self.depth = depth
        self.kind = kind
        self.phase = phase
        self.input_shapes = input_shapes
        self.thread = threading.get_ident()
        self.start = time.perf_counter_ns()
        self.end = self.start
        self._inside = 0

    @property
    def key(self) -> str:
        """The name, under which calls are added up."""
        return self.name

    @property
    def cpu_time_total(self) -> float:
        """Time from start to end."""
        return (self.end - self.start) / 1000

    @property
    def self_cpu_time_total(self) -> float:
        """Time that no measured call inside has for its own."""
        return (self.end - self.start - self._inside) / 1000

    def __repr__(self) -> str:
        return f"<FunctionEvent {self.name} {self.cpu_time_total:.3f}us>"


class _Open(ThreadState):
    def __init__(self) -> None:
        self.stack: list[FunctionEvent] = []


_OPEN = _Open()


@contextmanager
def _event(name: str, kind: str, phase: str = "", shapes: tuple[Any, ...] = ()) -> Iterator[None]:
    """Measure what runs inside, for every active profile."""
    stack = _OPEN.stack
    made = FunctionEvent(name, kind, phase, shapes, len(stack))
    stack.append(made)
    try:
        yield
    finally:
        made.end = time.perf_counter_ns()
        stack.pop()
        if stack:
            stack[-1]._inside += made.end - made.start
        for one in ACTIVE:
            one._add(made)


def _timer(kind: str, name: str) -> Any:
    return _event(name, kind)


_plain_apply = record.apply


def _timed_apply(cls: Any, op: Op, args: tuple[Any, ...], params: dict[str, Any]) -> Any:
    phase = "backward" if observers.RUNNING.sweeps else "forward"
    shapes = tuple(tuple(shape_of(a._value)) if isinstance(a, Recorded) else () for a in args)
    with _event(op.name, "numeric", phase, shapes):
        return _plain_apply(cls, op, args, params)


def watch_sweep(sweep: Sweep) -> None:
    """Let a backward pass run node by node, each measured, and its leaves too."""
    run, finish = sweep._run_block, sweep.finish_leaf

    def run_block(nodes: Iterable[Any]) -> None:
        for node in nodes:
            if node in sweep.grads:
                with _event(node_name(node), "numeric", "backward", (tuple(node.shape),)):
                    run([node])

    def finish_leaf(leaf: Any, g: Any) -> Any:
        with _event("AccumulateGrad", "numeric", "backward", (tuple(leaf.raw_shape),)):
            return finish(leaf, g)

    sweep._run_block = run_block  # type: ignore[method-assign]
    sweep.finish_leaf = finish_leaf


def _install(one: profile) -> None:
    with _LOCK:
        ACTIVE.append(one)
        if len(ACTIVE) == 1:
            record.apply = _timed_apply
            TIMERS.append(_timer)
    observers.step_aside()


def _uninstall(one: profile) -> None:
    observers.step_back()
    with _LOCK:
        ACTIVE.remove(one)
        if not ACTIVE:
            record.apply = _plain_apply
            TIMERS.remove(_timer)


# ---------------------------------------------------------------------------------------------- what users see


_OPTIONS = {
    "acc_events", "custom_trace_id", "experimental_config", "profile_memory", "use_cpu", "use_cuda", "use_device",
    "use_kineto", "with_flops", "with_modules", "with_stack",
}  # fmt: skip
"""Options of torch's profile: other devices, other recorders, and more to be recorded."""


class profile:  # noqa: N801  (torch's name)
    """Context that measures every operation inside.

    ``record_shapes`` keeps the shapes of arguments, for ``key_averages(group_by_input_shape=True)``; ``enabled=False``
    makes it do nothing; torch's other options are taken and have no meaning here.  Afterwards ``key_averages()`` gives
    the table and ``export_chrome_trace`` the time line.

    >>> import symgrad as sg
    >>> x = sg.ones(3, requires_grad=True)
    >>> with sg.autograd.profiler.profile() as prof:
    ...     (x * x).sum().backward()
    >>> [(row.key, row.count) for row in prof.key_averages() if row.phase == "forward"]
    [('mul', 1), ('sum', 1)]
    """

    def __init__(self, enabled: bool = True, *, record_shapes: bool = False, **options: Any):
        unknown = options.keys() - _OPTIONS
        if unknown:
            raise ArgumentError(f"profile() got unexpected arguments {sorted(unknown)}")
        self.enabled = enabled
        self.record_shapes = record_shapes
        self.entered = False
        self._events: list[FunctionEvent] = []
        self._began = 0

    def __enter__(self) -> Self:
        if not self.enabled:
            return self
        if self.entered:
            raise AutogradError("Profiler context manager is not reentrant; make another profile() for the inner block")
        self.entered = True
        self._began = time.perf_counter_ns()
        _install(self)
        return self

    def __exit__(self, *error: object) -> None:
        if self.enabled:
            _uninstall(self)

    def _add(self, event: FunctionEvent) -> None:
        self._events.append(event)

    def _finished(self) -> list[FunctionEvent]:
        if not self.entered:
            raise AutogradError("Profiler didn't finish running: use it as `with profile() as prof:` first")
        return sorted(self._events, key=lambda e: (e.start, -e.end))

    @property
    def function_events(self) -> EventList:
        """All measured calls in the order in which they began."""
        return EventList(self._finished())

    def key_averages(self, group_by_input_shape: bool = False) -> EventList:
        """Calls of equal name, kind and phase (and shapes) added up, in the order of first use."""
        rows: dict[Any, Averages] = {}
        for event in self._finished():
            key = (event.name, event.kind, event.phase, event.input_shapes if group_by_input_shape else ())
            if key not in rows:
                rows[key] = Averages(*key)
            rows[key].add(event)
        return EventList(list(rows.values()))

    def total_average(self) -> Averages:
        """Everything added up."""
        total = Averages("Total", "", "", ())
        for event in self._finished():
            total.add(event)
        return total

    def table(self, sort_by: str | None = None, row_limit: int = 100, **options: Any) -> str:
        """The table of all calls, one row each; options as those of :meth:`EventList.table`."""
        return self.function_events.table(sort_by, row_limit, **options)

    @property
    def self_cpu_time_total(self) -> float:
        """Measured time in microseconds."""
        return sum(event.self_cpu_time_total for event in self._finished())

    def export_chrome_trace(self, path: str | os.PathLike[str]) -> None:
        """Write the time line as JSON for chrome://tracing or Perfetto."""
        threads: dict[int, int] = {}
        rows = [
            {
                "name": event.name,
                "cat": event.kind,
                "ph": "X",
                "ts": (event.start - self._began) / 1000,
                "dur": event.cpu_time_total,
                "pid": os.getpid(),
                "tid": threads.setdefault(event.thread, len(threads)),
                "args": {"phase": event.phase, "input shapes": [list(s) for s in event.input_shapes]},
            }
            for event in self._finished()
        ]
        Path(path).write_text(json.dumps({"traceEvents": rows, "displayTimeUnit": "ms"}, indent=1), encoding="utf-8")

    def __str__(self) -> str:
        return self.table() if self.entered else "<unfinished profiler.profile>"

    def __repr__(self) -> str:
        return f"<profile of {len(self._events)} calls>"


class Averages:
    """Calls of one name added up; times in microseconds."""

    __slots__ = ("count", "cpu_time_total", "input_shapes", "key", "kind", "phase", "self_cpu_time_total")

    def __init__(self, key: str, kind: str, phase: str, input_shapes: tuple[Any, ...]):
        self.key = key
        self.kind = kind
        self.phase = phase
        self.input_shapes = input_shapes
        self.count = 0
        self.cpu_time_total = 0.0
        self.self_cpu_time_total = 0.0

    @classmethod
    def of(cls, event: FunctionEvent) -> Averages:
        """One call as a row."""
        made = cls(event.name, event.kind, event.phase, event.input_shapes)
        made.add(event)
        return made

    def add(self, event: FunctionEvent) -> None:
        """Count one more call."""
        self.count += 1
        self.cpu_time_total += event.cpu_time_total
        self.self_cpu_time_total += event.self_cpu_time_total

    @property
    def cpu_time(self) -> float:
        """Average time of a call."""
        return self.cpu_time_total / self.count if self.count else 0.0

    def __repr__(self) -> str:
        return f"<FunctionEventAvg key={self.key} count={self.count} cpu_time={self.cpu_time:.3f}us>"


_SORTS: dict[str, Callable[[Averages], Any]] = {
    "cpu_time_total": lambda row: -row.cpu_time_total,
    "self_cpu_time_total": lambda row: -row.self_cpu_time_total,
    "cpu_time": lambda row: -row.cpu_time,
    "count": lambda row: -row.count,
    "key": lambda row: row.key,
    "kind": lambda row: (row.kind, row.phase),
}


class EventList(list[Any]):
    """Measured calls, or rows of a table of them."""

    def table(
        self,
        sort_by: str | None = None,
        row_limit: int = 100,
        max_src_column_width: int = 75,  # noqa: ARG002  (torch's signature)
        max_name_column_width: int = 55,
        max_shapes_column_width: int = 80,
        header: str | None = None,
        top_level_events_only: bool = False,
    ) -> str:
        """The rows as text, the largest first by ``sort_by``; below them the time of each kind of work.

        ``sort_by`` is one of ``cpu_time_total``, ``self_cpu_time_total``, ``cpu_time``, ``count``, ``key``, ``kind``;
        ``row_limit=-1`` shows all rows; ``header`` stands above them; ``top_level_events_only`` leaves out calls that
        were measured inside of others.
        """
        shown = [row for row in self if not (top_level_events_only and row.__class__ is FunctionEvent and row.depth)]
        rows = [row if isinstance(row, Averages) else Averages.of(row) for row in shown]
        if sort_by is not None:
            if sort_by not in _SORTS:
                raise ArgumentError(f"table() cannot sort by {sort_by!r}; it can by {', '.join(_SORTS)}.")
            rows.sort(key=_SORTS[sort_by])
        whole = sum(row.self_cpu_time_total for row in rows)
        shaped = any(row.input_shapes for row in rows)
        heads = ["Name", "Kind", "Self CPU %", "Self CPU", "CPU total", "CPU time avg", "# of Calls"]
        heads += ["Input Shapes"] if shaped else []
        cells = [
            [
                _shortened(row.key, max_name_column_width),
                f"{row.kind} {row.phase}".strip(),
                f"{100 * row.self_cpu_time_total / whole if whole else 0:.2f}%",
                _time(row.self_cpu_time_total),
                _time(row.cpu_time_total),
                _time(row.cpu_time),
                str(row.count),
                *([_shortened(str([list(s) for s in row.input_shapes]), max_shapes_column_width)] if shaped else []),
            ]
            for row in (rows if row_limit < 0 else rows[:row_limit])
        ]
        return "\n".join([*([header] if header else []), *_aligned(heads, cells), *_totals(rows, whole)])

    def __str__(self) -> str:
        return self.table()


def _totals(rows: Sequence[Averages], whole: float) -> list[str]:
    lines = [f"Self CPU time total: {_time(whole)}"]
    for kind in KINDS:
        part = sum(row.self_cpu_time_total for row in rows if row.kind == kind)
        if part:
            lines.append(f"  {kind}: {_time(part)}")
    return lines


def _aligned(heads: Sequence[str], cells: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(len(row[k]) for row in (heads, *cells)) for k in range(len(heads))]
    rule = "  ".join("-" * w for w in widths)
    text = ["  ".join(c.rjust(w) for c, w in zip(row, widths, strict=True)) for row in (heads, *cells)]
    return [rule, text[0], rule, *text[1:], rule]


def _shortened(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 3] + "..."


def _time(microseconds: float) -> str:
    for unit, size in (("s", 1e6), ("ms", 1e3)):
        if microseconds >= size:
            return f"{microseconds / size:.3f}{unit}"
    return f"{microseconds:.3f}us"


class record_function:  # noqa: N801  (torch's name)
    """Context (or decorator) that names a block in the profiles that are active; free when there are none.

    >>> import symgrad as sg
    >>> with sg.autograd.profiler.profile() as prof, sg.autograd.profiler.record_function("loss"):
    ...     _ = sg.ones(2) * 2
    >>> [row.key for row in prof.key_averages()]
    ['loss', 'mul']
    """

    def __init__(self, name: str, args: str | None = None):
        self.name = name
        self.args = args
        self._open: list[Any] = []

    def __enter__(self) -> Self:
        block = _event(self.name, "user") if ACTIVE else None
        if block is not None:
            block.__enter__()
        self._open.append(block)
        return self

    def __exit__(self, *error: object) -> None:
        block = self._open.pop()
        if block is not None:
            block.__exit__(None, None, None)

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function with its calls named."""

        @functools.wraps(function)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            with record_function(self.name, self.args):
                return function(*args, **kwargs)

        return wrapped

"""Watching a function run: what it reads of its arguments' values, and the constants it meets.

A tracer runs a function once and keeps the tape.  Whatever the function does *with* tensors is on the tape; what it
does with their *values* (``if x.sum() > 0``, ``x.item()``, ``y[index]``) is not, and would be frozen into the program.
So tensors report every such read here while somebody watches, and constants are kept alive until the tape is read.
Nothing is paid otherwise but one look at ``WATCH.count``.
"""

from __future__ import annotations

import sys
import threading
import weakref
import zlib
from collections.abc import Iterable
from types import TracebackType
from typing import Any, Self

import numpy as np

from symgrad.errors import CompileError, FormulaError
from symgrad.notices import users_line
from symgrad.ops.calls.still import recorded
from symgrad.tape.observers import step_aside, step_back
from symgrad.tape.threads import ThreadState
from symgrad.tape.watching.looks import FAILED, note_look

CHOICES = ("bool()", "in", "an index", "int()", "item()", "tolist()", "numpy()", "np.asarray()", FAILED)
"""Reads on which a program may choose its way."""


class Read:
    """One value read: where in the graph, how (for messages), what was seen, and in which line of the program."""

    __slots__ = ("edge", "how", "line", "seen", "tensor")

    def __init__(self, tensor: Any, how: str):
        self.tensor = tensor
        self.edge = tensor.edge()
        self.how = how
        self.seen = np.array(tensor._value)
        site = users_line()
        self.line = None if site is None else (site[0].co_filename, site[1])


class Watch:
    """Context in which reads of values and constants are noted.

    ``passes`` has the first and last creation numbers of the nodes of backward passes.  ``everything``: what is made
    of constants alone is recorded, too, and reads of constants are noted: they may be others when the program runs.
    ``variables`` are those of derivatives inside, by which nobody outside differentiates.
    ``numbers`` has the tensors that stand for Python's numbers, and of nodes whether they are computed of these alone.
    ``marks`` has constants, their records and checksums from when they were read: of writes with NumPy nobody is told,
    and of others not the views.
    ``detached`` has pairs of tensors, weakly, of which one was detached from the other and shares its memory.
    ``refuses``: what no formula can repeat does not happen, it raises ``FormulaError``; with ``"reads"`` looks at
    values, too, since they are not those of a real run.
    ``names``: arrays from outside are called like the variables that hold them in functions below the ``frame`` where
    the watch begins.
    """

    def __init__(self, everything: bool = False, refuses: tuple[str, ...] = (), names: bool = False) -> None:
        self.everything = everything
        self.refuses = refuses
        self.names = names
        self.frame: Any = None
        self.reads: list[Read] = []
        self.kept: list[Any] = []
        self.marks: list[tuple[Any, Any, int]] = []
        self.detached: list[tuple[Any, Any]] = []
        self.inputs: set[int] = set()
        self.numbers: dict[Any, bool] = {}
        self.problems: list[str] = []
        self.passes: list[tuple[int, int]] = []
        self.variables: list[Any] = []

    def __enter__(self) -> Self:
        if self.names:
            self.frame = sys._getframe(1)
        WATCH.local.stack.append(self)
        if self.everything:
            step_aside()
        with _LOCK:
            WATCH.count += 1
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.frame = None
        WATCH.local.stack.pop()
        if self.everything:
            step_back()
        with _LOCK:
            WATCH.count -= 1


class _Local(ThreadState):
    def __init__(self) -> None:
        self.stack: list[Watch] = []


class _Watching:
    __slots__ = ("count", "local")

    def __init__(self) -> None:
        self.count = 0
        self.local = _Local()


WATCH = _Watching()
_LOCK = threading.Lock()


def watching() -> Watch | None:
    """The innermost watch of this thread, if any."""
    stack = WATCH.local.stack
    return stack[-1] if stack else None


def watches_everything() -> bool:
    """Whether what is made of constants is to be recorded."""
    return any(watch.everything for watch in WATCH.local.stack)


def note_read(tensor: Any, how: str) -> None:
    """A value left the tape: ``how`` is the method that was used."""
    if how in CHOICES and (tensor._node is not None or tensor._requires_grad):
        note_look(tensor, how)
    for watch in WATCH.local.stack:
        if tensor._node is not None or id(tensor) in watch.inputs or watch.everything:
            if "reads" in watch.refuses:
                raise FormulaError(f"{how} takes the value of what has no value here")
            watch.reads.append(Read(tensor, how))


def note_failed_values(args: Iterable[Any], error: Exception) -> None:
    """Note that a call fails at these values: places beyond an axis, and of a singular matrix all."""
    everything = isinstance(error, np.linalg.LinAlgError)
    for arg in args:
        if isinstance(arg, (tuple, list)):
            note_failed_values(arg, error)
        elif hasattr(arg, "edge") and (everything or arg.dtype.kind in "biu"):
            if WATCH.count:
                note_read(arg, FAILED)
            elif recorded(arg):
                note_look(arg, FAILED)


def forget_last_read(tensor: Any) -> None:
    """The value of a tensor that was read last is what the function gives: it chooses no way."""
    for watch in WATCH.local.stack:
        if watch.reads and watch.reads[-1].tensor is tensor:
            watch.reads.pop()


def note_constant(tensor: Any, source: Any) -> None:
    """A constant entered a graph as ``source``; its value is needed when the graph becomes a program."""
    for watch in WATCH.local.stack:
        watch.kept.append(tensor)
        if isinstance(tensor._value, np.ndarray):
            watch.marks.append((tensor, source, zlib.crc32(tensor._value.tobytes())))


def note_sharing(tensor: Any, made: Any) -> Any:
    """Note that ``made`` shares the memory of another tensor, whose history does not show its changes; gives it."""
    for watch in WATCH.local.stack:
        watch.detached.append((weakref.ref(tensor), weakref.ref(made)))
    return made


def note_pass(first: int, last: int) -> None:
    """A backward pass was recorded because somebody watches: its nodes have these creation numbers."""
    for watch in WATCH.local.stack:
        watch.passes.append((first, last))


def note_variable(tensor: Any) -> None:
    """A derivative inside has made a variable of its own."""
    for watch in WATCH.local.stack:
        watch.variables.append(tensor)


def note_problem(text: str) -> None:
    """Something is about to happen that no program can repeat (random numbers, ``backward`` into ``.grad``).

    Who watches everything will call the function again, and so it must not happen now: ``CompileError``.
    """
    for watch in WATCH.local.stack:
        watch.problems.append(text)
        if "problems" in watch.refuses:
            raise FormulaError(text)
    if watches_everything():
        raise CompileError(text)

"""Who looks on while operations are recorded: anomaly mode, saved-tensor hooks, the profiler.

Nothing is paid while nobody does.  The fast paths of elementwise ops compare the class of their arguments with a
variable of their own; while somebody observes, that variable is empty, so every op takes the general path
(:func:`symgrad.tape.record.apply`), and only the general path looks for observers.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from symgrad.ops.rules.kinks import STATE
from symgrad.tape.threads import ThreadState

NODES: list[Callable[[Any], None]] = []
"""Called with every node that is recorded, once its saved values are in place."""

OPERANDS: list[Callable[[Any, Any], None]] = []
"""Called with a node of a change in place and the array that is about to be overwritten, which its result will be."""

_EXPECTED: list[tuple[Any, Any]] = []
"""The variables of fast paths that say what they take, and what that is while nobody observes."""

_LOCK = threading.Lock()
_count = 0


def variable_of(function: Any, name: str) -> Any:
    """The cell of a variable that an inner function reads of the one around it, to be given other contents.

    >>> def outer(step):
    ...     return lambda x: x + step
    >>> call = outer(1)
    >>> variable_of(call, "step").cell_contents = 10
    >>> call(1)
    11
    """
    return function.__closure__[function.__code__.co_freevars.index(name)]


def may_step_aside(call: Any) -> None:
    """Let a fast path take nothing while somebody observes: its variable ``expected``, a class, is empty then."""
    expected = variable_of(call, "expected")
    with _LOCK:
        _EXPECTED.append((expected, expected.cell_contents))
        if _count:
            expected.cell_contents = ()


def stepped_aside() -> bool:
    """Whether every op takes the general path now."""
    return _count > 0


def step_aside() -> None:
    """Lead every op over the general path, until :func:`step_back` was called as often."""
    global _count
    with _LOCK:
        _count += 1
        if _count == 1:
            for expected, _ in _EXPECTED:
                expected.cell_contents = ()


def step_back() -> None:
    """Undo one :func:`step_aside`."""
    global _count
    with _LOCK:
        _count -= 1
        if not _count:
            for expected, kind in _EXPECTED:
                expected.cell_contents = kind


def _other_convention(in_force: bool) -> None:
    """Fast paths know what torch's conventions need to be saved."""
    (step_aside if in_force else step_back)()


STATE.listeners.append(_other_convention)


def observe(see: Callable[[Any], None]) -> None:
    """Call ``see`` with every node that is recorded from now on."""
    NODES.append(see)
    step_aside()


def unobserve(see: Callable[[Any], None]) -> None:
    """Undo one :func:`observe`."""
    NODES.remove(see)
    step_back()


@contextmanager
def observing(see: Callable[[Any], None]) -> Iterator[None]:
    """Inside, ``see`` is called with every node that is recorded."""
    observe(see)
    try:
        yield
    finally:
        unobserve(see)


class _Late(ThreadState):
    nodes: list[Any] | None = None


_LATE = _Late()


def observed(node: Any) -> None:
    """Show a new node to everybody who looks on."""
    if _LATE.nodes is not None:
        _LATE.nodes.append(node)
        return
    for see in tuple(NODES):
        see(node)


class _Standing(ThreadState):
    calls: tuple[tuple[Any, int], ...] = ()


STANDING = _Standing()
"""``calls``: where an operation stands in a program that was traced before and is not running now, as a jaxpr: the code
and the instruction of the user's calls that led to it, the innermost first."""


@contextmanager
def later() -> Iterator[list[Any]]:
    """Hold back the nodes of a change in place: what they save is settled only when the memory was overwritten."""
    outer, _LATE.nodes = _LATE.nodes, []
    try:
        yield _LATE.nodes
    finally:
        _LATE.nodes = outer


class _Running(ThreadState):
    def __init__(self) -> None:
        self.sweeps: list[Any] = []
        self.again = False


RUNNING = _Running()
"""The reverse sweeps under way in this thread, outermost first; ``again``: whether the same program runs once more on
the graphs that are there, as that of ``vmap`` does on the next example, so that no sweep may free them."""


class running:  # noqa: N801  (a context)
    """Note that a sweep is under way."""

    __slots__ = ("sweep",)

    def __init__(self, sweep: Any):
        self.sweep = sweep

    def __enter__(self) -> None:
        RUNNING.sweeps.append(self.sweep)

    def __exit__(self, *error: object) -> None:
        RUNNING.sweeps.pop()


class Packed:
    """A saved value as a pack hook left it, and how it becomes a tensor and a value again."""

    __slots__ = ("__weakref__", "held", "hooks")

    def __init__(self, held: Any, hooks: Any):
        self.held = held
        self.hooks = hooks

    def tensor(self) -> Any:
        """What the unpack hook makes of it."""
        return self.hooks.tensor(self.held)

    def value(self) -> Any:
        """The value of that, as the rules read it."""
        return self.hooks.value(self.tensor())


class PackedRow(tuple):  # type: ignore[type-arg]
    """The saved values of a node some of which were packed; ``turn`` is the order in which they were, and come back."""

    turn: Any = ()


def unpacked(saved: Any) -> Any:
    """Saved values as the rules read them."""
    if saved.__class__ is not PackedRow:
        return saved
    row = list(saved)
    for k in saved.turn or range(len(row)):
        row[k] = row[k].value() if row[k].__class__ is Packed else row[k]
    return tuple(row)

"""What belongs to a thread, and how a fresh thread takes over a nested backward before the stack runs out.

A thread that stands in for another has the same modes, contexts and sweeps under way; its errors come back.
"""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Self, TypeVar

T = TypeVar("T")

_LEVELS = 16
"""Sweeps within one another that a thread takes; each needs some twenty frames of Python's thousand."""

_LOCALS: list[ThreadState] = []


class ThreadState(threading.local):
    """State of one thread that goes with the work it hands over."""

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        """Each object is noted once; ``__init__`` runs once per thread."""
        made = super().__new__(cls, *args, **kwargs)
        _LOCALS.append(made)
        return made


@contextmanager
def meanwhile(state: ThreadState, **values: Any) -> Iterator[None]:
    """Other values of some of a state's attributes, until the end of the block."""
    before = {name: getattr(state, name) for name in values}
    vars(state).update(values)
    try:
        yield
    finally:
        vars(state).update(before)


@contextmanager
def during(variable: contextvars.ContextVar[Any], value: T) -> Iterator[T]:
    """Another value of a variable of the context, until the end of the block, which is given it."""
    token = variable.set(value)
    try:
        yield value
    finally:
        variable.reset(token)


def nested(run: Callable[[], None], level: int) -> None:
    """``run()`` in this thread or, at every few levels of nesting, in one that stands in for it."""
    if (level + 1) % _LEVELS:
        run()
        return
    states = [dict(vars(local)) for local in _LOCALS]
    errors: list[BaseException] = []

    def stand_in() -> None:
        for local, state in zip(_LOCALS, states, strict=True):
            vars(local).update(state)
        try:
            run()
        except BaseException as error:  # noqa: BLE001  (it goes to the thread that waits)
            errors.append(error)

    thread = threading.Thread(target=contextvars.copy_context().run, args=(stand_in,))
    thread.start()
    thread.join()
    if errors:
        raise errors[0]
